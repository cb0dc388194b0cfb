// Programs in parts: where a launch has few programs with much to do, each can be several that compute a part of every
// tile it stores.
#pragma once

#include <optional>

#include "tile/ir.h"
#include "tile/launch_facts.h"

namespace passnet::tile {

inline constexpr int kPartAxis = 2;  // of the grid, whose size there is 1: says which part a program does

enum class PartsOf : std::uint8_t { columns, rows };  // the last dimension of what is stored, or the first

struct PartsWanted {
  std::int32_t count = 2;  // a power of two
  PartsOf of = PartsOf::columns;
  std::int32_t least = 1;  // so many columns or rows of a tile has a part
};

// The function that is to be launched with `count` programs along kPartAxis for each of `function`'s: together they
// store the same elements, with the same bits. nullopt: there is none that is made by taking parts of tiles alone. What
// no part can do without is done in each of them.
std::optional<Function> in_parts(const Function& function, const LaunchFacts& facts, const PartsWanted& wanted);

}  // namespace passnet::tile
