// Lanes of the CPU prelude beside its scalars: comparing, choosing, shifting, dividing and converting, each lane of
// drawn and awkward numbers. tile_lanes.py compiles this for every width of vectors that the machine has.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>

// In the order of a kernel's text:
#include "tile_cpu/prelude/lanes.h"

#include "tile_cpu/prelude/core.h"

#include "tile_cpu/prelude/half.h"

namespace {

std::mt19937_64 random_bits(1);
int passed = 0, failed = 0;
constexpr int kDraws = 2000;

template <class V>
using Of = std::remove_cvref_t<decltype(std::declval<V>()[0])>;

template <class T>
T drawn() {
  const u64 r = random_bits(), kind = r >> 61;
  if constexpr (std::is_floating_point_v<T>) {
    constexpr f64 kAwkward[] = {0,
                                -0.0,
                                0.5,
                                1,
                                127,
                                128,
                                255,
                                256,
                                32767,
                                32768,
                                65535,
                                65536,
                                0x1p31 - 1,
                                0x1p31,
                                0x1p32 - 1,
                                0x1p32,
                                0x1p63 - 1024,
                                0x1p63,
                                0x1p64 - 2048,
                                0x1p64,
                                1e30,
                                std::numeric_limits<f64>::infinity(),
                                std::numeric_limits<f64>::quiet_NaN()};
    const f64 sign = (r & 1) != 0 ? -1 : 1;
    if (kind < 4) return static_cast<T>(sign * kAwkward[(r >> 8) % std::size(kAwkward)]);
    return static_cast<T>(static_cast<f64>(static_cast<i64>(r)) * (kind < 6 ? 0x1p-56 : 1));
  } else {
    if (kind < 2) return static_cast<T>((r >> 8) % 70);
    if (kind == 2) return static_cast<T>(0 - (r >> 8) % 5);
    if (kind == 3) return static_cast<T>(u64{1} << (r >> 8) % 64);
    return static_cast<T>(r >> (r >> 8) % 60);
  }
}

template <class V>
V drawn_lanes() {
  V out{};
  for (int l = 0; l < L; ++l) out[l] = drawn<Of<V>>();
  return out;
}

template <class T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

// f of the lanes of V against f of each: a mask, all or no bits, where that is a bool.
template <class... V, class F>
void check(const char* type, const char* name, F f) {
  for (int i = 0; i < kDraws; ++i) {
    const auto ok = [&](auto... x) {
      const auto got = f(x...);
      for (int l = 0; l < L; ++l) {
        const auto expected = f(static_cast<Of<decltype(x)>>(x[l])...);
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(expected)>, bool>) {
          if (got[l] != (expected ? -1 : 0)) return false;
        } else {
          if (!same<std::remove_cvref_t<decltype(expected)>>(got[l], expected)) return false;
        }
      }
      return true;
    };
    if (!ok(drawn_lanes<V>()...)) {
      std::printf("%s of %s, %d lanes: WRONG\n", name, type, L);
      ++failed;
      return;
    }
  }
  ++passed;
}

template <class T>
constexpr bool is_lanes = !std::is_arithmetic_v<T>;

// The same text for lanes and for one.
#define COMPARED(NAME, OP)                      \
  check<V, V>(type, #NAME, [](auto a, auto b) { \
    if constexpr (is_lanes<decltype(a)>)        \
      return NAME(a, b);                        \
    else                                        \
      return a OP b;                            \
  });
#define BOTH(F) check<V, V>(type, #F, [](auto a, auto b) { return static_cast<decltype(a)>(F(a, b)); });
// Of -0 and 0 either may come out: both made 0.
#define EXTREME(F) \
  check<V, V>(type, #F, [](auto a, auto b) { return static_cast<decltype(a)>(F(a, b) + decltype(a){}); });
#define INTO(T)                                                                    \
  if constexpr (!std::is_same_v<V, v##T>)                                          \
    check<V>(type, "to " #T, [](auto a) {                                          \
      if constexpr (!is_lanes<decltype(a)>)                                        \
        return to_or_cast<T>(a);                                                   \
      else if constexpr (std::is_floating_point_v<Of<V>> && std::is_integral_v<T>) \
        return to_v##T(a);                                                         \
      else                                                                         \
        return TO(v##T, a);                                                        \
    });

template <class T, class X>
T to_or_cast(X x) {
  if constexpr (std::is_floating_point_v<X> && std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;  // saturating
    if (x != x) return 0;
    if (x <= static_cast<X>(Limits::min())) return Limits::min();
    if (x >= static_cast<X>(Limits::max())) return Limits::max();
  }
  return static_cast<T>(x);
}

template <class V>
void check_all(const char* type) {
  COMPARED(lt_, <)
  COMPARED(le_, <=)
  COMPARED(gt_, >)
  COMPARED(ge_, >=)
  COMPARED(eq_, ==)
  COMPARED(ne_, !=)
  check<V, V, vi32>(type, "pick", [](auto a, auto b, auto m) {
    if constexpr (is_lanes<decltype(a)>)
      return pick(m < 60, a, b);
    else
      return m < 60 ? a : b;
  });
  EXTREME(min_)
  EXTREME(max_)
  check<V>(type, "abs_", [](auto a) { return abs_(a); });
  if constexpr (std::is_floating_point_v<Of<V>>) {
    EXTREME(min_nan)
    EXTREME(max_nan)
  } else {
    BOTH(shl_)
    BOTH(shr_)
    BOTH(div_)
    BOTH(rem_)
  }
  INTEGERS(INTO)
  INTO(f32)
  INTO(f64)
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) random_bits.seed(std::strtoull(argv[1], nullptr, 10));
#define CHECK_ALL(T) check_all<v##T>(#T);
  INTEGERS(CHECK_ALL)
  CHECK_ALL(f32)
  CHECK_ALL(f64)
  check<vf64>("f64", "odd_", [](auto a) { return odd_(a); });
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed != 0 ? 1 : 0;
}
