// Models that need no endpoint. Both are functions of the conversation alone, so a run with them can be taken up again.
#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "agent/model.h"
#include "base/line_file.h"
#include "base/text.h"

namespace passnet::agent {

namespace {

std::size_t answers_so_far(const std::vector<Json>& messages) {
  std::size_t out = 0;
  for (const Json& m : messages) out += m.value("role", "") == "assistant" ? 1 : 0;
  return out;
}

Reply with_calls(std::string content, std::vector<ToolCall> calls) {
  Reply out;
  out.content = std::move(content);
  out.finish = calls.empty() ? Finish::stop : Finish::tool_calls;
  out.calls = std::move(calls);
  return out;
}

class AuthorModel final : public Model {
 public:
  explicit AuthorModel(bool measure) : measure_(measure) {}

  Result<Reply> answer(const Request& request) override {
    switch (answers_so_far(request.messages)) {
      case 0:
        return with_calls("I ask the author for its passes.",
                          {{"call_author", "author_suggest", measure_ ? R"({"measure": true})" : "{}"}});
      case 1: {
        std::vector<ToolCall> calls = create_calls(last_result(request.messages));
        if (calls.empty()) return with_calls("The author has nothing to suggest, so the graph stays as it is.", {});
        return with_calls("I write them into the folder.", std::move(calls));
      }
      case 2: return with_calls("I evaluate them.", {{"call_evaluate", "pass_evaluator", "{}"}});
      default: return with_calls("The author's passes are in place and evaluated.", {});
    }
  }

 private:
  static std::string last_result(const std::vector<Json>& messages) {
    for (auto m = messages.rbegin(); m != messages.rend(); ++m)
      if (m->value("role", "") == "tool") return message_content(*m);
    return "";
  }

  // The files in the answer of author_suggest: `=== PATH (N bytes)` and then as many bytes.
  static std::vector<ToolCall> create_calls(std::string_view text) {
    std::vector<ToolCall> out;
    for (std::size_t at = text.find("=== "); at != std::string_view::npos; at = text.find("=== ", at)) {
      const std::size_t open = text.find(" (", at), end = text.find('\n', at);
      if (open == std::string_view::npos || end == std::string_view::npos || open > end) break;
      const std::string path(text.substr(at + 4, open - at - 4));
      const std::size_t size = std::strtoul(std::string(text.substr(open + 2, 20)).c_str(), nullptr, 10);
      if (size > text.size() - end - 1) break;
      const Json arguments = {{"command", "create"}, {"path", path}, {"file_text", text.substr(end + 1, size)}};
      out.push_back({fmt::format("call_create_{}", out.size()), "file_editor", arguments.dump()});
      at = end + 1 + size;
    }
    return out;
  }

  const bool measure_;
};

class ReplayModel final : public Model {
 public:
  // By task and attempt; those of files that know no tasks are of task "".
  std::map<std::pair<std::string, int>, std::vector<Json>> recorded;

  Result<Reply> answer(const Request& request) override {
    const std::vector<Json>& answers = find(request.task, request.attempt);
    const std::size_t next = answers_so_far(request.messages);
    if (next >= answers.size()) return with_calls("The recording ends here.", {});
    const Json& message = answers[next];
    Reply out = with_calls(message_content(message), message_calls(message));
    if (message.contains("reasoning_content") && message["reasoning_content"].is_string())
      out.reasoning = message["reasoning_content"].get<std::string>();
    return out;
  }

 private:
  const std::vector<Json>& find(const std::string& task, int attempt) const {
    for (const auto& key : {std::pair(task, attempt), std::pair(task, 0), std::pair(std::string(), attempt)})
      if (const auto at = recorded.find(key); at != recorded.end()) return at->second;
    return recorded.begin()->second;
  }
};

}  // namespace

std::unique_ptr<Model> author_model(bool measure) { return std::make_unique<AuthorModel>(measure); }

Result<std::unique_ptr<Model>> replay_model(const std::string& file) {
  auto out = std::make_unique<ReplayModel>();
  int unnamed = 0;
  auto end = line_file_scan(file, 0, [&](Line&& line) {
    const Json j = line.too_long ? Json() : json_read(line.text);
    if (!j.is_object()) return;
    const auto string = [&](const char* key) {
      return j.contains(key) && j[key].is_string() ? j[key].get<std::string>() : "";
    };
    if (string("event") == "reply" && j.contains("message")) {
      const int attempt = j.contains("attempt") && j["attempt"].is_number_integer() ? j["attempt"].get<int>() : 0;
      out->recorded[{string("task"), attempt}].push_back(j["message"]);
    } else if (j.contains("messages") && j["messages"].is_array()) {
      std::vector<Json>& answers = out->recorded[{string("task"), unnamed++}];
      for (const Json& m : j["messages"])
        if (m.is_object() && m.contains("role") && m["role"] == "assistant") answers.push_back(m);
    }
  });
  if (!end) return std::move(end.error());
  if (out->recorded.empty())
    return Error{Code::usage,
                 {},
                 fmt::format("'{}' holds no answers", file),
                 {"give an events.jsonl of a run, or lines of {\"messages\": [...]}, each line with its end"}};
  return std::unique_ptr<Model>(std::move(out));
}

}  // namespace passnet::agent
