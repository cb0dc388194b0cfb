// Item access on tensors and sequences, as Python torch does it.
#include <ATen/TensorIndexing.h>
#include <ATen/ops/alias.h>

#include <stdexcept>

#include "exec/aten/frame.h"

namespace passnet {

namespace {

using at::indexing::TensorIndex;

std::optional<c10::SymInt> bound(const Frame& frame, const Value& value) {
  const c10::IValue v = frame.read(value);
  if (v.isNone()) return std::nullopt;
  if (v.isTensor()) return item_of(v.toTensor()).toInt();
  if (!v.isInt()) throw std::invalid_argument("slice bounds are integers");
  return v.toInt();
}

TensorIndex index_item(const Frame& frame, const Value& value, at::Device device) {
  switch (value.kind) {
    case ValueKind::none: return at::indexing::None;
    case ValueKind::ellipsis: return at::indexing::Ellipsis;
    case ValueKind::boolean: return value.integer != 0;
    case ValueKind::integer: return value.integer;
    case ValueKind::slice:
      return at::indexing::Slice(bound(frame, value.items[0]), bound(frame, value.items[1]),
                                 bound(frame, value.items[2]));
    case ValueKind::tuple:
    case ValueKind::list: {  // a list is one tensor of indices
      const c10::IValue data = frame.read(value);
      return value.items.empty() ? at::Tensor(tensor_literal(data, at::kLong, device))
                                 : tensor_literal(data, std::nullopt, device);
    }
    default: break;
  }
  const c10::IValue v = frame.read(value);
  if (v.isTensor()) return v.toTensor();
  if (v.isInt()) return v.toInt();
  if (v.isBool()) return v.toBool();
  if (v.isNone()) return at::indexing::None;
  if (v.isList() || v.isTuple()) return tensor_literal(v, std::nullopt, device);
  throw std::invalid_argument("an index is an integer, a slice, None, Ellipsis, a tensor or a list of integers");
}

// A list that holds anything but numbers counts as a tuple of indices.
bool is_index_tuple(const Frame& frame, const Value& index) {
  if (index.kind == ValueKind::tuple) return true;
  if (index.kind != ValueKind::list || index.items.size() >= 32) return false;
  for (const Value& item : index.items) {
    if (item.kind == ValueKind::slice || item.kind == ValueKind::none || item.kind == ValueKind::ellipsis ||
        item.is_sequence())
      return true;
    if (item.is_node() && frame.at(item.node).isTensor()) return true;
  }
  return false;
}

std::vector<TensorIndex> indices(const Frame& frame, const Value& index, at::Device device) {
  std::vector<TensorIndex> out;
  if (!is_index_tuple(frame, index)) {
    out.push_back(index_item(frame, index, device));
    return out;
  }
  out.reserve(index.items.size());
  for (const Value& item : index.items) out.push_back(index_item(frame, item, device));
  return out;
}

std::int64_t wrapped_index(std::int64_t i, std::size_t size) {
  const auto n = static_cast<std::int64_t>(size);
  if (i < -n || i >= n) throw std::out_of_range("index out of range");
  return i < 0 ? i + n : i;
}

// A Python slice of a sequence.
std::vector<std::size_t> slice_positions(const Frame& frame, const Value& slice, std::size_t size) {
  const auto n = static_cast<std::int64_t>(size);
  const auto integer = [&](const Value& v, std::int64_t otherwise) {
    const auto b = bound(frame, v);
    return b ? b->expect_int() : otherwise;
  };
  const std::int64_t step = std::clamp(integer(slice.items[2], 1), -n - 1, n + 1);
  if (step == 0) throw std::invalid_argument("slice step cannot be zero");
  const auto clip = [&](std::int64_t i) {
    return std::clamp<std::int64_t>(i < 0 ? i + n : i, step < 0 ? -1 : 0, step < 0 ? n - 1 : n);
  };
  std::int64_t begin = step < 0 ? n - 1 : 0, end = step < 0 ? -1 : n;
  if (slice.items[0].kind != ValueKind::none) begin = clip(integer(slice.items[0], 0));
  if (slice.items[1].kind != ValueKind::none) end = clip(integer(slice.items[1], 0));
  std::vector<std::size_t> out;
  for (std::int64_t i = begin; step > 0 ? i < end : i > end; i += step) out.push_back(static_cast<std::size_t>(i));
  return out;
}

template <class List>
c10::IValue list_item(const Frame& frame, const List& list, const Value& index) {
  if (index.kind == ValueKind::slice) {
    List out = list.copy();
    out.clear();
    for (const std::size_t i : slice_positions(frame, index, list.size())) out.push_back(list.get(i));
    return out;
  }
  c10::IValue i = frame.read(index);
  if (i.isTensor()) i = item_of(i.toTensor());
  return list.get(static_cast<std::size_t>(wrapped_index(i.toInt(), list.size())));
}

}  // namespace

c10::IValue get_item(const Frame& frame, const std::vector<Value>& args) {
  const c10::IValue object = frame.read(args[0]);
  if (object.isTensor()) {
    const at::Tensor& tensor = object.toTensor();
    const auto list = indices(frame, args[1], tensor.device());
    return at::indexing::get_item(tensor, list);
  }
  if (object.isTensorList()) return list_item(frame, object.toTensorList(), args[1]);
  if (object.isIntList()) return list_item(frame, object.toIntList(), args[1]);
  if (object.isList()) return list_item(frame, object.toList(), args[1]);
  if (object.isTuple()) {
    c10::impl::GenericList list(c10::AnyType::get());
    for (const c10::IValue& item : object.toTupleRef().elements()) list.push_back(item);
    return list_item(frame, list, args[1]);
  }
  throw std::invalid_argument("this value has no items");
}

c10::IValue set_item(const Frame& frame, const std::vector<Value>& args) {
  const c10::IValue object = frame.read(args[0]);
  if (!object.isTensor()) throw std::invalid_argument("item assignment needs a tensor");
  const at::Tensor& tensor = object.toTensor();
  const auto list = indices(frame, args[1], tensor.device());
  const c10::IValue value = frame.read(args[2]);
  if (value.isTensor())
    at::indexing::set_item(tensor, list, value.toTensor());
  else if (value.isScalar() || value.isBool())
    at::Tensor(tensor).index_put_(list, value.toScalar());
  else
    throw std::invalid_argument("the assigned value must be a tensor or a number");
  return {};
}

}  // namespace passnet
