// ATen's operators as the installed torch declares them (generated at build time by python/aten_table.py).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ops/schema.h"

namespace passnet {

enum AtenFlags : std::uint8_t {  // where Python binds the overload
  kFunction = 1,                 // torch.f
  kMethod = 2,                   // x.f
  kNn = 4,                       // torch._C._nn.f
  kLinalg = 8,                   // torch.linalg.f, ATen's linalg_f
  kFft = 16,                     // torch.fft.f, ATen's fft_f
  kSpecial = 32,                 // torch.special.f, ATen's special_f
  kOther = 64,                   // a module with no spelling here
  kRandom = 128,                 // draws from the generator
};

struct AtenRow {
  std::string_view name;
  std::string_view overload;
  std::uint8_t flags;
  std::string_view schema;
};

std::span<const AtenRow> aten_rows();
// The overloads of one name, in the order in which Python tries them; empty where there is none.
std::span<const AtenRow> aten_find(std::string_view name);
// Parsed once, kept for good.
const Schema& aten_schema(const AtenRow& row);

}  // namespace passnet
