#include "exec/aten/convert.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/List.h>
#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace passnet {

namespace {

struct DtypePair {
  Dtype ours;
  at::ScalarType torch;
};
constexpr DtypePair kPairs[] = {
    {Dtype::float32, at::kFloat},
    {Dtype::float64, at::kDouble},
    {Dtype::float16, at::kHalf},
    {Dtype::bfloat16, at::kBFloat16},
    {Dtype::int64, at::kLong},
    {Dtype::int32, at::kInt},
    {Dtype::int16, at::kShort},
    {Dtype::int8, at::kChar},
    {Dtype::uint8, at::kByte},
    {Dtype::boolean, at::kBool},
    {Dtype::complex64, at::kComplexFloat},
    {Dtype::complex128, at::kComplexDouble},
    {Dtype::uint16, at::kUInt16},
    {Dtype::uint32, at::kUInt32},
    {Dtype::uint64, at::kUInt64},
    {Dtype::float8_e4m3fn, at::kFloat8_e4m3fn},
    {Dtype::float8_e5m2, at::kFloat8_e5m2},
};

// Both directions by index; -1: none.
constexpr std::size_t kTypes = 64;
constexpr auto kToTorch = [] {
  std::array<std::int8_t, kTypes> out{};
  out.fill(-1);
  for (const DtypePair& pair : kPairs) out[static_cast<std::size_t>(pair.ours)] = static_cast<std::int8_t>(pair.torch);
  return out;
}();
constexpr auto kFromTorch = [] {
  std::array<std::int8_t, kTypes> out{};
  out.fill(-1);
  for (const DtypePair& pair : kPairs) out[static_cast<std::size_t>(pair.torch)] = static_cast<std::int8_t>(pair.ours);
  return out;
}();

const TensorOwner::Counting kCounting = {
    [](void* object) { c10::raw::intrusive_ptr::incref(static_cast<c10::TensorImpl*>(object)); },
    [](void* object) { c10::raw::intrusive_ptr::decref(static_cast<c10::TensorImpl*>(object)); },
};

}  // namespace

at::ScalarType to_scalar_type(Dtype dtype) {
  const std::int8_t type = kToTorch[static_cast<std::size_t>(dtype)];
  if (type >= 0) return static_cast<at::ScalarType>(type);
  throw std::invalid_argument("a dtype without a torch type");
}

Dtype from_scalar_type(at::ScalarType type) {
  const auto index = static_cast<std::size_t>(type);
  if (index < kTypes && kFromTorch[index] >= 0) return static_cast<Dtype>(kFromTorch[index]);
  throw std::invalid_argument(fmt::format("results of dtype {} are not supported", c10::toString(type)));
}

at::Device to_device(DeviceType device) {
  switch (device) {
    case DeviceType::cpu: return at::kCPU;
    case DeviceType::cuda: return at::Device(at::kCUDA, 0);
    case DeviceType::meta: return at::kMeta;
  }
  return at::kCPU;
}

void set_ref(TensorRef& ref, at::Tensor tensor) {
  ref.device = tensor.is_cuda() ? DeviceType::cuda : tensor.is_meta() ? DeviceType::meta : DeviceType::cpu;
  ref.data = tensor.is_meta() || tensor.numel() == 0 ? nullptr : tensor.data_ptr();
  ref.sizes.assign({tensor.sizes().data(), tensor.sizes().size()});
  ref.strides.assign({tensor.strides().data(), tensor.strides().size()});
  ref.dtype = from_scalar_type(tensor.scalar_type());
  ref.owner = TensorOwner(tensor.unsafeReleaseTensorImpl(), kCounting);
}

TensorRef to_ref(at::Tensor tensor) {
  TensorRef out;
  set_ref(out, std::move(tensor));
  return out;
}

at::Tensor from_ref(const TensorRef& ref) {
  return at::Tensor(c10::intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>::reclaim_copy(
      static_cast<at::TensorImpl*>(ref.owner.get())));
}

std::optional<at::ScalarType> scalar_type_constant(const std::string& text) {
  if (const auto dtype = dtype_from_name(text)) return to_scalar_type(*dtype);
  if (text == "builtins.float") return at::kDouble;
  if (text == "builtins.int") return at::kLong;
  if (text == "builtins.bool") return at::kBool;
  return std::nullopt;
}

at::Tensor wrapped_number(const c10::Scalar& value) {
  at::Tensor out = c10::scalar_to_tensor(value);
  out.unsafeGetTensorImpl()->set_wrapped_number(true);
  return out;
}

c10::IValue item_of(const at::Tensor& tensor) {
  const c10::Scalar value = tensor.item();
  if (value.isFloatingPoint()) return value.toDouble();
  if (value.isBoolean()) return value.toBool();
  if (value.isComplex()) return value.toComplexDouble();
  return value.toLong();
}

bool needs_no_coercion(Ty type, const ParamType& param) {
  if (param.list)
    return (type == Ty::tensors && param.base == Base::tensor && !param.item_optional) ||
           (type == Ty::integers && param.base == Base::integer);
  switch (param.base) {
    case Base::tensor: return type == Ty::tensor;
    case Base::scalar: return type == Ty::integer || type == Ty::real || type == Ty::boolean || type == Ty::number;
    case Base::integer: return type == Ty::integer;
    case Base::real: return type == Ty::real;
    case Base::boolean: return type == Ty::boolean;
    case Base::dtype: return type == Ty::dtype;
    case Base::device: return type == Ty::device;
    case Base::string: return type == Ty::string;
    default: return false;
  }
}

namespace {

c10::IValue coerce_item(c10::IValue value, Base base) {
  if (value.isNone()) return value;
  if (base == Base::tensor) {
    if (value.isTensor()) return value;
    if (value.isScalar() || value.isBool()) return wrapped_number(value.toScalar());
    throw std::invalid_argument(fmt::format("a tensor is needed, not a {}", value.tagKind()));
  }
  if (value.isTensor()) value = item_of(value.toTensor());
  switch (base) {
    case Base::real:
      if (value.isInt()) return static_cast<double>(value.toInt());
      if (value.isBool()) return value.toBool() ? 1.0 : 0.0;
      return value;
    case Base::integer:
      if (value.isBool()) return static_cast<std::int64_t>(value.toBool());
      if (value.isDouble()) throw std::invalid_argument("an integer is needed, not a float");
      return value;
    case Base::device:
      if (value.isString()) return c10::Device(value.toStringRef());
      if (value.isInt()) return c10::Device(at::kCUDA, static_cast<c10::DeviceIndex>(value.toInt()));
      return value;
    default: return value;
  }
}

}  // namespace

std::vector<c10::IValue> sequence_items(const c10::IValue& value) {
  std::vector<c10::IValue> out;
  if (value.isTuple()) {
    const auto& elements = value.toTupleRef().elements();
    out.assign(elements.begin(), elements.end());
  } else if (value.isIntList()) {
    for (const std::int64_t i : value.toIntVector()) out.emplace_back(i);
  } else if (value.isDoubleList()) {
    for (const double r : value.toDoubleVector()) out.emplace_back(r);
  } else if (value.isTensorList()) {
    for (const at::Tensor& t : value.toTensorVector()) out.emplace_back(t);
  } else if (value.isList()) {
    const auto list = value.toListRef();
    out.assign(list.begin(), list.end());
  } else {
    throw std::invalid_argument("a list is needed here");
  }
  return out;
}

c10::IValue coerce(c10::IValue value, const ParamType& type) {
  if (!type.list) return coerce_item(std::move(value), type.base);
  if (value.isNone()) return value;
  std::vector<c10::IValue> items;
  if (value.isList() || value.isTuple())
    items = sequence_items(value);
  else
    items.assign(static_cast<std::size_t>(std::max(type.list_size, 1)), value);
  for (c10::IValue& item : items) item = coerce_item(std::move(item), type.base);
  switch (type.base) {
    case Base::tensor: {
      if (type.item_optional) {
        c10::List<std::optional<at::Tensor>> out;
        for (const c10::IValue& item : items)
          out.push_back(item.isNone() ? std::nullopt : std::optional(item.toTensor()));
        return out;
      }
      c10::List<at::Tensor> out;
      for (const c10::IValue& item : items) out.push_back(item.toTensor());
      return out;
    }
    case Base::integer: {
      c10::List<std::int64_t> out;
      for (const c10::IValue& item : items) out.push_back(item.toInt());
      return out;
    }
    case Base::real: {
      c10::List<double> out;
      for (const c10::IValue& item : items) out.push_back(item.toDouble());
      return out;
    }
    case Base::boolean: {
      c10::List<bool> out;
      for (const c10::IValue& item : items) out.push_back(item.toBool());
      return out;
    }
    default: {
      c10::impl::GenericList out(c10::AnyType::get());
      for (c10::IValue& item : items) out.push_back(std::move(item));
      return out;
    }
  }
}

std::string brief_message(std::string_view message) {
  message = message.substr(0, message.find("\nException raised from"));
  for (const std::string_view tail : {". This could be because the operator doesn't exist", "\n\n"})
    message = message.substr(0, message.find(tail));
  constexpr std::size_t kLongest = 600;
  return std::string(message.substr(0, kLongest));
}

RunValue to_run_value(const c10::IValue& value) {
  RunValue out;
  if (value.isNone()) return out;
  if (value.isTensor()) {
    out.kind = RunValue::Kind::tensor;
    out.tensor = to_ref(value.toTensor());
  } else if (value.isBool()) {
    out.kind = RunValue::Kind::boolean;
    out.integer = value.toBool() ? 1 : 0;
  } else if (value.isInt()) {
    out.kind = RunValue::Kind::integer;
    out.integer = value.toInt();
  } else if (value.isDouble()) {
    out.kind = RunValue::Kind::real;
    out.real = value.toDouble();
  } else if (value.isString()) {
    out.kind = RunValue::Kind::text;
    out.text = value.toStringRef();
  } else if (value.isDevice()) {
    out.kind = RunValue::Kind::text;
    const c10::Device d = value.toDevice();
    out.text = fmt::format("device(type='{}'{})", c10::DeviceTypeName(d.type(), true),
                           d.has_index() ? fmt::format(", index={}", int{d.index()}) : "");
  } else if (value.isList() || value.isTuple()) {
    out.kind = RunValue::Kind::list;
    for (const c10::IValue& item : sequence_items(value)) out.items.push_back(to_run_value(item));
  } else {
    throw std::invalid_argument(fmt::format("a result of kind {} is not supported", value.tagKind()));
  }
  return out;
}

c10::IValue from_run_value(const RunValue& value) {
  switch (value.kind) {
    case RunValue::Kind::none: return {};
    case RunValue::Kind::boolean: return value.integer != 0;
    case RunValue::Kind::integer: return value.integer;
    case RunValue::Kind::real: return value.real;
    case RunValue::Kind::text: return value.text;
    case RunValue::Kind::tensor: return from_ref(value.tensor);
    case RunValue::Kind::list: break;
  }
  bool tensors = true;
  std::vector<c10::IValue> items;
  for (const RunValue& item : value.items) {
    items.push_back(from_run_value(item));
    tensors &= items.back().isTensor();
  }
  if (!tensors) return c10::ivalue::Tuple::create(std::move(items));
  c10::List<at::Tensor> list;
  for (const c10::IValue& item : items) list.push_back(item.toTensor());
  return list;
}

}  // namespace passnet
