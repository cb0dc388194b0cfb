// What dedupe, group, split and stats need of a graph, read once and kept in a journal: a line a graph, appended while
// the corpus is scanned, so that a killed scan goes on where it was.
#pragma once

#include <functional>

#include "data/graph_files.h"

namespace passnet::data {

// 128 bits of a text: collisions are not to be expected in any corpus.
struct Key {
  std::uint64_t high = 0, low = 0;
  auto operator<=>(const Key&) const = default;
  std::string text() const;  // 32 hex digits
};
Key key_of(std::string_view text);

struct Facts {
  std::string path;
  Key graph;        // the computation with the shapes and dtypes of its inputs: equal ones are one graph
  Key computation;  // without shapes and dtypes, as written
  Key sample;       // without numbers, casts and the order of inputs and results: equal ones form a task
  std::string dtype;
  std::string model, family;
  std::uint64_t input_bytes = 0;
  std::vector<std::string> ops;
  std::string error;  // why there are no facts
};

Facts graph_facts_of(const std::string& path, const GraphFiles& files);

// The text under Facts::sample: operators with their operands, inputs numbered by their first use.
std::string sample_text(const Graph& graph);

// The facts of all graphs, in their order. `journal` is continued; a path that is in it is not read again.
// `progress` is called after each graph with how many had errors.
std::vector<Facts> scan_facts(const std::vector<std::string>& graphs, const std::string& journal, int jobs,
                              const std::function<void(std::size_t failed)>& progress);

}  // namespace passnet::data
