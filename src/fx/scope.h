// What a module's import lines make of a name: `F.relu` under `import torch.nn.functional as F` is
// torch.nn.functional.relu.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "py/ast.h"

namespace passnet {

class ImportScope {
 public:
  void add(const py::Stmt& statement);  // import and import_from; others are ignored
  void set(std::string_view name, std::string path) { names_[name] = std::move(path); }
  // The module path a bare name stands for, or "" where it is not imported.
  std::string_view find(std::string_view name) const;
  // The full dotted path of an expression whose root is an imported name; "" for anything else.
  std::string resolve(const py::Expr& expr) const;

 private:
  std::unordered_map<std::string_view, std::string> names_;
};

}  // namespace passnet
