// The built-in author: graphs in, a pass folder out. No language model; torch only where shapes are asked for.
//
//   graph ─ find_regions ─▶ regions ─ trace ─▶ tensors as functions of an index ─ schedule ─▶ kernels ─ print ─▶ pass
//   file
#pragma once

#include "author/print_kernel.h"
#include "author/region.h"

namespace passnet::author {

// An input as a graph has it.
struct Seen {
  std::vector<std::int64_t> sizes, strides;
  Dtype dtype = Dtype::float32;
  auto operator<=>(const Seen&) const = default;
};

// The code of a pass for the graphs whose shapes and dtypes have one structure.
struct Variant {
  std::string kernels;             // the @triton.jit functions
  std::vector<std::string> lines;  // the wrapper's body
  bool rounds = false, libdevice = false;
  std::vector<std::vector<Seen>> seen;  // the inputs of every graph that it is for
};

// The same pass by another plan.
struct Alternative {
  std::string plan;  // as in Machine::alternatives
  Variant variant;
  std::size_t kernels = 0;
  bool differs = false;  // from those before it, in the graph that the author reads
};

struct AuthoredPass {
  std::string name;     // the file's stem
  std::string wrapper;  // the function's name
  std::string imports, pattern;
  std::string pattern_key;              // the pattern without names: equal ones compete for the same places
  std::vector<std::string> parameters;  // of pattern and wrapper
  std::vector<Variant> variants;        // tried in order; more than one where graphs of a task differ in structure
  std::vector<Alternative> alternatives;
  Region region;
  std::size_t kernels = 0;
  double bytes_saved = 0;                // that eager moves and the pass does not
  double calls_saved = 0;                // operators of eager less launches
  double eager_cost = 0, pass_cost = 0;  // microseconds, estimated
};

struct LeftOut {
  NodeId node;
  std::string why;
};

struct Authored {
  std::vector<AuthoredPass> passes;
  std::vector<LeftOut> left_out;
  std::map<std::string, Seen> seen;  // every tensor of the graph whose shape is known, by name
};

struct AuthorOptions {
  Machine machine;
  bool keep_all = false;      // also regions that are not expected to gain
  bool alternatives = false;  // also by the machine's other plans, where a region is worth it
  double seconds = 7;         // for measuring a task; what is measured late is measured on fewer of its graphs
  bool halves = false;        // the task has graphs in half precision; a graph's own inputs are asked in any case
  ShapeSource shapes;         // may be none: what follows operators without a row is left to ATen
};

Result<Authored> author_graph(const GraphFolder& folder, const AuthorOptions& options);

// Passes of one pattern become one pass: equal code once, different code behind a question about shapes or dtypes.
// Names become unique, larger patterns come first.
void merge_passes(std::vector<AuthoredPass>& passes);

// Whether the passes, applied in order, meet only what they were written for: a pattern may occur at a place of another
// structure, which was no region. Gives the reason for each pass that must go, or an empty text.
std::vector<std::string> check_places(const Graph& graph, const std::map<std::string, Seen>& seen,
                                      const std::vector<AuthoredPass>& passes);

std::string pass_file(const AuthoredPass& pass);

// Writes the pass files and their order. `single_wrapper`: one function in fused.py serves all, by route.
Result<std::monostate> write_pass_folder(const std::string& folder, const std::vector<AuthoredPass>& passes,
                                         bool single_wrapper);

}  // namespace passnet::author
