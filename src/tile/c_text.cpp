#include "tile/c_text.h"

#include <fmt/format.h>

#include <cmath>

namespace passnet::tile {

std::string scalar_name(Elem e) {
  if (e == Elem::i1) return "bool";
  return is_half(e) ? "f32" : std::string(elem_row(e).name);
}

std::string stored_name(Elem e) {
  if (e == Elem::i1) return "u8";
  return is_half(e) ? "u16" : std::string(elem_row(e).name);
}

std::string access_name(Elem e) {
  std::string name(elem_row(e).name);
  for (char& c : name)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return name;
}

std::string atomic_policy(Atomic a) {
  constexpr std::string_view names[] = {"add", "min", "max", "bit_and", "bit_or", "bit_xor", "exchange"};
  return std::string(names[static_cast<std::size_t>(a)]);
}

std::string_view infix(Code code) {
  switch (code) {
    case Code::add: return "+";
    case Code::sub: return "-";
    case Code::mul: return "*";
    case Code::bit_and: return "&";
    case Code::bit_or: return "|";
    case Code::bit_xor: return "^";
    case Code::lt: return "<";
    case Code::le: return "<=";
    case Code::gt: return ">";
    case Code::ge: return ">=";
    case Code::eq: return "==";
    case Code::ne: return "!=";
    default: return "";
  }
}

std::string rounded(std::string text, Elem e) {
  if (e == Elem::f16) return "f16_round(" + text + ")";
  if (e == Elem::bf16) return "bf16_round(" + text + ")";
  return text;
}

Code one_bit_code(Code code) {
  switch (code) {
    case Code::add:
    case Code::sub: return Code::bit_xor;
    case Code::mul:
    case Code::div:
    case Code::min:
    case Code::min_nan: return Code::bit_and;
    case Code::max:
    case Code::max_nan: return Code::bit_or;
    default: return code;
  }
}

bool rounds_twice(Elem from, Elem to) {
  return is_half(to) && (from == Elem::f64 || (to == Elem::bf16 && !is_float(from) && elem_row(from).bits >= 32));
}

namespace {

// Of a non-negative dividend by a positive constant: unsigned, so that the compiler needs no correction.
std::string division(Code code, std::span<const OperandText> x, Elem e) {
  const char sign = code == Code::div ? '/' : '%';
  if (is_float(e))
    return code == Code::div ? rounded(fmt::format("{} / {}", x[0].text, x[1].text), e)
                             : rounded(fmt::format("rem_({}, {})", x[0].text, x[1].text), e);
  const int width = elem_row(e).bits;
  if (x[1].constant > 0 && (x[0].non_negative || !elem_row(e).is_signed) && width >= 32) {
    const char* u = width == 32 ? "u32" : "u64";
    return fmt::format("({})(({}){} {} ({}){})", scalar_name(e), u, x[0].text, sign, u, x[1].constant);
  }
  if (x[1].safe_divisor) return fmt::format("({})({} {} {})", scalar_name(e), x[0].text, sign, x[1].text);
  return fmt::format("{}({}, {})", code == Code::div ? "div_" : "rem_", x[0].text, x[1].text);
}

std::string cast_text(const OperandText& x, Elem to) {
  if (x.elem == to) return x.text;
  if (to == Elem::i1) return fmt::format("({} != 0)", x.text);
  if (is_float(x.elem) && !is_float(to)) return fmt::format("to_{}({})", scalar_name(to), x.text);
  if (scalar_name(x.elem) == scalar_name(to)) return is_float(to) ? rounded(x.text, to) : x.text;
  if (rounds_twice(x.elem, to)) return rounded(fmt::format("odd_({})", x.text), to);
  return rounded(fmt::format("({}){}", scalar_name(to), x.text), to);
}

std::string bitcast_text(const OperandText& x, Elem to) {
  if (x.elem == to) return x.text;
  std::string text = x.text;
  if (is_half(x.elem)) text = fmt::format("{}_down({})", elem_row(x.elem).name, text);
  if (is_half(to)) return fmt::format("{}_up((u16){})", elem_row(to).name, text);
  return fmt::format("__builtin_bit_cast({}, {})", scalar_name(to), text);
}

}  // namespace

std::string constant_text(const Op& op, Elem elem) {
  if (elem == Elem::i1) return op.integer != 0 ? "true" : "false";
  if (!is_float(elem)) {
    if (elem == Elem::i64 && op.integer == INT64_MIN) return "(-9223372036854775807L - 1)";
    if (elem == Elem::i32 && op.integer == INT32_MIN) return "(-2147483647 - 1)";
    if (elem == Elem::i32) return op.integer < 0 ? fmt::format("({})", op.integer) : std::to_string(op.integer);
    if (elem == Elem::u64) return fmt::format("((u64){}ul)", static_cast<std::uint64_t>(op.integer));
    return fmt::format("(({}){}L)", scalar_name(elem), op.integer);
  }
  const char* suffix = elem == Elem::f64 ? "" : "f";
  if (std::isnan(op.real)) return fmt::format("__builtin_nan{}(\"\")", suffix);
  if (std::isinf(op.real)) return fmt::format("({}__builtin_inf{}())", op.real < 0 ? "-" : "", suffix);
  std::string text = elem == Elem::f64 ? fmt::format("{}", op.real) : fmt::format("{}", static_cast<float>(op.real));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return op.real < 0 || text[0] == '-' ? "(" + text + suffix + ")" : text + suffix;
}

std::string op_text(const Op& op, std::span<const OperandText> x, Elem result) {
  const bool one_bit = result == Elem::i1 && !x.empty() && x[0].elem == Elem::i1;
  const Code code = one_bit ? one_bit_code(op.code) : op.code;
  const std::string_view name = op_row(code).name;
  if (one_bit) {
    if (code == Code::neg || code == Code::abs) return x[0].text;
    if (code == Code::rem) return "false";
    // by one or more: nothing is left
    if (code == Code::shl || code == Code::shr) return fmt::format("({} && !{})", x[0].text, x[1].text);
  }
  switch (code) {
    case Code::cast: return cast_text(x[0], result);
    case Code::bitcast: return bitcast_text(x[0], result);
    case Code::neg:
      return is_float(result) ? fmt::format("-{}", x[0].text) : fmt::format("({})-{}", scalar_name(result), x[0].text);
    case Code::bit_not:
      return result == Elem::i1 ? "!" + x[0].text : fmt::format("({})~{}", scalar_name(result), x[0].text);
    case Code::select: return fmt::format("pick({}, {}, {})", x[0].text, x[1].text, x[2].text);
    case Code::fma: return rounded(fmt::format("fma_({}, {}, {})", x[0].text, x[1].text, x[2].text), result);
    case Code::div:
    case Code::rem: return division(code, x, result);
    case Code::min:
    case Code::max: return fmt::format("{}_({}, {})", name, x[0].text, x[1].text);
    case Code::min_nan:
    case Code::max_nan:
      if (!is_float(result))
        return fmt::format("{}_({}, {})", code == Code::min_nan ? "min" : "max", x[0].text, x[1].text);
      return fmt::format("{}({}, {})", name, x[0].text, x[1].text);
    case Code::shl:
    case Code::shr:
    case Code::pow:
    case Code::atan2:
    case Code::mul_high: return fmt::format("{}_({}, {})", name, x[0].text, x[1].text);
    default: break;
  }
  if (!infix(code).empty()) {
    const std::string text = fmt::format("{} {} {}", x[0].text, infix(code), x[1].text);
    if (op_row(code).kind == OpClass::compare) return "(" + text + ")";
    if (is_float(result)) return rounded(text, result);
    return fmt::format("({})({})", scalar_name(result), text);  // small integers are promoted by C++
  }
  return rounded(fmt::format("{}_({})", name, x[0].text), result);  // abs, floor, exp, ...
}

}  // namespace passnet::tile
