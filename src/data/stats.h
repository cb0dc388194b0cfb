// What a corpus holds, in figures: as a table for the terminal and as a page.
#pragma once

#include "data/facts.h"

namespace passnet::data {

struct Count {
  std::string name;
  std::size_t count = 0;
};

struct Quantiles {
  double smallest = 0, quarter = 0, median = 0, three_quarters = 0, largest = 0;
};

struct Stats {
  std::size_t graphs = 0, failed = 0, unique = 0, computations = 0, samples = 0;
  std::vector<Count> ops, dtypes, families;  // most frequent first; ops by the graphs that have them
  std::size_t calls = 0;                     // operators of all graphs together
  Quantiles op_counts, input_bytes, sample_sizes;
};

Stats count_stats(const std::vector<Facts>& facts);
std::string stats_table(const Stats& stats, std::size_t rows);
// One HTML page without scripts or links.
std::string stats_page(const Stats& stats, const std::string& title);

}  // namespace passnet::data
