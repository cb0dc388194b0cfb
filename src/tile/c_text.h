// How scalars are spelled in emitted C++ and CUDA C++: types, constants, elementwise ops. Functions such as `div_` and
// `f16_round` are those of the back-end's prelude.
#pragma once

#include <span>
#include <string>

#include "tile/ir.h"

namespace passnet::tile {

// In a register: f16 and bf16 live as f32, rounded after every operation.
std::string scalar_name(Elem e);
// In memory.
std::string stored_name(Elem e);
// The prelude's struct that reads and writes it.
std::string access_name(Elem e);
// The prelude's struct is Atomic_ and this.
std::string atomic_policy(Atomic a);

struct OperandText {
  std::string text;
  Elem elem;
  bool non_negative = false;  // known from ranges
  bool safe_divisor = false;  // neither 0 nor -1
  bool quiet = false;         // a float that is no signalling NaN
  std::int64_t constant = 0;  // of a divisor, where > 0
};

std::string op_text(const Op& op, std::span<const OperandText> operands, Elem result);
// A constant of that type.
std::string constant_text(const Op& op, Elem elem);

// For spellings of one's own.
std::string_view infix(Code code);  // empty: the op is a function
std::string rounded(std::string text, Elem e);
Code one_bit_code(Code code);  // arithmetic of i1 as logic, where it is the op of two bits
// A conversion to bf16 or f16 that a step over f32 would round twice.
bool rounds_twice(Elem from, Elem to);

}  // namespace passnet::tile
