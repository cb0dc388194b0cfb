// base: Python's spelling of literals, JSON, nearest names, files and hashes.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <thread>

#include "base/cache.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/pack.h"
#include "base/parallel.h"
#include "base/process.h"
#include "base/steps.h"
#include "base/text.h"

namespace passnet {
namespace {

TEST(PythonFloat, IsPythonsRepr) {
  const struct {
    double value;
    const char* repr;
  } rows[] = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1.0, "1.0"},
      {-1.5, "-1.5"},
      {0.1, "0.1"},
      {2.5, "2.5"},
      {100.0, "100.0"},
      {65504.0, "65504.0"},
      {1e15, "1000000000000000.0"},
      {9999999999999998.0, "9999999999999998.0"},
      {1e16, "1e+16"},  // from here on with an exponent
      {123456789012345680.0, "1.2345678901234568e+17"},
      {1e-4, "0.0001"},
      {0.00012345, "0.00012345"},
      {1e-5, "1e-05"},  // from here on with an exponent
      {1.2345e-05, "1.2345e-05"},
      {5e-324, "5e-324"},
      {2.2250738585072014e-308, "2.2250738585072014e-308"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {1e22, "1e+22"},
      {1e23, "1e+23"},
      {1e100, "1e+100"},
      {1e-100, "1e-100"},
      {0.30000000000000004, "0.30000000000000004"},
      {3.141592653589793, "3.141592653589793"},
      {3.4028234663852886e38, "3.4028234663852886e+38"},
      {std::numeric_limits<double>::infinity(), "inf"},
      {-std::numeric_limits<double>::infinity(), "-inf"},
      {std::numeric_limits<double>::quiet_NaN(), "nan"},
      {-std::numeric_limits<double>::quiet_NaN(), "nan"},
  };
  for (const auto& row : rows) EXPECT_EQ(python_float(row.value), row.repr);
}

TEST(TextPrintable, HasNoControlCharacters) {
  EXPECT_EQ(text_printable("a b"), "a b");
  EXPECT_EQ(text_printable("\x1b[2J\n\x7f"), ".[2J..");
  EXPECT_EQ(text_printable("\xc3\xa9 \xc2\x9b"), "\xc3\xa9 .");
  EXPECT_EQ(text_printable("a\xe2\x80\xa8 b\xe2\x80\xae", ' '), "a  b ");  // a separator of lines, a mark of direction
  EXPECT_EQ(text_printable("\x9b"), ".");
  EXPECT_EQ(text_printable("\xe2\x80\x93"), "\xe2\x80\x93");
}

TEST(PythonString, IsPythonsRepr) {
  const struct {
    std::string_view text;
    const char* repr;
  } rows[] = {
      {"", "''"},
      {"plain", "'plain'"},
      {"it's", "\"it's\""},
      {"say \"hi\"", "'say \"hi\"'"},
      {"both ' and \"", "'both \\' and \"'"},
      {"tab\tline\nreturn\r", "'tab\\tline\\nreturn\\r'"},
      {"back\\slash", "'back\\\\slash'"},
      {std::string_view("\x00\x01\x1f\x7f", 4), "'\\x00\\x01\\x1f\\x7f'"},
      {"\xc3\xa9 \xf0\x9f\x98\x80", "'\xc3\xa9 \xf0\x9f\x98\x80'"},
  };
  for (const auto& row : rows) EXPECT_EQ(python_string(row.text), row.repr);
}

TEST(JsonString, IsJsonDumps) {
  const struct {
    std::string_view text;
    const char* json;
  } rows[] = {
      {"", R"("")"},
      {"a \"b\" \\ /", R"("a \"b\" \\ /")"},
      {"\n\r\t\b\f", R"("\n\r\t\b\f")"},
      {std::string_view("\x00\x1f\x7f", 3), R"("\u0000\u001f\u007f")"},
      {"\xc3\xa9\xe6\xbc\xa2", R"("\u00e9\u6f22")"},
      {"\xf0\x9f\x98\x80", R"("\ud83d\ude00")"},
  };
  for (const auto& row : rows) EXPECT_EQ(json_string(row.text), row.json);
}

TEST(JsonRead, DepthIsBounded) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_TRUE(json_read(nested(kJsonDepth)).is_array());
  EXPECT_TRUE(json_read(nested(kJsonDepth + 1)).is_discarded());
  EXPECT_TRUE(json_read(nested(100'000)).is_discarded());
  EXPECT_TRUE(json_read<nlohmann::json>(nested(100'000)).is_discarded());
  EXPECT_TRUE(json_read(json_string(nested(100'000))).is_string());  // brackets inside strings nest nothing
  EXPECT_EQ(json_read(R"(["\\", "\"[", []])").size(), 3U);
  EXPECT_TRUE(json_read("[1").is_discarded());
}

TEST(JsonString, InvalidUtf8BecomesReplacementCharacters) {
  EXPECT_EQ(json_string("a\xff"
                        "b"),
            R"("a\ufffdb")");                               // no lead byte
  EXPECT_EQ(json_string("\x80"), R"("\ufffd")");            // a continuation alone
  EXPECT_EQ(json_string("\xe6\xbc"), R"("\ufffd\ufffd")");  // cut short at the end
  EXPECT_EQ(json_string("\xe6"
                        "ab"),
            R"("\ufffdab")");  // cut short by a letter
  EXPECT_EQ(json_string("\xf8\x88\x80\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd\ufffd")");
}

TEST(JsonString, OverlongAndSurrogateFormsAreInvalid) {
  for (const char* bytes : {"\xc0\xaf", "\xc1\xbf", "\xe0\x80\xaf", "\xf0\x80\x80\xaf", "\xed\xa0\x80",
                            "\xf4\x90\x80\x80", "\xf7\xbf\xbf\xbf"})
    EXPECT_TRUE(json_string(bytes).starts_with("\"\\ufffd")) << json_string(bytes);
}

TEST(Text, SplitsAndTrims) {
  EXPECT_EQ(text_trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(text_trim(" \n"), "");
  EXPECT_EQ(text_split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(text_split("", ','), (std::vector<std::string_view>{""}));
  EXPECT_EQ(text_lines("a\n\nb\n"), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(text_lines("a"), (std::vector<std::string_view>{"a"}));
  EXPECT_TRUE(text_lines("").empty());
  const std::string parts[] = {"a", "b"};
  EXPECT_EQ(text_join(parts, ", "), "a, b");
  EXPECT_EQ(text_join({}, ", "), "");
}

TEST(TextNearest, NearestFirstWithinAThird) {
  const std::string_view known[] = {"softmax", "softmin", "softplus", "relu", "softmax", "sigmoid"};
  EXPECT_EQ(text_nearest("softmx", known), (std::vector<std::string>{"softmax", "softmin"}));
  EXPECT_EQ(text_nearest("softmx", known, 1), (std::vector<std::string>{"softmax"}));
  EXPECT_EQ(text_nearest("relu", known), (std::vector<std::string>{"relu"}));
  EXPECT_TRUE(text_nearest("embedding", known).empty());
  EXPECT_TRUE(text_nearest("", known).empty());
  EXPECT_TRUE(text_nearest(std::string(100000, 'a'), known).empty());
}

TEST(Hash, Sha256OfKnownTexts) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_NE(hash64("abc"), hash64("abd"));
  EXPECT_NE(hash64("abc", 1), hash64("abc", 2));
}

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "passnet_unit_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return folder_ + "/" + name; }
  std::string folder_;
};

TEST_F(Files, WhatIsWrittenIsRead) {
  const std::string bytes("a\0b\r\n\xff", 6);
  ASSERT_TRUE(file_write(path("f"), bytes));
  EXPECT_EQ(file_read(path("f")).take(), bytes);
  ASSERT_TRUE(file_write(path("f"), ""));
  EXPECT_EQ(file_read(path("f")).take(), "");
}

TEST_F(Files, ALimitIsInclusive) {
  ASSERT_TRUE(file_write(path("f"), "12345"));
  EXPECT_TRUE(file_read(path("f"), 5));
  const auto over = file_read(path("f"), 4);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, Code::limit);
  EXPECT_EQ(over.error().message, "file of 5 bytes; the limit is 4");
}

TEST_F(Files, OnlyRegularFilesAreRead) {
  EXPECT_EQ(file_read(folder_).error().message, "not a regular file");
  EXPECT_EQ(file_read(path("none")).error().code, Code::io);
  EXPECT_EQ(file_read("/dev/null").error().message, "not a regular file");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(file_read(path("pipe")).error().message, "not a regular file");  // and does not wait for a writer
}

TEST_F(Files, AReaderSeesTheOldBytesOrTheNew) {
  const std::string a(200000, 'a'), b(100000, 'b');
  ASSERT_TRUE(file_write(path("f"), a));
  std::thread writer([&] {
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(file_write(path("f"), i % 2 == 0 ? b : a));
  });
  for (int i = 0; i < 200; ++i) {
    const std::string seen = file_read(path("f")).take();
    EXPECT_TRUE(seen == a || seen == b) << seen.size();
  }
  writer.join();
}

TEST_F(Files, AFailedWriteLeavesNothingBehind) {
  EXPECT_FALSE(file_write(path("none/f"), "x"));
  std::filesystem::create_directory(path("d"));
  EXPECT_FALSE(file_write(path("d"), "x"));  // a folder is not replaced
  std::size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) entries += entry.exists() ? 1 : 0;
  EXPECT_EQ(entries, 1U);
}

TEST_F(Files, AFolderAmongOthersIsOursAlone) {
  ASSERT_TRUE(private_folder(path("cache")));
  EXPECT_TRUE(private_folder(path("cache")));  // it is there already
  struct stat info {};
  ASSERT_EQ(::stat(path("cache").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700U);
  std::filesystem::create_directory_symlink(path("cache"), path("link"));
  EXPECT_FALSE(private_folder(path("link")));
  ASSERT_TRUE(file_write(path("f"), "x"));
  EXPECT_FALSE(private_folder(path("f")));
  ASSERT_EQ(::chmod(path("cache").c_str(), 0750), 0);
  EXPECT_FALSE(private_folder(path("cache")));
}

// As in a child that is out of its parent's control: the exit code is its answer.
int exit_code_of(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    alarm(60);
    ::_exit(body() ? 0 : 1);
  }
  int state = 0;
  ::waitpid(child, &state, 0);
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

TEST(ParallelRun, GoesOnWithTheThreadsThatThereAre) {
  if (kAddressSanitizer) GTEST_SKIP() << "it reserves terabytes of addresses";
  EXPECT_EQ(exit_code_of([] {
              const rlimit none{1 << 20, 1 << 20};  // no room for another stack
              if (::setrlimit(RLIMIT_AS, &none) != 0) return false;
              std::atomic<int> done = 0;
              parallel_run(64, 256, [&](std::size_t) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                ++done;
              });
              return done == 256;
            }),
            0);
}

TEST_F(Files, AProcessEndsWithItsParent) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // who is left alone is ours
  const std::string note = path("pid");
  const pid_t parent = ::fork();
  if (parent == 0) {
    (void)process_run({"/bin/sh", "-c", "echo $$ >" + note + ".new; mv " + note + ".new " + note + "; exec sleep 60"},
                      {"PATH=/usr/bin:/bin"});
    ::_exit(0);
  }
  const auto soon = [](const std::function<bool()>& so) {
    for (int i = 0; i < 1000; ++i) {
      if (so()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  };
  ASSERT_TRUE(soon([&] { return file_exists(note); }));
  const pid_t child = std::stoi(file_read(note).take());
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(soon([&] { return ::waitpid(child, nullptr, WNOHANG) == child; }));
  ::kill(child, SIGKILL);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(Files, APackRefusesAFolderThatItCouldNotRead) {
  auto writer = pack_create(path("p.pack")).take();
  PackedFolder large(2);
  for (PackedFile& f : large) f.bytes.resize(kFileLimit * 2 / 3);
  const auto added = writer->add("a", large);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Code::limit);
  ASSERT_TRUE(writer->add("b", {{"model.py", "small"}}));
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(file_read(path("p.pack/b/model.py")).take(), "small");
}

TEST_F(Files, ListsSkipBlankLinesAndComments) {
  ASSERT_TRUE(file_write(path("l"), "# head\n a \r\n\n\tb\n#c\nd"));
  EXPECT_EQ(file_read_list(path("l")).take(), (std::vector<std::string>{"a", "b", "d"}));
}

TEST_F(Files, WhereKeepsTheLine) {
  ASSERT_TRUE(file_write(path("f"), "one\ntwo\n"));
  EXPECT_EQ(where_in_file(path("f"), 2, 1).text, "two");
  EXPECT_EQ(where_in_file(path("f"), 3, 1).text, "");
  EXPECT_EQ(where_in_file(path("f"), 0, 0).text, "");
  EXPECT_EQ(where_in_file(path("none"), 1, 1).text, "");
}

TEST(ErrorText, ShowsPlaceCaretAndNotes) {
  const Error full{Code::name, {"model.py", 3, 5, "abc d = 1"}, "no", {"first", "second"}};
  EXPECT_EQ(error_text(full),
            "model.py:3:5: error[name]: no\n    3 | abc d = 1\n      |     ^\n  note: first\n  note: second");
  EXPECT_EQ(error_line(full), "model.py:3:5: error[name]: no");
  EXPECT_EQ(error_text({Code::io, {"f", 0, 0, {}}, "gone", {}}), "f: error[io]: gone");
  EXPECT_EQ(error_text({Code::op, {}, "what", {}}), "error[op]: what");
  EXPECT_EQ(error_line({Code::op, {"", 4, 0, {}}, "what", {}}), "line 4: error[op]: what");
}

TEST(ErrorText, CutsLongLinesAndMasksControlBytes) {
  std::string line(1000, 'a');
  line[500] = '\x1b';
  line[501] = '\t';
  const std::string text = error_text({Code::syntax, {"f", 1, 501, line}, "bad", {}});
  EXPECT_EQ(text, "f:1:501: error[syntax]: bad\n    1 | " + std::string(80, 'a') + ". " + std::string(38, 'a') +
                      "\n      | " + std::string(80, ' ') + "^");
  EXPECT_EQ(error_text({Code::syntax, {"f", 1, 3, "a\xe2\x80\xae\x1b\xc3\xa9\xff"}, "bad", {}}),
            "f:1:3: error[syntax]: bad\n    1 | a..\xc3\xa9.\n      |  ^");  // what a terminal acts on is a dot
  EXPECT_EQ(error_text({Code::syntax, {"f", 1, 99, "ab"}, "bad", {}}),
            "f:1:99: error[syntax]: bad\n    1 | ab\n      |   ^");
}

TEST(Results, AThrownFailureBecomesTheResult) {
  const auto failed = guarded([]() -> int { fail(Code::graph, "no"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no");
  EXPECT_EQ(*guarded([] { return 3; }), 3);
}

TEST(Steps, ReachWhatSomeElementReaches) {
  EXPECT_TRUE(rc::check("as all pairs of elements say", [] {
    Dimensions dimensions;
    for (int d = 0; d < 3; ++d) dimensions.emplace_back(*rc::gen::inRange(-12, 13), *rc::gen::inRange(1, 5));
    std::vector<std::int64_t> places{0};
    for (const auto& [step, size] : dimensions) {
      std::vector<std::int64_t> more;
      for (const std::int64_t p : places)
        for (std::int64_t i = 0; i < size; ++i) more.push_back(p + step * i);
      places = std::move(more);
    }
    const auto distance = static_cast<std::int64_t>(*rc::gen::inRange(-60, 61));
    bool found = false;
    for (const std::int64_t p : places)
      for (const std::int64_t q : places) found = found || p - q == distance;
    int many = 10000, none = 0;
    RC_ASSERT(steps_reach(sorted_steps(dimensions), distance, many) == found);
    RC_ASSERT(steps_reach(sorted_steps(dimensions), distance, none));
  }));
}

}  // namespace
}  // namespace passnet
