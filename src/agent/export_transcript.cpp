// An attempt for people to read.
#include <fmt/format.h>

#include "agent/export.h"
#include "base/text.h"

namespace passnet::agent {

namespace {

std::string argument_text(const std::string& name, const Json& value) {
  if (!value.is_string()) return fmt::format("  {} = {}\n", name, value.dump());
  const std::string text = value.get<std::string>();
  if (text.find('\n') == std::string::npos) return fmt::format("  {} = {}\n", name, text);
  std::string out = fmt::format("  {}:\n", name);
  for (const std::string_view l : text_lines(text)) out += fmt::format("    {}\n", l);
  return out;
}

std::string call_text(const ToolCall& c) {
  std::string out = fmt::format("> {}\n", c.name);
  const Json arguments = json_read(c.arguments);
  if (!arguments.is_object()) return out + "  " + text_printable(std::string_view(c.arguments).substr(0, 500)) + "\n";
  for (const auto& [name, value] : arguments.items()) out += argument_text(name, value);
  return out;
}

}  // namespace

std::string export_transcript(const Attempt& a, const ExportContext&) {
  std::string out = fmt::format("===== {} attempt {}, model {}, start {}\n", a.task, a.attempt,
                                a.begin().value("model", ""), a.begin().value("start", ""));
  for (const Json& event : a.events) {
    const std::string kind = event["event"].get<std::string>();
    const ToolResult result = event.contains("result") ? result_from(event["result"]) : ToolResult{};
    if (kind == "reply") {
      const Json& message = event["message"];
      out += fmt::format("\n--- step {}\n", event.value("step", 0));
      if (message.contains("reasoning_content")) out += fmt::format("({})\n", message.value("reasoning_content", ""));
      if (const std::string text = message_content(message); !text.empty()) out += text + "\n";
      for (const ToolCall& c : message_calls(message)) out += call_text(c);
    } else if (kind == "result" || kind == "note") {
      out += fmt::format("< {}\n", text_trim(message_content(event["message"])));
    } else if (kind == "final") {
      out += fmt::format("\n--- evaluated at the end\n< {}\n", text_trim(event.value("content", "")));
    } else if (kind == "end") {
      out += fmt::format("\n--- ended: {}{}{}\n", event.value("reason", ""), event.contains("why") ? ": " : "",
                         event.value("why", ""));
      out += event.contains("score") ? fmt::format("best score {:.4f} with", event["score"].get<double>())
                                     : std::string("no score;");
      for (const auto& [path, text] : files_from(event["files"])) out += " " + path;
      out += "\n";
    }
    if (result.improved) out += "* the best so far\n";
  }
  return out;
}

}  // namespace passnet::agent
