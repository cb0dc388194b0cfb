// Loads and stores: contiguous, with a step, or at any offset; masked by what the loop's bounds have not decided.
#include <fmt/format.h>

#include <algorithm>

#include "tile_cpu/ctypes.h"
#include "tile_cpu/emitter.h"
#include "tile_cpu/op_text.h"

namespace passnet::tile_cpu {

std::string Emitter::site(const Op& op) {
  out_.sites.push_back(tile::site_of(f_, op, op.code == Code::while_ ? -1 : parameter_of(op.operands[0])));
  return std::to_string(out_.sites.size() - 1);
}

std::string Emitter::atomic_text(const Op& op) {
  const std::string what = op.code == Code::atomic_cas ? "cas" : atomic_policy(op.atomic);
  if (is_hooked(build_)) return fmt::format("Atomic_{}{{hooks, {}, program}}", what, site(op));
  return fmt::format("Atomic_{}{{begin == 0 && end == {}}}", what, facts_.programs());
}

// A pointer as a typed base and offsets, where it is one; else the addresses themselves.
Emitter::Address Emitter::address(ValueId pointer, const Index& index, Mode) {
  Address out;
  out.elem = type(pointer).elem;
  ValueId p = pointer;
  Index at = index;
  for (;;) {
    if (home(p).kind == Home::Kind::name) {
      out.base = home(p).text;
      out.level = home(p).level;
      return out;
    }
    const Op* op = home(p).kind == Home::Kind::array ? nullptr : def(p);
    if (op != nullptr && op->code == Code::addptr) {
      out.terms.push_back({op->operands[1], at});
      p = op->operands[0];
    } else if (op != nullptr && op->code == Code::splat) {
      p = op->operands[0];
    } else if (op != nullptr && (op->code == Code::broadcast || op->code == Code::expand_dims ||
                                 op->code == Code::trans || op->code == Code::reshape)) {
      at = map_index(*op, f_, at);
      p = op->operands[0];
    } else {
      out.terms = {{pointer, index}};
      return out;
    }
  }
}

// How far the address moves with the vector loop, in elements; nullopt: not by a constant.
std::optional<std::int64_t> Emitter::step_of(const Address& a) const {
  if (a.base.empty()) return std::nullopt;
  std::int64_t out = 0;
  for (const At& term : a.terms) {
    const auto step = step_of(term.value, term.index);
    if (!step) return std::nullopt;
    out += *step;
  }
  return out;
}

// Of the memory that a pointer points into; 0: not known.
std::int64_t Emitter::memory_bytes(ValueId pointer) const {
  const std::int32_t p = parameter_of(pointer);
  if (p < 0) return 0;
  return facts_.parameters[static_cast<std::size_t>(p)].elements * tile::elem_bytes(type(pointer).elem);
}

// The last of a program's nests that load the same elements has them in the cache, and time to fetch those of the next
// program: it stores, most often, and memory reads and writes at once. No prefetcher does that: rows start on pages of
// their own. The first nest does so where a prefetcher is no help there either: short rows beside a load that is
// turned, and rows whose numbers are read from memory. Of these a part is fetched some programs earlier: finding a
// row's page takes longest.
void Emitter::fetch_ahead(const Op& load, const Address& a, const std::string& pointer) {
  constexpr std::int64_t kCached = 1 << 20, kAhead = 64 << 10;
  constexpr int kRows = 3;  // so many
  Loaded& l = loaded_[&load];
  if (l.first == 0) l.first = nest_;
  const Type& t = type(load.result());
  if (memory_bytes(load.operands[0]) < kCached) return;
  const auto step = program_step(load.operands[0]);
  reads_memory_ = true;
  if (step && step->load == nullptr && l.first == nest_) in_turn_ = nest_;
  if (!step || t.shape.elements() * tile::elem_bytes(t.elem) > kAhead) return;
  const auto fetch = [&](const std::string& far) { code(fmt::format("__builtin_prefetch({} + {});", pointer, far)); };
  if (step->load == nullptr) {
    if ((turns_ || (l.first != nest_ && l.last == group_)) && step->fixed != 0)
      fetch(std::to_string(step->fixed) + "L");
    return;
  }
  const ValueId row = step->load->result(), from = step->load->operands[0];
  if (l.first != nest_ || home(row).kind != Home::Kind::name) return;
  const auto move = [&](int programs) {  // to the row that is read so many programs on
    return put(row, Elem::i64,
               fmt::format("program + {} < end ? (i64)(((u64)ld1<{}>({} + {}L) - (u64){}) * (u64){}L + (u64){}L) : 0",
                           programs, access_name(type(row).elem), home(from).text, programs * program_step(from)->fixed,
                           home(row).text, step->times, programs * step->fixed),
               1, false)
        .text;
  };
  const Ref first = sum_terms(a, Mode::zero);
  if (first.level <= 1)
    levels_[1].code += fmt::format("    fetch_row({} + ({}) + {}, {});\n", a.base, first.text, move(kRows),
                                   t.shape.elements() * tile::elem_bytes(t.elem));
  fetch(move(1));
}

// Whether a store should go past the caches: to memory larger than them that the kernel does not read. Not beside
// gathers: on some machines each waits for all such stores that are on their way (ten times as long on Cascade Lake).
bool Emitter::streams(const Op& store) const {
  constexpr std::int64_t kLarge = 32 << 20;
  return !gathers_ && memory_bytes(store.operands[0]) >= kLarge && never_read(store);
}

// Whether the kernel reads nothing of what this writes to.
bool Emitter::never_read(const Op& store) const { return !may_access(reads_, store.operands[0]); }

// Whether one of them may be in the memory that the pointer points into.
bool Emitter::may_access(const std::vector<const Op*>& accesses, ValueId pointer) const {
  const std::int32_t memory = memory_of(pointer);
  return std::any_of(accesses.begin(), accesses.end(), [&](const Op* access) {
    const std::int32_t other = memory_of(access->operands[0]);
    return other < 0 || other == memory;
  });
}

// The offsets' sum in elements, at the first element or wherever `mode` says.
Ref Emitter::sum_terms(const Address& a, Mode mode) {
  Ref out{"0", 1, false};
  for (const At& term : a.terms) {
    const Ref r = eval(term.value, term.index, mode);
    out.level = std::max(out.level, r.level);
    out.text = out.text == "0" ? "(i64)" + r.text : fmt::format("{} + (i64){}", out.text, r.text);
  }
  return out;
}

std::string Emitter::element_pointer(const Address& a, const std::string& offset) {
  return a.base.empty() ? fmt::format("({}*)({})", stored_name(a.elem), offset)
                        : fmt::format("{} + ({})", a.base, offset);
}

// What is left of a mask in this region. False: it never holds.
bool Emitter::remaining_mask(const Op& op, ValueId mask, const Index& index, std::vector<At>& left, int& level) const {
  (void)op;
  std::vector<At> all;
  conjuncts(mask, index, all);
  for (const At& c : all) {
    const auto known = truth(c.value, c.index);
    if (known) {
      level = std::max(level, known->level);
      if (!known->value) return false;
    } else if (std::find(left.begin(), left.end(), c) == left.end()) {
      left.push_back(c);
    }
  }
  return true;
}

Ref Emitter::eval_mask(const std::vector<At>& mask, Mode mode) {
  Ref out{"", 1, false};
  std::vector<Ref> refs;
  for (const At& c : mask) {
    refs.push_back(eval(c.value, c.index, mode));
    out.lanes = out.lanes || refs.back().lanes;
    out.level = std::max(out.level, refs.back().level);
  }
  for (const Ref& r : refs) {
    const std::string text = out.lanes ? lanes_of(r, Elem::i1).text : r.text;
    out.text = out.text.empty() ? text : fmt::format("{} & {}", out.text, text);
  }
  if (refs.size() > 1) out.text = "(" + out.text + ")";
  return out;
}

Ref Emitter::load(const Op& op, const Index& index, Mode mode) {
  const Elem elem = type(op.result()).elem;
  std::vector<At> left;
  int level = 1;
  const bool ever = op.operands.size() < 2 || remaining_mask(op, op.operands[1], index, left, level);
  Ref other{constant_text(Op{}, elem), 1, false};
  if (op.operands.size() > 2) other = eval(op.operands[2], index, mode);
  if (!ever) {
    other.level = std::max(other.level, level);
    return other;
  }
  if (left.empty()) other = {constant_text(Op{}, elem), 1, false};
  const Address a = address(op.operands[0], index, mode);
  level = std::max({level, a.level, other.level});
  std::optional<std::int64_t> step = step_of(a);
  if (a.base.empty() && step_of(a.terms[0].value, a.terms[0].index) == 0) step = 0;
  bool mask_moves = false;
  for (const At& c : left) mask_moves = mask_moves || step_of(c.value, c.index) != 0;
  if (mode == Mode::lanes && (step != 0 || mask_moves || other.lanes))
    return load_lanes(op, a, index, left, other, level);

  // one element
  const Mode scalar = mode == Mode::lanes ? (segment_ ? Mode::segment : Mode::zero) : mode;
  const Ref at = sum_terms(a, scalar);
  level = std::max(level, at.level);
  const std::string pointer = element_pointer(a, at.text);
  std::string text = is_hooked(build_)
                         ? fmt::format("ck_ld1<{}>(hooks, {}, program, {})", access_name(elem), site(op), pointer)
                         : fmt::format("ld1<{}>({})", access_name(elem), pointer);
  if (!left.empty()) {
    const Ref m = eval_mask(left, scalar);
    level = std::max(level, m.level);
    text = fmt::format("({} ? {} : ({}){})", m.text, text, scalar_name(elem), other.text);
  }
  return put(op.result(), elem, text, level, false);
}

Ref Emitter::load_lanes(const Op& op, const Address& a, const Index&, const std::vector<At>& mask, const Ref& other,
                        int level) {
  const Elem elem = type(op.result()).elem;
  const std::string kind = access_name(elem);
  level = std::max(level, vector_level_);
  Ref m;
  if (!mask.empty()) {
    m = eval_mask(mask, Mode::lanes);
    level = std::max(level, m.level);
  }
  const std::string rest = lanes_of(other, elem).text;
  const std::optional<std::int64_t> step = step_of(a);
  std::string text, ahead;
  const bool lanes_mask = !mask.empty() && m.lanes, is_word = tile::elem_bytes(elem) == 4;
  const std::string lane_mask = mask.empty() ? "all(true)" : lanes_of(m, Elem::i1).text;
  if (step && *step != 0) {
    const Ref at = sum_terms(a, Mode::first);
    level = std::max(level, at.level);
    const std::string pointer = fmt::format("{} + ({})", a.base, at.text);
    if (*step == 1 && !is_hooked(build_)) ahead = pointer;
    if (is_hooked(build_))
      text = fmt::format("ck_ld_step<{}, Full>(hooks, {}, program, {}, {}L, {}, {}, n)", kind, site(op), pointer, *step,
                         lane_mask, rest);
    else if (lanes_mask && *step == 1)
      text = fmt::format("ld_mask<{}, Full>({}, {}, {}, n)", kind, pointer, m.text, rest);
    else if (lanes_mask)
      text = fmt::format("ld_step_mask<{}, Full>({}, {}L, {}, {}, n)", kind, pointer, *step, m.text, rest);
    else if (*step == 1)
      text = fmt::format("ld<{}, Full>({}, n)", kind, pointer);
    else
      text = fmt::format("ld_step<{}, Full>({}, {}L, n)", kind, pointer, *step);
    gathers_ |= is_word && *step != 1 && *step != 2;
  } else {
    // base + what stands still, and the offsets of the lanes
    Address still = a;
    still.terms.clear();
    std::vector<At> moving;
    for (const At& term : a.terms)
      (a.base.empty() || step_of(term.value, term.index) != 0 ? moving : still.terms).push_back(term);
    const Ref base_at = sum_terms(still, segment_ ? Mode::segment : Mode::zero);
    level = std::max(level, base_at.level);
    const std::string base = a.base.empty()        ? fmt::format("(const {}*)0", stored_name(elem))
                             : base_at.text == "0" ? a.base
                                                   : fmt::format("{} + ({})", a.base, base_at.text);
    std::string offsets = "vi32{}";
    for (std::size_t i = 0; i < moving.size(); ++i) {
      const Type& t = type(moving[i].value);
      const Elem e = t.pointer ? Elem::i64 : t.elem;
      const Ref r = lanes_of(eval(moving[i].value, moving[i].index, Mode::lanes), e);
      level = std::max(level, r.level);
      const std::string wide = e == Elem::i64 ? r.text : fmt::format("TO(vi64, {})", r.text);
      offsets = moving.size() == 1 ? (a.base.empty() ? fmt::format("({} / {}L)", wide, tile::elem_bytes(elem)) : r.text)
                : i == 0           ? wide
                                   : fmt::format("{} + {}", offsets, wide);
    }
    if (is_hooked(build_))
      text = fmt::format("ck_ld<{}>(hooks, {}, program, {}, {}, {}, {}, n)", kind, site(op), base, offsets, lane_mask,
                         rest);
    else if (lanes_mask)
      text = fmt::format("ld_at_mask<{}, Full>({}, {}, {}, {}, n)", kind, base, offsets, m.text, rest);
    else
      text = fmt::format("ld_at<{}, Full>({}, {}, n)", kind, base, offsets);
    gathers_ |= is_word;
  }
  if (!mask.empty() && !m.lanes && !is_hooked(build_)) text = fmt::format("({} ? {} : {})", m.text, text, rest);
  if (!ahead.empty() && level == static_cast<int>(levels_.size()) - 1) fetch_ahead(op, a, ahead);
  return put(op.result(), elem, text, level, true);
}

// A store, an atomic or an assertion inside the vector loop.
void Emitter::store(const Op& op, const Index& index) {
  auto& code = levels_.back().code;
  const std::string indent(levels_.size() * 2, ' ');
  if (op.code == Code::check) {
    const Ref c = lanes_of(eval(op.operands[0], index, Mode::lanes), Elem::i1);
    code += fmt::format("{}ck_assert<Full>(hooks, {}, program, {}, n);\n", indent, site(op), c.text);
    return;
  }
  const bool atomic = op.code == Code::atomic || op.code == Code::atomic_cas;
  const std::size_t mask_at = op.code == Code::atomic_cas ? 3 : 2;
  const Elem elem = type(op.operands[1]).elem;  // the pointer's, or its bits
  std::vector<At> left;
  int level = 1;
  const auto keep_old = [&](const Ref& old) {
    Root keep;
    keep.array = home(op.result()).array;
    keep.value = op.result();
    write_result(keep, index, old);
  };
  const bool kept = atomic && home(op.result()).kind == Home::Kind::array;
  if (op.operands.size() > mask_at && !remaining_mask(op, op.operands[mask_at], index, left, level)) {
    if (kept) keep_old({constant_text(Op{}, elem), vector_level_, false});
    return;
  }
  const std::string kind = access_name(elem);
  ValueId stored = op.operands[1];
  if (const Op* cast = def(stored); cast != nullptr && cast->code == Code::cast && op.code == Code::store &&
                                    home(stored).kind == Home::Kind::nowhere && tile::is_half(elem) &&
                                    type(cast->operands[0]).elem == Elem::f32)
    stored = cast->operands[0];  // the store rounds
  const std::string value = lanes_of(eval(stored, index, Mode::lanes), elem).text;
  const Ref m = left.empty() ? Ref{} : eval_mask(left, Mode::lanes);
  const Address a = address(op.operands[0], index, Mode::lanes);
  const std::optional<std::int64_t> step = step_of(a);
  std::string text;
  const bool lanes_mask = !left.empty() && m.lanes;
  const std::string mask = left.empty() ? "all(true)" : lanes_of(m, Elem::i1).text;
  if (step && !atomic && (*step == 1 || (*step != 0 && (!lanes_mask || is_hooked(build_))))) {
    const std::string pointer = fmt::format("{} + ({})", a.base, sum_terms(a, Mode::first).text);
    if (is_hooked(build_))
      text = fmt::format("ck_st_step<{}, Full>(hooks, {}, program, {}, {}L, {}, {}, n)", kind, site(op), pointer, *step,
                         value, mask);
    else if (lanes_mask)
      text = fmt::format("st_mask<{}, Full>({}, {}, {}, n)", kind, pointer, value, m.text);
    else if (*step == 1 && streams(op))
      text = fmt::format("{}<{}, Full>({}, {}, n)", reads_memory_ && in_turn_ != nest_ ? "st_burst" : "st_far", kind,
                         pointer, value);
    else if (*step == 1)
      text = fmt::format("st<{}, Full>({}, {}, n)", kind, pointer, value);
    else
      text = fmt::format("st_step<{}, Full>({}, {}L, {}, n)", kind, pointer, *step, value);
  } else {
    const std::string base = a.base.empty() ? fmt::format("({}*)0", stored_name(elem)) : a.base;
    std::string offsets;
    for (const At& term : a.terms) {
      const Type& t = type(term.value);
      const Elem e = t.pointer ? Elem::i64 : t.elem;
      const Ref r = lanes_of(eval(term.value, term.index, Mode::lanes), e);
      const std::string wide = e == Elem::i64 ? r.text : fmt::format("TO(vi64, {})", r.text);
      offsets += offsets.empty() ? wide : " + " + wide;
    }
    if (offsets.empty()) offsets = "vi64{}";
    if (a.base.empty()) offsets = fmt::format("({}) / {}L", offsets, tile::elem_bytes(elem));
    if (atomic) {
      const std::string desired =
          op.code == Code::atomic_cas ? lanes_of(eval(op.operands[2], index, Mode::lanes), elem).text : value;
      text = fmt::format("atomic_at<{}, Full>({}, {}, {}, {}, {}, {}, n)", kind, atomic_text(op), base, offsets, value,
                         desired, mask);
      if (kept) {
        const std::string old = fresh("old");
        code += fmt::format("{}const {} {} = {};\n", indent, lanes_name(elem), old, text);
        return keep_old({old, vector_level_, true});
      }
    } else if (is_hooked(build_)) {
      text =
          fmt::format("ck_st<{}>(hooks, {}, program, {}, {}, {}, {}, n)", kind, site(op), base, offsets, value, mask);
    } else if (lanes_mask) {
      text = fmt::format("st_at_mask<{}, Full>({}, {}, {}, {}, n)", kind, base, offsets, value, m.text);
    } else {
      text = fmt::format("st_at<{}, Full>({}, {}, {}, n)", kind, base, offsets, value);
    }
  }
  if (!left.empty() && !m.lanes && !is_hooked(build_) && !atomic) text = fmt::format("if ({}) {}", m.text, text);
  (last_ != nullptr ? *last_ : levels_.back().code) += fmt::format("{}{};\n", indent, text);
}

}  // namespace passnet::tile_cpu
