// Functions of libraries that a host program may call, by their paths: triton, functools, dataclasses, numpy and their
// like.
#include <fmt/format.h>

#include <cmath>
#include <unordered_map>

#include "host/machine.h"

namespace passnet {

using Kind = HostValue::Kind;

namespace {

HostValue whole(std::int64_t n) { return HostValue::of(n); }

constexpr std::pair<const char*, std::int64_t> kDeviceProperties[] = {
    {"multiprocessor_count", kMultiprocessors}, {"max_shared_mem", 232448}, {"max_num_regs", 65536}, {"warpSize", 32}};

}  // namespace

struct HostMachine::Library {
  using Call = HostCall;
  using Run = std::optional<HostValue> (*)(HostMachine& m, const Call& c);

  static void need(HostMachine& m, const Call& c, std::size_t least) {
    if (c.args.size() < least)
      m.raise("TypeError", fmt::format("{}() needs {} argument{}", c.name, least, least == 1 ? "" : "s"), c.place);
  }
  static std::optional<HostValue> nothing(HostMachine&, const Call&) { return HostValue{}; }

  // ---- triton

  static std::optional<HostValue> cdiv(HostMachine& m, const Call& c) {
    for (const HostValue& v : c.args)
      if (v.is(Kind::tensor)) m.wrong_kind("an int", v, c.place);
    const HostValue sum =
        m.binary(py::Op::sub, m.binary(py::Op::add, c.args[0], c.args[1], c.place), whole(1), c.place);
    return m.binary(py::Op::floor_div, sum, c.args[1], c.place);
  }

  // Which Triton itself wrote as a kernel's function.
  static std::optional<HostValue> of_kernels(HostMachine& m, const Call& c) {
    m.raise("RuntimeError", "Cannot call @triton.jit'd outside of the scope of a kernel; write triton.cdiv", c.place);
  }

  static std::optional<HostValue> next_power_of_2(HostMachine& m, const Call& c) {
    const auto below = m.exact_integer(c.args[0], c.place).minus(1);
    if (!below) m.too_large(c.place);
    Integer n = *below;
    for (int by = 1; by <= 32; by *= 2) n = n | n.shifted_right(by);
    return HostValue::of(*n.plus(1));
  }

  static std::optional<HostValue> config(HostMachine& m, const Call& c) {
    return m.make_config(std::move(c.args), std::move(c.kwargs), c.place);
  }

  static std::optional<HostValue> constexpr_value(HostMachine& m, const Call& c) {
    need(m, c, 1);
    HostValue out = c.args[0];
    out.is_constexpr = true;
    return out;
  }

  static std::optional<HostValue> current_device(HostMachine&, const Call&) { return whole(0); }
  static std::optional<HostValue> active_torch_device(HostMachine& m, const Call& c) {
    return m.call_torch("device", c.args, c.kwargs, c.place);
  }
  static std::optional<HostValue> current_target(HostMachine& m, const Call&) {
    return m.make_object("GPUTarget",
                         {{"backend", HostValue::string("cuda")}, {"arch", whole(90)}, {"warp_size", whole(32)}});
  }
  static std::optional<HostValue> device_properties(HostMachine& m, const Call& c) {
    HostValue out = HostValue::sequence(Kind::dict, {});
    for (const auto& [name, value] : kDeviceProperties) m.set_item(out, HostValue::string(name), whole(value), c.place);
    return out;
  }

  // ---- functools, contextlib, typing

  static std::optional<HostValue> partial(HostMachine& m, const Call& c) {
    need(m, c, 1);
    HostValue named = HostValue::sequence(Kind::dict, {});
    for (const auto& [k, v] : c.kwargs) m.set_item(named, HostValue::string(k), v, c.place);
    HostArgs rest(c.args.begin() + 1, c.args.end());
    return HostValue::sequence(Kind::partial,
                               {c.args[0], HostValue::sequence(Kind::tuple, std::move(rest)), std::move(named)});
  }

  static std::optional<HostValue> wraps(HostMachine& m, const Call& c) {
    need(m, c, 1);
    HostValue named = HostValue::sequence(Kind::dict, {HostValue::string("wrapped"), c.args[0]});
    return HostValue::sequence(Kind::partial, {HostValue::path("functools.update_wrapper"),
                                               HostValue::sequence(Kind::tuple, {}), std::move(named)});
  }
  static std::optional<HostValue> update_wrapper(HostMachine& m, const Call& c) {  // gives it the other's name
    need(m, c, 1);
    const HostValue* named = keyword(c.kwargs, "wrapped");
    const HostValue& wrapped = named != nullptr ? *named : c.args.back();
    if (!c.args[0].is(Kind::function)) return c.args[0];
    if (wrapped.is(Kind::kernel)) c.args[0].function->shown = wrapped.kernel.function;
    if (wrapped.is(Kind::function))
      c.args[0].function->shown =
          wrapped.function->shown != nullptr ? wrapped.function->shown : wrapped.function->statement;
    return c.args[0];
  }

  static std::optional<HostValue> cache(HostMachine&, const Call& c) {  // or a decorator, where maxsize is given
    return !c.args.empty() && can_call(c.args[0]) ? memoised(c.args[0]) : HostValue::path(std::string(c.name));
  }

  static std::optional<HostValue> reduce(HostMachine& m, const Call& c) {
    std::optional<HostValue> total;
    if (c.args.size() > 2) total = c.args[2];
    for (HostValue& v : m.each(c.args[1], c.place))
      total = total ? m.call(c.args[0], {std::move(*total), std::move(v)}, {}, c.place) : std::move(v);
    if (!total) m.raise("TypeError", "reduce() of an empty sequence", c.place);
    return total;
  }

  static std::optional<HostValue> context(HostMachine&, const Call& c) {  // nullcontext, suppress
    return HostValue::sequence(
        Kind::partial, {HostValue::path(std::string(c.name)), HostValue::sequence(Kind::tuple, std::move(c.args)),
                        HostValue::sequence(Kind::dict, {})});
  }
  // Its methods are functions that know its entries.
  static HostValue exit_stack(HostMachine& m, std::vector<HostValue> entries) {
    const HostValue left = HostValue::sequence(Kind::list, std::move(entries));
    HostValue out = m.make_object("contextlib.ExitStack", {{"left", left}});
    for (const char* name : {"enter_context", "push", "callback", "pop_all", "close"})
      add_attribute(out, name,
                    HostValue::sequence(Kind::partial, {HostValue::path(fmt::format("contextlib.ExitStack.{}", name)),
                                                        HostValue::sequence(Kind::tuple, {left}),
                                                        HostValue::sequence(Kind::dict, {})}));
    return out;
  }
  static std::optional<HostValue> stack_method(HostMachine& m, const Call& c) {
    const HostValue left = c.args[0];
    const std::string_view name = c.name.substr(c.name.rfind('.') + 1);
    if (name == "close") return m.unwind(*left.items, nullptr, c.place), HostValue{};
    if (name == "pop_all") return exit_stack(m, std::exchange(left.items->values, {}));
    need(m, c, 2);
    const HostValue given = c.args[1];
    HostArgs rest(c.args.begin() + 1, c.args.end());
    HostValue entered = name == "enter_context" ? m.enter_context(given, c.place) : given;
    const HostValue entry =
        name == "callback"
            ? HostValue::sequence(Kind::tuple, {*partial(m, {c.name, rest, c.kwargs, c.place}), HostValue{}})
            : HostValue::sequence(Kind::tuple, {given});
    m.call_method(left, "append", {entry}, {}, c.place);
    return entered;
  }
  static std::optional<HostValue> contextmanager(HostMachine&, const Call& c) {
    return c.args.size() == 1 ? std::optional(c.args[0]) : std::nullopt;
  }

  static std::optional<HostValue> methodcaller(HostMachine& m, const Call& c) {  // the name, what else it is given
    need(m, c, 1);
    m.string_of(c.args[0], c.place);
    HostValue kept = HostValue::sequence(Kind::tuple, std::move(c.args)), named = HostValue::sequence(Kind::dict, {});
    for (const auto& [k, v] : c.kwargs) m.set_item(named, HostValue::string(k), v, c.place);
    return HostValue::sequence(Kind::partial, {HostValue::path("operator.methodcaller()"),
                                               HostValue::sequence(Kind::tuple, {std::move(kept)}), std::move(named)});
  }
  static std::optional<HostValue> call_its_method(HostMachine& m, const Call& c) {  // args: those, and the object
    need(m, c, 2);
    const std::vector<HostValue>& kept = c.args[0].items->values;
    const HostValue method = m.eval_attribute(c.args[1], kept[0].text.get(), c.place);
    return m.call(method, {kept.begin() + 1, kept.end()}, std::move(c.kwargs), c.place);
  }

  static std::optional<HostValue> new_type(HostMachine& m, const Call& c) {  // called, it gives its argument
    need(m, c, 2);
    return HostValue::sequence(Kind::partial,
                               {HostValue::path("typing.cast"), HostValue::sequence(Kind::tuple, {c.args[1]}),
                                HostValue::sequence(Kind::dict, {})});
  }
  static std::optional<HostValue> cast(HostMachine&, const Call& c) {
    return c.args.size() == 2 ? std::optional(c.args[1]) : std::nullopt;
  }

  // ---- collections, copy, dataclasses, types

  static std::optional<HostValue> named_tuple(HostMachine& m, const Call& c) {
    return m.make_named_tuple(c.args, c.kwargs, c.place);
  }
  static std::optional<HostValue> enumeration(HostMachine& m, const Call& c) {
    return m.make_enum(c.name, c.args, c.place);
  }
  static std::optional<HostValue> ordered_dict(HostMachine& m, const Call& c) {
    std::optional<HostValue> out = m.call_python("dict", c.args, c.kwargs, c.place);
    out->items->type = "OrderedDict";
    return out;
  }

  static std::optional<HostValue> copy(HostMachine& m, const Call& c) {  // copy, deepcopy
    return m.copied(c.args[0], c.name == "copy.deepcopy", c.place);
  }

  static std::optional<HostValue> field(HostMachine& m, const Call& c) {
    for (const auto& [k, v] : c.kwargs) {
      if (k == "default") return v;
      if (k == "default_factory") return m.call(v, {}, {}, c.place);
    }
    return HostValue{};
  }
  static std::optional<HostValue> asdict_replace(HostMachine& m, const Call& c) {
    need(m, c, 1);
    if (!c.args[0].is(Kind::object)) m.raise("TypeError", fmt::format("{}() needs a dataclass", c.name), c.place);
    HostArgs none;
    return m.object_method(c.args[0], c.name.ends_with("asdict") ? "_asdict" : "_replace", none, c.kwargs, c.place);
  }
  static std::optional<HostValue> astuple(HostMachine& m, const Call& c) {
    need(m, c, 1);
    std::vector<HostValue> values;
    for (std::size_t i = 1; c.args[0].is(Kind::object) && i < c.args[0].items->values.size(); i += 2)
      values.push_back(c.args[0].items->values[i]);
    return HostValue::sequence(Kind::tuple, std::move(values));
  }

  static std::optional<HostValue> fields(HostMachine& m, const Call& c) {
    need(m, c, 1);
    const bool of_class = c.args[0].is(Kind::klass) || c.args[0].is(Kind::object);
    if (!of_class || c.args[0].klass->form != HostClass::Form::record)
      m.raise("TypeError", "must be called with a dataclass type or instance", c.place);
    std::vector<HostValue> out;
    for (const HostClass::Field& f : c.args[0].klass->fields)
      out.push_back(m.make_object("Field", {{"name", HostValue::string(f.name)}, {"default", f.default_value}}));
    return HostValue::sequence(Kind::tuple, std::move(out));
  }

  static std::optional<HostValue> simple_namespace(HostMachine& m, const Call& c) {
    return m.make_object("SimpleNamespace", std::move(c.kwargs));
  }

  // ---- bisect

  // Where an item goes into a sorted list, and putting it there.
  static std::optional<HostValue> bisect(HostMachine& m, const Call& c) {
    const bool left = c.name.ends_with("_left"), insert = c.name.starts_with("bisect.insort");
    const std::vector<HostValue> items = m.iterate(c.args[0], c.place);
    const HostValue* key = nullptr;
    std::int64_t low = c.has(2) ? m.integer(c.args[2], c.place) : 0,
                 high = c.has(3) ? m.integer(c.args[3], c.place) : static_cast<std::int64_t>(items.size());
    for (const auto& [k, v] : c.kwargs)
      if (k == "key" && !v.is(Kind::none)) key = &v;
    if (low < 0) m.raise("ValueError", "lo must be non-negative", c.place);
    if (high > static_cast<std::int64_t>(items.size())) m.raise("IndexError", "hi is behind the list's end", c.place);
    const HostValue wanted = insert && key != nullptr ? m.call(*key, {c.args[1]}, {}, c.place) : c.args[1];
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      const HostValue& item = items[static_cast<std::size_t>(middle)];
      const HostValue rank = key == nullptr ? item : m.call(*key, {item}, {}, c.place);
      const bool behind =
          left ? m.compare(py::Op::lt, rank, wanted, c.place) : !m.compare(py::Op::lt, wanted, rank, c.place);
      (behind ? low : high) = behind ? middle + 1 : middle;
    }
    if (!insert) return whole(low);
    return m.call_method(c.args[0], "insert", {whole(low), c.args[1]}, {}, c.place);
  }

  // ---- numpy, logging

  static std::optional<HostValue> numpy_math(HostMachine& m, const Call& c) {  // as math's
    need(m, c, 1);
    HostKwargs none;
    return m.call_math(c.name.substr(c.name.rfind('.') + 1), c.args, none, c.place);
  }
  static std::optional<HostValue> numpy_ceil_floor(HostMachine& m, const Call& c) {
    need(m, c, 1);
    const double x = m.real(c.args[0], c.place);
    return HostValue::of(c.name == "numpy.ceil" ? std::ceil(x) : std::floor(x));
  }

  static std::optional<HostValue> logger(HostMachine&, const Call&) { return HostValue::path("logging"); }

  // ---- by more than a name

  // triton.language.float32.is_floating() and the like
  static std::optional<HostValue> type_is(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    if (path.find(".is_", dot) != dot) return std::nullopt;
    const std::string type = language_type_name(path.substr(0, dot));
    if (type.empty()) return std::nullopt;
    const std::string_view asked = path.substr(dot + 4);
    const bool floating = type.starts_with("fp") || type.starts_with("bf");
    const bool is_signed = type.starts_with("int") && type != "int1";
    const std::pair<std::string_view, bool> answers[] = {{"floating", floating},
                                                         {"standard_floating", floating && !type.starts_with("fp8")},
                                                         {"int", !floating},
                                                         {"int_signed", is_signed},
                                                         {"int_unsigned", !floating && !is_signed},
                                                         {"bool", type == "int1"}};
    for (const auto& [name, answer] : answers)
      if (name == asked) return HostValue::boolean(answer);
    return HostValue::boolean(asked == type);
  }

  static Run find(std::string_view path);
};

HostMachine::Library::Run HostMachine::Library::find(std::string_view path) {
  static const std::unordered_map<std::string_view, Run> kAll = {
      {"bisect.bisect", bisect},
      {"bisect.bisect_left", bisect},
      {"bisect.bisect_right", bisect},
      {"bisect.insort", bisect},
      {"bisect.insort_left", bisect},
      {"bisect.insort_right", bisect},
      {"collections.OrderedDict", ordered_dict},
      {"collections.namedtuple", named_tuple},
      {"contextlib.ExitStack", [](HostMachine& m, const Call&) { return std::optional(exit_stack(m, {})); }},
      {"contextlib.ExitStack.callback", stack_method},
      {"contextlib.ExitStack.close", stack_method},
      {"contextlib.ExitStack.enter_context", stack_method},
      {"contextlib.ExitStack.pop_all", stack_method},
      {"contextlib.ExitStack.push", stack_method},
      {"contextlib.closing", context},
      {"contextlib.contextmanager", contextmanager},
      {"contextlib.nullcontext", context},
      {"contextlib.suppress", context},
      {"copy.copy", copy},
      {"copy.deepcopy", copy},
      {"dataclasses.asdict", asdict_replace},
      {"dataclasses.astuple", astuple},
      {"dataclasses.field", field},
      {"dataclasses.fields", fields},
      {"dataclasses.replace", asdict_replace},
      {"enum.Enum", enumeration},
      {"enum.Flag", enumeration},
      {"enum.IntEnum", enumeration},
      {"enum.IntFlag", enumeration},
      {"enum.StrEnum", enumeration},
      {"enum.auto", [](HostMachine&, const Call&) { return std::optional(HostValue::path(std::string(kAutoValue))); }},
      {"functools.cache", cache},
      {"functools.lru_cache", cache},
      {"functools.partial", partial},
      {"functools.reduce", reduce},
      {"functools.update_wrapper", update_wrapper},
      {"functools.wraps", wraps},
      {"logging.getLogger", logger},
      {"numpy.ceil", numpy_ceil_floor},
      {"numpy.exp", numpy_math},
      {"numpy.floor", numpy_ceil_floor},
      {"numpy.log", numpy_math},
      {"numpy.log10", numpy_math},
      {"numpy.log2", numpy_math},
      {"numpy.prod", numpy_math},
      {"numpy.sqrt", numpy_math},
      {"operator.methodcaller", methodcaller},
      {"operator.methodcaller()", call_its_method},
      {"triton.Config", config},
      {"triton.cdiv", cdiv},
      {"triton.language.cdiv", of_kernels},
      {"triton.language.constexpr", constexpr_value},
      {"triton.language.next_power_of_2", next_power_of_2},
      {"triton.next_power_of_2", next_power_of_2},
      {"triton.runtime.driver.active.get_active_torch_device", active_torch_device},
      {"triton.runtime.driver.active.get_current_device", current_device},
      {"triton.runtime.driver.active.get_current_target", current_target},
      {"triton.runtime.driver.active.utils.get_device_properties", device_properties},
      {"triton.set_allocator", nothing},  // scratch memory is the back-end's own
      {"types.SimpleNamespace", simple_namespace},
      {"typing.NamedTuple", named_tuple},
      {"typing.NewType", new_type},
      {"typing.cast", cast},
  };
  return find_row(kAll, path);
}

std::optional<HostValue> HostMachine::call_library(std::string_view path, HostArgs& args, HostKwargs& kwargs,
                                                   py::Place place) {
  if (const Library::Run found = Library::find(path)) return found(*this, {path, args, kwargs, place});
  if (auto made = call_versions(path, args, place)) return made;
  if (auto made = call_json(path, args, kwargs, place)) return made;
  if (auto made = call_collections(path, args, kwargs, place)) return made;
  if (auto made = make_descriptor(path, args, kwargs, place)) return made;
  if (auto made = call_triton(path, args, kwargs, place)) return made;
  if (auto is = Library::type_is(path)) return is;
  // What only tells a reader something.
  if (path.starts_with("logging.") || path.starts_with("warnings.")) return HostValue{};
  return std::nullopt;
}

// What warmup gives: a plausible kernel, for those who work out how many of its programs fit on a GPU.
HostValue HostMachine::compiled_kernel() const {
  const HostValue metadata =
      make_object("metadata", {{"shared", whole(0)}, {"num_warps", whole(4)}, {"num_stages", whole(3)}});
  HostValue out =
      make_object("CompiledKernel", {{"n_regs", whole(32)}, {"n_spills", whole(0)}, {"metadata", metadata}});
  out.klass->form = HostClass::Form::silent;
  return out;
}

}  // namespace passnet
