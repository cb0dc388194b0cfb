// Which spellings name one Python function: torch.conv2d is torch.nn.functional.conv2d, torch.functional.split is
// torch.split.
#pragma once

#include <algorithm>
#include <string_view>

namespace passnet {

struct SameFunction {
  std::string_view spelling;
  std::string_view shared;
};
inline constexpr SameFunction kSameFunctions[] = {
#include "ops/same_function.inc"
};

// A name that all spellings of one function object share: equal names, equal objects. torch.f is called f. The view
// points into the table or into `spelling`.
constexpr std::string_view same_function(std::string_view spelling) {
  const auto* found =
      std::lower_bound(std::begin(kSameFunctions), std::end(kSameFunctions), spelling,
                       [](const SameFunction& row, std::string_view key) { return row.spelling < key; });
  if (found != std::end(kSameFunctions) && found->spelling == spelling) return found->shared;
  constexpr std::string_view kPrefixes[] = {"torch._C._VariableFunctions.", "torch._VF.", "torch."};
  for (const std::string_view prefix : kPrefixes) {
    if (!spelling.starts_with(prefix)) continue;
    const std::string_view rest = spelling.substr(prefix.size());
    return rest.find('.') == std::string_view::npos ? rest : spelling;
  }
  return spelling;
}

}  // namespace passnet
