#include "cuda/health.h"

#include <fmt/format.h>

#include <array>

namespace passnet::cuda {

namespace {

constexpr unsigned kPattern = 0x5a17c0de;
constexpr std::size_t kWords = 1024;

void probe(const Device& device) {
  device.enter();
  Address at = 0;
  device.check(device.call.MemAlloc(&at, kWords * sizeof(unsigned)), "allocating");
  const auto work = guarded([&] {
    device.check(device.call.MemsetD32Async(at, kPattern, kWords, nullptr), "writing");
    device.check(device.call.CtxSynchronize(), "waiting");
    std::array<unsigned, kWords> back{};
    device.check(device.call.MemcpyDtoH(back.data(), at, sizeof back), "reading");
    for (const unsigned word : back)
      if (word != kPattern) fail(Code::run, "reading: other bytes than were written");
    return std::monostate{};
  });
  device.call.MemFree(at);
  if (!work) fail(work.error());
}

}  // namespace

Result<std::monostate> health(const Device& device) {
  const auto done = guarded([&] { return probe(device), std::monostate{}; });
  if (done) return std::monostate{};
  return Error{Code::environment,
               {},
               fmt::format("the GPU does not work: {}", done.error().message),
               {"'nvidia-smi' shows its state; 'nvidia-smi --gpu-reset' may help"}};
}

}  // namespace passnet::cuda
