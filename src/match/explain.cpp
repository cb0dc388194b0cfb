#include "match/explain.h"

#include <algorithm>

#include "match/rewrite.h"

namespace passnet {

namespace {

ReasonType type_of_misfit(Misfit misfit) {
  switch (misfit) {
    case Misfit::kind: return ReasonType::op_mismatch;
    case Misfit::target: return ReasonType::target_mismatch;
    case Misfit::literal: return ReasonType::attr_mismatch;
    default: return ReasonType::arg_mismatch;
  }
}

// Collects the misfits of one attempt.
class Recorder : public MisfitObserver {
 public:
  bool go_on(Misfit misfit, NodeId pattern_node, NodeId graph_node, const Value* expected,
             const Value* actual) override {
    Reason reason{type_of_misfit(misfit), misfit, pattern_node, graph_node, {}, {}, expected != nullptr, -1, false};
    if (expected != nullptr) {
      reason.expected = *expected;
      reason.actual = *actual;
    }
    reasons.push_back(std::move(reason));
    return true;
  }
  std::vector<Reason> reasons;
};

// The last word of a target without what tells its forms apart: torch.relu, .relu_ and relu; operator.add and iadd.
std::string_view bare_name(const Node& node) {
  std::string_view name = std::string_view(node.target).substr(node.target.rfind('.') + 1);
  if (node_is_in_place(node)) name.remove_prefix(1);
  while (name.size() > 1 && name.ends_with('_')) name.remove_suffix(1);
  return name;
}

constexpr std::int64_t kFits = 4;        // a node that fits
constexpr std::int64_t kTargetFits = 2;  // ... but for its operands
constexpr std::int64_t kNameFits = 1;    // the same operator in another form: method for function

constexpr std::size_t kMostSteps =
    20'000'000;  // of all attempts: a hostile pattern is explained by what was seen until then

struct Attempt {
  NodeId start = -1;
  std::int64_t score = 0;
  std::size_t misfits = 0;
  bool leaks = false;
  bool operator<(const Attempt& other) const {  // better first, then graph order
    if (score != other.score) return score > other.score;
    if (misfits != other.misfits) return misfits < other.misfits;
    if (leaks != other.leaks) return !leaks;
    return start < other.start;
  }
};

class Explainer {
 public:
  Explainer(const Pattern& pattern, const MatchIndex& index, MatchMode mode, const MatchResult& result)
      : pattern_(pattern),
        index_(index),
        binder_(pattern, index, mode),
        matched_(!result.matches.empty()),
        taken_(index.graph.nodes.size(), false) {
    for (const Match& match : result.matches)
      for (const NodeId id : pattern.calls) taken_[match.nodes[id]] = true;
    for (const Pattern::Anchor& anchor : pattern.anchors) anchors_.push_back(&anchor);
    std::stable_sort(anchors_.begin(), anchors_.end(), [](const auto* a, const auto* b) {
      return a->cone.size() > b->cone.size();
    });  // the one that says most first
  }

  std::vector<Reason> run(std::size_t most) {
    const std::vector<Attempt> first = attempts(*anchors_[0]);
    for (std::size_t i = 0; i < std::min(most, first.size()) && reasons_.size() < kMostReasons; ++i) {
      if ((i > 0 || matched_) && first[i].score <= 0) break;  // nothing of it fits: no news
      add(first[i]);
    }
    if (reasons_.size() > kMostReasons) reasons_.resize(kMostReasons);
    return std::move(reasons_);
  }

 private:
  // Tries the anchor at every call of the graph, on top of what is bound; best first.
  std::vector<Attempt> attempts(const Pattern::Anchor& anchor) {
    std::vector<Attempt> out;
    const Binder::Mark mark = binder_.mark();
    for (NodeId node = 0; node < static_cast<NodeId>(index_.graph.nodes.size()); ++node) {
      const NodeKind kind = index_.graph.nodes[node].kind;
      if (binder_.steps() > kMostSteps) break;
      if (taken_[node] ||
          (kind != NodeKind::call_function && kind != NodeKind::call_method && !pattern_.is_placeholder(anchor.node)))
        continue;
      Recorder recorder;
      binder_.bind(anchor.node, node, &recorder);
      out.push_back({node, score(mark, recorder), recorder.reasons.size(),
                     recorder.reasons.empty() && filter_contained_alone(binder_, anchor)});
      binder_.undo(mark);
    }
    const std::size_t keep = std::min(out.size(), kMostAttempts);
    std::partial_sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(keep), out.end());
    out.resize(keep);
    return out;
  }

  std::int64_t score(Binder::Mark since, const Recorder& recorder) const {
    std::int64_t out = 0;
    for (const NodeId id : binder_.bound_since(since))
      if (!pattern_.is_placeholder(id)) out += kFits;
    NodeId counted = -1;  // several misfits of one node come one after another
    for (const Reason& reason : recorder.reasons) {
      if (pattern_.is_placeholder(reason.pattern_node) ||
          std::exchange(counted, reason.pattern_node) == reason.pattern_node)
        continue;
      const bool wrong = reason.type == ReasonType::op_mismatch || reason.type == ReasonType::target_mismatch;
      const bool near = wrong && bare_name(pattern_.graph.nodes[reason.pattern_node]) ==
                                     bare_name(index_.graph.nodes[reason.graph_node]);
      out -= kFits - (near ? kNameFits : wrong ? 0 : kTargetFits);
    }
    return out;
  }

  // One attempt with all anchors: the others where they fit best beside the first.
  void add(const Attempt& first) {
    binder_.swap_at(best_swap(first));
    Recorder recorder;
    binder_.bind(anchors_[0]->node, first.start, &recorder);
    for (std::size_t i = 1; i < anchors_.size(); ++i) {
      const std::vector<Attempt> next = attempts(*anchors_[i]);
      if (!next.empty())
        binder_.bind(anchors_[i]->node, next[0].start, &recorder);
      else
        recorder.reasons.push_back(
            {ReasonType::target_mismatch, Misfit::target, anchors_[i]->node, -1, {}, {}, false, -1, false});
      if (recorder.reasons.size() >= kMostReasons) break;
    }
    binder_.swap_at(-1);
    if (recorder.reasons.empty()) add_filtered();
    for (Reason& reason : recorder.reasons) reasons_.push_back(std::move(reason));
    binder_.undo({});
  }

  // The call whose operands, read the other way round, make the attempt better; -1 where none does.
  NodeId best_swap(const Attempt& first) {
    NodeId best = -1;
    Attempt found = first;
    for (const NodeId id : anchors_[0]->cone) {
      if (first.misfits == 0 || binder_.steps() > kMostSteps || pattern_.graph.nodes[id].args.size() != 2) continue;
      binder_.swap_at(id);
      Recorder recorder;
      binder_.bind(anchors_[0]->node, first.start, &recorder);
      const Attempt now{first.start, score({}, recorder), recorder.reasons.size(), false};
      binder_.undo({});
      if (now.misfits < found.misfits || (now.misfits == found.misfits && now.score > found.score)) {
        best = id;
        found = now;
      }
    }
    return best;
  }

  // Everything fits, and still it is no match: a filter refuses it.
  void add_filtered() {
    if (std::any_of(pattern_.calls.begin(), pattern_.calls.end(),
                    [&](NodeId id) { return binder_.bound(id).node < 0; }))
      return;
    if (const Leak leak = filter_contained(binder_)) {
      for (const NodeId id : pattern_.calls) {
        if (pattern_.is_returning[id]) continue;
        const NodeId node = binder_.bound(id).node;
        for (const NodeId user : index_.users.of(node)) {
          if (binder_.is_matched(user)) continue;
          reasons_.push_back({ReasonType::not_contained, Misfit::kind, id, node, {}, {}, false, user, false});
          break;  // one user shows it
        }
      }
    } else {
      AcyclicFilter acyclic(index_);
      const NodeId back = acyclic.find_cycle(binder_);
      if (back >= 0)
        reasons_.push_back(
            {ReasonType::not_contained, Misfit::kind, binder_.owner(back), back, {}, {}, false, back, true});
    }
  }

  const Pattern& pattern_;
  const MatchIndex& index_;
  Binder binder_;
  std::vector<const Pattern::Anchor*> anchors_;
  bool matched_;
  std::vector<bool> taken_;
  std::vector<Reason> reasons_;
};

// Calls that convert or copy, of which a graph may have none where a pattern has one.
bool only_passes_on(const Node& node) {
  constexpr std::string_view kNames[] = {"to",   "type",       "type_as",       "float",  "double",
                                         "half", "bfloat16",   "clone",         "detach", "int",
                                         "long", "contiguous", "requires_grad", "dropout"};
  return std::find(std::begin(kNames), std::end(kNames), bare_name(node)) != std::end(kNames);
}

Value renamed(Value v, const std::vector<Value>& to) {
  if (v.is_node()) return to[static_cast<std::size_t>(v.node)];
  for (Value& item : v.items) item = renamed(std::move(item), to);
  return v;
}

// A pattern that matches where some of its calls are left out: what uses them takes their operand.
class ExtraCalls {
 public:
  ExtraCalls(const Pattern& pattern, const MatchIndex& index, MatchMode mode)
      : pattern_(pattern), index_(index), mode_(mode) {}

  std::vector<Reason> find() {
    constexpr std::size_t kMostCalls = 64, kMostNodes = 2000;
    if (pattern_.calls.size() < 2 || pattern_.calls.size() > kMostCalls || index_.graph.nodes.size() > kMostNodes)
      return {};
    std::vector<NodeId> passing;
    for (const NodeId id : pattern_.calls) {
      if (only_passes_on(pattern_.graph.nodes[id])) passing.push_back(id);
      if (std::vector<Reason> out = without({id}); !out.empty()) return out;
    }
    return passing.size() > 1 && passing.size() < pattern_.calls.size() ? without(passing) : std::vector<Reason>{};
  }

 private:
  std::vector<Reason> without(const std::vector<NodeId>& left_out) {
    const Graph& from = pattern_.graph;
    std::vector<Value> to(from.nodes.size());            // what a node of the pattern is in what is left of it
    std::vector<NodeId> operand(from.nodes.size(), -1);  // of a call that is left out
    std::vector<bool> used(from.nodes.size(), false);
    for (NodeId id = static_cast<NodeId>(from.nodes.size()); id-- > 0;) {
      const bool gone = std::find(left_out.begin(), left_out.end(), id) != left_out.end();
      const Node& node = from.nodes[static_cast<std::size_t>(id)];
      if (gone) {
        for (std::size_t i = 0; i < node.args.size() && operand[id] < 0; ++i)
          if (node.args[i].is_node()) operand[id] = node.args[i].node;
        if (operand[id] < 0) return {};
        used[operand[id]] = used[operand[id]] || used[id];
      } else if (node.kind == NodeKind::output || used[id] || node_is_impure(node)) {
        used[id] = true;
        node_inputs(node, [&](NodeId input) { used[input] = true; });
      }
    }
    Graph rest;
    rest.file = from.file;
    for (NodeId id = 0; id < static_cast<NodeId>(from.nodes.size()); ++id) {
      if (operand[id] >= 0) {
        to[id] = to[operand[id]];
        continue;
      }
      Node node = from.nodes[static_cast<std::size_t>(id)];
      if (!used[id]) continue;  // what only the calls that are left out need
      for (Value& arg : node.args) arg = renamed(std::move(arg), to);
      for (Kwarg& k : node.kwargs) k.value = renamed(std::move(k.value), to);
      to[id] = Value::ref(static_cast<NodeId>(rest.nodes.size()));
      rest.nodes.push_back(std::move(node));
    }
    const Pattern small(std::move(rest));
    if (!small.problem.message.empty() || small.calls.empty()) return {};
    const MatchResult result = find_matches(small, index_, mode_, kMostSteps / kTries);
    std::vector<Reason> out;
    if (result.matches.empty()) return out;
    for (const NodeId id : left_out) {
      const Value before = result.matches[0].value(to[id].node);
      if (!before.is_node() || !is_extra(id, operand[id], before.node)) return {};
      Reason reason;
      reason.type = ReasonType::target_mismatch;
      reason.misfit = Misfit::target;
      reason.pattern_node = id;
      reason.graph_node = before.node;
      reason.extra = true;
      out.push_back(std::move(reason));
    }
    return out;
  }

  // Whether the call is too many rather than another one: where the graph has a call at its place, that is the news.
  bool is_extra(NodeId id, NodeId operand, NodeId before) const {
    const Node& call = pattern_.graph.nodes[static_cast<std::size_t>(id)];
    const auto same_name = [&](NodeId node) {
      return bare_name(index_.graph.nodes[static_cast<std::size_t>(node)]) == bare_name(call);
    };
    const auto users = index_.users.of(before);
    if (same_name(before) || std::any_of(users.begin(), users.end(), same_name)) return false;
    if (only_passes_on(call)) return true;
    const bool ends = pattern_.is_returning[id];
    return !pattern_.is_placeholder(operand) && (!ends || std::all_of(users.begin(), users.end(), [&](NodeId user) {
      return index_.graph.nodes[static_cast<std::size_t>(user)].kind == NodeKind::output;
    }));
  }

  static constexpr std::size_t kTries = 64;
  const Pattern& pattern_;
  const MatchIndex& index_;
  MatchMode mode_;
};

}  // namespace

std::vector<Reason> explain(const Pattern& pattern, const MatchIndex& index, MatchMode mode, const MatchResult& result,
                            std::size_t attempts) {
  if (!pattern.problem.message.empty()) {
    Reason reason;
    reason.pattern_node = pattern.problem.node;
    return {reason};
  }
  std::vector<Reason> out = Explainer(pattern, index, mode, result).run(attempts);
  const bool other_call =
      out.empty() || out[0].type == ReasonType::op_mismatch || out[0].type == ReasonType::target_mismatch;
  if (result.matches.empty() && !result.gave_up && other_call)
    if (std::vector<Reason> extra = ExtraCalls(pattern, index, mode).find(); !extra.empty()) return extra;
  if (out.empty() && result.matches.empty()) {  // the graph has no call to start from
    Reason reason;
    reason.type = ReasonType::target_mismatch;
    reason.misfit = Misfit::target;
    reason.pattern_node = pattern.anchors[0].node;
    out.push_back(std::move(reason));
  }
  return out;
}

std::vector<Reason> explain_left_out(const Pattern& pattern, const MatchIndex& index, const MatchResult& result,
                                     std::span<const ExternalFunction> externals) {
  std::vector<Value> args;
  for (const NodeId id : pattern.placeholders) args.push_back(Value::ref(id));
  std::vector<Replacement> replacements;
  for (const Match& match : result.matches) replacements.push_back(make_replacement(match, "wrapper", args));
  const auto rewritten = rewrite(index.graph, pattern, replacements, externals);
  if (!rewritten) return {};  // its `return` is no wrapper's
  std::vector<Reason> out;
  for (const LeftOut& left : rewritten->left_out) {
    const std::vector<NodeId>& nodes = result.matches[left.replacement].nodes;
    // The pattern's node that stands for this one.
    const auto owner = [&](NodeId node) {
      for (const NodeId id : pattern.calls)
        if (nodes[id] == node) return id;
      return NodeId{-1};
    };
    Reason reason;
    reason.type = left.conflict ? ReasonType::not_in_order : ReasonType::not_contained;
    reason.cycle = !left.conflict;
    reason.graph_node = left.conflict ? left.conflict.node : nodes[pattern.calls.front()];
    reason.user = left.conflict ? left.conflict.writer : reason.graph_node;
    if (owner(reason.graph_node) < 0 && owner(reason.user) >= 0) std::swap(reason.graph_node, reason.user);
    reason.pattern_node = owner(reason.graph_node);
    out.push_back(std::move(reason));
  }
  return out;
}

}  // namespace passnet
