// Workers of a template that has loaded libtorch: what a fork costs, and that torch's threads work in the child.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "exec/engine.h"
#include "guard/worker.h"

namespace passnet::guard {
namespace {

using Clock = std::chrono::steady_clock;

// An operator, then work over all of torch's threads.
std::string operator_and_threads(Engine& engine) {
  engine.set_threads(2);
  const TensorDesc desc{{1024, 1024}, {1024, 1}, Dtype::float32, DeviceType::cpu};
  const TensorRef a = engine.allocate(desc).take(), b = engine.allocate(desc).take();
  engine.fill(a, 3).take();
  engine.copy(b, a).take();
  std::atomic<std::int64_t> sum = 0;
  engine.parallel(
      1000, 1,
      [](void* context, std::int64_t begin, std::int64_t end) {
        *static_cast<std::atomic<std::int64_t>*>(context) += end - begin;
      },
      &sum);
  return std::to_string(static_cast<const float*>(b.data)[7]) + " " + std::to_string(sum) + " " +
         std::to_string(engine.threads());
}

TEST(GuardTorch, ForkToFirstOperator) {
  const auto begin = Clock::now();
  auto started = template_start([] { engine_load().take(); },
                                [](Channel& c) { c.send(operator_and_threads(*engine_load().take())); });
  if (!started) GTEST_SKIP() << started.error().message;
  const double load = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  double best = 1e9, best_fork = 1e9;
  for (int i = 0; i < 10; ++i) {
    const auto from = Clock::now();
    auto w = (*started)->fork({}).take();
    best_fork = std::min(best_fork, std::chrono::duration<double, std::milli>(Clock::now() - from).count());
    ASSERT_EQ(w->channel().receive(60).take(), "3.000000 1000 2");
    best = std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - from).count());
  }
  std::printf("load %.0f ms, fork %.1f ms, fork to first operators %.1f ms\n", load, best_fork, best);
  EXPECT_LT(best, 1000);
}

// Sealed before torch has threads, and after.
TEST(GuardTorch, Sealed) {
  auto started = template_start([] { engine_load().take(); },
                                [](Channel& c) {
                                  Engine& engine = *engine_load().take();
                                  const bool late = c.receive(10).take() == "late";
                                  std::string text;
                                  if (late) text = operator_and_threads(engine);
                                  const auto from = Clock::now();
                                  seal({});
                                  const double ms =
                                      std::chrono::duration<double, std::milli>(Clock::now() - from).count();
                                  text = operator_and_threads(engine);
                                  c.send(text + " " + std::to_string(ms));
                                });
  if (!started) GTEST_SKIP() << started.error().message;
  for (const char* when : {"early", "late"}) {
    auto w = (*started)->fork({}).take();
    w->channel().send(when);
    const std::string text = w->channel().receive(60).take();
    EXPECT_TRUE(text.starts_with("3.000000 1000 2 ")) << when << ": " << text;
    std::printf("sealed %s: threads, ms: %s\n", when, text.substr(14).c_str());
  }
}

}  // namespace
}  // namespace passnet::guard
