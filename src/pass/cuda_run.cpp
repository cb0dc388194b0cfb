#include "pass/cuda_run.h"

#include <algorithm>

#include "pass/kernel_build.h"
#include "tile_cuda/compile.h"
#include "tile_cuda/stages.h"

namespace passnet {

namespace {

struct Built {
  KernelSource source;
  tile_cuda::Emitted emitted;
};

Built build(const tile::Function& function, const LaunchPlan& plan, const Launch& launch, const LaunchVariant& variant,
            void* const* addresses, int shared_limit) {
  Built out;
  out.source = describe_kernel(function, plan, launch, variant, addresses).take();
  const tile_cuda::Target target{variant.num_warps, variant.num_stages, shared_limit};
  out.emitted = tile_cuda::run_stages(out.source.function, out.source.facts, target).take();
  return out;
}

}  // namespace

Result<tile_cuda::Emitted> cuda_source(const tile::Function& function, const LaunchPlan& plan, const Launch& launch,
                                       const LaunchVariant& variant, void* const* addresses) {
  return guarded(
      [&] { return build(function, plan, launch, variant, addresses, tile_cuda::Target{}.shared_limit).emitted; });
}

Result<std::monostate> cuda_run(const tile::Function& function, const LaunchPlan& plan, const Launch& launch,
                                const LaunchVariant& variant, void* const* addresses) {
  return guarded([&] {
    const cuda::Device& device = *cuda::device().take();
    device.enter();
    std::vector<cuda::Address> there(plan.buffers.size());
    std::vector<void*> pointers(there.size());
    const auto bytes = [&](std::size_t id) { return static_cast<std::size_t>(hull_bytes(plan.buffers[id].desc)); };
    for (std::size_t id = 0; id < there.size(); ++id) {
      device.check(device.call.MemAlloc(&there[id], std::max<std::size_t>(1, bytes(id))), "cannot have device memory");
      device.check(device.call.MemcpyHtoD(there[id], addresses[id], bytes(id)), "cannot copy to the device");
      pointers[id] = reinterpret_cast<void*>(there[id]);
    }
    Built built = build(function, plan, launch, variant, pointers.data(), device.shared_limit);
    std::vector<void*> arguments;
    for (const auto& [parameter, buffer] : built.source.pointers)
      built.source.arguments[parameter].pointer = pointers[static_cast<std::size_t>(buffer)];
    for (tile_cpu::Argument& a : built.source.arguments) arguments.push_back(&a);
    if (built.source.programs() > 0)
      tile_cuda::launch(device, tile_cuda::compile(device, built.emitted).take(), built.source.facts.grid,
                        built.emitted.flat, arguments.data());
    device.check(device.call.CtxSynchronize(), "the kernel failed");
    for (std::size_t id = 0; id < there.size(); ++id)
      device.check(device.call.MemcpyDtoH(addresses[id], there[id], bytes(id)), "cannot copy from the device");
    for (const cuda::Address a : there) device.call.MemFree(a);
    return std::monostate{};
  });
}

}  // namespace passnet
