// What is known of the values along each dimension of a tile: the three facts that decide how wide memory is accessed.
#pragma once

#include <vector>

#include "tile/ir.h"
#include "tile/launch_facts.h"
#include "tile/ranges.h"

namespace passnet::tile_cuda {

// Along one dimension, all powers of two. Groups are aligned: they begin at multiples of their size.
struct Along {
  std::int64_t contiguity = 1;    // within a group of that size each value is one more than the one before
  std::int64_t divisibility = 1;  // divides the first value of every such group; of pointers in bytes
  std::int64_t constancy = 1;     // within a group of that size all values are equal

  // What divides the first value of every group of `size`, which is at most `contiguity`.
  std::int64_t divides(std::int64_t size, std::int64_t unit = 1) const;
  // Of pointers to such elements: how many one aligned access can take, log2.
  int widest(tile::Elem elem) const;
};
inline constexpr int kVectorBytes = 16;  // the widest access

struct Axes {
  std::array<Along, tile::kRankLimit> dims;
  std::int64_t all = 1;  // divides every element; of scalars the only fact
};

// By value; floats are left as they are.
std::vector<Axes> axes(const tile::Function& function, const tile::LaunchFacts& facts,
                       const std::vector<tile::Range>& ranges);

}  // namespace passnet::tile_cuda
