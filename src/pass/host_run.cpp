// Functions and statements of a host program.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

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
  if (++steps_ > limits_.steps)
    refuse(Code::limit, fmt::format("the wrapper takes more than {} steps", limits_.steps), place,
           "is there an endless loop?");
}

// ---- functions

HostValue HostMachine::make_function(const py::Stmt* statement, const py::Expr* lambda, Frame& frame) {
  HostFunction f{frame.module, statement, lambda, frame.scope, {}};
  const std::span<const py::Parameter> parameters =
      lambda != nullptr ? lambda->parameters().span() : statement->parameters;
  for (const py::Parameter& p : parameters)
    f.defaults.push_back(p.default_value != nullptr ? eval(*p.default_value, frame) : HostValue{});
  captured_.push_back(frame.scope);
  HostValue v;
  v.kind = Kind::function;
  v.function = std::make_shared<HostFunction>(std::move(f));
  return v;
}

bool HostMachine::at_module_level(const Frame& frame) const {
  const auto module = module_scopes_.find(frame.module);
  return module != module_scopes_.end() && module->second == frame.scope;
}

// Decorators of the file's own are called, the last first; those that the policy knows change nothing here.
HostValue HostMachine::decorated(HostValue function, const py::Stmt& s, Frame& frame) {
  if (function.is(Kind::function) && at_module_level(frame)) {
    function.function->closure = nullptr;
    function.function->defaults.clear();
  }
  for (std::size_t i = s.decorators.size(); i-- > 0;) {
    const py::Expr& d = *s.decorators[i];
    if (!resolve_path(*frame.module, d.kind == py::ExprKind::call ? *d.items[0] : d).empty()) continue;
    if (d.kind == py::ExprKind::call && eval(*d.items[0], frame).is(Kind::path)) continue;  // imported inside
    const HostValue decorator = eval(d, frame);
    if (decorator.is(Kind::path)) continue;
    function = call(decorator, {std::move(function)}, {}, d.place);
  }
  return function;
}

HostValue HostMachine::default_value(const HostFunction& f, std::size_t parameter, const py::Parameter& p) {
  if (parameter < f.defaults.size()) return f.defaults[parameter];
  return module_constant(*f.module, *p.default_value, p.name, p.place);  // made once, when the module is read
}

HostValue HostMachine::call_function(const HostFunction& f, HostArgs args, HostKwargs kwargs, py::Place place) {
  if (++depth_ > limits_.depth)
    refuse(Code::limit, "functions call one another too deeply", place, "a wrapper may not recurse without end");
  Frame frame;
  frame.module = f.module;
  frame.scope = std::make_shared<HostScope>();
  frame.scope->parent = f.closure;
  bind_parameters(f, std::move(args), std::move(kwargs), frame, place);
  if (f.parent && !frame.scope->names.empty()) {
    HostValue above;
    above.kind = Kind::klass;
    above.klass = f.parent;
    frame.scope->set(
        "super",
        HostValue::sequence(Kind::partial, {HostValue::path("builtins.super"),
                                            HostValue::sequence(Kind::tuple, {above, frame.scope->names[0].second}),
                                            HostValue::sequence(Kind::dict, {})}));
  }
  const PassModule* caller = std::exchange(current_, f.module);
  const bool generator = f.lambda == nullptr && f.statement->yields;
  if (generator) frame.yielded = HostValue::sequence(Kind::iterator, {});
  if (f.lambda != nullptr)
    frame.result = eval(*f.lambda->items[0], frame);
  else
    run(f.statement->body, frame);
  if (generator) frame.result = frame.yielded;  // what it would give one by one
  current_ = caller;
  --depth_;
  return std::move(frame.result);
}

void HostMachine::bind_parameters(const HostFunction& f, HostArgs args, HostKwargs kwargs, Frame& frame,
                                  py::Place place) {
  const std::span<const py::Parameter> parameters =
      f.lambda != nullptr ? f.lambda->parameters().span() : f.statement->parameters;
  const std::string_view name = f.lambda != nullptr ? "lambda" : f.statement->name;
  std::size_t next = 0;
  std::vector<bool> used(kwargs.size(), false);
  for (std::size_t number = 0; number < parameters.size(); ++number) {
    const py::Parameter& p = parameters[number];
    if (p.kind == py::ParameterKind::var_positional) {
      frame.scope->set(
          p.name,
          HostValue::sequence(Kind::tuple,
                              {args.begin() + static_cast<std::ptrdiff_t>(std::min(next, args.size())), args.end()}));
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
    const auto kw = p.positional_only
                        ? kwargs.end()
                        : std::find_if(kwargs.begin(), kwargs.end(), [&](const auto& k) { return k.first == p.name; });
    if (!p.keyword_only && next < args.size()) {
      if (kw != kwargs.end())
        raise("TypeError", fmt::format("{}() got several values for argument '{}'", name, p.name), place);
      frame.scope->set(p.name, args[next++]);
    } else if (kw != kwargs.end()) {
      used[static_cast<std::size_t>(kw - kwargs.begin())] = true;
      frame.scope->set(p.name, kw->second);
    } else if (p.default_value != nullptr) {
      frame.scope->set(p.name, default_value(f, number, p));
    } else {
      raise("TypeError",
            fmt::format("{}() is missing its argument '{}'; {} given", name, p.name, args.size() + kwargs.size()),
            place);
    }
  }
  if (next < args.size())
    raise("TypeError",
          fmt::format("{}() takes {} positional argument{} but {} were given", name, next, next == 1 ? "" : "s",
                      args.size()),
          place);
  for (std::size_t i = 0; i < kwargs.size(); ++i)
    if (!used[i]) raise("TypeError", fmt::format("{}() has no argument '{}'", name, kwargs[i].first), place);
}

// ---- the module level

HostValue HostMachine::module_constant(const PassModule& owner, const py::Expr& value, std::string_view name,
                                       py::Place place) {
  if (const auto it = constants_.find(&value); it != constants_.end()) return it->second;
  if (std::find(evaluating_.begin(), evaluating_.end(), &value) != evaluating_.end())
    raise("NameError", fmt::format("'{}' is defined by itself", name), place);
  evaluating_.push_back(&value);
  Frame frame;
  frame.module = &owner;
  frame.scope = std::make_shared<HostScope>();
  const PassModule* caller = std::exchange(current_, &owner);
  HostValue made = eval(value, frame);
  current_ = caller;
  evaluating_.pop_back();
  mark_module_level(made, place);
  constant_owners_.insert(&owner);
  return constants_.emplace(&value, std::move(made)).first->second;
}

// Where the top level does more than bind names (a loop that fills a list, an item set), its statements run in order,
// once. One that cannot be evaluated here is left out: what it would have bound fails with its own line when it is
// used.
HostScope* HostMachine::module_scope(const PassModule& module) {
  if (!module.top_level_runs) return nullptr;
  auto& scope = module_scopes_[&module];
  if (scope) return scope.get();
  scope = std::make_shared<HostScope>();
  const std::shared_ptr<HostScope> kept = scope;
  captured_.push_back(kept);
  Frame frame;
  frame.module = &module;
  frame.scope = kept;
  const PassModule* caller = std::exchange(current_, &module);
  const int depth = depth_, nesting = nesting_;
  const std::size_t evaluating = evaluating_.size();
  for (const py::Stmt* s : module.top_level) {
    try {
      run(*s, frame);
    } catch (const HostRaise&) {
    } catch (const Failure& failure) {
      if (failure.error.code == Code::limit || failure.error.code == Code::integrity) throw;
    }
    depth_ = depth;
    nesting_ = nesting;
    current_ = &module;
    evaluating_.resize(evaluating);
  }
  current_ = caller;
  for (const auto& [name, value] : kept->names) mark_module_level(value, {});
  ran_.insert(&module);
  return kept.get();
}

namespace {

bool is_top_level(const PassModule& module, const py::Stmt* function) {
  return function != nullptr && function->kind == py::StmtKind::function &&
         std::find(module.top_level.begin(), module.top_level.end(), function) != module.top_level.end();
}

}  // namespace

// A decorated function that could not be made when the top level ran: to say why.
HostValue HostMachine::define_again(const PassModule& module, const py::Stmt& statement) {
  Frame frame;
  frame.module = &module;
  frame.scope = module_scopes_[&module];
  const PassModule* caller = std::exchange(current_, &module);
  define(statement, frame);
  current_ = caller;
  return *frame.scope->find(statement.name);
}

HostValue HostMachine::kernel_value(const PassModule& owner, const py::Stmt& statement) {
  HostValue v;
  v.kind = Kind::kernel;
  v.kernel = {&owner.syntax, &statement, &owner};
  v.module = &owner;
  return v;
}

HostValue HostMachine::module_value(const PassModule& module, std::string_view name, py::Place place) {
  if (HostScope* scope = module_scope(module))
    if (const HostValue* found = scope->find(name)) return *found;
  const Binding* b = module.find(name);
  if (b == nullptr) {
    for (const std::string& star : module.star_imports)
      if (star == "math" && name != "pow") return HostValue::path("math." + std::string(name));
    return HostValue::path("builtins." + std::string(name));  // len, range, ...: an unknown one fails when called
  }
  const bool runs = b->owner != nullptr && b->owner->top_level_runs;
  if (runs && b->owner != &module && b->kind != Binding::Kind::klass) return module_value(*b->owner, b->name, place);
  if (runs && ran_.contains(&module) && is_top_level(module, b->statement)) return define_again(module, *b->statement);
  HostValue v;
  switch (b->kind) {
    case Binding::Kind::function:
      v.kind = Kind::function;
      v.function = std::make_shared<HostFunction>(HostFunction{b->owner, b->statement, nullptr, nullptr, {}});
      return v;
    case Binding::Kind::kernel: return kernel_value(*b->owner, *b->statement);
    case Binding::Kind::klass: return make_class(*b->owner, *b->statement, place);
    case Binding::Kind::module:
      v.kind = Kind::module;
      v.module = b->target;
      return v;
    case Binding::Kind::path: {
      const std::size_t dot = b->path.rfind('.');
      if (dot == std::string::npos) return HostValue::path(b->path);
      return eval_attribute(HostValue::path(b->path.substr(0, dot)), std::string_view(b->path).substr(dot + 1), place);
    }
    case Binding::Kind::expression: {
      const HostValue whole = module_constant(*b->owner, *b->value, name, place);
      return b->unpack == Binding::kWhole ? whole
                                          : get_item(whole, HostValue::of(static_cast<std::int64_t>(b->unpack)), place);
    }
  }
  return {};
}

namespace {

bool is_same_object(const HostValue& a, const HostValue& b) {
  return a.kind == b.kind &&
         (a.is(Kind::function) ? a.function == b.function : a.items != nullptr && a.items == b.items);
}

}  // namespace

// The module-level name that holds a value, among what has been evaluated; the first of them by file and name.
const Binding* HostMachine::holder(const HostValue& value) const {
  const Binding* first = nullptr;
  const auto offer = [&](const Binding* b) {
    const auto rank = [](const Binding& at) { return std::tie(at.owner->name, at.name); };
    if (b != nullptr && b->owner != nullptr && (first == nullptr || rank(*b) < rank(*first))) first = b;
  };
  for (const auto& [module, scope] : module_scopes_)
    for (const auto& [name, held] : scope->names)
      if (is_same_object(held, value)) offer(module->find(name));
  for (const PassModule* module : constant_owners_)
    for (const auto& [name, b] : module->names) {
      const auto held = b.unpack == Binding::kWhole ? constants_.find(b.value) : constants_.end();
      if (held != constants_.end() && is_same_object(held->second, value)) offer(b.owner->find(b.name));
    }
  return first;
}

HostMachine::Definition HostMachine::definition(const HostValue& v, const PassModule& otherwise) const {
  Definition out{&otherwise, "wrapper", {}, nullptr};
  if (v.is(Kind::function)) {
    const HostFunction& f = *v.function;
    out = {f.module, f.lambda != nullptr ? "lambda" : std::string(f.statement->name),
           f.lambda != nullptr ? f.lambda->place : f.statement->place, nullptr};
    if (f.lambda == nullptr && !f.closure) out.held_by = f.statement;
  }
  const bool callable = v.is(Kind::function) || v.is(Kind::partial) || v.is(Kind::object);
  if (out.held_by != nullptr || !callable) return out;
  if (const Binding* b = holder(v)) out = {b->owner, std::string(b->name), b->statement->place, b};
  return out;
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
    case K::if_: return run(truth(eval(*s.value, frame), s.value->place) ? s.body : s.orelse, frame);
    case K::for_: return run_for(s, frame);
    case K::while_:
      while (truth(eval(*s.value, frame), s.value->place)) {
        step(s.place);
        const Flow flow = run(s.body, frame);
        if (flow == Flow::returned) return flow;
        if (flow == Flow::broke) return Flow::next;
      }
      return run(s.orelse, frame);
    case K::break_: return Flow::broke;
    case K::continue_: return Flow::continued;
    case K::pass: return Flow::next;
    case K::raise: run_raise(s, frame);
    case K::assert_:
      if (!truth(eval(*s.value, frame), s.value->place))
        raise("AssertionError",
              s.annotation != nullptr ? text(eval(*s.annotation, frame), false, s.place) : py::print(*s.value),
              s.place);
      return Flow::next;
    case K::function: define(s, frame); return Flow::next;
    case K::try_: return run_try(s, frame);
    case K::global:
      for (const py::Alias& a : s.aliases) frame.globals.push_back(a.name);
      return Flow::next;
    case K::nonlocal:
      for (const py::Alias& a : s.aliases) frame.nonlocals.push_back(a.name);
      return Flow::next;
    case K::import:
    case K::import_from: run_import(s, frame); return Flow::next;
    case K::delete_: run_delete(s, frame); return Flow::next;
    case K::with: return run_with(s, frame);
    case K::match: return run_match(s, frame);
    case K::case_: return Flow::next;  // of a match, which runs them
    case K::class_: refuse(Code::host, "a class in a wrapper", s.place, "write functions");
  }
  return Flow::next;
}

void HostMachine::define(const py::Stmt& s, Frame& frame) {
  HostValue made;
  if (is_kernel(*frame.module, s)) {
    if (!at_module_level(frame)) check_captured(s, frame.scope.get(), s.place);
    made = kernel_value(*frame.module, s);
  } else {
    made = make_function(&s, nullptr, frame);
  }
  frame.scope->set(s.name, decorated(std::move(made), s, frame));
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

HostMachine::Flow HostMachine::run_match(const py::Stmt& s, Frame& frame) {
  const HostValue subject = eval(*s.value, frame);
  for (const py::Stmt* arm : s.body) {
    step(arm->place);
    if (!fits(*arm->value, subject, frame)) continue;
    if (!arm->name.empty()) frame.scope->set(arm->name, subject);
    if (arm->annotation != nullptr && !truth(eval(*arm->annotation, frame), arm->annotation->place)) continue;
    return run(arm->body, frame);
  }
  return Flow::next;
}

// Whether a value fits a pattern of `case`; names in it are bound on the way, as in Python also where it does not.
bool HostMachine::fits(const py::Expr& pattern, const HostValue& subject, Frame& frame) {
  using K = py::ExprKind;
  switch (pattern.kind) {
    case K::name:
      if (pattern.text != "_") assign(pattern, subject, frame);
      return true;
    case K::none:
    case K::boolean: return same(eval(pattern, frame), subject, pattern.place);
    case K::binary:  // a | b
      return std::any_of(pattern.items.begin(), pattern.items.end(),
                         [&](const py::Expr* either) { return fits(*either, subject, frame); });
    case K::tuple:
    case K::list: return fits_items(pattern, subject, frame);
    default: return compare(py::Op::eq, subject, eval(pattern, frame), pattern.place);
  }
}

bool HostMachine::fits_items(const py::Expr& pattern, const HostValue& subject, Frame& frame) {
  const bool tuple = subject.is(Kind::object) && subject.klass->form == HostClass::Form::tuple;
  if (!subject.is(Kind::tuple) && !subject.is(Kind::list) && !tuple) return false;
  const std::vector<HostValue> items = iterate(subject, pattern.place);
  const auto is_star = [](const py::Expr* e) { return e->kind == py::ExprKind::starred; };
  const auto star = std::find_if(pattern.items.begin(), pattern.items.end(), is_star);
  const std::size_t wanted = pattern.items.size() - (star == pattern.items.end() ? 0 : 1);
  if (star == pattern.items.end() ? items.size() != wanted : items.size() < wanted) return false;
  const std::size_t extra = items.size() - wanted;
  std::size_t at = 0;
  for (const py::Expr* p : pattern.items) {
    if (is_star(p)) {
      const auto from = items.begin() + static_cast<std::ptrdiff_t>(at);
      fits(*p->items[0], HostValue::sequence(Kind::list, {from, from + static_cast<std::ptrdiff_t>(extra)}), frame);
      at += extra;
    } else if (!fits(*p, items[at++], frame)) {
      return false;
    }
  }
  return true;
}

// Contexts that change nothing here: the run has one device and no gradients.
HostMachine::Flow HostMachine::run_with(const py::Stmt& s, Frame& frame) {
  for (std::size_t i = 0; i + 1 < s.targets.size(); i += 2) {
    const py::Expr& context = *s.targets[i];
    HostValue callee = eval(context.kind == py::ExprKind::call ? *context.items[0] : context, frame);
    if (callee.is(Kind::device)) callee = HostValue::path("torch.device");
    const bool known =
        callee.is(Kind::path) && (callee.text == "torch.no_grad" || callee.text == "torch.inference_mode" ||
                                  callee.text == "torch.cuda.device" || callee.text == "torch.cuda.device_of" ||
                                  callee.text == "torch.device" || callee.text == "contextlib.nullcontext");
    if (!known)
      refuse(Code::host, "this with statement in a wrapper", s.place,
             "a wrapper allocates, launches kernels and returns");
    if (s.targets[i + 1] != nullptr) assign(*s.targets[i + 1], {}, frame);
  }
  return run(s.body, frame);
}

void HostMachine::run_import(const py::Stmt& s, Frame& frame) {
  for (const py::Alias& a : s.aliases) {
    const std::string_view as = a.as.empty() ? a.name.substr(0, a.name.find('.')) : a.as;
    HostValue v;
    v.kind = Kind::module;
    if (s.kind == py::StmtKind::import) {
      v.module = frame.module->find_file(s, a.name);
      frame.scope->set(as, v.module != nullptr ? v : HostValue::path(std::string(a.as.empty() ? as : a.name)));
    } else if (const PassModule* file = frame.module->find_file(s, s.name)) {
      if (a.name == "*") refuse(Code::host, "import * inside a function", s.place, "name what is imported");
      if (file->find(a.name) == nullptr)
        raise("ImportError", fmt::format("'{}' has no '{}'", file->name, a.name), a.place);
      frame.scope->set(as, module_value(*file, a.name, a.place));
    } else if ((v.module = frame.module->find_file(
                    s, s.name.empty() ? std::string(a.name) : fmt::format("{}.{}", s.name, a.name))) != nullptr) {
      frame.scope->set(as, v);  // from pass_dir import x
    } else {
      frame.scope->set(as, eval_attribute(HostValue::path(std::string(s.name)), a.name, a.place));
    }
  }
}

void HostMachine::run_raise(const py::Stmt& s, Frame& frame) {
  if (s.value == nullptr) {
    if (handling_.empty()) raise("RuntimeError", "nothing to raise again", s.place);
    throw HostRaise(handling_.back());
  }
  const py::Expr& e = *s.value;
  const std::string type = py::dotted_name(e.kind == py::ExprKind::call ? *e.items[0] : e);
  std::string message;
  if (e.kind == py::ExprKind::call && e.items.size() > 1) message = text(eval(*e.items[1], frame), false, s.place);
  raise(type.empty() ? "Exception" : type, message, s.place);
}

void HostMachine::run_delete(const py::Stmt& s, Frame& frame) {
  for (const py::Expr* t : s.targets) {
    if (t->kind == py::ExprKind::name) {
      std::erase_if(frame.scope->names, [&](const auto& n) { return n.first == t->text; });
    } else if (t->kind == py::ExprKind::subscript) {
      const HostValue object = eval(*t->items[0], frame);
      if (!object.is(Kind::list) && !object.is(Kind::dict))
        raise("TypeError", fmt::format("items of a {} cannot be deleted", host_type_name(object)), t->place);
      call_method(object, "pop", {eval(*t->items[1], frame)}, {}, t->place);
    }
  }
}

namespace {

// Whether `except name` catches an exception of this type.
bool catches(std::string_view name, std::string_view raised) {
  constexpr std::pair<std::string_view, std::string_view> kParents[] = {{"KeyError", "LookupError"},
                                                                        {"IndexError", "LookupError"},
                                                                        {"ZeroDivisionError", "ArithmeticError"},
                                                                        {"OverflowError", "ArithmeticError"},
                                                                        {"NotImplementedError", "RuntimeError"},
                                                                        {"RecursionError", "RuntimeError"},
                                                                        {"ModuleNotFoundError", "ImportError"},
                                                                        {"UnboundLocalError", "NameError"},
                                                                        {"FrozenInstanceError", "AttributeError"}};
  if (name == raised || name == "Exception" || name == "BaseException") return true;
  return std::any_of(std::begin(kParents), std::end(kParents),
                     [&](const auto& p) { return p.first == raised && p.second == name; });
}

}  // namespace

HostMachine::Flow HostMachine::run_try(const py::Stmt& s, Frame& frame) {
  Flow flow = Flow::next;
  const int depth = depth_, nesting = nesting_;
  const PassModule* module = current_;
  const auto handling = static_cast<std::ptrdiff_t>(handling_.size());
  const std::size_t evaluating = evaluating_.size();
  bool caught = false;
  const auto recover = [&] {
    depth_ = depth;
    nesting_ = nesting;
    current_ = module;
    evaluating_.resize(evaluating);
  };
  try {
    try {
      flow = run(s.body, frame);
    } catch (const HostRaise& raised) {
      recover();
      const auto fits = [&](const py::Handler& h) {
        if (h.type == nullptr) return true;
        if (h.type->kind != py::ExprKind::tuple) return catches(py::dotted_name(*h.type), raised.type);
        return std::any_of(h.type->items.begin(), h.type->items.end(),
                           [&](const py::Expr* t) { return catches(py::dotted_name(*t), raised.type); });
      };
      const auto found = std::find_if(s.handlers.begin(), s.handlers.end(), fits);
      if (found == s.handlers.end()) throw;
      if (!found->name.empty()) frame.scope->set(found->name, HostValue::string(raised.message));
      handling_.push_back(raised);
      caught = true;
      flow = run(found->body, frame);
      handling_.pop_back();
    }
    if (!caught && flow == Flow::next) flow = run(s.orelse, frame);
  } catch (const HostRaise&) {
    recover();
    handling_.erase(handling_.begin() + handling, handling_.end());
    const Flow last = run(s.final_body, frame);
    if (last != Flow::next) return last;  // as Python: a return in finally wins
    throw;
  }
  const Flow last = run(s.final_body, frame);
  return last == Flow::next ? flow : last;
}

void HostMachine::run_augmented(const py::Stmt& s, Frame& frame) {
  const py::Expr& t = *s.targets[0];
  HostValue object, index, old;
  if (t.kind == py::ExprKind::subscript) {
    object = eval(*t.items[0], frame);
    index = eval(*t.items[1], frame);
    old = get_item(object, index, s.place);
  } else {
    old = eval(t, frame);
  }
  const HostValue operand = eval(*s.value, frame);
  const bool in_place = (s.op == py::Op::add && old.is(Kind::list)) ||
                        (s.op == py::Op::bit_or && (old.is(Kind::dict) || old.is(Kind::set)));
  if (in_place) {  // as Python: the list itself grows
    call_method(old, s.op == py::Op::add ? "extend" : "update", {operand}, {}, s.place);
    return;
  }
  HostValue made = binary(s.op, old, operand, s.place);
  if (t.kind == py::ExprKind::subscript)
    set_item(object, index, std::move(made), s.place);
  else
    assign(t, std::move(made), frame);
}

void HostMachine::assign(const py::Expr& target, HostValue value, Frame& frame) {
  switch (target.kind) {
    case py::ExprKind::name: {
      const auto named = [&](const std::vector<std::string_view>& names) {
        return std::find(names.begin(), names.end(), target.text) != names.end();
      };
      if (named(frame.globals)) {
        if (holds_state(value, target.place))
          refuse(Code::integrity, fmt::format("global '{}' is written with a tensor or a function", target.text),
                 target.place, "that is a cache between calls");
        HostScope* scope = module_scope(*frame.module);
        const Binding* b = frame.module->find(target.text);
        mark_module_level(value, target.place);
        if (scope != nullptr)
          scope->set(target.text, std::move(value));
        else if (b != nullptr && b->value != nullptr && b->unpack == Binding::kWhole)
          constants_[b->value] = std::move(value);
        else
          frame.scope->set(target.text, std::move(value));
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
    case py::ExprKind::list: return unpack(target, value, frame);
    case py::ExprKind::attribute:
      if (const HostValue object = eval(*target.items[0], frame); object.is(Kind::object)) {
        if (object.klass->frozen)
          raise("FrozenInstanceError", fmt::format("cannot assign to field '{}'", target.text), target.place);
        return set_attribute(object, target.text, std::move(value), target.place);
      }
      [[fallthrough]];
    default:
      refuse(Code::integrity, fmt::format("assignment to '{}'", py::print(target).substr(0, 80)), target.place,
             "a wrapper assigns to names and to items of its own lists and dicts");
  }
}

void HostMachine::unpack(const py::Expr& target, const HostValue& value, Frame& frame) {
  const std::vector<HostValue> items = iterate(value, target.place);
  const auto star = std::find_if(target.items.begin(), target.items.end(),
                                 [](const py::Expr* e) { return e->kind == py::ExprKind::starred; });
  const std::size_t wanted = target.items.size();
  if (star == target.items.end()) {
    if (items.size() != wanted)
      raise("ValueError", fmt::format("{} values to unpack into {} names", items.size(), wanted), target.place);
    for (std::size_t i = 0; i < wanted; ++i) assign(*target.items[i], items[i], frame);
    return;
  }
  if (items.size() + 1 < wanted)
    raise("ValueError", fmt::format("{} values to unpack into at least {} names", items.size(), wanted - 1),
          target.place);
  const std::size_t before = static_cast<std::size_t>(star - target.items.begin()), extra = items.size() - (wanted - 1);
  for (std::size_t i = 0; i < before; ++i) assign(*target.items[i], items[i], frame);
  assign(*(*star)->items[0],
         HostValue::sequence(Kind::list, {items.begin() + static_cast<std::ptrdiff_t>(before),
                                          items.begin() + static_cast<std::ptrdiff_t>(before + extra)}),
         frame);
  for (std::size_t i = before + 1; i < wanted; ++i) assign(*target.items[i], items[i - 1 + extra], frame);
}

}  // namespace passnet
