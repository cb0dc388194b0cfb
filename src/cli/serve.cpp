// passnet serve, passnet mcp: tasks for agents and trainers that we do not drive.
#include <fmt/format.h>

#include <csignal>

#include "cli/bench_options.h"
#include "cli/task_list.h"
#include "serve/environment.h"
#include "serve/mcp_http.h"

namespace passnet::cli {

namespace {

struct Options {
  TaskSelection tasks;
  EvaluationFlags evaluation;
  serve::PoolOptions pool;
  serve::ServerOptions server;
  std::string prompts;
  bool http = false;
};

// What both commands need, in the order in which it has to come.
struct Service {
  explicit Service(const Options& o)
      : options(o.evaluation.resolve()), prompts(agent::Prompts::load(o.prompts).take()) {
    std::vector<Task> tasks = o.tasks.resolve();
    for (Task& task : tasks)
      for (std::string& graph : task.graphs) graph = std::filesystem::absolute(graph).lexically_normal().string();
    catch_interrupts();
    workers = guard::template_start(job_load, job_serve).take();  // before there are threads
    std::signal(SIGPIPE, SIG_IGN);
    log = agent::EventLog::open(o.pool.folder).take();
    judge = std::make_unique<agent::Judge>(*workers, options, conditions_now(options));
    pool = std::make_unique<serve::Pool>(std::move(tasks), *judge, prompts, *log, o.pool,
                                         agent::events_read(o.pool.folder).take());
  }

  BenchOptions options;
  agent::Prompts prompts;
  std::unique_ptr<guard::Template> workers;
  std::unique_ptr<agent::EventLog> log;
  std::unique_ptr<agent::Judge> judge;
  std::unique_ptr<serve::Pool> pool;
};

void run_server(const Options& o, Service& service, serve::Server::Handle handle, serve::Server::Accept accept,
                const std::function<void()>& tick, const char* where) {
  serve::ServerOptions options = o.server;
  options.idle_seconds = o.pool.idle_seconds;
  const auto server = serve::Server::open(options, std::move(handle), std::move(accept)).take();
  fmt::print("listening on http://{}:{}{}\n", options.address, server->port(), where);
  std::fflush(stdout);
  server->run([] { return interrupted().load(); },
              [&] {
                service.pool->close_idle();
                tick();
              });
}

int run_serve(const Options& o) {
  Service service(o);
  serve::Environment environment(*service.pool, PASSNET_VERSION);
  run_server(
      o, service, [&](const serve::Request& r) { return environment.handle(r); },
      [&](const serve::Request& r) { return environment.accept(r); }, [] {}, "");
  return kOk;
}

int run_mcp(const Options& o) {
  Service service(o);
  serve::McpServer server(*service.pool, PASSNET_VERSION);
  if (!o.http) {
    serve::mcp_serve_stdio(server, [] { return interrupted().load(); });
    return kOk;
  }
  serve::McpHttp http(server, o.pool.idle_seconds);
  run_server(
      o, service, [&](const serve::Request& r) { return http.handle(r); },
      [](const serve::Request&) { return nullptr; }, [&] { http.close_idle(); }, "/mcp");
  return kOk;
}

void add_options(CLI::App& command, Options& o) {
  o.tasks.add_options(command);
  command.add_option("--out", o.pool.folder, "Where sessions work and events.jsonl is written")
      ->required()
      ->type_name("DIR");
  command.add_option("--port", o.server.port, "Port; 0: a free one, printed")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command
      .add_option("--address", o.server.address, "IPv4 address; requests from other origins than loopback are refused")
      ->capture_default_str();
  command.add_option("--sessions", o.pool.sessions, "Sessions at once")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command.add_option("--queue", o.pool.queue, "Steps that may run or wait at once")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command.add_option("--idle", o.pool.idle_seconds, "Seconds after which an unused session is closed")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--steps", o.pool.steps, "Steps of a session")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command
      .add_option("--evaluation-seconds", o.pool.session.evaluation_seconds, "Seconds of one evaluation of all graphs")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--prompts", o.prompts, "A folder with prompts that replace the built-in ones by name")
      ->type_name("DIR");
  command.add_flag("--keep,!--no-keep", o.pool.keep_folders, "Keep the folders of sessions that ended");
  command.add_flag("--author-measures", o.pool.session.author_measures, "author_suggest may measure");
  o.evaluation.add_options(command);
}

}  // namespace

void add_serve(CLI::App& app, Outcome& outcome) {
  auto o = std::make_shared<Options>();
  o->pool.peer = "openenv";
  CLI::App* command = app.add_subcommand(
      "serve", "An environment for reinforcement learning over HTTP and WebSockets: reset, step, state");
  add_options(*command, *o);
  command->callback([=, &outcome] { outcome.code = run_serve(*o); });
}

void add_mcp(CLI::App& app, Outcome& outcome) {
  auto o = std::make_shared<Options>();
  o->pool.peer = "mcp";
  o->pool.keep_folders = true;
  CLI::App* command = app.add_subcommand("mcp", "The tools for an agent that speaks MCP, over stdio or HTTP");
  command->add_flag("--http", o->http, "Over HTTP at /mcp instead of stdio");
  add_options(*command, *o);
  command->callback([=, &outcome] { outcome.code = run_mcp(*o); });
}

}  // namespace passnet::cli
