#include <fmt/format.h>

#include <algorithm>

#include "tile/c_text.h"
#include "tile/scalar.h"
#include "tile_cuda/emitter.h"

namespace passnet::tile_cuda {

namespace {

bool computed_in_pairs(Code code) { return code == Code::add || code == Code::sub || code == Code::mul; }

}  // namespace

// Whether every element is a half of that type, although the tile may be of f32.
bool Emitter::made_of(ValueId v, Elem half) const {
  if (type(v).elem == half) return true;
  const Op* d = def(v);
  if (d == nullptr || type(v).elem != Elem::f32) return false;
  if (d->code == Code::constant) {
    const auto x = static_cast<double>(static_cast<float>(d->real));
    return tile::real_of(half, tile::bits_of_real(half, x)) == x;
  }
  if (d->code == Code::cast) return type(d->operands[0]).elem == half;
  return transparent(*d) && made_of(d->operands[0], half);
}

// The sum, difference or product of halves that a tile of halves is: the op itself, or that in f32 which it rounds.
// The latter is the former: f32 has two bits more than twice a half's, so that rounding twice is rounding once.
// (Products of bf16 below 2^-126, which f32 itself rounds to fewer bits, may differ in the last.)
const Op* Emitter::pair_op(const Op& op) const {
  if (op.results.size() != 1) return nullptr;
  const Type& t = type(op.result());
  if (!t.is_tile() || t.pointer || !tile::is_half(t.elem)) return nullptr;
  const bool rounds = op.code == Code::cast && type(op.operands[0]).elem == Elem::f32;
  const Op* exact = rounds ? def(op.operands[0]) : &op;
  if (exact == nullptr || !computed_in_pairs(exact->code)) return nullptr;
  const bool halves =
      std::all_of(exact->operands.begin(), exact->operands.end(), [&](ValueId o) { return made_of(o, t.elem); });
  return halves ? exact : nullptr;
}

// Which loads and casts leave pairs: those that such an op reads.
void Emitter::find_pairs(const Block& block) {
  for (const Op& op : block.ops) {
    for (const Block& b : op.blocks) find_pairs(b);
    const Op* exact = pair_op(op);
    if (exact == nullptr) continue;
    for (ValueId v : exact->operands) {
      const Op* d = def(v);
      while (d != nullptr && (transparent(*d) || (d->code == Code::cast && !tile::is_half(type(v).elem)))) {
        v = d->operands[0];
        d = def(v);
      }
      paired_[static_cast<std::size_t>(v)] = true;
    }
  }
}

bool Emitter::has_pairs(const Ref& x, Elem half) const {
  if (!x.array || !keeps_pairs(x.map)) return false;
  const auto it = pairs_.find(x.name);
  return it != pairs_.end() && it->second.half == half;
}

// The word of registers 2 * i and 2 * i + 1.
std::string Emitter::pair_text(const Ref& x, Elem half, const std::string& i) const {
  if (!has_pairs(x, half))
    return fmt::format("{}_pair({}, {})", tile::elem_row(half).name, x.at(i + " * 2"), x.at(i + " * 2 + 1"));
  std::vector<BitMove> moves;
  for (const BitMove& m : x.map)
    if (m.from > 0) moves.push_back({m.from - 1, m.to - 1});
  return fmt::format("{}[{}]", pairs_.at(x.name).words, bits_text(i, moves));
}

// Words beside the array, which it says are its pairs.
std::string Emitter::make_pairs(const Ref& array, Elem half) {
  const std::string words = fresh("pairs");
  line(fmt::format("u32 {}[{}];", words, array.registers / 2));
  pairs_[array.name] = {words, half};
  return words;
}

bool Emitter::emit_pairs(const Op& op, const Layout& layout) {
  const ValueId r = op.result();
  const Op* exact = pair_op(op);
  if (exact == nullptr || layout.registers() < 2) return false;
  if (exact != &op && home_[static_cast<std::size_t>(exact->result())] != layout) return false;
  const Ref a = get(exact->operands[0], layout), b = get(exact->operands[1], layout);
  const Elem half = type(r).elem;
  if (!has_pairs(a, half) && !has_pairs(b, half)) return false;
  const std::string_view name = tile::elem_row(half).name;
  const Ref out = make_array(r, layout);
  const std::string words = make_pairs(out, half);
  line(fmt::format("EACH(i, {}) {}[i] = {}_{}_pairs({}, {});", out.registers / 2, words, name,
                   tile::op_row(exact->code).name, pair_text(a, half, "i"), pair_text(b, half, "i")));
  line(fmt::format("EACH(e, {}) {}[e] = {}_of_pair({}[e >> 1], e & 1);", out.registers, out.name, name, words));
  remember(r, layout, out);
  return true;
}

}  // namespace passnet::tile_cuda
