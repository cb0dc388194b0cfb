// passnet data split: train, eval and free_to_use without leakage.
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "cli/data.h"
#include "cli/data_corpus.h"
#include "cli/json_line.h"
#include "cli/validators.h"
#include "data/group.h"
#include "data/split.h"

namespace passnet::cli {

namespace {

struct SplitCommand {
  CorpusOptions corpus;
  std::string parts = "train=0.8,eval=0.1,free_to_use=0.1", conflicts = "drop";
  std::uint64_t seed = 0;
};

std::vector<data::SplitPart> read_parts(const std::string& text) {
  std::vector<data::SplitPart> out;
  for (const std::string_view item : text_split(text, ',')) {
    const std::size_t equals = item.find('=');
    data::SplitPart part{std::string(item.substr(0, equals)), 0};
    const std::string_view share = equals == std::string_view::npos ? "" : item.substr(equals + 1);
    const auto [end, error] = std::from_chars(share.data(), share.data() + share.size(), part.share);
    if (error != std::errc() || end != share.data() + share.size() || !(part.share > 0) || part.share > 1e9 ||
        part.name.empty() || part.name.find('/') != std::string::npos)
      fail({Code::usage,
            {},
            fmt::format("'{}' is no part of a split", item),
            {"write NAME=SHARE, for example eval=0.1"}});
    out.push_back(std::move(part));
  }
  return out;
}

int split(const SplitCommand& o) {
  data::SplitOptions options{read_parts(o.parts), o.conflicts == "join" ? data::Conflicts::join : data::Conflicts::drop,
                             o.seed};
  const std::vector<data::Facts> facts = corpus_facts(o.corpus);
  const data::Split done = data::split_graphs(facts, options);
  const std::string lists = o.corpus.out + "/graph_lists";
  data::folder_begin(lists).take();
  std::vector<std::string> texts(options.parts.size());
  std::vector<std::size_t> counts(options.parts.size());
  std::string left_out;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (!facts[i].error.empty()) continue;
    if (done.part[i] == data::kLeftOut) {
      left_out += data::list_line(facts[i], lists);
      continue;
    }
    const auto part = static_cast<std::size_t>(done.part[i]);
    texts[part] += data::list_line(facts[i], lists);
    ++counts[part];
  }
  nlohmann::ordered_json summary = {{"graphs", facts.size()}, {"clusters", done.clusters}};
  std::string line;
  for (std::size_t p = 0; p < options.parts.size(); ++p) {
    file_write(fmt::format("{}/{}.txt", lists, options.parts[p].name), texts[p]).take();
    summary[options.parts[p].name] = counts[p];
    line += fmt::format("{} {}, ", options.parts[p].name, counts[p]);
  }
  file_write(lists + "/left_out.txt", left_out).take();
  const std::size_t bad = count_errors(facts);
  summary["left_out"] = done.conflicts;
  summary["dropped"] = bad;
  if (o.corpus.json)
    fmt::print("{}\n", json_line(summary));
  else
    fmt::print("{} graphs: {}{} left out to keep the parts apart, {} dropped ({})\n", facts.size(), line,
               done.conflicts, bad, lists);
  return bad == 0 ? kOk : kFailed;
}

}  // namespace

void add_data_split(CLI::App& data, Outcome& outcome) {
  auto o = std::make_shared<SplitCommand>();
  CLI::App* command = data.add_subcommand(
      "split", "Divide graphs into parts so that no graph, task, near-duplicate or model family is in two of them");
  o->corpus.add_options(*command, "Where graph_lists/<part>.txt (uid<TAB>path) and left_out.txt go");
  command->add_option("--parts", o->parts, "The parts and their shares")
      ->type_name("NAME=SHARE,...")
      ->capture_default_str();
  command
      ->add_option("--conflicts", o->conflicts,
                   "Graphs that families of two parts share: drop them where they are fewer, or join the families")
      ->check(CLI::IsMember({"drop", "join"}))
      ->capture_default_str();
  command->add_option("--seed", o->seed, "Another division of the same quality")
      ->check(kNatural)
      ->capture_default_str();
  command->footer(
      "Split before dedupe: a duplicate keeps its own model's family in its part.\n"
      "Near-duplicates: the same sequence of operators, or, of ten and more, one operator inserted, removed or\n"
      "replaced. Families are found from the models' names (graph_net.json's model_name, or the folder's).");
  command->callback([=, &outcome] { outcome.code = split(*o); });
}

}  // namespace passnet::cli
