// A pass folder -> passes in the order to apply: pattern, replacement arguments and wrapper of each, checked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "host/host.h"
#include "host/module.h"
#include "host/policy.h"

namespace passnet {

// Of a pass folder: the order in which its passes apply, and that of the passes it was given.
inline constexpr const char* kOutputOrder = "sorted_output_pass_rule_names.json";
inline constexpr const char* kInputOrder = "sorted_input_pass_rule_names.json";

struct Pass {
  std::string name;    // the file's stem
  bool given = false;  // an input pass: limits of output passes do not count it
  const PassModule* module = nullptr;
  Graph pattern;                                   // of `pattern`, placeholders in its order
  const void* pattern_syntax = nullptr;            // its def or lambda, where nothing else can name it
  std::vector<const py::Stmt*> pattern_functions;  // what it calls
  std::vector<Value> replacement_args;             // a node reference is the pattern's placeholder of that number
  Wrapper wrapper;                                 // what replacement_func returns
};

struct LoadOptions {
  std::size_t pattern_limit = 100;         // output_pass_pattern_limit
  std::size_t replacement_func_limit = 1;  // output_pass_replacement_func_limit; 0: none
  bool open_policy = false;                // --policy open: calls are not checked at load
  HostLimits limits = {};                  // of what is evaluated while loading
  std::string input_folder = {};           // passes given with the task, overridden by output passes of the same name
};

struct PassFolder {
  std::string path;
  std::vector<Pass> passes;
  std::vector<std::string> dropped;                    // what was over a limit, one sentence each
  std::vector<std::string> settings;                   // what the files set to no effect here, one sentence each
  std::vector<std::unique_ptr<ModuleLoader>> loaders;  // own the syntax trees
};

Result<PassFolder> load_pass_folder(const std::string& path, const LoadOptions& options = {});
// The pattern of one pass file alone, constants of its module included.
Result<Graph> load_pass_pattern(const std::string& path);
// Files by their stems, of which `name` is the pass.
Result<PassFolder> load_pass_sources(std::map<std::string, std::string> sources, const std::string& name,
                                     const LoadOptions& options = {});
// One file as a folder of one pass.
Result<PassFolder> load_pass_file(const std::string& path, const LoadOptions& options = {});

}  // namespace passnet
