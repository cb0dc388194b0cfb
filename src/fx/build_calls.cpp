#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "fx/graph_builder.h"
#include "fx/literals.h"
#include "py/printer.h"

namespace passnet {

namespace {

// Python's own functions that a graph may call on sizes and numbers.
bool is_builtin(std::string_view name) {
  for (const std::string_view known : {"len", "int", "float", "bool", "max", "min", "abs", "sum"})
    if (name == known) return true;
  return false;
}

// And those that are Python's alone while a pattern is traced.
constexpr std::string_view kPythonCalls[] = {"list", "tuple",     "dict", "range", "len",
                                             "sum",  "enumerate", "zip",  "map",   "reversed"};

}  // namespace

Value GraphBuilder::own_function(const FunctionSyntax& syntax) {
  functions_.push_back({syntax, frame_, nullptr, module_, scope_, options_});
  return Value::constant(fmt::format("function {}", functions_.size() - 1));
}

Value GraphBuilder::own_function(const InlinedFunction& file) {
  functions_.push_back({file.syntax, nullptr, &file, nullptr, nullptr, {}});
  return Value::constant(fmt::format("function {}", functions_.size() - 1));
}

const GraphBuilder::OwnFunction* GraphBuilder::own_function(const Value& v) const {
  constexpr std::string_view kMark = "function ";
  if (v.kind != ValueKind::constant || !v.text.starts_with(kMark)) return nullptr;
  return &functions_[static_cast<std::size_t>(std::stoul(v.text.substr(kMark.size())))];
}

bool GraphBuilder::has_function(const Value& v) const {
  return own_function(v) != nullptr ||
         std::any_of(v.items.begin(), v.items.end(), [&](const Value& item) { return has_function(item); });
}

Value GraphBuilder::written_call(const py::Expr& e) {
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
    else if (local)
      error(Code::unsupported, callee.place, fmt::format("'{}' is called, and is no function", callee.text),
            "a method is called on its object, x.relu() or outs.append(y); lists can be written, too: [f(x) for f in "
            "functions]");
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

bool GraphBuilder::is_called_value(const py::Expr& callee) const {
  if (callee.kind != py::ExprKind::name)
    return callee.kind == py::ExprKind::subscript || callee.kind == py::ExprKind::lambda;
  const Name* known = find_name(callee.text);
  return known != nullptr && known->value.kind == ValueKind::constant;
}

void GraphBuilder::arguments(const py::Expr& e, std::vector<Value>& args, std::vector<Kwarg>& kwargs) {
  for (const py::Expr* item : e.items.subspan(1))
    add_item(*item, "a starred argument in a graph", "write the arguments out", args);
  for (const py::Keyword& k : e.keywords) {
    if (k.name.empty())
      add_keywords(k, kwargs);
    else
      kwargs.push_back({std::string(k.name), value(*k.value)});
  }
}

void GraphBuilder::add_keywords(const py::Keyword& k, std::vector<Kwarg>& kwargs) {
  const Value v = in_pattern() ? value(*k.value) : Value::none();
  const TracedObjects::Dict* dict = objects_.dict(v);
  if (dict == nullptr) error(Code::unsupported, k.place, "'**' in a graph", "write the keywords out");
  for (const auto& [key, held] : *dict) {
    if (key.kind != ValueKind::string) error(Code::argument, k.place, "keywords must be strings");
    kwargs.push_back({key.text, objects_.current(held)});
  }
}

std::optional<Value> GraphBuilder::python_call(std::string_view name, const py::Expr& e) {
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
      const auto known = folded(py::Op::add, total, v, e.place);
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

Value GraphBuilder::range(const std::vector<Value>& args, py::Place place) {
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

Value GraphBuilder::call_value(const Value& callee, std::vector<Value> args, const py::Expr& e) {
  if (const OwnFunction* f = own_function(callee)) return inlined_call(*f, std::move(args), {}, e);
  if (callee.kind != ValueKind::constant || objects_.has_dict(callee)) not_straight(e.place, "this call");
  return Value::ref(call(callee.text, e.place, std::move(args)));
}

std::optional<Value> GraphBuilder::method_call(const Value& object, std::string_view name, const py::Expr& e) {
  if (!object.is_sequence() && objects_.dict(object) == nullptr) return std::nullopt;
  std::vector<Value> args;
  std::vector<Kwarg> kwargs;
  arguments(e, args, kwargs);
  for (Value& arg : args)
    if (const auto many = name == "extend" ? items_of(arg) : std::nullopt)
      arg = Value::sequence(ValueKind::list, *many);
  auto out = objects_.method(object, name, args, kwargs);
  if (out) return out;
  const char* kind = "dict";
  const char* advice =
      "lists that the pattern made have append, extend, insert, pop, reverse, clear, copy, count and index, dicts have "
      "keys, values, items, get, update and pop";
  if (object.kind == ValueKind::tuple) {
    kind = "tuple";
    advice =
        "a tuple does not change: make a list in the pattern (outs = []; outs.append(y)), or write its items: "
        "(*outs, y), [f(x) for f in functions]";
  } else if (object.is_sequence()) {
    kind = "list";
    if (objects_.items(object) == nullptr) {
      kind = "list that the pattern did not make";
      advice =
          "make one in the pattern (outs = []; outs.append(y)), or write its items: [*outs, y], [f(x) for f in "
          "functions]";
    }
  }
  error(Code::unsupported, e.place, fmt::format("'.{}()' of a {} in a pattern", name, kind), advice);
}

Value GraphBuilder::inlined_call(const OwnFunction& called, const py::Expr& e) {
  std::vector<Value> args;
  std::vector<Kwarg> kwargs;
  arguments(e, args, kwargs);
  return inlined_call(called, args, kwargs, e);
}

Value GraphBuilder::inlined_call(const OwnFunction& called, const std::vector<Value>& args,
                                 const std::vector<Kwarg>& kwargs, const py::Expr& e) {
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

std::string GraphBuilder::bind(const FunctionSyntax& function, const std::vector<Value>& args,
                               const std::vector<Kwarg>& kwargs) {
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

std::optional<Value> GraphBuilder::literal_call(const std::string& path, const py::Expr& e,
                                                const std::vector<Value>& args,
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

Value GraphBuilder::device(const py::Expr& e, std::vector<Value> args, const std::vector<Kwarg>& kwargs) const {
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

}  // namespace passnet
