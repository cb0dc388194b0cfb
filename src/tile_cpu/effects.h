// Which of a kernel's parameters point to memory that it may write.
#pragma once

#include <vector>

#include "tile/ir.h"

namespace passnet::tile_cpu {

// By number in Function::parameters. A pointer that is made from an integer may point anywhere.
std::vector<bool> written_parameters(const tile::Function& function);

}  // namespace passnet::tile_cpu
