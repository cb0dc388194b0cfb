// The walk of matching: from an anchor and a candidate upwards through both graphs in step, binding pattern nodes to
// graph values.
//
// In: a pattern and the index of a graph. Out: bindings with an undo trail, or the first misfit. Nothing is searched
// here (match.h).
#pragma once

#include <unordered_map>
#include <vector>

#include "match/normalise.h"
#include "match/pattern.h"

namespace passnet {

// The comparison of literals on both sides: the same type and Python's ==, so that 1 is not 1.0, nan is not nan and 0.0
// is -0.0.
bool literal_equal(const Value& pattern, const Value& graph);
// Python's == between two values of one graph.
bool python_equal(const Value& a, const Value& b);

// What matching asks of a graph, made once and used for many patterns. Refers to the graph.
struct MatchIndex {
  explicit MatchIndex(const Graph& graph);

  const Graph& graph;
  UserTable users;
  std::vector<Target> strict, normal;  // per node
  const std::vector<Target>& targets(MatchMode mode) const { return mode == MatchMode::strict ? strict : normal; }
  // The nodes with this target, in graph order.
  const std::vector<NodeId>& candidates(const Target& target, MatchMode mode) const;

 private:
  using ByHash = std::unordered_map<std::uint64_t, std::vector<NodeId>>;
  ByHash by_strict_, by_normal_;
};

// What a pattern node stands for.
struct BoundTo {
  NodeId node = -1;              // a graph node, or
  const Value* value = nullptr;  // a literal, list or slice (placeholders only)
  explicit operator bool() const { return node >= 0 || value != nullptr; }
};

// Why a pattern node and a graph value do not fit.
enum class Misfit : std::uint8_t {
  kind,       // function, method, placeholder
  target,     // another function or method
  literal,    // another literal
  structure,  // a value where a literal is, a list where a value is, lists of other lengths
  arguments,  // other counts or keywords
  swapped,    // two operands fit the other way round
  again,      // the placeholder stands for another value already
  taken,      // the graph's value is bound to another pattern node already
};

// Told of each misfit; says whether to go on (to learn more) or to give the candidate up.
class MisfitObserver {
 public:
  virtual ~MisfitObserver() = default;
  virtual bool go_on(Misfit misfit, NodeId pattern_node, NodeId graph_node, const Value* expected,
                     const Value* actual) = 0;
};

// One per pattern and graph.
class Binder {
 public:
  Binder(const Pattern& pattern, const MatchIndex& index, MatchMode mode);

  // Binds everything above `pattern_node`, or returns false: then the caller undoes to its mark.
  bool bind(NodeId pattern_node, NodeId graph_node, MisfitObserver* observer = nullptr);
  // Graph nodes that no call of the pattern may be bound to any more: earlier matches took them.
  void close(const std::vector<bool>* closed) { closed_ = closed; }
  // For an observer: compare the two operands of this pattern node the other way round.
  void swap_at(NodeId pattern_node) { swap_at_ = pattern_node; }
  struct Mark {
    std::size_t trail = 0, store = 0;
  };
  Mark mark() const { return {trail_.size(), store_.size()}; }
  void undo(Mark mark);
  // The pattern nodes bound since then, in order.
  std::span<const NodeId> bound_since(Mark mark) const { return std::span(trail_).subspan(mark.trail); }

  const Pattern& pattern() const { return pattern_; }
  const MatchIndex& index() const { return index_; }
  const BoundTo& bound(NodeId pattern_node) const { return bound_[pattern_node]; }
  // The pattern node that a graph node is bound to, or -1.
  NodeId owner(NodeId graph_node) const { return owner_[graph_node]; }
  // ... where it is a call of the pattern, not a placeholder.
  bool is_matched(NodeId graph_node) const {
    return owner_[graph_node] >= 0 && !pattern_.is_placeholder(owner_[graph_node]);
  }
  std::size_t steps() const { return steps_; }

 private:
  struct Pair {
    const Value* expected;
    const Value* actual;
    NodeId pattern_node, graph_node;  // whose operands they are
  };
  bool visit(NodeId pattern_node, NodeId graph_node, MisfitObserver* observer);
  bool align_anyhow(NodeId pattern_node, NodeId graph_node, bool same_target, MisfitObserver& observer);
  bool fits_shallow(const Value& expected, const Value& actual) const;
  bool fit(const Pair& pair, MisfitObserver* observer);
  void set(NodeId pattern_node, BoundTo to);

  const Pattern& pattern_;
  const MatchIndex& index_;
  MatchMode mode_;
  const std::vector<Target>& expected_;
  const std::vector<Target>& actual_;
  std::vector<BoundTo> bound_;
  std::vector<NodeId> owner_;
  const std::vector<bool>* closed_ = nullptr;
  NodeId swap_at_ = -1;
  std::vector<NodeId> trail_;  // bound pattern nodes, in order
  std::vector<Pair> stack_;
  ArgumentPairs pairs_;
  ValueStore store_;
  std::size_t steps_ = 0;
};

}  // namespace passnet
