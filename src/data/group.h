// Graphs with one computation -> sample folders (tasks).
#pragma once

#include "data/facts.h"

namespace passnet::data {

struct Sample {
  std::string name;                 // 12 digits of its key
  std::vector<std::size_t> graphs;  // in the corpus' order
};
// In the order of their first graphs; graphs with errors are in none.
std::vector<Sample> group_graphs(const std::vector<Facts>& facts);

// What lists call a graph: 16 digits of its key.
std::string graph_uid(const Facts& facts);
// `uid<TAB>path`, the path as seen from `folder`.
std::string list_line(const Facts& facts, const std::string& folder);

// graph_list.txt (paths from the folder above), sample_uids.txt, entry.sh and an empty pass_dir.
Result<std::monostate> write_sample(const std::string& root, const Sample& sample, const std::vector<Facts>& facts);

}  // namespace passnet::data
