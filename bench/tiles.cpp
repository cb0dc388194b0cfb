// Kernels of bench/tiles against eager through ATen: tiles THREADS CASE...
// A case is a folder with model.py, a pass folder and sizes.txt (a line per variant). Eager and ours run in turn; each
// is given as the median microseconds of a call, beside the bytes read and written and the time of torch's copy_ over
// as many. One JSON object a line.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>

#include "base/file.h"
#include "base/text.h"
#include "fx/builder.h"
#include "kernels/tile_backend.h"
#include "ops/lower.h"
#include "pass/manage.h"
#include "pass/wrapper_step.h"

using namespace passnet;
using Clock = std::chrono::steady_clock;

namespace {

double once_us(const auto& call) {
  const auto begin = Clock::now();
  call();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

// The same numbers in another dtype, contiguous.
TensorRef converted(Engine& engine, const TensorRef& tensor, Dtype dtype) {
  TensorDesc desc = describe(tensor);
  desc.dtype = dtype;
  desc.strides = contiguous_strides(desc.sizes);
  const TensorRef out = engine.allocate(desc).take();
  engine.copy(out, tensor).take();
  return out;
}

// `float32[4, 5]` or `int64[32]<1000`, filled from one generator.
TensorRef make_input(Engine& engine, std::string_view text, std::mt19937& random) {
  const std::size_t open = text.find('['), close = text.find(']');
  TensorDesc desc;
  const Dtype dtype = *dtype_from_name(text_trim(text.substr(0, open)));
  desc.dtype = dtype == Dtype::int64 ? dtype : Dtype::float32;
  for (const std::string_view size : text_split(text.substr(open + 1, close - open - 1), ','))
    desc.sizes.push_back(std::stoll(std::string(size)));
  desc.strides = contiguous_strides(desc.sizes);
  const TensorRef out = engine.allocate(desc).take();
  const std::int64_t limit = text.size() > close + 2 ? std::stoll(std::string(text.substr(close + 2))) : 0;
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < desc.element_count(); ++i) {
    if (desc.dtype == Dtype::int64)
      static_cast<std::int64_t*>(out.data)[i] = static_cast<std::int64_t>(random()) % limit;
    else
      static_cast<float*>(out.data)[i] = i < (1 << 16) ? normal(random) : static_cast<float*>(out.data)[i - (1 << 16)];
  }
  return dtype == desc.dtype ? out : converted(engine, out, dtype);
}

std::int64_t bytes_of(const TensorRef& t) { return describe(t).element_count() * dtype_row(t.dtype).size; }

void measure(Engine& engine, const std::string& folder, int threads) {
  const Graph graph = read_model(folder + "/model.py", file_read(folder + "/model.py").take()).take();
  const PassFolder passes = load_pass_folder(folder + "/pass").take();
  const Applied applied = apply_passes(graph, passes, MatchMode::normal).take();
  if (applied.wrappers.empty()) fail(Code::pass, folder + ": the pass does not match");
  const std::string sizes = file_read(folder + "/sizes.txt").take();
  for (const std::string_view line : text_split(text_trim(sizes), '\n')) {
    std::mt19937 random(1);
    std::vector<TensorRef> inputs;
    for (const std::string_view text : text_split(line, ';'))
      inputs.push_back(make_input(engine, text_trim(text), random));
    TileBackend backend(engine);
    std::vector<std::unique_ptr<WrapperStep>> steps;
    std::vector<ExternalStep*> externals;
    for (const Pass* wrapper : applied.wrappers) {
      steps.push_back(std::make_unique<WrapperStep>(*wrapper, engine, backend));
      externals.push_back(steps.back().get());
    }
    const auto eager = engine.prepare(lower_graph(graph).take(), graph, DeviceType::cpu).take();
    const auto ours =
        engine.prepare(lower_graph(applied.graph, applied.externals).take(), applied.graph, DeviceType::cpu, externals)
            .take();
    const RunValue expected = eager->run(inputs).take();
    const RunValue got = ours->run(inputs).take();
    const TensorRef &a = expected.items[0].tensor, &b = got.items[0].tensor;
    double worst = 0;
    const TensorRef x = converted(engine, a, Dtype::float32), y = converted(engine, b, Dtype::float32);
    for (std::int64_t i = 0; i < describe(x).element_count(); ++i)
      worst = std::max(worst,
                       static_cast<double>(std::abs(static_cast<float*>(x.data)[i] - static_cast<float*>(y.data)[i])));
    std::int64_t bytes = bytes_of(b);
    for (const TensorRef& t : inputs) bytes += bytes_of(t);
    if (inputs.size() == 2 && inputs[0].dtype == Dtype::int64)
      bytes = bytes_of(inputs[0]) + 2 * bytes_of(b);  // a gather reads what it writes
    const TensorDesc half{{bytes / 8}, {1}, Dtype::float32, DeviceType::cpu};
    const TensorRef from = engine.allocate(half).take(), to = engine.allocate(half).take();
    engine.fill(from, 1).take();
    std::vector<double> times[3];
    const double budget = 400'000;
    double spent = 0;
    for (int round = 0; round < 400 && (spent < budget || round < 15); ++round) {
      const double e = once_us([&] { eager->run(inputs).take(); });
      const double o = once_us([&] { ours->run(inputs).take(); });
      const double c = once_us([&] { engine.copy(to, from).take(); });
      spent += e + o + c;
      if (round < 5) continue;
      times[0].push_back(e);
      times[1].push_back(o);
      times[2].push_back(c);
    }
    fmt::print(
        "{{\"case\": \"{}\", \"sizes\": \"{}\", \"threads\": {}, \"eager_us\": {:.2f}, \"ours_us\": {:.2f}, "
        "\"copy_us\": {:.2f}, \"mb\": {:.2f}, \"max_diff\": {:.3g}}}\n",
        folder, line, threads, median(times[0]), median(times[1]), median(times[2]), static_cast<double>(bytes) / 1e6,
        worst);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 2 ? std::atoi(argv[1]) : 0;
  if (threads < 1) {
    fmt::print(stderr, "usage: {} THREADS CASE...\n", argv[0]);
    return 2;
  }
  const auto done = guarded([&] {
    mallopt(M_MMAP_MAX,
            0);  // memory that was freed is used again: page faults of new memory would be all that large sizes show
    mallopt(M_TRIM_THRESHOLD, -1);
    Engine& engine = *engine_load().take();
    engine.set_threads(threads);
    for (int i = 2; i < argc; ++i) measure(engine, argv[i], threads);
    return 0;
  });
  if (!done) fmt::print(stderr, "{}\n", error_text(done.error()));
  return done ? 0 : 1;
}
