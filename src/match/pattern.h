// A pass's `pattern` as data: the graph of its text, and what a matcher asks about it. Built once, matched against many
// graphs.
//
// In: the Graph that build_graph makes of `pattern`. Out: anchors (where a match starts), cones (what each anchor
// reaches), users, targets; or the reason why it can never match.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace passnet {

// The users of every node, each once, in graph order: rows of one flat array.
class UserTable {
 public:
  explicit UserTable(const Graph& graph);
  std::span<const NodeId> of(NodeId id) const { return {users_.data() + first_[id], users_.data() + first_[id + 1]}; }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<NodeId> users_;
};

// What a node calls, by the function object that its spelling means (ops/same_function.h): equal targets may match.
struct Target {
  NodeKind kind = NodeKind::placeholder;
  std::string_view name;  // into the node or a static table
  std::uint64_t hash = 0;
  bool operator==(const Target& other) const { return hash == other.hash && kind == other.kind && name == other.name; }
};
Target target_strict(const Node& node);

struct PatternProblem {
  std::string message;  // empty: the pattern is sound
  std::string advice;
  NodeId node = -1;  // where it is seen
};

struct Pattern {
  explicit Pattern(Graph graph);
  Pattern(Pattern&&) = default;  // targets point into the graph's nodes, which a move leaves in place
  Pattern& operator=(Pattern&&) = default;
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // One anchor: a returned value that only the output uses. Its cone is what it reaches, itself first.
  struct Anchor {
    NodeId node;
    std::vector<NodeId> cone;
    std::vector<NodeId> shared;  // the first nodes of the cone that an earlier anchor's cone holds too
  };

  Graph graph;
  UserTable users;
  std::vector<Target> strict, normal;  // per node
  std::vector<NodeId> placeholders;
  std::vector<NodeId> returning;  // what the output refers to, each once, in order
  std::vector<bool> is_returning;
  std::vector<Anchor> anchors;
  std::vector<NodeId> calls;  // what a match binds to graph nodes beside the placeholders, in pattern order
  PatternProblem problem;

  bool is_placeholder(NodeId id) const { return graph.nodes[id].kind == NodeKind::placeholder; }
  std::string text() const { return graph_canonical_text(graph); }  // equal texts, equal patterns
  std::string hash() const { return graph_content_hash(graph); }
  bool operator==(const Pattern& other) const { return text() == other.text(); }
};

// The module-level function `pattern` of a pass file's text.
Result<Pattern> read_pattern(std::string file, std::string source);

// Kept although nobody uses its result, as torch.fx has it: item assignment, assertions, random draws, ATen overloads
// that write.
bool node_is_impure(const Node& node);

}  // namespace passnet
