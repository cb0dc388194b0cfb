// Train, eval and free_to_use without leakage: no graph, no task, no near-duplicate and no model family is in two of
// them.
//
// Near-duplicates are graphs with the same sequence of operators, and graphs of ten operators or more where one
// operator is inserted, removed or replaced. That is exact and linear: every graph is filed under its sequence and
// under its sequence without each one operator, and two near-duplicates share a file.
#pragma once

#include "data/facts.h"

namespace passnet::data {

struct SplitPart {
  std::string name;
  double share = 0;
};

// What happens to graphs that would connect families of two parts.
enum class Conflicts : std::uint8_t {
  drop,  // they stay in the part that has most of them; the rest is left out
  join,  // the families are put into one part
};

struct SplitOptions {
  std::vector<SplitPart> parts = {{"train", 0.8}, {"eval", 0.1}, {"free_to_use", 0.1}};
  Conflicts conflicts = Conflicts::drop;
  std::uint64_t seed = 0;
};

inline constexpr int kLeftOut = -1;

struct Split {
  std::vector<int> part;      // of each graph, or kLeftOut
  std::size_t clusters = 0;   // of graphs, tasks and near-duplicates
  std::size_t conflicts = 0;  // graphs left out because of them
};
Split split_graphs(const std::vector<Facts>& facts, const SplitOptions& options);

inline constexpr std::size_t kNearOps = 10;

// The definition, for two graphs; what a split is tested with.
bool near_duplicates(const std::vector<std::string>& a, const std::vector<std::string>& b);

}  // namespace passnet::data
