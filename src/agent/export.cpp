#include "agent/export.h"

#include <algorithm>
#include <set>

#include "agent/runner.h"
#include "base/hash.h"

namespace passnet::agent {

namespace {

constexpr double kFailure = 0.1;

constexpr ExportFormat kFormats[] = {
    {"r2e", "R2E-Gym trajectories, and beside them the conversations", export_r2e, export_completions},
    {"openai", "OpenAI fine-tuning: messages and tools", export_openai, nullptr},
    {"sharegpt", "ShareGPT conversations with function calls", export_sharegpt, nullptr},
    {"transcript", "for people", export_transcript, nullptr},
};

double start_score(const Attempt& a) {
  const Json& begin = a.begin();
  const double eager = 1;
  return begin.contains("result") ? result_from(begin["result"]).score.value_or(eager) : eager;
}

// What the model said, whatever was answered.
std::string answers_hash(const Attempt& a) {
  Json all = {a.task};
  for (const Json& event : a.events)
    if (event["event"] == "reply") {
      Json message = event["message"];
      if (message.contains("tool_calls") && message["tool_calls"].is_array())
        for (Json& call : message["tool_calls"])
          if (call.is_object()) call.erase("id");
      all.push_back(std::move(message));
    }
  return sha256_hex(json_text(all));
}

}  // namespace

std::span<const ExportFormat> export_formats() { return kFormats; }

const ExportFormat* export_format(std::string_view name) {
  for (const ExportFormat& f : kFormats)
    if (f.name == name) return &f;
  return nullptr;
}

double attempt_reward(const Attempt& a) { return attempt_score(a) > 0 ? attempt_score(a) : kFailure; }

std::vector<Json> attempt_messages(const Attempt& a) {
  std::vector<Json> out;
  for (const Json& m : a.begin()["messages"]) out.push_back(m);
  for (const Json& event : a.events)
    if (event.contains("message")) out.push_back(event["message"]);
  return out;
}

std::vector<const Attempt*> export_select(const std::vector<Attempt>& attempts, const ExportFilter& filter) {
  std::vector<const Attempt*> out;
  std::set<std::string> seen;
  for (const Attempt& a : attempts) {
    if (!a.ended()) continue;
    if (filter.successes && !attempt_success(a, filter.success)) continue;
    if (filter.improvements && attempt_score(a) <= start_score(a)) continue;
    if (filter.unique && !seen.insert(answers_hash(a)).second) continue;
    out.push_back(&a);
  }
  if (!filter.best_per_task) return out;
  std::erase_if(out, [&, all = out](const Attempt* a) {
    return std::any_of(all.begin(), all.end(), [&](const Attempt* b) {
      if (a->task != b->task || a == b) return false;
      return attempt_score(*b) > attempt_score(*a) ||
             (attempt_score(*b) == attempt_score(*a) && b->attempt < a->attempt);
    });
  });
  return out;
}

}  // namespace passnet::agent
