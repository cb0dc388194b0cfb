// A model behind an endpoint of chat completions: request, tries, waits.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <random>
#include <thread>

#include "agent/chat.h"
#include "agent/http_client.h"
#include "agent/retry.h"

namespace passnet::agent {

namespace {

using Clock = std::chrono::steady_clock;

class ChatModel final : public Model {
 public:
  explicit ChatModel(ChatOptions options) : o_(std::move(options)) {
    while (o_.base_url.ends_with('/')) o_.base_url.pop_back();
  }

  Result<Reply> answer(const Request& request) override {
    const auto deadline =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(request.seconds));
    const auto left = [&] { return std::chrono::duration<double>(deadline - Clock::now()).count(); };
    HttpRequest http{o_.base_url + "/chat/completions", body(request), headers(), 0, request.cancelled};
    for (int tries = 1;; ++tries) {
      http.seconds = std::max(0.001, left());
      Result<HttpAnswer> got = http_post(http);
      const Headers& told = got ? got->headers : none_;
      Outcome outcome = got ? judge(*got) : Outcome{std::nullopt, got.error().message, true};
      if (outcome.reply) {
        outcome.reply->tries = tries;
        return std::move(*outcome.reply);
      }
      const std::string why = fmt::format("{} (try {} of {})", outcome.why, tries, o_.tries);
      if (!outcome.again || tries >= o_.tries || request.cancelled()) return Error{Code::io, {}, why, {}};
      const double wait = retry_delay(tries, told, std::time(nullptr), random());
      if (wait >= left()) return Error{Code::limit, {}, why + ", and no time is left for another", {}};
      for (const auto until = Clock::now() + std::chrono::duration<double>(wait);
           Clock::now() < until && !request.cancelled();)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

 private:
  struct Outcome {
    std::optional<Reply> reply;
    std::string why;
    bool again = false;
  };

  std::vector<std::string> headers() const {
    std::vector<std::string> out = {"Content-Type: application/json", "Accept: application/json, text/event-stream",
                                    "Expect:"};
    if (!o_.key.empty()) out.push_back("Authorization: Bearer " + o_.key);
    return out;
  }

  std::string body(const Request& request) const {
    Json out = {{"model", o_.model},
                {"messages", chat_messages(request.messages, o_.reasoning)},
                {"tools", request.tools},
                {"temperature", o_.temperature}};
    if (o_.seed) out["seed"] = *o_.seed + request.attempt;  // attempts are to differ
    if (o_.answer_tokens) out["max_tokens"] = *o_.answer_tokens;
    if (o_.stream) out["stream"] = true;
    if (o_.stream) out["stream_options"] = {{"include_usage", true}};
    out.update(o_.extra);
    return json_text(out);
  }

  Outcome judge(const HttpAnswer& http) const {
    if (http.status < 200 || http.status >= 300)
      return {std::nullopt, fmt::format("HTTP {}: {}", http.status, chat_error(http.body)),
              retry_worth(http.status, http.headers)};
    const auto type = http.headers.find("content-type");
    const bool stream = type != http.headers.end() && type->second.starts_with("text/event-stream");
    if (!http.whole && !stream) return {std::nullopt, "the answer was cut off", true};
    ChatAnswer answer = stream ? chat_from_stream(http.body) : chat_from_body(http.body);
    if (answer.reply) return {std::move(answer.reply), "", false};
    return {std::nullopt, answer.error, answer.again || (answer.code != 0 && retry_worth(answer.code, http.headers))};
  }

  double random() {
    const std::lock_guard hold(mutex_);
    return std::uniform_real_distribution<double>(0, 1)(random_);
  }

  ChatOptions o_;
  const Headers none_;
  std::mutex mutex_;
  std::mt19937 random_{std::random_device{}()};
};

}  // namespace

std::unique_ptr<Model> chat_model(ChatOptions options) { return std::make_unique<ChatModel>(std::move(options)); }

}  // namespace passnet::agent
