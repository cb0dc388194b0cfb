// input_tensor_constraints.py: which dimensions of a whole graph's inputs are free. Parsed, never executed.
#pragma once

#include <map>

#include "fx/folder.h"

namespace passnet::data {

struct Symbol {
  std::string name;
  std::int64_t example = 0;  // its value in the recorded shapes
};

struct Dimension {
  std::int64_t size = 0;  // as recorded
  int symbol = -1;        // which of the symbols, or none
};

struct Constraints {
  std::vector<Symbol> symbols;
  std::map<std::string, std::vector<Dimension>> shapes;  // by the input's name
};

Result<Constraints> read_constraints(std::string file, std::string source);

// A whole graph. Where its metas are lost, the shapes that the constraints name stand in, as float32 (indices as int64
// zeros): enough for shapes, not for statistics.
Result<GraphFolder> read_whole_graph(const std::string& path);

}  // namespace passnet::data
