// How kernels are laid over programs, as data. Rules and printer read a Plan; what the usual one misses is found by
// printing with another and measuring. What depends on the machine is here and in cost.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "exec/tensor_ref.h"

namespace passnet::author {

struct Plan {
  std::int64_t block = 4096;    // elements of a program that walks over flat memory
  std::int64_t tile = 4096;     // elements of a program with rows and columns: how many rows it gets
  std::int64_t columns = 1024;  // columns of one program, where they may be cut
  // A reduction of at least `split_from` elements with at most `split_rows` results is made in pieces of `split`
  // elements, each by a program of its own, and a second kernel puts them together.
  std::int64_t split = 16384, split_from = 131072, split_rows = 0;
  std::int64_t programs = 0;  // at most so many, each of which walks over blocks; 0: a program for every block
  std::int64_t product_rows = 64, product_columns = 128, product_depth = 64;
  bool operator==(const Plan&) const = default;
};

// "tile=1024,split_rows=0": fields by name, over those of `base`.
Result<Plan> plan_from_text(const Plan& base, std::string_view text);

// Which products and convolutions may get kernels of their own.
enum class Products : std::uint8_t {
  none,
  alike,  // where ATen computes as we do: not a GPU's convolutions of float32, which are in tf32
  all,
};

struct Machine {
  Plan plan;                                       // the usual one
  std::span<const std::string_view> alternatives;  // as texts over it: tried where a region is measured
  double worth_us = 4;                             // regions that are expected to take less are not tried with others
  Products products = Products::none;
};
// `threads`: of a CPU.
Machine machine_of(DeviceType device, int threads);

}  // namespace passnet::author
