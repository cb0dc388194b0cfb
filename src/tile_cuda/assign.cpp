#include <fmt/format.h>

#include <algorithm>

#include "tile_cuda/emitter.h"

namespace passnet::tile_cuda {

namespace {

constexpr int kSectorBytes = 32;        // of memory: shorter runs waste bandwidth
constexpr int kThreadBits = 10;         // a block has at most 1024
constexpr int kSmallTile = 256;         // elements; not worth another layout
constexpr int kRegistersPerValue = 32;  // of one thread; larger tiles get more warps
constexpr int kProductRegisters = 128;  // of a product's result

bool heavy(Code code) { return tile::is_function(code) || code == Code::sqrt || code == Code::rsqrt; }

}  // namespace

bool elementwise(Code code) {
  using tile::OpClass;
  const OpClass kind = tile::op_row(code).kind;
  if (code == Code::dot) return false;
  return kind == OpClass::leaf || kind == OpClass::shape || kind == OpClass::unary || kind == OpClass::binary ||
         kind == OpClass::compare || kind == OpClass::other;
}

bool Emitter::transparent(const Op& op) const { return tile::op_row(op.code).kind == tile::OpClass::shape; }

void Emitter::index_ops(const Block& block) {
  for (const Op& op : block.ops) {
    for (const ValueId r : op.results) def_[static_cast<std::size_t>(r)] = &op;
    for (const ValueId o : op.operands) ++uses_[static_cast<std::size_t>(o)];
    if (op.code == Code::store) most_stored_ = std::max(most_stored_, type(op.operands[0]).shape.elements());
    for (const Block& b : op.blocks) index_ops(b);
  }
}

// Tiles that a product of halves alone reads, so that they may go straight to shared memory.
void Emitter::find_operands(const Block& block) {
  for (const Op& op : block.ops) {
    for (const Block& b : op.blocks) find_operands(b);
    if (op.code != Code::dot) continue;
    for (std::size_t i = 0; i < 2; ++i) {
      if (!tile::is_half(type(op.operands[i]).elem) || type(op.operands[i]).shape.rank != 2) continue;
      ValueId v = op.operands[i];
      while (uses_[static_cast<std::size_t>(v)] == 1 && def(v) != nullptr && def(v)->code == Code::trans)
        v = def(v)->operands[0];
      if (uses_[static_cast<std::size_t>(v)] == 1) operand_[static_cast<std::size_t>(v)] = true;
    }
  }
}

// Tiles made of indices and constants alone. Scalars are there for every thread already.
void Emitter::find_free(const Block& block) {
  for (const Op& op : block.ops) {
    for (const Block& b : op.blocks) find_free(b);
    if (op.results.size() != 1 || !elementwise(op.code) || heavy(op.code)) continue;
    const bool all = std::all_of(op.operands.begin(), op.operands.end(),
                                 [&](ValueId o) { return !type(o).is_tile() || free_[static_cast<std::size_t>(o)]; });
    if (all) free_[static_cast<std::size_t>(op.result())] = true;
  }
}

int Emitter::choose_threads() const {
  std::int64_t most = most_stored_, product = 0;
  for (std::size_t v = 0; v < f_.types.size(); ++v) {
    if (!f_.types[v].is_tile() || free_[v]) continue;
    most = std::max(most, f_.types[v].shape.elements());
    if (const Op* op = def_[v]; op != nullptr && op->code == Code::dot)
      product = std::max(product, f_.types[v].shape.elements());
  }
  int bits = std::min(kThreadBits, kLaneBits + log2_of(target_.num_warps));
  const auto per_thread = [&](std::int64_t n) { return n >> bits; };
  while (bits > kLaneBits && most < (std::int64_t{1} << bits)) --bits;
  while (bits < kThreadBits &&
         (product > 0 ? per_thread(product) > kProductRegisters : per_thread(most) > kRegistersPerValue))
    ++bits;
  return bits;
}

int Emitter::fast_dim(ValueId pointer) const {
  const Shape& s = type(pointer).shape;
  const Axes& a = axes_[static_cast<std::size_t>(pointer)];
  int best = s.rank - 1;
  for (int d = s.rank - 1; d >= 0; --d)
    if (a.dims[static_cast<std::size_t>(d)].contiguity > a.dims[static_cast<std::size_t>(best)].contiguity) best = d;
  return best;
}

void Emitter::choose_shapes(const Block& block) {
  for (const Op& op : block.ops) {
    for (const Block& b : op.blocks) choose_shapes(b);
    if (op.code != Code::load && op.code != Code::store) continue;
    const ValueId p = op.operands[0];
    if (!type(p).is_tile()) continue;
    const int d = fast_dim(p);
    const Along& along = axes_[static_cast<std::size_t>(p)].dims[static_cast<std::size_t>(d)];
    if (along.contiguity == 1) continue;
    const Access a{d, along.widest(type(p).elem)};
    const auto [it, fresh] = access_.emplace(type(p).shape, a);
    if (fresh) continue;
    // One dimension wins by its stores and loads; within it the widest elements decide, which take the fewest at once.
    if (it->second.bits == 0 || (a.bits > 0 && a.dim == it->second.dim && a.bits < it->second.bits)) it->second = a;
  }
}

Layout Emitter::blocked_for(const Shape& shape, Access a) const {
  std::vector<int> order{a.dim};
  for (int d = shape.rank - 1; d >= 0; --d)
    if (d != a.dim) order.push_back(d);
  return blocked(shape, order, std::min(a.bits, std::max(0, bits_of(shape) - thread_bits_)), thread_bits_);
}

const Layout& Emitter::shape_layout(const Shape& shape) {
  if (const auto it = shapes_.find(shape); it != shapes_.end()) return it->second;
  Access a{shape.rank - 1, 0};
  if (const auto it = access_.find(shape); it != access_.end()) a = it->second;
  return shapes_.emplace(shape, blocked_for(shape, a)).first->second;
}

// As wide as these pointers allow, whatever other tiles of the shape need.
Layout Emitter::own_layout(ValueId pointer) const {
  const int d = fast_dim(pointer);
  const Along& along = axes_[static_cast<std::size_t>(pointer)].dims[static_cast<std::size_t>(d)];
  return blocked_for(type(pointer).shape, {d, along.contiguity == 1 ? 0 : along.widest(type(pointer).elem)});
}

// Whether a value can be had in the layout without moving anything between threads; of one whose home is not chosen
// yet, whether it could.
bool Emitter::held(ValueId v, const Layout& layout) const {
  if (!type(v).is_tile() || free_[static_cast<std::size_t>(v)]) return true;
  const Op* d = def(v);
  if (d != nullptr && (d->code == Code::constant || d->code == Code::splat)) return true;
  if (d != nullptr && transparent(*d)) {
    const ValueId x = d->operands[0];
    return !type(x).is_tile() || held(x, pick(layout, operand_bits(*d, type(x).shape, type(v).shape)));
  }
  if (const auto& h = home_[static_cast<std::size_t>(v)]) return *h == layout;
  if (d == nullptr || natural(v) || !elementwise(d->code)) return false;
  return std::all_of(d->operands.begin(), d->operands.end(), [&](ValueId o) { return held(o, layout); });
}

std::optional<Layout> Emitter::natural(ValueId v) const { return natural_[static_cast<std::size_t>(v)]; }
void Emitter::set_natural(ValueId v, const std::optional<Layout>& layout) {
  natural_[static_cast<std::size_t>(v)] = layout;
}

// What reductions, scans and products leave tiles in, carried along by what is computed from them.
void Emitter::find_natural(const Block& block) {
  for (const Op& op : block.ops) {
    if (op.code == Code::for_ || op.code == Code::while_) {
      const std::size_t skip = op.code == Code::for_ ? 3 : 0, first = op.code == Code::for_ ? 1 : 0;
      const Block& body = op.blocks.back();
      for (std::size_t k = 0; k < op.results.size(); ++k)
        for (const Block& b : op.blocks) set_natural(b.params[first + k], natural(op.operands[skip + k]));
      for (int round = 0; round < 2; ++round) {
        for (const Block& b : op.blocks) find_natural(b);
        for (std::size_t k = 0; k < op.results.size(); ++k) {
          std::optional<Layout> n = natural(body.ops.back().operands[k]);
          if (!n) n = natural(op.operands[skip + k]);
          for (const Block& b : op.blocks) set_natural(b.params[first + k], n);
          set_natural(op.results[k], n);
        }
      }
      continue;
    }
    for (const Block& b : op.blocks) find_natural(b);
    if (op.code == Code::if_) {
      for (std::size_t k = 0; k < op.results.size(); ++k) {
        std::optional<Layout> n = natural(op.blocks[0].ops.back().operands[k]);
        if (!n) n = natural(op.blocks[1].ops.back().operands[k]);
        set_natural(op.results[k], n);
      }
      continue;
    }
    if (op.results.size() != 1) continue;
    const ValueId r = op.result();
    if (op.code == Code::reduce) {
      const ValueId x = op.operands[0];
      const Layout layout = natural(x) ? *natural(x) : shape_layout(type(x).shape);
      operand_layout_[&op] = layout;
      set_natural(r, without_dim(layout, type(x).shape, static_cast<std::size_t>(op.axis)));
    } else if (op.code == Code::scan) {
      const Layout layout = along(type(r).shape, static_cast<std::size_t>(op.axis), thread_bits_);
      operand_layout_[&op] = layout;
      set_natural(r, layout);
    } else if (op.code == Code::dot) {
      set_natural(r, dot_layout(op));
    } else if (op.code == Code::expand_dims || op.code == Code::reshape) {
      if (type(op.operands[0]).is_tile()) set_natural(r, natural(op.operands[0]));
    } else if (op.code == Code::trans) {
      if (const auto n = natural(op.operands[0])) {
        const auto bits = operand_bits(op, type(op.operands[0]).shape, type(r).shape);
        Layout layout = *n;
        for (std::size_t b = 0; b < bits.size(); ++b) layout.thread[static_cast<std::size_t>(bits[b])] = n->thread[b];
        set_natural(r, layout);
      }
    } else if (elementwise(op.code) && !transparent(op) && type(r).is_tile()) {
      for (const ValueId o : op.operands)
        if (type(o).is_tile() && natural(o)) {
          set_natural(r, natural(o));
          break;
        }
    }
    if (!type(r).is_tile()) set_natural(r, std::nullopt);
  }
}

void Emitter::want(ValueId v, const Layout& layout) {
  if (!type(v).is_tile()) return;
  if (const Op* op = def(v); op != nullptr && transparent(*op)) {
    const ValueId x = op->operands[0];
    if (type(x).is_tile()) want(x, pick(layout, operand_bits(*op, type(x).shape, type(v).shape)));
    return;
  }
  auto& w = want_[static_cast<std::size_t>(v)];
  if (!w) w = layout;
}

// Bytes next to each other in memory that neighbouring lanes reach.
int Emitter::run_bytes(ValueId pointer, const Layout& layout) const {
  const int d = fast_dim(pointer);
  const Along& along = axes_[static_cast<std::size_t>(pointer)].dims[static_cast<std::size_t>(d)];
  const BitRange range = dim_bits(type(pointer).shape, static_cast<std::size_t>(d));
  const int bytes = static_cast<int>(tile::elem_bytes(type(pointer).elem));
  int bits = 0;
  while (bits < range.count && (std::int64_t{2} << bits) <= along.contiguity) {
    const int b = range.first + bits;
    if (layout.in_register(b) ? (bytes << bits) >= kVectorBytes : layout.at(b) >= kLaneBits) break;
    ++bits;
  }
  return bytes << bits;
}

// Where a load or store is done: as wanted, unless that would waste bandwidth that another layout has.
Layout Emitter::access_layout(const Op& op, ValueId pointer) {
  const Shape& s = type(pointer).shape;
  const Layout& own = shape_layout(s);
  const std::optional<Layout> wanted = op.code == Code::load    ? want_[static_cast<std::size_t>(op.result())]
                                       : op.code == Code::store ? natural(op.operands[1])
                                                                : std::nullopt;
  if (op.code == Code::load && operand_[static_cast<std::size_t>(op.result())]) {
    const Layout widest = own_layout(pointer);
    const bool all = std::all_of(op.operands.begin(), op.operands.end(), [&](ValueId o) { return held(o, widest); });
    return all ? widest : own;
  }
  if (!wanted) return own;
  const int reached = run_bytes(pointer, *wanted);
  if (s.elements() >= kSmallTile && reached < kSectorBytes && run_bytes(pointer, own) >= 2 * reached) return own;
  return *wanted;
}

// From the last op to the first: each tile's home, and what it wants of its operands.
void Emitter::find_homes(const Block& block) {
  for (std::size_t i = block.ops.size(); i-- > 0;) {
    const Op& op = block.ops[i];
    const auto settle = [&](ValueId r) -> const Layout& {
      auto& h = home_[static_cast<std::size_t>(r)];
      if (h) return *h;
      if (natural(r))
        h = natural(r);
      else if (want_[static_cast<std::size_t>(r)])
        h = want_[static_cast<std::size_t>(r)];
      else
        h = shape_layout(type(r).shape);
      return *h;
    };
    switch (op.code) {
      case Code::for_:
      case Code::while_: {
        const std::size_t skip = op.code == Code::for_ ? 3 : 0, first = op.code == Code::for_ ? 1 : 0;
        for (std::size_t k = 0; k < op.results.size(); ++k) {
          if (!type(op.results[k]).is_tile()) continue;
          // pointers that go from round to round lie as the loads of them are best
          for (const Op& o : op.blocks.back().ops)
            if (o.code == Code::load && operand_[static_cast<std::size_t>(o.result())] &&
                o.operands[0] == op.blocks.back().params[first + k])
              want(op.results[k], own_layout(o.operands[0]));
          const Layout layout = settle(op.results[k]);
          for (const Block& b : op.blocks) home_[static_cast<std::size_t>(b.params[first + k])] = layout;
          want(op.operands[skip + k], layout);
          want(op.blocks.back().ops.back().operands[k], layout);
        }
        for (std::size_t b = op.blocks.size(); b-- > 0;) find_homes(op.blocks[b]);
        break;
      }
      case Code::if_:
        for (std::size_t k = 0; k < op.results.size(); ++k) {
          if (!type(op.results[k]).is_tile()) continue;
          const Layout layout = settle(op.results[k]);
          for (const Block& b : op.blocks) want(b.ops.back().operands[k], layout);
        }
        for (const Block& b : op.blocks) find_homes(b);
        break;
      case Code::load:
      case Code::store:
      case Code::atomic:
      case Code::atomic_cas: {
        const ValueId p = op.operands[0];
        if (!type(p).is_tile()) break;
        const Layout layout = access_layout(op, p);
        if (op.code == Code::store)
          operand_layout_[&op] = layout;
        else
          home_[static_cast<std::size_t>(op.result())] = layout;
        for (const ValueId o : op.operands) want(o, layout);
        break;
      }
      case Code::reduce: {
        want(op.operands[0], operand_layout_[&op]);
        if (type(op.result()).is_tile()) settle(op.result());
        break;
      }
      case Code::scan: {
        want(op.operands[0], operand_layout_[&op]);
        settle(op.result());
        break;
      }
      case Code::dot: {
        const Layout& layout = settle(op.result());
        want(op.operands[2], layout);
        break;
      }
      case Code::yield:
      case Code::check: break;
      default: {
        const ValueId r = op.result();
        if (r == tile::kNoValue || !type(r).is_tile() || free_[static_cast<std::size_t>(r)] || transparent(op)) break;
        const Layout layout = settle(r);
        for (const ValueId o : op.operands) want(o, layout);
      }
    }
  }
}

}  // namespace passnet::tile_cuda
