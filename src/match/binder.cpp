#include "match/binder.h"

#include <algorithm>
#include <cmath>

#include "graph/dtype.h"
#include "ops/same_function.h"

namespace passnet {

// ---- values

namespace {

// A dotted constant by the object it means: torch.float is torch.float32.
bool constant_equal(std::string_view a, std::string_view b) {
  if (a == b) return true;
  if (const auto dtype = dtype_from_name(a); dtype && a.starts_with("torch.") && b.starts_with("torch."))
    return dtype == dtype_from_name(b);
  return same_function(a) == same_function(b);
}

// Two values that are neither nodes nor sequences, of any types.
bool atom_equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.kind == ValueKind::real && b.kind == ValueKind::real) return a.real == b.real;
    if (a.kind == ValueKind::real) return compare(b.integer, a.real) == 0;
    if (b.kind == ValueKind::real) return compare(a.integer, b.real) == 0;
    return a.integer == b.integer;
  }
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case ValueKind::string: return a.text == b.text;
    case ValueKind::constant: return constant_equal(a.text, b.text);
    default: return true;  // None, Ellipsis; every device is the device of the run
  }
}

// Python's ==, lists and tuples apart; `nodes` says whether two references are the same.
template <class F>
bool value_equal(const Value& a, const Value& b, const F& nodes) {
  if (a.is_node() || b.is_node()) return a.is_node() && b.is_node() && nodes(a.node, b.node);
  const bool plain = a.items.empty() && b.items.empty() && !a.is_sequence() && !b.is_sequence();
  if (plain && a.kind != ValueKind::slice && b.kind != ValueKind::slice) return atom_equal(a, b);
  if (a.kind != b.kind || a.items.size() != b.items.size()) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i)
    if (!value_equal(a.items[i], b.items[i], nodes)) return false;
  return true;
}

}  // namespace

bool literal_equal(const Value& pattern, const Value& graph) {
  if (pattern.kind != graph.kind) return false;
  return value_equal(pattern, graph,
                     [](NodeId, NodeId) { return false; });  // a slice's nodes belong to two graphs: never equal
}

bool python_equal(const Value& a, const Value& b) {
  return value_equal(a, b, [](NodeId x, NodeId y) { return x == y; });
}

// ---- the index

MatchIndex::MatchIndex(const Graph& from) : graph(from), users(from) {
  strict.reserve(graph.nodes.size());
  normal.reserve(graph.nodes.size());
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    strict.push_back(target_strict(graph.nodes[id]));
    normal.push_back(target_normal(graph.nodes[id]));
    by_strict_[strict.back().hash].push_back(id);
    by_normal_[normal.back().hash].push_back(id);
  }
}

const std::vector<NodeId>& MatchIndex::candidates(const Target& target, MatchMode mode) const {
  static const std::vector<NodeId> kNone;
  const ByHash& map = mode == MatchMode::strict ? by_strict_ : by_normal_;
  const auto it = map.find(target.hash);
  return it == map.end() ? kNone : it->second;
}

// ---- binding

Binder::Binder(const Pattern& pattern, const MatchIndex& index, MatchMode mode)
    : pattern_(pattern),
      index_(index),
      mode_(mode),
      expected_(mode == MatchMode::strict ? pattern.strict : pattern.normal),
      actual_(index.targets(mode)),
      bound_(pattern.graph.nodes.size()),
      owner_(index.graph.nodes.size(), -1) {}

void Binder::set(NodeId pattern_node, BoundTo to) {
  bound_[pattern_node] = to;
  if (to.node >= 0 && owner_[to.node] < 0) owner_[to.node] = pattern_node;
  trail_.push_back(pattern_node);
}

void Binder::undo(Mark mark) {
  while (trail_.size() > mark.trail) {
    BoundTo& to = bound_[trail_.back()];
    if (to.node >= 0 && owner_[to.node] == trail_.back()) owner_[to.node] = -1;
    to = {};
    trail_.pop_back();
  }
  store_.resize(mark.store);
}

bool Binder::bind(NodeId pattern_node, NodeId graph_node, MisfitObserver* observer) {
  stack_.clear();
  if (owner_[graph_node] >= 0)
    return observer != nullptr && observer->go_on(Misfit::taken, pattern_node, graph_node, nullptr, nullptr);
  if (!visit(pattern_node, graph_node, observer)) return false;
  while (!stack_.empty()) {
    const Pair pair = stack_.back();
    stack_.pop_back();
    if (!fit(pair, observer)) return false;
  }
  return true;
}

// Neither node is bound yet.
bool Binder::visit(NodeId pattern_node, NodeId graph_node, MisfitObserver* observer) {
  ++steps_;
  const auto misfit = [&](Misfit why) {
    return observer != nullptr && observer->go_on(why, pattern_node, graph_node, nullptr, nullptr);
  };
  if (pattern_.is_placeholder(pattern_node)) {
    set(pattern_node, {graph_node, nullptr});
    return true;
  }
  if (closed_ != nullptr && (*closed_)[graph_node]) return false;
  const Node& expected = pattern_.graph.nodes[pattern_node];
  const Node& actual = index_.graph.nodes[graph_node];
  const bool same = expected_[pattern_node] == actual_[graph_node];
  if (!same && !misfit(expected.kind == actual.kind ? Misfit::target : Misfit::kind)) return false;
  set(pattern_node, {graph_node, nullptr});
  if (observer != nullptr) {
    if (!align_anyhow(pattern_node, graph_node, same, *observer)) return false;
  } else if (!align_arguments(expected, actual, mode_, store_, pairs_)) {
    return false;
  }
  // Literals first, because they are cheap to refuse; then the rest, the first operand on top of the stack.
  const auto is_plain = [](const Value& v) { return !v.is_node() && !v.is_sequence(); };
  for (std::size_t i = 0; i < pairs_.pattern.size(); ++i) {
    const Value &p = *pairs_.pattern[i], &g = *pairs_.graph[i];
    if (is_plain(p) && is_plain(g) && !fit({&p, &g, pattern_node, graph_node}, observer)) return false;
  }
  for (std::size_t i = pairs_.pattern.size(); i-- > 0;) {
    const Value &p = *pairs_.pattern[i], &g = *pairs_.graph[i];
    if (!is_plain(p) || !is_plain(g)) stack_.push_back({&p, &g, pattern_node, graph_node});
  }
  return true;
}

// For an observer: pairs up as much as can be, so that what stands above a misfit is compared too. False: the observer
// has seen enough.
bool Binder::align_anyhow(NodeId pattern_node, NodeId graph_node, bool same_target, MisfitObserver& observer) {
  const Node& expected = pattern_.graph.nodes[pattern_node];
  const Node& actual = index_.graph.nodes[graph_node];
  const bool aligned = same_target
                           ? align_arguments(expected, actual, mode_, store_, pairs_)
                           : same_shape(expected, actual) && align_arguments(expected, actual, mode_, store_, pairs_);
  if (!aligned) {
    if (same_target && !observer.go_on(Misfit::arguments, pattern_node, graph_node, nullptr, nullptr)) return false;
    if (same_target && align_arguments(expected, actual, MatchMode::normal, store_, pairs_)) return true;
    pairs_.pattern.clear();
    pairs_.graph.clear();
    for (std::size_t i = 0; i < std::min(expected.args.size(), actual.args.size()); ++i) {
      if (!expected.args[i].is_node() || !actual.args[i].is_node()) continue;
      pairs_.pattern.push_back(&expected.args[i]);
      pairs_.graph.push_back(&actual.args[i]);
    }
  }
  const auto fits = [&](std::size_t p, std::size_t g) { return fits_shallow(*pairs_.pattern[p], *pairs_.graph[g]); };
  if (pairs_.pattern.size() != 2 || !aligned || !same_target || !fits(0, 1) || !fits(1, 0)) return true;
  if (pattern_node == swap_at_ || !fits(0, 0) || !fits(1, 1)) {
    std::swap(pairs_.graph[0], pairs_.graph[1]);
    return observer.go_on(Misfit::swapped, pattern_node, graph_node, nullptr, nullptr);
  }
  return true;
}

// Whether two operands fit without looking above them.
bool Binder::fits_shallow(const Value& expected, const Value& actual) const {
  if (expected.is_node() && pattern_.is_placeholder(expected.node)) return true;
  if (expected.is_node() != actual.is_node()) return false;
  if (expected.is_node()) return expected_[expected.node] == actual_[actual.node];
  return (expected.is_sequence() && actual.is_sequence()) || literal_equal(expected, actual);
}

bool Binder::fit(const Pair& pair, MisfitObserver* observer) {
  const Value &p = *pair.expected, &g = *pair.actual;
  const auto misfit = [&](Misfit why) {
    return observer != nullptr && observer->go_on(why, pair.pattern_node, pair.graph_node, &p, &g);
  };
  if (p.is_node() && g.is_node()) {
    if (const BoundTo& before = bound_[p.node]) return before.node == g.node || misfit(Misfit::again);
    return owner_[g.node] >= 0 ? misfit(Misfit::taken) : visit(p.node, g.node, observer);
  }
  if (p.is_node()) {
    if (!pattern_.is_placeholder(p.node)) return misfit(Misfit::structure);
    if (const BoundTo& before = bound_[p.node])
      return (before.value != nullptr && python_equal(*before.value, g)) || misfit(Misfit::again);
    set(p.node, {-1, &g});
    return true;
  }
  if (p.is_sequence() && g.is_sequence()) {
    if (p.items.size() != g.items.size()) return misfit(Misfit::structure);
    for (std::size_t i = p.items.size(); i-- > 0;)
      stack_.push_back({&p.items[i], &g.items[i], pair.pattern_node, pair.graph_node});
    return true;
  }
  if (g.is_node() || p.is_sequence() || g.is_sequence()) return misfit(Misfit::structure);
  return literal_equal(p, g) || misfit(Misfit::literal);
}

}  // namespace passnet
