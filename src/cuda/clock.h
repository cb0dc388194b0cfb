// Time on a GPU: the host's clock and the device's, around one call, with cold or warm caches.
#pragma once

#include <chrono>

#include "cuda/driver.h"

namespace passnet::cuda {

struct Elapsed {
  double e2e_ms = 0;  // the host's clock, from the call to the end of all work of all streams
  double gpu_ms = 0;  // events before and after it on the stream that torch uses; 0 without them
};

// A trial is flush or settle, start, the call, stop. All of them throw what the driver says.
class DeviceClock {
 public:
  explicit DeviceClock(const Device& device);
  ~DeviceClock();
  DeviceClock(const DeviceClock&) = delete;
  DeviceClock& operator=(const DeviceClock&) = delete;

  // Nothing that was there stays in the L2 cache: what was set aside to persist is given back first, then a buffer of
  // twice the cache's size is written. Waits.
  void flush();
  // Waits for all streams.
  void settle();
  // Events cost microseconds of the host's time, so a trial measures one of the two.
  void start(bool events);
  Elapsed stop();

 private:
  const Device& device_;
  std::size_t words_ = 0;  // of the buffer that is written
  Address buffer_ = 0;
  EventHandle begin_ = nullptr, end_ = nullptr;
  bool events_ = false;  // of this trial
  unsigned flushes_ = 0;
  std::chrono::steady_clock::time_point started_;
};

}  // namespace passnet::cuda
