#include "author/measure.h"

#include <algorithm>
#include <chrono>

#include "bench/device.h"
#include "exec/engine.h"
#include "ops/lower.h"
#include "pass/kernel_backend.h"
#include "pass/manage.h"
#include "pass/rewrite.h"
#include "pass/wrapper_step.h"

namespace passnet::author {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kSeed = 1024;
constexpr int kRounds = 40;
constexpr double kRoundSeconds = 100e-6;  // what one round of a side should take at least

double quantile(std::vector<double> v, double q) {
  std::sort(v.begin(), v.end());
  return v[static_cast<std::size_t>(q * static_cast<double>(v.size() - 1))];
}

// One side: an executable with inputs of its own.
struct Side {
  DeviceType device;
  std::unique_ptr<Executable> executable;
  std::vector<TensorRef> inputs;
  std::vector<double> times;

  double run(int calls, Engine& engine, const std::vector<TensorRef>& originals, bool restore) {
    double seconds = 0;
    for (int i = 0; i < calls; ++i) {
      if (restore)
        for (std::size_t k = 0; k < inputs.size(); ++k) engine.copy(inputs[k], originals[k]).take();
      engine.synchronise(device).take();
      const auto begin = Clock::now();
      executable->run(inputs).take();
      engine.synchronise(device).take();
      seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    }
    return seconds / calls;
  }
};

}  // namespace

Result<Timing> EngineMeasure::time(const GraphFolder& graph, const PassFolder& passes) {
  return guarded([&] {
    const auto originals = engine_.replay(graph, kSeed, device_).take();
    const auto copies = [&] {
      std::vector<TensorRef> out;
      for (const TensorRef& t : originals) {
        out.push_back(engine_.allocate(describe(t)).take());
        engine_.copy(out.back(), t).take();
      }
      return out;
    };
    Side eager{device_, {}, {}, {}}, pass{device_, {}, {}, {}};
    eager.executable = engine_.prepare(lower_graph(graph.graph).take(), graph.graph, device_).take();
    eager.inputs = copies();
    const Applied applied = apply_passes(graph.graph, passes, MatchMode::normal).take();
    if (!applied.changed()) fail(Code::pass, "no pass changed the graph");
    const auto backend = make_backend(engine_, device_);
    std::vector<std::unique_ptr<WrapperStep>> steps;
    std::vector<ExternalStep*> externals;
    for (const Pass* p : applied.wrappers) {
      steps.push_back(std::make_unique<WrapperStep>(*p, engine_, *backend));
      externals.push_back(steps.back().get());
    }
    pass.executable =
        engine_.prepare(lower_graph(applied.graph, applied.externals).take(), applied.graph, device_, externals).take();
    pass.inputs = copies();
    bool restore = false;
    for (const Node& node : graph.graph.nodes) restore |= node_writes(node);
    double once = 0;
    for (Side* side : {&eager, &pass}) {
      side->run(1, engine_, originals, restore);
      once = std::max(once, side->run(2, engine_, originals, restore));
    }
    const int calls = restore ? 1 : std::clamp(static_cast<int>(kRoundSeconds / once), 1, 200);
    const int rounds = std::clamp(static_cast<int>(budget_ / (2 * once * calls)), 7, restore ? 4 * kRounds : kRounds);
    for (int i = 0; i < rounds; ++i)
      for (Side* side : {&eager, &pass}) side->times.push_back(side->run(calls, engine_, originals, restore) * 1e6);
    Timing out;
    // the lower quartile: what other processes add is never negative
    out.eager_us = quantile(eager.times, 0.25);
    out.pass_us = quantile(pass.times, 0.25);
    for (const Side* side : {&eager, &pass})
      out.spread =
          std::max(out.spread, (quantile(side->times, 0.5) - quantile(side->times, 0.1)) / quantile(side->times, 0.25));
    return out;
  });
}

std::string EngineMeasure::place() const { return device_ == DeviceType::cuda ? device_name(device_) : ""; }

}  // namespace passnet::author
