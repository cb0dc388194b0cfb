// How a tile lies in the registers of a block's threads. Every size is a power of two, so an element's row-major number
// is a row of bits, and each of them is a bit of the thread's number or of the register's. Transposing, reshaping,
// broadcasting and reducing a tile are then permutations and subsets of bits.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tile/ir.h"

namespace passnet::tile_cuda {

inline constexpr int kBitLimit = 20;  // of an element's number: tile::kElementLimit
inline constexpr int kLaneBits = 5;   // of a thread's number that count within its warp

struct Layout {
  static constexpr std::int8_t kRegister = -1;
  std::int8_t count = 0;                        // bits of an element's number
  std::array<std::int8_t, kBitLimit> thread{};  // by bit: the thread's bit, or kRegister; unused ones are 0

  void push(int bit) { thread[static_cast<std::size_t>(count++)] = static_cast<std::int8_t>(bit); }
  int at(int bit) const { return thread[static_cast<std::size_t>(bit)]; }
  bool in_register(int bit) const { return at(bit) == kRegister; }
  // Register bits are numbered in the order of the element's bits.
  int register_bit(int bit) const;
  int register_bits() const { return register_bit(count); }
  int registers() const { return 1 << register_bits(); }
  unsigned thread_mask() const;  // the thread bits that tell elements apart; threads alike in them hold the same
  auto operator<=>(const Layout&) const = default;
};

struct BitRange {
  int first = 0, count = 0;
};
int log2_of(std::int64_t power);
int bits_of(const tile::Shape& shape);
BitRange dim_bits(const tile::Shape& shape, std::size_t dim);

// Of a bit of the operand, the bit of the result that it is; by a shape op (broadcast, expand_dims, reshape, trans).
std::vector<int> operand_bits(const tile::Op& op, const tile::Shape& from, const tile::Shape& to);
// Where the bits of `layout` in `bits` lie: the operand's layout that needs no data moved.
Layout pick(const Layout& layout, std::span<const int> bits);
Layout without_dim(const Layout& layout, const tile::Shape& shape, std::size_t dim);
// The bits of a shape less those of `dim`.
std::vector<int> other_bits(const tile::Shape& shape, std::size_t dim);

// `order`: dimensions, the one with neighbours in memory first. Its lowest `vector_bits` bits are in registers, then
// come lanes; warps take the last dimensions first, so that a row stays in a warp where it can.
Layout blocked(const tile::Shape& shape, std::span<const int> order, int vector_bits, int thread_bits);
// For scans along `dim`: its bits are registers, then threads from bit 0 up.
Layout along(const tile::Shape& shape, std::size_t dim, int thread_bits);
// Results of the tensor cores' m16n8 products, `warps_m` and `warps_n` bits of warps along each dimension.
Layout products(const tile::Shape& shape, int warps_m, int warps_n);
// Of the m64 products of four warps, bits of such groups along each dimension.
Layout group_products(const tile::Shape& shape, int groups_m, int groups_n);

// Bits of one number put together from bits of another, as C: `(e & 3) | (e >> 4 & 1) << 2`.
struct BitMove {
  int from = 0, to = 0;
};
std::string bits_text(const std::string& name, std::span<const BitMove> moves);
// Numbers 2i and 2i + 1 become such.
bool keeps_pairs(std::span<const BitMove> moves);
// The coordinate of an element along bits first..first+count-1: from the thread's number, from the register's.
std::string thread_part(const Layout& layout, BitRange bits);
std::string register_part(const Layout& layout, BitRange bits, const std::string& name);

// `r0 t0 t1 r1`: for dumps and tests.
std::string layout_text(const Layout& layout);

}  // namespace passnet::tile_cuda
