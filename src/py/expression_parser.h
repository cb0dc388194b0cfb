// Expressions of the Python subset, from the loosest binding to the tightest. Literals are in string_literal.cpp.
#pragma once

#include "py/parser_base.h"
#include "py/string_literal.h"

namespace passnet::py {

class ExpressionParser : protected ParserBase {
 public:
  using ParserBase::ParserBase;

  // Expressions and nothing behind them: an f-string's field.
  const Expr* run_field() {
    const Expr* e = expressions();
    if (now().kind != TokenKind::end) unexpected("the end of the field");
    return e;
  }

 protected:
  // ---- tuples without brackets, and what may stand in them
  const Expr* expressions();  // a, b, *c or one expression
  // One item, or several with commas between and maybe one behind, where `at_end` says that none follows.
  template <class Item, class End>
  const Expr* one_or_tuple(std::string_view what, const Item& item, const End& at_end) {
    const Place place = now().place;
    const auto next_item = [&] { return at("*") ? starred() : item(); };
    const Expr* first = next_item();
    if (!at(",")) {
      if (first->kind == ExprKind::starred)
        error(place, "a starred " + std::string(what) + " needs a tuple or a list around it");
      return first;
    }
    std::vector<const Expr*> items{first};
    while (accept(",")) {
      if (at_end()) break;
      items.push_back(next_item());
    }
    return expr_of(ExprKind::tuple, place, items);
  }
  const Expr* starred(bool whole = false);
  const Expr* starred_or_named() { return at("*") ? starred() : named_expression(); }
  bool at_statement_end() const { return now().kind == TokenKind::newline || now().kind == TokenKind::end || at(";"); }

  // ---- by binding
  bool at_named() const { return now().kind == TokenKind::name && is(ahead(1), ":="); }
  const Expr* named_expression();
  const Expr* expression();
  const Expr* lambda();
  const Expr* logic_or();
  const Expr* logic_and();
  const Expr* logic_not();
  const Expr* comparison();
  Op comparison_op();
  const Expr* bitwise(int level);
  const Expr* factor();
  const Expr* postfix();
  const Expr* atom();

  // ---- brackets
  void arguments(Place open, std::vector<const Expr*>& positional,
                 std::vector<Keyword>& keywords);  // up to and with ')'
  const Expr* subscript_index();
  const Expr* slice_item();
  const Expr* parenthesis();
  const Expr* list();
  const Expr* braces();
  void rest_of(std::vector<const Expr*>& items, Symbol closer);
  bool at_comprehension() const;
  const Expr* comprehension(ExprKind kind, Place place, const std::vector<const Expr*>& element);
  Slice<Parameter> parameters(Symbol closer, bool annotations);

  // ---- what can be assigned to
  enum class Target { any, single, unstarred, deleted };
  void check_target(const Expr& e, Target allowed) const;
  const Expr* target_item(Target allowed);
  const Expr* target_list();  // of `for`: no `in` inside

  // ---- literals
  const Expr* integer(const Token& t, bool negative = false);
  const Expr* real(const Token& t, ExprKind kind);
  const Expr* strings();  // adjacent literals are one
  std::string_view without_underscores(std::string_view text);
  struct Pieces;
  struct Formatted;
  void flush(Pieces& pieces, Place place);
  std::size_t format_parts(Formatted& f, std::size_t at, Pieces& pieces, int level);
  std::size_t format_field(Formatted& f, std::size_t at, Pieces& pieces, int level);
};

}  // namespace passnet::py
