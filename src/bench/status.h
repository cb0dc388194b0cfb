// How the evaluation of one graph ended. The first that applies.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace passnet {

enum class Status : std::uint8_t {
  correct,
  eager_fail,      // the graph itself cannot be read or run
  compile_fail,    // a pass, a wrapper or a kernel is not accepted
  runtime_fail,    // a wrapper raised, or the checked build found a memory error
  shape_mismatch,  // outputs of other shapes or number
  type_mismatch,
  accuracy,   // wrong at the tolerance that was asked for
  pass_miss,  // no pass changed the graph
  timeout,    // took longer than its deadline
  crash,      // the worker died
  integrity,  // did what a candidate may not
  unstable,   // right, but too noisy to be timed
};

struct StatusRow {
  Status status;
  std::string_view name;
  std::string_view meaning;  // for people
};
std::span<const StatusRow> status_rows();  // in the order of the enum
std::string_view status_name(Status status);
std::optional<Status> status_from_name(std::string_view name);

}  // namespace passnet
