// passnet data group: graphs with one computation as tasks.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/parallel.h"
#include "cli/data.h"
#include "cli/data_corpus.h"
#include "cli/json_line.h"
#include "data/group.h"

namespace passnet::cli {

namespace {

struct GroupOptions {
  CorpusOptions corpus;
  std::size_t least = 1;
};

int group(const GroupOptions& o) {
  const std::vector<data::Facts> facts = corpus_facts(o.corpus);
  std::vector<data::Sample> samples = data::group_graphs(facts);
  const std::size_t all = samples.size();
  std::erase_if(samples, [&](const data::Sample& s) { return s.graphs.size() < o.least; });
  std::string names, graphs;
  for (const data::Sample& sample : samples) {
    names += sample.name + "\n";
    for (const std::size_t i : sample.graphs) graphs += data::list_line(facts[i], o.corpus.out);
  }
  parallel_run(o.corpus.jobs, samples.size(),
               [&](std::size_t i) { data::write_sample(o.corpus.out, samples[i], facts).take(); });
  file_write(o.corpus.out + "/graph_list.txt", graphs).take();
  file_write(o.corpus.out + "/sample_list.txt", names).take();
  const std::size_t bad = count_errors(facts);
  if (o.corpus.json)
    fmt::print("{}\n", json_line(nlohmann::ordered_json({{"graphs", facts.size()},
                                                         {"samples", samples.size()},
                                                         {"too_small", all - samples.size()},
                                                         {"dropped", bad}})));
  else
    fmt::print("{} graphs in {} samples ({}/sample_list.txt){}, {} dropped\n", facts.size() - bad, samples.size(),
               o.corpus.out, all > samples.size() ? fmt::format(", {} too small", all - samples.size()) : "", bad);
  return bad == 0 ? kOk : kFailed;
}

}  // namespace

void add_data_group(CLI::App& data, Outcome& outcome) {
  auto o = std::make_shared<GroupOptions>();
  CLI::App* command =
      data.add_subcommand("group", "Make samples (tasks): graphs with one computation at several shapes and dtypes");
  o->corpus.add_options(
      *command,
      "Where the samples go: DIR/<key>/ with graph_list.txt, sample_uids.txt, entry.sh and an empty pass_dir");
  command->add_option("--least", o->least, "Leave out samples with fewer graphs")->capture_default_str();
  command->footer(
      "One computation: the same operators on the same operands; numbers, dtypes and inserted casts may differ.");
  command->callback([=, &outcome] { outcome.code = group(*o); });
}

}  // namespace passnet::cli
