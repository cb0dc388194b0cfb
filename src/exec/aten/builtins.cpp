// What rows call as py.f: sizes, numbers and lists, with Python's arithmetic.
#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "exec/aten/frame.h"
#include "fx/literals.h"
#include "ops/builtins.h"

namespace passnet {

namespace {

using c10::IValue;
using Args = std::vector<Value>;

at::Tensor tensor_arg(const Frame& frame, const Value& v) {
  const IValue value = frame.read(v);
  if (!value.isTensor()) throw std::invalid_argument("a tensor is needed here");
  return value.toTensor();
}

IValue plain(IValue v) { return v.isTensor() ? item_of(v.toTensor()) : v; }

double real_of(const IValue& v) {
  if (v.isDouble()) return v.toDouble();
  if (v.isBool()) return v.toBool() ? 1 : 0;
  if (v.isInt()) return static_cast<double>(v.toInt());
  throw std::invalid_argument("a number is needed here");
}
bool is_integral(const IValue& v) { return v.isInt() || v.isBool(); }
std::int64_t integer_of(const IValue& v) {
  if (v.isBool()) return v.toBool() ? 1 : 0;
  if (v.isInt()) return v.toInt();
  throw std::invalid_argument("an integer is needed here");
}

bool truth(const IValue& v) {
  if (v.isTensor()) return real_of(item_of(v.toTensor())) != 0;
  if (v.isNone()) return false;
  if (v.isString()) return !v.toStringRef().empty();
  if (v.isTuple() || v.isList()) return !sequence_items(v).empty();
  return real_of(v) != 0;
}

std::vector<std::int64_t> sizes_of(const IValue& v) {
  std::vector<std::int64_t> out;
  for (const IValue& item : sequence_items(v)) out.push_back(integer_of(plain(item)));
  return out;
}

bool is_sequence(const IValue& v) { return v.isList() || v.isTuple(); }

IValue integer_list(std::vector<std::int64_t> list) { return IValue(std::move(list)); }

Value number_value(const IValue& v) {
  if (v.isBool()) return Value::boolean(v.toBool());
  if (v.isInt()) return Value::of(v.toInt());
  if (v.isDouble()) return Value::of(v.toDouble());
  throw std::invalid_argument("a number is needed here");
}

IValue from_number(const Value& v) {
  if (v.kind == ValueKind::boolean) return v.integer != 0;
  if (v.kind == ValueKind::integer) return v.integer;
  return v.real;
}

IValue arithmetic(py::Op op, IValue a, IValue b) {
  if (is_sequence(a) || is_sequence(b)) {
    if (op == py::Op::add && is_sequence(a) && is_sequence(b)) {
      std::vector<std::int64_t> out = sizes_of(a);
      const auto more = sizes_of(b);
      out.insert(out.end(), more.begin(), more.end());
      return integer_list(std::move(out));
    }
    if (op == py::Op::mul) {
      const auto list = sizes_of(is_sequence(a) ? a : b);
      const std::int64_t times = integer_of(plain(is_sequence(a) ? b : a));
      if (times > 0 && static_cast<std::int64_t>(list.size()) > (1 << 20) / times)
        throw std::overflow_error("a list of sizes grows too long");
      std::vector<std::int64_t> out;
      for (std::int64_t i = 0; i < times; ++i) out.insert(out.end(), list.begin(), list.end());
      return integer_list(std::move(out));
    }
    throw std::invalid_argument("lists can only be joined and repeated");
  }
  const Value x = number_value(plain(std::move(a))), y = number_value(plain(std::move(b)));
  if (const auto folded = fold_binary(op, x, y)) return from_number(*folded);
  const bool zero = (y.kind == ValueKind::real ? y.real : static_cast<double>(y.integer)) == 0;
  if (zero && op != py::Op::pow) throw std::domain_error("division by zero");
  throw std::overflow_error("an integer of the graph does not fit into 64 bits");
}

template <py::Op kOp>
IValue binary(const Frame& frame, const Args& args) {
  return arithmetic(kOp, frame.read(args[0]), frame.read(args[1]));
}

template <py::Op kOp>
IValue unary(const Frame& frame, const Args& args) {
  const auto folded = fold_unary(kOp, number_value(plain(frame.read(args[0]))));
  if (!folded) throw std::overflow_error("an integer of the graph does not fit into 64 bits");
  return from_number(*folded);
}

// -1, 0 or 1; 2 where neither (nan).
int ordering(const IValue& a, const IValue& b) {
  if (is_integral(a) && is_integral(b)) {
    const std::int64_t x = integer_of(a), y = integer_of(b);
    return x < y ? -1 : x > y ? 1 : 0;
  }
  const double x = real_of(a), y = real_of(b);
  return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
}

bool equal(const IValue& a, const IValue& b) {
  if (is_sequence(a) && is_sequence(b)) {
    const auto x = sequence_items(a), y = sequence_items(b);
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), equal);
  }
  if (a.isNone() || b.isNone()) return a.isNone() && b.isNone();
  if (a.isString() || b.isString()) return a.isString() && b.isString() && a.toStringRef() == b.toStringRef();
  if (a.isDevice() || b.isDevice()) return a.isDevice() && b.isDevice() && a.toDevice() == b.toDevice();
  if (is_sequence(a) || is_sequence(b)) return false;
  return ordering(plain(a), plain(b)) == 0;
}

template <bool (*kTest)(int)>
IValue compare(const Frame& frame, const Args& args) {
  return kTest(ordering(plain(frame.read(args[0])), plain(frame.read(args[1]))));
}
bool is_less(int o) { return o == -1; }
bool is_less_equal(int o) { return o == -1 || o == 0; }
bool is_greater(int o) { return o == 1; }
bool is_greater_equal(int o) { return o == 1 || o == 0; }

template <bool kLargest>
IValue extreme(const Frame& frame, const Args& args) {
  const auto items = sequence_items(frame.read(args[0]));
  if (items.empty()) throw std::invalid_argument("min() or max() of nothing");
  IValue best = plain(items[0]);
  for (const IValue& item : items) {
    const IValue v = plain(item);
    if (ordering(v, best) == (kLargest ? 1 : -1)) best = v;
  }
  return best;
}

std::int64_t rounded(const IValue& v, double (*how)(double)) {
  if (is_integral(v)) return integer_of(v);
  const double r = how(real_of(v));
  if (!(std::fabs(r) < 9.2e18)) throw std::overflow_error("a float does not fit into an integer");
  return static_cast<std::int64_t>(r);
}

std::int64_t sum(std::int64_t a, std::int64_t b) { return integer_of(arithmetic(py::Op::add, a, b)); }
std::int64_t times(std::int64_t a, std::int64_t b) { return integer_of(arithmetic(py::Op::mul, a, b)); }

// n sizes: one integer repeated, or a list of n.
std::vector<std::int64_t> tuple_of(const IValue& v, std::int64_t n) {
  if (!is_sequence(v))
    return std::vector<std::int64_t>(static_cast<std::size_t>(std::max<std::int64_t>(n, 0)), integer_of(plain(v)));
  return sizes_of(v);
}

IValue fill_sizes(const Frame& frame, const Args& args) {
  const at::Tensor x = tensor_arg(frame, args[0]);
  const IValue wanted = frame.read(args[1]);
  const std::int64_t n = integer_of(frame.read(args[2]));
  if (!is_sequence(wanted))
    return integer_list(std::vector<std::int64_t>(static_cast<std::size_t>(n), integer_of(plain(wanted))));
  const auto items = sequence_items(wanted);
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < items.size(); ++i)
    out.push_back(items[i].isNone() ? x.size(-static_cast<std::int64_t>(items.size() - i))
                                    : integer_of(plain(items[i])));
  return integer_list(std::move(out));
}

IValue scaled_sizes(const Frame& frame, const Args& args) {
  const at::Tensor x = tensor_arg(frame, args[0]);
  const IValue scale = frame.read(args[1]);
  std::vector<IValue> scales(static_cast<std::size_t>(std::max<std::int64_t>(x.dim() - 2, 0)), scale);
  if (is_sequence(scale)) scales = sequence_items(scale);
  if (static_cast<std::int64_t>(scales.size()) != x.dim() - 2)
    throw std::invalid_argument("scale_factor does not fit the input's dimensions");
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < scales.size(); ++i)
    out.push_back(
        rounded(static_cast<double>(x.size(static_cast<std::int64_t>(i) + 2)) * real_of(plain(scales[i])), std::floor));
  return integer_list(std::move(out));
}

IValue fractional_size(const Frame& frame, const Args& args) {
  const at::Tensor x = tensor_arg(frame, args[0]);
  const std::int64_t n = integer_of(frame.read(args[2]));
  const auto ratios = sequence_items(frame.read(args[1]));
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < n; ++i)
    out.push_back(
        rounded(static_cast<double>(x.size(i - n)) * real_of(ratios.at(static_cast<std::size_t>(i))), std::trunc));
  return integer_list(std::move(out));
}

IValue unpool_size(const Frame& frame, const Args& args) {  // input, kernel, stride, padding, output_size, n
  const at::Tensor x = tensor_arg(frame, args[0]);
  const std::int64_t n = integer_of(frame.read(args[5]));
  const IValue given = frame.read(args[4]);
  if (!given.isNone()) {
    std::vector<std::int64_t> out = sizes_of(given);
    if (static_cast<std::int64_t>(out.size()) == n + 2) out.erase(out.begin(), out.begin() + 2);
    return integer_list(std::move(out));
  }
  const auto kernel = tuple_of(frame.read(args[1]), n);
  const IValue stride_arg = frame.read(args[2]);
  const auto stride = stride_arg.isNone() || (is_sequence(stride_arg) && sequence_items(stride_arg).empty())
                          ? kernel
                          : tuple_of(stride_arg, n);
  const auto padding = tuple_of(frame.read(args[3]), n);
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    out.push_back(sum(times(x.size(i - n) - 1, stride.at(at)), sum(kernel.at(at), times(-2, padding.at(at)))));
  }
  return integer_list(std::move(out));
}

IValue to_list(const at::Tensor& x) {
  if (x.dim() == 0) return item_of(x);
  c10::impl::GenericList out(c10::AnyType::get());
  for (std::int64_t i = 0; i < x.size(0); ++i) out.push_back(to_list(x.select(0, i)));
  return out;
}

std::optional<at::ScalarType> dtype_arg(const Frame& frame, const Value& v) {
  const IValue value = frame.read(v);
  return value.isNone() ? std::nullopt : std::optional(static_cast<at::ScalarType>(value.toInt()));
}
std::optional<at::Device> device_arg(const Frame& frame, const Value& v) {
  const IValue value = coerce(frame.read(v), ParamType{Base::device, true});
  return value.isNone() ? std::nullopt : std::optional(value.toDevice());
}

IValue make_tensor(const Frame& frame, const Args& args, bool copy) {
  const IValue data = frame.read(args[0]);
  const auto dtype = dtype_arg(frame, args[1]);
  const auto device = device_arg(frame, args[2]);
  if (!data.isTensor()) return tensor_literal(data, dtype, device);
  const at::Tensor& x = data.toTensor();
  return x.to(at::TensorOptions().dtype(dtype.value_or(x.scalar_type())).device(device.value_or(x.device())), false,
              copy);
}

IValue unravel_index(const Frame& frame, const Args& args) {
  const at::Tensor indices = tensor_arg(frame, args[0]);
  const IValue given = frame.read(args[1]);
  const std::vector<std::int64_t> shape =
      is_sequence(given) ? sizes_of(given) : std::vector<std::int64_t>{integer_of(plain(given))};
  std::vector<std::int64_t> factors(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) factors[i - 1] = times(factors[i], shape[i]);
  c10::List<at::Tensor> out;
  for (std::size_t i = 0; i < shape.size(); ++i)
    out.push_back(indices.floor_divide(wrapped_number(factors[i])).remainder(shape[i]));
  return out;
}

IValue type_limit(const Frame& frame, const Args& args) {
  const auto type = static_cast<at::ScalarType>(frame.read(args[0]).toInt());
  const std::string what = frame.read(args[1]).toStringRef();
  if (what == "bits") return static_cast<std::int64_t>(c10::elementSize(type) * 8);
  const auto real = [&](auto zero) -> IValue {
    using Limits = std::numeric_limits<decltype(zero)>;
    return static_cast<double>(what == "max"   ? Limits::max()
                               : what == "min" ? Limits::lowest()
                               : what == "eps" ? Limits::epsilon()
                                               : Limits::min());
  };
  const auto integer = [&](auto zero) -> IValue {
    using Limits = std::numeric_limits<decltype(zero)>;
    if (what != "max" && what != "min") throw std::invalid_argument("an integer type has no such limit");
    return static_cast<std::int64_t>(what == "max" ? Limits::max() : Limits::lowest());
  };
  switch (type) {
    case at::kFloat: return real(float{});
    case at::kDouble: return real(double{});
    case at::kHalf: return real(c10::Half{});
    case at::kBFloat16: return real(c10::BFloat16{});
    case at::kLong: return integer(std::int64_t{});
    case at::kInt: return integer(std::int32_t{});
    case at::kShort: return integer(std::int16_t{});
    case at::kChar: return integer(std::int8_t{});
    case at::kByte: return integer(std::uint8_t{});
    default: throw std::invalid_argument("this dtype has no limits");
  }
}

IValue broadcast_shapes(const Frame& frame, const Args& args) {
  std::vector<std::int64_t> out;
  for (const IValue& item : sequence_items(frame.read(args[0]))) {
    const auto shape = is_sequence(item) ? sizes_of(item) : std::vector<std::int64_t>{integer_of(plain(item))};
    if (shape.size() > out.size()) out.insert(out.begin(), shape.size() - out.size(), 1);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      std::int64_t& size = out[out.size() - shape.size() + i];
      if (size != shape[i] && size != 1 && shape[i] != 1)
        throw std::invalid_argument("these shapes cannot be broadcast together");
      if (size == 1) size = shape[i];
    }
  }
  return integer_list(std::move(out));
}

std::string type_name(const at::Tensor& x) {
  return fmt::format("torch.{}{}Tensor", x.is_cuda() ? "cuda." : "", c10::toString(x.scalar_type()));
}

struct Entry {
  std::string_view name;
  BuiltinFunction function;
};

#define FRAME_ARGS [[maybe_unused]] const Frame &f, [[maybe_unused]] const Args &a

const Entry kEntries[] = {
    {"size", [](FRAME_ARGS) -> IValue { return tensor_arg(f, a[0]).sizes().vec(); }},
    {"size_at", [](FRAME_ARGS) -> IValue { return tensor_arg(f, a[0]).size(integer_of(plain(f.read(a[1])))); }},
    {"stride", [](FRAME_ARGS) -> IValue { return tensor_arg(f, a[0]).strides().vec(); }},
    {"stride_at", [](FRAME_ARGS) -> IValue { return tensor_arg(f, a[0]).stride(integer_of(plain(f.read(a[1])))); }},
    {"dim", [](FRAME_ARGS) -> IValue { return tensor_arg(f, a[0]).dim(); }},
    {"numel", [](FRAME_ARGS) -> IValue { return tensor_arg(f, a[0]).numel(); }},
    {"len",
     [](FRAME_ARGS) -> IValue {
       const IValue v = f.read(a[0]);
       if (!v.isTensor()) return static_cast<std::int64_t>(sequence_items(v).size());
       if (v.toTensor().dim() == 0) throw std::invalid_argument("len() of a 0-d tensor");
       return v.toTensor().size(0);
     }},
    {"dtype", [](FRAME_ARGS) -> IValue { return static_cast<std::int64_t>(tensor_arg(f, a[0]).scalar_type()); }},
    {"device", [](FRAME_ARGS) -> IValue { return tensor_arg(f, a[0]).device(); }},
    {"element_size",
     [](FRAME_ARGS) -> IValue { return static_cast<std::int64_t>(tensor_arg(f, a[0]).element_size()); }},
    {"is_cuda", [](FRAME_ARGS) -> IValue { return tensor_arg(f, a[0]).is_cuda(); }},
    {"is_contiguous",
     [](FRAME_ARGS) -> IValue {
       return tensor_arg(f, a[0]).is_contiguous(static_cast<at::MemoryFormat>(f.read(a[1]).toInt()));
     }},
    {"storage_offset", [](FRAME_ARGS) -> IValue { return tensor_arg(f, a[0]).storage_offset(); }},
    {"get_device", [](FRAME_ARGS) -> IValue { return static_cast<std::int64_t>(tensor_arg(f, a[0]).get_device()); }},
    {"is_floating_point", [](FRAME_ARGS) -> IValue { return tensor_arg(f, a[0]).is_floating_point(); }},
    {"is_same", [](FRAME_ARGS) -> IValue { return f.read(a[0]).is(f.read(a[1])); }},
    {"is_none", [](FRAME_ARGS) -> IValue { return f.read(a[0]).isNone(); }},
    {"is_tensor", [](FRAME_ARGS) -> IValue { return f.read(a[0]).isTensor(); }},
    {"device_type", [](FRAME_ARGS) -> IValue { return c10::DeviceTypeName(f.read(a[0]).toDevice().type(), true); }},
    {"device_index",
     [](FRAME_ARGS) -> IValue {
       const c10::Device d = f.read(a[0]).toDevice();
       return d.has_index() ? IValue(static_cast<std::int64_t>(d.index())) : IValue();
     }},
    {"type_name", [](FRAME_ARGS) -> IValue { return type_name(tensor_arg(f, a[0])); }},
    {"type_limit", type_limit},
    {"manual_seed",
     [](FRAME_ARGS) -> IValue {
       at::manual_seed(static_cast<std::uint64_t>(integer_of(f.read(a[0]))));
       return {};
     }},
    {"broadcast_shapes", broadcast_shapes},
    {"item", [](FRAME_ARGS) -> IValue { return item_of(tensor_arg(f, a[0])); }},
    {"tolist", [](FRAME_ARGS) -> IValue { return to_list(tensor_arg(f, a[0])); }},
    {"int", [](FRAME_ARGS) -> IValue { return rounded(plain(f.read(a[0])), std::trunc); }},
    {"float", [](FRAME_ARGS) -> IValue { return real_of(plain(f.read(a[0]))); }},
    {"bool", [](FRAME_ARGS) -> IValue { return truth(f.read(a[0])); }},
    {"getitem", get_item},
    {"setitem", set_item},
    {"tensor", [](FRAME_ARGS) -> IValue { return make_tensor(f, a, true); }},
    {"as_tensor", [](FRAME_ARGS) -> IValue { return make_tensor(f, a, false); }},
    {"unravel_index", unravel_index},
    {"add", binary<py::Op::add>},
    {"sub", binary<py::Op::sub>},
    {"mul", binary<py::Op::mul>},
    {"truediv", binary<py::Op::div>},
    {"floordiv", binary<py::Op::floor_div>},
    {"mod", binary<py::Op::mod>},
    {"pow", binary<py::Op::pow>},
    {"and_", binary<py::Op::bit_and>},
    {"or_", binary<py::Op::bit_or>},
    {"xor", binary<py::Op::bit_xor>},
    {"lshift", binary<py::Op::shift_left>},
    {"rshift", binary<py::Op::shift_right>},
    {"lt", compare<is_less>},
    {"le", compare<is_less_equal>},
    {"gt", compare<is_greater>},
    {"ge", compare<is_greater_equal>},
    {"eq", [](FRAME_ARGS) -> IValue { return equal(f.read(a[0]), f.read(a[1])); }},
    {"ne", [](FRAME_ARGS) -> IValue { return !equal(f.read(a[0]), f.read(a[1])); }},
    {"in",
     [](FRAME_ARGS) -> IValue {
       const IValue x = plain(f.read(a[0]));
       for (const IValue& item : sequence_items(f.read(a[1])))
         if (equal(x, item)) return true;
       return false;
     }},
    {"neg", unary<py::Op::neg>},
    {"invert", unary<py::Op::invert>},
    {"abs",
     [](FRAME_ARGS) -> IValue {
       const IValue v = plain(f.read(a[0]));
       if (is_integral(v))
         return integer_of(v) < 0 ? arithmetic(py::Op::sub, std::int64_t{0}, v) : IValue(integer_of(v));
       return std::fabs(real_of(v));
     }},
    {"not_", [](FRAME_ARGS) -> IValue { return !truth(f.read(a[0])); }},
    {"sum",
     [](FRAME_ARGS) -> IValue {
       IValue total = std::int64_t{0};
       for (const IValue& item : sequence_items(f.read(a[0]))) total = arithmetic(py::Op::add, total, item);
       return total;
     }},
    {"max", extreme<true>},
    {"min", extreme<false>},
    {"sqrt", [](FRAME_ARGS) -> IValue { return std::sqrt(real_of(plain(f.read(a[0])))); }},
    {"floor", [](FRAME_ARGS) -> IValue { return rounded(plain(f.read(a[0])), std::floor); }},
    {"ceil", [](FRAME_ARGS) -> IValue { return rounded(plain(f.read(a[0])), std::ceil); }},
    {"check",
     [](FRAME_ARGS) -> IValue {
       if (!truth(f.read(a[0]))) throw std::runtime_error("a check of the graph failed");
       return {};
     }},
    {"raise", [](FRAME_ARGS) -> IValue { throw std::invalid_argument(f.read(a[0]).toStringRef()); }},
    {"range",
     [](FRAME_ARGS) -> IValue {
       const std::int64_t begin = a.size() == 2 ? integer_of(f.read(a[0])) : 0, end = integer_of(f.read(a.back()));
       if (end - begin > 1024) throw std::invalid_argument("a range of dimensions is too long");
       std::vector<std::int64_t> out(static_cast<std::size_t>(std::max<std::int64_t>(end - begin, 0)));
       std::iota(out.begin(), out.end(), begin);
       return integer_list(std::move(out));
     }},
    {"tuple_of", [](FRAME_ARGS) -> IValue { return integer_list(tuple_of(f.read(a[0]), integer_of(f.read(a[1])))); }},
    {"float_tuple_of",
     [](FRAME_ARGS) -> IValue {
       const IValue v = f.read(a[0]);
       std::vector<double> out;
       if (is_sequence(v))
         for (const IValue& item : sequence_items(v)) out.push_back(real_of(plain(item)));
       else
         out.assign(static_cast<std::size_t>(std::max<std::int64_t>(integer_of(f.read(a[1])), 0)), real_of(plain(v)));
       return out;
     }},
    {"fill_sizes", fill_sizes},
    {"scaled_sizes", scaled_sizes},
    {"fractional_size", fractional_size},
    {"unpool_size", unpool_size},
};
#undef FRAME_ARGS

}  // namespace

BuiltinFunction builtin_function(std::string_view name) {
  for (const Entry& entry : kEntries)
    if (entry.name == name) return entry.function;
  return nullptr;
}

}  // namespace passnet
