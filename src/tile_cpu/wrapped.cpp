// Indices that wrap around, as in `(pid * BM + arange(0, BM)) % M`: what lies past the end is read from the start
// again. Where nobody looks at it, because stores are masked, it need not be read, and the load is one of a matrix.
#include <algorithm>

#include "tile_cpu/emitter.h"

namespace passnet::tile_cpu {

namespace {

// The dimension of the op's result that is dimension d of the operand, every element of the result being made of the
// operand's at the same place along it; nullopt: none is.
std::optional<int> same_dimension(const Op& op, std::size_t operand, int d) {
  const tile::OpClass kind = tile::op_row(op.code).kind;
  if (kind == tile::OpClass::unary || kind == tile::OpClass::binary || kind == tile::OpClass::compare) return d;
  switch (op.code) {
    case Code::select:
    case Code::fma:
    case Code::broadcast: return d;
    case Code::expand_dims: return d >= op.axis ? d + 1 : d;
    case Code::trans: return static_cast<int>(std::find(op.order.begin(), op.order.end(), d) - op.order.begin());
    case Code::reduce: return d == op.axis ? std::nullopt : std::optional(d > op.axis ? d - 1 : d);
    case Code::dot: return operand == 2 || static_cast<int>(operand) == d ? std::optional(d) : std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace

// The value as it moves along one dimension of a tile, in others at the first element.
std::optional<Emitter::Linear> Emitter::linear_along(At at, int dimension) const {
  for (std::int8_t& loop : at.index) loop = loop == dimension ? 0 : kFixed;
  return linear(at);
}

// Whether the store leaves out all elements whose index along the dimension is the limit or more.
bool Emitter::stores_below(const Op& store, int dimension, const Linear& index, const Linear& limit) {
  if (store.operands.size() < 3) return false;
  std::vector<At> conditions;
  conjuncts(store.operands[2], identity_index(type(store.operands[0]).shape.rank), conditions);
  return std::any_of(conditions.begin(), conditions.end(), [&](const At& c) {
    const auto b = along(dimension, [&] { return bound_of(c); });
    if (!b || b->negated || b->inclusive) return false;
    return linear_along({b->below, c.index}, dimension) == index &&
           linear_along({b->limit, c.index}, dimension) == limit;
  });
}

// Whether it is the same in all turns of the loop.
bool Emitter::stands_still(const Linear& sum, const Op& loop) const {
  const int inside = block_of_.at(loop.blocks[0].ops.data());
  return std::all_of(sum.terms.begin(), sum.terms.end(), [&](const auto& term) {
    const ValueId v = term.first.value;
    const Op* op = def(v);
    if (op == nullptr) return param_block_[static_cast<std::size_t>(v)] != inside;
    return block_of_.at(op) != inside || tile::op_row(op->code).kind == tile::OpClass::leaf;
  });
}

// Whether nobody looks at the value's elements whose index along the dimension is the limit or more.
bool Emitter::unseen_from(ValueId value, int dimension, const Linear& index, const Linear& limit) {
  std::set<std::pair<ValueId, int>> seen;
  std::vector<std::pair<ValueId, int>> todo;
  const auto add = [&](ValueId v, int d) {
    if (seen.emplace(v, d).second) todo.emplace_back(v, d);
  };
  add(value, dimension);
  while (!todo.empty()) {
    const auto [v, d] = todo.back();
    todo.pop_back();
    if (seen.size() > kLooked) return false;
    for (const Op* user : users_[static_cast<std::size_t>(v)])
      for (std::size_t k = 0; k < user->operands.size(); ++k) {
        if (user->operands[k] != v) continue;
        const Op* loop = user->code == Code::yield ? block_owner_[static_cast<std::size_t>(block_of_.at(user))] : user;
        if (loop != nullptr && loop->code == Code::for_ && (loop != user || k >= 3)) {
          if (!stands_still(index, *loop) || !stands_still(limit, *loop)) return false;  // the next turn has another
          const std::size_t carried = loop == user ? k - 3 : k;
          add(loop->results[carried], d);
          add(loop->blocks[0].params[carried + 1], d);
        } else if (user->code == Code::store) {
          if (k != 1 || !stores_below(*user, d, index, limit)) return false;
        } else if (const auto next = same_dimension(*user, k, d); next && type(v).shape.rank < 3) {
          add(user->result(), *next);
        } else {
          return false;
        }
      }
  }
  return true;
}

// The index of a load's address that wraps around along the dimension, if nobody looks at what it wraps to.
const Op* Emitter::wrap_of(const Op& load, const Address& a, int dimension) {
  std::vector<At> todo = a.terms;
  for (int left = kLooked; !todo.empty() && left > 0; --left) {
    const At at = todo.back();
    todo.pop_back();
    const Op* op = def(at.value);
    if (op == nullptr || !type(at.value).is_tile() || home(at.value).kind != Home::Kind::nowhere) continue;
    const tile::OpClass kind = tile::op_row(op->code).kind;
    if (op->code == Code::rem) {
      const ValueId x = op->operands[0], limit = op->operands[1];
      if (along(dimension, [&] { return step_of(x, at.index); }) != 1) continue;
      if (ranges_[static_cast<std::size_t>(x)].lo < 0 || ranges_[static_cast<std::size_t>(limit)].lo <= 0)
        return nullptr;
      const auto index = linear_along({x, at.index}, dimension), end = linear_along({limit, at.index}, dimension);
      return index && end && unseen_from(load.result(), dimension, *index, *end) ? op : nullptr;
    }
    if (kind == tile::OpClass::shape && op->code != Code::reshape)
      todo.push_back({op->operands[0], map_index(*op, f_, at.index)});
    else if (kind == tile::OpClass::binary || op->code == Code::cast)
      for (const ValueId o : op->operands) todo.push_back({o, at.index});
  }
  return nullptr;
}

}  // namespace passnet::tile_cpu
