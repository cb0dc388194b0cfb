// The original's log: written from records, and read back into rows for the score.
//
// A log is text for people and for the original's tools: lines with a prefix, of which only a few mean something. What
// the grammar cannot say is said as it can: timeout, crash, integrity and unstable are runtime errors there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/record.h"
#include "bench/score.h"

namespace passnet {

inline constexpr std::string_view kLogPrefix = "graph-net-test-compiler-log";
inline constexpr std::size_t kLogLimit = std::size_t{2} << 30;  // of a log file that is read

// The lines of one record. Text of others (messages, names) is changed where it would read as a line of the grammar.
std::string log_text(const Record& record);

struct LogSample {
  std::string path;  // of the graph
  std::string task;  // `[Config] task`, which only we write; else empty
  ScoreRow row;
};
// Every sample, in order. Any bytes: what is no line of the grammar says nothing.
std::vector<LogSample> log_read(std::string_view text);

}  // namespace passnet
