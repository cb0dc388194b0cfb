// The explicit rows of the operator table: rows/*.py, parsed once and kept for good.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "py/ast.h"

namespace passnet {

struct OpRow {
  std::vector<std::string> spellings;  // "torch.nn.functional.relu", ".size", "getattr.T"
  const py::Module* module;
  const py::Stmt* function;  // signature and body
  std::string signature() const;
};

const std::vector<OpRow>& op_rows();
const OpRow* op_row_find(std::string_view spelling);
// A function of the rows' files without a spelling: a helper that rows call.
const py::Stmt* op_helper_find(std::string_view name);

}  // namespace passnet
