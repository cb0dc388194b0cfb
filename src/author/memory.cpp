#include "author/memory.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace passnet::author {

namespace {

using Sizes = std::vector<std::int64_t>;

std::vector<int> row_major(std::size_t rank) {
  std::vector<int> out(rank);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// Strides for the result's dimensions: 0 where the operand repeats.
Sizes broadcast_strides(const Layout& operand, const Sizes& sizes) {
  Sizes out(sizes.size(), 0);
  const std::size_t lead = sizes.size() - operand.sizes.size();
  for (std::size_t d = 0; d < operand.sizes.size(); ++d)
    if (operand.sizes[d] == sizes[lead + d]) out[lead + d] = operand.strides[d];
  return out;
}

// at::TensorIteratorBase::reorder_dimensions. Operands are asked in turn; one that repeats along a dimension has no
// opinion on it, so comparisons may be undecided, and the sort is torch's own.
std::vector<int> iterator_order(const Sizes& sizes, std::span<const Layout> operands) {
  std::vector<Sizes> strides;
  for (const Layout& operand : operands)
    if (operand.sizes.size() <= sizes.size()) strides.push_back(broadcast_strides(operand, sizes));
  const auto further_out = [&](int a, int b) {  // 1: a lies further out than b, -1: further in, 0: undecided
    const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
    for (const Sizes& s : strides) {
      if (s[i] == 0 || s[j] == 0) continue;
      if (s[i] != s[j]) return s[i] > s[j] ? 1 : -1;
      if (sizes[i] > sizes[j]) return 1;
    }
    return 0;
  };
  std::vector<int> inner_first = row_major(sizes.size());
  std::reverse(inner_first.begin(), inner_first.end());
  for (std::size_t i = 1; i < inner_first.size(); ++i)
    for (std::size_t at = i, before = i; before-- > 0;) {
      const int order = further_out(inner_first[before], inner_first[at]);
      if (order < 0) break;
      if (order == 0) continue;
      std::swap(inner_first[before], inner_first[at]);
      at = before;
    }
  return {inner_first.rbegin(), inner_first.rend()};
}

// at::is_channels_last_strides_2d and _3d, which are stated for 4 and 5 dimensions alone.
bool is_channels_last(const Layout& layout) {
  const std::size_t rank = layout.sizes.size();
  if (rank != 4 && rank != 5) return false;
  std::vector<std::size_t> inner_first{1};
  for (std::size_t d = rank; d-- > 2;) inner_first.push_back(d);
  inner_first.push_back(0);
  if (layout.strides[1] == 0) return false;
  std::int64_t least = 0;
  for (const std::size_t d : inner_first) {
    if (layout.sizes[d] == 0 || layout.strides[d] < least) return false;
    if (d == 0 && least == layout.strides[1]) return false;  // as good as row-major
    least = layout.strides[d];
    if (layout.sizes[d] > 1) least *= layout.sizes[d];
  }
  return true;
}

}  // namespace

std::vector<int> memory_order(Memory law, const Sizes& sizes, std::span<const Layout> operands) {
  std::vector<int> out = row_major(sizes.size());
  const auto same_shape = [&](const Layout& l) { return l.sizes == operands[0].sizes; };
  switch (law) {
    case Memory::contiguous: return out;
    case Memory::iterator:  // operands of one shape, all row-major, are not sorted
      if (std::all_of(operands.begin(), operands.end(), [&](const Layout& l) { return same_shape(l) && is_dense(l); }))
        return out;
      return iterator_order(sizes, operands);
    case Memory::preserve: return iterator_order(sizes, operands.first(std::min<std::size_t>(operands.size(), 1)));
    case Memory::channels_last:
      if (!operands.empty() && operands[0].sizes.size() == sizes.size() &&
          std::all_of(operands.begin(), operands.end(), is_channels_last))
        std::rotate(out.begin() + 1, out.begin() + 2, out.end());
      return out;
  }
  return out;
}

Sizes dense_strides(const Sizes& sizes) {
  Sizes out(sizes.size(), 1);
  for (std::size_t d = sizes.size(); d-- > 1;) out[d - 1] = out[d] * std::max<std::int64_t>(sizes[d], 1);
  return out;
}

bool is_dense(const Layout& layout) {
  std::int64_t expected = 1;
  for (std::size_t d = layout.sizes.size(); d-- > 0;) {
    if (layout.sizes[d] == 1) continue;
    if (layout.strides[d] != expected) return false;
    expected *= layout.sizes[d];
  }
  return true;
}

}  // namespace passnet::author
