// Device memory and events that go with their owner.
#pragma once

#include "cuda/driver.h"

namespace passnet::cuda {

class Memory {
 public:
  Memory(const Device& device, std::size_t bytes) : device_(device) {
    device.check(device.call.MemAlloc(&address_, bytes), "cannot have device memory");
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { device_.call.MemFree(address_); }
  Address address() const { return address_; }

 private:
  const Device& device_;
  Address address_ = 0;
};

class Event {
 public:
  explicit Event(const Device& device) : device_(device) {
    device.check(device.call.EventCreate(&handle_, 0), "cannot make an event");
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { device_.call.EventDestroy(handle_); }
  void record() const { device_.check(device_.call.EventRecord(handle_, nullptr), "cannot record an event"); }
  // Milliseconds; waits for this one.
  double since(const Event& earlier) const {
    device_.check(device_.call.EventSynchronize(handle_), "what ran before an event failed");
    float ms = 0;
    device_.check(device_.call.EventElapsedTime(&ms, earlier.handle_, handle_), "cannot read an event");
    return static_cast<double>(ms);
  }

 private:
  const Device& device_;
  EventHandle handle_ = nullptr;
};

}  // namespace passnet::cuda
