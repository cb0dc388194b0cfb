// A scheduled kernel as Triton text, with the launch that its wrapper writes.
#pragma once

#include <string>
#include <vector>

#include "author/plan.h"
#include "author/schedule.h"

namespace passnet::author {

struct PrintedKernel {
  std::string name;
  std::string text;                 // the @triton.jit function
  std::vector<std::string> launch;  // the wrapper's lines
  std::vector<std::int64_t> sizes;  // blocks and programs in the graph that the author reads
  bool rounds = false;              // it needs the helper `stored`
  bool libdevice = false;
};

// `names`: of every buffer, as the wrapper calls it.
PrintedKernel print_kernel(const Kernel& kernel, Indices& ix, const std::string& name,
                           const std::map<int, std::string>& names, const std::map<const Tensor*, int>& buffer_of,
                           const Plan& plan);

}  // namespace passnet::author
