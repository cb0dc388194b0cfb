#include "serve/mcp.h"

#include <fmt/format.h>

#include "agent/tools.h"
#include "base/text.h"

namespace passnet::serve {

namespace {

constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kServerInfoKey = "io.modelcontextprotocol/serverInfo";
constexpr std::int64_t kListMs = 3'600'000;  // how long a client may keep lists: they do not change
constexpr const char* kInstructions =
    "Write compiler passes for a task's graphs. Call open_task first: it says what to do and gives a session, which "
    "every "
    "other tool takes. The best state of pass_dir/ that pass_evaluator scores is the result.";

const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(key);
  return at == object.end() ? nullptr : &*at;
}
std::string string_of(const Json& object, const char* key) {
  const Json* value = member(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

Json text_result(std::string text, bool error, Json structured = nullptr) {
  Json out = {{"content", {{{"type", "text"}, {"text", std::move(text)}}}}, {"isError", error}};
  if (!structured.is_null()) out["structuredContent"] = std::move(structured);
  return out;
}

// Thrown inside, answered at the door.
struct RpcError {
  int code;
  std::string message;
};

const Json& open_schema() {
  static const Json kSchema = Json::parse(R"({"type":"object","properties":{
    "task":{"type":"string","description":"A task's name; default: the next one."}},"required":[],"additionalProperties":false})");
  return kSchema;
}
const Json& close_schema() {
  static const Json kSchema = Json::parse(R"({"type":"object","properties":{
    "session":{"type":"string","description":"The session, as open_task gave it."}},"required":["session"],"additionalProperties":false})");
  return kSchema;
}

}  // namespace

Json McpServer::error(const Json& id, int code, std::string message, Json data) {
  Json out = {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", std::move(message)}}}};
  if (!data.is_null()) out["error"]["data"] = std::move(data);
  return out;
}

bool McpServer::is_modern(const Json& message) {
  const Json* params = member(message, "params");
  const Json* meta = params == nullptr ? nullptr : member(*params, "_meta");
  return meta != nullptr && member(*meta, kVersionKey) != nullptr;
}

bool McpServer::needs_home(const Json& message) {
  const Json* params = member(message, "params");
  if (string_of(message, "method") != "tools/call" || params == nullptr) return false;
  if (agent::tool_find(string_of(*params, "name")) == nullptr) return false;
  const Json* arguments = member(*params, "arguments");
  return arguments == nullptr || string_of(*arguments, "session").empty();
}

// What a request that says its own version must say, and over HTTP say twice.
std::optional<Json> McpServer::misfit(const Json& id, const Json& params, const std::string& method,
                                      const McpHeaders* headers) const {
  const Json* meta = member(params, "_meta");
  for (const char* key : {kVersionKey, kCapabilitiesKey})
    if (meta == nullptr || member(*meta, key) == nullptr)
      return error(id, kInvalidParams, fmt::format("params._meta lacks {}", key));
  const std::string version = string_of(*meta, kVersionKey);
  if (headers != nullptr) {
    if (headers->version != version) return error(id, kHeaderMismatch, "MCP-Protocol-Version is not the body's");
    if (headers->method != method) return error(id, kHeaderMismatch, "Mcp-Method is not the body's");
    if (method == "tools/call" && headers->name != string_of(params, "name"))
      return error(id, kHeaderMismatch, "Mcp-Name is not the body's");
  }
  if (!(*meta)[kVersionKey].is_string()) return error(id, kInvalidParams, "the protocol version is no string");
  if (version != kMcpModern)
    return error(id, kUnsupportedVersion, "Unsupported protocol version",
                 {{"supported", {kMcpModern}}, {"requested", version}});
  return std::nullopt;
}

std::optional<Json> McpServer::handle(const Json& message, std::string* home, const McpHeaders* headers,
                                      const std::function<bool()>& cancelled) {
  const Json* id = member(message, "id");
  const bool valid_id = id == nullptr || id->is_string() || id->is_number_integer();
  const Json answer_to = id != nullptr && valid_id ? *id : Json(nullptr);
  if (string_of(message, "jsonrpc") != "2.0" || !valid_id)
    return error(answer_to, kInvalidRequest, "not a JSON-RPC 2.0 message");
  if (member(message, "method") == nullptr &&
      (member(message, "result") != nullptr || member(message, "error") != nullptr))
    return std::nullopt;
  const std::string method = string_of(message, "method");
  if (method.empty()) return error(answer_to, kInvalidRequest, "no method");
  if (id == nullptr) return std::nullopt;  // notifications ask for nothing
  const Json* given = member(message, "params");
  const Json params = given == nullptr ? Json::object() : *given;
  if (!params.is_object()) return error(*id, kInvalidParams, "params should be an object");
  const bool modern = is_modern(message) || (headers != nullptr && headers->version == kMcpModern);
  if (modern)
    if (auto wrong = misfit(*id, params, method, headers)) return wrong;

  struct Method {
    std::string_view name;
    bool handshake, modern, cached;
    Json (*run)(McpServer&, const Json& params, std::string* home, const std::function<bool()>& cancelled);
  };
  using Cancelled = std::function<bool()>;
  static constexpr Method kMethods[] = {
      {"initialize", true, false, false,
       [](McpServer& s, const Json& p, std::string*, const Cancelled&) { return s.initialize(p); }},
      {"ping", true, false, false,
       [](McpServer&, const Json&, std::string*, const Cancelled&) { return Json::object(); }},
      {"server/discover", false, true, true,
       [](McpServer& s, const Json&, std::string*, const Cancelled&) { return s.discover(); }},
      {"tools/list", true, true, true,
       [](McpServer& s, const Json&, std::string*, const Cancelled&) { return s.tools_list(); }},
      {"tools/call", true, true, false,
       [](McpServer& s, const Json& p, std::string* h, const Cancelled& c) { return s.tools_call(p, h, c); }},
  };
  for (const Method& m : kMethods) {
    if (m.name != method || !(modern ? m.modern : m.handshake)) continue;
    try {
      Json result = m.run(*this, params, home, cancelled);
      if (modern) result["resultType"] = "complete";
      if (modern && m.cached) result["ttlMs"] = kListMs;
      if (modern && m.cached) result["cacheScope"] = "public";
      if (modern) result["_meta"] = {{kServerInfoKey, {{"name", "passnet"}, {"version", version_}}}};
      return Json{{"jsonrpc", "2.0"}, {"id", *id}, {"result", std::move(result)}};
    } catch (const RpcError& e) {
      return error(*id, e.code, e.message);
    } catch (const Failure& failure) {
      return error(*id, kInternalError, error_line(failure.error));
    } catch (const std::exception& e) {
      return error(*id, kInternalError, e.what());
    }
  }
  return error(*id, kMethodNotFound, fmt::format("no method '{}'", text_printable(method.substr(0, 100))));
}

Json McpServer::initialize(const Json& params) const {
  const std::string asked = string_of(params, "protocolVersion");
  std::string_view version = kMcpHandshake[0];
  for (const std::string_view known : kMcpHandshake)
    if (known == asked) version = known;
  return {{"protocolVersion", version},
          {"capabilities", {{"tools", {{"listChanged", false}}}}},
          {"serverInfo", {{"name", "passnet"}, {"version", version_}}},
          {"instructions", kInstructions}};
}

Json McpServer::discover() const {
  Json versions = {kMcpModern};
  for (const std::string_view v : kMcpHandshake) versions.push_back(v);
  return {
      {"supportedVersions", versions}, {"capabilities", {{"tools", Json::object()}}}, {"instructions", kInstructions}};
}

Json McpServer::tools_list() const {
  Json list = {
      {{"name", "open_task"},
       {"description", "Begin work on a task: gives a session for the other tools, and says what to do. Tasks: " +
                           text_join(pool_.task_names(), ", ")},
       {"inputSchema", open_schema()}},
      {{"name", "close_task"},
       {"description", "End a session: the best passes are put back and the result is recorded."},
       {"inputSchema", close_schema()}}};
  for (const agent::Tool& t : agent::tools()) {
    Json schema = agent::tool_schema(t);
    schema["properties"]["session"] = {{"type", "string"}, {"description", "The session, as open_task gave it."}};
    list.push_back({{"name", t.name}, {"description", t.description}, {"inputSchema", std::move(schema)}});
  }
  return {{"tools", std::move(list)}};
}

Json McpServer::open_task(const Json& arguments) {
  pool_.close_idle();
  auto work = pool_.open(string_of(arguments, "task"));
  if (!work) return text_result("ERROR: " + work.error().message, true);
  const std::string text = fmt::format("session: {}\n\n{}", (*work)->handle(), (*work)->prompt());
  return text_result(text, false, {{"session", (*work)->handle()}, {"task", (*work)->session().task().name}});
}

Json McpServer::tools_call(const Json& params, std::string* home, const std::function<bool()>& cancelled) {
  const std::string name = string_of(params, "name");
  Json arguments =
      member(params, "arguments") == nullptr || params["arguments"].is_null() ? Json::object() : params["arguments"];
  if (!arguments.is_object()) throw RpcError{kInvalidParams, "arguments should be an object"};
  if (name == "open_task") return open_task(arguments);
  const bool closes = name == "close_task";
  if (!closes && agent::tool_find(name) == nullptr)
    throw RpcError{kInvalidParams, fmt::format("Unknown tool: {}", text_printable(name.substr(0, 100)))};
  std::string handle = string_of(arguments, "session");
  arguments.erase("session");
  if (handle.empty() && home != nullptr) {
    if (home->empty() || pool_.find(*home) == nullptr) {
      auto work = pool_.open("");
      if (!work) return text_result("ERROR: " + work.error().message, true);
      *home = (*work)->handle();
    }
    handle = *home;
  }
  const auto work = pool_.find(handle);
  if (!work) return text_result("ERROR: no such session: call open_task and pass the session that it gives", true);
  if (closes) {
    work->end("agent", true, cancelled);
    const auto best = work->best();
    pool_.close(handle);
    return text_result(best ? fmt::format("closed; the best score is {:.4f}", *best) : "closed; nothing was scored",
                       false);
  }
  const Pool::Place place(pool_);
  if (!place) return text_result("ERROR: too many calls are waiting; try again later", true);
  const agent::ToolResult result = work->call(name, arguments, pool_.options().session.evaluation_seconds, cancelled);
  Json structured = nullptr;
  if (result.score)
    structured = {{"score", *result.score},
                  {"correct", result.correct},
                  {"best", work->best() ? Json(*work->best()) : Json(nullptr)}};
  return text_result(result.text, result.error, std::move(structured));
}

}  // namespace passnet::serve
