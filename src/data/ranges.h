// Which ranges of whole graphs are worth cutting: single operators, recurring sequences, what a kernel can fuse.
#pragma once

#include "data/cut.h"
#include "fx/folder.h"

namespace passnet::data {

struct FoundRange {
  std::size_t graph = 0;  // of the corpus
  OpRange range;
  std::string why;  // for people: the operator's form, how often a sequence occurs, what fusing saves
};

// Operators of graphs, as sole and typical compare them.
struct OpSequence {
  std::vector<std::string> targets;  // "torch.conv2d", ".view"
  std::vector<std::string> forms;    // with the kinds of their arguments
};
OpSequence op_sequence(const Graph& graph);

// Every distinct operator with its argument form, where it occurs first; `why` says how often it occurs.
std::vector<FoundRange> find_sole(const std::vector<OpSequence>& graphs);

struct TypicalOptions {
  std::int64_t shortest = 4, longest = 64;
  std::size_t least = 2;    // graphs that a sequence occurs in
  std::size_t copies = 16;  // occurrences of one sequence that are taken
};
// Sequences of operators that recur: longest first, of one length the most frequent first. What one has taken is not
// taken again.
std::vector<FoundRange> find_typical(const std::vector<OpSequence>& graphs, const TypicalOptions& options);

struct FusibleOptions {
  std::int64_t longest = 64;
};
// Ranges that the author's kernels compute in fewer launches than their operators take alone. `graph` of the result is
// 0.
Result<std::vector<FoundRange>> find_fusible(const GraphFolder& folder, const FusibleOptions& options);

}  // namespace passnet::data
