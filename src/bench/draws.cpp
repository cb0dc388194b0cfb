#include "bench/draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>

#include "base/cache.h"
#include "base/hash.h"

namespace passnet {

namespace {

struct Kind {
  double spread;
  Normals normals;
  bool varied;
  bool same_sign = false;
};
constexpr Kind kKinds[] = {{1, Normals::quick, true}, {4, Normals::zeros, true}};
constexpr Kind kOfHalves[] = {{1, Normals::uneven, true}, {1, Normals::lone, true}};
// From the hardest to the mildest.
constexpr Kind kMilder[] = {{4, Normals::zeros, true},     {4, Normals::zeros, true, true}, {4, Normals::far, true},
                            {4, Normals::far, true, true}, {4, Normals::quick, true},       {4, Normals::far, false},
                            {4, Normals::quick, false},    {2, Normals::quick, false},      {1, Normals::quick, true},
                            {1, Normals::quick, false}};
constexpr std::uint64_t kLiteralOneOf = 16;
constexpr std::size_t kMostGiven = std::size_t{1} << 20;  // elements that are written down one by one
constexpr double kTenth = 0.1, kHalf = 0.5;

using Random = std::mt19937_64;

void spread(TensorMeta& meta, double times) {
  const double mean = meta.mean.value_or(0), std = meta.std.value_or(kReplayStd);
  if (std != 0) {
    meta.std = std * times;
    return;
  }
  meta.std = (mean == 0 ? 1 : std::fabs(mean)) * kTenth / kReplayFactor;
  if (meta.min_val && meta.max_val && meta.min_val->real == meta.max_val->real) meta.min_val = meta.max_val = {};
}

// As recorded: so far from zero that none of the numbers that are replayed is beyond it.
void keep_sign(TensorMeta& meta, const TensorMeta& recorded) {
  const double mean = recorded.mean.value_or(0);
  if (std::fabs(mean) < recorded.std.value_or(kReplayStd) || mean == 0) return;
  std::optional<MetaNumber>& bound = mean > 0 ? meta.min_val : meta.max_val;
  if (!bound || (mean > 0 ? bound->real < 0 : bound->real > 0)) bound = MetaNumber{0, 0, false};
}

struct Bounds {
  std::int64_t low, high;
};
// Integers of the value `all` are drawn from these instead.
Bounds bounds_for(std::int64_t all, bool may_grow) {
  if (all == 0 && may_grow) return {0, 1};
  return {std::min<std::int64_t>(all, 0), std::max<std::int64_t>(all, 0)};
}

std::vector<std::int64_t> those_within(std::vector<std::int64_t> literals, const Bounds& bounds) {
  std::erase_if(literals, [&](std::int64_t x) { return x < bounds.low || x > bounds.high; });
  return literals;
}

Bounds bounds_of(const TensorMeta& meta) {
  const auto value = [](const std::optional<MetaNumber>& x) {
    return !x ? 0 : x->integral ? x->integer : static_cast<std::int64_t>(std::clamp(x->real, -0x1p62, 0x1p62));
  };
  return {value(meta.min_val), value(meta.max_val)};
}

template <class T>
bool all_equal(const std::vector<T>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

void put_among(std::vector<std::int64_t>& values, const std::vector<std::int64_t>& literals, Random& random) {
  if (literals.empty()) return;
  for (std::int64_t& x : values)
    if (random() % kLiteralOneOf == 0) x = literals[random() % literals.size()];
}

// In another order: of a few, every order comes up soon.
template <class T>
void shuffle(std::vector<T>& values, Random& random) {
  const std::vector<T> before = values;
  std::shuffle(values.begin(), values.end(), random);
  while (values == before) std::rotate(values.begin(), values.begin() + 1, values.end());
}

// `count` integers, which are not all of the one value that they had.
std::vector<std::int64_t> other_integers(std::size_t count, std::int64_t value, bool may_grow, Random& random) {
  const Bounds bounds = bounds_for(value, may_grow);
  std::uniform_int_distribution<std::int64_t> one(bounds.low, bounds.high);
  std::vector<std::int64_t> out(count);
  for (std::int64_t& x : out) x = one(random);
  if (all_equal(out) && out[0] == value) out[random() % count] = value == bounds.low ? bounds.high : bounds.low;
  return out;
}

// Recorded contents that a half does not hold: a mask's least float32, infinite in bfloat16. Moved to where eager's
// answer has it, that is not finite, and proves nothing; the least number of the half's own is.
void keep_finite(TensorData& data, Dtype dtype) {
  const auto most = dtype_limit(dtype, "max");
  if (!most || dtype_row(dtype).size >= sizeof(float)) return;
  for (double& x : data.reals)
    if (std::isfinite(x)) x = std::clamp(x, -most->real, most->real);
}

// `spread`: of the draw.
void vary(TensorData& data, double spread, bool may_grow, const std::vector<std::int64_t>& literals, Random& random) {
  if (!all_equal(data.integers)) {
    shuffle(data.integers, random);
    const auto [low, high] = std::minmax_element(data.integers.begin(), data.integers.end());
    return put_among(data.integers, those_within(literals, {std::min<std::int64_t>(*low, 0), *high}), random);
  }
  const auto share = [&] { return 2 * static_cast<double>(random() >> 11) * 0x1p-53 - 1; };  // of -1..1
  if (!all_equal(data.reals)) {
    shuffle(data.reals, random);
    const bool codes = std::all_of(data.reals.begin(), data.reals.end(), [](double x) { return x == std::trunc(x); });
    for (double& x : data.reals) x *= codes ? 1 : spread * (1 + kHalf * share());  // another sum, another range
    return;
  }
  for (double& x : data.reals) x += (x == 0 ? 1 : x) * kTenth * share();
  if (data.integers.size() < 2) return;  // a size, perhaps, or a number of something
  data.integers = other_integers(data.integers.size(), data.integers[0], may_grow, random);
}

// A number that the graph asks for is rare in a wide range.
void put_in_range(TensorMeta& meta, const Bounds& range, const std::vector<std::int64_t>& literals, Random& random) {
  const std::vector<std::int64_t> within = those_within(literals, range);
  if (within.empty() || range.high < range.low || meta.element_count() > kMostGiven) return;
  std::uniform_int_distribution<std::int64_t> one(range.low, range.high);
  std::vector<std::int64_t> values(meta.element_count());
  for (std::int64_t& x : values) x = one(random);
  put_among(values, within, random);
  meta.data = TensorData{std::move(values), {}};
}

void vary(TensorMeta& meta, bool may_grow, const std::vector<std::int64_t>& literals, Random& random) {
  constexpr std::size_t kFew = 64;  // more are never all as recorded
  const auto [low, most] = bounds_of(meta);
  if (low != most) return put_in_range(meta, {low, most}, literals, random);
  if (meta.element_count() < 2) return;
  if (meta.element_count() <= kFew) {
    meta.data = TensorData{other_integers(meta.element_count(), low, may_grow, random), {}};
    return;
  }
  const Bounds bounds = bounds_for(low, may_grow);
  meta.min_val = MetaNumber{static_cast<double>(bounds.low), bounds.low, true};
  meta.max_val = MetaNumber{static_cast<double>(bounds.high), bounds.high, true};
}

// Of every second row of `out` one element, of a single row one.
template <class T, class F>
std::vector<T> mostly(T usual, const TensorMeta& meta, Random& random, F rare) {
  std::vector<T> out(meta.element_count(), usual);
  const std::size_t row = meta.shape.empty() ? 1 : static_cast<std::size_t>(meta.shape.back());
  for (std::size_t i = 0; i < std::max<std::size_t>(out.size() / row / 2, 1); ++i) out[random() % out.size()] = rare();
  return out;
}

// One number nearly everywhere: zero, or an end of the range; elsewhere one far out, the other end, or a literal.
// `up`: the usual one is the lesser.
void make_sparse(TensorMeta& meta, const std::vector<std::int64_t>& literals, bool up, Random& random) {
  constexpr double kAtLeast = 8;
  const std::size_t count = meta.element_count();
  if (count < 2 || count > kMostGiven) return;
  if (dtype_row(meta.dtype).floating) {
    const double far = std::max(meta.std.value_or(0), kAtLeast);
    const double low = std::max(meta.min_val ? meta.min_val->real : -far, -far);
    const double high = std::min(meta.max_val ? meta.max_val->real : far, far);
    if (low <= 0 && high >= 0)
      meta.data = TensorData{{}, mostly<double>(0, meta, random, [&] { return up ? high : low; })};
    return;
  }
  Bounds range = meta.dtype == Dtype::boolean ? Bounds{0, 1} : bounds_of(meta);
  if (meta.data) {
    if (meta.data->integers.empty()) return;
    const auto [low, high] = std::minmax_element(meta.data->integers.begin(), meta.data->integers.end());
    range = {*low, *high};
  }
  const std::int64_t usual = up ? range.low : range.high;
  std::vector<std::int64_t> rare = those_within(literals, range);
  rare.push_back(up ? range.high : range.low);
  std::erase(rare, usual);
  if (!rare.empty())
    meta.data = TensorData{mostly(usual, meta, random, [&] { return rare[random() % rare.size()]; }), {}};
}

}  // namespace

static std::uint64_t find_secret() {
  constexpr const char* kEntry = "draws.secret";
  if (const char* given = std::getenv("PASSNET_DRAW_SECRET"); given != nullptr && *given != '\0') return hash64(given);
  if (const auto known = cache_read(kEntry)) return hash64(*known);
  std::random_device source;
  const std::string fresh = fmt::format("{:08x}{:08x}{:08x}{:08x}", source(), source(), source(), source());
  (void)cache_add_text(fresh, kEntry);  // where that cannot be, the next run has another
  return hash64(cache_read(kEntry).value_or(fresh));
}

std::uint64_t draw_secret() {
  static const std::uint64_t kSecret = find_secret();  // one file a process, however many jobs are made
  return kSecret;
}

std::vector<Draw> check_draws(std::uint64_t seed, int extra, DrawsFor graph, std::uint64_t candidate) {
  constexpr int kOfIntegers = 16, kSparse = 6;
  std::vector<Draw> out = {{seed}};
  const auto add = [&](const Kind& kind) {
    out.push_back({seed + candidate + out.size(), kind.spread, kind.normals, kind.varied});
  };
  for (int i = 0; i < kSparse && graph.lone_elements && extra > 0; ++i) {
    add(kKinds[0]);
    out.back().sparse = true;
  }
  for (int i = 0; i < kOfIntegers && graph.small_integers && extra > 0; ++i) add(kKinds[0]);
  for (int i = 0; i < extra; ++i) add(kKinds[static_cast<std::size_t>(i) % std::size(kKinds)]);
  for (const Kind& kind : kOfHalves)
    if (graph.halves && extra > 0) add(kind);
  return out;
}

std::optional<Draw> milder(const Draw& draw) {
  if (draw.sparse) return std::nullopt;
  const auto* at = std::find_if(std::begin(kMilder), std::end(kMilder), [&](const Kind& k) {
    return k.spread == draw.spread && k.normals == draw.normals && k.varied == draw.varied &&
           k.same_sign == draw.same_sign;
  });
  if (at == std::end(kMilder) || ++at == std::end(kMilder)) return std::nullopt;
  return Draw{draw.seed, at->spread, at->normals, at->varied, at->same_sign};
}

std::vector<TensorMeta> drawn_metas(const std::vector<TensorMeta>& metas, const Draw& draw, DeviceType device,
                                    const std::vector<std::int64_t>& literals, const std::vector<bool>& fixed) {
  std::vector<TensorMeta> out = metas;
  if (draw.recorded()) return out;
  Random random(draw.seed);
  for (std::size_t i = 0; i < out.size(); ++i) {
    TensorMeta& meta = out[i];
    const bool may_grow = meta.dtype == Dtype::boolean || device == DeviceType::cpu;
    if (!meta.data && dtype_row(meta.dtype).floating) {
      spread(meta, draw.spread);
      if (draw.same_sign) keep_sign(meta, metas[i]);
    }
    if (draw.sparse && !(i < fixed.size() && fixed[i]) && random() % 8 != 0) {
      const bool up = (draw.seed >> i % 2 & 1) != 0;  // seeds follow one another: both ways come up
      make_sparse(meta, literals, up, random);
      continue;
    }
    if (!draw.varied || !can_vary(meta) || (i < fixed.size() && fixed[i])) continue;
    if (!meta.data) {
      vary(meta, may_grow, literals, random);
      continue;
    }
    vary(*meta.data, draw.spread, may_grow, literals, random);
    if (dtype_row(meta.dtype).floating) keep_finite(*meta.data, meta.dtype);
  }
  return out;
}

bool can_vary(const TensorMeta& meta) {
  return meta.data || (!dtype_row(meta.dtype).floating && meta.dtype != Dtype::boolean);  // which are drawn freely
}

std::string draw_text(const Draw& draw) {
  if (draw.recorded()) return "the recorded inputs";
  std::string out = "inputs drawn anew";
  if (draw.sparse) out += ", some one number but for a few elements";
  if (draw.spread != 1) out += fmt::format(", {} times as wide", draw.spread);
  if (draw.normals == Normals::uneven)
    out += ", each row and column at a level of its own";
  else if (draw.hard())
    out += ", some far out";
  if (draw.same_sign) out += ", of the recorded sign";
  if (draw.normals == Normals::zeros) out += ", some zero";
  if (draw.normals == Normals::lone) out += ", some numbers outweighing all others";
  return out;
}

}  // namespace passnet
