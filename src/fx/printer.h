// Graph -> model.py, in either print style. Printing, reading and printing again gives the same text.
#pragma once

#include <string>

#include "graph/graph.h"

namespace passnet {

enum class PrintStyle : std::uint8_t {
  plain,  // one statement a line, plain parameters, f(x, k=v), x[i, j]
  raw,    // as torch.fx prints: `in_0 : torch.Tensor`, `x = f(a, k = v);  a = None`, x[(i, j)]
};

std::string print_model(const Graph& graph, PrintStyle style);

// A graph as a plain function without clean-ups, as pass files have it: `def name(x, y):`.
struct PrintedFunction {
  std::string imports;  // lines that its text needs
  std::string text;
};
PrintedFunction print_function(const Graph& graph, const std::string& name);

}  // namespace passnet
