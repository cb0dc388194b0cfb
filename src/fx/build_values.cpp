#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "fx/graph_builder.h"
#include "fx/literals.h"
#include "py/parser.h"
#include "py/printer.h"

namespace passnet {

std::optional<bool> GraphBuilder::decided(const py::Expr& e) {
  if (!in_pattern()) return std::nullopt;
  if (e.kind == py::ExprKind::unary && e.op == py::Op::not_) {
    const auto inner = decided(*e.items[0]);
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  if (e.kind == py::ExprKind::logic) {
    std::optional<bool> out;
    for (const py::Expr* item : e.items) {
      out = decided(*item);
      if (!out || *out != (e.op == py::Op::and_)) break;
    }
    return out;
  }
  const bool is = e.kind == py::ExprKind::compare && e.ops.size() == 1 && e.items[1]->kind == py::ExprKind::none &&
                  (e.ops[0] == py::Op::is || e.ops[0] == py::Op::is_not);
  if (is) return (given(*e.items[0]).kind == ValueKind::none) == (e.ops[0] == py::Op::is);
  const auto known = e.kind == py::ExprKind::compare ? evaluated(e) : std::nullopt;  // N == 4: no node
  return truth(known ? *known : given(e));
}

std::optional<bool> GraphBuilder::truth(const Value& v) {
  switch (v.kind) {
    case ValueKind::none: return false;
    case ValueKind::boolean:
    case ValueKind::integer: return v.integer != 0;
    case ValueKind::real: return v.real != 0;
    case ValueKind::string: return !v.text.empty();
    case ValueKind::tuple:
    case ValueKind::list: return !v.items.empty();
    default: return std::nullopt;
  }
}

Value GraphBuilder::given(const py::Expr& e) {
  const Name* known = e.kind == py::ExprKind::name ? find_name(e.text) : nullptr;
  return known != nullptr ? objects_.current(known->value) : value(e);
}

std::optional<std::vector<Value>> GraphBuilder::items_of(const Value& v) {
  if (v.is_sequence()) return v.items;
  const TracedObjects::Dict* dict = objects_.dict(v);
  if (dict == nullptr) return std::nullopt;
  std::vector<Value> keys;
  for (const auto& [key, held] : *dict) keys.push_back(key);
  return keys;
}

bool GraphBuilder::has_node(const Value& v) {
  bool found = false;
  value_nodes(v, [&](NodeId) { found = true; });
  return found;
}

std::optional<Value> GraphBuilder::evaluated(const py::Expr& e) {
  BuildOptions::Variables variables;
  if (!in_pattern() || !known_variables(e, variables)) return std::nullopt;
  auto v = options_.evaluate(e, variables);
  if (v && v->kind == ValueKind::list && e.kind != py::ExprKind::name && e.kind != py::ExprKind::attribute &&
      e.kind != py::ExprKind::subscript)
    return objects_.make_list(std::move(v->items));
  return v;
}

bool GraphBuilder::known_variables(const py::Expr& e, BuildOptions::Variables& out) const {
  if (e.kind == py::ExprKind::named) return false;
  const Name* known = e.kind == py::ExprKind::name ? find_name(e.text) : nullptr;
  if (known != nullptr) {
    if (known->cleared_at != 0 || !is_literal(known->value)) return false;
    out.emplace_back(e.text, known->value);
  }
  const auto is_known = [&](const py::Expr* part) { return part == nullptr || known_variables(*part, out); };
  if (!std::all_of(e.items.begin(), e.items.end(), is_known)) return false;
  for (const py::Keyword& k : e.keywords)
    if (!is_known(k.value)) return false;
  for (const py::Clause& c : e.clauses())
    if (!is_known(c.iterable) || !std::all_of(c.conditions.begin(), c.conditions.end(), is_known)) return false;
  return true;
}

bool GraphBuilder::is_literal(const Value& v) {
  if (v.kind == ValueKind::tuple) return std::all_of(v.items.begin(), v.items.end(), is_literal);
  return v.kind == ValueKind::none || v.kind == ValueKind::string || v.is_number();
}

Value GraphBuilder::value(const py::Expr& e) {
  Value v = value_of(e);
  if (!v.items.empty() || v.text.size() > sizeof(Value)) check_size(v, e.place);
  return v;
}

void GraphBuilder::check_size(const Value& v, py::Place place) {
  constexpr std::size_t kMostOfAll = 10'000'000;
  const std::size_t values = count_values(v, place);
  if (in_pattern()) return;  // its loops make the same again, and have a limit of their own
  values_ += values;
  if (values_ > kMostOfAll + module_->source().size())
    error(Code::limit, place, "the lists of the graph are too long, all together");
}

void GraphBuilder::check_joined(py::Op op, const Value& left, const Value& right, py::Place place) {
  if (!left.is_sequence()) return;
  if (op == py::Op::add && right.is_sequence() &&
      count_values(left, place) + count_values(right, place) > most_values())
    too_long(place);
  if (op != py::Op::mul || right.kind != ValueKind::integer || right.integer <= 0 || right.integer > kMostRepeated)
    return;  // more is not computed
  if (static_cast<std::size_t>(right.integer) > most_values() / count_values(left, place)) too_long(place);
}

std::size_t GraphBuilder::count_values(const Value& v, py::Place place) const {
  constexpr int kDeepest = 100;  // as deep as a pattern's may be; what is written out is no deeper than brackets
  std::size_t values = 0;
  const auto count = [&](const auto& self, const Value& part, int depth) -> void {
    values += 1 + part.text.size() / sizeof(Value);
    if (values > most_values()) too_long(place);
    if (depth > (in_pattern() ? kDeepest : py::kDepthLimit))
      error(Code::limit, place,
            fmt::format("lists of the {} are nested too deeply", in_pattern() ? "pattern" : "graph"));
    for (const Value& item : part.items) self(self, item, depth + 1);
  };
  count(count, v, 0);
  return values;
}

// What is written out may be as long as its text.
std::size_t GraphBuilder::most_values() const {
  constexpr std::size_t kMost = 20'000;
  return kMost + (in_pattern() ? 0 : module_->source().size());
}

void GraphBuilder::too_long(py::Place place) const {
  error(Code::limit, place, fmt::format("a list of the {} grows too long", in_pattern() ? "pattern" : "graph"));
}

Value GraphBuilder::value_of(const py::Expr& e) {
  const bool literal = e.kind <= py::ExprKind::slice && e.kind != py::ExprKind::fstring &&
                       e.kind != py::ExprKind::call && e.kind != py::ExprKind::subscript &&
                       e.kind != py::ExprKind::attribute;
  if (!literal)
    if (auto v = evaluated(e)) return *v;
  switch (e.kind) {
    case py::ExprKind::none: return Value::none();
    case py::ExprKind::boolean: return Value::boolean(e.integer != 0);
    case py::ExprKind::integer: return Value::of(e.integer);
    case py::ExprKind::big_integer:
      error(Code::unsupported, e.place, "an integer beyond 64 bits is not supported",
            "write a float, or a smaller number");
    case py::ExprKind::real: return Value::of(e.real);
    case py::ExprKind::string: return Value::string(std::string(e.text));
    case py::ExprKind::ellipsis: return Value::ellipsis();
    case py::ExprKind::tuple: return sequence(ValueKind::tuple, e);
    case py::ExprKind::list: return sequence(ValueKind::list, e);
    case py::ExprKind::slice: {
      std::vector<Value> items;
      for (const py::Expr* item : e.items) items.push_back(item == nullptr ? Value::none() : value(*item));
      return Value::sequence(ValueKind::slice, std::move(items));
    }
    case py::ExprKind::name: return name(e);
    case py::ExprKind::attribute: return attribute(e);
    case py::ExprKind::subscript: {
      Value object = value(*e.items[0]);
      Value index = value(*e.items[1]);
      if (auto item = objects_.item(object, index)) return *item;  // of a literal: an item of it
      return Value::ref(call("operator.getitem", e.place, {std::move(object), std::move(index)}));
    }
    case py::ExprKind::unary: return unary(e);
    case py::ExprKind::binary: return binary(e.op, e);
    case py::ExprKind::compare:
      if (auto v = evaluated(e)) return *v;
      if (e.ops.size() != 1)
        error(Code::unsupported, e.place, "a chained comparison in a graph", "write one comparison a statement");
      return binary(e.ops[0], e);
    case py::ExprKind::call: return written_call(e);
    case py::ExprKind::lambda:
      if (in_pattern()) return own_function(e);
      break;
    case py::ExprKind::conditional:
      if (const auto test = decided(*e.items[0])) return value(*e.items[*test ? 1 : 2]);
      break;
    case py::ExprKind::logic:
      if (in_pattern()) return logic(e);
      break;
    case py::ExprKind::named:
      if (!in_pattern()) break;
      assign(*e.items[0], value(*e.items[1]));
      return value(*e.items[0]);
    case py::ExprKind::dict:
      if (in_pattern()) return dict(e);
      break;
    case py::ExprKind::list_comp:
    case py::ExprKind::generator:
    case py::ExprKind::dict_comp:
      if (in_pattern()) return comprehension(e);
      break;
    default: break;
  }
  error(Code::unsupported, e.place, fmt::format("'{}' in a graph", py::print(e).substr(0, 60)),
        "write calls, operators, indexing and literals");
}

Value GraphBuilder::logic(const py::Expr& e) {
  for (const py::Expr* item : e.items) {
    Value v = value(*item);
    if (item == e.items.back()) return v;
    const auto known = truth(v);
    if (!known) not_straight(item->place, fmt::format("'{}' of a tensor", py::op_text(e.op)));
    if (*known != (e.op == py::Op::and_)) return v;
  }
  return {};
}

Value GraphBuilder::dict(const py::Expr& e) {
  Value out = objects_.make_dict({});
  for (std::size_t i = 0; i < e.items.size(); i += 2) {
    const Value v = value(*e.items[i + 1]);
    if (e.items[i] != nullptr) {
      objects_.set_item(out, value(*e.items[i]), v);
      continue;
    }
    const TracedObjects::Dict* more = objects_.dict(v);
    if (more == nullptr) error(Code::unsupported, e.place, "'**' in a graph", "write the items out");
    for (const auto& [key, held] : TracedObjects::Dict(*more)) objects_.set_item(out, key, held);
  }
  return out;
}

Value GraphBuilder::comprehension(const py::Expr& e) {
  Frame* around = std::exchange(frame_, &frames_.emplace_back(Frame{{}, frame_}));  // its variables stay inside
  std::vector<Value> out;
  comprehend(e, 0, out);
  frame_ = around;
  if (e.kind != py::ExprKind::dict_comp) return objects_.make_list(std::move(out));
  Value made = objects_.make_dict({});
  for (std::size_t i = 0; i + 1 < out.size(); i += 2) objects_.set_item(made, out[i], out[i + 1]);
  return made;
}

void GraphBuilder::comprehend(const py::Expr& e, std::size_t clause, std::vector<Value>& out) {
  if (clause == e.clauses().size()) {
    for (const py::Expr* item : e.items) out.push_back(value(*item));
    return;
  }
  const py::Clause c = e.clauses()[clause];
  const auto items = items_of(value(*c.iterable));
  if (!items) not_straight(c.iterable->place, "a loop over a tensor");
  for (const Value& item : *items) {
    count_turn(e.place);
    assign(*c.target, item);
    bool keep = true;
    for (const py::Expr* condition : c.conditions) {
      const auto known = decided(*condition);
      if (!known) not_straight(condition->place, "a condition about a tensor's values");
      keep = keep && *known;
    }
    if (keep) comprehend(e, clause + 1, out);
  }
}

Value GraphBuilder::sequence(ValueKind kind, const py::Expr& e) {
  std::vector<Value> items;
  items.reserve(e.items.size());
  for (const py::Expr* item : e.items) add_item(*item, "a starred item in a graph", "write the items out", items);
  return kind == ValueKind::list && in_pattern() ? objects_.make_list(std::move(items))
                                                 : Value::sequence(kind, std::move(items));
}

void GraphBuilder::add_item(const py::Expr& e, std::string_view what, std::string_view remedy,
                            std::vector<Value>& out) {
  if (e.kind != py::ExprKind::starred) {
    out.push_back(value(e));
    return;
  }
  const auto many = in_pattern() ? items_of(value(*e.items[0])) : std::nullopt;
  if (!many) error(Code::unsupported, e.place, std::string(what), std::string(remedy));
  out.insert(out.end(), many->begin(), many->end());
}

Value GraphBuilder::name(const py::Expr& e) {
  if (const Name* known = find_name(e.text)) {
    if (known->cleared_at != 0)
      error(Code::name, e.place, fmt::format("'{}' was cleared in line {}", e.text, known->cleared_at),
            "use it before its 'x = None'");
    return objects_.current(known->value);
  }
  const std::string path = scope_->resolve(e);
  if (!path.empty()) return constant(e, path);
  if (options_.function)
    if (const InlinedFunction* f = options_.function(e)) return own_function(*f);
  if (options_.constant)
    if (auto found = options_.constant(e.text)) return *found;
  if (e.text == "Ellipsis") return Value::ellipsis();
  if (e.text == "inf" || e.text == "nan") return Value::of(e.text == "inf" ? HUGE_VAL : std::nan(""));
  if (e.text == "float" || e.text == "int" || e.text == "bool")
    return Value::constant("builtins." + std::string(e.text));
  std::vector<std::string_view> known;
  for (const Frame* f = frame_; f != nullptr; f = f->around)
    for (const auto& [known_name, bound] : f->names) known.push_back(known_name);
  const auto nearest = text_nearest(e.text, known, 1);
  error(Code::name, e.place, fmt::format("'{}' is not defined", e.text),
        nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest[0]));
}

Value GraphBuilder::constant(const py::Expr& e, const std::string& path) const {
  const std::string_view last = std::string_view(path).substr(path.rfind('.') + 1);
  if (path.starts_with("torch.") || path.starts_with("math.")) {
    if (last == "inf") return Value::of(HUGE_VAL);
    if (last == "nan") return Value::of(std::nan(""));
    if (last == "pi") return Value::of(3.141592653589793);
    if (last == "e") return Value::of(2.718281828459045);
    return Value::constant(path);
  }
  error(Code::name, e.place, fmt::format("'{}' is no value", path));
}

Value GraphBuilder::attribute(const py::Expr& e) {
  if (!is_local(e)) {
    const std::string path = scope_->resolve(e);
    if (!path.empty()) return constant(e, path);
  }
  Value object = value(*e.items[0]);
  if (object.kind == ValueKind::constant) return constant(e, object.text + "." + std::string(e.text));
  return Value::ref(call("getattr", e.place, {std::move(object), Value::string(std::string(e.text))}));
}

bool GraphBuilder::is_local(const py::Expr& e) const {
  const py::Expr* root = &e;
  while (root->kind == py::ExprKind::attribute) root = root->items[0];
  return root->kind != py::ExprKind::name || find_name(root->text) != nullptr;
}

Value GraphBuilder::unary(const py::Expr& e) {
  Value operand = value(*e.items[0]);
  if (auto folded = fold_unary(e.op, operand)) return *folded;
  return Value::ref(call(fmt::format("operator.{}", py::op_name(e.op)), e.place, {std::move(operand)}));
}

Value GraphBuilder::binary(py::Op op, const py::Expr& e) {
  if (py::op_name(op).empty() && !in_pattern()) not_straight(e.place, fmt::format("'{}'", py::op_text(op)));
  Value left = value(*e.items[0]);
  Value right = value(*e.items[1]);
  if (auto known = folded(op, left, right, e.place)) return *known;
  if (py::op_name(op).empty()) not_straight(e.place, fmt::format("'{}'", py::op_text(op)));
  return Value::ref(call(fmt::format("operator.{}", py::op_name(op)), e.place, {std::move(left), std::move(right)}));
}

std::optional<Value> GraphBuilder::folded(py::Op op, const Value& left, const Value& right, py::Place place) {
  if (!left.is_sequence() && (has_node(left) || has_node(right))) return std::nullopt;
  if (!in_pattern() && (has_node(left) || has_node(right))) return std::nullopt;
  check_joined(op, left, right, place);
  if (!in_pattern()) return fold_binary(op, left, right);
  const Value a = objects_.plain(left), b = objects_.plain(right);
  if (const auto answer = fold_compare(op, a, b)) return Value::boolean(*answer);
  auto out = fold_binary(op, a, b);
  return out && out->kind == ValueKind::list ? objects_.make_list(std::move(out->items)) : out;
}

}  // namespace passnet
