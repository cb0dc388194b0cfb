#include "agent/loop.h"

#include <fmt/format.h>

#include <chrono>

#include "agent/tools.h"
#include "base/text.h"

namespace passnet::agent {

namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }
constexpr const char* kNudge = "no_tool.md";
constexpr int kNudges = 1;  // times that an answer without a tool call is no end, as long as nothing is scored

class Loop {
 public:
  Loop(Session& session, const LoopSetup& setup, const Attempt& before) : s_(session), setup_(setup), before_(before) {}

  bool run() {
    if (before_.begun())
      repeat();
    else
      begin();
    while (!setup_.stopped()) {
      if (!run_calls()) return false;
      if (const char* reason = over_limit()) return end(reason);
      const auto asked = Clock::now();
      Result<Reply> reply = ask();
      if (setup_.stopped()) return false;
      if (!reply) return end(kModelError, error_line(reply.error()));
      take(*reply, since(asked));
      if (!calls_.empty()) continue;
      if (reply->finish == Finish::refused) return end(kByAgent, "the model refused: " + reply->refusal);
      if (reply->finish == Finish::length)
        note("truncated.md");
      else if (!s_.best() && nudges_++ < kNudges)
        note(kNudge);
      else
        return end(kByAgent);
    }
    return false;
  }

 private:
  void append(const char* event, Json more) {
    Json out = {{"event", event}, {"task", before_.task}, {"attempt", before_.attempt}};
    out.update(more);
    setup_.log.append(std::move(out));
  }
  void say(Json message) { messages_.push_back(std::move(message)); }
  double seconds() const { return earlier_ + since(started_); }

  void begin() {
    s_.workspace().set_passes({}).take();
    std::string start = "pass_dir/ is empty.";
    ToolResult result;
    const Result<Files> authored = setup_.start_author ? s_.author_files(setup_.author_measure) : Files{};
    if (authored && !authored->empty()) {
      s_.workspace().set_passes(*authored).take();
      result = s_.call("pass_evaluator", Json::object());
      start = "pass_dir/ holds the built-in author's passes. They were evaluated:\n" + result.text;
    }
    const LoopLimits& l = setup_.limits;
    say({{"role", "system"}, {"content", setup_.prompts.text("system.md", {{"steps", std::to_string(l.steps)}})}});
    say({{"role", "user"},
         {"content", setup_.prompts.text("task.md", {{"task", before_.task},
                                                     {"graphs", problem_statement(s_.task())},
                                                     {"start", start},
                                                     {"steps", std::to_string(l.steps)}})}});
    append("begin", {{"version", kEventsVersion},
                     {"model", setup_.model_name},
                     {"start", setup_.start_author ? "author" : "empty"},
                     {"limits", limits_json(l, s_.options().evaluation_seconds)},
                     {"agent_args", setup_.agent_args},
                     {"graphs", graph_names(s_.task())},
                     {"tools", tools_for_chat()},
                     {"messages", messages_},
                     {"files", files_json(s_.workspace().passes())},
                     {"result", result_json(result)}});
  }

  // What the log says happened, once more: messages, files, the best, what is spent.
  void repeat() {
    s_.workspace().set_passes(files_from(before_.begin()["files"])).take();
    for (const Json& event : before_.events) {
      const std::string kind = event["event"].get<std::string>();
      if (event.contains("result")) s_.repeat(result_from(event["result"]));
      if (kind == "begin")
        for (const Json& message : event["messages"]) say(message);
      if (event.contains("message")) say(event["message"]);
      if (event.contains("seconds") && event["seconds"].is_number()) earlier_ += event["seconds"].get<double>();
      if (kind == "result" && !calls_.empty()) calls_.erase(calls_.begin());
      nudges_ += event.value("prompt", "") == kNudge ? 1 : 0;
      if (kind != "reply") continue;
      ++steps_;
      calls_ = message_calls(event["message"]);
      cut_ = event.value("finish", "") == finish_name(Finish::length);
      if (event.contains("tokens") && event["tokens"].is_object())
        tokens_ = event["tokens"].value("total", std::int64_t{0});
    }
  }

  Result<Reply> ask() {
    const double left = std::min(setup_.limits.call_seconds, setup_.limits.seconds - seconds());
    return setup_.model.answer({messages_, tools_for_chat(), before_.task, before_.attempt, left, setup_.stopped});
  }

  void take(const Reply& reply, double seconds) {
    const Usage usage = reply.usage.known ? reply.usage : usage_estimate(messages_, reply);
    tokens_ = usage.total();
    ++steps_;
    say(reply_message(reply));
    calls_ = reply.calls;
    cut_ = reply.finish == Finish::length;
    append("reply", {{"step", steps_},
                     {"message", messages_.back()},
                     {"finish", finish_name(reply.finish)},
                     {"tokens", usage_json(usage)},
                     {"tries", reply.tries},
                     {"seconds", seconds}});
  }

  // False: stopped.
  bool run_calls() {
    while (!calls_.empty()) {
      const ToolCall call = calls_.front();
      const auto began = Clock::now();
      ToolResult result = s_.call_text(call.name, call.arguments);
      if (setup_.stopped()) return false;
      calls_.erase(calls_.begin());
      if (cut_ && result.error) result.text += "\nYour answer was cut off at its token limit: write less at once.";
      if (calls_.empty())
        result.text = std::string(text_trim(result.text)) + "\n\n" +
                      setup_.prompts.text("steps.md", {{"steps", std::to_string(setup_.limits.steps - steps_)}});
      say({{"role", "tool"}, {"tool_call_id", call.id}, {"content", result.text}});
      append("result", {{"step", steps_},
                        {"tool", call.name},
                        {"message", messages_.back()},
                        {"result", result_json(result)},
                        {"seconds", since(began)}});
    }
    return true;
  }

  void note(const char* prompt) {
    say({{"role", "user"},
         {"content", setup_.prompts.text(prompt, {{"steps", std::to_string(setup_.limits.steps - steps_)}})}});
    append("note", {{"step", steps_}, {"prompt", prompt}, {"message", messages_.back()}});
  }

  const char* over_limit() const {
    if (steps_ >= setup_.limits.steps) return kStepLimit;
    if (tokens_ >= setup_.limits.tokens) return kTokenLimit;
    if (seconds() >= setup_.limits.seconds) return kTimeLimit;
    return nullptr;
  }

  bool end(const char* reason, const std::string& why = "") {
    if (s_.edited()) {
      const auto began = Clock::now();
      const ToolResult last = s_.call("pass_evaluator", Json::object());
      if (setup_.stopped()) return false;
      append("final",
             {{"step", steps_}, {"content", last.text}, {"result", result_json(last)}, {"seconds", since(began)}});
    }
    s_.restore_best();
    Json out = {
        {"reason", reason}, {"steps", steps_}, {"seconds", seconds()}, {"files", files_json(s_.workspace().passes())}};
    if (!why.empty()) out["why"] = why;
    if (s_.best()) out["score"] = s_.best()->score;
    if (s_.best()) out["correct"] = s_.best()->correct;
    append("end", std::move(out));
    return true;
  }

  Session& s_;
  const LoopSetup& setup_;
  const Attempt& before_;
  std::vector<Json> messages_;
  std::vector<ToolCall> calls_;  // of the last answer, not yet done
  bool cut_ = false;             // the last answer was
  int steps_ = 0, nudges_ = 0;
  std::int64_t tokens_ = 0;
  double earlier_ = 0;  // seconds of what was repeated
  Clock::time_point started_ = Clock::now();
};

}  // namespace

bool run_attempt(Session& session, const LoopSetup& setup, const Attempt& before) {
  session.cancelled = setup.stopped;
  return Loop(session, setup, before).run();
}

}  // namespace passnet::agent
