#include "tile/halves.h"

#include <algorithm>
#include <numeric>

#include "tile/scalar.h"
#include "tile/simplify.h"

namespace passnet::tile {

namespace {

bool is_shape_op(const Op& op) { return op_row(op.code).kind == OpClass::shape; }

class HalfFusion {
 public:
  explicit HalfFusion(const Function& old)
      : old_(old), f_(old), defs_(old.types.size()), uses_(old.types.size()), block_(old.types.size()) {
    index(old_.body);
  }

  Function run() {
    rewrite(f_.body, old_.body);
    return std::move(f_);
  }

 private:
  struct Product {
    ValueId value = kNoValue, x = kNoValue, y = kNoValue;
  };

  const Op* def(ValueId v) const { return defs_[static_cast<std::size_t>(v)]; }
  int uses(ValueId v) const { return uses_[static_cast<std::size_t>(v)]; }

  void index(const Block& block) {
    for (const Op& op : block.ops) {
      for (const ValueId r : op.results) {
        defs_[static_cast<std::size_t>(r)] = &op;
        block_[static_cast<std::size_t>(r)] = &block;
      }
      for (const ValueId o : op.operands) ++uses_[static_cast<std::size_t>(o)];
      for (const Block& b : op.blocks) index(b);
    }
  }

  // The half that a value of f32 was made from; the value itself where it is one.
  ValueId before_widening(ValueId v, Elem half) const {
    const Op* d = def(v);
    return f_.type(v).elem != half && d != nullptr && d->code == Code::cast ? d->operands[0] : v;
  }

  // What is computed in halves: in f32 only where nothing but the rounding reads it.
  const Op* arithmetic(const Op& op) const {
    const Op* exact = half_arithmetic(old_, defs_, op);
    return exact == nullptr || exact == &op || uses(exact->result()) == 1 ? exact : nullptr;
  }

  Product product(ValueId v, Elem half, const Block* block) const {
    const ValueId h = before_widening(v, half);
    const Op* d = f_.type(h).elem == half ? def(h) : nullptr;
    if (d == nullptr || block_[static_cast<std::size_t>(h)] != block) return {};
    const Op* exact = arithmetic(*d);
    if (exact == nullptr || exact->code != Code::mul) return {};
    return {h, exact->operands[0], exact->operands[1]};
  }

  // The half of a value that is made of halves.
  ValueId narrowed(std::vector<Op>& out, ValueId v, Elem half) {
    if (f_.type(v).elem == half) return v;
    if (const ValueId h = before_widening(v, half); f_.type(h).elem == half) return h;
    return append(out, Code::cast, v, half);
  }
  ValueId append(std::vector<Op>& out, Code code, ValueId operand, Elem half) {
    Op op;
    op.code = code;
    op.operands = {operand};
    op.results = {f_.add_value(with_elem(f_.type(operand), half))};
    op.source = source_;
    out.push_back(std::move(op));
    return out.back().result();
  }

  // Appends what takes the op's place.
  bool fuse(std::vector<Op>& out, const Op& op) {
    const Op* sum = arithmetic(op);
    if (sum == nullptr || sum->code == Code::mul) return false;
    const Elem half = f_.type(op.result()).elem;
    const Block* block = block_[static_cast<std::size_t>(op.result())];
    ValueId other = sum->operands[1];
    Product p = product(sum->operands[0], half, block);
    const Product second = product(other, half, block);
    // The first, unless others need that one and not the second.
    const bool take_second = second.value != kNoValue && (p.value == kNoValue || uses(p.value) > uses(second.value));
    if (take_second) {
      p = second;
      other = sum->operands[0];
    }
    if (p.value == kNoValue) return false;
    source_ = op.source;
    ValueId x = narrowed(out, p.x, half), z = narrowed(out, other, half);
    if (sum->code == Code::sub) (take_second ? x : z) = append(out, Code::neg, take_second ? x : z, half);
    Op fused;
    fused.code = Code::fma;
    fused.operands = {x, narrowed(out, p.y, half), z};
    fused.results = op.results;
    fused.source = op.source;
    out.push_back(std::move(fused));
    return true;
  }

  void rewrite(Block& block, const Block& old) {
    std::vector<Op> out;
    for (std::size_t i = 0; i < old.ops.size(); ++i) {
      for (std::size_t b = 0; b < old.ops[i].blocks.size(); ++b) rewrite(block.ops[i].blocks[b], old.ops[i].blocks[b]);
      if (!fuse(out, old.ops[i])) out.push_back(std::move(block.ops[i]));
    }
    block.ops = std::move(out);
  }

  const Function& old_;  // what is asked for below is of it
  Function f_;           // its values, and new ones
  Definitions defs_;
  std::vector<int> uses_;
  std::vector<const Block*> block_;
  Source source_;
};

// Values that are elements of one another, by shape operations, selection and what masked loads give: all of them are
// bits, or none.
class HalfMoves {
 public:
  explicit HalfMoves(const Function& f) : f_(f), same_(f.types.size()), uses_(f.types.size()) {
    std::iota(same_.begin(), same_.end(), 0);
    for (const ValueId v : f.body.params) note(v, kComputed);
    look(f.body);
  }

  Function run() {
    write_bits(f_.body);
    for (std::size_t v = 0; v < f_.types.size(); ++v)
      if (is_moved(static_cast<ValueId>(v))) f_.types[v].elem = Elem::u16;
    return std::move(f_);
  }

 private:
  enum Use : std::uint8_t { kLoaded = 1, kStored = 2, kComputed = 4 };

  bool is_half_value(ValueId v) const { return !f_.type(v).pointer && is_half(f_.type(v).elem); }
  ValueId& same(ValueId v) { return same_[static_cast<std::size_t>(v)]; }
  ValueId root(ValueId v) {
    while (same(v) != v) v = same(v) = same(same(v));  // halves the way for the next one
    return v;
  }
  std::uint8_t& uses(ValueId v) { return uses_[static_cast<std::size_t>(root(v))]; }
  void note(ValueId v, Use use) {
    if (is_half_value(v)) uses(v) |= use;
  }
  void unite(ValueId a, ValueId b) {
    if (!is_half_value(a)) return;
    uses(a) |= uses(b);
    same(root(b)) = root(a);
  }
  bool is_moved(ValueId v) {
    return !f_.type(v).pointer && uses(v) == (kLoaded | kStored);  // which halves alone have
  }

  void look(const Block& block) {
    for (const Op& op : block.ops) {
      switch (op.code) {
        case Code::constant: break;
        case Code::load:
          note(op.result(), kLoaded);
          if (op.operands.size() > 2) unite(op.result(), op.operands[2]);
          break;
        case Code::store: note(op.operands[1], kStored); break;
        case Code::select:
          unite(op.result(), op.operands[1]);
          unite(op.result(), op.operands[2]);
          break;
        default:
          if (is_shape_op(op)) {
            unite(op.result(), op.operands[0]);
            break;
          }
          for (const ValueId v : op.operands) note(v, kComputed);
          for (const ValueId v : op.results) note(v, kComputed);
      }
      for (const Block& b : op.blocks) {
        for (const ValueId v : b.params) note(v, kComputed);
        look(b);
      }
    }
  }
  void write_bits(Block& block) {
    for (Op& op : block.ops) {
      if (op.code == Code::constant && is_moved(op.result()))
        op.integer = static_cast<std::int64_t>(bits_of_real(f_.type(op.result()).elem, op.real));
      for (Block& b : op.blocks) write_bits(b);
    }
  }

  Function f_;
  std::vector<ValueId> same_;
  std::vector<std::uint8_t> uses_;  // of the first of the same
};

}  // namespace

bool made_of(const Function& f, const Definitions& defs, ValueId v, Elem half) {
  if (f.type(v).elem == half) return true;
  const Op* d = defs[static_cast<std::size_t>(v)];
  if (d == nullptr || f.type(v).elem != Elem::f32) return false;
  if (d->code == Code::constant) {
    const auto x = static_cast<double>(static_cast<float>(d->real));
    return real_of(half, bits_of_real(half, x)) == x;
  }
  if (d->code == Code::cast) return f.type(d->operands[0]).elem == half;
  return is_shape_op(*d) && made_of(f, defs, d->operands[0], half);
}

const Op* half_arithmetic(const Function& f, const Definitions& defs, const Op& op) {
  if (op.results.size() != 1) return nullptr;
  const Type& t = f.type(op.result());
  if (t.pointer || !is_half(t.elem)) return nullptr;
  const bool rounds = op.code == Code::cast && f.type(op.operands[0]).elem == Elem::f32;
  const Op* exact = rounds ? defs[static_cast<std::size_t>(op.operands[0])] : &op;
  if (exact == nullptr || (exact->code != Code::add && exact->code != Code::sub && exact->code != Code::mul))
    return nullptr;
  const bool halves = std::all_of(exact->operands.begin(), exact->operands.end(),
                                  [&](ValueId o) { return made_of(f, defs, o, t.elem); });
  return halves ? exact : nullptr;
}

Function fuse_halves(const Function& f) {
  Function out = HalfFusion(f).run();
  remove_unused(out);
  return out;
}

Function move_as_bits(const Function& f) { return HalfMoves(f).run(); }

}  // namespace passnet::tile
