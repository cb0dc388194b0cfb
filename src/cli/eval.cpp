// passnet eval: one task with one candidate, from match to score.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "bench/journal.h"
#include "bench/log.h"
#include "cli/bench_options.h"
#include "cli/bench_report.h"
#include "cli/config_file.h"
#include "cli/json_line.h"
#include "cli/progress.h"
#include "cli/task_list.h"

namespace passnet::cli {

namespace {

struct Options {
  TaskSelection tasks;
  EvaluationFlags flags;
  std::string passes, candidate, out = ".";
  bool log = false, json = false, write = true;
};

int eval(const Options& o) {
  if (o.passes.empty() == o.candidate.empty())
    fail({Code::usage,
          {},
          o.passes.empty() ? "what is to be evaluated?" : "one candidate is evaluated, and two are given",
          {"give --passes FOLDER, or --candidate NAME"}});
  BenchOptions options = o.flags.resolve();
  // A sample without passes has a score, too: entry.sh names its pass_dir whether it is there or not.
  const bool own = o.passes == kOwnPasses && !file_exists(o.passes);
  const Candidate candidate = (o.passes.empty() ? candidate_from_text(o.candidate)
                               : own            ? candidate_from_text(kOwnPasses)
                                                : candidate_of_passes(o.passes))
                                  .take();
  if (candidate.kind == Candidate::Kind::author)
    fail(
        {Code::usage, {}, "eval takes passes that are there", {"passnet author writes them, passnet bench does both"}});
  options.candidates = {candidate};
  const std::vector<Task> tasks = o.tasks.resolve();
  require_python(options);
  if (tasks.size() > 1)
    fail({Code::usage, {}, fmt::format("these are {} tasks", tasks.size()), {"for many tasks: passnet bench"}});
  catch_interrupts();
  const auto workers = guard::template_start(job_load, job_serve).take();
  std::unique_ptr<Journal> journal;
  const Conditions conditions = conditions_now(options, *workers);
  std::vector<Job> jobs = bench_jobs(tasks, options, conditions);
  if (o.write) {
    const bool of_a_bench = file_exists(fmt::format("{}/{}", o.out, kConfigFile));
    journal = Journal::open(o.out).take();
    for (const Record& r : journal_read(o.out).take().records) {
      if (of_a_bench) require_same(r.conditions, conditions);
      for (Job& job : jobs)
        if (record_key(r.task, r.graph, r.candidate) == record_key(job.task, job.graph, candidate.name))
          job.attempt = std::max(job.attempt, r.attempt + 1);
    }
  }
  std::vector<Record> records;
  std::string log;
  std::size_t failed = 0;
  bool matched = false;
  {
    Progress progress("graphs", jobs.size(), o.json);
    const bool finished = bench_run(
        jobs, *workers, options.jobs, interrupted(),
        [&](const Job&, const Record& record) {
          if (journal) journal->append(record).take();
          failed += record.status == Status::correct ? 0 : 1;
          matched = matched || record.matches > 0;
          records.push_back(record);
          progress.step(failed);
        },
        say_waiting);
    if (!finished) {
      fmt::print(stderr, "stopped with {} of {} graphs evaluated; there is no score\n", records.size(), jobs.size());
      return kInterrupted;
    }
  }
  std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.graph < b.graph; });
  for (const Record& r : records) log += log_text(r);
  log += fmt::format("Has Any pass matched? [{}]\n", matched ? "True" : "False");
  const ScoreCard card = score_card(results_of(records).candidates.at(0).tasks());
  const nlohmann::ordered_json score = {{"id", tasks[0].name}, {"score", *card.score.as}};
  if (o.write) {
    file_write(o.out + "/eval.log", log).take();
    file_write(o.out + "/aggregated_score.json", json_line(score) + "\n").take();
  }
  if (o.json) {
    nlohmann::ordered_json document = score;
    for (const Record& r : records) document["graphs"].push_back(to_json(r));
    fmt::print("{}\n", json_line(document));
  } else if (o.log) {
    fmt::print("{}", log);
  } else {
    for (const Record& r : records) {
      fmt::print("{}\n", record_text(r));
      for (std::size_t i = 1; i < r.errors.size(); ++i) fmt::print("  {}\n", error_line(r.errors[i]));
      for (const std::string& note : r.notes) fmt::print("  {}\n", text_printable(note));
    }
    fmt::print("{}: AS {:.4f} over {} graph{}\n", text_printable(tasks[0].name), *card.score.as, records.size(),
               records.size() == 1 ? "" : "s");
  }
  return failed == 0 ? kOk : kFailed;
}

}  // namespace

void add_eval(CLI::App& app, Outcome& outcome) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "eval", "Evaluate passes on one task: verify, time and score all its graphs, in workers of their own");
  o->tasks.add_options(*command);
  command->add_option("--passes", o->passes, "A pass folder, or a single pass file")->type_name("FOLDER");
  command->add_option("--candidate", o->candidate,
                      "eager, none, eager-python, inductor, inductor:MODE, instead of passes");
  command
      ->add_option("--out", o->out,
                   "Where eval.log (the original's grammar), aggregated_score.json and records.jsonl are written")
      ->type_name("DIR")
      ->capture_default_str();
  command->add_flag("!--no-files", o->write, "Write no files");
  command->add_flag("--log", o->log, "Print the log in the original's grammar");
  command->add_flag("--json", o->json, "One JSON document: id, score, and a record for each graph");
  o->flags.add_options(*command);
  command->callback([=, &outcome] { outcome.code = eval(*o); });
}

}  // namespace passnet::cli
