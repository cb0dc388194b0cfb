// Scores: the original scorer's figures on its logs, and the laws that hold for any rows.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "bench/log.h"
#include "bench/score.h"
#include "random_record.h"

namespace passnet {
namespace {

constexpr double kAgree = 1e-9;

#define EXPECT_LAW(...) EXPECT_TRUE(rc::check(__VA_ARGS__))

std::vector<ScoreRow> rows_of_log(const std::string& path) {
  std::vector<ScoreRow> rows;
  for (const LogSample& sample : log_read(*file_read(path))) rows.push_back(sample.row);
  return rows;
}

class Golden : public testing::TestWithParam<const char*> {};

TEST_P(Golden, IsWhatTheOriginalScorerGives) {
  const std::string stem = std::string(PASSNET_GOLDEN) + "/scores/" + GetParam();
  const auto expected = nlohmann::json::parse(*file_read(stem + ".expected.json"));
  const std::vector<ScoreRow> rows = rows_of_log(stem + ".log");

  std::map<std::string, int> statuses;
  for (const ScoreRow& row : rows) ++statuses[std::string(status_name(row.status))];
  const auto expected_statuses = expected["statuses"].get<std::map<std::string, int>>();
  EXPECT_EQ(statuses, expected_statuses);

  int figures = 0;
  for (const auto& want : expected["scores"]) {
    ScoreOptions options;
    options.interpretation = *interpretation_from_name(want["interpretation"].get<std::string>());
    options.p = want["p"];
    options.b = want["b"];
    const Score got = score(rows, options);
    const auto closed = es_closed_form(rows, options);
    ASSERT_EQ(want["ES"].size(), step_of(got.last_t) + 1);
    for (const auto& [t, value] : want["S"].items()) EXPECT_NEAR(got.s[step_of(std::stoi(t))], value, kAgree) << t;
    for (const auto& [t, value] : want["ES"].items()) {
      EXPECT_NEAR(got.es[step_of(std::stoi(t))], value, kAgree) << t;
      EXPECT_NEAR(closed[step_of(std::stoi(t))], value, kAgree) << t;
    }
    EXPECT_EQ(got.as.has_value(), want.contains("AS"));
    if (got.as) {
      EXPECT_NEAR(*got.as, want["AS"], kAgree);
    }
    ++figures;
  }
  EXPECT_EQ(figures, 6);
}
INSTANTIATE_TEST_SUITE_P(Scores, Golden, testing::Values("a100_real", "mixed_large", "mixed_small"),
                         [](const auto& name) { return std::string(name.param); });

TEST(ScoreLaws, ClosedFormIsTheDirectOne) {
  EXPECT_LAW("closed form", [] {
    const auto rows = random_rows();
    const auto options = random_options();
    const Score direct = score(rows, options);
    const auto closed = es_closed_form(rows, options);
    for (int t = kTightest; t <= direct.last_t; ++t)
      RC_ASSERT(std::fabs(std::log(direct.es[step_of(t)]) - std::log(closed[step_of(t)])) < kAgree);
  });
}

TEST(ScoreLaws, OrderDoesNotMatter) {
  EXPECT_LAW("permutation", [] {
    auto rows = random_rows();
    const auto options = random_options();
    const Score before = score(rows, options);
    std::rotate(rows.begin(), rows.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(rows)), rows.end());
    std::reverse(rows.begin(), rows.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(rows)));
    const Score after = score(rows, options);
    for (int t = kTightest; t <= before.last_t; ++t) {
      RC_ASSERT(std::fabs(before.s[step_of(t)] - after.s[step_of(t)]) < kAgree * before.s[step_of(t)]);
      RC_ASSERT(std::fabs(before.es[step_of(t)] - after.es[step_of(t)]) < kAgree * before.es[step_of(t)]);
    }
  });
}

TEST(ScoreLaws, FasterIsNeverWorse) {
  EXPECT_LAW("monotone in speedup", [] {
    auto rows = random_rows();
    const auto options = random_options();
    const Score before = score(rows, options);
    const auto i = *rc::gen::inRange<std::size_t>(0, rows.size());
    if (!rows[i].speedup) return;
    *rows[i].speedup *= 1.0 + *rc::gen::inRange(1, 100) / 50.0;
    const Score after = score(rows, options);
    for (int t = kTightest; t <= before.last_t; ++t) {
      RC_ASSERT(after.s[step_of(t)] >= before.s[step_of(t)] * (1 - 1e-12));
      RC_ASSERT(after.es[step_of(t)] >= before.es[step_of(t)] * (1 - 1e-12));
      if (rows[i].right_at(t)) RC_ASSERT(after.s[step_of(t)] > before.s[step_of(t)]);
    }
    if (before.as) RC_ASSERT(*after.as >= *before.as * (1 - 1e-12));
  });
}

TEST(ScoreLaws, AFailureCountsB) {
  EXPECT_LAW("b", [] {
    auto rows = random_rows();
    auto options = random_options();
    ScoreRow failure;
    failure.status = *rc::gen::element(Status::eager_fail, Status::compile_fail, Status::runtime_fail,
                                       Status::shape_mismatch, Status::type_mismatch, Status::pass_miss);
    const Score before = score(rows, options);
    rows.push_back(failure);
    const Score after = score(rows, options);
    const auto n = static_cast<double>(rows.size());
    for (int t = kTightest; t <= before.last_t; ++t) {
      const auto with = [&](double log_mean, double added) { return (log_mean * (n - 1) + added) / n; };
      const std::size_t i = step_of(t);
      RC_ASSERT(std::fabs(std::log(after.s[i]) - with(std::log(before.s[i]), std::log(options.b))) < kAgree);
      const bool forgiven = t >= 1 && t >= tolerated_from(options.interpretation, failure.status);
      RC_ASSERT(std::fabs(std::log(after.es[i]) - with(std::log(before.es[i]), forgiven ? 0 : std::log(options.b))) <
                kAgree);
    }
  });
}

TEST(ScoreLaws, PTouchesOnlyWhatIsSlower) {
  EXPECT_LAW("p", [] {
    auto rows = random_rows();
    auto options = random_options();
    options.p = 0;
    const Score without = score(rows, options);
    options.p = 1;
    const Score with = score(rows, options);
    for (int t = kTightest; t <= with.last_t; ++t) {
      double slow = 0;  // sum of log s over right rows that are slower
      for (const ScoreRow& row : rows) slow += row.right_at(t) && *row.speedup < 1 ? std::log(*row.speedup) : 0;
      const std::size_t i = step_of(t);
      RC_ASSERT(std::fabs(std::log(with.s[i]) - std::log(without.s[i]) - slow / static_cast<double>(rows.size())) <
                kAgree);
    }
  });
}

TEST(ScoreLaws, ESForgivesMoreAsTGrows) {
  EXPECT_LAW("from t = 1 on ES never falls", [] {
    const Score s = score(random_rows(), random_options());
    for (int t = 2; t <= s.last_t; ++t) RC_ASSERT(s.es[step_of(t)] >= s.es[step_of(t - 1)] * (1 - 1e-12));
    for (int t = kTightest; t <= 0; ++t) RC_ASSERT(s.s[step_of(t)] == s.es[step_of(t)]);
  });
}

TEST(ScoreTasks, ABenchmarkIsTheGeometricMeanOfItsTasks) {
  EXPECT_LAW("AS of tasks", [] {
    std::vector<Score> tasks;
    double logs = 0;
    const int n = *rc::gen::inRange(1, 5);
    for (int i = 0; i < n; ++i) {
      tasks.push_back(score(random_rows(), {}));
      logs += std::log(*tasks.back().as);
    }
    RC_ASSERT(std::fabs(std::log(*score_tasks(tasks).as) - logs / n) < kAgree);
  });
}

TEST(Score, OneGraph) {
  ScoreRow row{Status::correct, right_from(-3), 4.0};
  const Score s = score(std::vector{row});
  EXPECT_DOUBLE_EQ(s.s[step_of(-4)], 0.1);
  EXPECT_DOUBLE_EQ(s.s[step_of(-3)], 4);
  EXPECT_DOUBLE_EQ(s.es[step_of(4)], 4);
  EXPECT_EQ(s.last_t, 4);
  row.speedup = 0.5;
  EXPECT_DOUBLE_EQ(score(std::vector{row}, {.p = 1}).s[step_of(0)], 0.25);
}

TEST(Score, EagersFailureIsNeverForgiven) {
  for (const auto i : {Interpretation::by_default, Interpretation::mismatch_extended}) {
    const Score s = score(std::vector{ScoreRow{Status::eager_fail, {}, {}}}, {.interpretation = i});
    for (int t = kTightest; t <= s.last_t; ++t) EXPECT_DOUBLE_EQ(s.es[step_of(t)], 0.1);
  }
}

TEST(Score, RightWithoutASpeedupIsAFailure) {
  const Score s = score(std::vector{ScoreRow{Status::correct, right_from(kTightest), {}}});
  EXPECT_DOUBLE_EQ(s.s[step_of(0)], 0.1);
  EXPECT_DOUBLE_EQ(s.es[step_of(2)], 0.1);
  EXPECT_DOUBLE_EQ(s.es[step_of(3)], 1);
}

TEST(FastShare, CountsRightAndFasterThan) {
  const std::vector<ScoreRow> rows = {{Status::correct, right_from(-5), 1.5},
                                      {Status::correct, right_from(-4), 9.0},  // not right at -5
                                      {Status::correct, right_from(-10), 2.5},
                                      {Status::pass_miss, {}, {}}};
  EXPECT_DOUBLE_EQ(fast_share(rows, 1), 0.5);
  EXPECT_DOUBLE_EQ(fast_share(rows, 1.5), 0.25);
  EXPECT_DOUBLE_EQ(fast_share(rows, 2), 0.25);
  EXPECT_DOUBLE_EQ(fast_share({}, 1), 0);
}

TEST(ScoreClass, WhatOnlyWeNameIsARuntimeFailure) {
  for (const Status s : {Status::timeout, Status::crash, Status::integrity, Status::unstable})
    EXPECT_EQ(score_class(s), Status::runtime_fail);
  EXPECT_EQ(score_class(Status::accuracy), Status::correct);
  EXPECT_EQ(score_class(Status::pass_miss), Status::pass_miss);
}

}  // namespace
}  // namespace passnet
