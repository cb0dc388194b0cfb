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
constexpr std::int64_t kChunk = 1024;  // elements tested as a whole, without a branch

double three_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2E", value);
  return std::strtod(text, nullptr);
}

// Element types as they lie in memory, and how torch rounds what it computes in them.
struct Half {
  std::uint16_t bits;
  using Compute = float;
  float value() const {
    const std::uint32_t sign = (bits & 0x8000U) << 16, exponent = bits >> 10 & 31U, mantissa = bits & 1023U;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | mantissa << 13);
    if (exponent == 0) return std::copysign(static_cast<float>(mantissa) * 0x1p-24F, sign != 0 ? -1.0F : 1.0F);
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  }
  static float round(float f) {
    if (std::isnan(f)) return f;
    if (std::fabs(f) < 0x1p-14F) return (f + 0.75F) - 0.75F;  // the unit of 0.75 is that of a half's smallest numbers
    const std::uint32_t b = std::bit_cast<std::uint32_t>(f);
    const float r = std::bit_cast<float>((b + 0xfffU + (b >> 13 & 1U)) & ~0x1fffU);
    return std::fabs(r) > 65504.0F ? std::copysign(std::numeric_limits<float>::infinity(), r) : r;
  }
};
struct Brain {
  std::uint16_t bits;
  using Compute = float;
  float value() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
  static float round(float f) {
    if (std::isnan(f)) return f;
    const std::uint32_t b = std::bit_cast<std::uint32_t>(f);
    return std::bit_cast<float>((b + 0x7fffU + (b >> 16 & 1U)) & ~0xffffU);
  }
};
template <class T>
struct Plain {
  T number;
  using Compute = T;
  T value() const { return number; }
  static T round(T v) { return v; }
};

// torch.isclose(got, expected): every step rounded to the dtype.
template <class E>
bool is_close(typename E::Compute got, typename E::Compute expected, typename E::Compute rtol,
              typename E::Compute atol) {
  if (got == expected) return true;
  const auto actual = E::round(std::fabs(E::round(got - expected)));
  const auto allowed = E::round(atol + E::round(std::fabs(E::round(rtol * expected))));
  return actual <= allowed && std::isfinite(actual);
}

// Whether element i is near enough.
template <class E>
struct Near {
  using C = typename E::Compute;
  const E *got, *expected;
  C rtol, atol;
  // Added to a tensor, a number is rounded to its dtype first; multiplied, it is not.
  Near(const E* g, const E* e, const Tolerance& tolerance)
      : got(g), expected(e), rtol(static_cast<C>(tolerance.rtol)), atol(E::round(static_cast<C>(tolerance.atol))) {}
  bool operator()(std::int64_t i) const { return is_close<E>(got[i].value(), expected[i].value(), rtol, atol); }
};

template <class E>
std::int64_t first_far(const Near<E>& near, std::int64_t from, std::int64_t n) {
  for (; from < n; from += kChunk) {
    bool all = true;
    for (std::int64_t i = from, end = std::min(n, from + kChunk); i < end; ++i) all &= near(i);
    if (all) continue;
    while (near(from)) ++from;
    return from;
  }
  return n;
}

// Tolerances grow with t, so one pass finds the tightest that no element breaks.
template <class E>
int sweep(const E* got, const E* expected, std::int64_t n, std::size_t law, double atol_scale) {
  std::int64_t at = 0;
  for (int t = kTightest; t < kNever; ++t) {
    Tolerance tolerance = passnet::tolerance(law, t);
    tolerance.atol *= atol_scale;
    at = first_far<E>({got, expected, tolerance}, at, n);
    if (at == n) return t;
  }
  return kNever;
}

template <class E>
void differences(const E* got, const E* expected, std::int64_t n, OutputComparison& out) {
  double sum = 0, most = -1;
  for (std::int64_t i = 0; i < n; ++i) {
    if (i % kChunk == 0) {  // mostly all are equal
      bool all = true;
      for (std::int64_t k = i, end = std::min(n, i + kChunk); k < end; ++k)
        all &= got[k].value() == expected[k].value();
      if (all) {
        i += kChunk - 1;
        continue;
      }
    }
    const auto a = static_cast<double>(got[i].value()), b = static_cast<double>(expected[i].value());
    if (a == b) continue;
    double d = std::fabs(a - b);
    if (std::isnan(d)) d = std::numeric_limits<double>::infinity();  // the worst there is
    sum += d;
    if (d <= most) continue;
    most = d;
    out.worst = i;
    out.worst_expected = b;
    out.worst_got = a;
  }
  out.equal = most < 0;
  out.max_diff = std::max(most, 0.0);
  out.mean_diff = n > 0 ? sum / static_cast<double>(n) : 0;
}

template <class E>
void compare_floats(const void* got_, const void* expected_, std::int64_t n, double atol_scale, OutputComparison& out) {
  const auto *got = static_cast<const E*>(got_), *expected = static_cast<const E*>(expected_);
  differences(got, expected, n, out);
  if (out.equal) return;
  for (std::size_t law = 0; law < kLaws; ++law) out.by_law[law] = sweep(got, expected, n, law, atol_scale);
  const std::size_t own = *law_of(out.dtype);
  out.tightest_t = out.by_law[own];
  Tolerance usual = tolerance(own, kReportedAt);
  usual.atol *= atol_scale;
  const Near<E> near(got, expected, usual);
  if (out.tightest_t > kReportedAt)
    for (std::int64_t i = 0; i < n; ++i) out.wrong += near(i) ? 0 : 1;
}

template <class T>
void compare_integers(const void* got, const void* expected, std::int64_t n, OutputComparison& out) {
  const auto *a = static_cast<const T*>(got), *b = static_cast<const T*>(expected);
  for (std::int64_t i = 0; i < n; ++i) out.wrong += a[i] != b[i] ? 1 : 0;
  out.tightest_t = out.wrong == 0 ? kTightest : kNever;
  out.by_law.fill(out.tightest_t);
  differences(reinterpret_cast<const Plain<T>*>(a), reinterpret_cast<const Plain<T>*>(b), n, out);
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
