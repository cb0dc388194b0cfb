#include "exec/aten/draw.h"

#include <ATen/Parallel.h>
#include <ATen/ops/full.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/randint.h>

#include <array>
#include <cmath>
#include <limits>

#include "base/hash.h"
#include "exec/aten/convert.h"
#include "exec/aten/fill.h"
#include "exec/aten/frame.h"
#include "exec/aten/large_pages.h"
#include "exec/aten/normals.h"

namespace passnet {

namespace {

at::Tensor literal_tensor(const TensorMeta& meta, at::ScalarType type) {
  const TensorData& data = *meta.data;
  const c10::IValue list = data.integers.empty() ? c10::IValue(data.reals) : c10::IValue(data.integers);
  return tensor_literal(data.size() == 0 ? c10::IValue(std::vector<double>{}) : list, type, std::nullopt)
      .reshape(meta.shape);
}

std::int64_t integer_bound(const std::optional<MetaNumber>& bound) {
  if (!bound) return 0;
  if (bound->integral) return bound->integer;
  if (!(std::fabs(bound->real) < 9e18)) throw std::out_of_range("min_val or max_val is no integer");
  return static_cast<std::int64_t>(bound->real);
}

constexpr double kLargest = 100;  // of any input that is drawn

struct Bounds {
  float low, high;
};
Bounds bounds_of(const TensorMeta& meta) {
  return {static_cast<float>(std::max(meta.min_val ? meta.min_val->real : -kLargest, -kLargest)),
          static_cast<float>(std::min(meta.max_val ? meta.max_val->real : kLargest, kLargest))};
}

// Nearly normal numbers with the meta's mean, deviation and bounds: a small part of the time of torch's.
at::Tensor quick_normals(const TensorMeta& meta, double mean, double std, const Stream& stream) {
  at::Tensor out = empty_on_large_pages(meta.shape, at::kFloat);
  float* to = out.data_ptr<float>();
  constexpr double kScale = 0x1p-16 * 1.7320508075688772;  // the sum of four has the variance 1/3
  const auto [low, high] = bounds_of(meta);
  const QuickNormals q = {stream.one, stream.other, static_cast<float>(kScale * std), static_cast<float>(mean),
                          low,        high};
  at::parallel_for(0, out.numel(), kFillGrain,
                   [&](std::int64_t begin, std::int64_t end) { fill_loops().quick(to, begin, end, q); });
  return out;
}

double reach_of(double std) {
  constexpr double kDeviations = 5, kAtLeast = 8;
  return std::max(kAtLeast, kDeviations * std);
}
constexpr double kNearest = 0.25;                            // of the reach, of every other one
constexpr std::uint32_t kEvery = 31;                         // the largest step from one to the next
constexpr double kFarShare = (1 + kNearest) / (kEvery + 1);  // of the reach, of all numbers' mean

// Where numbers far out are drawn from: as far as `from` and up to `span` more.
struct Place {
  float from, span;
};
// One half from the nearest on; the others' are doubled from one deviation on up to the reach: no interval in between
// is left out.
constexpr std::size_t kPlaces = 128;
std::array<Place, kPlaces> places_of(double std) {
  const double reach = reach_of(std), nearest = reach * kNearest;
  std::vector<Place> octaves;
  for (double from = std; from < reach && octaves.size() < kPlaces / 2; from *= 2)
    octaves.push_back({static_cast<float>(from), static_cast<float>(std::min(from, reach - from))});
  std::array<Place, kPlaces> out;
  out.fill({static_cast<float>(nearest), static_cast<float>(reach - nearest)});
  for (std::size_t i = 0; i < kPlaces / 2 && !octaves.empty(); ++i) out[i] = octaves[i % octaves.size()];
  return out;
}

// Calls put(first, last, state) for blocks of numbers, each with a state of its own.
template <class F>
void in_blocks(std::int64_t n, std::uint32_t seed, const F& put) {
  constexpr std::int64_t kBlock = 1 << 16;
  at::parallel_for(0, (n + kBlock - 1) / kBlock, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block)
      put(block * kBlock, std::min(n, (block + 1) * kBlock), mixed(seed + static_cast<std::uint32_t>(block)));
  });
}

// One number in sixteen to where clamps and saturation are, or on the way there.
void put_far_out(at::Tensor& x, const TensorMeta& meta, double mean, double std, const Stream& stream) {
  const auto shift = static_cast<float>(mean);
  const std::array<Place, kPlaces> places = places_of(std);
  const auto [low, high] = bounds_of(meta);
  float* to = x.data_ptr<float>();
  in_blocks(x.numel(), stream.one ^ mixed(stream.other),
            [&, low = low, high = high](std::int64_t first, std::int64_t last, std::uint32_t state) {
              const std::int64_t n = last - first, at = state % n;
              for (std::int64_t step = 0; step < n; step += 1 + state % kEvery) {
                const std::int64_t i = first + (at + step < n ? at + step : at + step - n);
                state = mixed(state + static_cast<std::uint32_t>(i) + 1);
                const Place place = places[state % kPlaces];
                const float distance = place.from + place.span * (static_cast<float>(state >> 8) * 0x1p-24F);
                to[i] = limited(shift + ((state & kPlaces) != 0 ? distance : -distance), low, high);
              }
            });
}

// Where a division, a logarithm or a comparison has its special case; a row, as padding is.
void put_zeros(at::Tensor& x, const TensorMeta& meta, const Stream& stream) {
  constexpr std::int64_t kFewest = 64;
  constexpr std::uint32_t kStep = 127;
  const std::int64_t n = x.numel(), row = x.dim() > 1 ? x.size(-1) : n;
  const auto [low, high] = bounds_of(meta);
  if (n < kFewest || low > 0 || high < 0) return;
  float* to = x.data_ptr<float>();
  const std::uint32_t seed = mixed(stream.one + mixed(stream.other + 1));
  in_blocks(n, seed, [&](std::int64_t first, std::int64_t last, std::uint32_t state) {
    for (std::int64_t i = first + state % kStep; i < last; i += 1 + state % kStep) {
      to[i] = 0;
      state = mixed(state + static_cast<std::uint32_t>(i) + 1);
    }
  });
  if (n / row > 1) std::fill_n(to + mixed(seed) % (n / row) * row, row, 0.0F);
}

// A mean or a variance of these is about some few numbers: who takes a part of the terms for all of them is off by more
// than any tolerance. No two weigh the same, so that no part of them stands for all.
void put_lone(at::Tensor& x, const TensorMeta& meta, double mean, double std, const Stream& stream) {
  constexpr int kCount = 24;
  constexpr double kTimes = 4, kLess = 0.8, kMostHalf = 0x1p12, kMost = 0x1p20;
  const std::int64_t n = x.numel();
  if (n == 0) return;
  const double all = static_cast<double>(n) * (std::fabs(mean) + std + kFarShare * reach_of(std));
  double weight = std::min(kTimes * all, meta.dtype == Dtype::float16 ? kMostHalf : kMost);
  if (bounds_of(meta).high <= 0) weight = -weight;
  std::uint32_t state = mixed(stream.other ^ mixed(stream.one));
  for (int i = 0; i < kCount; ++i, weight *= kLess, state = mixed(state + 1))
    x.data_ptr<float>()[state % n] = static_cast<float>(mean + weight);
}

// What saturates at one index of an axis does not at the next, and neither a piece of a row nor every second of it is
// like the whole: rows are in parts, and in each every so many elements have a level. That one is no other row's: by
// luck a part of the terms may stand for all of them in some rows, not in all.
void put_uneven(at::Tensor& x, const TensorMeta& meta, double std, const Stream& stream) {
  constexpr double kSpan = 0.25;  // of the reach, up and down
  constexpr std::int64_t kParts = 4;
  const auto axes = std::count_if(meta.shape.begin(), meta.shape.end(), [](std::int64_t n) { return n > 1; });
  if (axes < 2) return;  // an axis' weights or statistics
  const auto span = static_cast<float>(kSpan * reach_of(std));
  std::uint32_t seed = mixed(stream.one ^ mixed(stream.other + 2));
  const auto level = [span](std::uint32_t of) { return span * (static_cast<float>(mixed(of) >> 8) * 0x1p-23F - 1); };
  for (std::int64_t d = 0; d < x.dim(); ++d) {
    const std::int64_t n = x.size(d);
    seed = mixed(seed + 1);
    const std::int64_t part = d == x.dim() - 1 ? 1 + seed % std::max<std::int64_t>(n / kParts, 1) : 1;
    at::Tensor levels = at::full({n}, 0.0, at::kFloat);
    for (std::int64_t i = 0; i < n; ++i)
      levels.data_ptr<float>()[i] = level(seed + static_cast<std::uint32_t>(i / part));
    std::vector<std::int64_t> along(static_cast<std::size_t>(x.dim()), 1);
    along[static_cast<std::size_t>(d)] = n;
    x.add_(levels.view(along));
  }
  const std::int64_t n = x.size(-1);
  float* const to = x.data_ptr<float>();
  at::parallel_for(0, x.numel() / std::max<std::int64_t>(n, 1), kFillGrain / std::max<std::int64_t>(n, 1) + 1,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t r = begin; r < end; ++r) {
                       const std::uint32_t own = mixed(mixed(seed + 1) + static_cast<std::uint32_t>(r)),
                                           every = 2 + own % 3;
                       const float levels[] = {level(own), level(own + 1), level(own + 2), level(own + 3)};
                       std::uint32_t at = 0;
                       for (std::int64_t i = 0; i < n; ++i, at = at + 1 < every ? at + 1 : 0)
                         to[r * n + i] += levels[at];
                     }
                   });
  const auto [low, high] = bounds_of(meta);
  x.clamp_(low, high);
}

// What `draw` below does to normal numbers of float32, to the same bits.
at::Tensor finished_normals(const TensorMeta& meta, double mean, double std, double factor) {
  constexpr float kNone = std::numeric_limits<float>::infinity();
  const Finish f = {static_cast<float>(std),
                    static_cast<float>(factor),
                    static_cast<float>(mean),
                    meta.min_val ? static_cast<float>(meta.min_val->real) : -kNone,
                    meta.max_val ? static_cast<float>(meta.max_val->real) : kNone,
                    -static_cast<float>(kLargest),
                    static_cast<float>(kLargest)};
  return torch_normals(meta.shape, &f);
}

}  // namespace

Stream stream_of(std::uint64_t seed, std::uint64_t tensor) {
  const std::uint64_t x = mix64(seed + (tensor + 1) * kGolden);
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32)};
}

at::Tensor draw(const TensorMeta& meta, Normals normals, const Stream& stream) {
  const at::ScalarType type = to_scalar_type(meta.dtype);
  if (meta.data) return literal_tensor(meta, type);
  if (meta.dtype == Dtype::boolean) {
    at::Tensor x = normals == Normals::torch ? torch_normals(meta.shape) : quick_normals(meta, 0, 1, stream);
    if (normals == Normals::uneven) put_uneven(x, meta, 1, stream);
    return x.gt(0.5);
  }
  if (!dtype_row(meta.dtype).floating) {
    const std::int64_t low = integer_bound(meta.min_val), high = integer_bound(meta.max_val);
    if (high == std::numeric_limits<std::int64_t>::max())
      throw std::out_of_range("max_val is the largest integer; there is none above it to draw below");
    return at::randint(low, high + 1, meta.shape, at::TensorOptions().dtype(type));
  }
  const double mean = meta.mean.value_or(0.0), std = meta.std.value_or(kReplayStd);
  const bool wide = type == at::kDouble && normals == Normals::quick;  // has more bits, which are asked for here
  const bool plain = std::isfinite(mean) && std::isfinite(std) && std != 0 && !wide;
  if (normals != Normals::torch && plain) {
    at::Tensor x = quick_normals(meta, mean, std * kReplayFactor, stream);
    if (normals == Normals::uneven)
      put_uneven(x, meta, std * kReplayFactor, stream);
    else if (normals != Normals::quick)
      put_far_out(x, meta, mean, std * kReplayFactor, stream);
    if (normals == Normals::zeros) put_zeros(x, meta, stream);
    if (normals == Normals::lone) put_lone(x, meta, mean, std * kReplayFactor, stream);
    return x.to(type);
  }
  at::Tensor x;
  const auto usual = [](double v) { return std::fabs(v) < 1e30; };
  const auto usual_bound = [&](const std::optional<MetaNumber>& v) { return !v || usual(v->real); };
  if (type == at::kFloat && std != 0 && usual(std) && usual(mean) && usual_bound(meta.min_val) &&
      usual_bound(meta.max_val))
    return finished_normals(meta, mean, std, kReplayFactor);
  if (std == 0)
    x = at::full(meta.shape, mean, at::TensorOptions().dtype(type));
  else  // mul_ of a number rounds that to the dtype first, unlike mul; of a tensor it does not
    x = torch_normals(meta.shape).to(type).mul_(wrapped_number(std)).mul_(wrapped_number(kReplayFactor)).add_(mean);
  if (meta.min_val) x.clamp_(meta.min_val->real, std::nullopt);
  if (meta.max_val) x.clamp_(std::nullopt, meta.max_val->real);
  return at::nan_to_num_(x, 0.0).clamp_(-kLargest, kLargest);
}

}  // namespace passnet
