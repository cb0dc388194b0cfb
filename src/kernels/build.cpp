#include "kernels/build.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "kernels/names.h"
#include "tile/effects.h"
#include "tile/lower.h"

namespace passnet {

namespace {

// Bytes a thread may need for a kernel's tiles. The checked build keeps every loaded tile, but runs on one thread.
constexpr std::int64_t kScratchLimit = std::int64_t{256} << 20, kCheckedScratchLimit = 4 * kScratchLimit;

bool overlap(const void* a, std::int64_t a_bytes, const void* b, std::int64_t b_bytes) {
  const auto x = reinterpret_cast<std::uintptr_t>(a), y = reinterpret_cast<std::uintptr_t>(b);
  return x < y + static_cast<std::uintptr_t>(b_bytes) && y < x + static_cast<std::uintptr_t>(a_bytes);
}

// The scalar's value in the kernel's array, and as a fact where it is an integer.
void set_scalar(const Scalar& scalar, tile_cpu::Argument& argument, tile::ParameterFacts& facts) {
  argument.integer = 0;
  if (const auto* real = std::get_if<double>(&scalar.value)) argument.real = *real;
  if (const auto* integer = std::get_if<Integer>(&scalar.value))
    facts.integer = argument.integer = static_cast<std::int64_t>(integer->low_bits());
  if (const auto* boolean = std::get_if<bool>(&scalar.value)) facts.integer = argument.integer = *boolean ? 1 : 0;
}

// What divides the address of something in a root, up to what any access needs. Memory that is allocated for a plan
// begins at a multiple of that.
std::int64_t alignment(const LaunchPlan& plan, const Root& root, void* const* addresses) {
  constexpr std::uint64_t kMost = 16;
  const Buffer& b = plan.buffers[static_cast<std::size_t>(root.buffer)];
  std::uint64_t address = static_cast<std::uint64_t>(root.offset) * dtype_row(b.desc.dtype).size;
  if (b.kind == BufferKind::input) address += reinterpret_cast<std::uintptr_t>(addresses[root.buffer]);
  return static_cast<std::int64_t>(address % kMost == 0 ? kMost : address & -address);
}

// Pointers of one root share a number, and those of two inputs that overlap where the kernel writes one of them.
void number_memory(const LaunchPlan& plan, void* const* addresses, KernelSource& out) {
  const auto number = [&](std::size_t parameter) -> std::int32_t& { return out.facts.parameters[parameter].memory; };
  const auto join = [&](std::size_t a, std::size_t b) {
    const std::int32_t kept = number(a), gone = number(b);
    for (const auto& [p, buffer] : out.pointers)
      if (number(p) == gone) number(p) = kept;
  };
  for (std::size_t i = 0; i < out.pointers.size(); ++i) {
    const auto [p, buffer] = out.pointers[i];
    number(p) = static_cast<std::int32_t>(i);
    const BufferId root = root_of(plan, buffer).buffer;
    const Buffer& made = plan.buffers[static_cast<std::size_t>(root)];
    for (std::size_t j = 0; j < i; ++j) {
      const auto [q, other] = out.pointers[j];
      const BufferId other_root = root_of(plan, other).buffer;
      const Buffer& other_made = plan.buffers[static_cast<std::size_t>(other_root)];
      if (root == other_root) {
        join(q, p);
      } else if (made.kind == BufferKind::input && other_made.kind == BufferKind::input &&
                 (out.written[p] || out.written[q])) {
        InputPair pair{other_root, root, hull_bytes(other_made.desc), hull_bytes(made.desc), false};
        pair.overlap = pair.overlaps(addresses);
        if (pair.overlap) join(q, p);
        out.pairs.push_back(pair);
      }
    }
  }
}

}  // namespace

bool InputPair::overlaps(void* const* addresses) const {
  return passnet::overlap(addresses[a], a_bytes, addresses[b], b_bytes);
}

std::int64_t hull_bytes(const TensorDesc& desc) {
  return desc.hull() * static_cast<std::int64_t>(dtype_row(desc.dtype).size);
}

Root root_of(const LaunchPlan& plan, BufferId buffer) {
  Root out{buffer, 0};
  while (true) {
    const Buffer& b = plan.buffers[static_cast<std::size_t>(out.buffer)];
    if (b.kind != BufferKind::view) return out;
    out.offset += b.offset;
    out.buffer = b.base;
  }
}

Result<tile::Function> lower_launch(const LaunchPlan& plan, const Launch& launch, const LaunchVariant& variant) {
  const KernelNames names(*launch.kernel.owner, launch.kernel.closure);
  auto specs = kernel_arguments(names, plan, launch, variant);
  if (!specs) return std::move(specs.error());
  const bool one = std::all_of(launch.variants.begin(), launch.variants.end(),
                               [&](const LaunchVariant& v) { return v.num_warps == variant.num_warps; });
  return tile::lower_kernel(names, *launch.kernel.module, *launch.kernel.function, *specs,
                            one ? variant.num_warps : 0);  // the checked build tells no such variants apart
}

Result<KernelSource> build_kernel(const LaunchPlan& plan, const Launch& launch, const LaunchVariant& variant,
                                  void* const* addresses, tile_cpu::Build build, const tile_cpu::StageDump& dump) {
  auto lowered = lower_launch(plan, launch, variant);
  if (!lowered) return std::move(lowered.error());
  return build_function(std::move(*lowered), plan, launch, variant, addresses, build, dump);
}

std::vector<BuiltVariant> build_kernels(const LaunchPlan& plan, void* const* addresses, const DumpOf& dump_of) {
  std::vector<BuiltVariant> out;
  for (std::size_t i = 0; i < plan.launches.size(); ++i)
    for (const std::size_t v : distinct_variants(plan.launches[i])) out.push_back({i, v, KernelSource{}});
  parallel_run(0, out.size(), [&](std::size_t k) {
    BuiltVariant& b = out[k];
    const Launch& launch = plan.launches[b.launch];
    b.source = build_kernel(plan, launch, launch.variants[b.variant], addresses, tile_cpu::Build::fast,
                            dump_of ? dump_of(b.launch, b.variant) : tile_cpu::StageDump{});
  });
  return out;
}

Result<KernelSource> describe_kernel(tile::Function function, const LaunchPlan& plan, const Launch& launch,
                                     const LaunchVariant& variant, void* const* addresses) {
  KernelSource out;
  out.function = std::move(function);
  out.written = tile::written_parameters(out.function);
  std::copy(std::begin(variant.grid), std::end(variant.grid), out.facts.grid.begin());
  out.facts.parameters.resize(out.function.parameters.size());
  out.arguments.resize(out.function.parameters.size());
  for (std::size_t i = 0; i < out.function.parameters.size(); ++i) {
    const LaunchArgument* argument = find_argument(launch, variant, out.function.parameters[i]);
    if (argument == nullptr)
      return Error{Code::usage, {}, fmt::format("no argument for parameter '{}'", out.function.parameters[i]), {}};
    if (argument->buffer < 0) {
      set_scalar(argument->scalar, out.arguments[i], out.facts.parameters[i]);
      continue;
    }
    const Root root = root_of(plan, argument->buffer);
    const TensorDesc& whole = plan.buffers[static_cast<std::size_t>(root.buffer)].desc;
    out.facts.parameters[i].elements = std::max<std::int64_t>(0, whole.hull() - root.offset);
    out.facts.parameters[i].alignment = alignment(plan, root, addresses);
    out.pointers.emplace_back(i, argument->buffer);
  }
  number_memory(plan, addresses, out);
  return out;
}

Result<KernelSource> build_function(tile::Function function, const LaunchPlan& plan, const Launch& launch,
                                    const LaunchVariant& variant, void* const* addresses, tile_cpu::Build build,
                                    const tile_cpu::StageDump& dump) {
  auto described = describe_kernel(std::move(function), plan, launch, variant, addresses);
  if (!described) return described;
  KernelSource out = std::move(*described);
  if (out.is_empty()) return out;  // nothing will run
  auto emitted = tile_cpu::run_stages(out.function, out.facts, build, dump);
  if (!emitted) return std::move(emitted.error());
  out.emitted = std::move(*emitted);
  const std::int64_t limit = build == tile_cpu::Build::checked ? kCheckedScratchLimit : kScratchLimit;
  if (out.emitted.scratch_bytes > limit)
    return Error{Code::limit,
                 launch.kernel.module == nullptr ? Where{} : launch.kernel.module->where(launch.kernel.function->place),
                 fmt::format("kernel {} needs {} MiB for its tiles; the limit is {}", out.function.name,
                             out.emitted.scratch_bytes >> 20, limit >> 20),
                 {"use smaller blocks"}};
  return out;
}

tile::Shadow::Launch checked_launch(KernelSource& source, const std::vector<tile::Site>& sites, void* const* addresses,
                                    const std::function<tile::Shadow::RegionId(BufferId)>& region) {
  tile::Shadow::Launch out{source.function, sites, source.facts.grid, {}, false};
  out.parameters.resize(source.arguments.size());
  for (const auto& [parameter, buffer] : source.pointers) {
    void* const address = source.arguments[parameter].pointer = addresses[buffer];
    out.parameters[parameter] = {address, region(buffer), source.written[parameter]};
  }
  return out;
}

std::string constexpr_text(const Launch& launch, const LaunchVariant& variant) {
  std::vector<std::string> out;
  for (const auto* list : {&launch.arguments, &variant.meta})
    for (const LaunchArgument& a : *list)
      if (a.constexpr_) out.push_back(fmt::format("{}={}", a.name, scalar_text(a.scalar)));
  return text_join(out, ", ");
}

std::vector<std::size_t> distinct_variants(const Launch& launch) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < launch.variants.size(); ++i) {
    const LaunchVariant& v = launch.variants[i];
    if (std::none_of(out.begin(), out.end(), [&](std::size_t j) {
          const LaunchVariant& w = launch.variants[j];
          return std::equal(std::begin(v.grid), std::end(v.grid), std::begin(w.grid)) &&
                 constexpr_text(launch, v) == constexpr_text(launch, w);
        }))
      out.push_back(i);
  }
  return out;
}

}  // namespace passnet
