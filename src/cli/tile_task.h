// A kernel out of a file, with arguments and a grid from the command line: what `passnet tile` works on. No libtorch.
#pragma once

#include <map>

#include "cli/tile_arguments.h"
#include "kernels/build.h"
#include "pass/load.h"

namespace passnet::cli {

struct TileRequest {
  std::string file;       // a Python file with kernels, or the text of tile IR (.tile)
  std::string kernel;     // which, by name or Class.name; default: the only one
  std::string arguments;  // x_ptr=float32[64, 32], n=5, BLOCK=1024
  std::string grid;       // 4,2,1; default: 1
  std::string inputs;     // a JSON file: {"x_ptr": [[1.0, ...], ...]}
  std::uint64_t seed = 0;
};

struct TileTask {
  std::unique_ptr<ModuleLoader> loader;  // owns the syntax
  LaunchPlan plan;                       // a buffer for each pointer, one launch
  tile::Function function;               // lowered, or as the text has it
  std::vector<std::string> names;        // by buffer: the kernel's parameter
  std::vector<BufferFill> fills;         // by buffer

  const Launch& launch() const { return plan.launches[0]; }
  const LaunchVariant& variant() const { return launch().variants[0]; }
};

// With what the file's first lines say of its launch, where the request does not.
TileRequest completed(TileRequest request);

// Throws Failure.
TileTask read_task(const TileRequest& request);

// The buffers' bytes, filled as the arguments say; equal for equal requests. Where only addresses are wanted, any
// bytes.
class TileMemory {
 public:
  TileMemory(const TileTask& task, const TileRequest& request, bool filled = true);
  void* const* addresses() const { return addresses_.data(); }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::vector<std::unique_ptr<char, Free>> blocks_;
  std::vector<void*> addresses_;
};

// Element `index` (in row-major order) of a buffer, as its bits.
tile::Elem elem_of_buffer(const Buffer& buffer);
std::uint64_t element_bits(const Buffer& buffer, const void* address, std::int64_t index);
std::string element_text(tile::Elem elem, std::uint64_t bits);

}  // namespace passnet::cli
