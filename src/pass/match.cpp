#include "pass/match.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/dtype.h"
#include "ops/same_function.h"
#include "pass/filters.h"

namespace passnet {

// ---- values

namespace {

// A dotted constant by the object it means: torch.float is torch.float32.
bool constant_equal(std::string_view a, std::string_view b) {
  if (a == b) return true;
  if (const auto dtype = dtype_from_name(a); dtype && a.starts_with("torch.") && b.starts_with("torch.")) return dtype == dtype_from_name(b);
  return same_function(a) == same_function(b);
}

bool integer_equals_real(std::int64_t i, double r) {
  constexpr double kTwo63 = 9223372036854775808.0;
  return r >= -kTwo63 && r < kTwo63 && std::trunc(r) == r && static_cast<std::int64_t>(r) == i;
}

// Two values that are neither nodes nor sequences, of any types.
bool atom_equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.kind == ValueKind::real && b.kind == ValueKind::real) return a.real == b.real;
    if (a.kind == ValueKind::real) return integer_equals_real(b.integer, a.real);
    if (b.kind == ValueKind::real) return integer_equals_real(a.integer, b.real);
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
  return value_equal(pattern, graph, [](NodeId, NodeId) { return false; });  // a slice's nodes belong to two graphs: never equal
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
    : pattern_(pattern), index_(index), mode_(mode), expected_(mode == MatchMode::strict ? pattern.strict : pattern.normal), actual_(index.targets(mode)),
      bound_(pattern.graph.nodes.size()), owner_(index.graph.nodes.size(), -1) {}

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
  if (!visit(pattern_node, graph_node, observer)) return false;
  while (!stack_.empty()) {
    const Pair pair = stack_.back();
    stack_.pop_back();
    if (!fit(pair, observer)) return false;
  }
  return true;
}

bool Binder::visit(NodeId pattern_node, NodeId graph_node, MisfitObserver* observer) {
  ++steps_;
  const auto misfit = [&](Misfit why) { return observer != nullptr && observer->go_on(why, pattern_node, graph_node, nullptr, nullptr); };
  if (const BoundTo& before = bound_[pattern_node]) return before.node == graph_node || misfit(Misfit::again);
  if (owner_[graph_node] >= 0) return misfit(Misfit::taken);
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

// For an observer: pairs up as much as can be, so that what stands above a misfit is compared too. False: the observer has seen enough.
bool Binder::align_anyhow(NodeId pattern_node, NodeId graph_node, bool same_target, MisfitObserver& observer) {
  const Node& expected = pattern_.graph.nodes[pattern_node];
  const Node& actual = index_.graph.nodes[graph_node];
  const bool aligned = same_target ? align_arguments(expected, actual, mode_, store_, pairs_) : same_shape(expected, actual) && align_arguments(expected, actual, mode_, store_, pairs_);
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
  const auto misfit = [&](Misfit why) { return observer != nullptr && observer->go_on(why, pair.pattern_node, pair.graph_node, &p, &g); };
  if (p.is_node() && g.is_node()) return visit(p.node, g.node, observer);
  if (p.is_node()) {
    if (!pattern_.is_placeholder(p.node)) return misfit(Misfit::structure);
    if (const BoundTo& before = bound_[p.node]) return (before.value != nullptr && python_equal(*before.value, g)) || misfit(Misfit::again);
    set(p.node, {-1, &g});
    return true;
  }
  if (p.is_sequence() && g.is_sequence()) {
    if (p.items.size() != g.items.size()) return misfit(Misfit::structure);
    for (std::size_t i = p.items.size(); i-- > 0;) stack_.push_back({&p.items[i], &g.items[i], pair.pattern_node, pair.graph_node});
    return true;
  }
  if (g.is_node() || p.is_sequence() || g.is_sequence()) return misfit(Misfit::structure);
  return literal_equal(p, g) || misfit(Misfit::literal);
}

Value Match::value(NodeId pattern_node) const {
  const auto it = values.find(pattern_node);
  if (it != values.end()) return it->second;
  return Value::ref(nodes[pattern_node]);
}

// ---- searching

namespace {

// Candidates in graph order. One that an earlier match took is dropped for good: `next_` skips it.
class CandidateList {
 public:
  void add(NodeId node) {
    next_.push_back(static_cast<std::uint32_t>(nodes_.size()));
    nodes_.push_back(node);
  }
  std::size_t size() const { return nodes_.size(); }
  NodeId operator[](std::size_t i) const { return nodes_[i]; }
  void drop(std::size_t i) { next_[i] = static_cast<std::uint32_t>(i) + 1; }
  std::size_t from(std::size_t i) {
    std::size_t end = i;
    while (end < next_.size() && next_[end] != end) end = next_[end];
    while (i < next_.size() && next_[i] != i) i = std::exchange(next_[i], static_cast<std::uint32_t>(end));
    return end;
  }

 private:
  std::vector<NodeId> nodes_;
  std::vector<std::uint32_t> next_;
};

class Search {
 public:
  Search(const Pattern& pattern, const MatchIndex& index, MatchMode mode)
      : pattern_(pattern), index_(index), mode_(mode), binder_(pattern, index, mode), acyclic_(index), overlap_(index) {}

  MatchResult run() {
    if (!pattern_.problem.message.empty()) return {};
    levels_.resize(pattern_.anchors.size());
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      prepare(level);
      if (levels_[level].empty()) return {};
    }
    prepared_steps_ = binder_.steps();
    binder_.close(&overlap_.taken_nodes());
    search(0);
    return std::move(out_);
  }

 private:
  using Level = std::unordered_map<std::uint64_t, CandidateList>;  // by what the shared nodes are bound to

  // What the nodes that this anchor shares with earlier ones are bound to; literals are told apart later.
  std::uint64_t key(const Pattern::Anchor& anchor) const {
    std::uint64_t out = 0;
    for (const NodeId id : anchor.shared) out = (out + static_cast<std::uint64_t>(binder_.bound(id).node + 2)) * 0x9E3779B97F4A7C15ULL;
    return out;
  }

  // The candidates that fit an anchor by themselves. With one anchor they are tried as they come, so nothing is tried twice.
  void prepare(std::size_t level) {
    const Pattern::Anchor& anchor = pattern_.anchors[level];
    const auto consider = [&](NodeId node) {
      const bool alone = pattern_.anchors.size() == 1;
      if (alone || (binder_.bind(anchor.node, node) && !filter_contained_alone(binder_, anchor))) levels_[level][alone ? 0 : key(anchor)].add(node);
      binder_.undo({});
    };
    if (pattern_.is_placeholder(anchor.node)) {
      for (NodeId node = 0; node < static_cast<NodeId>(index_.graph.nodes.size()); ++node) consider(node);
    } else {
      const Target& target = (mode_ == MatchMode::strict ? pattern_.strict : pattern_.normal)[anchor.node];
      for (const NodeId node : index_.candidates(target, mode_)) consider(node);
    }
  }

  void search(std::size_t level) {
    if (level == pattern_.anchors.size()) return finish();
    const Pattern::Anchor& anchor = pattern_.anchors[level];
    const bool placeholder = pattern_.is_placeholder(anchor.node);
    const auto group = levels_[level].find(key(anchor));
    if (group == levels_[level].end()) return;
    CandidateList& list = group->second;
    const Binder::Mark mark = binder_.mark();
    const std::size_t found = out_.matches.size();
    for (std::size_t i = list.from(0); i < list.size(); i = list.from(i + 1)) {
      if (!placeholder && overlap_.taken(list[i])) {
        list.drop(i);
        continue;
      }
      if (binder_.bind(anchor.node, list[i])) search(level + 1);
      binder_.undo(mark);
      // What earlier anchors bound belongs to the match just found: every further one would overlap it.
      if (out_.matches.size() > found && has_calls(level)) return;
      if (gave_up()) return;
    }
  }

  bool has_calls(std::size_t level) const {
    return std::any_of(pattern_.anchors.begin(), pattern_.anchors.begin() + static_cast<std::ptrdiff_t>(level), [&](const Pattern::Anchor& a) { return !pattern_.is_placeholder(a.node); });
  }

  bool gave_up() {
    constexpr std::size_t kStepLimit = 20'000'000;  // about half a second
    if (pattern_.anchors.size() > 1 && binder_.steps() - prepared_steps_ + acyclic_.steps() > kStepLimit) out_.gave_up = true;
    return out_.gave_up;
  }

  void finish() {
    if (overlap_.overlaps(binder_) || filter_contained(binder_) || acyclic_.find_cycle(binder_) >= 0) return;
    overlap_.take(binder_);
    Match match;
    match.nodes.resize(pattern_.graph.nodes.size(), -1);
    for (NodeId id = 0; id < static_cast<NodeId>(match.nodes.size()); ++id) {
      match.nodes[id] = binder_.bound(id).node;
      if (binder_.bound(id).value != nullptr) match.values.emplace(id, *binder_.bound(id).value);
    }
    out_.matches.push_back(std::move(match));
  }

  const Pattern& pattern_;
  const MatchIndex& index_;
  MatchMode mode_;
  Binder binder_;
  AcyclicFilter acyclic_;
  OverlapFilter overlap_;
  std::vector<Level> levels_;
  std::size_t prepared_steps_ = 0;
  MatchResult out_;
};

}  // namespace

MatchResult find_matches(const Pattern& pattern, const MatchIndex& index, MatchMode mode) { return Search(pattern, index, mode).run(); }

}  // namespace passnet
