// Which graph folders a command works on: given one by one, or by list files with a root.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace passnet::cli {

struct GraphSelection {
  std::vector<std::string> paths;
  std::vector<std::string> lists;
  std::string root;

  void add_options(CLI::App& command);
  // Every graph folder in order. A list's line may have columns (`uid<TAB>path`): the last is the path. A folder
  // without model.py that holds a graph_list.txt stands for the graphs listed there.
  std::vector<std::string> resolve() const;
};

}  // namespace passnet::cli
