#include "tile_cuda/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace passnet::tile_cuda {

using tile::Code;
using tile::Op;
using tile::Shape;

int Layout::register_bit(int bit) const {
  return static_cast<int>(std::count(thread.begin(), thread.begin() + bit, kRegister));
}

unsigned Layout::thread_mask() const {
  unsigned mask = 0;
  for (int b = 0; b < count; ++b)
    if (!in_register(b)) mask |= 1U << at(b);
  return mask;
}

int log2_of(std::int64_t power) { return std::countr_zero(static_cast<std::uint64_t>(power)); }

int bits_of(const Shape& shape) { return log2_of(shape.elements()); }

BitRange dim_bits(const Shape& shape, std::size_t dim) {
  BitRange out{0, log2_of(shape[dim])};
  for (std::size_t d = dim + 1; d < shape.rank; ++d) out.first += log2_of(shape[d]);
  return out;
}

std::vector<int> operand_bits(const Op& op, const Shape& from, const Shape& to) {
  std::vector<int> out;
  if (op.code == Code::broadcast || op.code == Code::trans) {
    for (std::size_t d = from.rank; d-- > 0;) {
      std::size_t there = d;
      if (op.code == Code::trans)
        there = static_cast<std::size_t>(
            std::find(op.order.begin(), op.order.begin() + from.rank, static_cast<std::int8_t>(d)) - op.order.begin());
      const BitRange range = dim_bits(to, there);
      for (int b = 0; b < log2_of(from[d]); ++b) out.push_back(range.first + b);
    }
    return out;
  }
  for (int b = 0; b < bits_of(from); ++b) out.push_back(b);
  return out;
}

Layout pick(const Layout& layout, std::span<const int> bits) {
  Layout out;
  for (const int b : bits) out.push(layout.at(b));
  return out;
}

std::vector<int> other_bits(const Shape& shape, std::size_t dim) {
  const BitRange range = dim_bits(shape, dim);
  std::vector<int> out;
  for (int b = 0; b < bits_of(shape); ++b)
    if (b < range.first || b >= range.first + range.count) out.push_back(b);
  return out;
}

Layout without_dim(const Layout& layout, const Shape& shape, std::size_t dim) {
  return pick(layout, other_bits(shape, dim));
}

namespace {

Layout all_registers(const Shape& shape) {
  Layout out;
  for (int b = 0; b < bits_of(shape); ++b) out.push(Layout::kRegister);
  return out;
}

// Free bits of `dim` from below get the thread's bits next, next + 1, ... up to `end`.
void spread(Layout& out, BitRange range, int skip, int& next, int end) {
  for (int b = range.first + skip; b < range.first + range.count && next < end; ++b)
    if (out.in_register(b)) out.thread[static_cast<std::size_t>(b)] = static_cast<std::int8_t>(next++);
}

}  // namespace

Layout blocked(const Shape& shape, std::span<const int> order, int vector_bits, int thread_bits) {
  Layout out = all_registers(shape);
  int next = 0;
  const int lanes = std::min(kLaneBits, thread_bits);
  for (std::size_t i = 0; i < order.size(); ++i)
    spread(out, dim_bits(shape, static_cast<std::size_t>(order[i])), i == 0 ? vector_bits : 0, next, lanes);
  // Bits that lanes could not fill stay to warps; what is left of the vector's dimension goes last.
  for (std::size_t i = order.size(); i-- > 0;)
    spread(out, dim_bits(shape, static_cast<std::size_t>(order[i])), i == 0 ? vector_bits : 0, next, thread_bits);
  return out;
}

Layout along(const Shape& shape, std::size_t dim, int thread_bits) {
  Layout out = all_registers(shape);
  const BitRange range = dim_bits(shape, dim);
  int next = 0;
  spread(out, range, std::min(range.count, std::max(0, bits_of(shape) - thread_bits)), next, thread_bits);
  for (std::size_t d = shape.rank; d-- > 0;)
    if (d != dim) spread(out, dim_bits(shape, d), 0, next, thread_bits);
  return out;
}

namespace {

void set(Layout& out, int bit, int thread) {
  out.thread[static_cast<std::size_t>(bit)] = static_cast<std::int8_t>(thread);
}

// The lanes of a product's fragment, and above `thread` the last bits of n, then of m.
Layout fragments(const Shape& shape, int thread, int upper_m, int upper_n) {
  Layout out = all_registers(shape);
  const BitRange m = dim_bits(shape, 0), n = dim_bits(shape, 1);
  set(out, n.first + 1, 0);
  set(out, n.first + 2, 1);
  for (int b = 0; b < 3; ++b) set(out, m.first + b, 2 + b);
  for (int w = 0; w < upper_n; ++w) set(out, n.first + n.count - upper_n + w, thread + w);
  for (int w = 0; w < upper_m; ++w) set(out, m.first + m.count - upper_m + w, thread + upper_n + w);
  return out;
}

}  // namespace

Layout products(const Shape& shape, int warps_m, int warps_n) { return fragments(shape, kLaneBits, warps_m, warps_n); }

Layout group_products(const Shape& shape, int groups_m, int groups_n) {
  Layout out = fragments(shape, kLaneBits + 2, groups_m, groups_n);
  const int m = dim_bits(shape, 0).first;
  set(out, m + 4, kLaneBits);
  set(out, m + 5, kLaneBits + 1);
  return out;
}

std::string bits_text(const std::string& name, std::span<const BitMove> given) {
  std::vector<BitMove> moves(given.begin(), given.end());
  std::sort(moves.begin(), moves.end(), [](const BitMove& a, const BitMove& b) { return a.from < b.from; });
  std::string out;
  for (std::size_t i = 0; i < moves.size();) {
    std::size_t n = 1;
    while (i + n < moves.size() && moves[i + n].from == moves[i].from + static_cast<int>(n) &&
           moves[i + n].to == moves[i].to + static_cast<int>(n))
      ++n;
    std::string term = moves[i].from == 0 ? name : fmt::format("{} >> {}", name, moves[i].from);
    term = fmt::format("({} & {})", term, (1 << n) - 1);
    if (moves[i].to > 0) term = fmt::format("({} << {})", term, moves[i].to);
    out += (out.empty() ? "" : " + ") + term;
    i += n;
  }
  return out.empty() ? "0" : out;
}

bool keeps_pairs(std::span<const BitMove> moves) {
  return std::any_of(moves.begin(), moves.end(), [](const BitMove& m) { return m.from == 0 && m.to == 0; });
}

std::string thread_part(const Layout& layout, BitRange bits) {
  std::vector<BitMove> moves;
  for (int b = 0; b < bits.count; ++b)
    if (!layout.in_register(bits.first + b)) moves.push_back({layout.at(bits.first + b), b});
  return bits_text("tid", moves);
}

std::string register_part(const Layout& layout, BitRange bits, const std::string& name) {
  std::vector<BitMove> moves;
  for (int b = 0; b < bits.count; ++b)
    if (layout.in_register(bits.first + b)) moves.push_back({layout.register_bit(bits.first + b), b});
  return bits_text(name, moves);
}

std::string layout_text(const Layout& layout) {
  std::string out;
  for (int b = 0; b < layout.count; ++b)
    out += fmt::format("{}{}{}", b == 0 ? "" : " ", layout.in_register(b) ? 'r' : 't',
                       layout.in_register(b) ? layout.register_bit(b) : layout.at(b));
  return out;
}

}  // namespace passnet::tile_cuda
