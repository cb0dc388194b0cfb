// NVRTC, the compiler of CUDA C++, opened at run time. It needs no GPU.
#pragma once

#include <string>

#include "base/error.h"

namespace passnet::cuda {

struct Nvrtc {
  int major = 0, minor = 0;
  std::string path;  // of the library, as it was found
};
// Looked for once: $PASSNET_NVRTC, the loader's path, the packages beside torch. The error says what to install.
Result<Nvrtc> nvrtc();

struct Compiled {
  std::string image;  // a cubin for `sm_90`, text for `compute_90`
  std::string log;    // warnings, and what ptxas says of registers
};
// `architecture`: sm_NN makes machine code, compute_NN PTX. `fuse`: a product and a sum may be rounded once. Safe for many threads. A source that does not compile gives
// the compiler's first error.
Result<Compiled> compile(const std::string& source, const std::string& architecture, bool fuse = false);

}  // namespace passnet::cuda
