// Text -> syntax tree of the Python subset (see ast.h). Never executes anything.
#pragma once

#include <string>

#include "py/ast.h"

namespace passnet::py {

inline constexpr int kDepthLimit = 200;    // nested brackets, operands and blocks
inline constexpr int kHeightLimit = 1000;  // of a tree, long chains (a + b + c, x.a.b.c, elif) included

// `file` is used for messages only.
Result<Module> parse(std::string file, std::string source);

}  // namespace passnet::py
