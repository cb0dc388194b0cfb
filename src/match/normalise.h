// Two calls of one operator -> their arguments side by side, whatever the way each is written.
//
// strict: as written; only an ATen overload (torch.ops.aten.f.o) fills its schema's defaults in, as torch.fx does.
// normal: both are bound to the operator's signature (ops/): keywords, positions, varargs and defaults stop to matter.
#pragma once

#include <deque>
#include <vector>

#include "match/pattern.h"

namespace passnet {

enum class MatchMode : std::uint8_t { strict, normal };

struct AtenRow;

// The target among the spellings of one row: torch._C._nn.pad is torch.nn.functional.pad. Functions only: a method, an
// operator and torch.ops.aten keep what is written.
Target target_normal(const Node& node);

// torch.ops.aten.NAME.OVERLOAD; with `packet`, torch.ops.aten.NAME means its default overload.
const AtenRow* aten_overload(std::string_view target, bool packet = false);

// The same number of positional arguments and the same keywords in the same order.
bool same_shape(const Node& a, const Node& b);

// The arguments of both calls, pairwise. Values that are nobody's (a default, gathered varargs) are kept in `store`.
struct ArgumentPairs {
  std::vector<const Value*> pattern, graph;
};
using ValueStore = std::deque<std::vector<Value>>;
bool align_arguments(const Node& pattern, const Node& graph, MatchMode mode, ValueStore& store, ArgumentPairs& out);

}  // namespace passnet
