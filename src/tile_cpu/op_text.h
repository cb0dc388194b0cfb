// One elementwise op as a C++ expression over operands that are all scalars or all lanes.
#pragma once

#include <span>
#include <string>

#include "tile/ir.h"

namespace passnet::tile_cpu {

struct OperandText {
  std::string text;
  tile::Elem elem;
  bool non_negative = false;  // known from ranges
  bool safe_divisor = false;  // neither 0 nor -1
  std::int64_t constant = 0;  // of a divisor, where > 0
};

std::string op_text(const tile::Op& op, std::span<const OperandText> operands, tile::Elem result, bool lanes);
// A constant of that type.
std::string constant_text(const tile::Op& op, tile::Elem elem);

}  // namespace passnet::tile_cpu
