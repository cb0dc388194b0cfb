#include "cli/data_corpus.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/progress.h"

namespace passnet::cli {

namespace {
constexpr std::size_t kShown = 5;  // bad graphs named on stderr; the rest is in dropped.tsv
}

void CorpusOptions::add_options(CLI::App& command, const std::string& out_help) {
  selection.add_options(command);
  command.add_option("--out", out, out_help)->required()->type_name("DIR");
  command
      .add_option("--facts", facts,
                  "Journal of what was read of each graph; default: DIR/facts.tsv. Graphs in it are not read again: "
                  "share it between commands, remove it when graphs have changed")
      ->type_name("FILE");
  add_jobs(command, jobs, "Graphs");
  command.add_flag("--json", json, "The summary as one JSON object");
}

std::vector<data::Facts> corpus_facts(const CorpusOptions& o) {
  const std::vector<std::string> graphs = o.selection.resolve();
  data::folder_begin(o.out).take();
  Progress progress("graphs", graphs.size(), o.json);
  std::vector<data::Facts> facts = data::scan_facts(graphs, o.facts.empty() ? o.out + "/facts.tsv" : o.facts, o.jobs,
                                                    [&](std::size_t failed) { progress.step(failed); });
  std::string dropped;
  std::size_t bad = 0;
  for (const data::Facts& f : facts) {
    if (f.error.empty()) continue;
    dropped += fmt::format("{}\t{}\n", f.path, text_printable(f.error));
    if (++bad <= kShown) fmt::print(stderr, "{}: {}\n", f.path, text_printable(f.error));
  }
  if (bad > kShown) fmt::print(stderr, "... and {} more: {}/dropped.tsv\n", bad - kShown, o.out);
  if (bad > 0) file_write(o.out + "/dropped.tsv", dropped).take();
  return facts;
}

std::size_t count_errors(const std::vector<data::Facts>& facts) {
  std::size_t n = 0;
  for (const data::Facts& f : facts) n += f.error.empty() ? 0 : 1;
  return n;
}

}  // namespace passnet::cli
