// What runs the kernels of a launch plan. The tile back-ends implement it.
#pragma once

#include <memory>

#include "base/cache.h"
#include "host/launch_plan.h"

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

// What was built for one variant of a launch, for reports.
struct KernelReport {
  std::string name;
  std::string constexprs;
  std::int64_t grid[3] = {1, 1, 1};
  Origin origin = Origin::memory;
  double compile_ms = 0;
  std::size_t variants = 1;  // how many were tried
};

class KernelBackend {
 public:
  virtual ~KernelBackend() = default;
  // The addresses of the plan's inputs are set. The plan outlives what is prepared.
  virtual Result<std::unique_ptr<PreparedPlan>> prepare(const LaunchPlan& plan, void* const* addresses) = 0;

  virtual DeviceType device() const { return DeviceType::cpu; }
  // The kernels that run, in the order of the launches; a variant is known when its launch has run once.
  virtual const std::vector<std::shared_ptr<KernelReport>>& reports() const;
  // Whether something could not be built.
  virtual bool failed() const { return false; }
};

struct BackendOptions {
  std::string dump_folder = {};  // where every stage of every kernel is written as text; empty: nowhere
  bool atomics_alone = false;    // on the CPU: kernels with atomics run on one thread, so that always the same happens
  bool first_variants = false;   // nothing is tuned
};

// A back-end that compiles: what it built is reported, what it could not is told.
class CompilingBackend : public KernelBackend {
 public:
  explicit CompilingBackend(Engine& engine, BackendOptions options = {})
      : engine_(engine), options_(std::move(options)) {}
  Result<std::unique_ptr<PreparedPlan>> prepare(const LaunchPlan& plan, void* const* addresses) final;
  const std::vector<std::shared_ptr<KernelReport>>& reports() const final { return reports_; }
  bool failed() const final { return failed_; }

 protected:
  virtual std::unique_ptr<PreparedPlan> build(const LaunchPlan& plan, void* const* addresses) = 0;

  Engine& engine_;
  const BackendOptions options_;
  std::vector<std::shared_ptr<KernelReport>> reports_;

 private:
  bool failed_ = false;
};

// The back-end of a device.
std::unique_ptr<KernelBackend> make_backend(Engine& engine, DeviceType device, const BackendOptions& options = {});

// Launches nothing: what a kernel would have written stays as allocated, and shapes flow on.
class RecordingBackend final : public KernelBackend {
 public:
  Result<std::unique_ptr<PreparedPlan>> prepare(const LaunchPlan& plan, void* const* addresses) override;
};

}  // namespace passnet
