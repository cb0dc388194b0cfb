// passnet match GRAPH PASS: where a pass's pattern occurs in a graph.
#include <fmt/format.h>

#include <filesystem>
#include <functional>

#include "base/text.h"
#include "cli/command.h"
#include "cli/load_options.h"
#include "fx/folder.h"
#include "fx/printer.h"
#include "match/explain.h"
#include "match/match.h"
#include "match/rewrite.h"
#include "pass/load.h"
#include "pass/match_text.h"

namespace passnet::cli {

namespace {

struct Options {
  std::string graph, pass;
  MatchMode mode = MatchMode::normal;
  bool explain = false;
  bool json = false;
  bool dump = false;
};

// One pass's result, in either form.
struct Shown {
  MatchMode mode;
  const Pattern& pattern;
  const MatchIndex& index;
  const MatchResult& result;
  const std::vector<Reason>& left_out;
  const std::vector<Reason>& reasons;
  const std::string& file;
  const std::string& after;  // the graph's text with the matches replaced; empty where it is not asked for

  void json() const {
    std::string matches, failures;
    for (const Match& m : result.matches)
      matches += fmt::format("{}[{}]", matches.empty() ? "" : ", ",
                             match_names(pattern, index.graph, m, [](const std::string& s) { return json_string(s); }));
    std::vector<Reason> all = left_out;
    all.insert(all.end(), reasons.begin(), reasons.end());
    for (const Reason& r : all) {
      const ReasonText t = reason_text(r, pattern, index, mode);
      failures += fmt::format(
          "{}{{\"type\": \"{}\", \"pattern_node\": {}, \"graph_node\": {}, \"expected\": {}, \"actual\": {}, "
          "\"pattern_line\": {}, \"graph_line\": {}, "
          "\"pattern_text\": {}, \"graph_text\": {}, \"advice\": {}}}",
          failures.empty() ? "" : ", ", reason_name(r.type), json_string(t.pattern_node), json_string(t.graph_node),
          json_string(t.expected), json_string(t.actual), node_line(pattern.graph, r.pattern_node),
          node_line(index.graph, r.graph_node), json_string(node_source_line(pattern.graph, r.pattern_node)),
          json_string(node_source_line(index.graph, r.graph_node)), json_string(t.advice));
    }
    fmt::print("{{\"pass\": {}, \"matches\": [{}], \"failures\": [{}]{}{}}}\n", json_string(file), matches, failures,
               result.gave_up ? ", \"gave_up\": true" : "", after.empty() ? "" : ", \"after\": " + json_string(after));
  }
};

// The graph with the matches replaced: the wrapper's name and arguments come from the loaded pass.
Graph replaced(const Graph& graph, const Pattern& pattern, const MatchResult& result, const std::string& file,
               std::vector<ExternalFunction>& externals) {
  LoadOptions options;
  options.open_policy = true;  // what the wrapper may call is not the question here
  const PassFolder loaded = load_pass_file(file, options).take();
  const Pass& pass = loaded.passes.at(0);
  std::vector<Replacement> replacements;
  for (const Match& match : result.matches)
    replacements.push_back(make_replacement(match, pass.wrapper.name, pass.replacement_args));
  Rewritten out = rewrite(graph, pattern, replacements, externals).take();
  externals.push_back(wrapper_function(pass.wrapper.name, pattern, pass.replacement_args));
  return std::move(out.graph);
}

int run(const Options& o) {
  Graph graph = read_graph_folder(o.graph, {.metas = false}).take().graph;
  const MatchMode mode = o.mode;
  const auto graph_text = [](const Graph& g) { return std::string(text_trim(print_model(g, PrintStyle::plain))); };
  bool matched = false;
  std::vector<ExternalFunction> externals;  // that the graph calls, with --dump
  if (o.dump && !o.json) fmt::print("# the graph\n{}\n", graph_text(graph));
  for (const std::string& file : pass_files(o.pass)) {
    const Pattern pattern(load_pass_pattern(file).take());
    std::optional<Graph> after;
    {
      const MatchIndex index(graph);
      const MatchResult result = find_matches(pattern, index, mode);
      matched |= !result.matches.empty();
      std::vector<Reason> reasons;
      if (result.matches.empty() || o.explain)
        reasons = explain(pattern, index, mode, result, o.explain ? kMostAttempts : 1);
      const std::vector<Reason> left_out = explain_left_out(pattern, index, result, externals);
      if (o.dump && !result.matches.empty()) after = replaced(graph, pattern, result, file, externals);
      const std::string after_text = after ? graph_text(*after) : std::string();
      const Shown shown{mode, pattern, index, result, left_out, reasons, file, after_text};
      if (o.json)
        shown.json();
      else
        fmt::print("{}{}", match_text(pattern, index, mode, result, left_out, reasons, file),
                   after_text.empty()
                       ? ""
                       : fmt::format("# after {}\n{}\n", std::filesystem::path(file).stem().string(), after_text));
    }
    if (after) graph = std::move(*after);
  }
  return matched ? kOk : kFailed;
}

}  // namespace

void add_match(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<Options>();
  CLI::App* match = app.add_subcommand("match", "Show where a pass's pattern occurs in a graph, or why it does not");
  match->add_option("GRAPH", options->graph, "A graph folder")->required();
  match->add_option("PASS", options->pass, "A pass file, or a pass folder: its passes in list order")->required();
  add_match_mode(*match, options->mode);
  match->add_flag("--explain", options->explain, "Also the next best attempts, and why there is no further match");
  match->add_flag("--json", options->json, "One JSON object per pass, one a line");
  match->add_flag("--dump", options->dump, "Apply the passes in order and print the graph before and after each");
  match->callback([=, &outcome] { outcome.code = run(*options); });
}

}  // namespace passnet::cli
