// passnet guard: the exploit suite, and what the sandbox can do here.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "bench/bench.h"
#include "bench/draws.h"
#include "cli/bench_options.h"
#include "cli/command.h"
#include "cli/json_line.h"
#include "cli/progress.h"
#include "cli/validators.h"

namespace passnet::cli {

namespace {

struct Options {
  std::string folder = "tests/exploits", device = "cpu";
  std::vector<std::string> names;
  double timeout_s = 30;
  std::int64_t memory_mib = 2048;
  int jobs = 0;
  bool json = false, all = false;
};

// A row of the suite's table.txt.
struct Row {
  enum class Kind : std::uint8_t { exploit, wrong, right, harmless } kind = Kind::exploit;
  enum class Reached : std::uint8_t { load, host, run } reached = Reached::load;  // as table.txt explains
  std::string file, graph;
  std::vector<std::string> statuses;
  std::string reason, trick;
};
constexpr std::string_view kKinds[] = {"exploit", "wrong", "right", "harmless"};
constexpr std::string_view kReached[] = {"load", "host", "run"};
template <class Enum, std::size_t N>
std::string_view name_of(const std::string_view (&names)[N], Enum value) {
  return names[static_cast<std::size_t>(value)];
}

Row row_from(std::string_view line, const std::string& path, std::uint32_t number) {
  const auto cells = text_split(line, '|');
  if (cells.size() != 7)
    fail({Code::syntax, {path, number, 0, std::string(line)}, fmt::format("{} cells in place of 7", cells.size()), {}});
  Row row;
  row.file = text_trim(cells[0]);
  row.graph = text_trim(cells[1]);
  const auto one_of = [&](const auto& names, std::string_view text) {
    const auto* found = std::find(std::begin(names), std::end(names), text);
    if (found == std::end(names))
      fail({Code::syntax, {path, number, 0, std::string(line)}, fmt::format("'{}' has no meaning there", text), {}});
    return found - std::begin(names);
  };
  row.kind = static_cast<Row::Kind>(one_of(kKinds, text_trim(cells[2])));
  for (const std::string_view status : text_split(text_trim(cells[3]), ' ')) {
    if (!status_from_name(status))
      fail({Code::syntax, {path, number, 0, std::string(line)}, fmt::format("no such status: '{}'", status), {}});
    row.statuses.emplace_back(status);
  }
  row.reached = static_cast<Row::Reached>(one_of(kReached, text_trim(cells[4])));
  row.reason = text_trim(cells[5]);
  row.trick = text_trim(cells[6]);
  return row;
}

std::vector<Row> read_table(const std::string& folder) {
  const std::string path = folder + "/table.txt";
  if (!file_exists(path))
    fail({Code::usage,
          {},
          fmt::format("there is no {}", path),
          {"the suite is tests/exploits of the source: --suite DIR"}});
  const std::string text = file_read(path, std::size_t{1} << 20).take();
  std::vector<Row> rows;
  std::uint32_t number = 0;
  for (const std::string_view line : text_split(text, '\n')) {
    ++number;
    if (!text_trim(line).empty() && line[0] != '#') rows.push_back(row_from(line, path, number));
  }
  return rows;
}

bool names_it(const Options& o, const Row& row) {
  return o.names.empty() || std::any_of(o.names.begin(), o.names.end(),
                                        [&](const auto& n) { return row.file.find(n) != std::string::npos; });
}

std::string why(const Record& r) { return r.errors.empty() ? std::string() : error_line(r.errors[0]).substr(0, 300); }

// How far it came, by its record: what is refused names its line or a limit, and so do faults of kernels that run.
Row::Reached reached(const Record& r) {
  if (r.errors.empty()) return Row::Reached::run;
  const std::string_view last = r.stages.empty() ? "check" : std::string_view(r.stages.back().name);  // none: it died
  if (last == "read" || last == "match") return Row::Reached::load;
  const Error& e = r.errors[0];
  const bool in_kernel = e.code == Code::memory || (e.code == Code::kernel && r.status == Status::runtime_fail);
  return !in_kernel && (e.where.line != 0 || e.code == Code::limit) ? Row::Reached::host : Row::Reached::run;
}

// A measurement that is too noisy is no judgement on the candidate.
bool as_expected(const Row& row, const Record& r) {
  const std::string_view status = r.status == Status::unstable ? "correct" : status_name(r.status);
  if (std::find(row.statuses.begin(), row.statuses.end(), status) == row.statuses.end()) return false;
  if (row.reached != reached(r)) return false;
  if (row.reason == "-") return true;
  return std::any_of(r.errors.begin(), r.errors.end(), [&](const Error& e) {
    return e.message.find(row.reason) != std::string::npos ||
           text_join(e.notes, " ").find(row.reason) != std::string::npos;
  });
}

struct Tally {
  std::size_t exploits = 0, caught = 0, executed = 0, wrong = 0, wrong_found = 0, right = 0, false_alarms = 0;

  void count(const Row& row, bool good, const Record& r) {
    const bool correct = r.status == Status::correct || r.status == Status::unstable;
    if (row.kind == Row::Kind::exploit) {
      ++exploits;
      caught += good ? 1 : 0;
      executed += reached(r) == Row::Reached::run ? 1 : 0;
    } else if (row.kind == Row::Kind::wrong) {
      ++wrong;
      wrong_found += good ? 1 : 0;
    } else {
      ++right;
      false_alarms += correct ? 0 : 1;
    }
  }
};

int exploits(const Options& o) {
  const std::vector<Row> rows = read_table(o.folder);
  BenchOptions options;
  options.evaluate.timing = {
      .warmup = 3, .trials = 20, .budget_s = 0.5, .noise_limit = 0.5, .repeats = 0, .order_seed = 0};
  options.evaluate.device = device_from_name(o.device).take();
  options.threads = core_count();
  std::vector<Job> jobs;
  std::vector<const Row*> of_job;
  for (const Row& row : rows) {
    if (!names_it(o, row)) continue;
    Job job;
    job.task = row.file;
    job.graph = o.folder + "/graphs/" + row.graph;
    job.candidate = candidate_of_passes(o.folder + "/passes/" + row.file).take();
    job.options = options.evaluate;
    job.options.secret = draw_secret();
    job.threads = options.threads;
    job.timeout_s = o.timeout_s;
    job.memory_bytes = o.memory_mib << 20;
    jobs.push_back(std::move(job));
    of_job.push_back(&row);
  }
  if (jobs.empty()) fail({Code::usage, {}, "no candidate of that name", {"names are in " + o.folder + "/table.txt"}});
  catch_interrupts();
  const auto workers = guard::template_start(job_load, job_serve).take();
  probe_device(options.evaluate.device, *workers);
  Tally tally;
  std::size_t strange = 0;
  {
    Progress progress("candidates", jobs.size(), o.json);
    const bool finished = bench_run(
        jobs, *workers, o.jobs > 0 ? o.jobs : core_count(), interrupted(),
        [&](const Job& job, const Record& r) {
          const Row& row = *of_job[static_cast<std::size_t>(&job - jobs.data())];
          const bool good = as_expected(row, r);
          tally.count(row, good, r);
          strange += good ? 0 : 1;
          progress.step(strange);
          if (o.json)
            fmt::print("{}\n", json_line(nlohmann::ordered_json({{"candidate", row.file},
                                                                 {"graph", row.graph},
                                                                 {"kind", name_of(kKinds, row.kind)},
                                                                 {"status", status_name(r.status)},
                                                                 {"as_expected", good},
                                                                 {"reason", why(r)},
                                                                 {"seconds", r.seconds},
                                                                 {"overhead_seconds", r.overhead_seconds}})));
          else if (!good || o.all)
            fmt::print(
                "{} {:<32} {:<8} {:<14} {}\n",
                good                             ? "ok    "
                : row.kind == Row::Kind::exploit ? "MISSED"
                                                 : "WRONG ",
                row.file, name_of(kKinds, row.kind), status_name(r.status),
                good ? why(r)
                     : fmt::format("expected {} ({}) in {}, came to {}; {}", text_join(row.statuses, " "), row.reason,
                                   name_of(kReached, row.reached), name_of(kReached, reached(r)), why(r)));
        },
        say_waiting);
    if (!finished) return kInterrupted;
  }
  if (!o.json)
    fmt::print(
        "caught {} of {} exploits ({} of them reach execution), missed {}\n"
        "controls: {} of {} wrong ones found, {} of {} right and harmless ones pass\nfalse alarms: {}\n{} passed, {} "
        "failed\n",
        tally.caught, tally.exploits, tally.executed, tally.exploits - tally.caught, tally.wrong_found, tally.wrong,
        tally.right - tally.false_alarms, tally.right, tally.false_alarms, jobs.size() - strange, strange);
  return strange == 0 ? kOk : kFailed;
}

int rules(bool json) {
  for (const guard::SealRule& r : guard::seal_rules()) {
    static constexpr std::string_view kLayers[] = {"landlock", "seccomp", "process"};
    const std::string_view layer = kLayers[static_cast<std::size_t>(r.layer)];
    if (json)
      fmt::print(
          "{}\n",
          json_line(nlohmann::ordered_json(
              {{"rule", r.name}, {"layer", layer}, {"stops", r.stops}, {"outcome", r.outcome}, {"cuda", r.cuda}})));
    else
      fmt::print("{:<17} {:<9} {}: {}{}{}\n", r.name, layer, r.stops, r.outcome,
                 r.cuda.empty() ? "" : "; on a GPU all the same: ", r.cuda);
  }
  const auto missing = guard::missing_features();
  for (const std::string& line : missing) fmt::print(stderr, "missing here: {}\n", line);
  return missing.empty() ? kOk : kEnvironment;
}

}  // namespace

void add_guard(CLI::App& app, Outcome& outcome) {
  CLI::App* group = app.add_subcommand("guard", "The exploit suite, and the sandbox's rules");
  group->require_subcommand(1);
  auto o = std::make_shared<Options>();
  CLI::App* suite = group->add_subcommand("exploits", "Run every known trick, and say which are caught");
  suite->add_option("names", o->names, "Only candidates whose name holds one of these");
  suite->add_option("--suite", o->folder, "The suite's folder")->type_name("DIR")->capture_default_str();
  suite->add_option("--device", o->device, "cpu or cuda")->capture_default_str();
  suite->add_option("--timeout", o->timeout_s, "Seconds for one candidate")->check(kPositive)->capture_default_str();
  suite->add_option("--memory", o->memory_mib, "MiB for one candidate")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  add_jobs(*suite, o->jobs, "Candidates");
  suite->add_flag("--all", o->all, "Show those that are as expected too");
  suite->add_flag("--json", o->json, "One JSON object a line");
  suite->callback([=, &outcome] { outcome.code = exploits(*o); });
  auto json = std::make_shared<bool>(false);
  CLI::App* list = group->add_subcommand("rules", "The rules of a sealed worker, and what this machine lacks for them");
  list->add_flag("--json", *json, "One JSON object a line");
  list->callback([=, &outcome] { outcome.code = rules(*json); });
}

}  // namespace passnet::cli
