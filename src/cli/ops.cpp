// passnet ops: the operator table, and what of it a list of graphs uses.
#include <fmt/format.h>

#include <map>

#include "cli/command.h"
#include "cli/graph_list.h"
#include "fx/folder.h"
#include "ops/lower.h"
#include "ops/table.h"

namespace passnet::cli {

namespace {

struct Options {
  GraphSelection selection;
  std::string filter;
  bool json = false;
};

int list_table(const Options& o) {
  std::size_t shown = 0;
  for (const OpListing& row : op_list()) {
    if (row.spelling.find(o.filter) == std::string::npos) continue;
    ++shown;
    if (o.json)
      fmt::print("{{\"spelling\": {}, \"signature\": {}, \"effects\": {}, \"row\": {}}}\n", json_string(row.spelling),
                 json_string(row.signature), json_string(row.effects), row.explicit_row);
    else
      fmt::print("{}{}{}\n", row.spelling, row.signature,
                 row.effects.empty() ? "" : fmt::format("   [{}]", row.effects));
  }
  if (!o.json) fmt::print(stderr, "{} spellings\n", shown);
  return shown > 0 ? kOk : kFailed;
}

int coverage(const Options& o) {
  struct Use {
    std::size_t count = 0;
    bool known = false;
  };
  std::map<std::string, Use> uses;
  std::size_t graphs = 0, bound = 0, unreadable = 0;
  for (const std::string& path : o.selection.resolve()) {
    ++graphs;
    const auto folder = read_graph_folder(path, {.metas = false});
    if (!folder) {
      ++unreadable;
      fmt::print(stderr, "{}\n", error_line(folder.error()));
      continue;
    }
    for (const Node& node : folder->graph.nodes) {
      if (node.kind == NodeKind::placeholder || node.kind == NodeKind::output) continue;
      const std::string spelling = node_spelling(node);
      Use& use = uses[spelling];
      ++use.count;
      use.known = static_cast<bool>(op_find(spelling));
    }
    bound += lower_graph(folder->graph) ? 1 : 0;
  }
  std::vector<std::pair<std::string, Use>> sorted(uses.begin(), uses.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
  std::size_t known = 0;
  for (const auto& [spelling, use] : sorted) {
    known += use.known ? 1 : 0;
    if (o.json)
      fmt::print("{{\"spelling\": {}, \"count\": {}, \"known\": {}}}\n", json_string(spelling), use.count, use.known);
    else
      fmt::print("{:>8}  {:<9}{}\n", use.count, use.known ? "" : "unknown", spelling);
  }
  fmt::print(stderr, "{} of {} operators known; {} of {} graphs bind, {} unreadable\n", known, sorted.size(), bound,
             graphs, unreadable);
  return bound == graphs ? kOk : kFailed;
}

}  // namespace

void add_ops(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "ops", "List the operator table; with graphs, which operators they use and whether each is known");
  options->selection.add_options(*command);
  command->add_option("--filter", options->filter, "Only spellings that contain this text");
  command->add_flag("--json", options->json, "One JSON object a line");
  command->callback([=, &outcome] {
    const bool graphs = !options->selection.paths.empty() || !options->selection.lists.empty();
    outcome.code = graphs ? coverage(*options) : list_table(*options);
  });
}

}  // namespace passnet::cli
