// What the matcher found, or why not, in words.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "match/explain.h"
#include "pass/manage.h"

namespace passnet {

// A pass file, or the files of a pass folder in the order of its list. Throws Failure.
std::vector<std::string> pass_files(const std::string& path);

// One pass's matches by the names of the graph's nodes, then why some of them cannot become one call, and why there are
// no more: reasons, each with both lines and one of advice.
std::string match_text(const Pattern& pattern, const MatchIndex& index, MatchMode mode, const MatchResult& result,
                       const std::vector<Reason>& left_out, const std::vector<Reason>& reasons,
                       const std::string& file);
// The whole of one pass file against one graph. Throws Failure.
std::string explain_file(const std::string& file, const Graph& graph, MatchMode mode, std::size_t attempts = 1);

// Of a folder that changed nothing, a line for each of its first passes.
std::vector<std::string> why_not_applied(const Graph& graph, const PassFolder& folder, MatchMode mode,
                                         const Applied& applied);

std::string match_names(const Pattern& pattern, const Graph& graph, const Match& match,
                        const std::function<std::string(const std::string&)>& quote);
// The line of a node's text, trimmed: read from its file only when it is shown.
std::string node_source_line(const Graph& graph, NodeId id);
std::uint32_t node_line(const Graph& graph, NodeId id);

}  // namespace passnet
