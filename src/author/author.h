// The built-in author: a graph in, a pass folder out. No language model, no torch.
//
//   graph ─ find_regions ─▶ regions ─ trace ─▶ tensors as functions of an index ─ schedule ─▶ kernels ─ print ─▶ pass file
#pragma once

#include "author/print_kernel.h"
#include "author/region.h"

namespace passnet::author {

struct AuthoredPass {
  std::string name;     // the file's stem
  std::string wrapper;  // the function's name
  std::string text;     // the file
  std::string pattern;  // its pattern alone: equal patterns compete for the same places
  Region region;
  std::size_t kernels = 0;
  double bytes_saved = 0;     // that eager moves and the pass does not
  double calls_saved = 0;     // operators of eager less launches
  double eager_cost = 0, pass_cost = 0;  // microseconds, estimated
};

struct LeftOut {
  NodeId node;
  std::string why;
};

struct Authored {
  std::vector<AuthoredPass> passes;
  std::vector<LeftOut> left_out;
};

struct AuthorOptions {
  Machine machine;
  bool keep_all = false;  // also regions that are not expected to gain
};

Result<Authored> author_graph(const GraphFolder& folder, const AuthorOptions& options);

// Writes the pass files and their order.
Result<std::monostate> write_pass_folder(const std::string& folder, const std::vector<AuthoredPass>& passes, bool single_wrapper);

}  // namespace passnet::author
