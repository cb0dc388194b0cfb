// Types: literals, promotion, casts and broadcasting, by Triton's rules.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tile/lowering.h"

namespace passnet::tile {

// ---- constants

// The type a literal has where nothing else decides: of an integer the first that holds it.
Elem Lowering::literal_elem(const ConstValue& v) {
  if (v.is(ConstValue::Kind::boolean)) return Elem::i1;
  if (v.is(ConstValue::Kind::integer)) {
    for (const Elem elem : {Elem::i32, Elem::u32, Elem::i64, Elem::u64})
      if (holds(elem, v.integer)) return elem;
    refuse(fmt::format("the integer {} is a value of no type", v.integer.text()),
           "values are integers from -2**63 to 2**64 - 1; constants may go beyond: NAME: tl.constexpr = ...");
  }
  const double a = std::abs(v.real);
  const bool single = a == 0 || !std::isfinite(a) || (a >= 0x1p-126 && a <= std::numeric_limits<float>::max());
  return single ? Elem::f32 : Elem::f64;
}

ValueId Lowering::constant(const ConstValue& v, Elem elem, Shape shape) {
  if (!v.is_number()) refuse(fmt::format("{} is no number", constant_text(v)));
  Op op;
  op.code = Code::constant;
  if (is_float(elem)) {
    op.real = round_real(v.as_real(), elem);
  } else if (v.is(ConstValue::Kind::real)) {
    if (v.real != 0) refuse(fmt::format("{} for {}", constant_text(v), elem_row(elem).triton_name), "write an integer");
  } else if (elem == Elem::i1) {
    op.integer = v.integer != 0 ? 1 : 0;
  } else {
    if (!holds(elem, v.integer))
      refuse(fmt::format("{} is out of range for {}", v.integer.text(), elem_row(elem).triton_name),
             elem == Elem::i64 && holds(Elem::u64, v.integer) ? "cast the other operand with .to(tl.uint64)" : "");
    op.integer = static_cast<std::int64_t>(v.integer.low_bits());
  }
  return emit(std::move(op), {elem, false, shape});
}

ValueId Lowering::integer_like(const Integer& v, ValueId like) {
  return constant(ConstValue::of(v), type(like).elem, type(like).shape);
}

ValueId Lowering::real_like(double v, ValueId like) {
  return constant(ConstValue::of(v), type(like).elem, type(like).shape);
}

ValueId Lowering::to_tensor(const Operand& v) {
  if (v.is_tensor()) return v.id;
  if (v.is_number()) return constant(v.constant, literal_elem(v.constant));
  std::string note;
  if (v.is(Operand::Kind::path) || v.is(Operand::Kind::method) || v.is(Operand::Kind::function)) note = "call it";
  if (v.is(Operand::Kind::tuple)) note = "unpack it, a, b = x, or take one: x[0]";
  if (v.is_none()) note = "an argument that is None takes no part in arithmetic: put its use under if x is not None";
  refuse(fmt::format("{} where a value is needed", operand_text(v)), note);
}

// ---- promotion

Elem Lowering::integer_promote(Elem a, Elem b) {
  const ElemRow &x = elem_row(a), &y = elem_row(b);
  if (x.is_signed == y.is_signed) return x.bits > y.bits ? a : b;
  const bool a_unsigned = !x.is_signed;
  const ElemRow &u = a_unsigned ? x : y, &s = a_unsigned ? y : x;
  return u.bits >= s.bits ? u.elem : s.elem;
}

namespace {

int kind_rank(Elem e) { return e == Elem::i1 ? 0 : is_float(e) ? 2 : 1; }

}  // namespace

// The type two operands compute in. A literal whose kind (bool < integer < float) is not above the other's adopts the
// other's type; `/` and `%` on halves compute in float32.
Elem Lowering::computation_elem(Elem a, bool a_literal, Elem b, bool b_literal, bool division) {
  if (a_literal != b_literal) {
    const Elem literal = a_literal ? a : b, other = a_literal ? b : a;
    if (kind_rank(literal) <= kind_rank(other)) return division && is_half(other) ? Elem::f32 : other;
  }
  const auto either = [&](Elem e) { return a == e || b == e; };
  if (either(Elem::f64)) return Elem::f64;
  if (either(Elem::f32)) return Elem::f32;
  if (either(Elem::f16)) return division ? Elem::f32 : Elem::f16;
  if (a == Elem::bf16 && b == Elem::bf16) return division ? Elem::f32 : Elem::bf16;
  if (either(Elem::bf16)) return Elem::f32;
  if (division && elem_row(a).is_signed != elem_row(b).is_signed)
    refuse(fmt::format("/, // and % of {} and {}, one signed and one not", elem_row(a).triton_name,
                       elem_row(b).triton_name),
           "cast one of them with .to(...)");
  return integer_promote(a, b);
}

std::pair<ValueId, ValueId> Lowering::pair(const Operand& a, const Operand& b, Pairing how) {
  for (const Operand* v : {&a, &b})
    if (!v->is_tensor() && !v->is_number()) to_tensor(*v);  // says what is wrong
  const bool a_literal = a.is_number(), b_literal = b.is_number();
  const Type at = a_literal ? scalar_type(literal_elem(a.constant)) : type(a.id);
  const Type bt = b_literal ? scalar_type(literal_elem(b.constant)) : type(b.id);
  const auto check_pointer = [&](const Type& x, const Type& y, bool allowed) {
    if (!x.pointer) return;
    if (!allowed || (y.pointer && y.elem != x.elem) || (!y.pointer && is_float(y.elem)))
      refuse(fmt::format("this operation on {} and {}", triton_type(at), triton_type(bt)),
             "pointers take integer offsets (+ and -); tl.load gives what they point to");
  };
  check_pointer(at, bt, how.left_pointer);
  check_pointer(bt, at, how.right_pointer);
  ValueId x = a.id, y = b.id;
  if (how.arithmetic && !at.pointer && !bt.pointer) {
    const Elem e = computation_elem(at.elem, a_literal, bt.elem, b_literal, how.division);
    const bool is_unsigned = !is_float(e) && !elem_row(e).is_signed;
    for (const Operand* v : {&a, &b})
      if (v->is_number() && v->constant.as_real() < 0 && is_unsigned)
        refuse(fmt::format("the negative number {} with {}", constant_text(v->constant), elem_row(e).triton_name),
               "cast the tile to a signed type first");
    x = a_literal ? constant(a.constant, e, b_literal ? Shape{} : bt.shape) : cast(a.id, e);
    y = b_literal ? constant(b.constant, e, a_literal ? Shape{} : at.shape) : cast(b.id, e);
  } else {
    if (a_literal) x = constant(a.constant, at.elem, bt.shape);
    if (b_literal) y = constant(b.constant, bt.elem, at.shape);
  }
  broadcast_pair(x, y);
  return {x, y};
}

// ---- casts

ValueId Lowering::cast(ValueId v, Elem elem) {
  const Type& from = type(v);
  if (from.pointer)  // Triton can; but an answer that depends on where tensors lie is none
    refuse(fmt::format("{} cast to {}", triton_type(from), elem_row(elem).triton_name),
           "the address of a tensor is no number in a kernel, since an answer may not depend on it; compute offsets "
           "instead");
  if (from.elem == elem) return v;
  return emit(Code::cast, {v}, with_elem(from, elem));
}

// The nearest value, or the next one toward zero where that is beyond.
ValueId Lowering::cast_toward_zero(ValueId v, Elem elem) {
  const ValueId near = cast(v, elem);
  const ValueId back = cast(near, type(v).elem);
  const ValueId beyond = emit_compare(Code::gt, emit1(Code::abs, back), emit1(Code::abs, v));
  const ValueId bits = bitcast(near, elem_row(elem).bits == 16 ? Elem::i16 : Elem::i32);
  return bitcast(select(beyond, emit2(Code::sub, bits, integer_like(1, bits)), bits), elem);
}

ValueId Lowering::bitcast(ValueId v, Elem elem) {
  const Type& from = type(v);
  if (from.pointer) return cast(v, elem);
  if (from.elem == elem) return v;
  if (elem_row(from.elem).bits != elem_row(elem).bits)
    refuse(fmt::format("the bits of {} as {}: {} bits and {}", elem_row(from.elem).triton_name,
                       elem_row(elem).triton_name, elem_row(from.elem).bits, elem_row(elem).bits),
           "both types must have the same size");
  return emit(Code::bitcast, {v}, with_elem(from, elem));
}

// ---- shapes

ValueId Lowering::expand_dims(ValueId v, int axis) {
  const Type& from = type(v);
  if (from.shape.rank >= kRankLimit)
    refuse(fmt::format("a tile of more than {} dimensions", kRankLimit), {}, ErrorCode::limit);
  if (axis > from.shape.rank)
    refuse(fmt::format("{} has no place {} for a new dimension", triton_type(from), axis),
           "index with one ':' per dimension of the tile and None where a new one goes");
  Type to = {from.elem, from.pointer, {}};
  for (int i = 0; i <= from.shape.rank; ++i) {
    if (i == axis) to.shape.push(1);
    if (i < from.shape.rank) to.shape.push(from.shape[static_cast<std::size_t>(i)]);
  }
  if (!from.is_tile()) return emit(Code::splat, {v}, to);
  Op op;
  op.code = Code::expand_dims;
  op.operands = {v};
  op.axis = static_cast<std::int8_t>(axis);
  return emit(std::move(op), to);
}

ValueId Lowering::reshape(ValueId v, Shape shape) {
  const Type from = type(v);
  if (from.shape == shape) return v;
  if (from.shape.elements() != shape.elements())
    refuse(fmt::format("{} reshaped to {} elements", triton_type(from), shape.elements()),
           "a reshape keeps the number of elements");
  return emit(Code::reshape, {v}, {from.elem, from.pointer, shape});
}

ValueId Lowering::broadcast_to(ValueId v, Shape shape) {
  const Type from = type(v);
  if (from.shape == shape) return v;
  const Type to = {from.elem, from.pointer, shape};
  if (!from.is_tile()) return emit(Code::splat, {v}, to);
  bool fits = from.shape.rank == shape.rank;
  for (std::size_t i = 0; fits && i < shape.rank; ++i) fits = from.shape[i] == shape[i] || from.shape[i] == 1;
  if (!fits)
    refuse(fmt::format("{} does not broadcast to {}", triton_type(from), triton_type(to)),
           "sizes must be equal or 1, in the same number of dimensions: add some with x[:, None]");
  return emit(Code::broadcast, {v}, to);
}

void Lowering::broadcast_pair(ValueId& a, ValueId& b) {
  if (type(a).shape == type(b).shape) return;
  if (!type(a).is_tile() || !type(b).is_tile()) {
    const Shape shape = type(type(a).is_tile() ? a : b).shape;
    a = broadcast_to(a, shape);
    b = broadcast_to(b, shape);
    return;
  }
  const std::string before = fmt::format("{} and {}", triton_type(type(a)), triton_type(type(b)));
  Shape x = type(a).shape, y = type(b).shape;
  while (x.rank != y.rank) {
    ValueId& less = x.rank < y.rank ? a : b;
    less = expand_dims(less, 0);
    (x.rank < y.rank ? x : y) = type(less).shape;
  }
  Shape shape;
  for (std::size_t i = 0; i < x.rank; ++i) {
    if (x[i] != y[i] && x[i] != 1 && y[i] != 1)
      refuse(fmt::format("the shapes of {} do not fit: {} and {} in dimension {}", before, x[i], y[i], i),
             "sizes must be equal or 1: make rows and columns with x[:, None] and x[None, :]");
    shape.push(std::max(x[i], y[i]));
  }
  a = broadcast_to(a, shape);
  b = broadcast_to(b, shape);
}

}  // namespace passnet::tile
