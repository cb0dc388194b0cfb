#include "fx/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <unordered_map>

#include "base/text.h"
#include "fx/literals.h"
#include "fx/traced_objects.h"
#include "py/printer.h"

namespace passnet {

namespace {

std::string_view operator_name(py::Op op) {
  switch (op) {
    case py::Op::add: return "add";
    case py::Op::sub: return "sub";
    case py::Op::mul: return "mul";
    case py::Op::div: return "truediv";
    case py::Op::floor_div: return "floordiv";
    case py::Op::mod: return "mod";
    case py::Op::pow: return "pow";
    case py::Op::mat_mul: return "matmul";
    case py::Op::bit_and: return "and_";
    case py::Op::bit_or: return "or_";
    case py::Op::bit_xor: return "xor";
    case py::Op::shift_left: return "lshift";
    case py::Op::shift_right: return "rshift";
    case py::Op::neg: return "neg";
    case py::Op::pos: return "pos";
    case py::Op::invert: return "invert";
    case py::Op::not_: return "not_";
    case py::Op::lt: return "lt";
    case py::Op::le: return "le";
    case py::Op::gt: return "gt";
    case py::Op::ge: return "ge";
    case py::Op::eq: return "eq";
    case py::Op::ne: return "ne";
    case py::Op::is: return "is_";
    case py::Op::is_not: return "is_not";
    default: return "";
  }
}

// Python's own functions that a graph may call on sizes and numbers.
bool is_builtin(std::string_view name) {
  for (const std::string_view known : {"len", "int", "float", "bool", "max", "min", "abs", "sum"})
    if (name == known) return true;
  return false;
}

// And those that are Python's alone while a pattern is traced.
constexpr std::string_view kPythonCalls[] = {"list", "tuple",     "dict", "range", "len",
                                             "sum",  "enumerate", "zip",  "map",   "reversed"};

class Builder {
 public:
  Builder(const py::Module& module, const ImportScope& scope, BuildOptions options)
      : module_(&module), scope_(&scope), options_(std::move(options)) {
    graph_.file = module.file();
  }

  Graph run(const FunctionSyntax& function) {
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

 private:
  struct Name {
    Value value;
    std::uint32_t cleared_at = 0;  // the line of `x = None`
  };
  using Names = std::unordered_map<std::string_view, Name>;
  // The variables of one call; those of the function around it are seen too.
  struct Frame {
    Names names;
    Frame* around = nullptr;
  };
  // A function of the pattern's own: a lambda, or a def inside. What its names mean is what they mean around it.
  struct OwnFunction {
    FunctionSyntax syntax;
    Frame* around = nullptr;
    const InlinedFunction* file = nullptr;  // a function of the folder instead
    const py::Module* module = nullptr;
    const ImportScope* scope = nullptr;
    BuildOptions options = {};
  };

  Name* find_name(std::string_view text) const {
    for (Frame* f = frame_; f != nullptr; f = f->around)
      if (const auto it = f->names.find(text); it != f->names.end()) return &it->second;
    return nullptr;
  }
  void give(const BuildOptions& options) {
    for (const auto& [name, value] : options.given) frame_->names[name].value = value;
  }

  [[noreturn]] void error(Code code, py::Place place, std::string message, std::string note = {}) const {
    Error e{code, module_->where(place), std::move(message), {}};
    if (!note.empty()) e.notes.push_back(std::move(note));
    fail(std::move(e));
  }
  [[noreturn]] void not_straight(py::Place place, std::string_view what) const {
    error(Code::unsupported, place, fmt::format("{} in a graph", what),
          "a graph is straight-line: assignments of calls, then one return");
  }

  // ---- statements
  void parameters(const FunctionSyntax& function) {
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

  void statement(const py::Stmt& s) {
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

  void give_back(const py::Expr* result, py::Place place) {
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

  void body(const FunctionSyntax& function) {
    if (function.result != nullptr)
      give_back(function.result, function.place);
    else
      body(function.body);
  }

  void body(std::span<const py::Stmt* const> statements) {
    for (const py::Stmt* s : statements) {
      if ((done_ || left_ != Left::nothing) && in_pattern()) return;
      if (done_) error(Code::unsupported, s->place, "a statement after 'return'", "end the function with its return");
      statement(*s);
    }
  }

  // ---- what tracing decides before there is a graph: only patterns have it
  bool in_pattern() const { return options_.evaluate != nullptr; }

  // A condition that no tensor decides; nothing where one does.
  std::optional<bool> decided(const py::Expr& e) {
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
  static std::optional<bool> truth(const Value& v) {
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
  // A name's value, None included, which elsewhere stands for a name that was cleared.
  Value given(const py::Expr& e) {
    const Name* known = e.kind == py::ExprKind::name ? find_name(e.text) : nullptr;
    return known != nullptr ? objects_.current(known->value) : value(e);
  }

  // A loop over numbers, a list or a dict.
  void loop(const py::Stmt& s) {
    const auto items = in_pattern() ? items_of(value(*s.value)) : std::nullopt;
    if (!items) not_straight(s.place, "a for loop");
    for (const Value& item : *items) {
      assign(*s.targets[0], item);
      if (!turn(s)) return;
    }
    body(s.orelse);
  }

  void while_loop(const py::Stmt& s) {
    for (;;) {
      const auto again = decided(*s.value);
      if (!again) not_straight(s.place, "a while loop");
      if (!*again) return body(s.orelse);
      if (!turn(s)) return;
    }
  }

  // Whether the loop goes on.
  bool turn(const py::Stmt& s) {
    count_turn(s.place);
    body(s.body);
    return std::exchange(left_, Left::nothing) != Left::loop && !done_;
  }

  void count_turn(py::Place place) {
    constexpr std::size_t kMost = 10'000;
    if (++turns_ > kMost) error(Code::limit, place, "the loops of a pattern have too many turns");
  }

  // What a loop goes through; nothing for a node, which tracing cannot take apart.
  std::optional<std::vector<Value>> items_of(const Value& v) {
    if (v.is_sequence()) return v.items;
    const TracedObjects::Dict* dict = objects_.dict(v);
    if (dict == nullptr) return std::nullopt;
    std::vector<Value> keys;
    for (const auto& [key, held] : *dict) keys.push_back(key);
    return keys;
  }

  void assignment(const py::Stmt& s) {
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

  void clear(const py::Expr& name) {
    Name& n = frame_->names[name.text];
    n.value = Value::none();
    n.cleared_at = name.place.line;
  }

  void assign(const py::Expr& target, const Value& v) {
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

  void unpack(const py::Expr& target, const Value& v) {
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

  void augmented(const py::Stmt& s) {
    const py::Expr& target = *s.targets[0];
    if (operator_name(s.op).empty()) not_straight(s.place, "this operator");
    std::string_view plain = operator_name(s.op);
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
    if (const auto joined = old.is_sequence() ? folded(s.op, old, operand) : std::nullopt)
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

  // ---- expressions
  static bool has_node(const Value& v) {
    bool found = false;
    value_nodes(v, [&](NodeId) { found = true; });
    return found;
  }

  // What Python computes before the call: of numbers, strings and tuples of them.
  std::optional<Value> evaluated(const py::Expr& e) {
    BuildOptions::Variables variables;
    if (!in_pattern() || !known_variables(e, variables)) return std::nullopt;
    auto v = options_.evaluate(e, variables);
    if (v && v->kind == ValueKind::list && e.kind != py::ExprKind::name && e.kind != py::ExprKind::attribute &&
        e.kind != py::ExprKind::subscript)
      return objects_.make_list(std::move(v->items));
    return v;
  }

  // The variables that are named anywhere in the expression; false where one is, or holds, more than a literal.
  bool known_variables(const py::Expr& e, BuildOptions::Variables& out) const {
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
  static bool is_literal(const Value& v) {
    if (v.kind == ValueKind::tuple) return std::all_of(v.items.begin(), v.items.end(), is_literal);
    return v.kind == ValueKind::none || v.kind == ValueKind::string || v.is_number();
  }

  Value value(const py::Expr& e) {
    Value v = value_of(e);
    if (in_pattern() && !v.items.empty()) check_size(v, e.place);
    return v;
  }

  // Lists of lists double without end.
  void check_size(const Value& v, py::Place place) const {
    constexpr std::size_t kMost = 20'000;
    std::size_t leaves = 0;
    const auto count = [&](const auto& self, const Value& part) -> void {
      if (++leaves > kMost) error(Code::limit, place, "a list of the pattern grows too long");
      for (const Value& item : part.items) self(self, item);
    };
    count(count, v);
  }

  Value value_of(const py::Expr& e) {
    const bool literal = e.kind <= py::ExprKind::slice && e.kind != py::ExprKind::fstring &&
                         e.kind != py::ExprKind::call && e.kind != py::ExprKind::subscript &&
                         e.kind != py::ExprKind::attribute;
    if (!literal)
      if (auto v = evaluated(e)) return *v;
    switch (e.kind) {
      case py::ExprKind::none: return Value::none();
      case py::ExprKind::boolean: return Value::boolean(e.integer != 0);
      case py::ExprKind::integer: return Value::of(e.integer);
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

  Value logic(const py::Expr& e) {
    for (const py::Expr* item : e.items) {
      Value v = value(*item);
      if (item == e.items.back()) return v;
      const auto known = truth(v);
      if (!known) not_straight(item->place, fmt::format("'{}' of a tensor", py::op_text(e.op)));
      if (*known != (e.op == py::Op::and_)) return v;
    }
    return {};
  }

  Value dict(const py::Expr& e) {
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

  Value comprehension(const py::Expr& e) {
    Frame* around = std::exchange(frame_, &frames_.emplace_back(Frame{{}, frame_}));  // its variables stay inside
    std::vector<Value> out;
    comprehend(e, 0, out);
    frame_ = around;
    if (e.kind != py::ExprKind::dict_comp) return objects_.make_list(std::move(out));
    Value made = objects_.make_dict({});
    for (std::size_t i = 0; i + 1 < out.size(); i += 2) objects_.set_item(made, out[i], out[i + 1]);
    return made;
  }

  void comprehend(const py::Expr& e, std::size_t clause, std::vector<Value>& out) {
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

  // ---- functions as values: constants that no path is spelled like
  Value own_function(const FunctionSyntax& syntax) {
    functions_.push_back({syntax, frame_, nullptr, module_, scope_, options_});
    return Value::constant(fmt::format("function {}", functions_.size() - 1));
  }
  Value own_function(const InlinedFunction& file) {
    functions_.push_back({file.syntax, nullptr, &file, nullptr, nullptr, {}});
    return Value::constant(fmt::format("function {}", functions_.size() - 1));
  }
  const OwnFunction* own_function(const Value& v) const {
    constexpr std::string_view kMark = "function ";
    if (v.kind != ValueKind::constant || !v.text.starts_with(kMark)) return nullptr;
    return &functions_[static_cast<std::size_t>(std::stoul(v.text.substr(kMark.size())))];
  }
  bool has_function(const Value& v) const {
    return own_function(v) != nullptr ||
           std::any_of(v.items.begin(), v.items.end(), [&](const Value& item) { return has_function(item); });
  }
  // A node holds plain values.
  void seal(Node& node, py::Place place) {
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

  Value sequence(ValueKind kind, const py::Expr& e) {
    std::vector<Value> items;
    items.reserve(e.items.size());
    for (const py::Expr* item : e.items) add_item(*item, "a starred item in a graph", "write the items out", items);
    return kind == ValueKind::list && in_pattern() ? objects_.make_list(std::move(items))
                                                   : Value::sequence(kind, std::move(items));
  }

  // An item or an argument; a starred one stands for the items of a list that is written out.
  void add_item(const py::Expr& e, std::string_view what, std::string_view remedy, std::vector<Value>& out) {
    if (e.kind != py::ExprKind::starred) {
      out.push_back(value(e));
      return;
    }
    const auto many = in_pattern() ? items_of(value(*e.items[0])) : std::nullopt;
    if (!many) error(Code::unsupported, e.place, std::string(what), std::string(remedy));
    out.insert(out.end(), many->begin(), many->end());
  }

  Value name(const py::Expr& e) {
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

  // A dotted path that is not called: a dtype, a layout, a number of math or torch.
  Value constant(const py::Expr& e, const std::string& path) const {
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

  Value attribute(const py::Expr& e) {
    if (!is_local(e)) {
      const std::string path = scope_->resolve(e);
      if (!path.empty()) return constant(e, path);
    }
    Value object = value(*e.items[0]);
    if (object.kind == ValueKind::constant) return constant(e, object.text + "." + std::string(e.text));
    return Value::ref(call("getattr", e.place, {std::move(object), Value::string(std::string(e.text))}));
  }

  // Whether the root of a dotted expression is a variable of the graph (which hides an import of that name).
  bool is_local(const py::Expr& e) const {
    const py::Expr* root = &e;
    while (root->kind == py::ExprKind::attribute) root = root->items[0];
    return root->kind != py::ExprKind::name || find_name(root->text) != nullptr;
  }

  Value unary(const py::Expr& e) {
    Value operand = value(*e.items[0]);
    if (auto folded = fold_unary(e.op, operand)) return *folded;
    return Value::ref(call(fmt::format("operator.{}", operator_name(e.op)), e.place, {std::move(operand)}));
  }

  Value binary(py::Op op, const py::Expr& e) {
    if (operator_name(op).empty() && !in_pattern()) not_straight(e.place, fmt::format("'{}'", py::op_text(op)));
    Value left = value(*e.items[0]);
    Value right = value(*e.items[1]);
    if (auto known = folded(op, left, right)) return *known;
    if (operator_name(op).empty()) not_straight(e.place, fmt::format("'{}'", py::op_text(op)));
    return Value::ref(
        call(fmt::format("operator.{}", operator_name(op)), e.place, {std::move(left), std::move(right)}));
  }

  // What Python computes: numbers, and lists, whatever their items are.
  std::optional<Value> folded(py::Op op, const Value& left, const Value& right) {
    if (!left.is_sequence() && (has_node(left) || has_node(right))) return std::nullopt;
    if (!in_pattern()) return has_node(left) || has_node(right) ? std::nullopt : fold_binary(op, left, right);
    const Value a = objects_.plain(left), b = objects_.plain(right);
    if (const auto answer = fold_compare(op, a, b)) return Value::boolean(*answer);
    auto out = fold_binary(op, a, b);
    return out && out->kind == ValueKind::list ? objects_.make_list(std::move(out->items)) : out;
  }

  Value written_call(const py::Expr& e) {
    const py::Expr& callee = *e.items[0];
    const bool local = is_local(callee);
    std::string path = local ? std::string() : scope_->resolve(callee);
    if (path.empty() && !local && options_.function)
      if (const InlinedFunction* f = options_.function(callee)) return inlined_call({f->syntax, nullptr, f}, e);
    if (path.empty() && in_pattern() && (local ? is_called_value(callee) : callee.kind == py::ExprKind::lambda)) {
      const Value called = value(callee);
      if (const OwnFunction* f = own_function(called)) return inlined_call(*f, e);
      if (called.kind == ValueKind::constant) path = called.text;
    }
    if (path.empty() && callee.kind == py::ExprKind::name) {
      if (in_pattern() && !local)
        if (auto v = python_call(callee.text, e)) return *v;
      if (is_builtin(callee.text))
        path = "builtins." + std::string(callee.text);
      else if (callee.text == "slice" || callee.text == "getattr" || callee.text == "device")
        path = callee.text;
      else
        error(Code::name, callee.place, fmt::format("'{}' is not defined", callee.text),
              "a graph calls torch.*, operator.* and methods");
    }
    std::vector<Value> args;
    if (path.empty()) {
      if (callee.kind != py::ExprKind::attribute) not_straight(callee.place, "this call");
      Value object = value(*callee.items[0]);
      if (auto v = in_pattern() ? method_call(object, callee.text, e) : std::nullopt) return *v;
      if (object.kind == ValueKind::constant)
        path = object.text + "." + std::string(callee.text);  // an alias of torch.f
      else
        args.push_back(std::move(object));
    }
    std::vector<Kwarg> kwargs;
    arguments(e, args, kwargs);
    if (path.empty())
      return Value::ref(
          call(std::string(callee.text), e.place, std::move(args), std::move(kwargs), NodeKind::call_method));
    if (auto v = literal_call(path, e, args, kwargs)) return *v;
    return Value::ref(call(std::move(path), e.place, std::move(args), std::move(kwargs)));
  }

  // FUNCTIONS[0](x), f(x) of a variable: what is called is a value.
  bool is_called_value(const py::Expr& callee) const {
    if (callee.kind != py::ExprKind::name)
      return callee.kind == py::ExprKind::subscript || callee.kind == py::ExprKind::lambda;
    const Name* known = find_name(callee.text);
    return known != nullptr && known->value.kind == ValueKind::constant;
  }

  void arguments(const py::Expr& e, std::vector<Value>& args, std::vector<Kwarg>& kwargs) {
    for (const py::Expr* item : e.items.subspan(1))
      add_item(*item, "a starred argument in a graph", "write the arguments out", args);
    for (const py::Keyword& k : e.keywords) {
      if (k.name.empty())
        add_keywords(k, kwargs);
      else
        kwargs.push_back({std::string(k.name), value(*k.value)});
    }
  }

  void add_keywords(const py::Keyword& k, std::vector<Kwarg>& kwargs) {
    const Value v = in_pattern() ? value(*k.value) : Value::none();
    const TracedObjects::Dict* dict = objects_.dict(v);
    if (dict == nullptr) error(Code::unsupported, k.place, "'**' in a graph", "write the keywords out");
    for (const auto& [key, held] : *dict) {
      if (key.kind != ValueKind::string) error(Code::argument, k.place, "keywords must be strings");
      kwargs.push_back({key.text, objects_.current(held)});
    }
  }

  // ---- Python's own functions and methods, on lists and dicts
  std::optional<Value> python_call(std::string_view name, const py::Expr& e) {
    if (std::none_of(std::begin(kPythonCalls), std::end(kPythonCalls), [&](auto known) { return known == name; }))
      return std::nullopt;
    std::vector<Value> args;
    std::vector<Kwarg> kwargs;
    arguments(e, args, kwargs);
    const auto items = [&](std::size_t i) {
      auto out = i < args.size() ? items_of(args[i]) : std::nullopt;
      if (!out) error(Code::graph, e.place, fmt::format("{}() of a value that has no items while tracing", name));
      return *out;
    };
    if (name == "dict") {
      Value out = objects_.make_dict({});
      if (!args.empty()) {
        if (const TracedObjects::Dict* other = objects_.dict(args[0])) {
          out = objects_.make_dict(TracedObjects::Dict(*other));
        } else {
          for (const Value& pair : items(0))
            if (pair.items.size() == 2) objects_.set_item(out, pair.items[0], pair.items[1]);
        }
      }
      for (const Kwarg& k : kwargs) objects_.set_item(out, Value::string(k.name), k.value);
      return out;
    }
    if (name == "list" && args.empty()) return objects_.make_list({});
    if (name == "list") return objects_.make_list(items(0));
    if (name == "tuple") return Value::sequence(ValueKind::tuple, args.empty() ? std::vector<Value>{} : items(0));
    if (name == "range") return range(args, e.place);
    if (name == "len" || name == "sum") {
      const auto counted = args.empty() ? std::nullopt : items_of(args[0]);
      if (!counted)  // of a node: a node
        return Value::ref(call(fmt::format("builtins.{}", name), e.place, std::move(args), std::move(kwargs)));
      if (name == "len") return Value::of(static_cast<std::int64_t>(counted->size()));
      Value total = args.size() > 1 ? args[1] : kwargs.empty() ? Value::of(std::int64_t{0}) : kwargs[0].value;
      for (const Value& v : *counted) {
        const auto known = folded(py::Op::add, total, v);
        total = known ? *known : Value::ref(call("operator.add", e.place, {total, v}));
      }
      return total;
    }
    std::vector<Value> out;
    if (name == "reversed") {
      out = items(0);
      std::reverse(out.begin(), out.end());
    } else if (name == "enumerate") {
      const Value* start = args.size() > 1 ? &args[1] : kwargs.empty() ? nullptr : &kwargs[0].value;
      std::int64_t number = start == nullptr ? 0 : start->integer;
      for (const Value& v : items(0)) out.push_back(Value::sequence(ValueKind::tuple, {Value::of(number++), v}));
    } else {  // zip, map
      const std::size_t first = name == "map" ? 1 : 0;
      std::vector<std::vector<Value>> rows;
      for (std::size_t i = first; i < args.size(); ++i) rows.push_back(items(i));
      std::size_t count = rows.empty() ? 0 : rows[0].size();
      for (const auto& row : rows) count = std::min(count, row.size());
      for (std::size_t i = 0; i < count; ++i) {
        std::vector<Value> together;
        for (const auto& row : rows) together.push_back(row[i]);
        count_turn(e.place);
        out.push_back(name == "zip" ? Value::sequence(ValueKind::tuple, std::move(together))
                                    : call_value(args[0], std::move(together), e));
      }
    }
    return objects_.make_list(std::move(out));
  }

  Value range(const std::vector<Value>& args, py::Place place) {
    constexpr std::size_t kLongest = 10'000;
    for (const Value& v : args)
      if (v.kind != ValueKind::integer) not_straight(place, "a range that a tensor decides");
    if (args.empty() || args.size() > 3 || (args.size() == 3 && args[2].integer == 0))
      error(Code::argument, place, "range() takes one to three integers, its step not zero");
    const std::int64_t begin = args.size() > 1 ? args[0].integer : 0, end = args[args.size() > 1 ? 1 : 0].integer,
                       by = args.size() > 2 ? args[2].integer : 1;
    std::vector<Value> out;
    for (std::int64_t i = begin; by > 0 ? i < end : i > end;) {
      if (out.size() >= kLongest) error(Code::limit, place, "the loops of a pattern have too many turns");
      out.push_back(Value::of(i));
      if (__builtin_add_overflow(i, by, &i)) break;
    }
    return Value::sequence(ValueKind::list, std::move(out));
  }

  Value call_value(const Value& callee, std::vector<Value> args, const py::Expr& e) {
    if (const OwnFunction* f = own_function(callee)) return inlined_call(*f, std::move(args), {}, e);
    if (callee.kind != ValueKind::constant || objects_.has_dict(callee)) not_straight(e.place, "this call");
    return Value::ref(call(callee.text, e.place, std::move(args)));
  }

  std::optional<Value> method_call(const Value& object, std::string_view name, const py::Expr& e) {
    if (!object.is_sequence() && objects_.dict(object) == nullptr) return std::nullopt;
    std::vector<Value> args;
    std::vector<Kwarg> kwargs;
    arguments(e, args, kwargs);
    for (Value& arg : args)
      if (const auto many = name == "extend" ? items_of(arg) : std::nullopt)
        arg = Value::sequence(ValueKind::list, *many);
    auto out = objects_.method(object, name, args, kwargs);
    if (!out)
      error(Code::unsupported, e.place,
            fmt::format("'.{}()' of a {} in a pattern", name, object.is_sequence() ? "list or a tuple" : "dict"),
            "lists that the pattern made have append, extend, insert, pop, reverse, clear and copy, dicts have keys, "
            "values, items, get, update and pop");
    return out;
  }

  Value inlined_call(const OwnFunction& called, const py::Expr& e) {
    std::vector<Value> args;
    std::vector<Kwarg> kwargs;
    arguments(e, args, kwargs);
    return inlined_call(called, args, kwargs, e);
  }

  Value inlined_call(const OwnFunction& called, const std::vector<Value>& args, const std::vector<Kwarg>& kwargs,
                     const py::Expr& e) {
    constexpr int kDeepest = 20;
    constexpr std::size_t kMostNodes = 20'000;
    if (depth_ >= kDeepest || graph_.nodes.size() > kMostNodes)
      error(Code::limit, e.place, fmt::format("'{}' calls functions too deeply", py::print(*e.items[0])),
            "a pattern is straight-line");
    if (depth_++ == 0) inlined_at_ = e.place;
    const OwnFunction f = called;  // more of them may be made
    const bool file = f.file != nullptr;
    Frame* caller = std::exchange(frame_, &frames_.emplace_back(Frame{{}, f.around}));
    const py::Module* module = std::exchange(module_, file ? f.file->module : f.module);
    const ImportScope* scope = std::exchange(scope_, file ? &f.file->scope : f.scope);
    BuildOptions options = std::exchange(options_, file ? f.file->options : f.options);
    if (file) give(options_);
    if (const std::string problem = bind(f.syntax, args, kwargs); !problem.empty()) {
      module_ = module;
      error(Code::argument, e.place, problem);
    }
    body(f.syntax);
    module_ = module;
    scope_ = scope;
    options_ = std::move(options);
    frame_ = caller;
    --depth_;
    done_ = false;
    return std::exchange(returned_, Value::none());
  }

  // The parameters of an inlined function become names; what is wrong with the call, or "".
  std::string bind(const FunctionSyntax& function, const std::vector<Value>& args, const std::vector<Kwarg>& kwargs) {
    std::size_t next = 0, used = 0;
    for (const py::Parameter& p : function.parameters) {
      const bool normal = p.kind == py::ParameterKind::normal;
      const auto kw = std::find_if(kwargs.begin(), kwargs.end(), [&](const Kwarg& k) { return k.name == p.name; });
      if (p.kind == py::ParameterKind::var_positional) {
        frame_->names[p.name].value = Value::sequence(
            ValueKind::tuple, {args.begin() + static_cast<std::ptrdiff_t>(std::min(next, args.size())), args.end()});
        next = args.size();
      } else if (p.kind == py::ParameterKind::var_keyword) {
        TracedObjects::Dict rest;
        for (const Kwarg& k : kwargs)
          if (std::none_of(function.parameters.begin(), function.parameters.end(),
                           [&](const py::Parameter& other) { return other.name == k.name; }))
            rest.emplace_back(Value::string(k.name), k.value);
        used += rest.size();
        frame_->names[p.name].value = objects_.make_dict(std::move(rest));
      } else if (normal && !p.keyword_only && next < args.size()) {
        frame_->names[p.name].value = args[next++];
      } else if (normal && kw != kwargs.end()) {
        frame_->names[p.name].value = kw->value;
        ++used;
      } else if (normal && p.default_value != nullptr) {
        frame_->names[p.name].value = value(*p.default_value);
      } else {
        return fmt::format("'{}' is called without '{}'", function.name, p.name);
      }
    }
    return next < args.size() || used < kwargs.size()
               ? fmt::format("'{}' is called with more than it takes", function.name)
               : std::string();
  }

  // slice(...), float('inf'), device(...): calls that spell a literal.
  std::optional<Value> literal_call(const std::string& path, const py::Expr& e, const std::vector<Value>& args,
                                    const std::vector<Kwarg>& kwargs) const {
    if (path == "slice") {
      if (args.empty() || args.size() > 3 || !kwargs.empty())
        error(Code::argument, e.place, "slice takes one to three positional arguments");
      std::vector<Value> items = args.size() == 1 ? std::vector<Value>{Value::none(), args[0]} : args;
      items.resize(3);
      return Value::sequence(ValueKind::slice, std::move(items));
    }
    if (path == "builtins.float" && args.size() == 1 && args[0].kind == ValueKind::string) {
      const std::string_view t = args[0].text;
      const bool minus = t.starts_with('-');
      const std::string_view word = minus || t.starts_with('+') ? t.substr(1) : t;
      if (word == "inf" || word == "Infinity" || word == "infinity") return Value::of(minus ? -HUGE_VAL : HUGE_VAL);
      if (word == "nan") return Value::of(std::nan(""));
      error(Code::argument, e.place, fmt::format("float({}) is no number we know", python_string(t)),
            "write the number, float('inf') or float('nan')");
    }
    if (path == "builtins.float" && args.size() == 1 && args[0].is_number())
      return Value::of(args[0].kind == ValueKind::real ? args[0].real : static_cast<double>(args[0].integer));
    if (path == "torch.device" || path == "device") return device(e, args, kwargs);
    if (path.starts_with("math.") && kwargs.empty()) return fold_math(path.substr(5), args);
    return std::nullopt;
  }

  Value device(const py::Expr& e, std::vector<Value> args, const std::vector<Kwarg>& kwargs) const {
    for (const Kwarg& k : kwargs) {
      if (k.name != "type" && k.name != "index")
        error(Code::argument, e.place, fmt::format("device() has no keyword '{}'", k.name));
      args.resize(std::max<std::size_t>(args.size(), k.name == "type" ? 1 : 2));
      args[k.name == "type" ? 0 : 1] = k.value;
    }
    if (args.empty() || args.size() > 2 || args[0].kind != ValueKind::string)
      error(Code::argument, e.place, "device() takes a type such as 'cpu' and an index");
    std::string type = args[0].text;
    std::int64_t index = args.size() == 2 && args[1].kind == ValueKind::integer ? args[1].integer : -1;
    if (const auto colon = type.find(':'); colon != std::string::npos) {
      index = 0;
      if (colon + 1 == type.size()) error(Code::argument, e.place, fmt::format("'{}' is no device", type));
      for (const char c : type.substr(colon + 1)) {
        if (c < '0' || c > '9' || index > 1000) error(Code::argument, e.place, fmt::format("'{}' is no device", type));
        index = index * 10 + (c - '0');
      }
      type.resize(colon);
    }
    return Value::device(std::move(type), index);
  }

  // ---- nodes
  NodeId add(Node node, py::Place place) {
    if (depth_ > 0) place = inlined_at_;  // a node has a line of the graph's own file
    node.line = place.line;
    node.column = place.column;
    graph_.nodes.push_back(std::move(node));
    return static_cast<NodeId>(graph_.nodes.size() - 1);
  }

  NodeId call(std::string target, py::Place place, std::vector<Value> args, std::vector<Kwarg> kwargs = {},
              NodeKind kind = NodeKind::call_function) {
    Node node;
    node.kind = kind;
    node.target = std::move(target);
    node.args = std::move(args);
    node.kwargs = std::move(kwargs);
    seal(node, place);
    return add(std::move(node), place);
  }

  // A node that no variable named is called after its target, as torch.fx does: add, add_1, add_2.
  void name_the_rest() {
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
      if (base == "and" || base == "or" || base == "not" || base == "is") base += '_';  // Python's own words
      const std::size_t count = counts[base]++;
      node.name = count == 0 ? base : fmt::format("{}_{}", base, count);
    }
  }

  const py::Module* module_;
  const ImportScope* scope_;
  BuildOptions options_;
  Graph graph_;
  std::deque<Frame> frames_ = std::deque<Frame>(1);  // of every call: a function may outlive the one it was made in
  Frame* frame_ = &frames_.front();
  std::deque<OwnFunction> functions_;
  TracedObjects objects_;
  std::unordered_map<NodeId, std::string_view> in_place_names_;
  bool done_ = false;
  enum class Left : std::uint8_t { nothing, turn, loop } left_ = Left::nothing;  // by continue, by break
  std::size_t turns_ = 0;                                                        // of loops
  int depth_ = 0;                                                                // of inlined functions
  py::Place inlined_at_;
  Value returned_;  // by the innermost of them
};

}  // namespace

Result<Graph> build_graph(const py::Module& module, const FunctionSyntax& function, const ImportScope& scope,
                          BuildOptions options) {
  return guarded([&] { return Builder(module, scope, std::move(options)).run(function); });
}

}  // namespace passnet
