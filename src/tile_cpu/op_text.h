// One elementwise op as a C++ expression over operands that are all scalars or all lanes.
#pragma once

#include "tile/c_text.h"

namespace passnet::tile_cpu {

using tile::OperandText;

std::string op_text(const tile::Op& op, std::span<const OperandText> operands, tile::Elem result, bool lanes);

}  // namespace passnet::tile_cpu
