// Loops: what does not change moves out; a carried sum becomes a function of the loop variable or of a scalar.
#include "tile/simplify.h"

namespace passnet::tile {

namespace {

class Loops {
 public:
  explicit Loops(Function& f) : f_(f) {}

  bool run() {
    grow();
    collect(f_.body);
    block(f_.body);
    return changed_;
  }

 private:
  void grow() {
    inside_.resize(f_.types.size());
    uses_.resize(f_.types.size());
    defs_.resize(f_.types.size());
  }

  void collect(const Block& block) {
    for (const Op& op : block.ops) {
      for (const ValueId v : op.operands) ++uses_[static_cast<std::size_t>(v)];
      for (const Block& inner : op.blocks) collect(inner);
      if (op.results.size() == 1 && op.blocks.empty()) defs_[static_cast<std::size_t>(op.results[0])] = op;
    }
  }

  const Op* def(ValueId v, Code code) const {
    const Op& op = defs_[static_cast<std::size_t>(v)];
    return !op.results.empty() && op.code == code ? &op : nullptr;
  }
  std::optional<std::int64_t> integer(ValueId v) const {
    const Op* op = def(v, Code::constant);
    return op != nullptr && !is_float(f_.type(v).elem) ? std::optional(op->integer) : std::nullopt;
  }
  bool invariant(ValueId v) const { return !inside_[static_cast<std::size_t>(v)]; }

  void mark(const Block& block, bool value) {
    for (const ValueId v : block.params) inside_[static_cast<std::size_t>(v)] = value;
    for (const Op& op : block.ops) {
      for (const ValueId v : op.results) inside_[static_cast<std::size_t>(v)] = value;
      for (const Block& inner : op.blocks) mark(inner, value);
    }
  }

  void block(Block& block) {
    for (std::size_t i = 0; i < block.ops.size(); ++i) {
      for (Block& inner : block.ops[i].blocks) this->block(inner);
      if (block.ops[i].code != Code::for_ && block.ops[i].code != Code::while_) continue;
      for (const Block& inner : block.ops[i].blocks) mark(inner, true);
      before_.clear();
      after_.clear();
      hoist(block.ops[i]);
      if (block.ops[i].code == Code::for_)
        for (std::size_t k = block.ops[i].results.size(); k-- > 0;) carried(block.ops[i], k);
      grow();
      for (const Block& inner : block.ops[i].blocks) mark(inner, false);
      const std::size_t added = before_.size() + after_.size();
      const auto at = block.ops.begin() + static_cast<std::ptrdiff_t>(i);
      block.ops.insert(at + 1, std::move_iterator(after_.begin()), std::move_iterator(after_.end()));
      block.ops.insert(block.ops.begin() + static_cast<std::ptrdiff_t>(i), std::move_iterator(before_.begin()),
                       std::move_iterator(before_.end()));
      i += added;
    }
  }

  // Pure ops on scalars, constants and splats of what does not change in the loop go before it.
  void hoist(Op& loop) {
    for (Block& body : loop.blocks) {
      std::vector<Op> kept;
      for (Op& op : body.ops) {
        bool moves = is_pure(op.code) && op.results.size() == 1 &&
                     (!f_.type(op.results[0]).is_tile() || op.code == Code::constant || op.code == Code::splat);
        for (const ValueId v : op.operands) moves = moves && invariant(v) && !f_.type(v).is_tile();
        if (moves) {
          inside_[static_cast<std::size_t>(op.results[0])] = false;
          changed_ = true;
        }
        (moves ? before_ : kept).push_back(std::move(op));
      }
      body.ops = std::move(kept);
    }
  }

  ValueId emit(std::vector<Op>& to, Code code, std::vector<ValueId> operands, Type type, ValueId result = kNoValue) {
    Op op;
    op.code = code;
    op.operands = std::move(operands);
    op.source = source_;
    if (result == kNoValue) result = f_.add_value(type);
    op.results = {result};
    to.push_back(std::move(op));
    return result;
  }
  ValueId emit_constant(std::vector<Op>& to, Elem elem, std::int64_t value) {
    const ValueId v = emit(to, Code::constant, {}, scalar_type(elem));
    to.back().integer = integer_of(elem, bits_of_integer(elem, value));
    return v;
  }
  ValueId emit_cast(std::vector<Op>& to, ValueId v, Elem elem) {
    const Type type = f_.type(v);
    return type.elem == elem ? v : emit(to, Code::cast, {v}, with_elem(type, elem));
  }

  // A carried value that every turn adds u to.
  struct Sum {
    ValueId start;
    ValueId u = kNoValue;
    ValueId scalar = kNoValue;             // what u is everywhere, if anything; of its own type
    std::optional<std::int64_t> constant;  // u's value, if one
    bool negative = false;                 // u is subtracted
    Type type;
    Elem elem = Elem::i64;  // sums are taken in: i64 for pointers, which wrap alike
  };

  std::optional<Sum> sum_of(const Op& loop, std::size_t k) const {
    const ValueId p = loop.blocks[0].params[k + 1];
    const Op& y = defs_[static_cast<std::size_t>(loop.blocks[0].ops.back().operands[k])];
    Sum out;
    out.start = loop.operands[3 + k];
    out.type = f_.type(p);
    if (y.results.empty() || y.operands.size() != 2) return std::nullopt;
    if (y.code == Code::addptr ? !out.type.pointer : is_float(out.type.elem) || out.type.elem == Elem::i1)
      return std::nullopt;
    if (y.operands[0] == p && (y.code == Code::add || y.code == Code::sub || y.code == Code::addptr))
      out.u = y.operands[1];
    else if (y.operands[1] == p && y.code == Code::add)
      out.u = y.operands[0];
    if (out.u == kNoValue || out.u == p) return std::nullopt;
    out.negative = y.code == Code::sub;
    if (!out.type.pointer) out.elem = out.type.elem;
    out.constant = integer(out.u);
    if (!f_.type(out.u).is_tile())
      out.scalar = out.u;
    else if (const Op* splat = def(out.u, Code::splat))
      out.scalar = splat->operands[0];
    if (out.scalar != kNoValue && !out.constant) out.constant = integer(out.scalar);
    return out;
  }

  // start + offset, as `result`
  void emit_sum(std::vector<Op>& to, const Sum& sum, ValueId offset, ValueId result) {
    if (sum.type.is_tile() && !f_.type(offset).is_tile()) {
      Type tile = with_elem(sum.type, sum.elem);
      offset = emit(to, Code::splat, {offset}, tile);
    }
    const Code code = sum.type.pointer ? Code::addptr : sum.negative ? Code::sub : Code::add;
    emit(to, code, {sum.start, offset}, sum.type, result);
  }

  // times * u; all in sum.elem, where products wrap as repeated sums do
  ValueId emit_times(std::vector<Op>& to, const Sum& sum, ValueId times) {
    if (sum.constant)
      return emit(to, Code::mul, {times, emit_constant(to, sum.elem, *sum.constant)}, scalar_type(sum.elem));
    if (sum.scalar != kNoValue)
      return emit(to, Code::mul, {times, emit_cast(to, sum.scalar, sum.elem)}, scalar_type(sum.elem));
    const Type tile = with_elem(sum.type, sum.elem);
    return emit(to, Code::mul, {emit(to, Code::splat, {times}, tile), emit_cast(to, sum.u, sum.elem)}, tile);
  }

  void carried(Op& loop, std::size_t k) {
    const auto sum = sum_of(loop, k);
    if (!sum) return;
    grow();
    const bool fixed = sum->constant || invariant(sum->scalar != kNoValue ? sum->scalar : sum->u);
    if (!fixed && sum->scalar == kNoValue) return;
    source_ = defs_[static_cast<std::size_t>(loop.blocks[0].ops.back().operands[k])].source;
    if (fixed && over_variable(loop, k, *sum)) return;
    if (sum->type.is_tile()) over_counter(loop, k, *sum, fixed);
  }

  // v = start + (i - lo) / step * u. The division is exact, and done here: step is 1, -1 or divides u.
  bool over_variable(Op& loop, std::size_t k, const Sum& sum) {
    const ValueId lo = loop.operands[0];
    const Elem elem = f_.type(lo).elem;
    const auto begin = integer(lo), end = integer(loop.operands[1]), step = integer(loop.operands[2]);
    if (!step || *step == 0 || elem == Elem::u64) return false;
    const bool unit = *step == 1 || *step == -1;
    if (!unit && !(sum.constant && *sum.constant % *step == 0)) return false;
    const ValueId result = loop.results[k];
    std::optional<std::int64_t> trips;
    if (begin && end)
      trips =
          trip_count(elem, bits_of_integer(elem, *begin), bits_of_integer(elem, *end), bits_of_integer(elem, *step));
    if (uses_[static_cast<std::size_t>(result)] > 0 && !trips) return false;

    Block& body = loop.blocks[0];
    std::vector<Op> front;
    const Type type = scalar_type(sum.elem);
    ValueId turns =
        emit(front, Code::sub, {emit_cast(front, body.params[0], sum.elem), emit_cast(front, lo, sum.elem)}, type);
    Sum scaled = sum;
    if (unit && *step == -1) turns = emit(front, Code::neg, {turns}, type);
    if (!unit) scaled.constant = *sum.constant / *step;
    emit_sum(front, sum, emit_times(front, scaled, turns), body.params[k + 1]);
    if (trips) emit_sum(after_, sum, emit_times(after_, sum, emit_constant(after_, sum.elem, *trips)), result);
    drop(loop, k);
    body.ops.insert(body.ops.begin(), std::move_iterator(front.begin()), std::move_iterator(front.end()));
    return true;
  }

  // v = start + c, c a carried scalar that u is added to; for a tile u, c counts the turns and v = start + c * u
  void over_counter(Op& loop, std::size_t k, const Sum& sum, bool fixed) {
    Block& body = loop.blocks[0];
    const Type type = scalar_type(sum.elem);
    const bool turns = sum.scalar == kNoValue && !sum.constant;
    const ValueId c = f_.add_value(type), c_end = f_.add_value(type);
    const ValueId zero = emit_constant(before_, sum.elem, 0);
    std::vector<Op> front;
    emit_sum(front, sum, turns ? emit_times(front, sum, c) : c, body.params[k + 1]);
    emit_sum(after_, sum, turns ? emit_times(after_, sum, c_end) : c_end, loop.results[k]);
    Op yield = std::move(body.ops.back());
    body.ops.pop_back();
    ValueId u;
    if (turns || sum.constant)
      u = emit_constant(before_, sum.elem, turns ? 1 : *sum.constant);
    else
      u = emit_cast(fixed ? before_ : body.ops, sum.scalar, sum.elem);
    const ValueId next = emit(body.ops, Code::add, {c, u}, type);
    body.ops.push_back(std::move(yield));
    drop(loop, k);
    loop.operands.push_back(zero);
    loop.results.push_back(c_end);
    body.params.push_back(c);
    body.ops.back().operands.push_back(next);
    body.ops.insert(body.ops.begin(), std::move_iterator(front.begin()), std::move_iterator(front.end()));
  }

  // The k-th carried value is no longer one; its uses are served by new ops.
  void drop(Op& loop, std::size_t k) {
    const auto at = static_cast<std::ptrdiff_t>(k);
    loop.operands.erase(loop.operands.begin() + 3 + at);
    loop.results.erase(loop.results.begin() + at);
    Block& body = loop.blocks[0];
    body.params.erase(body.params.begin() + 1 + at);
    std::vector<ValueId>& yielded = body.ops.back().operands;
    yielded.erase(yielded.begin() + at);
    changed_ = true;
  }

  Function& f_;
  std::vector<bool> inside_;        // by value: defined in the loop at hand
  std::vector<std::int32_t> uses_;  // by value
  std::vector<Op> defs_;            // by value; without results: a parameter or a control op's
  std::vector<Op> before_, after_;  // new ops around the loop at hand
  Source source_;
  bool changed_ = false;
};

}  // namespace

bool simplify_loops(Function& f) { return Loops(f).run(); }

}  // namespace passnet::tile
