#include "base/integer.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace passnet {

namespace {

__extension__ typedef unsigned __int128 Double;  // of words

}  // namespace

// ---- magnitudes

Integer::Words Integer::add(const Words& a, const Words& b, std::uint64_t carry) {
  Words out;
  for (std::size_t i = 0; i < kWords; ++i) {
    const Double sum = Double{a[i]} + b[i] + carry;
    out[i] = static_cast<std::uint64_t>(sum);
    carry = static_cast<std::uint64_t>(sum >> 64);
  }
  return out;
}

Integer::Words Integer::inverted(const Words& a) { return {~a[0], ~a[1], ~a[2], ~a[3]}; }

Integer::Words Integer::left(const Words& a, int count) {
  Words out{};
  const auto words = static_cast<std::size_t>(count / 64);
  const int bits = count % 64;
  for (std::size_t i = words; i < kWords; ++i) {
    out[i] = a[i - words] << bits;
    if (bits > 0 && i > words) out[i] |= a[i - words - 1] >> (64 - bits);
  }
  return out;
}

Integer::Words Integer::right(const Words& a, int count) {
  Words out{};
  const auto words = static_cast<std::size_t>(count / 64);
  const int bits = count % 64;
  for (std::size_t i = 0; i + words < kWords; ++i) {
    out[i] = a[i + words] >> bits;
    if (bits > 0 && i + words + 1 < kWords) out[i] |= a[i + words + 1] << (64 - bits);
  }
  return out;
}

int Integer::width(const Words& a) {
  for (std::size_t i = kWords; i-- > 0;)
    if (a[i] != 0) return static_cast<int>(i) * 64 + std::bit_width(a[i]);
  return 0;
}

// By a word in one pass from the top, by more bit by bit.
std::pair<Integer::Words, Integer::Words> Integer::divide(const Words& a, const Words& b) {
  Words quotient{}, rest{};
  if (width(b) <= 64) {
    for (std::size_t i = kWords; i-- > 0;) {
      const Double part = Double{rest[0]} << 64 | a[i];
      quotient[i] = static_cast<std::uint64_t>(part / b[0]);
      rest[0] = static_cast<std::uint64_t>(part % b[0]);
    }
    return {quotient, rest};
  }
  for (int bit = width(a); bit-- > 0;) {
    rest = left(rest, 1);
    rest[0] |= right(a, bit)[0] & 1;
    if (std::lexicographical_compare(rest.rbegin(), rest.rend(), b.rbegin(), b.rend())) continue;
    rest = add(rest, inverted(b), 1);
    quotient[static_cast<std::size_t>(bit / 64)] |= std::uint64_t{1} << bit % 64;
  }
  return {quotient, rest};
}

Integer::Words Integer::magnitude() const { return negative() ? add(inverted(words_), {}, 1) : words_; }

std::optional<Integer> Integer::of(const Words& magnitude, bool negative) {
  Integer out;
  out.words_ = negative ? add(inverted(magnitude), {}, 1) : magnitude;
  if (out.negative() != negative && width(magnitude) > 0) return std::nullopt;
  return out;
}

// ---- from and to other types

std::optional<Integer> Integer::parse(std::string_view digits, int base) {
  std::optional<Integer> out = Integer();
  for (const char c : digits) {
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    out = out->times(base);
    if (out) out = out->plus(digit);
    if (!out) return std::nullopt;
  }
  return out;
}

std::optional<Integer> Integer::truncated(double v) {
  if (!std::isfinite(v)) return std::nullopt;
  constexpr int kDigits = 53;
  int exponent = 0;
  const double fraction = std::frexp(v, &exponent);
  if (exponent <= 0) return Integer();
  if (exponent < kDigits) return Integer(static_cast<std::int64_t>(v));
  return Integer(static_cast<std::int64_t>(std::ldexp(fraction, kDigits))).shifted_left(exponent - kDigits);
}

std::optional<std::int64_t> Integer::i64() const {
  const auto low = static_cast<std::int64_t>(words_[0]);
  return *this == Integer(low) ? std::optional(low) : std::nullopt;
}

bool Integer::fits_64_bits() const { return i64() || (!negative() && bit_length() <= 64); }

double Integer::real() const {
  const Words m = magnitude();
  const int shift = std::max(width(m) - 64, 0);
  std::uint64_t top = right(m, shift)[0];
  if (left(right(m, shift), shift) != m) top |= 1;  // far below what rounding looks at, but no tie
  return std::ldexp(negative() ? -static_cast<double>(top) : static_cast<double>(top), shift);
}

int Integer::bit_length() const { return width(magnitude()); }

int Integer::bit_count() const {
  int out = 0;
  for (const std::uint64_t word : magnitude()) out += std::popcount(word);
  return out;
}

std::string Integer::text(int base) const {
  std::string out;
  Words left = magnitude();
  do {
    const auto [quotient, digit] = divide(left, {static_cast<std::uint64_t>(base)});
    out += "0123456789abcdefghijklmnopqrstuvwxyz"[digit[0]];
    left = quotient;
  } while (width(left) > 0);
  if (negative()) out += '-';
  std::reverse(out.begin(), out.end());
  return out;
}

// ---- arithmetic

std::strong_ordering operator<=>(const Integer& a, const Integer& b) {
  if (a.negative() != b.negative()) return a.negative() ? std::strong_ordering::less : std::strong_ordering::greater;
  return std::lexicographical_compare_three_way(a.words_.rbegin(), a.words_.rend(), b.words_.rbegin(), b.words_.rend());
}

std::optional<Integer> Integer::negated() const { return of(magnitude(), !negative()); }

std::optional<Integer> Integer::plus(const Integer& b) const {
  Integer out;
  out.words_ = add(words_, b.words_);
  if (negative() == b.negative() && out.negative() != negative()) return std::nullopt;
  return out;
}

std::optional<Integer> Integer::minus(const Integer& b) const {
  Integer out;
  out.words_ = add(words_, inverted(b.words_), 1);
  if (negative() != b.negative() && out.negative() != negative()) return std::nullopt;
  return out;
}

std::optional<Integer> Integer::times(const Integer& b) const {
  const Words x = magnitude(), y = b.magnitude();
  if (width(x) + width(y) > 257) return std::nullopt;
  Words out{};
  for (std::size_t i = 0; i < kWords; ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < kWords; ++j) {
      const bool inside = i + j < kWords;
      const Double part = Double{x[i]} * y[j] + (inside ? out[i + j] : 0) + carry;
      if (inside)
        out[i + j] = static_cast<std::uint64_t>(part);
      else if (part != 0)
        return std::nullopt;
      carry = static_cast<std::uint64_t>(part >> 64);
    }
    if (carry != 0) return std::nullopt;
  }
  return of(out, negative() != b.negative());
}

std::optional<Integer> Integer::power(const Integer& exponent) const {
  const bool odd = (exponent.words_[0] & 1) != 0;
  if (exponent == 0) return Integer(1);
  if (*this == 0 || *this == 1) return *this;
  if (*this == -1) return odd ? *this : Integer(1);
  std::optional<Integer> out = *this;
  for (std::int64_t left = exponent.clamped(); left > 1 && out; --left) out = out->times(*this);
  return out;
}

std::optional<Integer> Integer::shifted_left(const Integer& count) const {
  if (*this == 0) return *this;
  const Words m = magnitude();
  if (count > 256 - width(m)) return std::nullopt;
  return of(left(m, static_cast<int>(count.clamped())), negative());
}

Integer Integer::shifted_right(const Integer& count) const {
  if (count > 255) return negative() ? -1 : 0;
  const auto by = static_cast<int>(count.clamped());
  Integer out;
  out.words_ = negative() ? inverted(right(inverted(words_), by)) : right(words_, by);
  return out;
}

std::optional<std::pair<Integer, Integer>> Integer::divided(const Integer& b) const {
  const auto [q, r] = divide(magnitude(), b.magnitude());
  std::optional<Integer> quotient = of(q, negative() != b.negative()), rest = of(r, negative());
  if (!quotient) return std::nullopt;
  if (*rest != 0 && negative() != b.negative()) {
    quotient = quotient->minus(1);
    rest = rest->plus(b);
  }
  return std::pair(*quotient, *rest);
}

Integer Integer::operator~() const {
  Integer out;
  out.words_ = inverted(words_);
  return out;
}
Integer operator&(const Integer& a, const Integer& b) {
  Integer out;
  for (std::size_t i = 0; i < Integer::kWords; ++i) out.words_[i] = a.words_[i] & b.words_[i];
  return out;
}
Integer operator|(const Integer& a, const Integer& b) { return ~(~a & ~b); }
Integer operator^(const Integer& a, const Integer& b) { return (a | b) & ~(a & b); }

std::partial_ordering compare(const Integer& a, double b) {
  if (std::isnan(b)) return std::partial_ordering::unordered;
  const std::optional<Integer> whole = Integer::truncated(b);
  if (!whole) return 0.0 <=> b;
  if (a != *whole) return a <=> *whole;
  return 0.0 <=> b - std::trunc(b);
}

// Of what a float holds exactly, the processor's quotient is the rounded one. Otherwise the quotient is taken with bits
// enough to see on which side of a tie it lies; what is dropped of a large divisor is too small to matter.
double ratio(const Integer& a, const Integer& b) {
  constexpr int kExact = 53, kSeen = 66, kMost = 255;
  if (a.bit_length() <= kExact && b.bit_length() <= kExact) return a.real() / b.real();
  const int dropped = std::max(b.bit_length() - (kMost - kSeen), 0);
  const int shift = std::max(kSeen + b.bit_length() - dropped - a.bit_length(), 0);
  const auto parts = a.shifted_left(shift)->divided(b.shifted_right(dropped));
  if (!parts) return a.real() / b.real();
  const auto& [quotient, rest] = *parts;
  const Integer seen = rest == 0 ? quotient : quotient | 1;  // rounded down: the lost part is above
  return std::ldexp(seen.real(), -shift - dropped);
}

}  // namespace passnet
