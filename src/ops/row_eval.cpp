#include "ops/row_eval.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "fx/literals.h"
#include "py/printer.h"

namespace passnet {

namespace {

struct Local {
  std::string_view name;
  Value value;
  const py::Expr* dict = nullptr;  // a dict literal: only looked up in
};
using Env = std::vector<Local>;  // a row has few names: a scan beats a map
using Statements = std::span<const py::Stmt* const>;

std::optional<bool> known_truth(const Value& v) {
  switch (v.kind) {
    case ValueKind::none: return false;
    case ValueKind::boolean:
    case ValueKind::integer: return v.integer != 0;
    case ValueKind::real: return v.real != 0;
    case ValueKind::string: return !v.text.empty();
    case ValueKind::tuple:
    case ValueKind::list: return !v.items.empty();
    case ValueKind::node: return std::nullopt;
    default: return true;
  }
}

class RowEval {
 public:
  RowEval(Emitter& emitter, std::string_view spelling) : emitter_(emitter), spelling_(spelling) {}

  Value function(const py::Stmt& f, std::span<const Value> args, std::span<const Kwarg> kwargs) {
    Env env = bind(f, args, kwargs);
    return body({f.body}, std::move(env));
  }

 private:
  [[noreturn]] void refuse(std::string reason, const py::Stmt& f) const {
    std::string text = py::print(f);
    const std::size_t open = text.find('(', text.find("def ")), close = text.find("):\n", open);
    emitter_.error(Code::argument, fmt::format("{}: {}", spelling_, reason),
                   {fmt::format("its signature is {}", text.substr(open, close + 1 - open))});
  }

  Env bind(const py::Stmt& f, std::span<const Value> args, std::span<const Kwarg> kwargs) {
    Env env;
    env.reserve(f.parameters.size() + 8);
    std::size_t next = 0;
    std::size_t used = 0;
    const bool takes_any = std::any_of(f.parameters.begin(), f.parameters.end(),
                                       [](const auto& p) { return p.kind == py::ParameterKind::var_keyword; });
    for (const py::Parameter& p : f.parameters) {
      if (p.kind == py::ParameterKind::var_keyword) continue;
      if (p.kind == py::ParameterKind::var_positional) {
        env.push_back({p.name, Value::sequence(ValueKind::tuple,
                                               {args.begin() + static_cast<std::ptrdiff_t>(next), args.end()})});
        next = args.size();
        continue;
      }
      const auto kw = std::find_if(kwargs.begin(), kwargs.end(), [&](const Kwarg& k) { return k.name == p.name; });
      if (!p.keyword_only && next < args.size()) {
        if (kw != kwargs.end()) refuse(fmt::format("argument '{}' is given twice", p.name), f);
        env.push_back({p.name, args[next++]});
      } else if (kw != kwargs.end()) {
        env.push_back({p.name, kw->value});
        ++used;
      } else if (p.default_value != nullptr) {
        env.push_back({p.name, eval(*p.default_value, env)});
      } else {
        refuse(fmt::format("argument '{}' is missing", p.name), f);
      }
    }
    if (next < args.size())
      refuse(fmt::format("takes at most {} positional arguments, {} given", next, args.size()), f);
    if (used != kwargs.size() && !takes_any) {
      for (const Kwarg& k : kwargs)
        if (std::none_of(f.parameters.begin(), f.parameters.end(), [&](const auto& p) { return p.name == k.name; }))
          refuse(fmt::format("has no keyword '{}'", k.name), f);
    }
    return env;
  }

  // Runs the statements of `todo`, innermost list last. A condition that is not known splits what follows into two
  // arms.
  Value body(std::vector<Statements> todo, Env env) {
    while (!todo.empty()) {
      if (todo.back().empty()) {
        todo.pop_back();
        continue;
      }
      const py::Stmt& s = *todo.back()[0];
      todo.back() = todo.back().subspan(1);
      switch (s.kind) {
        case py::StmtKind::assign:
          if (s.value->kind == py::ExprKind::dict)
            assign(env, {s.targets[0]->text, {}, s.value});
          else
            assign(env, {s.targets[0]->text, eval(*s.value, env), nullptr});
          break;
        case py::StmtKind::return_: return s.value == nullptr ? Value::none() : eval(*s.value, env);
        case py::StmtKind::raise: return raised(s, env);
        case py::StmtKind::if_: {
          const Value condition = eval(*s.value, env);
          if (const auto known = known_truth(condition)) {
            todo.push_back(*known ? s.body : s.orelse);
            break;
          }
          auto then = todo, otherwise = todo;
          then.push_back(s.body);
          otherwise.push_back(s.orelse);
          return emitter_.branch(
              condition, [&] { return body(then, env); }, [&] { return body(otherwise, env); });
        }
        default: internal(py::print(s));
      }
    }
    return Value::none();
  }

  static void assign(Env& env, Local local) {
    for (Local& l : env)
      if (l.name == local.name) {
        l = std::move(local);
        return;
      }
    env.push_back(std::move(local));
  }

  Value raised(const py::Stmt& s, Env& env) {
    const Value message = s.value->items.size() > 1 ? eval(*s.value->items[1], env) : Value::string("refused");
    if (!emitter_.in_branch()) emitter_.error(Code::argument, fmt::format("{}: {}", spelling_, message.text), {});
    return emitter_.builtin("raise", {message});
  }

  [[noreturn]] void internal(const std::string& what) const {
    fail(Code::internal, fmt::format("row of {}: cannot lower '{}'", spelling_, what));
  }

  // ---- expressions
  Value eval(const py::Expr& e, const Env& env) {
    switch (e.kind) {
      case py::ExprKind::none: return Value::none();
      case py::ExprKind::boolean: return Value::boolean(e.integer != 0);
      case py::ExprKind::integer: return Value::of(e.integer);
      case py::ExprKind::real: return Value::of(e.real);
      case py::ExprKind::string: return Value::string(std::string(e.text));
      case py::ExprKind::tuple:
      case py::ExprKind::list: {
        Value out = Value::sequence(e.kind == py::ExprKind::tuple ? ValueKind::tuple : ValueKind::list, {});
        for (const py::Expr* item : e.items) out.items.push_back(eval(*item, env));
        return out;
      }
      case py::ExprKind::name: return name(e, env);
      case py::ExprKind::attribute: return Value::constant(py::dotted_name(e));
      case py::ExprKind::conditional: {
        const Value condition = eval(*e.items[0], env);
        if (const auto known = known_truth(condition)) return eval(*e.items[*known ? 1 : 2], env);
        return emitter_.branch(
            condition, [&] { return eval(*e.items[1], env); }, [&] { return eval(*e.items[2], env); });
      }
      case py::ExprKind::logic: return logic(e, 0, env);
      case py::ExprKind::unary: return unary(e, env);
      case py::ExprKind::binary: {
        const Value a = eval(*e.items[0], env), b = eval(*e.items[1], env);
        return binary(e.op, a, b);
      }
      case py::ExprKind::compare: return compare(e, env);
      case py::ExprKind::subscript: return subscript(e, env);
      case py::ExprKind::call: return call(e, env);
      default: internal(py::print(e));
    }
  }

  static const Local* find(const Env& env, std::string_view name) {
    for (const Local& l : env)
      if (l.name == name) return &l;
    return nullptr;
  }

  Value name(const py::Expr& e, const Env& env) const {
    if (const Local* local = find(env, e.text)) return local->value;
    if (e.text == "inf") return Value::of(HUGE_VAL);
    internal(std::string(e.text));
  }

  Value logic(const py::Expr& e, std::size_t at, const Env& env) {
    const Value v = eval(*e.items[at], env);
    if (at + 1 == e.items.size()) return v;
    const bool is_and = e.op == py::Op::and_;
    if (const auto known = known_truth(v)) return *known == is_and ? logic(e, at + 1, env) : v;
    const auto rest = [&] { return logic(e, at + 1, env); };
    if (is_and) return emitter_.branch(v, rest, [] { return Value::boolean(false); });
    return emitter_.branch(
        v, [] { return Value::boolean(true); }, rest);
  }

  Value unary(const py::Expr& e, const Env& env) {
    const Value v = eval(*e.items[0], env);
    if (e.op == py::Op::not_) {
      if (const auto known = known_truth(v)) return Value::boolean(!*known);
      return emitter_.builtin("not_", {v});
    }
    if (auto folded = fold_unary(e.op, v)) return *folded;
    const Value args[] = {v};
    return emitter_.call(fmt::format("operator.{}", py::op_name(e.op)), args, {});
  }

  Value binary(py::Op op, const Value& a, const Value& b) {
    if (auto folded = fold_binary(op, a, b)) return *folded;
    const Value args[] = {a, b};
    return emitter_.call(fmt::format("operator.{}", py::op_name(op)), args, {});
  }

  Value compare(const py::Expr& e, const Env& env) {
    const py::Op op = e.ops[0];
    const Value a = eval(*e.items[0], env), b = eval(*e.items[1], env);
    if (op == py::Op::is) {
      if (a == b) return Value::boolean(true);
      if (!a.is_node() || !b.is_node()) return Value::boolean(false);
      return emitter_.builtin("is_same", {a, b});
    }
    if (op == py::Op::in) {
      if (!a.is_node()) return Value::boolean(std::find(b.items.begin(), b.items.end(), a) != b.items.end());
      return emitter_.builtin("in", {a, b});
    }
    if (auto folded = fold_compare(op, a, b)) return Value::boolean(*folded);
    const Value args[] = {a, b};
    return emitter_.call(fmt::format("operator.{}", py::op_name(op)), args, {});
  }

  Value subscript(const py::Expr& e, const Env& env) {
    const Value index = eval(*e.items[1], env);
    const py::Expr* dict = e.items[0]->kind == py::ExprKind::dict ? e.items[0] : nullptr;
    if (e.items[0]->kind == py::ExprKind::name)
      if (const Local* local = find(env, e.items[0]->text)) dict = local->dict;
    if (dict == nullptr) return getitem(eval(*e.items[0], env), index);
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < dict->items.size(); i += 2) {
      const Value key = eval(*dict->items[i], env);
      if (key == index) return eval(*dict->items[i + 1], env);
      keys.push_back(key.text);
    }
    emitter_.error(Code::argument,
                   fmt::format("{}: '{}' is not one of {}", spelling_, index.text, fmt::join(keys, ", ")), {});
  }

  // An item of a sequence that is known is taken while lowering.
  Value getitem(const Value& object, const Value& index) {
    if (object.is_sequence() && index.kind == ValueKind::integer) {
      const auto n = static_cast<std::int64_t>(object.items.size());
      const std::int64_t i = index.integer < 0 ? index.integer + n : index.integer;
      if (i < 0 || i >= n) emitter_.error(Code::argument, fmt::format("index {} of {} values", index.integer, n), {});
      return object.items[static_cast<std::size_t>(i)];
    }
    return emitter_.builtin("getitem", {object, index});
  }

  struct Arguments {
    std::vector<Value> args;
    std::vector<Kwarg> kwargs;
  };
  Arguments arguments(const py::Expr& e, const Env& env) {
    Arguments out;
    for (const py::Expr* item : e.items.subspan(1)) out.args.push_back(eval(*item, env));
    for (const py::Keyword& k : e.keywords) out.kwargs.push_back({std::string(k.name), eval(*k.value, env)});
    return out;
  }

  Value call(const py::Expr& e, const Env& env) {
    const py::Expr& callee = *e.items[0];
    if (callee.kind == py::ExprKind::name) return named_call(e, env);
    if (callee.kind != py::ExprKind::attribute) internal(py::print(e));
    const std::string path = py::dotted_name(callee);
    const std::string_view root = std::string_view(path).substr(0, path.find('.'));
    if (path.empty() || find(env, root) != nullptr) {  // a method of a value
      const Value object = eval(*callee.items[0], env);
      Arguments a = arguments(e, env);
      a.args.insert(a.args.begin(), object);
      return emitter_.call("." + std::string(callee.text), a.args, a.kwargs);
    }
    Arguments a = arguments(e, env);
    if (root == "py") return python_builtin(path.substr(3), std::move(a.args));
    if (root == "aten") {
      const std::string name = path.substr(5);
      const std::size_t dot = name.find('.');
      return emitter_.aten(name.substr(0, dot), dot == std::string::npos ? std::string() : name.substr(dot + 1), a.args,
                           a.kwargs);
    }
    return emitter_.call(path, a.args, a.kwargs);
  }

  Value python_builtin(const std::string& name, std::vector<Value> args) {
    if (name == "getitem") return getitem(args[0], args[1]);
    const py::Op op = py::op_of_name(name);
    if (op != py::Op::none && args.size() == 2) {
      if (auto folded = fold_binary(op, args[0], args[1])) return *folded;
      if (auto folded = fold_compare(op, args[0], args[1])) return Value::boolean(*folded);
    }
    if (op != py::Op::none && args.size() == 1)
      if (auto folded = fold_unary(op, args[0])) return *folded;
    if (name == "float" && args[0].is_number())
      return Value::of(args[0].kind == ValueKind::real ? args[0].real : static_cast<double>(args[0].integer));
    if (name == "len" && args[0].is_sequence()) return Value::of(static_cast<std::int64_t>(args[0].items.size()));
    return emitter_.builtin(name, std::move(args));
  }

  // The questions that are answered while lowering, and helpers of the rows' files.
  Value named_call(const py::Expr& e, const Env& env) {
    const std::string_view f = e.items[0]->text;
    Arguments a = arguments(e, env);
    if (f == "len") {
      if (!a.args[0].is_sequence()) return emitter_.builtin("len", {a.args[0]});
      return Value::of(static_cast<std::int64_t>(a.args[0].items.size()));
    }
    if (f.starts_with("is_") && a.args.size() == 1) {
      const Ty t = emitter_.type(a.args[0]);
      if (f == "is_tensor")
        return t == Ty::any ? emitter_.builtin("is_tensor", {a.args[0]}) : Value::boolean(t == Ty::tensor);
      if (f == "is_none")
        return t == Ty::any ? emitter_.builtin("is_none", {a.args[0]}) : Value::boolean(t == Ty::none);
      if (f == "is_int") return Value::boolean(t == Ty::integer || t == Ty::number);
      if (f == "is_number")
        return Value::boolean(t == Ty::integer || t == Ty::real || t == Ty::boolean || t == Ty::number);
      if (f == "is_real") return Value::boolean(t == Ty::real);
      if (f == "is_string") return Value::boolean(t == Ty::string);
      if (f == "is_dtype") return Value::boolean(t == Ty::dtype);
      if (f == "is_sequence") return Value::boolean(a.args[0].is_sequence() || t == Ty::tensors || t == Ty::integers);
    }
    const py::Stmt* helper = op_helper_find(f);
    if (helper == nullptr) internal(std::string(f));
    return function(*helper, a.args, a.kwargs);
  }

  Emitter& emitter_;
  std::string_view spelling_;
};

}  // namespace

Value evaluate_row(Emitter& emitter, const OpRow& row, std::string_view spelling, std::span<const Value> args,
                   std::span<const Kwarg> kwargs) {
  return RowEval(emitter, spelling).function(*row.function, args, kwargs);
}

}  // namespace passnet
