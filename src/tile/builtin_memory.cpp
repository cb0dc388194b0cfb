// Builtins that read and write memory. Block pointers become pointers and masks here.
#include <algorithm>
#include <limits>

#include "tile/lowering.h"

namespace passnet::tile {

using OK = Operand::Kind;

namespace {

// A bool is a byte in memory; what is not a bool goes through int8, as in Triton.
bool through_byte(Elem memory, Elem value) { return memory == Elem::i1 && value != Elem::i1; }

}  // namespace

Operand Lowering::b_load(Call& c) {
  if (c[0].is(OK::block_pointer)) return load_block(c);
  ValueId p = tensor_arg(c, 0);
  if (!type(p).pointer)
    refuse(fmt::format("tl.load of {}", triton_type(type(p))),
           "the first argument is a pointer: tl.load(x_ptr + offsets)");
  if (!list_arg(c[3]).empty() || (c[4].is_constant() && c[4].constant.truth()))
    refuse("boundary_check and padding_option are for block pointers", "give a mask and other=");
  if (c[1].is_none() && !c[2].is_none()) refuse("tl.load with other= and without a mask", "add mask=");
  ValueId mask = kNoValue, other = kNoValue;
  if (!c[1].is_none()) {
    mask = tensor_arg(c, 1);
    if (type(mask).elem != Elem::i1 || type(mask).pointer)
      refuse(fmt::format("a mask of {}", triton_type(type(mask))), "compare: mask = offs < n");
  }
  if (!c[2].is_none()) other = tensor_arg(c, 2);
  if (!type(p).is_tile()) {
    for (const ValueId v : {mask, other})
      if (v != kNoValue && type(v).is_tile())
        refuse(fmt::format("a scalar pointer with a mask or other of {}", triton_type(type(v))),
               "add offsets to the pointer: tl.load(ptr + offs, mask=mask)");
  } else {
    if (mask != kNoValue) broadcast_pair(p, mask);
    if (other != kNoValue) broadcast_pair(p, other);
    if (mask != kNoValue) mask = broadcast_to(mask, type(p).shape);
  }
  const Type t = type(p);
  std::vector<ValueId> operands{p};
  if (mask != kNoValue) operands.push_back(mask);
  if (other != kNoValue) {
    if (type(other).pointer) refuse("a pointer as other=");
    if (through_byte(t.elem, type(other).elem)) other = cast(other, Elem::i8);
    operands.push_back(cast(other, t.elem));
  }
  return Operand::tensor(emit(Code::load, std::move(operands), {t.elem, false, t.shape}));
}

Operand Lowering::b_store(Call& c) {
  if (c[0].is(OK::block_pointer)) {
    store_block(c);
    return {};
  }
  ValueId p = tensor_arg(c, 0);
  if (!type(p).pointer)
    refuse(fmt::format("tl.store to {}", triton_type(type(p))),
           "the first argument is a pointer: tl.store(out_ptr + offsets, value)");
  if (!list_arg(c[3]).empty()) refuse("boundary_check is for block pointers", "give a mask");
  ValueId v = tensor_arg(c, 1);
  if (type(v).pointer) refuse("a pointer as the value of tl.store", "load first: tl.load(ptr)");
  ValueId mask = kNoValue;
  if (!c[2].is_none()) {
    mask = tensor_arg(c, 2);
    if (type(mask).elem != Elem::i1 || type(mask).pointer)
      refuse(fmt::format("a mask of {}", triton_type(type(mask))), "compare: mask = offs < n");
  }
  const Type t = type(p);
  for (const ValueId x : {v, mask})
    if (x != kNoValue && type(x).is_tile() && !t.is_tile())
      refuse(fmt::format("{} stored through one pointer", triton_type(type(x))),
             "add offsets to the pointer: tl.store(ptr + offs, value, mask=mask)");
  if (t.is_tile()) {
    const auto fit = [&](ValueId& x) {
      ValueId q = p;
      broadcast_pair(q, x);
      if (type(q).shape != t.shape)
        refuse(fmt::format("{} stored through {}", triton_type(type(x)), triton_type(t)),
               "value and mask may not be larger than the pointers");
    };
    fit(v);
    if (mask != kNoValue) fit(mask);
  }
  if (through_byte(t.elem, type(v).elem)) v = cast(v, Elem::i8);
  Op op;
  op.code = Code::store;
  op.operands = {p, cast(v, t.elem)};
  if (mask != kNoValue) op.operands.push_back(mask);
  emit_effect(std::move(op));
  return {};
}

// ---- atomics

Operand Lowering::b_atomic(Call& c) {
  constexpr std::pair<std::string_view, Atomic> kKinds[] = {
      {"atomic_add", Atomic::add},      {"atomic_max", Atomic::max},   {"atomic_min", Atomic::min},
      {"atomic_and", Atomic::bit_and},  {"atomic_or", Atomic::bit_or}, {"atomic_xor", Atomic::bit_xor},
      {"atomic_xchg", Atomic::exchange}};
  const ValueId p = tensor_arg(c, 0);
  const Type t = type(p);
  if (!t.pointer) refuse(fmt::format("{} on {}", c.name, triton_type(t)), "the first argument is a pointer");
  Op op;
  op.code = Code::atomic;
  for (const auto& [name, kind] : kKinds)
    if (name == c.row.name) op.atomic = kind;
  const bool bits = op.atomic == Atomic::bit_and || op.atomic == Atomic::bit_or || op.atomic == Atomic::bit_xor;
  if (elem_row(t.elem).bits < 16 || t.elem == Elem::i16 || t.elem == Elem::u16 ||
      (is_half(t.elem) && op.atomic != Atomic::add) || (bits && is_float(t.elem)))
    refuse(fmt::format("{} on {}", c.name, elem_row(t.elem).triton_name), "use a tensor of int32 or float32");
  ValueId v = tensor_arg(c, 1);
  v = cast(t.is_tile() ? broadcast_to(v, t.shape) : v, t.elem);
  if (type(v).shape != t.shape) refuse(fmt::format("{} of {} through one pointer", c.name, triton_type(type(v))));
  op.operands = {p, v};
  if (!c[2].is_none()) {
    ValueId mask = tensor_arg(c, 2);
    if (type(mask).elem != Elem::i1) refuse(fmt::format("a mask of {}", triton_type(type(mask))));
    if (t.is_tile()) mask = broadcast_to(mask, t.shape);
    if (type(mask).shape != t.shape) refuse(fmt::format("a mask of {} with one pointer", triton_type(type(mask))));
    op.operands.push_back(mask);
  }
  return Operand::tensor(emit(std::move(op), {t.elem, false, t.shape}));
}

Operand Lowering::b_atomic_cas(Call& c) {
  const ValueId p = tensor_arg(c, 0);
  const Type t = type(p);
  if (!t.pointer) refuse(fmt::format("{} on {}", c.name, triton_type(t)), "the first argument is a pointer");
  if (elem_row(t.elem).bits < 16) refuse(fmt::format("{} on {}", c.name, elem_row(t.elem).triton_name));
  std::vector<ValueId> operands{p};
  for (std::size_t i = 1; i < 3; ++i) {
    const ValueId v = cast(tensor_arg(c, i), t.elem);
    operands.push_back(t.is_tile() ? broadcast_to(v, t.shape) : v);
    if (type(operands.back()).shape != t.shape) refuse(fmt::format("{} of a tile through one pointer", c.name));
  }
  return Operand::tensor(emit(Code::atomic_cas, std::move(operands), {t.elem, false, t.shape}));
}

// ---- block pointers

ValueId Lowering::scalar_integer(const Operand& v, Elem elem, std::string_view who) {
  if (v.is_integer()) return constant(v.constant, elem);
  const ValueId t = to_tensor(v);
  if (type(t).pointer || is_float(type(t).elem) || type(t).shape.elements() != 1)
    refuse(fmt::format("{} where {} needs an integer", operand_text(v), who));
  if (elem == Elem::i32 && elem_row(type(t).elem).bits > 32)
    refuse(fmt::format("an offset of {} in {}", triton_type(type(t)), who),
           "block pointers and descriptors have offsets of 32 bits: write .to(tl.int32)");
  return cast(reshape(t, {}), elem);
}

// `parts`: sizes, strides, offsets.
Operand Lowering::block_pointer(const Operand& base, const Operand (&parts)[3], const Operand& block,
                                std::string_view who) {
  const ValueId pointer = to_tensor(base);
  if (!type(pointer).pointer || type(pointer).is_tile()) refuse(fmt::format("the base of {} is one pointer", who));
  Operand out;
  out.kind = OK::block_pointer;
  out.constant = ConstValue::of(Type{type(pointer).elem, true, shape_of(Operand::tuple(list_arg(block)), who)});
  out.items.push_back(Operand::tensor(pointer));
  for (std::size_t part = 0; part < 3; ++part) {
    std::vector<Operand> values;
    for (const Operand& v : list_arg(parts[part]))
      values.push_back(Operand::tensor(scalar_integer(v, part == 2 ? Elem::i32 : Elem::i64, who)));
    if (values.size() != out.constant.type.shape.rank)
      refuse(fmt::format("shape, strides, offsets and block_shape of {} differ in length", who));
    out.items.push_back(Operand::tuple(std::move(values)));
  }
  return out;
}

Operand Lowering::b_make_block_ptr(Call& c) {
  Operand out = block_pointer(c[0], {c[1], c[2], c[3]}, c[4], "a block pointer");
  std::vector<bool> named(out.constant.type.shape.rank);
  for (const Operand& d : list_arg(c[5]))
    if (d.is_integer() && d.constant.integer >= 0 && d.constant.integer < named.size())
      named[static_cast<std::size_t>(d.constant.integer.clamped())] = true;
  if (list_arg(c[5]).size() != named.size() || std::find(named.begin(), named.end(), false) != named.end())
    refuse("order of a block pointer names each dimension once");
  return out;
}

// ---- tensor descriptors: every dimension of an access is checked

Operand Lowering::b_make_descriptor(Call& c) {
  const Operand zeros =
      Operand::tuple(std::vector<Operand>(list_arg(c[3]).size(), Operand::of(ConstValue::of(std::int64_t{0}))));
  Operand out = block_pointer(c[0], {c[1], c[2], zeros}, c[3], "a tensor descriptor");
  constexpr std::uint8_t kMostDims = 5;
  constexpr std::int64_t kLeastBytes = 16;
  const Type t = out.constant.type;
  if (t.shape.rank < 1 || t.shape.rank > kMostDims)
    refuse(fmt::format("a tensor descriptor of {} dimensions", t.shape.rank), "it has 1 to 5");
  if (t.shape[t.shape.rank - 1U] * elem_bytes(t.elem) < kLeastBytes)
    refuse(fmt::format("{} in the last dimension of a descriptor's block", t.shape[t.shape.rank - 1U]),
           "it has at least 16 bytes there");
  if (const Operand stride = list_arg(c[2]).back(); stride.is_integer() && stride.constant.integer != 1)
    refuse(fmt::format("a tensor descriptor whose last stride is {}", stride.constant.integer.text()), "it must be 1");
  out.kind = OK::descriptor;
  out.text = string_arg(c, 4, "padding_option").value_or("zero");
  return out;
}

Operand Lowering::b_descriptor(Call& c) {
  if (!c[0].is(OK::descriptor))
    refuse(fmt::format("{} of {}", c.name, operand_text(c[0])), "make one with tl.make_tensor_descriptor");
  const Operand& d = c[0];
  const std::vector<Operand> offsets = list_arg(c[1]);
  const std::size_t rank = d.constant.type.shape.rank;
  if (offsets.size() != rank) refuse(fmt::format("{} with {} offsets for {} dimensions", c.name, offsets.size(), rank));
  Operand block = d;
  block.kind = OK::block_pointer;
  std::vector<Operand> checked;
  for (std::size_t i = 0; i < rank; ++i) {
    block.items[3].items[i] = Operand::tensor(scalar_integer(offsets[i], Elem::i32, c.name));
    checked.push_back(Operand::of(ConstValue::of(static_cast<std::int64_t>(i))));
  }
  if (c.row.code == Code::atomic) {
    const BlockAccess at = block_access(block, Operand::tuple(std::move(checked)), c.name);
    call_builtin(*find_builtin(c.row.name, kTl), c.name, {Operand::tensor(at.pointer), c[2], Operand::tensor(at.mask)},
                 {});
    return {};
  }
  const std::string_view name = c.row.code == Code::load ? "load" : "store";
  std::vector<Operand> args{std::move(block)};
  if (name == "store") args.push_back(Operand::tensor(cast(tensor_arg(c, 2), d.constant.type.elem)));
  std::vector<std::pair<std::string_view, Operand>> kwargs{{"boundary_check", Operand::tuple(std::move(checked))}};
  if (name == "load") kwargs.emplace_back("padding_option", Operand::of(ConstValue::string(d.text)));
  return call_builtin(*find_builtin(name, kTl), c.name, std::move(args), std::move(kwargs));
}

// ---- block pointers, continued

Operand Lowering::b_advance(Call& c) {
  if (!c[0].is(OK::block_pointer))
    refuse(fmt::format("tl.advance of {}", operand_text(c[0])), "add to a pointer with +");
  Operand out = c[0];
  const std::vector<Operand> by = list_arg(c[1]);
  std::vector<Operand>& offsets = out.items[3].items;
  if (by.size() != offsets.size()) refuse("tl.advance needs one offset per dimension");
  for (std::size_t i = 0; i < by.size(); ++i) {
    if (by[i].is_integer() && by[i].constant.integer == 0) continue;
    offsets[i] = Operand::tensor(emit2(Code::add, offsets[i].id, scalar_integer(by[i], Elem::i32, c.name)));
  }
  return out;
}

// The elements' pointers, and the mask of the dimensions that are checked.
Lowering::BlockAccess Lowering::block_access(const Operand& pointer, const Operand& boundary_check,
                                             std::string_view who) {
  const Type t = pointer.constant.type;
  const int rank = t.shape.rank;
  std::vector<bool> checked(static_cast<std::size_t>(rank));
  for (const Operand& d : list_arg(boundary_check)) {
    if (!d.is_integer()) refuse(fmt::format("boundary_check of {} must be constants", who));
    checked[static_cast<std::size_t>(axis_of(d.constant.integer.clamped(), rank, who))] = true;
  }
  BlockAccess out;
  ValueId offset = kNoValue;
  for (int d = 0; d < rank; ++d) {
    const auto i = static_cast<std::size_t>(d);
    Op op;
    op.code = Code::arange;
    ValueId index = cast(emit(std::move(op), {Elem::i32, false, {t.shape[i]}}), Elem::i64);
    const Shape line = type(index).shape;
    index = emit2(Code::add, index, broadcast_to(cast(pointer.items[3].items[i].id, Elem::i64), line));
    const auto spread = [&](ValueId v) {
      for (int k = 0; k < rank; ++k)
        if (k != d) v = expand_dims(v, k);
      return broadcast_to(v, t.shape);
    };
    const ValueId far = spread(emit2(Code::mul, index, broadcast_to(pointer.items[2].items[i].id, line)));
    offset = offset == kNoValue ? far : emit2(Code::add, offset, far);
    if (!checked[i]) continue;
    const ValueId above = emit_compare(Code::ge, index, integer_like(0, index));
    const ValueId below = emit_compare(Code::lt, index, broadcast_to(pointer.items[1].items[i].id, line));
    const ValueId inside = spread(emit2(Code::bit_and, above, below));
    out.mask = out.mask == kNoValue ? inside : emit2(Code::bit_and, out.mask, inside);
  }
  const ValueId base = broadcast_to(pointer.items[0].id, t.shape);
  out.pointer = emit(Code::addptr, {base, offset}, type(base));
  return out;
}

Operand Lowering::load_block(Call& c) {
  if (!c[1].is_none() || !c[2].is_none())
    refuse("mask and other with a block pointer", "use boundary_check=(0, 1) and padding_option='zero'");
  const Type t = c[0].constant.type;
  const BlockAccess at = block_access(c[0], c[3], c.name);
  std::vector<ValueId> operands{at.pointer};
  const std::string padding = string_arg(c, 4, "padding_option").value_or("");
  if (padding != "" && padding != "zero" && padding != "nan")
    refuse(fmt::format("padding_option '{}'", padding), "'zero' or 'nan'");
  if (at.mask != kNoValue) {
    operands.push_back(at.mask);
    if (padding == "nan") {
      if (!is_float(t.elem)) refuse("padding_option 'nan' of integers", "'zero'");
      operands.push_back(constant(ConstValue::of(std::numeric_limits<double>::quiet_NaN()), t.elem, t.shape));
    }
  }
  return Operand::tensor(emit(Code::load, std::move(operands), {t.elem, false, t.shape}));
}

void Lowering::store_block(Call& c) {
  if (!c[2].is_none()) refuse("a mask with a block pointer", "use boundary_check=(0, 1)");
  const Type t = c[0].constant.type;
  ValueId v = tensor_arg(c, 1);
  if (!type(v).is_tile()) v = broadcast_to(v, t.shape);
  if (type(v).shape != t.shape)
    refuse(fmt::format("{} stored through a block pointer of {}", triton_type(type(v)), triton_type(t)));
  if (type(v).elem != t.elem)
    refuse(fmt::format("{} stored through a block pointer to {}", triton_type(type(v)), elem_row(t.elem).triton_name),
           "cast with .to(...)");
  const BlockAccess at = block_access(c[0], c[3], c.name);
  Op op;
  op.code = Code::store;
  op.operands = {at.pointer, v};
  if (at.mask != kNoValue) op.operands.push_back(at.mask);
  emit_effect(std::move(op));
}

}  // namespace passnet::tile
