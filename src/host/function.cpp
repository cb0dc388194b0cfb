// Functions of a host program, and what the names of its modules stand for.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "host/machine.h"

namespace passnet {

using Kind = HostValue::Kind;

HostValue HostMachine::make_function(const py::Stmt* statement, const py::Expr* lambda, Frame& frame) {
  HostFunction f{frame.module, statement, lambda, frame.scope, std::make_shared<HostItems>()};
  const std::span<const py::Parameter> parameters =
      lambda != nullptr ? lambda->parameters().span() : statement->parameters;
  for (const py::Parameter& p : parameters)
    f.defaults->values.push_back(p.default_value != nullptr ? eval(*p.default_value, frame) : HostValue{});
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
    ++defined_[&s];
    for (const HostValue& value : function.function->defaults->values) mark_module_level(value, s.place);
  }
  for (std::size_t i = s.decorators.size(); i-- > 0;) {
    const py::Expr& d = *s.decorators[i];
    const bool called = d.kind == py::ExprKind::call;
    std::string path = resolve_path(*frame.module, called ? *d.items[0] : d);
    if (path.empty() && called)  // imported inside
      if (const HostValue callee = eval(*d.items[0], frame); callee.is(Kind::path)) path = callee.text;
    if (path.empty() || path == "functools.wraps") {
      const HostValue decorator = eval(d, frame);
      if (!decorator.is(Kind::path)) {
        function = call(decorator, {std::move(function)}, {}, d.place);
        continue;
      }
      path = decorator.text;
    }
    if (is_memoising(path)) function = memoised(function);
  }
  return function;
}

bool is_memoising(std::string_view decorator) {
  constexpr std::string_view kAll[] = {"functools.cache", "functools.cached_property", "functools.lru_cache"};
  return std::find(std::begin(kAll), std::end(kAll), decorator) != std::end(kAll);
}

HostValue memoised(const HostValue& v) {
  HostValue out = v;
  if (v.is(Kind::function)) {
    out.function = std::make_shared<HostFunction>(*v.function);
    out.function->memoised = true;
  } else if (v.is(Kind::partial)) {
    out = HostValue::sequence(Kind::partial, v.items->values);
    out.items->values[0] = memoised(v.items->values[0]);
  }
  return out;
}

// A memoised function keeps what it returns, a property in its object; nothing does where it is made in the call.
void HostMachine::check_memoised(const HostFunction& f, Frame& frame, const HostValue& result) {
  const auto& names = frame.scope->names();
  const auto& self = f.form == HostFunction::Form::property && !names.empty() ? names[0].second.items : nullptr;
  if (self ? !self->module_level : f.closure && !f.closure->module_level) return;
  const py::Place place = f.lambda != nullptr ? f.lambda->place : f.statement->place;
  const Within<const PassModule*> inside(current_, f.module);
  if (holds_state(result, place))
    refuse(Code::integrity, "a memoised function returns a tensor", place,
           "that is a cache between calls; only shapes, strides, dtypes and numbers may be kept");
  mark_module_level(result, place);
}

HostValue HostMachine::default_value(const HostFunction& f, std::size_t parameter, const py::Parameter& p) {
  if (f.defaults) return f.defaults->values[parameter];
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
  const Within<Calling> within(calling_, {});
  if (f.parent && !frame.scope->names().empty()) {
    frame.scope->set(
        "super",
        HostValue::sequence(Kind::partial,
                            {HostValue::path("builtins.super"),
                             HostValue::sequence(Kind::tuple, {class_value(f.parent), frame.scope->names()[0].second}),
                             HostValue::sequence(Kind::dict, {})}));
  }
  if (f.lambda == nullptr && f.statement->yields) {
    --depth_;
    frame.generator = f.statement;
    frame.blocks.push_back({HostBlock::Kind::plain, f.statement->body});
    const auto next = [](HostMachine& m, HostItems& it, py::Place asked) { return m.resume(it, asked); };
    return make_generator(std::move(frame), next, {});
  }
  const PassModule* caller = std::exchange(current_, f.module);
  HostValue result;
  if (f.lambda != nullptr)
    result = eval(*f.lambda->items[0], frame);
  else if (run(f.statement->body, frame) == Flow::returned)
    result = std::move(frame.result);
  current_ = caller;
  --depth_;
  if (f.memoised) check_memoised(f, frame, result);
  return result;
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

HostValue HostMachine::evaluate(const PassModule& module, const py::Expr& expr,
                                std::vector<std::pair<std::string_view, HostValue>> variables) {
  Frame frame;
  frame.module = &module;
  frame.scope = std::make_shared<HostScope>();
  for (auto& [name, value] : variables) frame.scope->set(name, std::move(value));
  current_ = &module;
  return eval(expr, frame);
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
  const Checkpoint before = checkpoint();
  const auto handled = static_cast<std::ptrdiff_t>(handling_.size());
  const int placing = places_;
  for (const py::Stmt* const& s : module.top_level) {
    try {
      run({&s, 1}, frame);
    } catch (const HostRaise&) {
    } catch (const Failure& failure) {
      if (failure.error.code == Code::limit || failure.error.code == Code::integrity) throw;
      handling_.erase(handling_.begin() + handled, handling_.end());
      places_ = placing;
    }
    recover(before);
  }
  current_ = caller;
  for (const auto& [name, value] : kept->names()) mark_module_level(value, {});
  ran_.insert(&module);
  return kept.get();
}

namespace {

// What `from typing import *` gives, of what is more than an annotation.
constexpr std::string_view kTyping[] = {
    "NamedTuple", "NewType",   "Any",     "Callable", "Dict",     "FrozenSet", "Generic",      "Iterable", "Iterator",
    "List",       "Literal",   "Mapping", "Optional", "Protocol", "Sequence",  "Set",          "Tuple",    "Type",
    "TypeVar",    "TypedDict", "Union",   "cast",     "final",    "overload",  "no_type_check"};

bool is_top_level(const PassModule& module, const py::Stmt* def) {  // of a function or a class
  return def != nullptr && (def->kind == py::StmtKind::function || def->kind == py::StmtKind::class_) &&
         std::find(module.top_level.begin(), module.top_level.end(), def) != module.top_level.end();
}

}  // namespace

// A decorated function or class that could not be made when the top level ran: to say why.
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
    for (const std::string& star : module.star_imports) {
      if (star == "math" && name != "pow") return HostValue::path("math." + std::string(name));
      if (star == "typing" && std::find(std::begin(kTyping), std::end(kTyping), name) != std::end(kTyping))
        return HostValue::path("typing." + std::string(name));
    }
    if (!is_python_name(name)) raise("NameError", fmt::format("name '{}' is not defined", name), place);
    HostValue python = HostValue::path("builtins." + std::string(name));
    if (name == "__name__") return HostValue::string(module.name);
    if (name == "Ellipsis") {
      python = {};
      python.kind = Kind::ellipsis;
    }
    if (std::shared_ptr<HostClass> type = exception_type(python)) return class_value(std::move(type));
    return python;
  }
  const auto is_made = [&](const Binding& at) {
    return at.kind == Binding::Kind::expression &&
           std::find(evaluating_.begin(), evaluating_.end(), at.value) != evaluating_.end();
  };
  while (b->before && is_made(*b)) b = b->before.get();
  const bool runs = b->owner != nullptr && b->owner->top_level_runs;
  const bool in_order = b->kind != Binding::Kind::klass || (runs && is_top_level(*b->owner, b->statement));
  if (runs && b->owner != &module && in_order) return module_value(*b->owner, b->name, place);
  if (runs && ran_.contains(&module) && is_top_level(module, b->statement)) return define_again(module, *b->statement);
  HostValue v;
  switch (b->kind) {
    case Binding::Kind::function:
      v.kind = Kind::function;
      v.function = std::make_shared<HostFunction>(HostFunction{b->owner, b->statement, nullptr, nullptr, {}});
      v.function->memoised =
          std::any_of(b->statement->decorators.begin(), b->statement->decorators.end(), [&](const py::Expr* d) {
            return is_memoising(resolve_path(*b->owner, d->kind == py::ExprKind::call ? *d->items[0] : *d));
          });
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
      if (b->unpack == Binding::kWhole) return whole;
      HostValue items = whole;
      if (is_iterator(whole)) {  // which gives them once
        const auto [known, fresh] = unpacked_.try_emplace(b->value);
        if (fresh) known->second = HostValue::sequence(Kind::tuple, iterate(whole, place));
        items = known->second;
      }
      return get_item(items, HostValue::of(static_cast<std::int64_t>(b->unpack)), place);
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
    for (const auto& [name, held] : scope->names())
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
    const auto times = defined_.find(f.statement);  // a def in a loop makes several functions
    if (f.lambda == nullptr && !f.closure && (times == defined_.end() || times->second == 1)) out.held_by = f.statement;
  }
  const bool callable = v.is(Kind::function) || v.is(Kind::partial) || v.is(Kind::object);
  if (out.held_by != nullptr || !callable) return out;
  if (const Binding* b = holder(v)) out = {b->owner, std::string(b->name), b->statement->place, b};
  return out;
}

}  // namespace passnet
