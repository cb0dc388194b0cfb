#include "tile_cpu/op_text.h"

#include <fmt/format.h>

#include "tile_cpu/ctypes.h"

namespace passnet::tile_cpu {

using tile::Code;
using tile::Elem;

namespace {

std::string comparison(Code code, const std::string& a, const std::string& b, Elem e) {
  if (e == Elem::i1) {  // set lanes are -1: true is not more than false as numbers
    if (code == Code::lt) return fmt::format("(~{} & {})", a, b);
    if (code == Code::gt) return fmt::format("({} & ~{})", a, b);
    if (code == Code::le) return fmt::format("(~{} | {})", a, b);
    if (code == Code::ge) return fmt::format("({} | ~{})", a, b);
  }
  return fmt::format("{}_({}, {})", tile::op_row(code).name, a, b);
}

// Of a non-negative dividend by a positive constant: unsigned, so that the compiler needs no correction.
std::string division(Code code, std::span<const OperandText> x, Elem e) {
  const int width = tile::elem_row(e).bits;
  if (x[1].constant > 0 && (x[0].non_negative || !tile::elem_row(e).is_signed) && width >= 32) {
    const char* u = width == 32 ? "u32" : "u64";
    return fmt::format("({})((v{}){} {} ({}){})", lanes_name(e), u, x[0].text, code == Code::div ? '/' : '%', u,
                       x[1].constant);
  }
  return fmt::format("{}({}, {})", code == Code::div ? "div_" : "rem_", x[0].text, x[1].text);
}

std::string cast_text(const OperandText& x, Elem to) {
  const Elem from = x.elem;
  if (from == to) return x.text;
  if (to == Elem::i1) return fmt::format("ne_({}, {}{{}})", x.text, lanes_name(from));
  const std::string source = from == Elem::i1 ? fmt::format("(-{})", x.text) : x.text;
  if (tile::is_float(from) && !tile::is_float(to)) return fmt::format("to_{}({})", lanes_name(to), source);
  if (scalar_name(from) == scalar_name(to)) return tile::is_float(to) ? tile::rounded(source, to) : source;
  if (tile::rounds_twice(from, to)) return tile::rounded(fmt::format("odd_({})", source), to);
  return tile::rounded(fmt::format("TO({}, {})", lanes_name(to), source), to);
}

std::string bitcast_text(const OperandText& x, Elem to) {
  if (x.elem == to) return x.text;
  std::string text = x.text;
  if (tile::is_half(x.elem)) text = fmt::format("{}_down({})", tile::elem_row(x.elem).name, text);
  if (tile::is_half(to)) return fmt::format("{}_up((vu16){})", tile::elem_row(to).name, text);
  return fmt::format("({}){}", lanes_name(to), text);
}

// What is spelled otherwise than for scalars.
std::string lanes_text(const tile::Op& op, std::span<const OperandText> x, Elem result) {
  const bool one_bit = result == Elem::i1 && !x.empty() && x[0].elem == Elem::i1;
  const Code code = one_bit ? tile::one_bit_code(op.code) : op.code;
  switch (code) {
    case Code::cast: return cast_text(x[0], result);
    case Code::bitcast: return bitcast_text(x[0], result);
    case Code::neg: return one_bit ? x[0].text : fmt::format("-{}", x[0].text);
    case Code::bit_not: return "~" + x[0].text;
    case Code::div:
    case Code::rem:
      if (one_bit) return "all(false)";
      if (!tile::is_float(result)) return division(code, x, result);
      break;
    case Code::min:
    case Code::max:
      if (result == Elem::f32 && x[0].quiet && x[1].quiet)
        return fmt::format("{}_quiet({}, {})", tile::op_row(code).name, x[0].text, x[1].text);
      break;
    case Code::shl:
    case Code::shr:
      if (one_bit) return fmt::format("({} & ~{})", x[0].text, x[1].text);
      if (x[1].constant > 0 && x[1].constant < tile::elem_row(result).bits)
        return fmt::format("{} {} {}", x[0].text, code == Code::shl ? "<<" : ">>", x[1].constant);
      break;
    default: break;
  }
  if (tile::op_row(code).kind == tile::OpClass::compare) return comparison(code, x[0].text, x[1].text, x[0].elem);
  if (!tile::infix(code).empty() && !tile::is_float(result))
    return fmt::format("{} {} {}", x[0].text, tile::infix(code), x[1].text);
  return tile::op_text(op, x, result);
}

}  // namespace

std::string op_text(const tile::Op& op, std::span<const OperandText> x, Elem result, bool lanes) {
  return lanes ? lanes_text(op, x, result) : tile::op_text(op, x, result);
}

}  // namespace passnet::tile_cpu
