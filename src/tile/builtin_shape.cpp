// Builtins that make and reshape tiles, and what all builtins need of their arguments.
#include <algorithm>
#include <bit>

#include "graph/dtype.h"
#include "tile/lowering.h"
#include "tile/scalar.h"

namespace passnet::tile {

using OK = Operand::Kind;

// ---- arguments

ValueId Lowering::tensor_arg(Call& c, std::size_t i) {
  if (c[i].is_tensor() || c[i].is_number()) return to_tensor(c[i]);
  refuse(fmt::format("{} of {}", c.name, operand_text(c[i])));
}

// Mathematical functions take float32 and float64; those that say how they round float32 alone.
ValueId Lowering::float_arg(Call& c, std::size_t i) {
  const ValueId v = tensor_arg(c, i);
  const Type& t = type(v);
  const bool single = c.name.starts_with("tl.") && c.row.name.ends_with("_rn");  // as Triton has them
  if (t.pointer || (t.elem != Elem::f32 && (t.elem != Elem::f64 || single)))
    refuse(fmt::format("{} needs float32{}, not {}", c.name, single ? "" : " or float64",
                       triton_type({t.elem, t.pointer, {}})),
           "cast with .to(tl.float32)");
  return v;
}

std::int64_t Lowering::integer_arg(Call& c, std::size_t i, std::string_view what) {
  if (c[i].is_integer()) return c[i].constant.integer.clamped();  // far out is refused as what it is
  refuse(fmt::format("{} of {} must be a constant integer, not {}", what, c.name, operand_text(c[i])),
         "a literal or a tl.constexpr; a name that was assigned with = is no constant: write NAME: tl.constexpr = ...");
}

bool Lowering::flag_arg(Call& c, std::size_t i, std::string_view what) {
  if (c[i].is_constant()) return c[i].constant.truth();
  refuse(fmt::format("{} of {} must be True or False", what, c.name));
}

std::optional<std::string> Lowering::string_arg(Call& c, std::size_t i, std::string_view what) {
  if (c[i].is_none()) return std::nullopt;
  if (c[i].is_constant() && c[i].constant.is(ConstValue::Kind::string)) return c[i].constant.text;
  refuse(fmt::format("{} of {} must be a string", what, c.name));
}

Type Lowering::type_arg(Call& c, std::size_t i) {
  if (c[i].is_constant() && c[i].constant.is(ConstValue::Kind::type)) {
    if (!c[i].constant.text.empty())
      refuse(fmt::format("tl.{} in {} is not supported", c[i].constant.text, c.name),
             "the smallest floats are tl.float16 and tl.bfloat16", ErrorCode::unsupported);
    return c[i].constant.type;
  }
  std::string note = "write tl.float32, x.dtype or out_ptr.dtype.element_ty";
  if (c[i].is_constant() && c[i].constant.is(ConstValue::Kind::string) && c[i].constant.text.starts_with("torch."))
    note = fmt::format("torch's types are not the kernel's: pass tl.{}", c[i].constant.text.substr(6));
  if (c[i].is(OK::path) && c[i].text.starts_with("torch.") && dtype_from_name(c[i].text))
    refuse(fmt::format("{} needs an element type of the kernel's, not torch's", c.name),
           fmt::format("write tl.{}", c[i].text.substr(6)));
  refuse(fmt::format("{} needs an element type, not {}", c.name, operand_text(c[i])), note);
}

std::vector<Operand> Lowering::list_arg(const Operand& v) {
  return v.is(OK::tuple) ? v.items : std::vector<Operand>{v};
}

Shape Lowering::shape_of(const Operand& v, std::string_view who) {
  if (!v.is(OK::tuple)) refuse(fmt::format("the shape of {} must be a list of sizes", who), "write [BLOCK]");
  if (v.items.size() > kRankLimit)
    refuse(fmt::format("a tile of more than {} dimensions", kRankLimit), {}, ErrorCode::limit);
  Shape out;
  std::int64_t elements = 1;
  for (const Operand& size : v.items) {
    if (!size.is_integer())
      refuse(fmt::format("a size of {} must be a constant, not {}", who, operand_text(size)),
             "a literal or a tl.constexpr; a name that was assigned with = is no constant");
    const std::int64_t n = size.constant.integer.clamped();
    if (n <= 0 || (n & (n - 1)) != 0)
      refuse(fmt::format("size {} of {} is no power of two", size.constant.integer.text(), who),
             n == -1 ? "Triton infers no size: write it out" : "take triton.next_power_of_2 and a mask");
    if (n > kElementLimit || (elements *= n) > kElementLimit)
      refuse(fmt::format("a tile of more than {} elements", kElementLimit), "take smaller blocks and loop");
    out.push(static_cast<std::int32_t>(n));
  }
  return out;
}

int Lowering::axis_of(std::int64_t axis, int rank, std::string_view who) {
  if (axis < -rank || axis >= rank)
    refuse(fmt::format("axis {} of {} for {} dimension{}", axis, who, rank, rank == 1 ? "" : "s"),
           rank == 0   ? "a scalar has no axes"
           : rank == 1 ? "the only axis is 0; size-1 dimensions count too, x[None, :] has two"
                       : fmt::format("the axes are 0 to {}, or -{} to -1 from the end", rank - 1, rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

// ---- making tiles

Operand Lowering::b_program_id(Call& c) {
  const std::int64_t axis = integer_arg(c, 0, "axis");
  if (axis < 0 || axis > 2) refuse(fmt::format("axis {} of {}", axis, c.name), "a grid has the axes 0, 1 and 2");
  Op op;
  op.code = c.row.code;
  op.axis = static_cast<std::int8_t>(axis);
  return Operand::tensor(emit(std::move(op), scalar_type(Elem::i32)));
}

Operand Lowering::b_arange(Call& c) {
  const std::int64_t from = integer_arg(c, 0, "start"), to = integer_arg(c, 1, "end");
  if (!holds(Elem::i32, from) || !holds(Elem::i32, to)) refuse("tl.arange beyond int32");
  if (from < 0) refuse(fmt::format("tl.arange starts at {}", from), fmt::format("write tl.arange(0, N) - {}", -from));
  if (to <= from) refuse(fmt::format("tl.arange({}, {}) is empty", from, to), "the end must be above the start");
  const std::int64_t n = to - from;
  if ((n & (n - 1)) != 0)
    refuse(fmt::format("tl.arange({}, {}) has {} elements, which is no power of two", from, to, n),
           fmt::format("take {} and mask what is too much: mask = offs < {}",
                       std::bit_ceil(static_cast<std::uint64_t>(n)), n));
  if (n > kElementLimit)
    refuse(fmt::format("tl.arange of {} elements; the most is {}", n, kElementLimit), "take smaller blocks and loop");
  Op op;
  op.code = Code::arange;
  op.integer = from;
  return Operand::tensor(emit(std::move(op), {Elem::i32, false, {static_cast<std::int32_t>(n)}}));
}

Operand Lowering::b_full(Call& c) {
  const Shape shape = shape_of(c[0], c.name);
  const Type t = type_arg(c, 2);
  if (t.pointer || t.is_tile()) refuse(fmt::format("{} of {}", c.name, triton_type(t)));
  if (c[1].is_integer() && !is_float(t.elem) && t.elem != Elem::i1 && !holds(t.elem, c[1].constant.integer) &&
      holds(elem_row(t.elem).is_signed ? Elem::i64 : Elem::u64, c[1].constant.integer)) {
    const Bits last = bits_of_integer(t.elem, static_cast<std::int64_t>(c[1].constant.integer.low_bits()));
    c[1].constant.integer = integer_of(t.elem, last);  // as Triton's builder takes it
  }
  if (c[1].is_number()) return Operand::tensor(constant(c[1].constant, t.elem, shape));
  const ValueId v = tensor_arg(c, 1);
  if (type(v).shape.elements() != 1) refuse(fmt::format("the value of {} is {}", c.name, operand_text(c[1])));
  return Operand::tensor(broadcast_to(cast(reshape(v, {}), t.elem), shape));
}

Operand Lowering::b_zeros(Call& c) {
  const Shape shape = shape_of(c[0], c.name);
  const Type t = type_arg(c, 1);
  if (t.pointer || t.is_tile()) refuse(fmt::format("{} of {}", c.name, triton_type(t)));
  return Operand::tensor(constant(ConstValue::of(std::int64_t{0}), t.elem, shape));
}

Operand Lowering::b_zeros_like(Call& c) {
  const ValueId v = tensor_arg(c, 0);
  if (type(v).pointer) refuse("tl.zeros_like of a pointer");
  return Operand::tensor(integer_like(0, v));
}

Operand Lowering::b_to_tensor(Call& c) { return Operand::tensor(tensor_arg(c, 0)); }

Operand Lowering::b_cast(Call& c) {
  const ValueId v = tensor_arg(c, 0);
  const Type t = type_arg(c, 1);
  const Type from = type(v);
  if (!t.pointer && !from.pointer && t.elem == from.elem) return Operand::tensor(v);  // whatever else is said
  const auto rounding = string_arg(c, 2, "fp_downcast_rounding");
  if (rounding) {
    if (*rounding != "rtne" && *rounding != "rtz")
      refuse(fmt::format("rounding '{}' in {}", *rounding, c.name), "'rtne', to the nearest, or 'rtz', toward zero");
    if (t.pointer || from.pointer || !is_float(t.elem) || !is_float(from.elem) ||
        elem_row(t.elem).bits >= elem_row(from.elem).bits)
      refuse(fmt::format("fp_downcast_rounding in {} from {} to {}", c.name, triton_type(from), triton_type(t)),
             "it is for floats that become smaller");
    if (*rounding == "rtz") return Operand::tensor(cast_toward_zero(v, t.elem));
  }
  if (t.pointer) {
    const Type to = {t.elem, true, from.shape};
    if (from == to) return Operand::tensor(v);
    if (!from.pointer)
      refuse(fmt::format("a pointer made of {}", triton_type(from)),
             "kernels reach the memory of their arguments alone; cast a pointer to another pointer type");
    return Operand::tensor(emit(Code::bitcast, {v}, to));
  }
  if (flag_arg(c, 3, "bitcast")) return Operand::tensor(bitcast(v, t.elem));
  return Operand::tensor(cast(v, t.elem));
}

Operand Lowering::b_pointer_type(Call& c) {
  const Type t = type_arg(c, 0);
  if (t.pointer) refuse("a pointer to pointers", "pointers point to numbers");
  return Operand::of(ConstValue::of(Type{t.elem, true, {}}));
}

// ---- shapes

Operand Lowering::b_broadcast(Call& c) {
  ValueId a = tensor_arg(c, 0), b = tensor_arg(c, 1);
  broadcast_pair(a, b);
  return Operand::tuple({Operand::tensor(a), Operand::tensor(b)});
}

namespace {

// f(x, (a, b)) and f(x, a, b) are the same.
const Operand& unpacked(const Operand& many) {
  return many.items.size() == 1 && many.items[0].is(OK::tuple) ? many.items[0] : many;
}

}  // namespace

Operand Lowering::b_broadcast_to(Call& c) {
  const ValueId v = tensor_arg(c, 0);
  return Operand::tensor(broadcast_to(v, shape_of(unpacked(c[1]), c.name)));
}

Operand Lowering::b_expand_dims(Call& c) {
  ValueId v = tensor_arg(c, 0);
  std::vector<int> axes;
  const std::vector<Operand> given = list_arg(c[1]);
  const int rank = static_cast<int>(type(v).shape.rank + given.size());
  for (const Operand& a : given) {
    if (!a.is_integer()) refuse(fmt::format("the axis of {} must be a constant", c.name));
    axes.push_back(axis_of(a.constant.integer.clamped(), rank, c.name));
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) refuse(fmt::format("{} with one axis twice", c.name));
  for (const int a : axes) v = expand_dims(v, a);
  return Operand::tensor(v);
}

Operand Lowering::b_reshape(Call& c) {
  const ValueId v = tensor_arg(c, 0);
  return Operand::tensor(reshape(v, shape_of(unpacked(c[1]), c.name)));
}

Operand Lowering::b_ravel(Call& c) {
  const ValueId v = tensor_arg(c, 0);
  const Shape from = type(v).shape;
  Shape to;
  if (c.row.name == "squeeze") {
    const int dim = axis_of(integer_arg(c, 1, "dim"), from.rank, c.name);
    for (int i = 0; i < from.rank; ++i)
      if (i != dim) to.push(from[static_cast<std::size_t>(i)]);
  } else {
    to.push(static_cast<std::int32_t>(from.elements()));
  }
  return Operand::tensor(reshape(v, to));
}

Operand Lowering::b_item(Call& c) {
  const ValueId v = tensor_arg(c, 0);
  if (type(v).shape.elements() != 1) refuse(fmt::format(".item() of {}", triton_type(type(v))), "only of one element");
  return Operand::tensor(reshape(v, {}));
}

Operand Lowering::b_trans(Call& c) {
  const ValueId v = tensor_arg(c, 0);
  const Type from = type(v);
  const int rank = from.shape.rank;
  std::vector<int> order;
  for (const Operand& d : unpacked(c[1]).items) {
    if (!d.is_integer()) refuse(fmt::format("the dimensions of {} must be constants", c.name));
    if (d.constant.integer < 0)
      refuse(fmt::format("dimension {} of {}", d.constant.integer.text(), c.name), "count from the first, which is 0");
    order.push_back(axis_of(d.constant.integer.clamped(), rank, c.name));
  }
  if (order.empty() && c.row.name == "trans") {
    if (rank < 2) refuse(fmt::format("{} of {}", c.name, triton_type(from)), "a transpose needs two dimensions");
    for (int i = 0; i < rank - 2; ++i) order.push_back(i);
    order.push_back(rank - 1);
    order.push_back(rank - 2);
  }
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (int i = 0; i < rank; ++i)
    if (static_cast<int>(sorted.size()) != rank || sorted[static_cast<std::size_t>(i)] != i)
      refuse(fmt::format("{} needs each of the {} dimensions once", c.name, rank));
  Op op;
  op.code = Code::trans;
  op.operands = {v};
  Type to = {from.elem, from.pointer, {}};
  for (std::size_t i = 0; i < order.size(); ++i) {
    op.order[i] = static_cast<std::int8_t>(order[i]);
    to.shape.push(from.shape[static_cast<std::size_t>(order[i])]);
  }
  return Operand::tensor(emit(std::move(op), to));
}

// ---- joining: a new last dimension of two

ValueId Lowering::join(ValueId a, ValueId b) {
  broadcast_pair(a, b);
  const int rank = type(a).shape.rank;
  if (rank >= kRankLimit) refuse("a tile of too many dimensions", {}, ErrorCode::limit);
  if (type(a).elem != type(b).elem || type(a).pointer != type(b).pointer)
    refuse(fmt::format("{} and {} joined", triton_type(type(a)), triton_type(type(b))), "cast one with .to(...)");
  Op op;
  op.code = Code::arange;
  ValueId which = emit(std::move(op), {Elem::i32, false, {2}});
  Shape shape = type(a).shape;
  shape.push(2);
  for (int i = 0; i < rank; ++i) which = expand_dims(which, 0);
  which = broadcast_to(which, shape);
  const ValueId first = emit_compare(Code::eq, which, integer_like(0, which));
  a = broadcast_to(expand_dims(a, rank), shape);
  b = broadcast_to(expand_dims(b, rank), shape);
  return select(first, a, b);
}

// What lies at one place along the axis, bit for bit: the rest is masked to 0 and the bits are or-ed.
ValueId Lowering::pick(ValueId v, int axis, std::int64_t which) {
  const Type t = type(v);
  constexpr std::pair<int, Elem> kBits[] = {
      {1, Elem::i1}, {8, Elem::i8}, {16, Elem::i16}, {32, Elem::i32}, {64, Elem::i64}};
  Elem bits = Elem::i32;
  for (const auto& [n, elem] : kBits)
    if (n == elem_row(t.elem).bits) bits = elem;
  const ValueId as_bits = is_float(t.elem) ? bitcast(v, bits) : v;
  const ValueId index = positions(t.shape, axis, Elem::i32);
  const ValueId mine = emit_compare(Code::eq, index, integer_like(which, index));
  const ValueId out = reduce(select(mine, as_bits, integer_like(0, as_bits)), axis, Combine::bit_or, false);
  return is_float(t.elem) ? bitcast(out, t.elem) : out;
}

Operand Lowering::b_join(Call& c) {
  const ValueId a = tensor_arg(c, 0);
  return Operand::tensor(join(a, tensor_arg(c, 1)));
}

Operand Lowering::b_split(Call& c) {
  const ValueId v = tensor_arg(c, 0);
  const Type t = type(v);
  if (t.shape.rank == 0 || t.shape[t.shape.rank - 1U] != 2 || t.pointer)
    refuse(fmt::format("{} of {}", c.name, triton_type(t)), "the last dimension must have two elements");
  const ValueId a = pick(v, t.shape.rank - 1, 0);
  return Operand::tuple({Operand::tensor(a), Operand::tensor(pick(v, t.shape.rank - 1, 1))});
}

Operand Lowering::b_interleave(Call& c) {
  const ValueId a = tensor_arg(c, 0);
  const ValueId both = join(a, tensor_arg(c, 1));
  const Shape from = type(both).shape;
  if (from.rank == 1) return Operand::tensor(both);
  Shape to;
  for (std::size_t i = 0; i + 2 < from.rank; ++i) to.push(from[i]);
  to.push(from[from.rank - 2U] * 2);
  return Operand::tensor(reshape(both, to));
}

Operand Lowering::b_cat(Call& c) {
  const ValueId a = tensor_arg(c, 0), b = tensor_arg(c, 1);
  const Shape shape = type(a).shape;
  if (shape != type(b).shape || shape.rank == 0)
    refuse(fmt::format("{} of {} and {}", c.name, triton_type(type(a)), triton_type(type(b))),
           "both must be tiles of one shape");
  const int rank = shape.rank;
  const int dim = axis_of(integer_arg(c, 3, "dim"), rank, c.name);
  const ValueId both = join(a, b);
  Op op;
  op.code = Code::trans;
  op.operands = {both};
  Type to = {type(both).elem, type(both).pointer, {}};
  Shape flat;
  for (int i = 0, at = 0; i <= rank; ++i) {
    const int from = i == dim ? rank : at++;
    op.order[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(from);
    to.shape.push(type(both).shape[static_cast<std::size_t>(from)]);
  }
  for (int i = 0; i < rank; ++i) flat.push(shape[static_cast<std::size_t>(i)] * (i == dim ? 2 : 1));
  return Operand::tensor(reshape(emit(std::move(op), to), flat));
}

}  // namespace passnet::tile
