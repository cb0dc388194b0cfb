// Recorded attempts in the formats that trainers read. docs/agent.schema.json says what each line is.
#pragma once

#include <span>

#include "agent/events.h"

namespace passnet::agent {

struct ExportContext {
  std::string experiment;  // the run's name
};

struct ExportFormat {
  std::string_view name, meaning;
  std::string (*text)(const Attempt& attempt, const ExportContext& context);  // a line, or for people many
  std::string (*beside)(const Attempt& attempt,
                        const ExportContext& context);  // of FILE_completions.jsonl; may be null
};
std::span<const ExportFormat> export_formats();
const ExportFormat* export_format(std::string_view name);

struct ExportFilter {
  bool successes = false;      // right, with a score over `success`
  bool improvements = false;   // better than what it started from: the author's score, or eager's 1
  bool best_per_task = false;  // the one with the highest score
  bool unique = false;         // of those with the same answers, the first
  double success = 1;
};
// Ended attempts that pass, in their order.
std::vector<const Attempt*> export_select(const std::vector<Attempt>& attempts, const ExportFilter& filter);

// The score that an attempt is worth: its best, or what a failure counts.
double attempt_reward(const Attempt& attempt);
// The conversation: every message in order.
std::vector<Json> attempt_messages(const Attempt& attempt);

// The formats, a file each.
std::string export_r2e(const Attempt& attempt, const ExportContext& context);
std::string export_completions(const Attempt& attempt, const ExportContext& context);
std::string export_openai(const Attempt& attempt, const ExportContext& context);
std::string export_sharegpt(const Attempt& attempt, const ExportContext& context);
std::string export_transcript(const Attempt& attempt, const ExportContext& context);

}  // namespace passnet::agent
