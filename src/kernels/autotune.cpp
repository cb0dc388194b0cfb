#include "kernels/autotune.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>

#include "base/cache.h"
#include "tile_cpu/compile.h"

namespace passnet {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRuns = 5;                  // of one candidate at most, the fastest counts
constexpr double kEnough = 0.05;          // seconds spent on one candidate
constexpr std::size_t kAlignment = 4096;  // copies lie to a page as the originals do

// Memory that the kernel writes, and a copy of it: a kernel that adds to its output, or works in place, must not see
// what its own earlier runs left.
struct Copied {
  Extent original;
  std::unique_ptr<char, decltype(&std::free)> block{nullptr, std::free};
  char* copy = nullptr;
};

std::map<std::int32_t, Copied> copies(const KernelSource& source, void* const* addresses) {
  std::map<std::int32_t, Copied> out;
  for (const auto& [number, extent] : written_extents(source, addresses)) {
    Copied& c = out[number];
    c.original = extent;
    const std::size_t shift = reinterpret_cast<std::uintptr_t>(extent.low) % kAlignment;
    const std::size_t size = (extent.bytes() + shift + kAlignment) / kAlignment * kAlignment;
    c.block.reset(static_cast<char*>(std::aligned_alloc(kAlignment, size)));
    if (c.block != nullptr) c.copy = c.block.get() + shift;
  }
  return out;
}

// Seconds of the quickest run; infinite where there is no memory to try.
double measure(Engine& engine, const LaunchCandidate& candidate, void* const* addresses) {
  const KernelSource& source = candidate.source;
  const auto copied = copies(source, addresses);
  std::vector<tile_cpu::Argument> arguments = source.arguments;
  for (const auto& [p, buffer] : source.pointers) {
    arguments[p].pointer = addresses[buffer];
    const auto it = copied.find(source.facts.parameters[p].memory);
    if (it == copied.end() || addresses[buffer] == nullptr) continue;
    if (it->second.copy == nullptr) return std::numeric_limits<double>::infinity();
    arguments[p].pointer = it->second.copy + (static_cast<char*>(addresses[buffer]) - it->second.original.low);
  }
  double best = std::numeric_limits<double>::infinity(), spent = 0;
  for (int i = 0; i < kRuns && spent < kEnough; ++i) {
    for (const auto& [number, c] : copied)
      if (c.copy != nullptr) std::memcpy(c.copy, c.original.low, c.original.bytes());
    const auto begin = Clock::now();
    tile_cpu::launch(engine, candidate.grid, arguments.data());
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    best = std::min(best, seconds);
    spent += seconds;
  }
  return best;
}

}  // namespace

std::map<std::int32_t, Extent> written_extents(const KernelSource& source, void* const* addresses) {
  std::map<std::int32_t, Extent> out;
  for (const auto& [p, buffer] : source.pointers)
    if (source.written[p]) out.try_emplace(source.facts.parameters[p].memory);
  for (const auto& [p, buffer] : source.pointers) {
    const auto it = out.find(source.facts.parameters[p].memory);
    if (it == out.end() || addresses[buffer] == nullptr) continue;
    auto* begin = static_cast<char*>(addresses[buffer]);
    char* end = begin + source.facts.parameters[p].elements *
                            tile::elem_bytes(source.function.type(source.function.body.params[p]).elem);
    Extent& e = it->second;
    e.low = e.low == nullptr ? begin : std::min(e.low, begin);
    e.high = e.high == nullptr ? end : std::max(e.high, end);
  }
  std::erase_if(out, [](const auto& item) { return item.second.low == nullptr; });
  return out;
}

std::size_t quickest(std::size_t count, const std::string& name, const std::function<double(std::size_t)>& measure) {
  const std::string entry = name + ".choice";
  if (const auto known = cache_read(entry))
    if (const std::size_t index = std::strtoull(known->c_str(), nullptr, 10); index < count) return index;
  std::size_t best = 0;
  double best_time = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count; ++i)
    if (const double time = measure(i); time < best_time) {
      best = i;
      best_time = time;
    }
  (void)cache_add_text(std::to_string(best), entry);  // a cache that cannot be written only costs time
  return best;
}

std::size_t fastest(Engine& engine, std::span<LaunchCandidate> candidates, void* const* addresses) {
  std::string all = std::to_string(engine.threads());
  for (const LaunchCandidate& c : candidates) all += "\n" + c.source.emitted.source;
  return quickest(candidates.size(), tile_cpu::content_key(all),
                  [&](std::size_t i) { return measure(engine, candidates[i], addresses); });
}

}  // namespace passnet
