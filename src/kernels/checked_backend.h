// Plans run with the checked build of their kernels: memory errors, unwritten outputs and races are found.
#pragma once

#include "kernels/backend.h"

namespace passnet {

class CheckedPlatform;  // what depends on the device

class CheckedBackend final : public KernelBackend {
 public:
  struct Options {
    std::size_t variant = 0;  // of an autotuned launch's distinct ones; launches that have fewer take their last
    bool backwards = false;   // the last program first
    bool followed = false;    // on the CPU: what the fast build does, instead of what the text says
    bool prebuild = false;    // on the CPU: the fast build of every variant too, so that nothing is left to compile
  };
  CheckedBackend(DeviceType device, const Options& options);
  ~CheckedBackend() override;
  // A plan in which something is found fails when it ends, with the first error.
  Result<std::unique_ptr<PreparedPlan>> prepare(const LaunchPlan& plan, void* const* addresses) override;

  // The most variants of any launch so far.
  std::size_t variants() const { return variants_; }
  // Launches that have more than one.
  std::size_t tuned() const { return tuned_; }
  // Programs can see the order in which they run: one of the kernels has atomics.
  bool ordered() const { return ordered_; }
  // What tensors hold may decide what kernels access: what holds for some inputs may not for others.
  bool by_contents() const { return by_contents_; }
  // All that was found, the first included.
  const std::vector<Error>& errors() const { return errors_; }
  // Inputs of a wrapper that kernels write: `argument 0 of the wrapper is written by kernel k`.
  const std::vector<std::string>& facts() const { return facts_; }
  bool failed() const override { return failed_; }
  DeviceType device() const override { return device_; }

 private:
  friend class CheckedPlan;
  std::unique_ptr<PreparedPlan> build(const LaunchPlan& plan, void* const* addresses);

  DeviceType device_;
  Options options_;
  std::unique_ptr<CheckedPlatform> platform_;
  std::size_t variants_ = 1, tuned_ = 0;
  std::vector<Error> errors_;
  std::vector<std::string> facts_;
  bool failed_ = false, ordered_ = false, by_contents_ = false;
};

}  // namespace passnet
