#include "bench/dry_backend.h"

#include "cuda/driver.h"

namespace passnet {

namespace {

class DryPlan final : public PreparedPlan {
 public:
  explicit DryPlan(const LaunchPlan& plan) : plan_(plan) {}
  void launch(std::size_t /*index*/, void* const* /*addresses*/) override {}
  bool watches() const override { return true; }
  void made(BufferId id, void* const* addresses) override {
    const auto at = static_cast<std::size_t>(id);
    const Buffer& b = plan_.buffers[at];
    if (b.kind != BufferKind::fresh || b.fill == Fill::value || b.desc.device != DeviceType::cuda) return;
    const std::int64_t bytes = b.desc.hull() * static_cast<std::int64_t>(dtype_row(b.desc.dtype).size);
    if (bytes == 0 || addresses[at] == nullptr) return;
    const cuda::Device& gpu = *cuda::device().take();
    // torch's allocations are of whole words
    gpu.check(gpu.call.MemsetD32Async(reinterpret_cast<cuda::Address>(addresses[at]), 0,
                                      static_cast<std::size_t>(bytes + 3) / 4, nullptr),
              "cannot clear memory");
  }

 private:
  const LaunchPlan& plan_;
};

}  // namespace

Result<std::unique_ptr<PreparedPlan>> DryBackend::prepare(const LaunchPlan& plan, void* const* addresses) {
  auto built = builder_->prepare(plan, addresses);
  if (!built) return std::move(built.error());
  built_.push_back(std::move(*built));
  return std::unique_ptr<PreparedPlan>(std::make_unique<DryPlan>(plan));
}

}  // namespace passnet
