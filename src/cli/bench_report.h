// Tables of records, for people.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/record.h"
#include "bench/score.h"

namespace passnet::cli {

// One line: the graph, the candidate, its status, and how fast it is: "2.31x (2.25 to 2.36)", "1.01x, within noise".
std::string record_text(const Record& record);
std::string speedup_text(const Ratio& ratio);

// A column a candidate: AS, ES(t), fast_p, share right, share slower than eager, failures by status, best and worst
// tasks.
std::string bench_table(std::span<const Record> records, const ScoreOptions& options = {});

// Records of one candidate, gathered by task in their order.
std::vector<ScoreTask> score_tasks_of(std::span<const Record> records, const std::string& candidate);
std::vector<std::string> candidates_of(std::span<const Record> records);

}  // namespace passnet::cli
