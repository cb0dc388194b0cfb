// The text in front of every kernel: types, mathematics, memory; products and atomics where the code uses them.
#pragma once

#include <string>
#include <string_view>

namespace passnet::tile_cuda {

std::string prelude(std::string_view code);

}  // namespace passnet::tile_cuda
