// A straight-line function of the Python subset -> Graph: one node per written call, nothing evaluated but literals.
// Used for a graph's `forward` and for a pass's `pattern`.
#pragma once

#include <functional>
#include <optional>

#include "fx/scope.h"
#include "graph/graph.h"
#include "py/ast.h"

namespace passnet {

struct InlinedFunction;

struct BuildOptions {
  bool skip_self = true;  // the first parameter named `self` is no placeholder
  // A module-level constant by its name, for functions that stand in a file with others.
  std::function<std::optional<Value>(std::string_view)> constant = nullptr;
  // What an expression without variables of the function is worth, where Python would have computed it before the call:
  // SIZES[0], torch.finfo(torch.float32).min. Nothing for calls that are nodes.
  std::function<std::optional<Value>(const py::Expr&)> evaluate = nullptr;
  bool inner_imports = false;  // imports inside the function are in the scope already
  // A function of the same folder that is called: its nodes stand where the call stands, as tracing would have them.
  std::function<const InlinedFunction*(const py::Expr& callee)> function = nullptr;
};

// A straight-line function with what its names mean; lives as long as the build.
struct InlinedFunction {
  const py::Module* module = nullptr;
  const py::Stmt* statement = nullptr;
  ImportScope scope;
  BuildOptions options;
};

Result<Graph> build_graph(const py::Module& module, const py::Stmt& function, const ImportScope& scope,
                          BuildOptions options = {});

}  // namespace passnet
