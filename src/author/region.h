// Which nodes of a graph become one pass.
//
// Every node is traced once with the graph's own sizes. What has a rule is light; the rest (large products,
// convolutions, attention, what no rule knows) stays with ATen. A region is a connected set of light nodes with no
// heavy node between them: nodes of one level, where a level ends at a heavy node.
#pragma once

#include <functional>

#include "author/trace.h"
#include "exec/engine.h"
#include "fx/folder.h"

namespace passnet::author {

struct NodeFacts {
  bool light = false;
  std::string why;  // why it is not
  int level = 0;
  bool has_shape = false;                    // a tensor of known shape
  std::vector<std::int64_t> sizes, strides;  // eager's
  Dtype dtype = Dtype::float32;
  int buffer = -1;  // which memory it is, in this trace
};

struct Region {
  std::vector<NodeId> nodes;    // in graph order
  std::vector<NodeId> inputs;   // nodes outside that it uses, in the order of their use
  std::vector<NodeId> outputs;  // its nodes that are used outside
};

struct GraphFacts {
  std::vector<NodeFacts> nodes;
  std::vector<Region> regions;
  Products products = Products::none;  // which may be light
};

// Every node's value without data (exec/walk.h); none where it is not known. Asked once a graph, and only where an
// operator is left to ATen whose results no row describes.
using ShapeSource = std::function<Result<std::vector<RunValue>>(const GraphFolder& folder)>;

// `halves`: the pass may meet half precision, so what cannot be reproduced to the last bit is not fused with what would
// magnify it (see leave_inexact).
GraphFacts find_regions(const GraphFolder& folder, const Program& program, bool halves, Products products,
                        const ShapeSource& shapes);

// Whether some input is in half precision.
bool has_halves(const GraphFolder& folder);

}  // namespace passnet::author
