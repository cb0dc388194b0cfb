// Statements of the Python subset; parser.cpp alone includes it.
#pragma once

#include <algorithm>
#include <utility>

#include "py/expression_parser.h"

namespace passnet::py {

class StatementParser : public ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  void run_module() {
    std::vector<const Stmt*> body;
    while (now().kind != TokenKind::end) statement(body);
    set_body(keep(body));
  }

 private:
  void statement(std::vector<const Stmt*>& out) {
    const Deeper deeper(*this);
    const Token& t = now();
    if (t.kind == TokenKind::newline) {
      next();
      return;
    }
    if (t.kind == TokenKind::keyword) {
      if (const Stmt* s = compound()) {
        out.push_back(s);
        return;
      }
    }
    if (at("@")) {
      out.push_back(decorated());
      return;
    }
    if (t.kind == TokenKind::name) {
      check_soft_keyword(t);
      if (at_match()) {
        out.push_back(match_statement());
        return;
      }
    }
    simple_line(out);
  }

  void simple_line(std::vector<const Stmt*>& out) {
    do out.push_back(simple());
    while (accept(";") && now().kind != TokenKind::newline);
    if (now().kind == TokenKind::newline)
      next();
    else if (now().kind != TokenKind::end)
      unexpected("the end of the statement");
  }

  // `match` and `type` are names, unless what follows cannot follow a name.
  void check_soft_keyword(const Token& t) const {
    const TokenKind after = ahead(1).kind;
    if (t.text == "type" && after == TokenKind::name) unsupported(t.place, "a type statement", "write Name = type");
  }

  // A line `match ...:` with a block of cases below.
  bool at_match() const {
    if (now().text != "match") return false;
    std::size_t i = at_ + 1;
    while (i < tokens_.size() && tokens_[i].kind != TokenKind::newline && tokens_[i].kind != TokenKind::end) ++i;
    return i > at_ + 2 && i + 2 < tokens_.size() && is(tokens_[i - 1], ":") &&
           tokens_[i + 1].kind == TokenKind::indent && tokens_[i + 2].text == "case";
  }

  const Stmt* match_statement() {
    Stmt* s = stmt(StmtKind::match, next().place);
    s->value = expressions();
    expect(":");
    next();  // the line's end
    next();  // the indent
    std::vector<const Stmt*> cases;
    while (now().kind != TokenKind::dedent && now().kind != TokenKind::end) {
      if (now().text != "case") unexpected("'case'");
      cases.push_back(case_statement());
    }
    if (now().kind == TokenKind::dedent) next();
    s->body = keep(cases);
    return s;
  }

  const Stmt* case_statement() {
    const Deeper deeper(*this);
    Stmt* s = stmt(StmtKind::case_, next().place);
    s->value = case_pattern();
    check_pattern(*s->value);
    if (accept("as")) s->name = identifier("a name after 'as'");
    if (accept("if")) s->annotation = named_expression();
    s->body = block();
    return s;
  }

  void check_pattern(const Expr& e) const {
    switch (e.kind) {
      case ExprKind::name:
      case ExprKind::none:
      case ExprKind::boolean:
      case ExprKind::integer:
      case ExprKind::big_integer:
      case ExprKind::real:
      case ExprKind::string: return;
      case ExprKind::attribute:
        if (!dotted_name(e).empty()) return;
        break;
      case ExprKind::unary:
        if (e.op == Op::neg && e.items[0]->kind >= ExprKind::integer && e.items[0]->kind <= ExprKind::real) return;
        break;
      case ExprKind::starred:
        if (e.items[0]->kind == ExprKind::name) return;
        break;
      case ExprKind::tuple:
      case ExprKind::list:
        for (const Expr* item : e.items) check_pattern(*item);
        return;
      case ExprKind::binary:
        if (e.op != Op::bit_or) break;
        for (const Expr* item : e.items) check_pattern(*item);
        return;
      case ExprKind::call: unsupported(e.place, "a class pattern", "write if isinstance(x, ...)");
      case ExprKind::dict: unsupported(e.place, "a dict pattern", "write if \"key\" in x");
      default: break;
    }
    error(e.place, "this is no pattern of a case");
  }

  const Expr* case_pattern() {  // patterns are spelled like operands: a | b, (a, *rest), torch.float32
    return one_or_tuple(
        "pattern", [&] { return bitwise(0); }, [&] { return at(":") || at("if") || at("as"); });
  }

  const Stmt* compound() {
    if (at("def")) return function({});
    if (at("class")) return class_definition({});
    if (at("if")) return if_statement();
    if (at("for")) return for_statement();
    if (at("while")) return while_statement();
    if (at("try")) return try_statement();
    if (at("with")) return with_statement();
    if (at("async")) unsupported(now().place, "async code", "write a plain function");
    return nullptr;
  }

  std::span<const Stmt* const> block() {
    expect(":");
    std::vector<const Stmt*> body;
    if (now().kind != TokenKind::newline) {
      if (at("if") || at("for") || at("while") || at("try") || at("with") || at("def") || at("class") || at("@"))
        error(now().place, fmt::format("'{}' needs a line of its own", now().text));
      simple_line(body);
      return keep(body);
    }
    next();
    if (now().kind != TokenKind::indent) unexpected("an indented block");
    next();
    while (now().kind != TokenKind::dedent && now().kind != TokenKind::end) statement(body);
    if (now().kind == TokenKind::dedent) next();
    return keep(body);
  }

  const Stmt* decorated() {
    std::vector<const Expr*> decorators;
    while (accept("@")) {
      decorators.push_back(named_expression());
      if (now().kind != TokenKind::newline) unexpected("the end of the line");
      next();
    }
    const auto kept = keep(decorators);
    if (at("def")) return function(kept);
    if (at("class")) return class_definition(kept);
    if (at("async")) unsupported(now().place, "async code", "write a plain function");
    unexpected("'def' or 'class' after a decorator");
  }

  void refuse_type_parameters() const {
    if (at("[")) unsupported(now().place, "a list of type parameters", "leave the [...] out");
  }

  const Stmt* function(std::span<const Expr* const> decorators) {
    Stmt* s = stmt(StmtKind::function, next().place);
    s->decorators = decorators;
    s->name = identifier("a function name");
    refuse_type_parameters();
    expect("(");
    s->parameters = parameters(")", true);
    expect(")");
    if (accept("->")) s->annotation = expression();
    const bool around = std::exchange(yields_, false);
    s->body = block();
    s->yields = std::exchange(yields_, around);
    return s;
  }

  const Stmt* class_definition(std::span<const Expr* const> decorators) {
    Stmt* s = stmt(StmtKind::class_, next().place);
    s->decorators = decorators;
    s->name = identifier("a class name");
    refuse_type_parameters();
    if (accept("(")) {
      std::vector<const Expr*> bases;
      std::vector<Keyword> keywords;
      arguments({}, bases, keywords);
      s->targets = keep(bases);
      s->keywords = keep(keywords);
    }
    s->body = block();
    return s;
  }

  const Stmt* if_statement() {
    std::vector<Stmt*> arms;  // if, elif, elif: each the whole `else` of the one before
    do {
      if (arms.size() == kHeightLimit)
        error(now().place, "too many elif", Code::limit, {"look the cases up in a dict"});
      Stmt* s = stmt(StmtKind::if_, next().place);
      s->value = named_expression();
      s->body = block();
      if (!arms.empty()) arms.back()->orelse = keep(std::vector<const Stmt*>{s});
      arms.push_back(s);
    } while (at("elif"));
    arms.back()->orelse = else_block();
    return arms[0];
  }
  std::span<const Stmt* const> else_block() {
    if (!accept("else")) return {};
    return block();
  }

  const Stmt* for_statement() {
    Stmt* s = stmt(StmtKind::for_, next().place);
    s->targets = row(target_list());
    expect("in");
    s->value = expressions();
    s->body = block();
    s->orelse = else_block();
    return s;
  }

  const Stmt* while_statement() {
    Stmt* s = stmt(StmtKind::while_, next().place);
    s->value = named_expression();
    s->body = block();
    s->orelse = else_block();
    return s;
  }

  const Stmt* try_statement() {
    Stmt* s = stmt(StmtKind::try_, next().place);
    s->body = block();
    std::vector<Handler> handlers;
    while (at("except")) {
      if (!handlers.empty() && handlers.back().type == nullptr)
        error(handlers.back().place, "an 'except:' without a type must be the last");
      Handler h{};
      h.place = next().place;
      if (at("*")) unsupported(now().place, "except*", "write except");
      if (!at(":")) {
        h.type = expression();
        if (at(","))
          error(now().place, "several exception types need brackets", Code::syntax, {"write except (A, B):"});
        if (accept("as")) h.name = identifier("a name after 'as'");
      }
      h.body = block();
      handlers.push_back(h);
    }
    s->handlers = keep(handlers);
    if (!handlers.empty()) s->orelse = else_block();
    if (accept("finally")) s->final_body = block();
    if (handlers.empty() && s->final_body.empty()) unexpected("'except' or 'finally'");
    return s;
  }

  const Stmt* with_statement() {
    Stmt* s = stmt(StmtKind::with, next().place);
    const Place open = now().place;
    const Brackets brackets = context_brackets();
    if (brackets == Brackets::contexts) next();
    std::vector<const Expr*> pairs;
    do {
      if (brackets == Brackets::contexts && at(")")) break;
      pairs.push_back(expression());
      pairs.push_back(accept("as") ? target_item(Target::unstarred) : nullptr);
    } while (accept(","));
    if (brackets == Brackets::contexts) expect(")");
    // `with (a, b):` enters both; only `with ((a, b)):` is about a tuple.
    const Expr* one = pairs.size() == 2 && pairs[1] == nullptr ? pairs[0] : nullptr;
    if (brackets == Brackets::unclear && one != nullptr && one->kind == ExprKind::tuple && !one->items.empty() &&
        one->place.line == open.line && one->place.column == open.column) {
      const auto starred = [](const Expr* item) { return item->kind == ExprKind::starred; };
      if (std::none_of(one->items.begin(), one->items.end(), starred)) {
        pairs.clear();
        for (const Expr* item : one->items) pairs.insert(pairs.end(), {item, nullptr});
      }
    }
    s->targets = keep(pairs);
    s->body = block();
    return s;
  }

  // What the brackets after `with` are: an `as` directly inside shows contexts, a `:=` a tuple.
  enum class Brackets { unclear, contexts, tuple };
  Brackets context_brackets() const {
    int depth = 0;
    for (std::size_t i = at_; i < tokens_.size(); ++i) {
      const Token& t = tokens_[i];
      if (is(t, "(") || is(t, "[") || is(t, "{"))
        ++depth;
      else if (is(t, ")") || is(t, "]") || is(t, "}"))
        --depth;
      if (depth == 0) break;
      if (depth > 1) continue;
      if (is(t, "as")) return Brackets::contexts;
      if (is(t, ":=")) return Brackets::tuple;
    }
    return Brackets::unclear;
  }

  const Stmt* simple() {
    if (now().kind != TokenKind::keyword) return expression_statement();
    if (at("return")) {
      Stmt* s = keyword_statement(StmtKind::return_);
      if (!at_statement_end()) s->value = expressions();
      return s;
    }
    if (at("pass")) return keyword_statement(StmtKind::pass);
    if (at("break")) return keyword_statement(StmtKind::break_);
    if (at("continue")) return keyword_statement(StmtKind::continue_);
    if (at("import")) return import_statement();
    if (at("from")) return import_from();
    if (at("raise")) return raise_statement();
    if (at("assert")) return assert_statement();
    if (at("global")) return scope_statement(StmtKind::global);
    if (at("nonlocal")) return scope_statement(StmtKind::nonlocal);
    if (at("del")) return delete_statement();
    if (at("yield")) return yield_statement();
    return expression_statement();
  }
  Stmt* keyword_statement(StmtKind kind) { return stmt(kind, next().place); }

  const Stmt* yield_statement() {
    Stmt* s = stmt(StmtKind::expression, now().place);
    s->value = yield_expression();
    return s;
  }
  const Expr* yield_expression() {
    Expr* e = expr(ExprKind::yield, next().place);
    if (at("from")) e->text = next().text;
    yields_ = true;
    return at_statement_end() ? e : with_items(e, row(e->text.empty() ? expressions() : expression()));
  }
  const Expr* assigned() { return at("yield") ? yield_expression() : expressions(); }

  const Stmt* delete_statement() {
    Stmt* s = keyword_statement(StmtKind::delete_);
    std::vector<const Expr*> targets;
    do targets.push_back(target_item(Target::deleted));
    while (accept(",") && !at_statement_end());
    s->targets = keep(targets);
    return s;
  }

  std::string_view dotted(std::string_view what) {
    const std::string_view first = identifier(what);
    if (!at(".")) return first;
    std::string joined(first);
    while (accept(".")) joined.append(".").append(identifier("a name after '.'"));
    return keep_text(joined);
  }

  Alias alias(std::string_view what, bool with_dots) {
    Alias a{};
    a.place = now().place;
    a.name = with_dots ? dotted(what) : identifier(what);
    if (accept("as")) a.as = identifier("a name after 'as'");
    return a;
  }

  const Stmt* import_statement() {
    Stmt* s = keyword_statement(StmtKind::import);
    std::vector<Alias> aliases;
    do aliases.push_back(alias("a module name", true));
    while (accept(","));
    s->aliases = keep(aliases);
    return s;
  }

  const Stmt* import_from() {
    Stmt* s = keyword_statement(StmtKind::import_from);
    while (at(".") || at("...")) s->level += static_cast<std::uint32_t>(next().text.size());
    if (s->level == 0 || !at("import")) s->name = dotted("a module name");
    expect("import");
    std::vector<Alias> aliases;
    if (at("*")) {
      const Token& star = next();
      aliases.push_back({star.text, {}, star.place});
    } else {
      const bool bracket = accept("(");
      do {
        if (bracket && !aliases.empty() && at(")")) break;
        aliases.push_back(alias("a name to import", false));
      } while (accept(","));
      if (bracket) expect(")");
    }
    s->aliases = keep(aliases);
    return s;
  }

  const Stmt* raise_statement() {
    Stmt* s = keyword_statement(StmtKind::raise);
    if (at_statement_end()) return s;
    s->value = expression();
    if (accept("from")) s->annotation = expression();
    return s;
  }
  const Stmt* assert_statement() {
    Stmt* s = keyword_statement(StmtKind::assert_);
    s->value = expression();
    if (accept(",")) s->annotation = expression();
    return s;
  }
  const Stmt* scope_statement(StmtKind kind) {
    Stmt* s = keyword_statement(kind);
    std::vector<Alias> names;
    do {
      const Place place = now().place;
      names.push_back({identifier("a name"), {}, place});
    } while (accept(","));
    s->aliases = keep(names);
    return s;
  }

  static Op augmented_op(Symbol symbol) {
    struct Row {
      Symbol symbol;
      Op op;
    };
    constexpr Row kAugmented[] = {{"+=", Op::add},         {"-=", Op::sub},        {"*=", Op::mul},
                                  {"/=", Op::div},         {"//=", Op::floor_div}, {"%=", Op::mod},
                                  {"**=", Op::pow},        {"@=", Op::mat_mul},    {"&=", Op::bit_and},
                                  {"|=", Op::bit_or},      {"^=", Op::bit_xor},    {"<<=", Op::shift_left},
                                  {">>=", Op::shift_right}};
    for (const auto& [text, op] : kAugmented)
      if (text == symbol) return op;
    return Op::none;
  }

  const Stmt* expression_statement() {
    const Token& first_token = now();
    const Place place = first_token.place;
    const Expr* first = expressions();
    if (at_statement_end()) {
      Stmt* s = stmt(StmtKind::expression, place);
      s->value = first;
      return s;
    }
    if (at("=")) {
      std::vector<const Expr*> targets;
      const Expr* value = first;
      while (accept("=")) {
        check_target(*value, Target::any);
        targets.push_back(value);
        value = assigned();
      }
      Stmt* s = stmt(StmtKind::assign, place);
      s->targets = keep(targets);
      s->value = value;
      return s;
    }
    if (at(":")) {
      check_target(*first, Target::single);
      next();
      Stmt* s = stmt(StmtKind::annotated, place);
      s->targets = row(first);
      s->annotation = expression();
      if (accept("=")) s->value = assigned();
      return s;
    }
    if (const Op op = augmented_op(now().symbol); op != Op::none) {
      check_target(*first, Target::single);
      next();
      Stmt* s = stmt(StmtKind::augmented, place);
      s->op = op;
      s->targets = row(first);
      s->value = expressions();
      return s;
    }
    unexpected("the end of the statement");
  }

  bool yields_ = false;  // the function being read has a yield
};

}  // namespace passnet::py
