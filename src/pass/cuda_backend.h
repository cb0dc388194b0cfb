// The CUDA back-end of launch plans: kernels compiled for exactly the plan's shapes, the fastest of autotuned variants
// kept. Launches go to torch's stream and are not waited for.
#pragma once

#include "cuda/driver.h"
#include "pass/kernel_backend.h"

namespace passnet {

class CudaBackend final : public KernelBackend {
 public:
  explicit CudaBackend(Engine& engine, std::string dump_folder = {})
      : engine_(engine), dump_folder_(std::move(dump_folder)) {}
  Result<std::unique_ptr<PreparedPlan>> prepare(const LaunchPlan& plan, void* const* addresses) override;
  DeviceType device() const override { return DeviceType::cuda; }
  const std::vector<std::shared_ptr<KernelReport>>& reports() const override { return reports_; }
  bool failed() const override { return failed_; }

 private:
  std::unique_ptr<PreparedPlan> build(const LaunchPlan& plan, void* const* addresses);

  Engine& engine_;
  std::string dump_folder_;
  std::vector<std::shared_ptr<KernelReport>> reports_;
  bool failed_ = false;
};

}  // namespace passnet
