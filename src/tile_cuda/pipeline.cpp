#include <fmt/format.h>

#include <algorithm>

#include "tile/c_text.h"
#include "tile_cuda/emitter.h"

// A loop around products, in the text that is written:
//
//   for each of the first stages - 1 rounds: send its copies
//   loop:
//     wait until this round's copies have arrived; barrier
//     begin the products; send the copies of the round stages - 1 further on, over what the last round read; end them
//
// The rounds ahead have addresses of their own: the ops that give them (`slice`) are written again over copies of the
// loop's values.

namespace passnet::tile_cuda {

namespace {

constexpr std::int64_t kSharedRest = 8 << 10;  // for reductions inside the loop

bool contains(const Block& block, const Op* op) {
  return op != nullptr && !block.ops.empty() && op >= block.ops.data() && op < block.ops.data() + block.ops.size();
}

}  // namespace

// The ops of the body that `v` needs, and the values that go from round to round. False: it cannot be known rounds
// ahead.
bool Emitter::add_slice(const Op& loop, ValueId v, Pipeline& out) const {
  const Block& body = loop.blocks[0];
  if (const auto it = std::find(body.params.begin(), body.params.end(), v); it != body.params.end()) {
    if (it == body.params.begin()) return true;
    const auto k = static_cast<std::size_t>(it - body.params.begin()) - 1;
    if (std::find(out.carried.begin(), out.carried.end(), k) != out.carried.end()) return true;
    out.carried.push_back(k);
    const ValueId next = body.ops.back().operands[k];
    return add_slice(loop, next, out) && (!type(v).is_tile() || held(next, home(v)));
  }
  const Op* d = def(v);
  if (!contains(body, d)) return true;  // from outside; an inner loop's values are not asked for
  if (out.slice.contains(d)) return true;
  if (!elementwise(d->code)) return false;
  out.slice.insert(d);
  const bool lazy = !type(v).is_tile() || free_[static_cast<std::size_t>(v)] || transparent(*d);
  return std::all_of(d->operands.begin(), d->operands.end(),
                     [&](ValueId o) { return add_slice(loop, o, out) && (lazy || held(o, home(v))); });
}

// A copy must move whole words that one mask covers, and what is masked out must be zero.
bool Emitter::fetchable(const Op& load) const {
  const ValueId r = load.result(), p = load.operands[0];
  if (load.code != Code::load || type(r).shape.rank != 2 || !tile::is_half(type(r).elem)) return false;
  if (!never_written(memory_of(p))) return false;
  const Layout& layout = home(r);
  const int bits = vector_bits(p, layout);
  if ((tile::elem_bytes(type(r).elem) << bits) < 4 || !held(p, layout)) return false;
  if (load.operands.size() > 1) {
    const ValueId mask = load.operands[1];
    const auto d = static_cast<std::size_t>(fast_dim(p));
    if (!held(mask, layout)) return false;
    if (type(mask).is_tile() && axes_[static_cast<std::size_t>(mask)].dims[d].constancy < (1 << bits)) return false;
  }
  if (load.operands.size() > 2) {
    const Op* other = def(load.operands[2]);
    if (other != nullptr && other->code == Code::splat) other = def(other->operands[0]);
    if (other == nullptr || other->code != Code::constant || other->real != 0 || other->integer != 0) return false;
  }
  return true;
}

std::optional<Emitter::Pipeline> Emitter::pipeline_of(const Op& loop) const {
  if (checked_) return {};
  const Block& body = loop.blocks[0];
  Pipeline out;
  std::int64_t others = 0;  // bytes of operands that are not fetched
  for (const Op& op : body.ops) {
    if (op.code != Code::dot || !product_of(op).of_halves()) continue;
    for (std::size_t i = 0; i < 2; ++i) {
      const ValueId x = operand_of(op.operands[i]).value;
      Pipeline with = out;
      const Op* d = def(x);
      if (operand_[static_cast<std::size_t>(x)] && contains(body, d) && fetchable(*d) &&
          std::all_of(d->operands.begin(), d->operands.end(), [&](ValueId o) { return add_slice(loop, o, with); })) {
        out = std::move(with);
        out.loads.push_back(d);
        out.bytes += staged_bytes(x);
      } else {
        others += staged_bytes(x);
      }
    }
  }
  if (out.loads.empty()) return {};
  const std::int64_t room = target_.machine.shared_limit - shared_base_ - others - kSharedRest;
  out.stages = static_cast<int>(std::min<std::int64_t>(target_.num_stages, room / out.bytes));
  if (out.stages < 2) return {};
  return out;
}

// Operands that are the same in every round are put into shared memory once.
void Emitter::place_outer(const Op& loop) {
  bool any = false, groups = false;
  const Block& body = loop.blocks[0];
  for (const Op& op : body.ops) {
    if (op.code != Code::dot) continue;
    const Product product = product_of(op);
    if (!product.of_halves()) continue;
    for (std::size_t i = 0; i < 2; ++i) {
      const ValueId x = operand_of(op.operands[i]).value;
      const bool inside = contains(body, def(x)) || def(x) == nullptr;
      if (inside || placed_.contains(x) || type(x).shape.rank != 2) continue;
      if (shared_base_ + staged_bytes(x) > target_.machine.shared_limit / 2) continue;
      placed_[x] = place(x, hold_shared(staged_bytes(x)));
      any = true;
      groups |= product.unit == Product::Unit::groups;
    }
  }
  if (groups) line("product_fence();");
  if (any) shared_written();
}

void Emitter::begin_pipeline(const Op& loop, Pipeline& p) {
  const Block& body = loop.blocks[0];
  p.base = hold_shared(p.bytes * p.stages);
  p.index = fresh("ahead");
  p.write = fresh("write");
  p.read = fresh("read");
  const std::vector<std::string> before = scalars_;
  p.outer = scopes_.size();
  scopes_.emplace_back();
  std::vector<ValueId> params, initial;
  for (const std::size_t k : p.carried) {
    params.push_back(body.params[k + 1]);
    initial.push_back(loop.operands[k + 3]);
    declare(params.back());
  }
  assign(params, initial);
  p.scope = std::move(scopes_.back());
  p.scalars = std::exchange(scalars_, before);
  scopes_.pop_back();
  line(fmt::format("i64 {} = {};", p.index, scalar(loop.operands[0]).name));
  line(fmt::format("int {} = 0, {} = 0;", p.write, p.read));
  line("#pragma unroll 1");
  line(fmt::format("for (int s = 1; s < {}; ++s) {{", p.stages));
  ++indent_;
  emit_fetch(loop, p);
  --indent_;
  line("}");
}

// One round's copies; then the round after it is next. What the body knows of its own round is hidden from it.
void Emitter::emit_fetch(const Op& loop, Pipeline& p) {
  const Block& body = loop.blocks[0];
  line(fmt::format("if ({}) {{", more_text(loop, p.index)));
  ++indent_;
  std::vector<std::string> before = std::exchange(scalars_, p.scalars);
  const auto inner = scopes_.begin() + static_cast<std::ptrdiff_t>(p.outer);
  std::vector<Scope> hidden(std::make_move_iterator(inner), std::make_move_iterator(scopes_.end()));
  scopes_.resize(p.outer);
  scopes_.push_back(p.scope);
  const std::string i = fresh(body.params[0]), t = type_name(type(body.params[0]));
  line(fmt::format("const {} {} = ({}){};", t, i, t, p.index));
  scalars_[static_cast<std::size_t>(body.params[0])] = i;
  for (const Op& op : body.ops)
    if (p.slice.contains(&op)) emit_op(op);
  std::int64_t offset = p.base;
  for (const Op* load : p.loads) {
    emit_copy(*load, fmt::format("{} + {} * {}", offset, p.write, p.bytes));
    offset += staged_bytes(load->result());
  }
  std::vector<ValueId> params, next;
  for (const std::size_t k : p.carried) {
    params.push_back(body.params[k + 1]);
    next.push_back(body.ops.back().operands[k]);
  }
  assign(params, next);
  scopes_.pop_back();
  for (Scope& scope : hidden) scopes_.push_back(std::move(scope));
  scalars_ = std::move(before);
  --indent_;
  line("}");
  line("copies_sent();");
  line(fmt::format("{} += {};", p.index, scalar(loop.operands[2]).name));
  line(fmt::format("{} = {} == {} ? 0 : {} + 1;", p.write, p.write, p.stages - 1, p.write));
}

void Emitter::emit_copy(const Op& load, const std::string& to) {
  const ValueId r = load.result(), p = load.operands[0];
  const Layout& layout = home(r);
  const Ref pointer = get(p, layout);
  const std::string wanted = load.operands.size() > 1 ? get(load.operands[1], layout).at("r0") : "true";
  const Vector v = vector_of(p, layout);
  const Shape& s = type(r).shape;
  const int dim = fast_dim(p);
  const std::string guard = replica_guard(layout);
  line(fmt::format(
      "{}EACH(g, {}) {{ const int r0 = {}; copy_ahead<{}>(shared_address(shared_memory) + {} + {}::at({}, {}), {}, "
      "{}); }}",
      guard.empty() ? "" : fmt::format("if ({}) ", guard), layout.registers() >> v.bits, bits_text("g", v.outside),
      tile::elem_bytes(type(r).elem) << v.bits, to, staged_type(r, dim),
      coordinate(layout, dim_bits(s, static_cast<std::size_t>(1 - dim)), "r0"),
      coordinate(layout, dim_bits(s, static_cast<std::size_t>(dim)), "r0"), pointer.at("r0"), wanted));
}

void Emitter::await_fetched(const Pipeline& p) {
  std::int64_t offset = p.base;
  for (const Op* load : p.loads) {
    placed_[load->result()] = {fast_dim(load->operands[0]), fmt::format("{} + {} * {}", offset, p.read, p.bytes)};
    offset += staged_bytes(load->result());
  }
  line(fmt::format("copies_arrived<{}>();", p.stages - 2));
  if (target_.machine.groups) line("product_fence();");
  barrier();
}

void Emitter::fetch_next() {
  if (pipeline_ == nullptr) return;
  Pipeline& p = *std::exchange(pipeline_, nullptr);
  emit_fetch(*loop_, p);
}

}  // namespace passnet::tile_cuda
