// How element types are spelled in emitted C++: as tile/c_text.h has it, and for lanes and our own arrays.
#pragma once

#include "tile/c_text.h"

namespace passnet::tile_cpu {

using tile::access_name;
using tile::atomic_policy;
using tile::constant_text;
using tile::scalar_name;
using tile::stored_name;

// L of them.
inline std::string lanes_name(tile::Elem e) {
  if (e == tile::Elem::i1) return "vi32";
  return "v" + scalar_name(e);
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

}  // namespace passnet::tile_cpu
