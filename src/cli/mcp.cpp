// passnet mcp: tasks for agents that speak the Model Context Protocol.
#include "cli/service.h"
#include "serve/mcp_http.h"

namespace passnet::cli {

namespace {

int run(const ServiceOptions& o, bool over_http) {
  Service service(o);
  serve::McpServer server(*service.pool, PASSNET_VERSION);
  if (!over_http) {
    serve::mcp_serve_stdio(server, [] { return interrupted().load(); });
    return kOk;
  }
  serve::McpHttp http(server, o.pool.idle_seconds);
  service.listen([&](const serve::Request& r) { return http.handle(r); }, [](const serve::Request&) { return nullptr; },
                 [&] { http.close_idle(); }, "/mcp");
  return kOk;
}

}  // namespace

void add_mcp(CLI::App& app, Outcome& outcome) {
  auto o = std::make_shared<ServiceOptions>();
  auto over_http = std::make_shared<bool>(false);
  o->pool.peer = "mcp";
  o->pool.keep_folders = true;
  CLI::App* command = app.add_subcommand("mcp", "The tools for an agent that speaks MCP, over stdio or HTTP");
  command->add_flag("--http", *over_http, "Over HTTP at /mcp instead of stdio");
  o->add_options(*command);
  command->callback([=, &outcome] { outcome.code = run(*o, *over_http); });
}

}  // namespace passnet::cli
