// What the ops mean for one element: the one place of scalar semantics, for the interpreter and for constant folding.
//
// An element is its bits, as in memory, in the low end of 64 (an i1 is 0 or 1). Integers of any width are two's
// complement and wrap; an i1 is an unsigned integer of one bit. f16 and bf16 compute in f32 and round the result; f32
// functions compute in f64 and round, so they are correctly rounded but for hard cases of one in millions.
#pragma once

#include <cstdint>

#include "tile/ir.h"

namespace passnet::tile {

using Bits = std::uint64_t;

// The integer's value, sign- or zero-extended (a u64 keeps its bits); a float's value, always exact in a double.
std::int64_t integer_of(Elem elem, Bits bits);
double real_of(Elem elem, Bits bits);
// Wrapped to the type; rounded to nearest even, once.
Bits bits_of_integer(Elem elem, std::int64_t value);
Bits bits_of_real(Elem elem, double value);

// The bits of a constant op.
Bits constant_bits(Elem elem, const Op& constant);

// Code::cast. Float to integer truncates and saturates, NaN is 0; integer to half goes through f32; to i1 is != 0.
Bits scalar_cast(Elem from, Elem to, Bits x);

// neg .. trunc; add .. shr; lt .. ne (pointers compare as u64); fma.
Bits scalar_unary(Code code, Elem elem, Bits x);
Bits scalar_binary(Code code, Elem elem, Bits a, Bits b);
bool scalar_compare(Code code, Elem elem, Bits a, Bits b);
Bits scalar_fma(Elem elem, Bits a, Bits b, Bits c);

// What a reduction combines with; argmin and argmax compare with lt and gt instead.
Code combine_code(Combine combine);

}  // namespace passnet::tile
