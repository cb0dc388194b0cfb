// Functions of Python, math and triton, and methods of strings, lists and dicts, as a host program may call them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "pass/host_machine.h"
#include "pass/policy.h"

namespace passnet {

using Kind = HostValue::Kind;

std::int64_t HostMachine::integer(const HostValue& v, py::Place place) const {
  if (!v.is_integral()) const_cast<HostMachine*>(this)->raise("TypeError", fmt::format("an int is needed, not {}", host_type_name(v)), place);
  return v.integer;
}

double HostMachine::real(const HostValue& v, py::Place place) const {
  if (!v.is_number()) raise("TypeError", fmt::format("a number is needed, not {}", host_type_name(v)), place);
  return v.as_real();
}

std::vector<HostValue> HostMachine::iterate(const HostValue& v, py::Place place) {
  switch (v.kind) {
    case Kind::tuple:
    case Kind::list:
    case Kind::set: return v.items->values;
    case Kind::dict: {
      std::vector<HostValue> keys;
      for (std::size_t i = 0; i < v.items->values.size(); i += 2) keys.push_back(v.items->values[i]);
      return keys;
    }
    case Kind::string: {
      std::vector<HostValue> letters;
      for (const char c : v.text) letters.push_back(HostValue::string(std::string(1, c)));
      return letters;
    }
    case Kind::tensor: refuse(Code::policy, "a loop over a tensor in a wrapper", place, "values are known to kernels only");
    case Kind::opaque: refuse(Code::pass, "replacement_args takes its arguments apart", place, "return them whole: (x, y, \"route\")");
    default: raise("TypeError", fmt::format("{} is not iterable", host_type_name(v)), place);
  }
}

HostValue HostMachine::call(const HostValue& callee, HostArgs args, HostKwargs kwargs, py::Place place) {
  step(place);
  switch (callee.kind) {
    case Kind::function: return call_function(*callee.function, std::move(args), std::move(kwargs), place);
    case Kind::launcher: return launch(*callee.launcher, std::move(args), std::move(kwargs), place);
    case Kind::path: return call_path(callee.text, std::move(args), std::move(kwargs), place);
    case Kind::method: return call_method(callee.items->values[0], callee.text, std::move(args), std::move(kwargs), place);
    case Kind::kernel: refuse(Code::host, fmt::format("kernel '{}' is called without a grid", callee.kernel.name()), place, "write kernel[grid](...)");
    default: raise("TypeError", fmt::format("{} is not callable", host_type_name(callee)), place);
  }
}

HostValue HostMachine::call_path(const std::string& path, HostArgs args, HostKwargs kwargs, py::Place place) {
  const auto behind = [&](std::string_view prefix) { return std::string_view(path).substr(prefix.size()); };
  if (path.starts_with("builtins.")) {
    if (auto v = call_python(behind("builtins."), args, kwargs, place)) return *v;
    raise("NameError", fmt::format("name '{}' is not defined", behind("builtins.")), place);
  }
  if (path.starts_with("math.")) {
    if (auto v = call_math(behind("math."), args, place)) return *v;
  }
  if (path == "triton.cdiv" || path == "triton.language.cdiv") {
    if (args.size() != 2) raise("TypeError", "cdiv takes two integers", place);
    const std::int64_t a = integer(args[0], place), b = integer(args[1], place);
    if (b == 0) raise("ZeroDivisionError", "integer division or modulo by zero", place);
    return binary(py::Op::floor_div, binary(py::Op::sub, binary(py::Op::add, HostValue::of(a), HostValue::of(b), place), HostValue::of(std::int64_t{1}), place), HostValue::of(b), place);
  }
  if (path == "triton.next_power_of_2") {
    const std::int64_t n = integer(args.at(0), place);
    std::int64_t p = 1;
    while (p < n && p < (std::int64_t{1} << 62)) p *= 2;
    return HostValue::of(n <= 0 ? std::int64_t{0} : p);
  }
  if (path == "triton.Config") return make_config(std::move(args), std::move(kwargs), place);
  if (path == "functools.reduce") {
    if (args.size() < 2) raise("TypeError", "reduce takes a function and a sequence", place);
    std::vector<HostValue> items = iterate(args[1], place);
    if (args.size() > 2) items.insert(items.begin(), args[2]);
    if (items.empty()) raise("TypeError", "reduce() of an empty sequence", place);
    HostValue total = items[0];
    for (std::size_t i = 1; i < items.size(); ++i) total = call(args[0], {total, items[i]}, {}, place);
    return total;
  }
  if (path.starts_with("operator.") && args.size() == 2) {
    constexpr std::pair<std::string_view, py::Op> kOperators[] = {{"mul", py::Op::mul}, {"add", py::Op::add}, {"sub", py::Op::sub}, {"floordiv", py::Op::floor_div}, {"mod", py::Op::mod}, {"truediv", py::Op::div}};
    for (const auto& [name, op] : kOperators)
      if (behind("operator.") == name) return binary(op, args[0], args[1], place);
  }
  if (path == "torch.Size") return HostValue::sequence(Kind::tuple, args.empty() ? std::vector<HostValue>{} : iterate(args[0], place));
  if (path == "torch.is_tensor") return HostValue::boolean(args.at(0).is(Kind::tensor));
  if (path == "torch.device") {
    HostValue v;
    v.kind = Kind::device;
    v.device = plan_.buffers.empty() ? DeviceType::cpu : plan_.buffers[0].desc.device;  // a device literal is the run's
    return v;
  }
  if (path.starts_with("torch.") && is_allocation(behind("torch."))) return allocate(behind("torch."), std::move(args), std::move(kwargs), place);
  if (path.starts_with("torch.")) refuse(Code::policy, fmt::format("call of '{}' in a wrapper", path), place, allowed_calls_note());
  raise("NameError", fmt::format("'{}' is nothing a wrapper can call", path), place);
}

bool HostMachine::is_instance(const HostValue& v, const HostValue& type, py::Place place) const {
  if (type.is(Kind::tuple)) return std::any_of(type.items->values.begin(), type.items->values.end(), [&](const HostValue& t) { return is_instance(v, t, place); });
  if (!type.is(Kind::path)) return false;
  const std::string_view t = type.text;
  if (t == "builtins.int") return v.is_integral();
  if (t == "builtins.float") return v.is(Kind::real);
  if (t == "builtins.bool") return v.is(Kind::boolean);
  if (t == "builtins.str") return v.is(Kind::string);
  if (t == "builtins.tuple" || t == "torch.Size") return v.is(Kind::tuple);
  if (t == "builtins.list") return v.is(Kind::list);
  if (t == "builtins.dict") return v.is(Kind::dict);
  if (t == "torch.Tensor") return v.is(Kind::tensor);
  if (t == "torch.dtype") return v.is(Kind::dtype);
  return false;
}

std::optional<HostValue> HostMachine::call_python(std::string_view name, HostArgs& args, HostKwargs& kwargs, py::Place place) {
  const auto need = [&](std::size_t least) {
    if (args.size() < least) raise("TypeError", fmt::format("{}() needs {} argument{}", name, least, least == 1 ? "" : "s"), place);
  };
  const auto keyword = [&](std::string_view key) -> const HostValue* {
    for (const auto& [k, v] : kwargs)
      if (k == key) return &v;
    return nullptr;
  };
  if (name == "len") {
    need(1);
    if (args[0].is(Kind::tensor)) return get_item(tensor_attribute(args[0], "shape", place), HostValue::of(std::int64_t{0}), place);
    if (args[0].is(Kind::string)) return HostValue::of(static_cast<std::int64_t>(args[0].text.size()));
    return HostValue::of(static_cast<std::int64_t>(iterate(args[0], place).size()));
  }
  if (name == "range") {
    need(1);
    const std::int64_t begin = args.size() > 1 ? integer(args[0], place) : 0, end = integer(args[args.size() > 1 ? 1 : 0], place), by = args.size() > 2 ? integer(args[2], place) : 1;
    if (by == 0) raise("ValueError", "range() step must not be zero", place);
    std::vector<HostValue> out;
    for (std::int64_t i = begin; by > 0 ? i < end : i > end; i += by) {
      step(place);
      out.push_back(HostValue::of(i));
    }
    return HostValue::sequence(Kind::list, std::move(out));
  }
  if (name == "min" || name == "max") {
    need(1);
    const std::vector<HostValue> items = args.size() == 1 ? iterate(args[0], place) : args;
    if (items.empty()) {
      if (const HostValue* d = keyword("default")) return *d;
      raise("ValueError", fmt::format("{}() of nothing", name), place);
    }
    HostValue best = items[0];
    for (const HostValue& v : items)
      if (compare(name == "min" ? py::Op::lt : py::Op::gt, v, best, place)) best = v;
    return best;
  }
  if (name == "int") {
    if (args.empty()) return HostValue::of(std::int64_t{0});
    if (args[0].is(Kind::real)) {
      if (!(std::fabs(args[0].real) < 9e18)) raise("OverflowError", "cannot convert this float to an integer", place);
      return HostValue::of(static_cast<std::int64_t>(std::trunc(args[0].real)));
    }
    if (args[0].is(Kind::string)) {
      std::int64_t v = 0;
      const auto [end, code] = std::from_chars(args[0].text.data(), args[0].text.data() + args[0].text.size(), v);
      if (code != std::errc() || end != args[0].text.data() + args[0].text.size()) raise("ValueError", "not an integer", place);
      return HostValue::of(v);
    }
    return HostValue::of(integer(args[0], place));
  }
  if (name == "float") {
    need(1);
    if (args[0].is(Kind::string)) {
      const std::string& t = args[0].text;
      if (t == "inf" || t == "+inf") return HostValue::of(HUGE_VAL);
      if (t == "-inf") return HostValue::of(-HUGE_VAL);
      if (t == "nan") return HostValue::of(std::nan(""));
      raise("ValueError", fmt::format("could not convert {} to a float", python_string(t)), place);
    }
    return HostValue::of(real(args[0], place));
  }
  if (name == "bool") return HostValue::boolean(!args.empty() && host_truth(args[0]));
  if (name == "str") return HostValue::string(args.empty() ? std::string() : host_text(args[0], false));
  if (name == "repr") return need(1), HostValue::string(host_text(args[0], true));
  if (name == "tuple" || name == "list" || name == "set" || name == "sorted" || name == "reversed" || name == "frozenset") {
    std::vector<HostValue> items = args.empty() ? std::vector<HostValue>{} : iterate(args[0], place);
    if (name == "sorted") {
      std::stable_sort(items.begin(), items.end(), [&](const HostValue& a, const HostValue& b) { return compare(py::Op::lt, a, b, place); });
      if (const HostValue* r = keyword("reverse"); r != nullptr && host_truth(*r)) std::reverse(items.begin(), items.end());
    }
    if (name == "reversed") std::reverse(items.begin(), items.end());
    return HostValue::sequence(name == "tuple" ? Kind::tuple : name == "set" || name == "frozenset" ? Kind::set : Kind::list, std::move(items));
  }
  if (name == "dict") {
    HostValue out = HostValue::sequence(Kind::dict, {});
    if (!args.empty()) {
      if (args[0].is(Kind::dict)) out.items->values = args[0].items->values;
      else
        for (const HostValue& pair : iterate(args[0], place)) set_item(out, get_item(pair, HostValue::of(std::int64_t{0}), place), get_item(pair, HostValue::of(std::int64_t{1}), place), place);
    }
    for (auto& [k, v] : kwargs) set_item(out, HostValue::string(k), v, place);
    return out;
  }
  if (name == "isinstance") return need(2), HostValue::boolean(is_instance(args[0], args[1], place));
  if (name == "enumerate") {
    need(1);
    std::int64_t i = args.size() > 1 ? integer(args[1], place) : 0;
    if (const HostValue* s = keyword("start")) i = integer(*s, place);
    std::vector<HostValue> out;
    for (HostValue& v : iterate(args[0], place)) out.push_back(HostValue::sequence(Kind::tuple, {HostValue::of(i++), std::move(v)}));
    return HostValue::sequence(Kind::list, std::move(out));
  }
  if (name == "zip") {
    std::vector<std::vector<HostValue>> all;
    std::size_t shortest = args.empty() ? 0 : static_cast<std::size_t>(-1);
    for (const HostValue& a : args) {
      all.push_back(iterate(a, place));
      shortest = std::min(shortest, all.back().size());
    }
    std::vector<HostValue> out;
    for (std::size_t i = 0; i < shortest; ++i) {
      std::vector<HostValue> row;
      for (const auto& items : all) row.push_back(items[i]);
      out.push_back(HostValue::sequence(Kind::tuple, std::move(row)));
    }
    return HostValue::sequence(Kind::list, std::move(out));
  }
  if (name == "map" || name == "filter") {
    need(2);
    std::vector<HostValue> out;
    for (HostValue& v : iterate(args[1], place)) {
      HostValue r = call(args[0], {v}, {}, place);
      if (name == "map") out.push_back(std::move(r));
      else if (host_truth(r)) out.push_back(std::move(v));
    }
    return HostValue::sequence(Kind::list, std::move(out));
  }
  if (name == "sum") {
    need(1);
    HostValue total = args.size() > 1 ? args[1] : HostValue::of(std::int64_t{0});
    for (const HostValue& v : iterate(args[0], place)) total = binary(py::Op::add, total, v, place);
    return total;
  }
  if (name == "any" || name == "all") {
    need(1);
    for (const HostValue& v : iterate(args[0], place))
      if (host_truth(v) == (name == "any")) return HostValue::boolean(name == "any");
    return HostValue::boolean(name == "all");
  }
  if (name == "abs") {
    need(1);
    if (args[0].is(Kind::real)) return HostValue::of(std::fabs(args[0].real));
    const std::int64_t v = integer(args[0], place);
    return v < 0 ? unary(py::Op::neg, HostValue::of(v), place) : HostValue::of(v);
  }
  if (name == "round") {
    need(1);
    if (args.size() == 1) return HostValue::of(static_cast<std::int64_t>(std::nearbyint(real(args[0], place))));
    const double scale = std::pow(10.0, static_cast<double>(integer(args[1], place)));
    return HostValue::of(std::nearbyint(real(args[0], place) * scale) / scale);
  }
  if (name == "pow") return need(2), binary(py::Op::pow, args[0], args[1], place);
  if (name == "divmod") return need(2), HostValue::sequence(Kind::tuple, {binary(py::Op::floor_div, args[0], args[1], place), binary(py::Op::mod, args[0], args[1], place)});
  if (name == "print") return HostValue{};
  if (name == "slice") {
    need(1);
    std::vector<HostValue> items = args.size() == 1 ? std::vector<HostValue>{{}, args[0]} : args;
    items.resize(3);
    return HostValue::sequence(Kind::slice, std::move(items));
  }
  if (name == "type") {
    need(1);
    if (args[0].is(Kind::tensor)) return HostValue::path("torch.Tensor");
    return HostValue::path("builtins." + std::string(host_type_name(args[0])));
  }
  if (name == "hasattr") return need(2), HostValue::boolean(args[0].is(Kind::tensor) && is_metadata(args[1].text));
  if (name == "getattr") {
    need(2);
    if (!args[1].is(Kind::string)) raise("TypeError", "getattr() needs a name", place);
    return eval_attribute(args[0], args[1].text, place);
  }
  if (name == "callable") return need(1), HostValue::boolean(args[0].is(Kind::function) || args[0].is(Kind::path));
  for (const std::string_view forbidden : {"exec", "eval", "open", "compile", "__import__", "globals", "locals", "vars", "setattr", "delattr", "input", "breakpoint", "id", "memoryview", "super", "object"})
    if (name == forbidden) refuse(Code::integrity, fmt::format("call of '{}' in a wrapper", name), place, "a wrapper allocates, launches kernels and returns");
  return std::nullopt;
}

std::optional<HostValue> HostMachine::call_math(std::string_view name, const HostArgs& args, py::Place place) {
  const auto one = [&] { return real(args.at(0), place); };
  if (args.empty()) raise("TypeError", fmt::format("math.{}() needs an argument", name), place);
  const auto whole = [&](double v) {
    if (!(std::fabs(v) < 9e18)) raise("OverflowError", "cannot convert this float to an integer", place);
    return HostValue::of(static_cast<std::int64_t>(v));
  };
  const auto positive = [&](double least) {
    if (one() < least) raise("ValueError", "math domain error", place);
    return one();
  };
  if (name == "ceil") return args[0].is_integral() ? HostValue::of(args[0].integer) : whole(std::ceil(one()));
  if (name == "floor") return args[0].is_integral() ? HostValue::of(args[0].integer) : whole(std::floor(one()));
  if (name == "trunc") return args[0].is_integral() ? HostValue::of(args[0].integer) : whole(std::trunc(one()));
  if (name == "sqrt") return HostValue::of(std::sqrt(positive(0)));
  if (name == "isqrt") {
    const std::int64_t n = integer(args[0], place);
    if (n < 0) raise("ValueError", "isqrt() of a negative number", place);
    auto r = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
    while (r > 0 && r > n / r) --r;
    while ((r + 1) <= n / (r + 1)) ++r;
    return HostValue::of(r);
  }
  if (name == "log2") return HostValue::of(std::log2(positive(5e-324)));
  if (name == "log10") return HostValue::of(std::log10(positive(5e-324)));
  if (name == "log") return HostValue::of(args.size() > 1 ? std::log(positive(5e-324)) / std::log(real(args[1], place)) : std::log(positive(5e-324)));
  if (name == "exp") return HostValue::of(std::exp(one()));
  if (name == "sin") return HostValue::of(std::sin(one()));
  if (name == "cos") return HostValue::of(std::cos(one()));
  if (name == "tanh") return HostValue::of(std::tanh(one()));
  if (name == "fabs") return HostValue::of(std::fabs(one()));
  if (name == "pow" && args.size() == 2) return HostValue::of(std::pow(one(), real(args[1], place)));
  if (name == "prod") {
    HostValue total = HostValue::of(std::int64_t{1});
    for (const HostValue& v : iterate(args[0], place)) total = binary(py::Op::mul, total, v, place);
    return total;
  }
  if (name == "gcd" || name == "lcm") {
    std::int64_t total = integer(args[0], place);
    for (const HostValue& v : args) total = name == "gcd" ? std::gcd(total, integer(v, place)) : std::lcm(total, integer(v, place));
    return HostValue::of(total);
  }
  if (name == "isinf") return HostValue::boolean(std::isinf(one()));
  if (name == "isnan") return HostValue::boolean(std::isnan(one()));
  return std::nullopt;
}

HostValue HostMachine::call_method(const HostValue& object, const std::string& name, HostArgs args, HostKwargs kwargs, py::Place place) {
  if (object.is(Kind::tensor)) return tensor_method(object, name, std::move(args), std::move(kwargs), place);
  const auto arg = [&](std::size_t i) -> const HostValue& {
    if (i >= args.size()) raise("TypeError", fmt::format("{}() needs an argument", name), place);
    return args[i];
  };
  if (object.is(Kind::string)) {
    const std::string& s = object.text;
    if (name == "startswith") return HostValue::boolean(s.starts_with(arg(0).text));
    if (name == "endswith") return HostValue::boolean(s.ends_with(arg(0).text));
    if (name == "lower" || name == "upper") {
      std::string out = s;
      for (char& c : out) c = static_cast<char>(name == "lower" ? std::tolower(static_cast<unsigned char>(c)) : std::toupper(static_cast<unsigned char>(c)));
      return HostValue::string(std::move(out));
    }
    if (name == "strip") return HostValue::string(std::string(text_trim(s)));
    if (name == "split") {
      std::vector<HostValue> out;
      const std::string by = args.empty() ? " " : arg(0).text;
      if (by.empty()) raise("ValueError", "empty separator", place);
      for (std::size_t at = 0;;) {
        const std::size_t end = s.find(by, at);
        out.push_back(HostValue::string(s.substr(at, end - at)));
        if (end == std::string::npos) break;
        at = end + by.size();
      }
      return HostValue::sequence(Kind::list, std::move(out));
    }
    if (name == "join") {
      std::string out;
      for (const HostValue& v : iterate(arg(0), place)) out += (out.empty() ? "" : s) + v.text;
      return HostValue::string(std::move(out));
    }
    if (name == "replace") {
      std::string out = s;
      for (std::size_t at = 0; !arg(0).text.empty() && (at = out.find(arg(0).text, at)) != std::string::npos; at += arg(1).text.size()) out.replace(at, arg(0).text.size(), arg(1).text);
      return HostValue::string(std::move(out));
    }
    if (name == "format") return HostValue::string(s);  // only in messages
  }
  if (object.is(Kind::list) || object.is(Kind::tuple) || object.is(Kind::set)) {
    auto& items = object.items->values;
    if (name == "index") {
      for (std::size_t i = 0; i < items.size(); ++i)
        if (host_equal(items[i], arg(0))) return HostValue::of(static_cast<std::int64_t>(i));
      raise("ValueError", "the value is not in the list", place);
    }
    if (name == "count") return HostValue::of(static_cast<std::int64_t>(std::count_if(items.begin(), items.end(), [&](const HostValue& v) { return host_equal(v, arg(0)); })));
    if (name == "numel" && object.is(Kind::tuple)) {  // torch.Size
      HostValue total = HostValue::of(std::int64_t{1});
      for (const HostValue& v : items) total = binary(py::Op::mul, total, v, place);
      return total;
    }
    if (object.is(Kind::list) || object.is(Kind::set)) {
      if (name == "append" || name == "extend" || name == "insert" || name == "add") check_write(*object.items, arg(name == "insert" ? 1 : 0), place);
      if (name == "append" || name == "add") return items.push_back(arg(0)), HostValue{};
      if (name == "extend") {
        for (HostValue& v : iterate(arg(0), place)) items.push_back(std::move(v));
        return {};
      }
      if (name == "insert") {
        const std::int64_t at = std::clamp<std::int64_t>(integer(arg(0), place), 0, static_cast<std::int64_t>(items.size()));
        items.insert(items.begin() + at, arg(1));
        return {};
      }
      if (name == "pop") {
        if (items.empty()) raise("IndexError", "pop from an empty list", place);
        std::int64_t at = args.empty() ? -1 : integer(args[0], place);
        if (at < 0) at += static_cast<std::int64_t>(items.size());
        if (at < 0 || at >= static_cast<std::int64_t>(items.size())) raise("IndexError", "pop index out of range", place);
        HostValue out = items[static_cast<std::size_t>(at)];
        items.erase(items.begin() + at);
        return out;
      }
      if (name == "reverse") return std::reverse(items.begin(), items.end()), HostValue{};
      if (name == "sort") {
        std::stable_sort(items.begin(), items.end(), [&](const HostValue& a, const HostValue& b) { return compare(py::Op::lt, a, b, place); });
        return {};
      }
      if (name == "copy") return HostValue::sequence(object.kind, items);
      if (name == "clear") return items.clear(), HostValue{};
    }
  }
  if (object.is(Kind::dict)) {
    auto& items = object.items->values;
    const auto find = [&](const HostValue& key) -> std::size_t {
      for (std::size_t i = 0; i < items.size(); i += 2)
        if (host_equal(items[i], key)) return i;
      return items.size();
    };
    if (name == "get") {
      const std::size_t at = find(arg(0));
      return at < items.size() ? items[at + 1] : args.size() > 1 ? args[1] : HostValue{};
    }
    if (name == "keys" || name == "values" || name == "items") {
      std::vector<HostValue> out;
      for (std::size_t i = 0; i < items.size(); i += 2) out.push_back(name == "keys" ? items[i] : name == "values" ? items[i + 1] : HostValue::sequence(Kind::tuple, {items[i], items[i + 1]}));
      return HostValue::sequence(Kind::list, std::move(out));
    }
    if (name == "setdefault" || name == "pop") {
      const std::size_t at = find(arg(0));
      if (at < items.size()) {
        HostValue out = items[at + 1];
        if (name == "pop") items.erase(items.begin() + static_cast<std::ptrdiff_t>(at), items.begin() + static_cast<std::ptrdiff_t>(at) + 2);
        return out;
      }
      if (name == "pop" && args.size() < 2) raise("KeyError", host_text(arg(0), true), place);
      HostValue out = args.size() > 1 ? args[1] : HostValue{};
      HostValue target = object;
      if (name == "setdefault") set_item(target, arg(0), out, place);
      return out;
    }
    if (name == "update") {
      HostValue target = object;
      if (!args.empty() && args[0].is(Kind::dict)) {
        const std::vector<HostValue> other = args[0].items->values;
        for (std::size_t i = 0; i + 1 < other.size(); i += 2) set_item(target, other[i], other[i + 1], place);
      }
      for (auto& [k, v] : kwargs) set_item(target, HostValue::string(k), v, place);
      return {};
    }
    if (name == "copy") return HostValue::sequence(Kind::dict, items);
  }
  if (object.is(Kind::opaque)) refuse(Code::pass, fmt::format("'.{}' of an argument in replacement_args", name), place, "return the arguments themselves; the wrapper sees their shapes");
  raise("AttributeError", fmt::format("{} has no '{}'", host_type_name(object), name), place);
}

std::string HostMachine::formatted(const HostValue& v, std::string_view spec, py::Place) const {
  if (spec.empty() || !v.is_number()) return host_text(v, false);
  try {
    if (v.is(Kind::real)) return fmt::format(fmt::runtime(fmt::format("{{:{}}}", spec)), v.real);
    return fmt::format(fmt::runtime(fmt::format("{{:{}}}", spec)), v.integer);
  } catch (const fmt::format_error&) {
    return host_text(v, false);
  }
}

}  // namespace passnet
