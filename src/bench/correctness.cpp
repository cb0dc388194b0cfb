#include "bench/correctness.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>

namespace passnet {

namespace {

// Tolerances are 10^(slope * t); a row a dtype of kLawDtypes.
struct Law {
  double rtol_slope, atol_slope;
};
constexpr Law kLawRows[kLaws] = {{3.0 / 5, 1}, {1.796 / 5, 1}, {5.886 / 5, 1}, {7.0 / 5, 7.0 / 5}};
constexpr int kReportedAt = -5;
constexpr std::int64_t kChunk = 1024;  // elements looked at together

double three_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2E", value);
  return std::strtod(text, nullptr);
}

// Element types as they lie in memory, and how torch rounds what it computes in them. Nothing here branches on an
// element's value, so that loops over elements become vectors (the file is compiled without traps for that). Bits are
// compared as signed numbers: vectors have no other comparison.
using Bits = std::int32_t;
constexpr Bits kSign = std::numeric_limits<Bits>::min(), kInfinity = 0x7f800000;

struct Half {
  std::uint16_t bits;
  using Compute = float;
  float value() const {
    const Bits b = bits, sign = (b & 0x8000) << 16, rest = (b & 0x7fff) << 13;
    const Bits finite = std::bit_cast<Bits>(std::bit_cast<float>(rest) * 0x1p112F);
    return std::bit_cast<float>(sign | (rest >= 0xf800000 ? kInfinity | rest : finite));
  }
  static float round(float f) {
    const Bits b = std::bit_cast<Bits>(f), sign = b & kSign, rest = b & ~kSign;
    // the unit of 0.75 is that of a half's smallest numbers
    const Bits small = std::bit_cast<Bits>((f + 0.75F) - 0.75F);
    const Bits large = (rest + 0xfff + (rest >> 13 & 1)) & ~0x1fff;
    const Bits normal = sign | (large > 0x477fe000 ? kInfinity : large);  // over 65504
    const Bits number = rest < 0x38800000 ? small : normal;               // under 2^-14
    return std::bit_cast<float>(rest > kInfinity ? b : number);
  }
};
struct Brain {
  std::uint16_t bits;
  using Compute = float;
  float value() const { return std::bit_cast<float>(static_cast<Bits>(bits) << 16); }
  static float round(float f) {
    const Bits b = std::bit_cast<Bits>(f), rest = b & ~kSign;
    const Bits number = (b & kSign) | ((rest + 0x7fff + (rest >> 16 & 1)) & ~0xffff);
    return std::bit_cast<float>(rest > kInfinity ? b : number);
  }
};
template <class T>
struct Plain {
  T number;
  using Compute = T;
  T value() const { return number; }
  static T round(T v) { return v; }
};

// Elements of both sides, next to each other in memory and as they are computed with.
template <class E>
struct Chunk {
  using C = typename E::Compute;
  std::array<C, kChunk> got, expected;
  std::int64_t begin = 0, count = 0;
  double largest = 0;  // difference

  // False: all are equal.
  bool read(const E* g, const E* e, std::int64_t from, std::int64_t n) {
    begin = from;
    count = n;
    largest = std::numeric_limits<double>::infinity();
    std::int32_t different = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      got[i] = g[from + i].value();
      expected[i] = e[from + i].value();
      different += got[i] != expected[i] ? 1 : 0;
    }
    return different > 0;
  }
};

// A tolerance as torch.isclose(got, expected) uses it: every step rounded to the dtype.
template <class E>
struct Near {
  using C = typename E::Compute;
  C rtol, atol;
  // Added to a tensor, a number is rounded to its dtype first; multiplied, it is not.
  explicit Near(const Tolerance& tolerance)
      : rtol(static_cast<C>(tolerance.rtol)), atol(E::round(static_cast<C>(tolerance.atol))) {}
  std::int64_t far(const Chunk<E>& chunk) const {
    const C most = E::round(static_cast<C>(chunk.largest)), finite = std::numeric_limits<C>::max();
    if (most <= atol && most <= finite) return 0;  // rounding keeps the order
    std::int32_t out = 0;
    for (std::int64_t i = 0; i < chunk.count; ++i) {
      const C got = chunk.got[i], expected = chunk.expected[i];
      const C actual = E::round(std::fabs(E::round(got - expected)));
      const C allowed = E::round(atol + E::round(std::fabs(E::round(rtol * expected))));
      const bool close = (actual <= allowed) & (actual <= finite);
      out += ((got == expected) | close) ? 0 : 1;
    }
    return out;
  }
};

// By law, the tightest t that no element so far breaks. Tolerances grow with t, so it only ever rises.
template <class E>
class Sweep {
 public:
  explicit Sweep(double atol_scale) : scale_(atol_scale) {
    for (std::size_t law = 0; law < kLaws; ++law) near_.push_back(at(law, kTightest));
  }
  Near<E> at(std::size_t law, int t) const {
    Tolerance tolerance = passnet::tolerance(law, t);
    tolerance.atol *= scale_;
    return Near<E>(tolerance);
  }
  void add(const Chunk<E>& chunk) {
    for (std::size_t law = 0; law < kLaws; ++law)
      while (tightest[law] < kNever && near_[law].far(chunk) > 0)
        if (++tightest[law] < kNever) near_[law] = at(law, tightest[law]);
  }
  std::array<int, kLaws> tightest = {kTightest, kTightest, kTightest, kTightest};

 private:
  double scale_;
  std::vector<Near<E>> near_;
};

// All of them combined, as a tree: each level is a loop without a dependence.
template <class F>
double combine(std::array<double, kChunk> values, F both) {
  for (std::size_t half = kChunk / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) values[i] = both(values[i], values[half + i]);
  return values[0];
}

// The differences' sum, and the first of the largest.
template <class E>
void add_differences(Chunk<E>& chunk, OutputComparison& out) {
  std::array<double, kChunk> each{};
  for (std::int64_t i = 0; i < chunk.count; ++i) {
    const auto a = static_cast<double>(chunk.got[i]), b = static_cast<double>(chunk.expected[i]);
    const double d = a == b ? 0 : std::fabs(a - b);
    each[i] = d == d ? d : std::numeric_limits<double>::infinity();  // a NaN is the worst there is
  }
  chunk.largest = combine(each, [](double a, double b) { return a < b ? b : a; });
  out.mean_diff += combine(each, [](double a, double b) { return a + b; });
  if (chunk.largest <= out.max_diff) return;
  const auto at = std::find(each.begin(), each.end(), chunk.largest) - each.begin();
  out.max_diff = chunk.largest;
  out.worst = chunk.begin + at;
  out.worst_expected = static_cast<double>(chunk.expected[at]);
  out.worst_got = static_cast<double>(chunk.got[at]);
}

// `some` is given the chunks in which an element differs.
template <class E, class F>
void differences(const E* got, const E* expected, std::int64_t n, OutputComparison& out, F some) {
  Chunk<E> chunk;
  for (std::int64_t i = 0; i < n; i += kChunk) {
    if (!chunk.read(got, expected, i, std::min(n - i, kChunk))) continue;
    out.equal = false;
    add_differences(chunk, out);
    some(chunk);
  }
  if (n > 0) out.mean_diff /= static_cast<double>(n);
}

template <class E>
void compare_floats(const void* got_, const void* expected_, std::int64_t n, double atol_scale, OutputComparison& out) {
  const auto *got = static_cast<const E*>(got_), *expected = static_cast<const E*>(expected_);
  Sweep<E> sweep(atol_scale);
  differences(got, expected, n, out, [&](const Chunk<E>& chunk) { sweep.add(chunk); });
  out.by_law = sweep.tightest;
  const std::size_t own = *law_of(out.dtype);
  out.tightest_t = out.by_law[own];
  if (out.tightest_t <= kReportedAt) return;
  const Near<E> usual = sweep.at(own, kReportedAt);
  Chunk<E> chunk;
  for (std::int64_t i = 0; i < n; i += kChunk)
    if (chunk.read(got, expected, i, std::min(n - i, kChunk))) out.wrong += usual.far(chunk);
}

template <class T>
void compare_integers(const void* got, const void* expected, std::int64_t n, OutputComparison& out) {
  const auto *a = static_cast<const T*>(got), *b = static_cast<const T*>(expected);
  for (std::int64_t i = 0; i < n; ++i) out.wrong += a[i] != b[i] ? 1 : 0;
  out.tightest_t = out.wrong == 0 ? kTightest : kNever;
  out.by_law.fill(out.tightest_t);
  differences(reinterpret_cast<const Plain<T>*>(a), reinterpret_cast<const Plain<T>*>(b), n, out,
              [](const Chunk<Plain<T>>&) {});
}

void flatten(const RunValue& v, std::vector<const RunValue*>& out) {
  if (v.kind != RunValue::Kind::list) out.push_back(&v);
  for (const RunValue& item : v.items) flatten(item, out);
}

std::string kind_text(const RunValue& v) {
  constexpr std::array<std::string_view, 7> kNames = {"None", "bool", "int", "float", "str", "tensor", "list"};
  return v.kind == RunValue::Kind::tensor ? std::string(dtype_row(v.tensor.dtype).name)
                                          : std::string(kNames[static_cast<std::size_t>(v.kind)]);
}

// Numbers and strings: equal or not.
OutputComparison compare_scalars(const RunValue& expected, const RunValue& got) {
  OutputComparison out;
  const double a = got.kind == RunValue::Kind::real ? got.real : static_cast<double>(got.integer);
  const double b = expected.kind == RunValue::Kind::real ? expected.real : static_cast<double>(expected.integer);
  const bool equal = got.kind == RunValue::Kind::text ? got.text == expected.text : a == b;
  out.elements = 1;
  out.equal = equal;
  out.tightest_t = equal ? kTightest : kNever;
  out.by_law.fill(out.tightest_t);
  out.wrong = equal ? 0 : 1;
  out.max_diff = out.mean_diff = equal ? 0 : std::fabs(a - b);
  out.worst_expected = b;
  out.worst_got = a;
  return out;
}

}  // namespace

std::vector<const RunValue*> leaves(const RunValue& value) {
  std::vector<const RunValue*> out;
  flatten(value, out);
  return out;
}

std::optional<std::size_t> law_of(Dtype dtype) {
  for (std::size_t law = 0; law < kLaws; ++law)
    if (kLawDtypes[law] == dtype) return law;
  return std::nullopt;
}

Tolerance tolerance(std::size_t law, int t) {
  return {three_digits(std::pow(10.0, kLawRows[law].rtol_slope * t)),
          three_digits(std::pow(10.0, kLawRows[law].atol_slope * t))};
}

int Comparison::tightest_t() const {
  int out = kTightest;
  for (const OutputComparison& o : outputs) out = std::max(out, o.tightest_t);
  return out;
}

double Comparison::max_diff() const {
  double out = 0;
  for (const OutputComparison& o : outputs) out = std::max(out, o.max_diff);
  return out;
}

namespace {
template <class E>
bool finite(const void* data, std::int64_t n) {
  const auto* x = static_cast<const E*>(data);
  bool all = true;
  for (std::int64_t i = 0; i < n; ++i) all &= std::isfinite(x[i].value());
  return all;
}

// A tensor's dimensions in the order in which `like`, of the same shape, has them in memory: dense but permuted tensors
// (channels last) are then read as they lie, without a copy.
struct MemoryOrder {
  std::vector<std::size_t> dims;
  explicit MemoryOrder(const TensorRef& like) : dims(like.sizes.size()) {
    std::iota(dims.begin(), dims.end(), std::size_t{0});
    std::stable_sort(dims.begin(), dims.end(),
                     [&](std::size_t a, std::size_t b) { return like.strides[a] > like.strides[b]; });
  }
  Result<TensorRef> flat(const TensorRef& t, Engine& engine) const {
    if (std::is_sorted(dims.begin(), dims.end())) return engine.contiguous_on_cpu(t);
    TensorDesc desc = describe(t);
    for (std::size_t i = 0; i < dims.size(); ++i) {
      desc.sizes.data()[i] = t.sizes[dims[i]];
      desc.strides.data()[i] = t.strides[dims[i]];
    }
    auto turned = engine.view(t, desc, 0);
    return turned ? engine.contiguous_on_cpu(*turned) : std::move(turned);
  }
  // The number of an element in the tensor's own order.
  std::int64_t own_number(std::int64_t number, const TensorRef& t) const {
    std::vector<std::int64_t> index(dims.size());
    for (std::size_t i = dims.size(); i-- > 0; number /= t.sizes[dims[i]]) index[dims[i]] = number % t.sizes[dims[i]];
    std::int64_t out = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) out = out * t.sizes[i] + index[i];
    return out;
  }
};
}  // namespace

Result<bool> all_finite(const RunValue& value, Engine& engine) {
  for (const RunValue& item : value.items)
    if (auto one = all_finite(item, engine); !one || !*one) return one;
  if (value.kind != RunValue::Kind::tensor) return value.kind != RunValue::Kind::real || std::isfinite(value.real);
  auto flat = MemoryOrder(value.tensor).flat(value.tensor, engine);
  if (!flat) return std::move(flat.error());
  const std::int64_t n = describe(*flat).element_count();
  switch (flat->dtype) {
    case Dtype::float32: return finite<Plain<float>>(flat->data, n);
    case Dtype::float64: return finite<Plain<double>>(flat->data, n);
    case Dtype::float16: return finite<Half>(flat->data, n);
    case Dtype::bfloat16: return finite<Brain>(flat->data, n);
    default: return true;
  }
}

OutputComparison compare(Dtype dtype, const void* expected, const void* got, std::int64_t n, double atol_scale) {
  OutputComparison out;
  out.dtype = dtype;
  out.elements = n;
  switch (dtype) {
    case Dtype::float32: compare_floats<Plain<float>>(got, expected, n, atol_scale, out); break;
    case Dtype::float64: compare_floats<Plain<double>>(got, expected, n, atol_scale, out); break;
    case Dtype::float16: compare_floats<Half>(got, expected, n, atol_scale, out); break;
    case Dtype::bfloat16: compare_floats<Brain>(got, expected, n, atol_scale, out); break;
    case Dtype::int64: compare_integers<std::int64_t>(got, expected, n, out); break;
    case Dtype::int32: compare_integers<std::int32_t>(got, expected, n, out); break;
    case Dtype::int16: compare_integers<std::int16_t>(got, expected, n, out); break;
    case Dtype::int8: compare_integers<std::int8_t>(got, expected, n, out); break;
    case Dtype::uint8:
    case Dtype::boolean: compare_integers<std::uint8_t>(got, expected, n, out); break;
    case Dtype::uint16: compare_integers<std::uint16_t>(got, expected, n, out); break;
    case Dtype::uint32: compare_integers<std::uint32_t>(got, expected, n, out); break;
    case Dtype::uint64: compare_integers<std::uint64_t>(got, expected, n, out); break;
    default: {  // complex, float8: by their bytes
      const std::size_t bytes = static_cast<std::size_t>(n) * dtype_row(dtype).size;
      out.tightest_t = n == 0 || std::memcmp(got, expected, bytes) == 0 ? kTightest : kNever;
      out.wrong = out.tightest_t == kNever ? n : 0;
      out.equal = out.wrong == 0;
      out.by_law.fill(out.tightest_t);
    }
  }
  return out;
}

Result<OutputComparison> compare(const TensorRef& expected, const TensorRef& got, Engine& engine, double atol_scale) {
  const MemoryOrder order(expected);
  auto a = order.flat(got, engine), b = order.flat(expected, engine);
  if (!a) return std::move(a.error());
  if (!b) return std::move(b.error());
  const std::int64_t n = describe(expected).element_count();
  OutputComparison out = compare(expected.dtype, b->data, a->data, n, atol_scale);
  if (n > 0) out.worst = order.own_number(out.worst, expected);
  return out;
}

Result<Comparison> compare(const RunValue& expected, const RunValue& got, Engine& engine, double atol_scale) {
  Comparison out;
  const std::vector<const RunValue*> want = leaves(expected), have = leaves(got);
  using Outcome = Comparison::Outcome;
  const auto mismatch = [&](Outcome outcome, std::string why) {
    out.outcome = outcome;
    out.why = std::move(why);
    return out;
  };
  for (std::size_t i = 0; i < std::max(want.size(), have.size()); ++i) {
    OutputTypes& types = out.types.emplace_back();
    if (i < want.size()) types.expected_dtype = kind_text(*want[i]), types.expected_shape = want[i]->tensor.sizes.vec();
    if (i < have.size()) types.got_dtype = kind_text(*have[i]), types.got_shape = have[i]->tensor.sizes.vec();
  }
  if (want.size() != have.size())
    return mismatch(Outcome::shape_mismatch, fmt::format("{} outputs, eager gives {}", have.size(), want.size()));
  const auto is_tensor = [](const RunValue* v) { return v->kind == RunValue::Kind::tensor; };
  for (std::size_t i = 0; i < want.size(); ++i)
    if (is_tensor(want[i]) && is_tensor(have[i]) && !(want[i]->tensor.sizes == have[i]->tensor.sizes))
      return mismatch(Outcome::shape_mismatch,
                      fmt::format("output {} has shape [{}], eager's has [{}]", i,
                                  fmt::join(have[i]->tensor.sizes, ", "), fmt::join(want[i]->tensor.sizes, ", ")));
  for (std::size_t i = 0; i < want.size(); ++i)
    if (kind_text(*want[i]) != kind_text(*have[i]))
      return mismatch(Outcome::type_mismatch,
                      fmt::format("output {} is {}, eager's is {}", i, kind_text(*have[i]), kind_text(*want[i])));
  for (std::size_t i = 0; i < want.size(); ++i) {
    auto one = is_tensor(want[i]) ? compare(want[i]->tensor, have[i]->tensor, engine, atol_scale)
                                  : Result<OutputComparison>(compare_scalars(*want[i], *have[i]));
    if (!one) return std::move(one.error());
    one->name = fmt::format("output {}", i);
    out.outputs.push_back(std::move(*one));
  }
  return out;
}

}  // namespace passnet
