// The names of a statement: those its expressions mention, and those it binds.
#pragma once

#include <set>
#include <string_view>

#include "py/ast.h"

namespace passnet::py {

// Whatever they mean there: a parameter, an attribute's object, a target.
void add_names_in(const Stmt& stmt, std::set<std::string_view>& out);
// In the scope it stands in: definitions, targets, imports, also under if, with, try and loops.
void add_names_bound(const Stmt& stmt, std::set<std::string_view>& out);

}  // namespace passnet::py
