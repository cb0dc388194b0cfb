// A time limit for what cannot be asked to stop: compiled code that loops.
#pragma once

#include "base/error.h"

namespace passnet::cli {

// While it lives: after `seconds` the error is written, and the process ends with exit code 1. One at a time.
class TimeLimit {
 public:
  TimeLimit(int seconds, const Error& error);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
};

}  // namespace passnet::cli
