// One kernel on the GPU over memory of the host: copied there, run, copied back. For tools and tests.
#pragma once

#include "host/launch_plan.h"
#include "tile/checked.h"
#include "tile/ir.h"
#include "tile_cuda/emit.h"

namespace passnet {

// The CUDA C++ of a variant of a launch.
Result<tile_cuda::Emitted> cuda_source(const tile::Function& function, const LaunchPlan& plan, const Launch& launch,
                                       const LaunchVariant& variant, void* const* addresses,
                                       const tile_cuda::Machine& machine, bool checked = false);
// `addresses`: of the plan's buffers, all inputs, on the host.
Result<std::monostate> cuda_run(const tile::Function& function, const LaunchPlan& plan, const Launch& launch,
                                const LaunchVariant& variant, void* const* addresses);

// As cuda_run with the checked build; what it found, its regions numbered as the buffers. `written`: by buffer, whether
// it has values.
Result<std::unique_ptr<tile::Shadow>> cuda_check(const tile::Function& function, const LaunchPlan& plan,
                                                 const Launch& launch, const LaunchVariant& variant,
                                                 void* const* addresses, const std::vector<bool>& written);

// Milliseconds of each of `runs` launches by events, the L2 cache cold before each. Memory of the device holds zeros.
Result<std::vector<double>> cuda_time(const tile::Function& function, const LaunchPlan& plan, const Launch& launch,
                                      const LaunchVariant& variant, int runs);

}  // namespace passnet
