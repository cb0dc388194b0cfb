#include "kernels/cuda_run.h"

#include <algorithm>
#include <deque>

#include "cuda/memory.h"
#include "kernels/build.h"
#include "tile_cuda/checked.h"
#include "tile_cuda/compile.h"
#include "tile_cuda/stages.h"

namespace passnet {

namespace {

struct Built {
  KernelSource source;
  tile_cuda::Emitted emitted;
};

Built build(const tile::Function& function, const LaunchPlan& plan, const Launch& launch, const LaunchVariant& variant,
            void* const* addresses, const tile_cuda::Machine& machine, bool checked) {
  Built out;
  out.source = describe_kernel(function, plan, launch, variant, addresses).take();
  out.emitted =
      tile_cuda::run_stages(out.source.function, out.source.facts, cuda_target(variant, machine), {}, checked).take();
  return out;
}

}  // namespace

Result<tile_cuda::Emitted> cuda_source(const tile::Function& function, const LaunchPlan& plan, const Launch& launch,
                                       const LaunchVariant& variant, void* const* addresses,
                                       const tile_cuda::Machine& machine, bool checked) {
  return guarded([&] { return build(function, plan, launch, variant, addresses, machine, checked).emitted; });
}

namespace {

// The plan's buffers on the device, and a kernel over them.
class OnDevice {
 public:
  OnDevice(const tile::Function& function, const LaunchPlan& plan, const Launch& launch, const LaunchVariant& variant,
           bool checked = false)
      : device_(*cuda::device().take()), plan_(plan) {
    device_.enter();
    for (std::size_t id = 0; id < plan.buffers.size(); ++id)
      pointers_.push_back(
          reinterpret_cast<void*>(memory_.emplace_back(device_, std::max<std::size_t>(4, bytes(id))).address()));
    built_ = build(function, plan, launch, variant, pointers_.data(), tile_cuda::machine_of(device_), checked);
    for (const auto& [parameter, buffer] : built_.source.pointers)
      built_.source.arguments[parameter].pointer = pointers_[static_cast<std::size_t>(buffer)];
    for (tile_cpu::Argument& a : built_.source.arguments) arguments_.push_back(&a);
    if (!built_.source.is_empty()) kernel_ = tile_cuda::compile(device_, built_.emitted).take();
  }

  const cuda::Device& device() const { return device_; }
  std::size_t bytes(std::size_t id) const { return static_cast<std::size_t>(hull_bytes(plan_.buffers[id].desc)); }
  cuda::Address address(std::size_t id) const { return memory_[id].address(); }
  void fill(void* const* addresses) const {
    for (std::size_t id = 0; id < plan_.buffers.size(); ++id)
      device_.check(device_.call.MemcpyHtoD(address(id), addresses[id], bytes(id)), "cannot copy to the device");
  }
  void fetch(void* const* addresses) const {
    for (std::size_t id = 0; id < plan_.buffers.size(); ++id)
      device_.check(device_.call.MemcpyDtoH(addresses[id], address(id), bytes(id)), "cannot copy from the device");
  }
  void check(tile_cuda::CheckedMemory& shadow) {
    if (built_.source.is_empty()) return;
    const auto own = [](BufferId buffer) { return buffer; };
    shadow.run(kernel_, checked_launch(built_.source, built_.emitted.sites, pointers_.data(), own), arguments_);
  }
  void launch() {
    if (!built_.source.is_empty())
      tile_cuda::launch(device_, kernel_, built_.source.facts.grid, built_.emitted.flat, arguments_.data());
  }

 private:
  const cuda::Device& device_;
  const LaunchPlan& plan_;
  std::deque<cuda::Memory> memory_;
  std::vector<void*> pointers_;
  Built built_;
  std::vector<void*> arguments_;
  tile_cuda::LoadedKernel kernel_;
};

}  // namespace

Result<std::monostate> cuda_run(const tile::Function& function, const LaunchPlan& plan, const Launch& launch,
                                const LaunchVariant& variant, void* const* addresses) {
  return guarded([&] {
    OnDevice there(function, plan, launch, variant);
    const cuda::Device& device = there.device();
    there.fill(addresses);
    there.launch();
    device.check(device.call.CtxSynchronize(), "the kernel failed");
    there.fetch(addresses);
    return std::monostate{};
  });
}

Result<std::unique_ptr<tile::Shadow>> cuda_check(const tile::Function& function, const LaunchPlan& plan,
                                                 const Launch& launch, const LaunchVariant& variant,
                                                 void* const* addresses, const std::vector<bool>& written) {
  return guarded([&] {
    OnDevice there(function, plan, launch, variant, true);
    auto shadow = std::make_unique<tile_cuda::CheckedMemory>(there.device());
    there.fill(addresses);
    for (std::size_t id = 0; id < plan.buffers.size(); ++id)
      shadow->add(reinterpret_cast<void*>(there.address(id)), static_cast<std::int64_t>(there.bytes(id)),
                  static_cast<std::int64_t>(dtype_row(plan.buffers[id].desc.dtype).size), written[id]);
    there.check(*shadow);
    there.fetch(addresses);
    return std::unique_ptr<tile::Shadow>(std::move(shadow));
  });
}

Result<std::vector<double>> cuda_time(const tile::Function& function, const LaunchPlan& plan, const Launch& launch,
                                      const LaunchVariant& variant, int runs) {
  return guarded([&] {
    OnDevice there(function, plan, launch, variant);
    const cuda::Device& device = there.device();
    for (std::size_t id = 0; id < plan.buffers.size(); ++id)
      device.check(device.call.MemsetD32Async(there.address(id), 0, there.bytes(id) / 4, nullptr),
                   "cannot fill memory");
    const cuda::Memory other(device, static_cast<std::size_t>(2 * device.l2_bytes));
    std::vector<double> out;
    const cuda::Event from(device), to(device);
    for (int i = 0; i < runs; ++i) {
      device.check(
          device.call.MemsetD32Async(other.address(), 0, static_cast<std::size_t>(device.l2_bytes / 2), nullptr),
          "cannot fill memory");
      from.record();
      there.launch();
      to.record();
      out.push_back(to.since(from));
    }
    return out;
  });
}

}  // namespace passnet
