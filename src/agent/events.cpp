#include "agent/events.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>

namespace passnet::agent {

namespace {

constexpr std::int64_t kMostAttempts = 1'000'000'000;

// Every event has these, and each kind what follows; what has not is no event.
struct Required {
  std::string_view event;
  std::vector<std::pair<const char*, Json::value_t>> keys;
};
const Required* required(std::string_view event) {
  using T = Json::value_t;
  static const Required kRows[] = {
      {"begin", {{"messages", T::array}, {"files", T::object}, {"limits", T::object}}},
      {"reply", {{"message", T::object}}},
      {"result", {{"message", T::object}, {"result", T::object}}},
      {"note", {{"message", T::object}}},
      {"final", {{"result", T::object}}},
      {"end", {{"reason", T::string}, {"files", T::object}}},
  };
  for (const Required& row : kRows)
    if (row.event == event) return &row;
  return nullptr;
}

// What may be left out, and what it is where it is there.
using Known = std::pair<const char*, bool (Json::*)() const noexcept>;
constexpr Known kInEvent[] = {
    {"agent_args", &Json::is_object},    {"content", &Json::is_string}, {"finish", &Json::is_string},
    {"graphs", &Json::is_array},         {"model", &Json::is_string},   {"prompt", &Json::is_string},
    {"score", &Json::is_number},         {"start", &Json::is_string},   {"step", &Json::is_number_integer},
    {"steps", &Json::is_number_integer}, {"tool", &Json::is_string},    {"why", &Json::is_string},
};
constexpr Known kInMessage[] = {{"role", &Json::is_string}, {"reasoning_content", &Json::is_string}};
constexpr Known kInTokens[] = {{"prompt", &Json::is_number_integer},
                               {"completion", &Json::is_number_integer},
                               {"total", &Json::is_number_integer}};
bool fits(const Json& object, std::span<const Known> known) {
  return std::all_of(known.begin(), known.end(), [&](const Known& k) {
    const auto at = object.find(k.first);
    return at == object.end() || ((*at).*k.second)();
  });
}
bool is_message(const Json& j) { return j.is_object() && fits(j, kInMessage); }

// What an attempt leaves behind is written where its names say: they lead nowhere else.
bool is_task(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}
bool are_passes(const Json& files) {
  const auto items = files.items();
  return std::all_of(items.begin(), items.end(), [](const auto& item) { return is_pass_path(item.key()); });
}

bool is_event(const Json& j) {
  if (!j.is_object() || !j.contains("event") || !j["event"].is_string()) return false;
  const Required* row = required(j["event"].get<std::string>());
  if (row == nullptr || !j.contains("task") || !j["task"].is_string()) return false;
  if (!is_task(j["task"].get<std::string>()) || !j.contains("attempt") || !j["attempt"].is_number_integer())
    return false;
  if (const auto attempt = j["attempt"].get<std::int64_t>(); attempt < 0 || attempt > kMostAttempts) return false;
  if (j.contains("files") && !are_passes(j["files"])) return false;
  if (!fits(j, kInEvent) || (j.contains("message") && !is_message(j["message"]))) return false;
  if (j.contains("tokens") && !fits(j["tokens"], kInTokens)) return false;
  if (j.contains("messages") && !std::all_of(j["messages"].begin(), j["messages"].end(), is_message)) return false;
  return std::all_of(row->keys.begin(), row->keys.end(),
                     [&](const auto& key) { return j.contains(key.first) && j[key.first].type() == key.second; });
}

}  // namespace

Result<std::unique_ptr<EventLog>> EventLog::open(const std::string& folder) {
  auto out = std::make_unique<EventLog>();
  auto lines = LineFile::open(folder, kEventsFile, [](std::string_view line) { return is_event(json_read(line)); });
  if (!lines) return std::move(lines.error());
  out->lines_ = std::move(*lines);
  return out;
}

void EventLog::append(Json event) {
  event["time"] =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count() /
      1e3;
  lines_->append(json_text(event) + "\n").take();
}

Result<Attempts> events_read(const std::string& path) {
  std::error_code ignored;  // reading says what is wrong
  const std::string file = std::filesystem::is_directory(path, ignored) ? path + "/" + kEventsFile : path;
  Attempts out;
  std::map<std::pair<std::string, int>, std::size_t> at;
  auto end = line_file_scan(file, 0, [&](Line&& line) {
    Json event = line.too_long ? Json() : json_read(line.text);
    if (!is_event(event)) {
      if (out.problems.size() < 100) out.problems.push_back(fmt::format("{}:{}: no event", file, line.number));
      return;
    }
    const auto key = std::pair(event["task"].get<std::string>(), event["attempt"].get<int>());
    const auto known = at.find(key);
    if (event["event"] == "begin") {
      if (known != at.end()) {  // begun anew
        out.attempts[known->second].events = {std::move(event)};
        return;
      }
      at[key] = out.attempts.size();
      out.attempts.push_back({key.first, key.second, {std::move(event)}});
    } else if (known == at.end() || out.attempts[known->second].ended()) {
      out.problems.push_back(fmt::format("{}:{}: an event of no attempt", file, line.number));
    } else {
      out.attempts[known->second].events.push_back(std::move(event));
    }
  });
  if (!end) return std::move(end.error());
  return out;
}

Json limits_json(const LoopLimits& l, double evaluation_seconds) {
  return {{"steps", l.steps},
          {"tokens", l.tokens},
          {"seconds", l.seconds},
          {"call_seconds", l.call_seconds},
          {"evaluation_seconds", evaluation_seconds}};
}

Json changes_json(const Changes& changes) {
  Json out = Json::object();
  for (const auto& [path, text] : changes) out[path] = text ? Json(*text) : Json(nullptr);
  return out;
}

Json files_json(const Files& files) {
  Json out = Json::object();
  for (const auto& [path, text] : files) out[path] = text;
  return out;
}

Files files_from(const Json& json) {
  Files out;
  if (json.is_object())
    for (const auto& [path, text] : json.items())
      if (text.is_string()) out[path] = text.get<std::string>();
  return out;
}

Json result_json(const ToolResult& r) {
  Json out = {{"error", r.error}, {"changes", changes_json(r.changes)}};
  if (r.undone) out["undone"] = true;
  if (r.score) out["score"] = *r.score;
  if (r.score) out["correct"] = r.correct;
  if (r.score) out["improved"] = r.improved;
  return out;
}

ToolResult result_from(const Json& j) {
  ToolResult out;
  const auto flag = [&](const char* key) { return j.contains(key) && j[key].is_boolean() && j[key].get<bool>(); };
  out.error = flag("error");
  out.undone = flag("undone");
  out.correct = flag("correct");
  out.improved = flag("improved");
  if (j.contains("score") && j["score"].is_number()) out.score = j["score"].get<double>();
  if (j.contains("changes") && j["changes"].is_object())
    for (const auto& [path, text] : j["changes"].items())
      out.changes[path] = text.is_string() ? std::optional(text.get<std::string>()) : std::nullopt;
  return out;
}

}  // namespace passnet::agent
