// Tables of records, for people.
#pragma once

#include <string>

#include "bench/record.h"
#include "bench/results.h"

namespace passnet::cli {

// One line: the graph, the candidate, its status, and how fast it is: "2.31x (2.25 to 2.36)", "1.01x, within noise".
std::string record_text(const Record& record);
std::string speedup_text(const Ratio& ratio);

// A column a candidate: AS, ES(t), fast_p, share right, share slower than eager, failures by status, best and worst
// tasks.
std::string bench_table(const Results& results);

}  // namespace passnet::cli
