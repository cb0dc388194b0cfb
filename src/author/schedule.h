// Which tensors of a region are stored, and by which kernels.
//
// Stored are the region's results and what would otherwise be computed too often. A kernel computes one stored tensor
// and, on its way, any other whose elements it meets one by one; the rest is loaded from memory. An input that is
// changed is read before; where no order of the kernels does that, what it was is stored, too.
#pragma once

#include <memory>
#include <vector>

#include "author/trace.h"

namespace passnet::author {

struct Schedule {
  std::vector<std::unique_ptr<Kernel>> kernels;  // in the order of the launches
  std::map<const Tensor*, int> buffer_of;        // stored tensors: numbers behind the inputs'
};

// `written`: stored tensors that have a buffer already, since they are an input's new value.
Schedule schedule(Trace& trace, const std::vector<const Tensor*>& roots, const std::map<const Tensor*, int>& written);

}  // namespace passnet::author
