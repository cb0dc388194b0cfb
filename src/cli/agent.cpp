// passnet agent: a model writes passes, and everything it does is recorded.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "agent/chat.h"
#include "agent/export.h"
#include "agent/runner.h"
#include "base/file.h"
#include "cli/bench_options.h"
#include "cli/json_line.h"
#include "cli/task_list.h"
#include "cli/validators.h"

namespace passnet::cli {

namespace {

struct RunFlags {
  TaskSelection tasks;
  EvaluationFlags evaluation;
  agent::LoopLimits limits;
  agent::RunOptions run;
  agent::ChatOptions chat;
  std::string model, start = "empty", prompts, key_variable = "OPENAI_API_KEY", extra;
  bool measure = true, json = false;
};

std::unique_ptr<agent::Model> make_model(const RunFlags& o) {
  if (o.model == "author") return agent::author_model(o.measure);
  if (o.model.starts_with("replay:")) return agent::replay_model(o.model.substr(7)).take();
  agent::ChatOptions chat = o.chat;
  const auto variable = [](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return std::string(value == nullptr ? "" : value);
  };
  if (chat.base_url.empty()) chat.base_url = variable("OPENAI_BASE_URL");
  if (chat.base_url.empty())
    fail({Code::usage,
          {},
          fmt::format("where is the model '{}'?", o.model),
          {"give --base-url URL (or $OPENAI_BASE_URL), as http://127.0.0.1:8000/v1",
           "without an endpoint: --model author"}});
  chat.model = o.model;
  chat.key = variable(o.key_variable);
  if (!o.extra.empty()) chat.extra = json_read(o.extra);
  if (!chat.extra.is_object())
    fail({Code::usage, {}, "--extra is no JSON object", {R"(for example: --extra '{"top_p": 0.9}')"}});
  return agent::chat_model(std::move(chat));
}

// What a trajectory's reader may want to know of the model; the key is not part of it.
Json agent_args(const RunFlags& o) {
  Json out = {
      {"model", o.model}, {"temperature", o.chat.temperature}, {"stream", o.chat.stream}, {"tries", o.chat.tries}};
  if (o.chat.seed) out["seed"] = *o.chat.seed;
  if (o.chat.answer_tokens) out["answer_tokens"] = *o.chat.answer_tokens;
  return out;
}

std::string attempt_line(const agent::Attempt& a) {
  const Json& end = a.end();
  std::string out =
      fmt::format("{} attempt {}: {} after {} step{}", a.task, a.attempt, end["reason"].get<std::string>(),
                  end.value("steps", 0), end.value("steps", 0) == 1 ? "" : "s");
  if (agent::attempt_score(a) > 0) out += fmt::format(", score {:.4f}", agent::attempt_score(a));
  if (end.contains("why")) out += ": " + end.value("why", "");
  return out;
}

int run(const RunFlags& o) {
  const BenchOptions options = o.evaluation.resolve();
  std::vector<Task> tasks = o.tasks.resolve();
  std::set<std::string> names;
  for (Task& task : tasks) {
    if (!names.insert(task.name).second)
      fail({Code::usage,
            {},
            fmt::format("two tasks are called '{}'", task.name),
            {"run them one by one, each with its own --out"}});
    for (std::string& graph : task.graphs) graph = std::filesystem::absolute(graph).lexically_normal().string();
  }
  const auto prompts = agent::Prompts::load(o.prompts).take();
  catch_interrupts();
  const auto workers = guard::template_start(job_load, job_serve).take();  // before there are threads
  std::signal(SIGPIPE, SIG_IGN);  // an endpoint that closes its connection is an error like others
  const auto model = make_model(o);
  const auto log = agent::EventLog::open(o.run.folder).take();
  if (log->cut_bytes() > 0) fmt::print(stderr, "{} bytes of an unfinished event were cut off\n", log->cut_bytes());
  const agent::Attempts before = agent::events_read(o.run.folder).take();
  for (const std::string& problem : before.problems) fmt::print(stderr, "left out: {}\n", problem);
  for (const agent::Attempt& a : before.attempts)
    if (a.begin().value("model", "") != o.model || a.begin().value("start", "") != o.start)
      fail({Code::usage,
            {},
            fmt::format("'{}' was made with model {} and start {}", o.run.folder, a.begin().value("model", ""),
                        a.begin().value("start", "")),
            {"give another --out"}});
  agent::Judge judge(*workers, options, conditions_now(options, *workers));
  agent::LoopSetup setup{*model, o.model, *log, prompts, o.limits};
  setup.start_author = o.start == "author";
  setup.author_measure = o.measure;
  setup.agent_args = agent_args(o);
  setup.stopped = [] { return interrupted().load(); };
  const bool finished = agent::run_attempts(tasks, judge, setup, before, o.run, [](const agent::Attempt& a) {
    fmt::print(stderr, "{} attempt {} ended\n", a.task, a.attempt);
  });
  const std::vector<agent::Attempt> all = agent::events_read(o.run.folder).take().attempts;
  const agent::Summary summary = agent::summarise_attempts(all, o.run.success);
  agent::write_best(all, summary, o.run.folder);
  if (!finished) {
    fmt::print(stderr, "stopped; the same command goes on\n");
    return kInterrupted;
  }
  bool good = true;
  if (!o.json)
    for (const agent::Attempt& a : all)
      if (a.ended()) fmt::print("{}\n", attempt_line(a));
  Json document = {{"best_of", summary.best_of}, {"pass_at", summary.pass_at}, {"tasks", Json::array()}};
  for (const agent::TaskSummary& t : summary.tasks) {
    good = good && t.best > 0;
    document["tasks"].push_back({{"task", t.task},
                                 {"attempts", t.attempts},
                                 {"successes", t.successes},
                                 {"best", t.best},
                                 {"best_attempt", t.best_attempt}});
  }
  if (o.json) {
    fmt::print("{}\n", json_line(document));
    return good ? kOk : kFailed;
  }
  for (const agent::TaskSummary& t : summary.tasks)
    fmt::print("{}: best of {} {:.4f}, {} succeeded\n", t.task, t.attempts, t.best, t.successes);
  fmt::print("best of k {:.4f}", summary.best_of);
  for (std::size_t k = 0; k < summary.pass_at.size(); ++k)
    fmt::print(", pass@{} {:.1f} %", k + 1, 100 * summary.pass_at[k]);
  fmt::print("\n");
  return good ? kOk : kFailed;
}

void add_agent_run(CLI::App& agent, Outcome& outcome) {
  auto o = std::make_shared<RunFlags>();
  CLI::App* command =
      agent.add_subcommand("run", "Let a model write passes for tasks; stopped at any time, the same command goes on");
  o->tasks.add_options(*command);
  command
      ->add_option("--model", o->model,
                   "A model of the endpoint; author (the built-in one); replay:FILE (a recorded trajectory)")
      ->required();
  command
      ->add_option("--base-url", o->chat.base_url,
                   "An OpenAI-compatible endpoint, as http://127.0.0.1:8000/v1; default: $OPENAI_BASE_URL")
      ->type_name("URL");
  command->add_option("--key-variable", o->key_variable, "The environment variable that holds the key")
      ->capture_default_str();
  command->add_option("--temperature", o->chat.temperature, "Of the model")->capture_default_str();
  command->add_option("--model-seed", o->chat.seed, "Sent with every request, plus the attempt's number");
  command->add_option("--answer-tokens", o->chat.answer_tokens, "max_tokens of one answer; default: the endpoint's");
  command->add_flag("--stream", o->chat.stream, "Ask for the answer in pieces");
  command->add_flag("--send-reasoning", o->chat.reasoning, "Send earlier reasoning back to the model");
  command->add_option("--tries", o->chat.tries, "Tries of a call that fails")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--extra", o->extra, "A JSON object merged into every request");
  command->add_option("--out", o->run.folder, "The run's folder: events.jsonl, work/, best/")
      ->required()
      ->type_name("RUN");
  command->add_option("--start", o->start, "empty, or author: from the author's passes, and never below them")
      ->check(CLI::IsMember({"empty", "author"}))
      ->capture_default_str();
  command->add_option("--attempts", o->run.attempts, "Attempts at each task; the best counts")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command->add_option("--at-once", o->run.at_once, "Attempts at once; timing is alone in any case")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--steps", o->limits.steps, "Answers of the model in an attempt")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--tokens", o->limits.tokens, "Tokens of a conversation")
      ->check(kPositive)
      ->capture_default_str();
  command->add_option("--seconds", o->limits.seconds, "Seconds of an attempt")->check(kPositive)->capture_default_str();
  command->add_option("--call-seconds", o->limits.call_seconds, "Seconds of one answer, tries included")
      ->check(kPositive)
      ->capture_default_str();
  command
      ->add_option("--evaluation-seconds", o->run.session.evaluation_seconds, "Seconds of one evaluation of all graphs")
      ->check(kPositive)
      ->capture_default_str();
  command->add_option("--prompts", o->prompts, "A folder with prompts that replace the built-in ones by name")
      ->type_name("DIR");
  command->add_option("--success", o->run.success, "An attempt that is right with a score over this succeeded")
      ->capture_default_str();
  command->add_flag("--retry-errors", o->run.retry_errors, "Begin attempts anew whose model could not be asked");
  command->add_flag("!--no-measure", o->measure, "The author decides by its cost model alone");
  command->add_flag("--json", o->json, "One JSON document");
  o->evaluation.add_options(*command);
  command->callback([=, &outcome] {
    o->run.session.author_measures = o->measure;
    outcome.code = run(*o);
  });
}

struct ExportFlags {
  std::string run, format = "r2e", out = "-";
  agent::ExportFilter filter;
};

int export_run(const ExportFlags& o) {
  const agent::ExportFormat& format = *agent::export_format(o.format);
  const agent::Attempts known = agent::events_read(o.run).take();
  for (const std::string& problem : known.problems) fmt::print(stderr, "left out: {}\n", problem);
  const std::filesystem::path run(o.run);
  const agent::ExportContext context{(run.has_filename() ? run : run.parent_path()).filename().string()};
  std::string text, beside;
  const auto selected = agent::export_select(known.attempts, o.filter);
  for (const agent::Attempt* a : selected) {
    text += format.text(*a, context);
    if (format.beside != nullptr) beside += format.beside(*a, context);
  }
  fmt::print(stderr, "{} of {} attempts\n", selected.size(), known.attempts.size());
  if (o.out == "-") {
    fmt::print("{}", text);
    return kOk;
  }
  file_write(o.out, text).take();
  if (format.beside == nullptr) return kOk;
  const std::filesystem::path path(o.out);
  file_write((path.parent_path() / (path.stem().string() + "_completions.jsonl")).string(), beside).take();
  return kOk;
}

void add_agent_export(CLI::App& agent, Outcome& outcome) {
  auto o = std::make_shared<ExportFlags>();
  CLI::App* command = agent.add_subcommand("export", "Write recorded attempts in a format for training or for people");
  command->add_option("run", o->run, "A run's folder, or its events.jsonl")->required();
  std::vector<std::string> names;
  std::string meanings;
  for (const agent::ExportFormat& f : agent::export_formats()) {
    names.emplace_back(f.name);
    meanings += fmt::format("{}{}: {}", meanings.empty() ? "" : "; ", f.name, f.meaning);
  }
  command->add_option("--format", o->format, meanings)->check(CLI::IsMember(names))->capture_default_str();
  command->add_option("-o,--out", o->out, "A file; -: stdout. With r2e, FILE_completions.jsonl is written beside it")
      ->capture_default_str();
  command->add_flag("--successes", o->filter.successes, "Only attempts that are right with a score over --success");
  command->add_option("--success", o->filter.success, "The score that a success is over")->capture_default_str();
  command->add_flag("--improvements", o->filter.improvements, "Only attempts that end above what they started from");
  command->add_flag("--best-per-task", o->filter.best_per_task, "Only the best attempt of each task");
  command->add_flag("--unique", o->filter.unique, "Of attempts with the same answers only the first");
  command->callback([=, &outcome] { outcome.code = export_run(*o); });
}

}  // namespace

void add_agent(CLI::App& app, Outcome& outcome) {
  CLI::App* agent =
      app.add_subcommand("agent", "Let a language model, or the author, work on tasks; export what it did");
  agent->require_subcommand(1);
  add_agent_run(*agent, outcome);
  add_agent_export(*agent, outcome);
}

}  // namespace passnet::cli
