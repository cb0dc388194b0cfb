// The text in front of every emitted kernel: the parts of prelude/ that its code uses.
#pragma once

#include <string>
#include <string_view>

namespace passnet::tile_cpu {

std::string prelude(std::string_view code, bool checked);

}  // namespace passnet::tile_cpu
