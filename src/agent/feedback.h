// A verdict in words for whoever writes the passes: what failed where, with both values; what is slow and why; one
// hint.
#pragma once

#include <string>

#include "agent/judge.h"

namespace passnet::agent {

enum class Detail : std::uint8_t { brief, full };

struct FeedbackContext {
  const Task& task;
  std::string pass_dir;
  double copy_rate = 0;        // 0: not known
  std::optional<double> best;  // the best score before this one
  MatchMode match = MatchMode::normal;
};

std::string feedback(const Verdict& verdict, const FeedbackContext& context, Detail detail);

}  // namespace passnet::agent
