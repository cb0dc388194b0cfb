// The sizes at which a model's graph is made again: nine variants for each kind of input.
#pragma once

#include "data/constraints.h"

namespace passnet::data {

struct Variant {
  int number = 0;                   // 0..8; 9 is the recorded one
  std::vector<std::int64_t> sizes;  // of every symbol of the constraints
};

struct Variants {
  std::string kind;  // of the table's row: "text", "image_square", ...
  std::vector<Variant> all;
};

// An error where no input has a free dimension, or where the table has no row for it.
Result<Variants> find_variants(const GraphFolder& folder, const Constraints& constraints);

// The constraints of a graph that has none of its own: dimension 0 of the inputs that are no weights is the batch,
// 1 of integer inputs the length, 2 and 3 of images their size.
Constraints guess_constraints(const GraphFolder& folder);

bool is_weight(const GraphFolder& folder, std::size_t input);

}  // namespace passnet::data
