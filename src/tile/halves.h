// Sums, differences and products of halves, however a kernel writes them.
//
// Those of f32 that are rounded to a half next are the half's: f32 has two bits more than twice a half's, so that
// rounding twice is rounding once. (Products of bf16 below 2^-126, which f32 itself rounds to fewer bits, may differ in
// the last.)
#pragma once

#include "tile/ir.h"

namespace passnet::tile {

using Definitions = std::vector<const Op*>;  // by value; null: a parameter

// Whether every element is a half of that type, although the value may be of f32.
bool made_of(const Function& f, const Definitions& defs, ValueId v, Elem half);

// The sum, difference or product of halves that `op` gives as a half: itself, or that in f32 which it rounds. Null: it
// is none.
const Op* half_arithmetic(const Function& f, const Definitions& defs, const Op& op);

// The function in which sums and differences with a product are `fma`, in halves: what LLVM makes of them for Triton
// with enable_fp_fusion. (Of f32 the compiler of the emitted text does the same.)
Function fuse_halves(const Function& f);

// Halves that are loaded, moved about and stored, and nothing else, as u16: they need no conversion, and a NaN keeps
// its bits. Their pointers stay pointers to halves.
Function move_as_bits(const Function& f);

}  // namespace passnet::tile
