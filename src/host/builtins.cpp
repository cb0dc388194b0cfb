// Python's own functions and types in a host program: a row each. What they take is in signatures.cpp, by which
// arguments are bound before they come here.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "base/text.h"
#include "host/machine.h"
#include "host/policy.h"

namespace passnet {

using Kind = HostValue::Kind;

bool can_call(const HostValue& v) {
  switch (v.kind) {
    case Kind::function:
    case Kind::kernel:
    case Kind::path:
    case Kind::method:
    case Kind::partial:
    case Kind::klass: return true;
    case Kind::object: return v.klass->form == HostClass::Form::module || v.klass->method("__call__") != nullptr;
    default: return is_container_object(v) && v.klass->method("__call__") != nullptr;
  }
}

namespace {

// Of a type of Python itself; those of its modules have theirs in their name: itertools.chain.
std::string type_path(const HostValue& v) {
  if (v.items && !v.items->type.empty()) return fmt::format("collections.{}", v.items->type);
  const std::string_view name = host_type_name(v);
  return name.find('.') == std::string_view::npos ? fmt::format("builtins.{}", name) : std::string(name);
}

}  // namespace

struct HostMachine::Builtins {
  using Call = HostCall;
  using Run = HostValue (*)(HostMachine& m, const Call& c);

  static HostValue whole(std::size_t n) { return HostValue::of(static_cast<std::int64_t>(n)); }
  // What there is of the first argument.
  static std::vector<HostValue> items(HostMachine& m, const Call& c) {
    return c.args.empty() ? std::vector<HostValue>{} : m.iterate(c.args[0], c.place);
  }

  // ---- numbers

  static HostValue abs(HostMachine& m, const Call& c) {
    if (c.args[0].is(Kind::real)) return HostValue::of(std::fabs(c.args[0].real));
    if (c.args[0].is(Kind::tensor)) return m.unary(py::Op::neg, c.args[0], c.place);  // says why not
    const Integer& v = m.exact_integer(c.args[0], c.place);
    return v < 0 ? m.unary(py::Op::neg, HostValue::of(v), c.place) : HostValue::of(v);
  }

  static HostValue of_float(HostMachine& m, const Call& c) {
    if (c.args.empty()) return HostValue::of(0.0);
    return HostValue::of(c.args[0].is(Kind::string) ? parsed(m, c.args[0].text, c.place) : m.real(c.args[0], c.place));
  }

  static double parsed(HostMachine& m, const std::string& written, py::Place place) {
    std::string digits = text_lower(text_trim(written));
    if (digits.starts_with('+')) digits.erase(0, 1);
    double v = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), v);
    if (code == std::errc::invalid_argument || end != digits.data() + digits.size())
      m.raise("ValueError", fmt::format("could not convert string to float: {}", python_string(written)), place);
    if (code != std::errc::result_out_of_range) return v;
    return digits.find("e-") != std::string::npos ? 0.0 : digits.starts_with('-') ? -HUGE_VAL : HUGE_VAL;
  }

  static HostValue round(HostMachine& m, const Call& c) {
    const HostValue& v = c.args[0];
    const bool to_whole = !c.has(1);
    if (v.is_integral()) return to_whole ? HostValue::of(v.integer) : round_whole(m, c);
    if (to_whole) return m.call_int({HostValue::of(std::nearbyint(m.real(v, c.place)))}, c.place);
    const std::int64_t digits = m.integer(c.args[1], c.place);
    if (!v.is(Kind::real) || digits < 0 || digits > 300) m.refuse(Code::host, "round() to these digits", c.place);
    if (!std::isfinite(v.real)) return v;
    // The decimal expansion is exact, so ties are real ties.
    return HostValue::of(parsed(m, fmt::format("{:.{}f}", v.real, digits), c.place));
  }

  static HostValue round_whole(HostMachine& m, const Call& c) {  // to tens, hundreds; a tie goes to the even one
    const std::int64_t digits = std::min<std::int64_t>(m.integer(c.args[1], c.place), 0);
    const auto unit = Integer(10).power(-std::max<std::int64_t>(digits, -100));
    if (!unit) return whole(0);
    const Integer& v = c.args[0].integer;
    const auto [below, rest] = *v.divided(*unit);
    const Integer other = *unit->minus(rest);
    const bool up = rest > other || (rest == other && (below & 1) != 0);
    const auto out = v.minus(rest), above = out && up ? out->plus(*unit) : out;
    if (!above) m.too_large(c.place);
    return HostValue::of(*above);
  }

  static HostValue pow(HostMachine& m, const Call& c) {
    HostValue power = m.binary(py::Op::pow, c.args[0], c.args[1], c.place);
    if (!c.has(2)) return power;
    if (!power.is_integral()) m.refuse(Code::host, "pow() of three numbers that are no natural ones", c.place);
    return m.binary(py::Op::mod, power, c.args[2], c.place);
  }

  static HostValue divmod(HostMachine& m, const Call& c) {
    return HostValue::sequence(Kind::tuple, {m.binary(py::Op::floor_div, c.args[0], c.args[1], c.place),
                                             m.binary(py::Op::mod, c.args[0], c.args[1], c.place)});
  }

  static HostValue sum(HostMachine& m, const Call& c) {
    HostValue total = c.args.size() > 1 ? c.args[1] : whole(0);
    for (const HostValue& v : m.each(c.args[0], c.place)) total = m.binary(py::Op::add, total, v, c.place);
    return total;
  }

  static HostValue min_max(HostMachine& m, const Call& c) {
    const HostValue *otherwise = keyword(c.kwargs, "default"), *key = keyword(c.kwargs, "key");
    if (c.args.empty()) m.raise("TypeError", fmt::format("{}() needs an argument", c.name), c.place);
    const auto rank = [&](const HostValue& v) {
      return key == nullptr || key->is(Kind::none) ? v : m.call(*key, {v}, {}, c.place);
    };
    std::optional<HostValue> best, best_rank;
    for (HostValue& v : m.each(c.args.size() == 1 ? c.args[0] : HostValue::sequence(Kind::tuple, c.args), c.place)) {
      HostValue r = rank(v);
      if (best && !m.compare(c.name == "min" ? py::Op::lt : py::Op::gt, r, *best_rank, c.place)) continue;
      best = std::move(v);
      best_rank = std::move(r);
    }
    if (best) return std::move(*best);
    if (otherwise != nullptr) return *otherwise;
    m.raise("ValueError", fmt::format("{}() of nothing", c.name), c.place);
  }

  // ---- truth and text

  static HostValue of_bool(HostMachine& m, const Call& c) {
    return HostValue::boolean(!c.args.empty() && m.truth(c.args[0], c.place));
  }

  static HostValue any_all(HostMachine& m, const Call& c) {
    for (const HostValue& v : m.each(c.args[0], c.place))
      if (m.truth(v, c.place) == (c.name == "any")) return HostValue::boolean(c.name == "any");
    return HostValue::boolean(c.name == "all");
  }

  static HostValue str(HostMachine& m, const Call& c) {
    return HostValue::string(c.args.empty() ? std::string() : m.text(c.args[0], c.name == "repr", c.place));
  }

  static HostValue format(HostMachine& m, const Call& c) {
    return HostValue::string(
        m.formatted(c.args[0], c.args.size() > 1 ? m.string_of(c.args[1], c.place) : std::string(), c.place));
  }

  static HostValue in_base(HostMachine& m, const Call& c) {  // bin, hex, oct
    constexpr std::pair<std::string_view, std::string_view> kSpecs[] = {{"bin", "#b"}, {"hex", "#x"}, {"oct", "#o"}};
    const auto* spec =
        std::find_if(std::begin(kSpecs), std::end(kSpecs), [&](const auto& row) { return row.first == c.name; });
    return HostValue::string(m.formatted(HostValue::of(m.exact_integer(c.args[0], c.place)), spec->second, c.place));
  }

  static HostValue ord(HostMachine& m, const Call& c) {
    if (m.string_of(c.args[0], c.place).size() != 1) m.raise("TypeError", "ord() expects a character", c.place);
    return whole(static_cast<unsigned char>(c.args[0].text[0]));
  }

  static HostValue chr(HostMachine& m, const Call& c) {
    const std::int64_t v = m.integer(c.args[0], c.place);
    if (v < 0 || v > 127) m.raise("ValueError", "chr() of more than ASCII", c.place);
    return HostValue::string(std::string(1, static_cast<char>(v)));
  }

  static HostValue hash(HostMachine& m, const Call& c) {
    const HostValue& v = c.args[0];
    if (v.is(Kind::list) || v.is(Kind::dict) || v.is(Kind::set))
      m.raise("TypeError", fmt::format("unhashable type: '{}'", host_type_name(v)), c.place);
    if (v.is_number() && v.as_real() == std::trunc(v.as_real())) {  // modulo the prime 2**61 - 1, as CPython has it
      constexpr std::int64_t kPrime = (std::int64_t{1} << 61) - 1;
      const Integer x = m.call_int(c.args, c.place).integer;
      const std::int64_t rest = x.divided(kPrime)->second.clamped(), out = x < 0 && rest != 0 ? rest - kPrime : rest;
      return HostValue::of(std::int64_t{out == -1 ? -2 : out});
    }
    return whole(std::hash<std::string>{}(m.text(v, true, c.place)) >> 2);
  }

  // ---- containers

  static HostValue len(HostMachine& m, const Call& c) {
    const HostValue& v = c.args[0];
    if (v.is(Kind::tensor)) return m.get_item(m.tensor_attribute(v, "shape", c.place), whole(0), c.place);
    if (v.is(Kind::string)) return whole(text_length(v.text));
    if (auto length = m.own(v, "__len__", {}, c.place)) return *length;
    if (v.is_sequence()) return whole(v.items->values.size());
    if (v.is(Kind::dict)) return whole(v.items->values.size() / 2);
    if (v.is(Kind::dict_view)) return whole(v.items->values[0].items->values.size() / 2);
    if (v.is(Kind::range)) return HostValue::of(m.integer(HostValue::of(range_size(v)), c.place));
    if (v.is(Kind::object) || v.is(Kind::klass)) return whole(m.iterate(v, c.place).size());
    m.raise("TypeError", fmt::format("{} has no len()", host_type_name(v)), c.place);
  }

  static HostValue list(HostMachine& m, const Call& c) { return HostValue::sequence(Kind::list, items(m, c)); }
  static HostValue tuple(HostMachine& m, const Call& c) { return HostValue::sequence(Kind::tuple, items(m, c)); }
  static HostValue iterator(HostMachine& m, const Call& c) { return m.make_python_iterator(c); }
  static HostValue sorted(HostMachine& m, const Call& c) {
    std::vector<HostValue> out = items(m, c);
    m.sort(out, c.kwargs, c.place);
    return HostValue::sequence(Kind::list, std::move(out));
  }
  static HostValue set(HostMachine& m, const Call& c) {
    HostValue out = HostValue::sequence(Kind::set, {});
    if (!c.args.empty())
      for (HostValue& v : m.each(c.args[0], c.place)) m.add_unique(*out.items, std::move(v), c.place);
    return out;
  }

  static HostValue dict(HostMachine& m, const Call& c) {
    HostValue out = HostValue::sequence(Kind::dict, {});
    if (!c.args.empty()) m.call_method(out, "update", {c.args[0]}, {}, c.place);
    for (auto& [k, v] : c.kwargs) m.set_item(out, HostValue::string(k), v, c.place);
    return out;
  }

  static HostValue dict_fromkeys(HostMachine& m, const Call& c) {
    HostValue out = HostValue::sequence(Kind::dict, {});
    for (const HostValue& key : m.each(c.args[0], c.place))
      m.set_item(out, key, c.args.size() > 1 ? c.args[1] : HostValue{}, c.place);
    return out;
  }

  static HostValue slice(HostMachine&, const Call& c) {
    std::vector<HostValue> parts = c.args.size() == 1 ? std::vector<HostValue>{{}, c.args[0]} : c.args;
    parts.resize(3);
    return HostValue::sequence(Kind::slice, std::move(parts));
  }

  static HostValue next(HostMachine& m, const Call& c) {
    if (!m.is_iterator(c.args[0]))
      m.raise("TypeError", fmt::format("'{}' object is not an iterator", host_type_name(c.args[0])), c.place);
    if (c.args[0].is(Kind::object) && c.args.size() < 2) return *m.own(c.args[0], "__next__", {}, c.place);
    if (auto item = m.advance(c.args[0], c.place)) return std::move(*item);
    if (c.args.size() > 1) return c.args[1];
    m.raise_stop(c.args[0], c.place);
  }

  // ---- objects and types

  static HostValue is_instance(HostMachine& m, const Call& c) {
    return HostValue::boolean(m.is_instance(c.args[0], c.args[1], c.place));
  }
  static HostValue is_subclass(HostMachine& m, const Call& c) {
    return HostValue::boolean(m.is_subclass(c.args[0], c.args[1], c.place));
  }

  static HostValue type(HostMachine&, const Call& c) {
    const HostValue& v = c.args[0];
    constexpr std::pair<Kind, const char*> kPaths[] = {
        {Kind::tensor, "torch.Tensor"},  {Kind::dtype, "torch.dtype"},
        {Kind::device, "torch.device"},  {Kind::config, "triton.Config"},
        {Kind::klass, "builtins.type"},  {Kind::kernel, "triton.runtime.jit.JITFunction"},
        {Kind::path, "builtins.module"}, {Kind::partial, "functools.partial"}};
    if (v.klass && !v.is(Kind::klass)) return class_value(v.klass);
    if (v.is(Kind::tuple) && !v.text.empty()) return HostValue::path(v.text);
    for (const auto& [kind, path] : kPaths)
      if (v.is(kind)) return HostValue::path(path);
    return HostValue::path(type_path(v));
  }

  // staticmethod, classmethod, property: a function as they make it a method, where a class is made.
  static HostValue method_form(HostMachine& m, const Call& c) {
    using Form = HostFunction::Form;
    if (!c.args[0].is(Kind::function)) {
      if (c.name == "staticmethod") return c.args[0];
      m.refuse(Code::host, fmt::format("{}() of a {}", c.name, host_type_name(c.args[0])), c.place, "write a def");
    }
    HostValue out = c.args[0];
    out.function = std::make_shared<HostFunction>(*out.function);
    out.function->form = c.name == "staticmethod"  ? Form::of_none
                         : c.name == "classmethod" ? Form::of_class
                                                   : Form::property;
    return out;
  }

  static HostValue callable(HostMachine&, const Call& c) { return HostValue::boolean(can_call(c.args[0])); }

  static HostValue hasattr(HostMachine& m, const Call& c) {
    return HostValue::boolean(m.has_attribute(c.args[0], m.string_of(c.args[1], c.place), c.place));
  }
  static HostValue getattr(HostMachine& m, const Call& c) {
    const std::string& name = m.string_of(c.args[1], c.place);
    if (c.args.size() > 2 && !m.has_attribute(c.args[0], name, c.place)) return c.args[2];
    return m.eval_attribute(c.args[0], name, c.place);
  }
  static HostValue object_setattr(HostMachine& m, const Call& c) {
    if (!c.args[0].is(Kind::object)) m.raise("TypeError", "object.__setattr__ needs an object of the file", c.place);
    m.store_attribute(c.args[0], m.string_of(c.args[1], c.place), c.args[2], c.place);
    return {};
  }

  static Run find(std::string_view name);
};

HostMachine::Builtins::Run HostMachine::Builtins::find(std::string_view name) {
  static const std::unordered_map<std::string_view, Run> kAll = {
      {"abs", abs},
      {"all", any_all},
      {"any", any_all},
      {"bin", in_base},
      {"bool", of_bool},
      {"callable", callable},
      {"chr", chr},
      {"classmethod", method_form},
      {"dict", dict},
      {"dict.fromkeys", dict_fromkeys},
      {"divmod", divmod},
      {"enumerate", iterator},
      {"filter", iterator},
      {"float", of_float},
      {"format", format},
      {"frozenset", set},
      {"getattr", getattr},
      {"hasattr", hasattr},
      {"hash", hash},
      {"hex", in_base},
      {"int", [](HostMachine& m, const Call& c) { return m.call_int(c.args, c.place); }},
      {"isinstance", is_instance},
      {"issubclass", is_subclass},
      {"iter", iterator},
      {"len", len},
      {"list", list},
      {"map", iterator},
      {"max", min_max},
      {"min", min_max},
      {"next", next},
      {"object.__setattr__", object_setattr},
      {"oct", in_base},
      {"ord", ord},
      {"pow", pow},
      {"property", method_form},
      {"print", [](HostMachine&, const Call&) { return HostValue{}; }},
      {"range", [](HostMachine& m, const Call& c) { return m.make_range(c.args, c.place); }},
      {"repr", str},
      {"reversed", iterator},
      {"round", round},
      {"set", set},
      {"slice", slice},
      {"sorted", sorted},
      {"staticmethod", method_form},
      {"str", str},
      {"sum", sum},
      {"super", [](HostMachine& m, const Call& c) { return m.make_super(c.args, c.place); }},
      {"tuple", tuple},
      {"type", type},
      {"zip", iterator},
  };
  return find_row(kAll, name);
}

std::optional<HostValue> HostMachine::call_python(std::string_view name, HostArgs& args, HostKwargs& kwargs,
                                                  py::Place place) {
  if (const Builtins::Run found = Builtins::find(name)) return found(*this, {name, args, kwargs, place});
  if (const std::size_t dot = name.find('.'); dot != std::string_view::npos) {
    // str.upper(s): the method of its first argument
    if (args.empty()) raise("TypeError", fmt::format("{}() needs an argument", name), place);
    if (!is_instance(args[0], HostValue::path(fmt::format("builtins.{}", name.substr(0, dot))), place))
      raise("TypeError", fmt::format("{}() does not fit a {}", name, host_type_name(args[0])), place);
    HostValue object = args[0];
    if (is_container_object(object)) object.klass = nullptr;  // its class does not count here
    return call_method(object, std::string(name.substr(dot + 1)), {args.begin() + 1, args.end()}, kwargs, place);
  }
  if (is_forbidden_builtin(name))
    refuse(Code::integrity, fmt::format("call of '{}' in a wrapper", name), place,
           "a wrapper allocates, launches kernels and returns");
  return std::nullopt;
}

HostValue HostMachine::call_int(const HostArgs& args, py::Place place) {
  if (args.empty()) return HostValue::of(std::int64_t{0});
  if (args[0].is(Kind::real)) {
    if (std::isnan(args[0].real)) raise("ValueError", "cannot convert float NaN to integer", place);
    if (std::isinf(args[0].real)) raise("OverflowError", "cannot convert float infinity to integer", place);
    const auto v = Integer::truncated(args[0].real);
    if (!v) too_large(place);
    return HostValue::of(*v);
  }
  if (!args[0].is(Kind::string)) return HostValue::of(exact_integer(args[0], place));
  std::string digits(text_trim(args[0].text));
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.erase(0, 1);
  const std::int64_t given = args.size() > 1 ? integer(args[1], place) : 10;
  if (given != 0 && (given < 2 || given > 36)) raise("ValueError", "int() base must be >= 2 and <= 36, or 0", place);
  std::int64_t base = given;
  constexpr std::pair<char, std::int64_t> kPrefixes[] = {{'x', 16}, {'o', 8}, {'b', 2}};
  for (const auto& [letter, of] : kPrefixes)
    if ((given == 0 || given == of) && digits.size() > 2 && digits[0] == '0' && (digits[1] | 32) == letter) {
      digits.erase(0, 2);
      base = of;
      break;
    }
  if (base == 0) base = 10;
  std::erase(digits, '_');
  const bool valid = !digits.empty() && std::all_of(digits.begin(), digits.end(), [&](char c) {
    const char lower = static_cast<char>(c | 32);
    const int digit = c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 36;
    return digit < base;
  });
  if (!valid)
    raise("ValueError", fmt::format("invalid literal for int() with base {}: {}", given, python_string(args[0].text)),
          place);
  const auto v = Integer::parse(digits, static_cast<int>(base));
  if (!v) too_large(place);
  return HostValue::of(negative ? *v->negated() : *v);
}

void HostMachine::sort(std::vector<HostValue>& items, const HostKwargs& kwargs, py::Place place) {
  const HostValue* key = nullptr;
  bool reverse = false;
  for (const auto& [k, v] : kwargs) {
    if (k == "key" && !v.is(Kind::none)) key = &v;
    if (k == "reverse") reverse = truth(v, place);
  }
  std::vector<std::pair<HostValue, HostValue>> ranked;  // rank, item
  for (HostValue& item : items) {
    step(place);
    HostValue rank = key == nullptr ? item : call(*key, {item}, {}, place);
    ranked.emplace_back(std::move(rank), std::move(item));
  }
  // Equal items keep their order in either direction.
  merge_sort(ranked, [&](const auto& a, const auto& b) {
    return reverse ? compare(py::Op::lt, b.first, a.first, place) : compare(py::Op::lt, a.first, b.first, place);
  });
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = std::move(ranked[i].second);
}

// Whether a class of the file, or of exceptions, is or derives from another.
bool HostMachine::is_subclass(const HostValue& klass, const HostValue& type, py::Place place) {
  if (type.is(Kind::tuple))
    return std::any_of(type.items->values.begin(), type.items->values.end(),
                       [&](const HostValue& t) { return is_subclass(klass, t, place); });
  const auto class_of = [&](const HostValue& v) { return v.is(Kind::klass) ? v.klass : exception_type(v); };
  const std::shared_ptr<HostClass> derived = class_of(klass), wanted = class_of(type);
  if (derived && type.is(Kind::path) && !derived->container.empty()) {
    const bool of_dict = derived->container == "collections.OrderedDict" ||
                         derived->container == "collections.Counter" || derived->container == "collections.defaultdict";
    return type.text == "builtins.object" || type.text == derived->container ||
           (of_dict && type.text == "builtins.dict");
  }
  if (!derived || !wanted)
    return equal(klass, type, place) || (type.is(Kind::path) && type.text == "builtins.object") ||
           (klass.is(Kind::path) && klass.text == "builtins.bool" && type.text == "builtins.int");
  for (const HostClass* c = derived.get(); c != nullptr; c = c->parent.get())
    if (c == wanted.get()) return true;
  return false;
}

namespace {

// Types that are not of the file; behind a dot: of whatever module.
struct TypeRow {
  std::string_view type;
  bool (*holds)(const HostValue& v);
};

template <Kind kind>
bool is_of(const HostValue& v) {
  return v.is(kind);
}
bool is_integral(const HostValue& v) { return v.is_integral(); }
bool is_number(const HostValue& v) { return v.is_number(); }
bool is_tuple(const HostValue& v) { return v.is(Kind::tuple) || is_named_tuple(v); }
bool is_ordered(const HostValue& v) {
  return v.is(Kind::list) || v.is(Kind::string) || v.is(Kind::range) || is_tuple(v);
}

constexpr TypeRow kTypes[] = {
    {"builtins.NoneType", is_of<Kind::none>},
    {"builtins.bool", is_of<Kind::boolean>},
    {"builtins.dict", is_of<Kind::dict>},
    {"builtins.float", is_of<Kind::real>},
    {"builtins.frozenset", is_of<Kind::set>},
    {"builtins.int", is_integral},
    {"builtins.list", [](const HostValue& v) { return v.is(Kind::list) && v.items->type != kDeque; }},
    {"builtins.range", is_of<Kind::range>},
    {"builtins.object", [](const HostValue&) { return true; }},
    {"builtins.set", is_of<Kind::set>},
    {"builtins.slice", is_of<Kind::slice>},
    {"builtins.str", is_of<Kind::string>},
    {"builtins.tuple", is_tuple},
    {"builtins.type", is_of<Kind::klass>},
    {"enum.Enum", is_enum_member},
    {"enum.Flag", is_flag},
    {"enum.IntEnum", [](const HostValue& v) { return is_enum_member(v) && v.is_integral() && !is_flag(v); }},
    {"enum.IntFlag", is_flag},
    {"enum.StrEnum", [](const HostValue& v) { return is_enum_member(v) && v.is(Kind::string); }},
    {"numbers.Integral", is_integral},
    {"numbers.Number", is_number},
    {"numbers.Real", is_number},
    {"torch.Size", [](const HostValue& v) { return v.is(Kind::tuple) && v.text == "torch.Size"; }},
    {"torch.Tensor", is_of<Kind::tensor>},
    {"torch.device", is_of<Kind::device>},
    {"torch.dtype", is_of<Kind::dtype>},
    {"triton.Config", is_of<Kind::config>},
    {"types.NoneType", is_of<Kind::none>},
    {".Autotuner", [](const HostValue& v) { return v.is(Kind::kernel) && v.items != nullptr; }},
    {".Callable", can_call},
    {".Generator", [](const HostValue& v) { return v.is(Kind::iterator) && v.items->source->frame != nullptr; }},
    {".Iterable",
     [](const HostValue& v) {
       return v.is_sequence() || v.is(Kind::dict) || v.is(Kind::string) || v.is(Kind::iterator) || v.is(Kind::range) ||
              v.is(Kind::dict_view) || (v.is(Kind::object) && v.klass->method("__iter__") != nullptr);
     }},
    {".Iterator",
     [](const HostValue& v) {
       return v.is(Kind::iterator) ||
              (v.is(Kind::object) && v.klass->method("__iter__") != nullptr && v.klass->method("__next__") != nullptr);
     }},
    {".JITFunction", is_of<Kind::kernel>},
    {".Mapping", is_of<Kind::dict>},
    {".Sequence", is_ordered},
};

}  // namespace

bool HostMachine::is_instance(const HostValue& v, const HostValue& type, py::Place place) {
  if (type.is(Kind::tuple))
    return std::any_of(type.items->values.begin(), type.items->values.end(),
                       [&](const HostValue& t) { return is_instance(v, t, place); });
  if (v.is(Kind::object) && v.klass->form == HostClass::Form::exception && exception_type(type)) {
    return is_subclass(class_value(v.klass), type, place);
  }
  if (type.is(Kind::klass)) {
    if (v.is(Kind::klass)) return false;
    for (const HostClass* c = v.klass.get(); c != nullptr; c = c->parent.get())
      if (c == type.klass.get()) return true;
    return false;
  }
  if (type.is(Kind::none)) return v.is(Kind::none);  // of int | None
  if (!type.is(Kind::path)) return false;
  if (v.is(Kind::iterator) && type_path(v) == type.text.get()) return true;
  if (v.items && !v.items->type.empty() && type.text == fmt::format("collections.{}", v.items->type)) return true;
  return std::any_of(std::begin(kTypes), std::end(kTypes), [&](const TypeRow& row) {
    return (row.type.starts_with('.') ? type.text.get().ends_with(row.type) : type.text == row.type) && row.holds(v);
  });
}

}  // namespace passnet
