// The timing protocol: two sides called in turn, trial by trial, so that what disturbs the machine disturbs both.
#pragma once

#include <optional>
#include <vector>

#include "bench/statistics.h"

namespace passnet {

// One thing to be timed. What must not be timed happens in `before` and `after`.
class Side {
 public:
  virtual ~Side() = default;
  virtual void before(int /*trial*/) {}                                  // inputs are put back
  virtual double call_ms() = 0;                                          // by the host's clock, all work done
  virtual std::optional<double> gpu_ms() const { return std::nullopt; }  // of that call, by the device's clock
  // How the calls that follow are made; at first as a Series is made. False: there is no choice.
  struct Series {
    bool warm = false;    // a device's cache is not emptied before every call
    bool events = false;  // its clock is read too, which costs the host time
  };
  virtual bool set_series(Series /*series*/) { return false; }
  virtual void look(int /*trial*/) {}  // at what the call gave
  virtual void drop() {}               // which then goes
  // Whether giving back took more of the caches than the graph has any use for: then who comes next is called once
  // before it is timed.
  virtual bool disturbs() const { return false; }
  // How many trials follow one another before the other side's turn: more than one where the sides are processes whose
  // idle threads disturb each other.
  virtual int block() const { return 1; }
  virtual void begin_block(int /*count*/) {}  // that many calls follow
};

struct TimingOptions {
  int warmup = 25, trials = 100;
  int warmed = 0;                // warm-ups that were made before
  int fewest = 10;               // trials, but where a call takes seconds
  double budget_s = 2;           // of a phase (warm-up, trials) of one side; longer ones get fewer trials
  double noise_limit = 0.2;      // IQR / median; above it the trials are repeated
  int repeats = 8;               // at most, after pauses that grow: what disturbs the machine may pass
  double patience = 10;          // budgets: after so long nothing is repeated
  std::uint64_t order_seed = 0;  // which side goes first in each turn
};
inline constexpr int kOtherTrials = 20;  // of a series beside the one that counts: by events, with a warm cache

// The timings of one side.
struct Times {
  std::vector<double> e2e_ms;  // host clock around call and synchronise, one a trial
  std::vector<double> gpu_ms;  // events; empty on the CPU
  Summary e2e, gpu;
  Summary warm_e2e, warm_gpu;  // on a GPU: a few more trials, the cache as the last call left it
};

struct Timing {
  Times eager, compiled;
  Ratio speedup, gpu_speedup;
  int warmups = 0, repeats = 0;
  bool stable = false;       // the noise is below the limit
  double trial_seconds = 0;  // in trials of both sides; warm-ups, repeats and the pauses before them too
};
// Trials count from 0; warm-ups have negative numbers.
Timing time_sides(Side& eager, Side& compiled, const TimingOptions& options);

}  // namespace passnet
