#include "kernels/tile_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "kernels/autotune.h"
#include "kernels/build.h"
#include "kernels/cuda_backend.h"
#include "kernels/stage_dump.h"
#include "tile/effects.h"
#include "tile_cpu/launch.h"

namespace passnet {

namespace {

struct TileLaunch {
  std::vector<LaunchCandidate> candidates;  // one after the first run
  std::vector<tile_cpu::LoadedKernel> loaded;
  std::shared_ptr<KernelReport> report;
};

class TilePlan final : public PreparedPlan {
 public:
  TilePlan(Engine& engine, const LaunchPlan& plan, std::vector<TileLaunch> launches)
      : engine_(engine), plan_(plan), launches_(std::move(launches)) {
    for (const TileLaunch& l : launches_)
      for (const LaunchCandidate& c : l.candidates)
        pairs_.insert(pairs_.end(), c.source.pairs.begin(), c.source.pairs.end());
  }

  bool fits(void* const* addresses) const override {
    return std::all_of(pairs_.begin(), pairs_.end(),
                       [&](const InputPair& p) { return p.overlap == p.overlaps(addresses); });
  }

  void launch(std::size_t index, void* const* addresses) override {
    TileLaunch& l = launches_[index];
    if (l.candidates.size() > 1) choose(index, addresses);
    LaunchCandidate& c = l.candidates[0];
    for (const auto& [parameter, buffer] : c.source.pointers) c.source.arguments[parameter].pointer = addresses[buffer];
    tile_cpu::launch(engine_, c.grid, c.source.arguments.data());
  }

  // The report of the launch's only, or chosen, variant.
  void describe(std::size_t index) {
    const Launch& launch = plan_.launches[index];
    TileLaunch& l = launches_[index];
    const LaunchVariant& variant = launch.variants[l.candidates[0].variant];
    KernelReport& r = *l.report;
    r.name = launch.kernel.name();
    r.constexprs = constexpr_text(launch, variant);
    std::copy(std::begin(variant.grid), std::end(variant.grid), r.grid);
    r.origin = l.loaded[0].origin;
    r.compile_ms = l.loaded[0].compile_ms;
  }

 private:
  void choose(std::size_t index, void* const* addresses) {
    TileLaunch& l = launches_[index];
    const std::size_t best = fastest(engine_, l.candidates, addresses);
    std::swap(l.candidates[0], l.candidates[best]);
    std::swap(l.loaded[0], l.loaded[best]);
    l.candidates.resize(1);
    l.loaded.resize(1);
    describe(index);
  }

  Engine& engine_;
  const LaunchPlan& plan_;
  std::vector<TileLaunch> launches_;
  std::vector<InputPair> pairs_;
};

}  // namespace

std::unique_ptr<PreparedPlan> TileBackend::build(const LaunchPlan& plan, void* const* addresses) {
  std::vector<TileLaunch> launches(plan.launches.size());
  std::vector<std::string> sources;
  std::vector<std::optional<Error>> errors(launches.size());  // the first of each launch
  for (TileLaunch& l : launches) {
    l.report = std::make_shared<KernelReport>();
    l.report->variants = 0;
  }
  for (BuiltVariant& b : build_kernels(plan, addresses, [&](std::size_t launch, std::size_t variant) {
         return dump_into(options_.dump_folder, reports_.size() + launch, plan, plan.launches[launch], variant);
       })) {
    TileLaunch& l = launches[b.launch];
    ++l.report->variants;
    if (!b.source) {
      if (!errors[b.launch]) errors[b.launch] = std::move(b.source.error());
      continue;
    }
    LaunchCandidate c{b.variant, std::move(*b.source), {}};
    c.grid = {nullptr, c.source.emitted.programs, c.source.emitted.scratch_bytes, c.source.emitted.program_cost,
              options_.atomics_alone && tile::has_atomics(c.source.function.body)};
    if (c.grid.programs > 0) sources.push_back(c.source.emitted.source);
    l.candidates.push_back(std::move(c));
  }
  for (std::size_t i = 0; i < launches.size(); ++i)
    if (launches[i].candidates.empty()) fail(std::move(*errors[i]));
  const auto compiled = tile_cpu::compile_many(sources);
  std::size_t next = 0;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    TileLaunch& l = launches[i];
    std::vector<LaunchCandidate> right;
    for (LaunchCandidate& c : l.candidates) {
      tile_cpu::LoadedKernel kernel;
      if (c.grid.programs > 0) {
        const auto& result = compiled[next++];
        if (!result) {
          if (!errors[i]) errors[i] = result.error();
          continue;
        }
        kernel = *result;
      }
      c.grid.kernel = reinterpret_cast<tile_cpu::Kernel>(kernel.entry);
      l.loaded.push_back(kernel);
      right.push_back(std::move(c));
    }
    if (right.empty()) fail(std::move(*errors[i]));
    l.candidates = std::move(right);
    if (options_.first_variants) {
      l.candidates.resize(1);
      l.loaded.resize(1);
    }
  }
  for (const TileLaunch& l : launches) reports_.push_back(l.report);
  auto out = std::make_unique<TilePlan>(engine_, plan, std::move(launches));
  for (std::size_t i = 0; i < plan.launches.size(); ++i) out->describe(i);
  return out;
}

std::unique_ptr<KernelBackend> make_backend(Engine& engine, DeviceType device, const BackendOptions& options) {
  if (device == DeviceType::cuda) return std::make_unique<CudaBackend>(engine, options);
  return std::make_unique<TileBackend>(engine, options);
}

}  // namespace passnet
