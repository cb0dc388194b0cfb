// The CUDA back-end of launch plans: kernels compiled for exactly the plan's shapes, the fastest of autotuned variants
// kept. Launches go to torch's stream and are not waited for.
#pragma once

#include "cuda/driver.h"
#include "kernels/backend.h"

namespace passnet {

class CudaBackend final : public CompilingBackend {
 public:
  using CompilingBackend::CompilingBackend;
  DeviceType device() const override { return DeviceType::cuda; }

 private:
  std::unique_ptr<PreparedPlan> build(const LaunchPlan& plan, void* const* addresses) override;
};

}  // namespace passnet
