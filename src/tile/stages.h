// The stages of a kernel's way through tile IR, one function each. lower.h makes the function; tile_cpu emits it.
#pragma once

#include <functional>

#include "base/error.h"
#include "tile/ir.h"
#include "tile/launch_facts.h"

namespace passnet::tile {

// The IR's rules: types, shapes, blocks, values defined before use. The error names the op and its line.
Result<std::monostate> verify(const Function& function);

// Integer parameters, grid sizes and program ids of grid size 1 become constants.
void specialise(Function& function, const LaunchFacts& facts);

// Rule rows to a fixed point, equal ops merged, unused ones removed, constant loops and branches resolved, loop-carried
// values of the form v = v + uniform rewritten over a scalar. The results of the kernel stay the same, bit for bit.
// `after` sees the function after every pass of every round.
using AfterPass = std::function<void(std::string_view pass, const Function& function)>;
void simplify(Function& function, const AfterPass& after = {});

// What the ranges of values in this launch decide (ranges.h): comparisons, masks, x / n and x % n of 0 <= x < n; then
// simplify again.
void simplify_ranges(Function& function, const LaunchFacts& facts);

// The text form: print, parse, print is identical. parse takes any bytes and does not verify.
std::string print(const Function& function);
Result<Function> parse(std::string file, std::string_view text);

// `*f16[64, 32]`; `%7 acc: f32[64] = add %5, %6`, without blocks and source.
std::string ir_text(const Type& type);
std::string ir_text(const Function& function, const Op& op);

}  // namespace passnet::tile
