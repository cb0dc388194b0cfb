// What `graph run` prints: the JSON line of the reference, and a table for people.
#pragma once

#include <string>
#include <vector>

#include "exec/engine.h"

namespace passnet::cli {

// {"graph": ..., "outputs": [{"shape", "dtype", "sha256"} | {"value"} | [...], ...]}
std::string run_json(const std::string& path, const RunValue& result, Engine& engine);

class RunTable {
 public:
  void add(const std::string& path, const Graph& graph, const RunValue& result, double seconds, Engine& engine);
  void print() const;

 private:
  struct Row {
    std::string graph, nodes, time, outputs;
  };
  std::vector<Row> rows_;
};

}  // namespace passnet::cli
