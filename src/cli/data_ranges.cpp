// passnet data sole, typical, fusible: ranges of whole graphs that are worth cutting, as `data cut --ranges` reads
// them.
#include <fmt/format.h>

#include <mutex>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/parallel.h"
#include "base/text.h"
#include "cli/data.h"
#include "cli/graph_list.h"
#include "cli/json_line.h"
#include "cli/progress.h"
#include "data/constraints.h"
#include "data/ranges.h"

namespace passnet::cli {

namespace {

using nlohmann::ordered_json;

struct RangesOptions {
  GraphSelection selection;
  data::FarmOptions farm;
  data::TypicalOptions typical;
  data::FusibleOptions fusible;
};

void complain(const std::string& graph, const std::string& why) {
  fmt::print(stderr, "{}: {}\n", graph, text_printable(why));
}

void print_ranges(const std::vector<std::string>& graphs, const std::vector<data::FoundRange>& ranges) {
  for (const data::FoundRange& r : ranges)
    fmt::print("{}\t{}\t{}\t{}\n", graphs[r.graph], r.range.begin, r.range.end, r.why);
}

// The graphs' operators; one that cannot be read has none.
std::vector<data::OpSequence> read_sequences(const std::vector<std::string>& graphs, int jobs, std::size_t& failed) {
  std::vector<data::OpSequence> out(graphs.size());
  std::mutex mutex;
  Progress progress("graphs", graphs.size(), false);
  parallel_run(jobs, graphs.size(), [&](std::size_t i) {
    const auto folder = read_graph_folder(graphs[i], {.metas = false});
    if (folder) out[i] = data::op_sequence(folder->graph);
    const std::lock_guard hold(mutex);
    if (!folder) ++failed, complain(graphs[i], error_line(folder.error()));
    progress.step(failed);
  });
  return out;
}

template <class F>
int by_sequences(const RangesOptions& o, const F& find) {
  const std::vector<std::string> graphs = o.selection.resolve();
  std::size_t failed = 0;
  const std::vector<data::FoundRange> ranges = find(read_sequences(graphs, o.farm.jobs, failed));
  print_ranges(graphs, ranges);
  fmt::print(stderr, "{} ranges in {} graphs, {} failed\n", ranges.size(), graphs.size(), failed);
  return failed == 0 ? kOk : kFailed;
}

std::string fusible_one(const std::string& text, Engine&) {
  const ordered_json request = ordered_json::parse(text);
  const GraphFolder folder = data::read_whole_graph(request.at("graph")).take();
  ordered_json out = ordered_json::array();
  for (const data::FoundRange& r : data::find_fusible(folder, {request.at("longest")}).take())
    out.push_back({r.range.begin, r.range.end, r.why});
  return json_line(out);
}

int fusible(const RangesOptions& o) {
  const std::vector<std::string> graphs = o.selection.resolve();
  std::vector<std::vector<data::FoundRange>> found(graphs.size());
  std::size_t failed = 0, count = 0;
  {
    Progress progress("graphs", graphs.size(), false);
    data::farm_run(
        o.farm, fusible_one, graphs.size(),
        [&](std::size_t i) {
          return json_line(ordered_json({{"graph", graphs[i]}, {"longest", o.fusible.longest}}));
        },
        [&](std::size_t i, data::FarmAnswer answer) {
          if (!answer.ok) ++failed, complain(graphs[i], answer.text);
          const ordered_json ranges = answer.ok ? ordered_json::parse(answer.text) : ordered_json::array();
          for (const auto& r : ranges) found[i].push_back({i, {r.at(0), r.at(1)}, r.at(2)});
          count += ranges.size();
          progress.step(failed);
        });
  }
  for (const auto& ranges : found) print_ranges(graphs, ranges);
  fmt::print(stderr, "{} ranges in {} graphs, {} failed\n", count, graphs.size(), failed);
  return failed == 0 ? kOk : kFailed;
}

constexpr const char* kFooter = "Prints graph<TAB>start<TAB>end<TAB>why, which 'passnet data cut --ranges FILE' reads.";

}  // namespace

void add_data_ranges(CLI::App& data, Outcome& outcome) {
  auto sole = std::make_shared<RangesOptions>();
  CLI::App* command =
      data.add_subcommand("sole", "Find every distinct operator with its argument form, as ranges of one");
  sole->selection.add_options(*command);
  add_jobs(*command, sole->farm.jobs, "Graphs");
  command->footer(kFooter);
  command->callback([=, &outcome] {
    outcome.code = by_sequences(*sole, [](const auto& graphs) { return data::find_sole(graphs); });
  });

  auto typical = std::make_shared<RangesOptions>();
  command = data.add_subcommand("typical", "Find sequences of operators that recur, longest and most frequent first");
  typical->selection.add_options(*command);
  command->add_option("--shortest", typical->typical.shortest, "Operators of a sequence, at least")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--longest", typical->typical.longest, "Operators of a sequence, at most")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--least", typical->typical.least, "Graphs that a sequence has to be in")->capture_default_str();
  command->add_option("--copies", typical->typical.copies, "Occurrences of one sequence that are named")
      ->capture_default_str();
  add_jobs(*command, typical->farm.jobs, "Graphs");
  command->footer(kFooter);
  command->callback([=, &outcome] {
    outcome.code =
        by_sequences(*typical, [&](const auto& graphs) { return data::find_typical(graphs, typical->typical); });
  });

  auto fuse = std::make_shared<RangesOptions>();
  command = data.add_subcommand("fusible", "Find ranges that kernels of the built-in author compute in fewer launches");
  fuse->selection.add_options(*command);
  command->add_option("--longest", fuse->fusible.longest, "Operators of a range, at most")
      ->check(CLI::Range(2, 4096))
      ->capture_default_str();
  add_farm_options(*command, fuse->farm);
  command->footer(kFooter);
  command->callback([=, &outcome] { outcome.code = fusible(*fuse); });
}

}  // namespace passnet::cli
