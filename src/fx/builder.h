// A straight-line function of the Python subset -> Graph: one node per written call, nothing evaluated but literals.
// Used for a graph's `forward` and for a pass's `pattern`.
#pragma once

#include "fx/scope.h"
#include "graph/graph.h"
#include "py/ast.h"

namespace passnet {

struct BuildOptions {
  bool skip_self = true;  // the first parameter named `self` is no placeholder
};

Result<Graph> build_graph(const py::Module& module, const py::Stmt& function, const ImportScope& scope, BuildOptions options = {});

}  // namespace passnet
