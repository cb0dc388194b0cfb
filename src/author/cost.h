// What a region costs in eager and as a pass, in microseconds: bytes, calls and operator costs. It orders candidates
// and decides alone where nothing is measured.
#pragma once

#include "author/author.h"

namespace passnet::author {

constexpr double kRequiredGain = 1.05;  // a pass is kept if eager is expected to take this many times as long

// How a kernel computes a product: see rules_product.cpp. `patches`: tiles whose columns are a convolution's windows.
enum class ProductForm : std::uint8_t { unrolled, reduced, tiles, patches };
// Throws Unfit where a kernel of ours is expected to be much slower than ATen. `sums`: of so many terms each.
void require_own(const Call& call, ProductForm form, std::int64_t sums, std::int64_t terms);

void estimate(const Graph& graph, const Program& program, const GraphFacts& facts, const Region& region,
              const Schedule& plan, const Trace& trace, AuthoredPass& pass);

}  // namespace passnet::author
