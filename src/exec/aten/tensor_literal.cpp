// Tensors from numbers: torch.tensor's rules for the dtype and the shape of nested lists.
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>

#include <stdexcept>

#include "exec/aten/frame.h"

namespace passnet {

namespace {

struct Gathered {
  std::vector<std::int64_t> shape;
  std::vector<c10::IValue> leaves;
};

void gather(const c10::IValue& v, std::size_t depth, Gathered& out) {
  if (v.isList() || v.isTuple()) {
    const auto items = sequence_items(v);
    if (depth == out.shape.size() && out.leaves.empty()) out.shape.push_back(static_cast<std::int64_t>(items.size()));
    if (depth >= out.shape.size() || out.shape[depth] != static_cast<std::int64_t>(items.size()))
      throw std::invalid_argument("nested lists of different lengths make no tensor");
    for (const c10::IValue& item : items) gather(item, depth + 1, out);
    return;
  }
  if (depth != out.shape.size()) throw std::invalid_argument("nested lists of different depths make no tensor");
  out.leaves.push_back(v.isTensor() ? item_of(v.toTensor()) : v);
}

at::ScalarType inferred_type(const std::vector<c10::IValue>& leaves) {
  bool real = leaves.empty(), integer = false;
  for (const c10::IValue& leaf : leaves) {
    if (leaf.isComplexDouble()) return at::kComplexFloat;
    real |= leaf.isDouble();
    integer |= leaf.isInt();
  }
  return real ? at::kFloat : integer ? at::kLong : at::kBool;
}

}  // namespace

at::Tensor tensor_literal(const c10::IValue& data, std::optional<at::ScalarType> dtype,
                          std::optional<at::Device> device) {
  Gathered gathered;
  gather(data, 0, gathered);
  const auto& leaves = gathered.leaves;
  const at::ScalarType type = dtype.value_or(inferred_type(leaves));
  const bool integral = at::isIntegralType(type, true) &&
                        std::none_of(leaves.begin(), leaves.end(), [](const auto& v) { return v.isDouble(); });
  at::Tensor out = at::empty(gathered.shape, at::TensorOptions().dtype(integral ? at::kLong : at::kDouble));
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const c10::Scalar value = leaves[i].toScalar();
    if (integral)
      out.mutable_data_ptr<std::int64_t>()[i] = value.toLong();
    else
      out.mutable_data_ptr<double>()[i] = value.toDouble();
  }
  return out.to(at::TensorOptions().dtype(type).device(device.value_or(at::kCPU)));
}

}  // namespace passnet
