// The operator table: every spelling a graph may use, and what stands behind it. Explicit rows first, then ATen's own
// operators under the names that Python torch gives them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/aten_table.h"
#include "ops/bind.h"
#include "ops/rows.h"

namespace passnet {

struct OpTarget {
  const OpRow* row = nullptr;             // an explicit row, or
  std::vector<const AtenRow*> overloads;  // ATen overloads in the order to try
  Spelled spelled = Spelled::function;
  explicit operator bool() const { return row != nullptr || !overloads.empty(); }
};

// A graph's call: `torch.conv2d`, `operator.add`, `.view` for a method, `getattr.T` for an attribute.
// Found once per spelling and kept.
const OpTarget& op_find(std::string_view spelling);

// The spelling of a node's target, as op_find takes it.
std::string node_spelling(const Node& node);

// Known spellings close to one that is not known.
std::vector<std::string> op_nearest(std::string_view spelling);

// All spellings, sorted: for `passnet ops`.
struct OpListing {
  std::string spelling;
  std::string signature;
  std::string effects;  // "in-place", "random", "view", joined by commas
  bool explicit_row;
};
std::vector<OpListing> op_list();

}  // namespace passnet
