// Tile IR -> C++ for the system's compiler: one function that runs a range of programs (abi.h).
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "tile/checked.h"
#include "tile/ir.h"
#include "tile/launch_facts.h"
#include "tile_cpu/abi.h"

namespace passnet::tile_cpu {

struct Emitted {
  std::string source;              // without any include
  std::int64_t programs = 0;       // to be run: the launch's, or several for each of them
  std::int64_t scratch_bytes = 0;  // per thread
  double program_cost = 0;         // rough nanoseconds of one program, to decide about threads
  std::vector<tile::Site> sites;   // of a build that is hooked
};

// `function` is verified, specialised for `facts` and simplified.
Result<Emitted> emit(const tile::Function& function, const tile::LaunchFacts& facts, Build build = Build::fast);

}  // namespace passnet::tile_cpu
