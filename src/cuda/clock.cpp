#include "cuda/clock.h"

#include <algorithm>

namespace passnet::cuda {

namespace {
constexpr std::int64_t kLeastFlushBytes = std::int64_t{64} << 20;  // where the driver knows no L2
constexpr int kNotSupported = 801;                                 // GPUs without persisting lines
}  // namespace

DeviceClock::DeviceClock(const Device& device) : device_(device) {
  device_.enter();
  words_ = static_cast<std::size_t>(std::max(2 * device_.l2_bytes, kLeastFlushBytes)) / sizeof(unsigned);
  device_.check(device_.call.MemAlloc(&buffer_, words_ * sizeof(unsigned)), "no memory to flush the cache with");
  device_.check(device_.call.EventCreate(&begin_, 0), "cannot make an event");
  device_.check(device_.call.EventCreate(&end_, 0), "cannot make an event");
}

DeviceClock::~DeviceClock() {  // after a fault on the device these fail, which changes nothing
  if (end_ != nullptr) device_.call.EventDestroy(end_);
  if (begin_ != nullptr) device_.call.EventDestroy(begin_);
  if (buffer_ != 0) device_.call.MemFree(buffer_);
}

void DeviceClock::flush() {
  settle();
  if (const int result = device_.call.CtxResetPersistingL2Cache(); result != kNotSupported)
    device_.check(result, "cannot give back the persisting cache");
  device_.check(device_.call.MemsetD32Async(buffer_, ++flushes_, words_, nullptr), "cannot flush the cache");
  settle();
}

void DeviceClock::settle() { device_.check(device_.call.CtxSynchronize(), "work on the GPU failed"); }

void DeviceClock::start(bool events) {
  events_ = events;
  if (events_) device_.check(device_.call.EventRecord(begin_, nullptr), "cannot record an event");
  started_ = std::chrono::steady_clock::now();
}

Elapsed DeviceClock::stop() {
  const int recorded = events_ ? device_.call.EventRecord(end_, nullptr) : 0;
  const int synchronised = device_.call.CtxSynchronize();
  const auto now = std::chrono::steady_clock::now();
  device_.check(synchronised, "work on the GPU failed");
  device_.check(recorded, "cannot record an event");
  float ms = 0;
  if (events_) device_.check(device_.call.EventElapsedTime(&ms, begin_, end_), "cannot read an event");
  return {std::chrono::duration<double, std::milli>(now - started_).count(), static_cast<double>(ms)};
}

}  // namespace passnet::cuda
