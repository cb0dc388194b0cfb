// Which inputs are drawn: what stays as recorded, what varies, and what is tried where eager fails.
#include "bench/draws.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace passnet {
namespace {

constexpr Draw kHard{7, 4, Normals::far, true};

TensorMeta meta(Dtype dtype, std::vector<std::int64_t> shape) {
  TensorMeta out;
  out.name = "x";
  out.dtype = dtype;
  out.shape = std::move(shape);
  return out;
}
TensorMeta of_data(std::vector<std::int64_t> integers) {
  TensorMeta out = meta(Dtype::int64, {static_cast<std::int64_t>(integers.size())});
  out.data = TensorData{std::move(integers), {}};
  return out;
}
TensorMeta of_value(std::int64_t value) {
  TensorMeta out = meta(Dtype::int64, {128});
  out.min_val = out.max_val = MetaNumber{static_cast<double>(value), value, true};
  return out;
}
TensorMeta drawn(const TensorMeta& m, const Draw& draw = kHard, DeviceType device = DeviceType::cpu) {
  return drawn_metas({m}, draw, device)[0];
}
std::pair<std::int64_t, std::int64_t> bounds(const TensorMeta& m) { return {m.min_val->integer, m.max_val->integer}; }

TEST(Draws, TheRecordedOneIsAsRecorded) {
  const std::vector<Draw> draws = check_draws(1024, 2, {}, 99);
  ASSERT_EQ(draws.size(), 3U);
  EXPECT_TRUE(draws[0].recorded());
  EXPECT_EQ(draws[0].seed, 1024U);
  EXPECT_EQ(drawn(of_data({3, 1, 2}), draws[0]).data->integers, (std::vector<std::int64_t>{3, 1, 2}));
  EXPECT_NE(draws[1].seed, check_draws(1024, 2, {}, 98)[1].seed);  // another text, other seeds
}

TEST(Draws, ContentsChangePlaces) {
  std::vector<std::int64_t> values(64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i);
  const std::vector<std::int64_t> other = drawn(of_data(values)).data->integers;
  EXPECT_NE(other, values);
  EXPECT_TRUE(std::is_permutation(other.begin(), other.end(), values.begin()));
  EXPECT_EQ(drawn(of_data(values), {7, 4, Normals::far, false}).data->integers, values);
}

TEST(Draws, LiteralsOfTheGraphAreAmongContents) {
  std::vector<std::int64_t> values(256);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 5 + static_cast<std::int64_t>(i);
  const TensorMeta other = drawn_metas({of_data(values)}, kHard, DeviceType::cuda, {1, 1000})[0];
  const auto& contents = other.data->integers;
  EXPECT_NE(std::find(contents.begin(), contents.end(), 1), contents.end());
  EXPECT_EQ(std::find(contents.begin(), contents.end(), 1000), contents.end());  // no index is larger than before
}

TEST(Draws, LiteralsOfTheGraphAreInRanges) {
  TensorMeta ids = meta(Dtype::int64, {4, 64});
  ids.min_val = MetaNumber{2, 2, true};
  ids.max_val = MetaNumber{30521, 30521, true};
  const TensorMeta other = drawn_metas({ids}, kHard, DeviceType::cuda, {0, 7, 40000})[0];
  ASSERT_TRUE(other.data);
  const auto& contents = other.data->integers;
  EXPECT_EQ(contents.size(), 256U);
  EXPECT_GT(std::count(contents.begin(), contents.end(), 7), 1);
  EXPECT_GE(*std::min_element(contents.begin(), contents.end()), 2);
  EXPECT_LE(*std::max_element(contents.begin(), contents.end()), 30521);
  EXPECT_FALSE(drawn_metas({ids}, kHard, DeviceType::cpu, {0})[0].data);
}

TEST(Draws, SparseOnesAreOneNumberNearlyEverywhere) {
  const std::vector<Draw> draws = check_draws(1024, 2, {.lone_elements = true}, 99);
  ASSERT_EQ(draws.size(), 9U);
  std::set<double> numbers;
  for (std::size_t i = 1; i < 7; ++i) {
    ASSERT_TRUE(draws[i].sparse);
    EXPECT_FALSE(milder(draws[i]));
    const TensorMeta x = drawn(meta(Dtype::float32, {8, 100}), draws[i]),
                     mask = drawn(meta(Dtype::boolean, {8, 100}), draws[i]);
    if (mask.data) {
      const auto ones = std::count(mask.data->integers.begin(), mask.data->integers.end(), 1);
      EXPECT_TRUE(ones <= 4 || ones >= 796);
    }
    if (!x.data) continue;
    EXPECT_GE(std::count(x.data->reals.begin(), x.data->reals.end(), 0.0), 796);
    numbers.insert(x.data->reals.begin(), x.data->reals.end());
  }
  EXPECT_TRUE(numbers.contains(8) || numbers.contains(-8));
  EXPECT_FALSE(draws[7].sparse);
}

TEST(Draws, OneValueBecomesSmallerOnes) {
  const std::vector<std::int64_t> other = drawn(of_data(std::vector<std::int64_t>(64, 3))).data->integers;
  const std::set<std::int64_t> values(other.begin(), other.end());
  EXPECT_GT(values.size(), 1U);
  EXPECT_GE(*values.begin(), 0);
  EXPECT_LE(*values.rbegin(), 3);
  EXPECT_EQ(bounds(drawn(of_value(5))), std::pair(std::int64_t{0}, std::int64_t{5}));
  EXPECT_EQ(bounds(drawn(of_value(-5))), std::pair(std::int64_t{-5}, std::int64_t{0}));
}

TEST(Draws, ZerosGrowOnlyWhereEagerSurvivesIt) {
  EXPECT_EQ(bounds(drawn(of_value(0))), std::pair(std::int64_t{0}, std::int64_t{1}));
  EXPECT_EQ(bounds(drawn(of_value(0), kHard, DeviceType::cuda)), std::pair(std::int64_t{0}, std::int64_t{0}));
}

TEST(Draws, OneNumberMayBeASize) {
  EXPECT_EQ(drawn(of_data({12})).data->integers, std::vector<std::int64_t>{12});
  TensorMeta real = meta(Dtype::float32, {1});
  real.data = TensorData{{}, {0.5}};
  EXPECT_NE(drawn(real).data->reals[0], 0.5);
}

TEST(Draws, ContentsThatAHalfDoesNotHoldAreFinite) {
  constexpr double kLeast = -3.4028234663852886e38, kInf = std::numeric_limits<double>::infinity();
  TensorMeta mask = meta(Dtype::bfloat16, {2});
  mask.data = TensorData{{}, {0.0, kLeast}};
  EXPECT_EQ(drawn(mask).data->reals, (std::vector<double>{-0x1.fep+127, 0.0}));
  mask.dtype = Dtype::float16;
  EXPECT_EQ(drawn(mask).data->reals, (std::vector<double>{-65504.0, 0.0}));
  mask.dtype = Dtype::float32;
  EXPECT_EQ(drawn(mask).data->reals, (std::vector<double>{kLeast, 0.0}));
  mask.dtype = Dtype::bfloat16;
  mask.data->reals = {0.0, -kInf};  // it was meant
  EXPECT_EQ(drawn(mask).data->reals, (std::vector<double>{-kInf, 0.0}));
  mask.data->reals = {kLeast, kLeast, kLeast, kLeast, kLeast, kLeast, kLeast, kLeast};
  const TensorMeta moved = drawn(mask);
  for (const double x : moved.data->reals) EXPECT_GE(x, -0x1.fep+127);
}

TEST(Draws, AFewAreNeverAsRecorded) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Draw draw{seed, 4, Normals::far, true};
    EXPECT_NE(drawn(of_data({1, 1}), draw).data->integers, (std::vector<std::int64_t>{1, 1}));
    EXPECT_NE(drawn(of_data({0, 1}), draw).data->integers, (std::vector<std::int64_t>{0, 1}));
    TensorMeta ones = meta(Dtype::int64, {1, 3});
    ones.min_val = ones.max_val = MetaNumber{1, 1, true};
    EXPECT_NE(drawn(ones, draw).data->integers, (std::vector<std::int64_t>{1, 1, 1}));
  }
}

TEST(Draws, ASignIsKeptWhereAllNumbersHaveIt) {
  TensorMeta degree = meta(Dtype::float32, {128});
  degree.mean = 1.1;
  degree.std = 0.3;
  const Draw draw{7, 4, Normals::zeros, true, true};
  EXPECT_EQ(drawn(degree, draw).min_val->real, 0);
  EXPECT_FALSE(drawn(degree, draw).max_val);
  degree.mean = -1.1;
  EXPECT_EQ(drawn(degree, draw).max_val->real, 0);
  degree.std = 1.2;
  EXPECT_FALSE(drawn(degree, draw).max_val);
}

TEST(Draws, ConstantsSpread) {
  TensorMeta constant = meta(Dtype::float32, {8});
  constant.mean = 2;
  constant.std = 0;
  constant.min_val = constant.max_val = MetaNumber{2, 2, true};
  const TensorMeta other = drawn(constant);
  EXPECT_GT(*other.std, 0);
  EXPECT_FALSE(other.min_val || other.max_val);
  constant.std = 0.5;
  EXPECT_EQ(*drawn(constant).std, 2);
}

TEST(Draws, MilderComesToAnEnd) {
  int steps = 0;
  Draw last = kHard;
  for (std::optional<Draw> draw = kHard; draw; draw = milder(*draw), ++steps) last = *draw;
  EXPECT_EQ(steps, 8);
  EXPECT_EQ(last.spread, 1);
  EXPECT_EQ(last.normals, Normals::quick);
  EXPECT_FALSE(last.varied);
}

}  // namespace
}  // namespace passnet
