#include "py/ast.h"

namespace passnet::py {

namespace {

// An operator as it is written, and its function in Python's module `operator` (some have none).
struct OpRow {
  Op op;
  std::string_view text;
  std::string_view name;
};
constexpr OpRow kOps[] = {
    {Op::add, "+", "add"},
    {Op::sub, "-", "sub"},
    {Op::mul, "*", "mul"},
    {Op::div, "/", "truediv"},
    {Op::floor_div, "//", "floordiv"},
    {Op::mod, "%", "mod"},
    {Op::pow, "**", "pow"},
    {Op::mat_mul, "@", "matmul"},
    {Op::bit_and, "&", "and_"},
    {Op::bit_or, "|", "or_"},
    {Op::bit_xor, "^", "xor"},
    {Op::shift_left, "<<", "lshift"},
    {Op::shift_right, ">>", "rshift"},
    {Op::neg, "-", "neg"},
    {Op::pos, "+", "pos"},
    {Op::invert, "~", "invert"},
    {Op::not_, "not", "not_"},
    {Op::and_, "and", ""},
    {Op::or_, "or", ""},
    {Op::lt, "<", "lt"},
    {Op::le, "<=", "le"},
    {Op::gt, ">", "gt"},
    {Op::ge, ">=", "ge"},
    {Op::eq, "==", "eq"},
    {Op::ne, "!=", "ne"},
    {Op::is, "is", "is_"},
    {Op::is_not, "is not", "is_not"},
    {Op::in, "in", ""},
    {Op::not_in, "not in", ""},
};

const OpRow* row_of(Op op) {
  for (const OpRow& row : kOps)
    if (row.op == op) return &row;
  return nullptr;
}

}  // namespace

std::string_view op_text(Op op) {
  const OpRow* row = row_of(op);
  return row == nullptr ? std::string_view() : row->text;
}

std::string_view op_name(Op op) {
  const OpRow* row = row_of(op);
  return row == nullptr ? std::string_view() : row->name;
}

Op op_of_name(std::string_view name) {
  for (const OpRow& row : kOps)
    if (!name.empty() && row.name == name) return row.op;
  return Op::none;
}

bool is_unary(Op op) { return op == Op::neg || op == Op::pos || op == Op::invert || op == Op::not_; }

bool is_comparison(Op op) { return op >= Op::lt && op <= Op::not_in; }

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
