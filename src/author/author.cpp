#include "author/author.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "author/cost.h"
#include "base/text.h"
#include "fx/printer.h"
#include "ops/lower.h"

namespace passnet::author {

namespace {

// "torch.nn.functional.layer_norm" -> "layer_norm"
std::string short_name(const Node& node) {
  std::string name = node.target.substr(node.target.rfind('.') + 1);
  while (name.starts_with('_')) name.erase(0, 1);
  while (name.ends_with('_')) name.pop_back();
  if (name == "truediv") name = "div";
  if (name == "iadd") name = "add";
  return name;
}

constexpr std::string_view kQuiet[] = {
    "view",      "reshape", "getitem", "transpose", "permute", "unsqueeze", "squeeze", "contiguous", "dropout",
    "dropout2d", "to",      "expand",  "flatten",   "float",   "type_as",   "detach",  "t",          "expand_as",
    "getattr",   "long",    "int",     "setitem",   "chunk",   "split",     "unbind"};

// The operators that a region is about, in order, each once; views only where there is nothing else.
std::string region_name(const Graph& graph, const Region& region) {
  std::vector<std::string> loud, all;
  const auto add = [](std::vector<std::string>& to, const std::string& name) {
    if (std::find(to.begin(), to.end(), name) == to.end()) to.push_back(name);
  };
  for (const NodeId id : region.nodes) {
    const std::string name = short_name(graph.nodes[id]);
    add(all, name);
    if (std::find(std::begin(kQuiet), std::end(kQuiet), name) == std::end(kQuiet)) add(loud, name);
  }
  std::vector<std::string>& names = loud.empty() ? all : loud;
  if (names.size() > 4) names.resize(4);
  std::string out = text_join(names, "_");
  std::erase_if(out, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_'; });
  return out.empty() ? "fused" : std::isdigit(static_cast<unsigned char>(out[0])) != 0 ? "f" + out : out;
}

std::string camel_case(const std::string& name) {
  std::string out;
  bool up = true;
  for (const char c : name) {
    if (c == '_') {
      up = true;
      continue;
    }
    out += up ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    up = false;
  }
  return out;
}

std::string identifier(std::string name) {
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_'; });
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ? "v" + name : name;
}

constexpr std::string_view kReservedNames[] = {"n",
                                               "block",
                                               "rows",
                                               "cols",
                                               "n_rows",
                                               "torch",
                                               "triton",
                                               "tl",
                                               "libdevice",
                                               "stored",
                                               "out",
                                               "in",
                                               "is",
                                               "if",
                                               "as",
                                               "not",
                                               "and",
                                               "or",
                                               "int",
                                               "float",
                                               "len",
                                               "abs",
                                               "pattern",
                                               "replacement_args",
                                               "replacement_func",
                                               "math",
                                               "self",
                                               "min",
                                               "max"};

class RegionAuthor {
 public:
  RegionAuthor(const GraphFolder& folder, const Program& program, const GraphFacts& facts, const Region& region,
               const Plan& plan)
      : graph_(folder.graph), program_(program), facts_(facts), region_(region), plan_(plan), trace_(indices_) {
    trace_.products = facts.products;
    trace_.plan = plan;
  }

  // Blocks and programs of every kernel, in the graph that the author reads: equal ones are equal launches.
  const std::vector<std::int64_t>& sizes() const { return sizes_; }

  AuthoredPass run() {
    name_inputs();
    trace();
    find_outputs();
    const Schedule plan = schedule(trace_, roots_, written_);
    AuthoredPass out;
    out.region = region_;
    out.wrapper = region_name(graph_, region_);
    out.name = camel_case(out.wrapper);
    out.kernels = plan.kernels.size();
    out.imports = pattern_.imports;
    out.pattern = pattern_.text;
    out.pattern_key = pattern_key_;
    out.parameters = names_;
    print(plan, out.variants.emplace_back());
    estimate(graph_, program_, facts_, region_, plan, trace_, out);
    return out;
  }

 private:
  const NodeFacts& facts(NodeId id) const { return facts_.nodes[static_cast<std::size_t>(id)]; }

  void name_inputs() {
    Graph pattern;
    std::set<std::string> taken(std::begin(kReservedNames), std::end(kReservedNames));
    std::map<NodeId, NodeId> moved;
    for (const NodeId id : region_.inputs) {
      // A graph's input by its name, anything else by its operator: equal regions of two graphs then have equal names.
      const Node& node = graph_.nodes[id];
      const std::string base = node.kind == NodeKind::placeholder ? node.name : identifier(short_name(node));
      std::string name = base;
      for (int i = 1; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
      names_.push_back(name);
      moved[id] = static_cast<NodeId>(pattern.nodes.size());
      Node p;
      p.kind = NodeKind::placeholder;
      p.name = name;
      pattern.nodes.push_back(std::move(p));
    }
    const std::function<void(Value&)> move = [&](Value& v) {
      if (v.is_node()) v.node = moved.at(v.node);
      for (Value& item : v.items) move(item);
    };
    for (const NodeId id : region_.nodes) {
      Node node = graph_.nodes[id];
      for (Value& v : node.args) move(v);
      for (Kwarg& k : node.kwargs) move(k.value);
      moved[id] = static_cast<NodeId>(pattern.nodes.size());
      pattern.nodes.push_back(std::move(node));
    }
    Node output;
    output.kind = NodeKind::output;
    output.name = "output";
    std::vector<Value> returned;
    for (const NodeId id : region_.outputs) returned.push_back(Value::ref(moved.at(id)));
    if (returned.empty()) throw Impossible{"nothing of it is used"};
    output.args.push_back(returned.size() == 1 ? returned[0] : Value::sequence(ValueKind::tuple, returned));
    pattern.nodes.push_back(std::move(output));
    pattern_ = print_function(pattern, "pattern");
    pattern_key_ = graph_canonical_text(pattern);
  }

  void trace() {
    registers_.resize(program_.types.size());
    for (std::size_t i = 0; i < region_.inputs.size(); ++i) {
      const NodeId id = region_.inputs[i];
      const Value& value = program_.values[static_cast<std::size_t>(id)];
      if (!facts(id).has_shape || !value.is_node())
        throw Impossible{fmt::format("the shape of '{}' is not known", graph_.nodes[id].name)};
      for (const std::int64_t s : facts(id).sizes)
        if (s == 0) throw Impossible{"an empty input"};
      registers_[static_cast<std::size_t>(value.node)] =
          Abstract::of(trace_.input(names_[i], facts(id).sizes, facts(id).strides, facts(id).dtype, true));
    }
    const std::set<NodeId> inside(region_.nodes.begin(), region_.nodes.end());
    for (const Step& step : program_.steps) {
      if (!inside.contains(step.node)) continue;
      trace_.node = step.node;
      try {
        trace_.run(step, registers_);
      } catch (const Unfit& u) {
        throw Impossible{u.why};
      }
    }
  }

  void find_outputs() {
    for (std::size_t b = 0; b < region_.inputs.size(); ++b) {
      if (!trace_.buffers[b].written) continue;
      for (std::size_t c = 0; c < region_.inputs.size(); ++c)
        if (b != c && facts(region_.inputs[b]).buffer == facts(region_.inputs[c]).buffer)
          throw Impossible{"an input that is written is also another input"};
      const Tensor* value = trace_.buffers[b].value;
      written_[value] = static_cast<int>(b);
      add_root(value);
    }
    for (const NodeId id : region_.outputs) {
      const Abstract a = trace_.read_value(program_.values[static_cast<std::size_t>(id)], registers_);
      if (!a.is_tensor()) throw Impossible{fmt::format("'{}' is used as a list", graph_.nodes[id].name)};
      outputs_.push_back(a.tensor);
      const Trace::Buffer& b = trace_.buffers[static_cast<std::size_t>(a.tensor.buffer)];
      if (b.input < 0) add_root(b.value);
    }
  }
  void add_root(const Tensor* t) {
    if (std::find(roots_.begin(), roots_.end(), t) == roots_.end()) roots_.push_back(t);
  }

  std::string dtype_text(const Type& t) const {
    return t.like >= 0 ? fmt::format("{}.dtype", buffer_names_.at(t.like))
                       : fmt::format("torch.{}", dtype_row(t.dtype).name);
  }

  void print(const Schedule& plan, Variant& out) {
    std::vector<Seen>& seen = out.seen.emplace_back();
    for (const NodeId id : region_.inputs) seen.push_back({facts(id).sizes, facts(id).strides, facts(id).dtype});
    for (std::size_t i = 0; i < names_.size(); ++i) buffer_names_[static_cast<int>(i)] = names_[i];
    const std::string device = names_.empty() ? "\"cuda\"" : names_[0] + ".device";
    std::vector<std::string> lines;
    std::size_t results = 0, temporaries = 0;
    std::vector<std::string> allocations;
    std::vector<std::pair<int, const Tensor*>> stored;
    for (const auto& [tensor, buffer] : plan.buffer_of) stored.emplace_back(buffer, tensor);
    std::sort(stored.begin(), stored.end());
    const auto is_result = [&](const Tensor* t) {
      return std::any_of(outputs_.begin(), outputs_.end(), [&](const Handle& h) {
        return trace_.buffers[static_cast<std::size_t>(h.buffer)].value == t;
      });
    };
    std::size_t result_count = 0;
    for (const auto& [buffer, tensor] : stored) result_count += !written_.contains(tensor) && is_result(tensor) ? 1 : 0;
    for (const auto& [buffer, tensor] : stored) {
      if (written_.contains(tensor)) continue;
      std::string name = is_result(tensor) ? (result_count == 1 ? "out" : fmt::format("out_{}", results++))
                                           : fmt::format("temporary_{}", temporaries++);
      while (std::find(names_.begin(), names_.end(), name) != names_.end()) name += "_";
      buffer_names_[buffer] = name;
      std::string shape;
      for (const Dim& d : tensor->shape) shape += (shape.empty() ? "" : ", ") + indices_.text(d, true);
      if (tensor->shape.size() == 1) shape += ",";
      allocations.push_back(
          fmt::format("{} = torch.empty(({}), dtype={}, device={})", name, shape, dtype_text(tensor->type), device));
    }
    std::string kernels;
    bool rounds = false, libdevice = false;
    std::vector<std::string> launches;
    for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
      const std::string name = plan.kernels.size() == 1 ? "fused_kernel" : fmt::format("fused_kernel_{}", i);
      const PrintedKernel k = print_kernel(*plan.kernels[i], indices_, name, buffer_names_, plan.buffer_of, plan_);
      sizes_.insert(sizes_.end(), k.sizes.begin(), k.sizes.end());
      kernels += k.text + "\n\n";
      launches.insert(launches.end(), k.launch.begin(), k.launch.end());
      rounds |= k.rounds;
      libdevice |= k.libdevice;
    }
    std::string all_launches = text_join(launches, "\n");
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (trace_.buffers[i].written)
        lines.push_back(fmt::format("assert {}.is_contiguous()", names_[i]));
      else if (all_launches.find(names_[i]) != std::string::npos && used_by_kernel(plan, static_cast<int>(i)))
        lines.push_back(fmt::format("{0} = {0}.contiguous()", names_[i]));
    }
    for (const Symbol& symbol : indices_.symbols())
      if (!symbol.definition.empty() && !symbol.same_as)
        lines.push_back(fmt::format("{} = {}", symbol.host, symbol.definition));
    lines.insert(lines.end(), allocations.begin(), allocations.end());
    lines.insert(lines.end(), launches.begin(), launches.end());
    std::vector<std::string> returned;
    for (const Handle& h : outputs_) {
      const Trace::Buffer& b = trace_.buffers[static_cast<std::size_t>(h.buffer)];
      std::string text = buffer_names_.at(b.input >= 0 ? b.input : plan.buffer_of.at(b.value));
      for (const auto& v : h.views) text += v->text;
      returned.push_back(text);
    }
    lines.push_back("return " + text_join(returned, ", "));

    out.kernels = std::move(kernels);
    out.lines = std::move(lines);
    out.rounds = rounds;
    out.libdevice = libdevice;
  }

  static bool used_by_kernel(const Schedule& plan, int buffer) {
    bool out = false;
    for (const auto& kernel : plan.kernels)
      kernel->visit_expressions([&](const Expr* e) {
        out |= e->buffer == buffer || std::find(e->types_of.begin(), e->types_of.end(), buffer) != e->types_of.end();
      });
    return out;
  }

  const Graph& graph_;
  const Program& program_;
  const GraphFacts& facts_;
  const Region& region_;
  const Plan& plan_;
  std::vector<std::int64_t> sizes_;
  Indices indices_;
  Trace trace_;
  std::vector<std::string> names_;
  PrintedFunction pattern_;
  std::string pattern_key_;
  std::vector<Abstract> registers_;
  std::vector<Handle> outputs_;
  std::vector<const Tensor*> roots_;
  std::map<const Tensor*, int> written_;
  std::map<int, std::string> buffer_names_;
};

}  // namespace

Result<Authored> author_graph(const GraphFolder& folder, const AuthorOptions& options) {
  return guarded([&] {
    const Program program = lower_graph(folder.graph).take();
    const bool halves = options.halves || has_halves(folder);
    std::optional<Result<std::vector<RunValue>>> propagated;  // once, for both ways of finding regions
    ShapeSource shapes;
    if (options.shapes)
      shapes = [&](const GraphFolder& graph) {
        if (!propagated) propagated = options.shapes(graph);
        return *propagated;
      };
    const GraphFacts facts = find_regions(folder, program, halves, Products::none, shapes);
    Authored out;
    const auto author = [&](const GraphFacts& with, const Region& region) {
      try {
        RegionAuthor usual(folder, program, with, region, options.machine.plan);
        AuthoredPass pass = usual.run();
        if (!options.keep_all && pass.eager_cost < pass.pass_cost * kRequiredGain)
          throw Impossible{fmt::format("no gain expected: {:.1f} us by eager, {:.1f} us by the pass", pass.eager_cost,
                                       pass.pass_cost)};
        std::set<std::vector<std::int64_t>> launches{usual.sizes()};
        if (options.alternatives && pass.pass_cost >= options.machine.worth_us)
          for (const std::string_view text : options.machine.alternatives) {
            const Plan plan = plan_from_text(options.machine.plan, text).take();
            RegionAuthor other(folder, program, with, region, plan);
            AuthoredPass by = other.run();
            const bool differs = launches.insert(other.sizes()).second;
            pass.alternatives.push_back({std::string(text), std::move(by.variants[0]), by.kernels, differs});
          }
        out.passes.push_back(std::move(pass));
      } catch (const Impossible& impossible) {
        for (const NodeId id : region.nodes) out.left_out.push_back({id, impossible.why});
      }
    };
    for (const Region& region : facts.regions) author(facts, region);
    // Regions with products of our own compete with those that leave them to ATen.
    std::set<NodeId> ours;
    GraphFacts with = facts;
    if (options.machine.products != Products::none) {
      with = find_regions(folder, program, halves, options.machine.products, shapes);
      const auto is_product = [&](NodeId id) { return with.nodes[id].light && !facts.nodes[id].light; };
      for (const Region& region : with.regions)
        if (std::any_of(region.nodes.begin(), region.nodes.end(), is_product)) {
          author(with, region);
          ours.insert(region.nodes.begin(), region.nodes.end());
        }
    }
    for (std::size_t i = 0; i < facts.nodes.size(); ++i) {
      const Node& node = folder.graph.nodes[i];
      if (!facts.nodes[i].light && node.kind != NodeKind::placeholder && node.kind != NodeKind::output &&
          !ours.contains(static_cast<NodeId>(i)))
        out.left_out.push_back({static_cast<NodeId>(i), with.nodes[i].why});
    }
    for (std::size_t i = 0; i < facts.nodes.size(); ++i)
      if (facts.nodes[i].has_shape)
        out.seen[folder.graph.nodes[i].name] = {facts.nodes[i].sizes, facts.nodes[i].strides, facts.nodes[i].dtype};
    merge_passes(out.passes);
    const std::vector<std::string> wrong = check_places(folder.graph, out.seen, out.passes);
    for (std::size_t i = 0; i < wrong.size(); ++i)
      if (!wrong[i].empty())
        for (const NodeId id : out.passes[i].region.nodes) out.left_out.push_back({id, wrong[i]});
    std::size_t i = 0;
    std::erase_if(out.passes, [&](const AuthoredPass&) { return !wrong[i++].empty(); });
    return out;
  });
}

}  // namespace passnet::author
