// How values move with the vector loop: by a constant step, not at all, or freely. Masks as bounds of the loop.
#include <algorithm>

#include "tile_cpu/emitter.h"

namespace passnet::tile_cpu {

namespace {

using Step = std::optional<std::int64_t>;

bool is_integer(const Type& t) { return !t.pointer && !tile::is_float(t.elem) && t.elem != Elem::i1; }

// No memory reaches so far; what is larger is no step, so that sums of several, in bytes, have room in 64 bits.
constexpr std::int64_t kFarthest = std::int64_t{1} << 48;
Step within(std::int64_t step) { return step >= -kFarthest && step <= kFarthest ? Step(step) : std::nullopt; }
Step sum(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? std::nullopt : within(out);
}
Step difference(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_sub_overflow(a, b, &out) ? std::nullopt : within(out);
}

}  // namespace

// What an integer, or a splat of one, is known to be.
std::optional<std::int64_t> Emitter::constant_of(ValueId v) const {
  if (type(v).pointer || tile::is_float(type(v).elem)) return std::nullopt;
  const tile::Range& r = ranges_[static_cast<std::size_t>(v)];
  if (r.lo == r.hi) return r.lo;
  return std::nullopt;
}

// Whether and how far the value moves when the vector loop moves by one; nullopt: not by a constant.
std::optional<std::int64_t> Emitter::step_of(ValueId v, const Index& index) const {
  const Type& t = type(v);
  if (!t.is_tile()) return 0;
  const auto rank = static_cast<std::size_t>(t.shape.rank);
  if (vector_loop_ < 0 || std::find(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(rank), vector_loop_) ==
                              index.begin() + static_cast<std::ptrdiff_t>(rank))
    return 0;
  const At key = normal(v, index);
  if (const auto it = steps_.find(key); it != steps_.end()) return it->second;
  constexpr int kDeepest = 2000;  // of our own stack
  if (step_depth_ > kDeepest) return std::nullopt;
  ++step_depth_;
  const auto step = compute_step(v, index);
  --step_depth_;
  steps_.emplace(key, step);
  return step;
}

std::optional<std::int64_t> Emitter::compute_step(ValueId v, const Index& index) const {
  if (home(v).kind == Home::Kind::array) return std::nullopt;
  const Op* op = def(v);
  if (op == nullptr) return std::nullopt;
  const auto operand = [&](std::size_t i) { return step_of(op->operands[i], index); };
  switch (op->code) {
    case Code::constant:
    case Code::splat: return 0;
    case Code::arange: return 1;
    case Code::broadcast:
    case Code::expand_dims:
    case Code::trans:
    case Code::reshape: return step_of(op->operands[0], map_index(*op, f_, index));
    case Code::atomic:
    case Code::atomic_cas: return std::nullopt;
    default: break;
  }
  bool still = true;
  for (std::size_t i = 0; i < op->operands.size(); ++i) still = still && operand(i) == 0;
  if (still) return 0;
  if (op == unwrapped_) return operand(0);
  if (op->code == Code::div || op->code == Code::rem) {
    const auto c = constant_of(op->operands[1]);
    if (!is_integer(type(v)) || !segment_ || !c || *c <= 0 || *c % segment_->size != 0) return std::nullopt;
    if (normal(op->operands[0], index) != segment_->dividend) return std::nullopt;
    return op->code == Code::div ? 0 : 1;
  }
  const auto a = operand(0);
  const auto b = op->operands.size() > 1 ? operand(1) : std::optional<std::int64_t>(0);
  return a && b ? result_step(*op, *a, *b) : std::nullopt;
}

// How far an op's result, an integer, moves when its operands move so far; nullopt: not by a constant.
std::optional<std::int64_t> Emitter::result_step(const Op& op, std::int64_t a, std::int64_t b) const {
  const tile::Range& range = ranges_[static_cast<std::size_t>(op.result())];
  if (!is_integer(type(op.result())) || range.may_wrap) return std::nullopt;
  switch (op.code) {
    case Code::add: return sum(a, b);
    case Code::sub: return difference(a, b);
    case Code::neg: return difference(0, a);
    case Code::mul: {
      const auto ca = constant_of(op.operands[0]), cb = constant_of(op.operands[1]);
      std::int64_t r = 0;
      if (cb && !__builtin_mul_overflow(a, *cb, &r)) return within(r);
      if (ca && !__builtin_mul_overflow(b, *ca, &r)) return within(r);
      return std::nullopt;
    }
    case Code::cast: {
      if (!is_integer(type(op.operands[0]))) return std::nullopt;
      const tile::Range& from = ranges_[static_cast<std::size_t>(op.operands[0])];
      return from.lo == range.lo && from.hi == range.hi ? std::optional(a) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

// Whether the next program reads the next element for sure, and finds what is there now.
bool Emitter::read_by_all(const Op& load) const {
  const bool always = block_of_.at(&load) == block_of_.at(f_.body.ops.data()) && load.operands.size() == 1;
  return always && facts_.grid[1] == 1 && facts_.grid[2] == 1 && !may_access(writes_, load.operands[0]);
}

// How far an integer, or a pointer in elements, moves from one program to the next. For hints alone: wraps and the ends
// of axis 0 are not looked at.
std::optional<Emitter::ProgramStep> Emitter::program_step(ValueId v) const {
  int left = kLooked;
  return program_step(v, left);
}

std::optional<Emitter::ProgramStep> Emitter::program_step(ValueId v, int& left) const {
  if (--left < 0) return std::nullopt;
  const auto k = static_cast<std::size_t>(v);
  if (initial_[k] != kNoValue) return program_step(initial_[k], left);
  const Op* op = def(v);
  if (op == nullptr) return ProgramStep{};  // a parameter, a loop's counter
  if (op->code == Code::program_id) return ProgramStep{op->axis == 0 ? 1 : 0, 0, nullptr};
  std::vector<ProgramStep> steps;
  for (const ValueId o : op->operands) {
    const auto step = program_step(o, left);
    if (!step) return std::nullopt;
    steps.push_back(*step);
  }
  const auto still = [](const ProgramStep& s) { return s.fixed == 0 && s.load == nullptr; };
  if (std::all_of(steps.begin(), steps.end(), still)) return ProgramStep{};
  switch (op->code) {
    case Code::splat:
    case Code::broadcast:
    case Code::expand_dims:
    case Code::trans:
    case Code::reshape:
    case Code::cast: return steps[0];
    case Code::add:
    case Code::sub:
    case Code::addptr: {
      if (steps[0].load != nullptr && steps[1].load != nullptr) return std::nullopt;
      const auto joined = op->code == Code::sub ? difference : sum;
      const Step fixed = joined(steps[0].fixed, steps[1].fixed), times = joined(steps[0].times, steps[1].times);
      if (!fixed || !times) return std::nullopt;
      return ProgramStep{*fixed, *times, steps[0].load != nullptr ? steps[0].load : steps[1].load};
    }
    case Code::mul: {
      const std::size_t moving = still(steps[0]) ? 1 : 0;
      const auto c = constant_of(op->operands[1 - moving]);
      ProgramStep out = steps[moving];
      const bool fits =
          c && !__builtin_mul_overflow(*c, out.fixed, &out.fixed) && !__builtin_mul_overflow(*c, out.times, &out.times);
      return fits && within(out.fixed) && within(out.times) ? std::optional(out) : std::nullopt;
    }
    case Code::load:
      if (type(v).is_tile() || !is_integer(type(v)) || steps[0].load != nullptr || !read_by_all(*op))
        return std::nullopt;
      return ProgramStep{0, 1, op};
    default: return std::nullopt;
  }
}

// How far an integer, or a pointer in elements, moves from one turn of a loop without loops, branches and writes to the
// next; nullopt: not by a constant.
std::optional<std::int64_t> Emitter::turn_step(ValueId v, const Op& loop) const {
  int left = kLooked;
  return turn_step(v, loop, left);
}

std::optional<std::int64_t> Emitter::turn_step(ValueId v, const Op& loop, int& left) const {
  if (--left < 0) return std::nullopt;
  const Block& body = loop.blocks[0];
  const int inside = block_of_.at(&body.ops[0]);
  if (v == body.params[0]) {
    const auto by = constant_of(loop.operands[2]);
    return by ? within(*by) : std::nullopt;
  }
  const Op* op = def(v);
  if ((op != nullptr ? block_of_.at(op) : param_block_[static_cast<std::size_t>(v)]) != inside) return 0;
  if (op == nullptr) return std::nullopt;  // it is carried
  std::vector<std::int64_t> steps;
  for (const ValueId o : op->operands) {
    const auto step = turn_step(o, loop, left);
    if (!step) return std::nullopt;
    steps.push_back(*step);
  }
  if (std::all_of(steps.begin(), steps.end(), [](std::int64_t s) { return s == 0; })) return 0;
  if (op->code == Code::addptr) return sum(steps[0], steps[1]);
  if (tile::op_row(op->code).kind == tile::OpClass::shape) return steps[0];
  return result_step(*op, steps[0], steps.size() > 1 ? steps[1] : 0);
}

// The conditions that a mask is the conjunction of.
void Emitter::conjuncts(ValueId mask, const Index& index, std::vector<At>& out) const {
  std::set<At> seen;
  std::vector<At> todo{{mask, index}};
  while (!todo.empty()) {
    const At at = todo.back();
    todo.pop_back();
    const Op* op = def(at.value);
    const bool parts = op != nullptr && home(at.value).kind == Home::Kind::nowhere && type(at.value).is_tile();
    if (parts && op->code == Code::bit_and) {
      if (!seen.insert(at).second) continue;
      todo.push_back({op->operands[1], at.index});
      todo.push_back({op->operands[0], at.index});
    } else if (parts && op->code == Code::splat) {
      out.push_back(normal(op->operands[0], at.index));
    } else if (parts && (op->code == Code::broadcast || op->code == Code::expand_dims || op->code == Code::trans)) {
      todo.push_back({op->operands[0], map_index(*op, f_, at.index)});
    } else {
      out.push_back(normal(at.value, at.index));
    }
  }
}

// A condition of the form below < limit, where below moves by one with the vector loop and the limit stands still; or
// the opposite of one.
std::optional<Emitter::Bound> Emitter::bound_of(const At& condition) const {
  const Op* op = def(condition.value);
  if (op == nullptr || op->operands.size() != 2 || home(condition.value).kind != Home::Kind::nowhere)
    return std::nullopt;
  if (!is_integer(type(op->operands[0])) || !type(condition.value).is_tile()) return std::nullopt;
  ValueId left = op->operands[0], right = op->operands[1];
  bool inclusive = false;
  switch (op->code) {
    case Code::lt: break;
    case Code::le: inclusive = true; break;
    case Code::gt: std::swap(left, right); break;
    case Code::ge:
      std::swap(left, right);
      inclusive = true;
      break;
    default: return std::nullopt;
  }
  if (type(left).elem == Elem::u64) return std::nullopt;
  const auto of_left = step_of(left, condition.index), of_right = step_of(right, condition.index);
  if (of_left == 1 && of_right == 0) return Bound{condition, left, right, inclusive, false};
  if (of_left == 0 && of_right == 1)  // limit < moving: not moving <= limit
    return Bound{condition, right, left, !inclusive, true};
  return std::nullopt;
}

// The values of a root at the nest's index instead of its own domain's.
void Emitter::reindex(const Root& root, const Index& index, std::set<At>& out) const {
  for (const At& a : root.evaluated) {
    At moved{a.value, {}};
    for (std::size_t d = 0; d < type(a.value).shape.rank; ++d)
      moved.index[d] = a.index[d] == kFixed ? kFixed : index[static_cast<std::size_t>(a.index[d])];
    out.insert(normal(moved.value, moved.index));
  }
}

// The bound that splits the vector loop: the one that most masks of the nest name.
std::optional<Emitter::Bound> Emitter::common_bound(const Group& group, const Index& index) const {
  std::map<At, int> votes;
  for (const Root& root : group.roots) {
    std::set<At> values;
    reindex(root, index, values);
    std::vector<At> found;
    if (root.kind == Root::Kind::store && root.op->operands.size() > 2) conjuncts(root.op->operands[2], index, found);
    for (const At& c : found) votes[c] += 10;
    found.clear();
    for (const At& at : values) {
      const Op* op = def(at.value);
      if (op == nullptr || home(at.value).kind != Home::Kind::nowhere) continue;
      if (op->code == Code::load && op->operands.size() > 1) conjuncts(op->operands[1], at.index, found);
      if (op->code == Code::select) conjuncts(op->operands[0], at.index, found);
    }
    for (const At& c : found) votes[c] += 1;
  }
  std::optional<Bound> best;
  int most = 0;
  for (const auto& [condition, count] : votes) {
    if (count <= most || known_.contains(condition)) continue;
    if (const auto b = bound_of(condition); b && !b->negated) {
      best = b;
      most = count;
    }
  }
  return best;
}

// Conditions that change once, at the most, on the way of the vector loop: ranges that are put side by side, paddings,
// triangles. Cut there, the loop has masks that stand still. None where the loop or its segments are short: a mask by
// lanes costs less.
std::vector<Emitter::Bound> Emitter::find_cuts(const Group& group, const Index& index, std::int64_t size) const {
  constexpr std::int64_t kShortest = 64;
  constexpr std::size_t kMost = 6;
  if (size < kShortest || (segment_ && segment_->size < kShortest)) return {};
  std::set<At> values;
  for (const Root& root : group.roots) reindex(root, index, values);
  std::vector<Bound> out;
  for (const At& at : values)
    if (type(at.value).elem == Elem::i1 && !truth(at.value, at.index))
      if (const auto b = bound_of(at)) out.push_back(*b);
  if (out.size() > kMost) out.clear();
  return out;
}

// Divisions and remainders of one moving index by multiples of a number: between two of its multiples they stand still
// or move by one. The vector loop is then cut there.
std::optional<Emitter::Segment> Emitter::find_segment(const Group& group, const Index& index, std::int64_t size) const {
  constexpr std::int64_t kShortest = 8;  // shorter ones cost more than dividing lanes
  std::optional<Segment> best;
  for (const Root& root : group.roots) {
    std::set<At> values;
    reindex(root, index, values);
    for (const At& at : values) {
      const Op* op = def(at.value);
      if (op == nullptr || (op->code != Code::div && op->code != Code::rem) || !is_integer(type(at.value))) continue;
      const auto c = constant_of(op->operands[1]);
      if (!c || *c < kShortest || step_of(op->operands[0], at.index) != 1) continue;
      if (ranges_[static_cast<std::size_t>(op->operands[0])].lo < 0) continue;
      const At dividend = normal(op->operands[0], at.index);
      if (!best)
        best = Segment{dividend, *c};
      else if (best->dividend == dividend && *c < best->size && best->size % *c == 0)
        best->size = *c;
    }
  }
  if (best && size <= 1) return std::nullopt;
  return best;
}

}  // namespace passnet::tile_cpu
