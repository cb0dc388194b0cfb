// Any bytes as an endpoint's answer, whole and as a stream: a reply whose calls can be answered, or an error in words.
#include <cstdlib>
#include <iostream>
#include <set>
#include <string>

#include "agent/chat.h"
#include "fuzz_one.h"

namespace {

using namespace passnet;
using namespace passnet::agent;

[[noreturn]] void broken(std::string_view why, const std::string& text) {
  std::cerr << why << '\n' << text << '\n';
  std::abort();
}

void check(const ChatAnswer& answer, const std::string& text) {
  if (!answer.reply) {
    if (answer.error.empty()) broken("an error that says nothing", text);
    return;
  }
  const Reply& reply = *answer.reply;
  std::set<std::string> ids;
  for (const ToolCall& c : reply.calls)
    if (c.id.empty() || !ids.insert(c.id).second) broken("a call that cannot be answered", text);
  if ((reply.finish == Finish::tool_calls) && reply.calls.empty()) broken("calls without a call", text);
  const Json message = reply_message(reply);
  const std::vector<ToolCall> again = message_calls(json_read(json_text(message)));
  if (again.size() != reply.calls.size()) broken("a message that says other calls", json_text(message));
  for (std::size_t i = 0; i < again.size(); ++i)
    if (again[i].arguments != reply.calls[i].arguments || again[i].name != reply.calls[i].name)
      broken("a call that is another", json_text(message));
}

}  // namespace

int fuzz_one(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(chat_from_body(text), text);
  check(chat_from_stream(text), text);
  if (chat_error(text).size() > text.size() * 8 + 300) broken("an error longer than what came", text);
  return 0;
}
