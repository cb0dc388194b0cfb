// How fast patterns are matched: many passes against many graphs (files read once, everything else counted), and graphs
// of 100,000 nodes that would show a quadratic matcher.
//   match LIST ROOT [PASSES] [GRAPHS]
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>

#include "base/file.h"
#include "base/text.h"
#include "fx/folder.h"
#include "match/explain.h"
#include "match/match.h"
#include "match/rewrite.h"

using namespace passnet;
using Clock = std::chrono::steady_clock;

namespace {

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// `count` calls of the graph from `first` on, as a pattern: what comes from elsewhere is a placeholder, what nobody
// inside uses is returned.
std::optional<Pattern> window(const Graph& graph, std::size_t first, std::size_t count) {
  Graph out;
  std::map<NodeId, NodeId> ids;
  const auto inside = [&](NodeId id) {
    return id >= static_cast<NodeId>(first) && id < static_cast<NodeId>(first + count);
  };
  for (std::size_t i = first; i < first + count; ++i) {
    if (graph.nodes[i].kind == NodeKind::output || node_is_effect(graph.nodes[i])) return std::nullopt;
    node_inputs(graph.nodes[i], [&](NodeId used) {
      if (inside(used) || !ids.try_emplace(used, static_cast<NodeId>(out.nodes.size())).second) return;
      Node p;
      p.kind = NodeKind::placeholder;
      p.name = fmt::format("p_{}", out.nodes.size());
      out.nodes.push_back(std::move(p));
    });
  }
  const std::function<void(Value&)> renumber = [&](Value& v) {
    if (v.is_node()) v.node = ids.at(v.node);
    for (Value& item : v.items) renumber(item);
  };
  std::vector<bool> used_inside(graph.nodes.size(), false);
  for (std::size_t i = first; i < first + count; ++i) {
    node_inputs(graph.nodes[i], [&](NodeId used) { used_inside[used] = true; });
    Node node = graph.nodes[i];
    for (Value& v : node.args) renumber(v);
    for (Kwarg& k : node.kwargs) renumber(k.value);
    ids[static_cast<NodeId>(i)] = static_cast<NodeId>(out.nodes.size());
    out.nodes.push_back(std::move(node));
  }
  Node output;
  output.kind = NodeKind::output;
  output.name = output.target = "output";
  std::vector<Value> returned;
  for (std::size_t i = first; i < first + count; ++i)
    if (!used_inside[i]) returned.push_back(Value::ref(ids[static_cast<NodeId>(i)]));
  output.args.push_back(Value::sequence(ValueKind::tuple, std::move(returned)));
  out.nodes.push_back(std::move(output));
  return Pattern(std::move(out));
}

void many(const std::vector<std::string>& paths, std::size_t passes, std::size_t graphs) {
  std::vector<Graph> read;
  for (std::size_t i = 0; read.size() < graphs; ++i)
    read.push_back(read_graph_folder(paths[i % paths.size()], {.metas = false}).take().graph);
  std::vector<Pattern> patterns;
  for (std::size_t i = 0; patterns.size() < passes; ++i) {
    const Graph& g = read[(i * 37) % read.size()];
    const std::size_t inputs = g.placeholder_count(), count = 1 + i % 5;
    if (inputs + count >= g.nodes.size()) continue;
    if (auto p = window(g, inputs + i % (g.nodes.size() - inputs - count), count)) patterns.push_back(std::move(*p));
  }
  for (const MatchMode mode : {MatchMode::strict, MatchMode::normal}) {
    std::size_t matches = 0, pairs = 0;
    const auto begin = Clock::now();
    for (const Graph& g : read) {
      const MatchIndex index(g);
      for (const Pattern& p : patterns) {
        matches += find_matches(p, index, mode).matches.size();
        ++pairs;
      }
    }
    const double seconds = since(begin);
    fmt::print("{} passes x {} graphs, {:<6}  {:6.2f} s, {:5.2f} us a pair, {} matches\n", patterns.size(), read.size(),
               mode == MatchMode::strict ? "strict" : "normal", seconds, 1e6 * seconds / static_cast<double>(pairs),
               matches);
  }
}

std::string model(std::size_t count, const std::function<std::string(std::size_t)>& line, const std::string& returned) {
  std::string out =
      "import torch\nclass GraphModule(torch.nn.Module):\n    def forward(self, x, y):\n        t_0 = x\n";
  for (std::size_t i = 1; i <= count; ++i) out += "        " + line(i) + "\n";
  return out + "        return " + returned + "\n";
}

void large(const char* name, const std::string& text, const std::string& pattern) {
  const Graph graph = read_model("model.py", text).take();
  const Pattern p = read_pattern("pattern.py", "import torch\n" + pattern).take();
  auto begin = Clock::now();
  const MatchIndex index(graph);
  const double indexing = since(begin);
  begin = Clock::now();
  const MatchResult result = find_matches(p, index, MatchMode::normal);
  const double matching = since(begin);
  begin = Clock::now();
  const std::vector<Reason> reasons = explain(p, index, MatchMode::normal, result);
  const double explaining = since(begin);
  begin = Clock::now();
  std::vector<Replacement> replacements;
  for (const Match& m : result.matches) replacements.push_back({&m, "wrapper", {}});
  for (Replacement& r : replacements)
    for (const NodeId id : p.placeholders) r.args.push_back(r.match->value(id));
  if (!replacements.empty()) rewrite(graph, p, replacements).take();
  fmt::print("{:<34} {} nodes: index {:6.3f} s, match {:6.3f} s ({} matches{}), explain {:6.3f} s, rewrite {:6.3f} s\n",
             name, graph.nodes.size(), indexing, matching, result.matches.size(), result.gave_up ? ", gave up" : "",
             explaining, since(begin));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return fmt::print(stderr, "usage: match LIST ROOT [PASSES] [GRAPHS]\n"), 2;
  std::vector<std::string> paths = file_read_list(argv[1]).take();
  for (std::string& g : paths) g = fmt::format("{}/{}", argv[2], text_split(g, '\t').back());
  many(paths, argc > 3 ? static_cast<std::size_t>(std::atoi(argv[3])) : 200,
       argc > 4 ? static_cast<std::size_t>(std::atoi(argv[4])) : 1000);

  constexpr std::size_t kNodes = 100'000;
  const auto chain = [](std::size_t i) {
    return fmt::format("t_{} = torch.{}(t_{})", i, i % 2 ? "relu" : "sigmoid", i - 1);
  };
  const std::string last = fmt::format("t_{}", kNodes);
  large("pairs in a chain", model(kNodes, chain, last), "def pattern(x):\n    return torch.sigmoid(torch.relu(x))\n");
  const auto writes = [](std::size_t i) {
    if (i % 3 == 2) return fmt::format("t_{} += 1", i - 2);
    return fmt::format("t_{} = torch.{}(t_{})", i, i % 3 == 1 ? "relu" : "sigmoid", i % 3 == 1 ? i - 1 : i - 2);
  };
  large("pairs with a write in between", model(kNodes - 1, writes, fmt::format("t_{}", kNodes - 1)),
        "def pattern(x):\n    return torch.sigmoid(torch.relu(x))\n");
  std::string deep = "def pattern(x):\n    t_0 = x\n";
  for (std::size_t i = 1; i <= 500; ++i) deep += fmt::format("    t_{} = torch.relu(t_{})\n", i, i - 1);
  large("500 deep in one operator",
        model(
            kNodes, [](std::size_t i) { return fmt::format("t_{} = torch.relu(t_{})", i, i - 1); }, last),
        deep + "    return t_500\n");
  large("near misses only", model(kNodes, chain, last),
        "def pattern(x):\n    return torch.sigmoid(torch.relu(torch.relu(x)))\n");
  const auto fan = [](std::size_t i) { return fmt::format("t_{} = torch.{}(x)", i, i % 2 ? "relu" : "sigmoid"); };
  const auto all = [&] {
    std::string out = "(";
    for (std::size_t i = 1; i <= kNodes; ++i) out += fmt::format("t_{}, ", i);
    return out + ")";
  }();
  large("two outputs of one value", model(kNodes, fan, all),
        "def pattern(x):\n    return torch.relu(x), torch.sigmoid(x)\n");
  large("two outputs, one operator", model(kNodes, fan, all),
        "def pattern(x):\n    return torch.relu(x), torch.relu(x)\n");
  large("two outputs, never together", model(kNodes, chain, last),
        "def pattern(x):\n    return torch.relu(x), torch.sigmoid(x)\n");
  large("unconnected outputs", model(kNodes, fan, all),
        "def pattern(a, b):\n    return torch.relu(a), torch.sigmoid(b)\n");
  large("unconnected outputs in a chain", model(kNodes, chain, last),
        "def pattern(a, b):\n    return torch.relu(a), torch.sigmoid(b)\n");
  large("a returned parameter", model(kNodes, fan, all), "def pattern(a, b):\n    return a, torch.sigmoid(b)\n");
  return 0;
}
