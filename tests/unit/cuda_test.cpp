// What can be said of src/cuda without a GPU: a driver of our own notes what it is asked.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "cuda/clock.h"
#include "cuda/health.h"
#include "cuda/monitor.h"

namespace passnet::cuda {
namespace {

constexpr int kFault = 700;
std::vector<std::string> calls;
int synchronise_gives = 0;
std::size_t flushed_words = 0;
unsigned memory = 0, memory_error = 0;  // one word stands for all

Device fake() {
  calls.clear();
  synchronise_gives = 0;
  memory_error = 0;
  Device d{};
  d.l2_bytes = 50 << 20;
  d.call.CtxGetCurrent = [](ContextHandle* c) { return *c = nullptr, 0; };
  d.call.CtxSynchronize = [] { return calls.emplace_back("synchronise"), synchronise_gives; };
  d.call.CtxResetPersistingL2Cache = [] { return calls.emplace_back("reset"), 0; };
  d.call.EventCreate = [](EventHandle* e, unsigned) {
    static int next = 0;
    *e = reinterpret_cast<EventHandle>(static_cast<std::uintptr_t>(++next));
    return 0;
  };
  d.call.EventRecord = [](EventHandle, StreamHandle) { return calls.emplace_back("record"), 0; };
  d.call.EventElapsedTime = [](float* ms, EventHandle from, EventHandle to) {
    EXPECT_LT(from, to);
    return calls.emplace_back("elapsed"), *ms = 0.25F, 0;
  };
  d.call.EventDestroy = [](EventHandle) { return calls.emplace_back("destroy"), 0; };
  d.call.MemAlloc = [](Address* at, std::size_t bytes) {
    return calls.emplace_back("alloc " + std::to_string(bytes)), *at = 4096, 0;
  };
  d.call.MemFree = [](Address) { return calls.emplace_back("free"), 0; };
  d.call.MemsetD32Async = [](Address, unsigned value, std::size_t count, StreamHandle stream) {
    EXPECT_EQ(stream, nullptr);
    flushed_words = count;
    return calls.emplace_back("memset"), memory = value, 0;
  };
  d.call.MemcpyDtoH = [](void* to, Address, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += sizeof memory) {
      const unsigned word = memory ^ (i == 0 ? memory_error : 0);
      std::memcpy(static_cast<char*>(to) + i, &word, sizeof word);
    }
    return calls.emplace_back("read"), 0;
  };
  d.call.GetErrorString = [](int, const char** text) { return *text = "an illegal memory access", 0; };
  return d;
}

using Calls = std::vector<std::string>;

TEST(DeviceClock, ColdTrial) {
  const Device d = fake();
  {
    DeviceClock clock(d);
    EXPECT_EQ(calls, Calls{"alloc " + std::to_string(100 << 20)});
    calls.clear();
    clock.flush();  // what persists is given back before anything is written, and all is done before the clocks start
    EXPECT_EQ(calls, (Calls{"synchronise", "reset", "memset", "synchronise"}));
    EXPECT_EQ(flushed_words, (100U << 20) / 4);
    calls.clear();
    clock.start(true);
    calls.emplace_back("call");
    const Elapsed elapsed = clock.stop();
    EXPECT_EQ(calls, (Calls{"record", "call", "record", "synchronise", "elapsed"}));
    EXPECT_EQ(elapsed.gpu_ms, 0.25);
    EXPECT_GT(elapsed.e2e_ms, 0);
    calls.clear();
  }
  EXPECT_EQ(calls, (Calls{"destroy", "destroy", "free"}));
}

TEST(DeviceClock, WarmTrial) {
  const Device d = fake();
  DeviceClock clock(d);
  calls.clear();
  clock.settle();
  EXPECT_EQ(calls, Calls{"synchronise"});
}

TEST(DeviceClock, ACacheThatCannotPersist) {
  Device d = fake();
  d.call.CtxResetPersistingL2Cache = [] { return 801; };
  DeviceClock clock(d);
  EXPECT_NO_THROW(clock.flush());
}

TEST(DeviceClock, AFaultIsTheCalls) {
  const Device d = fake();
  DeviceClock clock(d);
  clock.start(true);
  synchronise_gives = kFault;
  try {
    clock.stop();
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error.code, Code::run);
    EXPECT_EQ(failure.error.message, "work on the GPU failed: CUDA error 700, an illegal memory access");
  }
}

TEST(Health, Works) {
  const Device d = fake();
  EXPECT_TRUE(health(d));
  EXPECT_EQ(calls, (Calls{"alloc 4096", "memset", "synchronise", "read", "free"}));
}

TEST(Health, AfterAFault) {
  const Device d = fake();
  synchronise_gives = kFault;
  const auto result = health(d);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::environment);
  EXPECT_EQ(result.error().message, "the GPU does not work: waiting: CUDA error 700, an illegal memory access");
  EXPECT_EQ(calls.back(), "free");
}

TEST(Health, OtherBytes) {
  const Device d = fake();
  memory_error = 1;
  const auto result = health(d);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "the GPU does not work: reading: other bytes than were written");
}

TEST(Monitor, ForeignProcesses) {
  const pid_t self = ::getpid();
  EXPECT_EQ(foreign_processes({self}, self, self), 0);
  EXPECT_EQ(foreign_processes({self, 1}, self, self), 1);
  EXPECT_EQ(foreign_processes({self}, self, ::getppid()), 0);  // a child is its parent's
  EXPECT_EQ(foreign_processes({1, 2}, self, self), std::nullopt);
}

TEST(Monitor, WithoutNvml) {
  if (gpu_state()) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_FALSE(gpu_processes());
}

}  // namespace
}  // namespace passnet::cuda
