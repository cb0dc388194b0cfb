// What a launch tells the back-ends of its memory.
#include "kernels/build.h"

#include <gtest/gtest.h>

#include "tile/stages.h"

namespace passnet {
namespace {

// What divides the address of a kernel's one argument.
std::int64_t alignment(const LaunchPlan& plan, BufferId buffer, std::uintptr_t address) {
  Launch launch;
  LaunchArgument& argument = launch.arguments.emplace_back();
  argument.name = "x";
  argument.buffer = buffer;
  std::vector<void*> addresses(plan.buffers.size());
  addresses[0] = reinterpret_cast<void*>(address);
  const auto f = tile::parse("test", "kernel k(%0 x: *f16) {\n}\n").take();
  return describe_kernel(f, plan, launch, launch.variants.emplace_back(), addresses.data())
      ->facts.parameters[0]
      .alignment;
}

Buffer buffer(BufferKind kind, BufferId base = -1, std::int64_t offset = 0) {
  Buffer out;
  out.kind = kind;
  out.base = base;
  out.offset = offset;
  out.desc.dtype = Dtype::float16;
  out.desc.sizes = {64};
  out.desc.strides = {1};
  return out;
}

TEST(KernelBuild, Alignment) {
  LaunchPlan plan;
  plan.buffers = {buffer(BufferKind::input), buffer(BufferKind::view, 0, 4), buffer(BufferKind::view, 1, 1),
                  buffer(BufferKind::fresh), buffer(BufferKind::view, 3, 6)};
  EXPECT_EQ(alignment(plan, 0, 4096), 16);  // no access is wider
  EXPECT_EQ(alignment(plan, 0, 4096 + 8), 8);
  EXPECT_EQ(alignment(plan, 0, 4096 + 6), 2);
  EXPECT_EQ(alignment(plan, 1, 4096), 8);  // a view, by its elements' bytes
  EXPECT_EQ(alignment(plan, 1, 4096 + 8), 16);
  EXPECT_EQ(alignment(plan, 2, 4096), 2);  // a view of a view
  EXPECT_EQ(alignment(plan, 3, 0), 16);    // allocated for the plan
  EXPECT_EQ(alignment(plan, 4, 4096), 4);
}

}  // namespace
}  // namespace passnet
