// Matches many patterns in one process, for the differential tests (differential/match_cases.py). Reads from stdin:
//   graph PATH                     a graph folder, used by what follows
//   pattern strict|normal BYTES    followed by that many bytes: a pass file
// and answers each pattern in one line: JSON lists, a match each, of the graph node's index for every call of the
// pattern, then for every placeholder (-1 where it stands for a literal). `invalid ...` or `error ...` where there is
// no pattern to match. `explain` instead of `pattern` answers with the reasons: [type, pattern line, graph line] each.
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "fx/folder.h"
#include "match/explain.h"
#include "match/match.h"
#include "match/rewrite.h"

namespace {

using namespace passnet;

// Every list of matches is also rewritten; the rewriter verifies what it makes.
std::string rewrite_problem(const Graph& graph, const Pattern& pattern, const MatchResult& result) {
  if (result.matches.empty() || pattern.calls.empty()) return {};
  std::vector<Replacement> replacements;
  std::vector<Value> args;
  for (const NodeId id : pattern.placeholders) args.push_back(Value::ref(id));
  for (const Match& match : result.matches) replacements.push_back(make_replacement(match, "wrapper", args));
  const auto out = rewrite(graph, pattern, replacements);
  if (!out) return error_line(out.error());
  if (out->calls.size() + out->left_out.size() != replacements.size())
    return fmt::format("{} calls for {} matches", out->calls.size(), replacements.size());
  return {};
}

}  // namespace

int main() {
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
      if (folder)
        index = std::make_unique<MatchIndex>(graph);
      else
        fmt::print(stderr, "{}\n", error_text(folder.error()));
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
        reasons += fmt::format("{}[\"{}\", {}, {}]", reasons.empty() ? "" : ", ", reason_name(r.type),
                               line(pattern->graph, r.pattern_node), line(graph, r.graph_node));
      }
      fmt::print("[{}]\n", reasons);
      continue;
    }
    if (!pattern->problem.message.empty()) {
      fmt::print("invalid {}\n", pattern->problem.message);
      continue;
    }
    std::string out;
    const MatchResult result = find_matches(*pattern, *index, match_mode);
    if (const std::string wrong = rewrite_problem(graph, *pattern, result); !wrong.empty()) {
      fmt::print("error rewrite: {}\n", wrong);
      continue;
    }
    for (const Match& match : result.matches) {
      std::vector<NodeId> ids;
      for (const NodeId id : pattern->calls) ids.push_back(match.nodes[id]);
      for (const NodeId id : pattern->placeholders) ids.push_back(match.nodes[id]);
      out += fmt::format("{}[{}]", out.empty() ? "" : ", ", fmt::join(ids, ", "));
    }
    fmt::print("[{}]\n", out);
  }
}
