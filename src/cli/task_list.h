// Which tasks a command works on: sample folders, graph folders, lists of either.
#pragma once

#include <string>
#include <vector>

#include "bench/bench.h"
#include "cli/command.h"

namespace passnet::cli {

struct TaskSelection {
  std::vector<std::string> paths;
  std::vector<std::string> lists;
  std::string root;
  std::size_t graphs_per_task = 0;  // the first so many; 0: all
  double max_input_mb = 0;          // graphs with larger inputs are left out; 0: none

  void add_options(CLI::App& command);
  // A folder with a graph_list.txt is a task of its name; graph folders are gathered by the folder they lie in.
  std::vector<Task> resolve() const;
};

}  // namespace passnet::cli
