// The CPU back-end of launch plans: kernels compiled for exactly the plan's shapes, the fastest of autotuned variants
// kept.
#pragma once

#include "pass/kernel_backend.h"
#include "tile_cpu/compile.h"

namespace passnet {

// What was built for one variant of a launch, for reports.
struct KernelReport {
  std::string name;
  std::string constexprs;
  std::int64_t grid[3] = {1, 1, 1};
  tile_cpu::Origin origin = tile_cpu::Origin::memory;
  double compile_ms = 0;
  std::size_t variants = 1;  // how many were tried
};

class TileBackend final : public KernelBackend {
 public:
  // `dump_folder`: where every stage of every kernel is written as text; empty: nowhere.
  explicit TileBackend(Engine& engine, std::string dump_folder = {})
      : engine_(engine), dump_folder_(std::move(dump_folder)) {}
  Result<std::unique_ptr<PreparedPlan>> prepare(const LaunchPlan& plan, void* const* addresses) override;

  // The kernels that run, in the order of the launches; a variant is known when its launch has run once.
  const std::vector<std::shared_ptr<KernelReport>>& reports() const { return reports_; }
  // Whether something could not be built.
  bool failed() const { return failed_; }

 private:
  std::unique_ptr<PreparedPlan> build(const LaunchPlan& plan, void* const* addresses);

  Engine& engine_;
  std::string dump_folder_;
  std::vector<std::shared_ptr<KernelReport>> reports_;
  bool failed_ = false;
};

}  // namespace passnet
