// Python's integers: exact from -2**255 to 2**255 - 1, so that a product of two of 127 bits is one, too. What leaves
// that range is nothing, and whoever asked says so (kIntegerTooLarge).
#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace passnet {

inline constexpr std::string_view kIntegerTooLarge = "an integer of more than 255 bits";

class Integer {
 public:
  Integer() = default;
  template <std::integral T>
  Integer(T v)  // NOLINT(google-explicit-constructor): a number is a number
      : words_{static_cast<std::uint64_t>(v)} {
    if (v < T{}) words_[1] = words_[2] = words_[3] = ~std::uint64_t{0};
  }
  // Digits of the base, 2 to 36, and nothing else.
  static std::optional<Integer> parse(std::string_view digits, int base);
  // Toward zero; nothing of what is not finite.
  static std::optional<Integer> truncated(double v);

  bool negative() const { return words_[3] >> 63 != 0; }
  std::optional<std::int64_t> i64() const;
  bool fits_64_bits() const;  // with a sign or without
  // The nearest of 64 bits: for whoever refuses what is far out anyway.
  std::int64_t clamped() const { return i64().value_or(negative() ? INT64_MIN : INT64_MAX); }
  std::uint64_t low_bits() const { return words_[0]; }  // the last 64 of two's complement
  double real() const;                                  // the nearest, ties to even
  int bit_length() const;                               // of the magnitude
  int bit_count() const;
  std::string text(int base = 10) const;

  friend bool operator==(const Integer&, const Integer&) = default;
  friend std::strong_ordering operator<=>(const Integer& a, const Integer& b);

  std::optional<Integer> negated() const;
  std::optional<Integer> plus(const Integer& b) const;
  std::optional<Integer> minus(const Integer& b) const;
  std::optional<Integer> times(const Integer& b) const;
  std::optional<Integer> power(const Integer& exponent) const;  // not negative
  std::optional<Integer> shifted_left(const Integer& count) const;
  Integer shifted_right(const Integer& count) const;
  // Quotient rounded down and remainder with the divisor's sign, which is not zero.
  std::optional<std::pair<Integer, Integer>> divided(const Integer& b) const;
  Integer operator~() const;
  friend Integer operator&(const Integer& a, const Integer& b);
  friend Integer operator|(const Integer& a, const Integer& b);
  friend Integer operator^(const Integer& a, const Integer& b);

 private:
  static constexpr std::size_t kWords = 4;
  using Words = std::array<std::uint64_t, kWords>;  // the lowest first

  Words magnitude() const;
  static std::optional<Integer> of(const Words& magnitude, bool negative);
  static Words add(const Words& a, const Words& b, std::uint64_t carry = 0);
  static Words inverted(const Words& a);
  static Words left(const Words& a, int count);
  static Words right(const Words& a, int count);
  static int width(const Words& a);
  static std::pair<Words, Words> divide(const Words& a, const Words& b);

  Words words_{};  // two's complement
};

// As Python compares them: exactly.
std::partial_ordering compare(const Integer& a, double b);
// a / b as Python rounds it; b is not zero.
double ratio(const Integer& a, const Integer& b);

}  // namespace passnet
