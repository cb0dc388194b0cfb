// Expressions of a host program.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "fx/literals.h"
#include "host/machine.h"
#include "py/printer.h"

namespace passnet {

using Kind = HostValue::Kind;

HostValue* HostMachine::find_local(std::string_view name, Frame& frame) {
  for (HostScope* scope = frame.scope.get(); scope != nullptr; scope = scope->parent.get())
    if (HostValue* found = scope->find(name)) return found;
  return nullptr;
}

HostValue HostMachine::eval_name(const py::Expr& e, Frame& frame) {
  if (HostValue* found = find_local(e.text, frame)) return *found;
  return module_value(*frame.module, e.text, e.place);
}

HostValue HostMachine::eval(const py::Expr& e, Frame& frame) {
  constexpr std::size_t kBytesAStep = 64;  // of a string, which takes memory
  step(e.place);
  if (nesting_ >= kDeepestStack) refuse(Code::limit, "expressions and calls are nested too deeply", e.place);
  ++nesting_;
  HostValue v = eval_one(e, frame);
  --nesting_;
  steps_ += static_cast<std::int64_t>(v.text.size() / kBytesAStep);
  return v;
}

HostValue HostMachine::eval_one(const py::Expr& e, Frame& frame) {
  using K = py::ExprKind;
  switch (e.kind) {
    case K::name: return eval_name(e, frame);
    case K::none: return {};
    case K::boolean: return HostValue::boolean(e.integer != 0);
    case K::integer: return HostValue::of(e.integer);
    case K::big_integer:
      if (const auto v = py::integer_of(e)) return HostValue::of(*v);
      too_large(e.place);
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
      if (e.kind != K::set) return HostValue::sequence(e.kind == K::tuple ? Kind::tuple : Kind::list, std::move(items));
      HostValue out = HostValue::sequence(Kind::set, {});
      for (HostValue& item : items) add_unique(*out.items, std::move(item), e.place);
      return out;
    }
    case K::dict: {
      HostValue out = HostValue::sequence(Kind::dict, {});
      for (std::size_t i = 0; i < e.items.size(); i += 2) {
        if (e.items[i] == nullptr) {
          const HostValue other = eval(*e.items[i + 1], frame);
          if (!other.is(Kind::dict)) raise("TypeError", "'**' needs a dict", e.place);
          for (std::size_t j = 0; j + 1 < other.items->values.size(); j += 2)
            set_item(out, other.items->values[j], other.items->values[j + 1], e.place);
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
        if (item != e.items.back() && truth(v, item->place) != (e.op == py::Op::and_)) break;
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
    case K::lambda: return make_function(nullptr, &e, frame);
    case K::conditional: return eval(*e.items[truth(eval(*e.items[0], frame), e.items[0]->place) ? 1 : 2], frame);
    case K::list_comp:
    case K::set_comp:
    case K::dict_comp:
    case K::generator: return eval_comprehension(e, frame);
    case K::named: {
      const HostValue v = eval(*e.items[1], frame);
      const Within<std::shared_ptr<HostScope>> outside(frame.scope, frame.outside ? frame.outside : frame.scope);
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

HostValue HostMachine::eval_compare(const py::Expr& e, Frame& frame) {
  HostValue left = eval(*e.items[0], frame);
  for (std::size_t i = 0; i < e.ops.size(); ++i) {
    HostValue right = eval(*e.items[i + 1], frame);
    HostValue answer = HostValue::boolean(compare(e.ops[i], left, right, e.place));
    answer.is_constexpr = left.is_constexpr || right.is_constexpr;
    if (answer.integer == 0 || i + 1 == e.ops.size()) return answer;
    left = std::move(right);
  }
  return HostValue::boolean(true);
}

HostValue HostMachine::eval_call(const py::Expr& e, Frame& frame) {
  const HostValue callee = eval(*e.items[0], frame);
  HostArgs args;
  HostKwargs kwargs;
  eval_arguments(e, frame, args, kwargs);
  HostValue out = call(callee, std::move(args), std::move(kwargs), e.place);
  if (!abandoned_->frames.empty()) close_abandoned();
  return out;
}

void HostMachine::eval_arguments(const py::Expr& e, Frame& frame, HostArgs& args, HostKwargs& kwargs) {
  for (const py::Expr* item : e.items.subspan(1)) {
    if (item->kind == py::ExprKind::starred) {
      for (HostValue& v : iterate(eval(*item->items[0], frame), item->place)) args.push_back(std::move(v));
    } else {
      args.push_back(eval(*item, frame));
    }
  }
  for (const py::Keyword& k : e.keywords) {
    HostValue v = eval(*k.value, frame);
    if (!k.name.empty()) {
      if (keyword(kwargs, k.name) != nullptr)
        raise("TypeError", fmt::format("several values for keyword argument '{}'", k.name), k.place);
      kwargs.emplace_back(std::string(k.name), std::move(v));
      continue;
    }
    if (!v.is(Kind::dict)) raise("TypeError", "'**' needs a dict", k.place);
    for (std::size_t i = 0; i + 1 < v.items->values.size(); i += 2) {
      const std::string& name = string_of(v.items->values[i], k.place);
      if (keyword(kwargs, name) != nullptr)
        raise("TypeError", fmt::format("several values for keyword argument '{}'", name), k.place);
      kwargs.emplace_back(name, v.items->values[i + 1]);
    }
  }
}

HostValue HostMachine::eval_subscript(const py::Expr& e, Frame& frame) {
  const HostValue object = eval(*e.items[0], frame);
  const HostValue index = eval(*e.items[1], frame);
  if (!object.is(Kind::kernel)) return get_item(object, index, e.place);
  HostValue out;
  out.kind = Kind::launcher;
  out.launcher = std::make_shared<HostLauncher>(
      HostLauncher{object.kernel, object.module, std::make_shared<HostValue>(index), object.items, object.function});
  return out;
}

std::string HostMachine::eval_fstring(const py::Expr& e, Frame& frame) {
  std::string out;
  for (const py::Expr* item : e.items) {
    if (item->kind == py::ExprKind::string)
      out += item->text;
    else if (item->kind == py::ExprKind::fstring)
      out += eval_fstring(*item, frame);
    else {
      const HostValue v = eval(*item->items[0], frame);
      const std::string spec = item->items.size() > 1 ? eval_fstring(*item->items[1], frame) : std::string();
      const bool repr = item->text == "r" || item->text == "a";
      out += repr || item->text == "s" ? formatted(HostValue::string(text(v, repr, item->place)), spec, item->place)
                                       : formatted(v, spec, item->place);
    }
    check_length(out, e.place);
  }
  spend(out.size() / 64, e.place);
  return out;
}

HostValue HostMachine::unary(py::Op op, const HostValue& v, py::Place place) {
  HostValue out = op == py::Op::not_ ? HostValue::boolean(!truth(v, place)) : plain_unary(op, v, place);
  out.is_constexpr = v.is_constexpr;
  return out;
}

HostValue HostMachine::plain_unary(py::Op op, const HostValue& v, py::Place place) {
  if (v.is(Kind::object))
    if (auto made = own(v, op == py::Op::neg ? "__neg__" : op == py::Op::pos ? "__pos__" : "__invert__", {}, place))
      return std::move(*made);
  if (is_flag(v) && op == py::Op::invert) {  // all the others
    HostValue out = v;
    out.integer = 0;
    for (const HostClass::Field& f : v.klass->fields)
      out.integer = out.integer | (f.default_value.integer & ~v.integer);
    return out;
  }
  if (v.is(Kind::tensor)) refuse(Code::policy, "arithmetic on a tensor in a wrapper", place, "compute in a kernel");
  if (!v.is_number()) raise("TypeError", fmt::format("'{}' of a {}", py::op_text(op), host_type_name(v)), place);
  if (v.is_integral()) return of_result(py::integer_unary(op, v.integer), place);
  const auto folded = fold_unary(op, Value::of(v.real));
  if (!folded) raise("TypeError", fmt::format("'{}' of a float", py::op_text(op)), place);
  return HostValue::of(folded->real);
}

HostValue HostMachine::of_result(const py::WholeResult& result, py::Place place) {
  using Fault = py::WholeResult::Fault;
  switch (result.fault) {
    case Fault::zero_division: raise("ZeroDivisionError", "division by zero", place);
    case Fault::negative_shift: raise("ValueError", "negative shift count", place);
    case Fault::too_large: too_large(place);
    default: return HostValue::of(result.value);
  }
}

void HostMachine::too_large(py::Place place) const { refuse(Code::limit, std::string(kIntegerTooLarge), place); }

namespace {

bool is_type(const HostValue& v) {
  if (v.is(Kind::tuple) && !v.items->values.empty())
    return std::all_of(v.items->values.begin(), v.items->values.end(), is_type);
  return v.is(Kind::path) || v.is(Kind::klass) || v.is(Kind::none);
}

}  // namespace

// What is computed of a tl.constexpr is one, too.
HostValue HostMachine::binary(py::Op op, const HostValue& a, const HostValue& b, py::Place place) {
  HostValue out = plain_binary(op, a, b, place);
  out.is_constexpr = (a.is_constexpr || b.is_constexpr) && (out.is_number() || out.is(Kind::string));
  return out;
}

HostValue HostMachine::plain_binary(py::Op op, const HostValue& a, const HostValue& b, py::Place place) {
  if (a.is(Kind::tensor) || b.is(Kind::tensor))
    refuse(Code::policy, fmt::format("'{}' on a tensor in a wrapper", py::op_text(op)), place,
           "compute in a kernel; a wrapper works on shapes and numbers");
  const std::size_t kLongest = std::size_t{1} << (a.is(Kind::string) || b.is(Kind::string) ? 20 : 18);
  const auto length = [](const HostValue& v) {
    return v.is(Kind::string) ? v.text.size() : v.items ? v.items->values.size() : 0;
  };
  if (auto made = own_operator(op, a, b, place)) return std::move(*made);
  if (is_named_tuple(a) || is_named_tuple(b)) return binary(op, plain_tuple(a), plain_tuple(b), place);
  if (op == py::Op::add && length(a) + length(b) > kLongest)
    refuse(Code::limit, "a list or a string grows too long", place);
  if (op == py::Op::add && a.kind == b.kind && (a.is(Kind::list) || a.is(Kind::tuple))) {
    spend((length(a) + length(b)) / 2, place);
    std::vector<HostValue> out = a.items->values;
    out.insert(out.end(), b.items->values.begin(), b.items->values.end());
    HostValue sum = HostValue::sequence(a.kind, std::move(out));
    if (a.is(Kind::tuple)) sum.text = a.text.empty() ? b.text : a.text;  // one torch.Size makes another of both
    return sum;
  }
  if (op == py::Op::add && a.is(Kind::string) && b.is(Kind::string)) {
    spend((length(a) + length(b)) / 64, place);
    return HostValue::string(a.text.get() + b.text.get());
  }
  if (op == py::Op::bit_or && is_type(a) && is_type(b) && !(a.is(Kind::none) && b.is(Kind::none)))
    return HostValue::sequence(Kind::tuple, {a, b});  // int | float, as isinstance takes it
  if (op == py::Op::mod && a.is(Kind::string)) return HostValue::string(format_percent(a.text, b, place));
  const bool counters = a.is(Kind::dict) && b.is(Kind::dict) && a.items->type == kCounter && b.items->type == kCounter;
  if (counters && (op == py::Op::add || op == py::Op::sub || op == py::Op::bit_and || op == py::Op::bit_or))
    return combined(op, a, b, place);
  if (op == py::Op::bit_or && a.is(Kind::dict) && b.is(Kind::dict)) {
    HostValue out = HostValue::sequence(Kind::dict, a.items->values);
    call_method(out, "update", {b}, {}, place);
    return out;
  }
  if (a.is(Kind::dict_view) || (b.is(Kind::dict_view) && a.is(Kind::set))) {  // with whatever can be iterated
    const HostValue x = as_set(a, place);
    const bool set_op = op == py::Op::bit_or || op == py::Op::bit_and || op == py::Op::sub || op == py::Op::bit_xor;
    if (x.is(Kind::set) && set_op) return binary(op, x, HostValue::sequence(Kind::set, iterate(b, place)), place);
  }
  if (a.is(Kind::set) && b.is(Kind::set)) {
    constexpr std::pair<py::Op, const char*> kSets[] = {{py::Op::bit_or, "union"},
                                                        {py::Op::bit_and, "intersection"},
                                                        {py::Op::sub, "difference"},
                                                        {py::Op::bit_xor, "symmetric_difference"}};
    for (const auto& [set_op, method] : kSets)
      if (op == set_op) return call_method(a, method, {b}, {}, place);
  }
  const bool repeat_a = a.is(Kind::list) || a.is(Kind::tuple) || a.is(Kind::string),
             repeat_b = b.is(Kind::list) || b.is(Kind::tuple) || b.is(Kind::string);
  if (op == py::Op::mul && (repeat_a ? b.is_integral() : repeat_b && a.is_integral())) {
    const HostValue& base = repeat_a ? a : b;
    const std::int64_t times = std::max<std::int64_t>((repeat_a ? b : a).integer.clamped(), 0);
    if (length(base) > 0 && static_cast<std::size_t>(times) > kLongest / length(base))
      refuse(Code::limit, "a list or a string grows too long", place);
    if (base.is(Kind::string)) {
      std::string out;
      spend(static_cast<std::size_t>(times) * length(base) / 64, place);
      for (std::int64_t i = 0; i < times; ++i) out += base.text.get();
      return HostValue::string(std::move(out));
    }
    spend(static_cast<std::size_t>(times) * length(base) / 2, place);
    std::vector<HostValue> out;
    for (std::int64_t i = 0; i < times; ++i)
      out.insert(out.end(), base.items->values.begin(), base.items->values.end());
    HostValue repeated = HostValue::sequence(base.kind, std::move(out));
    if (base.is(Kind::tuple)) repeated.text = base.text;
    return repeated;
  }
  if (!a.is_number() || !b.is_number())
    raise("TypeError",
          fmt::format("'{}' is not supported between {} and {}", py::op_text(op), host_type_name(a), host_type_name(b)),
          place);
  return arithmetic(op, a, b, place);
}

HostValue HostMachine::arithmetic(py::Op op, const HostValue& a, const HostValue& b, py::Place place) {
  const bool bitwise = op == py::Op::bit_and || op == py::Op::bit_or || op == py::Op::bit_xor;
  const bool whole_only = bitwise || op == py::Op::shift_left || op == py::Op::shift_right || op == py::Op::mat_mul;
  const bool whole = a.is_integral() && b.is_integral();
  if (op == py::Op::mat_mul || (whole_only && !whole))
    raise("TypeError",
          fmt::format("'{}' is not supported between {} and {}", py::op_text(op), host_type_name(a), host_type_name(b)),
          place);
  const bool zero = b.as_real() == 0 && (op == py::Op::div || op == py::Op::floor_div || op == py::Op::mod);
  const bool zero_power = op == py::Op::pow && a.as_real() == 0 && b.as_real() < 0;
  if (zero || zero_power) raise("ZeroDivisionError", "division by zero", place);
  if (whole && op == py::Op::div) return HostValue::of(ratio(a.integer, b.integer));
  if (whole && !(op == py::Op::pow && b.integer < 0)) {
    HostValue out = of_result(py::integer_binary(op, a.integer, b.integer), place);
    return bitwise && a.is(Kind::boolean) && b.is(Kind::boolean) ? HostValue::boolean(out.integer != 0) : out;
  }
  const auto folded = fold_binary(op, Value::of(a.as_real()), Value::of(b.as_real()));
  if (!folded) raise("OverflowError", "the result is no float", place);
  return HostValue::of(folded->real);
}

}  // namespace passnet
