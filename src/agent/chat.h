// Chat completions: what is sent, and what comes back, whole or in pieces, as it is met in the field.
#pragma once

#include "agent/model.h"

namespace passnet::agent {

// What an endpoint answered: a reply, or what is wrong with it.
struct ChatAnswer {
  std::optional<Reply> reply;
  std::string error;   // of a reply that is none
  int code = 0;        // that the error itself names, where it is a number: {"error": {"code": "429"}}
  bool again = false;  // cut or malformed: not the request's fault
};

// A whole body.
ChatAnswer chat_from_body(std::string_view body);
// A stream of server-sent events: data lines, comments, [DONE]; tool calls in pieces keyed by index.
ChatAnswer chat_from_stream(std::string_view body);
// The message of an error's body: {"error": {message, type, param, code}}, or its beginning where it is another.
std::string chat_error(std::string_view body);

// The conversation as it is sent: without what only some endpoints know.
Json chat_messages(const std::vector<Json>& messages, bool reasoning);

struct ChatOptions {
  std::string base_url, model;
  std::string key;  // empty: no Authorization header
  double temperature = 1;
  std::optional<std::int64_t> seed, answer_tokens;
  bool stream = false;
  bool reasoning = false;  // send earlier reasoning back
  int tries = 3;
  Json extra = Json::object();  // merged into every request
};
std::unique_ptr<Model> chat_model(ChatOptions options);

}  // namespace passnet::agent
