// Never slower: passes are kept if they win beyond the noise.
#pragma once

#include "author/author.h"
#include "author/measure.h"

namespace passnet::author {

struct Decision {
  std::string pass;
  double ratio = 0;  // eager's time over the pass's, the rest of the graph in eager
  double spread = 0;
  bool kept = false;
  bool remembered = false;  // from the cache
  std::string why;          // where it was dropped without a time
};

// Times each pass alone on the graph and drops what does not win. Decisions are kept on disk by the graph's content,
// its shapes, the pass's text and this machine; the second time costs nothing.
Result<std::vector<Decision>> choose(const GraphFolder& graph, std::vector<AuthoredPass>& passes, Measure& measure,
                                     int threads);

}  // namespace passnet::author
