// What a run, a JSONL file or a log says, candidate by candidate: the input of scores and comparisons.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/score.h"
#include "bench/statistics.h"

namespace passnet {

struct GraphResult {
  std::string task, graph;
  Status status = Status::runtime_fail;  // a record's own; of a log, as far as its grammar tells
  ScoreRow row;
  Ratio speedup;  // with its interval, where there is one
};

struct CandidateResults {
  std::string candidate;
  std::vector<GraphResult> graphs;
  std::int64_t finished = 0;  // the last record's; 0: unknown

  std::vector<ScoreTask> tasks() const;  // in the order of their first graphs
  std::map<Status, std::size_t> statuses() const;
};

struct Results {
  std::vector<CandidateResults> candidates;  // in the order of their first records
  std::vector<std::string> notes;            // lines that are no records, a torn last line
};

// A run folder, its records.jsonl or any such file, or a log; told apart by what is in it. Each has a graph, or it is
// an error.
Result<Results> results_read(const std::string& path);
// The same for records in memory, the latest attempt of each.
Results results_of(std::vector<Record> records);
// A run's, from its index; without the intervals of speedups.
Result<Results> results_of_run(const std::string& folder);

}  // namespace passnet
