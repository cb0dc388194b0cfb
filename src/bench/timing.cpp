#include "bench/timing.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace passnet {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kFewest = 3;                            // trials of what is so slow that more would take kLongest
constexpr double kLongest = 60;                       // seconds
constexpr int kFirstPause = 10, kLongestPause = 500;  // milliseconds before a measurement is repeated

class Protocol {
 public:
  Protocol(Side& eager, Side& compiled, const TimingOptions& options)
      : eager_(eager), compiled_(compiled), options_(options), block_(std::max(eager.block(), compiled.block())) {}

  Timing run() {
    // The first calls prepare things and say nothing; the second ones say what a call costs. Of calls that were made
    // before, and are slow, one says it.
    double slowest_ms = warm_up(1);
    const int fewest_warmups = options_.warmed > 0 && slowest_ms > options_.budget_s * 1e3 ? 1 : 2;
    if (fewest_warmups > 1) slowest_ms = warm_up(1);
    const int warmups = affordable(std::max(0, options_.warmup - options_.warmed), fewest_warmups, slowest_ms);
    warm_up(warmups - fewest_warmups);
    out_.warmups = warmups + options_.warmed;
    const bool slow = slowest_ms * 2 * options_.fewest > kLongest * 1e3;
    const int bearable = static_cast<int>(slow ? kLongest * 1e3 / 2 / slowest_ms : options_.fewest);
    const int fewest = std::min(options_.fewest, std::max(kFewest, bearable));
    const int trials = affordable(options_.trials, std::min(fewest, options_.trials), slowest_ms);
    const double before = out_.trial_seconds;
    Timing best = measure(trials);
    const double once_s = out_.trial_seconds - before;
    while (!best.stable && out_.repeats < options_.repeats && out_.trial_seconds + once_s < patience_s()) {
      const int pause_ms = std::min(kLongestPause, kFirstPause << std::min(out_.repeats++, 16));
      std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
      out_.trial_seconds += pause_ms / 1e3;
      Timing again = measure(trials);
      if (noise(again) < noise(best)) best = std::move(again);
    }
    // Noisy times may still have a quotient that is well known: what counts is that.
    const Ratio& ratio = best.speedup;
    best.stable = best.stable || ratio.high - ratio.low <= ratio.value * options_.noise_limit / 2;
    measure_device(best, std::min(trials, kOtherTrials));
    best.warmups = out_.warmups;
    best.repeats = out_.repeats;
    best.trial_seconds = out_.trial_seconds;
    return best;
  }

 private:
  double patience_s() const { return options_.patience * options_.budget_s; }
  static double noise(const Timing& t) { return std::max(t.eager.e2e.noise(), t.compiled.e2e.noise()); }

  int affordable(int wanted, int fewest, double call_ms) const {
    const double calls = options_.budget_s * 1e3 / std::max(call_ms, 1e-6);
    return calls >= wanted ? wanted : std::max(fewest, static_cast<int>(calls));
  }

  // Gives the slowest call.
  double warm_up(int count) {
    double slowest = 0;
    for (Side* side : {&eager_, &compiled_}) {
      if (count > 0) side->begin_block(count);
      for (int i = 0; i < count; ++i) slowest = std::max(slowest, call(*side, -1));
    }
    return slowest;
  }

  // A trial is all but the looking: inputs put back, the call, its result given back.
  double call(Side& side, int trial) {
    const auto begin = Clock::now();
    if (disturbed_) {
      side.before(-1);
      side.call_ms();
      side.drop();
    }
    side.before(trial);
    const double ms = side.call_ms();
    const auto called = Clock::now();
    side.look(trial);
    const auto looked = Clock::now();
    side.drop();
    disturbed_ = side.disturbs();
    const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
    // What another process timed is here in an instant.
    out_.trial_seconds += std::max(seconds(called - begin), ms / 1e3) + seconds(Clock::now() - looked);
    return ms;
  }

  // Both sides in turn, so many trials at once; warm-ups and warm trials have no numbers.
  void trials_of(Times& eager, Times& compiled, int trials, int block, bool numbered) {
    for (int begin = 0; begin < trials; begin += block) {
      const bool eager_first = coin();
      const int end = std::min(trials, begin + block);
      for (const bool is_eager : {eager_first, !eager_first}) {
        Side& side = is_eager ? eager_ : compiled_;
        Times& to = is_eager ? eager : compiled;
        side.begin_block(end - begin);
        for (int i = begin; i < end; ++i) {
          to.e2e_ms.push_back(call(side, numbered ? i : -1));
          if (const auto gpu = side.gpu_ms()) to.gpu_ms.push_back(*gpu);
        }
      }
    }
    for (Times* t : {&eager, &compiled}) {
      t->e2e = summarise(t->e2e_ms);
      t->gpu = summarise(t->gpu_ms);
    }
  }

  Timing measure(int trials) {
    Timing t;
    trials_of(t.eager, t.compiled, trials, block_, true);
    t.speedup = speedup(t.eager.e2e_ms, t.compiled.e2e_ms);
    t.stable = noise(t) <= options_.noise_limit;
    return t;
  }

  // By the device's clock, cold and warm, and by the host's warm.
  void measure_device(Timing& t, int trials) {
    for (const Side::Series series : {Side::Series{false, true}, {true, false}, {true, true}}) {
      const bool eager = eager_.set_series(series), compiled = compiled_.set_series(series);
      if (!eager || !compiled) return;
      Times a, b;
      // With a warm cache one side after the other: the other's calls would empty it in between.
      trials_of(a, b, trials, series.warm ? trials : block_, false);
      for (auto [to, from] : {std::pair{&t.eager, &a}, std::pair{&t.compiled, &b}}) {
        if (!series.warm) {
          to->gpu_ms = from->gpu_ms;
          to->gpu = from->gpu;
        } else if (series.events) {
          to->warm_gpu = from->gpu;
        } else {
          to->warm_e2e = from->e2e;
        }
      }
    }
    t.gpu_speedup = speedup(t.eager.gpu_ms, t.compiled.gpu_ms);
  }

  bool coin() {
    coin_ = coin_ * 6364136223846793005U + 1442695040888963407U + options_.order_seed;
    return (coin_ >> 63) != 0;
  }

  Side& eager_;
  Side& compiled_;
  const TimingOptions& options_;
  int block_;
  std::uint64_t coin_ = 1;
  bool disturbed_ = false;  // by the last call
  Timing out_;
};

}  // namespace

Timing time_sides(Side& eager, Side& compiled, const TimingOptions& options) {
  return Protocol(eager, compiled, options).run();
}

}  // namespace passnet
