#include "kernels/cuda_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "base/hash.h"
#include "cuda/memory.h"
#include "kernels/autotune.h"
#include "kernels/build.h"
#include "kernels/stage_dump.h"
#include "tile_cuda/compile.h"
#include "tile_cuda/stages.h"

namespace passnet {

namespace {

constexpr int kRuns = 5;                // of one candidate, the first not counted
constexpr std::size_t kAlignment = 16;  // copies are as aligned as the originals

struct CudaKernel {
  std::size_t variant = 0;  // of the launch
  KernelSource source;
  tile_cuda::Emitted emitted;
  tile_cuda::LoadedKernel loaded;
  std::vector<void*> arguments;  // addresses of source.arguments

  bool empty() const { return source.is_empty(); }
  void point() {
    arguments.clear();
    for (tile_cpu::Argument& a : source.arguments) arguments.push_back(&a);
  }
  void launch(const cuda::Device& device, cuda::StreamHandle stream) {
    if (!empty()) tile_cuda::launch(device, loaded, source.facts.grid, emitted.flat, arguments.data(), stream);
  }
};

struct CudaLaunch {
  std::vector<CudaKernel> kernels;  // one after the first run
  std::shared_ptr<KernelReport> report;
};

// Milliseconds of the quickest run, on copies of the memory that the kernel writes.
double measure(const cuda::Device& device, CudaKernel& k, void* const* addresses) {
  struct Copied {
    Extent original;
    std::unique_ptr<cuda::Memory> copy;
    std::uintptr_t shift() const { return reinterpret_cast<std::uintptr_t>(original.low) % kAlignment; }
  };
  std::map<std::int32_t, Copied> copied;
  for (const auto& [number, extent] : written_extents(k.source, addresses))
    if (extent.bytes() > 0)
      copied[number] = {extent, std::make_unique<cuda::Memory>(device, extent.bytes() + kAlignment)};
  for (const auto& [p, buffer] : k.source.pointers) {
    k.source.arguments[p].pointer = addresses[buffer];
    const auto it = copied.find(k.source.facts.parameters[p].memory);
    if (it == copied.end() || addresses[buffer] == nullptr) continue;
    const Copied& c = it->second;
    k.source.arguments[p].pointer = reinterpret_cast<char*>(c.copy->address() + c.shift()) +
                                    (static_cast<char*>(addresses[buffer]) - c.original.low);
  }
  const cuda::Event from(device), to(device);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRuns; ++i) {
    for (const auto& [number, c] : copied)
      device.check(
          device.call.MemcpyDtoDAsync(c.copy->address() + c.shift(), reinterpret_cast<cuda::Address>(c.original.low),
                                      c.original.bytes(), nullptr),
          "cannot copy device memory");
    from.record();
    k.launch(device, nullptr);
    to.record();
    const double ms = to.since(from);
    if (i > 0) best = std::min(best, ms);
  }
  return best;
}

class CudaPlan final : public PreparedPlan {
 public:
  CudaPlan(Engine& engine, const cuda::Device& device, const LaunchPlan& plan, std::vector<CudaLaunch> launches)
      : engine_(engine), device_(device), plan_(plan), launches_(std::move(launches)) {
    for (CudaLaunch& l : launches_)
      for (CudaKernel& k : l.kernels) {
        k.point();
        pairs_.insert(pairs_.end(), k.source.pairs.begin(), k.source.pairs.end());
        for (const auto& [p, buffer] : k.source.pointers) {
          const Root root = root_of(plan, buffer);
          const Buffer& whole = plan.buffers[static_cast<std::size_t>(root.buffer)];
          const auto offset = static_cast<std::uintptr_t>(root.offset) * dtype_row(whole.desc.dtype).size;
          if (whole.kind == BufferKind::input)
            aligned_.push_back(
                {root.buffer, offset, static_cast<std::uintptr_t>(k.source.facts.parameters[p].alignment)});
        }
      }
  }

  bool fits(void* const* addresses) const override {
    return std::all_of(pairs_.begin(), pairs_.end(),
                       [&](const InputPair& p) { return p.overlap == p.overlaps(addresses); }) &&
           std::all_of(aligned_.begin(), aligned_.end(), [&](const Aligned& a) {
             return (reinterpret_cast<std::uintptr_t>(addresses[a.input]) + a.offset) % a.alignment == 0;
           });
  }

  void launch(std::size_t index, void* const* addresses) override {
    CudaLaunch& l = launches_[index];
    if (l.kernels.size() > 1) choose(index, addresses);
    CudaKernel& k = l.kernels[0];
    for (const auto& [parameter, buffer] : k.source.pointers) k.source.arguments[parameter].pointer = addresses[buffer];
    k.launch(device_, engine_.stream());
  }

  // The report of the launch's only, or chosen, variant.
  void describe(std::size_t index) {
    const Launch& launch = plan_.launches[index];
    const CudaKernel& k = launches_[index].kernels[0];
    const LaunchVariant& variant = launch.variants[k.variant];
    KernelReport& r = *launches_[index].report;
    r.name = launch.kernel.name();
    r.constexprs = constexpr_text(launch, variant);
    std::copy(std::begin(variant.grid), std::end(variant.grid), r.grid);
    r.origin = k.loaded.origin;
    r.compile_ms = k.loaded.compile_ms;
  }

 private:
  void choose(std::size_t index, void* const* addresses) {
    CudaLaunch& l = launches_[index];
    std::string all;
    for (const CudaKernel& k : l.kernels) all += std::string(k.loaded.key) + "\n";
    const std::size_t best = quickest(l.kernels.size(), sha256_hex(device_.name + all),
                                      [&](std::size_t i) { return measure(device_, l.kernels[i], addresses); });
    std::swap(l.kernels[0], l.kernels[best]);
    l.kernels.resize(1);
    l.kernels[0].point();
    describe(index);
  }

  Engine& engine_;
  const cuda::Device& device_;
  const LaunchPlan& plan_;
  std::vector<CudaLaunch> launches_;
  std::vector<InputPair> pairs_;
  struct Aligned {  // an argument inside an input, in bytes
    BufferId input;
    std::uintptr_t offset, alignment;
  };
  std::vector<Aligned> aligned_;
};

}  // namespace

std::unique_ptr<PreparedPlan> CudaBackend::build(const LaunchPlan& plan, void* const* addresses) {
  const cuda::Device& device = *cuda::device().take();
  std::vector<CudaLaunch> launches(plan.launches.size());
  std::vector<std::optional<Error>> errors(launches.size());  // the first of each launch
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Launch& launch = plan.launches[i];
    for (std::size_t v = 0; v < launch.variants.size(); ++v) {
      const LaunchVariant& variant = launch.variants[v];
      auto kernel = guarded([&] {
        CudaKernel k;
        k.variant = v;
        k.source = describe_kernel(lower_launch(plan, launch, variant).take(), plan, launch, variant, addresses).take();
        if (!k.empty())
          k.emitted = tile_cuda::run_stages(k.source.function, k.source.facts,
                                            cuda_target(variant, tile_cuda::machine_of(device)),
                                            dump_into(options_.dump_folder, reports_.size() + i, plan, launch, v))
                          .take();
        return k;
      });
      if (kernel)
        launches[i].kernels.push_back(std::move(*kernel));
      else if (!errors[i])
        errors[i] = std::move(kernel.error());
    }
    if (launches[i].kernels.empty()) fail(std::move(*errors[i]));
    launches[i].report = std::make_shared<KernelReport>();
    launches[i].report->variants = launch.variants.size();
  }
  std::vector<const tile_cuda::Emitted*> sources;
  std::vector<CudaKernel*> kernels;
  for (CudaLaunch& l : launches)
    for (CudaKernel& k : l.kernels)
      if (!k.empty()) {
        sources.push_back(&k.emitted);
        kernels.push_back(&k);
      }
  auto compiled = tile_cuda::compile_many(device, sources);
  std::map<const CudaKernel*, Error> broken;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (compiled[i])
      kernels[i]->loaded = *compiled[i];
    else
      broken.emplace(kernels[i], std::move(compiled[i].error()));
  }
  for (CudaLaunch& l : launches) {
    std::vector<CudaKernel> right;
    for (CudaKernel& k : l.kernels)
      if (broken.count(&k) == 0) right.push_back(std::move(k));
    if (right.empty()) fail(std::move(broken.at(&l.kernels[0])));
    if (options_.first_variants) right.resize(1);
    l.kernels = std::move(right);
  }
  for (const CudaLaunch& l : launches) reports_.push_back(l.report);
  auto out = std::make_unique<CudaPlan>(engine_, device, plan, std::move(launches));
  for (std::size_t i = 0; i < plan.launches.size(); ++i) out->describe(i);
  return out;
}

}  // namespace passnet
