// Why a pattern does not match: the misfits of the best attempt, then of the next ones.
//
// An attempt starts at one graph node and goes on after a misfit, so that it shows all that is wrong with it; the best
// one fits most nodes. Where the pattern matches without one of its calls, or without those that only convert or copy,
// that is the reason. Nothing is formatted until it is shown.
#pragma once

#include <string>
#include <vector>

#include "match/match.h"
#include "ops/lower.h"

namespace passnet {

enum class ReasonType : std::uint8_t {
  op_mismatch,      // a function where the graph has a method or an input, or the other way round
  target_mismatch,  // another function or method
  attr_mismatch,    // another literal
  arg_mismatch,     // other counts, keywords or structure; a placeholder bound twice
  not_contained,    // a value of the match is used outside, or a way leads out and back
  not_in_order,     // the one call would change places with a write of what a node reads
  pattern_invalid,  // can match nothing
};
std::string_view reason_name(ReasonType type);  // "OP_MISMATCH"

struct Reason {
  ReasonType type = ReasonType::pattern_invalid;
  Misfit misfit = Misfit::kind;
  NodeId pattern_node = -1, graph_node = -1;
  Value expected, actual;  // the operands, where a pair of them does not fit
  bool has_values = false;
  NodeId user = -1;    // not_contained: who uses the value outside; not_in_order: with whom the node changes places
  bool cycle = false;  // not_contained: ... and leads back into the match
  bool extra = false;  // the graph has no such call behind `graph_node`; the rest of the pattern matches
};

inline constexpr std::size_t kMostReasons = 10;
inline constexpr std::size_t kMostAttempts = 3;

// The best attempt's reasons; up to `attempts` attempts, best first. Nodes that a match has taken are left out, so that
// this also says why there is no further match.
std::vector<Reason> explain(const Pattern& pattern, const MatchIndex& index, MatchMode mode, const MatchResult& result,
                            std::size_t attempts = 1);

// Why some of the matches cannot become one call, in their order; `externals` are the wrappers that the graph calls.
std::vector<Reason> explain_left_out(const Pattern& pattern, const MatchIndex& index, const MatchResult& result,
                                     std::span<const ExternalFunction> externals = {});

// A reason in words.
struct ReasonText {
  std::string pattern_node, graph_node;  // names; empty where there is none
  std::string expected, actual;
  std::string advice;
};
ReasonText reason_text(const Reason& reason, const Pattern& pattern, const MatchIndex& index, MatchMode mode);

// "torch.relu(x)", "a + b", "x[0]": the call that a node is, with the names of its operands.
std::string call_text(const Graph& graph, NodeId id);

}  // namespace passnet
