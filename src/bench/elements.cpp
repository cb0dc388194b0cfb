#include "bench/elements.h"

#include <numeric>

namespace passnet {

MemoryOrder::MemoryOrder(const TensorRef& like) : dims_(like.sizes.size()) {
  std::iota(dims_.begin(), dims_.end(), std::size_t{0});
  std::stable_sort(dims_.begin(), dims_.end(),
                   [&](std::size_t a, std::size_t b) { return like.strides[a] > like.strides[b]; });
}

Result<TensorRef> MemoryOrder::flat(const TensorRef& t, Engine& engine) const {
  if (std::is_sorted(dims_.begin(), dims_.end())) return engine.contiguous_on_cpu(t);
  TensorDesc desc = describe(t);
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    desc.sizes.data()[i] = t.sizes[dims_[i]];
    desc.strides.data()[i] = t.strides[dims_[i]];
  }
  auto turned = engine.view(t, desc, 0);
  return turned ? engine.contiguous_on_cpu(*turned) : std::move(turned);
}

std::int64_t MemoryOrder::own_number(std::int64_t number, const TensorRef& t) const {
  std::vector<std::int64_t> index(dims_.size());
  for (std::size_t i = dims_.size(); i-- > 0; number /= t.sizes[dims_[i]]) index[dims_[i]] = number % t.sizes[dims_[i]];
  std::int64_t out = 0;
  for (std::size_t i = 0; i < dims_.size(); ++i) out = out * t.sizes[i] + index[i];
  return out;
}

}  // namespace passnet
