#include "match/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>

#include "base/file.h"

namespace passnet {

namespace {

// Where a node stands: behind original node `after`, new nodes in order of `turn`.
struct Place {
  NodeId after = 0;
  std::int64_t turn = 0;
  auto operator<=>(const Place&) const = default;
};

class Rewriter {
 public:
  Rewriter(const Graph& graph, const Pattern& pattern, const UserTable& users,
           std::span<const ExternalFunction> externals)
      : graph_(graph),
        pattern_(pattern),
        users_(users),
        externals_(externals),
        nodes_(graph.nodes),
        removed_(graph.nodes.size(), false) {
    places_.resize(nodes_.size());
    instead_.resize(nodes_.size());
    acts_for_.resize(nodes_.size());
    for (NodeId id = 0; id < static_cast<NodeId>(nodes_.size()); ++id) {
      places_[id] = {id, 0};
      instead_[id] = id;
    }
  }

  void add(const Replacement& replacement) {
    const Match& match = *replacement.match;
    std::vector<NodeId> matched;
    for (const NodeId id : pattern_.calls) matched.push_back(match.nodes[id]);
    std::sort(matched.begin(), matched.end());
    if (matched.empty()) fail(Code::graph, "a pattern without calls replaces nothing");
    for (const NodeId id : matched) removed_[id] = true;
    const NodeId last = matched.back();
    const std::vector<Output> outputs = find_outputs(match);
    Node call;
    call.target = replacement.target;
    call.args = replacement.args;
    call.line = graph_.nodes[last].line;
    call.column = graph_.nodes[last].column;
    const Place place = find_place(call, matched, outputs);
    const bool single = outputs.size() == 1 && !outputs[0].index;
    // Not the wrapper's own name: a variable of that name would hide it.
    call.name = single ? graph_.nodes[outputs[0].node].name
                       : replacement.target.substr(replacement.target.rfind('.') + 1) + "_out";
    const NodeId id = append(std::move(call), place);
    calls_.push_back(id);
    acts_for_[id] = std::move(matched);
    std::int64_t turn = place.turn;
    for (const Output& output : outputs) {
      if (single) {
        instead_[output.node] = id;
        continue;
      }
      Node item;
      item.target = "operator.getitem";
      item.name = graph_.nodes[output.node].name;
      item.args = {Value::ref(id), Value::of(*output.index)};
      item.line = nodes_[id].line;
      item.column = nodes_[id].column;
      instead_[output.node] = append(std::move(item), {place.after, ++turn});
    }
  }

  // The new graph, or nothing where the replacements close a circle, need themselves or change the order of a write.
  std::optional<Rewritten> finish(OrderFilter& filter) {
    for (NodeId id = 0; id < static_cast<NodeId>(nodes_.size()); ++id)
      if (!removed_[id]) redirect(id);
    if (blocked_) return std::nullopt;
    remove_dead();
    const std::vector<NodeId> order = sort();
    if (order.empty()) return std::nullopt;
    conflicts_ = filter.find_conflicts(acting(order));
    if (!conflicts_.empty()) return std::nullopt;
    std::vector<NodeId> moved(nodes_.size(), -1);
    for (std::size_t i = 0; i < order.size(); ++i) moved[order[i]] = static_cast<NodeId>(i);
    Rewritten out;
    out.graph.file = graph_.file;
    for (const NodeId id : order) {
      map_nodes(nodes_[id], [&](NodeId used) { return moved[used]; });
      out.graph.nodes.push_back(std::move(nodes_[id]));
    }
    for (const NodeId id : calls_)
      if (moved[id] >= 0) out.calls.push_back(moved[id]);
    return out;
  }

  // Why there is none, unless it is for another reason.
  const std::vector<OrderFilter::Conflict>& conflicts() const { return conflicts_; }

 private:
  struct Output {
    NodeId node;
    std::optional<std::int64_t> index;  // which item of the wrapper's tuple
  };

  // What the pattern returns, in the graph: one value, or the items of a tuple. A parameter that is returned stays what
  // it is.
  std::vector<Output> find_outputs(const Match& match) const {
    const Value& returned = pattern_.graph.output().args[0];
    std::vector<Output> out;
    if (returned.is_node() || (returned.is_sequence() && returned.items.size() == 1)) {
      const Value& only = returned.is_node() ? returned : returned.items[0];
      if (only.is_node()) return {{match.nodes[only.node], std::nullopt}};
    }
    if (!returned.is_sequence())
      fail({Code::unsupported,
            where_in_file(pattern_.graph.file, pattern_.graph.output().line, 0),
            "a pattern returns values or a tuple of values",
            {}});
    for (std::size_t i = 0; i < returned.items.size(); ++i) {
      const Value& item = returned.items[i];
      if (item.is_sequence())
        fail({Code::unsupported,
              where_in_file(pattern_.graph.file, pattern_.graph.output().line, 0),
              "a tuple inside the returned tuple",
              {"return one flat tuple"}});
      if (!item.is_node() || pattern_.is_placeholder(item.node)) continue;
      const NodeId node = match.nodes[item.node];
      if (std::none_of(out.begin(), out.end(), [&](const Output& o) { return o.node == node; }))
        out.push_back({node, static_cast<std::int64_t>(i)});
    }
    return out;
  }

  Place find_place(const Node& call, const std::vector<NodeId>& matched, const std::vector<Output>& outputs) {
    const NodeId last = matched.back();
    NodeId first_user = static_cast<NodeId>(graph_.nodes.size()) - 1;
    for (const Output& output : outputs)
      for (const NodeId user : users_.of(output.node)) {
        if (std::binary_search(matched.begin(), matched.end(), user)) continue;
        first_user = std::min(first_user, user);
        break;  // users stand in graph order
      }
    NodeId last_input = -1;
    node_inputs(call, [&](NodeId id) { last_input = std::max(last_input, id); });
    const NodeId after = last < first_user || last_input >= first_user ? last : first_user - 1;
    turn_ += std::int64_t{1} << 20;  // room for the items behind the call
    return {after, turn_};
  }

  NodeId append(Node node, Place place) {
    nodes_.push_back(std::move(node));
    removed_.push_back(false);
    places_.push_back(place);
    acts_for_.emplace_back();
    instead_.push_back(static_cast<NodeId>(nodes_.size()) - 1);
    return instead_.back();
  }

  template <class F>
  static void map_value(Value& value, const F& to) {
    if (value.is_node()) value.node = to(value.node);
    for (Value& item : value.items) map_value(item, to);
  }
  template <class F>
  static void map_nodes(Node& node, const F& to) {
    for (Value& arg : node.args) map_value(arg, to);
    for (Kwarg& kwarg : node.kwargs) map_value(kwarg.value, to);
  }

  void redirect(NodeId id) {
    Node& node = nodes_[id];
    map_nodes(node, [&](NodeId used) {
      const NodeId now = instead_[used];
      if (removed_[now] && id >= static_cast<NodeId>(graph_.nodes.size()))
        blocked_ = true;  // a parameter bound a list with a value of the match itself
      else if (removed_[now])
        fail({Code::internal,
              where_in_file(graph_.file, node.line, node.column),
              fmt::format("'{}' uses '{}', which a match replaces and does not return", node.name,
                          graph_.nodes[used].name),
              {}});
      return now;
    });
  }

  // What lost its last user by the rewrite goes too, and so on upwards.
  void remove_dead() {
    std::vector<std::int32_t> uses(nodes_.size(), 0);
    for (NodeId id = 0; id < static_cast<NodeId>(nodes_.size()); ++id)
      if (!removed_[id]) node_inputs(nodes_[id], [&](NodeId used) { ++uses[used]; });
    std::vector<NodeId> dead;
    const auto check = [&](NodeId id) {
      if (uses[id] > 0 || removed_[id] || nodes_[id].kind == NodeKind::placeholder ||
          nodes_[id].kind == NodeKind::output)
        return;
      const bool is_new = id >= static_cast<NodeId>(graph_.nodes.size());
      if (is_new ? nodes_[id].target != "operator.getitem" : users_.of(id).empty() || node_acts(nodes_[id], externals_))
        return;
      removed_[id] = true;
      dead.push_back(id);
    };
    for (NodeId id = 0; id < static_cast<NodeId>(nodes_.size()); ++id) check(id);
    while (!dead.empty()) {
      const NodeId id = dead.back();
      dead.pop_back();
      node_inputs(nodes_[id], [&](NodeId used) { --uses[used]; });
      node_inputs(nodes_[id], [&](NodeId used) { check(used); });
    }
  }

  // The kept nodes by place, each behind its operands; empty where there is a circle.
  std::vector<NodeId> sort() const {
    const auto later = [&](NodeId a, NodeId b) { return places_[a] > places_[b]; };
    std::priority_queue<NodeId, std::vector<NodeId>, decltype(later)> ready(later);
    std::vector<std::int32_t> waiting(nodes_.size(), 0);
    std::vector<std::vector<NodeId>> feeds(nodes_.size());
    std::size_t count = 0;
    for (NodeId id = 0; id < static_cast<NodeId>(nodes_.size()); ++id) {
      if (removed_[id]) continue;
      ++count;
      node_inputs(nodes_[id], [&](NodeId used) {
        ++waiting[id];
        feeds[used].push_back(id);
      });
      if (waiting[id] == 0) ready.push(id);
    }
    std::vector<NodeId> out;
    while (!ready.empty()) {
      const NodeId id = ready.top();
      ready.pop();
      out.push_back(id);
      for (const NodeId next : feeds[id])
        if (--waiting[next] == 0) ready.push(next);
    }
    return out.size() == count ? out : std::vector<NodeId>{};
  }

  // The graph's own nodes in the new order: a call acts for those that it replaces.
  std::vector<NodeId> acting(const std::vector<NodeId>& order) const {
    std::vector<NodeId> out;
    for (const NodeId id : order)
      if (id < static_cast<NodeId>(graph_.nodes.size()))
        out.push_back(id);
      else
        out.insert(out.end(), acts_for_[id].begin(), acts_for_[id].end());
    return out;
  }

  const Graph& graph_;
  const Pattern& pattern_;
  const UserTable& users_;
  std::span<const ExternalFunction> externals_;
  std::vector<Node> nodes_;  // the graph's, then the new ones
  std::vector<bool> removed_;
  std::vector<std::vector<NodeId>> acts_for_;  // of a new call: the nodes that it replaces
  std::vector<Place> places_;
  std::vector<NodeId> instead_;  // what users of a node use now
  std::vector<NodeId> calls_;
  std::int64_t turn_ = 0;
  bool blocked_ = false;
  std::vector<OrderFilter::Conflict> conflicts_;
};

}  // namespace

bool node_acts(const Node& node, std::span<const ExternalFunction> externals) {
  if (node.kind == NodeKind::placeholder || node.kind == NodeKind::output) return node.kind == NodeKind::output;
  return node_is_impure(node) || !node_effects(node, externals).writes.empty();
}

ExternalFunction wrapper_function(std::string name, const Pattern& pattern, std::span<const Value> args) {
  const std::vector<NodeEffects> effects = graph_effects(pattern.graph, {}, Ty::any);
  std::vector<Memory> written;
  for (const NodeEffects& e : effects) written.insert(written.end(), e.writes.begin(), e.writes.end());
  ExternalFunction out{std::move(name), pattern.returning.size(), {}, {}};
  for (const Value& arg : args) {
    bool writes = false, gives_back = false;
    value_nodes(arg, [&](NodeId id) {
      writes |= share_memory(written, effects[id].gives);
      gives_back |= share_memory(effects.back().reads, effects[id].gives);
    });
    out.writes.push_back(writes);
    out.gives_back.push_back(gives_back);
  }
  return out;
}

namespace {

Value bound_value(const Match& match, const Value& value) {
  if (value.is_node()) return match.value(value.node);
  Value out = value;
  for (Value& item : out.items) item = bound_value(match, item);
  return out;
}

}  // namespace

Replacement make_replacement(const Match& match, std::string target, std::vector<Value> args) {
  for (Value& arg : args) arg = bound_value(match, arg);
  return {&match, std::move(target), std::move(args)};
}

Result<Rewritten> rewrite(const Graph& graph, const Pattern& pattern, std::span<const Replacement> replacements,
                          std::span<const ExternalFunction> externals) {
  return guarded([&] {
    const UserTable users(graph);
    OrderFilter filter(graph, externals);
    constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    std::vector<std::size_t> owner(graph.nodes.size(), kNone);  // of a matched node: the replacement
    for (std::size_t i = 0; i < replacements.size(); ++i)
      for (const NodeId id : pattern.calls) owner[replacements[i].match->nodes[id]] = i;
    std::vector<std::size_t> used;
    std::vector<LeftOut> left_out;
    std::optional<Rewritten> out;
    // Each match is acyclic by itself; together some may not be. All of `some` are added, less those that conflict with
    // a node of no match, or else the halves, down to the one that does not fit.
    const std::function<void(std::vector<std::size_t>)> add = [&](std::vector<std::size_t> some) {
      while (!some.empty()) {
        Rewriter rewriter(graph, pattern, users, externals);
        for (const std::size_t i : used) rewriter.add(replacements[i]);
        for (const std::size_t i : some) rewriter.add(replacements[i]);
        if (auto next = rewriter.finish(filter)) {
          out = std::move(next);
          used.insert(used.end(), some.begin(), some.end());
          return;
        }
        const std::size_t count = some.size();
        for (const OrderFilter::Conflict& c : rewriter.conflicts()) {
          if ((owner[c.node] == kNone) == (owner[c.writer] == kNone)) continue;
          const std::size_t guilty = std::min(owner[c.node], owner[c.writer]);
          if (std::erase(some, guilty) > 0) left_out.push_back({guilty, c});
        }
        if (some.size() < count) continue;
        if (count == 1) {
          const bool ordered = rewriter.conflicts().empty();
          left_out.push_back({some[0], ordered ? OrderFilter::Conflict{} : rewriter.conflicts()[0]});
          return;
        }
        const auto middle = some.begin() + static_cast<std::ptrdiff_t>(count / 2);
        add({some.begin(), middle});
        some.erase(some.begin(), middle);
      }
    };
    std::vector<std::size_t> all(replacements.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    add(std::move(all));
    if (!out) out = Rewritten{graph, {}, {}};
    std::sort(left_out.begin(), left_out.end(),
              [](const LeftOut& a, const LeftOut& b) { return a.replacement < b.replacement; });
    out->left_out = std::move(left_out);
    graph_verify(out->graph).take();
    return std::move(*out);
  });
}

}  // namespace passnet
