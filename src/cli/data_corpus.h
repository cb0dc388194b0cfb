// What the commands over a whole corpus share: graphs in, facts from a journal, results in one folder.
#pragma once

#include "cli/graph_list.h"
#include "data/facts.h"

namespace passnet::cli {

struct CorpusOptions {
  GraphSelection selection;
  std::string out, facts;
  int jobs = 0;
  bool json = false;

  void add_options(CLI::App& command, const std::string& out_help);
};

// Reads every graph, or its line of the journal. Graphs that cannot be read are named in OUT/dropped.tsv and on stderr
// (the first few), and go no further.
std::vector<data::Facts> corpus_facts(const CorpusOptions& options);

std::size_t count_errors(const std::vector<data::Facts>& facts);

}  // namespace passnet::cli
