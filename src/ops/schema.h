// An operator's signature: ATen's schema text taken apart, enough to bind Python arguments and to type results.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace passnet {

enum class Base : std::uint8_t {
  tensor,
  scalar,
  integer,
  real,
  boolean,
  string,
  dtype,
  layout,
  device,
  memory_format,
  generator,
  other
};

struct ParamType {
  Base base = Base::other;
  bool optional = false;       // T?
  bool list = false;           // T[] or T[n]
  bool item_optional = false;  // T?[]
  std::int32_t list_size = 0;  // n of T[n]: one item is repeated n times
  char alias = 0;              // the letter of (a) and (a!): types that have the same one may share memory
};

struct Param {
  std::string name;
  ParamType type;
  std::optional<Value> default_value;
  bool keyword_only = false;
  bool written = false;  // (a!)
};

struct Schema {
  std::string_view name;      // "add"
  std::string_view overload;  // "Tensor", may be empty
  std::string_view text;      // as in the table
  std::vector<Param> params;
  std::vector<ParamType> returns;
  bool writes = false;  // some parameter is written
  bool view = false;    // some result aliases a parameter that is not written
  bool random = false;
  std::size_t positional = 0;  // how many params are not keyword-only
};

// The table's texts come from torch itself; one that we cannot read (a type with no meaning for us) keeps Base::other.
Schema parse_schema(std::string_view name, std::string_view overload, std::string_view text);

}  // namespace passnet
