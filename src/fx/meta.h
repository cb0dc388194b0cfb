// weight_meta.py and input_meta.py: a class per tensor that says how to make it again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/dtype.h"

namespace passnet {

// Literal contents, flat in row-major order. Exactly one of the two is filled: `integers` where every number is one.
struct TensorData {
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::size_t size() const { return integers.size() + reals.size(); }
};

// A number as the file spells it: integers keep all their digits.
struct MetaNumber {
  double real = 0;
  std::int64_t integer = 0;
  bool integral = false;
};

struct TensorMeta {
  std::string name;
  std::string original_name;
  std::vector<std::int64_t> shape;
  Dtype dtype = Dtype::float32;
  std::string device;
  std::optional<double> mean, std;
  std::optional<MetaNumber> min_val, max_val;
  std::optional<TensorData> data;
  std::uint32_t line = 0;

  std::size_t element_count() const;
};

inline constexpr std::int64_t kElementLimit = std::int64_t{1} << 40;  // elements of one tensor that a meta may ask for

// The classes of one meta file in order. `file` is used for messages.
Result<std::vector<TensorMeta>> read_metas(std::string file, std::string source);

// One class of a meta file.
std::string print_meta(const TensorMeta& meta);

}  // namespace passnet
