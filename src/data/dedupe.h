// Which graphs of a corpus are the same one.
#pragma once

#include "data/facts.h"

namespace passnet::data {

enum class SameBy : std::uint8_t {
  graph,        // the computation at the same shapes and dtypes
  computation,  // the computation as written, at any shapes
};

// For each graph the first that is the same; itself where it is the first, and where it has an error.
// The keys are compared shard by shard: at most `shard_keys` of them are in memory at once.
std::vector<std::size_t> find_duplicates(const std::vector<Facts>& facts, SameBy by,
                                         std::size_t shard_keys = std::size_t{1} << 24);

}  // namespace passnet::data
