#include "bench/doubt.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "bench/elements.h"

namespace passnet {

namespace {

constexpr std::int64_t kTogether = 64;  // elements that lie side by side move alike
constexpr double kTimes = 8;            // what they moved by
constexpr double kManyTimes = 64;       // what eager's are off by

std::int64_t some_of(std::int64_t elements) { return std::min<std::int64_t>(4, elements / 16); }

// What most elements beside one another are off by.
double usual_of(std::array<double, kTogether> off, std::int64_t count) {
  std::nth_element(off.begin(), off.begin() + count / 2, off.begin() + count);
  return off[count / 2];
}

// The elements of one tensor on all sides, from `begin` on, as distances from eager's.
template <class E>
struct Moves {
  const E *expected, *got, *one, *other, *another;

  static double distance(const E& a, const E& b) {
    const auto x = static_cast<double>(a.value()), y = static_cast<double>(b.value());
    if (x == y || (x != x && y != y)) return 0;
    const double d = std::fabs(x - y);
    return d == d ? d : std::numeric_limits<double>::infinity();
  }
  static bool finite(const E& x) { return std::isfinite(static_cast<double>(x.value())); }
  void add(std::int64_t begin, std::int64_t count, const Tolerance& tolerance, Doubt& out) const {
    std::array<double, kTogether> moved{};
    for (std::int64_t i = 0; i < count; ++i)
      moved[i] =
          std::max(distance(one[begin + i], expected[begin + i]), distance(other[begin + i], expected[begin + i]));
    const double usual = usual_of(moved, count);
    for (std::int64_t i = 0; i < count; ++i) {
      const E& e = expected[begin + i];
      const double allowed = tolerance.atol + tolerance.rtol * std::fabs(static_cast<double>(e.value())) +
                             kTimes * std::max(moved[i], usual);
      out.unexplained += distance(got[begin + i], e) <= allowed ? 0 : 1;
      out.usual += distance(another[begin + i], e) <= allowed ? 0 : 1;
      out.broken +=
          !finite(got[begin + i]) && std::isfinite(allowed) && finite(e) && finite(another[begin + i]) ? 1 : 0;
    }
    out.elements += count;
  }
};

template <class E>
Doubt doubt_of(const std::array<const void*, 5>& data, std::int64_t n, const Tolerance& tolerance, Engine& engine) {
  const auto at = [&](std::size_t i) { return static_cast<const E*>(data[i]); };
  const Moves<E> moves{at(0), at(1), at(2), at(3), at(4)};
  const auto blocks = by_blocks<Doubt>(n, &engine, [&](Doubt& of_block, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += kTogether)
      moves.add(i, std::min(kTogether, end - i), tolerance, of_block);
  });
  Doubt out;
  for (const Doubt& d : blocks) {
    out.elements += d.elements;
    out.unexplained += d.unexplained;
    out.usual += d.usual;
    out.broken += d.broken;
  }
  return out;
}

template <class E>
Exactness exactness_of(const double* exact, const void* expected, const void* got, std::int64_t n,
                       const Tolerance& tolerance, Engine& engine) {
  const auto *e = static_cast<const E*>(expected), *g = static_cast<const E*>(got);
  const auto look = [&](std::int64_t begin, std::int64_t count, Exactness& out) {
    std::array<double, kTogether> off{};
    for (std::int64_t i = 0; i < count; ++i)
      off[i] = std::fabs(static_cast<double>(e[begin + i].value()) - exact[begin + i]);
    const double usual = usual_of(off, count);
    for (std::int64_t i = 0; i < count; ++i) {
      const double x = exact[begin + i], d = std::fabs(static_cast<double>(g[begin + i].value()) - x);
      const double allowed = tolerance.atol + tolerance.rtol * std::fabs(x);
      const bool finite = std::isfinite(d);
      out.further += finite && d <= allowed + std::max(off[i], usual) ? 0 : 1;
      out.outliers += finite && d <= allowed + std::max(off[i], kTimes * usual) ? 0 : 1;
      out.lost += !finite || d > allowed + kManyTimes * std::max(off[i], usual) ? 1 : 0;
      out.eager += off[i];
      out.candidate += d;
    }
  };
  const auto blocks = by_blocks<Exactness>(n, &engine, [&](Exactness& out, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += kTogether) look(i, std::min(kTogether, end - i), out);
  });
  Exactness out;
  out.elements = n;
  for (const Exactness& b : blocks) {
    out.further += b.further;
    out.outliers += b.outliers;
    out.lost += b.lost;
    out.eager += b.eager;
    out.candidate += b.candidate;
  }
  return out;
}

// The mean of what `of` makes of every element.
template <class E, class F>
double mean_of(const void* data, std::int64_t n, Engine& engine, F of) {
  const auto* x = static_cast<const E*>(data);
  const auto blocks = by_blocks<double>(n, &engine, [&](double& sum, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) sum += of(static_cast<double>(x[i].value()));
  });
  return std::accumulate(blocks.begin(), blocks.end(), 0.0) / static_cast<double>(n);
}

constexpr double kRoundings = 16;

double rounding(Dtype dtype) { return dtype == Dtype::bfloat16 ? 0x1p-8 : dtype == Dtype::float16 ? 0x1p-11 : 0x1p-14; }

template <class E>
std::int64_t count_as_constant(const void* expected, const void* got, std::int64_t n, double constant, double part,
                               double unit, Engine& engine) {
  const auto *e = static_cast<const E*>(expected), *g = static_cast<const E*>(got);
  const auto blocks =
      by_blocks<std::int64_t>(n, &engine, [&](std::int64_t& count, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const auto x = static_cast<double>(e[i].value()), d = std::fabs(static_cast<double>(g[i].value()) - x);
          count += d < std::max(std::fabs(x - constant) * part, kRoundings * unit * std::fabs(x)) || d == 0 ? 0 : 1;
        }
      });
  return std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0});
}

}  // namespace

bool Doubt::explains() const {
  constexpr std::int64_t kOneOf = std::int64_t{1} << 16;  // may jump though none of its like did
  return broken == 0 && unexplained <= 4 * usual + std::min<std::int64_t>(4, elements / kOneOf);
}
bool Exactness::is_sloppy() const { return lost > elements / 1024 + some_of(elements); }
bool Doubt::is_broad() const { return usual > elements / 64 + some_of(elements); }

Result<std::optional<Doubt>> doubt_of(const RunValue& expected, const RunValue& got,
                                      const std::vector<const RunValue*>& moved, Tolerance tolerance, Engine& engine) {
  std::vector<const RunValue*> sides = {&expected, &got};
  sides.insert(sides.end(), moved.begin(), moved.end());
  using Kind = RunValue::Kind;
  if (expected.kind != Kind::tensor) {  // a number: in doubt where it moves at all
    const auto same = [&](const RunValue* v) {
      return v->kind == expected.kind && v->integer == expected.integer && v->real == expected.real;
    };
    const bool moves = !std::all_of(moved.begin(), moved.end(), same);
    return std::optional(Doubt{1, same(&got) || moves ? 0 : 1, 0, 0});
  }
  const MemoryOrder order(expected.tensor);
  std::array<const void*, 5> data{};
  std::vector<TensorRef> held;  // what is dense is not copied
  for (const RunValue* v : sides) {
    if (v->kind != Kind::tensor || v->tensor.dtype != expected.tensor.dtype ||
        !(v->tensor.sizes == expected.tensor.sizes))
      return std::optional<Doubt>();
    auto flat = order.flat(v->tensor, engine);
    if (!flat) return std::move(flat.error());
    held.push_back(std::move(*flat));
    data[held.size() - 1] = held.back().data;
  }
  const std::int64_t n = describe(expected.tensor).element_count();
  Doubt out{n, n, 0, 0};
  with_element(expected.tensor.dtype, [&]<class E>(E) { out = doubt_of<E>(data, n, tolerance, engine); });
  return std::optional(out);
}

Result<Exactness> exactness_of(const RunValue& exact, const TensorRef& expected, const TensorRef& got,
                               Tolerance tolerance, Engine& engine) {
  const std::int64_t n = describe(expected).element_count();
  if (exact.kind != RunValue::Kind::tensor || exact.tensor.dtype != Dtype::float64 ||
      !(exact.tensor.sizes == expected.sizes) || !(got.sizes == expected.sizes))
    return Exactness{n, n, n, 0};
  const MemoryOrder order(expected);
  auto x = order.flat(exact.tensor, engine), a = order.flat(expected, engine), b = order.flat(got, engine);
  if (!x) return std::move(x.error());
  if (!a) return std::move(a.error());
  if (!b) return std::move(b.error());
  Exactness out;
  with_element(expected.dtype, [&]<class E>(E) {
    out = exactness_of<E>(static_cast<const double*>(x->data), a->data, b->data, n, tolerance, engine);
  });
  return out;
}

Result<Typical> typical_of(const TensorRef& tensor, Engine& engine) {
  auto flat = MemoryOrder(tensor).flat(tensor, engine);
  if (!flat) return std::move(flat.error());
  Typical out;
  const std::int64_t n = describe(tensor).element_count();
  if (n == 0) return out;
  with_element(flat->dtype, [&]<class E>(E) {
    out.mean = mean_of<E>(flat->data, n, engine, [](double x) { return x; });
    out.size = mean_of<E>(flat->data, n, engine, [](double x) { return std::fabs(x); });
    out.deviation = mean_of<E>(flat->data, n, engine, [&](double x) { return std::fabs(x - out.mean); });
  });
  return out;
}

Result<bool> is_as_constant(const TensorRef& expected, const Typical& typical, const TensorRef& got,
                            const AsConstant& limits, Engine& engine) {
  const MemoryOrder order(expected);
  auto a = order.flat(expected, engine), b = order.flat(got, engine);
  if (!a) return std::move(a.error());
  if (!b) return std::move(b.error());
  const std::int64_t n = describe(expected).element_count();
  bool out = false;
  with_element(expected.dtype, [&]<class E>(E) {
    for (const double constant : {0.0, typical.mean})
      out = out || limits.one_of * count_as_constant<E>(a->data, b->data, n, constant, limits.part,
                                                        rounding(expected.dtype), engine) >
                       n;
  });
  return out;
}

}  // namespace passnet
