// Content hashes: sha256 where the format asks for it, xxHash where only we read it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace passnet {

std::string sha256_hex(std::string_view bytes);
std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace passnet
