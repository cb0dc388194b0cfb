// Whoever answers: a language model behind an endpoint, the built-in author, a recorded trajectory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace passnet::agent {

struct ToolCall {
  std::string id, name;
  std::string arguments;  // as the model wrote them: JSON, one hopes
};

enum class Finish : std::uint8_t {
  stop,        // said all
  tool_calls,  // wants results
  length,      // cut at the token limit: not the same as saying nothing more
  refused,     // by the model or a filter
};
std::string_view finish_name(Finish finish);

struct Usage {
  std::int64_t prompt = 0, completion = 0;
  bool known = false;  // told by the endpoint; else estimated from the text
  std::int64_t total() const { return prompt + completion; }
};

struct Reply {
  std::string content, reasoning, refusal;
  std::vector<ToolCall> calls;
  Finish finish = Finish::stop;
  Usage usage;
  int tries = 1;
};
Json usage_json(const Usage& usage);
// About four bytes a token: near enough for a limit, whatever the model's tokeniser is.
Usage usage_estimate(const std::vector<Json>& messages, const Reply& reply);

// The reply as a message of the conversation, and back.
Json reply_message(const Reply& reply);
std::vector<ToolCall> message_calls(const Json& message);
std::string message_content(const Json& message);  // "" where it is null; the texts of a list of parts joined

struct Request {
  const std::vector<Json>& messages;  // in the form of chat completions
  const Json& tools;
  std::string task;
  int attempt = 0;
  double seconds = 600;  // for this call, tries included
  std::function<bool()> cancelled = [] { return false; };
};

class Model {
 public:
  virtual ~Model() = default;
  // An error: the model cannot be asked, after all tries. Several threads may ask at once.
  virtual Result<Reply> answer(const Request& request) = 0;
};

// Calls author_suggest, creates the files that it shows, evaluates them and ends.
std::unique_ptr<Model> author_model(bool measure);
// Answers with the assistant's messages of a file: an event log, or lines with `messages`. An error: no such file, or
// nothing in it.
Result<std::unique_ptr<Model>> replay_model(const std::string& file);

}  // namespace passnet::agent
