// The event log of a run, RUN/events.jsonl: what happened, in order, as it happened. From it a stopped run goes on, and
// every format of trajectories is made.
//
//   begin   an attempt: the model, the limits, the tools, the first messages, the files it starts with
//   reply   what the model said: the message, why it ended, tokens, seconds
//   result  what a tool answered: the message, the files it changed, the score, whether it is the best so far
//   note    a message of ours to the model: cut off, no tool call
//   final   the last evaluation, of files that were edited and not evaluated
//   end     why it ended, the best score, the best files
#pragma once

#include "agent/model.h"
#include "agent/session.h"
#include "base/line_file.h"

namespace passnet::agent {

inline constexpr const char* kEventsFile = "events.jsonl";
inline constexpr int kEventsVersion = 1;

class EventLog {
 public:
  static Result<std::unique_ptr<EventLog>> open(const std::string& folder);
  // Adds the time. Any thread. Throws the environment's errors: what is not recorded did not happen.
  void append(Json event);
  std::uint64_t cut_bytes() const { return lines_->cut_bytes(); }

 private:
  std::unique_ptr<LineFile> lines_;
};

// What is known of one attempt.
struct Attempt {
  std::string task;
  int attempt = 0;
  std::vector<Json> events;  // in their order
  bool begun() const { return !events.empty(); }
  bool ended() const { return begun() && events.back().value("event", "") == "end"; }
  const Json& begin() const { return events.front(); }
  const Json& end() const { return events.back(); }
};
// In the order of their beginnings. Lines that are no events are left out and told.
struct Attempts {
  std::vector<Attempt> attempts;
  std::vector<std::string> problems;
};
// `path`: a run's folder or its events file.
Result<Attempts> events_read(const std::string& path);

struct LoopLimits {
  int steps = 100;               // answers of the model
  std::int64_t tokens = 131072;  // of the conversation
  double seconds = 14400;        // of the attempt
  double call_seconds = 600;     // of one answer, tries included
};

Json limits_json(const LoopLimits& limits, double evaluation_seconds);

Json changes_json(const Changes& changes);
Json files_json(const Files& files);
Files files_from(const Json& json);
Json result_json(const ToolResult& result);
ToolResult result_from(const Json& json);

}  // namespace passnet::agent
