// Element types, by torch's names. torch's own headers stay in exec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/integer.h"

namespace passnet {

enum class Dtype : std::uint8_t {
  float32,
  float64,
  float16,
  bfloat16,
  int64,
  int32,
  int16,
  int8,
  uint8,
  boolean,
  complex64,
  complex128,
  uint16,
  uint32,
  uint64,
  float8_e4m3fn,
  float8_e5m2,
};

struct DtypeRow {
  Dtype dtype;
  std::string_view name;   // without "torch."
  std::string_view alias;  // torch.float, torch.half, ...; may be empty
  std::uint8_t size;       // bytes of an element
  bool floating;
};

inline constexpr DtypeRow kDtypes[] = {
    {Dtype::float32, "float32", "float", 4, true},
    {Dtype::float64, "float64", "double", 8, true},
    {Dtype::float16, "float16", "half", 2, true},
    {Dtype::bfloat16, "bfloat16", "", 2, true},
    {Dtype::int64, "int64", "long", 8, false},
    {Dtype::int32, "int32", "int", 4, false},
    {Dtype::int16, "int16", "short", 2, false},
    {Dtype::int8, "int8", "", 1, false},
    {Dtype::uint8, "uint8", "", 1, false},
    {Dtype::boolean, "bool", "", 1, false},
    {Dtype::complex64, "complex64", "cfloat", 8, false},
    {Dtype::complex128, "complex128", "cdouble", 16, false},
    {Dtype::uint16, "uint16", "", 2, false},
    {Dtype::uint32, "uint32", "", 4, false},
    {Dtype::uint64, "uint64", "", 8, false},
    {Dtype::float8_e4m3fn, "float8_e4m3fn", "", 1, true},
    {Dtype::float8_e5m2, "float8_e5m2", "", 1, true},
};

constexpr const DtypeRow& dtype_row(Dtype dtype) { return kDtypes[static_cast<std::size_t>(dtype)]; }

// By name or alias, with or without "torch.".
constexpr std::optional<Dtype> dtype_from_name(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  for (const DtypeRow& row : kDtypes)
    if (name == row.name || (!row.alias.empty() && name == row.alias)) return row.dtype;
  return std::nullopt;
}

// What torch.finfo and torch.iinfo say of a dtype, by attribute: min, max, eps, tiny, bits.
struct DtypeLimit {
  bool integral = false;
  Integer integer;
  double real = 0;
};
std::optional<DtypeLimit> dtype_limit(Dtype dtype, std::string_view name);

}  // namespace passnet
