// The registers of one run, and operands read from them.
#pragma once

#include <ATen/core/ivalue.h>

#include <vector>

#include "exec/aten/convert.h"
#include "ops/program.h"

namespace passnet {

struct Frame {
  std::vector<c10::IValue> registers;
  at::Device device = at::kCPU;  // what a device literal means

  const c10::IValue& at(Register r) const { return registers[static_cast<std::size_t>(r)]; }
  // A value with its registers filled in: lists of integers and of tensors become typed lists, other sequences tuples.
  c10::IValue read(const Value& value) const;
};

// One builtin of ops/builtins.h. Throws std::exception where Python would raise.
using BuiltinFunction = c10::IValue (*)(const Frame& frame, const std::vector<Value>& args);
BuiltinFunction builtin_function(std::string_view name);

// x[index] and x[index] = value, as Python torch does them (index.cpp).
c10::IValue get_item(const Frame& frame, const std::vector<Value>& args);
c10::IValue set_item(const Frame& frame, const std::vector<Value>& args);

// torch.tensor and torch.as_tensor (tensor_literal.cpp).
at::Tensor tensor_literal(const c10::IValue& data, std::optional<at::ScalarType> dtype,
                          std::optional<at::Device> device);

}  // namespace passnet
