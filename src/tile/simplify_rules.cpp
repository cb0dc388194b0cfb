// Rules that look at types, shapes and memory: a row each in kRows, the law above its function.
#include <cmath>

#include "tile/simplify.h"

namespace passnet::tile {

namespace {

Type shaped(const Type& t, const Shape& shape) { return {t.elem, t.pointer, shape}; }

// Constants

// op(constants) = constant
ValueId fold_constants(Rewriter& r, Op& op, const Type& type) {
  if (op.operands.empty() || op.operands.size() > 3 || type.pointer) return kNoMatch;
  Bits x[3]{};
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const auto bits = r.constant(op.operands[i]);
    if (!bits) return kNoMatch;
    x[i] = *bits;
  }
  const Elem elem = r.type(op.operands[0]).elem;
  const auto fold = [&]() -> std::optional<Bits> {
    switch (op.code) {
      case Code::cast: return scalar_cast(elem, type.elem, x[0]);
      case Code::bitcast: return x[0];
      case Code::select: return x[0] != 0 ? x[1] : x[2];
      case Code::fma: return scalar_fma(elem, x[0], x[1], x[2]);
      default: break;
    }
    switch (op_row(op.code).kind) {
      case OpClass::unary: return scalar_unary(op.code, elem, x[0]);
      case OpClass::binary: return scalar_binary(op.code, elem, x[0], x[1]);
      case OpClass::compare: return Bits{scalar_compare(op.code, elem, x[0], x[1])};
      default: return std::nullopt;
    }
  };
  const auto bits = fold();
  return bits ? r.make_constant(type, *bits) : kNoMatch;
}

// arange of one element = its start
ValueId arange_of_one(Rewriter& r, Op& op, const Type& type) {
  return type.shape[0] == 1 ? r.make_constant(type, bits_of_integer(Elem::i32, op.integer)) : kNoMatch;
}

// x / c = x * (1 / c) where c is a power of two and 1 / c a normal number: both are exact
ValueId divide_by_power(Rewriter& r, Op& op, const Type& type) {
  if (!is_float(type.elem)) return kNoMatch;
  const auto bits = r.constant(op.operands[1]);
  if (!bits) return kNoMatch;
  const double c = real_of(type.elem, *bits);
  int exponent = 0;
  if (!std::isfinite(c) || std::fabs(std::frexp(c, &exponent)) != 0.5) return kNoMatch;
  const int least = type.elem == Elem::f64 ? -1022 : type.elem == Elem::f16 ? -14 : -126;
  if (1 - exponent < least || 1 - exponent > 1 - least) return kNoMatch;  // 1 / c = 2 ^ (1 - exponent)
  return r.make(Code::mul, {op.operands[0], r.make_constant(type, bits_of_real(type.elem, 1 / c))}, type);
}

// Casts

// cast of x to its own type = x; bitcast too
ValueId cast_to_same(Rewriter& r, Op& op, const Type& type) {
  return r.type(op.operands[0]) == type ? op.operands[0] : kNoMatch;
}

int exact_bits(Elem e) {  // integers up to 2 ^ exact_bits are numbers of the float type
  switch (e) {
    case Elem::f16: return 11;
    case Elem::bf16: return 8;
    case Elem::f32: return 24;
    default: return 53;
  }
}

// Whether every number of `from` is one of `to`.
bool holds_all(Elem to, Elem from) {
  const ElemRow &t = elem_row(to), &f = elem_row(from);
  if (to == from) return true;
  if (f.floating) return t.floating && (to == Elem::f64 || (to == Elem::f32 && from != Elem::f64));
  const int magnitude = f.bits - (f.is_signed ? 1 : 0);
  if (t.floating) return magnitude <= exact_bits(to);
  return t.is_signed ? magnitude <= t.bits - 1 : !f.is_signed && f.bits <= t.bits;
}

// cast(cast(x, B), C) = cast(x, C) where the inner one keeps the number, or both only cut integers
ValueId cast_of_cast(Rewriter& r, Op& op, const Type& type) {
  const Op* inner = r.def(op.operands[0], Code::cast);
  if (inner == nullptr) return kNoMatch;
  const ValueId x = inner->operands[0];
  const Type &a = r.type(x), &b = r.type(op.operands[0]);
  if (a.pointer || b.pointer || type.pointer) return kNoMatch;
  const bool a_int = !is_float(a.elem), b_int = !is_float(b.elem), c_int = !is_float(type.elem);
  bool same = false;
  if (holds_all(b.elem, a.elem)) {
    same = true;
    if (a_int && !b_int && c_int) same = holds_all(type.elem, a.elem);     // floats saturate, integers wrap
    if (a_int && is_half(type.elem)) same = holds_all(Elem::f32, a.elem);  // integers reach halves through f32
    if (type.elem == Elem::i1) same = true;
  } else if (a_int && b_int && c_int) {
    const int b_bits = elem_row(b.elem).bits;
    same = b.elem != Elem::i1 && type.elem != Elem::i1 && elem_row(type.elem).bits <= b_bits &&
           elem_row(a.elem).bits >= b_bits;
  }
  return same ? r.make(Code::cast, {x}, type) : kNoMatch;
}

// cast(x: i1) != 0 = x; cast(x: i1) == 0 = not x
ValueId compare_of_truth(Rewriter& r, Op& op, const Type& type) {
  const Op* cast = r.def(op.operands[0], Code::cast);
  const auto zero = r.constant(op.operands[1]);
  if (cast == nullptr || !zero) return kNoMatch;
  const ValueId x = cast->operands[0];
  const Elem elem = r.type(op.operands[1]).elem;
  if (r.type(x).pointer || r.type(x).elem != Elem::i1 || scalar_cast(elem, Elem::i1, *zero) != 0) return kNoMatch;
  return op.code == Code::ne ? x : r.make(Code::bit_not, {x}, type);
}

// cast(x, i1) of an i1 cast to anything = the i1: cast_of_cast says it, i1 being held by all types.

// bitcast(bitcast(x)) = bitcast(x)
ValueId bitcast_of_bitcast(Rewriter& r, Op& op, const Type& type) {
  const Op* inner = r.def(op.operands[0], Code::bitcast);
  return inner == nullptr ? kNoMatch : r.make(Code::bitcast, {inner->operands[0]}, type);
}

// Shapes

// a shape op of a constant or of a splat is one of the result's shape; a one-element reshape of a scalar is a splat
ValueId shape_of_uniform(Rewriter& r, Op& op, const Type& type) {
  const ValueId x = op.operands[0];
  if (const auto bits = r.constant(x)) return r.make_constant(type, *bits);
  if (op.code == Code::splat) return kNoMatch;
  if (!r.is_uniform(x)) return kNoMatch;
  return type.is_tile() ? r.make(Code::splat, {r.uniform(x)}, type) : r.uniform(x);
}

// broadcast, reshape to the shape x has = x
ValueId shape_to_same(Rewriter& r, Op& op, const Type& type) {
  return r.type(op.operands[0]) == type ? op.operands[0] : kNoMatch;
}

// broadcast(broadcast(x)) = broadcast(x)
ValueId broadcast_of_broadcast(Rewriter& r, Op& op, const Type& type) {
  const Op* inner = r.def(op.operands[0], Code::broadcast);
  return inner == nullptr ? kNoMatch : r.make(Code::broadcast, {inner->operands[0]}, type);
}

// reshape(reshape(x)), reshape(expand_dims(x)) = reshape(x)
ValueId reshape_of_reshape(Rewriter& r, Op& op, const Type& type) {
  const Op* inner = r.def(op.operands[0], Code::reshape);
  if (inner == nullptr) inner = r.def(op.operands[0], Code::expand_dims);
  return inner == nullptr ? kNoMatch : r.make(Code::reshape, {inner->operands[0]}, type);
}

// a reshape that only inserts sizes of 1 is a chain of expand_dims: where each dimension went stays visible
ValueId reshape_is_expand(Rewriter& r, Op& op, const Type& type) {
  const Type from = r.type(op.operands[0]);
  if (!from.is_tile() || from.shape.rank >= type.shape.rank) return kNoMatch;
  std::vector<std::int8_t> inserted;
  std::size_t d = 0;
  for (std::size_t i = 0; i < type.shape.rank; ++i) {
    if (d < from.shape.rank && from.shape[d] == type.shape[i])
      ++d;
    else if (type.shape[i] == 1)
      inserted.push_back(static_cast<std::int8_t>(i));
    else
      return kNoMatch;
  }
  if (d != from.shape.rank) return kNoMatch;
  ValueId x = op.operands[0];
  for (const std::int8_t axis : inserted) {
    Shape shape;
    const Shape& before = r.type(x).shape;
    for (std::size_t i = 0; i <= before.rank; ++i) {
      if (i == static_cast<std::size_t>(axis)) shape.push(1);
      if (i < before.rank) shape.push(before[i]);
    }
    Op expand;
    expand.code = Code::expand_dims;
    expand.operands = {x};
    expand.axis = axis;
    x = r.make(std::move(expand), shaped(from, shape));
  }
  return x;
}

// expand_dims(broadcast(x)) = broadcast(expand_dims(x)): repetition last
ValueId expand_of_broadcast(Rewriter& r, Op& op, const Type& type) {
  const Op* inner = r.def(op.operands[0], Code::broadcast);
  if (inner == nullptr) return kNoMatch;
  const ValueId x = inner->operands[0];
  Shape shape = type.shape;
  const Shape& small = r.type(x).shape;
  for (std::size_t i = 0, d = 0; i < shape.rank; ++i)
    if (i != static_cast<std::size_t>(op.axis)) shape[i] = small[d++];
  Op expand = op;
  expand.operands = {x};
  expand.results.clear();
  return r.make(Code::broadcast, {r.make(std::move(expand), shaped(type, shape))}, type);
}

// trans in the order 0, 1, ... = x; trans(trans(x)) = trans(x) in the order of both
ValueId trans_of_trans(Rewriter& r, Op& op, const Type& type) {
  bool same = true;
  for (std::int8_t d = 0; d < type.shape.rank; ++d) same = same && op.order[static_cast<std::size_t>(d)] == d;
  if (same) return op.operands[0];
  const Op* inner = r.def(op.operands[0], Code::trans);
  if (inner == nullptr) return kNoMatch;
  Op both = op;
  both.operands = inner->operands;
  both.results.clear();
  for (std::size_t d = 0; d < type.shape.rank; ++d) both.order[d] = inner->order[static_cast<std::size_t>(op.order[d])];
  return r.make(std::move(both), type);
}

// trans(broadcast(x)) = broadcast(trans(x))
ValueId trans_of_broadcast(Rewriter& r, Op& op, const Type& type) {
  const Op* inner = r.def(op.operands[0], Code::broadcast);
  if (inner == nullptr) return kNoMatch;
  const ValueId x = inner->operands[0];
  Shape shape = type.shape;
  for (std::size_t d = 0; d < shape.rank; ++d) shape[d] = r.type(x).shape[static_cast<std::size_t>(op.order[d])];
  Op small = op;
  small.operands = {x};
  small.results.clear();
  return r.make(Code::broadcast, {r.make(std::move(small), shaped(type, shape))}, type);
}

// an elementwise op (or load) of uniform tiles = splat of the scalar op
ValueId op_of_uniform(Rewriter& r, Op& op, const Type& type) {
  if (!type.is_tile()) return kNoMatch;
  for (const ValueId v : op.operands)
    if (!r.is_uniform(v)) return kNoMatch;
  Op scalar = op;
  scalar.results.clear();
  for (ValueId& v : scalar.operands) v = r.uniform(v);
  return r.make(Code::splat, {r.make(std::move(scalar), shaped(type, {}))}, type);
}

// an elementwise op (or load) of values repeated from one shape (others uniform) = the op there, repeated
ValueId op_of_broadcast(Rewriter& r, Op& op, const Type& type) {
  if (!type.is_tile()) return kNoMatch;
  std::optional<Shape> shape;
  for (const ValueId v : op.operands) {
    if (const Op* b = r.def(v, Code::broadcast)) {
      const Shape& from = r.type(b->operands[0]).shape;
      if (shape && *shape != from) return kNoMatch;
      shape = from;
    } else if (!r.is_uniform(v)) {
      return kNoMatch;
    }
  }
  if (!shape) return kNoMatch;
  Op small = op;
  small.results.clear();
  for (ValueId& v : small.operands) {
    if (const Op* b = r.def(v, Code::broadcast)) {
      v = b->operands[0];
    } else {
      const Type at = shaped(r.type(v), *shape);
      v = r.make(Code::splat, {r.uniform(v)}, at);
    }
  }
  return r.make(Code::broadcast, {r.make(std::move(small), shaped(type, *shape))}, type);
}

// Pointers

// (p + a) + u = (p + u) + a for a uniform u: addresses wrap in 64 bits, and uniform parts meet in a scalar
ValueId pointer_uniform_first(Rewriter& r, Op& op, const Type& type) {
  const Op* inner = r.def(op.operands[0], Code::addptr);
  if (inner == nullptr || !type.is_tile()) return kNoMatch;
  const ValueId p = inner->operands[0], a = inner->operands[1];
  if (!r.is_uniform(op.operands[1]) || r.is_uniform(a)) return kNoMatch;
  return r.make(Code::addptr, {r.make(Code::addptr, {p, op.operands[1]}, type), a}, type);
}

// (p + a) + b = p + (a + b) for i64 offsets, which wrap as addresses do, and for constants, widened
ValueId pointer_sum(Rewriter& r, Op& op, const Type& type) {
  const Op* inner = r.def(op.operands[0], Code::addptr);
  if (inner == nullptr) return kNoMatch;
  const ValueId p = inner->operands[0];
  ValueId a = inner->operands[1], b = op.operands[1];
  const bool wide = r.type(a).elem == Elem::i64 && r.type(b).elem == Elem::i64;
  if (!wide && !(r.constant(a) && r.constant(b))) return kNoMatch;
  const Type offset = with_elem(type, Elem::i64);
  a = r.make(Code::cast, {a}, offset);
  b = r.make(Code::cast, {b}, offset);
  return r.make(Code::addptr, {p, r.make(Code::add, {a, b}, offset)}, type);
}

// Memory

// a mask that is true everywhere is no mask; a load, atomic, store under one that is false everywhere does nothing
ValueId constant_mask(Rewriter& r, Op& op, const Type& type) {
  const std::size_t at = op.code == Code::load ? 1 : 2;
  if (op.operands.size() <= at) return kNoMatch;
  const auto mask = r.constant(op.operands[at]);
  if (!mask) return kNoMatch;
  if (*mask != 0) {
    op.operands.resize(at);
    return kChanged;
  }
  if (op.code == Code::store) return kRemoved;
  return op.code == Code::load && op.operands.size() == 3 ? op.operands[2] : r.make_constant(type, 0);
}

// `other` of all bits 0 is what masked-off elements are anyway
ValueId zero_other(Rewriter& r, Op& op, const Type&) {
  if (op.operands.size() != 3 || r.constant(op.operands[2]) != Bits{0}) return kNoMatch;
  op.operands.resize(2);
  return kChanged;
}

// a check of truth checks nothing
ValueId true_check(Rewriter& r, Op& op, const Type&) {
  const auto holds = r.constant(op.operands[0]);
  return holds && *holds != 0 ? kRemoved : kNoMatch;
}

// Reductions

bool idempotent(Combine c) {
  return c == Combine::min || c == Combine::max || c == Combine::min_nan || c == Combine::max_nan ||
         c == Combine::bit_and || c == Combine::bit_or;
}
bool gives_position(Combine c) { return c == Combine::argmin || c == Combine::argmax; }

// of one element: itself, position 0
ValueId reduce_of_one(Rewriter& r, Op& op, const Type& type) {
  const ValueId x = op.operands[0];
  if (r.type(x).shape[static_cast<std::size_t>(op.axis)] != 1) return kNoMatch;
  if (op.code == Code::scan) return x;
  return gives_position(op.combine) ? r.make_constant(type, 0) : r.make(Code::reshape, {x}, type);
}

// of equal elements: min, max, and, or are the element; a sum of n integers is n times it; the first position is 0
ValueId reduce_of_uniform(Rewriter& r, Op& op, const Type& type) {
  const ValueId x = op.operands[0];
  const Type from = r.type(x);
  const auto uniform = [&](ValueId scalar) { return type.is_tile() ? r.make(Code::splat, {scalar}, type) : scalar; };
  const bool integers = !is_float(from.elem);
  if (!idempotent(op.combine) && !integers) return kNoMatch;
  const bool sum = op.combine == Combine::sum;
  if (!idempotent(op.combine) && !gives_position(op.combine) && !sum) return kNoMatch;
  const std::int64_t n = from.shape[static_cast<std::size_t>(op.axis)];
  if (!r.is_uniform(x)) return kNoMatch;
  if (gives_position(op.combine)) return r.make_constant(type, 0);
  const ValueId scalar = r.uniform(x);
  if (!sum) return uniform(scalar);
  const Type t = scalar_type(from.elem);
  return uniform(r.make(Code::mul, {scalar, r.make_constant(t, bits_of_integer(t.elem, n))}, t));
}

// add(x, dot(a, b, 0)) = dot(a, b, x): dot is acc + (products summed from +0)
ValueId add_of_dot(Rewriter& r, Op& op, const Type& type) {
  for (const std::size_t i : {1, 0}) {
    const Op* dot = r.def(op.operands[i], Code::dot);
    if (dot == nullptr || !r.used_once(op.operands[i]) || r.constant(dot->operands[2]) != Bits{0}) continue;
    Op out = *dot;
    out.operands[2] = op.operands[1 - i];
    out.results.clear();
    return r.make(std::move(out), type);
  }
  return kNoMatch;
}

struct Row {
  bool (*covers)(Code);
  ValueId (*apply)(Rewriter& r, Op& op, const Type& type);
};
template <Code... codes>
bool one_of(Code code) {
  return ((code == codes) || ...);
}
bool elementwise_or_load(Code code) { return is_elementwise(code) || code == Code::load; }

constexpr Row kRows[] = {
    {is_elementwise, fold_constants},
    {one_of<Code::arange>, arange_of_one},
    {one_of<Code::cast, Code::bitcast>, cast_to_same},
    {one_of<Code::cast>, cast_of_cast},
    {one_of<Code::bitcast>, bitcast_of_bitcast},
    {one_of<Code::eq, Code::ne>, compare_of_truth},
    {one_of<Code::div>, divide_by_power},
    {one_of<Code::splat, Code::broadcast, Code::expand_dims, Code::reshape, Code::trans>, shape_of_uniform},
    {one_of<Code::broadcast, Code::reshape>, shape_to_same},
    {one_of<Code::broadcast>, broadcast_of_broadcast},
    {one_of<Code::reshape>, reshape_of_reshape},
    {one_of<Code::reshape>, reshape_is_expand},
    {one_of<Code::expand_dims>, expand_of_broadcast},
    {one_of<Code::trans>, trans_of_trans},
    {one_of<Code::trans>, trans_of_broadcast},
    {one_of<Code::load, Code::store, Code::atomic>, constant_mask},
    {one_of<Code::load>, zero_other},
    {one_of<Code::check>, true_check},
    {elementwise_or_load, op_of_uniform},
    {elementwise_or_load, op_of_broadcast},
    {one_of<Code::addptr>, pointer_uniform_first},
    {one_of<Code::addptr>, pointer_sum},
    {one_of<Code::add>, add_of_dot},
    {one_of<Code::reduce, Code::scan>, reduce_of_one},
    {one_of<Code::reduce>, reduce_of_uniform},
};

}  // namespace

ValueId apply_shape_rules(Rewriter& r, Op& op, const Type& type) {
  for (const Row& row : kRows)
    if (row.covers(op.code))
      if (const ValueId v = row.apply(r, op, type); v != kNoMatch) return v;
  return kNoMatch;
}

}  // namespace passnet::tile
