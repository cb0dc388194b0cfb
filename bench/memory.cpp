// What this machine's memory allows for the two accesses that are not in a row: hand-written loops on one thread,
// against a copy of as many bytes. The limits of what kernels of bench/tiles can reach: memory
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t kSide = 4096;  // of the matrices, 64 MiB each
constexpr int kTimes = 9;

class Floats {
 public:
  explicit Floats(std::int64_t count) : bytes_(static_cast<std::size_t>(count) * sizeof(float)) {
    data_ = static_cast<float*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    madvise(data_, bytes_, MADV_HUGEPAGE);
    std::memset(data_, 1, bytes_);
  }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  ~Floats() { munmap(data_, bytes_); }
  float* get() { return data_; }

 private:
  std::size_t bytes_;
  float* data_;
};

double best_ms(const auto& call) {
  double best = 1e9;
  for (int i = 0; i < kTimes; ++i) {
    const auto begin = Clock::now();
    call();
    best = std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  return best;
}

// Through a buffer of Block x Block, so that every line of memory is read and written once and whole.
template <std::int64_t Block>
void transpose(const float* from, float* to) {
  alignas(64) float in[Block][Block], out[Block][Block];
  for (std::int64_t i = 0; i < kSide; i += Block)
    for (std::int64_t j = 0; j < kSide; j += Block) {
      for (std::int64_t r = 0; r < Block; ++r) std::memcpy(in[r], from + (i + r) * kSide + j, sizeof in[r]);
      for (std::int64_t r = 0; r < Block; ++r)
        for (std::int64_t c = 0; c < Block; ++c) out[c][r] = in[r][c];
      for (std::int64_t c = 0; c < Block; ++c) std::memcpy(to + (j + c) * kSide + i, out[c], sizeof out[c]);
    }
}

// Rows of `width` floats, those of the next rows but some asked for before.
void gather(const float* from, const std::vector<std::int32_t>& rows, std::int64_t width, std::size_t ahead,
            float* to) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (ahead > 0 && i + ahead < rows.size())
      for (std::int64_t at = 0; at < width; at += 64) __builtin_prefetch(from + rows[i + ahead] * width + at);
    std::memcpy(to + static_cast<std::int64_t>(i) * width, from + rows[i] * width,
                static_cast<std::size_t>(width) * sizeof(float));
  }
}

}  // namespace

int main() {
  Floats a(kSide * kSide), b(kSide * kSide);
  const double copy = best_ms([&] { std::memcpy(b.get(), a.get(), sizeof(float) * kSide * kSide); });
  fmt::print("copy of 64 MiB: {:.2f} ms, {:.1f} GB/s read and written\n", copy, 2 * 4e-6 * kSide * kSide / copy);
  const auto row = [&](const char* name, double ms) { fmt::print("{:28} {:.2f} of a copy\n", name, ms / copy); };
  row("transpose, blocks of 16", best_ms([&] { transpose<16>(a.get(), b.get()); }));
  row("transpose, blocks of 32", best_ms([&] { transpose<32>(a.get(), b.get()); }));
  row("transpose, blocks of 64", best_ms([&] { transpose<64>(a.get(), b.get()); }));
  row("transpose, blocks of 128", best_ms([&] { transpose<128>(a.get(), b.get()); }));
  constexpr std::int64_t kWidth = 512;
  std::mt19937 random(1);
  std::vector<std::int32_t> rows(kSide * kSide / kWidth);
  for (std::int32_t& r : rows) r = static_cast<std::int32_t>(random() % rows.size());
  for (const std::size_t ahead : {0, 1, 2, 4})
    row(fmt::format("rows of 2 KiB, {} ahead", ahead).c_str(),
        best_ms([&] { gather(a.get(), rows, kWidth, ahead, b.get()); }));
}
