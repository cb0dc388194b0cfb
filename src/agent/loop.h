// One attempt at one task: ask the model, do what it calls for, until it is done or a limit is reached. Every step is
// in the event log before the next begins, so a stop loses at most the step in flight.
#pragma once

#include "agent/events.h"
#include "agent/prompts.h"

namespace passnet::agent {

struct LoopSetup {
  Model& model;
  std::string model_name;
  EventLog& log;
  const Prompts& prompts;
  LoopLimits limits;
  bool start_author = false;  // from the author's passes instead of an empty folder
  bool author_measure = true;
  Json agent_args = Json::object();  // what else is worth recording: temperature, seed, endpoint
  std::function<bool()> stopped = [] { return false; };
};

// Why an attempt ended, as the trajectories of others name it.
inline constexpr const char* kByAgent = "agent";
inline constexpr const char* kTokenLimit = "token_limit";
inline constexpr const char* kStepLimit = "step_limit";
inline constexpr const char* kTimeLimit = "traj_time_limit";
inline constexpr const char* kModelError = "llm_query_error";

// Goes on where `before` ended. False: stopped, and can go on. Throws the environment's errors.
bool run_attempt(Session& session, const LoopSetup& setup, const Attempt& before);

}  // namespace passnet::agent
