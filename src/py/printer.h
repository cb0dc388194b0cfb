// Syntax tree -> text: one canonical spelling that parses back to the same tree.
#pragma once

#include <string>

#include "py/ast.h"

namespace passnet::py {

std::string print(const Expr& expr);
std::string print(const Stmt& stmt, int indent = 0);
std::string print(const Module& module);

}  // namespace passnet::py
