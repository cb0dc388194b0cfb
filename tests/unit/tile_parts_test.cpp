// Programs in parts against whole ones, both interpreted: random functions with one of their stores each, and products.
#include "tile/parts.h"

#include <gtest/gtest.h>

#include "tile_random.h"

namespace passnet::tile {
namespace {

const ProgramId kGrid = {3, 2, 1};

LaunchFacts facts_of(const Function& f) {
  LaunchFacts out;
  out.grid = kGrid;
  out.parameters.resize(f.parameters.size());
  for (std::size_t k = 0; k < out.parameters.size(); ++k) out.parameters[k].memory = static_cast<std::int32_t>(k);
  return out;
}

void drop_stores(Block& block, const Op* kept) {
  std::erase_if(block.ops, [&](const Op& op) { return op.code == Code::store && &op != kept; });
  for (Op& op : block.ops)
    for (Block& inner : op.blocks) drop_stores(inner, nullptr);
}

// With its store number `at` alone; false: there is none.
bool keep_store(Function& f, std::size_t at) {
  for (std::size_t i = 0; i < f.body.ops.size(); ++i) {
    if (f.body.ops[i].code != Code::store || at-- > 0) continue;
    Op store = f.body.ops[i];
    drop_stores(f.body, nullptr);
    f.body.ops.push_back(std::move(store));
    return true;
  }
  return false;
}

// Whether there are such parts.
bool same_in_parts(const Function& f, std::span<const Argument> arguments, const TestMemory& start,
                   const PartsWanted& wanted) {
  const auto parts = in_parts(f, facts_of(f), wanted);
  if (!parts) return false;
  const auto right = verify(*parts);
  EXPECT_TRUE(right) << right.error().message << "\n" << print(*parts);
  TestMemory whole = start, together = start;
  interpret(f, arguments, kGrid, whole).take();
  interpret(*parts, arguments, {kGrid[0], kGrid[1], wanted.count}, together).take();
  for (std::size_t k = 0; k < whole.buffers.size(); ++k)
    EXPECT_EQ(whole.buffers[k].elements, together.buffers[k].elements) << print(f) << print(*parts);
  return true;
}

TEST(parts, random) {
  int made = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    RandomFunction random(seed);
    const Function all = random.make();
    TestMemory start;
    const std::vector<Argument> arguments = random.arguments(start);
    for (std::size_t at = 0;; ++at) {
      Function f = all;
      if (!keep_store(f, at)) break;
      simplify(f);
      for (const auto of : {PartsOf::columns, PartsOf::rows})
        made += same_in_parts(f, arguments, start, {2 << (seed % 2), of, 1}) ? 1 : 0;
    }
  }
  EXPECT_GT(made, 500);
}

}  // namespace
}  // namespace passnet::tile
