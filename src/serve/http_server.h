// A small HTTP server with WebSockets for peers on this machine: a thread a connection, all bounded in number, size and
// time. Whatever comes over the line is answered or dropped; it never harms others.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace passnet::serve {

// Whether the peer of the request being answered has gone, or the server is to stop.
using Gone = std::function<bool()>;

struct Request {
  std::string method, path, query, body;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case, in order
  Gone gone;

  const std::string* header(std::string_view name) const;
  std::string parameter(std::string_view name) const;  // of the query; no escapes
};

struct Reply {
  int status = 200;
  std::string body;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
};

// One WebSocket; destroyed when the connection ends, whatever ended it.
class Socket {
 public:
  virtual ~Socket() = default;
  // A text message; the answer, or none to close.
  virtual std::optional<std::string> message(const std::string& text, const Gone& gone) = 0;
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  int port = 0;  // 0: a free one
  std::size_t connections = 512;
  std::size_t body_limit = std::size_t{16} << 20;
  double request_seconds = 60;  // for a request to arrive, and an answer to leave
  double idle_seconds = 900;    // of a connection between requests
};

class Server {
 public:
  using Handle = std::function<Reply(const Request&)>;
  using Accept = std::function<std::unique_ptr<Socket>(const Request&)>;  // null: no WebSocket at this path

  static Result<std::unique_ptr<Server>> open(const ServerOptions& options, Handle handle, Accept accept);
  virtual ~Server() = default;
  virtual int port() const = 0;
  // Until `stop`; `tick` is called about once a second.
  virtual void run(const std::function<bool()>& stop, const std::function<void()>& tick) = 0;
};

// Of a browser's page or a rebound name: only loopback names may come as Host or Origin to a server on loopback.
bool loopback_origin(const Request& request);

}  // namespace passnet::serve
