#include "bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <vector>

#include "base/hash.h"

namespace passnet {

namespace {

constexpr int kResamples = 400;
constexpr double kTail = 0.025;

// A small fixed generator: the same samples give the same interval.
class Random {
 public:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(mix64(state_ += kGolden) % n); }

 private:
  std::uint64_t state_ = 20260101;
};

// The medians of samples drawn with replacement: how often each was drawn, counted through in their order.
class DrawnMedian {
 public:
  explicit DrawnMedian(std::span<const double> samples) : rank_(samples.size()), sorted_(samples.size()) {
    std::vector<std::size_t> order(samples.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return samples[x] < samples[y]; });
    for (std::size_t i = 0; i < order.size(); ++i) {
      rank_[order[i]] = i;
      sorted_[i] = samples[order[i]];
    }
  }
  double operator()(const std::vector<std::size_t>& drawn) {
    counts_.assign(sorted_.size(), 0);
    for (const std::size_t i : drawn) ++counts_[rank_[i]];
    const std::size_t lower = (drawn.size() - 1) / 2, upper = drawn.size() / 2;
    std::size_t at = 0, passed = counts_[0];
    while (passed <= lower) passed += counts_[++at];
    const double low = sorted_[at];
    while (passed <= upper) passed += counts_[++at];
    return (low + sorted_[at]) / 2;
  }

 private:
  std::vector<std::size_t> rank_;  // by sample
  std::vector<double> sorted_;
  std::vector<std::uint32_t> counts_;  // by rank
};

// The middle 95 % of what `statistic` gives over samples drawn with replacement, as indices.
template <class F>
std::pair<double, double> bootstrap(std::size_t n, F&& statistic) {
  Random random;
  std::vector<std::size_t> drawn(n);
  std::vector<double> values;
  for (int r = 0; r < kResamples; ++r) {
    for (std::size_t& i : drawn) i = random.below(n);
    values.push_back(statistic(drawn));
  }
  std::sort(values.begin(), values.end());
  return {quantile(values, kTail), quantile(values, 1 - kTail)};
}

}  // namespace

double quantile(std::span<const double> sorted, double q) {
  if (sorted.empty()) return 0;
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto i = static_cast<std::size_t>(at);
  const double next = sorted[std::min(i + 1, sorted.size() - 1)];
  return sorted[i] + (next - sorted[i]) * (at - static_cast<double>(i));
}

Summary summarise(std::span<const double> samples) {
  Summary out;
  out.count = samples.size();
  if (samples.empty()) return out;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  out.median = quantile(sorted, 0.5);
  out.iqr = quantile(sorted, 0.75) - quantile(sorted, 0.25);
  out.min = sorted.front();
  out.max = sorted.back();
  const auto n = static_cast<double>(samples.size());
  out.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / n;
  double squares = 0;
  for (const double v : sorted) squares += (v - out.mean) * (v - out.mean);
  out.std = std::sqrt(squares / n);
  std::tie(out.low, out.high) = bootstrap(samples.size(), DrawnMedian(samples));
  return out;
}

Ratio speedup(std::span<const double> eager, std::span<const double> compiled) {
  const std::size_t n = std::min(eager.size(), compiled.size());
  if (n == 0) return {};
  const auto median = [](std::span<const double> samples) {
    std::vector<double> sorted(samples.begin(), samples.end());
    std::sort(sorted.begin(), sorted.end());
    return quantile(sorted, 0.5);
  };
  Ratio out;
  out.value = median(eager) / median(compiled);
  DrawnMedian of_eager(eager.first(n)), of_compiled(compiled.first(n));
  std::tie(out.low, out.high) = bootstrap(n, [&](const auto& drawn) { return of_eager(drawn) / of_compiled(drawn); });
  return out;
}

}  // namespace passnet
