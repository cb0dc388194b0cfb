// Where authored passes really match.
#include <fmt/format.h>

#include <algorithm>

#include "author/author.h"
#include "match/match.h"
#include "match/rewrite.h"

namespace passnet::author {

namespace {

bool is_seen(const AuthoredPass& pass, const std::vector<Seen>& inputs) {
  return std::any_of(pass.variants.begin(), pass.variants.end(),
                     [&](const Variant& v) { return std::find(v.seen.begin(), v.seen.end(), inputs) != v.seen.end(); });
}

}  // namespace

std::vector<std::string> check_places(const Graph& graph, const std::map<std::string, Seen>& seen,
                                      const std::vector<AuthoredPass>& passes) {
  std::vector<std::string> out(passes.size());
  Graph now = graph;
  std::vector<ExternalFunction> wrappers;  // those that it calls
  for (std::size_t p = 0; p < passes.size(); ++p) {
    const AuthoredPass& pass = passes[p];
    auto pattern = read_pattern(pass.name + ".py", pass_file(pass));
    if (!pattern) {
      out[p] = pattern.error().message;
      continue;
    }
    MatchResult found;
    {
      const MatchIndex index(now);
      found = find_matches(*pattern, index, MatchMode::normal);
    }
    std::vector<Replacement> replacements;
    for (const Match& match : found.matches) {
      std::vector<Seen> inputs;
      std::vector<Value> args;
      for (const NodeId placeholder : pattern->placeholders) {
        const Value value = match.value(placeholder);
        args.push_back(value);
        if (!value.is_node()) continue;
        const auto it = seen.find(now.nodes[static_cast<std::size_t>(value.node)].name);
        if (it != seen.end()) inputs.push_back(it->second);
      }
      if (!is_seen(pass, inputs)) out[p] = "its pattern occurs at a place of another structure";
      replacements.push_back({&match, pass.wrapper, std::move(args)});
    }
    if (!out[p].empty() || replacements.empty()) continue;
    auto rewritten = rewrite(now, *pattern, replacements, wrappers);
    if (!rewritten || rewritten->calls.empty()) continue;
    now = std::move(rewritten->graph);
    std::vector<Value> args;
    for (const NodeId placeholder : pattern->placeholders) args.push_back(Value::ref(placeholder));
    wrappers.push_back(wrapper_function(pass.wrapper, *pattern, args));
  }
  return out;
}

}  // namespace passnet::author
