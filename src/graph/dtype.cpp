#include "graph/dtype.h"

#include <limits>

namespace passnet {

std::optional<DtypeLimit> dtype_limit(Dtype dtype, std::string_view name) {
  // A complex type has those of its two parts, bool none.
  if (dtype == Dtype::complex64) dtype = Dtype::float32;
  if (dtype == Dtype::complex128) dtype = Dtype::float64;
  if (dtype == Dtype::boolean) return std::nullopt;
  const DtypeRow& row = dtype_row(dtype);
  const auto integer = [](const Integer& x) { return DtypeLimit{true, x, 0}; };
  const auto real = [](double x) { return DtypeLimit{false, 0, x}; };
  if (name == "bits") return integer(std::int64_t{row.size} * 8);
  if (row.floating) {
    struct Row {
      Dtype dtype;
      double max, eps, tiny, resolution;
    };
    constexpr Row kFloats[] = {{Dtype::float16, 65504.0, 0x1p-10, 0x1p-14, 1e-3},
                               {Dtype::bfloat16, 0x1.fep+127, 0x1p-7, 0x1p-126, 1e-2},
                               {Dtype::float32, std::numeric_limits<float>::max(), 0x1p-23, 0x1p-126, 1e-6},
                               {Dtype::float64, std::numeric_limits<double>::max(), 0x1p-52, 0x1p-1022, 1e-15},
                               {Dtype::float8_e4m3fn, 448.0, 0x1p-3, 0x1p-6, 1.0},
                               {Dtype::float8_e5m2, 57344.0, 0x1p-2, 0x1p-14, 1.0}};
    for (const Row& r : kFloats) {
      if (r.dtype != dtype) continue;
      if (name == "max" || name == "min") return real(name == "max" ? r.max : -r.max);
      if (name == "eps") return real(r.eps);
      if (name == "tiny" || name == "smallest_normal") return real(r.tiny);
      if (name == "resolution") return real(r.resolution);
    }
    return std::nullopt;
  }
  if (name != "min" && name != "max") return std::nullopt;
  const int bits = row.size * 8;
  const bool is_unsigned =
      dtype == Dtype::uint8 || dtype == Dtype::uint16 || dtype == Dtype::uint32 || dtype == Dtype::uint64;
  if (is_unsigned && name == "min") return integer(0);
  if (is_unsigned)
    return integer(bits < 64 ? (std::uint64_t{1} << bits) - 1 : std::numeric_limits<std::uint64_t>::max());
  const std::int64_t most = bits >= 64 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << (bits - 1)) - 1;
  return integer(name == "max" ? most : -most - 1);
}

}  // namespace passnet
