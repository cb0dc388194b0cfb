// How element types are spelled in emitted C++.
#pragma once

#include <string>

#include "tile/ir.h"

namespace passnet::tile_cpu {

// A scalar in a register: f16 and bf16 live as f32, rounded after every operation.
inline std::string scalar_name(tile::Elem e) {
  if (e == tile::Elem::i1) return "bool";
  return tile::is_half(e) ? "f32" : std::string(tile::elem_row(e).name);
}
// L of them.
inline std::string lanes_name(tile::Elem e) {
  if (e == tile::Elem::i1) return "vi32";
  return "v" + scalar_name(e);
}
// As stored in memory.
inline std::string stored_name(tile::Elem e) {
  if (e == tile::Elem::i1) return "u8";
  return tile::is_half(e) ? "u16" : std::string(tile::elem_row(e).name);
}
// The struct of prelude/memory.h that reads and writes it.
inline std::string access_name(tile::Elem e) {
  std::string name(tile::elem_row(e).name);
  for (char& c : name)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return name;
}
// The element of our own arrays: an i1 is a whole lane, halves are f32.
inline std::string array_elem_name(tile::Elem e) { return e == tile::Elem::i1 ? "i32" : scalar_name(e); }
inline std::string array_access_name(tile::Elem e) {
  if (e == tile::Elem::i1) return "M32";
  return tile::is_half(e) ? "F32" : access_name(e);
}
inline std::int64_t array_elem_bytes(tile::Elem e) {
  return e == tile::Elem::i1 || tile::is_half(e) ? 4 : tile::elem_bytes(e);
}

// The struct of prelude/atomic.h is Atomic_ and this.
inline std::string atomic_policy(tile::Atomic a) {
  constexpr std::string_view names[] = {"add", "min", "max", "bit_and", "bit_or", "bit_xor", "exchange"};
  return std::string(names[static_cast<std::size_t>(a)]);
}

}  // namespace passnet::tile_cpu
