#include "fx/literals.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "py/arithmetic.h"

namespace passnet {

namespace {

double as_real(const Value& v) { return v.kind == ValueKind::real ? v.real : static_cast<double>(v.integer); }
bool is_integer(const Value& v) { return v.kind == ValueKind::integer || v.kind == ValueKind::boolean; }

// Integers as Python has them, where the result fits a graph's 64 bits; nullopt where it does not, or is no number.
std::optional<Value> fold_integers(py::Op op, std::int64_t a, std::int64_t b) {
  if (op == py::Op::pow && b < 0)
    return a == 0 ? std::nullopt : std::optional(Value::of(std::pow(static_cast<double>(a), static_cast<double>(b))));
  const py::WholeResult result = py::integer_binary(op, a, b);
  const auto fitted = result.value.i64();
  return result.fault != py::WholeResult::Fault::none || !fitted ? std::nullopt : std::optional(Value::of(*fitted));
}

std::optional<Value> fold_reals(py::Op op, double a, double b) {
  switch (op) {
    case py::Op::add: return Value::of(a + b);
    case py::Op::sub: return Value::of(a - b);
    case py::Op::mul: return Value::of(a * b);
    case py::Op::div: return b == 0 ? std::nullopt : std::optional(Value::of(a / b));
    case py::Op::pow: {
      const double r = std::pow(a, b);  // not finite: Python raises, or makes a complex number
      return !std::isfinite(r) && std::isfinite(a) && std::isfinite(b) ? std::nullopt : std::optional(Value::of(r));
    }
    case py::Op::mod: return b == 0 ? std::nullopt : std::optional(Value::of(py::real_mod(a, b)));
    case py::Op::floor_div: return b == 0 ? std::nullopt : std::optional(Value::of(py::real_floor_div(a, b)));
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<Value> fold_unary(py::Op op, const Value& v) {
  if (!v.is_number()) return std::nullopt;
  if (op == py::Op::not_) return Value::boolean(v.kind == ValueKind::real ? v.real == 0 : v.integer == 0);
  if (v.kind == ValueKind::real) {
    if (op == py::Op::neg) return Value::of(-v.real);
    if (op == py::Op::pos) return v;
    return std::nullopt;
  }
  if (op == py::Op::neg && v.integer == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  if (op == py::Op::neg) return Value::of(-v.integer);
  if (op == py::Op::pos) return Value::of(v.integer);
  if (op == py::Op::invert) return Value::of(~v.integer);
  return std::nullopt;
}

std::optional<Value> fold_math(std::string_view name, std::span<const Value> args) {
  for (const Value& arg : args)
    if (!arg.is_number()) return std::nullopt;
  if (args.size() == 2 && name == "pow") return fold_reals(py::Op::pow, as_real(args[0]), as_real(args[1]));
  if (args.size() != 1) return std::nullopt;
  const double x = as_real(args[0]);
  const auto real = [](double r) { return std::isfinite(r) ? std::optional(Value::of(r)) : std::nullopt; };
  if (name == "sqrt") return real(std::sqrt(x));
  if (name == "exp") return real(std::exp(x));
  if (name == "log") return real(std::log(x));
  if (name == "log2") return real(std::log2(x));
  if ((name == "floor" || name == "ceil") && std::fabs(x) < 9e15)
    return Value::of(static_cast<std::int64_t>(name == "floor" ? std::floor(x) : std::ceil(x)));
  return std::nullopt;
}

std::optional<Value> fold_binary(py::Op op, const Value& a, const Value& b) {
  constexpr std::size_t kLongestText = 1 << 20;
  if (op == py::Op::add && a.kind == b.kind && (a.is_sequence() || a.kind == ValueKind::string)) {
    if (a.text.size() + b.text.size() > kLongestText) return std::nullopt;
    Value out = a;
    out.items.insert(out.items.end(), b.items.begin(), b.items.end());
    out.text += b.text;
    return out;
  }
  if (op == py::Op::mul && a.is_sequence() && b.kind == ValueKind::integer) {
    if (b.integer > kMostRepeated ||
        (b.integer > 0 && a.items.size() > static_cast<std::size_t>(kMostRepeated / b.integer)))
      return std::nullopt;
    Value out = Value::sequence(a.kind, {});
    for (std::int64_t i = 0; i < b.integer; ++i) out.items.insert(out.items.end(), a.items.begin(), a.items.end());
    return out;
  }
  if (!a.is_number() || !b.is_number()) return std::nullopt;
  const bool bits = op == py::Op::bit_and || op == py::Op::bit_or || op == py::Op::bit_xor;
  if (bits && a.kind == ValueKind::boolean && b.kind == ValueKind::boolean)
    return Value::boolean(fold_integers(op, a.integer, b.integer)->integer != 0);
  if (is_integer(a) && is_integer(b) && op != py::Op::div) {
    auto out = fold_integers(op, a.integer, b.integer);
    const bool bitwise = op == py::Op::bit_and || op == py::Op::bit_or || op == py::Op::bit_xor;
    if (out && bitwise && a.kind == ValueKind::boolean && b.kind == ValueKind::boolean)
      return Value::boolean(out->integer != 0);
    return out;
  }
  return fold_reals(op, as_real(a), as_real(b));
}

std::optional<bool> fold_compare(py::Op op, const Value& a, const Value& b) {
  const auto answer = [op](const auto& x, const auto& y) -> std::optional<bool> {
    switch (op) {
      case py::Op::lt: return x < y;
      case py::Op::le: return x <= y;
      case py::Op::gt: return x > y;
      case py::Op::ge: return x >= y;
      case py::Op::eq: return x == y;
      case py::Op::ne: return x != y;
      default: return std::nullopt;
    }
  };
  if (is_integer(a) && is_integer(b)) return answer(a.integer, b.integer);
  if (a.is_number() && b.is_number()) return answer(as_real(a), as_real(b));
  if (a.kind == ValueKind::string && b.kind == ValueKind::string) return answer(a.text, b.text);
  bool has_node = false;
  value_nodes(a, [&](NodeId) { has_node = true; });
  value_nodes(b, [&](NodeId) { has_node = true; });
  if (has_node) return std::nullopt;
  if (op == py::Op::eq || op == py::Op::ne) return (a == b) == (op == py::Op::eq);
  if ((op != py::Op::in && op != py::Op::not_in) || !b.is_sequence()) return std::nullopt;
  const bool found = std::any_of(b.items.begin(), b.items.end(),
                                 [&](const Value& item) { return fold_compare(py::Op::eq, a, item).value_or(false); });
  return found == (op == py::Op::in);
}

}  // namespace passnet
