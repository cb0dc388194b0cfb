#include "exec/aten/draw.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/randint.h>
#include <c10/core/InferenceMode.h>

#include <cmath>
#include <limits>
#include <mutex>

#include "base/hash.h"
#include "exec/aten/convert.h"
#include "exec/aten/frame.h"

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

constexpr double kLargest = 100;          // of any input that is drawn
constexpr std::int64_t kGrain = 1 << 15;  // numbers that are worth a thread

// NaN stays.
float limited(float x, float low, float high) {
  const float raised = x < low ? low : x;
  return raised > high ? high : raised;
}

struct Bounds {
  float low, high;
};
Bounds bounds_of(const TensorMeta& meta) {
  return {static_cast<float>(std::max(meta.min_val ? meta.min_val->real : -kLargest, -kLargest)),
          static_cast<float>(std::min(meta.max_val ? meta.max_val->real : kLargest, kLargest))};
}

std::uint32_t mix(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352dU;
  x = (x ^ x >> 15) * 0x846ca68bU;
  return x ^ x >> 16;
}

// Nearly normal numbers (four uniform ones added) with the meta's mean, deviation and bounds, each from its number
// alone and in one pass: a small part of the time of torch's, which takes seven.
at::Tensor quick_normals(const TensorMeta& meta, double mean, double std, const Stream& stream) {
  at::Tensor out = at::empty(meta.shape, at::kFloat);
  float* to = out.data_ptr<float>();
  constexpr double kScale = 0x1p-16 * 1.7320508075688772;  // the sum of four has the variance 1/3
  const auto scale = static_cast<float>(kScale * std), shift = static_cast<float>(mean);
  const auto [low, high] = bounds_of(meta);
  at::parallel_for(0, out.numel(), kGrain,
                   [=, low = low, high = high, stream = stream](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                       const std::uint32_t a = mix(static_cast<std::uint32_t>(i) + stream.one),
                                           b = mix(static_cast<std::uint32_t>(i) ^ stream.other);
                       const auto sum = static_cast<std::int32_t>((a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16));
                       to[i] = limited(static_cast<float>(sum - 2 * 0xffff) * scale + shift, low, high);
                     }
                   });
  return out;
}

// As `count` calls of the engine, a block of its numbers at a time.
void skip(at::mt19937& engine, std::int64_t count) {
  at::mt19937_data_pod data = engine.data();
  while (count >= data.left_) {  // all that are left of the block, and the first of the next
    count -= data.left_;
    data.left_ = 1;
    engine.set_data(data);
    engine();
    data = engine.data();
  }
  data.left_ -= static_cast<int>(count);
  data.next_ += static_cast<std::uint32_t>(count);
  engine.set_data(data);
}

// at::randn, by all threads where that pays: each part's generator begins where the one before it ends.
at::Tensor normals_of(at::IntArrayRef shape) {
  constexpr std::int64_t kBlock = 16;  // numbers that torch makes from one another
  at::Tensor out = at::empty(shape);
  const std::int64_t n = out.numel(), parts = std::min<std::int64_t>(at::get_num_threads(), n / kGrain);
  if (parts < 2) return out.normal_();
  auto* own = at::check_generator<at::CPUGeneratorImpl>(at::detail::getDefaultCPUGenerator());
  const std::lock_guard<std::mutex> hold(own->mutex_);
  const std::int64_t step = n / parts / kBlock * kBlock;
  std::vector<at::Generator> generators;
  at::mt19937 engine = own->engine();
  for (std::int64_t part = 0; part < parts; ++part) {
    generators.push_back(at::detail::createCPUGenerator());
    at::check_generator<at::CPUGeneratorImpl>(generators.back())->set_engine(engine);
    if (part + 1 < parts) skip(engine, step);
  }
  const at::Tensor flat = out.view(-1);
  at::parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
    const c10::InferenceMode inference(true);
    for (std::int64_t part = begin; part < end; ++part)
      flat.slice(0, part * step, part + 1 < parts ? (part + 1) * step : n)
          .normal_(0, 1, generators[static_cast<std::size_t>(part)]);
  });
  own->set_engine(at::check_generator<at::CPUGeneratorImpl>(generators.back())->engine());
  return out;
}

double reach_of(double std) {
  constexpr double kDeviations = 5, kAtLeast = 8;
  return std::max(kAtLeast, kDeviations * std);
}
constexpr double kNearest = 0.25;                            // of the reach, of every other one
constexpr std::uint32_t kEvery = 31;                         // the largest step from one to the next
constexpr double kFarShare = (1 + kNearest) / (kEvery + 1);  // of the reach, of all numbers' mean

// Doubled from one deviation on up to the reach: no interval in between is left out.
std::vector<float> octaves_of(double std) {
  constexpr std::size_t kMost = 64;
  std::vector<float> out;
  for (double from = std; from < reach_of(std) && out.size() < kMost; from *= 2)
    out.push_back(static_cast<float>(from));
  return out;
}

// One number in sixteen to where clamps and saturation are, or on the way there.
void put_far_out(at::Tensor& x, const TensorMeta& meta, double mean, double std, const Stream& stream) {
  const auto reach = static_cast<float>(reach_of(std)), shift = static_cast<float>(mean);
  const std::vector<float> octaves = octaves_of(std);
  const auto [low, high] = bounds_of(meta);
  float* to = x.data_ptr<float>();
  std::uint32_t state = mix(stream.one ^ mix(stream.other));
  const std::int64_t n = x.numel(), first = n > 0 ? state % n : 0;
  for (std::int64_t step = 0; step < n; step += 1 + state % kEvery) {
    const std::int64_t i = first + step < n ? first + step : first + step - n;
    state = mix(state + static_cast<std::uint32_t>(i) + 1);
    const float part = static_cast<float>(state >> 8) * 0x1p-24F;
    const float nearest = reach * static_cast<float>(kNearest);
    const float from = (state & 0x40) != 0 || octaves.empty() ? nearest : octaves[(state & 0x3f) % octaves.size()];
    const float span = from == nearest ? reach - nearest : std::min(from, reach - from);
    const float distance = from + span * part;
    to[i] = limited(shift + ((state & 0x80) != 0 ? distance : -distance), low, high);
  }
}

// Where a division, a logarithm or a comparison has its special case; a row, as padding is.
void put_zeros(at::Tensor& x, const TensorMeta& meta, const Stream& stream) {
  constexpr std::int64_t kFewest = 64;
  constexpr std::uint32_t kStep = 127;
  const std::int64_t n = x.numel(), row = x.dim() > 1 ? x.size(-1) : n;
  const auto [low, high] = bounds_of(meta);
  if (n < kFewest || low > 0 || high < 0) return;
  float* to = x.data_ptr<float>();
  std::uint32_t state = mix(stream.one + mix(stream.other + 1));
  for (std::int64_t i = state % kStep; i < n; i += 1 + state % kStep) {
    to[i] = 0;
    state = mix(state + static_cast<std::uint32_t>(i) + 1);
  }
  if (n / row > 1) std::fill_n(to + state % (n / row) * row, row, 0.0F);
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
  std::uint32_t state = mix(stream.other ^ mix(stream.one));
  for (int i = 0; i < kCount; ++i, weight *= kLess, state = mix(state + 1))
    x.data_ptr<float>()[state % n] = static_cast<float>(mean + weight);
}

// What `draw` below does to normal numbers of float32, in one pass and to the same bits.
void finish_normals(at::Tensor& x, const TensorMeta& meta, double mean, double std, double factor) {
  float* to = x.data_ptr<float>();
  const auto a = static_cast<float>(std), b = static_cast<float>(factor), c = static_cast<float>(mean);
  constexpr float kNone = std::numeric_limits<float>::infinity();
  const float low = meta.min_val ? static_cast<float>(meta.min_val->real) : -kNone;
  const float high = meta.max_val ? static_cast<float>(meta.max_val->real) : kNone;
  at::parallel_for(0, x.numel(), kGrain, [=](std::int64_t begin, std::int64_t end) {
    constexpr auto kMost = static_cast<float>(kLargest);
    for (std::int64_t i = begin; i < end; ++i) to[i] = limited(limited(to[i] * a * b + c, low, high), -kMost, kMost);
  });
}

}  // namespace

Stream stream_of(std::uint64_t seed, std::uint64_t tensor) {
  const std::uint64_t x = mix64(seed + (tensor + 1) * kGolden);
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32)};
}

at::Tensor draw(const TensorMeta& meta, Normals normals, const Stream& stream) {
  const at::ScalarType type = to_scalar_type(meta.dtype);
  if (meta.data) return literal_tensor(meta, type);
  if (meta.dtype == Dtype::boolean)
    return (normals == Normals::torch ? normals_of(meta.shape) : quick_normals(meta, 0, 1, stream)).gt(0.5);
  if (!dtype_row(meta.dtype).floating) {
    const std::int64_t low = integer_bound(meta.min_val), high = integer_bound(meta.max_val);
    if (high == std::numeric_limits<std::int64_t>::max())
      throw std::out_of_range("max_val is the largest integer; there is none above it to draw below");
    return at::randint(low, high + 1, meta.shape, at::TensorOptions().dtype(type));
  }
  const double mean = meta.mean.value_or(0.0), std = meta.std.value_or(kReplayStd);
  const bool plain =
      std::isfinite(mean) && std::isfinite(std) && std != 0 && type != at::kDouble;  // which has more bits
  if (normals != Normals::torch && plain) {
    at::Tensor x = quick_normals(meta, mean, std * kReplayFactor, stream);
    if (normals != Normals::quick) put_far_out(x, meta, mean, std * kReplayFactor, stream);
    if (normals == Normals::zeros) put_zeros(x, meta, stream);
    if (normals == Normals::lone) put_lone(x, meta, mean, std * kReplayFactor, stream);
    return x.to(type);
  }
  at::Tensor x;
  const auto usual = [](double v) { return std::fabs(v) < 1e30; };
  const auto usual_bound = [&](const std::optional<MetaNumber>& v) { return !v || usual(v->real); };
  if (type == at::kFloat && std != 0 && usual(std) && usual(mean) && usual_bound(meta.min_val) &&
      usual_bound(meta.max_val)) {
    x = normals_of(meta.shape);
    finish_normals(x, meta, mean, std, kReplayFactor);
    return x;
  }
  if (std == 0)
    x = at::full(meta.shape, mean, at::TensorOptions().dtype(type));
  else  // mul_ of a number rounds that to the dtype first, unlike mul; of a tensor it does not
    x = normals_of(meta.shape).to(type).mul_(wrapped_number(std)).mul_(wrapped_number(kReplayFactor)).add_(mean);
  if (meta.min_val) x.clamp_(meta.min_val->real, std::nullopt);
  if (meta.max_val) x.clamp_(std::nullopt, meta.max_val->real);
  return at::nan_to_num_(x, 0.0).clamp_(-kLargest, kLargest);
}

}  // namespace passnet
