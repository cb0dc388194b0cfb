// How fast graphs are read and checked: parse, build, verify, metas, bind every operator; one core, files in the page
// cache.
//   check_graphs LIST ROOT [REPEATS]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "fx/folder.h"
#include "ops/lower.h"

using namespace passnet;
using Clock = std::chrono::steady_clock;

int main(int argc, char** argv) {
  if (argc < 3) return fmt::print(stderr, "usage: check_graphs LIST ROOT [REPEATS]\n"), 2;
  std::vector<std::string> graphs = file_read_list(argv[1]).take();
  for (std::string& g : graphs) g = fmt::format("{}/{}", argv[2], text_split(g, '\t').back());
  const int repeats = argc > 3 ? std::atoi(argv[3]) : 5;
  std::vector<double> read_rate, check_rate;
  std::size_t bytes = 0;
  for (const std::string& g : graphs)
    for (const char* name : {"/model.py", "/weight_meta.py", "/input_meta.py"})
      if (const auto text = file_read(g + name)) bytes += text->size();
  for (int i = 0; i <= repeats; ++i) {  // the first round warms the page cache and the tables
    for (const bool check : {false, true}) {
      const auto begin = Clock::now();
      for (const std::string& g : graphs) {
        const GraphFolder folder = read_graph_folder(g).take();
        if (check) lower_graph(folder.graph).take();
      }
      const double rate =
          static_cast<double>(graphs.size()) / std::chrono::duration<double>(Clock::now() - begin).count();
      if (i > 0) (check ? check_rate : read_rate).push_back(rate);
    }
  }
  const auto median = [](std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
  };
  fmt::print("{} graphs, {:.1f} KB each\n", graphs.size(),
             static_cast<double>(bytes) / 1e3 / static_cast<double>(graphs.size()));
  fmt::print("read                {:>9.0f} graphs/s\n", median(read_rate));
  fmt::print("read and check      {:>9.0f} graphs/s\n", median(check_rate));
  return 0;
}
