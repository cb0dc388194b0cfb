#include "pass/match_text.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "pass/load.h"
#include "py/parser.h"

namespace passnet {

// A pass file, or the files of a pass folder in the order of its list (a JSON array of names, which is Python too).
std::vector<std::string> pass_files(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  const std::string order = path + "/" + kOutputOrder;
  const py::Module module = py::parse(order, file_read(order, kPassFileLimit).take()).take();
  const py::Expr* list = module.body().size() == 1 ? module.body()[0]->value : nullptr;
  if (list == nullptr || list->kind != py::ExprKind::list)
    fail({Code::syntax, {order, 1, 1, {}}, "not an array of pass names", {R"(write ["first_pass", "second_pass"])"}});
  std::vector<std::string> out;
  for (const py::Expr* item : list->items) {
    if (item->kind != py::ExprKind::string)
      fail({Code::syntax, module.where(item->place), "a pass name is a string", {}});
    if (item->text.find('/') != std::string_view::npos)
      fail({Code::pass, module.where(item->place), fmt::format("'{}' is no name of a pass file", item->text), {}});
    out.push_back(path + "/" + std::string(item->text) + ".py");
  }
  return out;
}

std::string match_names(const Pattern& pattern, const Graph& graph, const Match& match,
                        const std::function<std::string(const std::string&)>& quote) {
  std::string out;
  for (const NodeId id : pattern.calls) out += (out.empty() ? "" : ", ") + quote(graph.nodes[match.nodes[id]].name);
  return out;
}

// The line of a node's text, trimmed: read from its file only when it is shown.
std::string node_source_line(const Graph& graph, NodeId id) {
  if (id < 0 || graph.nodes[id].line == 0) return {};
  return std::string(text_trim(where_in_file(graph.file, graph.nodes[id].line, 0).text));
}

std::uint32_t node_line(const Graph& graph, NodeId id) { return id < 0 ? 0 : graph.nodes[id].line; }

static std::string reason_line(const Reason& r, const ReasonText& t) {
  std::string out(reason_name(r.type));
  if (!t.pattern_node.empty()) out += fmt::format(" at '{}'", t.pattern_node);
  if (!t.graph_node.empty()) out += fmt::format(" against the graph's '{}'", t.graph_node);
  if (t.expected.empty()) return out + fmt::format(": {}", t.actual);
  return out + fmt::format(": expected {}, found {}", t.expected, t.actual.empty() ? "nothing" : t.actual);
}

static std::string reasons_text(const std::vector<Reason>& reasons, std::string_view indent, const Pattern& pattern,
                                const MatchIndex& index, MatchMode mode) {
  std::string out;
  for (const Reason& r : reasons) {
    const ReasonText t = reason_text(r, pattern, index, mode);
    out += fmt::format("{}  {}\n", indent, reason_line(r, t));
    if (r.pattern_node >= 0)
      out += fmt::format("{}    {}:{}: {}\n", indent, pattern.graph.file, node_line(pattern.graph, r.pattern_node),
                         node_source_line(pattern.graph, r.pattern_node));
    if (r.graph_node >= 0)
      out += fmt::format("{}    {}:{}: {}\n", indent, index.graph.file, node_line(index.graph, r.graph_node),
                         node_source_line(index.graph, r.graph_node));
    out += fmt::format("{}    {}\n", indent, t.advice);
  }
  return out;
}

std::string match_text(const Pattern& pattern, const MatchIndex& index, MatchMode mode, const MatchResult& result,
                       const std::vector<Reason>& left_out, const std::vector<Reason>& reasons,
                       const std::string& file) {
  std::string out;
  const std::string name = std::filesystem::path(file).stem().string();
  const std::size_t n = result.matches.size();
  out += fmt::format("{}: {}\n", name, n == 0 ? "no match" : n == 1 ? "1 match" : fmt::format("{} matches", n));
  for (const Match& m : result.matches)
    out += fmt::format("  {}\n", match_names(pattern, index.graph, m, [](const std::string& s) { return s; }));
  if (result.gave_up)
    out += fmt::format(
        "  the search was stopped: the pattern is too large, or its outputs are not connected and have too many "
        "combinations\n");
  if (!left_out.empty())
    out += fmt::format("  {} of them cannot become one call:\n", left_out.size()) +
           reasons_text(left_out, "  ", pattern, index, mode);
  // Behind a match these are no failures: they say why it is the last one.
  if (n > 0 && !reasons.empty()) out += "  no further match; what comes nearest:\n";
  return out + reasons_text(reasons, n == 0 ? "" : "  ", pattern, index, mode);
}

std::vector<std::string> why_not_applied(const Graph& graph, const PassFolder& folder, MatchMode mode,
                                         const Applied& applied) {
  constexpr std::size_t kMostPasses = 8;
  std::vector<std::string> out;
  const MatchIndex index(graph);
  for (std::size_t i = 0; i < std::min(kMostPasses, folder.passes.size()); ++i) {
    const Pass& pass = folder.passes[i];
    const Pattern pattern(pass.pattern);
    const MatchResult result = find_matches(pattern, index, mode);
    const bool left_out = applied.passes[i].left_out > 0;
    const std::vector<Reason> reasons =
        left_out ? explain_left_out(pattern, index, result) : explain(pattern, index, mode, result);
    std::string why = left_out ? "its matches cannot become one call" : "no match";
    if (!reasons.empty()) {
      const ReasonText text = reason_text(reasons[0], pattern, index, mode);
      const std::string reason = reason_line(reasons[0], text) + (text.advice.empty() ? "" : "; " + text.advice);
      why = left_out ? why + ": " + reason : reason;
    }
    out.push_back(fmt::format("{}: {}", pass.name, why));
  }
  if (folder.passes.size() > kMostPasses)
    out.push_back(fmt::format("and {} passes more", folder.passes.size() - kMostPasses));
  return out;
}

std::string explain_file(const std::string& file, const Graph& graph, MatchMode mode, std::size_t attempts) {
  const Pattern pattern(load_pass_pattern(file).take());
  const MatchIndex index(graph);
  const MatchResult result = find_matches(pattern, index, mode);
  std::vector<Reason> reasons;
  if (result.matches.empty() || attempts > 1) reasons = explain(pattern, index, mode, result, attempts);
  return match_text(pattern, index, mode, result, explain_left_out(pattern, index, result), reasons, file);
}

}  // namespace passnet
