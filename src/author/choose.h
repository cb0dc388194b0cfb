// A task's passes: authored graph by graph, merged, and kept only if they win beyond the noise.
#pragma once

#include <span>

#include "author/author.h"
#include "author/measure.h"

namespace passnet::author {

// Which plan a pass is written by.
struct PlanChoice {
  std::string plan;   // as in Machine::alternatives; empty: the usual one
  double gain = 1;    // the usual plan's time over its
  std::string wrong;  // which other plan gives something else than eager, and what
  int tried = 0;      // other plans
};

// What is known of one pass on one graph.
struct Decision {
  std::string pass, pattern;
  double ratio = 0;  // eager's time over the pass's, the rest of the graph in eager; measured, else estimated
  double spread = 0;
  bool kept = false;
  bool measured = false, remembered = false;  // remembered: from the cache
  PlanChoice plan;
  std::string why;  // where it was dropped without a time
};

struct AuthoredTask {
  std::vector<AuthoredPass> passes;          // what is kept, in the order to apply
  std::vector<Authored> graphs;              // of each graph, every region that can be written
  std::vector<std::vector<Decision>> decisions;
};

// Without `measure` the cost model decides. A pass serves every place of its pattern in every graph of the task, so it
// is kept if it wins in the geometric mean and loses on none. Times are kept on disk by the graph's content, its
// shapes, the pass's text and this machine; the second time costs nothing.
Result<AuthoredTask> author_task(std::span<const GraphFolder> graphs, AuthorOptions options, Measure* measure,
                                 int threads);

}  // namespace passnet::author
