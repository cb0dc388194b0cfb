// What one operator costs beyond its ATen kernel: the C++ side of bench/op_overhead.py. Prints `name<TAB>ns per call`
// for
//   eager   a graph of many equal operators on tiny tensors, run by our interpreter
//   floor   the same operator called directly in C++ (unboxed), which both sides contain
// Torch headers are used here, and only here outside src/exec, to measure that floor.
//   op_overhead FOLDER...   (graph folders made by op_overhead.py, each of `count` equal operators)
#include <ATen/Parallel.h>
#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/transpose.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "exec/engine.h"
#include "ops/lower.h"

using namespace passnet;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kRounds = 200;

template <class F>
double median_ns(const F& call, std::size_t count) {
  std::vector<double> times;
  for (int i = 0; i < kRounds + 20; ++i) {
    const auto begin = Clock::now();
    call();
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
    if (i >= 20) times.push_back(ns / static_cast<double>(count));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  Engine& engine = *engine_load().take();
  engine.set_threads(1);
  for (int i = 1; i < argc; ++i) {
    const GraphFolder folder = read_graph_folder(argv[i]).take();
    const Program program = lower_graph(folder.graph).take();
    auto executable = engine.prepare(program, folder.graph, DeviceType::cpu).take();
    const auto inputs = engine.replay(folder, 1024, DeviceType::cpu).take();
    const std::size_t count = folder.graph.nodes.size() - folder.graph.placeholder_count() - 1;
    const std::string name = std::string(argv[i]).substr(std::string(argv[i]).rfind('/') + 1);
    std::printf("%s\teager\t%.1f\n", name.c_str(), median_ns([&] { executable->run(inputs).take(); }, count));
  }
  const c10::InferenceMode inference(true);
  at::set_num_threads(1);
  const at::Tensor x = at::randn({2, 4}), y = at::randn({2, 4});
  constexpr int kCalls = 200;
  const std::pair<const char*, std::function<at::Tensor()>> floors[] = {
      {"relu", [&] { return at::relu(x); }},           {"add", [&] { return at::add(x, y); }},
      {"mul_scalar", [&] { return at::mul(x, 0.5); }}, {"transpose", [&] { return at::transpose(x, 0, 1); }},
      {"softmax", [&] { return at::softmax(x, -1); }},
  };
  for (const auto& [name, call] : floors) {
    const double ns = median_ns(
        [&] {
          for (int i = 0; i < kCalls; ++i) call();
        },
        kCalls);
    std::printf("%s\tfloor\t%.1f\n", name, ns);
  }
  return 0;
}
