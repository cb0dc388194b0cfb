// Who may use the machine, between benches: locks belong to openings of files, so two Turns here are two benches.
#include "bench/turn.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace passnet {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

TEST(Turn, WhoWaitsToTimeIsServedWhileOthersKeepVerifying) {
  std::atomic<bool> done = false, late = false;
  Turn busy;  // two threads, so that one of them verifies at any time
  const auto verify = [&] {
    while (!done) {
      const VerifyTurn hold(busy);
      std::this_thread::sleep_for(milliseconds(20));
    }
  };
  std::thread one(verify);
  std::this_thread::sleep_for(milliseconds(10));
  std::thread other(verify);
  Waiting waiting;
  const auto begin = Clock::now();
  waiting.given_up = [&] { return late = late || Clock::now() - begin > std::chrono::seconds(60); };
  Turn timing(1, waiting);
  for (int i = 0; i < 5; ++i) const TimeTurn hold(timing);
  EXPECT_FALSE(late) << "a minute has passed";
  done = true;
  one.join();
  other.join();
}

TEST(Turn, WhoWaitsToVerifyIsServedWhileOthersKeepTiming) {
  std::atomic<bool> done = false, late = false;
  Turn busy;
  std::thread one([&] {
    while (!done) {
      const TimeTurn hold(busy);
      std::this_thread::sleep_for(milliseconds(20));
    }
  });
  Waiting waiting;
  const auto begin = Clock::now();
  waiting.given_up = [&] { return late = late || Clock::now() - begin > std::chrono::seconds(60); };
  Turn verifying(2, waiting);
  for (int i = 0; i < 5; ++i) const VerifyTurn hold(verifying);
  EXPECT_FALSE(late) << "a minute has passed";
  done = true;
  one.join();
}

TEST(Turn, OneTimesAlone) {
  std::atomic<int> timing = 0, verifying = 0, wrong = 0;
  Turn a, b;
  const auto work = [&](Turn& turn) {
    for (int i = 0; i < 30; ++i) {
      {
        const VerifyTurn hold(turn);
        ++verifying;
        wrong += timing > 0 ? 1 : 0;
        std::this_thread::sleep_for(milliseconds(1));
        --verifying;
      }
      const TimeTurn hold(turn);
      wrong += ++timing > 1 || verifying > 0 ? 1 : 0;
      std::this_thread::sleep_for(milliseconds(1));
      --timing;
    }
  };
  std::thread one(work, std::ref(a)), two(work, std::ref(a)), three(work, std::ref(b));
  work(b);
  for (std::thread* t : {&one, &two, &three}) t->join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace passnet
