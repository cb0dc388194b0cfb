// Arguments of wrappers and kernels on the command line, in Python's syntax.
#pragma once

#include "host/host.h"
#include "py/ast.h"

namespace passnet::cli {

// What `--args` has, put between `before` and `after` to be one expression of Python; anything else is a usage error.
// Throws Failure.
py::Module parse_arguments(const std::string& before, const std::string& text, const std::string& after);

// One argument: float32[2, 3] or float32[2, 3](3, 1) with strides, float32[] without dimensions, a number, inf, nan, a
// string, True, False, None, torch.float32. Throws Failure.
HostArgument read_argument(const py::Expr& e);

// A float without digits: inf, nan.
bool is_float_name(std::string_view text);

}  // namespace passnet::cli
