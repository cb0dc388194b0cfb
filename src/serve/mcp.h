// The Model Context Protocol: JSON-RPC messages in, messages out, whatever carries them. Both kinds of peers are
// served: those that begin with a handshake (2024-11-05 to 2025-11-25), and those that say in every request what they
// speak (2026-07-28). State between calls is a handle: the argument `session` of every tool.
#pragma once

#include "serve/pool.h"

namespace passnet::serve {

inline constexpr std::string_view kMcpModern = "2026-07-28";
inline constexpr std::string_view kMcpHandshake[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

// JSON-RPC's errors, and the protocol's.
inline constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601, kInvalidParams = -32602,
                     kInternalError = -32603, kHeaderMismatch = -32020, kUnsupportedVersion = -32022;

struct McpHeaders {  // of HTTP, which has to repeat the body
  std::string version, method, name;
};

class McpServer {
 public:
  McpServer(Pool& pool, std::string version) : pool_(pool), version_(std::move(version)) {}

  // The answer to one message; none: it was a notification, or an answer itself. `home` is the handle used where a call
  // names none: of a connection, opened when first needed; null: calls have to name one.
  std::optional<Json> handle(const Json& message, std::string* home, const McpHeaders* headers,
                             const std::function<bool()>& cancelled);

  static Json error(const Json& id, int code, std::string message, Json data = nullptr);
  static bool is_modern(const Json& message);
  static bool needs_home(const Json& message);  // a call that names no session and needs one
  Pool& pool() { return pool_; }

 private:
  Json initialize(const Json& params) const;
  Json discover() const;
  Json tools_list() const;
  Json tools_call(const Json& params, std::string* home, const std::function<bool()>& cancelled);
  Json open_task(const Json& arguments);
  std::optional<Json> misfit(const Json& id, const Json& params, const std::string& method,
                             const McpHeaders* headers) const;

  Pool& pool_;
  const std::string version_;
};

// Messages a line on stdin and stdout, until stdin ends or `stop`.
void mcp_serve_stdio(McpServer& server, const std::function<bool()>& stop);

}  // namespace passnet::serve
