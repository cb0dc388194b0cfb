#include "py/parser.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <utility>

#include "py/lexer.h"
#include "py/string_literal.h"

namespace passnet::py {

namespace {

struct BinaryLevel {
  std::string_view text;
  Op op;
  int level;  // binds tighter with a larger level
};
constexpr BinaryLevel kBinary[] = {
    {"|", Op::bit_or, 1},     {"^", Op::bit_xor, 2}, {"&", Op::bit_and, 3},    {"<<", Op::shift_left, 4},
    {">>", Op::shift_right, 4}, {"+", Op::add, 5},   {"-", Op::sub, 5},        {"*", Op::mul, 6},
    {"/", Op::div, 6},        {"//", Op::floor_div, 6}, {"%", Op::mod, 6},     {"@", Op::mat_mul, 6},
};
constexpr std::pair<std::string_view, Op> kCompare[] = {{"<", Op::lt},  {"<=", Op::le}, {">", Op::gt},
                                                        {">=", Op::ge}, {"==", Op::eq}, {"!=", Op::ne}};
constexpr std::pair<std::string_view, Op> kAugmented[] = {
    {"+=", Op::add},     {"-=", Op::sub},     {"*=", Op::mul},        {"/=", Op::div},         {"//=", Op::floor_div},
    {"%=", Op::mod},     {"**=", Op::pow},    {"@=", Op::mat_mul},    {"&=", Op::bit_and},     {"|=", Op::bit_or},
    {"^=", Op::bit_xor}, {"<<=", Op::shift_left}, {">>=", Op::shift_right}};

}  // namespace

class Parser {
 public:
  Parser(Module& module, std::string_view text, Place begin, bool joined, int depth)
      : module_(module), tokens_(lex(module, text, begin, joined)), depth_(depth) {}

  void run_module() {
    std::vector<const Stmt*> body;
    while (now().kind != TokenKind::end) statement(body);
    module_.state_->body = keep(body);
  }

  // One expression and nothing behind it: an f-string's field.
  const Expr* run_expression() {
    const Expr* e = expressions();
    if (now().kind != TokenKind::end) unexpected("the end of the field");
    return e;
  }

 private:
  // ---- tokens
  const Token& now() const { return tokens_[at_]; }
  const Token& ahead(std::size_t n) const { return tokens_[std::min(at_ + n, tokens_.size() - 1)]; }
  static bool is(const Token& t, std::string_view text) {
    return (t.kind == TokenKind::op || t.kind == TokenKind::keyword) && t.text == text;
  }
  bool at(std::string_view text) const { return is(now(), text); }
  Token next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool accept(std::string_view text) {
    if (!at(text)) return false;
    next();
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) unexpected(fmt::format("'{}'", text));
  }
  std::string_view identifier(std::string_view what) {
    if (now().kind != TokenKind::name) unexpected(what);
    return next().text;
  }

  [[noreturn]] void error(Place place, std::string message, Code code = Code::syntax, std::vector<std::string> notes = {}) const {
    fail({code, module_.where(place), std::move(message), std::move(notes)});
  }
  [[noreturn]] void unsupported(Place place, std::string_view what, std::string_view instead) const {
    error(place, fmt::format("{} is not supported", what), Code::unsupported, {std::string(instead)});
  }
  [[noreturn]] void unexpected(std::string_view wanted) const {
    const Token& t = now();
    std::string_view got;
    switch (t.kind) {
      case TokenKind::end: got = "the end of the file"; break;
      case TokenKind::newline: got = "the end of the line"; break;
      case TokenKind::indent: error(t.place, "unexpected indentation");
      case TokenKind::dedent: got = "the end of the block"; break;
      default: error(t.place, fmt::format("expected {}, found '{}'", wanted, t.text.substr(0, 40)));
    }
    error(t.place, fmt::format("expected {}, found {}", wanted, got));
  }

  // ---- the arena
  template <class T>
  std::span<const T> keep(const std::vector<T>& items) {
    if (items.empty()) return {};
    T* out = static_cast<T*>(module_.state_->arena.allocate(items.size() * sizeof(T), alignof(T)));
    std::uninitialized_copy(items.begin(), items.end(), out);
    return {out, items.size()};
  }
  std::string_view keep_text(std::string_view text) {
    char* out = static_cast<char*>(module_.state_->arena.allocate(text.size() + 1, 1));
    std::copy(text.begin(), text.end(), out);
    return {out, text.size()};
  }
  template <class T>
  T* make() {
    return new (module_.state_->arena.allocate(sizeof(T), alignof(T))) T();
  }
  Expr* expr(ExprKind kind, Place place) {
    Expr* e = make<Expr>();
    e->kind = kind;
    e->place = place;
    return e;
  }
  template <class... Items>
  Expr* expr_of(ExprKind kind, Place place, Items... items) {
    Expr* e = expr(kind, place);
    auto** out = static_cast<const Expr**>(module_.state_->arena.allocate(sizeof...(items) * sizeof(Expr*), alignof(Expr*)));
    std::size_t i = 0;
    ((out[i++] = items), ...);
    return with_items(e, {out, sizeof...(items)});
  }
  Expr* with_items(Expr* e, std::span<const Expr* const> items) {
    e->items = items;
    int height = 1;
    for (const Expr* item : items)
      if (item != nullptr) height = std::max(height, item->height + 1);
    if (height > kHeightLimit) error(e->place, "expression too long or nested too deeply", Code::limit);
    e->height = static_cast<std::uint16_t>(height);
    return e;
  }
  Stmt* stmt(StmtKind kind, Place place) {
    Stmt* s = make<Stmt>();
    s->kind = kind;
    s->place = place;
    return s;
  }

  struct Deeper {
    explicit Deeper(Parser& p) : parser(p) {
      if (++p.depth_ > kDepthLimit) p.error(p.now().place, "nested too deeply", Code::limit);
    }
    ~Deeper() { --parser.depth_; }
    Parser& parser;
  };

  // ---- statements
  void statement(std::vector<const Stmt*>& out) {
    const Deeper deeper(*this);
    const Token& t = now();
    if (t.kind == TokenKind::newline) { next(); return; }
    if (t.kind == TokenKind::keyword) {
      if (const Stmt* s = compound(t.text)) { out.push_back(s); return; }
    }
    if (at("@")) { out.push_back(decorated()); return; }
    if (t.kind == TokenKind::name && t.text == "match" && ahead(1).kind == TokenKind::name && is(ahead(2), ":"))
      unsupported(t.place, "a match statement", "write if/elif/else");
    while (true) {
      out.push_back(simple());
      if (!accept(";")) break;
      if (now().kind == TokenKind::newline) break;
    }
    if (now().kind == TokenKind::newline) next();
    else if (now().kind != TokenKind::end) unexpected("the end of the statement");
  }

  const Stmt* compound(std::string_view word) {
    if (word == "def") return function({});
    if (word == "class") return class_definition({});
    if (word == "if") return if_statement();
    if (word == "for") return for_statement();
    if (word == "while") return while_statement();
    if (word == "try") return try_statement();
    if (word == "with") return with_statement();
    if (word == "async" || word == "await") unsupported(now().place, "async code", "write a plain function");
    return nullptr;
  }

  std::span<const Stmt* const> block() {
    expect(":");
    std::vector<const Stmt*> body;
    if (now().kind != TokenKind::newline) {
      statement(body);
      return keep(body);
    }
    while (now().kind == TokenKind::newline) next();
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
      while (now().kind == TokenKind::newline) next();
    }
    const auto kept = keep(decorators);
    if (at("def")) return function(kept);
    if (at("class")) return class_definition(kept);
    unexpected("'def' or 'class' after a decorator");
  }

  const Stmt* function(std::span<const Expr* const> decorators) {
    Stmt* s = stmt(StmtKind::function, next().place);
    s->decorators = decorators;
    s->name = identifier("a function name");
    expect("(");
    s->parameters = parameters(")", true);
    expect(")");
    if (accept("->")) s->annotation = expression();
    s->body = block();
    return s;
  }

  std::span<const Parameter> parameters(std::string_view closer, bool annotations) {
    std::vector<Parameter> out;
    bool keyword_only = false;
    while (!at(closer)) {
      Parameter p{};
      p.place = now().place;
      p.keyword_only = keyword_only;
      if (accept("**")) p.kind = ParameterKind::var_keyword;
      else if (accept("*")) {
        keyword_only = true;
        if (at(",")) { next(); continue; }
        p.kind = ParameterKind::var_positional;
      } else if (accept("/")) {
        if (!at(closer)) expect(",");
        continue;
      }
      p.name = identifier("a parameter name");
      if (annotations && accept(":")) p.annotation = expression();
      if (accept("=")) p.default_value = expression();
      for (const Parameter& other : out)
        if (out.size() < 256 && other.name == p.name) error(p.place, fmt::format("parameter '{}' is named twice", p.name));
      out.push_back(p);
      if (!at(closer)) expect(",");
    }
    return keep(out);
  }

  const Stmt* class_definition(std::span<const Expr* const> decorators) {
    Stmt* s = stmt(StmtKind::class_, next().place);
    s->decorators = decorators;
    s->name = identifier("a class name");
    if (accept("(")) {
      std::vector<const Expr*> bases;
      std::vector<Keyword> keywords;
      arguments(bases, keywords);
      s->targets = keep(bases);
      s->keywords = keep(keywords);
    }
    s->body = block();
    return s;
  }

  const Stmt* if_statement() {
    std::vector<Stmt*> arms;  // if, elif, elif: each the whole `else` of the one before
    do {
      if (arms.size() == kHeightLimit) error(now().place, "too many elif", Code::limit);
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
    std::vector<const Expr*> targets{target_list()};
    s->targets = keep(targets);
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
      Handler h{};
      h.place = next().place;
      if (at("*")) unsupported(now().place, "except*", "write except");
      if (!at(":")) {
        h.type = expressions();
        if (accept("as")) h.name = identifier("a name after 'as'");
      }
      h.body = block();
      handlers.push_back(h);
    }
    s->handlers = keep(handlers);
    s->orelse = else_block();
    if (accept("finally")) s->final_body = block();
    if (handlers.empty() && s->final_body.empty()) unexpected("'except' or 'finally'");
    return s;
  }

  const Stmt* with_statement() {
    Stmt* s = stmt(StmtKind::with, next().place);
    std::vector<const Expr*> pairs;
    do {
      pairs.push_back(expression());
      pairs.push_back(accept("as") ? target_item() : nullptr);
    } while (accept(","));
    s->targets = keep(pairs);
    s->body = block();
    return s;
  }

  const Stmt* simple() {
    const Token t = now();
    if (t.kind == TokenKind::keyword) {
      const std::string_view w = t.text;
      if (w == "return") {
        next();
        Stmt* s = stmt(StmtKind::return_, t.place);
        if (!at_statement_end()) s->value = expressions();
        return s;
      }
      if (w == "pass") return keyword_statement(StmtKind::pass);
      if (w == "break") return keyword_statement(StmtKind::break_);
      if (w == "continue") return keyword_statement(StmtKind::continue_);
      if (w == "import") return import_statement();
      if (w == "from") return import_from();
      if (w == "raise") return raise_statement();
      if (w == "assert") return assert_statement();
      if (w == "global" || w == "nonlocal") return scope_statement(w == "global" ? StmtKind::global : StmtKind::nonlocal);
      if (w == "del") {
        Stmt* s = keyword_statement(StmtKind::delete_);
        std::vector<const Expr*> targets;
        do targets.push_back(target_item());
        while (accept(",") && !at_statement_end());
        s->targets = keep(targets);
        return s;
      }
      if (w == "yield") unsupported(t.place, "yield", "return a list or a tuple");
    }
    return expression_statement();
  }

  bool at_statement_end() const {
    return now().kind == TokenKind::newline || now().kind == TokenKind::end || at(";");
  }
  Stmt* keyword_statement(StmtKind kind) { return stmt(kind, next().place); }

  std::string_view dotted(std::string_view what) {
    const std::string_view first = identifier(what);
    std::string_view last = first;
    std::string joined(first);
    bool contiguous = true;
    while (accept(".")) {
      const std::string_view part = identifier("a name after '.'");
      contiguous = contiguous && part.data() == last.data() + last.size() + 1;
      joined += '.';
      joined += part;
      last = part;
    }
    if (contiguous) return {first.data(), static_cast<std::size_t>(last.data() + last.size() - first.data())};
    return keep_text(joined);
  }

  const Stmt* import_statement() {
    Stmt* s = keyword_statement(StmtKind::import);
    std::vector<Alias> aliases;
    do {
      Alias a{};
      a.place = now().place;
      a.name = dotted("a module name");
      if (accept("as")) a.as = identifier("a name after 'as'");
      aliases.push_back(a);
    } while (accept(","));
    s->aliases = keep(aliases);
    return s;
  }

  const Stmt* import_from() {
    Stmt* s = keyword_statement(StmtKind::import_from);
    while (at(".") || at("...")) s->level += static_cast<std::uint32_t>(next().text.size());
    if (!at("import")) s->name = dotted("a module name");
    expect("import");
    std::vector<Alias> aliases;
    if (at("*")) {
      aliases.push_back({next().text, {}, {}});
    } else {
      const bool bracket = accept("(");
      do {
        if (bracket && at(")")) break;
        Alias a{};
        a.place = now().place;
        a.name = identifier("a name to import");
        if (accept("as")) a.as = identifier("a name after 'as'");
        aliases.push_back(a);
      } while (accept(","));
      if (bracket) expect(")");
    }
    s->aliases = keep(aliases);
    return s;
  }

  const Stmt* raise_statement() {
    Stmt* s = keyword_statement(StmtKind::raise);
    if (!at_statement_end()) s->value = expression();
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

  const Stmt* expression_statement() {
    const Place place = now().place;
    const Expr* first = expressions();
    for (const auto& [text, op] : kAugmented) {
      if (!at(text)) continue;
      check_target(*first, true);
      next();
      Stmt* s = stmt(StmtKind::augmented, place);
      s->op = op;
      s->targets = single(first);
      s->value = expressions();
      return s;
    }
    if (at(":")) {
      next();
      check_target(*first, true);
      Stmt* s = stmt(StmtKind::annotated, place);
      s->targets = single(first);
      s->annotation = expression();
      if (accept("=")) s->value = expressions();
      return s;
    }
    if (at("=")) {
      std::vector<const Expr*> targets;
      const Expr* value = first;
      while (accept("=")) {
        check_target(*value, false);
        targets.push_back(value);
        if (at("yield")) unsupported(now().place, "yield", "return a list or a tuple");
        value = expressions();
      }
      Stmt* s = stmt(StmtKind::assign, place);
      s->targets = keep(targets);
      s->value = value;
      return s;
    }
    Stmt* s = stmt(StmtKind::expression, place);
    s->value = first;
    return s;
  }

  std::span<const Expr* const> single(const Expr* e) {
    auto** out = static_cast<const Expr**>(module_.state_->arena.allocate(sizeof(Expr*), alignof(Expr*)));
    *out = e;
    return {out, 1};
  }

  void check_target(const Expr& e, bool one) const {
    switch (e.kind) {
      case ExprKind::name:
      case ExprKind::attribute:
      case ExprKind::subscript: return;
      case ExprKind::tuple:
      case ExprKind::list:
        if (one) break;
        for (const Expr* item : e.items) check_target(*item, false);
        return;
      case ExprKind::starred:
        if (one) break;
        return check_target(*e.items[0], false);
      default: break;
    }
    error(e.place, "cannot assign to this expression");
  }

  const Expr* target_item() {
    const Expr* e = at("*") ? starred() : bitwise(0);
    check_target(*e, false);
    return e;
  }
  const Expr* target_list() {  // the target of `for`: no `in` inside
    const Place place = now().place;
    std::vector<const Expr*> items{target_item()};
    bool tuple = false;
    while (accept(",")) {
      tuple = true;
      if (at("in")) break;
      items.push_back(target_item());
    }
    if (!tuple) return items[0];
    Expr* e = expr(ExprKind::tuple, place);
    with_items(e, keep(items));
    return e;
  }

  // ---- expressions, loosest first
  const Expr* expressions() {  // a, b, *c: a tuple without brackets, or one expression
    const Place place = now().place;
    const Expr* first = at("*") ? starred() : named_expression();
    if (!at(",")) {
      if (first->kind == ExprKind::starred) error(place, "a starred expression needs a tuple or a list around it");
      return first;
    }
    std::vector<const Expr*> items{first};
    while (accept(",")) {
      if (at_expression_end()) break;
      items.push_back(at("*") ? starred() : named_expression());
    }
    Expr* e = expr(ExprKind::tuple, place);
    with_items(e, keep(items));
    return e;
  }
  bool at_expression_end() const {
    return at_statement_end() || at("=") || at(")") || at("]") || at("}") || at(":");
  }

  const Expr* starred() {
    const Place place = next().place;
    return expr_of(ExprKind::starred, place, bitwise(0));
  }

  const Expr* named_expression() {
    if (now().kind == TokenKind::name && is(ahead(1), ":=")) {
      const Place place = now().place;
      Expr* name = expr(ExprKind::name, place);
      name->text = next().text;
      next();
      return expr_of(ExprKind::named, place, static_cast<const Expr*>(name), expression());
    }
    return expression();
  }

  const Expr* expression() {
    const Deeper deeper(*this);
    if (at("lambda")) {
      Expr* e = expr(ExprKind::lambda, next().place);
      e->parameters = parameters(":", false);
      expect(":");
      return with_items(e, single(expression()));
    }
    if (at("yield") || at("await")) unsupported(now().place, now().text, "write a plain function");
    const Place place = now().place;
    const Expr* value = logic_or();
    if (!accept("if")) return value;
    const Expr* test = logic_or();
    expect("else");
    return expr_of(ExprKind::conditional, place, test, value, expression());
  }

  template <class Operand>
  const Expr* logic(std::string_view word, Op op, Operand operand) {
    const Place place = now().place;
    const Expr* first = operand();
    if (!at(word)) return first;
    std::vector<const Expr*> items{first};
    while (accept(word)) items.push_back(operand());
    Expr* e = expr(ExprKind::logic, place);
    e->op = op;
    with_items(e, keep(items));
    return e;
  }
  const Expr* logic_or() {
    return logic("or", Op::or_, [&] { return logic("and", Op::and_, [&] { return logic_not(); }); });
  }
  const Expr* logic_not() {
    if (!at("not")) return comparison();
    const Deeper deeper(*this);
    const Place place = next().place;
    return unary(Op::not_, place, logic_not());
  }
  const Expr* unary(Op op, Place place, const Expr* operand) {
    Expr* e = expr_of(ExprKind::unary, place, operand);
    e->op = op;
    return e;
  }

  Op comparison_op() {
    for (const auto& [text, op] : kCompare)
      if (accept(text)) return op;
    if (accept("in")) return Op::in;
    if (at("not") && is(ahead(1), "in")) {
      next();
      next();
      return Op::not_in;
    }
    if (accept("is")) return accept("not") ? Op::is_not : Op::is;
    return Op::none;
  }
  const Expr* comparison() {
    const Place place = now().place;
    const Expr* first = bitwise(0);
    Op op = comparison_op();
    if (op == Op::none) return first;
    std::vector<const Expr*> items{first};
    std::vector<Op> ops;
    for (; op != Op::none; op = comparison_op()) {
      ops.push_back(op);
      items.push_back(bitwise(0));
    }
    Expr* e = expr(ExprKind::compare, place);
    with_items(e, keep(items));
    e->ops = keep(ops);
    return e;
  }

  const Expr* bitwise(int level) {  // the binary operators, by precedence climbing
    const Place place = now().place;
    const Expr* left = factor();
    while (now().kind == TokenKind::op) {
      const BinaryLevel* found = nullptr;
      for (const BinaryLevel& row : kBinary)
        if (now().text == row.text) found = &row;
      if (found == nullptr || found->level <= level) break;
      next();
      Expr* e = expr_of(ExprKind::binary, place, left, bitwise(found->level));
      e->op = found->op;
      left = e;
    }
    return left;
  }

  const Expr* factor() {
    const Token t = now();
    if (t.kind == TokenKind::op && t.text.size() == 1) {
      const Op op = t.text == "-" ? Op::neg : t.text == "+" ? Op::pos : t.text == "~" ? Op::invert : Op::none;
      if (op != Op::none) {
        const Deeper deeper(*this);
        next();
        return unary(op, t.place, factor());
      }
    }
    const Expr* base = postfix();
    if (!at("**")) return base;
    const Deeper deeper(*this);
    next();
    Expr* e = expr_of(ExprKind::binary, t.place, base, factor());
    e->op = Op::pow;
    return e;
  }

  const Expr* postfix() {
    const Expr* e = atom();
    while (now().kind == TokenKind::op) {
      const Place place = e->place;
      if (accept(".")) {
        Expr* a = expr_of(ExprKind::attribute, place, e);
        a->text = identifier("an attribute name after '.'");
        e = a;
      } else if (accept("(")) {
        std::vector<const Expr*> items{e};
        std::vector<Keyword> keywords;
        arguments(items, keywords);
        Expr* c = expr(ExprKind::call, place);
        with_items(c, keep(items));
        c->keywords = keep(keywords);
        e = c;
      } else if (accept("[")) {
        const Expr* index = subscript_index();
        expect("]");
        e = expr_of(ExprKind::subscript, place, e, index);
      } else {
        break;
      }
    }
    return e;
  }

  void arguments(std::vector<const Expr*>& positional, std::vector<Keyword>& keywords) {  // up to and with ')'
    const std::size_t callee = positional.size();
    while (!at(")")) {
      const Place place = now().place;
      if (accept("**")) {
        keywords.push_back({{}, expression(), place});
      } else if (at("*")) {
        positional.push_back(starred());
      } else if (now().kind == TokenKind::name && is(ahead(1), "=")) {
        const std::string_view name = next().text;
        next();
        for (const Keyword& other : keywords)
          if (other.name == name) error(place, fmt::format("keyword argument '{}' is given twice", name));
        keywords.push_back({name, expression(), place});
      } else {
        const Expr* e = named_expression();
        if (at("for")) {
          if (positional.size() != callee || !keywords.empty()) error(place, "a generator argument must stand alone or in brackets");
          e = comprehension(ExprKind::generator, place, {e});
        } else if (!keywords.empty()) {
          error(place, "a positional argument follows a keyword argument");
        }
        positional.push_back(e);
      }
      if (!at(")")) expect(",");
    }
    expect(")");
  }

  const Expr* subscript_index() {
    const Place place = now().place;
    const Expr* first = slice_item();
    if (!at(",")) return first;
    std::vector<const Expr*> items{first};
    while (accept(",")) {
      if (at("]")) break;
      items.push_back(slice_item());
    }
    Expr* e = expr(ExprKind::tuple, place);
    with_items(e, keep(items));
    return e;
  }
  const Expr* slice_item() {
    const Place place = now().place;
    const auto bound = [&]() -> const Expr* {
      return at(":") || at(",") || at("]") ? nullptr : expression();
    };
    if (at("*")) return starred();
    const Expr* lower = at(":") ? nullptr : named_expression();
    if (!at(":")) return lower;
    next();
    const Expr* upper = bound();
    const Expr* step = accept(":") ? bound() : nullptr;
    return expr_of(ExprKind::slice, place, lower, upper, step);
  }

  const Expr* comprehension(ExprKind kind, Place place, std::vector<const Expr*> element) {
    std::vector<Clause> clauses;
    while (accept("for")) {
      Clause c{};
      c.target = target_list();
      expect("in");
      c.iterable = logic_or();
      std::vector<const Expr*> conditions;
      while (accept("if")) conditions.push_back(logic_or());
      c.conditions = keep(conditions);
      clauses.push_back(c);
    }
    Expr* e = expr(kind, place);
    with_items(e, keep(element));
    e->clauses = keep(clauses);
    return e;
  }

  const Expr* atom() {
    const Token t = now();
    switch (t.kind) {
      case TokenKind::name: {
        Expr* e = expr(ExprKind::name, next().place);
        e->text = t.text;
        return e;
      }
      case TokenKind::integer: return integer(next());
      case TokenKind::real: return real(next(), ExprKind::real);
      case TokenKind::imaginary: return real(next(), ExprKind::imaginary);
      case TokenKind::string: return strings();
      case TokenKind::keyword:
        if (t.text == "None") return expr(ExprKind::none, next().place);
        if (t.text == "True" || t.text == "False") {
          Expr* e = expr(ExprKind::boolean, next().place);
          e->integer = t.text == "True";
          return e;
        }
        break;
      case TokenKind::op:
        if (t.text == "(") return parenthesis();
        if (t.text == "[") return list();
        if (t.text == "{") return braces();
        if (t.text == "...") return expr(ExprKind::ellipsis, next().place);
        break;
      default: break;
    }
    unexpected("an expression");
  }

  const Expr* parenthesis() {
    const Deeper deeper(*this);
    const Place place = next().place;
    if (accept(")")) {
      Expr* e = expr(ExprKind::tuple, place);
      e->parenthesised = true;
      return e;
    }
    const Expr* first = at("*") ? starred() : named_expression();
    if (at("for")) {
      const Expr* e = comprehension(ExprKind::generator, place, {first});
      expect(")");
      return e;
    }
    if (!at(",")) {
      if (first->kind == ExprKind::starred) error(place, "a starred expression needs a tuple or a list around it");
      expect(")");
      return first;
    }
    std::vector<const Expr*> items{first};
    rest_of(items, ")");
    Expr* e = expr(ExprKind::tuple, place);
    with_items(e, keep(items));
    e->parenthesised = true;
    return e;
  }
  void rest_of(std::vector<const Expr*>& items, std::string_view closer) {
    while (accept(",")) {
      if (at(closer)) break;
      items.push_back(at("*") ? starred() : named_expression());
    }
    expect(closer);
  }

  const Expr* list() {
    const Deeper deeper(*this);
    const Place place = next().place;
    std::vector<const Expr*> items;
    if (!accept("]")) {
      items.push_back(at("*") ? starred() : named_expression());
      if (at("for")) {
        const Expr* e = comprehension(ExprKind::list_comp, place, items);
        expect("]");
        return e;
      }
      rest_of(items, "]");
    }
    Expr* e = expr(ExprKind::list, place);
    with_items(e, keep(items));
    return e;
  }

  const Expr* braces() {
    const Deeper deeper(*this);
    const Place place = next().place;
    std::vector<const Expr*> items;
    bool dict = true;
    while (!at("}")) {
      if (accept("**")) {
        items.push_back(nullptr);
        items.push_back(bitwise(0));
      } else {
        const Expr* first = at("*") ? starred() : named_expression();
        if (items.empty()) dict = at(":");
        if (dict) {
          expect(":");
          items.push_back(first);
          items.push_back(expression());
        } else {
          items.push_back(first);
        }
        if (at("for")) {
          const Expr* e = comprehension(dict ? ExprKind::dict_comp : ExprKind::set_comp, place, items);
          expect("}");
          return e;
        }
      }
      if (!at("}")) expect(",");
    }
    expect("}");
    Expr* e = expr(dict ? ExprKind::dict : ExprKind::set, place);
    with_items(e, keep(items));
    return e;
  }

  // ---- literals
  std::string_view without_underscores(std::string_view text) {
    if (text.find('_') == std::string_view::npos) return text;
    std::string out;
    for (const char c : text)
      if (c != '_') out += c;
    return keep_text(out);
  }

  const Expr* integer(Token t) {
    std::string_view text = without_underscores(t.text);
    int base = 10;
    if (text.size() > 1 && text[0] == '0') {
      const char c = static_cast<char>(text[1] | 0x20);
      base = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 10;
      if (base != 10) text.remove_prefix(2);
      else if (text.find_first_not_of('0') != std::string_view::npos) error(t.place, "an integer does not start with 0; octal is 0o...");
    }
    Expr* e = expr(ExprKind::integer, t.place);
    e->text = t.text;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), e->integer, base);
    if (code == std::errc::result_out_of_range) error(t.place, "integer does not fit into 64 bits", Code::unsupported, {"write a float, or a smaller number"});
    if (code != std::errc() || end != text.data() + text.size()) error(t.place, fmt::format("not a number: '{}'", t.text.substr(0, 40)));
    return e;
  }

  const Expr* real(Token t, ExprKind kind) {
    std::string_view text = without_underscores(t.text);
    if (kind == ExprKind::imaginary) text.remove_suffix(1);
    Expr* e = expr(kind, t.place);
    e->text = t.text;
    e->real = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), e->real);
    if (code == std::errc::result_out_of_range) e->real = out_of_range(text);
    else if (code != std::errc() || end != text.data() + text.size()) error(t.place, fmt::format("not a number: '{}'", t.text.substr(0, 40)));
    return e;
  }
  static double out_of_range(std::string_view text) {  // as Python: 1e999 is inf, 1e-999 is 0
    const auto e = text.find_first_of("eE");
    return e != std::string_view::npos && text.substr(e + 1).starts_with('-') ? 0.0 : HUGE_VAL;
  }

  // The pieces of a string under construction: plain text gathers until a field or the end.
  struct Pieces {
    std::vector<const Expr*> parts;
    std::string plain;
  };
  void flush(Pieces& pieces, Place place) {
    if (pieces.plain.empty()) return;
    pieces.parts.push_back(string(pieces.plain, place));
    pieces.plain.clear();
  }
  Expr* string(std::string_view text, Place place) {
    Expr* e = expr(ExprKind::string, place);
    e->text = keep_text(text);
    return e;
  }
  Expr* fstring(Pieces& pieces, Place place) {
    flush(pieces, place);
    return with_items(expr(ExprKind::fstring, place), keep(pieces.parts));
  }

  const Expr* strings() {  // adjacent literals are one
    const Place place = now().place;
    Pieces pieces;
    bool formatted = false;
    while (now().kind == TokenKind::string) {
      const Token t = next();
      const StringLiteral literal = split_string(t.text);
      if (literal.bytes) unsupported(t.place, "a bytes literal", "write a plain string");
      if (!literal.formatted) {
        append_string(literal, literal.content, [&](std::string m) { error(t.place, std::move(m)); }, pieces.plain);
        continue;
      }
      formatted = true;
      format_parts(t, literal, literal.content, pieces);
    }
    return formatted ? fstring(pieces, place) : string(pieces.plain, place);
  }

  void format_parts(const Token& token, const StringLiteral& literal, std::string_view content, Pieces& pieces) {
    const Deeper deeper(*this);
    const BadString bad = [&](std::string message) { error(token.place, "f-string: " + std::move(message)); };
    for (std::size_t at = 0; at < content.size();) {
      const char c = content[at];
      if ((c == '{' || c == '}') && at + 1 < content.size() && content[at + 1] == c) {
        pieces.plain += c;
        at += 2;
      } else if (c == '}') {
        bad("a single '}' is not allowed; write '}}'");
      } else if (c == '{') {
        flush(pieces, token.place);
        const FieldSplit split = split_field(content.substr(at), bad);
        pieces.parts.push_back(format_field(token, literal, split));
        at += split.size;
      } else {
        const std::size_t end = std::min(content.find_first_of("{}", at), content.size());
        append_string(literal, content.substr(at, end - at), bad, pieces.plain);
        at = end;
      }
    }
  }

  const Expr* format_field(const Token& token, const StringLiteral& literal, const FieldSplit& split) {
    const Place place = place_of(token, split.expression.data());
    const Expr* value = Parser(module_, split.expression, place, true, depth_).run_expression();
    Expr* e = nullptr;
    if (split.has_format) {
      Pieces pieces;
      format_parts(token, literal, split.format, pieces);
      e = expr_of(ExprKind::field, place, value, static_cast<const Expr*>(fstring(pieces, place)));
    } else {
      e = expr_of(ExprKind::field, place, value);
    }
    e->text = split.conversion;
    if (!split.shows_source) return e;
    if (split.conversion.empty() && !split.has_format) e->text = "r";  // f"{x=}" is f"x={x!r}"
    return expr_of(ExprKind::fstring, place, static_cast<const Expr*>(string(split.source_label, place)), static_cast<const Expr*>(e));
  }

  // Where a character inside a token stands in the file.
  static Place place_of(const Token& token, const char* at) {
    Place p = token.place;
    for (const char* c = token.text.data(); c < at; ++c) {
      if (*c == '\n') {
        ++p.line;
        p.column = 1;
      } else {
        ++p.column;
      }
    }
    return p;
  }

  Module& module_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_;
};

Result<Module> parse(std::string file, std::string source) {
  return guarded([&] {
    Module module(std::move(file), std::move(source));
    Parser(module, module.source(), {1, 1}, false, 0).run_module();
    return module;
  });
}

}  // namespace passnet::py
