// Whether a graph is worth training on: what a candidate could answer without computing anything is found here.
#pragma once

#include <string>
#include <vector>

#include "exec/engine.h"

namespace passnet {

enum class Flaw : std::uint8_t {
  constant,     // every output has one value everywhere
  tiny,         // zeros would be right at t = -5, or there is almost nothing to compute
  independent,  // the outputs do not depend on the inputs
  non_finite,   // NaN or infinite outputs, which no answer equals
  random,       // another answer at every call, or with every seed of the generator
  fails,        // eager cannot run it
};
std::string_view flaw_name(Flaw flaw);

struct Finding {
  Flaw flaw;
  std::string why;
};
// Runs the graph a few times on the CPU. Throws the environment's errors only.
std::vector<Finding> lint_graph(const std::string& path, Engine& engine);

}  // namespace passnet
