#include "bench/correctness.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/text.h"
#include "bench/elements.h"

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
  const bool is_real = got.kind == RunValue::Kind::real || expected.kind == RunValue::Kind::real;
  const bool equal = got.kind == RunValue::Kind::text ? got.text == expected.text
                     : is_real                        ? a == b
                                                      : got.integer == expected.integer;
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

// The worse of both, output by output.
void merge(Comparison& into, const Comparison& from) {
  // an input may be changed by one draw and not by another: recorded zeros, say
  for (std::size_t i = into.outputs.size(); i < from.outputs.size(); ++i) into.outputs.push_back(from.outputs[i]);
  for (std::size_t i = 0; i < std::min(into.outputs.size(), from.outputs.size()); ++i) {
    OutputComparison& a = into.outputs[i];
    const OutputComparison& b = from.outputs[i];
    for (std::size_t law = 0; law < kLaws; ++law) a.by_law[law] = std::max(a.by_law[law], b.by_law[law]);
    a.equal = a.equal && b.equal;
    if (b.tightest_t <= a.tightest_t) continue;
    const auto by_law = a.by_law;
    a = b;
    a.by_law = by_law;
  }
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
  if (o.constant) return out + "; one number everywhere would be as near, which is right at no t";
  if (o.sloppy) out += "; that is not rounding: eager's are many times as near to the answer in float64";
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
