// Expressions: operators, subscripts, conditions.
#include <algorithm>

#include "graph/dtype.h"
#include "py/arithmetic.h"
#include "py/printer.h"
#include "tile/lowering.h"

namespace passnet::tile {

using E = py::ExprKind;
using O = py::Op;

namespace {

constexpr std::size_t kMostItems = 4096;  // of a tuple

// Whether an operand has no more parts than there is room for, nor lies deeper: t = (t, t) doubles them.
bool fits(const Operand& v, std::size_t& room, int depth) {
  if (depth == 0 || room-- == 0) return false;
  return std::all_of(v.items.begin(), v.items.end(), [&](const Operand& item) { return fits(item, room, depth - 1); });
}

}  // namespace

Operand Lowering::slice_of(const std::vector<Operand>& items, const Operand& slice) const {
  const auto size = static_cast<std::int64_t>(items.size());
  const auto given = [&](std::size_t part) -> std::optional<std::int64_t> {
    if (slice.items[part].is_none()) return std::nullopt;
    if (!slice.items[part].is_integer()) refuse("the bounds of a slice must be constants");
    return slice.items[part].constant.integer.clamped();
  };
  const std::int64_t by = given(2).value_or(1);
  if (by == 0) refuse("a slice's step is 0");
  const std::int64_t first = by > 0 ? 0 : size - 1, behind = by > 0 ? size : -1;
  const auto bound = [&](std::size_t part, std::int64_t otherwise) {
    const auto at = given(part);
    if (!at) return otherwise;
    return std::clamp(*at + (*at < 0 ? size : 0), std::min(first, behind), std::max(first, behind));
  };
  const std::int64_t begin = bound(0, first), end = bound(1, behind);
  std::vector<Operand> out;
  for (std::int64_t i = begin; by > 0 ? i < end : i > end; i += by) {
    out.push_back(items[static_cast<std::size_t>(i)]);
    if (by > size || -by > size) break;
  }
  return Operand::tuple(std::move(out));
}

Operand Lowering::eval(const py::Expr& e) {
  step();
  const At at(*this, e.place);
  Operand out = eval_one(e);
  constexpr int kDeepest = 64;
  std::size_t room = 1 << 14;
  if (!fits(out, room, kDeepest)) refuse("the tuple is too long or too deep", {}, ErrorCode::limit);
  return out;
}

Operand Lowering::eval_one(const py::Expr& e) {
  switch (e.kind) {
    case E::name: return eval_name(e);
    case E::none: return {};
    case E::boolean: return Operand::of(ConstValue::boolean(e.integer != 0));
    case E::integer: return Operand::of(ConstValue::of(e.integer));
    case E::big_integer:
      if (const auto v = py::integer_of(e)) return Operand::of(ConstValue::of(*v));
      refuse(std::string(kIntegerTooLarge), {}, ErrorCode::limit);
    case E::real: return Operand::of(ConstValue::of(e.real));
    case E::string: return Operand::of(ConstValue::string(std::string(e.text)));
    case E::fstring: return Operand::of(ConstValue::string(eval_fstring(e)));
    case E::tuple:
    case E::list: {
      std::vector<Operand> items;
      for (const py::Expr* item : e.items) {
        if (item->kind == E::starred) refuse("'*' in a tuple", "add tuples: a + (x,)");
        items.push_back(eval(*item));
      }
      return Operand::tuple(std::move(items));
    }
    case E::unary: return unary(e.op, eval(*e.items[0]));
    case E::binary: {
      const Operand a = eval(*e.items[0]);
      return binary(e.op, a, eval(*e.items[1]));
    }
    case E::logic: return eval_logic(e);
    case E::compare: return eval_compare(e);
    case E::call: return eval_call(e);
    case E::attribute: return eval_attribute(e);
    case E::subscript: return eval_subscript(e);
    case E::slice: {
      Operand out;
      out.kind = Operand::Kind::slice;
      for (const py::Expr* item : e.items) out.items.push_back(item == nullptr ? Operand{} : eval(*item));
      return out;
    }
    case E::conditional: return conditional(e);
    case E::list_comp: return eval_comprehension(e);
    case E::ellipsis: refuse("'...' in a kernel", "write one ':' per dimension");
    case E::lambda: refuse("a lambda in a kernel", "write a function under @triton.jit");
    case E::named: refuse("':=' in a kernel", "assign on a line of its own");
    default: refuse(fmt::format("'{}' in a kernel", py::print(e).substr(0, 60)));
  }
}

// ---- subscripts

Operand Lowering::eval_subscript(const py::Expr& e) {
  const Operand object = eval(*e.items[0]);
  const Operand index = eval(*e.items[1]);
  if (object.is(Operand::Kind::tuple)) {
    const auto size = static_cast<std::int64_t>(object.items.size());
    if (index.is_integer()) {
      const std::int64_t given = index.constant.integer.clamped(), i = given + (given < 0 ? size : 0);
      if (i < 0 || i >= size)
        refuse(fmt::format("index {} of {} values", index.constant.integer.text(), size),
               size > 0 ? "" : "pointers and numbers have no shape; give sizes as arguments");
      return object.items[static_cast<std::size_t>(i)];
    }
    if (index.is(Operand::Kind::slice)) return slice_of(object.items, index);
    refuse("a tuple is indexed by a constant", "unroll with tl.static_range");
  }
  if (!object.is_tensor()) refuse(fmt::format("{} cannot be indexed", operand_text(object)));
  const std::vector<Operand> dims = index.is(Operand::Kind::tuple) ? index.items : std::vector<Operand>{index};
  ValueId out = object.id;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const Operand& i = dims[d];
    if (i.is_none()) {
      // of a scalar, where the one new dimension goes does not matter: row_max[:, None]
      out = expand_dims(out, type(out).is_tile() ? static_cast<int>(d) : 0);
      continue;
    }
    if (i.is(Operand::Kind::slice)) {
      if (std::all_of(i.items.begin(), i.items.end(), [](const Operand& v) { return v.is_none(); })) continue;
      refuse("a slice of a tile", "load the part that is needed: tl.load(ptr + offsets, mask=...)");
    }
    if (type(object.id).pointer)
      refuse("a pointer cannot be indexed", "read with tl.load(ptr + i), write with tl.store(ptr + i, value)");
    refuse(
        "an element of a tile cannot be picked by its index",
        "load it from memory with tl.load(ptr + i), or reduce: tl.sum(tl.where(tl.arange(0, N) == i, x, 0), axis=0)");
  }
  return Operand::tensor(out);
}

// ---- operators

Operand Lowering::unary(O op, const Operand& a) {
  if (a.is_constant()) {
    Folded f = fold_unary(op, a.constant);
    if (!f.error.empty()) refuse(f.error, {}, f.code);
    return Operand::of(std::move(f.value));
  }
  const ValueId v = to_tensor(a);
  const Type& t = type(v);
  if (op == O::pos) return a;
  if (op == O::not_ && t.pointer && !t.is_tile())
    return Operand::tensor(constant(ConstValue::boolean(false), Elem::i1));
  if (op == O::not_) {
    if (t.elem != Elem::i1 || t.pointer)
      refuse(fmt::format("'not' of {}", triton_type(t)), "compare first: write x == 0");
    return Operand::tensor(emit1(Code::bit_not, v));
  }
  if (t.pointer || (op == O::invert && is_float(t.elem)))
    refuse(fmt::format("'{}' of {}", op_text(op), triton_type(t)));
  if (op == O::invert) return Operand::tensor(emit1(Code::bit_not, v));
  if (is_float(t.elem)) return Operand::tensor(emit2(Code::sub, real_like(0, v), v));  // 0 - x: of 0 it is 0, not -0
  return Operand::tensor(emit1(Code::neg, v));
}

Operand Lowering::binary(O op, const Operand& a, const Operand& b) {
  if ((a.is_constant() || a.is(Operand::Kind::tuple)) && b.is_constant() && !a.is_tensor()) {
    if (a.is(Operand::Kind::tuple)) {
      if (op != O::mul || !b.is_integer())
        refuse("this operation on a tuple", "unpack it, a, b = x, or take one: x[0]");
      std::vector<Operand> items;
      for (std::int64_t i = 0; b.constant.integer > i && !a.items.empty(); ++i) {
        items.insert(items.end(), a.items.begin(), a.items.end());
        if (items.size() > kMostItems) refuse("the tuple is too long", {}, ErrorCode::limit);
      }
      step(items.size());
      return Operand::tuple(std::move(items));
    }
    Folded f = fold_binary(op, a.constant, b.constant);
    if (!f.error.empty()) refuse(f.error, {}, f.code);
    return Operand::of(std::move(f.value));
  }
  if (a.is(Operand::Kind::tuple) && b.is(Operand::Kind::tuple) && op == O::add) {
    std::vector<Operand> items = a.items;
    items.insert(items.end(), b.items.begin(), b.items.end());
    step(items.size());
    if (items.size() > kMostItems) refuse("the tuple is too long", {}, ErrorCode::limit);
    return Operand::tuple(std::move(items));
  }
  if (op >= O::lt && op <= O::ne) return compare(op, a, b);
  switch (op) {
    case O::add:
    case O::sub: {
      auto [x, y] = pair(a, b, {true, op == O::add});
      if (type(x).pointer && type(y).pointer) refuse("two pointers added", "add an integer offset to a pointer");
      if (type(y).pointer) std::swap(x, y);
      if (!type(x).pointer) return Operand::tensor(emit2(op == O::add ? Code::add : Code::sub, x, y));
      if (op == O::sub) y = emit1(Code::neg, y);
      const Elem e = type(y).elem;
      if (!elem_row(e).is_signed && elem_row(e).bits < 64) y = cast(y, Elem::i64);  // offsets are signed
      return Operand::tensor(emit(Code::addptr, {x, y}, type(x)));
    }
    case O::mul: {
      const auto [x, y] = pair(a, b);
      return Operand::tensor(emit2(Code::mul, x, y));
    }
    case O::div: {
      auto [x, y] = pair(a, b, {false, false, true, true});
      if (!is_float(type(x).elem)) {
        x = cast(x, Elem::f32);
        y = cast(y, Elem::f32);
      }
      return Operand::tensor(emit2(Code::div, x, y));
    }
    case O::floor_div:
    case O::mod: {
      const auto [x, y] = pair(a, b, {false, false, true, true});
      if (op == O::floor_div && is_float(type(x).elem))
        refuse("'//' of floating-point values", "write tl.floor(x / y)");
      return Operand::tensor(emit2(op == O::mod ? Code::rem : Code::div, x, y));
    }
    case O::bit_and:
    case O::bit_or:
    case O::bit_xor:
    case O::shift_left:
    case O::shift_right: {
      const auto [x, y] = pair(a, b);
      if (is_float(type(x).elem))
        refuse(fmt::format("'{}' of floating-point values", op_text(op)),
               op == O::bit_and || op == O::bit_or ? "compare first: (x > 0) & (y > 0)" : "");
      constexpr std::pair<O, Code> kCodes[] = {{O::bit_and, Code::bit_and},
                                               {O::bit_or, Code::bit_or},
                                               {O::bit_xor, Code::bit_xor},
                                               {O::shift_left, Code::shl},
                                               {O::shift_right, Code::shr}};
      for (const auto& [o, code] : kCodes)
        if (o == op) return Operand::tensor(emit2(code, x, y));
      break;
    }
    case O::pow: return power(a, b);
    case O::mat_mul: refuse("'@' in a kernel", "write tl.dot(a, b)");
    default: break;
  }
  refuse(fmt::format("'{}' in a kernel", op_text(op)));
}

Operand Lowering::compare(O op, const Operand& a, const Operand& b) {
  constexpr std::pair<O, Code> kCodes[] = {{O::lt, Code::lt}, {O::le, Code::le}, {O::gt, Code::gt},
                                           {O::ge, Code::ge}, {O::eq, Code::eq}, {O::ne, Code::ne}};
  // a literal has its own type here: x < 0.5 compares a float16 tile in float32
  const auto [x, y] = pair(Operand::tensor(to_tensor(a)), Operand::tensor(to_tensor(b)));
  for (const auto& [o, code] : kCodes)
    if (o == op) return Operand::tensor(emit_compare(code, x, y));
  refuse(fmt::format("'{}' in a kernel", op_text(op)));
}

Operand Lowering::eval_compare(const py::Expr& e) {
  if (e.ops.size() != 1) refuse("a chained comparison", "write (a <= x) & (x < b)");
  const O op = e.ops[0];
  const Operand a = eval(*e.items[0]);
  const Operand b = eval(*e.items[1]);
  if (op == O::in || op == O::not_in)
    refuse(fmt::format("'{}' in a kernel", op_text(op)), "compare with each value: (x == a) or (x == b)");
  if (op == O::is || op == O::is_not) return Operand::of(ConstValue::boolean(same(a, b) == (op == O::is)));
  if (a.is(Operand::Kind::tuple) && b.is(Operand::Kind::tuple) && (op == O::eq || op == O::ne))
    return Operand::of(ConstValue::boolean(equal(a, b) == (op == O::eq)));
  // torch's own types are none of the language's, as in Triton: x.dtype == torch.float16 is false
  const auto torch_type = [](const Operand& v) {
    return v.is(Operand::Kind::path) && v.text.starts_with("torch.") && dtype_from_name(v.text);
  };
  if (((torch_type(a) && b.is_constant()) || (a.is_constant() && torch_type(b))) && (op == O::eq || op == O::ne))
    return Operand::of(ConstValue::boolean(op == O::ne));
  // None, strings and types compare at once with anything
  const auto plain = [](const Operand& v) { return v.is_constant() && !v.is_number(); };
  if (!(a.is_constant() && b.is_constant()) && (plain(a) || plain(b)) && (op == O::eq || op == O::ne))
    refuse(fmt::format("{} compared with {}", operand_text(a), operand_text(b)), "compare with None by 'is'");
  return binary(op, a, b);
}

// `and`, `or`: a constant decides at once as in Python, or is left out; a value that is left alone is the answer,
// whatever its type; several are i1.
Operand Lowering::eval_logic(const py::Expr& e) {
  const bool is_and = e.op == O::and_;
  std::vector<ValueId> values;
  Operand last;
  for (const py::Expr* item : e.items) {
    last = eval(*item);
    if (last.is_tensor())
      values.push_back(last.id);
    else if (truth(last, op_text(e.op)) != is_and)
      return last;
  }
  if (values.empty()) return last;
  ValueId out = values[0];
  for (std::size_t i = 0; i < values.size() && values.size() > 1; ++i) {
    ValueId next = values[i];
    if (const Type& t = type(next); t.elem != Elem::i1 || t.pointer)
      refuse(fmt::format("'{}' of {}", op_text(e.op), triton_type(t)), "compare first: (n > 0) and (m > 0)");
    if (i == 0) continue;
    broadcast_pair(out, next);
    out = emit2(is_and ? Code::bit_and : Code::bit_or, out, next);
  }
  return Operand::tensor(out);
}

bool Lowering::truth(const Operand& v, std::string_view what) {
  if (v.is_constant()) return v.constant.truth();
  if (v.is(Operand::Kind::tuple)) return !v.items.empty();
  refuse(fmt::format("{} as a condition of {}", operand_text(v), what));
}

// A constant that decides which code is compiled: Triton takes bools, integers and None.
bool Lowering::decided(const Operand& v, std::string_view what) {
  if (v.is(Operand::Kind::tuple) || (v.is_constant() && !v.is_none() && !v.is_integer()))
    refuse(fmt::format("{} as a condition of {}", operand_text(v), what),
           "Triton takes bools, integers and None: compare it, mode == \"relu\", or x is not None");
  return truth(v, what);
}

// A run-time condition as an i1 scalar; of an if in a function of elements one for each.
ValueId Lowering::condition(const Operand& v, std::string_view what) {
  ValueId c = to_tensor(v);
  const Type t = type(c);
  if (t.pointer && !t.is_tile()) return constant(ConstValue::boolean(true), Elem::i1);  // None is a constant
  if (lanes_ && what != "while") return cast(c, Elem::i1);
  if (t.shape.elements() != 1)
    refuse(fmt::format("{} as the condition of {}", operand_text(v), what),
           lanes_ ? "elements are combined together: a loop runs as often for each"
                  : "a condition is a scalar; choose per element with tl.where, or reduce the tile first");
  return cast(reshape(c, {}), Elem::i1);
}

Operand Lowering::eval_comprehension(const py::Expr& e) {
  if (e.clauses().size() != 1 || !e.clauses()[0].conditions.empty() || e.clauses()[0].target->kind != E::name)
    refuse("this comprehension in a kernel", "one 'for' over a tuple, without 'if'");
  const Operand many = eval(*e.clauses()[0].iterable);
  if (!many.is(Operand::Kind::tuple)) refuse("a comprehension goes over a tuple");
  std::vector<Operand> items;
  for (const Operand& one : many.items) {
    set_name(e.clauses()[0].target->text, one);
    items.push_back(eval(*e.items[0]));
  }
  return Operand::tuple(std::move(items));
}

std::string Lowering::eval_fstring(const py::Expr& e) {
  std::string out;
  for (const py::Expr* part : e.items) {
    if (part->kind == E::string) {
      out += part->text;
      continue;
    }
    const Operand v = eval(*part->items[0]);
    if (!v.is_constant()) refuse("an f-string of a value computed when the kernel runs", "only constants have a text");
    const bool plain = v.constant.is(ConstValue::Kind::string) && part->text != "r";
    out += plain ? v.constant.text : constant_text(v.constant);
    if (out.size() > 65536) refuse("the string is too long", {}, ErrorCode::limit);
  }
  return out;
}

}  // namespace passnet::tile
