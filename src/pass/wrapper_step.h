// A wrapper as a step of a running program: prepared once per shapes, dtypes and scalars, then replayed.
#pragma once

#include <unordered_map>

#include "pass/host.h"
#include "pass/load.h"

namespace passnet {

// What runs kernels. The tile back-ends implement it; the recorder only takes note.
class KernelBackend {
 public:
  virtual ~KernelBackend() = default;
  // Buffers by their number in the plan. Called in the plan's order.
  virtual Result<std::monostate> launch(const Launch& launch, std::span<const TensorRef> buffers) = 0;
};

// Launches nothing: what a kernel would have written stays as allocated, and shapes flow on.
class RecordingBackend final : public KernelBackend {
 public:
  Result<std::monostate> launch(const Launch& launch, std::span<const TensorRef> buffers) override;
  std::size_t launches = 0;
};

class WrapperStep final : public ExternalStep {
 public:
  WrapperStep(const Pass& pass, Engine& engine, KernelBackend& backend)
      : pass_(pass), engine_(engine), backend_(backend) {}
  Result<RunValue> run(std::span<const RunValue> arguments) override;

  struct Recorded {
    std::string arguments;  // what the plan was recorded for, as text
    LaunchPlan plan;
  };
  // In the order of recording.
  const std::vector<std::unique_ptr<Recorded>>& plans() const { return plans_; }

 private:
  const Recorded& prepared(std::span<const RunValue> arguments);
  RunValue replay(const LaunchPlan& plan, std::span<const RunValue> arguments);

  const Pass& pass_;
  Engine& engine_;
  KernelBackend& backend_;
  std::vector<std::unique_ptr<Recorded>> plans_;
  std::unordered_map<std::string, std::size_t> by_arguments_;
};

}  // namespace passnet
