#include "fx/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/text.h"
#include "fx/literals.h"
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

class Builder {
 public:
  Builder(const py::Module& module, const ImportScope& scope, BuildOptions options)
      : module_(&module), scope_(&scope), options_(std::move(options)) {
    graph_.file = module.file();
  }

  Graph run(const py::Stmt& function) {
    graph_.nodes.reserve(function.body.size() + function.parameters.size());
    names_.reserve(function.body.size() + function.parameters.size());
    parameters(function);
    body(function.body);
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
  void parameters(const py::Stmt& function) {
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
      if (!names_.try_emplace(p.name, Name{Value::ref(id)}).second)
        error(Code::name, p.place, fmt::format("parameter '{}' is named twice", p.name));
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
      case py::StmtKind::return_: {
        if (depth_ > 0) {
          returned_ = s.value != nullptr ? value(*s.value) : Value::none();
          done_ = true;
          return;
        }
        Node node;
        node.kind = NodeKind::output;
        node.name = "output";
        node.target = "output";
        node.args.push_back(s.value != nullptr ? value(*s.value) : Value::none());
        add(std::move(node), s.place);
        done_ = true;
        return;
      }
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
        if (const auto truth = decided(*s.value)) return body(*truth ? s.body : s.orelse);
        not_straight(s.place, "an if");
      case py::StmtKind::for_: return loop(s);
      case py::StmtKind::while_: not_straight(s.place, "a while loop");
      case py::StmtKind::function: not_straight(s.place, "a function");
      case py::StmtKind::class_: not_straight(s.place, "a class");
      default: not_straight(s.place, "this statement");
    }
  }

  void body(std::span<const py::Stmt* const> statements) {
    for (const py::Stmt* s : statements) {
      if (done_ && in_pattern()) return;
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
    const bool is = e.kind == py::ExprKind::compare && e.ops.size() == 1 && e.items[1]->kind == py::ExprKind::none &&
                    (e.ops[0] == py::Op::is || e.ops[0] == py::Op::is_not);
    if (is) return (given(*e.items[0]).kind == ValueKind::none) == (e.ops[0] == py::Op::is);
    if (e.kind != py::ExprKind::name && names_variable(e)) return std::nullopt;
    const Value v = given(e);
    switch (v.kind) {
      case ValueKind::none: return false;
      case ValueKind::boolean:
      case ValueKind::integer: return v.integer != 0;
      case ValueKind::real: return v.real != 0;
      default: return std::nullopt;
    }
  }
  // A name's value, None included, which elsewhere stands for a name that was cleared.
  Value given(const py::Expr& e) {
    const auto it = e.kind == py::ExprKind::name ? names_.find(e.text) : names_.end();
    return it != names_.end() ? it->second.value : value(e);
  }

  // A loop over numbers or over a list that is written out.
  void loop(const py::Stmt& s) {
    constexpr std::size_t kLongest = 1000;
    const Value items = in_pattern() ? value(*s.value) : Value::none();
    if (!items.is_sequence() || items.kind == ValueKind::slice || !s.orelse.empty() || items.items.size() > kLongest)
      not_straight(s.place, "a for loop");
    for (const Value& item : items.items) {
      if (++turns_ > 10 * kLongest) error(Code::limit, s.place, "the loops of a pattern have too many turns");
      assign(*s.targets[0], item);
      body(s.body);
      if (done_) return;
    }
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
    Name& n = names_[name.text];
    n.value = Value::none();
    n.cleared_at = name.place.line;
  }

  void assign(const py::Expr& target, const Value& v) {
    switch (target.kind) {
      case py::ExprKind::name: {
        if (v.is_node() && graph_.nodes[v.node].name.empty()) graph_.nodes[v.node].name = target.text;
        Name& n = names_[target.text];
        n.value = v;
        n.cleared_at = 0;
        return;
      }
      case py::ExprKind::subscript: {
        Value object = value(*target.items[0]);
        Value index = value(*target.items[1]);
        if (!object.is_node())
          error(Code::graph, target.place, "items of a literal cannot be assigned", "assign to an item of a tensor");
        call("operator.setitem", target.place, {std::move(object), std::move(index), v});
        return;
      }
      case py::ExprKind::tuple:
      case py::ExprKind::list:
        if (v.is_sequence() && v.items.size() != target.items.size())
          error(Code::graph, target.place,
                fmt::format("{} values for {} targets", v.items.size(), target.items.size()));
        for (std::size_t i = 0; i < target.items.size(); ++i) {
          const py::Expr& item = *target.items[i];
          if (item.kind == py::ExprKind::starred)
            error(Code::unsupported, item.place, "a starred target in a graph", "index the value: x[0], x[1]");
          if (v.is_sequence())
            assign(item, v.items[i]);
          else
            assign(item,
                   Value::ref(call("operator.getitem", item.place, {v, Value::of(static_cast<std::int64_t>(i))})));
        }
        return;
      default:
        error(Code::unsupported, target.place, "assignment to an attribute in a graph", "assign to a name or an item");
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
    if (target.kind == py::ExprKind::name) {
      if (!old.is_node() && !has_node(old) && !has_node(operand)) {
        if (auto folded = fold_binary(s.op, old, operand)) return assign(target, *folded);
      }
      const NodeId id = call(function, s.place, {old, operand});
      in_place_names_[id] = target.text;  // unless an alias follows
      names_[target.text] = {Value::ref(id), 0};
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

  // Whether a variable of the function is named anywhere in the expression.
  bool names_variable(const py::Expr& e) const {
    if (e.kind == py::ExprKind::name && names_.contains(e.text)) return true;
    for (const py::Expr* item : e.items)
      if (item != nullptr && names_variable(*item)) return true;
    for (const py::Keyword& k : e.keywords)
      if (names_variable(*k.value)) return true;
    for (const py::Clause& c : e.clauses())
      if (names_variable(*c.iterable)) return true;
    return false;
  }

  Value value(const py::Expr& e) {
    const bool literal = e.kind <= py::ExprKind::slice && e.kind != py::ExprKind::fstring &&
                         e.kind != py::ExprKind::call && e.kind != py::ExprKind::subscript &&
                         e.kind != py::ExprKind::attribute;
    if (options_.evaluate && !literal && !names_variable(e))
      if (auto v = options_.evaluate(e)) return *v;
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
        if (object.is_sequence() && index.kind == ValueKind::integer) {  // of a literal: an item of it
          const auto n = static_cast<std::int64_t>(object.items.size());
          if (index.integer >= -n && index.integer < n)
            return object.items[static_cast<std::size_t>(index.integer < 0 ? index.integer + n : index.integer)];
        }
        return Value::ref(call("operator.getitem", e.place, {std::move(object), std::move(index)}));
      }
      case py::ExprKind::unary: return unary(e);
      case py::ExprKind::binary: return binary(e.op, e);
      case py::ExprKind::compare:
        if (e.ops.size() != 1)
          error(Code::unsupported, e.place, "a chained comparison in a graph", "write one comparison a statement");
        return binary(e.ops[0], e);
      case py::ExprKind::call: return written_call(e);
      case py::ExprKind::conditional:
        if (const auto truth = decided(*e.items[0])) return value(*e.items[*truth ? 1 : 2]);
        [[fallthrough]];
      default:
        error(Code::unsupported, e.place, fmt::format("'{}' in a graph", py::print(e).substr(0, 60)),
              "write calls, operators, indexing and literals");
    }
  }

  Value sequence(ValueKind kind, const py::Expr& e) {
    std::vector<Value> items;
    items.reserve(e.items.size());
    for (const py::Expr* item : e.items) add_item(*item, "a starred item in a graph", "write the items out", items);
    return Value::sequence(kind, std::move(items));
  }

  // An item or an argument; a starred one stands for the items of a list that is written out.
  void add_item(const py::Expr& e, std::string_view what, std::string_view remedy, std::vector<Value>& out) {
    if (e.kind != py::ExprKind::starred) {
      out.push_back(value(e));
      return;
    }
    const Value many = in_pattern() ? value(*e.items[0]) : Value::none();
    if (!many.is_sequence() || many.kind == ValueKind::slice)
      error(Code::unsupported, e.place, std::string(what), std::string(remedy));
    out.insert(out.end(), many.items.begin(), many.items.end());
  }

  Value name(const py::Expr& e) {
    const auto it = names_.find(e.text);
    if (it != names_.end()) {
      if (it->second.cleared_at != 0)
        error(Code::name, e.place, fmt::format("'{}' was cleared in line {}", e.text, it->second.cleared_at),
              "use it before its 'x = None'");
      return it->second.value;
    }
    const std::string path = scope_->resolve(e);
    if (!path.empty()) return constant(e, path);
    if (options_.constant)
      if (auto found = options_.constant(e.text)) return *found;
    if (e.text == "Ellipsis") return Value::ellipsis();
    if (e.text == "inf" || e.text == "nan") return Value::of(e.text == "inf" ? HUGE_VAL : std::nan(""));
    if (e.text == "float" || e.text == "int" || e.text == "bool")
      return Value::constant("builtins." + std::string(e.text));
    std::vector<std::string_view> known;
    for (const auto& [known_name, bound] : names_) known.push_back(known_name);
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
    return root->kind != py::ExprKind::name || names_.contains(root->text);
  }

  Value unary(const py::Expr& e) {
    Value operand = value(*e.items[0]);
    if (auto folded = fold_unary(e.op, operand)) return *folded;
    return Value::ref(call(fmt::format("operator.{}", operator_name(e.op)), e.place, {std::move(operand)}));
  }

  Value binary(py::Op op, const py::Expr& e) {
    if (operator_name(op).empty()) not_straight(e.place, fmt::format("'{}'", py::op_text(op)));
    Value left = value(*e.items[0]);
    Value right = value(*e.items[1]);
    if (!has_node(left) && !has_node(right))
      if (auto folded = fold_binary(op, left, right)) return *folded;
    return Value::ref(
        call(fmt::format("operator.{}", operator_name(op)), e.place, {std::move(left), std::move(right)}));
  }

  Value written_call(const py::Expr& e) {
    const py::Expr& callee = *e.items[0];
    const bool local = is_local(callee);
    std::string path = local ? std::string() : scope_->resolve(callee);
    if (path.empty() && !local && options_.function)
      if (const InlinedFunction* f = options_.function(callee)) return inlined_call(*f, e);
    if (path.empty() && callee.kind == py::ExprKind::name) {
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

  void arguments(const py::Expr& e, std::vector<Value>& args, std::vector<Kwarg>& kwargs) {
    for (const py::Expr* item : e.items.subspan(1))
      add_item(*item, "a starred argument in a graph", "write the arguments out", args);
    for (const py::Keyword& k : e.keywords) {
      if (k.name.empty()) error(Code::unsupported, k.place, "'**' in a graph", "write the keywords out");
      kwargs.push_back({std::string(k.name), value(*k.value)});
    }
  }

  Value inlined_call(const InlinedFunction& f, const py::Expr& e) {
    constexpr int kDeepest = 20;
    constexpr std::size_t kMostNodes = 20'000;
    if (depth_ >= kDeepest || graph_.nodes.size() > kMostNodes)
      error(Code::limit, e.place, fmt::format("'{}' calls functions too deeply", py::print(*e.items[0])),
            "a pattern is straight-line");
    std::vector<Value> args;
    std::vector<Kwarg> kwargs;
    arguments(e, args, kwargs);
    if (depth_++ == 0) inlined_at_ = e.place;
    auto names = std::exchange(names_, {});
    const py::Module* module = std::exchange(module_, f.module);
    const ImportScope* scope = std::exchange(scope_, &f.scope);
    BuildOptions options = std::exchange(options_, f.options);
    if (const std::string problem = bind(*f.statement, args, kwargs); !problem.empty()) {
      module_ = module;
      error(Code::argument, e.place, problem);
    }
    body(f.statement->body);
    module_ = module;
    scope_ = scope;
    options_ = std::move(options);
    std::swap(names, names_);
    --depth_;
    done_ = false;
    return std::exchange(returned_, Value::none());
  }

  // The parameters of an inlined function become names; what is wrong with the call, or "".
  std::string bind(const py::Stmt& function, const std::vector<Value>& args, const std::vector<Kwarg>& kwargs) {
    std::size_t next = 0, used = 0;
    for (const py::Parameter& p : function.parameters) {
      const bool normal = p.kind == py::ParameterKind::normal;
      const auto kw = std::find_if(kwargs.begin(), kwargs.end(), [&](const Kwarg& k) { return k.name == p.name; });
      if (p.kind == py::ParameterKind::var_positional) {
        names_[p.name].value = Value::sequence(
            ValueKind::tuple, {args.begin() + static_cast<std::ptrdiff_t>(std::min(next, args.size())), args.end()});
        next = args.size();
      } else if (normal && !p.keyword_only && next < args.size()) {
        names_[p.name].value = args[next++];
      } else if (normal && kw != kwargs.end()) {
        names_[p.name].value = kw->value;
        ++used;
      } else if (normal && p.default_value != nullptr) {
        names_[p.name].value = value(*p.default_value);
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
  std::unordered_map<std::string_view, Name> names_;
  std::unordered_map<NodeId, std::string_view> in_place_names_;
  bool done_ = false;
  std::size_t turns_ = 0;  // of loops
  int depth_ = 0;          // of inlined functions
  py::Place inlined_at_;
  Value returned_;  // by the innermost of them
};

}  // namespace

Result<Graph> build_graph(const py::Module& module, const py::Stmt& function, const ImportScope& scope,
                          BuildOptions options) {
  return guarded([&] { return Builder(module, scope, std::move(options)).run(function); });
}

}  // namespace passnet
