// Python arguments -> a signature's parameters, as torch's own argument parser does it.
#pragma once

#include <optional>
#include <span>

#include "ops/program.h"

namespace passnet {

// The static type of a value whose node references are registers of these types.
Ty type_of(const Value& value, std::span<const Ty> registers);

// Whether torch.NAME, not called, is a value: a dtype, a layout, a memory format.
bool constant_known(std::string_view text);

struct Call {
  std::span<const Value> args;
  std::span<const Kwarg> kwargs;
};

// How the caller writes the operator; it decides the parameters' Python names.
enum class Spelled : std::uint8_t {
  function,  // torch.f(input=...): `self` is called input
  method,    // x.f(...): the first argument is `self`, wherever the schema has it
  aten,      // torch.ops.aten.f: the schema's own names, numbers taken for tensors
};

// The arguments in the schema's order with defaults filled in, or nullopt with `why` saying what does not fit.
std::optional<std::vector<Value>> bind_schema(const Schema& schema, Call call, Spelled spelled,
                                              std::span<const Ty> registers, std::string* why);

}  // namespace passnet
