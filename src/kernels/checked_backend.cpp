#include "kernels/checked_backend.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "kernels/build.h"
#include "tile/effects.h"
#include "tile_cpu/checked.h"
#include "tile_cpu/compile.h"
#include "tile_cuda/checked.h"
#include "tile_cuda/stages.h"

namespace passnet {

// One launch in its checked build.
class CheckedLaunch {
 public:
  virtual ~CheckedLaunch() = default;
  bool empty() const { return source.is_empty(); }
  virtual const std::vector<tile::Site>& sites() const = 0;
  virtual void run(tile::Shadow& memory, const tile::Shadow::Launch& launch) = 0;

  KernelSource source;
};

class CheckedPlatform {
 public:
  using Launches = std::vector<std::unique_ptr<CheckedLaunch>>;
  virtual ~CheckedPlatform() = default;
  virtual std::unique_ptr<tile::Shadow> memory() const = 0;
  virtual std::unique_ptr<CheckedLaunch> emit(const LaunchPlan& plan, const Launch& launch,
                                              const LaunchVariant& variant, void* const* addresses) const = 0;
  virtual void compile(const Launches& launches) const = 0;
};

namespace {

class CpuLaunch final : public CheckedLaunch {
 public:
  const std::vector<tile::Site>& sites() const override { return source.emitted.sites; }
  void run(tile::Shadow& memory, const tile::Shadow::Launch& launch) override {
    static_cast<tile_cpu::CheckedMemory&>(memory).run(kernel, source.emitted, launch, source.arguments.data());
  }
  tile_cpu::CheckedKernel kernel = nullptr;
};

class CpuPlatform final : public CheckedPlatform {
 public:
  explicit CpuPlatform(tile_cpu::Build build) : build_(build) {}
  std::unique_ptr<tile::Shadow> memory() const override { return std::make_unique<tile_cpu::CheckedMemory>(); }
  std::unique_ptr<CheckedLaunch> emit(const LaunchPlan& plan, const Launch& launch, const LaunchVariant& variant,
                                      void* const* addresses) const override {
    auto out = std::make_unique<CpuLaunch>();
    out->source = build_kernel(plan, launch, variant, addresses, build_).take();
    return out;
  }
  void compile(const Launches& launches) const override {
    std::vector<std::string> sources;
    for (const auto& l : launches)
      if (!l->empty()) sources.push_back(l->source.emitted.source);
    auto compiled = tile_cpu::compile_many(sources, build_);
    std::size_t next = 0;
    for (const auto& l : launches)
      if (!l->empty())
        static_cast<CpuLaunch&>(*l).kernel = reinterpret_cast<tile_cpu::CheckedKernel>(compiled[next++].take().entry);
  }

 private:
  const tile_cpu::Build build_;
};

class CudaLaunch final : public CheckedLaunch {
 public:
  const std::vector<tile::Site>& sites() const override { return emitted.sites; }
  void run(tile::Shadow& memory, const tile::Shadow::Launch& launch) override {
    std::vector<void*> arguments;
    for (tile_cpu::Argument& a : source.arguments) arguments.push_back(&a);
    static_cast<tile_cuda::CheckedMemory&>(memory).run(loaded, launch, std::move(arguments));
  }
  tile_cuda::Emitted emitted;
  tile_cuda::LoadedKernel loaded;
};

class CudaPlatform final : public CheckedPlatform {
 public:
  CudaPlatform() : device_(*cuda::device().take()) {}
  std::unique_ptr<tile::Shadow> memory() const override { return std::make_unique<tile_cuda::CheckedMemory>(device_); }
  std::unique_ptr<CheckedLaunch> emit(const LaunchPlan& plan, const Launch& launch, const LaunchVariant& variant,
                                      void* const* addresses) const override {
    auto out = std::make_unique<CudaLaunch>();
    out->source = describe_kernel(lower_launch(plan, launch, variant).take(), plan, launch, variant, addresses).take();
    if (!out->empty())
      out->emitted = tile_cuda::run_stages(out->source.function, out->source.facts,
                                           cuda_target(variant, tile_cuda::machine_of(device_)), {}, true)
                         .take();
    return out;
  }
  void compile(const Launches& launches) const override {
    std::vector<const tile_cuda::Emitted*> sources;
    for (const auto& l : launches)
      if (!l->empty()) sources.push_back(&static_cast<CudaLaunch&>(*l).emitted);
    auto compiled = tile_cuda::compile_many(device_, sources);
    std::size_t next = 0;
    for (const auto& l : launches)
      if (!l->empty()) static_cast<CudaLaunch&>(*l).loaded = compiled[next++].take();
  }

 private:
  const cuda::Device& device_;
};

// What does not compile is found again, and reported, by who needs it.
void build_all(const LaunchPlan& plan, void* const* addresses) {
  std::vector<std::string> sources;
  for (const BuiltVariant& b : build_kernels(plan, addresses))
    if (b.source && !b.source->is_empty()) sources.push_back(b.source->emitted.source);
  const auto kept_in_memory = tile_cpu::compile_many(sources);
}

}  // namespace

class CheckedPlan final : public PreparedPlan {
 public:
  CheckedPlan(CheckedBackend& backend, const LaunchPlan& plan, CheckedPlatform::Launches launches)
      : backend_(backend), plan_(plan), launches_(std::move(launches)) {}

  bool watches() const override { return true; }

  void begin() override {
    memory_ = backend_.platform_->memory();
    regions_.assign(plan_.buffers.size(), -1);
    copied_.clear();
  }

  void made(BufferId buffer, void* const* addresses) override {
    const Buffer& b = plan_.buffers[static_cast<std::size_t>(buffer)];
    if (b.kind == BufferKind::copy) find_unwritten(b.base, "copied", copied_);
    const bool written = b.kind != BufferKind::fresh || b.fill == Fill::value;
    // A tensor that is filled counts as written from here on. Where a part of it is, the rest may never be: nothing
    // does.
    if (b.kind != BufferKind::view)
      add_region(buffer, written, addresses);
    else if (b.fill == Fill::value && is_whole(b))
      add_region(b.base, written, addresses);
  }

  void launch(std::size_t index, void* const* addresses) override {
    CheckedLaunch& l = *launches_[index];
    if (l.empty()) return;
    note_trials(plan_.launches[index], l.source.function);
    tile::Shadow::Launch info = checked_launch(l.source, l.sites(), addresses, [&](BufferId buffer) {
      return regions_[static_cast<std::size_t>(root_of(plan_, buffer).buffer)];
    });
    info.backwards = backend_.options_.backwards;
    l.run(*memory_, info);
  }

  void finished(void* const*) override {
    std::vector<Error> errors = memory_->errors();
    errors.insert(errors.end(), copied_.begin(), copied_.end());
    if (errors.empty()) find_unwritten(plan_.output, errors);
    for (std::size_t id = 0; id < plan_.buffers.size(); ++id)
      if (const Buffer& b = plan_.buffers[id]; b.kind == BufferKind::input && memory_->is_stored(regions_[id])) {
        add_fact(fmt::format("argument {} of a wrapper is written in place", b.input));
      }
    memory_.reset();
    if (errors.empty()) return;
    Error first = errors[0];
    backend_.errors_.insert(backend_.errors_.end(), std::make_move_iterator(errors.begin()),
                            std::make_move_iterator(errors.end()));
    fail(std::move(first));
  }

 private:
  void add_fact(std::string fact) {
    if (std::find(backend_.facts_.begin(), backend_.facts_.end(), fact) == backend_.facts_.end())
      backend_.facts_.push_back(std::move(fact));
  }
  // A tuner runs the kernel many times on the call's own tensors.
  void note_trials(const Launch& launch, const tile::Function& function) {
    if (launch.variants.size() < 2) return;
    for (const std::string& name : tile::added_parameters(function))
      if (std::find(launch.restored.begin(), launch.restored.end(), name) == launch.restored.end())
        add_fact(
            fmt::format("kernel {0} is tuned and adds to '{1}': Triton's trials add up there on the first call; give "
                        "autotune reset_to_zero=['{1}']",
                        launch.kernel.name(), name));
  }
  bool is_whole(const Buffer& view) const {
    const TensorDesc& base = plan_.buffers[static_cast<std::size_t>(view.base)].desc;
    return view.desc.element_count() == base.element_count() && view.desc.hull() == base.hull();
  }
  void add_region(BufferId buffer, bool written, void* const* addresses) {
    const TensorDesc& d = plan_.buffers[static_cast<std::size_t>(buffer)].desc;
    regions_[static_cast<std::size_t>(buffer)] =
        memory_->add(addresses[buffer], hull_bytes(d), static_cast<std::int64_t>(dtype_row(d.dtype).size), written);
  }

  void find_unwritten(const PlanOutput& output, std::vector<Error>& errors) const {
    for (const PlanOutput& item : output.items) find_unwritten(item, errors);
    if (output.buffer >= 0) find_unwritten(output.buffer, "returned", errors);
  }

  void find_unwritten(BufferId buffer, std::string_view use, std::vector<Error>& errors) const {
    if (errors.size() >= tile::Shadow::kErrorLimit) return;
    const Root root = root_of(plan_, buffer);
    const TensorDesc& d = plan_.buffers[static_cast<std::size_t>(buffer)].desc;
    const auto region = regions_[static_cast<std::size_t>(root.buffer)];
    if (memory_->is_all_written(region)) return;
    const auto size = static_cast<std::int64_t>(dtype_row(d.dtype).size);
    std::int64_t count = 0, first = 0;
    const std::int64_t n = d.element_count();
    std::vector<std::int64_t> index(d.sizes.size(), 0);
    std::int64_t at = root.offset;
    for (std::int64_t i = 0; i < n; ++i) {
      if (!memory_->is_written(region, at * size) && count++ == 0) first = i;
      for (std::size_t k = index.size(); k-- > 0;) {  // the next element in row-major order
        at += d.strides[k];
        if (++index[k] < d.sizes[k]) break;
        at -= d.strides[k] * d.sizes[k];
        index[k] = 0;
      }
    }
    if (count == 0) return;
    const Buffer& made = plan_.buffers[static_cast<std::size_t>(root.buffer)];
    errors.push_back({Code::memory,
                      made.file != nullptr ? made.file->where(made.place) : Where{},
                      fmt::format("element {} of a {} tensor is never written, {} of {} in all",
                                  place_text(first, d.sizes), use, count, n),
                      {"does the grid cover the whole tensor? is the mask too narrow?"}});
  }

  CheckedBackend& backend_;
  const LaunchPlan& plan_;
  CheckedPlatform::Launches launches_;
  std::unique_ptr<tile::Shadow> memory_;
  std::vector<tile::Shadow::RegionId> regions_;  // by buffer; -1: a view
  std::vector<Error> copied_;                    // what was copied before it was written
};

CheckedBackend::CheckedBackend(DeviceType device, const Options& options) : device_(device), options_(options) {
  if (device == DeviceType::cuda)
    platform_ = std::make_unique<CudaPlatform>();
  else
    platform_ = std::make_unique<CpuPlatform>(options.followed ? tile_cpu::Build::followed : tile_cpu::Build::checked);
}

CheckedBackend::~CheckedBackend() = default;

std::unique_ptr<PreparedPlan> CheckedBackend::build(const LaunchPlan& plan, void* const* addresses) {
  CheckedPlatform::Launches launches(plan.launches.size());
  std::vector<std::optional<Error>> errors(launches.size());
  std::vector<std::vector<std::size_t>> all_variants;
  for (const Launch& launch : plan.launches) all_variants.push_back(distinct_variants(launch));
  parallel_run(0, launches.size(), [&](std::size_t i) {
    const Launch& launch = plan.launches[i];
    const std::vector<std::size_t>& variants = all_variants[i];
    // One that cannot be built is skipped, as autotuning does; the first error counts if none can.
    for (std::size_t k = 0; k < variants.size() && launches[i] == nullptr; ++k) {
      const std::size_t v = variants[(std::min(options_.variant, variants.size() - 1) + k) % variants.size()];
      auto emitted = guarded([&] { return platform_->emit(plan, launch, launch.variants[v], addresses); });
      if (emitted)
        launches[i] = std::move(*emitted);
      else if (!errors[i])
        errors[i] = std::move(emitted.error());
    }
  });
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (launches[i] == nullptr) fail(std::move(*errors[i]));
    variants_ = std::max(variants_, all_variants[i].size());
    tuned_ += all_variants[i].size() > 1 ? 1 : 0;
    for (const tile::Site& site : launches[i]->sites()) ordered_ |= site.kind == tile::Site::Kind::atomic;
    by_contents_ |= tile::accesses_by_contents(launches[i]->source.function);
  }
  if (options_.prebuild && device_ == DeviceType::cpu) build_all(plan, addresses);
  platform_->compile(launches);
  return std::make_unique<CheckedPlan>(*this, plan, std::move(launches));
}

Result<std::unique_ptr<PreparedPlan>> CheckedBackend::prepare(const LaunchPlan& plan, void* const* addresses) {
  auto out = guarded([&] { return build(plan, addresses); });
  failed_ |= !out;
  return out;
}

}  // namespace passnet
