#include "bench/correctness.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/text.h"

namespace passnet {

namespace {

// Tolerances are 10^(slope * t); a row a dtype of kLawDtypes.
struct Law {
  double rtol_slope, atol_slope;
};
constexpr Law kLawRows[kLaws] = {{3.0 / 5, 1}, {1.796 / 5, 1}, {5.886 / 5, 1}, {7.0 / 5, 7.0 / 5}};
constexpr int kReportedAt = -5;
constexpr std::int64_t kChunk = 1024;         // elements looked at together
constexpr std::int64_t kBlock = 64 * kChunk;  // elements that one thread looks at

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

// What `find` says of each block of elements, looked at by the engine's threads if there is an engine. Put together in
// this order it does not depend on their number.
template <class T, class F>
std::vector<T> by_blocks(std::int64_t n, Engine* engine, F find) {
  std::vector<T> out(static_cast<std::size_t>((n + kBlock - 1) / kBlock));
  auto look = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t block = first; block < last; ++block)
      find(out[static_cast<std::size_t>(block)], block * kBlock, std::min(n, (block + 1) * kBlock));
  };
  const auto count = static_cast<std::int64_t>(out.size());
  if (engine == nullptr || count < 2) {
    look(0, count);
  } else {
    const Engine::Range range = [](void* context, std::int64_t first, std::int64_t last) {
      (*static_cast<decltype(look)*>(context))(first, last);
    };
    engine->parallel(count, 1, range, &look);
  }
  return out;
}

// All of them by `both`, side by side in four vectors first.
template <class T, class F>
T combined(const std::array<T, kChunk>& values, F both) {
  constexpr std::size_t kBytes = 16, kLanes = kBytes / sizeof(T), kStep = 4 * kLanes;
  typedef T Lanes __attribute__((vector_size(kBytes)));
  const auto at = [&](std::size_t i) {
    Lanes out;
    std::memcpy(&out, values.data() + i, kBytes);
    return out;
  };
  Lanes a = at(0), b = at(kLanes), c = at(2 * kLanes), d = at(3 * kLanes);
  for (std::size_t i = kStep; i < kChunk; i += kStep) {
    a = both(a, at(i));
    b = both(b, at(i + kLanes));
    c = both(c, at(i + 2 * kLanes));
    d = both(d, at(i + 3 * kLanes));
  }
  const Lanes all = both(both(a, b), both(c, d));
  T out = all[0];
  for (std::size_t l = 1; l < kLanes; ++l) out = both(out, T{all[l]});
  return out;
}

// Elements of both sides, next to each other in memory and as they are computed with.
template <class E>
struct Chunk {
  using C = typename E::Compute;
  std::array<C, kChunk> got, expected, distance;  // 0 where they are equal, infinite where it is no number
  std::int64_t begin = 0, count = 0;
  C largest = 0;  // distance

  // False: all are equal.
  bool read(const E* g, const E* e, std::int64_t from, std::int64_t n) {
    begin = from;
    count = n;
    std::int32_t different = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      got[i] = g[from + i].value();
      expected[i] = e[from + i].value();
      different += got[i] != expected[i] ? 1 : 0;
    }
    return different > 0;
  }
  // Of floats.
  void measure() {
    const std::int64_t n = count;  // else it might change in the loop
    for (std::int64_t i = 0; i < n; ++i) {
      const C a = got[i], b = expected[i], d = std::fabs(E::round(a - b));
      const C known = d == d ? d : std::numeric_limits<C>::infinity();
      distance[i] = a == b ? 0 : known;
    }
    std::fill(distance.begin() + count, distance.end(), C{});
    largest = combined(distance, [](auto a, auto b) { return a < b ? b : a; });
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
    const C finite = std::numeric_limits<C>::max();
    if (chunk.largest <= atol && chunk.largest <= finite) return 0;  // rounding keeps the order
    std::int32_t out = 0;
    for (std::int64_t i = 0; i < chunk.count; ++i) {
      const C distance = chunk.distance[i];
      out += ((distance <= allowed(chunk.expected[i])) & (distance <= finite)) ? 0 : 1;
    }
    return out;
  }
  C allowed(C expected) const { return E::round(atol + std::fabs(E::round(rtol * expected))); }
  // How far out an element is: above 1 where it is wrong.
  double excess(const Chunk<E>& chunk, std::int64_t i) const {
    if (chunk.distance[i] == 0) return 0;
    const double out = static_cast<double>(chunk.distance[i]) / static_cast<double>(allowed(chunk.expected[i]));
    return out == out ? out : std::numeric_limits<double>::infinity();  // one infinity for another
  }
  // Whatever is near by this one is near by the other.
  bool implies(const Near& other) const { return rtol <= other.rtol && atol <= other.atol; }
};

// By law, the tightest t that no element so far breaks. Tolerances grow with t, so it only ever rises, and threads may
// share it.
template <class E>
class Sweep {
 public:
  explicit Sweep(double atol_scale) {
    for (std::size_t law = 0; law < kLaws; ++law)
      for (int t = kTightest; t <= kLoosest; ++t) {
        Tolerance tolerance = passnet::tolerance(law, t);
        tolerance.atol *= atol_scale;
        near_[law].emplace_back(tolerance);
      }
    for (auto& t : tightest_) t = kTightest;
  }
  const Near<E>& at(std::size_t law, int t) const { return near_[law][static_cast<std::size_t>(t - kTightest)]; }
  void add(const Chunk<E>& chunk) {
    std::array<const Near<E>*, kLaws> passed{};
    for (std::size_t law = 0; law < kLaws; ++law) {
      const int before = tightest(law);
      const auto fails = [&](int t) {
        const Near<E>& near = at(law, t);
        const auto implied = [&](const Near<E>* p) { return p != nullptr && p->implies(near); };
        return std::none_of(passed.begin(), passed.end(), implied) && near.far(chunk) > 0;
      };
      int t = before;
      while (t < kNever && fails(t)) ++t;
      if (t > before) raise(law, t);
      if (t < kNever) passed[law] = &at(law, t);
    }
  }
  int tightest(std::size_t law) const { return tightest_[law].load(std::memory_order_relaxed); }

 private:
  void raise(std::size_t law, int t) {
    int now = tightest(law);
    while (now < t && !tightest_[law].compare_exchange_weak(now, t)) {
    }
  }
  std::array<std::vector<Near<E>>, kLaws> near_;  // by t
  std::array<std::atomic<int>, kLaws> tightest_;
};

struct Differences {
  bool equal = true;
  double sum = 0, largest = 0;
  std::int64_t at = 0;  // the first of the largest
  double expected = 0, got = 0;
  std::int64_t wrong = 0;
};

template <class E>
void add_differences(const Chunk<E>& chunk, Differences& out) {
  std::array<double, kChunk> each{};
  for (std::int64_t i = 0; i < chunk.count; ++i) {
    const auto a = static_cast<double>(chunk.got[i]), b = static_cast<double>(chunk.expected[i]);
    const double d = a == b ? 0 : std::fabs(a - b);
    each[i] = d == d ? d : std::numeric_limits<double>::infinity();  // a NaN is the worst there is
  }
  out.equal = false;
  out.sum += combined(each, [](auto a, auto b) { return a + b; });
  const double largest = combined(each, [](auto a, auto b) { return a < b ? b : a; });
  if (largest <= out.largest) return;
  const auto at = std::find(each.begin(), each.end(), largest) - each.begin();
  out.largest = largest;
  out.at = chunk.begin + at;
  out.expected = static_cast<double>(chunk.expected[at]);
  out.got = static_cast<double>(chunk.got[at]);
}

// Two tensors' elements as they lie in memory, and who helps to look at them.
template <class E>
struct Elements {
  const E *got, *expected;
  std::int64_t count;
  Engine* engine;

  // `some` is given the chunks in which an element differs, with the block's `T`; the blocks are given back.
  template <class T, class F>
  std::vector<T> different(F some) const {
    return by_blocks<T>(count, engine, [&](T& of_block, std::int64_t begin, std::int64_t end) {
      Chunk<E> chunk;
      for (std::int64_t i = begin; i < end; i += kChunk)
        if (chunk.read(got, expected, i, std::min(end - i, kChunk))) some(chunk, of_block);
    });
  }
  // How many are wrong, and which is the furthest out.
  void count_wrong(const Near<E>& near, OutputComparison& out) const {
    struct Wrong {
      std::int64_t count = 0, at = 0;
      double excess = 0;
    };
    const auto blocks = different<Wrong>([&](Chunk<E>& chunk, Wrong& of_block) {
      chunk.measure();
      const std::int64_t far = near.far(chunk);
      of_block.count += far;
      for (std::int64_t i = 0; i < chunk.count && far > 0; ++i)
        if (const double excess = near.excess(chunk, i); excess > of_block.excess)
          of_block = {of_block.count, chunk.begin + i, excess};
    });
    Wrong all;
    for (const Wrong& w : blocks)
      all = {all.count + w.count, w.excess > all.excess ? w.at : all.at, std::max(all.excess, w.excess)};
    out.wrong = all.count;
    out.worst = all.at;
    out.worst_expected = static_cast<double>(expected[all.at].value());
    out.worst_got = static_cast<double>(got[all.at].value());
  }
};

void put_together(const std::vector<Differences>& blocks, OutputComparison& out) {
  for (const Differences& d : blocks) {
    out.equal = out.equal && d.equal;
    out.wrong += d.wrong;
    out.mean_diff += d.sum;
    if (d.largest <= out.max_diff) continue;
    out.max_diff = d.largest;
    out.worst = d.at;
    out.worst_expected = d.expected;
    out.worst_got = d.got;
  }
  if (out.elements > 0) out.mean_diff /= static_cast<double>(out.elements);
}

template <class E>
void compare_floats(const Elements<E>& elements, double atol_scale, OutputComparison& out) {
  Sweep<E> sweep(atol_scale);
  put_together(elements.template different<Differences>([&](Chunk<E>& chunk, Differences& of_block) {
    add_differences(chunk, of_block);
    chunk.measure();
    sweep.add(chunk);
  }),
               out);
  for (std::size_t law = 0; law < kLaws; ++law) out.by_law[law] = sweep.tightest(law);
  const std::size_t own = *law_of(out.dtype);
  out.tightest_t = out.by_law[own];
  if (out.tightest_t > kReportedAt) elements.count_wrong(sweep.at(own, kReportedAt), out);
}

template <class E>
void compare_integers(const Elements<E>& elements, OutputComparison& out) {
  put_together(elements.template different<Differences>([&](Chunk<E>& chunk, Differences& of_block) {
    add_differences(chunk, of_block);
    for (std::int64_t i = 0; i < chunk.count; ++i) of_block.wrong += chunk.got[i] != chunk.expected[i] ? 1 : 0;
  }),
               out);
  out.tightest_t = out.equal ? kTightest : kNever;
  out.by_law.fill(out.tightest_t);
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
bool finite(const void* data, std::int64_t n, Engine& engine) {
  const auto* x = static_cast<const E*>(data);
  const auto blocks = by_blocks<char>(n, &engine, [&](char& broken, std::int64_t begin, std::int64_t end) {
    std::int32_t count = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const auto v = x[i].value();
      count += v - v == 0 ? 0 : 1;  // what is not finite has no difference
    }
    broken = count > 0 ? 1 : 0;
  });
  return std::find(blocks.begin(), blocks.end(), 1) == blocks.end();
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

// --- doubt

constexpr std::int64_t kTogether = 64;  // elements that lie side by side move alike
constexpr double kTimes = 8;            // what they moved by

std::int64_t some_of(std::int64_t elements) { return std::min<std::int64_t>(4, elements / 16); }

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
  void add(std::int64_t begin, std::int64_t count, const Tolerance& tolerance, Doubt& out) const {
    std::array<double, kTogether> moved{}, sorted{};
    for (std::int64_t i = 0; i < count; ++i)
      moved[i] =
          std::max(distance(one[begin + i], expected[begin + i]), distance(other[begin + i], expected[begin + i]));
    std::copy_n(moved.begin(), count, sorted.begin());
    std::nth_element(sorted.begin(), sorted.begin() + count / 2, sorted.begin() + count);
    for (std::int64_t i = 0; i < count; ++i) {
      const E& e = expected[begin + i];
      const double allowed = tolerance.atol + tolerance.rtol * std::fabs(static_cast<double>(e.value())) +
                             kTimes * std::max(moved[i], sorted[count / 2]);
      out.unexplained += distance(got[begin + i], e) <= allowed ? 0 : 1;
      out.usual += distance(another[begin + i], e) <= allowed ? 0 : 1;
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
std::int64_t count_as_constant(const void* expected, const void* got, std::int64_t n, double constant, double unit,
                               Engine& engine) {
  const auto *e = static_cast<const E*>(expected), *g = static_cast<const E*>(got);
  const auto blocks =
      by_blocks<std::int64_t>(n, &engine, [&](std::int64_t& count, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const auto x = static_cast<double>(e[i].value()), d = std::fabs(static_cast<double>(g[i].value()) - x);
          count += d < std::max(std::fabs(x - constant) / 2, kRoundings * unit * std::fabs(x)) || d == 0 ? 0 : 1;
        }
      });
  return std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0});
}

// Calls `of` with an element of the dtype's kind; false where there is none: complex, float8.
template <class F>
bool with_element(Dtype dtype, F of) {
  switch (dtype) {
    case Dtype::float32: return of(Plain<float>{}), true;
    case Dtype::float64: return of(Plain<double>{}), true;
    case Dtype::float16: return of(Half{}), true;
    case Dtype::bfloat16: return of(Brain{}), true;
    case Dtype::int64: return of(Plain<std::int64_t>{}), true;
    case Dtype::int32: return of(Plain<std::int32_t>{}), true;
    case Dtype::int16: return of(Plain<std::int16_t>{}), true;
    case Dtype::int8: return of(Plain<std::int8_t>{}), true;
    case Dtype::uint8:
    case Dtype::boolean: return of(Plain<std::uint8_t>{}), true;
    case Dtype::uint16: return of(Plain<std::uint16_t>{}), true;
    case Dtype::uint32: return of(Plain<std::uint32_t>{}), true;
    case Dtype::uint64: return of(Plain<std::uint64_t>{}), true;
    default: return false;
  }
}

}  // namespace

Result<bool> all_finite(const RunValue& value, Engine& engine) {
  for (const RunValue& item : value.items)
    if (auto one = all_finite(item, engine); !one || !*one) return one;
  if (value.kind != RunValue::Kind::tensor) return value.kind != RunValue::Kind::real || std::isfinite(value.real);
  auto flat = MemoryOrder(value.tensor).flat(value.tensor, engine);
  if (!flat) return std::move(flat.error());
  const std::int64_t n = describe(*flat).element_count();
  bool out = true;
  with_element(flat->dtype, [&]<class E>(E) {
    if constexpr (std::is_floating_point_v<typename E::Compute>) out = finite<E>(flat->data, n, engine);
  });
  return out;
}

bool Doubt::explains() const { return unexplained <= 4 * usual + some_of(elements); }
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
    return std::optional(Doubt{1, same(&got) || moves ? 0 : 1, 0});
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
  Doubt out{n, n, 0};
  with_element(expected.tensor.dtype, [&]<class E>(E) { out = doubt_of<E>(data, n, tolerance, engine); });
  return std::optional(out);
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

Result<bool> is_as_constant(const TensorRef& expected, const Typical& typical, const TensorRef& got, Engine& engine) {
  const MemoryOrder order(expected);
  auto a = order.flat(expected, engine), b = order.flat(got, engine);
  if (!a) return std::move(a.error());
  if (!b) return std::move(b.error());
  const std::int64_t n = describe(expected).element_count();
  bool out = false;
  with_element(expected.dtype, [&]<class E>(E) {
    for (const double constant : {0.0, typical.mean})
      out = out || 4 * count_as_constant<E>(a->data, b->data, n, constant, rounding(expected.dtype), engine) > n;
  });
  return out;
}

Result<bool> equal_bytes(const TensorRef& a, const TensorRef& b, Engine& engine) {
  if (a.dtype != b.dtype || !(a.sizes == b.sizes)) return false;
  const auto x = engine.contiguous_on_cpu(a), y = engine.contiguous_on_cpu(b);
  if (!x) return x.error();
  if (!y) return y.error();
  const auto *left = static_cast<const char*>(x->data), *right = static_cast<const char*>(y->data);
  const std::int64_t bytes = describe(a).element_count() * static_cast<std::int64_t>(dtype_row(a.dtype).size);
  const auto blocks = by_blocks<char>(bytes, &engine, [&](char& differs, std::int64_t begin, std::int64_t end) {
    differs = std::memcmp(left + begin, right + begin, static_cast<std::size_t>(end - begin)) != 0 ? 1 : 0;
  });
  return std::find(blocks.begin(), blocks.end(), 1) == blocks.end();
}

OutputComparison compare(Dtype dtype, const void* expected, const void* got, std::int64_t n, double atol_scale,
                         Engine* engine) {
  OutputComparison out;
  out.dtype = dtype;
  out.elements = n;
  const bool known = with_element(dtype, [&]<class E>(E) {
    const Elements<E> elements{static_cast<const E*>(got), static_cast<const E*>(expected), n, engine};
    if constexpr (std::is_floating_point_v<typename E::Compute>)
      compare_floats(elements, atol_scale, out);
    else
      compare_integers(elements, out);
  });
  if (!known) {  // by their bytes
    const std::size_t bytes = static_cast<std::size_t>(n) * dtype_row(dtype).size;
    out.tightest_t = n == 0 || std::memcmp(got, expected, bytes) == 0 ? kTightest : kNever;
    out.wrong = out.tightest_t == kNever ? n : 0;
    out.equal = out.wrong == 0;
    out.by_law.fill(out.tightest_t);
  }
  return out;
}

Result<OutputComparison> compare(const TensorRef& expected, const TensorRef& got, Engine& engine, double atol_scale) {
  const MemoryOrder order(expected);
  auto a = order.flat(got, engine), b = order.flat(expected, engine);
  if (!a) return std::move(a.error());
  if (!b) return std::move(b.error());
  const std::int64_t n = describe(expected).element_count();
  OutputComparison out = compare(expected.dtype, b->data, a->data, n, atol_scale, &engine);
  if (n > 0) out.worst = order.own_number(out.worst, expected);
  out.shape = expected.sizes.vec();
  return out;
}

std::string wrong_text(const OutputComparison& o) {
  std::string out = o.wrong == 0
                        ? "the largest difference is " + python_float(o.max_diff)
                        : fmt::format("{} of {} elements are wrong at t = -5; the worst is {}: {} where eager has {}",
                                      o.wrong, o.elements, place_text(o.worst, o.shape), python_float(o.worst_got),
                                      python_float(o.worst_expected));
  if (o.constant) return out + "; one number everywhere would be as near";
  return o.wrong == 0 ? out + fmt::format(", which is right from t = {}", o.tightest_t) : out;
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
