// For differential/correctness.py: reads pairs of tensors and prints how PassNet compares them.
//   compare_tool < CASES    each case: a line `dtype count`, then the bytes of the expected and of the other tensor
//   prints `tightest_t max_diff wrong` a line, tightest_t 6 for none; and first one line `t rtol atol` of each law
#include <cstdio>
#include <string>
#include <vector>

#include "bench/correctness.h"

using namespace passnet;

int main() {
  for (std::size_t law = 0; law < kLaws; ++law)
    for (int t = kTightest; t <= kLoosest; ++t) {
      const Tolerance at = tolerance(law, t);
      std::printf("%s %d %.17g %.17g\n", dtype_row(kLawDtypes[law]).name.data(), t, at.rtol, at.atol);
    }
  char name[32];
  long long count = 0;
  while (std::scanf("%31s %lld", name, &count) == 2) {
    std::getchar();  // the end of the line
    const Dtype dtype = *dtype_from_name(name);
    const std::size_t bytes = static_cast<std::size_t>(count) * dtype_row(dtype).size;
    std::vector<double> expected(bytes / 8 + 1), got(bytes / 8 + 1);  // aligned for every dtype
    if (std::fread(expected.data(), 1, bytes, stdin) != bytes || std::fread(got.data(), 1, bytes, stdin) != bytes)
      return 1;
    const OutputComparison c = compare(dtype, expected.data(), got.data(), count);
    std::printf("%d %.17g %lld\n", c.tightest_t, c.max_diff, static_cast<long long>(c.wrong));
  }
  return 0;
}
