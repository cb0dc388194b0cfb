// What runs the kernels of a launch plan. The tile back-ends implement it.
#pragma once

#include <memory>

#include "pass/launch_plan.h"

namespace passnet {

// The kernels of one plan, ready to run as often as wanted, by one thread at a time. Addresses are by buffer number.
class PreparedPlan {
 public:
  virtual ~PreparedPlan() = default;
  // Kernels may rely on two inputs not overlapping in memory: whether those at these addresses are as they were.
  virtual bool fits(void* const* addresses) const { return addresses != nullptr; }
  virtual void launch(std::size_t index, void* const* addresses) = 0;

  // Of the checked build: told of the start, of every buffer when it is made and filled, and of the end. Throws
  // Failure.
  virtual bool watches() const { return false; }
  virtual void begin() {}
  virtual void made(BufferId /*buffer*/, void* const* /*addresses*/) {}
  virtual void finished(void* const* /*addresses*/) {}
};

class KernelBackend {
 public:
  virtual ~KernelBackend() = default;
  // The addresses of the plan's inputs are set. The plan outlives what is prepared.
  virtual Result<std::unique_ptr<PreparedPlan>> prepare(const LaunchPlan& plan, void* const* addresses) = 0;
};

// Launches nothing: what a kernel would have written stays as allocated, and shapes flow on.
class RecordingBackend final : public KernelBackend {
 public:
  Result<std::unique_ptr<PreparedPlan>> prepare(const LaunchPlan& plan, void* const* addresses) override;
};

}  // namespace passnet
