#include "py/parser.h"

#include <array>

#include "py/source_text.h"
#include "py/statement_parser.h"

namespace passnet::py {

namespace {

template <class T>
struct Row {
  Symbol symbol;
  T value;
};
struct Binding {
  Op op = Op::none;
  int level = 0;  // a larger level binds tighter; 0 is no binary operator
};
constexpr std::array<Binding, kSymbolCount> kBinary = [] {
  std::array<Binding, kSymbolCount> t{};
  constexpr Row<Binding> kRows[] = {
      {"|", {Op::bit_or, 1}},       {"^", {Op::bit_xor, 2}},    {"&", {Op::bit_and, 3}}, {"<<", {Op::shift_left, 4}},
      {">>", {Op::shift_right, 4}}, {"+", {Op::add, 5}},        {"-", {Op::sub, 5}},     {"*", {Op::mul, 6}},
      {"/", {Op::div, 6}},          {"//", {Op::floor_div, 6}}, {"%", {Op::mod, 6}},     {"@", {Op::mat_mul, 6}},
  };
  for (const auto& [symbol, binding] : kRows) t[symbol.id] = binding;
  return t;
}();

constexpr std::array<Op, kSymbolCount> kCompare = [] {
  std::array<Op, kSymbolCount> t{};
  constexpr Row<Op> kRows[] = {{"<", Op::lt},  {"<=", Op::le}, {">", Op::gt},  {">=", Op::ge},
                               {"==", Op::eq}, {"!=", Op::ne}, {"in", Op::in}, {"is", Op::is}};
  for (const auto& [symbol, op] : kRows) t[symbol.id] = op;
  return t;
}();

std::string_view kind_text(ExprKind kind) {
  switch (kind) {
    case ExprKind::none:
    case ExprKind::boolean: return "a constant";
    case ExprKind::ellipsis: return "an ellipsis";
    case ExprKind::integer:
    case ExprKind::big_integer:
    case ExprKind::real:
    case ExprKind::imaginary: return "a number";
    case ExprKind::string:
    case ExprKind::fstring: return "a string";
    case ExprKind::call: return "a call";
    case ExprKind::compare: return "a comparison";
    case ExprKind::lambda: return "a lambda";
    case ExprKind::conditional: return "a conditional expression";
    case ExprKind::list_comp:
    case ExprKind::set_comp:
    case ExprKind::dict_comp: return "a comprehension";
    case ExprKind::generator: return "a generator";
    case ExprKind::starred: return "a starred expression";
    case ExprKind::tuple: return "a tuple";
    case ExprKind::list: return "a list";
    case ExprKind::set: return "a set";
    case ExprKind::dict: return "a dict";
    default: return "an expression";
  }
}

}  // namespace

// ---- tuples without brackets

const Expr* ExpressionParser::expressions() {
  return one_or_tuple(
      "expression", [&] { return expression(); },
      [&] { return at_statement_end() || at("=") || at(")") || at("]") || at("}") || at(":"); });
}

// In a call and an index a star takes a whole expression, in a tuple or list only an operand.
const Expr* ExpressionParser::starred(bool whole) {
  const Place place = next().place;
  return expr_of(ExprKind::starred, place, whole ? expression() : bitwise(0));
}

// ---- by binding

const Expr* ExpressionParser::named_expression() {
  if (!at_named()) return expression();
  const Place place = now().place;
  Expr* name = expr(ExprKind::name, place);
  name->text = next().text;
  next();
  return expr_of(ExprKind::named, place, static_cast<const Expr*>(name), expression());
}

const Expr* ExpressionParser::expression() {
  // Most expressions are one token before a comma, a bracket or the line's end: those skip the ladder of levels.
  const TokenKind kind = now().kind;
  if (kind == TokenKind::name || (kind >= TokenKind::integer && kind <= TokenKind::string)) {
    const Token& after = ahead(1);
    if (is(after, ",") || is(after, ")") || is(after, "]") || after.kind == TokenKind::newline) return atom();
  }
  const Deeper deeper(*this);
  if (at("lambda")) return lambda();
  const Place place = now().place;
  const Expr* value = logic_or();
  if (!accept("if")) return value;
  const Expr* test = logic_or();
  expect("else");
  return expr_of(ExprKind::conditional, place, test, value, expression());
}

const Expr* ExpressionParser::lambda() {
  Expr* e = expr(ExprKind::lambda, next().place);
  e->own_parameters = parameters(":", false);
  for (const Parameter& p : e->own_parameters) cover(e, p.default_value);
  expect(":");
  return with_items(e, row(expression()));
}

const Expr* ExpressionParser::logic_or() {
  const Place place = now().place;
  const Expr* first = logic_and();
  if (!at("or")) return first;
  std::vector<const Expr*> items{first};
  while (accept("or")) items.push_back(logic_and());
  Expr* e = expr_of(ExprKind::logic, place, items);
  e->op = Op::or_;
  return e;
}
const Expr* ExpressionParser::logic_and() {
  const Place place = now().place;
  const Expr* first = logic_not();
  if (!at("and")) return first;
  std::vector<const Expr*> items{first};
  while (accept("and")) items.push_back(logic_not());
  Expr* e = expr_of(ExprKind::logic, place, items);
  e->op = Op::and_;
  return e;
}
const Expr* ExpressionParser::logic_not() {
  if (!at("not")) return comparison();
  const Deeper deeper(*this);
  const Place place = next().place;
  Expr* e = expr_of(ExprKind::unary, place, logic_not());
  e->op = Op::not_;
  return e;
}

Op ExpressionParser::comparison_op() {
  if (at("not") && is(ahead(1), "in")) {
    next();
    next();
    return Op::not_in;
  }
  const Op op = kCompare[now().symbol.id];
  if (op != Op::none) next();
  return op == Op::is && accept("not") ? Op::is_not : op;
}
const Expr* ExpressionParser::comparison() {
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
  Expr* e = expr_of(ExprKind::compare, place, items);
  e->ops = keep(ops);
  return e;
}

const Expr* ExpressionParser::bitwise(int level) {  // the binary operators, by precedence climbing
  const Place place = now().place;
  const Expr* left = factor();
  while (true) {
    const Binding found = kBinary[now().symbol.id];
    if (found.level <= level) return left;
    next();
    Expr* e = expr_of(ExprKind::binary, place, left, bitwise(found.level));
    e->op = found.op;
    left = e;
  }
}

const Expr* ExpressionParser::factor() {
  const Place place = now().place;
  const Op sign = at("-") ? Op::neg : at("+") ? Op::pos : at("~") ? Op::invert : Op::none;
  if (sign != Op::none) {
    const Deeper deeper(*this);
    next();
    // The one integer whose digits alone do not fit: read with its sign.
    if (sign == Op::neg && now().kind == TokenKind::integer && now().text == "9223372036854775808" &&
        !is(ahead(1), "**"))
      return integer(next(), true);
    Expr* e = expr_of(ExprKind::unary, place, factor());
    e->op = sign;
    return e;
  }
  const Expr* base = postfix();
  if (!at("**")) return base;
  const Deeper deeper(*this);
  next();
  Expr* e = expr_of(ExprKind::binary, place, base, factor());
  e->op = Op::pow;
  return e;
}

const Expr* ExpressionParser::postfix() {
  const Place place = now().place;
  const Expr* e = atom();
  while (now().kind == TokenKind::op) {
    const Place open = now().place;
    if (accept(".")) {
      Expr* a = expr_of(ExprKind::attribute, place, e);
      a->text = identifier("an attribute name after '.'");
      e = a;
    } else if (accept("(")) {
      std::vector<const Expr*> items{e};
      std::vector<Keyword> keywords;
      arguments(open, items, keywords);
      Expr* c = expr_of(ExprKind::call, place, items);
      c->keywords = keep(keywords);
      for (const Keyword& k : keywords) cover(c, k.value);
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

const Expr* ExpressionParser::atom() {
  const Token& t = now();
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
      if (at("None")) return expr(ExprKind::none, next().place);
      if (at("True") || at("False")) {
        Expr* e = expr(ExprKind::boolean, t.place);
        e->integer = at("True");
        next();
        return e;
      }
      if (at("yield"))
        unsupported(t.place, "yield as a part of an expression",
                    "write x = yield ..., or yield in a statement of its own");
      if (at("await")) unsupported(t.place, "await", "write a plain function");
      break;
    case TokenKind::op:
      if (at("(")) return parenthesis();
      if (at("[")) return list();
      if (at("{")) return braces();
      if (at("...")) return expr(ExprKind::ellipsis, next().place);
      break;
    default: break;
  }
  unexpected("an expression");
}

// ---- brackets

// `open` is the place of the call's '(', where a generator argument begins; a class has bases, and none of them is one.
void ExpressionParser::arguments(Place open, std::vector<const Expr*>& positional, std::vector<Keyword>& keywords) {
  const std::size_t callee = positional.size();
  bool unpacked = false;
  while (!at(")")) {
    const Place place = now().place;
    if (accept("**")) {
      unpacked = true;
      keywords.push_back({{}, expression(), place});
    } else if (at("*")) {
      if (unpacked) error(place, "a '*' argument follows a '**' argument");
      positional.push_back(starred(true));
    } else if (now().kind == TokenKind::name && is(ahead(1), "=")) {
      const std::string_view name = next().text;
      next();
      keywords.push_back({name, expression(), place});
    } else {
      const Expr* e = named_expression();
      const bool generator = at_comprehension();
      if (generator)
        e = comprehension(ExprKind::generator, open, {e});
      else if (!keywords.empty())
        error(place, "a positional argument follows a keyword argument");
      if (generator && (positional.size() != callee || !keywords.empty() || !at(")") || open.line == 0))
        error(place, "a generator argument must stand alone or in brackets");
      positional.push_back(e);
    }
    if (!at(")")) expect(",");
  }
  expect(")");
  check_unique(keywords, "keyword argument");
}

const Expr* ExpressionParser::subscript_index() {
  const Place place = now().place;
  const Expr* first = slice_item();
  if (!at(",") && first->kind != ExprKind::starred) return first;
  std::vector<const Expr*> items{first};
  while (accept(",")) {
    if (at("]")) break;
    items.push_back(slice_item());
  }
  return expr_of(ExprKind::tuple, place, items);
}
const Expr* ExpressionParser::slice_item() {
  const Place place = now().place;
  const auto bound = [&]() -> const Expr* { return at(":") || at(",") || at("]") ? nullptr : expression(); };
  if (at("*")) return starred(true);
  if (at_named()) return named_expression();
  const Expr* lower = at(":") ? nullptr : expression();
  if (!accept(":")) return lower;
  const Expr* upper = bound();
  const Expr* step = accept(":") ? bound() : nullptr;
  return expr_of(ExprKind::slice, place, lower, upper, step);
}

bool ExpressionParser::at_comprehension() const {
  if (at("async")) unsupported(now().place, "an async comprehension", "write a plain one");
  return at("for");
}
const Expr* ExpressionParser::comprehension(ExprKind kind, Place place, const std::vector<const Expr*>& element) {
  if (element[0]->kind == ExprKind::starred)
    error(element[0]->place, "the element of a comprehension cannot be starred");
  Expr* e = expr_of(kind, place, element);
  std::vector<Clause> clauses;
  while (at_comprehension()) {
    if (clauses.size() == kHeightLimit)  // whoever evaluates it has a loop in a loop
      error(now().place, "a comprehension has too many clauses", Code::limit, {kSplit});
    next();
    Clause c{};
    c.target = target_list();
    expect("in");
    c.iterable = logic_or();
    std::vector<const Expr*> conditions;
    while (accept("if")) conditions.push_back(logic_or());
    c.conditions = keep(conditions);
    clauses.push_back(c);
    cover(e, c.target);
    cover(e, c.iterable);
    for (const Expr* condition : conditions) cover(e, condition);
  }
  e->own_clauses = keep(clauses);
  return e;
}

const Expr* ExpressionParser::parenthesis() {
  const Deeper deeper(*this);
  const Place place = next().place;
  if (accept(")")) {
    Expr* e = expr(ExprKind::tuple, place);
    e->parenthesised = true;
    return e;
  }
  const Expr* first = starred_or_named();
  if (at_comprehension()) {
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
  Expr* e = expr_of(ExprKind::tuple, place, items);
  e->parenthesised = true;
  return e;
}
void ExpressionParser::rest_of(std::vector<const Expr*>& items, Symbol closer) {
  while (accept(",")) {
    if (at(closer)) break;
    items.push_back(starred_or_named());
  }
  expect(closer);
}

const Expr* ExpressionParser::list() {
  const Deeper deeper(*this);
  const Place place = next().place;
  if (accept("]")) return expr(ExprKind::list, place);
  std::vector<const Expr*> items{starred_or_named()};
  if (at_comprehension()) {
    const Expr* e = comprehension(ExprKind::list_comp, place, items);
    expect("]");
    return e;
  }
  rest_of(items, "]");
  return expr_of(ExprKind::list, place, items);
}

const Expr* ExpressionParser::braces() {  // a dict or a set, as its first item says
  const Deeper deeper(*this);
  const Place place = next().place;
  std::vector<const Expr*> items;
  bool dict = true;
  while (!at("}")) {
    const bool first = items.empty();
    if (at("**")) {
      if (!dict) error(now().place, "'**' is for a dict, and this is a set");
      next();
      items.push_back(nullptr);
      items.push_back(bitwise(0));
    } else {
      const bool key = !at("*") && !at_named();
      const Expr* item = starred_or_named();
      if (first) dict = key && at(":");
      if (dict && !key) error(item->place, "a key of a dict cannot be starred or named");
      if (dict) expect(":");
      items.push_back(item);
      if (dict) items.push_back(expression());
      if (first && at_comprehension()) {
        const Expr* e = comprehension(dict ? ExprKind::dict_comp : ExprKind::set_comp, place, items);
        expect("}");
        return e;
      }
    }
    if (!at("}")) expect(",");
  }
  expect("}");
  return expr_of(dict ? ExprKind::dict : ExprKind::set, place, items);
}

Slice<Parameter> ExpressionParser::parameters(Symbol closer, bool annotations) {
  std::vector<Parameter> out;
  bool star = false, slash = false, defaults = false;
  while (!at(closer)) {
    Parameter p{};
    p.place = now().place;
    p.keyword_only = star;
    if (accept("/")) {
      if (out.empty() || slash || star) error(p.place, "'/' comes once, after a parameter and before '*'");
      slash = true;
      for (Parameter& before : out) before.positional_only = true;
      if (!at(closer)) expect(",");
      continue;
    }
    if (accept("**")) {
      p.kind = ParameterKind::var_keyword;
    } else if (accept("*")) {
      if (star) error(p.place, "'*' comes once in a list of parameters");
      star = true;
      if (accept(",")) {
        if (at(closer) || at("**")) error(p.place, "a parameter has to follow the bare '*'");
        continue;
      }
      p.kind = ParameterKind::var_positional;
      p.keyword_only = false;
    }
    p.name = identifier("a parameter name");
    if (annotations && accept(":"))
      p.annotation = at("*") && p.kind == ParameterKind::var_positional ? starred() : expression();
    if (at("=") && p.kind != ParameterKind::normal) error(now().place, "a starred parameter has no default");
    if (accept("=")) p.default_value = expression();
    if (p.kind == ParameterKind::normal && !star && defaults && p.default_value == nullptr)
      error(p.place, fmt::format("parameter '{}' without a default follows one with a default", p.name));
    defaults |= p.default_value != nullptr;
    out.push_back(p);
    if (!at(closer)) expect(",");
    if (p.kind == ParameterKind::var_keyword && !at(closer)) error(now().place, "nothing may follow a '**' parameter");
  }
  check_unique(out, "parameter");
  return keep(out);
}

// ---- what can be assigned to

void ExpressionParser::check_target(const Expr& e, Target allowed) const {
  switch (e.kind) {
    case ExprKind::name:
    case ExprKind::attribute:
    case ExprKind::subscript: return;
    case ExprKind::tuple:
    case ExprKind::list:
      if (allowed == Target::single) break;
      for (const Expr* item : e.items) check_target(*item, allowed);
      return;
    case ExprKind::starred:
      if (allowed != Target::any) break;
      return check_target(*e.items[0], allowed);
    default: break;
  }
  error(e.place, fmt::format("cannot {} {}", allowed == Target::deleted ? "delete" : "assign to", kind_text(e.kind)),
        Code::syntax, {"a target is a name, an attribute, an index, or a tuple or list of those"});
}

const Expr* ExpressionParser::target_item(Target allowed) {
  const Expr* e = at("*") ? starred() : bitwise(0);
  check_target(*e, allowed);
  return e;
}
const Expr* ExpressionParser::target_list() {
  const Place place = now().place;
  const Expr* first = target_item(Target::any);
  if (!at(",")) {
    if (first->kind == ExprKind::starred) error(place, "a starred expression needs a tuple or a list around it");
    return first;
  }
  std::vector<const Expr*> items{first};
  while (accept(",")) {
    if (at("in")) break;
    items.push_back(target_item(Target::any));
  }
  return expr_of(ExprKind::tuple, place, items);
}

// ---- the door

namespace {

void check_bytes(const Module& module) {
  const std::string_view text = module.source();
  const std::size_t bad = find_bad_byte(text);
  if (bad == text.size()) return;
  const std::string_view before = text.substr(0, bad);
  const auto line = static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n') + 1);
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  fail({Code::syntax,
        module.where({line, static_cast<std::uint32_t>(bad - line_begin + 1)}),
        fmt::format("unexpected byte 0x{:02x}; is this a text file?", static_cast<unsigned char>(text[bad])),
        {"sources are UTF-8 without NUL"}});
}

}  // namespace

Result<Module> parse(std::string file, std::string source) {
  return guarded([&] {
    Module module(std::move(file), plain_source(std::move(source)));
    check_bytes(module);
    StatementParser(module, module.source(), {1, 1}, false, 0).run_module();
    return module;
  });
}

}  // namespace passnet::py
