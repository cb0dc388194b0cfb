#include "agent/chat.h"

#include <fmt/format.h>

#include <cstdlib>
#include <set>

#include "base/text.h"

namespace passnet::agent {

namespace {

constexpr std::size_t kMostCalls = 256;

std::string string_of(const Json& object, const char* key) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && at != object.end() && at->is_string() ? at->get<std::string>() : "";
}
const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}
const Json* first_choice(const Json& j) {
  const Json* choices = member(j, "choices");
  return choices != nullptr && choices->is_array() && !choices->empty() ? &(*choices)[0] : nullptr;
}

// Reasoning goes by several names.
std::string reasoning_of(const Json& message) {
  for (const char* key : {"reasoning_content", "reasoning", "thinking"})
    if (std::string text = string_of(message, key); !text.empty()) return text;
  return "";
}

void read_usage(const Json& j, Usage& out) {
  const Json* usage = member(j, "usage");
  const auto count = [&](const char* key) {
    const Json* value = usage == nullptr ? nullptr : member(*usage, key);
    return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : std::int64_t{-1};
  };
  const std::int64_t prompt = count("prompt_tokens"), completion = count("completion_tokens");
  if (prompt < 0 || completion < 0) return;
  out = {prompt, completion, true};
}

Finish finish_from(const std::string& word, const Reply& reply) {
  if (word == "length" || word == "max_tokens") return Finish::length;
  if (word == "content_filter" || (!reply.refusal.empty() && reply.calls.empty())) return Finish::refused;
  return reply.calls.empty() ? Finish::stop : Finish::tool_calls;
}

// Calls without an id, or two with the same, could not be answered.
void name_calls(Reply& reply) {
  std::set<std::string> taken;
  int next = 0;
  for (ToolCall& call : reply.calls)
    while (call.id.empty() || !taken.insert(call.id).second) call.id = fmt::format("call_{}", next++);
}

ChatAnswer failed(std::string why, bool again) { return {std::nullopt, std::move(why), 0, again}; }

ChatAnswer error_answer(const Json& error) {
  ChatAnswer out;
  out.error = error.is_string() ? error.get<std::string>() : string_of(error, "message");
  if (out.error.empty()) out.error = json_text(error).substr(0, 300);
  if (const Json* code = member(error, "code")) {
    if (code->is_number_integer()) out.code = code->get<int>();
    if (code->is_string()) out.code = std::atoi(code->get<std::string>().c_str());
  }
  return out;
}

// Pieces of a streamed answer, put together.
class StreamReader {
 public:
  // False: an error was sent, or what came is no JSON.
  bool data(std::string_view text) {
    if (text_trim(text) == "[DONE]") {
      done_ = true;
      return true;
    }
    const Json j = json_read(text);
    if (!j.is_object()) {
      answer_ = failed("a piece of the stream is not valid JSON", true);
      return false;
    }
    if (const Json* error = member(j, "error")) {
      answer_ = error_answer(*error);
      return false;
    }
    read_usage(j, reply_.usage);
    if (const Json* choice = first_choice(j)) take(*choice);
    return true;
  }

  ChatAnswer finish() {
    if (!answer_.error.empty()) return std::move(answer_);
    if (!done_ && finish_.empty()) return failed("the stream was cut off", true);
    if (!some_ && finish_.empty()) return failed("the stream holds no answer", true);
    name_calls(reply_);
    reply_.finish = finish_from(finish_, reply_);
    return {std::move(reply_), "", 0, false};
  }

 private:
  void take(const Json& choice) {
    some_ = true;
    if (std::string word = string_of(choice, "finish_reason"); !word.empty()) finish_ = std::move(word);
    const Json* delta = member(choice, "delta");
    if (delta == nullptr) return;
    reply_.content += message_content(*delta);
    reply_.reasoning += reasoning_of(*delta);
    reply_.refusal += string_of(*delta, "refusal");
    const Json* calls = member(*delta, "tool_calls");
    if (calls == nullptr || !calls->is_array()) return;
    for (const Json& piece : *calls)
      if (ToolCall* call = call_of(piece)) {
        if (std::string id = string_of(piece, "id"); call->id.empty()) call->id = std::move(id);
        const Json* function = member(piece, "function");
        if (function == nullptr) continue;
        call->name += string_of(*function, "name");
        call->arguments += string_of(*function, "arguments");
      }
  }

  // By index; some endpoints leave it out and begin a new call with each new id.
  ToolCall* call_of(const Json& piece) {
    if (!piece.is_object()) return nullptr;
    std::int64_t index = static_cast<std::int64_t>(reply_.calls.size()) - 1;
    if (const Json* given = member(piece, "index"); given != nullptr && given->is_number_integer())
      index = given->get<std::int64_t>();
    else if (const std::string id = string_of(piece, "id"); index < 0 || (!id.empty() && reply_.calls.back().id != id))
      ++index;
    if (index < 0 || index >= static_cast<std::int64_t>(kMostCalls)) return nullptr;
    if (static_cast<std::size_t>(index) >= reply_.calls.size())
      reply_.calls.resize(static_cast<std::size_t>(index) + 1);
    return &reply_.calls[static_cast<std::size_t>(index)];
  }

  Reply reply_;
  ChatAnswer answer_;
  std::string finish_;
  bool done_ = false, some_ = false;
};

}  // namespace

ChatAnswer chat_from_body(std::string_view body) {
  const Json j = json_read(body);
  if (!j.is_object()) return failed("the answer is not valid JSON: " + text_printable(body.substr(0, 100)), true);
  if (const Json* error = member(j, "error")) return error_answer(*error);
  const Json* choice = first_choice(j);
  const Json* message = choice == nullptr ? nullptr : member(*choice, "message");
  if (message == nullptr || !message->is_object()) return failed("the answer holds no message", true);
  Reply reply;
  reply.content = message_content(*message);
  reply.reasoning = reasoning_of(*message);
  reply.refusal = string_of(*message, "refusal");
  reply.calls = message_calls(*message);
  if (const Json* old = member(*message, "function_call"); old != nullptr && reply.calls.empty())
    reply.calls.push_back({"", string_of(*old, "name"), string_of(*old, "arguments")});
  if (reply.calls.size() > kMostCalls) reply.calls.resize(kMostCalls);
  name_calls(reply);
  read_usage(j, reply.usage);
  reply.finish = finish_from(string_of(*choice, "finish_reason"), reply);
  return {std::move(reply), "", 0, false};
}

ChatAnswer chat_from_stream(std::string_view body) {
  StreamReader reader;
  std::string data;
  bool pending = false;
  for (std::string_view line : text_split(body, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("data:")) {
      line.remove_prefix(5);
      if (line.starts_with(' ')) line.remove_prefix(1);
      data += (pending ? "\n" : "") + std::string(line);
      pending = true;
    } else if (line.empty() && pending) {
      if (!reader.data(data)) break;
      data.clear();
      pending = false;
    }  // else: a comment, a keep-alive, another field
  }
  return reader.finish();
}

std::string chat_error(std::string_view body) {
  const Json j = json_read(body);
  if (const Json* error = member(j, "error")) return error_answer(*error).error;
  for (const char* key : {"message", "detail"})
    if (std::string text = string_of(j, key); !text.empty()) return text;
  return text_printable(text_trim(body).substr(0, 300));
}

Json chat_messages(const std::vector<Json>& messages, bool reasoning) {
  Json out = Json::array();
  for (const Json& m : messages) {
    Json copy = m;
    copy.erase("refusal");
    if (!reasoning) copy.erase("reasoning_content");
    if (copy.contains("tool_calls") && message_content(copy).empty()) copy["content"] = nullptr;
    out.push_back(std::move(copy));
  }
  return out;
}

}  // namespace passnet::agent
