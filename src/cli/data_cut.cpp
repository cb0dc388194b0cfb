// passnet data cut: ranges of whole graphs as graphs of their own.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "cli/data.h"
#include "cli/graph_list.h"
#include "cli/json_line.h"
#include "cli/progress.h"
#include "cli/validators.h"
#include "data/constraints.h"
#include "data/graph_files.h"
#include "data/subgraphs.h"

namespace passnet::cli {

namespace {

using data::OpRange;
using nlohmann::ordered_json;

struct CutCommand {
  GraphSelection selection;
  data::FarmOptions farm;
  std::vector<std::string> ranges;
  std::string ranges_file, out, metas = "auto", counting = "printed";
  std::int64_t every = 0, step = 0;
  bool no_check = false, json = false;
};

// One whole graph with the ranges to be cut from it.
struct CutJob {
  std::string graph, name;
  std::vector<OpRange> ranges;
};

std::int64_t read_integer(std::string_view text, std::string_view where) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size())
    fail({Code::usage, {}, fmt::format("'{}' in {} is no number of an operator", text, where), {}});
  return out;
}

OpRange read_range(std::string_view text) {
  const auto parts = text_split(text, ':');
  if (parts.size() != 2)
    fail({Code::usage, {}, fmt::format("'{}' is no range", text), {"write START:END, for example 12:20"}});
  return {read_integer(parts[0], text), read_integer(parts[1], text)};
}

std::vector<CutJob> read_ranges_file(const std::string& file, const std::string& root) {
  std::vector<CutJob> out;
  std::map<std::string, std::size_t> index;
  for (const std::string& line : file_read_list(file).take()) {
    const auto columns = text_split(line, '\t');
    if (columns.size() < 3)
      fail({Code::usage, {file, 0, 0, {}}, fmt::format("'{}' is no graph<TAB>start<TAB>end", line), {}});
    const std::string name(columns[0]);
    const auto [found, added] = index.emplace(name, out.size());
    if (added) out.push_back({root.empty() ? name : root + "/" + name, name, {}});
    out[found->second].ranges.push_back({read_integer(columns[1], line), read_integer(columns[2], line)});
  }
  std::vector<std::string> paths;
  for (const CutJob& job : out) paths.push_back(job.name);
  if (root.empty()) paths = graph_names(paths);  // with a root, the names in the file are the names
  for (std::size_t i = 0; i < out.size(); ++i) out[i].name = paths[i];
  return out;
}

std::vector<OpRange> windows(const std::string& graph, std::int64_t size, std::int64_t step) {
  std::vector<OpRange> out;
  const auto folder = read_graph_folder(graph, {.metas = false});
  if (!folder) return {{0, size}};  // its error is found again where the graph is cut
  const std::int64_t ops = data::op_count(folder->graph);
  for (std::int64_t at = 0; at < ops; at += step) out.push_back({at, std::min(at + size, ops)});
  return out;
}

std::vector<CutJob> make_jobs(const CutCommand& o) {
  if (!o.ranges_file.empty()) return read_ranges_file(o.ranges_file, o.selection.root);
  if (o.ranges.empty() == (o.every == 0))
    fail({Code::usage, {}, "no range given", {"name --range START:END, --every N, or --ranges FILE"}});
  std::vector<OpRange> fixed;
  for (const std::string& text : o.ranges) fixed.push_back(read_range(text));
  std::vector<CutJob> out;
  const std::vector<std::string> graphs = o.selection.resolve();
  const std::vector<std::string> names = graph_names(graphs);
  for (std::size_t i = 0; i < graphs.size(); ++i)
    out.push_back(
        {graphs[i], names[i], o.every > 0 ? windows(graphs[i], o.every, o.step > 0 ? o.step : o.every) : fixed});
  return out;
}

std::string folder_of(const CutCommand& o, const CutJob& job, OpRange range) {
  return fmt::format("{}/{}/{}_{}", o.out, job.name, range.begin, range.end);
}

constexpr std::string_view kReproduced[] = {"unchecked", "same", "random"};

// In a worker: the request's ranges, each as its files or why there are none.
std::string cut_one(const std::string& text, Engine& engine) {
  const ordered_json request = ordered_json::parse(text);
  const std::string path = request.at("graph");
  const GraphFolder parent = data::read_whole_graph(path).take();
  data::CutOptions options;
  options.counting = request.at("retraced") ? data::Counting::retraced : data::Counting::printed;
  options.check = request.at("check");
  std::vector<OpRange> ranges;
  for (const auto& r : request.at("ranges")) ranges.push_back({r.at(0), r.at(1)});
  options.metas = request.at("run") ? data::MetasFrom::run : data::MetasFrom::shapes;
  const auto cuts = data::cut_subgraphs(parent, ranges, options, engine);
  ordered_json out = ordered_json::array();
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    if (!cuts[i]) {
      out.push_back({{"error", error_line(cuts[i].error())}, {"final", cuts[i].error().code != Code::run}});
      continue;
    }
    ordered_json facts = data::read_graph_facts(path);
    if (!facts.contains("model_name")) facts["model_name"] = request.at("name");
    facts["passnet"]["version"] = 1;
    facts["passnet"]["parent"] = parent.source_hash;
    facts["passnet"]["range"] = {ranges[i].begin, ranges[i].end};
    facts["passnet"]["metas"] = options.metas == data::MetasFrom::run ? "run" : "shapes";
    facts["passnet"]["reproduced"] = kReproduced[static_cast<std::size_t>(cuts[i]->reproduced)];
    ordered_json files = ordered_json::object();
    for (data::GraphFile& file : data::print_graph_files(cuts[i]->graph, cuts[i]->metas, facts))
      files[file.name] = std::move(file.text);
    out.push_back({{"files", std::move(files)}, {"reproduced", facts["passnet"]["reproduced"]}});
  }
  return json_line(out);
}

class Cutting {
 public:
  explicit Cutting(const CutCommand& o) : o_(o), jobs_(make_jobs(o)) {}

  int run() {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      std::erase_if(jobs_[i].ranges, [&](OpRange r) {
        const bool there = data::graph_files_whole(folder_of(o_, jobs_[i], r));
        kept_ += there ? 1 : 0;
        return there;
      });
      if (!jobs_[i].ranges.empty()) open.push_back(i);
    }
    if (o_.metas != "shapes") open = round(open, true);
    if (o_.metas != "run" && !open.empty()) round(open, false);
    std::string dropped;
    for (const auto& [folder, why] : dropped_) dropped += fmt::format("{}\t{}\n", folder, text_printable(why));
    if (!dropped.empty()) {
      folder_make(o_.out).take();
      file_write(o_.out + "/dropped.tsv", dropped).take();
    }
    if (!o_.json)
      fmt::print(
          "{} subgraph{} in {}{}: {} reproduce the whole graph's values, {} draw random numbers, {} unchecked; {} "
          "dropped{}\n",
          written_, written_ == 1 ? "" : "s", o_.out, kept_ > 0 ? fmt::format(" ({} were there)", kept_) : "",
          count_["same"], count_["random"], count_["unchecked"], dropped_.size(),
          dropped_.empty() ? "" : fmt::format(" (why: {}/dropped.tsv)", o_.out));
    return dropped_.empty() ? kOk : kFailed;
  }

 private:
  // Gives the graphs that are to be tried without data: those that could not be run.
  std::vector<std::size_t> round(const std::vector<std::size_t>& open, bool with_data) {
    std::vector<std::size_t> failed;
    const bool last = !with_data || o_.metas == "run";
    Progress progress(with_data ? "graphs" : "graphs without data", open.size(), o_.json);
    data::farm_run(
        o_.farm, cut_one, open.size(), [&](std::size_t i) { return request(jobs_[open[i]], with_data); },
        [&](std::size_t i, data::FarmAnswer answer) {
          CutJob& job = jobs_[open[i]];
          const ordered_json cuts = answer.ok ? ordered_json::parse(answer.text) : ordered_json::array();
          std::vector<OpRange> left;
          for (std::size_t k = 0; k < job.ranges.size(); ++k) {
            const ordered_json cut = answer.ok ? cuts.at(k) : ordered_json({{"error", answer.text}});
            if (cut.contains("files"))
              write(job, job.ranges[k], cut);
            else if (last || cut.value("final", false))
              drop(job, job.ranges[k], cut.at("error"));
            else
              left.push_back(job.ranges[k]);
          }
          job.ranges = std::move(left);
          if (!job.ranges.empty()) failed.push_back(open[i]);
          progress.step(dropped_.size());
        });
    return failed;
  }

  std::string request(const CutJob& job, bool with_data) const {
    ordered_json ranges = ordered_json::array();
    for (const OpRange r : job.ranges) ranges.push_back({r.begin, r.end});
    return json_line(ordered_json({{"graph", job.graph},
                                   {"name", job.name},
                                   {"ranges", ranges},
                                   {"run", with_data},
                                   {"check", !o_.no_check},
                                   {"retraced", o_.counting == "retraced"}}));
  }

  void write(const CutJob& job, OpRange range, const ordered_json& cut) {
    data::GraphFiles files;
    for (const auto& [name, text] : cut.at("files").items()) files.push_back({name, text});
    const std::string folder = folder_of(o_, job, range);
    data::write_graph_files(folder, files).take();
    ++written_;
    const std::string reproduced = cut.at("reproduced");
    ++count_[reproduced];
    if (o_.json)
      fmt::print("{}\n", json_line(ordered_json({{"graph", job.graph},
                                                 {"range", {range.begin, range.end}},
                                                 {"folder", folder},
                                                 {"reproduced", reproduced}})));
  }

  void drop(const CutJob& job, OpRange range, const std::string& why) {
    dropped_.emplace(folder_of(o_, job, range), why);
    if (o_.json)
      fmt::print(
          "{}\n",
          json_line(ordered_json({{"graph", job.graph}, {"range", {range.begin, range.end}}, {"dropped", why}})));
    else
      fmt::print(stderr, "{} [{}, {}): {}\n", job.graph, range.begin, range.end, text_printable(why));
  }

  const CutCommand& o_;
  std::vector<CutJob> jobs_;
  std::map<std::string, std::string> dropped_;
  std::map<std::string, std::size_t> count_;
  std::size_t written_ = 0, kept_ = 0;
};

}  // namespace

void add_data_cut(CLI::App& data, Outcome& outcome) {
  auto o = std::make_shared<CutCommand>();
  CLI::App* command = data.add_subcommand("cut", "Cut ranges of operators out of whole graphs, as graphs of their own");
  o->selection.add_options(*command);
  command->add_option("--out", o->out, "Where the subgraphs go: DIR/<graph>/<start>_<end>")
      ->required()
      ->type_name("DIR");
  command
      ->add_option("--range", o->ranges,
                   "Operators START to END - 1 of every graph; may be repeated. Inputs and the output do not count")
      ->type_name("START:END");
  command->add_option("--every", o->every, "Ranges of N operators, one after another")->check(kPositive);
  command->add_option("--step", o->step, "With --every: from one range's start to the next; default: N")
      ->check(kPositive);
  command
      ->add_option("--ranges", o->ranges_file,
                   "File with graph<TAB>start<TAB>end a line, as sole, typical and fusible write it")
      ->type_name("FILE");
  command
      ->add_option("--metas", o->metas,
                   "What enters is described by running the whole graph, by its shapes alone, or by shapes where it "
                   "cannot be run")
      ->check(CLI::IsMember({"run", "shapes", "auto"}))
      ->capture_default_str();
  command
      ->add_option("--count", o->counting,
                   "Count operators as printed, or as torch 2.13 traces them once more (the published lists do)")
      ->check(CLI::IsMember({"printed", "retraced"}))
      ->capture_default_str();
  command->add_flag("--no-check", o->no_check,
                    "Do not run each subgraph again to compare its results with the whole graph's");
  add_farm_options(*command, o->farm);
  command->add_flag("--json", o->json, "One JSON object a range: {\"graph\", \"range\", \"folder\", \"reproduced\"}");
  command->footer("A range that is already in DIR is left alone, so that a killed run goes on where it was.");
  command->callback([=, &outcome] { outcome.code = Cutting(*o).run(); });
}

}  // namespace passnet::cli
