// Whether accesses may touch the same memory: elements of one tile, and stores some way from each other.
#include <algorithm>

#include "tile_cpu/emitter.h"

namespace passnet::tile_cpu {

// Adds so many times an integer, or a pointer in elements, taken apart into what it is the sum of. False: too large, or
// too much to look at.
bool Emitter::add_linear(Linear& sum, const At& at, std::int64_t times, int& left) const {
  if (--left < 0) return false;
  const auto multiple = [&](std::int64_t number, std::int64_t& to) {
    std::int64_t product = 0;
    return !__builtin_mul_overflow(number, times, &product) && !__builtin_add_overflow(to, product, &to);
  };
  if (const auto c = constant_of(at.value)) return multiple(*c, sum.constant);
  const auto add = [&](ValueId v, std::int64_t t) { return add_linear(sum, {v, at.index}, t, left); };
  if (const Op* op = def(at.value); op != nullptr) {
    const bool exact = !ranges_[static_cast<std::size_t>(at.value)].may_wrap && !tile::is_float(type(at.value).elem);
    switch (op->code) {
      case Code::splat: return add(op->operands[0], times);
      case Code::broadcast:
      case Code::expand_dims:
      case Code::trans: return add_linear(sum, {op->operands[0], map_index(*op, f_, at.index)}, times, left);
      case Code::addptr: return add(op->operands[0], times) && add(op->operands[1], times);
      case Code::add:
        if (!exact) break;
        return add(op->operands[0], times) && add(op->operands[1], times);
      case Code::sub:
        if (!exact) break;
        return add(op->operands[0], times) && add(op->operands[1], -times);
      case Code::mul:
        for (const std::size_t i : {0, 1})
          if (const auto c = constant_of(op->operands[i]); c && exact) {
            std::int64_t product = 0;
            return !__builtin_mul_overflow(*c, times, &product) && add(op->operands[1 - i], product);
          }
        break;
      case Code::cast:
        if (result_step(*op, 1, 0) != 1) break;  // not the same number
        return add(op->operands[0], times);
      default: break;
    }
  }
  return multiple(1, sum.terms[normal(at.value, at.index)]);
}

std::optional<Emitter::Linear> Emitter::linear(const At& at) const {
  Linear sum;
  int left = kLooked;
  if (!add_linear(sum, at, 1, left)) return std::nullopt;
  std::erase_if(sum.terms, [](const auto& term) { return term.second == 0; });
  return sum;
}

const std::optional<Emitter::Linear>& Emitter::linear_of(ValueId pointer) {
  const auto [it, is_new] = linear_.try_emplace(pointer);
  if (is_new) it->second = linear({pointer, identity_index(type(pointer).shape.rank)});
  return it->second;
}

// Where the elements of a tile of pointers lie, as far as the mask lets them be; nullopt: not some steps apart.
std::optional<Dimensions> Emitter::dimensions_of(ValueId pointer, ValueId mask) {
  const Shape& shape = type(pointer).shape;
  const Index elements = identity_index(shape.rank);
  const Address a = address(pointer, elements, Mode::zero);
  std::vector<At> conditions;
  if (mask != kNoValue) conjuncts(mask, elements, conditions);
  Dimensions out;
  for (int d = 0; d < shape.rank; ++d) {
    std::int64_t size = shape[static_cast<std::size_t>(d)];
    if (size == 1) continue;
    const auto step = along(d, [&] { return step_of(a); });
    if (!step) return std::nullopt;
    for (const At& c : conditions)
      if (const auto b = along(d, [&] { return bound_of(c); }); b && !b->negated) {
        const std::int64_t first = ranges_[static_cast<std::size_t>(b->below)].lo;
        const std::int64_t last = ranges_[static_cast<std::size_t>(b->limit)].hi;
        std::int64_t count = 0;
        if (!__builtin_sub_overflow(last, first, &count))
          size = std::min(size, std::max<std::int64_t>(count, 0) + b->inclusive);
      }
    out.emplace_back(*step, size);
  }
  return out;
}

// Whether no two elements of the tile point to one place, for sure.
bool Emitter::is_apart(ValueId pointer) {
  auto dimensions = dimensions_of(pointer);
  return dimensions && steps_apart(std::move(*dimensions));
}

const std::optional<Dimensions>& Emitter::written_by(const Op& store) {
  const auto [it, is_new] = written_.try_emplace(&store);
  if (is_new) it->second = dimensions_of(store.operands[0], store.operands.size() > 2 ? store.operands[2] : kNoValue);
  return it->second;
}

// Whether no element of one store is one of the other's, for sure: they lie some way from each other that no steps
// inside a tile lead.
bool Emitter::are_apart(const Op& store, const Op& other) {
  const ValueId a = store.operands[0], b = other.operands[0];
  if (!(type(a).shape == type(b).shape)) return false;
  const auto &at = linear_of(a), &from = linear_of(b);
  std::int64_t distance = 0;
  if (!at || !from || at->terms != from->terms || __builtin_sub_overflow(at->constant, from->constant, &distance))
    return false;
  const auto &one = written_by(store), &two = written_by(other);
  if (!one || !two) return false;
  Dimensions both = *one;
  for (std::size_t d = 0; d < both.size(); ++d) both[d].second = std::max(both[d].second, (*two)[d].second);
  constexpr int kTries = 100;
  int left = kTries;
  return !steps_reach(sorted_steps(std::move(both)), distance, left);
}

bool Emitter::conflict(const Access& a, const Access& b) {
  if (!a.write && !b.write) return false;
  if (a.memory >= kArrayMemory || b.memory >= kArrayMemory) return a.memory == b.memory;
  if (a.memory != b.memory && a.memory >= 0 && b.memory >= 0) return false;
  return a.store == nullptr || b.store == nullptr || !are_apart(*a.store, *b.store);
}

}  // namespace passnet::tile_cpu
