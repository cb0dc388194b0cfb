// The kernel cache: what compiles, what is found again, what is broken, many at once.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/file.h"
#include "base/process.h"
#include "tile_cpu/abi.h"
#include "base/cache.h"
#include "tile_cpu/compile.h"

using namespace passnet;
using namespace passnet::tile_cpu;

namespace {

// The cache's folder is chosen once a process; this one is the test's own.
struct OwnCache : testing::Environment {
  std::string path = testing::TempDir() + "passnet-cache-" + std::to_string(::getpid());
  void SetUp() override { ::setenv("PASSNET_CACHE", path.c_str(), 1); }
  void TearDown() override { std::filesystem::remove_all(path); }
};
const OwnCache* const kOwn = static_cast<OwnCache*>(testing::AddGlobalTestEnvironment(new OwnCache));

std::string adder(int n) {
  return "union A { void* p; long i; double r; };\nextern \"C\" void passnet_kernel(const A* a, long b, long e, char*) "
         "{\n"
         "  for (long k = b; k < e; ++k) ((int*)a[0].p)[k] += " +
         std::to_string(n) + ";\n}\n";
}

int run_adder(const LoadedKernel& kernel) {
  int values[4] = {};
  Argument argument{.pointer = values};
  reinterpret_cast<Kernel>(kernel.entry)(&argument, 1, 4, nullptr);
  return values[0] == 0 && values[1] == values[3] ? values[2] : -1;
}

}  // namespace

TEST(compile, built_once_and_found_again) {
  const auto first = compile(adder(7));
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->origin, Origin::compiled);
  EXPECT_EQ(run_adder(*first), 7);
  const auto second = compile(adder(7));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->origin, Origin::memory);
  EXPECT_EQ(second->entry, first->entry);
  EXPECT_TRUE(file_exists(kOwn->path + "/" + std::string(first->key) + ".so"));
  EXPECT_TRUE(std::filesystem::is_empty(kOwn->path + "/work"));
}

TEST(compile, a_source_that_is_wrong) {
  const auto kernel = compile("int passnet_kernel( {");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, passnet::Code::internal);
  EXPECT_NE(kernel.error().message.find("error"), std::string::npos);
  EXPECT_FALSE(std::filesystem::is_empty(kOwn->path + "/failed"));
  const auto unnamed = compile("void other() {}");
  ASSERT_FALSE(unnamed);
  EXPECT_NE(unnamed.error().message.find("passnet_kernel"), std::string::npos);
}

TEST(compile, many_at_once_from_many_threads) {
  std::vector<std::string> sources;
  for (int i = 0; i < 6; ++i) sources.push_back(adder(100 + i % 3));
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      const auto kernels = compile_many(sources);
      for (int i = 0; i < 6; ++i) {
        ASSERT_TRUE(kernels[static_cast<std::size_t>(i)]);
        EXPECT_EQ(run_adder(*kernels[static_cast<std::size_t>(i)]), 100 + i % 3);
      }
    });
  for (std::thread& t : threads) t.join();
}

TEST(cache, cut_and_changed_entries_are_not_read) {
  ASSERT_TRUE(cache_add_text("hello", "entry"));
  EXPECT_EQ(cache_read("entry"), "hello");
  const std::string path = kOwn->path + "/entry";
  const std::string whole = file_read(path).take();
  for (std::size_t n = 0; n < whole.size(); ++n) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, n);
    EXPECT_FALSE(cache_read("entry"));
  }
  std::string changed = whole;
  changed[1] ^= 1;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << changed;
  EXPECT_FALSE(cache_read("entry"));
  EXPECT_FALSE(cache_read("none"));
}

TEST(cache, oldest_go_first) {
  const std::string text(200'000, 'x');
  for (const char* name : {"old", "new"}) ASSERT_TRUE(cache_add_text(text, name));
  const timespec past[2] = {{1000, 0}, {1000, 0}};
  ::utimensat(AT_FDCWD, (kOwn->path + "/old").c_str(), past, 0);
  cache_evict(std::int64_t{1} << 40);
  EXPECT_TRUE(cache_read("new"));
  ::utimensat(AT_FDCWD, (kOwn->path + "/old").c_str(), past, 0);
  cache_evict(400'000);
  EXPECT_FALSE(cache_read("old"));
  EXPECT_TRUE(cache_read("new"));
}

TEST(process, limits) {
  const auto slow = process_run({"/bin/sleep", "20"}, {}, {.seconds = 0.2});
  ASSERT_TRUE(slow);
  EXPECT_TRUE(slow->timed_out);
  EXPECT_LT(slow->seconds, 5);
  const auto echo = process_run({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, {});
  ASSERT_TRUE(echo);
  EXPECT_EQ(echo->status, 3);
  EXPECT_EQ(echo->output, "out\nerr\n");
  const auto loud = process_run({"/bin/sh", "-c", "i=0; while [ $i -lt 2000 ]; do echo 0123456789; i=$((i+1)); done"},
                                {}, {.output_bytes = 100});
  ASSERT_TRUE(loud);
  EXPECT_EQ(loud->output.size(), 100U);
  const auto big = process_run({"/bin/sh", "-c", "ulimit -v"}, {}, {.memory_bytes = 1 << 30});
  ASSERT_TRUE(big);
  EXPECT_EQ(big->output, "1048576\n");
  const auto none = process_run({"/no/such/program"}, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, passnet::Code::environment);
}
