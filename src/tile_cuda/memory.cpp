#include <fmt/format.h>

#include <algorithm>

#include "tile/c_text.h"
#include "tile_cuda/emitter.h"

namespace passnet::tile_cuda {

namespace {

std::string joined(const std::string& a, const std::string& b, const char* with) {
  return a.empty() ? b : b.empty() ? a : fmt::format("{} {} {}", a, with, b);
}

}  // namespace

std::int32_t Emitter::memory_of(ValueId pointer) const {
  const std::int32_t p = origin_[static_cast<std::size_t>(pointer)];
  return p < 0 ? -1 : facts_.parameters[static_cast<std::size_t>(p)].memory;
}

bool Emitter::never_written(std::int32_t memory) const {
  if (memory < 0) return false;
  for (std::size_t i = 0; i < written_.size(); ++i)
    if (written_[i] && facts_.parameters[i].memory == memory) return false;
  return true;
}

// A load sees what the program stored before, and a store does not overtake a load: a barrier where other threads may
// have done the earlier of the two. The same addresses in the same layout are the same thread's.
void Emitter::touch(ValueId pointer, const Layout& layout, bool write) {
  const std::int32_t memory = memory_of(pointer);
  const bool alone = (layout.thread_mask() ^ ((1U << thread_bits_) - 1)) == 0;
  const bool conflict = std::any_of(touched_.begin(), touched_.end(), [&](const Touch& t) {
    if (!t.write && !write) return false;
    if (t.memory != memory && t.memory >= 0 && memory >= 0) return false;
    return !(t.pointer == pointer && t.layout == layout && alone);
  });
  if (conflict) barrier();
  touched_.push_back({memory, pointer, layout, write});
}

// All that a block may do: it was done by the round before.
void Emitter::touch_block(const Block& block) {
  for (const Op& op : block.ops) {
    for (const Block& b : op.blocks) touch_block(b);
    if (op.code == Code::load) touched_.push_back({memory_of(op.operands[0]), tile::kNoValue, {}, false});
    if (op.code == Code::store || op.code == Code::atomic || op.code == Code::atomic_cas)
      touched_.push_back({memory_of(op.operands[0]), tile::kNoValue, {}, true});
  }
}

int Emitter::vector_bits(ValueId pointer, const Layout& layout) const {
  if (checked_) return 0;
  const auto d = static_cast<std::size_t>(fast_dim(pointer));
  const BitRange range = dim_bits(type(pointer).shape, d);
  const int most = std::min(range.count, axes_[static_cast<std::size_t>(pointer)].dims[d].widest(type(pointer).elem));
  int bits = 0;
  while (bits < most && layout.in_register(range.first + bits)) ++bits;
  return bits;
}

Emitter::Vector Emitter::vector_of(ValueId pointer, const Layout& layout) const {
  const BitRange range = dim_bits(type(pointer).shape, static_cast<std::size_t>(fast_dim(pointer)));
  return vector_along(layout, range, vector_bits(pointer, layout));
}

Emitter::Vector Emitter::vector_along(const Layout& layout, BitRange range, int bits) {
  Vector out;
  out.bits = bits;
  int inside = 0, outside = 0;
  for (int b = 0; b < layout.count; ++b) {
    if (!layout.in_register(b)) continue;
    const int r = layout.register_bit(b);
    if (b >= range.first && b < range.first + out.bits)
      out.inside.push_back({inside++, r});
    else
      out.outside.push_back({outside++, r});
  }
  return out;
}

// For each of an access's elements, or of its `count` pairs: r is its register, or the first one's.
std::string Emitter::each_part(const Vector& v, int count, const std::string& text) {
  return fmt::format("EACH(j, {}) {{ const int r = r0 + {}; {} }}", count,
                     bits_text(count == 1 << v.bits ? "j" : "j * 2", v.inside), text);
}

std::string Emitter::site(const Op& op) {
  sites_.push_back(tile::site_of(f_, op, origin_[static_cast<std::size_t>(op.operands[0])]));
  return std::to_string(sites_.size() - 1);
}

std::string Emitter::load_text(const Op& op, const std::string& pointer, const std::string& guard) {
  const ValueId p = op.operands[0];
  const std::string access = tile::access_name(type(p).elem);
  if (checked_)
    return fmt::format("check_load_one<{}>(check, {}, program, {}, ordered, {})", access, site(op), pointer,
                       guard.empty() ? "true" : guard);
  return fmt::format("load_one<{}, {}>({})", access, never_written(memory_of(p)) ? "true" : "false", pointer);
}

std::string Emitter::store_text(const Op& op, const std::string& pointer, const std::string& value) {
  const std::string access = tile::access_name(type(op.operands[0]).elem);
  if (checked_)
    return fmt::format("check_store_one<{}>(check, {}, program, {}, {}, ordered);", access, site(op), pointer, value);
  return fmt::format("store_one<{}>({}, {});", access, pointer, value);
}

void Emitter::emit_load(const Op& op) {
  const ValueId r = op.result(), p = op.operands[0];
  const bool masked = op.operands.size() > 1, other_given = op.operands.size() > 2;
  const std::string access = tile::access_name(type(r).elem);
  const char* readonly = never_written(memory_of(p)) ? "true" : "false";
  const std::string zero = fmt::format("({})0", type_name(type(r)));
  if (!type(r).is_tile()) {
    touch(p, Layout{}, false);
    const std::string load = load_text(op, scalar(p).name, "tid == 0");
    keep(r, nullptr,
         masked ? fmt::format("{} ? {} : {}", scalar(op.operands[1]).name, load,
                              other_given ? scalar(op.operands[2]).name : zero)
                : load);
    return;
  }
  const Layout& layout = home(r);
  const Ref pointer = get(p, layout);
  std::optional<Ref> mask, other;
  if (masked) mask = get(op.operands[1], layout);
  if (other_given) other = get(op.operands[2], layout);
  touch(p, layout, false);
  const Vector v = vector_of(p, layout);
  const Ref out = make_array(r, layout);
  remember(r, layout, out);
  const int n = 1 << v.bits, groups = out.registers >> v.bits;
  const Elem half = type(r).elem;
  const bool pairs = paired_[static_cast<std::size_t>(r)] && n > 1 && keeps_pairs(v.inside);
  const std::string words = pairs ? make_pairs(out, half) : std::string();
  const std::string outside = bits_text("g", v.outside);
  line(fmt::format("EACH(g, {}) {{", groups));
  ++indent_;
  line(fmt::format("const int r0 = {};", outside));
  if (n == 1) {
    const std::string load = load_text(op, pointer.at("r0"), replica_guard(layout));
    line(
        fmt::format("{}[r0] = {};", out.name,
                    masked ? fmt::format("{} ? {} : {}", mask->at("r0"), load, other ? other->at("r0") : zero) : load));
  } else {
    const int d = fast_dim(p);
    const bool whole = !masked || !mask->array ||
                       axes_[static_cast<std::size_t>(op.operands[1])].dims[static_cast<std::size_t>(d)].constancy >= n;
    // w: what one access gives, by elements or pairs of them; r: the (first) element's register
    const int parts = pairs ? n / 2 : n;
    const auto part = [&](const auto& element) {
      return pairs ? fmt::format("{}_pair({}, {})", tile::elem_row(half).name, element("r"), element("r + 1"))
                   : element(std::string("r"));
    };
    line(fmt::format("{} w[{}];", pairs ? "u32" : type_name(type(r)), parts));
    const std::string load =
        pairs ? fmt::format("load_many<U32, {}, {}>(w, (const u32*){});", parts, readonly, pointer.at("r0"))
              : fmt::format("load_many<{}, {}, {}>(w, {});", access, parts, readonly, pointer.at("r0"));
    const auto each = [&](int count, const std::string& text) { return each_part(v, count, text); };
    const auto fallback = [&](const std::string& at) { return other ? other->at(at) : zero; };
    const auto single = [&](const std::string& at) {
      return fmt::format("{} ? {} : {}", mask->at(at), load_text(op, pointer.at(at), ""), fallback(at));
    };
    if (!masked) {
      line(load);
    } else if (whole) {
      line(fmt::format("if ({}) {}", mask->at("r0"), load));
      line("else " + each(parts, fmt::format("w[j] = {};", part(fallback))));
    } else {
      line("bool all = true;");
      line(each(n, fmt::format("all &= {};", mask->at("r"))));
      line("if (all) " + load);
      line("else " + each(parts, fmt::format("w[j] = {};", part(single))));
    }
    if (pairs)
      line(each(parts, fmt::format("{}[r >> 1] = w[j]; EACH(k, 2) {}[r + k] = {}_of_pair(w[j], k);", words, out.name,
                                   tile::elem_row(half).name)));
    else
      line(each(n, fmt::format("{}[r] = w[j];", out.name)));
  }
  --indent_;
  line("}");
}

// A half's value before it was rounded: what makes it a half of it rounds. Pairs are rounded already.
ValueId Emitter::unrounded(ValueId v) const {
  const Op* d = def(v);
  if (d == nullptr || d->code != Code::cast || !tile::is_half(type(v).elem) || pair_op(*d) != nullptr) return v;
  return type(d->operands[0]).elem == Elem::f32 ? d->operands[0] : v;
}

void Emitter::emit_store(const Op& op) {
  const ValueId p = op.operands[0], x = unrounded(op.operands[1]);
  const bool masked = op.operands.size() > 2;
  const std::string access = tile::access_name(type(p).elem);
  if (!type(p).is_tile()) {
    touch(p, Layout{}, true);
    line(fmt::format("if ({}) {}", joined("tid == 0", masked ? scalar(op.operands[2]).name : "", "&&"),
                     store_text(op, scalar(p).name, scalar(x).name)));
    return;
  }
  const Layout layout = operand_layout_.at(&op);
  const Ref pointer = get(p, layout), value = get(x, layout);
  std::optional<Ref> mask;
  if (masked) mask = get(op.operands[2], layout);
  touch(p, layout, true);
  const Vector v = vector_of(p, layout);
  const int n = 1 << v.bits, groups = layout.registers() >> v.bits;
  const Elem half = type(p).elem;
  const bool pairs = n > 1 && keeps_pairs(v.inside) && has_pairs(value, half);
  const std::string outside = bits_text("g", v.outside);
  const std::string guard = replica_guard(layout);
  line(fmt::format("{}EACH(g, {}) {{", guard.empty() ? "" : fmt::format("if ({}) ", guard), groups));
  ++indent_;
  line(fmt::format("const int r0 = {};", outside));
  if (n == 1) {
    line(fmt::format("{}{}", masked ? fmt::format("if ({}) ", mask->at("r0")) : "",
                     store_text(op, pointer.at("r0"), value.at("r0"))));
  } else {
    const int d = fast_dim(p);
    const bool whole = !masked || !mask->array ||
                       axes_[static_cast<std::size_t>(op.operands[2])].dims[static_cast<std::size_t>(d)].constancy >= n;
    const auto each = [&](int count, const std::string& text) { return each_part(v, count, text); };
    const int parts = pairs ? n / 2 : n;
    line(fmt::format("{} w[{}];", pairs ? "u32" : type_name(type(x)), parts));
    line(each(parts, fmt::format("w[j] = {};", pairs ? pair_text(value, half, "r >> 1") : value.at("r"))));
    const std::string store = pairs ? fmt::format("store_many<U32, {}>((u32*){}, w);", parts, pointer.at("r0"))
                                    : fmt::format("store_many<{}, {}>({}, w);", access, parts, pointer.at("r0"));
    if (!masked) {
      line(store);
    } else if (whole) {
      line(fmt::format("if ({}) {}", mask->at("r0"), store));
    } else {
      line("bool all = true;");
      line(each(n, fmt::format("all &= {};", mask->at("r"))));
      line("if (all) " + store);
      line("else " + each(n, fmt::format("if ({}) {}", mask->at("r"), store_text(op, pointer.at("r"), value.at("r")))));
    }
  }
  --indent_;
  line("}");
}

// Seen by the checked build only.
void Emitter::emit_check(const Op& op) {
  if (!checked_) return;
  const ValueId x = op.operands[0];
  const bool tile = type(x).is_tile();
  const Layout layout = tile ? shape_layout(type(x).shape) : Layout{};
  const Ref holds = tile ? get(x, layout) : scalar(x);
  line(fmt::format("EACH(e, {}) if ({}) check_failed(check, {}, program);", layout.registers(),
                   joined(replica_guard(layout), "!" + holds.at("e"), "&&"), site(op)));
}

// One of the threads that hold the same element does it; where the old element is wanted, the others hear it through
// shared memory.
void Emitter::emit_atomic(const Op& op) {
  const ValueId r = op.result(), p = op.operands[0];
  const bool cas = op.code == Code::atomic_cas;
  const bool masked = !cas && op.operands.size() > 2;
  const std::string access = tile::access_name(type(p).elem);
  const std::string policy = cas ? "cas" : tile::atomic_policy(op.atomic);
  const bool tile = type(p).is_tile();
  const Layout layout = tile ? home(r) : Layout{};
  const auto ref = [&](ValueId v) { return tile ? get(v, layout) : scalar(v); };
  const Ref pointer = ref(p), x = ref(op.operands[1]), y = ref(op.operands[cas ? 2 : 1]);
  const Ref mask = masked ? ref(op.operands[2]) : Ref{};
  touch(p, layout, true);
  const std::string guard = replica_guard(layout);
  const std::string name = fresh(r), t = type_name(type(r));
  const int registers = layout.registers();
  line(fmt::format("{} {}[{}];", t, name, registers));
  line(fmt::format("EACH(e, {}) {}[e] = ({})0;", registers, name, t));
  std::string condition = joined(guard, masked ? mask.at("e") : "", "&&");
  std::string done;
  if (checked_) {
    done = fresh("done");
    line(fmt::format("bool {} = false;", done));
    const std::string ask = fmt::format("check_access(check, {}, program, {}, 0, ordered, true) && ({} = true)",
                                        site(op), pointer.at("e"), done);
    condition = joined(condition, ask, "&&");
  }
  line(fmt::format("EACH(e, {}) {}{}[e] = atomic_one<{}, Atomic_{}>({}, {}, {});", registers,
                   condition.empty() ? "" : fmt::format("if ({}) ", condition), name, access, policy, pointer.at("e"),
                   x.at("e"), y.at("e")));
  if (checked_ && sites_.back().orders) line(fmt::format("ordered |= __syncthreads_or({});", done));
  Ref out = Ref::array_of(name, layout);
  const bool used = uses_[static_cast<std::size_t>(r)] > 0;
  if (!tile) {
    if (used && !guard.empty()) out = convert(r, out, layout, layout);
    scalars_[static_cast<std::size_t>(r)] = out.at("0");
    return;
  }
  if (used && !guard.empty()) out = convert(r, out, layout, layout);
  remember(r, layout, out);
}

}  // namespace passnet::tile_cuda
