// The numbers of a graph's inputs, from what is recorded of them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "exec/engine.h"
#include "fx/meta.h"

namespace passnet {

// The numbers of one tensor: 64 bits decide them, so that nobody finds a seed whose numbers he knows.
struct Stream {
  std::uint32_t one, other;
};
Stream stream_of(std::uint64_t seed, std::uint64_t tensor);

// The format's definition of an input (docs/graphs.md): drawn in float32, rounded to the dtype, then scaled in the
// dtype. `Normals::torch` takes the numbers of torch's own generator, to the bit; the others those of `stream`.
at::Tensor draw(const TensorMeta& meta, Normals normals, const Stream& stream);

}  // namespace passnet
