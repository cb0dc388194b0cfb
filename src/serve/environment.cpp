#include "serve/environment.h"

#include <fmt/format.h>

#include "agent/tools.h"

namespace passnet::serve {

namespace {

constexpr std::string_view kFinish = "finish";  // the action that ends an episode
constexpr double kFailure = 0.1;                // what a failure counts

Reply json_reply(int status, const Json& body) { return {status, json_text(body), "application/json", {}}; }

struct ErrorRow {
  std::string_view code;
  int status;  // of HTTP
};
constexpr ErrorRow kErrors[] = {
    {"INVALID_JSON", 400},    {"VALIDATION_ERROR", 422}, {"UNKNOWN_TYPE", 400},
    {"EXECUTION_ERROR", 500}, {"CAPACITY_REACHED", 503}, {"SESSION_ERROR", 404},
};
int status_of(std::string_view code) {
  for (const ErrorRow& row : kErrors)
    if (row.code == code) return row.status;
  return 500;
}

Reply reply_of(const Environment::Answer& answer) {
  if (answer.error.empty()) return json_reply(200, answer.data);
  return json_reply(status_of(answer.error), {{"error", answer.data}});
}

std::string string_of(const Json& data, const char* key) {
  return data.is_object() && data.contains(key) && data[key].is_string() ? data[key].get<std::string>() : "";
}

// One connection, one session at a time; it goes with the connection.
class EnvironmentSocket final : public Socket {
 public:
  explicit EnvironmentSocket(Environment& environment) : environment_(environment) {}
  ~EnvironmentSocket() override {
    if (work_) environment_.pool().close(work_->handle());
  }

  std::optional<std::string> message(const std::string& text, const Gone& gone) override {
    const Json message = json_read(text);
    if (!message.is_object()) return error(Environment::Answer::failed("INVALID_JSON", "not a JSON object"));
    const std::string type = string_of(message, "type");
    const Json data = message.contains("data") && !message["data"].is_null() ? message["data"] : Json::object();
    if (type == "close") return std::nullopt;
    if (type == "reset") {
      if (work_) environment_.pool().close(work_->handle());
      work_ = nullptr;
      return said("observation", environment_.reset(data, work_));
    }
    if (type != "step" && type != "state")
      return error(Environment::Answer::failed("UNKNOWN_TYPE", "type should be reset, step, state or close"));
    if (work_ && environment_.pool().find(work_->handle()) == nullptr) work_ = nullptr;
    if (!work_)
      return error(
          Environment::Answer::failed("SESSION_ERROR", "no session: reset first, and again after a long pause"));
    if (type == "state") return said("state", {environment_.state(*work_), {}});
    return said("observation", environment_.step(data, message, *work_, gone));
  }

 private:
  static std::string said(std::string_view type, const Environment::Answer& answer) {
    if (!answer.error.empty()) return error(answer);
    return Json{{"type", type}, {"data", answer.data}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  static std::string error(const Environment::Answer& answer) {
    return Json{{"type", "error"}, {"data", answer.data}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  Environment& environment_;
  std::shared_ptr<Work> work_;
};

}  // namespace

Json Environment::observation(Work& work, std::string text, bool error) const {
  Json out = {{"text", std::move(text)},
              {"error", error},
              {"session", work.handle()},
              {"task", work.session().task().name},
              {"steps_left", std::max(0, pool_.options().steps - work.steps())},
              {"best", nullptr}};
  if (work.best()) out["best"] = *work.best();
  return out;
}

Environment::Answer Environment::reset(const Json& data, std::shared_ptr<Work>& work) {
  if (!data.is_object()) return Answer::failed("VALIDATION_ERROR", "the data of reset should be an object");
  std::optional<std::uint64_t> seed;
  if (data.contains("seed") && data["seed"].is_number_integer())
    seed = static_cast<std::uint64_t>(data["seed"].get<std::int64_t>());
  pool_.close_idle();
  auto opened = pool_.open(string_of(data, "task"), seed);
  if (!opened)
    return Answer::failed(opened.error().code == Code::limit   ? "CAPACITY_REACHED"
                          : opened.error().code == Code::usage ? "VALIDATION_ERROR"
                                                               : "SESSION_ERROR",
                          opened.error().message);
  work = std::move(*opened);
  return {{{"observation", observation(*work, work->prompt(), false)}, {"reward", nullptr}, {"done", false}}, {}};
}

Environment::Answer Environment::step(const Json& action, const Json& options, Work& work, const Gone& gone) {
  try {
    return stepped(action, options, work, gone);
  } catch (const Failure& failure) {
    return Answer::failed("EXECUTION_ERROR", error_line(failure.error));
  } catch (const std::exception& error) {
    return Answer::failed("EXECUTION_ERROR", error.what());
  }
}

Environment::Answer Environment::stepped(const Json& action, const Json& options, Work& work, const Gone& gone) {
  const std::string tool = string_of(action, "tool");
  const Json arguments = action.is_object() && action.contains("arguments") && !action["arguments"].is_null()
                             ? action["arguments"]
                             : Json::object();
  if (tool.empty()) return Answer::failed("VALIDATION_ERROR", R"(an action is {"tool": NAME, "arguments": {...}})");
  if (tool != kFinish && agent::tool_find(tool) == nullptr)
    return Answer::failed("VALIDATION_ERROR", fmt::format("no tool is called '{}'", tool.substr(0, 100)));
  if (work.ended()) return Answer::failed("SESSION_ERROR", "the episode is done: reset");
  const std::string id = string_of(options, "request_id");
  if (auto known = work.remembered(id)) return {std::move(*known), {}};
  const Pool::Place place(pool_);
  if (!place)
    return Answer::failed("CAPACITY_REACHED", fmt::format("{} steps are waiting already", pool_.options().queue));
  double seconds = pool_.options().session.evaluation_seconds;
  if (options.is_object() && options.contains("timeout_s") && options["timeout_s"].is_number())
    seconds = std::min(seconds, options["timeout_s"].get<double>());
  Json reward;
  std::string text = "The episode is done.";
  bool error = false, done = tool == kFinish;
  if (!done) {
    const agent::ToolResult result = work.call(tool, arguments, seconds, gone);
    text = result.text;
    error = result.error;
    if (result.score) reward = *result.score;
    done = work.steps() >= pool_.options().steps;
  }
  if (done) {
    work.end(tool == kFinish ? "agent" : "step_limit", true, gone);
    reward = work.best().value_or(kFailure);
  }
  const Json out = {{"observation", observation(work, std::move(text), error)}, {"reward", reward}, {"done", done}};
  work.remember(id, out);
  return {out, {}};
}

Json Environment::state(Work& work) const {
  Json out = {{"episode_id", work.handle()},
              {"step_count", work.steps()},
              {"task", work.session().task().name},
              {"done", work.ended()},
              {"best", nullptr}};
  if (work.best()) out["best"] = *work.best();
  return out;
}

Json Environment::schema() const {
  Json names = Json::array(), tools = Json::object();
  for (const agent::Tool& t : agent::tools()) {
    names.push_back(t.name);
    tools[std::string(t.name)] = {{"description", t.description}, {"arguments", agent::tool_schema(t)}};
  }
  names.push_back(kFinish);
  const auto type = [](const char* name) { return Json{{"type", name}}; };
  const Json number = {{"type", {"number", "null"}}};
  return {{"action",
           {{"type", "object"},
            {"properties", {{"tool", {{"type", "string"}, {"enum", names}}}, {"arguments", {{"type", "object"}}}}},
            {"required", {"tool"}},
            {"tools", tools}}},
          {"observation",
           {{"type", "object"},
            {"properties",
             {{"text", type("string")},
              {"error", type("boolean")},
              {"session", type("string")},
              {"task", type("string")},
              {"steps_left", type("integer")},
              {"best", number}}}}},
          {"state",
           {{"type", "object"},
            {"properties",
             {{"episode_id", type("string")},
              {"step_count", type("integer")},
              {"task", type("string")},
              {"done", type("boolean")},
              {"best", number}}}}}};
}

Json Environment::metadata() const {
  return {{"name", "passnet"},
          {"description",
           "Write compiler passes for computational graphs; the reward is their score against eager execution"},
          {"version", version_},
          {"tasks", pool_.task_names()},
          {"max_sessions", pool_.options().sessions},
          {"sessions", pool_.size()}};
}

std::unique_ptr<Socket> Environment::accept(const Request& request) {
  if (request.path != "/ws" || !loopback_origin(request)) return nullptr;
  return std::make_unique<EnvironmentSocket>(*this);
}

Reply Environment::handle(const Request& request) {
  struct Route {
    std::string_view method, path;
    Reply (*run)(Environment&, const Request&, const Json& body);
  };
  // Over HTTP the session is named: in the body or the query; left out where there is only one.
  static constexpr auto kFind = [](Environment& e, const Request& r, const Json& body) {
    std::string handle = string_of(body, "session");
    if (handle.empty()) handle = string_of(body, "episode_id");
    if (handle.empty()) handle = r.parameter("session");
    return handle.empty() ? e.pool().only() : e.pool().find(handle);
  };
  static const Reply kNoSession =
      reply_of(Answer::failed("SESSION_ERROR", "no such session: reset, and name the session that it gives"));
  static constexpr Route kRoutes[] = {
      {"GET", "/health",
       [](Environment&, const Request&, const Json&) {
         return json_reply(200, {{"status", "healthy"}});
       }},
      {"GET", "/metadata", [](Environment& e, const Request&, const Json&) { return json_reply(200, e.metadata()); }},
      {"GET", "/schema", [](Environment& e, const Request&, const Json&) { return json_reply(200, e.schema()); }},
      {"GET", "/state",
       [](Environment& e, const Request& r, const Json& body) {
         const auto work = kFind(e, r, body);
         return work ? json_reply(200, e.state(*work)) : kNoSession;
       }},
      {"POST", "/reset",
       [](Environment& e, const Request&, const Json& body) {
         std::shared_ptr<Work> work;
         return reply_of(e.reset(body, work));
       }},
      {"POST", "/step",
       [](Environment& e, const Request& r, const Json& body) {
         const auto work = kFind(e, r, body);
         if (!work) return kNoSession;
         if (!body.contains("action")) return reply_of(Answer::failed("VALIDATION_ERROR", "step needs an action"));
         return reply_of(e.step(body["action"], body, *work, r.gone));
       }},
      {"POST", "/close",
       [](Environment& e, const Request& r, const Json& body) {
         const auto work = kFind(e, r, body);
         if (work) e.pool().close(work->handle());
         return work ? json_reply(200, Json::object()) : kNoSession;
       }},
  };
  if (!loopback_origin(request)) return json_reply(403, {{"error", "this origin may not ask"}});
  bool known = false;
  for (const Route& route : kRoutes) {
    if (route.path != request.path) continue;
    known = true;
    if (route.method != request.method) continue;
    const Json body = request.body.empty() ? Json::object() : json_read(request.body);
    if (!body.is_object()) return reply_of(Answer::failed("INVALID_JSON", "the body is no JSON object"));
    return route.run(*this, request, body);
  }
  return json_reply(known ? 405 : 404, {{"error", known ? "another method is used here" : "nothing is here"}});
}

}  // namespace passnet::serve
