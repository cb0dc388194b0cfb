// One function per kind of op gives the result's range from the operands'. All bounds are computed in 128 bits and then
// held against the type. A loop's carried values are first guessed as what they begin with; where a turn of the loop
// leaves the guess, they are what they begin with or what a turn makes of anything, narrowed by sums over the turns.
#include "tile/ranges.h"

#include <algorithm>
#include <bit>

#include "tile/simplify.h"

namespace passnet::tile {

namespace {

__extension__ using Wide = __int128;

constexpr int kGuesses = 4;       // of the carried values of one loop
constexpr int kCarefulDepth = 3;  // loops deeper than this take one pass: passes multiply with the depth

Range hull(const Range& a, const Range& b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi), a.may_wrap || b.may_wrap};
}
Range meet(const Range& a, const Range& b) {
  const Range out{std::max(a.lo, b.lo), std::min(a.hi, b.hi), a.may_wrap && b.may_wrap};
  return out.lo <= out.hi ? out : a;
}
bool contains(const Range& outer, const Range& inner) { return outer.lo <= inner.lo && inner.hi <= outer.hi; }

// The range lo..hi where the type holds it, all of the type otherwise.
Range fit(const Type& type, Wide lo, Wide hi) {
  Range all = type_range(type);
  if (type.elem == Elem::u64 && lo >= 0 && hi <= INT64_MAX)
    return {static_cast<std::int64_t>(lo), static_cast<std::int64_t>(hi)};
  if (type.elem != Elem::u64 && lo >= all.lo && hi <= all.hi)
    return {static_cast<std::int64_t>(lo), static_cast<std::int64_t>(hi)};
  all.may_wrap = true;
  return all;
}

// Whether the numbers are known: an unknown u64 has a range that is not its numbers'.
bool known(const Type& type, const Range& r) { return type.elem != Elem::u64 || r.lo >= 0; }

Range corners(const Type& type, std::initializer_list<Wide> products) {
  return fit(type, std::min(products), std::max(products));
}

Wide ones_above(std::int64_t x) { return (Wide{1} << std::bit_width(static_cast<std::uint64_t>(x))) - 1; }

Range quotient(const Type& type, const Range& a, const Range& b) {
  if (b.lo > 0) return corners(type, {Wide{a.lo} / b.lo, Wide{a.lo} / b.hi, Wide{a.hi} / b.lo, Wide{a.hi} / b.hi});
  const Wide most = std::max(a.hi < 0 ? -Wide{a.hi} : Wide{a.hi}, a.lo < 0 ? -Wide{a.lo} : Wide{a.lo});
  return fit(type, b.lo < 0 || a.lo < 0 ? -most : Wide{0}, most);
}

Range remainder(const Type& type, const Range& a, const Range& b) {
  if (a.lo >= 0 && a.hi < b.lo) return {a.lo, a.hi};
  const Wide most = std::max(b.hi < 0 ? -Wide{b.hi} : Wide{b.hi}, b.lo < 0 ? -Wide{b.lo} : Wide{b.lo});
  const Wide below = std::max<Wide>(most - 1, 0);
  return fit(type, a.lo < 0 ? std::max<Wide>(a.lo, -below) : 0, a.hi > 0 ? std::min<Wide>(a.hi, below) : 0);
}

Range bits(const Type& type, Code code, const Range& a, const Range& b) {
  const bool low = a.lo >= 0 && b.lo >= 0;
  if (type.elem == Elem::i1) {
    if (code == Code::bit_and) return {a.lo & b.lo, a.hi & b.hi};
    if (code == Code::bit_or) return {a.lo | b.lo, a.hi | b.hi};
    return a.lo == a.hi && b.lo == b.hi ? Range{a.lo ^ b.lo, a.lo ^ b.lo} : Range{0, 1};
  }
  if (code == Code::bit_and) {
    if (low) return {0, std::min(a.hi, b.hi)};
    if (a.lo >= 0 || b.lo >= 0) return {0, a.lo >= 0 ? a.hi : b.hi};
    return type_range(type);
  }
  if (!low) return type_range(type);
  const Wide most = std::max(ones_above(a.hi), ones_above(b.hi));
  return fit(type, code == Code::bit_or ? std::max(a.lo, b.lo) : 0, most);
}

Range shifted(const Type& type, Code code, const Range& a, const Range& b) {
  const std::int64_t width = elem_row(type.elem).bits;
  if (code == Code::shl) {
    if (b.lo < 0 || b.hi >= width || b.hi >= 63) return {type_range(type).lo, type_range(type).hi, true};
    const Wide least = Wide{1} << b.lo, most = Wide{1} << b.hi;
    return corners(type, {a.lo * least, a.lo * most, a.hi * least, a.hi * most});
  }
  if (a.lo >= 0)
    return {b.lo < 0 || b.hi >= width ? 0 : a.lo >> std::min<std::int64_t>(b.hi, 63),
            b.lo < 0 ? a.hi : a.hi >> std::min<std::int64_t>(b.lo, 63)};
  return {a.lo, std::max<std::int64_t>(a.hi, -1)};
}

Range binary(Code code, const Type& type, const Range& a, const Range& b) {
  if (!known(type, a) || !known(type, b)) {
    // Of an unknown u64 only what the other operand bounds is known.
    if (code == Code::rem && known(type, b)) return {0, std::max<std::int64_t>(b.hi - 1, 0)};
    if (code == Code::bit_and && (known(type, a) || known(type, b))) return {0, known(type, a) ? a.hi : b.hi};
    if ((code == Code::min || code == Code::min_nan) && (known(type, a) || known(type, b)))
      return {0, known(type, a) ? a.hi : b.hi};
    Range all = type_range(type);
    all.may_wrap = code == Code::add || code == Code::sub || code == Code::mul || code == Code::shl;
    return all;
  }
  switch (code) {
    case Code::add: return fit(type, Wide{a.lo} + b.lo, Wide{a.hi} + b.hi);
    case Code::sub: return fit(type, Wide{a.lo} - b.hi, Wide{a.hi} - b.lo);
    case Code::mul: return corners(type, {Wide{a.lo} * b.lo, Wide{a.lo} * b.hi, Wide{a.hi} * b.lo, Wide{a.hi} * b.hi});
    case Code::div: return quotient(type, a, b);
    case Code::rem: return remainder(type, a, b);
    case Code::min:
    case Code::min_nan: return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    case Code::max:
    case Code::max_nan: return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    case Code::bit_and:
    case Code::bit_or:
    case Code::bit_xor: return bits(type, code, a, b);
    case Code::shl:
    case Code::shr: return shifted(type, code, a, b);
    default: return type_range(type);
  }
}

Range compared(Code code, const Type& type, const Range& a, const Range& b) {
  if (is_float(type.elem) || type.pointer || !known(type, a) || !known(type, b)) return {0, 1};
  const auto truth = [](bool always, bool never) { return always ? Range{1, 1} : never ? Range{0, 0} : Range{0, 1}; };
  switch (code) {
    case Code::lt: return truth(a.hi < b.lo, a.lo >= b.hi);
    case Code::le: return truth(a.hi <= b.lo, a.lo > b.hi);
    case Code::gt: return truth(a.lo > b.hi, a.hi <= b.lo);
    case Code::ge: return truth(a.lo >= b.hi, a.hi < b.lo);
    case Code::eq: return truth(a.lo == a.hi && a == Range{b.lo, b.hi, a.may_wrap}, a.hi < b.lo || a.lo > b.hi);
    default: return truth(a.hi < b.lo || a.lo > b.hi, a.lo == a.hi && b.lo == b.hi && a.lo == b.lo);
  }
}

Range unary(Code code, const Type& type, const Range& a) {
  const bool is_signed = elem_row(type.elem).is_signed;
  if (is_float(type.elem) || !known(type, a)) return type_range(type);
  switch (code) {
    case Code::neg: return fit(type, -Wide{a.hi}, -Wide{a.lo});
    case Code::bit_not:
      if (type.elem == Elem::u64) return type_range(type);
      return is_signed ? Range{-1 - a.hi, -1 - a.lo} : Range{type_range(type).hi - a.hi, type_range(type).hi - a.lo};
    case Code::abs: {
      const Wide low = a.lo < 0 ? -Wide{a.lo} : Wide{a.lo}, high = a.hi < 0 ? -Wide{a.hi} : Wide{a.hi};
      return fit(type, a.lo <= 0 && a.hi >= 0 ? 0 : std::min(low, high), std::max(low, high));
    }
    default: return type_range(type);
  }
}

Range converted(const Type& from, const Type& to, const Range& a) {
  if (from.pointer || to.pointer || is_float(to.elem)) return type_range(to);
  if (to.elem == Elem::i1) {
    if (is_float(from.elem) || !known(from, a)) return {0, 1};
    return {a.lo > 0 || a.hi < 0 ? 1 : 0, a.lo == 0 && a.hi == 0 ? 0 : 1};
  }
  return is_float(from.elem) || !known(from, a) ? type_range(to) : fit(to, a.lo, a.hi);
}

class Analysis {
 public:
  Analysis(const Function& f, const LaunchFacts& facts) : f_(f), facts_(facts), ranges_(f.types.size()) {
    for (std::size_t v = 0; v < ranges_.size(); ++v) ranges_[v] = type_range(f.types[v]);
  }

  std::vector<Range> run() {
    for (std::size_t i = 0; i < f_.body.params.size() && i < facts_.parameters.size(); ++i) {
      const Type& t = f_.type(f_.body.params[i]);
      if (const auto& integer = facts_.parameters[i].integer; integer && !t.pointer && !is_float(t.elem))
        set(f_.body.params[i], fit(t, *integer, *integer));
    }
    block(f_.body, 0);
    return std::move(ranges_);
  }

 private:
  void set(ValueId v, const Range& r) { ranges_[static_cast<std::size_t>(v)] = r; }
  const Range& get(ValueId v) const { return ranges_[static_cast<std::size_t>(v)]; }
  const Range& in(const Op& op, std::size_t i) const { return get(op.operands[i]); }
  const Type& in_type(const Op& op, std::size_t i) const { return f_.type(op.operands[i]); }

  void block(const Block& block, int depth) {
    for (const Op& op : block.ops) {
      if (op.code == Code::for_) {
        for_loop(op, depth);
      } else if (op.code == Code::while_) {
        while_loop(op, depth);
      } else if (op.code == Code::if_) {
        branch(op, depth);
      } else if (!op.results.empty()) {
        const Type& t = f_.type(op.result());
        set(op.result(), is_float(t.elem) || t.pointer ? type_range(t) : result(op, t));
      }
    }
  }

  Range result(const Op& op, const Type& t) const {
    switch (op_row(op.code).kind) {
      case OpClass::leaf: return leaf(op, t);
      case OpClass::shape: return in(op, 0);
      case OpClass::binary: return binary(op.code, t, in(op, 0), in(op, 1));
      case OpClass::compare: return compared(op.code, in_type(op, 0), in(op, 0), in(op, 1));
      case OpClass::reduction: return reduced(op, t);
      case OpClass::unary:
        if (op.code == Code::cast) return converted(in_type(op, 0), t, in(op, 0));
        if (op.code == Code::bitcast) {  // the same number where both types have it
          const Type& from = in_type(op, 0);
          const bool same = !is_float(from.elem) && known(from, in(op, 0)) && contains(type_range(t), in(op, 0)) &&
                            (t.elem != Elem::u64 || in(op, 0).lo >= 0);
          return same ? in(op, 0) : type_range(t);
        }
        return unary(op.code, t, in(op, 0));
      default: break;
    }
    if (op.code == Code::select) {
      if (in(op, 0).lo == in(op, 0).hi) return in(op, in(op, 0).lo != 0 ? 1 : 2);
      return hull(in(op, 1), in(op, 2));
    }
    Range all = type_range(t);
    all.may_wrap = op.code == Code::dot;
    return all;
  }

  Range leaf(const Op& op, const Type& t) const {
    const std::int64_t size = facts_.grid[static_cast<std::size_t>(op.axis)];
    switch (op.code) {
      case Code::program_id: return {0, std::max<std::int64_t>(size - 1, 0)};
      case Code::num_programs: return {size, size};
      case Code::arange: return {op.integer, op.integer + t.shape[0] - 1};
      default: return t.elem == Elem::u64 && op.integer < 0 ? type_range(t) : Range{op.integer, op.integer};
    }
  }

  Range reduced(const Op& op, const Type& t) const {
    const Type& from = in_type(op, 0);
    const std::int64_t n = from.shape[static_cast<std::size_t>(op.axis)];
    const Range& a = in(op, 0);
    switch (op.combine) {
      case Combine::argmin:
      case Combine::argmax: return {0, n - 1};
      case Combine::min:
      case Combine::max:
      case Combine::min_nan:
      case Combine::max_nan: return {a.lo, a.hi};
      case Combine::bit_and:
        return known(from, a) && a.lo >= 0 ? Range{t.elem == Elem::i1 ? a.lo : 0, a.hi} : type_range(t);
      case Combine::bit_or:
        if (t.elem == Elem::i1) return {a.lo, a.hi};
        [[fallthrough]];
      case Combine::bit_xor: return known(from, a) && a.lo >= 0 ? fit(t, 0, ones_above(a.hi)) : type_range(t);
      case Combine::sum:
        if (!known(from, a)) break;
        // A partial sum that wraps comes back where the whole does not: only the result counts.
        if (op.code == Code::reduce) return fit(t, Wide{a.lo} * n, Wide{a.hi} * n);
        return fit(t, std::min(Wide{a.lo}, Wide{a.lo} * n), std::max(Wide{a.hi}, Wide{a.hi} * n));
      default: break;
    }
    return {type_range(t).lo, type_range(t).hi, true};
  }

  void branch(const Op& op, int depth) {
    for (const Block& inner : op.blocks) block(inner, depth);
    const Range& condition = in(op, 0);
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      const Range a = get(op.blocks[0].ops.back().operands[i]), b = get(op.blocks[1].ops.back().operands[i]);
      set(op.results[i], condition.lo == 1 ? a : condition.hi == 0 ? b : hull(a, b));
    }
  }

  // How often a for can run: least and most.
  Range trips(const Op& op) const {
    const Elem elem = in_type(op, 0).elem;
    const Range &lo = in(op, 0), &hi = in(op, 1), &step = in(op, 2);
    const auto count = [&](std::int64_t from, std::int64_t to, std::int64_t by) {
      return trip_count(elem, bits_of_integer(elem, from), bits_of_integer(elem, to), bits_of_integer(elem, by))
          .value_or(INT64_MAX);
    };
    if (elem == Elem::u64) return {0, INT64_MAX};
    if (step.lo > 0) return {count(lo.hi, hi.lo, step.hi), count(lo.lo, hi.hi, step.lo)};
    if (step.hi < 0) return {count(lo.lo, hi.hi, step.lo), count(lo.hi, hi.lo, step.hi)};
    return {0, INT64_MAX};
  }

  Range variable(const Op& op, const Range& turns) const {
    const Type& t = in_type(op, 0);
    const Range &lo = in(op, 0), &hi = in(op, 1), &step = in(op, 2);
    if (!known(t, lo) || !known(t, hi) || turns.hi == 0) return turns.hi == 0 ? lo : type_range(t);
    const bool exact = lo.lo == lo.hi && hi.lo == hi.hi && step.lo == step.hi;
    if (exact && step.lo != 0) {
      const Wide last = lo.lo + Wide{turns.hi - 1} * step.lo;
      return fit(t, std::min<Wide>(lo.lo, last), std::max<Wide>(lo.lo, last));
    }
    if (step.lo > 0) return {lo.lo, std::max(lo.lo, hi.hi - 1)};
    if (step.hi < 0) return {std::min(lo.hi, hi.lo + 1), lo.hi};
    return {std::min(lo.lo, hi.lo), std::max(lo.hi, hi.hi)};
  }

  // What a value that each turn adds u to is after `turns` turns.
  static Range summed(const Type& t, const Range& start, const Range& u, const Range& turns, bool subtract) {
    const Wide least = subtract ? -Wide{u.hi} : Wide{u.lo}, most = subtract ? -Wide{u.lo} : Wide{u.hi};
    constexpr Wide kFar = Wide{1} << 62;  // products stay inside 128 bits
    if (turns.hi > kFar) return type_range(t);
    return fit(t, start.lo + std::min(least * turns.lo, least * turns.hi),
               start.hi + std::max(most * turns.lo, most * turns.hi));
  }

  const Op* sum_in(const Block& body, ValueId p, ValueId y) const {
    for (const Op& op : body.ops)
      if (op.result() == y && !op.results.empty() && (op.code == Code::add || op.code == Code::sub) &&
          (op.operands[0] == p || (op.code == Code::add && op.operands[1] == p)))
        return &op;
    return nullptr;
  }

  // Goes through the loop's blocks until the ranges of the carried values hold at the start of every turn.
  void carried(const Op& op, std::size_t body_at, std::size_t skip, const Range& turns, int depth) {
    const Block& body = op.blocks[body_at];
    const std::size_t n = op.results.size();
    const auto yielded = [&](std::size_t k) { return get(body.ops.back().operands[k]); };
    std::vector<Range> now(n);
    const auto pass = [&] {
      for (const Block& inner : op.blocks) {
        for (std::size_t k = 0; k < n; ++k) set(inner.params[k + skip], now[k]);
        block(inner, depth + 1);
      }
    };
    const auto begin = [&](std::size_t k) { return in(op, op.operands.size() - n + k); };
    for (std::size_t k = 0; k < n; ++k) now[k] = begin(k);
    // First every range grows by what a turn yields, then those that still grow take all of their type, then all do.
    bool holds = false;
    for (int guess = depth < kCarefulDepth ? 0 : kGuesses; !holds; ++guess) {
      if (guess == kGuesses)
        for (std::size_t k = 0; k < n; ++k) now[k] = type_range(f_.type(op.results[k]));
      pass();
      holds = true;
      for (std::size_t k = 0; k < n; ++k) {
        if (contains(now[k], yielded(k))) continue;
        holds = false;
        now[k] = guess < kGuesses / 2 ? hull(now[k], yielded(k)) : type_range(f_.type(op.results[k]));
      }
    }
    for (int round = 0; round < (depth < kCarefulDepth ? 2 : 0); ++round) {
      for (std::size_t k = 0; k < n; ++k) {
        const ValueId p = body.params[k + skip];
        Range narrow = hull(begin(k), yielded(k));
        if (const Op* sum = skip == 1 ? sum_in(body, p, body.ops.back().operands[k]) : nullptr) {
          const Type& t = f_.type(p);
          const Range& u = get(sum->operands[sum->operands[0] == p ? 1 : 0]);
          if (turns.hi > 0 && known(t, u) && known(t, begin(k)) && sum->operands[0] != sum->operands[1])
            narrow = meet(narrow, summed(t, begin(k), u, {0, turns.hi - 1}, sum->code == Code::sub));
        }
        now[k] = meet(now[k], narrow);
      }
      pass();
    }
  }

  void for_loop(const Op& op, int depth) {
    const Range turns = trips(op);
    const Block& body = op.blocks[0];
    set(body.params[0], variable(op, turns));
    carried(op, 0, 1, turns, depth);
    for (std::size_t k = 0; k < op.results.size(); ++k) {
      const Range begin = in(op, 3 + k), end = get(body.ops.back().operands[k]);
      set(op.results[k], turns.hi == 0 ? begin : turns.lo > 0 ? end : hull(begin, end));
    }
  }

  void while_loop(const Op& op, int depth) {
    carried(op, 1, 0, {0, INT64_MAX}, depth);
    for (std::size_t k = 0; k < op.results.size(); ++k)
      set(op.results[k], hull(in(op, k), get(op.blocks[1].ops.back().operands[k])));
  }

  const Function& f_;
  const LaunchFacts& facts_;
  std::vector<Range> ranges_;
};

}  // namespace

Range type_range(const Type& type) {
  if (type.pointer || is_float(type.elem) || type.elem == Elem::u64 || type.elem == Elem::i64) return {};
  const int bits = elem_row(type.elem).bits;
  if (!elem_row(type.elem).is_signed) return {0, (std::int64_t{1} << bits) - 1};
  return {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
}

std::vector<Range> ranges(const Function& function, const LaunchFacts& facts) {
  return Analysis(function, facts).run();
}

namespace {

bool defines(const Block& block, ValueId v) {
  const auto has = [v](const std::vector<ValueId>& values) {
    return std::find(values.begin(), values.end(), v) != values.end();
  };
  return has(block.params) || std::any_of(block.ops.begin(), block.ops.end(), [&](const Op& op) {
           return has(op.results) || std::any_of(op.blocks.begin(), op.blocks.end(),
                                                 [v](const Block& inner) { return defines(inner, v); });
         });
}

// Ops whose result the ranges give, and loops whose turns they do.
class Decide {
 public:
  Decide(Function& f, const LaunchFacts& facts) : f_(f), ranges_(ranges(f, facts)), same_(f.types.size()) {
    for (std::size_t v = 0; v < same_.size(); ++v) same_[v] = static_cast<ValueId>(v);
  }

  bool run() {
    block(f_.body);
    return changed_;
  }

 private:
  const Range& get(ValueId v) const { return ranges_[static_cast<std::size_t>(v)]; }

  void block(Block& block) {
    for (Op& op : block.ops) {
      for (ValueId& v : op.operands) v = same_[static_cast<std::size_t>(v)];
      for (Block& inner : op.blocks) this->block(inner);
      if (op.code == Code::while_) count(op);
      if (op.results.size() != 1 || !is_pure(op.code) || op.code == Code::constant) continue;
      const Type& t = f_.type(op.result());
      if (t.pointer || is_float(t.elem)) continue;
      if (const Range& r = get(op.result()); r.lo == r.hi) {
        Op constant;
        constant.results = op.results;
        constant.integer = r.lo;
        constant.source = op.source;
        op = std::move(constant);
        changed_ = true;
      } else if (const ValueId same = operand(op, t); same != kNoValue) {
        same_[static_cast<std::size_t>(op.result())] = same;
        changed_ = true;
      }
    }
  }

  // `while i < n: ...; i += step` is a for, if n and step stay what they are and i never leaves its type. The for still
  // carries i, which simplify_loops makes a function of the for's own variable.
  void count(Op& loop) {
    const Block& test = loop.blocks[0];
    Block& body = loop.blocks[1];
    if (test.ops.size() != 2 || test.ops[0].result() != test.ops[1].operands[0]) return;
    const Op& compare = test.ops[0];
    if (compare.code != Code::lt && compare.code != Code::gt) return;
    for (std::size_t k = 0; k < loop.results.size(); ++k) {
      const auto i = std::find(compare.operands.begin(), compare.operands.end(), test.params[k]);
      if (i == compare.operands.end()) continue;
      const bool first = i == compare.operands.begin(), up = first == (compare.code == Code::lt);
      const ValueId bound = compare.operands[first ? 1 : 0], param = body.params[k];
      const ValueId next = body.ops.back().operands[k];
      const auto sum = std::find_if(body.ops.begin(), body.ops.end(), [&](const Op& op) {
        return op.code == Code::add && op.result() == next && (op.operands[0] == param || op.operands[1] == param);
      });
      if (sum == body.ops.end()) return;
      const ValueId step = sum->operands[sum->operands[0] == param ? 1 : 0];
      for (const ValueId v : {bound, step})
        if (defines(test, v) || defines(body, v)) return;
      const Type type = f_.type(param);
      const Range all = type_range(type), by = get(step), end = get(bound);
      if (type.elem == Elem::u64 || (up ? by.lo < 1 || end.hi > all.hi - by.hi : by.hi > -1 || end.lo < all.lo - by.lo))
        return;
      body.params.insert(body.params.begin(), f_.add_value(type, f_.names[static_cast<std::size_t>(param)]));
      loop.code = Code::for_;
      loop.operands.insert(loop.operands.begin(), {loop.operands[k], bound, step});
      loop.blocks.erase(loop.blocks.begin());
      changed_ = true;
      return;
    }
  }

  // The operand that the op's result always is.
  ValueId operand(const Op& op, const Type& t) const {
    if (op.operands.empty() || is_float(f_.type(op.operands[0]).elem) || f_.type(op.operands[0]).pointer)
      return kNoValue;
    const Range& a = get(op.operands[0]);
    const Range& b = get(op.operands[op.operands.size() > 1 ? 1 : 0]);
    if (t.elem == Elem::u64 && (a.lo < 0 || b.lo < 0)) return kNoValue;
    switch (op.code) {
      case Code::rem: return a.lo >= 0 && a.hi < b.lo ? op.operands[0] : kNoValue;  // 0 <= a < b: a % b = a
      case Code::abs: return a.lo >= 0 ? op.operands[0] : kNoValue;
      case Code::min: return a.hi <= b.lo ? op.operands[0] : b.hi <= a.lo ? op.operands[1] : kNoValue;
      case Code::max: return a.lo >= b.hi ? op.operands[0] : b.lo >= a.hi ? op.operands[1] : kNoValue;
      default: return kNoValue;
    }
  }

  Function& f_;
  std::vector<Range> ranges_;
  std::vector<ValueId> same_;
  bool changed_ = false;
};

}  // namespace

void simplify_ranges(Function& function, const LaunchFacts& facts) {
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds && Decide(function, facts).run(); ++round) simplify(function);
}

}  // namespace passnet::tile
