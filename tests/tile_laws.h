// Expressions over tile IR, simplified one by one: what the text cases of rules are written in.
#pragma once

#include <string>
#include <string_view>

namespace passnet::tile {

// Lines `let x: i32` name a value (a scalar is a parameter, a tile is loaded), any other line is an expression;
// comments and blank lines stay. An expression is a name, a number, or `op(expressions)` with `<axis>`, `<order>` or
// `<combine axis>` behind the op's name where it has them, and `: type` behind the whole where operands do not give the
// type. Gives each expression's line with `-> ` and what simplify makes of it.
std::string simplify_expressions(std::string_view text);

}  // namespace passnet::tile
