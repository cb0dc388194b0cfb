// The host program: evaluates a wrapper's Python for given shapes, dtypes and scalars and records a LaunchPlan.
// Pure: nothing survives a call. Steps, recursion and sizes are bounded, so an endless loop is an error.
#pragma once

#include <optional>

#include "host/value.h"

namespace passnet {

class HostMachine;

// An argument of a wrapper: a tensor's description, a tuple with tensors among its items, or any other value. Inputs of
// the plan are numbered by the arguments, and by the items of such tuples in their place.
struct HostArgument {
  std::optional<TensorDesc> tensor;
  std::vector<HostArgument> items;
  HostValue scalar;
};

struct HostLimits {
  std::int64_t steps = 2'000'000;
  int depth = 60;
  std::int64_t elements = std::int64_t{1} << 40;  // of one allocation
};

// What a pass's replacement_func returns: the same callable at each call, held by the def or by a module-level name.
struct Wrapper {
  const PassModule* module = nullptr;
  std::string name;
  const void* held_by = nullptr;  // equal for equal wrappers
};

// The functions of one pass file while it is read. They hold what they were made in, which lives as long as this.
class HostProgram {
 public:
  explicit HostProgram(const PassModule& pass, HostLimits limits = {});
  ~HostProgram();
  HostProgram(const HostProgram&) = delete;
  HostProgram& operator=(const HostProgram&) = delete;

  Result<HostValue> value(std::string_view name);
  // Calls one that touches no tensor, with opaque arguments (replacement_args).
  Result<HostValue> call_opaque(const HostValue& function, std::size_t arguments);
  Result<Wrapper> wrapper();

 private:
  const PassModule& pass_;
  HostLimits limits_;
  std::unique_ptr<HostMachine> machine_;
};

// Runs the pass's wrapper and records what it does, on the device of its tensors, or `device` where it is given none.
// Errors have the candidate's line.
Result<LaunchPlan> record_plan(const PassModule& pass, std::vector<HostArgument> arguments,
                               DeviceType device = DeviceType::cpu, HostLimits limits = {});

// Calls a function of a pass file that touches no tensor.
Result<HostValue> call_with_values(const PassModule& module, const py::Stmt& function, std::vector<HostValue> arguments,
                                   std::vector<std::pair<std::string, HostValue>> keywords, HostLimits limits = {});
// The value of an expression that stands in a file, among variables, and of a module-level constant by its name: for
// patterns.
Result<HostValue> evaluate_expression(const PassModule& module, const py::Expr& expr, HostLimits limits = {},
                                      std::vector<std::pair<std::string_view, HostValue>> variables = {});
Result<HostValue> evaluate_constant(const PassModule& module, std::string_view name, HostLimits limits = {});
// Whether a module outside, "triton.language.math", has a name; true where not all its names are known.
bool path_has(std::string_view module, std::string_view name);
// Whether a condition at module level holds, by the names that are bound so far.
Result<bool> evaluate_condition(const PassModule& module, const py::Expr& condition, HostLimits limits = {});

}  // namespace passnet
