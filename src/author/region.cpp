#include "author/region.h"

#include <algorithm>
#include <functional>
#include <set>

#include "match/pattern.h"
#include "match/rewrite.h"

namespace passnet::author {

namespace {

class Finder {
 public:
  Finder(const GraphFolder& folder, const Program& program, bool halves, Products products, const ShapeSource& shapes)
      : folder_(folder),
        graph_(folder.graph),
        program_(program),
        users_(folder.graph),
        trace_(indices_),
        shapes_(shapes),
        halves_(halves) {
    facts_.products = trace_.products = products;
  }

  GraphFacts run() {
    facts_.nodes.resize(graph_.nodes.size());
    registers_.resize(program_.types.size());
    trace();
    if (halves_) leave_inexact();
    levels();
    components();
    return std::move(facts_);
  }

 private:
  NodeFacts& at(NodeId id) { return facts_.nodes[static_cast<std::size_t>(id)]; }

  void describe(NodeId id) {
    NodeFacts& f = at(id);
    const Abstract a = trace_.read_value(program_.values[static_cast<std::size_t>(id)], registers_);
    if (!a.is_tensor()) return;
    f.has_shape = true;
    f.sizes = trace_.sizes(a.tensor);
    f.dtype = a.tensor.type.dtype;
    f.strides = a.tensor.strides;
    f.buffer = a.tensor.buffer;
  }

  void trace() {
    const std::size_t inputs = graph_.placeholder_count();
    for (std::size_t i = 0; i < inputs; ++i) {
      const TensorMeta& meta = folder_.metas[static_cast<std::size_t>(folder_.inputs[i])];
      registers_[i] =
          Abstract::of(trace_.input(graph_.nodes[i].name, meta.shape, dense_strides(meta.shape), meta.dtype, false));
      describe(static_cast<NodeId>(i));
    }
    std::size_t step = 0;
    for (NodeId id = static_cast<NodeId>(inputs); id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      const Node& node = graph_.nodes[id];
      if (node.kind == NodeKind::output) continue;
      trace_.node = id;
      NodeFacts& f = at(id);
      f.light = true;
      std::size_t steps = 0;
      for (; step < program_.steps.size() && program_.steps[step].node == id; ++step, ++steps)
        run_step(program_.steps[step], f);
      if (!f.light) look_up(id);
      describe(id);
      const Abstract value = trace_.read_value(program_.values[static_cast<std::size_t>(id)], registers_);
      const bool tensors = value.is_tensor() ||
                           (value.kind == Abstract::Kind::list && !value.items.empty() && value.items[0].is_tensor()) ||
                           node_is_effect(node);
      if (f.light && !tensors) reject(f, "its result is no tensor");
      node_inputs(node, [&](NodeId used) {
        const Abstract v = trace_.read_value(program_.values[static_cast<std::size_t>(used)], registers_);
        const bool known = v.is_tensor() || v.kind == Abstract::Kind::list;
        if (f.light && !known) reject(f, "it uses a number that the graph computes");
        // an item of a list that is not ours stays with it
        if (f.light && v.kind == Abstract::Kind::list && !at(used).light) reject(f, "an item of what is left to ATen");
      });
      if (f.light && value.is_tensor())
        for (const std::int64_t s : f.sizes)
          if (s == 0) reject(f, "it is empty");
      if (f.light && users_.of(id).empty()) reject(f, "nobody uses its result");
    }
  }

  static void reject(NodeFacts& f, std::string why) {
    f.light = false;
    f.why = std::move(why);
  }

  void run_step(const Step& step, NodeFacts& f) {
    try {
      trace_.run(step, registers_);
      return;
    } catch (const Unfit& u) {
      if (f.light) reject(f, u.why);
    } catch (const Impossible& i) {
      if (f.light) reject(f, i.why);
    }
    if (step.kind != StepKind::aten) return;
    try {
      std::vector<Abstract> args;
      for (const Value& v : step.args) args.push_back(trace_.read_value(v, registers_));
      const Call call(trace_, step, std::move(args));
      if (!step.schema->params.empty() && step.schema->params[0].written && call.is_tensor(0)) {
        registers_[static_cast<std::size_t>(step.results[0])] = call.args[0];
        return;
      }
      const auto known = opaque_results(call);
      for (std::size_t i = 0; i < known.size() && i < step.results.size(); ++i)
        registers_[static_cast<std::size_t>(step.results[i])] =
            Abstract::of(trace_.input("x", known[i].sizes, known[i].strides, known[i].dtype, false));
    } catch (const Unfit&) {
    }
  }

  // Results that no row describes, from shape propagation. A view of something is not taken: it would need the memory
  // it is of.
  void look_up(NodeId id) {
    const Value& value = program_.values[static_cast<std::size_t>(id)];
    bool wanted = false;
    for (const Value* v : parts(value)) wanted |= unknown(*v);
    if (!wanted || !shapes_) return;
    for (const Step& step : program_.steps)
      if (step.node == id && (step.kind != StepKind::aten || step.schema->view || step.schema->writes)) return;
    if (!known_) {
      auto found = shapes_(folder_);
      known_ = found ? std::move(*found) : std::vector<RunValue>(graph_.nodes.size());
    }
    const RunValue& found = (*known_)[static_cast<std::size_t>(id)];
    const std::vector<const Value*> registers = parts(value);
    const bool many = found.kind == RunValue::Kind::list;
    if (many && found.items.size() != registers.size()) return;
    for (std::size_t i = 0; i < registers.size(); ++i) {
      const RunValue& item = many ? found.items[i] : found;
      if (!unknown(*registers[i]) || item.kind != RunValue::Kind::tensor) continue;
      const TensorDesc desc = passnet::describe(item.tensor);
      if (desc.strides != contiguous_strides(desc.sizes)) continue;
      registers_[static_cast<std::size_t>(registers[i]->node)] =
          Abstract::of(trace_.input("x", desc.sizes, desc.strides, desc.dtype, false));
    }
  }
  static std::vector<const Value*> parts(const Value& value) {
    if (!value.is_sequence()) return {&value};
    std::vector<const Value*> out;
    for (const Value& item : value.items) out.push_back(&item);
    return out;
  }
  bool unknown(const Value& v) const {
    return v.is_node() && registers_[static_cast<std::size_t>(v.node)].kind == Abstract::Kind::unknown;
  }

  std::string_view operator_of(NodeId id) const {
    for (const Step& step : program_.steps)
      if (step.node == id && step.kind == StepKind::aten) return step.schema->name;
    return {};
  }

  // The sums of norms and products are added in another order than ATen's, so that in half precision some elements
  // round to the neighbour. As a result that is right at t = -5; after a sum that cancels it is not. Such operators
  // stay with ATen.
  void leave_inexact() {
    constexpr std::string_view kSums[] = {"layer_norm", "group_norm", "rms_norm", "linear", "matmul",
                                          "bmm",        "conv1d",     "conv2d",   "conv3d", "einsum"};
    constexpr std::string_view kHarmless[] = {"mul",     "div",   "to",         "cat",     "stack",  "relu",
                                              "dropout", "clone", "contiguous", "reshape", "type_as"};
    std::map<NodeId, bool> known;
    const std::function<bool(NodeId)> magnified = [&](NodeId id) {
      if (const auto it = known.find(id); it != known.end()) return it->second;
      bool out = false;
      for (const NodeId user : users_.of(id)) {
        if (!at(user).light) continue;
        const bool view = at(user).buffer == at(id).buffer;
        const bool harmless =
            view || std::find(std::begin(kHarmless), std::end(kHarmless), operator_of(user)) != std::end(kHarmless);
        out = out || !harmless || magnified(user);
      }
      return known[id] = out;
    };
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id)
      if (at(id).light && std::find(std::begin(kSums), std::end(kSums), operator_of(id)) != std::end(kSums) &&
          magnified(id))
        reject(at(id), "in half precision its rounding cannot be reproduced, and what follows magnifies it");
  }

  void levels() {
    std::map<int, int> buffer_level;  // memory that ATen changed: who reads it later comes later
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      const Node& node = graph_.nodes[id];
      NodeFacts& f = at(id);
      if (node.kind == NodeKind::placeholder || node.kind == NodeKind::output) continue;
      int level = 0;
      node_inputs(node, [&](NodeId used) {
        level = std::max(level, at(used).level);
        if (const auto it = buffer_level.find(at(used).buffer); at(used).buffer >= 0 && it != buffer_level.end())
          level = std::max(level, it->second);
      });
      f.level = f.light ? level : level + 1;
      if (!f.light && node_acts(node)) {
        if (f.buffer >= 0) buffer_level[f.buffer] = f.level;
        node_inputs(node, [&](NodeId used) {
          if (at(used).buffer >= 0) buffer_level[at(used).buffer] = f.level;
        });
      }
    }
    // As late as its users allow, so that what only a later region needs is computed there.
    for (NodeId id = static_cast<NodeId>(graph_.nodes.size()) - 1; id >= 0; --id) {
      NodeFacts& f = at(id);
      if (!f.light || node_acts(graph_.nodes[id])) continue;
      int latest = -1;
      bool fixed = false;
      for (const NodeId user : users_.of(id)) {
        const NodeFacts& u = at(user);
        if (graph_.nodes[user].kind == NodeKind::output) {
          fixed = true;
          continue;
        }
        const int limit = u.light ? u.level : u.level - 1;
        latest = latest < 0 ? limit : std::min(latest, limit);
      }
      bool written_input = false;  // a read may not move behind a write
      node_inputs(graph_.nodes[id], [&](NodeId used) {
        for (const NodeId user : users_.of(used)) written_input |= user > id && node_writes(graph_.nodes[user]);
      });
      if (!fixed && !written_input && latest > f.level) f.level = latest;
    }
  }

  void components() {
    std::vector<NodeId> parent(graph_.nodes.size());
    for (std::size_t i = 0; i < parent.size(); ++i) parent[i] = static_cast<NodeId>(i);
    const std::function<NodeId(NodeId)> find = [&](NodeId id) {
      return parent[id] == id ? id : parent[id] = find(parent[id]);
    };
    std::map<std::pair<int, NodeId>, NodeId> reader;  // nodes of a level that share an input belong together
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      if (!at(id).light) continue;
      node_inputs(graph_.nodes[id], [&](NodeId used) {
        if (at(used).light && at(used).level == at(id).level) {
          parent[find(id)] = find(used);
          return;
        }
        const auto [it, is_new] = reader.try_emplace({at(id).level, used}, id);
        if (!is_new) parent[find(id)] = find(it->second);
      });
    }
    std::map<NodeId, Region> regions;
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id)
      if (at(id).light) regions[find(id)].nodes.push_back(id);
    for (auto& [root, region] : regions) {
      finish(region);
      facts_.regions.push_back(std::move(region));
    }
    std::sort(facts_.regions.begin(), facts_.regions.end(),
              [](const Region& a, const Region& b) { return a.nodes[0] < b.nodes[0]; });
  }

  void finish(Region& region) {
    const std::set<NodeId> inside(region.nodes.begin(), region.nodes.end());
    for (const NodeId id : region.nodes) {
      node_inputs(graph_.nodes[id], [&](NodeId used) {
        if (!inside.contains(used) &&
            std::find(region.inputs.begin(), region.inputs.end(), used) == region.inputs.end())
          region.inputs.push_back(used);
      });
      for (const NodeId user : users_.of(id))
        if (!inside.contains(user)) {
          region.outputs.push_back(id);
          break;
        }
    }
  }

  const GraphFolder& folder_;
  const Graph& graph_;
  const Program& program_;
  UserTable users_;
  Indices indices_;
  Trace trace_;
  std::vector<Abstract> registers_;
  GraphFacts facts_;
  const ShapeSource& shapes_;
  std::optional<std::vector<RunValue>> known_;
  bool halves_;
};

}  // namespace

GraphFacts find_regions(const GraphFolder& folder, const Program& program, bool halves, Products products,
                        const ShapeSource& shapes) {
  return Finder(folder, program, halves, products, shapes).run();
}

bool has_halves(const GraphFolder& folder) {
  return std::any_of(folder.inputs.begin(), folder.inputs.end(), [&](std::int32_t i) {
    const Dtype d = folder.metas[static_cast<std::size_t>(i)].dtype;
    return d == Dtype::float16 || d == Dtype::bfloat16;
  });
}

}  // namespace passnet::author
