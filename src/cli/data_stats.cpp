// passnet data stats: what a corpus holds.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/data.h"
#include "cli/data_corpus.h"
#include "cli/json_line.h"
#include "data/stats.h"

namespace passnet::cli {

namespace {

struct StatsOptions {
  CorpusOptions corpus;
  std::size_t rows = 20;
};

nlohmann::ordered_json counts_json(const std::vector<data::Count>& counts) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const data::Count& c : counts) out[c.name] = c.count;
  return out;
}

int stats(const StatsOptions& o) {
  const data::Stats s = data::count_stats(corpus_facts(o.corpus));
  file_write(o.corpus.out + "/stats.html", data::stats_page(s, "The corpus")).take();
  if (o.corpus.json)
    fmt::print("{}\n", json_line(nlohmann::ordered_json({{"graphs", s.graphs},
                                                         {"failed", s.failed},
                                                         {"unique", s.unique},
                                                         {"computations", s.computations},
                                                         {"samples", s.samples},
                                                         {"operators", s.calls},
                                                         {"dtypes", counts_json(s.dtypes)},
                                                         {"families", counts_json(s.families)},
                                                         {"ops", counts_json(s.ops)}})));
  else
    fmt::print("{}", data::stats_table(s, o.rows));
  return s.failed == 0 ? kOk : kFailed;
}

}  // namespace

void add_data_stats(CLI::App& data, Outcome& outcome) {
  auto o = std::make_shared<StatsOptions>();
  CLI::App* command = data.add_subcommand("stats", "Count a corpus: graphs, samples, families, sizes, operators");
  o->corpus.add_options(*command, "Where stats.html and the journal go");
  command->add_option("--rows", o->rows, "Rows of each list on the terminal; the page has all")->capture_default_str();
  command->callback([=, &outcome] { outcome.code = stats(*o); });
}

}  // namespace passnet::cli
