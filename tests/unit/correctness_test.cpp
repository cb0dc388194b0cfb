// Comparing outputs: a wrong answer takes no longer than a right one. The sweep itself is compared with torch.allclose
// (tests/differential/correctness.py).
#include "bench/correctness.h"

#include <gtest/gtest.h>

#include <chrono>

namespace passnet {
namespace {

TEST(Correctness, WrongEverywhere) {
  constexpr std::int64_t kCount = 4 << 20;
  const std::vector<float> expected(kCount, 1.0F);
  std::vector<float> got(kCount, 2.0F);
  got[5] = 1.0F;
  got[7] = 4.0F;
  const auto begin = std::chrono::steady_clock::now();
  const OutputComparison out = compare(Dtype::float32, expected.data(), got.data(), kCount);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 5);  // takes 0.05
  EXPECT_EQ(out.wrong, kCount - 1);
  EXPECT_EQ(out.worst, 7);
  EXPECT_EQ(out.max_diff, 3);
}

}  // namespace
}  // namespace passnet
