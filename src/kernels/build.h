// One variant of a launch -> C++: arguments typed, memory described, the kernel lowered, specialised and emitted.
#pragma once

#include <functional>

#include "host/launch_plan.h"
#include "tile/checked.h"
#include "tile_cpu/abi.h"
#include "tile_cpu/stages.h"
#include "tile_cuda/emit.h"

namespace passnet {

// Two inputs of the wrapper of which the kernel writes one: compiled for whether they overlap in memory.
struct InputPair {
  BufferId a, b;
  std::int64_t a_bytes, b_bytes;
  bool overlap;
  bool overlaps(void* const* addresses) const;
};

struct KernelSource {
  tile::Function function;  // simplified
  tile::LaunchFacts facts;
  tile_cpu::Emitted emitted;
  std::vector<bool> written;                               // by parameter
  std::vector<tile_cpu::Argument> arguments;               // by parameter; scalars are set
  std::vector<std::pair<std::size_t, BufferId>> pointers;  // parameter, buffer
  std::vector<InputPair> pairs;

  bool is_empty() const { return facts.programs() == 0; }
};

// The front-end alone: the kernel for the variant's types and constants.
Result<tile::Function> lower_launch(const LaunchPlan& plan, const Launch& launch, const LaunchVariant& variant);
// All but the code: arguments and facts, for any back-end.
Result<KernelSource> describe_kernel(tile::Function function, const LaunchPlan& plan, const Launch& launch,
                                     const LaunchVariant& variant, void* const* addresses);
// What follows, from any stage of the function. `addresses`: those of the plan's inputs are set.
Result<KernelSource> build_function(tile::Function function, const LaunchPlan& plan, const Launch& launch,
                                    const LaunchVariant& variant, void* const* addresses, tile_cpu::Build build,
                                    const tile_cpu::StageDump& dump = {});
// Both.
Result<KernelSource> build_kernel(const LaunchPlan& plan, const Launch& launch, const LaunchVariant& variant,
                                  void* const* addresses, tile_cpu::Build build, const tile_cpu::StageDump& dump = {});

// Every distinct variant of every launch, by all cores, in their order.
struct BuiltVariant {
  std::size_t launch = 0, variant = 0;
  Result<KernelSource> source;
};
using DumpOf = std::function<tile_cpu::StageDump(std::size_t launch, std::size_t variant)>;
std::vector<BuiltVariant> build_kernels(const LaunchPlan& plan, void* const* addresses, const DumpOf& dump_of = {});

// What a variant asks of a GPU.
inline tile_cuda::Target cuda_target(const LaunchVariant& variant, const tile_cuda::Machine& machine) {
  return {variant.num_warps, variant.num_stages, variant.fp_fusion, machine};
}

// A launch of the checked build: its pointers are set to the buffers' addresses, and described for the shadow.
// `region`: of a buffer.
tile::Shadow::Launch checked_launch(KernelSource& source, const std::vector<tile::Site>& sites, void* const* addresses,
                                    const std::function<tile::Shadow::RegionId(BufferId)>& region);

// The buffer whose memory a buffer lies in: itself, or what it is a view of; and how many elements on.
struct Root {
  BufferId buffer;
  std::int64_t offset;
};
Root root_of(const LaunchPlan& plan, BufferId buffer);
// What a buffer's description reaches, in bytes.
std::int64_t hull_bytes(const TensorDesc& desc);

// `BLOCK=1024, HAS_BIAS=True`: the constexprs of a variant.
std::string constexpr_text(const Launch& launch, const LaunchVariant& variant);

// Variants that differ only in what the CPU has no use for (num_warps, num_stages) are one.
std::vector<std::size_t> distinct_variants(const Launch& launch);

}  // namespace passnet
