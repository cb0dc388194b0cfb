// The timing protocol over sides that only pretend.
#include <gtest/gtest.h>

#include "bench/record.h"
#include "bench/timing.h"

namespace passnet {
namespace {

// A side on a GPU: half the time is the device's, a warm call takes half as long.
class Pretended final : public Side {
 public:
  Pretended(double ms, bool gpu) : ms_(ms), gpu_(gpu) {}
  void before(int trial) override { trial_ = trial; }
  double call_ms() override {
    (trial_ >= 0 ? numbered : others) += 1;
    return now();
  }
  std::optional<double> gpu_ms() const override {
    return gpu_ && series_.events ? std::optional(now() / 2) : std::nullopt;
  }
  bool set_series(Series series) override {
    series_ = series;
    return gpu_;
  }
  int numbered = 0, others = 0;

 private:
  double now() const { return series_.warm ? ms_ / 2 : ms_; }
  double ms_;
  bool gpu_;
  Series series_;
  int trial_ = 0;
};

TEST(Timing, OnAGpu) {
  Pretended eager(0.3, true), compiled(0.1, true);
  const Timing t = time_sides(eager, compiled, {});
  EXPECT_EQ(t.eager.e2e.median, 0.3);
  EXPECT_EQ(t.eager.gpu.median, 0.15);
  EXPECT_EQ(t.compiled.gpu_ms.size(), static_cast<std::size_t>(kOtherTrials));
  EXPECT_DOUBLE_EQ(t.speedup.value, 3);
  EXPECT_DOUBLE_EQ(t.gpu_speedup.value, 3);
  EXPECT_EQ(t.compiled.warm_e2e.count, static_cast<std::size_t>(kOtherTrials));
  EXPECT_EQ(t.compiled.warm_e2e.median, 0.05);
  EXPECT_EQ(t.compiled.warm_gpu.median, 0.025);
  EXPECT_EQ(compiled.numbered, 100);  // the others are not compared
  EXPECT_EQ(compiled.others, 25 + 3 * kOtherTrials);
}

TEST(Timing, OnTheCpu) {
  Pretended eager(0.3, false), compiled(0.1, false);
  const Timing t = time_sides(eager, compiled, {});
  EXPECT_TRUE(t.eager.gpu_ms.empty());
  EXPECT_EQ(t.gpu_speedup.value, 0);
  EXPECT_EQ(t.eager.warm_e2e.count, 0U);
  EXPECT_EQ(compiled.others, 25);
}

TEST(Timing, SlowCallsGetFewTrialsAndNoRepeats) {
  for (const auto& [ms, trials] : {std::pair{500.0, 10}, {2900.0, 10}, {4000.0, 7}, {9000.0, 3}}) {
    Pretended eager(ms, false), compiled(1, false);
    const Timing t = time_sides(eager, compiled, {.noise_limit = -1});  // nothing is ever stable
    EXPECT_EQ(t.eager.e2e.count, static_cast<std::size_t>(trials)) << ms;
    EXPECT_LT(t.trial_seconds, std::max(20.0, 13 * ms / 1e3)) << ms;
  }
  Pretended eager(1, false), compiled(1, false);
  EXPECT_EQ(time_sides(eager, compiled, {.fewest = 1, .budget_s = 1e-9, .noise_limit = 1}).eager.e2e.count, 1U);
}

TEST(Timing, WarmUpsMadeBeforeAreNotMadeAgain) {
  Pretended eager(0.3, false), compiled(0.1, false);
  TimingOptions options;
  options.warmed = 3;
  EXPECT_EQ(time_sides(eager, compiled, options).warmups, 25);
  EXPECT_EQ(compiled.others, 22);
  options.warmup = 1;
  EXPECT_EQ(time_sides(eager, compiled, options).warmups, 3);
  Pretended slow(9000, false), other(1, false);
  time_sides(slow, other, {.warmed = 3});
  EXPECT_EQ(slow.others, 1);
}

Record timed(Status status, Ratio speedup) {
  Record r;
  r.status = status;
  r.timed = true;
  r.speedup = speedup;
  return r;
}

TEST(Timing, ALittleSlowerHasToBeSoTwice) {
  EXPECT_FALSE(doubtfully_slower(timed(Status::correct, {0.99, 0.98, 1.001})));
  EXPECT_FALSE(doubtfully_slower(timed(Status::correct, {0.5, 0.49, 0.51})));
  EXPECT_FALSE(doubtfully_slower(timed(Status::accuracy, {0.97, 0.96, 0.98})));
  Record r = timed(Status::correct, {0.97, 0.96, 0.98});
  ASSERT_TRUE(doubtfully_slower(r));
  Record untimed = timed(Status::timeout, {});
  untimed.timed = false;
  widen_interval(r, untimed);
  EXPECT_EQ(r.speedup.high, 0.98);
  EXPECT_FALSE(r.speedup_again);
  widen_interval(r, timed(Status::correct, {1.01, 0.99, 1.02}));
  EXPECT_EQ(r.speedup.value, 0.97);
  EXPECT_EQ(r.speedup.low, 0.96);
  EXPECT_EQ(r.speedup.high, 1.02);
  EXPECT_EQ(r.speedup_again->value, 1.01);
}

}  // namespace
}  // namespace passnet
