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
  // Every graph folder in order. A folder without model.py stands for the graphs of its graph_list.txt, or for all
  // graphs below it.
  std::vector<std::string> resolve() const;
};

// A folder with a model.py, and one that stands for the graphs of its graph_list.txt.
bool is_graph(const std::string& folder);
bool is_sample(const std::string& folder);

// The folders that a list names, graphs or samples. A line may have columns (`uid<TAB>path`): the last is the path.
std::vector<std::string> list_folders(const std::string& list, const std::string& root);

// Names for results: the paths without the folder that all of them are in.
std::vector<std::string> graph_names(const std::vector<std::string>& paths);

}  // namespace passnet::cli
