// Reductions, scans, matrix products; asserts, hints and what Python itself gives.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "tile/lowering.h"

namespace passnet::tile {

using OK = Operand::Kind;

// Along one axis, or over all elements; what is reduced disappears or stays as a 1.
ValueId Lowering::reduce(ValueId v, std::optional<int> axis, Combine combine, bool keep_dims) {
  const int rank = type(v).shape.rank;
  if (!axis) v = reshape(v, {static_cast<std::int32_t>(type(v).shape.elements())});
  const Type from = type(v);
  Op op;
  op.code = Code::reduce;
  op.operands = {v};
  op.axis = static_cast<std::int8_t>(axis.value_or(0));
  op.combine = combine;
  const bool index = combine == Combine::argmin || combine == Combine::argmax;
  Type to = scalar_type(index ? Elem::i32 : from.elem);
  for (int i = 0; i < from.shape.rank; ++i)
    if (i != op.axis) to.shape.push(from.shape[static_cast<std::size_t>(i)]);
  ValueId out = emit(std::move(op), to);
  if (keep_dims && axis) return expand_dims(out, *axis);
  for (int i = 0; keep_dims && i < rank; ++i) out = expand_dims(out, 0);
  return out;
}

namespace {

// Sums of small integers widen to 32 bits.
std::optional<Elem> sum_elem(Elem e) {
  if (is_float(e) || elem_row(e).bits >= 32) return std::nullopt;
  return elem_row(e).is_signed ? Elem::i32 : Elem::u32;
}

}  // namespace

Operand Lowering::b_sum(Call& c) {
  ValueId v = tensor_arg(c, 0);
  if (!type(v).is_tile() || type(v).pointer)
    refuse(fmt::format("{} of {}", c.name, triton_type(type(v))), "only tiles are reduced");
  std::optional<int> axis;
  if (!c[1].is_none()) axis = axis_of(integer_arg(c, 1, "axis"), type(v).shape.rank, c.name);
  const bool keep = flag_arg(c, 2, "keep_dims");
  if (!c[3].is_none())
    v = cast(v, type_arg(c, 3).elem);
  else if (const auto wide = sum_elem(type(v).elem))
    v = cast(v, *wide);
  return Operand::tensor(reduce(v, axis, Combine::sum, keep));
}

Operand Lowering::b_max(Call& c) {
  ValueId v = promote_bfloat16(tensor_arg(c, 0));
  if (!type(v).is_tile() || type(v).pointer)
    refuse(fmt::format("{} of {}", c.name, triton_type(type(v))),
           fmt::format("{0} reduces a tile; of two values take tl.{1}", c.name,
                       c.row.code == Code::max ? "maximum" : "minimum"));
  if (!c[1].is_none() && !c[1].is_integer())
    refuse(fmt::format("the axis of {} is {}", c.name, operand_text(c[1])),
           fmt::format("of two values take tl.{}", c.row.code == Code::max ? "maximum" : "minimum"));
  std::optional<int> axis;
  if (!c[1].is_none()) axis = axis_of(integer_arg(c, 1, "axis"), type(v).shape.rank, c.name);
  const bool keep = flag_arg(c, 4, "keep_dims");
  const bool is_max = c.row.code == Code::max;
  if (flag_arg(c, 2, "return_indices")) {
    if (!axis) refuse(fmt::format("{} with return_indices needs an axis", c.name));
    const ValueId value = reduce(v, axis, is_max ? Combine::max : Combine::min, keep);
    const ValueId index = reduce(v, axis, is_max ? Combine::argmax : Combine::argmin, keep);
    return Operand::tuple({Operand::tensor(value), Operand::tensor(index)});
  }
  if (elem_row(type(v).elem).bits < 32) v = cast(v, is_float(type(v).elem) ? Elem::f32 : Elem::i32);
  return Operand::tensor(reduce(v, axis, is_max ? Combine::max : Combine::min, keep));
}

Operand Lowering::b_argmax(Call& c) {
  const ValueId v = promote_bfloat16(tensor_arg(c, 0));
  if (!type(v).is_tile() || type(v).pointer) refuse(fmt::format("{} of {}", c.name, triton_type(type(v))));
  const int axis = axis_of(integer_arg(c, 1, "axis"), type(v).shape.rank, c.name);
  const Combine combine = c.row.code == Code::max ? Combine::argmax : Combine::argmin;
  return Operand::tensor(reduce(v, axis, combine, flag_arg(c, 3, "keep_dims")));
}

Operand Lowering::b_bits(Call& c) {
  const ValueId v = tensor_arg(c, 0);
  if (!type(v).is_tile() || type(v).pointer || is_float(type(v).elem))
    refuse(fmt::format("{} of {}", c.name, triton_type(type(v))), "it is for tiles of integers");
  std::optional<int> axis;
  if (!c[1].is_none()) axis = axis_of(integer_arg(c, 1, "axis"), type(v).shape.rank, c.name);
  const Combine combine = c.row.code == Code::bit_xor ? Combine::bit_xor : Combine::bit_or;
  return Operand::tensor(reduce(v, axis, combine, flag_arg(c, 2, "keep_dims")));
}

Operand Lowering::b_scan(Call& c) {
  ValueId v = promote_bfloat16(tensor_arg(c, 0));
  if (!type(v).is_tile() || type(v).pointer) refuse(fmt::format("{} of {}", c.name, triton_type(type(v))));
  Op op;
  op.code = Code::scan;
  op.axis = static_cast<std::int8_t>(axis_of(integer_arg(c, 1, "axis"), type(v).shape.rank, c.name));
  op.reverse = flag_arg(c, 2, "reverse");
  op.combine = c.row.code == Code::add ? Combine::sum : Combine::product;
  if (c.row.code == Code::add) {
    if (!c[3].is_none())
      v = cast(v, type_arg(c, 3).elem);
    else if (const auto wide = sum_elem(type(v).elem))
      v = cast(v, *wide);
  }
  op.operands = {v};
  return Operand::tensor(emit(std::move(op), type(v)));
}

// ---- combine functions

// Those whose body is one operation on both parameters are the IR's own.

std::optional<Combine> Lowering::combine_of(const Operand& f) {
  using E = py::ExprKind;
  if (!f.is(OK::function) || f.function->parameters.size() != 2) return std::nullopt;
  const auto& body = f.function->body;
  const auto statement = std::find_if(body.begin(), body.end(), [](const py::Stmt* s) {
    return !(s->kind == py::StmtKind::expression && s->value->kind == E::string);
  });
  if (statement == body.end() || (*statement)->kind != py::StmtKind::return_ || (*statement)->value == nullptr)
    return std::nullopt;
  const py::Expr& e = *(*statement)->value;
  const auto both = [&](const py::Expr* a, const py::Expr* b) {
    const std::string_view p = f.function->parameters[0].name, q = f.function->parameters[1].name;
    return a->kind == E::name && b->kind == E::name &&
           ((a->text == p && b->text == q) || (a->text == q && b->text == p));
  };
  if (e.kind == E::binary && both(e.items[0], e.items[1])) {
    constexpr std::pair<py::Op, Combine> kPairs[] = {{py::Op::add, Combine::sum},
                                                     {py::Op::mul, Combine::product},
                                                     {py::Op::bit_and, Combine::bit_and},
                                                     {py::Op::bit_or, Combine::bit_or},
                                                     {py::Op::bit_xor, Combine::bit_xor}};
    for (const auto& [op, combine] : kPairs)
      if (op == e.op) return combine;
  }
  if (e.kind == E::call && e.items.size() == 3 && e.keywords.empty() && both(e.items[1], e.items[2])) {
    const std::string name = py::dotted_name(*e.items[0]);
    const std::string_view last = std::string_view(name).substr(name.rfind('.') + 1);
    if (last == "maximum" || name == "max") return Combine::max;
    if (last == "minimum" || name == "min") return Combine::min;
  }
  return std::nullopt;
}

// A function of scalars, called with tiles.
std::vector<Operand> Lowering::call_on_lanes(const Operand& f, std::vector<Operand> args) {
  const bool before = std::exchange(lanes_, true);
  std::vector<Operand> results = list_arg(call_function(f, std::move(args), {}));
  lanes_ = before;
  return results;
}

// The function of the elements of two tuples of tiles.
Lowering::Values Lowering::combined(const Operand& f, const Values& a, const Values& b) {
  std::vector<Operand> args;
  for (const Values* values : {&a, &b})
    for (const ValueId v : *values) args.push_back(Operand::tensor(v));
  const std::vector<Operand> results = call_on_lanes(f, std::move(args));
  if (results.size() != a.size())
    refuse(fmt::format("{} combines {} value{} into {}", f.function->name, a.size(), a.size() == 1 ? "" : "s",
                       results.size()));
  Values out;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Type want = type(a[i]);
    ValueId v = to_tensor(results[i]);
    if (!type(v).is_tile()) v = broadcast_to(v, want.shape);
    if (type(v) != want)
      refuse(fmt::format("{} combines {} into {}", f.function->name, elem_row(want.elem).triton_name,
                         elem_row(type(v).elem).triton_name),
             "what is returned has the type of what is combined: cast it with .to(...)");
    out.push_back(v);
  }
  return out;
}

namespace {

// A tile around one axis: what lies before it, along it and behind it.
Shape around(const Shape& shape, int axis) {
  std::int32_t parts[3] = {1, 1, 1};
  for (int i = 0; i < shape.rank; ++i) parts[i < axis ? 0 : i == axis ? 1 : 2] *= shape[static_cast<std::size_t>(i)];
  return {parts[0], parts[1], parts[2]};
}

}  // namespace

// Neighbours are combined until one is left.
Lowering::Values Lowering::reduce_with(const Operand& f, Values values, int axis) {
  const Shape from = type(values[0]).shape, flat = around(from, axis);
  for (std::int32_t n = flat[1]; n > 1; n /= 2) {
    Values left, right;
    for (const ValueId v : values) {
      const ValueId pairs = reshape(v, {flat[0], n / 2, 2, flat[2]});
      left.push_back(pick(pairs, 2, 0));
      right.push_back(pick(pairs, 2, 1));
    }
    values = combined(f, left, right);
  }
  Shape to;
  for (int i = 0; i < from.rank; ++i)
    if (i != axis) to.push(from[static_cast<std::size_t>(i)]);
  for (ValueId& v : values) v = reshape(v, to);
  return values;
}

// Blocks of 2, 4, 8, ...: what the first half ends with is combined into each element of the second; from the end, what
// the second begins with into each of the first.
Lowering::Values Lowering::scan_with(const Operand& f, Values values, int axis, bool reverse) {
  const Shape from = type(values[0]).shape, flat = around(from, axis);
  for (std::int32_t half = 1; half < flat[1]; half *= 2) {
    const std::int32_t count = flat[0] * (flat[1] / half / 2);
    const Shape blocks = {count, 2, half, flat[2]};
    Values ends;
    for (ValueId& v : values) {
      const ValueId end = pick(reshape(v, {count, 2 * half, flat[2]}), 1, reverse ? half : half - 1);
      ends.push_back(broadcast_to(expand_dims(expand_dims(end, 1), 1), blocks));
      v = reshape(v, blocks);
    }
    const ValueId index = positions(blocks, 1, Elem::i32);
    const ValueId is_done = emit_compare(Code::eq, index, integer_like(reverse ? 1 : 0, index));
    const Values later = combined(f, ends, values);  // of both halves: cheaper than to cut out one
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = select(is_done, values[i], later[i]);
  }
  for (ValueId& v : values) v = reshape(v, from);
  return values;
}

Operand Lowering::b_reduce(Call& c) {
  const bool scan = c.row.code == Code::scan;
  if (!c[2].is(OK::function))
    refuse(fmt::format("{} with {} as the combine function", c.name, operand_text(c[2])),
           "a function under @triton.jit that combines two elements");
  Values values;
  for (const Operand& one : list_arg(c[0])) {
    const ValueId v = to_tensor(one);
    if (!type(v).is_tile() || type(v).pointer) refuse(fmt::format("{} of {}", c.name, triton_type(type(v))));
    if (!values.empty() && type(v).shape != type(values[0]).shape)
      refuse(fmt::format("{} of {} and {}", c.name, triton_type(type(values[0])), triton_type(type(v))),
             "tiles that are combined together have one shape");
    values.push_back(v);
  }
  if (values.empty()) refuse(fmt::format("{} of nothing", c.name));
  const int rank = type(values[0]).shape.rank;
  std::optional<int> axis;
  if (!c[1].is_none()) axis = axis_of(integer_arg(c, 1, "axis"), rank, c.name);
  const bool flag = flag_arg(c, 3, scan ? "reverse" : "keep_dims");
  const std::optional<Combine> combine = values.size() == 1 ? combine_of(c[2]) : std::nullopt;
  if (scan && combine) {
    Op op;
    op.code = Code::scan;
    op.operands = values;
    op.axis = static_cast<std::int8_t>(axis.value_or(0));
    op.reverse = flag;
    op.combine = *combine;
    values = {emit(std::move(op), type(values[0]))};
  } else if (scan) {
    values = scan_with(c[2], std::move(values), axis.value_or(0), flag);
  } else if (combine) {
    values = {reduce(values[0], axis, *combine, flag)};
  } else {
    if (!axis)
      for (ValueId& v : values) v = reshape(v, {static_cast<std::int32_t>(type(v).shape.elements())});
    values = reduce_with(c[2], std::move(values), axis.value_or(0));
    for (ValueId& v : values)
      for (int i = 0; flag && i < (axis ? 1 : rank); ++i) v = expand_dims(v, axis.value_or(0));
  }
  if (!c[0].is(OK::tuple)) return Operand::tensor(values[0]);
  std::vector<Operand> out;
  for (const ValueId v : values) out.push_back(Operand::tensor(v));
  return Operand::tuple(std::move(out));
}

Operand Lowering::b_map(Call& c) {
  if (!c[0].is(OK::function))
    refuse(fmt::format("{} of {}", c.name, operand_text(c[0])), "a function under @triton.jit of scalars");
  if (integer_arg(c, 2, "pack") != 1)
    refuse(fmt::format("pack in {}", c.name), "one element a call", ErrorCode::unsupported);
  Values values;
  for (const Operand& one : c[1].items) {
    values.push_back(to_tensor(one));
    if (type(values.back()).pointer) refuse(fmt::format("{} of a pointer", c.name));
    for (ValueId& v : values) broadcast_pair(v, values.back());
  }
  if (values.empty()) refuse(fmt::format("{} of nothing", c.name));
  const Shape shape = type(values.back()).shape;
  std::vector<Operand> args;
  for (const ValueId v : values) args.push_back(Operand::tensor(broadcast_to(v, shape)));
  std::vector<Operand> out = call_on_lanes(c[0], std::move(args));
  for (Operand& one : out) one = Operand::tensor(broadcast_to(to_tensor(one), shape));
  return out.size() == 1 ? out[0] : Operand::tuple(std::move(out));
}

// Swapping the halves of every size 2, 4, 8, ... along the dimension reverses it.
ValueId Lowering::flip(ValueId v, int dim) {
  const Type t = type(v);
  constexpr std::pair<int, Elem> kBits[] = {
      {1, Elem::i1}, {8, Elem::i8}, {16, Elem::i16}, {32, Elem::i32}, {64, Elem::i64}};
  ValueId y = v;
  for (const auto& [n, elem] : kBits)
    if (is_float(t.elem) && n == elem_row(t.elem).bits) y = bitcast(v, elem);
  const Shape flat = around(t.shape, dim);
  for (std::int32_t half = 1; half < flat[1]; half *= 2) {
    const ValueId cube = reshape(y, {flat[0] * (flat[1] / half / 2), 2, half * flat[2]});
    const ValueId both = broadcast_to(reduce(cube, 1, Combine::bit_xor, true), type(cube).shape);
    y = emit2(Code::bit_xor, cube, both);
  }
  y = reshape(y, t.shape);
  return is_float(t.elem) ? bitcast(y, t.elem) : y;
}

Operand Lowering::b_flip(Call& c) {
  const ValueId v = tensor_arg(c, 0);
  const Type t = type(v);
  if (!t.is_tile() || t.pointer) refuse(fmt::format("{} of {}", c.name, triton_type(t)));
  return Operand::tensor(flip(v, axis_of(integer_arg(c, 1, "dim"), t.shape.rank, c.name)));
}

// ---- matrix products

// The number of each element along the axis.
ValueId Lowering::positions(const Shape& shape, int axis, Elem elem) {
  Op op;
  op.code = Code::arange;
  ValueId v = emit(std::move(op), {Elem::i32, false, {shape[static_cast<std::size_t>(axis)]}});
  for (int d = 0; d < shape.rank; ++d)
    if (d != axis) v = expand_dims(v, d);
  return broadcast_to(cast(v, elem), shape);
}

namespace {

// The integer that has a float's bits.
Elem bits_elem(Elem e) {
  if (!is_float(e)) return e;
  return elem_row(e).bits == 16 ? Elem::i16 : elem_row(e).bits == 32 ? Elem::i32 : Elem::i64;
}

}  // namespace

// Of all elements along the axis the one whose number the index is: no bit of the others counts.
// These compare every element with every other.
void Lowering::check_pairs(const Call& c, const Shape& pairs) const {
  if (pairs.elements() > kElementLimit)
    refuse(fmt::format("{} compares {} pairs of elements; the most is {}", c.name, pairs.elements(), kElementLimit),
           "take smaller blocks; what is gathered can be loaded: tl.load(ptr + index)", ErrorCode::limit);
}

Operand Lowering::b_gather(Call& c) {
  const ValueId x = tensor_arg(c, 0), index = tensor_arg(c, 1);
  const Type from = type(x), at = type(index);
  const int rank = from.shape.rank;
  if (!from.is_tile() || from.pointer || at.pointer || is_float(at.elem) || at.elem == Elem::i1)
    refuse(fmt::format("{} of {} at {}", c.name, triton_type(from), triton_type(at)),
           "a tile of numbers, and one of integers");
  const int axis = axis_of(integer_arg(c, 2, "axis"), rank, c.name);
  bool fits = at.shape.rank == rank && rank < kRankLimit;
  for (int d = 0; fits && d < rank; ++d)
    fits = d == axis || at.shape[static_cast<std::size_t>(d)] == from.shape[static_cast<std::size_t>(d)];
  if (!fits)
    refuse(fmt::format("{} of {} at {}", c.name, triton_type(from), triton_type(at)),
           "the index has the same sizes but along the axis");
  Shape wide;
  for (int d = 0; d < rank; ++d) {
    wide.push(at.shape[static_cast<std::size_t>(d)]);
    if (d == axis) wide.push(from.shape[static_cast<std::size_t>(d)]);
  }
  check_pairs(c, wide);
  const Elem bits = bits_elem(from.elem);
  const Elem number = elem_row(at.elem).bits == 64 ? at.elem : Elem::i64;
  const ValueId all = broadcast_to(expand_dims(is_float(from.elem) ? bitcast(x, bits) : x, axis), wide);
  const ValueId wanted = broadcast_to(expand_dims(cast(index, number), axis + 1), wide);
  const ValueId here = emit_compare(Code::eq, wanted, positions(wide, axis + 1, number));
  const ValueId none = constant(ConstValue::of(std::int64_t{0}), bits, wide);
  const ValueId out = reduce(select(here, all, none), axis + 1, Combine::bit_or, false);
  return Operand::tensor(is_float(from.elem) ? bitcast(out, from.elem) : out);
}

// How often each number from 0 on is there.
Operand Lowering::b_histogram(Call& c) {
  const ValueId x = tensor_arg(c, 0);
  const Type from = type(x);
  if (from.shape.rank != 1 || from.pointer || is_float(from.elem) || from.elem == Elem::i1)
    refuse(fmt::format("{} of {}", c.name, triton_type(from)), "a tile of integers in one dimension");
  const std::int64_t bins = integer_arg(c, 1, "num_bins");
  if (bins < 1 || bins > kElementLimit || (bins & (bins - 1)) != 0)
    refuse(fmt::format("{} with {} bins, which is no power of two", c.name, bins));
  const Shape wide = {from.shape[0], static_cast<std::int32_t>(bins)};
  check_pairs(c, wide);
  const Elem number = elem_row(from.elem).bits == 64 ? from.elem : Elem::i64;
  const ValueId values = broadcast_to(expand_dims(cast(x, number), 1), wide);
  ValueId here = emit_compare(Code::eq, values, positions(wide, 1, number));
  if (!c[2].is_none()) {
    const ValueId mask = tensor_arg(c, 2);
    if (type(mask).elem != Elem::i1 || type(mask).pointer)
      refuse(fmt::format("the mask of {} is {}, not int1", c.name, triton_type(type(mask))));
    here = emit2(Code::bit_and, here, broadcast_to(expand_dims(broadcast_to(mask, from.shape), 1), wide));
  }
  return Operand::tensor(reduce(cast(here, Elem::i32), 0, Combine::sum, false));
}

// A float's bits as an integer of the same order, -0 below 0 and NaN at the ends; and back, by doing it again.
ValueId Lowering::ordered_bits(ValueId v) {
  const ValueId sign = emit2(Code::shr, v, integer_like(elem_row(type(v).elem).bits - 1, v));
  return emit2(Code::bit_xor, v, emit2(Code::bit_and, sign, integer_like(integer_max(type(v).elem), v)));
}

// An element's place is how many come before it; then each place takes the element that belongs there.
Operand Lowering::b_sort(Call& c) {
  const bool all = c.row.name == "sort";
  const ValueId x = tensor_arg(c, 0);
  const Type from = type(x);
  const int rank = from.shape.rank, last = rank - 1;
  if (!from.is_tile() || from.pointer || rank == kRankLimit)
    refuse(fmt::format("{} of {}", c.name, triton_type(from)), "a tile of numbers");
  const Operand& dim = c[all ? 1 : 2];
  if (!dim.is_none() && axis_of(integer_arg(c, all ? 1 : 2, "dim"), rank, c.name) != last)
    refuse(fmt::format("{} along another than the last dimension", c.name), "exchange them with tl.trans");
  const bool descending = !all || flag_arg(c, 2, "descending");
  const std::int32_t n = from.shape[static_cast<std::size_t>(last)];
  const std::int64_t count = all ? n : integer_arg(c, 1, "k");
  if (count < 1 || count > n || (count & (count - 1)) != 0)
    refuse(fmt::format("{} of {} elements with k = {}", c.name, n, count),
           "a power of two, and no more than there are");
  const ValueId key = is_float(from.elem)     ? ordered_bits(bitcast(x, bits_elem(from.elem)))
                      : from.elem == Elem::i1 ? cast(x, Elem::i32)
                                              : x;
  Shape pairs = from.shape, places = from.shape;
  pairs.push(n);
  places.push(static_cast<std::int32_t>(count));
  check_pairs(c, pairs);
  const ValueId mine = broadcast_to(expand_dims(key, rank), pairs), other = broadcast_to(expand_dims(key, last), pairs);
  const ValueId less = emit_compare(descending ? Code::gt : Code::lt, other, mine);
  const ValueId earlier = emit_compare(Code::lt, positions(pairs, rank, Elem::i32), positions(pairs, last, Elem::i32));
  const ValueId before = emit2(Code::bit_or, less, emit2(Code::bit_and, emit_compare(Code::eq, other, mine), earlier));
  const ValueId place = reduce(cast(before, Elem::i32), rank, Combine::sum, false);
  const ValueId here =
      emit_compare(Code::eq, broadcast_to(expand_dims(place, rank), places), positions(places, rank, Elem::i32));
  const ValueId none = constant(ConstValue::of(std::int64_t{0}), type(key).elem, places);
  const ValueId out =
      reduce(select(here, broadcast_to(expand_dims(key, rank), places), none), last, Combine::bit_or, false);
  const ValueId sorted = is_float(from.elem) ? bitcast(ordered_bits(out), from.elem) : cast(out, from.elem);
  if (count == n || elem_row(from.elem).bits >= 32) return Operand::tensor(sorted);
  return Operand::tensor(
      cast(sorted, is_float(from.elem) ? Elem::f32 : Elem::i32));  // as tl.max does, which Triton uses
}

ValueId Lowering::dot(ValueId a, ValueId b, ValueId acc, Elem elem, Precision precision) {
  const Elem wide = elem == Elem::f16 ? Elem::f32 : elem;
  const Shape x = type(a).shape, y = type(b).shape;
  Type to = scalar_type(wide);
  if (x.rank == 3) to.shape.push(x[0]);
  to.shape.push(x[x.rank - 2U]);
  to.shape.push(y[y.rank - 1U]);
  if (acc == kNoValue)
    acc = constant(ConstValue::of(std::int64_t{0}), wide, to.shape);
  else
    acc = cast(acc, wide);
  Op op;
  op.code = Code::dot;
  op.operands = {a, b, acc};
  op.precision = precision;
  return cast(emit(std::move(op), to), elem);
}

Operand Lowering::b_dot(Call& c) {
  ValueId a = tensor_arg(c, 0), b = tensor_arg(c, 1);
  const Type at = type(a), bt = type(b);
  const int rank = at.shape.rank;
  const std::string types = fmt::format("{} and {}", triton_type(at), triton_type(bt));
  if (rank < 2 || rank != bt.shape.rank || at.pointer || bt.pointer)
    refuse(fmt::format("{} of {}", c.name, types), "both must be tiles of two (or three) dimensions");
  if (at.elem != bt.elem)
    refuse(fmt::format("{} of {}: the element types differ", c.name, types), "cast one with .to(...)");
  constexpr Elem kTypes[] = {Elem::i8, Elem::f16, Elem::bf16, Elem::f32, Elem::f64};
  if (std::find(std::begin(kTypes), std::end(kTypes), at.elem) == std::end(kTypes))
    refuse(fmt::format("{} of {}", c.name, elem_row(at.elem).triton_name),
           "it takes float16, bfloat16, float32, float64 and int8");
  const auto r = static_cast<std::size_t>(rank);
  const std::int32_t k = at.shape[r - 1];
  if (k != bt.shape[r - 2])
    refuse(fmt::format("{} of {}: {} columns and {} rows", c.name, types, k, bt.shape[r - 2]),
           "the second tile has as many rows as the first has columns; transpose with tl.trans(b)");
  for (std::size_t i = 0; i + 2 < r; ++i)
    if (at.shape[i] != bt.shape[i]) refuse(fmt::format("{} of {}: the batches differ", c.name, types));
  const std::int32_t least = elem_row(at.elem).bits == 8 ? 32 : 16;
  if (k < least)
    refuse(fmt::format("{} of {}: {} columns, at least {} are needed", c.name, types, k, least),
           "pad the block and mask what is too much, or write tl.sum(a[:, :, None] * b[None, :, :], axis=1)");
  if (!c[3].is_none() && !c[4].is_none()) refuse("tl.dot with input_precision and allow_tf32", "give one of them");
  Precision precision = Precision::tf32;
  if (const auto name = string_arg(c, 3, "input_precision")) {
    const auto* found = std::find(std::begin(kPrecisionNames), std::end(kPrecisionNames), *name);
    if (found == std::end(kPrecisionNames))
      refuse(fmt::format("tl.dot with input_precision='{}'", *name),
             fmt::format("one of {}", fmt::join(kPrecisionNames, ", ")));
    precision = static_cast<Precision>(found - std::begin(kPrecisionNames));
  }
  if (!c[4].is_none() && !flag_arg(c, 4, "allow_tf32")) precision = Precision::ieee;
  const Type out = type_arg(c, 6);
  if (out.elem == Elem::bf16 && at.elem != Elem::i8)
    refuse("tl.dot with out_dtype=tl.bfloat16", "take tl.float32 and cast with .to(tl.bfloat16)");
  Elem elem = Elem::f32;
  if (at.elem == Elem::i8) elem = Elem::i32;
  if (at.elem == Elem::f64) elem = Elem::f64;
  if (at.elem == Elem::f16) elem = out.elem;
  if (at.elem == Elem::f16 && elem != Elem::f16 && elem != Elem::f32)
    refuse(fmt::format("tl.dot with out_dtype={}", elem_row(elem).triton_name), "float32 or float16");
  Shape shape;
  for (std::size_t i = 0; i + 1 < r; ++i) shape.push(at.shape[i]);
  shape.push(bt.shape[r - 1]);
  ValueId acc = kNoValue;
  if (!c[2].is_none()) {
    acc = tensor_arg(c, 2);
    if (type(acc) != Type{elem, false, shape})
      refuse(fmt::format("the accumulator of {} is {}, not {}", c.name, triton_type(type(acc)),
                         triton_type({elem, false, shape})),
             "start with tl.zeros((BM, BN), dtype=tl.float32)");
  }
  if (rank <= 3) return Operand::tensor(dot(a, b, acc, elem, precision));
  const auto flat = [&](ValueId v) {
    const Shape s = type(v).shape;
    std::int32_t batch = 1;
    for (std::size_t i = 0; i + 2 < r; ++i) batch *= s[i];
    return reshape(v, {batch, s[r - 2], s[r - 1]});
  };
  a = flat(a);
  b = flat(b);
  if (acc != kNoValue) acc = flat(acc);
  return Operand::tensor(reshape(dot(a, b, acc, elem, precision), shape));
}

// ---- asserts and hints

Operand Lowering::b_static_assert(Call& c) {
  if (c[0].is_tensor())
    refuse("tl.static_assert of a value computed when the kernel runs",
           "it is for constants; use tl.device_assert for others");
  if (!c[0].is(Operand::Kind::constant) || !c[0].constant.is(ConstValue::Kind::boolean))
    refuse(fmt::format("{} of {}, which is no bool", c.name, operand_text(c[0])), "compare it: N % 8 == 0");
  if (!call_->keywords.empty())
    refuse("tl.static_assert takes no keywords", "write tl.static_assert(condition, \"text\")");
  if (c[0].constant.truth()) return {};
  std::string text = string_arg(c, 1, "msg").value_or("");
  const py::Expr* said = call_->items.size() > 1 ? call_->items[1] : nullptr;  // call_ is another inside of eval
  if (text.empty() && said != nullptr && said->kind == py::ExprKind::compare) {
    const Operand a = eval(*said->items[0]), b = eval(*said->items[1]);
    if (a.is_constant() && b.is_constant())
      text = fmt::format("{} {} {}", constant_text(a.constant), py::op_text(said->ops[0]), constant_text(b.constant));
  }
  refuse(text.empty() ? "tl.static_assert failed" : fmt::format("tl.static_assert failed: {}", text));
}

Operand Lowering::b_device_assert(Call& c) {
  if (!c[0].is_tensor() && truth(c[0], c.name)) return {};
  ValueId v = c[0].is_tensor() ? c[0].id : constant(ConstValue::boolean(false), Elem::i1);
  if (type(v).pointer) refuse("an assertion of a pointer");
  v = cast(v, Elem::i1);
  if (!c[2].is_none()) {
    ValueId off = emit1(Code::bit_not, cast(tensor_arg(c, 2), Elem::i1));
    broadcast_pair(v, off);
    v = emit2(Code::bit_or, v, off);
  }
  Op op;
  op.code = Code::check;
  op.operands = {v};
  op.text = string_arg(c, 1, "msg").value_or("");
  emit_effect(std::move(op));
  return {};
}

Operand Lowering::b_ignore(Call&) { return {}; }

Operand Lowering::b_pass_through(Call& c) { return c[0]; }

Operand Lowering::b_unsupported(Call& c) {
  if (c.row.name == "inline_asm_elementwise")
    refuse("inline assembly in a kernel", "write it with triton.language; kernels run on CPUs too",
           ErrorCode::unsupported);
  refuse(fmt::format("{} is not supported", c.name), {}, ErrorCode::unsupported);
}

// ---- Python and triton, on constants

Operand Lowering::b_constexpr(Call& c) {
  return c[0];  // of a value of the run, too, as in Triton: it stays one
}

Operand Lowering::b_int_dtype(Call& c) {
  const std::int64_t bits = integer_arg(c, 0, "bitwidth");
  const bool is_signed = flag_arg(c, 1, "signed");
  const auto elem = elem_of_name(fmt::format("{}int{}", is_signed || bits == 1 ? "" : "u", bits));
  if (!elem) refuse(fmt::format("{} of {} bits", c.name, bits), "integers have 1, 8, 16, 32 or 64");
  return Operand::of(ConstValue::of(scalar_type(*elem)));
}

Operand Lowering::b_warps(Call& c) {
  if (num_warps_ == 0)
    refuse(fmt::format("{} of a kernel whose configurations differ in num_warps", c.name),
           "pass the number as a tl.constexpr of the configuration", ErrorCode::unsupported);
  return Operand::of(ConstValue::of(std::int64_t{num_warps_} * (c.row.name == "num_threads" ? 32 : 1)));
}

Operand Lowering::b_float(Call& c) {
  const bool whole = c.row.name == "int";
  const ConstValue& v = c[0].constant;
  if (!c[0].is_constant() || !(v.is_number() || v.is(ConstValue::Kind::string)))
    refuse(fmt::format("{}() of {}", c.name, operand_text(c[0])),
           fmt::format("cast a value with .to(tl.{}32)", whole ? "int" : "float"));
  if (v.is_number()) {
    if (!whole) return Operand::of(ConstValue::of(v.as_real()));
    if (v.is_integral()) return Operand::of(ConstValue::of(v.integer));
    const auto to_whole = Integer::truncated(v.real);
    if (!to_whole) refuse(fmt::format("int() of {}", constant_text(v)));
    return Operand::of(ConstValue::of(*to_whole));
  }
  const std::string text = text_lower(text_trim(v.text));
  std::string_view digits = text;
  const bool minus = digits.starts_with('-');
  if (minus || digits.starts_with('+')) digits.remove_prefix(1);
  double real = 0;
  if (digits == "inf" || digits == "infinity") {
    real = HUGE_VAL;
  } else if (digits == "nan") {
    real = std::nan("");
  } else {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), real);
    if (error != std::errc() || end != digits.data() + digits.size())
      refuse(fmt::format("{}({})", c.name, constant_text(v)));
  }
  if (minus) real = -real;
  if (!whole) return Operand::of(ConstValue::of(real));
  const bool plain = std::all_of(digits.begin(), digits.end(), [](char ch) { return ch >= '0' && ch <= '9'; });
  const auto magnitude = plain ? Integer::parse(digits, 10) : std::nullopt;
  if (!magnitude) refuse(fmt::format("int({})", constant_text(v)));
  return Operand::of(ConstValue::of(minus ? *magnitude->negated() : *magnitude));
}

Operand Lowering::b_len(Call& c) {
  if (c[0].is(OK::tuple)) return Operand::of(ConstValue::of(static_cast<std::int64_t>(c[0].items.size())));
  if (c[0].is_constant() && c[0].constant.is(ConstValue::Kind::string))
    return Operand::of(ConstValue::of(static_cast<std::int64_t>(c[0].constant.text.size())));
  refuse(fmt::format("len() of {}", operand_text(c[0])), "write x.shape[0]");
}

Operand Lowering::b_isinstance(Call& c) {
  using Kind = ConstValue::Kind;
  const auto is = [&](Kind kind) { return c[0].is_constant() && c[0].constant.is(kind); };
  const auto is_one = [&](const Operand& kind) {
    const std::string path = kind.is(OK::path) ? kind.text : "";
    if (path.ends_with(".tensor")) return c[0].is_tensor();
    if (path.ends_with(".constexpr")) return c[0].is_constant();
    if (path == "builtins.bool") return is(Kind::boolean);
    if (path == "builtins.int") return is(Kind::integer) || is(Kind::boolean);
    if (path == "builtins.float") return is(Kind::real);
    if (path == "builtins.str") return is(Kind::string);
    refuse(fmt::format("isinstance() with {} in a kernel", operand_text(kind)),
           "kinds are tl.tensor, tl.constexpr, int, float, bool and str");
  };
  if (!c[1].is(OK::tuple)) return Operand::of(ConstValue::boolean(is_one(c[1])));
  bool any = false;
  for (const Operand& kind : c[1].items) any |= is_one(kind);
  return Operand::of(ConstValue::boolean(any));
}

// hasattr(tl, "tanh"), getattr(tl, "exp", other)
Operand Lowering::b_hasattr(Call& c) {
  if (!c[1].is_constant() || !c[1].constant.is(ConstValue::Kind::string))
    refuse(fmt::format("{} needs a name", c.name), "write it as a string");
  const bool asks = c.row.name == "hasattr";
  try {
    Operand found = attribute(c[0], c[1].constant.text);
    return asks ? Operand::of(ConstValue::boolean(true)) : found;
  } catch (const Failure& failure) {
    const bool unsupported = failure.error.code == ErrorCode::unsupported;
    if (asks) return Operand::of(ConstValue::boolean(unsupported));
    if (unsupported || c[2].is_none()) throw;
  }
  return c[2];
}

Operand Lowering::b_triton(Call& c) {
  for (std::size_t i = 0; i < c.args.size(); ++i)
    if (!c[i].is_integer())
      refuse(fmt::format("{} of {}", c.name, operand_text(c[i])),
             c.row.name == "cdiv" ? "of values that are computed when the kernel runs write tl.cdiv"
                                  : "it is for constants");
  const Integer& x = c[0].constant.integer;
  if (c.row.name == "cdiv") {  // (x + y - 1) // y
    const auto sum = x.plus(c[1].constant.integer), above = sum ? sum->minus(1) : sum;
    const Folded q = above ? fold_binary(py::Op::floor_div, ConstValue::of(*above), c[1].constant) : Folded{{}, "?"};
    if (!q.error.empty()) refuse(fmt::format("triton.cdiv({}, {})", x.text(), c[1].constant.integer.text()));
    return Operand::of(q.value);
  }
  const bool power = x > 0 && x.bit_count() == 1;
  if (c.row.name == "standard._is_power_of_two") return Operand::of(ConstValue::boolean(power));
  constexpr int kMost = 64;  // Triton's way to the next power of two goes no further
  if (x < 1 || x.bit_length() > kMost) refuse(fmt::format("{}({})", c.name, x.text()));
  const std::int64_t below = x.bit_length() - 1;
  if (c.row.name == "standard._log2") return Operand::of(ConstValue::of(below));
  return Operand::of(ConstValue::of(power ? x : *Integer(1).shifted_left(below + 1)));
}

}  // namespace passnet::tile
