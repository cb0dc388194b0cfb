// Tile IR -> CUDA C++ for NVRTC: one kernel, a block of threads a program.
#pragma once

#include <string>

#include "base/error.h"
#include "tile/checked.h"
#include "tile/ir.h"
#include "tile/launch_facts.h"

namespace passnet::tile_cuda {

inline constexpr char kKernelSymbol[] = "passnet_kernel";

struct Machine {
  int shared_limit = 227 << 10;  // bytes that a program may have
  bool groups = true;            // four warps can compute one product (sm_90a)
};

// What a launch asks for, and what the device has.
struct Target {
  int num_warps = 4;   // a wish: tiles that have fewer elements than threads get fewer, large ones more
  int num_stages = 3;  // rounds of a loop whose products' operands are in shared memory or on the way, at most
  bool fp_fusion =
      false;  // as Triton: a product and a sum after it rounded once, approximate exp, exp2, sqrt, rsqrt, /
  Machine machine;
};

struct Emitted {
  std::string source;  // without any include; its parameters are those of the function, 8 bytes each
  int threads = 0;     // of a block
  int shared_bytes = 0;
  bool fp_fusion = false;
  bool flat = false;              // the grid is one-dimensional: y or z would be over the device's limit
  std::vector<tile::Site> sites;  // checked build only; it has three more parameters: whom it asks, and the
                                  // number of its first program and the step to the next
};

// `function` is verified, specialised for `facts` and simplified.
Result<Emitted> emit(const tile::Function& function, const tile::LaunchFacts& facts, const Target& target,
                     bool checked = false);

}  // namespace passnet::tile_cuda
