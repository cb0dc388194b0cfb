// A straight-line function of the Python subset -> Graph: one node per written call, nothing evaluated but literals.
// Used for a graph's `forward` and for a pass's `pattern`.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "fx/scope.h"
#include "graph/graph.h"
#include "py/ast.h"

namespace passnet {

struct InlinedFunction;

// A def or a lambda.
struct FunctionSyntax {
  FunctionSyntax() = default;
  FunctionSyntax(const py::Stmt& def)  // NOLINT(google-explicit-constructor)
      : name(def.name), parameters(def.parameters), body(def.body), place(def.place) {}
  FunctionSyntax(const py::Expr& lambda)  // NOLINT(google-explicit-constructor)
      : name("lambda"), parameters(lambda.parameters()), result(lambda.items[0]), place(lambda.place) {}

  std::string_view name;
  std::span<const py::Parameter> parameters;
  std::span<const py::Stmt* const> body;
  const py::Expr* result = nullptr;  // of a lambda, which has no body
  py::Place place;
};

struct BuildOptions {
  bool skip_self = true;  // the first parameter named `self` is no placeholder
  // A module-level constant by its name, for functions that stand in a file with others.
  std::function<std::optional<Value>(std::string_view)> constant = nullptr;
  // What an expression is worth whose variables of the function, if any, are literals, where Python would have computed
  // it before the call: SIZES[0], torch.finfo(torch.float32).min. Nothing for calls that are nodes. Patterns have it.
  using Variables = std::vector<std::pair<std::string_view, Value>>;
  std::function<std::optional<Value>(const py::Expr&, const Variables&)> evaluate = nullptr;
  bool inner_imports = false;  // imports inside the function are in the scope already
  // A function of the same folder that is called: its nodes stand where the call stands, as tracing would have them.
  std::function<const InlinedFunction*(const py::Expr& callee)> function = nullptr;
  // The variables of the functions that this one was made in.
  std::vector<std::pair<std::string_view, Value>> given = {};
};

// A straight-line function with what its names mean; lives as long as the build.
struct InlinedFunction {
  const py::Module* module = nullptr;
  FunctionSyntax syntax;
  ImportScope scope;
  BuildOptions options;
};

Result<Graph> build_graph(const py::Module& module, const FunctionSyntax& function, const ImportScope& scope,
                          BuildOptions options = {});

}  // namespace passnet
