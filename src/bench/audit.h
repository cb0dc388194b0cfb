// Audits of a result: what values alone do not show. Each is a row with its own question; `audit_case` asks all of them
// about one run. An answer is an error with code `integrity`, or nothing.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/correctness.h"

namespace passnet {

// A run of the candidate beside a run of eager, each with private copies of the inputs.
struct AuditCase {
  const std::vector<std::string>& input_names;
  const std::vector<TensorRef>& eager_inputs;
  const RunValue& expected;
  const std::vector<TensorRef>& got_inputs;
  const RunValue& got;
};

struct Audit {
  std::string_view name;
  std::string_view asks;
  std::optional<Error> (*look)(const AuditCase&);
};
std::span<const Audit> audits();
std::optional<Error> audit_case(const AuditCase& c);

// What is said of an output that is not contiguous where eager's is: who calls view on it is refused.
std::optional<std::string> note_layout(const RunValue& expected, const RunValue& got);

// Whether a time is possible at all: the outputs have to be written, and no memory takes more than that a second.
std::optional<Error> audit_speed(const RunValue& expected, double milliseconds, double peak_bytes);
// From so many threads of a processor; from a GPU, whose second-level cache may hold all of it.
constexpr double peak_bytes(DeviceType device, int threads) {
  return device == DeviceType::cuda ? 3e13 : 1e12 * std::max(1, threads);
}

// How much less exact than eager a result is: both errors against `exact`, the same graph on float64 inputs.
struct Precision {
  double eager = 0, candidate = 0;  // the largest error, relative to the largest exact value
  double ratio() const;             // candidate's to eager's; an ulp of the dtype counts as no error
  bool lower() const { return ratio() > kLower; }
  static constexpr double kLower = 32;
};
// Whether an output may be so, by its distance from eager's alone: most need no float64 run.
bool may_be_less_exact(const OutputComparison& output);
// None where a float64 run says nothing: other shapes, no floats, values that are not finite.
Result<std::optional<Precision>> audit_precision(const RunValue& exact, const RunValue& expected, const RunValue& got,
                                                 Engine& engine);

}  // namespace passnet
