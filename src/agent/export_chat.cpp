// Conversations for fine-tuning: OpenAI's and ShareGPT's.
#include "agent/export.h"
#include "agent/tools.h"

namespace passnet::agent {

namespace {

std::string line(const Json& j) { return json_text(j) + "\n"; }

const Json& tools_of(const Attempt& a) {
  return a.begin().contains("tools") && a.begin()["tools"].is_array() ? a.begin()["tools"] : tools_for_chat();
}

// A call as an object; arguments that are no JSON stay the text that they are.
Json call_json(const ToolCall& c) {
  const Json arguments = json_read(c.arguments);
  return {{"name", c.name}, {"arguments", arguments.is_discarded() ? Json(c.arguments) : arguments}};
}

}  // namespace

std::string export_openai(const Attempt& a, const ExportContext&) {
  Json messages = Json::array();
  bool parallel = false;
  for (const Json& m : attempt_messages(a)) {
    Json copy = {{"role", m.value("role", "")}};
    const std::vector<ToolCall> calls = message_calls(m);
    if (const std::string content = message_content(m); calls.empty() || !content.empty()) copy["content"] = content;
    for (const ToolCall& c : calls)
      copy["tool_calls"].push_back(
          {{"id", c.id}, {"type", "function"}, {"function", {{"name", c.name}, {"arguments", c.arguments}}}});
    if (m.contains("tool_call_id")) copy["tool_call_id"] = m["tool_call_id"];
    parallel = parallel || calls.size() > 1;
    messages.push_back(std::move(copy));
  }
  return line({{"messages", messages}, {"tools", tools_of(a)}, {"parallel_tool_calls", parallel}});
}

// Sides take turns: human or observation, then gpt or function_call. Several calls of one answer, and their results,
// are one list each; the end is an answer.
std::string export_sharegpt(const Attempt& a, const ExportContext&) {
  std::string system;
  std::vector<std::pair<std::string, Json>> turns;  // from, values
  const auto add = [&](const char* from, Json value) {
    if (turns.empty() || turns.back().first != from) turns.emplace_back(from, Json::array());
    turns.back().second.push_back(std::move(value));
  };
  for (const Json& m : attempt_messages(a)) {
    const std::string role = m.value("role", ""), content = message_content(m);
    const std::vector<ToolCall> calls = message_calls(m);
    if (role == "system") system = content;
    if (role == "user") add("human", content);
    if (role == "tool") add("observation", content);
    if (role != "assistant") continue;
    if (calls.empty()) add("gpt", content);
    for (const ToolCall& c : calls) add("function_call", call_json(c));
  }
  while (!turns.empty() && (turns.back().first == "human" || turns.back().first == "observation")) turns.pop_back();
  Json conversations = Json::array();
  for (const auto& [from, values] : turns) {
    const Json& one = values.size() == 1 ? values[0] : values;
    conversations.push_back({{"from", from}, {"value", one.is_string() ? one.get<std::string>() : json_text(one)}});
  }
  return line({{"conversations", conversations}, {"system", system}, {"tools", tools_of(a).dump()}});
}

}  // namespace passnet::agent
