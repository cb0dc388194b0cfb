#include "tile_cuda/axis.h"

#include <algorithm>
#include <numeric>

namespace passnet::tile_cuda {

using tile::Block;
using tile::Code;
using tile::Op;
using tile::Shape;
using tile::Type;
using tile::ValueId;

namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 40;  // what divides 0

std::int64_t power_in(std::int64_t x) { return x == 0 ? kMost : std::min(kMost, x & -x); }
std::int64_t times(std::int64_t a, std::int64_t b) { return a >= kMost / b ? kMost : a * b; }

class Analysis {
 public:
  Analysis(const tile::Function& f, const tile::LaunchFacts& facts, const std::vector<tile::Range>& ranges)
      : f_(f), ranges_(ranges), out_(f.types.size()), constant_(f.types.size()), known_(f.types.size()) {
    for (std::size_t i = 0; i < f.body.params.size(); ++i) {
      const ValueId p = f.body.params[i];
      if (f.type(p).pointer) at(p).all = std::max<std::int64_t>(1, facts.parameters[i].alignment);
    }
    block(f.body);
  }
  std::vector<Axes> take() { return std::move(out_); }

 private:
  Axes& at(ValueId v) { return out_[static_cast<std::size_t>(v)]; }
  const Shape& shape(ValueId v) const { return f_.type(v).shape; }

  void block(const Block& b) {
    for (const Op& op : b.ops) {
      if (op.code == Code::for_) {
        const ValueId i = op.blocks[0].params[0];
        at(i).all = std::min(at(op.operands[0]).all, at(op.operands[2]).all);
      }
      for (const Block& inner : op.blocks) block(inner);
      if (op.results.size() == 1) visit(op);
    }
  }

  // The facts of a tile of one value.
  Axes uniform(const Shape& s, std::int64_t all) const {
    Axes out;
    out.all = all;
    for (std::size_t d = 0; d < s.rank; ++d) out.dims[d] = {1, all, s[d]};
    return out;
  }

  void visit(const Op& op) {
    const ValueId r = op.results[0];
    const Type& t = f_.type(r);
    if (!t.pointer && tile::is_float(t.elem)) return;
    Axes& out = at(r);
    const auto in = [&](std::size_t i) -> const Axes& { return at(op.operands[i]); };
    switch (op.code) {
      case Code::constant:
        constant_[static_cast<std::size_t>(r)] = op.integer;
        known_[static_cast<std::size_t>(r)] = true;
        out = uniform(t.shape, power_in(op.integer));
        return;
      case Code::arange:
        out.all = 1;
        out.dims[0] = {t.shape[0], power_in(op.integer), 1};
        return;
      case Code::splat:
        share_constant(op.operands[0], r);
        out = uniform(t.shape, in(0).all);
        return;
      case Code::expand_dims: {
        out.all = in(0).all;
        for (std::size_t d = 0, from = 0; d < t.shape.rank; ++d)
          out.dims[d] = d == static_cast<std::size_t>(op.axis) ? Along{1, in(0).all, 1} : in(0).dims[from++];
        return;
      }
      case Code::broadcast: {
        out = in(0);
        const Shape& from = shape(op.operands[0]);
        for (std::size_t d = 0; d < t.shape.rank; ++d)
          if (from[d] != t.shape[d]) out.dims[d] = {1, in(0).all, t.shape[d]};
        return;
      }
      case Code::trans:
        out.all = in(0).all;
        for (std::size_t d = 0; d < t.shape.rank; ++d) out.dims[d] = in(0).dims[static_cast<std::size_t>(op.order[d])];
        return;
      case Code::reshape: return reshape(op, out);
      case Code::cast:
        if (!same_values(op)) break;
        share_constant(op.operands[0], r);
        out = in(0);
        return;
      case Code::bitcast:
        if (t.pointer) out = in(0);
        return;
      case Code::add:
      case Code::sub: return sum(op, in(0), in(1), 1, out);
      case Code::addptr: return sum(op, in(0), in(1), tile::elem_bytes(t.elem), out);
      case Code::mul:
        out.all = times(in(0).all, in(1).all);
        for (std::size_t d = 0; d < t.shape.rank; ++d) {
          const Along &a = in(0).dims[d], &b = in(1).dims[d];
          out.dims[d] = {1, times(a.divides(1), b.divides(1)), std::min(a.constancy, b.constancy)};
        }
        return;
      case Code::shl:
        if (const auto c = constant(op.operands[1]); c && *c >= 0 && *c < 32) {
          out.all = times(in(0).all, std::int64_t{1} << *c);
          for (std::size_t d = 0; d < t.shape.rank; ++d)
            out.dims[d] = {1, times(in(0).dims[d].divides(1), std::int64_t{1} << *c), in(0).dims[d].constancy};
          return;
        }
        break;
      case Code::div:
      case Code::shr:
      case Code::rem: return divide(op, out);
      case Code::bit_and:
        if (const auto c = constant(op.operands[1]); c && *c >= 0 && power_in(*c + 1) == *c + 1)
          return remainder(op, *c + 1, out);
        break;
      case Code::lt:
      case Code::ge: return compare(op, in(0), in(1), out);
      case Code::gt:
      case Code::le: return compare(op, in(1), in(0), out);
      default: break;
    }
    plain(op, out);
  }

  // Whether a cast leaves every number as it is.
  bool same_values(const Op& op) const {
    const Type &from = f_.type(op.operands[0]), &to = f_.type(op.results[0]);
    if (from.pointer || to.pointer) return true;
    if (tile::is_float(from.elem)) return false;
    const tile::Range all = tile::type_range(tile::scalar_type(to.elem)),
                      here = ranges_[static_cast<std::size_t>(op.operands[0])];
    return here.lo >= all.lo && here.hi <= all.hi;
  }

  void share_constant(ValueId from, ValueId to) {
    constant_[static_cast<std::size_t>(to)] = constant_[static_cast<std::size_t>(from)];
    known_[static_cast<std::size_t>(to)] = known_[static_cast<std::size_t>(from)];
  }
  std::optional<std::int64_t> constant(ValueId v) const {
    if (!known_[static_cast<std::size_t>(v)]) return std::nullopt;
    return constant_[static_cast<std::size_t>(v)];
  }

  // Elementwise: equal operands give equal results.
  void plain(const Op& op, Axes& out) {
    const auto kind = tile::op_row(op.code).kind;
    using tile::OpClass;
    if (kind != OpClass::unary && kind != OpClass::binary && kind != OpClass::compare && kind != OpClass::other) return;
    if (op.code == Code::dot) return;
    const Shape& s = shape(op.results[0]);
    for (std::size_t d = 0; d < s.rank; ++d) {
      std::int64_t constancy = s[d];
      for (const ValueId o : op.operands) constancy = std::min(constancy, at(o).dims[d].constancy);
      out.dims[d] = {1, 1, constancy};
    }
  }

  void sum(const Op& op, const Axes& a, const Axes& b, std::int64_t unit, Axes& out) {
    out.all = std::min(a.all, times(b.all, unit));
    const Shape& s = shape(op.results[0]);
    for (std::size_t d = 0; d < s.rank; ++d) {
      const Along &x = a.dims[d], &y = b.dims[d];
      std::int64_t run = std::min(x.contiguity, y.constancy);
      if (op.code != Code::sub) run = std::max(run, std::min(x.constancy, y.contiguity));
      out.dims[d].contiguity = run;
      out.dims[d].constancy = std::min(x.constancy, y.constancy);
      const auto first = [&](const Along& v, std::int64_t u) { return v.divides(std::min(run, v.contiguity), u); };
      out.dims[d].divisibility = std::min(first(x, op.code == Code::addptr ? unit : 1), times(first(y, 1), unit));
    }
  }

  void divide(const Op& op, Axes& out) {
    auto c = constant(op.operands[1]);
    if (c && op.code == Code::shr) c = *c >= 0 && *c < 32 ? std::optional(std::int64_t{1} << *c) : std::nullopt;
    const ValueId x = op.operands[0];
    if (!c || *c <= 0 || ranges_[static_cast<std::size_t>(x)].lo < 0) return plain(op, out);
    if (op.code == Code::rem) return remainder(op, *c, out);
    const Shape& s = shape(op.results[0]);
    const std::int64_t p = power_in(*c);
    out.all = p == *c ? std::max<std::int64_t>(1, at(x).all / p) : 1;
    for (std::size_t d = 0; d < s.rank; ++d) {
      const Along& a = at(x).dims[d];
      const std::int64_t equal = std::min({a.contiguity, a.divisibility, p});  // of one quotient
      out.dims[d] = {1, 1, std::max(a.constancy, equal)};
      if (a.contiguity == 1 && p == *c) out.dims[d].divisibility = std::max<std::int64_t>(1, a.divisibility / p);
    }
  }

  void remainder(const Op& op, std::int64_t c, Axes& out) {
    const Shape& s = shape(op.results[0]);
    const std::int64_t p = power_in(c);
    const Axes& x = at(op.operands[0]);
    out.all = std::min(x.all, p);
    for (std::size_t d = 0; d < s.rank; ++d) {
      const Along& a = x.dims[d];
      const std::int64_t run = std::min({a.contiguity, a.divisibility, p});
      out.dims[d] = {run, std::min(a.divides(run), p), a.constancy};
    }
  }

  // x < limit: where x runs and the limit is a multiple of the run, a run is all below it or all not.
  void compare(const Op& op, const Axes& x, const Axes& limit, Axes& out) {
    const Shape& s = shape(op.results[0]);
    for (std::size_t d = 0; d < s.rank; ++d) {
      const Along &a = x.dims[d], &b = limit.dims[d];
      const std::int64_t run = std::min({a.contiguity, a.divisibility, b.constancy, b.divides(1)});
      out.dims[d] = {1, 1, std::max(run, std::min(a.constancy, b.constancy))};
    }
  }

  // Sizes of 1 come and go; anything else is not followed.
  void reshape(const Op& op, Axes& out) {
    const Shape &from = shape(op.operands[0]), &to = shape(op.results[0]);
    const Axes& in = at(op.operands[0]);
    std::vector<std::size_t> a, b;
    for (std::size_t d = 0; d < from.rank; ++d)
      if (from[d] != 1) a.push_back(d);
    for (std::size_t d = 0; d < to.rank; ++d)
      if (to[d] != 1) b.push_back(d);
    out.all = in.all;
    for (std::size_t d = 0; d < to.rank; ++d) out.dims[d] = {1, in.all, 1};
    if (a.size() != b.size()) return;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (from[a[i]] == to[b[i]]) out.dims[b[i]] = in.dims[a[i]];
  }

  const tile::Function& f_;
  const std::vector<tile::Range>& ranges_;
  std::vector<Axes> out_;
  std::vector<std::int64_t> constant_;
  std::vector<bool> known_;
};

}  // namespace

std::int64_t Along::divides(std::int64_t size, std::int64_t unit) const {
  return size >= contiguity ? divisibility : std::min(divisibility, times(size, unit));
}

int Along::widest(tile::Elem elem) const {
  const std::int64_t bytes = tile::elem_bytes(elem);
  int bits = 0;
  while ((bytes << (bits + 1)) <= kVectorBytes && contiguity >= (2 << bits) &&
         divides(2 << bits, bytes) >= (bytes << (bits + 1)))
    ++bits;
  return bits;
}

std::vector<Axes> axes(const tile::Function& function, const tile::LaunchFacts& facts,
                       const std::vector<tile::Range>& ranges) {
  return Analysis(function, facts, ranges).take();
}

}  // namespace passnet::tile_cuda
