// The original's log grammar: a record written and read is the record's row; what broken text means.
#include "bench/log.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "bench/results.h"
#include "random_record.h"

namespace passnet {
namespace {

TEST(Log, WrittenAndReadIsTheRecordsRow) {
  EXPECT_TRUE(rc::check("log round trip", [] {
    std::vector<Record> records;
    std::string text;
    const int n = *rc::gen::inRange(1, 5);
    for (int i = 0; i < n; ++i) {
      records.push_back(random_record());
      text += log_text(records.back());
    }
    const auto samples = log_read(text);
    RC_ASSERT(samples.size() == records.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      ScoreRow want = score_row(records[i]);
      RC_LOG() << text;
      RC_ASSERT(samples[i].row == want);
    }
  }));
}

// A run of several tasks and the log written from it have one score.
TEST(Log, OfAGpuHasBothClocks) {
  Record r;
  r.status = Status::correct;
  r.graph = "g";
  r.timed = true;
  r.eager.e2e_ms = r.eager.gpu_ms = {1, 2, 3};
  r.eager.e2e = r.eager.gpu = summarise(r.eager.gpu_ms);
  r.compiled = r.eager;
  r.speedup = {2, 2, 2};
  r.gpu_speedup = {2.5, 2, 3};
  const std::string text = log_text(r);
  const std::string times = R"({"median": 2, "iqr": 1, "mean": 2, "std": 0.816497, "min": 1, "max": 3})";
  EXPECT_NE(text.find("[Performance][eager]: {\"e2e\": " + times + ", \"gpu\": " + times + "}\n"), std::string::npos);
  EXPECT_NE(text.find("[Speedup][e2e]: 2.0\n"), std::string::npos);
  EXPECT_NE(text.find("[Speedup][gpu]: 2.5\n"), std::string::npos);
  EXPECT_EQ(log_read(text).at(0).row.speedup, 2.0);  // scores go by the host's clock
}

TEST(Log, OfARunHasTheRunsScore) {
  EXPECT_TRUE(rc::check("log of a run", [] {
    const std::string path = testing::TempDir() + "/passnet_log_test.log";
    std::vector<Record> records;
    std::string text;
    const int n = *rc::gen::inRange(1, 12);
    for (int i = 0; i < n; ++i) {
      Record& r = records.emplace_back(random_record());
      r.task = "task " + std::to_string(*rc::gen::inRange(0, 4));
      r.graph = std::to_string(i);
      r.candidate = "c";
      text += log_text(r);
    }
    RC_ASSERT(static_cast<bool>(file_write(path, text)));
    const ScoreOptions options = random_options();
    const auto read = results_read(path);
    RC_ASSERT(static_cast<bool>(read));
    const ScoreCard of_log = score_card(read->candidates.at(0).tasks(), options);
    const ScoreCard of_run = score_card(results_of(records).candidates.at(0).tasks(), options);
    RC_ASSERT(of_log.score.s == of_run.score.s);
    RC_ASSERT(of_log.score.es == of_run.score.es);
    RC_ASSERT(of_log.score.as == of_run.score.as);
    RC_ASSERT(of_log.fast == of_run.fast);
  }));
}

TEST(Record, WrittenAndReadIsTheSame) {
  EXPECT_TRUE(rc::check("JSON round trip", [] {
    const Record record = random_record();
    const std::string line = record_line(record);
    RC_ASSERT(line.find('\n') == line.size() - 1);
    const auto read = record_from_line(line);
    RC_ASSERT(static_cast<bool>(read));
    RC_ASSERT(record_line(*read) == line);
    RC_ASSERT(score_row(*read) == score_row(record));
    RC_ASSERT(read->graph == record.graph);
    RC_ASSERT(read->errors.size() == record.errors.size());
  }));
}

TEST(Record, OfAnotherKindSaysWhich) {
  const struct {
    const char* line;
    const char* message;
  } rows[] = {
      {"", "not a record: not JSON"},
      {"{\"task\"", "not a record: not JSON"},
      {"[]", "not a record: not a JSON object"},
      {"{}", "not a record: 'task' has to be there"},
      {R"({"task": 1, "graph": "g", "candidate": "c", "status": "correct"})",
       "not a record: 'task' has to be a string"},
      {R"({"task": "t", "graph": "g", "candidate": "c", "status": "fine"})", "not a record: unknown status 'fine'"},
      {R"({"task": "t", "graph": "g", "candidate": "c", "status": "correct", "attempt": 1e99})",
       "not a record: 'attempt' has to be an integer in its range"},
      {R"({"task": "t", "graph": "g", "candidate": "c", "status": "correct", "attempt": 99999999999})",
       "not a record: 'attempt' has to be an integer in its range"},
      {R"({"task": "t", "graph": "g", "candidate": "c", "status": "correct", "outputs": [3]})",
       "not a record: 'outputs' has to be a list of objects"},
      {R"({"task": "t", "graph": "g", "candidate": "c", "status": "correct", "outputs": [{"tightest_t": [1]}]})",
       "not a record: 'tightest_t' has to be a list of 4"},
      {R"({"task": "t", "graph": "g", "candidate": "c", "status": "correct", "speedup": {"value": "fast"}})",
       "not a record: 'value' has to be a number"},
  };
  for (const auto& row : rows) {
    const auto read = record_from_line(row.line);
    ASSERT_FALSE(read) << row.line;
    EXPECT_EQ(read.error().message, row.message);
  }
}

TEST(Record, WithMoreThanIsKnownIsRead) {
  const auto read = record_from_line(
      R"({"task": "t", "graph": "g", "candidate": "c", "status": "correct", "more": {"x": [1]}, "notes": null})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->graph, "g");
}

TEST(Record, OfALaterVersionIsNamed) {
  const auto read = record_from_line(
      R"({"record": 9, "task": "t", "graph": "g", "candidate": "c", "status": "correct", "notes": null})");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("version 9"), std::string::npos);
}

TEST(Record, DeepJsonIsAnError) {
  EXPECT_FALSE(record_from_line(std::string(2'000'000, '[')));
  const std::string deep = std::string(500'000, '[') + std::string(500'000, ']');
  EXPECT_FALSE(record_from_line(deep));
  const std::string begin = R"({"task": "t", "graph": "g", "candidate": "c", "status": "correct", "more": )";
  EXPECT_TRUE(record_from_line(begin + "[[1]]}"));
  EXPECT_FALSE(record_from_line(begin + deep + "}"));
}

Status status_of(std::string_view lines) {
  const auto samples = log_read("x [Processing] g\n" + std::string(lines));
  EXPECT_EQ(samples.size(), 1U);
  return samples.at(0).row.status;
}

TEST(Log, TheFirstStatusThatApplies) {
  constexpr const char* kEager = "[Datatype][eager]: float32\n";
  constexpr const char* kBoth = "[Datatype][eager]: float32\n[Datatype][compiled]: float32\n";
  constexpr const char* kClose = "[Correctness][all_close_atol_1.00E-10_rtol_1.00E-06]: 1\n";
  constexpr const char* kTypes = "[DataType] eager:['float32'] compiled:['float32'] match:True\n";
  constexpr const char* kShapes = "[Shape] eager:[[1]] compiled:[[1]] match:True\n";
  using S = std::string;
  EXPECT_EQ(status_of(""), Status::eager_fail);
  EXPECT_EQ(status_of("RuntimeError: x"), Status::eager_fail);
  EXPECT_EQ(status_of(kEager), Status::compile_fail);
  EXPECT_EQ(status_of(kBoth), Status::shape_mismatch);
  EXPECT_EQ(status_of(S(kBoth) + kTypes), Status::shape_mismatch);
  EXPECT_EQ(status_of(S(kBoth) + kShapes), Status::type_mismatch);
  EXPECT_EQ(status_of(kClose), Status::type_mismatch);
  EXPECT_EQ(status_of(S(kBoth) + kShapes + kTypes), Status::correct);
  EXPECT_EQ(status_of(S(kClose) + kTypes), Status::correct);
  EXPECT_EQ(status_of(S(kClose) + kTypes + "FooException: x\n"), Status::runtime_fail);
  EXPECT_EQ(status_of(S(kClose) + kTypes + "No passes modified the graph\n"), Status::pass_miss);
  EXPECT_EQ(status_of(S(kClose) + kTypes + "No passes modified, Error: y\n"), Status::runtime_fail);
  EXPECT_EQ(status_of(S(kBoth) + "[Shape] eager:[[1]] compiled:[[2]] match:False\n" + kTypes), Status::shape_mismatch);
}

ScoreRow row_of(std::string_view correctness) {
  return log_read("[Processing] g\n[Datatype][eager]: float32 int64\n[DataType] match:True\n" +
                  std::string(correctness) + "\n[Speedup][e2e]: 2")
      .at(0)
      .row;
}

TEST(Log, AnEntryThatIsMissingIsWrong) {
  const char* close = "[Correctness][all_close_atol_1.00E-05_rtol_1.30E-06]: ";
  const char* equal = "[Correctness][equal]: ";
  using S = std::string;
  EXPECT_TRUE(row_of(S(equal) + "0 1\n" + close + "1 0").right_at(-5));
  EXPECT_FALSE(row_of(S(equal) + "0 1\n" + close + "1 0").right_at(-4));  // no line of that t
  EXPECT_FALSE(row_of(S(equal) + "1 0\n" + close + "1 1").right_at(-5));  // integers must be equal
  EXPECT_FALSE(row_of(S(equal) + "1 1\n" + close + "0 1").right_at(-5));
  EXPECT_FALSE(row_of(S(equal) + "1 1 1\n" + close + "1 1 1").right_at(-5));  // of no dtype
  EXPECT_FALSE(row_of(S(equal) + "1 1\n" + close).right_at(-5));              // a torn line
  EXPECT_FALSE(row_of(S(equal) + "1 1\n" + close + "x 1").right_at(-5));
  EXPECT_FALSE(row_of(S(equal) + "1 1\n" + close + "1 1\n" + close + "0 0").right_at(-5));  // the last counts
  EXPECT_FALSE(row_of(S(close)).right_at(-5));                                              // nothing was compared
}

TEST(Log, ASpeedupThatIsNoneIsNone) {
  const std::string head = "[Processing] g\n[DataType] match:True\nall_close\n[Speedup][e2e]: ";
  for (const char* text : {"", " ", "nan", "inf", "-1", "0", "x", "1 2", "1e999", "0x10"})
    EXPECT_FALSE(log_read(head + text).at(0).row.speedup) << text;
  EXPECT_DOUBLE_EQ(*log_read(head + "1.5\r\n").at(0).row.speedup, 1.5);
  EXPECT_DOUBLE_EQ(*log_read(head + "+2e0 ").at(0).row.speedup, 2);
}

TEST(Log, LinesBeforeTheFirstSampleSayNothing) {
  EXPECT_TRUE(log_read("").empty());
  EXPECT_TRUE(log_read("RuntimeError: x\n[Speedup][e2e]: 3\n").empty());
  const auto samples = log_read("a [Processing] /x/y z\nb [Processing] w");
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].path, "/x/y z");
  EXPECT_EQ(samples[1].path, "w");
}

TEST(Log, ALogOfManyLinesIsReadInTime) {
  std::string text = "[Processing] g\n";
  for (int i = 0; i < 200'000; ++i) text += "[Correctness][all_close_atol_" + std::to_string(i) + "]: 1 0 1\n";
  text += std::string(20'000'000, ']') + "\n" + std::string(20'000'000, '\n');
  EXPECT_EQ(log_read(text).size(), 1U);
}

}  // namespace
}  // namespace passnet
