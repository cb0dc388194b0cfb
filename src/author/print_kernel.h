// A scheduled kernel as Triton text, with the launch that its wrapper writes.
#pragma once

#include <string>
#include <vector>

#include "author/schedule.h"
#include "exec/tensor_ref.h"

namespace passnet::author {

// What depends on the machine: how much work one program gets. The only place.
struct Machine {
  std::int64_t flat_block = 4096;  // elements of a program that walks over flat memory
  std::int64_t tile = 4096;        // elements of a program with rows and columns
  std::int64_t columns = 1024;     // columns of one program, where they may be cut
  std::int64_t product_rows = 64, product_columns = 128, product_depth = 64;
  bool products = false;  // whether products and convolutions may get kernels of their own
};
// Many small programs keep a GPU busy.
Machine machine_of(DeviceType device);

struct PrintedKernel {
  std::string name;
  std::string text;                 // the @triton.jit function
  std::vector<std::string> launch;  // the wrapper's lines
  bool rounds = false;              // it needs the helper `stored`
  bool libdevice = false;
};

// `names`: of every buffer, as the wrapper calls it.
PrintedKernel print_kernel(const Kernel& kernel, Indices& ix, const std::string& name,
                           const std::map<int, std::string>& names, const std::map<const Tensor*, int>& buffer_of,
                           const Machine& machine);

}  // namespace passnet::author
