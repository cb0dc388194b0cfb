// What `serve` and `mcp` share: their options, and what has to be started in which order.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/bench_options.h"
#include "cli/task_list.h"
#include "serve/http_server.h"
#include "serve/pool.h"

namespace passnet::cli {

struct ServiceOptions {
  TaskSelection tasks;
  EvaluationFlags evaluation;
  serve::PoolOptions pool;
  serve::ServerOptions server;
  std::string prompts;

  void add_options(CLI::App& command);
};

struct Service {
  explicit Service(const ServiceOptions& o);
  // Prints where it listens, and serves until it is interrupted.
  void listen(serve::Server::Handle handle, serve::Server::Accept accept, const std::function<void()>& tick,
              const char* where);

  const ServiceOptions& given;
  BenchOptions options;
  agent::Prompts prompts;
  std::unique_ptr<guard::Template> workers;
  std::unique_ptr<agent::EventLog> log;
  std::unique_ptr<agent::Judge> judge;
  std::unique_ptr<serve::Pool> pool;
};

}  // namespace passnet::cli
