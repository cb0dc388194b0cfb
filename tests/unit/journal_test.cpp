// A run's records on disk: nothing finished is lost, whatever happens; the index is the records'.
#include "bench/journal.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "base/file.h"
#include "bench/run_index.h"
#include "random_record.h"

namespace passnet {
namespace {

namespace fs = std::filesystem;

// A fresh folder that goes away.
struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "passnet_run_XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string file(const char* name) const { return path + "/" + name; }
  std::string path;
};

Record record_of(std::string task, std::string graph, std::string candidate = "none", int attempt = 0) {
  Record r;
  r.task = std::move(task);
  r.graph = std::move(graph);
  r.candidate = std::move(candidate);
  r.attempt = attempt;
  r.status = Status::correct;
  r.tightest_t = -7;
  r.timed = true;
  r.speedup = {1.5, 1.4, 1.6};
  r.eager.e2e_ms.assign(100, 1.25);
  return r;
}

void append_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
}

// Runs `body` in a child and gives its exit code.
template <class F>
int in_child(F&& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

TEST(Journal, WrittenIsRead) {
  const Folder run;
  {
    auto journal = Journal::open(run.path + "/new/folder");
    ASSERT_TRUE(journal);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE((*journal)->append(record_of("t", std::to_string(i))));
  }
  const auto content = journal_read(run.path + "/new/folder");
  ASSERT_TRUE(content);
  ASSERT_EQ(content->records.size(), 3U);
  EXPECT_EQ(content->records[2].graph, "2");
  EXPECT_EQ(content->torn_bytes, 0U);
  EXPECT_TRUE(content->problems.empty());
}

TEST(Journal, ATornLastLineIsCutWhenWrittenAndToleratedWhenRead) {
  const Folder run;
  for (const std::string_view torn :
       {std::string_view("{\"task\": \"t"), std::string_view("\0\0\0\0", 4), std::string_view("x")}) {
    ASSERT_TRUE((*Journal::open(run.path))->append(record_of("t", "g")));
    const auto size = fs::file_size(run.file(kRecordsFile));
    append_bytes(run.file(kRecordsFile), torn);
    const auto content = journal_read(run.path);
    EXPECT_EQ(content->torn_bytes, torn.size());
    EXPECT_TRUE(content->problems.empty());
    const auto journal = Journal::open(run.path);
    EXPECT_EQ((*journal)->cut_bytes(), torn.size());
    EXPECT_EQ(fs::file_size(run.file(kRecordsFile)), size);
  }
  EXPECT_EQ(journal_read(run.path)->records.size(), 3U);
}

TEST(Journal, ARecordThatLacksOnlyItsEndIsKept) {
  const Folder run;
  ASSERT_TRUE((*Journal::open(run.path))->append(record_of("t", "g")));
  const std::string line = record_line(record_of("t", "h"));
  append_bytes(run.file(kRecordsFile), std::string_view(line).substr(0, line.size() - 1));
  EXPECT_EQ((*Journal::open(run.path))->cut_bytes(), 0U);
  EXPECT_EQ(journal_read(run.path)->records.size(), 2U);
}

TEST(Journal, ALineThatIsNoRecordIsNamed) {
  const Folder run;
  ASSERT_TRUE((*Journal::open(run.path))->append(record_of("t", "g")));
  append_bytes(run.file(kRecordsFile), "garbage\n");
  ASSERT_TRUE((*Journal::open(run.path))->append(record_of("t", "h")));
  const auto content = journal_read(run.path);
  EXPECT_EQ(content->records.size(), 2U);
  ASSERT_EQ(content->problems.size(), 1U);
  EXPECT_EQ(content->problems[0], run.file(kRecordsFile) + ":2: not a record: not JSON");
}

TEST(Journal, OneWriterAFolder) {
  const Folder run;
  const auto journal = Journal::open(run.path);
  ASSERT_TRUE(journal);
  const std::string want = "'" + run.path + "' is in use by process " + std::to_string(::getpid());
  EXPECT_EQ(in_child([&] {
              const auto second = Journal::open(run.path);
              return !second && second.error().message == want && second.error().code == Code::environment ? 0 : 1;
            }),
            0);
  EXPECT_EQ(in_child([&] { return line_file_writer(run.path) == "process " + std::to_string(::getppid()) ? 0 : 1; }),
            0);
}

TEST(Journal, AForkedChildDoesNotKeepTheLock) {
  const Folder run;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  // A writer forks a worker that outlives it.
  const int code = in_child([&] {
    const auto journal = Journal::open(run.path);
    const pid_t worker = ::fork();
    if (worker == 0) {
      ::sleep(20);
      ::_exit(0);
    }
    return ::write(ready[1], &worker, sizeof worker) == sizeof worker ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
  pid_t worker = 0;
  ASSERT_EQ(::read(ready[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  EXPECT_TRUE(Journal::open(run.path));
  ::kill(worker, SIGKILL);
}

TEST(Journal, AFullDiskLeavesTheFileWhole) {
  const Folder run;
  const int code = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const auto journal = Journal::open(run.path);
    if (!(*journal)->append(record_of("t", "g"))) return 1;
    const auto size = fs::file_size(run.file(kRecordsFile));
    const rlimit limit{size + 10, size + 10};  // the next line is written in part
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto failed = (*journal)->append(record_of("t", "h"));
    if (failed || failed.error().code != Code::environment) return 2;
    if (failed.error().message != "cannot write '" + run.file(kRecordsFile) + "': File too large") return 3;
    return fs::file_size(run.file(kRecordsFile)) == size ? 0 : 4;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(journal_read(run.path)->records.size(), 1U);
}

TEST(Journal, WhereNothingCanBeWrittenIsSaid) {
  const auto nowhere = Journal::open("/proc/no_such_folder");
  ASSERT_FALSE(nowhere);
  EXPECT_TRUE(nowhere.error().message.starts_with("cannot make the folder '/proc/no_such_folder': "));
  const Folder run;
  fs::create_directory(run.file(kRecordsFile));
  EXPECT_FALSE(Journal::open(run.path));
  EXPECT_FALSE(journal_read(run.path));
  EXPECT_FALSE(journal_read(run.path + "/none"));
}

TEST(Journal, KilledAtAnyTimeLosesNothing) {
  const Folder run;
  std::set<std::string> acknowledged;
  for (int round = 0; round < 100; ++round) {
    int acks[2];
    ASSERT_EQ(::pipe(acks), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto journal = Journal::open(run.path);
      for (int i = 0; journal; ++i) {
        Record r = record_of("t" + std::to_string(round), std::to_string(i));
        r.notes.assign(200, std::string(1000, 'x'));  // long enough to be torn
        if (!(*journal)->append(r)) ::_exit(1);
        const std::int32_t done = i;
        if (::write(acks[1], &done, sizeof done) < 0) ::_exit(1);
      }
      ::_exit(1);
    }
    ::close(acks[1]);
    const std::string name = "t" + std::to_string(round) + "/";
    std::int32_t done = 0;
    ASSERT_EQ(::read(acks[0], &done, sizeof done), static_cast<ssize_t>(sizeof done));
    acknowledged.insert(name + std::to_string(done));
    std::this_thread::sleep_for(std::chrono::microseconds(round * 53 % 4000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(acks[0], &done, sizeof done) == sizeof done) acknowledged.insert(name + std::to_string(done));
    ::close(acks[0]);
  }
  const auto journal = Journal::open(run.path);
  const auto content = journal_read(run.path);
  EXPECT_TRUE(content->problems.empty());
  std::set<std::string> found;
  for (const Record& r : content->records) EXPECT_TRUE(found.insert(r.task + "/" + r.graph).second) << "twice";
  for (const std::string& name : acknowledged) EXPECT_TRUE(found.contains(name)) << name;
  EXPECT_GE(acknowledged.size(), 100U);
}

TEST(LatestRecords, TheHighestAttemptThenTheLast) {
  Record first = record_of("t", "g"), again = record_of("t", "g", "none", 1), late = record_of("t", "g");
  again.status = Status::accuracy;
  const auto latest = latest_records({first, record_of("t", "h"), again, late});
  ASSERT_EQ(latest.size(), 2U);
  EXPECT_EQ(latest[0].status, Status::accuracy);
  EXPECT_EQ(latest[1].graph, "h");
}

TEST(RecordKey, IsTheSameFromWhereverAGraphIsSeen) {
  const RecordKey key = record_key("task", "/root/task/graph", "none");
  for (const char* path : {"task/graph", "task/graph/", "./task//graph", "other/../task/graph", "graph", "graph/"})
    EXPECT_EQ(record_key("task", path, "none"), key) << path;
  EXPECT_NE(record_key("task", "task/graph", "eager"), key);
  EXPECT_NE(record_key("other", "other/graph", "none"), key);
  // elsewhere, names of folders alone are not enough
  EXPECT_NE(record_key("task", "a/graph", "none"), record_key("task", "b/graph", "none"));
  EXPECT_NE(record_key("task", "a/graph", "none"), key);
  for (const char* path : {"", "/", ".", "..", "../", "//"}) EXPECT_NE(record_key("task", path, "none"), key) << path;
}

TEST(LatestRecords, OfOnePathSpelledTwiceIsOne) {
  const auto latest = latest_records({record_of("t", "t/g"), record_of("t", "/root/t/g/"), record_of("t", "u/g")});
  ASSERT_EQ(latest.size(), 2U);
  EXPECT_EQ(latest[0].graph, "/root/t/g/");
}

// ---- the index

std::string described(const std::vector<IndexRow>& rows) {
  std::string out;
  for (const IndexRow& r : rows)
    out += r.task + "|" + r.graph + "|" + r.candidate + "|" + std::to_string(r.attempt) + "|" +
           std::string(status_name(r.status)) + "|" + r.score.right.to_string() + "|" +
           std::to_string(r.score.speedup.value_or(0)) + "\n";
  return out;
}

void write_run(const Folder& run, int from, int to) {
  const auto journal = Journal::open(run.path);
  for (int i = from; i < to; ++i)
    ASSERT_TRUE((*journal)->append(record_of("t" + std::to_string(i % 3), std::to_string(i / 2), "none", i % 2)));
}

TEST(RunIndex, IsMadeAndThenExtended) {
  const Folder run;
  write_run(run, 0, 10);
  {
    const auto index = RunIndex::open(run.path);
    ASSERT_TRUE(index);
    EXPECT_EQ((*index)->lines_read(), 10U);
    EXPECT_EQ((*index)->latest()->size(), 10U);
    const auto one = (*index)->find("t1", "0", "none");
    ASSERT_TRUE(one && *one);
    EXPECT_EQ((*one)->attempt, 1);
    EXPECT_EQ((*one)->score.speedup, 1.5);
    EXPECT_FALSE(*(*index)->find("t1", "0", "inductor"));
    write_run(run, 10, 14);
    ASSERT_TRUE((*index)->update());
    EXPECT_EQ((*index)->lines_read(), 14U);  // only what was appended
  }
  const auto index = RunIndex::open(run.path);
  EXPECT_EQ((*index)->lines_read(), 0U);
  EXPECT_EQ((*index)->latest()->size(), 14U);
  EXPECT_FALSE((*index)->in_memory());
}

TEST(RunIndex, IsMadeAgainWhereItDoesNotFit) {
  const Folder run;
  write_run(run, 0, 20);
  const std::string want = described(*(*RunIndex::open(run.path))->latest());
  const std::string good = *file_read(run.file(kIndexFile));
  const auto check = [&](const char* what) {
    const auto index = RunIndex::open(run.path);
    ASSERT_TRUE(index) << what;
    EXPECT_EQ((*index)->lines_read(), 20U) << what;
    EXPECT_EQ(described(*(*index)->latest()), want) << what;
    EXPECT_FALSE((*index)->in_memory()) << what;
  };
  ASSERT_TRUE(file_write(run.file(kIndexFile), "this is no database, but some other text of a certain length"));
  check("other text");
  ASSERT_TRUE(file_write(run.file(kIndexFile), good.substr(0, good.size() / 2)));
  check("cut");
  ASSERT_TRUE(file_write(run.file(kIndexFile), ""));
  check("empty");
  std::string damaged = good;
  std::fill(damaged.begin() + 100, damaged.end(), '\xee');
  ASSERT_TRUE(file_write(run.file(kIndexFile), damaged));
  check("damaged");
  sqlite3* other = nullptr;
  fs::remove(run.file(kIndexFile));
  sqlite3_open(run.file(kIndexFile).c_str(), &other);
  sqlite3_exec(other, "CREATE TABLE records(x); PRAGMA user_version = 1", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  check("other tables");
  fs::remove(run.file(kIndexFile));
  check("missing");
}

TEST(RunIndex, FollowsAFileThatWasReplaced) {
  const Folder run;
  write_run(run, 0, 6);
  ASSERT_EQ((*RunIndex::open(run.path))->latest()->size(), 6U);
  std::string text = *file_read(run.file(kRecordsFile));
  text[text.find("\"t0\"") + 2] = '9';  // of the same size
  ASSERT_TRUE(file_write(run.file(kRecordsFile), text));
  EXPECT_EQ((*(*RunIndex::open(run.path))->latest()).back().task, "t9");
  ASSERT_TRUE(file_write(run.file(kRecordsFile), ""));
  EXPECT_TRUE((*RunIndex::open(run.path))->latest()->empty());
}

TEST(RunIndex, IsInMemoryWhereItCannotBeWritten) {
  const Folder run;
  write_run(run, 0, 6);
  fs::create_directories(run.file(kIndexFile) + "/x");
  const auto index = RunIndex::open(run.path);
  ASSERT_TRUE(index);
  EXPECT_TRUE((*index)->in_memory());
  EXPECT_EQ((*index)->latest()->size(), 6U);
}

TEST(RunIndex, OfOnePathSpelledTwiceHasTheLast) {
  const Folder run;
  {
    const auto journal = Journal::open(run.path);
    for (const char* path : {"t/g", "t/h", "./t/g/"}) (*journal)->append(record_of("t", path)).take();
  }
  const auto rows = (*RunIndex::open(run.path))->latest();
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ(described(*rows).find("t|t/g|"), std::string::npos);
}

TEST(RunIndex, WithoutRecordsIsAnError) {
  const Folder run;
  EXPECT_FALSE(RunIndex::open(run.path));
}

TEST(RunIndex, SaysWhatTheRecordsSay) {
  EXPECT_TRUE(rc::check("index is the records'", [] {
    const Folder run;
    {
      const auto journal = Journal::open(run.path);
      const int n = *rc::gen::inRange(0, 6);
      for (int i = 0; i < n; ++i) RC_ASSERT(static_cast<bool>((*journal)->append(random_record())));
    }
    auto records = latest_records(journal_read(run.path)->records);
    const auto index = RunIndex::open(run.path);
    const auto rows = *(*index)->latest();
    RC_ASSERT(rows.size() == records.size());
    for (const Record& r : records) {
      const auto row = *(*index)->find(r.task, r.graph, r.candidate);
      RC_ASSERT(row.has_value());
      RC_ASSERT(row->status == r.status);
      RC_ASSERT(row->score == score_row(r));
    }
  }));
}

// SQL and C++ each say which record of a graph counts: of few names, spelled in several ways, in any order.
TEST(RunIndex, CountsTheRecordsThatCount) {
  EXPECT_TRUE(rc::check("one rule", [] {
    const Folder run;
    {
      const auto journal = Journal::open(run.path);
      const int n = *rc::gen::inRange(0, 12);
      for (int i = 0; i < n; ++i) {
        Record r = record_of("t", *rc::gen::element<std::string>("t/g", "./t/g/", "t/h", "/root/t/g"));
        r.candidate = *rc::gen::element<std::string>("a", "b");
        r.attempt = *rc::gen::inRange(0, 3);
        r.finished = i;
        RC_ASSERT(static_cast<bool>((*journal)->append(r)));
      }
    }
    std::map<RecordKey, std::int64_t> counted, indexed;
    for (const Record& r : latest_records(journal_read(run.path)->records))
      counted[record_key(r.task, r.graph, r.candidate)] = r.finished;
    const auto index = RunIndex::open(run.path);
    const auto rows = *(*index)->latest();
    for (const IndexRow& r : rows) indexed[record_key(r.task, r.graph, r.candidate)] = r.finished;
    RC_ASSERT(counted == indexed);
  }));
}

}  // namespace
}  // namespace passnet
