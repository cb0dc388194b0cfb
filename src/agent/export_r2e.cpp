// R2E-Gym trajectories: a step is one answer with all its calls and what came back.
#include <fmt/format.h>

#include "agent/export.h"
#include "base/text.h"

namespace passnet::agent {

namespace {

std::string argument_text(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// <function=file_editor>, a parameter a block.
std::string action_text(const std::vector<ToolCall>& calls) {
  std::string out;
  for (const ToolCall& c : calls) {
    out += fmt::format("{}<function={}>\n", out.empty() ? "" : "\n", c.name);
    const Json arguments = json_read(c.arguments);
    if (arguments.is_object())
      for (const auto& [name, value] : arguments.items())
        out += fmt::format("  <parameter={}>{}</parameter>\n", name, argument_text(value));
    else
      out += c.arguments + "\n";  // what the model wrote, though it is no JSON
    out += "</function>";
  }
  return out;
}

// Whole files: git apply takes it.
std::string patch_text(const Files& before, const Files& after) {
  std::string out;
  const auto lines = [](std::string_view text, char sign) {
    std::string part;
    const bool ended = text.ends_with('\n');
    auto all = text_split(text, '\n');
    if (ended) all.pop_back();
    for (const std::string_view line : all) part += fmt::format("{}{}\n", sign, line);
    if (!ended && !text.empty()) part += "\\ No newline at end of file\n";
    return std::pair(text.empty() ? std::size_t{0} : all.size(), part);
  };
  const auto file = [&](const std::string& path, const std::string* old, const std::string* now) {
    const auto [old_count, old_lines] = lines(old != nullptr ? *old : "", '-');
    const auto [now_count, now_lines] = lines(now != nullptr ? *now : "", '+');
    out += fmt::format("diff --git a/{0} b/{0}\n", path);
    if (old == nullptr) out += "new file mode 100644\n";
    if (now == nullptr) out += "deleted file mode 100644\n";
    if (old_count + now_count == 0) return;
    out += fmt::format("--- {}\n+++ {}\n@@ -{},{} +{},{} @@\n{}{}", old != nullptr ? "a/" + path : "/dev/null",
                       now != nullptr ? "b/" + path : "/dev/null", old_count > 0 ? 1 : 0, old_count,
                       now_count > 0 ? 1 : 0, now_count, old_lines, now_lines);
  };
  for (const auto& [path, text] : before)
    if (!after.contains(path)) file(path, &text, nullptr);
  for (const auto& [path, text] : after) {
    const auto old = before.find(path);
    if (old == before.end() || old->second != text) file(path, old == before.end() ? nullptr : &old->second, &text);
  }
  return out;
}

double number(const Json& j, const char* key) {
  return j.contains(key) && j[key].is_number() ? j[key].get<double>() : 0;
}

struct Steps {
  Json list = Json::array();
  std::string last_evaluation;
  double total = 0;
};

Steps steps_of(const Attempt& a) {
  Steps out;
  for (const Json& event : a.events) {
    const std::string kind = event["event"].get<std::string>();
    const ToolResult result = event.contains("result") ? result_from(event["result"]) : ToolResult{};
    const double seconds = number(event, "seconds");
    if (kind == "reply") {
      const Json& message = event["message"];
      const Json tokens = event.contains("tokens") && event["tokens"].is_object() ? event["tokens"] : Json::object();
      const auto index = out.list.size();
      std::string thought = message_content(message);
      if (message.contains("reasoning_content") && message["reasoning_content"].is_string())
        thought = message["reasoning_content"].get<std::string>() + (thought.empty() ? "" : "\n\n") + thought;
      out.total += seconds;
      out.list.push_back({{"step_idx", index},
                          {"thought", thought},
                          {"action", action_text(message_calls(message))},
                          {"observation", ""},
                          {"done", false},
                          {"info",
                           {{"finish", event.value("finish", "")},
                            {"tools", Json::array()},
                            {"scores", Json::array()},
                            {"improved", false}}},
                          {"token_usage_prompt", tokens.value("prompt", std::int64_t{0})},
                          {"token_usage_completion", tokens.value("completion", std::int64_t{0})},
                          {"token_usage_total", tokens.value("total", std::int64_t{0})},
                          {"llm_exec_time", seconds},
                          {"env_exec_time", 0.0},
                          {"total_step_time", seconds},
                          {"total_time_traj", out.total},
                          {"step_count", index + 1}});
      continue;
    }
    const std::string content =
        event.contains("message") ? message_content(event["message"]) : event.value("content", "");
    if (result.score) out.last_evaluation = content;
    if (out.list.empty() || (kind != "result" && kind != "note")) continue;
    Json& step = out.list.back();
    step["observation"] = step["observation"].get<std::string>() + (step["observation"] == "" ? "" : "\n") + content;
    out.total += seconds;
    step["env_exec_time"] = step["env_exec_time"].get<double>() + seconds;
    step["total_step_time"] = step["total_step_time"].get<double>() + seconds;
    step["total_time_traj"] = out.total;
    if (kind == "note") continue;
    step["info"]["tools"].push_back(event.value("tool", ""));
    if (result.score) step["info"]["scores"].push_back(*result.score);
    if (result.improved) step["info"]["improved"] = true;
  }
  if (!out.list.empty()) out.list.back()["done"] = true;
  return out;
}

std::string line(const Json& j) { return json_text(j) + "\n"; }

}  // namespace

std::string export_r2e(const Attempt& a, const ExportContext& context) {
  const Json& begin = a.begin();
  const Json& end = a.end();
  const Json& limits = begin["limits"];
  const Steps steps = steps_of(a);
  const Json& first = begin["messages"];
  return line({{"trajectory_steps", steps.list},
               {"problem_statement", first.size() > 1 ? message_content(first[1]) : ""},
               {"docker_image", ""},
               {"exp_name", context.experiment},
               {"env_args",
                {{"task", a.task},
                 {"attempt", a.attempt},
                 {"graphs", begin.value("graphs", Json::array())},
                 {"start", begin.value("start", "")}}},
               {"agent_args", begin.value("agent_args", Json::object())},
               {"ds", {{"task", a.task}}},
               {"max_steps", number(limits, "steps")},
               {"max_steps_absolute", number(limits, "steps")},
               {"max_token_limit", number(limits, "tokens")},
               {"max_llm_time", number(limits, "call_seconds")},
               {"max_exec_time", number(limits, "evaluation_seconds")},
               {"max_total_time", number(limits, "seconds")},
               {"exit_reason", end["reason"]},
               {"output_patch", patch_text(files_from(begin["files"]), files_from(end["files"]))},
               {"reward", attempt_reward(a)},
               {"test_output", steps.last_evaluation}});
}

std::string export_completions(const Attempt& a, const ExportContext& context) {
  return line({{"sample_dir", fmt::format("{}/work/{}/{}", context.experiment, a.task, a.attempt)},
               {"messages", attempt_messages(a)}});
}

}  // namespace passnet::agent
