// Memory for tensors that are kept: a page fault for 2 MiB instead of 512, where the system has such pages.
#pragma once

#include <ATen/core/Tensor.h>

namespace passnet {

// On the CPU; small ones as at::empty_strided gives them.
at::Tensor empty_on_large_pages(at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType type);
at::Tensor empty_on_large_pages(at::IntArrayRef sizes, at::ScalarType type);

}  // namespace passnet
