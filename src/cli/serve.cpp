// passnet serve: tasks as an environment of reinforcement learning.
#include "cli/service.h"
#include "serve/environment.h"

namespace passnet::cli {

namespace {

int run(const ServiceOptions& o) {
  Service service(o);
  serve::Environment environment(*service.pool, PASSNET_VERSION);
  service.listen([&](const serve::Request& r) { return environment.handle(r); },
                 [&](const serve::Request& r) { return environment.accept(r); }, [] {}, "");
  return kOk;
}

}  // namespace

void add_serve(CLI::App& app, Outcome& outcome) {
  auto o = std::make_shared<ServiceOptions>();
  o->pool.peer = "openenv";
  CLI::App* command = app.add_subcommand(
      "serve", "An environment for reinforcement learning over HTTP and WebSockets: reset, step, state");
  o->add_options(*command);
  command->callback([=, &outcome] { outcome.code = run(*o); });
}

}  // namespace passnet::cli
