// Matches many patterns in one process, for the differential tests (differential/match_cases.py). Reads from stdin:
//   graph PATH                     a graph folder, used by what follows
//   pattern strict|normal BYTES    followed by that many bytes: a pass file
// and answers each pattern in one line: JSON lists, a match each, of the graph node's index for every call of the pattern, then for every
// placeholder (-1 where it stands for a literal). `invalid ...` or `error ...` where there is no pattern to match. `explain` instead of `pattern`
// answers with the reasons: [type, pattern line, graph line] each.
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "fx/folder.h"
#include "pass/explain.h"
#include "pass/match.h"

int main() {
  using namespace passnet;
  std::ios::sync_with_stdio(false);
  Graph graph;
  std::unique_ptr<MatchIndex> index;
  std::string word;
  while (std::cin >> word) {
    std::cin.get();
    if (word == "graph") {
      std::string path;
      std::getline(std::cin, path);
      auto folder = read_graph_folder(path, {.metas = false});
      index.reset();
      graph = folder ? std::move(folder->graph) : Graph{};
      if (folder) index = std::make_unique<MatchIndex>(graph);
      else fmt::print(stderr, "{}\n", error_text(folder.error()));
      continue;
    }
    std::string mode;
    std::size_t size = 0;
    std::cin >> mode >> size;
    std::cin.get();
    std::string source(size, '\0');
    std::cin.read(source.data(), static_cast<std::streamsize>(size));
    const auto pattern = read_pattern("pattern.py", std::move(source));
    if (!pattern || index == nullptr) {
      fmt::print("error {}\n", pattern ? "no graph" : error_line(pattern.error()));
      continue;
    }
    const MatchMode match_mode = mode == "strict" ? MatchMode::strict : MatchMode::normal;
    if (word == "explain") {
      std::string reasons;
      for (const Reason& r : explain(*pattern, *index, match_mode, find_matches(*pattern, *index, match_mode))) {
        const auto line = [](const Graph& g, NodeId id) { return id < 0 ? 0 : g.nodes[id].line; };
        reason_text(r, *pattern, *index, match_mode);
        reasons += fmt::format("{}[\"{}\", {}, {}]", reasons.empty() ? "" : ", ", reason_name(r.type), line(pattern->graph, r.pattern_node), line(graph, r.graph_node));
      }
      fmt::print("[{}]\n", reasons);
      continue;
    }
    if (!pattern->problem.message.empty()) {
      fmt::print("invalid {}\n", pattern->problem.message);
      continue;
    }
    std::string out;
    for (const Match& match : find_matches(*pattern, *index, match_mode).matches) {
      std::vector<NodeId> ids;
      for (const NodeId id : pattern->calls) ids.push_back(match.nodes[id]);
      for (const NodeId id : pattern->placeholders) ids.push_back(match.nodes[id]);
      out += fmt::format("{}[{}]", out.empty() ? "" : ", ", fmt::join(ids, ", "));
    }
    fmt::print("[{}]\n", out);
  }
}
