#include "match/match.h"

#include <algorithm>

#include "match/filters.h"

namespace passnet {

Value Match::value(NodeId pattern_node) const {
  const auto it = values.find(pattern_node);
  if (it != values.end()) return it->second;
  return Value::ref(nodes[pattern_node]);
}

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
  Search(const Pattern& pattern, const MatchIndex& index, MatchMode mode, std::size_t most_steps)
      : pattern_(pattern),
        index_(index),
        mode_(mode),
        most_steps_(most_steps),
        binder_(pattern, index, mode),
        acyclic_(index),
        overlap_(index) {}

  MatchResult run() {
    if (!pattern_.problem.message.empty()) return {};
    levels_.resize(pattern_.anchors.size());
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      prepare(level);
      if (out_.gave_up || levels_[level].empty()) return std::move(out_);
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
    for (const NodeId id : anchor.shared)
      out = (out + static_cast<std::uint64_t>(binder_.bound(id).node + 2)) * 0x9E3779B97F4A7C15ULL;
    return out;
  }

  // The candidates that fit an anchor by themselves. With one anchor they are tried as they come, so nothing is tried
  // twice.
  void prepare(std::size_t level) {
    const Pattern::Anchor& anchor = pattern_.anchors[level];
    const auto consider = [&](NodeId node) {
      if (gave_up()) return;
      const bool alone = pattern_.anchors.size() == 1;
      if (alone || (binder_.bind(anchor.node, node) && !filter_contained_alone(binder_, anchor)))
        levels_[level][alone ? 0 : key(anchor)].add(node);
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
    return std::any_of(pattern_.anchors.begin(), pattern_.anchors.begin() + static_cast<std::ptrdiff_t>(level),
                       [&](const Pattern::Anchor& a) { return !pattern_.is_placeholder(a.node); });
  }

  // Real patterns stay far below: these stop a hostile one, and outputs that are not connected with too many
  // combinations.
  bool gave_up() {
    constexpr std::size_t kMostJoined = 10'000'000;  // a quarter of a second
    const std::size_t joined = prepared_steps_ > 0 ? binder_.steps() - prepared_steps_ + acyclic_.steps() : 0;
    if (binder_.steps() > most_steps_ || joined > kMostJoined) out_.gave_up = true;
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
  std::size_t most_steps_;
  Binder binder_;
  AcyclicFilter acyclic_;
  OverlapFilter overlap_;
  std::vector<Level> levels_;
  std::size_t prepared_steps_ = 0;  // with several anchors: what trying each alone took
  MatchResult out_;
};

}  // namespace

MatchResult find_matches(const Pattern& pattern, const MatchIndex& index, MatchMode mode, std::size_t most_steps) {
  return Search(pattern, index, mode, most_steps).run();
}

}  // namespace passnet
