// How fast pass folders are loaded: order file, parse, policy, pattern, replacement arguments, wrapper; and a wrapper's
// plan recorded. One core, files in the page cache.
//   load_pass REPEATS FOLDER...
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "pass/load.h"

using namespace passnet;
using Clock = std::chrono::steady_clock;

int main(int argc, char** argv) {
  if (argc < 3) return fmt::print(stderr, "usage: load_pass REPEATS FOLDER...\n"), 2;
  const int repeats = std::max(std::atoi(argv[1]), 1);
  std::vector<double> medians;
  for (int f = 2; f < argc; ++f) {
    std::vector<double> times;
    for (int i = 0; i <= repeats; ++i) {
      const auto begin = Clock::now();
      const auto folder = load_pass_folder(argv[f]);
      const double spent = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
      if (i > 0) times.push_back(spent);  // the first warms the page cache and the tables
    }
    std::sort(times.begin(), times.end());
    medians.push_back(times[times.size() / 2]);
  }
  std::sort(medians.begin(), medians.end());
  fmt::print("{} folders, loaded {} times each: median {:.3f} ms, slowest {:.3f} ms\n", medians.size(), repeats,
             medians[medians.size() / 2], medians.back());
  return 0;
}
