// Content hashes: sha256 where the format asks for it, xxHash where only we read it. And what spreads bits of numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace passnet {

std::string sha256_hex(std::string_view bytes);
std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0);

// splitmix64: numbers that are kGolden apart give numbers that look drawn.
inline constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15U;
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27) * 0x94d049bb133111ebU;
  return x ^ x >> 31;
}

}  // namespace passnet
