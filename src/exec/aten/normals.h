// torch's normal numbers, to the bit and by all threads.
#pragma once

#include <ATen/core/Tensor.h>

#include "exec/aten/fill.h"

namespace passnet {

// at::randn of float32, then `finish` on each number.
at::Tensor torch_normals(at::IntArrayRef shape, const Finish* finish = nullptr);

// Whether the loops of fill.h make them: torch takes other steps on some processors, and then it does it itself.
bool own_loops_are_torchs();

}  // namespace passnet
