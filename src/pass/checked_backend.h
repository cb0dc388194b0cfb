// Plans run with the checked build of their kernels: memory errors, unwritten outputs and races are found.
#pragma once

#include "pass/kernel_backend.h"

namespace passnet {

class CheckedBackend final : public KernelBackend {
 public:
  struct Options {
    std::size_t variant = 0;  // of an autotuned launch's distinct ones; launches that have fewer take their last
    bool backwards = false;   // the last program first
    bool prebuild = false;    // the fast build of every variant too, so that nothing is left to be compiled
  };
  explicit CheckedBackend(const Options& options) : options_(options) {}
  CheckedBackend() = default;
  // A plan in which something is found fails when it ends, with the first error.
  Result<std::unique_ptr<PreparedPlan>> prepare(const LaunchPlan& plan, void* const* addresses) override;

  // The most variants of any launch so far.
  std::size_t variants() const { return variants_; }
  // Programs can see the order in which they run: one of the kernels has atomics.
  bool ordered() const { return ordered_; }
  // All that was found, the first included.
  const std::vector<Error>& errors() const { return errors_; }
  // Inputs of a wrapper that kernels write: `argument 0 of the wrapper is written by kernel k`.
  const std::vector<std::string>& facts() const { return facts_; }
  bool failed() const override { return failed_; }

 private:
  friend class CheckedPlan;
  std::unique_ptr<PreparedPlan> build(const LaunchPlan& plan, void* const* addresses);

  void prebuild(const LaunchPlan& plan, void* const* addresses) const;

  Options options_;
  std::size_t variants_ = 1;
  std::vector<Error> errors_;
  std::vector<std::string> facts_;
  bool failed_ = false, ordered_ = false;
};

}  // namespace passnet
