// A file that the build put into the program: a row of what passnet_embed writes.
#pragma once

#include <string_view>

namespace passnet {

struct Embedded {
  std::string_view name, text;
};

}  // namespace passnet
