#include "fx/builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "fx/graph_builder.h"
#include "fx/literals.h"
#include "py/printer.h"

namespace passnet {

Graph GraphBuilder::run(const FunctionSyntax& function) {
  graph_.nodes.reserve(function.body.size() + function.parameters.size());
  frame_->names.reserve(function.body.size() + function.parameters.size());
  give(options_);
  parameters(function);
  body(function);
  if (!done_)
    error(Code::graph, function.place, fmt::format("'{}' has no return", function.name),
          "end the function with 'return (value,)'");
  name_the_rest();
  return std::move(graph_);
}

GraphBuilder::Name* GraphBuilder::find_name(std::string_view text) const {
  for (Frame* f = frame_; f != nullptr; f = f->around)
    if (const auto it = f->names.find(text); it != f->names.end()) return &it->second;
  return nullptr;
}

void GraphBuilder::give(const BuildOptions& options) {
  for (const auto& [name, value] : options.given) frame_->names[name].value = value;
}

void GraphBuilder::error(Code code, py::Place place, std::string message, std::string note) const {
  Error e{code, module_->where(place), std::move(message), {}};
  if (!note.empty()) e.notes.push_back(std::move(note));
  fail(std::move(e));
}

void GraphBuilder::not_straight(py::Place place, std::string_view what) const {
  error(Code::unsupported, place, fmt::format("{} in a graph", what),
        "a graph is straight-line: assignments of calls, then one return");
}

void GraphBuilder::parameters(const FunctionSyntax& function) {
  bool first = true;
  for (const py::Parameter& p : function.parameters) {
    if (p.kind != py::ParameterKind::normal)
      error(Code::unsupported, p.place, "a starred parameter in a graph", "name every input");
    if (std::exchange(first, false) && options_.skip_self && p.name == "self") continue;
    Node node;
    node.kind = NodeKind::placeholder;
    node.name = p.name;
    if (p.annotation != nullptr) node.target = py::print(*p.annotation);
    const NodeId id = add(std::move(node), p.place);
    const Name* known = find_name(p.name);
    if (known != nullptr && known->value.is_node())
      error(Code::name, p.place, fmt::format("parameter '{}' is named twice", p.name));
    frame_->names[p.name] = Name{Value::ref(id)};
  }
}

void GraphBuilder::statement(const py::Stmt& s) {
  switch (s.kind) {
    case py::StmtKind::assign: return assignment(s);
    case py::StmtKind::annotated:
      if (s.value != nullptr) assign(*s.targets[0], value(*s.value));
      return;
    case py::StmtKind::augmented: return augmented(s);
    case py::StmtKind::expression:
      if (s.value->kind != py::ExprKind::string && s.value->kind != py::ExprKind::ellipsis) value(*s.value);
      return;
    case py::StmtKind::return_: return give_back(s.value, s.place);
    case py::StmtKind::pass: return;
    case py::StmtKind::import:
    case py::StmtKind::import_from:
      if (!options_.inner_imports) not_straight(s.place, "this statement");
      return;
    case py::StmtKind::delete_:
      for (const py::Expr* t : s.targets) {
        if (t->kind != py::ExprKind::name) not_straight(t->place, "'del' of anything but a name");
        clear(*t);
      }
      return;
    case py::StmtKind::if_:
      if (const auto test = decided(*s.value)) return body(*test ? s.body : s.orelse);
      not_straight(s.place, "an if");
    case py::StmtKind::for_: return loop(s);
    case py::StmtKind::while_: return while_loop(s);
    case py::StmtKind::break_:
    case py::StmtKind::continue_: left_ = s.kind == py::StmtKind::break_ ? Left::loop : Left::turn; return;
    case py::StmtKind::function:
      if (!in_pattern() || !s.decorators.empty()) not_straight(s.place, "a function");
      frame_->names[s.name] = {own_function(s), 0};
      return;
    case py::StmtKind::assert_:
      if (const auto test = decided(*s.value)) {
        if (!*test) error(Code::graph, s.place, "an assertion of the pattern does not hold");
        return;
      }
      not_straight(s.place, in_pattern() ? "an assertion about a tensor's values" : "this statement");
    case py::StmtKind::class_: not_straight(s.place, "a class");
    default: not_straight(s.place, "this statement");
  }
}

void GraphBuilder::give_back(const py::Expr* result, py::Place place) {
  Value v = result != nullptr ? value(*result) : Value::none();
  done_ = true;
  if (depth_ > 0) {
    returned_ = std::move(v);
    return;
  }
  Node node;
  node.kind = NodeKind::output;
  node.name = "output";
  node.target = "output";
  node.args.push_back(std::move(v));
  seal(node, place);
  add(std::move(node), place);
}

void GraphBuilder::body(const FunctionSyntax& function) {
  if (function.result != nullptr)
    give_back(function.result, function.place);
  else
    body(function.body);
}

void GraphBuilder::body(std::span<const py::Stmt* const> statements) {
  for (const py::Stmt* s : statements) {
    if ((done_ || left_ != Left::nothing) && in_pattern()) return;
    if (done_) error(Code::unsupported, s->place, "a statement after 'return'", "end the function with its return");
    statement(*s);
  }
}

void GraphBuilder::loop(const py::Stmt& s) {
  const auto items = in_pattern() ? items_of(value(*s.value)) : std::nullopt;
  if (!items) not_straight(s.place, "a for loop");
  for (const Value& item : *items) {
    assign(*s.targets[0], item);
    if (!turn(s)) return;
  }
  body(s.orelse);
}

void GraphBuilder::while_loop(const py::Stmt& s) {
  for (;;) {
    const auto again = decided(*s.value);
    if (!again) not_straight(s.place, "a while loop");
    if (!*again) return body(s.orelse);
    if (!turn(s)) return;
  }
}

bool GraphBuilder::turn(const py::Stmt& s) {
  count_turn(s.place);
  body(s.body);
  return std::exchange(left_, Left::nothing) != Left::loop && !done_;
}

void GraphBuilder::count_turn(py::Place place) {
  constexpr std::size_t kMost = 10'000;
  if (++turns_ > kMost) error(Code::limit, place, "the loops of a pattern have too many turns");
}

void GraphBuilder::assignment(const py::Stmt& s) {
  if (s.value->kind == py::ExprKind::none) {
    bool names_only = true;
    for (const py::Expr* t : s.targets) names_only &= t->kind == py::ExprKind::name;
    if (names_only) {
      for (const py::Expr* t : s.targets) clear(*t);
      return;
    }
  }
  const Value v = value(*s.value);
  for (const py::Expr* t : s.targets) assign(*t, v);
}

void GraphBuilder::clear(const py::Expr& name) {
  Name& n = frame_->names[name.text];
  n.value = Value::none();
  n.cleared_at = name.place.line;
}

void GraphBuilder::assign(const py::Expr& target, const Value& v) {
  switch (target.kind) {
    case py::ExprKind::name: {
      if (v.is_node() && graph_.nodes[v.node].name.empty()) graph_.nodes[v.node].name = target.text;
      Name& n = frame_->names[target.text];
      n = {v, 0};
      return;
    }
    case py::ExprKind::subscript: {
      Value object = value(*target.items[0]);
      Value index = value(*target.items[1]);
      if (objects_.set_item(object, index, v)) return;
      if (!object.is_node())
        error(Code::graph, target.place, "items of a literal cannot be assigned", "assign to an item of a tensor");
      call("operator.setitem", target.place, {std::move(object), std::move(index), v});
      return;
    }
    case py::ExprKind::tuple:
    case py::ExprKind::list: unpack(target, v); return;
    default:
      error(Code::unsupported, target.place, "assignment to an attribute in a graph", "assign to a name or an item");
  }
}

void GraphBuilder::unpack(const py::Expr& target, const Value& v) {
  const std::size_t count = target.items.size();
  const auto is_star = [](const py::Expr* e) { return e->kind == py::ExprKind::starred; };
  const auto star = std::find_if(target.items.begin(), target.items.end(), is_star);
  const auto items = items_of(v);
  if (star != target.items.end() && (!items || !in_pattern()))
    error(Code::unsupported, (*star)->place, "a starred target in a graph", "index the value: x[0], x[1]");
  if (items && (star == target.items.end() ? items->size() != count : items->size() + 1 < count))
    error(Code::graph, target.place, fmt::format("{} values for {} targets", items->size(), count));
  const std::size_t extra = items ? items->size() - count : 0;  // of a starred one, less one
  std::size_t at = 0;
  for (const py::Expr* item : target.items) {
    if (is_star(item)) {
      const auto from = items->begin() + static_cast<std::ptrdiff_t>(at);
      at += extra + 1;
      assign(*item->items[0], objects_.make_list({from, items->begin() + static_cast<std::ptrdiff_t>(at)}));
    } else if (items) {
      assign(*item, (*items)[at++]);
    } else {
      const Value index = Value::of(static_cast<std::int64_t>(at++));
      assign(*item, Value::ref(call("operator.getitem", item->place, {v, index})));
    }
  }
}

void GraphBuilder::augmented(const py::Stmt& s) {
  const py::Expr& target = *s.targets[0];
  if (py::op_name(s.op).empty()) not_straight(s.place, "this operator");
  std::string_view plain = py::op_name(s.op);
  if (plain.ends_with('_')) plain.remove_suffix(1);
  const std::string function = fmt::format("operator.i{}", plain);
  const Value old = value(target);
  const Value operand = value(*s.value);
  if (std::vector<Value>* list = s.op == py::Op::add ? objects_.items(old) : nullptr) {  // it grows itself
    if (const auto more = items_of(operand)) {
      list->insert(list->end(), more->begin(), more->end());
      return;
    }
  }
  if (const auto joined = old.is_sequence() ? folded(s.op, old, operand, s.place) : std::nullopt)
    return assign(target, *joined);
  if (target.kind == py::ExprKind::name) {
    if (!old.is_node() && !has_node(old) && !has_node(operand)) {
      if (auto folded = fold_binary(s.op, old, operand)) return assign(target, *folded);
    }
    const NodeId id = call(function, s.place, {old, operand});
    in_place_names_[id] = target.text;  // unless an alias follows
    frame_->names[target.text] = {Value::ref(id), 0};
  } else {
    const NodeId id = call(function, s.place, {old, operand});
    assign(target, Value::ref(id));
  }
}

void GraphBuilder::seal(Node& node, py::Place place) {
  const auto plain = [&](Value& v) {
    if (has_function(v)) not_straight(place, "a function as a value");
    if (objects_.has_dict(v))
      error(Code::unsupported, place, "a dict in a graph", "its items can be keywords: f(x, **options)");
    v = objects_.plain(std::move(v));
  };
  if (!in_pattern()) return;
  for (Value& v : node.args) plain(v);
  for (Kwarg& k : node.kwargs) plain(k.value);
}

NodeId GraphBuilder::add(Node node, py::Place place) {
  if (depth_ > 0) place = inlined_at_;  // a node has a line of the graph's own file
  node.line = place.line;
  node.column = place.column;
  graph_.nodes.push_back(std::move(node));
  return static_cast<NodeId>(graph_.nodes.size() - 1);
}

NodeId GraphBuilder::call(std::string target, py::Place place, std::vector<Value> args, std::vector<Kwarg> kwargs,
                          NodeKind kind) {
  Node node;
  node.kind = kind;
  node.target = std::move(target);
  node.args = std::move(args);
  node.kwargs = std::move(kwargs);
  seal(node, place);
  return add(std::move(node), place);
}

void GraphBuilder::name_the_rest() {
  std::unordered_map<std::string, std::size_t> counts;
  for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
    Node& node = graph_.nodes[id];
    if (!node.name.empty()) continue;
    if (const auto it = in_place_names_.find(id); it != in_place_names_.end()) {
      node.name = it->second;
      continue;
    }
    std::string base = node.target.substr(node.target.rfind('.') + 1);
    while (base.size() > 1 && base.ends_with('_')) base.pop_back();
    if (base == "and" || base == "or" || base == "not" || base == "is") base += '_';  // Python's own words
    const std::size_t count = counts[base]++;
    node.name = count == 0 ? base : fmt::format("{}_{}", base, count);
  }
}

Result<Graph> build_graph(const py::Module& module, const FunctionSyntax& function, const ImportScope& scope,
                          BuildOptions options) {
  return guarded([&] { return GraphBuilder(module, scope, std::move(options)).run(function); });
}

}  // namespace passnet
