// Ranges of a whole graph -> graphs of their own with the metas of what enters them.
//
// The parent is walked once, on replayed inputs or without data. With data, every subgraph is run again from what
// entered it, and its results are compared with the parent's, bit for bit.
#pragma once

#include "data/cut.h"
#include "exec/walk.h"

namespace passnet::data {

enum class MetasFrom : std::uint8_t {
  run,     // means, deviations, bounds and small data of the real values
  shapes,  // shapes and dtypes without data
};

struct CutOptions {
  MetasFrom metas = MetasFrom::run;
  Counting counting = Counting::printed;
  bool check = true;  // with `run`: the subgraph reproduces the parent's values
  std::uint64_t seed = 1024;
};

enum class Reproduced : std::uint8_t { unchecked, same, random };

struct Subgraph {
  Graph graph;
  std::vector<TensorMeta> metas;  // of its inputs, in order
  Reproduced reproduced = Reproduced::unchecked;
};

// One result a range, in their order. A range that cannot be cut, or whose subgraph computes something else, has an
// error; where the parent itself fails, every range that needs more of it has that error.
std::vector<Result<Subgraph>> cut_subgraphs(const GraphFolder& parent, const std::vector<OpRange>& ranges,
                                            const CutOptions& options, Engine& engine);

// The meta of a tensor that is at hand: statistics of floats, bounds of integers, the data of small integer tensors.
Result<TensorMeta> describe_tensor(const TensorRef& tensor, Engine& engine);

}  // namespace passnet::data
