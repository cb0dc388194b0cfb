#include "agent/model.h"

namespace passnet::agent {

std::string_view finish_name(Finish finish) {
  switch (finish) {
    case Finish::stop: return "stop";
    case Finish::tool_calls: return "tool_calls";
    case Finish::length: return "length";
    case Finish::refused: return "refused";
  }
  return "?";
}

Json usage_json(const Usage& u) {
  return {{"prompt", u.prompt}, {"completion", u.completion}, {"total", u.total()}, {"known", u.known}};
}

Usage usage_estimate(const std::vector<Json>& messages, const Reply& reply) {
  const auto tokens = [](const Json& message) { return static_cast<std::int64_t>(json_text(message).size() / 4); };
  Usage out;
  for (const Json& m : messages) out.prompt += tokens(m);
  out.completion = tokens(reply_message(reply));
  return out;
}

Json reply_message(const Reply& reply) {
  Json out = {{"role", "assistant"}, {"content", reply.content}};
  if (!reply.reasoning.empty()) out["reasoning_content"] = reply.reasoning;
  if (!reply.refusal.empty()) out["refusal"] = reply.refusal;
  for (const ToolCall& c : reply.calls)
    out["tool_calls"].push_back(
        {{"id", c.id}, {"type", "function"}, {"function", {{"name", c.name}, {"arguments", c.arguments}}}});
  return out;
}

std::vector<ToolCall> message_calls(const Json& message) {
  std::vector<ToolCall> out;
  const auto text = [](const Json& object, const char* key) {
    const auto at = object.find(key);
    return at == object.end() ? std::string()
           : at->is_string()  ? at->get<std::string>()
           : at->is_null()    ? ""
                              : at->dump();
  };
  if (!message.is_object()) return out;
  const auto calls = message.find("tool_calls");
  if (calls == message.end() || !calls->is_array()) return out;
  for (const Json& c : *calls) {
    if (!c.is_object()) continue;
    const auto function = c.find("function");
    if (function == c.end() || !function->is_object()) continue;
    out.push_back({text(c, "id"), text(*function, "name"), text(*function, "arguments")});
  }
  return out;
}

std::string message_content(const Json& message) {
  const auto at = message.is_object() ? message.find("content") : message.end();
  if (!message.is_object() || at == message.end()) return "";
  if (at->is_string()) return at->get<std::string>();
  std::string out;
  if (at->is_array())
    for (const Json& part : *at)
      if (part.is_object() && part.contains("text") && part["text"].is_string()) out += part["text"].get<std::string>();
  return out;
}

}  // namespace passnet::agent
