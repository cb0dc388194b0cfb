// The CPU back-end of launch plans: kernels compiled for exactly the plan's shapes, the fastest of autotuned variants
// kept.
#pragma once

#include "kernels/backend.h"
#include "tile_cpu/compile.h"

namespace passnet {

class TileBackend final : public CompilingBackend {
 public:
  using CompilingBackend::CompilingBackend;

 private:
  std::unique_ptr<PreparedPlan> build(const LaunchPlan& plan, void* const* addresses) override;
};

}  // namespace passnet
