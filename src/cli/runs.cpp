// passnet runs: the runs in a folder, two runs side by side, a run deleted.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/file.h"
#include "base/text.h"
#include "bench/journal.h"
#include "bench/results.h"
#include "bench/run_index.h"
#include "cli/command.h"
#include "cli/config_file.h"

namespace passnet::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct Options {
  std::string folder = ".", run, other, candidate;
  bool json = false, yes = false, all = false;
};

bool is_run(const fs::path& folder) { return file_exists((folder / kRecordsFile).string()); }

void print_json(const ordered_json& document) {
  fmt::print("{}\n", document.dump(1, ' ', true, ordered_json::error_handler_t::replace));
}

std::string date_text(std::int64_t seconds) {
  if (seconds <= 0 || seconds > 253402300799) return "-";  // year 9999
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string statuses_text(const CandidateResults& r) {
  std::string out;
  for (const auto& [status, count] : r.statuses())
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, status_name(status));
  return out;
}

// Left-aligned columns, the last one free.
void print_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += i + 1 < row.size() ? fmt::format("{:<{}}  ", row[i], widths[i]) : row[i];
    fmt::print("{}\n", text_printable(line));
  }
}

// ---- list

int list(const Options& o) {
  std::error_code error;
  std::vector<fs::path> folders;
  if (is_run(o.folder)) folders.emplace_back(o.folder);
  for (fs::directory_iterator it(o.folder, error), end; !error && it != end; it.increment(error))
    if (it->is_directory(error) && is_run(it->path())) folders.push_back(it->path());
  if (error) fail(Code::io, fmt::format("cannot read the folder '{}': {}", o.folder, error.message()));
  std::sort(folders.begin(), folders.end());
  std::vector<std::vector<std::string>> rows = {
      {"run", "finished (UTC)", "candidate", "tasks", "graphs", "AS", "statuses"}};
  ordered_json document = ordered_json::array();
  bool failed = false;
  for (const fs::path& folder : folders) {
    const auto results = results_of_run(folder.string());
    if (!results) {
      fmt::print(stderr, "{}: {}\n", folder.string(), error_line(results.error()));
      failed = true;
      continue;
    }
    for (const std::string& note : results->notes) fmt::print(stderr, "warning: {}\n", note);
    const std::string name = folder.lexically_normal().string();
    if (results->candidates.empty()) rows.push_back({name, "-", "-", "0", "0", "-", "nothing finished"});
    for (const CandidateResults& r : results->candidates) {
      const auto tasks = r.tasks();
      const ScoreCard card = score_card(tasks);
      rows.push_back({name, date_text(r.finished), r.candidate, std::to_string(tasks.size()),
                      std::to_string(card.graphs), fmt::format("{:.4f}", *card.score.as), statuses_text(r)});
      ordered_json statuses = ordered_json::object();
      for (const auto& [status, count] : r.statuses()) statuses[std::string(status_name(status))] = count;
      document.push_back({{"run", name},
                          {"finished", r.finished},
                          {"candidate", r.candidate},
                          {"tasks", tasks.size()},
                          {"graphs", card.graphs},
                          {"AS", *card.score.as},
                          {"statuses", statuses}});
    }
  }
  if (o.json)
    print_json(document);
  else if (rows.size() > 1)
    print_table(rows);
  else if (!failed)
    fmt::print(stderr, "no runs in '{}'\n", o.folder);
  return failed ? kFailed : kOk;
}

// ---- compare

// Intervals that overlap: the difference may be chance.
bool overlap(const Ratio& a, const Ratio& b) {
  const auto low = [](const Ratio& r) {
    return std::isfinite(r.low) && r.low > 0 ? std::min(r.low, r.value) : r.value;
  };
  const auto high = [](const Ratio& r) { return std::isfinite(r.high) ? std::max(r.high, r.value) : r.value; };
  return low(a) <= high(b) && low(b) <= high(a);
}

struct TaskComparison {
  std::string task;
  double before = 0, after = 0;  // AS
  bool noise = true;             // nothing but differences inside the noise
  double ratio() const { return after / before; }
};

struct Compared {
  std::vector<TaskComparison> tasks;                // in both, the best first
  std::vector<std::array<std::string, 4>> changed;  // task, graph, status before, after
  std::size_t same = 0, faster = 0, slower = 0;     // graphs timed in both; same: within noise
  std::size_t only_before = 0, only_after = 0;      // graphs
};

Compared compare(const CandidateResults& before, const CandidateResults& after) {
  Compared out;
  const auto key = [](const GraphResult& g) { return record_key(g.task, g.graph, ""); };  // of any candidate
  std::map<RecordKey, const GraphResult*> known;
  for (const GraphResult& g : before.graphs) known[key(g)] = &g;
  std::unordered_map<std::string, bool> differs;  // by task: more than noise
  for (const GraphResult& g : after.graphs) {
    const auto it = known.find(key(g));
    bool& task = differs[g.task];
    if (it == known.end()) {
      ++out.only_after;
      task = true;
      continue;
    }
    const GraphResult& was = *it->second;
    known.erase(it);
    if (was.status != g.status)
      out.changed.push_back(
          {g.task, g.graph, std::string(status_name(was.status)), std::string(status_name(g.status))});
    task = task || was.status != g.status || was.row.right != g.row.right;
    if (!was.row.speedup || !g.row.speedup) continue;
    if (overlap(was.speedup, g.speedup))
      ++out.same;
    else if (task = true; *g.row.speedup > *was.row.speedup)
      ++out.faster;
    else
      ++out.slower;
  }
  out.only_before = known.size();
  for (const auto& [name, g] : known) differs[g->task] = true;
  std::unordered_map<std::string, double> score_before;
  const auto tasks_before = before.tasks();
  const ScoreCard card_before = score_card(tasks_before);
  for (std::size_t i = 0; i < tasks_before.size(); ++i) score_before[tasks_before[i].name] = card_before.task_as[i];
  const auto tasks = after.tasks();
  const ScoreCard card = score_card(tasks);
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (const auto it = score_before.find(tasks[i].name); it != score_before.end())
      out.tasks.push_back({tasks[i].name, it->second, card.task_as[i], !differs[tasks[i].name]});
  std::stable_sort(out.tasks.begin(), out.tasks.end(),
                   [](const auto& a, const auto& b) { return a.ratio() > b.ratio(); });
  return out;
}

void print_compared(const CandidateResults& before, const CandidateResults& after, const Compared& c, bool all) {
  constexpr std::size_t kShown = 5;
  const double a = *score_card(before.tasks()).score.as, b = *score_card(after.tasks()).score.as;
  fmt::print("{}{}: AS {:.4f} -> {:.4f}, {:+.2f} %\n", text_printable(before.candidate),
             before.candidate == after.candidate ? "" : " -> " + text_printable(after.candidate), a, b,
             (b / a - 1) * 100);
  fmt::print("  graphs timed in both: {} within the noise, {} faster, {} slower\n", c.same, c.faster, c.slower);
  if (c.only_before + c.only_after > 0)
    fmt::print("  graphs only in the first: {}, only in the second: {}\n", c.only_before, c.only_after);
  if (!c.changed.empty()) fmt::print("  status changed: {}\n", c.changed.size());
  for (std::size_t i = 0; i < c.changed.size() && (all || i < 4 * kShown); ++i)
    fmt::print("    {} {}: {} -> {}\n", text_printable(c.changed[i][0]), text_printable(c.changed[i][1]),
               c.changed[i][2], c.changed[i][3]);
  if (!all && c.changed.size() > 4 * kShown) fmt::print("    ... (--all shows the rest)\n");
  fmt::print("  tasks, the best first (~: within the noise):\n");
  const bool shorten = !all && c.tasks.size() > 2 * kShown;
  for (std::size_t i = 0; i < c.tasks.size(); ++i) {
    if (shorten && i == kShown) fmt::print("    ... ({} more; --all shows them)\n", c.tasks.size() - 2 * kShown);
    if (shorten && i >= kShown && i + kShown < c.tasks.size()) continue;
    const TaskComparison& t = c.tasks[i];
    fmt::print("    {:.3f}{} {:.4f} -> {:.4f}  {}\n", t.ratio(), t.noise ? '~' : ' ', t.before, t.after,
               text_printable(t.task));
  }
}

ordered_json json_of(const CandidateResults& before, const CandidateResults& after, const Compared& c) {
  ordered_json tasks = ordered_json::array(), changed = ordered_json::array();
  for (const TaskComparison& t : c.tasks)
    tasks.push_back(
        {{"task", t.task}, {"before", t.before}, {"after", t.after}, {"ratio", t.ratio()}, {"within_noise", t.noise}});
  for (const auto& row : c.changed)
    changed.push_back({{"task", row[0]}, {"graph", row[1]}, {"before", row[2]}, {"after", row[3]}});
  return {{"before", before.candidate},
          {"after", after.candidate},
          {"AS_before", *score_card(before.tasks()).score.as},
          {"AS_after", *score_card(after.tasks()).score.as},
          {"within_noise", c.same},
          {"faster", c.faster},
          {"slower", c.slower},
          {"only_before", c.only_before},
          {"only_after", c.only_after},
          {"status_changed", changed},
          {"tasks", tasks}};
}

int compare_runs(const Options& o) {
  const Results a = results_read(o.run).take(), b = results_read(o.other).take();
  for (const Results* r : {&a, &b})
    for (const std::string& note : r->notes) fmt::print(stderr, "warning: {}\n", note);
  std::vector<std::pair<const CandidateResults*, const CandidateResults*>> pairs;
  for (const CandidateResults& x : a.candidates)
    for (const CandidateResults& y : b.candidates)
      if (x.candidate == y.candidate && (o.candidate.empty() || x.candidate == o.candidate)) pairs.emplace_back(&x, &y);
  if (pairs.empty() && o.candidate.empty() && a.candidates.size() == 1 && b.candidates.size() == 1)
    pairs.emplace_back(&a.candidates[0], &b.candidates[0]);
  if (pairs.empty()) {
    std::vector<std::string> names[2];
    for (const CandidateResults& x : a.candidates) names[0].push_back(x.candidate);
    for (const CandidateResults& x : b.candidates) names[1].push_back(x.candidate);
    fail({Code::usage,
          {},
          "the runs have no such candidate in common",
          {fmt::format("{}: {}", o.run, text_join(names[0], ", ")),
           fmt::format("{}: {}", o.other, text_join(names[1], ", "))}});
  }
  ordered_json document = ordered_json::array();
  for (const auto& [x, y] : pairs) {
    const Compared compared = compare(*x, *y);
    if (o.json)
      document.push_back(json_of(*x, *y, compared));
    else
      print_compared(*x, *y, compared, o.all);
  }
  if (o.json) print_json(document);
  return kOk;
}

// ---- delete

// What bench and eval write into a run's folder; a folder of the author's passes is there beside a config only.
constexpr const char* kRunFiles[] = {kRecordsFile, kIndexFile, kConfigFile,
                                     kLockFile,    "eval.log", "aggregated_score.json"};
constexpr const char* kBesideIndex[] = {"-wal", "-shm", "-journal"};  // SQLite's
constexpr const char* kAuthorFolder = "author";

// Deletes what is the run's and, where nothing else is there, the folder. False: something is left.
bool delete_files(const fs::path& folder, std::error_code& error) {
  if (file_exists((folder / kConfigFile).string())) fs::remove_all(folder / kAuthorFolder, error);
  for (const char* name : kRunFiles)
    if (!error) fs::remove(folder / name, error);
  for (const char* ending : kBesideIndex)
    if (!error) fs::remove(folder / (std::string(kIndexFile) + ending), error);
  if (error || !fs::is_empty(folder, error)) return false;
  return fs::remove(folder, error);
}

// Only a run that nobody writes to.
int delete_run(const Options& o) {
  const fs::path folder = o.run;
  if (!is_run(folder))
    fail(Code::usage, fmt::format("'{}' is no run: it has no {}; nothing is deleted", o.run, kRecordsFile));
  if (fs::is_symlink(folder.has_filename() ? folder : folder.parent_path()))
    fail(Code::usage, fmt::format("'{}' is a link; give the folder itself", o.run));
  std::error_code error;
  const fs::path whole = fs::canonical(folder, error), here = fs::current_path(error);
  if (error) fail(Code::io, fmt::format("cannot read the folder '{}': {}", o.run, error.message()));
  if (std::mismatch(whole.begin(), whole.end(), here.begin(), here.end()).first == whole.end())
    fail(Code::usage, fmt::format("'{}' holds the folder that you are in; nothing is deleted", o.run));
  const auto content = journal_read(o.run);
  if (!content) fail(content.error());
  if (content->records.empty() && (!content->problems.empty() || content->torn_bytes > 0))
    fail(Code::usage, fmt::format("'{}' is no run: its {} holds no records; nothing is deleted", o.run, kRecordsFile));
  if (const std::string writer = line_file_writer(o.run); !writer.empty())
    fail(Code::environment, fmt::format("'{}' is in use by {}; nothing is deleted", o.run, writer));
  if (!o.yes) {
    if (::isatty(STDIN_FILENO) == 0) fail(Code::usage, "nobody to ask: give --yes to delete without a question");
    fmt::print(stderr, "delete '{}' with {} records? [y/N] ", o.run, content->records.size());
    std::string answer;
    std::getline(std::cin, answer);
    if (answer != "y" && answer != "yes") {
      fmt::print(stderr, "nothing is deleted\n");
      return kFailed;
    }
  }
  const bool gone = delete_files(folder, error);
  if (error) fail(Code::environment, fmt::format("cannot delete '{}': {}", o.run, error.message()));
  fmt::print(stderr, "deleted {}'{}' with {} records{}\n", gone ? "" : "the run in ", o.run, content->records.size(),
             gone ? "" : "; other files are left there");
  return kOk;
}

}  // namespace

void add_runs(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("runs", "List, compare and delete runs of the bench");
  command->require_subcommand(1);

  CLI::App* lister =
      command->add_subcommand("list", "The runs in a folder: when, candidates, tasks, graphs, AS, statuses");
  lister->add_option("folder", options->folder, "Folder that holds run folders, or a run")->capture_default_str();
  lister->add_flag("--json", options->json, "One document: an array, an object for each run and candidate");
  lister->callback([=, &outcome] { outcome.code = list(*options); });

  CLI::App* comparer = command->add_subcommand("compare", "What changed from one run to another");
  comparer->add_option("before", options->run, "Run folder, records.jsonl or log")->required();
  comparer->add_option("after", options->other, "Run folder, records.jsonl or log")->required();
  comparer->add_option("--candidate", options->candidate, "Only this candidate");
  comparer->add_flag("--all", options->all, "Every task and every changed status");
  comparer->add_flag("--json", options->json, "One document: an array, an object for each candidate");
  comparer->footer(
      "A graph's difference is within the noise where the 95 % intervals of both speedups overlap; a task's, where no "
      "graph\nof it differs by more than noise, in status or in the tolerance at which it is right.");
  comparer->callback([=, &outcome] { outcome.code = compare_runs(*options); });

  CLI::App* deleter =
      command->add_subcommand("delete", "Delete a run, and its folder where nothing else is in it; asks first");
  deleter->add_option("run", options->run, "Run folder")->required();
  deleter->add_flag("--yes", options->yes, "Do not ask");
  deleter->callback([=, &outcome] { outcome.code = delete_run(*options); });
}

}  // namespace passnet::cli
