#include "cli/service.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <filesystem>

#include "cli/validators.h"

namespace passnet::cli {

Service::Service(const ServiceOptions& o)
    : given(o), options(o.evaluation.resolve()), prompts(agent::Prompts::load(o.prompts).take()) {
  std::vector<Task> tasks = o.tasks.resolve();
  for (Task& task : tasks)
    for (std::string& graph : task.graphs) graph = std::filesystem::absolute(graph).lexically_normal().string();
  catch_interrupts();
  workers = guard::template_start(job_load, job_serve).take();  // before there are threads
  std::signal(SIGPIPE, SIG_IGN);
  log = agent::EventLog::open(o.pool.folder).take();
  judge = std::make_unique<agent::Judge>(*workers, options, conditions_now(options, *workers));
  pool = std::make_unique<serve::Pool>(std::move(tasks), *judge, prompts, *log, o.pool,
                                       agent::events_read(o.pool.folder).take());
}

void Service::listen(serve::Server::Handle handle, serve::Server::Accept accept, const std::function<void()>& tick,
                     const char* where) {
  serve::ServerOptions own = given.server;
  own.idle_seconds = given.pool.idle_seconds;
  const auto server = serve::Server::open(own, std::move(handle), std::move(accept)).take();
  fmt::print("listening on http://{}:{}{}\n", own.address, server->port(), where);
  std::fflush(stdout);
  server->run([] { return interrupted().load(); },
              [&] {
                pool->close_idle();
                tick();
              });
}

void ServiceOptions::add_options(CLI::App& command) {
  tasks.add_options(command);
  command.add_option("--out", pool.folder, "Where sessions work and events.jsonl is written")
      ->required()
      ->type_name("DIR");
  command.add_option("--port", server.port, "Port; 0: a free one, printed")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command
      .add_option("--address", server.address, "IPv4 address; requests from other origins than loopback are refused")
      ->capture_default_str();
  command.add_option("--sessions", pool.sessions, "Sessions at once")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command.add_option("--queue", pool.queue, "Steps that may run or wait at once")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command.add_option("--idle", pool.idle_seconds, "Seconds after which an unused session is closed")
      ->check(kPositive)
      ->capture_default_str();
  command.add_option("--steps", pool.steps, "Steps of a session")->check(CLI::Range(1, 1000000))->capture_default_str();
  command
      .add_option("--evaluation-seconds", pool.session.evaluation_seconds, "Seconds of one evaluation of all graphs")
      ->check(kPositive)
      ->capture_default_str();
  command.add_option("--prompts", prompts, "A folder with prompts that replace the built-in ones by name")
      ->type_name("DIR");
  command.add_flag("--keep,!--no-keep", pool.keep_folders, "Keep the folders of sessions that ended");
  command.add_flag("--author-measures", pool.session.author_measures, "author_suggest may measure");
  evaluation.add_options(command);
}

}  // namespace passnet::cli
