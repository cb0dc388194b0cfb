// CUDA C++ -> a loaded kernel, through NVRTC and two caches: in the process, and on disk by content, architecture,
// compiler and driver. Safe for many threads at once.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "base/cache.h"
#include "cuda/driver.h"
#include "tile_cuda/emit.h"

namespace passnet::tile_cuda {

struct LoadedKernel {
  cuda::FunctionHandle function = nullptr;  // valid as long as the process
  std::string_view key;                     // hash of all that decides its bytes
  Origin origin = Origin::memory;
  double compile_ms = 0;  // where compiled
  int threads = 0, shared_bytes = 0;
};

Result<LoadedKernel> compile(const cuda::Device& device, const Emitted& emitted);
// Several at a time; results in the order of the sources.
std::vector<Result<LoadedKernel>> compile_many(const cuda::Device& device, std::span<const Emitted* const> sources);

Machine machine_of(const cuda::Device& device);
Machine machine_of(std::string_view architecture);  // without a device: as much shared memory as an H200 has
// sm_90a, of a device.
std::string architecture(const cuda::Device& device);

// Programs of the grid, after what was launched before; does not wait. `arguments`: pointers to 8 bytes each.
void launch(const cuda::Device& device, const LoadedKernel& kernel, const std::array<std::int64_t, 3>& grid, bool flat,
            void** arguments, cuda::StreamHandle stream = nullptr);

}  // namespace passnet::tile_cuda
