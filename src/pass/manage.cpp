#include "pass/manage.h"

#include <fmt/format.h>

#include <algorithm>

#include "match/rewrite.h"

namespace passnet {

namespace {

void merge(std::vector<bool>& into, const std::vector<bool>& more) {
  into.resize(std::max(into.size(), more.size()));
  for (std::size_t i = 0; i < more.size(); ++i) into[i] = into[i] || more[i];
}

// The call's name for a pass's wrapper: the function's own, numbered where another has taken it. Passes share one where
// it has as many outputs.
std::string external_name(Applied& applied, const Pass& pass, const Pattern& pattern) {
  ExternalFunction function = wrapper_function(pass.wrapper.name, pattern, pass.replacement_args);
  const std::string base = pass.wrapper.name;
  std::string name = base;
  for (int number = 2;; ++number) {
    const auto it = std::find_if(applied.externals.begin(), applied.externals.end(),
                                 [&](const ExternalFunction& f) { return f.name == name; });
    if (it == applied.externals.end()) break;
    const Pass& other = *applied.wrappers[static_cast<std::size_t>(it - applied.externals.begin())];
    if (other.wrapper.held_by == pass.wrapper.held_by && it->outputs == function.outputs) {
      merge(it->writes, function.writes);
      merge(it->gives_back, function.gives_back);
      return name;
    }
    name = fmt::format("{}_{}", base, number);
  }
  function.name = name;
  applied.externals.push_back(std::move(function));
  applied.wrappers.push_back(&pass);
  return name;
}

}  // namespace

Result<Applied> apply_passes(const Graph& graph, const PassFolder& folder, MatchMode mode) {
  return guarded([&] {
    Applied out;
    out.graph = graph;
    for (const Pass& pass : folder.passes) {
      const Pattern pattern(pass.pattern);
      MatchResult found;
      std::vector<Replacement> replacements;
      {
        const MatchIndex index(out.graph);
        found = find_matches(pattern, index, mode);
      }
      out.passes.push_back({pass.name, 0});
      if (found.matches.empty()) continue;
      Applied next = out;  // kept only where something could be rewritten
      const std::string name = external_name(next, pass, pattern);
      for (const Match& match : found.matches)
        replacements.push_back(make_replacement(match, name, pass.replacement_args));
      auto rewritten = rewrite(out.graph, pattern, replacements, out.externals).take();
      out.passes.back().left_out = rewritten.left_out.size();
      if (rewritten.calls.empty()) continue;
      next.graph = std::move(rewritten.graph);
      next.passes.back() = {pass.name, rewritten.calls.size(), rewritten.left_out.size()};
      out = std::move(next);
      graph_verify(out.graph).take();
    }
    return out;
  });
}

}  // namespace passnet
