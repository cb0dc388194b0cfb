// passnet data lint: what the graphs and tasks of a corpus are worth.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "bench/lint.h"
#include "cli/data.h"
#include "cli/graph_list.h"
#include "cli/json_line.h"
#include "cli/progress.h"
#include "data/farm.h"

namespace passnet::cli {

namespace {

using nlohmann::ordered_json;

struct LintOptions {
  GraphSelection selection;
  data::FarmOptions farm;
  bool json = false;
};

std::string lint_one(const std::string& path, Engine& engine) {
  ordered_json out = ordered_json::array();
  for (const Finding& f : lint_graph(path, engine)) out.push_back({{"flaw", flaw_name(f.flaw)}, {"why", f.why}});
  return json_line(out);
}

void say(const LintOptions& o, const std::string& graph, const ordered_json& findings) {
  if (o.json)
    fmt::print("{}\n", json_line(ordered_json({{"graph", graph}, {"findings", findings}})));
  else
    for (const auto& f : findings)
      fmt::print("{}: {}: {}\n", text_printable(graph), f.at("flaw").get<std::string>(),
                 text_printable(f.at("why").get<std::string>()));
  std::fflush(stdout);
}

int lint(const LintOptions& o) {
  const std::vector<std::string> graphs = o.selection.resolve();
  std::map<std::size_t, ordered_json> found;  // those behind one that is not done yet
  std::size_t flawed = 0, said = 0;
  Progress progress("graphs", graphs.size(), o.json);
  data::farm_run(
      o.farm, lint_one, graphs.size(), [&](std::size_t i) { return graphs[i]; },
      [&](std::size_t i, data::FarmAnswer answer) {
        ordered_json& findings = found[i];
        findings = answer.ok ? ordered_json::parse(answer.text)
                             : ordered_json::array({{{"flaw", "fails"}, {"why", std::move(answer.text)}}});
        flawed += findings.empty() ? 0 : 1;
        for (; !found.empty() && found.begin()->first == said; ++said, found.erase(found.begin()))
          say(o, graphs[said], found.begin()->second);
        progress.step(flawed);
      });
  if (!o.json) fmt::print(stderr, "{} of {} graphs should not be trained on\n", flawed, graphs.size());
  return flawed == 0 ? kOk : kFailed;
}

}  // namespace

void add_data_lint(CLI::App& data, Outcome& outcome) {
  auto o = std::make_shared<LintOptions>();
  CLI::App* command = data.add_subcommand(
      "lint", "Name graphs whose outputs are constant, tiny, independent of the inputs, non-finite or random");
  o->selection.add_options(*command);
  add_farm_options(*command, o->farm);
  command->add_flag("--json", o->json, "One JSON object a graph: {\"graph\", \"findings\": [{\"flaw\", \"why\"}]}");
  command->callback([=, &outcome] { outcome.code = lint(*o); });
}

}  // namespace passnet::cli
