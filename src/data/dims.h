// A whole graph at other sizes: inputs of new shapes, and the literals that repeat a changed dimension rewritten.
//
// The graph is walked twice without data, at the recorded and at the new sizes. Where an operator's literals are sizes
// (view, expand, arange, zeros, slices: the table in dims.cpp), those that were a dimension which has changed become
// what it is now. What is chosen is proven by the operator itself: sizes that do not fit are an error.
#pragma once

#include "data/variants.h"
#include "exec/walk.h"

namespace passnet::data {

// Walks the recorded graph once; each variant costs another walk.
class Resizer {
 public:
  static Result<std::unique_ptr<Resizer>> make(const GraphFolder& folder, const Constraints& constraints,
                                               Engine& engine);
  virtual ~Resizer() = default;
  // The graph with the symbols at `sizes`. An error names the operator that does not run at them.
  virtual Result<GraphFolder> resize(const std::vector<std::int64_t>& sizes) = 0;
};

}  // namespace passnet::data
