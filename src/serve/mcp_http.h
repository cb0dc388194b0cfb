// MCP over HTTP, one POST a message: with a session header for peers that shake hands, with headers that repeat the
// body for those that do not.
#pragma once

#include "serve/http_server.h"
#include "serve/mcp.h"

namespace passnet::serve {

class McpHttp {
 public:
  McpHttp(McpServer& server, double idle_seconds) : server_(server), idle_seconds_(idle_seconds) {}
  Reply handle(const Request& request);  // at /mcp
  void close_idle();

 private:
  // A connection of the handshake kind, and the session that it uses where a call names none.
  struct Peer {
    std::mutex mutex;
    std::string home;
    std::atomic<double> used = 0;
  };
  std::shared_ptr<Peer> find(const std::string& id);
  Reply post(const Request& request);

  McpServer& server_;
  const double idle_seconds_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Peer>> peers_;
};

}  // namespace passnet::serve
