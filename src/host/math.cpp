// Numbers in a host program: math's functions, methods, and the limits of dtypes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/machine.h"
#include "host/signatures.h"

namespace passnet {

using Kind = HostValue::Kind;

std::optional<HostValue> HostMachine::number_method(const HostValue& v, std::string_view name, py::Place) {
  if (v.is_integral()) {
    if (name == "bit_length") return HostValue::of(std::int64_t{v.integer.bit_length()});
    if (name == "bit_count") return HostValue::of(std::int64_t{v.integer.bit_count()});
    if (name == "is_integer") return HostValue::boolean(true);
    if (name == "conjugate") return HostValue::of(v.integer);
    return std::nullopt;
  }
  if (name == "is_integer") return HostValue::boolean(std::isfinite(v.real) && v.real == std::trunc(v.real));
  return std::nullopt;
}

struct HostMachine::Math {
  using Call = HostCall;
  using Run = std::optional<HostValue> (*)(HostMachine& m, const Call& c);

  static double real(HostMachine& m, const Call& c, std::size_t i) { return m.real(c.args[i], c.place); }
  static void domain(HostMachine& m, const Call& c, bool inside) {
    if (!inside) m.raise("ValueError", "math domain error", c.place);
  }
  // A result that must be finite where the arguments are.
  static HostValue finite(HostMachine& m, const Call& c, double v) {
    for (const HostValue& a : c.args)
      if (!std::isfinite(a.as_real())) return HostValue::of(v);
    if (std::isnan(v)) m.raise("ValueError", "math domain error", c.place);
    if (std::isinf(v)) m.raise("OverflowError", "math range error", c.place);
    return HostValue::of(v);
  }

  // ---- of any number of numbers

  static std::optional<HostValue> prod(HostMachine& m, const Call& c) {
    HostValue total = HostValue::of(std::int64_t{1});
    for (const auto& [k, v] : c.kwargs)
      if (k == "start") total = v;
    for (const HostValue& v : m.each(c.args[0], c.place)) total = m.binary(py::Op::mul, total, v, c.place);
    return total;
  }

  // Rounded once: until then a sum of parts whose digits do not overlap, the least first (Shewchuk).
  static std::optional<HostValue> fsum(HostMachine& m, const Call& c) {
    std::vector<double> parts;
    double infinite = 0, special = 0;  // the latter of NaN, too
    for (const HostValue& v : m.each(c.args[0], c.place)) {
      double x = m.real(v, c.place);
      if (std::isinf(x)) infinite += x;
      if (!std::isfinite(x)) {
        special += x;
        continue;
      }
      std::size_t kept = 0;
      for (double y : parts) {
        if (std::fabs(x) < std::fabs(y)) std::swap(x, y);
        const double sum = x + y, lost = y - (sum - x);
        if (lost != 0) parts[kept++] = lost;
        x = sum;
      }
      if (!std::isfinite(x)) m.raise("OverflowError", "intermediate overflow in fsum", c.place);
      parts.resize(kept);
      if (x != 0) parts.push_back(x);
    }
    if (std::isnan(infinite)) m.raise("ValueError", "-inf + inf in fsum", c.place);
    if (special != 0) return HostValue::of(special);
    double total = 0, rest = 0;
    while (!parts.empty() && rest == 0) {
      const double x = total, y = parts.back();
      parts.pop_back();
      total = x + y;
      rest = y - (total - x);
    }
    if (rest != 0 && !parts.empty() && (rest < 0) == (parts.back() < 0)) {  // a tie was none
      const double next = total + 2 * rest;
      if (next - total == 2 * rest) total = next;
    }
    return HostValue::of(total);
  }

  static std::optional<HostValue> hypot(HostMachine& m, const Call& c) {
    double total = 0;
    for (const HostValue& v : c.args) total = std::hypot(total, m.real(v, c.place));
    return finite(m, c, total);
  }

  static std::optional<HostValue> gcd_lcm(HostMachine& m, const Call& c) {
    const bool gcd = c.name == "gcd";
    Integer total = gcd ? 0 : 1;
    for (const HostValue& v : c.args) {
      const Integer other = absolute(m, c, m.exact_integer(v, c.place));
      Integer divisor = total, rest = other;
      while (rest != 0) divisor = std::exchange(rest, divisor.divided(rest)->second);
      if (gcd || divisor == 0) {
        total = divisor;
        continue;
      }
      const auto multiple = total.divided(divisor)->first.times(other);
      if (!multiple) m.too_large(c.place);
      total = *multiple;
    }
    return HostValue::of(total);
  }
  static Integer absolute(HostMachine& m, const Call& c, const Integer& v) {
    const auto out = v < 0 ? v.negated() : v;
    if (!out) m.too_large(c.place);
    return *out;
  }

  // ---- whole numbers

  static std::optional<HostValue> to_whole(HostMachine& m, const Call& c) {  // ceil, floor, trunc
    if (c.args[0].is_integral()) return HostValue::of(c.args[0].integer);
    const double x = real(m, c, 0), to = c.name == "ceil" ? std::ceil(x) : c.name == "floor" ? std::floor(x) : x;
    return m.call_int({HostValue::of(to)}, c.place);
  }

  static std::optional<HostValue> comb_perm(HostMachine& m, const Call& c) {
    const std::int64_t n = m.integer(c.args[0], c.place), k = c.args.size() > 1 ? m.integer(c.args[1], c.place) : n;
    if (n < 0 || k < 0) m.raise("ValueError", fmt::format("{}() of a negative number", c.name), c.place);
    HostValue total = HostValue::of(std::int64_t{k <= n ? 1 : 0});
    for (std::int64_t i = 0; i < k && k <= n; ++i) {
      m.step(c.place);
      total = m.binary(py::Op::mul, total, HostValue::of(n - i), c.place);
      if (c.name == "comb") total = m.binary(py::Op::floor_div, total, HostValue::of(i + 1), c.place);
    }
    return total;
  }

  static std::int64_t natural(HostMachine& m, const Call& c) {
    const std::int64_t n = m.integer(c.args[0], c.place);
    if (n < 0) m.raise("ValueError", fmt::format("{}() of a negative number", c.name), c.place);
    return n;
  }
  static std::optional<HostValue> factorial(HostMachine& m, const Call& c) {
    const std::int64_t n = natural(m, c);
    HostValue total = HostValue::of(std::int64_t{1});
    for (std::int64_t i = 2; i <= n; ++i) total = m.binary(py::Op::mul, total, HostValue::of(i), c.place);
    return total;
  }
  static std::optional<HostValue> isqrt(HostMachine& m, const Call& c) {
    const Integer& n = m.exact_integer(c.args[0], c.place);
    if (n < 0) m.raise("ValueError", "isqrt() of a negative number", c.place);
    if (n == 0) return HostValue::of(n);
    // Newton's from above
    Integer r = *Integer(1).shifted_left((n.bit_length() + 1) / 2);
    while (true) {
      const Integer next = r.plus(n.divided(r)->first)->shifted_right(1);
      if (next >= r) return HostValue::of(r);
      r = next;
    }
  }

  // ---- of one number

  template <double (*function)(double)>
  static std::optional<HostValue> of_one(HostMachine& m, const Call& c) {
    return finite(m, c, function(real(m, c, 0)));
  }

  static std::optional<HostValue> log2_log10(HostMachine& m, const Call& c) {
    const double x = real(m, c, 0);
    domain(m, c, std::isnan(x) || x > 0);
    return HostValue::of(c.name == "log2" ? std::log2(x) : std::log10(x));
  }

  static std::optional<HostValue> log(HostMachine& m, const Call& c) {
    const double x = real(m, c, 0);
    domain(m, c, std::isnan(x) || x > 0);
    if (c.args.size() == 1) return HostValue::of(std::log(x));
    const double base = real(m, c, 1);
    domain(m, c, base > 0);
    return m.binary(py::Op::div, HostValue::of(std::log(x)), HostValue::of(std::log(base)), c.place);
  }

  static std::optional<HostValue> degrees(HostMachine& m, const Call& c) {
    return HostValue::of(real(m, c, 0) * (180.0 / 3.141592653589793));
  }
  static std::optional<HostValue> radians(HostMachine& m, const Call& c) {
    return HostValue::of(real(m, c, 0) * (3.141592653589793 / 180.0));
  }

  static std::optional<HostValue> is_what(HostMachine& m, const Call& c) {  // isfinite, isinf, isnan
    const double x = real(m, c, 0);
    return HostValue::boolean(c.name == "isinf" ? std::isinf(x) : c.name == "isnan" ? std::isnan(x) : std::isfinite(x));
  }

  // ---- of two; nothing where there is one

  static std::optional<std::pair<double, double>> two(HostMachine& m, const Call& c) {
    const double x = real(m, c, 0);
    if (c.args.size() < 2) return std::nullopt;
    return std::pair(x, real(m, c, 1));
  }

  template <double (*function)(double, double), bool must_be_finite>
  static std::optional<HostValue> of_two(HostMachine& m, const Call& c) {
    const auto xy = two(m, c);
    if (!xy) return std::nullopt;
    const double v = function(xy->first, xy->second);
    return must_be_finite ? finite(m, c, v) : HostValue::of(v);
  }

  static std::optional<HostValue> isclose(HostMachine& m, const Call& c) {
    const auto xy = two(m, c);
    if (!xy) return std::nullopt;
    const auto [x, y] = *xy;
    double relative = 1e-9, absolute = 0;
    for (const auto& [k, v] : c.kwargs) (k == "rel_tol" ? relative : absolute) = m.real(v, c.place);
    return HostValue::boolean(x == y ||
                              std::fabs(x - y) <= std::max(relative * std::max(std::fabs(x), std::fabs(y)), absolute));
  }

  static Run find(std::string_view name);
};

HostMachine::Math::Run HostMachine::Math::find(std::string_view name) {
  static const std::unordered_map<std::string_view, Run> kAll = {
      {"acos", of_one<std::acos>},
      {"asin", of_one<std::asin>},
      {"atan", of_one<std::atan>},
      {"atan2", of_two<std::atan2, false>},
      {"cbrt", of_one<std::cbrt>},
      {"ceil", to_whole},
      {"comb", comb_perm},
      {"copysign", of_two<std::copysign, false>},
      {"cos", of_one<std::cos>},
      {"cosh", of_one<std::cosh>},
      {"degrees", degrees},
      {"erf", of_one<std::erf>},
      {"erfc", of_one<std::erfc>},
      {"exp", of_one<std::exp>},
      {"exp2", of_one<std::exp2>},
      {"expm1", of_one<std::expm1>},
      {"fabs", of_one<std::fabs>},
      {"factorial", factorial},
      {"floor", to_whole},
      {"fmod", of_two<std::fmod, true>},
      {"fsum", fsum},
      {"gcd", gcd_lcm},
      {"hypot", hypot},
      {"isclose", isclose},
      {"isfinite", is_what},
      {"isinf", is_what},
      {"isnan", is_what},
      {"isqrt", isqrt},
      {"lcm", gcd_lcm},
      {"log", log},
      {"log10", log2_log10},
      {"log1p", of_one<std::log1p>},
      {"log2", log2_log10},
      {"perm", comb_perm},
      {"pow", of_two<std::pow, true>},
      {"prod", prod},
      {"radians", radians},
      {"sin", of_one<std::sin>},
      {"sinh", of_one<std::sinh>},
      {"sqrt", of_one<std::sqrt>},
      {"tan", of_one<std::tan>},
      {"tanh", of_one<std::tanh>},
      {"trunc", to_whole},
  };
  return find_row(kAll, name);
}

std::optional<HostValue> HostMachine::call_math(std::string_view name, HostArgs& args, HostKwargs& kwargs,
                                                py::Place place) {
  if (!has_signature(fmt::format("math.{}", name))) return std::nullopt;
  const Math::Run found = Math::find(name);
  return found == nullptr ? std::nullopt : found(*this, {name, args, kwargs, place});
}

}  // namespace passnet
