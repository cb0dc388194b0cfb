// Between our values and torch's: Value -> IValue for a parameter, tensors in and out.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "exec/engine.h"
#include "ops/schema.h"

namespace passnet {

at::ScalarType to_scalar_type(Dtype dtype);
Dtype from_scalar_type(at::ScalarType type);
at::Device to_device(DeviceType device);

TensorRef to_ref(at::Tensor tensor);
void set_ref(TensorRef& ref, at::Tensor tensor);
at::Tensor from_ref(const TensorRef& ref);

// A dtype constant: torch.float32, or Python's float, int, bool where torch takes them for one.
std::optional<at::ScalarType> scalar_type_constant(const std::string& text);

// A 0-dim tensor that does not raise the other operand's dtype, as Python's numbers are.
at::Tensor wrapped_number(const c10::Scalar& value);

// What a parameter takes, made from what was computed: numbers to tensors, one-element tensors to numbers, a number to
// a list of n. Throws std::invalid_argument where Python would raise.
c10::IValue coerce(c10::IValue value, const ParamType& type);
// Whether a value computed with this static type can be handed on as it is.
bool needs_no_coercion(Ty type, const ParamType& param);

// A number out of a tensor of one element, as Python's item().
c10::IValue item_of(const at::Tensor& tensor);

// The items of any list or tuple.
std::vector<c10::IValue> sequence_items(const c10::IValue& value);

// torch's message without its tail: a dispatch failure lists every backend, a check its backtrace.
std::string brief_message(std::string_view message);

RunValue to_run_value(const c10::IValue& value);
c10::IValue from_run_value(const RunValue& value);

}  // namespace passnet
