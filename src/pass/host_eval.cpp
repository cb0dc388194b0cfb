// Statements and expressions of a host program.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "fx/literals.h"
#include "pass/host_machine.h"
#include "py/printer.h"

namespace passnet {

using Kind = HostValue::Kind;

void HostMachine::raise(std::string type, std::string message, py::Place place) const {
  throw HostRaise{std::move(type), std::move(message), place, current_ != nullptr ? current_ : &root_};
}

void HostMachine::refuse(Code code, std::string message, py::Place place, std::string note) const {
  Error e{code, (current_ != nullptr ? current_ : &root_)->syntax.where(place), std::move(message), {}};
  if (!note.empty()) e.notes.push_back(std::move(note));
  fail(std::move(e));
}

void HostMachine::step(py::Place place) {
  if (++steps_ > limits_.steps) refuse(Code::limit, fmt::format("the wrapper takes more than {} steps", limits_.steps), place, "is there an endless loop?");
}

// ---- functions

HostValue HostMachine::call_function(const HostFunction& f, HostArgs args, HostKwargs kwargs, py::Place place) {
  if (++depth_ > limits_.depth) refuse(Code::limit, "functions call one another too deeply", place, "a wrapper may not recurse without end");
  const PassModule* caller = std::exchange(current_, f.module);
  Frame frame;
  frame.module = f.module;
  frame.scope = std::make_shared<HostScope>();
  frame.scope->parent = f.closure;
  if (f.lambda != nullptr) {
    bind_parameters(f.lambda->parameters(), std::move(args), std::move(kwargs), frame, "lambda", place);
    frame.result = eval(*f.lambda->items[0], frame);
  } else {
    bind_parameters(f.statement->parameters, std::move(args), std::move(kwargs), frame, f.statement->name, place);
    run(f.statement->body, frame);
  }
  current_ = caller;
  --depth_;
  return std::move(frame.result);
}

void HostMachine::bind_parameters(std::span<const py::Parameter> parameters, HostArgs args, HostKwargs kwargs, Frame& frame, std::string_view name, py::Place place) {
  std::size_t next = 0;
  std::vector<bool> used(kwargs.size(), false);
  for (const py::Parameter& p : parameters) {
    if (p.kind == py::ParameterKind::var_positional) {
      frame.scope->set(p.name, HostValue::sequence(Kind::tuple, {args.begin() + static_cast<std::ptrdiff_t>(std::min(next, args.size())), args.end()}));
      next = args.size();
      continue;
    }
    if (p.kind == py::ParameterKind::var_keyword) {
      std::vector<HostValue> rest;
      for (std::size_t i = 0; i < kwargs.size(); ++i) {
        if (used[i]) continue;
        used[i] = true;
        rest.push_back(HostValue::string(kwargs[i].first));
        rest.push_back(kwargs[i].second);
      }
      frame.scope->set(p.name, HostValue::sequence(Kind::dict, std::move(rest)));
      continue;
    }
    const auto kw = std::find_if(kwargs.begin(), kwargs.end(), [&](const auto& k) { return k.first == p.name; });
    if (!p.keyword_only && next < args.size()) {
      if (kw != kwargs.end()) raise("TypeError", fmt::format("{}() got several values for argument '{}'", name, p.name), place);
      frame.scope->set(p.name, args[next++]);
    } else if (kw != kwargs.end()) {
      used[static_cast<std::size_t>(kw - kwargs.begin())] = true;
      frame.scope->set(p.name, kw->second);
    } else if (p.default_value != nullptr) {
      frame.scope->set(p.name, eval(*p.default_value, frame));
    } else {
      raise("TypeError", fmt::format("{}() is missing its argument '{}'", name, p.name), place);
    }
  }
  if (next < args.size()) raise("TypeError", fmt::format("{}() takes {} positional arguments but {} were given", name, next, args.size()), place);
  for (std::size_t i = 0; i < kwargs.size(); ++i)
    if (!used[i]) raise("TypeError", fmt::format("{}() has no argument '{}'", name, kwargs[i].first), place);
}

// ---- statements

HostMachine::Flow HostMachine::run(std::span<const py::Stmt* const> body, Frame& frame) {
  for (const py::Stmt* s : body) {
    const Flow flow = run(*s, frame);
    if (flow != Flow::next) return flow;
  }
  return Flow::next;
}

HostMachine::Flow HostMachine::run(const py::Stmt& s, Frame& frame) {
  step(s.place);
  using K = py::StmtKind;
  switch (s.kind) {
    case K::expression: eval(*s.value, frame); return Flow::next;
    case K::assign: {
      const HostValue v = eval(*s.value, frame);
      for (const py::Expr* t : s.targets) assign(*t, v, frame);
      return Flow::next;
    }
    case K::annotated:
      if (s.value != nullptr) assign(*s.targets[0], eval(*s.value, frame), frame);
      return Flow::next;
    case K::augmented: run_augmented(s, frame); return Flow::next;
    case K::return_:
      if (s.value != nullptr) frame.result = eval(*s.value, frame);
      return Flow::returned;
    case K::if_: return run(host_truth(eval(*s.value, frame)) ? s.body : s.orelse, frame);
    case K::for_: return run_for(s, frame);
    case K::while_:
      while (host_truth(eval(*s.value, frame))) {
        step(s.place);
        const Flow flow = run(s.body, frame);
        if (flow == Flow::returned) return flow;
        if (flow == Flow::broke) return Flow::next;
      }
      return run(s.orelse, frame);
    case K::break_: return Flow::broke;
    case K::continue_: return Flow::continued;
    case K::pass: return Flow::next;
    case K::raise: {
      if (s.value == nullptr) raise("RuntimeError", "raised again", s.place);
      const py::Expr& e = *s.value;
      const std::string type = py::dotted_name(e.kind == py::ExprKind::call ? *e.items[0] : e);
      std::string message;
      if (e.kind == py::ExprKind::call && e.items.size() > 1) message = host_text(eval(*e.items[1], frame), false);
      raise(type.empty() ? "Exception" : type, message, s.place);
    }
    case K::assert_:
      if (!host_truth(eval(*s.value, frame))) raise("AssertionError", s.annotation != nullptr ? host_text(eval(*s.annotation, frame), false) : py::print(*s.value), s.place);
      return Flow::next;
    case K::function: {
      if (is_kernel(*frame.module, s)) refuse(Code::host, fmt::format("kernel '{}' is defined inside a function", s.name), s.place, "define kernels at module level");
      HostValue v;
      v.kind = Kind::function;
      v.function = std::make_shared<HostFunction>(HostFunction{frame.module, &s, nullptr, frame.scope});
      frame.scope->set(s.name, std::move(v));
      return Flow::next;
    }
    case K::try_: return run_try(s, frame);
    case K::global:
      for (const py::Alias& a : s.aliases) frame.globals.push_back(a.name);
      return Flow::next;
    case K::nonlocal:
      for (const py::Alias& a : s.aliases) frame.nonlocals.push_back(a.name);
      return Flow::next;
    case K::import:
    case K::import_from: {  // inside a function: names of the outside world only
      for (const py::Alias& a : s.aliases) {
        const std::string path = s.kind == K::import ? std::string(a.as.empty() ? a.name.substr(0, a.name.find('.')) : a.name) : std::string(s.name) + "." + std::string(a.name);
        frame.scope->set(a.as.empty() ? a.name.substr(0, a.name.find('.')) : a.as, HostValue::path(path));
      }
      return Flow::next;
    }
    case K::delete_:
      for (const py::Expr* t : s.targets)
        if (t->kind == py::ExprKind::name) std::erase_if(frame.scope->names, [&](const auto& n) { return n.first == t->text; });
      return Flow::next;
    case K::with: refuse(Code::host, "a with statement in a wrapper", s.place, "a wrapper allocates, launches kernels and returns");
    case K::class_: refuse(Code::host, "a class in a wrapper", s.place, "write functions");
  }
  return Flow::next;
}

HostMachine::Flow HostMachine::run_for(const py::Stmt& s, Frame& frame) {
  for (HostValue& item : iterate(eval(*s.value, frame), s.place)) {
    step(s.place);
    assign(*s.targets[0], std::move(item), frame);
    const Flow flow = run(s.body, frame);
    if (flow == Flow::returned) return flow;
    if (flow == Flow::broke) return Flow::next;
  }
  return run(s.orelse, frame);
}

HostMachine::Flow HostMachine::run_try(const py::Stmt& s, Frame& frame) {
  Flow flow = Flow::next;
  try {
    const int depth = depth_;
    const PassModule* module = current_;
    try {
      flow = run(s.body, frame);
      if (flow == Flow::next) flow = run(s.orelse, frame);
    } catch (const HostRaise& raised) {
      depth_ = depth;
      current_ = module;
      const py::Handler* found = nullptr;
      for (const py::Handler& h : s.handlers) {
        std::vector<const py::Expr*> types;
        if (h.type != nullptr && h.type->kind == py::ExprKind::tuple) types.assign(h.type->items.begin(), h.type->items.end());
        else if (h.type != nullptr) types.push_back(h.type);
        const bool fits = types.empty() || std::any_of(types.begin(), types.end(), [&](const py::Expr* t) {
          const std::string name = py::dotted_name(*t);
          return name == raised.type || name == "Exception" || name == "BaseException" || (name == "LookupError" && (raised.type == "KeyError" || raised.type == "IndexError")) || (name == "ArithmeticError" && raised.type == "ZeroDivisionError");
        });
        if (found == nullptr && fits) found = &h;
      }
      if (found == nullptr) throw;
      if (!found->name.empty()) frame.scope->set(found->name, HostValue::string(raised.message));
      flow = run(found->body, frame);
    }
  } catch (const HostRaise&) {
    run(s.final_body, frame);
    throw;
  }
  const Flow last = run(s.final_body, frame);
  return last == Flow::next ? flow : last;
}

void HostMachine::check_write(const HostItems& items, const HostValue& value, py::Place place) const {
  if (items.module_level && host_holds_state(value))
    refuse(Code::integrity, "a module-level container is written with a tensor", place, "that is a cache between calls; only shapes, strides, dtypes and numbers may be kept");
}

void HostMachine::run_augmented(const py::Stmt& s, Frame& frame) {
  const py::Expr& t = *s.targets[0];
  if (t.kind == py::ExprKind::subscript) {
    HostValue object = eval(*t.items[0], frame);
    const HostValue index = eval(*t.items[1], frame);
    set_item(object, index, binary(s.op, get_item(object, index, s.place), eval(*s.value, frame), s.place), s.place);
    return;
  }
  const HostValue old = eval(t, frame);
  const HostValue operand = eval(*s.value, frame);
  if (s.op == py::Op::add && old.is(Kind::list)) {  // in place, as Python
    check_write(*old.items, operand, s.place);
    for (HostValue& v : iterate(operand, s.place)) old.items->values.push_back(std::move(v));
    return;
  }
  assign(t, binary(s.op, old, operand, s.place), frame);
}

void HostMachine::assign(const py::Expr& target, HostValue value, Frame& frame) {
  switch (target.kind) {
    case py::ExprKind::name: {
      const auto named = [&](const std::vector<std::string_view>& names) { return std::find(names.begin(), names.end(), target.text) != names.end(); };
      if (named(frame.globals)) {
        if (host_holds_state(value)) refuse(Code::integrity, fmt::format("global '{}' is written with a tensor", target.text), target.place, "that is a cache between calls");
        if (const Binding* b = frame.module->find(target.text); b != nullptr && b->value != nullptr) constants_[b->value] = std::move(value);
        else frame.scope->set(target.text, std::move(value));
        return;
      }
      if (named(frame.nonlocals)) {
        for (HostScope* scope = frame.scope->parent.get(); scope != nullptr; scope = scope->parent.get())
          if (HostValue* found = scope->find(target.text)) {
            *found = std::move(value);
            return;
          }
      }
      frame.scope->set(target.text, std::move(value));
      return;
    }
    case py::ExprKind::subscript: {
      HostValue object = eval(*target.items[0], frame);
      set_item(object, eval(*target.items[1], frame), std::move(value), target.place);
      return;
    }
    case py::ExprKind::tuple:
    case py::ExprKind::list: {
      std::vector<HostValue> items = iterate(value, target.place);
      const auto star = std::find_if(target.items.begin(), target.items.end(), [](const py::Expr* e) { return e->kind == py::ExprKind::starred; });
      const std::size_t wanted = target.items.size();
      if (star == target.items.end()) {
        if (items.size() != wanted) raise("ValueError", fmt::format("{} values to unpack into {} names", items.size(), wanted), target.place);
        for (std::size_t i = 0; i < wanted; ++i) assign(*target.items[i], std::move(items[i]), frame);
        return;
      }
      if (items.size() + 1 < wanted) raise("ValueError", fmt::format("{} values to unpack into at least {} names", items.size(), wanted - 1), target.place);
      const std::size_t before = static_cast<std::size_t>(star - target.items.begin()), extra = items.size() - (wanted - 1);
      for (std::size_t i = 0; i < before; ++i) assign(*target.items[i], items[i], frame);
      assign(*(*star)->items[0], HostValue::sequence(Kind::list, {items.begin() + static_cast<std::ptrdiff_t>(before), items.begin() + static_cast<std::ptrdiff_t>(before + extra)}), frame);
      for (std::size_t i = before + 1; i < wanted; ++i) assign(*target.items[i], items[i - 1 + extra], frame);
      return;
    }
    default:
      refuse(Code::integrity, fmt::format("assignment to '{}'", py::print(target)), target.place, "a wrapper assigns to names and to items of its own lists and dicts");
  }
}

// ---- expressions

HostValue* HostMachine::find_local(std::string_view name, Frame& frame) {
  for (HostScope* scope = frame.scope.get(); scope != nullptr; scope = scope->parent.get())
    if (HostValue* found = scope->find(name)) return found;
  return nullptr;
}

HostValue HostMachine::eval_name(const py::Expr& e, Frame& frame) {
  if (HostValue* found = find_local(e.text, frame)) return *found;
  return module_value(*frame.module, e.text, e.place);
}

HostValue HostMachine::module_value(const PassModule& module, std::string_view name, py::Place place) {
  const Binding* b = module.find(name);
  if (b == nullptr) return HostValue::path("builtins." + std::string(name));  // len, range, ...: an unknown one fails when called
  HostValue v;
  switch (b->kind) {
    case Binding::Kind::function:
      v.kind = Kind::function;
      v.function = std::make_shared<HostFunction>(HostFunction{b->owner, b->statement, nullptr, nullptr});
      return v;
    case Binding::Kind::kernel:
      v.kind = Kind::kernel;
      v.kernel = {&b->owner->syntax, b->statement};
      v.module = b->owner;
      return v;
    case Binding::Kind::module:
      v.kind = Kind::module;
      v.module = b->target;
      return v;
    case Binding::Kind::path: {
      if (const auto dtype = dtype_from_name(b->path); dtype && b->path.starts_with("torch.")) return HostValue::of_dtype(*dtype);
      return HostValue::path(b->path);
    }
    case Binding::Kind::star: break;
    case Binding::Kind::expression: {
      auto it = constants_.find(b->value);
      if (it == constants_.end()) {
        if (std::find(evaluating_.begin(), evaluating_.end(), b->value) != evaluating_.end()) raise("NameError", fmt::format("'{}' is defined by itself", name), place);
        evaluating_.push_back(b->value);
        Frame frame;
        frame.module = b->owner;
        frame.scope = std::make_shared<HostScope>();
        const PassModule* caller = std::exchange(current_, b->owner);
        HostValue made = eval(*b->value, frame);
        current_ = caller;
        evaluating_.pop_back();
        if (made.items) made.items->module_level = true;
        it = constants_.emplace(b->value, std::move(made)).first;
      }
      if (b->unpack == Binding::kWhole) return it->second;
      return get_item(it->second, HostValue::of(static_cast<std::int64_t>(b->unpack)), place);
    }
  }
  return {};
}

HostValue HostMachine::eval(const py::Expr& e, Frame& frame) {
  step(e.place);
  using K = py::ExprKind;
  switch (e.kind) {
    case K::name: return eval_name(e, frame);
    case K::none: return {};
    case K::boolean: return HostValue::boolean(e.integer != 0);
    case K::integer: return HostValue::of(e.integer);
    case K::real: return HostValue::of(e.real);
    case K::string: return HostValue::string(std::string(e.text));
    case K::fstring: return HostValue::string(eval_fstring(e, frame));
    case K::tuple:
    case K::list:
    case K::set: {
      std::vector<HostValue> items;
      for (const py::Expr* item : e.items) {
        if (item->kind == K::starred) {
          for (HostValue& v : iterate(eval(*item->items[0], frame), item->place)) items.push_back(std::move(v));
        } else {
          items.push_back(eval(*item, frame));
        }
      }
      return HostValue::sequence(e.kind == K::tuple ? Kind::tuple : e.kind == K::list ? Kind::list : Kind::set, std::move(items));
    }
    case K::dict: {
      HostValue out = HostValue::sequence(Kind::dict, {});
      for (std::size_t i = 0; i < e.items.size(); i += 2) {
        if (e.items[i] == nullptr) {
          const HostValue other = eval(*e.items[i + 1], frame);
          if (!other.is(Kind::dict)) raise("TypeError", "'**' needs a dict", e.place);
          for (std::size_t j = 0; j + 1 < other.items->values.size(); j += 2) set_item(out, other.items->values[j], other.items->values[j + 1], e.place);
        } else {
          const HostValue key = eval(*e.items[i], frame);
          set_item(out, key, eval(*e.items[i + 1], frame), e.place);
        }
      }
      return out;
    }
    case K::unary: return unary(e.op, eval(*e.items[0], frame), e.place);
    case K::binary: {
      const HostValue a = eval(*e.items[0], frame);
      return binary(e.op, a, eval(*e.items[1], frame), e.place);
    }
    case K::logic: {
      HostValue v;
      for (const py::Expr* item : e.items) {
        v = eval(*item, frame);
        if (host_truth(v) != (e.op == py::Op::and_)) break;
      }
      return v;
    }
    case K::compare: return eval_compare(e, frame);
    case K::call: return eval_call(e, frame);
    case K::attribute: return eval_attribute(eval(*e.items[0], frame), e.text, e.place);
    case K::subscript: return eval_subscript(e, frame);
    case K::slice: {
      std::vector<HostValue> items;
      for (const py::Expr* item : e.items) items.push_back(item == nullptr ? HostValue{} : eval(*item, frame));
      return HostValue::sequence(Kind::slice, std::move(items));
    }
    case K::lambda: {
      HostValue v;
      v.kind = Kind::function;
      v.function = std::make_shared<HostFunction>(HostFunction{frame.module, nullptr, &e, frame.scope});
      return v;
    }
    case K::conditional: return eval(*e.items[host_truth(eval(*e.items[0], frame)) ? 1 : 2], frame);
    case K::list_comp:
    case K::set_comp:
    case K::dict_comp:
    case K::generator: return eval_comprehension(e, frame);
    case K::named: {
      const HostValue v = eval(*e.items[1], frame);
      assign(*e.items[0], v, frame);
      return v;
    }
    case K::ellipsis: {
      HostValue v;
      v.kind = Kind::ellipsis;
      return v;
    }
    default: refuse(Code::host, fmt::format("'{}' in a wrapper", py::print(e).substr(0, 60)), e.place);
  }
}

HostValue HostMachine::eval_comprehension(const py::Expr& e, Frame& frame) {
  Frame inner = frame;  // its variables stay inside
  inner.scope = std::make_shared<HostScope>();
  inner.scope->parent = frame.scope;
  std::vector<HostValue> out;
  comprehend(e, 0, inner, out);
  const Kind kind = e.kind == py::ExprKind::dict_comp ? Kind::dict : e.kind == py::ExprKind::set_comp ? Kind::set : Kind::list;
  return HostValue::sequence(kind, std::move(out));
}

void HostMachine::comprehend(const py::Expr& e, std::size_t clause, Frame& frame, std::vector<HostValue>& out) {
  if (clause == e.clauses().size()) {
    for (const py::Expr* item : e.items) out.push_back(eval(*item, frame));
    return;
  }
  const py::Clause c = e.clauses()[clause];
  for (HostValue& item : iterate(eval(*c.iterable, frame), e.place)) {
    step(e.place);
    assign(*c.target, std::move(item), frame);
    const bool keep = std::all_of(c.conditions.begin(), c.conditions.end(), [&](const py::Expr* condition) { return host_truth(eval(*condition, frame)); });
    if (keep) comprehend(e, clause + 1, frame, out);
  }
}

HostValue HostMachine::eval_compare(const py::Expr& e, Frame& frame) {
  HostValue left = eval(*e.items[0], frame);
  for (std::size_t i = 0; i < e.ops.size(); ++i) {
    HostValue right = eval(*e.items[i + 1], frame);
    if (!compare(e.ops[i], left, right, e.place)) return HostValue::boolean(false);
    left = std::move(right);
  }
  return HostValue::boolean(true);
}

bool HostMachine::compare(py::Op op, const HostValue& a, const HostValue& b, py::Place place) {
  switch (op) {
    case py::Op::eq: return host_equal(a, b);
    case py::Op::ne: return !host_equal(a, b);
    case py::Op::is: return host_equal(a, b) && a.kind == b.kind;
    case py::Op::is_not: return !(host_equal(a, b) && a.kind == b.kind);
    case py::Op::in:
    case py::Op::not_in: {
      bool found = false;
      if (a.is(Kind::string) && b.is(Kind::string)) found = b.text.find(a.text) != std::string::npos;
      else if (b.is(Kind::dict)) {
        for (std::size_t i = 0; i < b.items->values.size() && !found; i += 2) found = host_equal(a, b.items->values[i]);
      } else {
        for (const HostValue& v : iterate(b, place)) found |= host_equal(a, v);
      }
      return found == (op == py::Op::in);
    }
    default: break;
  }
  int order = 0;
  if (a.is_integral() && b.is_integral()) order = a.integer < b.integer ? -1 : a.integer > b.integer ? 1 : 0;
  else if (a.is_number() && b.is_number()) {
    if (std::isnan(a.as_real()) || std::isnan(b.as_real())) return false;
    order = a.as_real() < b.as_real() ? -1 : a.as_real() > b.as_real() ? 1 : 0;
  } else if (a.is(Kind::string) && b.is(Kind::string)) order = a.text.compare(b.text);
  else if (a.is_sequence() && a.kind == b.kind) {
    const auto &x = a.items->values, &y = b.items->values;
    std::size_t i = 0;
    while (i < x.size() && i < y.size() && host_equal(x[i], y[i])) ++i;
    if (i < x.size() && i < y.size()) return compare(op, x[i], y[i], place);
    order = x.size() < y.size() ? -1 : x.size() > y.size() ? 1 : 0;
  } else if (a.is(Kind::tensor) || b.is(Kind::tensor)) {
    refuse(Code::policy, "a comparison on a tensor's values in a wrapper", place, "values are known to kernels only; compare shapes, dtypes and numbers");
  } else {
    raise("TypeError", fmt::format("'{}' is not supported between {} and {}", py::op_text(op), host_type_name(a), host_type_name(b)), place);
  }
  switch (op) {
    case py::Op::lt: return order < 0;
    case py::Op::le: return order <= 0;
    case py::Op::gt: return order > 0;
    default: return order >= 0;
  }
}

HostValue HostMachine::eval_call(const py::Expr& e, Frame& frame) {
  const HostValue callee = eval(*e.items[0], frame);
  HostArgs args;
  for (const py::Expr* item : e.items.subspan(1)) {
    if (item->kind == py::ExprKind::starred) {
      for (HostValue& v : iterate(eval(*item->items[0], frame), item->place)) args.push_back(std::move(v));
    } else {
      args.push_back(eval(*item, frame));
    }
  }
  HostKwargs kwargs;
  for (const py::Keyword& k : e.keywords) {
    HostValue v = eval(*k.value, frame);
    if (!k.name.empty()) {
      kwargs.emplace_back(std::string(k.name), std::move(v));
      continue;
    }
    if (!v.is(Kind::dict)) raise("TypeError", "'**' needs a dict", k.place);
    for (std::size_t i = 0; i + 1 < v.items->values.size(); i += 2) kwargs.emplace_back(v.items->values[i].text, v.items->values[i + 1]);
  }
  return call(callee, std::move(args), std::move(kwargs), e.place);
}

HostValue HostMachine::eval_subscript(const py::Expr& e, Frame& frame) {
  const HostValue object = eval(*e.items[0], frame);
  const HostValue index = eval(*e.items[1], frame);
  if (!object.is(Kind::kernel)) return get_item(object, index, e.place);
  HostValue out;
  out.kind = Kind::launcher;
  out.launcher = std::make_shared<HostLauncher>(HostLauncher{object.kernel, object.module, std::make_shared<HostValue>(index)});
  return out;
}

HostValue HostMachine::eval_attribute(const HostValue& object, std::string_view name, py::Place place) {
  switch (object.kind) {
    case Kind::path: {
      const std::string path = object.text + "." + std::string(name);
      if (path.starts_with("torch."))
        if (const auto dtype = dtype_from_name(path)) return HostValue::of_dtype(*dtype);
      if (path == "math.pi" || path == "torch.pi") return HostValue::of(3.141592653589793);
      if (path == "math.e") return HostValue::of(2.718281828459045);
      if (path == "math.inf" || path == "torch.inf") return HostValue::of(HUGE_VAL);
      if (path == "math.nan" || path == "torch.nan") return HostValue::of(std::nan(""));
      return HostValue::path(path);
    }
    case Kind::tensor: return tensor_attribute(object, name, place);
    case Kind::device:
      if (name == "type") return HostValue::string("cuda");  // see tensor_attribute: is_cuda
      if (name == "index") return HostValue::of(std::int64_t{0});
      break;
    case Kind::dtype:
      if (name == "itemsize") return HostValue::of(std::int64_t{dtype_row(object.dtype).size});
      if (name == "is_floating_point") return HostValue::boolean(dtype_row(object.dtype).floating);
      break;
    case Kind::module: {
      if (object.module->name == name) return object;
      if (object.module->find(name) == nullptr) raise("AttributeError", fmt::format("'{}' has no '{}'", object.module->name, name), place);
      return module_value(*object.module, name, place);
    }
    default: break;
  }
  HostValue method;
  method.kind = Kind::method;
  method.text = name;
  method.items = std::make_shared<HostItems>(HostItems{{object}, false});
  return method;
}

std::string HostMachine::eval_fstring(const py::Expr& e, Frame& frame) {
  std::string out;
  for (const py::Expr* item : e.items) {
    if (item->kind == py::ExprKind::string) out += item->text;
    else if (item->kind == py::ExprKind::fstring) out += eval_fstring(*item, frame);
    else {
      const HostValue v = eval(*item->items[0], frame);
      const std::string spec = item->items.size() > 1 ? eval_fstring(*item->items[1], frame) : std::string();
      out += item->text == "r" || item->text == "a" ? host_text(v, true) : formatted(v, spec, item->place);
    }
    if (out.size() > (std::size_t{1} << 20)) refuse(Code::limit, "a string grows too long", e.place);
  }
  return out;
}

HostValue HostMachine::unary(py::Op op, const HostValue& v, py::Place place) {
  if (op == py::Op::not_) return HostValue::boolean(!host_truth(v));
  if (v.is(Kind::tensor)) refuse(Code::policy, "arithmetic on a tensor in a wrapper", place, "compute in a kernel");
  if (!v.is_number()) raise("TypeError", fmt::format("'{}' of a {}", py::op_text(op), host_type_name(v)), place);
  const Value literal = v.is(Kind::real) ? Value::of(v.real) : Value::of(v.integer);
  const auto folded = fold_unary(op, literal);
  if (!folded) raise("OverflowError", "an integer does not fit into 64 bits", place);
  return folded->kind == ValueKind::real ? HostValue::of(folded->real) : HostValue::of(folded->integer);
}

HostValue HostMachine::binary(py::Op op, const HostValue& a, const HostValue& b, py::Place place) {
  if (a.is(Kind::tensor) || b.is(Kind::tensor))
    refuse(Code::policy, fmt::format("'{}' on a tensor in a wrapper", py::op_text(op)), place, "compute in a kernel; a wrapper works on shapes and numbers");
  if (op == py::Op::add && a.kind == b.kind && (a.is(Kind::list) || a.is(Kind::tuple))) {
    std::vector<HostValue> out = a.items->values;
    out.insert(out.end(), b.items->values.begin(), b.items->values.end());
    return HostValue::sequence(a.kind, std::move(out));
  }
  if (op == py::Op::add && a.is(Kind::string) && b.is(Kind::string)) return HostValue::string(a.text + b.text);
  if (op == py::Op::mod && a.is(Kind::string)) return HostValue::string(a.text);  // old formatting: only in messages
  if (op == py::Op::bit_or && a.is(Kind::dict) && b.is(Kind::dict)) {
    HostValue out = HostValue::sequence(Kind::dict, a.items->values);
    for (std::size_t i = 0; i + 1 < b.items->values.size(); i += 2) set_item(out, b.items->values[i], b.items->values[i + 1], place);
    return out;
  }
  const bool repeat_a = a.is(Kind::list) || a.is(Kind::tuple) || a.is(Kind::string), repeat_b = b.is(Kind::list) || b.is(Kind::tuple) || b.is(Kind::string);
  if (op == py::Op::mul && (repeat_a ? b.is_integral() : repeat_b && a.is_integral())) {
    const HostValue& base = repeat_a ? a : b;
    const std::int64_t times = std::max<std::int64_t>(repeat_a ? b.integer : a.integer, 0);
    const std::int64_t length = static_cast<std::int64_t>(base.is(Kind::string) ? base.text.size() : base.items->values.size());
    if (length > 0 && times > (1 << 20) / length) refuse(Code::limit, "a list grows too long", place);
    if (base.is(Kind::string)) {
      std::string out;
      for (std::int64_t i = 0; i < times; ++i) out += base.text;
      return HostValue::string(std::move(out));
    }
    std::vector<HostValue> out;
    for (std::int64_t i = 0; i < times; ++i) out.insert(out.end(), base.items->values.begin(), base.items->values.end());
    return HostValue::sequence(base.kind, std::move(out));
  }
  if (!a.is_number() || !b.is_number()) raise("TypeError", fmt::format("'{}' is not supported between {} and {}", py::op_text(op), host_type_name(a), host_type_name(b)), place);
  const auto literal = [](const HostValue& v) { return v.is(Kind::real) ? Value::of(v.real) : Value::of(v.integer); };
  const bool zero = b.as_real() == 0 && (op == py::Op::div || op == py::Op::floor_div || op == py::Op::mod);
  if (zero) raise("ZeroDivisionError", "division by zero", place);
  const auto folded = fold_binary(op, literal(a), literal(b));
  if (!folded) raise("OverflowError", fmt::format("'{}' does not fit into 64 bits", py::op_text(op)), place);
  if (folded->kind == ValueKind::real) return HostValue::of(folded->real);
  return HostValue::of(folded->integer);
}

}  // namespace passnet
