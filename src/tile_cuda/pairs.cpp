#include <fmt/format.h>

#include <algorithm>

#include "tile/c_text.h"
#include "tile/halves.h"
#include "tile_cuda/emitter.h"

namespace passnet::tile_cuda {

// What is computed two at once: arithmetic of halves, and what `fuse_halves` makes of it.
const Op* Emitter::pair_op(const Op& op) const {
  if (op.results.size() != 1 || !type(op.result()).is_tile()) return nullptr;
  if (const Op* exact = tile::half_arithmetic(f_, def_, op)) return exact;
  const bool fused = (op.code == Code::fma || op.code == Code::neg) && target_.fp_fusion;
  return fused && tile::is_half(type(op.result()).elem) ? &op : nullptr;
}

// A cast that changes nothing: a half lives as f32.
bool Emitter::renames(const Op& op) const {
  if (op.code != Code::cast || type(op.result()).pointer) return false;
  const Elem from = type(op.operands[0]).elem, to = type(op.result()).elem;
  if (to == Elem::f32) return tile::is_half(from);
  return tile::is_half(to) && from == Elem::f32 && tile::made_of(f_, def_, op.operands[0], to);
}

// Which loads and casts leave pairs: those that such an op reads.
void Emitter::find_pairs(const Block& block) {
  for (const Op& op : block.ops) {
    for (const Block& b : op.blocks) find_pairs(b);
    const Op* exact = pair_op(op);
    if (exact == nullptr) continue;
    for (ValueId v : exact->operands) {
      const Op* d = def(v);
      while (d != nullptr && (transparent(*d) || renames(*d))) {
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
  const Elem half = type(r).elem;
  std::vector<Ref> operands;
  for (const ValueId o : exact->operands) operands.push_back(get(o, layout));
  if (std::none_of(operands.begin(), operands.end(), [&](const Ref& x) { return has_pairs(x, half); })) return false;
  std::string texts;
  for (const Ref& x : operands) texts += (texts.empty() ? "" : ", ") + pair_text(x, half, "i");
  const std::string_view name = tile::elem_row(half).name;
  const Ref out = make_array(r, layout);
  const std::string words = make_pairs(out, half);
  line(fmt::format("EACH(i, {}) {}[i] = {}_{}_pairs({});", out.registers / 2, words, name,
                   tile::op_row(exact->code).name, texts));
  line(fmt::format("EACH(e, {}) {}[e] = {}_of_pair({}[e >> 1], e & 1);", out.registers, out.name, name, words));
  remember(r, layout, out);
  return true;
}

}  // namespace passnet::tile_cuda
