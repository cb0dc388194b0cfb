// passnet data dedupe: equal graphs once.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/data.h"
#include "cli/data_corpus.h"
#include "cli/json_line.h"
#include "data/dedupe.h"
#include "data/group.h"

namespace passnet::cli {

namespace {

struct DedupeOptions {
  CorpusOptions corpus;
  std::string by = "graph";
};

int dedupe(const DedupeOptions& o) {
  const std::vector<data::Facts> facts = corpus_facts(o.corpus);
  const auto first = data::find_duplicates(facts, o.by == "graph" ? data::SameBy::graph : data::SameBy::computation);
  std::string unique, duplicates;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (!facts[i].error.empty()) continue;
    if (first[i] == i) {
      unique += data::list_line(facts[i], o.corpus.out);
      ++kept;
    } else {
      duplicates += fmt::format("{}\t{}\n", facts[i].path, facts[first[i]].path);
    }
  }
  file_write(o.corpus.out + "/unique.txt", unique).take();
  file_write(o.corpus.out + "/duplicates.tsv", duplicates).take();
  const std::size_t bad = count_errors(facts);
  if (o.corpus.json)
    fmt::print("{}\n",
               json_line(nlohmann::ordered_json({{"graphs", facts.size()}, {"unique", kept}, {"dropped", bad}})));
  else
    fmt::print("{} graphs, {} unique ({}/unique.txt), {} dropped\n", facts.size(), kept, o.corpus.out, bad);
  return bad == 0 ? kOk : kFailed;
}

}  // namespace

void add_data_dedupe(CLI::App& data, Outcome& outcome) {
  auto o = std::make_shared<DedupeOptions>();
  CLI::App* command = data.add_subcommand("dedupe", "List equal graphs once, by their canonical form");
  o->corpus.add_options(*command, "Where unique.txt (uid<TAB>path), duplicates.tsv (path<TAB>kept) and the journal go");
  command
      ->add_option("--by", o->by,
                   "Equal are graphs with one computation at the same shapes and dtypes, or at any shapes")
      ->check(CLI::IsMember({"graph", "computation"}))
      ->capture_default_str();
  command->callback([=, &outcome] { outcome.code = dedupe(*o); });
}

}  // namespace passnet::cli
