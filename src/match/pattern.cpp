#include "match/pattern.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "fx/builder.h"
#include "match/normalise.h"
#include "ops/aten_table.h"
#include "ops/effects.h"
#include "ops/same_function.h"
#include "py/parser.h"

namespace passnet {

UserTable::UserTable(const Graph& graph) : first_(graph.nodes.size() + 1, 0) {
  const auto count = static_cast<NodeId>(graph.nodes.size());
  std::vector<NodeId> last(graph.nodes.size(),
                           -1);  // the last user seen: a node that is used twice by one user counts once
  const auto each = [&](const auto& visit) {
    std::fill(last.begin(), last.end(), -1);
    for (NodeId user = 0; user < count; ++user)
      node_inputs(graph.nodes[user], [&](NodeId used) {
        if (std::exchange(last[used], user) != user) visit(used, user);
      });
  };
  each([&](NodeId used, NodeId) { ++first_[used + 1]; });
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  users_.resize(first_.back());
  std::vector<std::uint32_t> at(first_.begin(), first_.end() - 1);
  each([&](NodeId used, NodeId user) { users_[at[used]++] = user; });
}

Target target_strict(const Node& node) {
  Target out{node.kind, node.target, 0};
  if (node.kind == NodeKind::placeholder || node.kind == NodeKind::output) out.name = {};  // an annotation is no target
  if (node.kind == NodeKind::call_function) out.name = same_function(node.target);
  out.hash = hash64(out.name, static_cast<std::uint64_t>(out.kind));
  return out;
}

bool node_is_impure(const Node& node) {
  if (node.kind == NodeKind::placeholder || node.kind == NodeKind::output) return true;
  if (node.kind != NodeKind::call_function) return false;
  constexpr std::string_view kImpure[] = {
      "operator.setitem",
      "_assert",
      "_assert_async",  // checks
      "torch._C._set_grad_enabled",
      "torch.amp._enter_autocast",
      "torch.amp._exit_autocast",  // modes
      "torch.ops.aten._assert_scalar.default",
      "torch.ops.aten._assert_async.msg",
      "torch.ops.aten._assert_tensor_metadata.default",  //
      "torch.ops.aten.sym_constrain_range.default",
      "torch.ops.aten.sym_constrain_range_for_size.default",  //
      "rand",
      "randn",
      "randint",
      "randperm",
      "rand_like",
      "randn_like",
      "randint_like",
      "normal",
      "poisson",
      "bernoulli",
      "multinomial",
  };
  const std::string_view name = same_function(node.target);
  if (std::find(std::begin(kImpure), std::end(kImpure), name) != std::end(kImpure)) return true;
  const AtenRow* overload = aten_overload(node.target, true);
  return overload != nullptr && (aten_schema(*overload).writes || aten_schema(*overload).random);
}

namespace {

// What `from` reaches, depth first, itself first; nodes that `seen` holds are not entered, but handed to `met`.
template <class F>
std::vector<NodeId> reach(const Graph& graph, NodeId from, std::vector<bool>& here, const std::vector<bool>& seen,
                          const F& met) {
  std::vector<NodeId> out, stack{from};
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    if (here[id]) continue;
    here[id] = true;
    out.push_back(id);
    if (seen[id]) {
      met(id);
      continue;
    }
    const std::size_t mark = stack.size();
    node_inputs(graph.nodes[id], [&](NodeId used) { stack.push_back(used); });
    std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(mark), stack.end());
  }
  return out;
}

// The operand that a node writes, or -1: x.masked_fill_(...), torch.relu_(x), relu(x, inplace=True), x += y.
NodeId find_written(const Graph& graph, NodeId id) {
  const std::vector<NodeEffects> effects = graph_effects(graph, {}, Ty::any);
  NodeId out = -1;
  if (!effects[id].known) return out;
  node_inputs(graph.nodes[id], [&](NodeId used) {
    if (out < 0 && share_memory(effects[id].writes, effects[used].gives)) out = used;
  });
  return out;
}

PatternProblem find_problem(const Pattern& p, const std::vector<bool>& reached) {
  const auto name = [&](NodeId id) -> const std::string& { return p.graph.nodes[id].name; };
  for (NodeId id = 0; id + 1 < static_cast<NodeId>(p.graph.nodes.size()); ++id) {
    if (!p.users.of(id).empty() || node_is_impure(p.graph.nodes[id])) continue;
    const Node& node = p.graph.nodes[id];
    if (const NodeId used = find_written(p.graph, id); used >= 0) {
      const std::string& written = name(used);
      return {fmt::format("'{}' writes '{}' in place, and its result is not used",
                          node_is_in_place(node) ? written : node.target, written),
              "it is matched by its result: give that a name and return it beside the others; the wrapper returns what "
              "it wrote there",
              id};
    }
    return {fmt::format("'{}' is computed and never used", name(id)), "return the value or remove the statement", id};
  }
  const NodeId output = static_cast<NodeId>(p.graph.nodes.size()) - 1;
  if (p.returning.empty())
    return {"the pattern returns no value of the graph", "return the values that the wrapper computes", output};
  if (p.anchors.empty())
    return {"no returned value ends the pattern", "return a value that no other statement of the pattern uses", output};
  for (const NodeId id : p.placeholders)
    if (!reached[id])
      return {fmt::format("parameter '{}' is not used by what the pattern returns", name(id)),
              "remove it from pattern and replacement_args", id};
  for (const NodeId id : p.returning)
    if (!reached[id])
      return {fmt::format("'{}' is only used by a statement without a result", name(id)),
              "return a value computed from it", id};
  return {};
}

}  // namespace

Pattern::Pattern(Graph from) : graph(std::move(from)), users(graph), is_returning(graph.nodes.size(), false) {
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    strict.push_back(target_strict(graph.nodes[id]));
    normal.push_back(target_normal(graph.nodes[id]));
    if (is_placeholder(id)) placeholders.push_back(id);
  }
  node_inputs(graph.output(), [&](NodeId id) {
    if (is_returning[id]) return;
    is_returning[id] = true;
    returning.push_back(id);
  });
  constexpr std::size_t kWorkLimit = 50'000'000;  // every anchor's cone is walked
  if (returning.size() * graph.nodes.size() > kWorkLimit) {
    problem = {fmt::format("a pattern of {} nodes and {} outputs is too large", graph.nodes.size(), returning.size()),
               "split the pass", -1};
    return;
  }
  std::vector<bool> reached(graph.nodes.size(), false);
  const std::vector<bool> none(graph.nodes.size(), false);
  for (const NodeId id : returning) {
    if (users.of(id).size() != 1) continue;  // used inside the pattern too: reached from another anchor
    Anchor anchor{id, {}, {}};
    std::vector<bool> here(graph.nodes.size(), false), again(graph.nodes.size(), false);
    reach(graph, id, here, reached, [&](NodeId shared) { anchor.shared.push_back(shared); });
    anchor.cone = reach(graph, id, again, none, [](NodeId) {});
    for (const NodeId node : anchor.cone) reached[node] = true;
    anchors.push_back(std::move(anchor));
  }
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id)
    if (reached[id] && !is_placeholder(id)) calls.push_back(id);
  problem = find_problem(*this, reached);
}

Result<Pattern> read_pattern(std::string file, std::string source) {
  return guarded([&] {
    const py::Module module = py::parse(std::move(file), std::move(source)).take();
    ImportScope scope;
    const py::Stmt* function = nullptr;
    for (const py::Stmt* s : module.body()) {
      scope.add(*s);
      if (s->kind == py::StmtKind::function && s->name == "pattern") function = s;
    }
    if (function == nullptr)
      fail({Code::name,
            {module.file(), 0, 0, {}},
            "no function 'pattern'",
            {"a pass file defines pattern, replacement_args and replacement_func"}});
    return Pattern(build_graph(module, *function, scope, {.skip_self = false}).take());
  });
}

}  // namespace passnet
