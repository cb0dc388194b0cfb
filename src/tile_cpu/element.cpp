// One value at one index, as lanes or as a scalar. What does not depend on an inner loop is computed outside it.
#include <fmt/format.h>

#include <algorithm>

#include "tile_cpu/ctypes.h"
#include "tile_cpu/emitter.h"
#include "tile_cpu/op_text.h"

namespace passnet::tile_cpu {

namespace {

// Tiles of pointers are computed as addresses.
Elem value_elem(const Type& t) { return t.pointer ? Elem::i64 : t.elem; }

}  // namespace

// The operand's index for the result's, through ops that only move elements.
Index Emitter::map_index(const Op& op, const tile::Function& f, const Index& index) {
  const Shape& from = f.type(op.operands[0]).shape;
  const Shape& to = f.type(op.result()).shape;
  Index out;
  out.fill(kFixed);
  switch (op.code) {
    case Code::broadcast:
      for (std::size_t d = 0; d < from.rank; ++d) out[d] = from[d] == 1 ? kFixed : index[d];
      return out;
    case Code::expand_dims:
      for (std::size_t d = 0, k = 0; d < to.rank; ++d)
        if (static_cast<int>(d) != op.axis) out[k++] = index[d];
      return out;
    case Code::trans:
      for (std::size_t d = 0; d < to.rank; ++d) out[static_cast<std::size_t>(op.order[d])] = index[d];
      return out;
    case Code::reshape:  // that only adds or removes sizes of one
      for (std::size_t d = 0, k = 0; d < from.rank; ++d) {
        if (from[d] == 1) continue;
        while (k < to.rank && to[k] == 1) ++k;
        out[d] = index[k++];
      }
      return out;
    default: return index;
  }
}

// With nothing in the index that the value has no dimension, or only one element, for.
At Emitter::normal(ValueId v, const Index& index) const {
  At out{v, index};
  const Shape& shape = type(v).shape;
  for (std::size_t d = 0; d < out.index.size(); ++d)
    if (d >= shape.rank || shape[d] == 1) out.index[d] = kFixed;
  return out;
}

bool Emitter::runs(const Index& index, int rank) const {
  return vector_loop_ >= 0 && std::find(index.begin(), index.begin() + rank, vector_loop_) != index.begin() + rank;
}

Ref Emitter::put(ValueId v, Elem elem, const std::string& text, int level, bool lanes) {
  level = std::max(level, 1);
  const std::string name = fresh(v);
  levels_[static_cast<std::size_t>(level)].code +=
      fmt::format("{}const {} {} = {};\n", std::string(static_cast<std::size_t>(level) * 2 + 2, ' '),
                  lanes ? lanes_name(elem) : scalar_name(elem), name, text);
  return {name, level, lanes};
}

Ref Emitter::lanes_of(const Ref& ref, Elem elem) {
  if (ref.lanes) return ref;
  return {fmt::format("all(({}){})", scalar_name(elem), ref.text), ref.level, true};
}

Ref Emitter::loop_variable(int loop, Mode mode) {
  if (loop != vector_loop_)
    return {loops_[static_cast<std::size_t>(loop)].var, loops_[static_cast<std::size_t>(loop)].level, false};
  switch (mode) {
    case Mode::segment: return {segment_var_, segment_level_, false};
    case Mode::zero: return {"0", 1, false};
    default: return {"i", vector_level_, false};
  }
}

std::optional<Emitter::Truth> Emitter::truth(ValueId v, const Index& index) const {
  int left = kLooked;
  return truth(v, index, left);
}

std::optional<Emitter::Truth> Emitter::truth(ValueId v, const Index& index, int& left) const {
  if (--left < 0) return std::nullopt;
  if (const auto it = known_.find(normal(v, index)); it != known_.end()) return it->second;
  const Op* op = def(v);
  if (op == nullptr || home(v).kind == Home::Kind::array) return std::nullopt;
  switch (op->code) {
    case Code::constant: return Truth{op->integer != 0, 0};
    case Code::splat: return truth(op->operands[0], {}, left);
    case Code::broadcast:
    case Code::expand_dims:
    case Code::trans: return truth(op->operands[0], map_index(*op, f_, index), left);
    case Code::bit_not: {
      auto t = truth(op->operands[0], index, left);
      if (t) t->value = !t->value;
      return t;
    }
    case Code::bit_and:
    case Code::bit_or: {
      const bool decisive = op->code == Code::bit_or;
      const auto a = truth(op->operands[0], index, left), b = truth(op->operands[1], index, left);
      if (a && a->value == decisive) return a;
      if (b && b->value == decisive) return b;
      if (a && b) return Truth{!decisive, std::max(a->level, b->level)};
      return std::nullopt;
    }
    default: return std::nullopt;
  }
}

Ref Emitter::eval(ValueId v, const Index& given, Mode mode) {
  const Type& t = type(v);
  if (home(v).kind == Home::Kind::name) return {home(v).text, home(v).level, false};
  if (t.elem == Elem::i1 && !t.pointer)
    if (const auto known = truth(v, given)) return {known->value ? "true" : "false", std::max(known->level, 1), false};
  const Index index = normal(v, given).index;
  if (const auto cut = cuts_.find({v, index}); cut != cuts_.end()) return {cut->second, segment_level_, false};
  if (!runs(index, t.shape.rank)) mode = Mode::zero;
  if (home(v).kind == Home::Kind::array)
    return eval_array(arrays_[static_cast<std::size_t>(home(v).array)], index, mode);
  const std::pair<At, Mode> key{{v, index}, mode};
  for (const Level& level : levels_)
    if (const auto it = level.done.find(key); it != level.done.end()) return it->second;
  Ref out;
  const auto step = mode == Mode::lanes ? step_of(v, index) : std::nullopt;
  if (step == 0)
    out = eval(v, index, segment_ ? Mode::segment : Mode::zero);
  else if (step && (t.elem == Elem::i32 || t.elem == Elem::i64) && !t.pointer)
    out = moving(v, index, *step);
  else
    out = eval_op(*def(v), v, index, mode);
  levels_[static_cast<std::size_t>(std::max(out.level, 1))].done.emplace(key, out);
  return out;
}

// Lanes that move by a constant step: the first one, and the rest from it.
Ref Emitter::moving(ValueId v, const Index& index, std::int64_t step) {
  const Ref first = eval(v, index, Mode::first);
  const Elem elem = type(v).elem;
  const std::string lanes = elem == Elem::i64 ? "TO(vi64, iota())" : "iota()";
  const std::string scaled = step == 1 ? lanes : fmt::format("{} * ({}){}L", lanes, scalar_name(elem), step);
  return put(v, elem, fmt::format("{} + {}", first.text, scaled), std::max(first.level, vector_level_), true);
}

Ref Emitter::eval_range(const Op& op, const Index& index, Mode mode) {
  if (index[0] == kFixed) return {std::to_string(op.integer), 1, false};
  const Ref var = loop_variable(index[0], mode);
  const std::string at =
      op.integer == 0 ? fmt::format("(i32){}", var.text) : fmt::format("(i32)({} + {})", var.text, op.integer);
  if (mode == Mode::lanes) return put(op.result(), Elem::i32, fmt::format("iota() + {}", at), var.level, true);
  return {"(" + at + ")", var.level, false};
}

Ref Emitter::eval_array(const Array& array, const Index& index, Mode mode) {
  std::string at;
  int level = 1;
  std::int64_t stride = 1, step = 0;
  for (int d = array.shape.rank - 1; d >= array.first_dim; --d) {
    const auto k = static_cast<std::size_t>(array.turned ? array.shape.rank - 1 - d : d);
    if (index[k] != kFixed) {
      const bool moves = index[k] == vector_loop_;
      const Ref var = loop_variable(index[k], mode == Mode::lanes ? Mode::first : mode);
      level = std::max(level, var.level);
      if (moves) step += stride;
      at += fmt::format("{}{}{}", at.empty() ? "" : " + ", var.text, stride == 1 ? "" : fmt::format(" * {}L", stride));
    }
    stride *= array.shape[k];
  }
  for (int d = 0; d < array.first_dim; ++d)
    if (index[static_cast<std::size_t>(d)] != kFixed)
      level = std::max(level, loop_variable(index[static_cast<std::size_t>(d)], mode).level);
  if (at.empty()) at = "0";
  const Elem elem = array.pointer ? Elem::i64 : array.elem;
  if (mode == Mode::lanes && step != 0) {
    const std::string text =
        step == 1 ? fmt::format("ld<{}, Full>({} + {}, n)", array_access_name(elem), array.name, at)
                  : fmt::format("ld_step<{}, Full>({} + {}, {}L, n)", array_access_name(elem), array.name, at, step);
    return put(kNoValue, elem, text, level, true);
  }
  return put(kNoValue, elem, fmt::format("{}[{}]{}", array.name, at, elem == Elem::i1 ? " != 0" : ""), level, false);
}

Ref Emitter::eval_op(const Op& op, ValueId v, const Index& index, Mode mode) {
  const Type& t = type(v);
  switch (op.code) {
    case Code::constant: return {constant_text(op, value_elem(t)), 1, false};
    case Code::arange: return eval_range(op, index, mode);
    case Code::splat: {
      const Ref r = eval(op.operands[0], {}, mode);
      return t.pointer ? Ref{"(i64)" + r.text, r.level, false} : r;
    }
    case Code::broadcast:
    case Code::expand_dims:
    case Code::trans:
    case Code::reshape: return eval(op.operands[0], map_index(op, f_, index), mode);
    case Code::load: return load(op, index, mode);
    default: break;
  }
  if (op.code == Code::select)
    if (const auto known = truth(op.operands[0], index)) {
      Ref r = eval(op.operands[known->value ? 1 : 2], index, mode);
      r.level = std::max(r.level, known->level);
      return r;
    }
  std::vector<Ref> refs;
  int level = 1;
  bool lanes = false;
  for (const ValueId o : op.operands) {
    refs.push_back(eval(o, index, mode));
    level = std::max(level, refs.back().level);
    lanes = lanes || refs.back().lanes;
  }
  if (op.code == Code::addptr) {
    const auto bytes = tile::elem_bytes(t.elem);
    const Elem offset = type(op.operands[1]).elem;
    if (!lanes)
      return put(v, Elem::i64, fmt::format("{} + (i64){} * {}", refs[0].text, refs[1].text, bytes), level, false);
    const Ref base = lanes_of(refs[0], Elem::i64), at = lanes_of(refs[1], offset);
    return put(v, Elem::i64, fmt::format("{} + TO(vi64, {}) * {}L", base.text, at.text, bytes), level, true);
  }
  if (op.code == Code::select && lanes && !refs[0].lanes) {
    const Elem e = value_elem(t);
    return put(v, e, fmt::format("({} ? {} : {})", refs[0].text, lanes_of(refs[1], e).text, lanes_of(refs[2], e).text),
               level, true);
  }
  if (op.code == Code::div && t.elem == Elem::f32 && refs[0].lanes && !refs[1].lanes) {
    const int at = std::max(refs[1].level, 1);
    const std::string divisor = fresh("divisor");
    levels_[static_cast<std::size_t>(at)].code +=
        fmt::format("{}const Divisor {} = divisor({});\n", std::string(static_cast<std::size_t>(at) * 2 + 2, ' '),
                    divisor, refs[1].text);
    return put(v, Elem::f32, fmt::format("div_by({}, {})", refs[0].text, divisor), level, true);
  }
  std::vector<OperandText> texts;
  for (std::size_t i = 0; i < refs.size(); ++i) {
    const ValueId o = op.operands[i];
    const Elem e = value_elem(type(o));
    OperandText text{(lanes ? lanes_of(refs[i], e) : refs[i]).text, e};
    text.quiet = quiet_[static_cast<std::size_t>(o)];
    if (!tile::is_float(e)) {
      const tile::Range& r = ranges_[static_cast<std::size_t>(o)];
      text.non_negative = r.lo >= 0;
      text.safe_divisor = r.lo > 0 || r.hi < -1;
      if (const auto c = constant_of(o)) text.constant = *c;
    }
    texts.push_back(std::move(text));
  }
  return put(v, value_elem(t), op_text(op, texts, value_elem(t), lanes), level, lanes);
}

}  // namespace passnet::tile_cpu
