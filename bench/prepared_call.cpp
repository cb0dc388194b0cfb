// What a prepared call of a wrapper costs, on one thread. Prints nanoseconds of
//   kernel    the compiled function called directly; on CUDA a bare launch by the driver
//   allocate  the output's memory, made and given back
//   step      the wrapper's step called with values
//   graph     the rewritten graph run: arguments converted, the step, the result converted
// and the overhead of the last two: on the CPU what is neither kernel nor allocation, the claim being less than 1 µs;
// on CUDA, where nobody waits for the kernel, what is not the launch, the claim being less than 2 µs.
//   prepared_call [examples/silu_mul] [cpu|cuda]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "fx/builder.h"
#include "kernels/build.h"
#include "kernels/cuda_backend.h"
#include "kernels/tile_backend.h"
#include "ops/lower.h"
#include "pass/manage.h"
#include "pass/wrapper_step.h"
#include "tile_cuda/compile.h"
#include "tile_cuda/stages.h"

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

// Medians in nanoseconds, the calls by turns: what the machine does besides meets all alike.
std::vector<double> medians_ns(Engine& engine, DeviceType device, const std::vector<std::function<void()>>& calls) {
  constexpr int kFirstRounds = 200, kRounds = 300, kCalls = 200;  // the first ones wake the machine up
  std::vector<std::vector<double>> times(calls.size());
  for (int i = -kFirstRounds; i < kRounds; ++i)
    for (std::size_t c = 0; c < calls.size(); ++c) {
      const auto begin = Clock::now();
      for (int k = 0; k < kCalls; ++k) calls[c]();
      const double ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / kCalls;
      if (i >= 0) times[c].push_back(ns);
      if (device == DeviceType::cuda)
        engine.synchronise(device).take();  // outside: launches only wait for a full queue
    }
  std::vector<double> medians;
  for (std::vector<double>& t : times) {
    std::nth_element(t.begin(), t.begin() + kRounds / 2, t.end());
    medians.push_back(t[kRounds / 2]);
  }
  return medians;
}

// The plan's first kernel over these buffers, nothing around it.
std::function<void()> bare_kernel(Engine& engine, const LaunchPlan& plan, void* const* addresses, DeviceType device) {
  const Launch& launch = plan.launches[0];
  const LaunchVariant& variant = launch.variants[0];
  auto source = std::make_shared<KernelSource>();
  const auto point = [&] {
    for (const auto& [parameter, buffer] : source->pointers) source->arguments[parameter].pointer = addresses[buffer];
  };
  if (device == DeviceType::cpu) {
    *source = build_kernel(plan, launch, variant, addresses, tile_cpu::Build::fast).take();
    point();
    alignas(64) static char scratch[1 << 20];
    const auto kernel = reinterpret_cast<tile_cpu::Kernel>(tile_cpu::compile(source->emitted.source).take().entry);
    return [source, kernel] { kernel(source->arguments.data(), 0, source->emitted.programs, scratch); };
  }
  const cuda::Device& gpu = *cuda::device().take();
  *source = describe_kernel(lower_launch(plan, launch, variant).take(), plan, launch, variant, addresses).take();
  const tile_cuda::Target target{variant.num_warps, variant.num_stages, variant.fp_fusion, tile_cuda::machine_of(gpu)};
  const tile_cuda::Emitted emitted = tile_cuda::run_stages(source->function, source->facts, target).take();
  const tile_cuda::LoadedKernel loaded = tile_cuda::compile(gpu, emitted).take();
  point();
  std::vector<void*> arguments;
  for (tile_cpu::Argument& a : source->arguments) arguments.push_back(&a);
  void* stream = engine.stream();
  return [=, &gpu]() mutable {
    tile_cuda::launch(gpu, loaded, source->facts.grid, emitted.flat, arguments.data(), stream);
  };
}

void measure(Engine& engine, const Applied& applied, std::int64_t n, DeviceType device) {
  const TensorDesc desc{{n}, {1}, Dtype::float32, device};
  std::vector<TensorRef> inputs;
  for (int i = 0; i < 2; ++i) {
    inputs.push_back(engine.allocate(desc).take());
    engine.fill(inputs.back(), 0.5).take();
  }
  std::unique_ptr<KernelBackend> backend;
  if (device == DeviceType::cpu)
    backend = std::make_unique<TileBackend>(engine);
  else
    backend = std::make_unique<CudaBackend>(engine);
  WrapperStep step(*applied.wrappers[0], engine, *backend);
  ExternalStep* externals[] = {&step};
  const Program program = lower_graph(applied.graph, applied.externals).take();
  const auto executable = engine.prepare(program, applied.graph, device, externals).take();
  executable->run(inputs).take();

  const TensorRef output = engine.allocate(desc).take();
  void* addresses[] = {inputs[0].data, inputs[1].data, output.data};
  const auto kernel = bare_kernel(engine, step.plans()[0]->plan, addresses, device);
  std::vector<RunValue> arguments(2);
  for (std::size_t i = 0; i < 2; ++i) {
    arguments[i].kind = RunValue::Kind::tensor;
    arguments[i].tensor = inputs[i];
  }
  const std::vector<double> ns =
      medians_ns(engine, device,
                 {kernel, [&] { engine.allocate(desc).take(); }, [&] { step.run(arguments).take(); },
                  [&] { executable->run(inputs).take(); }});
  const double kernel_ns = ns[0], allocate_ns = ns[1], step_ns = ns[2], graph_ns = ns[3];
  const double needed = device == DeviceType::cpu ? kernel_ns + allocate_ns : kernel_ns;
  std::printf("%8ld  kernel %8.0f  allocate %6.0f  step %8.0f (+%4.0f)  graph %8.0f (+%4.0f)\n", static_cast<long>(n),
              kernel_ns, allocate_ns, step_ns, step_ns - needed, graph_ns, graph_ns - needed);
}

}  // namespace

int main(int argc, char** argv) {
  const PassFolder folder = load_pass_folder(argc > 1 ? argv[1] : "examples/silu_mul").take();
  const Graph graph = read_model("model.py", kModel).take();
  const Applied applied = apply_passes(graph, folder, MatchMode::normal).take();
  Engine& engine = *engine_load().take();
  engine.set_threads(1);
  const DeviceType device = argc > 2 && std::string_view(argv[2]) == "cuda" ? DeviceType::cuda : DeviceType::cpu;
  engine.require(device).take();
  std::printf("nanoseconds a call, float32, one thread; in brackets what is %s\n",
              device == DeviceType::cpu ? "neither kernel nor allocation" : "not the launch");
  for (const std::int64_t n : {64, 1024, 4096, 65536}) measure(engine, applied, n, device);
  return 0;
}
