#include "tile_cpu/op_text.h"

#include <fmt/format.h>

#include <cmath>

#include "tile_cpu/ctypes.h"

namespace passnet::tile_cpu {

using tile::Code;
using tile::Elem;

namespace {

std::string rounded(std::string text, Elem e) {
  if (e == Elem::f16) return "f16_round(" + text + ")";
  if (e == Elem::bf16) return "bf16_round(" + text + ")";
  return text;
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

std::string arithmetic(Code code, const std::string& a, const std::string& b, Elem e, bool lanes) {
  std::string text = fmt::format("{} {} {}", a, infix(code), b);
  if (tile::is_float(e)) return rounded(std::move(text), e);
  return lanes ? text : fmt::format("({})({})", scalar_name(e), text);  // small integers are promoted by C++
}

// Of a non-negative dividend by a positive constant: unsigned, so that the compiler needs no correction.
std::string division(Code code, std::span<const OperandText> x, Elem e, bool lanes) {
  const char sign = code == Code::div ? '/' : '%';
  if (tile::is_float(e))
    return code == Code::div ? rounded(fmt::format("{} / {}", x[0].text, x[1].text), e)
                             : rounded(fmt::format("rem_({}, {})", x[0].text, x[1].text), e);
  const bool is_signed = tile::elem_row(e).is_signed;
  const int width = tile::elem_row(e).bits;
  if (x[1].constant > 0 && (x[0].non_negative || !is_signed) && width >= 32) {
    const char* u = width == 32 ? "u32" : "u64";
    if (lanes) return fmt::format("({})((v{}){} {} ({}){})", lanes_name(e), u, x[0].text, sign, u, x[1].constant);
    return fmt::format("({})(({}){} {} ({}){})", scalar_name(e), u, x[0].text, sign, u, x[1].constant);
  }
  if (x[1].safe_divisor && !lanes) return fmt::format("({})({} {} {})", scalar_name(e), x[0].text, sign, x[1].text);
  return fmt::format("{}({}, {})", code == Code::div ? "div_" : "rem_", x[0].text, x[1].text);
}

std::string comparison(Code code, const std::string& a, const std::string& b, Elem e, bool lanes) {
  if (!lanes) return fmt::format("({} {} {})", a, infix(code), b);
  if (e == Elem::i1) {  // set lanes are -1: true is not more than false as numbers
    if (code == Code::lt) return fmt::format("(~{} & {})", a, b);
    if (code == Code::gt) return fmt::format("({} & ~{})", a, b);
    if (code == Code::le) return fmt::format("(~{} | {})", a, b);
    if (code == Code::ge) return fmt::format("({} | ~{})", a, b);
  }
  return fmt::format("mask({} {} {})", a, infix(code), b);
}

std::string cast_text(const OperandText& x, Elem to, bool lanes) {
  const Elem from = x.elem;
  if (from == to) return x.text;
  const std::string target = lanes ? lanes_name(to) : scalar_name(to);
  if (to == Elem::i1) return lanes ? fmt::format("mask({} != 0)", x.text) : fmt::format("({} != 0)", x.text);
  const std::string source = from == Elem::i1 && lanes ? fmt::format("(-{})", x.text) : x.text;
  if (tile::is_float(from) && !tile::is_float(to)) return fmt::format("to_{}({})", target, source);
  if (scalar_name(from) == scalar_name(to)) return tile::is_float(to) ? rounded(source, to) : source;
  const bool wide = from == Elem::f64 || (to == Elem::bf16 && !tile::is_float(from) && tile::elem_row(from).bits >= 32);
  if (wide && tile::is_half(to)) return rounded(fmt::format("odd_({})", source), to);  // a step over f32 rounds twice
  const std::string converted =
      lanes ? fmt::format("TO({}, {})", target, source) : fmt::format("({}){}", target, source);
  return rounded(converted, to);
}

std::string bitcast_text(const OperandText& x, Elem to, bool lanes) {
  if (x.elem == to) return x.text;
  std::string text = x.text;
  if (tile::is_half(x.elem)) text = fmt::format("{}_down({})", tile::elem_row(x.elem).name, text);
  if (tile::is_half(to)) return fmt::format("{}_up({}{})", tile::elem_row(to).name, lanes ? "(vu16)" : "(u16)", text);
  if (lanes) return fmt::format("({}){}", lanes_name(to), text);
  return fmt::format("__builtin_bit_cast({}, {})", scalar_name(to), text);
}

}  // namespace

std::string constant_text(const tile::Op& op, Elem elem) {
  if (elem == Elem::i1) return op.integer != 0 ? "true" : "false";
  if (!tile::is_float(elem)) {
    if (elem == Elem::i64 && op.integer == INT64_MIN) return "(-9223372036854775807L - 1)";
    if (elem == Elem::i32 && op.integer == INT32_MIN) return "(-2147483647 - 1)";
    if (elem == Elem::i32) return op.integer < 0 ? fmt::format("({})", op.integer) : std::to_string(op.integer);
    if (elem == Elem::u64) return fmt::format("((u64){}ul)", static_cast<std::uint64_t>(op.integer));
    return fmt::format("(({}){}L)", scalar_name(elem), op.integer);
  }
  const char* suffix = elem == Elem::f64 ? "" : "f";
  if (std::isnan(op.real)) return fmt::format("__builtin_nan{}(\"\")", suffix);
  if (std::isinf(op.real)) return fmt::format("({}__builtin_inf{}())", op.real < 0 ? "-" : "", suffix);
  std::string text = fmt::format("{}", elem == Elem::f64 ? op.real : static_cast<double>(static_cast<float>(op.real)));
  if (elem != Elem::f64) text = fmt::format("{}", static_cast<float>(op.real));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return op.real < 0 || text[0] == '-' ? "(" + text + suffix + ")" : text + suffix;
}

std::string op_text(const tile::Op& given, std::span<const OperandText> x, Elem result, bool lanes) {
  tile::Op op = given;
  if (result == Elem::i1 && !x.empty() && x[0].elem == Elem::i1) {  // arithmetic of one bit
    switch (op.code) {
      case Code::add:
      case Code::sub: op.code = Code::bit_xor; break;
      case Code::mul:
      case Code::div:
      case Code::min:
      case Code::min_nan: op.code = Code::bit_and; break;
      case Code::max:
      case Code::max_nan: op.code = Code::bit_or; break;
      case Code::neg:
      case Code::abs: return x[0].text;
      case Code::rem: return lanes ? "all(false)" : "false";
      case Code::shl:  // by one or more: nothing is left
      case Code::shr:
        return lanes ? fmt::format("({} & ~{})", x[0].text, x[1].text)
                     : fmt::format("({} && !{})", x[0].text, x[1].text);
      default: break;
    }
  }
  const std::string_view name = tile::op_row(op.code).name;
  switch (op.code) {
    case Code::cast: return cast_text(x[0], result, lanes);
    case Code::bitcast: return bitcast_text(x[0], result, lanes);
    case Code::neg:
      if (tile::is_float(result)) return fmt::format("-{}", x[0].text);
      return lanes ? fmt::format("-{}", x[0].text) : fmt::format("({})-{}", scalar_name(result), x[0].text);
    case Code::bit_not:
      if (result == Elem::i1 && !lanes) return "!" + x[0].text;
      return lanes ? "~" + x[0].text : fmt::format("({})~{}", scalar_name(result), x[0].text);
    case Code::select: return fmt::format("pick({}, {}, {})", x[0].text, x[1].text, x[2].text);
    case Code::fma: return rounded(fmt::format("fma_({}, {}, {})", x[0].text, x[1].text, x[2].text), result);
    case Code::div:
    case Code::rem: return division(op.code, x, result, lanes);
    case Code::min:
    case Code::max: return fmt::format("{}_({}, {})", name, x[0].text, x[1].text);
    case Code::min_nan:
    case Code::max_nan:
      if (!tile::is_float(result))
        return fmt::format("{}_({}, {})", op.code == Code::min_nan ? "min" : "max", x[0].text, x[1].text);
      return fmt::format("{}({}, {})", name, x[0].text, x[1].text);
    case Code::shl:
    case Code::shr:
    case Code::pow:
    case Code::atan2:
    case Code::mul_high: return fmt::format("{}_({}, {})", name, x[0].text, x[1].text);
    default: break;
  }
  if (tile::op_row(op.code).kind == tile::OpClass::compare)
    return comparison(op.code, x[0].text, x[1].text, x[0].elem, lanes);
  if (!infix(op.code).empty()) return arithmetic(op.code, x[0].text, x[1].text, result, lanes);
  return rounded(fmt::format("{}_({})", name, x[0].text), result);  // abs, floor, exp, ...
}

}  // namespace passnet::tile_cpu
