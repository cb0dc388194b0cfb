// What a prepared call of a wrapper costs beyond its kernel and its output's allocation, on one thread. Prints
// nanoseconds of
//   kernel    the compiled function called directly
//   allocate  the output's memory, made and given back
//   step      the wrapper's step called with values
//   graph     the rewritten graph run: arguments converted, the step, the result converted
// and the overhead of the last two, the claim being less than 1 µs.
//   prepared_call examples/silu_mul
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "fx/builder.h"
#include "ops/lower.h"
#include "pass/kernel_build.h"
#include "pass/manage.h"
#include "pass/tile_backend.h"
#include "pass/wrapper_step.h"

using namespace passnet;
using Clock = std::chrono::steady_clock;

namespace {

constexpr char kModel[] = R"(
import torch
class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = torch.nn.functional.silu(in_0)
        tmp_1 = tmp_0 * in_1
        return (tmp_1,)
)";

template <class F>
double median_ns(const F& call) {
  constexpr int kRounds = 300, kCalls = 200;
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) {
    const auto begin = Clock::now();
    for (int k = 0; k < kCalls; ++k) call();
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / kCalls);
  }
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return times[kRounds / 2];
}

void measure(Engine& engine, const Applied& applied, std::int64_t n) {
  const TensorDesc desc{{n}, {1}, Dtype::float32, DeviceType::cpu};
  std::vector<TensorRef> inputs;
  for (int i = 0; i < 2; ++i) {
    inputs.push_back(engine.allocate(desc).take());
    engine.fill(inputs.back(), 0.5).take();
  }
  TileBackend backend(engine);
  WrapperStep step(*applied.wrappers[0], engine, backend);
  ExternalStep* externals[] = {&step};
  const Program program = lower_graph(applied.graph, applied.externals).take();
  const auto executable = engine.prepare(program, applied.graph, DeviceType::cpu, externals).take();
  executable->run(inputs).take();

  const LaunchPlan& plan = step.plans()[0]->plan;
  const TensorRef output = engine.allocate(desc).take();
  void* addresses[] = {inputs[0].data, inputs[1].data, output.data};
  KernelSource source = build_kernel(plan, plan.launches[0], plan.launches[0].variants[0], addresses, false).take();
  const auto kernel = reinterpret_cast<tile_cpu::Kernel>(tile_cpu::compile(source.emitted.source).take().entry);
  for (const auto& [parameter, buffer] : source.pointers) source.arguments[parameter].pointer = addresses[buffer];
  alignas(64) static char scratch[1 << 20];

  std::vector<RunValue> arguments(2);
  for (std::size_t i = 0; i < 2; ++i) {
    arguments[i].kind = RunValue::Kind::tensor;
    arguments[i].tensor = inputs[i];
  }
  const double kernel_ns = median_ns([&] { kernel(source.arguments.data(), 0, source.programs(), scratch); });
  const double allocate_ns = median_ns([&] { engine.allocate(desc).take(); });
  const double step_ns = median_ns([&] { step.run(arguments).take(); });
  const double graph_ns = median_ns([&] { executable->run(inputs).take(); });
  std::printf("%8ld  kernel %8.0f  allocate %6.0f  step %8.0f (+%4.0f)  graph %8.0f (+%4.0f)\n", static_cast<long>(n),
              kernel_ns, allocate_ns, step_ns, step_ns - kernel_ns - allocate_ns, graph_ns,
              graph_ns - kernel_ns - allocate_ns);
}

}  // namespace

int main(int argc, char** argv) {
  const PassFolder folder = load_pass_folder(argc > 1 ? argv[1] : "examples/silu_mul").take();
  const Graph graph = read_model("model.py", kModel).take();
  const Applied applied = apply_passes(graph, folder, MatchMode::normal).take();
  Engine& engine = *engine_load().take();
  engine.set_threads(1);
  std::printf("nanoseconds a call, float32, one thread; in brackets what is neither kernel nor allocation\n");
  for (const std::int64_t n : {64, 1024, 4096, 65536}) measure(engine, applied, n);
  return 0;
}
