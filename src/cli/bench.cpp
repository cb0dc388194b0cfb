// passnet bench: many tasks, several candidates, one run folder that can be stopped and taken up again at any time.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "author/process.h"
#include "base/file.h"
#include "base/text.h"
#include "bench/contents.h"
#include "bench/journal.h"
#include "cli/bench_options.h"
#include "cli/bench_report.h"
#include "cli/config_file.h"
#include "cli/progress.h"
#include "cli/task_list.h"

namespace passnet::cli {

namespace {

struct Options {
  TaskSelection tasks;
  EvaluationFlags flags;
  std::string candidates = "pass_dir", out;
  bool retry_unstable = false, quiet = false, author_measure = true;
};

RecordKey key_of(const Record& r) { return record_key(r.task, r.graph, r.candidate); }
RecordKey key_of(const Job& job) { return record_key(job.task, job.graph, job.candidate.name); }

// The candidate that stands for the built-in author's passes, in a folder of the run; where the author found nothing to
// gain, the graph stays as it is.
Candidate author_task(const std::string& name, const Task& task, const std::string& run, const BenchOptions& options,
                      bool measure) {
  const std::string folder = run + "/author/" + task.name;
  const auto some = author::author_in_process(task.graphs, folder, measure, options.threads, options.evaluate.device);
  if (!some) fmt::print(stderr, "{}: {}\n", task.name, some.error().message);
  Candidate out = some && *some ? candidate_of_passes(folder).take() : candidate_from_text("none").take();
  out.name = name;
  return out;
}

std::vector<Job> all_jobs(const std::vector<Task>& tasks, const BenchOptions& options, const Conditions& conditions,
                          const Options& o) {
  std::vector<Job> out;
  std::set<std::string> authors;
  for (const Candidate& candidate : options.candidates)
    if (candidate.kind == Candidate::Kind::author) authors.insert(candidate.name);
  const bool authored = !authors.empty();
  Progress progress("tasks authored", tasks.size(), o.quiet || !authored);
  for (const Task& task : tasks) {
    BenchOptions own = options;
    for (Candidate& candidate : own.candidates)
      if (candidate.kind == Candidate::Kind::author)
        candidate = author_task(candidate.name, task, o.out, options, o.author_measure);
    if (authored) progress.step(0);
    for (Job& job : bench_jobs({task}, own, conditions)) {
      if (authored && authors.contains(job.candidate.name)) {
        job.contents = Contents().of(job.graph, "", "");  // measured again, it may choose otherwise
        if (!o.author_measure) job.contents += " unmeasured";
        if (options.evaluate.device == DeviceType::cuda)
          job.conditions.cuda_graphs = job.options.cuda_graphs = options.cuda_graphs.value_or(true);
      }
      out.push_back(std::move(job));
    }
    if (interrupted()) break;
  }
  return out;
}

int bench(const Options& o, const std::string& config) {
  BenchOptions options = o.flags.resolve();
  std::set<std::string> names;
  for (const std::string_view item : text_split(o.candidates, ',')) {
    if (text_trim(item).empty()) continue;
    const Candidate& added = options.candidates.emplace_back(candidate_from_text(std::string(text_trim(item))).take());
    if (!names.insert(added.name).second)
      fail({Code::usage,
            {},
            fmt::format("two candidates are called '{}'", added.name),
            {"give one of them another name: NAME=FOLDER"}});
  }
  if (options.candidates.empty()) fail({Code::usage, {}, "no candidate given", {"--candidates eager,none,FOLDER"}});
  const std::vector<Task> tasks = o.tasks.resolve();
  require_python(options);
  catch_interrupts();
  const auto workers = guard::template_start(job_load, job_serve).take();
  const Conditions conditions = conditions_now(options, *workers);
  const auto journal = Journal::open(o.out).take();
  if (journal->cut_bytes() > 0)
    fmt::print(stderr, "{} bytes of an unfinished record were cut off\n", journal->cut_bytes());
  JournalContent before = journal_read(o.out).take();
  for (const std::string& problem : before.problems) fmt::print(stderr, "left out: {}\n", problem);
  std::map<RecordKey, Record> finished;
  for (Record& r : latest_records(std::move(before.records))) {
    require_same(r.conditions, conditions);
    finished.insert_or_assign(key_of(r), std::move(r));
  }
  file_write(fmt::format("{}/{}", o.out, kConfigFile), config).take();

  const std::vector<Job> all = all_jobs(tasks, options, conditions, o);
  std::vector<Job> jobs;
  std::size_t changed = 0;
  for (Job job : all) {
    const RecordKey key = key_of(job);
    const auto done = finished.find(key);
    if (done != finished.end()) {
      const Record& before_it = done->second;
      const bool other = !before_it.contents.empty() && before_it.contents != job.contents;
      if (!other && !(o.retry_unstable && before_it.status == Status::unstable)) continue;
      changed += other ? 1 : 0;
      job.attempt = before_it.attempt + 1;
    }
    jobs.push_back(std::move(job));
  }
  if (jobs.size() < all.size())
    fmt::print(stderr, "{} of {} evaluations are done already in {}\n", all.size() - jobs.size(), all.size(), o.out);
  if (changed > 0) fmt::print(stderr, "{} are done again: their graph or passes have changed since\n", changed);
  std::size_t failed = 0;
  bool complete = true;
  {
    Progress progress("evaluations", jobs.size(), o.quiet);
    complete = bench_run(
        jobs, *workers, options.jobs, interrupted(),
        [&](const Job&, const Record& record) {
          journal->append(record).take();
          finished.insert_or_assign(key_of(record), record);
          failed += record.status == Status::correct ? 0 : 1;
          progress.step(failed);
        },
        say_waiting);
  }
  std::vector<Record> records;  // in the order of the list, whatever the order of the run
  for (const Job& job : all)
    if (auto node = finished.extract(key_of(job))) records.push_back(std::move(node.mapped()));
  if (!complete) {
    fmt::print(stderr, "stopped with {} of {} evaluations done; the same command goes on\n", records.size(),
               all.size());
    return kInterrupted;
  }
  fmt::print("{}", bench_table(results_of(std::move(records))));
  return kOk;
}

}  // namespace

void add_bench(CLI::App& app, Outcome& outcome) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "bench", "Evaluate candidates on many tasks; stopped at any time, the same command goes on where it was");
  add_config(*command);
  o->tasks.add_options(*command);
  command
      ->add_option("--candidates", o->candidates,
                   "Comma list of: author (the built-in one), eager, none, eager-python, inductor, inductor:MODE, "
                   "pass_dir (each sample's own), a "
                   "folder (of passes, or with a subfolder for each task), NAME=FOLDER")
      ->capture_default_str();
  command->add_option("--out", o->out, "The run's folder: records.jsonl and config.toml")->required()->type_name("RUN");
  command->add_flag("--retry-unstable", o->retry_unstable, "Measure again what was too noisy");
  command->add_flag("!--no-measure", o->author_measure, "The author decides by its cost model alone");
  command->add_flag("--quiet", o->quiet, "No progress");
  o->flags.add_options(*command);
  command->callback([=, &outcome] { outcome.code = bench(*o, config_text(*command)); });
}

}  // namespace passnet::cli
