// passnet data: what the graphs and tasks of a corpus are worth.
#include <fmt/format.h>

#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/process.h"
#include "base/text.h"
#include "bench/lint.h"
#include "cli/command.h"
#include "cli/graph_list.h"
#include "cli/progress.h"
#include "guard/worker.h"

namespace passnet::cli {

namespace {

using nlohmann::ordered_json;

struct LintOptions {
  GraphSelection selection;
  int jobs = 0;
  double timeout_s = 120;
  bool json = false;
};

void lint_load() { (*engine_load().take()).set_threads(1); }

// One worker lints one graph: some crash torch itself.
void lint_serve(guard::Channel& channel) {
  const auto path = channel.receive(60);
  if (!path) return;
  ordered_json out = ordered_json::array();
  for (const Finding& f : lint_graph(*path, *engine_load().take()))
    out.push_back({{"flaw", flaw_name(f.flaw)}, {"why", f.why}});
  channel.send(out.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

ordered_json lint_one(const std::string& graph, guard::Template& workers, double timeout_s) {
  const auto fails = [](std::string why) {
    return ordered_json::array({{{"flaw", "fails"}, {"why", std::move(why)}}});
  };
  const auto worker = workers.fork({}).take();
  worker->channel().send(graph);
  auto answer = worker->channel().receive(timeout_s);
  if (answer) return ordered_json::parse(*answer);
  if (answer.error().code == Code::limit) return fails(fmt::format("takes longer than {} s", timeout_s));
  const guard::Death death = worker->kill();
  if (death.environment) fail({Code::environment, {}, death.text, {}});
  return fails(death.text);
}

int lint(const LintOptions& o) {
  const std::vector<std::string> graphs = o.selection.resolve();
  const auto workers = guard::template_start(lint_load, lint_serve).take();
  std::vector<ordered_json> found(graphs.size());
  std::atomic<std::size_t> next = 0;
  std::size_t flawed = 0;
  std::mutex mutex;
  std::exception_ptr error;
  Progress progress("graphs", graphs.size(), o.json);
  std::vector<std::thread> threads;
  for (int i = 0; i < (o.jobs > 0 ? o.jobs : core_count()); ++i)
    threads.emplace_back([&] {
      for (std::size_t at = 0; (at = next++) < graphs.size();) {
        try {
          ordered_json findings = lint_one(graphs[at], *workers, o.timeout_s);
          const std::lock_guard hold(mutex);
          flawed += findings.empty() ? 0 : 1;
          found[at] = std::move(findings);
          progress.step(flawed);
        } catch (...) {
          const std::lock_guard hold(mutex);
          if (!error) error = std::current_exception();
          next = graphs.size();
        }
      }
    });
  for (std::thread& t : threads) t.join();
  if (error) std::rethrow_exception(error);
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    if (o.json)
      fmt::print("{}\n", ordered_json({{"graph", graphs[i]}, {"findings", found[i]}}).dump());
    else
      for (const auto& f : found[i])
        fmt::print("{}: {}: {}\n", graphs[i], f.at("flaw").get<std::string>(), f.at("why").get<std::string>());
  }
  if (!o.json) fmt::print(stderr, "{} of {} graphs should not be trained on\n", flawed, graphs.size());
  return flawed == 0 ? kOk : kFailed;
}

}  // namespace

void add_data(CLI::App& app, Outcome& outcome) {
  CLI::App* data = app.add_subcommand("data", "Judge the graphs of a corpus");
  data->require_subcommand(1);
  auto o = std::make_shared<LintOptions>();
  CLI::App* command = data->add_subcommand(
      "lint", "Name graphs whose outputs are constant, tiny, independent of the inputs, non-finite or random");
  o->selection.add_options(*command);
  command->add_option("--jobs", o->jobs, "Graphs at once; 0: one a core")->capture_default_str();
  command->add_option("--timeout", o->timeout_s, "Seconds for one graph")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--json", o->json, "One JSON object a graph: {\"graph\", \"findings\": [{\"flaw\", \"why\"}]}");
  command->callback([=, &outcome] { outcome.code = lint(*o); });
}

}  // namespace passnet::cli
