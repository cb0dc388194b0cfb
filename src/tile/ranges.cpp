#include "tile/ranges.h"
#include <algorithm>
#include <limits>
namespace passnet::tile {
namespace {
__extension__ typedef __int128 Wide;
Range whole(Elem e) {
  Range r; const ElemRow& row = elem_row(e);
  if (row.floating) return r;
  if (row.is_signed) { r.lo = row.bits == 64 ? INT64_MIN : -(std::int64_t{1} << (row.bits - 1)); r.hi = row.bits == 64 ? INT64_MAX : (std::int64_t{1} << (row.bits - 1)) - 1; }
  else { r.lo = row.bits == 64 ? INT64_MIN : 0; r.hi = row.bits == 64 ? INT64_MAX : (std::int64_t{1} << row.bits) - 1; }
  return r;
}
struct Walk {
  const Function& f; const LaunchFacts& facts; std::vector<Range>& out;
  Range& at(ValueId v) { return out[static_cast<std::size_t>(v)]; }
  Range fit(Wide lo, Wide hi, Elem e, bool wrapped) {
    const Range w = whole(e);
    if (lo < w.lo || hi > w.hi) return w;
    return {static_cast<std::int64_t>(lo), static_cast<std::int64_t>(hi), wrapped};
  }
  void block(const Block& b) {
    for (const Op& op : b.ops) {
      for (const ValueId r : op.results) at(r) = whole(f.type(r).elem);
      if (op.results.size() == 1 && !is_float(f.type(op.result()).elem) && !f.type(op.result()).pointer) at(op.result()) = one(op);
      if (op.code == Code::for_) {
        const Range lo = at(op.operands[0]), hi = at(op.operands[1]), st = at(op.operands[2]);
        Range iv = whole(f.type(op.blocks[0].params[0]).elem);
        if (st.lo > 0 && lo.lo <= hi.hi) iv = {lo.lo, std::max(lo.lo, hi.hi - 1), false};
        at(op.blocks[0].params[0]) = iv;
        for (std::size_t k = 1; k < op.blocks[0].params.size(); ++k) at(op.blocks[0].params[k]) = whole(f.type(op.blocks[0].params[k]).elem);
      } else for (const Block& i : op.blocks) for (const ValueId p : i.params) at(p) = whole(f.type(p).elem);
      for (const Block& i : op.blocks) block(i);
    }
  }
  Range one(const Op& op) {
    const Elem e = f.type(op.result()).elem;
    const Range a = op.operands.empty() ? Range{} : at(op.operands[0]);
    const Range b = op.operands.size() < 2 ? Range{} : at(op.operands[1]);
    const auto ints = [&](std::size_t n) { for (std::size_t i = 0; i < n; ++i) if (is_float(f.type(op.operands[i]).elem) || f.type(op.operands[i]).pointer) return false; return true; };
    const bool w = false;
    switch (op.code) {
      case Code::constant: return {op.integer, op.integer, false};
      case Code::program_id: return {0, std::max<std::int64_t>(0, facts.grid[static_cast<std::size_t>(op.axis)] - 1), false};
      case Code::num_programs: return {facts.grid[static_cast<std::size_t>(op.axis)], facts.grid[static_cast<std::size_t>(op.axis)], false};
      case Code::arange: return {op.integer, op.integer + f.type(op.result()).shape[0] - 1, false};
      case Code::splat: case Code::broadcast: case Code::expand_dims: case Code::reshape: case Code::trans: return {a.lo, a.hi, false};
      case Code::cast: if (!ints(1)) return whole(e); if (e == Elem::i1) return {0, 1, false}; { Range r = fit(a.lo, a.hi, e, false); return r; }
      case Code::add: return fit(Wide(a.lo) + b.lo, Wide(a.hi) + b.hi, e, w);
      case Code::sub: return fit(Wide(a.lo) - b.hi, Wide(a.hi) - b.lo, e, w);
      case Code::neg: return fit(-Wide(a.hi), -Wide(a.lo), e, false);
      case Code::mul: { const Wide p[] = {Wide(a.lo) * b.lo, Wide(a.lo) * b.hi, Wide(a.hi) * b.lo, Wide(a.hi) * b.hi}; return fit(*std::min_element(p, p + 4), *std::max_element(p, p + 4), e, w); }
      case Code::div: if (a.lo >= 0 && b.lo > 0) return {a.lo / b.hi, a.hi / b.lo, w}; return whole(e);
      case Code::rem: if (a.lo >= 0 && b.lo > 0) return {0, std::min(a.hi, b.hi - 1), w}; return whole(e);
      case Code::min: return {std::min(a.lo, b.lo), std::min(a.hi, b.hi), w};
      case Code::max: return {std::max(a.lo, b.lo), std::max(a.hi, b.hi), w};
      case Code::select: { const Range c = at(op.operands[2]); return {std::min(b.lo, c.lo), std::max(b.hi, c.hi), false}; }
      case Code::lt: case Code::le: case Code::gt: case Code::ge: case Code::eq: case Code::ne: return {0, 1, false};
      case Code::bit_and: if (a.lo >= 0 && b.lo >= 0) return {0, std::min(a.hi, b.hi), w}; return whole(e);
      default: return whole(e);
    }
  }
};
}  // namespace
std::vector<Range> ranges(const Function& function, const LaunchFacts& facts) {
  std::vector<Range> out(function.types.size());
  for (std::size_t k = 0; k < function.body.params.size(); ++k) {
    const ValueId v = function.body.params[k];
    out[static_cast<std::size_t>(v)] = whole(function.type(v).elem);
    if (k < facts.parameters.size() && facts.parameters[k].integer) out[static_cast<std::size_t>(v)] = {*facts.parameters[k].integer, *facts.parameters[k].integer, false};
  }
  Walk{function, facts, out}.block(function.body);
  return out;
}
}  // namespace passnet::tile
