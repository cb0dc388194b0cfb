// Calls of a host program: what is called, and Python's own functions.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "pass/host_machine.h"
#include "pass/host_signatures.h"
#include "pass/policy.h"

namespace passnet {

using Kind = HostValue::Kind;

constexpr std::size_t kLongest = 200'000;  // of what is made at once: ranges, iterators

const HostValue* keyword(const HostKwargs& kwargs, std::string_view name) {
  for (const auto& [k, v] : kwargs)
    if (k == name) return &v;
  return nullptr;
}

std::int64_t HostMachine::integer(const HostValue& v, py::Place place) const {
  if (!v.is_integral()) raise("TypeError", fmt::format("an int is needed, not {}", host_type_name(v)), place);
  return v.integer;
}

double HostMachine::real(const HostValue& v, py::Place place) const {
  if (!v.is_number()) raise("TypeError", fmt::format("a number is needed, not {}", host_type_name(v)), place);
  return v.as_real();
}

const std::string& HostMachine::string_of(const HostValue& v, py::Place place) const {
  if (!v.is(Kind::string)) raise("TypeError", fmt::format("a str is needed, not {}", host_type_name(v)), place);
  return v.text;
}

std::vector<HostValue> HostMachine::iterate(const HostValue& v, py::Place place) {
  switch (v.kind) {
    case Kind::tuple:
    case Kind::list:
    case Kind::set: spend(v.items->values.size() / 2, place); return v.items->values;
    case Kind::iterator: spend(v.items->values.size() / 2, place); return std::exchange(v.items->values, {});
    case Kind::dict: {
      spend(v.items->values.size() / 4, place);
      std::vector<HostValue> keys;
      for (std::size_t i = 0; i < v.items->values.size(); i += 2) keys.push_back(v.items->values[i]);
      return keys;
    }
    case Kind::string: {
      std::vector<HostValue> letters;
      for (const char c : v.text.get()) step(place), letters.push_back(HostValue::string(std::string(1, c)));
      return letters;
    }
    case Kind::object: {
      if (auto items = own(v, "__iter__", {}, place)) {
        if (!items->is(Kind::object)) return iterate(*items, place);
        if (items->klass->method("__next__") == nullptr)
          raise("TypeError", fmt::format("iter() returned non-iterator of type '{}'", host_type_name(*items)), place);
        return drain(*items, place);
      }
      if (!is_named_tuple(v)) raise("TypeError", fmt::format("{} is not iterable", host_type_name(v)), place);
      return plain_tuple(v).items->values;
    }
    case Kind::klass: {
      if (v.klass->form != HostClass::Form::enumeration)
        raise("TypeError", fmt::format("{} is not iterable", host_type_name(v)), place);
      std::vector<HostValue> members;
      for (const HostClass::Field& f : v.klass->fields) members.push_back(*class_attribute(v, f.name));
      return members;
    }
    case Kind::tensor: {  // its rows, as views
      if (desc(v).sizes.empty()) raise("TypeError", "iteration over a 0-d tensor", place);
      return tensor_method(v, "unbind", {}, {}, place).items->values;
    }
    case Kind::opaque:
      refuse(Code::pass, "replacement_args takes its arguments apart", place, "return them whole: (x, y, \"route\")");
    default: raise("TypeError", fmt::format("{} is not iterable", host_type_name(v)), place);
  }
}

// All that is still to come of an object with __next__.
std::vector<HostValue> HostMachine::drain(const HostValue& iterator, py::Place place) {
  const Checkpoint before = checkpoint();
  std::vector<HostValue> out;
  while (out.size() < kLongest) {
    try {
      out.push_back(*own(iterator, "__next__", {}, place));
    } catch (const HostRaise& raised) {
      if (raised.type != "StopIteration") throw;
      recover(before);
      return out;
    }
  }
  refuse(Code::limit, fmt::format("an iterator gives more than {} values", kLongest), place,
         "those of a wrapper are taken at once, so they must end");
}

HostValue HostMachine::call(const HostValue& callee, HostArgs args, HostKwargs kwargs, py::Place place) {
  step(place);
  switch (callee.kind) {
    case Kind::function: return call_function(*callee.function, std::move(args), std::move(kwargs), place);
    case Kind::launcher: return launch(*callee.launcher, std::move(args), std::move(kwargs), place);
    case Kind::path: return call_path(callee.text, std::move(args), std::move(kwargs), place);
    case Kind::method:
      return call_method(callee.items->values[0], callee.text, std::move(args), std::move(kwargs), place);
    case Kind::partial: {
      const auto& parts = callee.items->values;
      HostArgs all = parts[1].items->values;
      all.insert(all.end(), args.begin(), args.end());
      HostKwargs named;
      const auto& kept = parts[2].items->values;
      for (std::size_t i = 0; i + 1 < kept.size(); i += 2)
        if (std::none_of(kwargs.begin(), kwargs.end(), [&](const auto& k) { return k.first == kept[i].text; }))
          named.emplace_back(kept[i].text, kept[i + 1]);
      named.insert(named.end(), kwargs.begin(), kwargs.end());
      const HostValue function = parts[0];
      return call(function, std::move(all), std::move(named), place);
    }
    case Kind::klass: return instantiate(callee, std::move(args), std::move(kwargs), place);
    case Kind::object: {
      const bool forward = callee.klass->form == HostClass::Form::module && callee.klass->method("__call__") == nullptr;
      return call_method(callee, forward ? "forward" : "__call__", std::move(args), std::move(kwargs), place);
    }
    case Kind::kernel:
      refuse(Code::host, fmt::format("kernel '{}' is called without a grid", callee.kernel.name()), place,
             "write kernel[grid](...)");
    default: raise("TypeError", fmt::format("{} is not callable", host_type_name(callee)), place);
  }
}

HostValue HostMachine::call_path(const std::string& path, HostArgs args, HostKwargs kwargs, py::Place place) {
  bind_arguments(path, args, kwargs, place);
  const auto behind = [&](std::string_view prefix) { return std::string_view(path).substr(prefix.size()); };
  if (std::shared_ptr<HostClass> type = exception_type(HostValue::path(path))) {
    if (!kwargs.empty()) raise("TypeError", fmt::format("{}() takes no keyword arguments", type->name), place);
    return make_exception(std::move(type), std::move(args));
  }
  if (path.starts_with("builtins.")) {
    if (auto v = call_python(behind("builtins."), args, kwargs, place)) return *v;
    refuse(Code::host, fmt::format("'{}()' is nothing a wrapper can call", behind("builtins.")), place);
  }
  if (path.starts_with("torch.")) {
    if (auto v = call_torch(behind("torch."), args, kwargs, place)) return *v;
    refuse(Code::policy, fmt::format("call of '{}' in a wrapper", path), place, allowed_calls_note());
  }
  if (path.starts_with("math.")) {
    if (auto v = call_math(behind("math."), args, kwargs, place)) return *v;
  }
  if (auto v = call_library(path, args, kwargs, place)) return *v;
  if (path == "os.getenv" || path == "os.environ.get")  // of an empty environment
    return args.size() > 1 ? args[1] : HostValue{};
  if (is_outside(path))
    refuse(is_outside_harmless(path) ? Code::host : Code::integrity, fmt::format("call of '{}' in a wrapper", path),
           place, "a wrapper allocates, launches kernels and returns");
  refuse(Code::host, fmt::format("'{}' is nothing a wrapper can call", path), place,
         "known are Python's own functions, math, triton, functools.reduce, itertools.product and chain, operator");
}

bool HostMachine::is_python_name(std::string_view name) {
  constexpr std::string_view kOthers =  // beside the functions that can be called
      " ascii bytearray bytes classmethod complex dir property staticmethod object "
      "NotImplemented Ellipsis __debug__ __name__ __file__ __doc__ __builtins__ ";
  const std::string path = fmt::format("builtins.{}", name);
  return has_signature(path) || kOthers.find(fmt::format(" {} ", name)) != std::string_view::npos ||
         is_forbidden_builtin(name) || exception_type(HostValue::path(path));
}

// Whether a class of the file, or of exceptions, is or derives from another.
bool HostMachine::is_subclass(const HostValue& klass, const HostValue& type, py::Place place) {
  if (type.is(Kind::tuple))
    return std::any_of(type.items->values.begin(), type.items->values.end(),
                       [&](const HostValue& t) { return is_subclass(klass, t, place); });
  const auto class_of = [&](const HostValue& v) { return v.is(Kind::klass) ? v.klass : exception_type(v); };
  const std::shared_ptr<HostClass> derived = class_of(klass), wanted = class_of(type);
  if (!derived || !wanted)
    return equal(klass, type, place) || (type.is(Kind::path) && type.text == "builtins.object") ||
           (klass.is(Kind::path) && klass.text == "builtins.bool" && type.text == "builtins.int");
  for (const HostClass* c = derived.get(); c != nullptr; c = c->parent.get())
    if (c == wanted.get()) return true;
  return false;
}

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
  if (!type.is(Kind::path)) return false;
  const std::string_view t = type.text;
  HostArgs callable{v};
  HostKwargs none;
  if (t == "builtins.int" || t == "numbers.Integral") return v.is_integral();
  if (t == "builtins.float") return v.is(Kind::real);
  if (t == "numbers.Number" || t == "numbers.Real") return v.is_number();
  if (t == "builtins.bool") return v.is(Kind::boolean);
  if (t == "builtins.str") return v.is(Kind::string);
  if (t == "torch.Size") return v.is(Kind::tuple) && v.text == t;
  if (t == "builtins.tuple") return v.is(Kind::tuple) || is_named_tuple(v);
  if (t == "builtins.list") return v.is(Kind::list);
  if (t == "builtins.set" || t == "builtins.frozenset") return v.is(Kind::set);
  if (t == "builtins.dict") return v.is(Kind::dict);
  if (t == "torch.Tensor") return v.is(Kind::tensor);
  if (t == "torch.dtype") return v.is(Kind::dtype);
  if (t == "torch.device") return v.is(Kind::device);
  if (t.starts_with("triton.") && t.ends_with("JITFunction")) return v.is(Kind::kernel);
  if (t.starts_with("triton.") && t.ends_with("Autotuner")) return v.is(Kind::kernel) && v.items != nullptr;
  if (t == "triton.Config") return v.is(Kind::config);
  if (t == "builtins.object") return true;
  if (t == "builtins.NoneType" || t == "types.NoneType") return v.is(Kind::none);
  if (t == "builtins.slice") return v.is(Kind::slice);
  if (t == "builtins.type") return v.is(Kind::klass);
  if (t.ends_with(".Callable")) return truth(*call_python("callable", callable, none, place), place);
  if (t.ends_with(".Sequence")) return v.is(Kind::list) || v.is(Kind::tuple) || v.is(Kind::string) || is_named_tuple(v);
  if (t.ends_with(".Mapping")) return v.is(Kind::dict);
  if (t.ends_with(".Iterable"))
    return v.is_sequence() || v.is(Kind::dict) || v.is(Kind::string) || v.is(Kind::iterator);
  return false;
}

HostValue HostMachine::call_range(const HostArgs& args, py::Place place) {
  const std::int64_t begin = args.size() > 1 ? integer(args[0], place) : 0,
                     end = integer(args[args.size() > 1 ? 1 : 0], place),
                     by = args.size() > 2 ? integer(args[2], place) : 1;
  if (by == 0) raise("ValueError", "range() step must not be zero", place);
  std::vector<HostValue> out;
  for (std::int64_t i = begin; by > 0 ? i < end : i > end;) {
    step(place);
    if (out.size() >= kLongest) refuse(Code::limit, fmt::format("range() of more than {} numbers", kLongest), place);
    out.push_back(HostValue::of(i));
    if (__builtin_add_overflow(i, by, &i)) break;
  }
  return HostValue::sequence(Kind::list, std::move(out));
}

HostValue HostMachine::call_min_max(std::string_view name, HostArgs& args, HostKwargs& kwargs, py::Place place) {
  const HostValue *otherwise = nullptr, *key = nullptr;
  for (const auto& [k, v] : kwargs) (k == "default" ? otherwise : key) = &v;
  if (args.empty()) raise("TypeError", fmt::format("{}() needs an argument", name), place);
  const std::vector<HostValue> items = args.size() == 1 ? iterate(args[0], place) : args;
  if (items.empty()) {
    if (otherwise != nullptr) return *otherwise;
    raise("ValueError", fmt::format("{}() of nothing", name), place);
  }
  const auto rank = [&](const HostValue& v) {
    return key == nullptr || key->is(Kind::none) ? v : call(*key, {v}, {}, place);
  };
  std::size_t best = 0;
  HostValue best_rank = rank(items[0]);
  for (std::size_t i = 1; i < items.size(); ++i) {
    HostValue r = rank(items[i]);
    if (!compare(name == "min" ? py::Op::lt : py::Op::gt, r, best_rank, place)) continue;
    best = i;
    best_rank = std::move(r);
  }
  return items[best];
}

HostValue HostMachine::call_int(const HostArgs& args, py::Place place) {
  if (args.empty()) return HostValue::of(std::int64_t{0});
  if (args[0].is(Kind::real)) {
    if (std::isnan(args[0].real)) raise("ValueError", "cannot convert float NaN to integer", place);
    if (!(std::fabs(args[0].real) < 9.2e18)) raise("OverflowError", "cannot convert this float to an integer", place);
    return HostValue::of(static_cast<std::int64_t>(std::trunc(args[0].real)));
  }
  if (!args[0].is(Kind::string)) return HostValue::of(integer(args[0], place));
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
  if (negative) digits.insert(0, 1, '-');
  std::int64_t v = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), v, static_cast<int>(base));
  if (code == std::errc::result_out_of_range) refuse(Code::limit, "an integer does not fit into 64 bits", place);
  if (code != std::errc() || end != digits.data() + digits.size())
    raise("ValueError", fmt::format("invalid literal for int() with base {}: {}", given, python_string(args[0].text)),
          place);
  return HostValue::of(v);
}

HostValue HostMachine::call_float(const HostArgs& args, py::Place place) {
  if (args.empty()) return HostValue::of(0.0);
  if (!args[0].is(Kind::string)) return HostValue::of(real(args[0], place));
  std::string digits(text_trim(args[0].text));
  std::transform(digits.begin(), digits.end(), digits.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (digits.starts_with('+')) digits.erase(0, 1);
  double v = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), v);
  if (code == std::errc::invalid_argument || end != digits.data() + digits.size())
    raise("ValueError", fmt::format("could not convert string to float: {}", python_string(args[0].text)), place);
  if (code == std::errc::result_out_of_range)
    v = digits.find("e-") != std::string::npos ? 0.0 : digits.starts_with('-') ? -HUGE_VAL : HUGE_VAL;
  return HostValue::of(v);
}

HostValue HostMachine::call_round(const HostArgs& args, py::Place place) {
  const bool whole = args.size() < 2 || args[1].is(Kind::none);
  if (args[0].is_integral() && (whole || integer(args[1], place) >= 0)) return HostValue::of(args[0].integer);
  if (whole) return call_int({HostValue::of(std::nearbyint(real(args[0], place)))}, place);
  const std::int64_t digits = integer(args[1], place);
  if (!args[0].is(Kind::real) || digits < 0 || digits > 300) refuse(Code::host, "round() to these digits", place);
  const double v = args[0].real;
  if (!std::isfinite(v)) return args[0];
  return call_float({HostValue::string(fmt::format("{:.{}f}", v, digits))},
                    place);  // the decimal expansion is exact, so ties are real ties
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
    HostValue rank = key == nullptr ? item : call(*key, {item}, {}, place);
    ranked.emplace_back(std::move(rank), std::move(item));
  }
  // Equal items keep their order in either direction.
  merge_sort(ranked, [&](const auto& a, const auto& b) {
    return reverse ? compare(py::Op::lt, b.first, a.first, place) : compare(py::Op::lt, a.first, b.first, place);
  });
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = std::move(ranked[i].second);
}

std::optional<HostValue> HostMachine::call_python(std::string_view name, HostArgs& args, HostKwargs& kwargs,
                                                  py::Place place) {
  if (name == "len") {
    if (args[0].is(Kind::tensor))
      return get_item(tensor_attribute(args[0], "shape", place), HostValue::of(std::int64_t{0}), place);
    if (args[0].is(Kind::string)) return HostValue::of(static_cast<std::int64_t>(args[0].text.size()));
    if (args[0].is_sequence()) return HostValue::of(static_cast<std::int64_t>(args[0].items->values.size()));
    if (args[0].is(Kind::dict)) return HostValue::of(static_cast<std::int64_t>(args[0].items->values.size() / 2));
    if (auto length = own(args[0], "__len__", {}, place)) return *length;
    if (args[0].is(Kind::object) || args[0].is(Kind::klass))
      return HostValue::of(static_cast<std::int64_t>(iterate(args[0], place).size()));
    raise("TypeError", fmt::format("{} has no len()", host_type_name(args[0])), place);
  }
  if (name == "range") return call_range(args, place);
  if (name == "min" || name == "max") return call_min_max(name, args, kwargs, place);
  if (name == "int") return call_int(args, place);
  if (name == "float") return call_float(args, place);
  if (name == "bool") return HostValue::boolean(!args.empty() && truth(args[0], place));
  if (name == "str") return HostValue::string(args.empty() ? std::string() : text(args[0], false, place));
  if (name == "hash") {
    if (args[0].is(Kind::list) || args[0].is(Kind::dict) || args[0].is(Kind::set))
      raise("TypeError", fmt::format("unhashable type: '{}'", host_type_name(args[0])), place);
    if (args[0].is_number() && args[0].as_real() == std::trunc(args[0].as_real())) return call_int(args, place);
    return HostValue::of(static_cast<std::int64_t>(std::hash<std::string>{}(text(args[0], true, place)) >> 2));
  }
  if (name == "repr") return HostValue::string(text(args[0], true, place));
  if (name == "format")
    return HostValue::string(formatted(args[0], args.size() > 1 ? string_of(args[1], place) : std::string(), place));
  if (name == "iter" && !args.empty() && args[0].is(Kind::iterator)) return args[0];
  if (name == "tuple" || name == "list" || name == "sorted" || name == "reversed" || name == "iter") {
    std::vector<HostValue> items = args.empty() ? std::vector<HostValue>{} : iterate(args[0], place);
    if (name == "sorted") sort(items, kwargs, place);
    if (name == "reversed") std::reverse(items.begin(), items.end());
    return HostValue::sequence(name == "tuple"  ? Kind::tuple
                               : name == "iter" ? Kind::iterator
                                                : Kind::list,
                               std::move(items));
  }
  if (name == "set" || name == "frozenset") {
    HostValue out = HostValue::sequence(Kind::set, {});
    if (!args.empty())
      for (HostValue& v : iterate(args[0], place)) add_unique(*out.items, std::move(v), place);
    return out;
  }
  if (name == "next") {
    const Checkpoint before = checkpoint();
    try {
      if (auto item = own(args[0], "__next__", {}, place)) return *item;
    } catch (const HostRaise& raised) {
      if (raised.type != "StopIteration" || args.size() < 2) throw;
      recover(before);
      return args[1];
    }
    const bool one_by_one = args[0].is(Kind::iterator);
    std::vector<HostValue> items = one_by_one ? std::vector<HostValue>{} : iterate(args[0], place);
    std::vector<HostValue>& left = one_by_one ? args[0].items->values : items;
    if (left.empty() && args.size() > 1) return args[1];
    if (left.empty()) raise("StopIteration", "", place);
    spend(left.size() / 8, place);
    HostValue first = std::move(left.front());
    left.erase(left.begin());
    return first;
  }
  if (name == "dict") {
    HostValue out = HostValue::sequence(Kind::dict, {});
    if (!args.empty()) call_method(out, "update", {args[0]}, {}, place);
    for (auto& [k, v] : kwargs) set_item(out, HostValue::string(k), v, place);
    return out;
  }
  if (name == "issubclass") return HostValue::boolean(is_subclass(args[0], args[1], place));
  if (name == "isinstance") return HostValue::boolean(is_instance(args[0], args[1], place));
  if (name == "enumerate") {
    std::int64_t i = args.size() > 1 ? integer(args[1], place) : 0;
    std::vector<HostValue> out;
    for (HostValue& v : iterate(args[0], place)) {
      out.push_back(HostValue::sequence(Kind::tuple, {HostValue::of(i), std::move(v)}));
      if (__builtin_add_overflow(i, 1, &i)) refuse(Code::limit, "an integer does not fit into 64 bits", place);
    }
    return HostValue::sequence(Kind::list, std::move(out));
  }
  if (name == "zip") {
    std::vector<std::vector<HostValue>> all;
    std::size_t shortest = args.empty() ? 0 : static_cast<std::size_t>(-1);
    for (const HostValue& a : args) {
      all.push_back(iterate(a, place));
      shortest = std::min(shortest, all.back().size());
    }
    const HostValue* strict = keyword(kwargs, "strict");
    if (strict != nullptr && truth(*strict, place))
      for (const auto& items : all)
        if (items.size() != shortest) raise("ValueError", "zip() of lengths that differ", place);
    std::vector<HostValue> out;
    for (std::size_t i = 0; i < shortest; ++i) {
      std::vector<HostValue> row;
      for (const auto& items : all) step(place), row.push_back(items[i]);
      out.push_back(HostValue::sequence(Kind::tuple, std::move(row)));
    }
    return HostValue::sequence(Kind::list, std::move(out));
  }
  if (name == "map" || name == "filter") {
    std::vector<std::vector<HostValue>> all;
    for (std::size_t i = 1; i < args.size(); ++i) all.push_back(iterate(args[i], place));
    std::size_t shortest = all[0].size();
    for (const auto& items : all) shortest = std::min(shortest, items.size());
    std::vector<HostValue> out;
    for (std::size_t i = 0; i < shortest; ++i) {
      HostArgs row;
      for (const auto& items : all) row.push_back(items[i]);
      HostValue r = args[0].is(Kind::none) ? row[0] : call(args[0], row, {}, place);
      if (name == "map")
        out.push_back(std::move(r));
      else if (truth(r, place))
        out.push_back(all[0][i]);
    }
    return HostValue::sequence(Kind::list, std::move(out));
  }
  if (name == "sum") {
    HostValue total = args.size() > 1 ? args[1] : HostValue::of(std::int64_t{0});
    for (const HostValue& v : iterate(args[0], place)) step(place), total = binary(py::Op::add, total, v, place);
    return total;
  }
  if (name == "any" || name == "all") {
    for (const HostValue& v : iterate(args[0], place))
      if (truth(v, place) == (name == "any")) return HostValue::boolean(name == "any");
    return HostValue::boolean(name == "all");
  }
  if (name == "abs") {
    if (args[0].is(Kind::real)) return HostValue::of(std::fabs(args[0].real));
    if (args[0].is(Kind::tensor)) return unary(py::Op::neg, args[0], place);  // says why not
    const std::int64_t v = integer(args[0], place);
    return v < 0 ? unary(py::Op::neg, HostValue::of(v), place) : HostValue::of(v);
  }
  if (name == "round") return call_round(args, place);
  if (name == "pow") {
    const HostValue power = binary(py::Op::pow, args[0], args[1], place);
    if (args.size() == 2 || args[2].is(Kind::none)) return power;
    if (!power.is_integral()) refuse(Code::host, "pow() of three numbers that are no natural ones", place);
    return binary(py::Op::mod, power, args[2], place);
  }
  if (name == "divmod")
    return HostValue::sequence(Kind::tuple, {binary(py::Op::floor_div, args[0], args[1], place),
                                             binary(py::Op::mod, args[0], args[1], place)});
  if (name == "ord") {
    if (string_of(args[0], place).size() != 1) raise("TypeError", "ord() expects a character", place);
    return HostValue::of(static_cast<std::int64_t>(static_cast<unsigned char>(args[0].text[0])));
  }
  if (name == "chr") {
    if (integer(args[0], place) < 0 || args[0].integer > 127) raise("ValueError", "chr() of more than ASCII", place);
    return HostValue::string(std::string(1, static_cast<char>(args[0].integer)));
  }
  if (name == "bin" || name == "hex" || name == "oct")
    return HostValue::string(formatted(HostValue::of(integer(args[0], place)),
                                       name == "bin"   ? "#b"
                                       : name == "hex" ? "#x"
                                                       : "#o",
                                       place));
  if (name == "print") return HostValue{};
  if (name == "slice") {
    std::vector<HostValue> items = args.size() == 1 ? std::vector<HostValue>{{}, args[0]} : args;
    items.resize(3);
    return HostValue::sequence(Kind::slice, std::move(items));
  }
  if (name == "type") {
    if (args[0].is(Kind::tensor)) return HostValue::path("torch.Tensor");
    if (args[0].klass && !args[0].is(Kind::klass)) return class_value(args[0].klass);
    return HostValue::path("builtins." + std::string(host_type_name(args[0])));
  }
  if (name == "dict.fromkeys") {
    HostValue out = HostValue::sequence(Kind::dict, {});
    for (const HostValue& key : iterate(args[0], place))
      step(place), set_item(out, key, args.size() > 1 ? args[1] : HostValue{}, place);
    return out;
  }
  if (const std::size_t dot = name.find('.'); dot != std::string_view::npos && name != "object.__setattr__") {
    // str.upper(s): the method of its first argument
    if (args.empty()) raise("TypeError", fmt::format("{}() needs an argument", name), place);
    if (!is_instance(args[0], HostValue::path(fmt::format("builtins.{}", name.substr(0, dot))), place))
      raise("TypeError", fmt::format("{}() does not fit a {}", name, host_type_name(args[0])), place);
    return call_method(HostValue(args[0]), std::string(name.substr(dot + 1)), {args.begin() + 1, args.end()}, kwargs,
                       place);
  }
  if (name == "super") return make_super(args, place);
  if (name == "object.__setattr__") {
    if (!args[0].is(Kind::object)) raise("TypeError", "object.__setattr__ needs an object of the file", place);
    return set_attribute(args[0], string_of(args[1], place), args[2], place), HostValue{};
  }
  if (name == "hasattr") return HostValue::boolean(has_attribute(args[0], string_of(args[1], place), place));
  if (name == "getattr") {
    if (args.size() > 2 && !has_attribute(args[0], string_of(args[1], place), place)) return args[2];
    return eval_attribute(args[0], string_of(args[1], place), place);
  }
  if (name == "callable")
    return HostValue::boolean(args[0].is(Kind::function) || args[0].is(Kind::kernel) || args[0].is(Kind::path) ||
                              args[0].is(Kind::method) || args[0].is(Kind::partial) || args[0].is(Kind::klass) ||
                              (args[0].is(Kind::object) && (args[0].klass->form == HostClass::Form::module ||
                                                            args[0].klass->method("__call__") != nullptr)));
  if (is_forbidden_builtin(name))
    refuse(Code::integrity, fmt::format("call of '{}' in a wrapper", name), place,
           "a wrapper allocates, launches kernels and returns");
  return std::nullopt;
}

HostValue HostMachine::call_method(const HostValue& object, const std::string& name, HostArgs args, HostKwargs kwargs,
                                   py::Place place) {
  std::optional<HostValue> out;
  if (has_signatures(object)) bind_arguments(method_path(object, name), args, kwargs, place);
  switch (object.kind) {
    case Kind::tensor: return tensor_method(object, name, std::move(args), std::move(kwargs), place);
    case Kind::string: out = string_method(object, name, args, kwargs, place); break;
    case Kind::tuple:
    case Kind::list: out = sequence_method(object, name, args, kwargs, place); break;
    case Kind::set: out = set_method(object, name, args, place); break;
    case Kind::dict: out = dict_method(object, name, args, kwargs, place); break;
    case Kind::klass:
    case Kind::object: out = object_method(object, name, args, kwargs, place); break;
    case Kind::parent: out = parent_method(object, name, args, kwargs, place); break;
    case Kind::boolean:
    case Kind::integer:
    case Kind::real: out = number_method(object, name, place); break;
    case Kind::config:
      if (name == "all_kwargs") {
        out = HostValue::sequence(Kind::dict, config_item(object, ConfigItem::meta).items->values);
        for (const char* option : {"num_warps", "num_ctas", "num_stages"})
          set_item(*out, HostValue::string(option), eval_attribute(object, option, place), place);
      }
      break;
    case Kind::kernel:
      if (name == "run") {
        const auto grid = std::find_if(kwargs.begin(), kwargs.end(), [](const auto& k) { return k.first == "grid"; });
        if (grid == kwargs.end()) raise("TypeError", "a kernel's run() needs grid=", place);
        const HostLauncher launcher{object.kernel, object.module, std::make_shared<HostValue>(grid->second),
                                    object.items};
        kwargs.erase(grid);
        return launch(launcher, std::move(args), std::move(kwargs), place);
      }
      if (name == "warmup") return compiled_kernel();
      break;
    default: break;
  }
  if (!out) raise("AttributeError", fmt::format("{} has no '{}'", host_type_name(object), name), place);
  return std::move(*out);
}

}  // namespace passnet
