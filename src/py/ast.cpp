#include "py/ast.h"

namespace passnet::py {

std::string_view op_text(Op op) {
  switch (op) {
    case Op::none: return "";
    case Op::add:
    case Op::pos: return "+";
    case Op::sub:
    case Op::neg: return "-";
    case Op::mul: return "*";
    case Op::div: return "/";
    case Op::floor_div: return "//";
    case Op::mod: return "%";
    case Op::pow: return "**";
    case Op::mat_mul: return "@";
    case Op::bit_and: return "&";
    case Op::bit_or: return "|";
    case Op::bit_xor: return "^";
    case Op::shift_left: return "<<";
    case Op::shift_right: return ">>";
    case Op::invert: return "~";
    case Op::not_: return "not";
    case Op::and_: return "and";
    case Op::or_: return "or";
    case Op::lt: return "<";
    case Op::le: return "<=";
    case Op::gt: return ">";
    case Op::ge: return ">=";
    case Op::eq: return "==";
    case Op::ne: return "!=";
    case Op::is: return "is";
    case Op::is_not: return "is not";
    case Op::in: return "in";
    case Op::not_in: return "not in";
  }
  return "";
}

Module::Module(std::string file, std::string source) : state_(std::make_unique<State>()) {
  state_->file = std::move(file);
  state_->source = std::move(source);
}

Where Module::where(Place place) const {
  const std::string_view text = state_->source;
  std::size_t begin = 0;
  for (std::uint32_t line = 1; line < place.line; ++line) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) break;
    begin = end + 1;
  }
  // Of a long line the error shows a part around the column; what is far behind it is not kept.
  const std::size_t kept = std::size_t{place.column} + 4096;
  std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return {state_->file, place.line, place.column, std::string(line.substr(0, kept))};
}

std::string dotted_name(const Expr& expr) {
  if (expr.kind == ExprKind::name) return std::string(expr.text);
  if (expr.kind != ExprKind::attribute) return {};
  std::string head = dotted_name(*expr.items[0]);
  if (head.empty()) return {};
  return head.append(".").append(expr.text);
}

}  // namespace passnet::py
