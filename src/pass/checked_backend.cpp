#include "pass/checked_backend.h"

#include <fmt/format.h>

#include <algorithm>

#include "pass/kernel_build.h"
#include "tile_cpu/checked.h"
#include "tile_cpu/compile.h"

namespace passnet {

namespace {

struct CheckedLaunch {
  KernelSource source;
  tile_cpu::CheckedKernel kernel = nullptr;
};

std::string index_text(std::int64_t element, const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> out(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0; element /= sizes[d]) out[d] = element % sizes[d];
  return fmt::format("[{}]", fmt::join(out, ", "));
}

}  // namespace

class CheckedPlan final : public PreparedPlan {
 public:
  CheckedPlan(CheckedBackend& backend, const LaunchPlan& plan, std::vector<CheckedLaunch> launches)
      : backend_(backend), plan_(plan), launches_(std::move(launches)) {}

  bool watches() const override { return true; }

  void begin() override {
    memory_ = {};
    regions_.assign(plan_.buffers.size(), -1);
  }

  void made(BufferId buffer, void* const* addresses) override {
    const Buffer& b = plan_.buffers[static_cast<std::size_t>(buffer)];
    if (b.kind == BufferKind::view) return;
    const bool written = b.kind != BufferKind::fresh || b.fill == Fill::value;
    regions_[static_cast<std::size_t>(buffer)] = memory_.add(
        addresses[buffer], hull_bytes(b.desc), static_cast<std::int64_t>(dtype_row(b.desc.dtype).size), written);
  }

  void launch(std::size_t index, void* const* addresses) override {
    CheckedLaunch& l = launches_[index];
    if (l.kernel == nullptr) return;  // no programs
    tile_cpu::CheckedMemory::Launch info{l.source.function, l.source.emitted, l.source.facts.grid, {}};
    info.parameters.resize(l.source.arguments.size());
    for (const auto& [parameter, buffer] : l.source.pointers) {
      l.source.arguments[parameter].pointer = addresses[buffer];
      info.parameters[parameter] = {addresses[buffer],
                                    regions_[static_cast<std::size_t>(root_of(plan_, buffer).buffer)],
                                    l.source.written[parameter]};
    }
    memory_.run(l.kernel, info, l.source.arguments.data(), backend_.options_.backwards);
  }

  void finished(void* const*) override {
    std::vector<Error> errors = memory_.errors();
    if (errors.empty()) find_unwritten(plan_.output, errors);
    for (std::size_t id = 0; id < plan_.buffers.size(); ++id)
      if (const Buffer& b = plan_.buffers[id]; b.kind == BufferKind::input && memory_.is_stored(regions_[id])) {
        std::string fact = fmt::format("argument {} of a wrapper is written in place", b.input);
        if (std::find(backend_.facts_.begin(), backend_.facts_.end(), fact) == backend_.facts_.end())
          backend_.facts_.push_back(std::move(fact));
      }
    memory_ = {};
    if (errors.empty()) return;
    Error first = errors[0];
    backend_.errors_.insert(backend_.errors_.end(), std::make_move_iterator(errors.begin()),
                            std::make_move_iterator(errors.end()));
    fail(std::move(first));
  }

 private:
  void find_unwritten(const PlanOutput& output, std::vector<Error>& errors) const {
    for (const PlanOutput& item : output.items) find_unwritten(item, errors);
    if (output.buffer < 0 || errors.size() >= tile_cpu::CheckedMemory::kErrorLimit) return;
    const Root root = root_of(plan_, output.buffer);
    const TensorDesc& d = plan_.buffers[static_cast<std::size_t>(output.buffer)].desc;
    const auto region = regions_[static_cast<std::size_t>(root.buffer)];
    const auto size = static_cast<std::int64_t>(dtype_row(d.dtype).size);
    std::int64_t count = 0, first = 0;
    const std::int64_t n = d.element_count();
    std::vector<std::int64_t> index(d.sizes.size(), 0);
    std::int64_t at = root.offset;
    for (std::int64_t i = 0; i < n; ++i) {
      if (!memory_.is_written(region, at * size) && count++ == 0) first = i;
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
                      fmt::format("element {} of a returned tensor is never written, {} of {} in all",
                                  index_text(first, d.sizes), count, n),
                      {"does the grid cover the whole tensor? is the mask too narrow?"}});
  }

  CheckedBackend& backend_;
  const LaunchPlan& plan_;
  std::vector<CheckedLaunch> launches_;
  tile_cpu::CheckedMemory memory_;
  std::vector<tile_cpu::CheckedMemory::RegionId> regions_;  // by buffer; -1: a view
};

std::unique_ptr<PreparedPlan> CheckedBackend::build(const LaunchPlan& plan, void* const* addresses) {
  std::vector<CheckedLaunch> launches(plan.launches.size());
  std::vector<std::string> sources;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Launch& launch = plan.launches[i];
    const std::vector<std::size_t> variants = distinct_variants(launch);
    variants_ = std::max(variants_, variants.size());
    // One that cannot be built is skipped, as autotuning does; the first error counts if none can.
    std::optional<Error> error;
    for (std::size_t k = 0; k < variants.size(); ++k) {
      const std::size_t v = variants[(std::min(options_.variant, variants.size() - 1) + k) % variants.size()];
      auto source = build_kernel(plan, launch, launch.variants[v], addresses, true);
      if (source) {
        launches[i].source = std::move(*source);
        error.reset();
        break;
      }
      if (!error) error = std::move(source.error());
    }
    if (error) fail(std::move(*error));
    for (const tile_cpu::Site& site : launches[i].source.emitted.sites)
      ordered_ |= site.kind == tile_cpu::Site::Kind::atomic;
    sources.push_back(launches[i].source.emitted.source);
  }
  if (options_.prebuild) prebuild(plan, addresses);
  std::erase(sources, "");
  const auto compiled = tile_cpu::compile_many(sources, tile_cpu::Build::checked);
  std::size_t next = 0;
  for (CheckedLaunch& l : launches) {
    if (l.source.emitted.source.empty()) continue;  // a grid without programs
    auto kernel = compiled[next++];
    l.kernel = reinterpret_cast<tile_cpu::CheckedKernel>(kernel.take().entry);
  }
  return std::make_unique<CheckedPlan>(*this, plan, std::move(launches));
}

// What does not compile is found again, and reported, by who needs it.
void CheckedBackend::prebuild(const LaunchPlan& plan, void* const* addresses) const {
  std::vector<std::string> sources;
  for (const Launch& launch : plan.launches)
    for (const std::size_t v : distinct_variants(launch))
      if (auto source = build_kernel(plan, launch, launch.variants[v], addresses, false);
          source && source->programs() > 0)
        sources.push_back(std::move(source->emitted.source));
  const auto kept_in_memory = tile_cpu::compile_many(sources);
}

Result<std::unique_ptr<PreparedPlan>> CheckedBackend::prepare(const LaunchPlan& plan, void* const* addresses) {
  auto out = guarded([&] { return build(plan, addresses); });
  failed_ |= !out;
  return out;
}

}  // namespace passnet
