// Inside the library that has torch: numbers of inputs, whose bits are the same whichever loops make them.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "exec/aten/fill.h"
#include "exec/aten/large_pages.h"
#include "exec/aten/normals.h"

namespace passnet {
namespace {

std::vector<std::uint32_t> state_of(std::uint32_t seed) {
  std::vector<std::uint32_t> out(624);
  for (std::uint32_t& word : out) word = seed = mixed(seed + 1);
  return out;
}
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST(Fill, TheLoopsForThisProcessorGiveThePlainOnesBits) {
  const FillLoops &plain = kPlainLoops, &own = fill_loops();
  for (const std::uint32_t seed : {0U, 1U, 7U, 123456789U}) {
    std::vector<std::uint32_t> a = state_of(seed), b = a;
    for (int i = 0; i < 3; ++i) {
      plain.twist(a.data());
      own.twist(b.data());
      EXPECT_EQ(a, b);
    }
    for (const std::int64_t count : {1, 7, 100, 624}) {
      std::vector<float> x(static_cast<std::size_t>(count), -1), y = x;
      plain.uniform(a.data(), x.data(), count);
      own.uniform(a.data(), y.data(), count);
      EXPECT_TRUE(same(x, y));
      for (const float v : x) EXPECT_TRUE(v >= 0 && v < 1);

      x[0] = y[0] = std::numeric_limits<float>::quiet_NaN();
      x.back() = y.back() = -std::numeric_limits<float>::infinity();
      const Finish finish = {1.7F, 0.2F, -0.3F, -0.25F, std::numeric_limits<float>::infinity(), -100, 100};
      plain.finish(x.data(), count, finish);
      own.finish(y.data(), count, finish);
      EXPECT_TRUE(same(x, y));

      const QuickNormals quick = {seed, ~seed, 0x1p-15F, 0.5F, -1, 2};
      plain.quick(x.data(), count / 2, count, quick);
      own.quick(y.data(), count / 2, count, quick);
      EXPECT_TRUE(same(x, y));
    }
  }
}

TEST(Fill, NormalNumbersAreTorchs) {
  const int before = at::get_num_threads();
  for (const int threads : {1, 2}) {
    at::set_num_threads(threads);
    for (const std::int64_t n : {std::int64_t{5}, kFillGrain - 1, kFillGrain, 2 * kFillGrain, 2 * kFillGrain + 4096 + 3,
                                 7 * kFillGrain + 16 * 3 + 15}) {
      at::manual_seed(42);
      const at::Tensor theirs = at::randn(n), after = at::randn(20);
      at::manual_seed(42);
      const at::Tensor ours = torch_normals(n);
      EXPECT_EQ(std::memcmp(ours.data_ptr(), theirs.data_ptr(), static_cast<std::size_t>(n) * sizeof(float)), 0) << n;
      EXPECT_TRUE(at::randn(20).equal(after)) << n << ": the generator stands elsewhere";
    }
  }
  at::set_num_threads(before);
}

// Without them inputs are made by one thread, four times as slow: right, but nobody would notice.
TEST(Fill, OurLoopsAreInUseWhereTheyAreKnownToBeTorchs) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    EXPECT_TRUE(own_loops_are_torchs());
    return;
  }
#endif
  GTEST_SKIP() << (own_loops_are_torchs() ? "in use" : "not in use");
}

TEST(LargePages, StridesAndSizesAreThoseAskedFor) {
  const at::Tensor small = empty_on_large_pages({3, 4}, {1, 3}, at::kHalf);
  EXPECT_EQ(small.strides(), (std::vector<std::int64_t>{1, 3}));
  const at::Tensor large = empty_on_large_pages({1024, 1025}, at::kFloat);
  EXPECT_EQ(large.sizes(), (std::vector<std::int64_t>{1024, 1025}));
  EXPECT_TRUE(large.is_contiguous());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large.data_ptr()) % (2 << 20), 0U);
  large.fill_(3);
  EXPECT_EQ(large.data_ptr<float>()[large.numel() - 1], 3);
  EXPECT_EQ(empty_on_large_pages({0, 5}, at::kFloat).numel(), 0);
}

}  // namespace
}  // namespace passnet
