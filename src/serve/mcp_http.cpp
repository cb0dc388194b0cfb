#include "serve/mcp_http.h"

#include <algorithm>
#include <chrono>

namespace passnet::serve {

namespace {

constexpr std::size_t kMostPeers = 1024;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The HTTP status of an error; errors of tools and of handshake peers' requests come with 200.
struct StatusRow {
  int code, status;
};
constexpr StatusRow kModernStatus[] = {{kParseError, 400},     {kInvalidRequest, 400},     {kInvalidParams, 400},
                                       {kHeaderMismatch, 400}, {kUnsupportedVersion, 400}, {kMethodNotFound, 404}};

Reply json_reply(int status, const Json& body, std::vector<std::pair<std::string, std::string>> headers = {}) {
  return {status, json_text(body), "application/json", std::move(headers)};
}
Reply refuse(int status, int code, const char* why) { return json_reply(status, McpServer::error(nullptr, code, why)); }

std::string header(const Request& r, std::string_view name) {
  const std::string* value = r.header(name);
  return value == nullptr ? "" : *value;
}

bool twice(const Request& r, std::string_view name) {
  return std::count_if(r.headers.begin(), r.headers.end(), [&](const auto& h) { return h.first == name; }) > 1;
}

}  // namespace

std::shared_ptr<McpHttp::Peer> McpHttp::find(const std::string& id) {
  const std::lock_guard hold(mutex_);
  const auto at = peers_.find(id);
  if (at == peers_.end()) return nullptr;
  at->second->used = now();
  return at->second;
}

void McpHttp::close_idle() {
  const std::lock_guard hold(mutex_);
  std::erase_if(peers_, [&](const auto& item) {
    return item.second.use_count() == 1 && now() - item.second->used > idle_seconds_;
  });
}

Reply McpHttp::handle(const Request& request) {
  if (request.path != "/mcp") return json_reply(404, {{"error", "nothing is here; MCP is at /mcp"}});
  if (!loopback_origin(request)) return refuse(403, kInvalidRequest, "this origin may not ask");
  if (request.method == "POST") return post(request);
  if (request.method != "DELETE") return {405, "", "", {{"Allow", "POST, DELETE"}}};
  const std::string id = header(request, "mcp-session-id");
  const auto peer = find(id);
  if (!peer) return refuse(404, kInvalidRequest, "Session not found");
  {
    const std::lock_guard hold(mutex_);
    peers_.erase(id);
  }
  const std::lock_guard hold(peer->mutex);
  if (!peer->home.empty()) server_.pool().close(peer->home);
  return {200, "", "", {}};
}

Reply McpHttp::post(const Request& request) {
  const Json message = json_read(request.body);
  if (message.is_discarded()) return refuse(400, kParseError, "Parse error");
  const std::string version = header(request, "mcp-protocol-version"), id = header(request, "mcp-session-id");
  const bool modern = McpServer::is_modern(message) || version == kMcpModern;
  for (const char* name : {"mcp-protocol-version", "mcp-method", "mcp-name"})
    if (twice(request, name)) return refuse(400, kHeaderMismatch, "a header is there twice");
  const McpHeaders headers{version, header(request, "mcp-method"), header(request, "mcp-name")};
  if (modern) {
    if (!message.is_object()) return refuse(400, kInvalidRequest, "one message at a time");
    const auto answer = server_.handle(message, nullptr, &headers, request.gone);
    if (!answer) return {202, "", "", {}};
    int status = 200;
    for (const StatusRow& row : kModernStatus)
      if (answer->contains("error") && (*answer)["error"]["code"] == row.code) status = row.status;
    return json_reply(status, *answer);
  }
  if (!version.empty() &&
      std::find(std::begin(kMcpHandshake), std::end(kMcpHandshake), version) == std::end(kMcpHandshake))
    return json_reply(400,
                      McpServer::error(message.is_object() && message.contains("id") ? message["id"] : Json(nullptr),
                                       kUnsupportedVersion, "Unsupported protocol version",
                                       {{"supported", {kMcpModern}}, {"requested", version}}));
  const bool begins = message.is_object() && message.contains("method") && message["method"] == "initialize";
  if (begins) {
    const auto answer = server_.handle(message, nullptr, nullptr, request.gone);
    if (!answer || answer->contains("error")) return answer ? json_reply(200, *answer) : Reply{202, "", "", {}};
    const std::string fresh = random_handle();
    const std::lock_guard hold(mutex_);
    if (peers_.size() >= kMostPeers) return refuse(503, kInternalError, "too many sessions");
    peers_[fresh] = std::make_shared<Peer>();
    peers_[fresh]->used = now();
    return json_reply(200, *answer, {{"Mcp-Session-Id", fresh}});
  }
  if (id.empty()) return refuse(400, kInvalidRequest, "Bad Request: Missing session ID");
  const auto peer = find(id);
  if (!peer) return refuse(404, kInvalidRequest, "Session not found");
  std::string home;
  {
    const std::lock_guard hold(peer->mutex);
    if (McpServer::needs_home(message) && (peer->home.empty() || server_.pool().find(peer->home) == nullptr))
      if (auto work = server_.pool().open("")) peer->home = (*work)->handle();
    home = peer->home;
  }
  if (!message.is_array()) {
    const auto answer = server_.handle(message, &home, nullptr, request.gone);
    return answer ? json_reply(200, *answer) : Reply{202, "", "", {}};
  }
  Json answers = Json::array();
  for (const Json& item : message)
    if (auto answer = server_.handle(item, &home, nullptr, request.gone)) answers.push_back(std::move(*answer));
  return answers.empty() ? Reply{202, "", "", {}} : json_reply(200, answers);
}

}  // namespace passnet::serve
