// A range of a whole graph's operators -> a graph of its own.
//
// Operators are counted in the order of the graph; inputs and the output do not count. What enters the range becomes
// in_0, in_1, ..., sorted by the parent's names; what is used after it (or returned) becomes the tuple of results, in
// the order of the graph.
#pragma once

#include <map>
#include <set>

#include "graph/graph.h"

namespace passnet::data {

struct OpRange {
  std::int64_t begin = 0, end = 0;  // `end` is not in it
  auto operator<=>(const OpRange&) const = default;
};

// Which operators a range counts.
enum class Counting : std::uint8_t {
  printed,   // every node
  retraced,  // as torch 2.13 traces the printed text once more, which makes several operators of a few
};

std::int64_t op_count(const Graph& graph, Counting counting = Counting::printed);

struct NodeSpan {
  NodeId begin = 0, end = 0;
};
// An error where the range is not inside the graph, or begins or ends inside one printed operator.
Result<NodeSpan> range_nodes(const Graph& graph, OpRange range, Counting counting = Counting::printed);

// The parent's nodes that cross a span's borders, in the graph's order.
struct Border {
  std::set<NodeId> inputs, outputs;
};
Border find_border(const Graph& graph, NodeSpan span);

// `pair[0]`: the one way in which a range may use a list of tensors that enters it.
bool takes_item(const Node& node);

// What is known of the values that cross the borders.
struct CrossingValues {
  std::map<NodeId, Value> literals;  // no tensors: sizes, numbers, dtypes. They are written out, and not returned
  std::set<NodeId> lists;            // lists of tensors: each item that the range takes is an input
};

struct Cut {
  Graph graph;
  std::vector<NodeId> inputs;   // the parent's node of each placeholder
  std::vector<NodeId> outputs;  // and of each result
};
Result<Cut> cut_graph(const Graph& parent, NodeSpan span, const CrossingValues& known = {});

}  // namespace passnet::data
