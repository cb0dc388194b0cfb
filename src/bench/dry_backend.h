// Kernels built and not launched, on a GPU: all that needs files happens before a worker closes itself, and nothing of
// a candidate runs before that.
#pragma once

#include "kernels/backend.h"

namespace passnet {

class DryBackend final : public KernelBackend {
 public:
  explicit DryBackend(std::unique_ptr<KernelBackend> builder) : builder_(std::move(builder)) {}
  // What the builder prepares is kept as long as this is. New buffers hold zeros, which whatever follows can take for
  // indices.
  Result<std::unique_ptr<PreparedPlan>> prepare(const LaunchPlan& plan, void* const* addresses) override;
  bool failed() const override { return builder_->failed(); }

 private:
  std::unique_ptr<KernelBackend> builder_;
  std::vector<std::unique_ptr<PreparedPlan>> built_;
};

}  // namespace passnet
