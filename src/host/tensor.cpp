// Tensors in a host program: allocations, metadata, views that move no data, and copies.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "host/machine.h"
#include "host/policy.h"
#include "ops/table.h"

namespace passnet {

using Kind = HostValue::Kind;

namespace {

HostValue size_tuple(const std::vector<std::int64_t>& sizes, std::string_view name = {}) {
  std::vector<HostValue> out;
  for (const std::int64_t s : sizes) out.push_back(HostValue::of(s));
  HostValue tuple = HostValue::sequence(Kind::tuple, std::move(out));
  tuple.text = name;
  return tuple;
}

// The dimensions as they lie in memory, innermost first.
std::vector<std::size_t> memory_order(const TensorDesc& d) {
  const std::size_t rank = d.sizes.size();
  std::vector<std::size_t> order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  const auto outer = [&](std::size_t a, std::size_t b) {  // 1: a lies outside of b; 0: cannot be said
    if (d.strides[a] == 0 || d.strides[b] == 0) return 0;
    if (d.strides[a] != d.strides[b]) return d.strides[a] < d.strides[b] ? -1 : 1;
    return d.sizes[a] > d.sizes[b] ? 1 : 0;
  };
  for (std::size_t i = 1; i < rank; ++i) {
    std::size_t at = i;
    for (std::size_t j = i; j-- > 0;) {
      const int order_of = outer(order[j], order[at]);
      if (order_of < 0) break;
      if (order_of == 0) continue;
      std::swap(order[j], order[at]);
      at = j;
    }
  }
  return order;
}

// What empty_like gives: the strides themselves where they are a permutation without gaps, else dense ones in the same
// order.
std::vector<std::int64_t> preserved_strides(const TensorDesc& d) {
  std::vector<std::int64_t> dense(d.sizes.size());
  std::int64_t step_size = 1;
  bool kept = true;
  for (const std::size_t i : memory_order(d)) {
    dense[i] = step_size;
    if (d.sizes[i] != 1) kept = kept && d.strides[i] == step_size;
    if (d.sizes[i] > 1) step_size *= d.sizes[i];
  }
  return kept || d.element_count() == 0 ? d.strides : dense;
}

// Of four or five dimensions; those of size 1 may have any stride.
bool lies_channels_last(const TensorDesc& d) {
  std::vector<std::size_t> order{1};
  for (std::size_t i = d.sizes.size(); i-- > 2;) order.push_back(i);
  order.push_back(0);
  std::int64_t step_size = 1;
  return std::all_of(order.begin(), order.end(), [&](std::size_t i) {
    const bool fits = d.sizes[i] == 1 || d.strides[i] == step_size;
    step_size *= d.sizes[i];
    return fits;
  });
}

bool is_channels_last(const HostValue& format) {
  return format.is(Kind::path) && (format.text == "torch.channels_last" || format.text == "torch.channels_last_3d");
}
bool is_contiguous_format(const HostValue& format) {
  return format.is(Kind::path) && format.text == "torch.contiguous_format";
}

}  // namespace

// Sizes and strides stay far from overflow: every tensor, view and extent has at most limits_.elements.
void HostMachine::check_size(const TensorDesc& d, py::Place place) const {
  std::int64_t elements = 1, extent = 1;
  for (std::size_t i = 0; i < d.sizes.size(); ++i) {
    const std::int64_t size = d.sizes[i], stride = d.strides[i];
    if (size < 0) raise("RuntimeError", fmt::format("a size of {}", size), place);
    if (stride < 0) raise("RuntimeError", "a negative stride", place);
    const bool fits =
        stride <= limits_.elements &&
        (size <= 1 || (elements <= limits_.elements / size && stride <= (limits_.elements - extent) / (size - 1)));
    if (!fits) refuse(Code::limit, fmt::format("a tensor of sizes ({}) is too large", fmt::join(d.sizes, ", ")), place);
    elements *= std::max<std::int64_t>(size, 1);
    extent += std::max<std::int64_t>(size - 1, 0) * stride;
  }
}

BufferId HostMachine::add_buffer(Buffer buffer) {
  constexpr std::size_t kMost = 10'000, kDimensions = 64;
  if (buffer.desc.sizes.size() > kDimensions)
    refuse(Code::limit, fmt::format("a tensor of more than {} dimensions", kDimensions), buffer.place);
  check_size(buffer.desc, buffer.place);
  if (plan_.buffers.size() >= kMost)
    refuse(Code::limit, fmt::format("the wrapper makes more than {} tensors and views", kMost), buffer.place);
  buffer.file = &(current_ != nullptr ? current_ : &root_)->syntax;
  plan_.buffers.push_back(std::move(buffer));
  plan_.order.emplace_back(true, plan_.buffers.size() - 1);
  return static_cast<BufferId>(plan_.buffers.size() - 1);
}

BufferId HostMachine::add_input(TensorDesc d, std::size_t index) {
  Buffer b;
  b.kind = BufferKind::input;
  b.desc = std::move(d);
  b.input = index;
  return add_buffer(std::move(b));
}

HostValue HostMachine::fresh(TensorDesc d, Fill fill, Scalar value, py::Place place) {
  if (d.strides.empty()) {
    d.strides.assign(d.sizes.size(), 0);
    check_size(d, place);  // before strides are multiplied out
    d.strides = contiguous_strides(d.sizes);
  }
  Buffer b;
  b.desc = std::move(d);
  b.fill = fill;
  b.fill_value = std::move(value);
  b.place = place;
  return HostValue::tensor(add_buffer(std::move(b)));
}

// As a float, where that says it exactly.
Scalar HostMachine::fill_number(const HostValue& v, py::Place place) const {
  const double as_real = real(v, place);
  if (v.is_integral() && !v.integer.fits_64_bits())
    raise("OverflowError", "an integer does not fit into 64 bits", place);
  return v.is_integral() && passnet::compare(v.integer, as_real) != 0 ? Scalar{v.integer} : Scalar{as_real};
}

bool HostMachine::is_unplaced(BufferId buffer) const {
  for (; buffer >= 0; buffer = plan_.buffers[static_cast<std::size_t>(buffer)].base)
    if (unplaced_.contains(buffer)) return true;
  return false;
}

static void place_on_device(const LaunchPlan& plan, std::set<BufferId>& unplaced, BufferId buffer) {
  for (; buffer >= 0; buffer = plan.buffers[static_cast<std::size_t>(buffer)].base) unplaced.erase(buffer);
}

// On a device, which is the run's unless a graph made a tensor without one (torch.arange).
HostValue HostMachine::moved(const HostValue& tensor, DeviceType device, py::Place place) {
  place_on_device(plan_, unplaced_, tensor.buffer);
  if (desc(tensor).device == device) return tensor;
  const HostValue out = copy(tensor.buffer, desc(tensor).dtype, place);
  plan_.buffers[static_cast<std::size_t>(out.buffer)].desc.device = device;
  return out;
}

HostValue HostMachine::copy(BufferId base, Dtype dtype, py::Place place) {
  Buffer b;
  b.kind = BufferKind::copy;
  b.base = base;
  b.desc = plan_.buffers[static_cast<std::size_t>(base)].desc;
  b.desc.dtype = dtype;
  b.desc.strides = contiguous_strides(b.desc.sizes);
  b.place = place;
  return HostValue::tensor(add_buffer(std::move(b)));
}

const Buffer& HostMachine::owner_of(const HostValue& tensor) const {
  const Buffer& b = plan_.buffers[static_cast<std::size_t>(tensor.buffer)];
  return b.kind == BufferKind::view ? plan_.buffers[static_cast<std::size_t>(b.base)] : b;
}

// y.zero_() and y.fill_(value): a step of the plan, in its place between the launches.
HostValue HostMachine::fill(const HostValue& tensor, std::string_view name, const HostArgs& args, py::Place place) {
  if (owner_of(tensor).kind == BufferKind::input)
    refuse(Code::policy, fmt::format("'.{}' writes an input in a wrapper", name), place,
           "a wrapper fills what it allocated; a kernel may write inputs");
  const TensorDesc d = desc(tensor);
  for (std::size_t i = 0; i < d.sizes.size(); ++i)
    if (d.strides[i] == 0 && d.sizes[i] > 1)
      raise("RuntimeError",
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location",
            place);
  Scalar value = args.empty() ? Scalar{0.0} : fill_number(args[0], place);
  Buffer& filled = plan_.buffers[static_cast<std::size_t>(view(tensor.buffer, d.sizes, d.strides, 0, place).buffer)];
  filled.fill = Fill::value;
  filled.fill_value = std::move(value);
  return tensor;
}

std::int64_t HostMachine::wrap_dim(std::int64_t dim, std::size_t rank, py::Place place) const {
  const auto n = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  if (dim < -n || dim >= n)
    raise("IndexError", fmt::format("dimension {} of a tensor with {} dimensions", dim, rank), place);
  return dim < 0 ? dim + n : dim;
}

std::vector<std::int64_t> HostMachine::sizes_of(const HostArgs& args, std::size_t first, py::Place place) {
  std::vector<std::int64_t> out;
  if (args.size() == first + 1 && !args[first].is_number()) {
    for (const HostValue& v : iterate(args[first], place)) out.push_back(integer(v, place));
  } else {
    for (std::size_t i = first; i < args.size(); ++i) out.push_back(integer(args[i], place));
  }
  return out;
}

std::vector<std::int64_t> HostMachine::channels_last_strides(const std::vector<std::int64_t>& sizes,
                                                             py::Place place) const {
  if (sizes.size() != 4 && sizes.size() != 5)
    raise("RuntimeError", "channels_last needs four or five dimensions", place);
  check_size({sizes, std::vector<std::int64_t>(sizes.size(), 0)}, place);
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t step_size = 1;
  strides[1] = 1;
  step_size *= std::max<std::int64_t>(sizes[1], 1);
  for (std::size_t i = sizes.size(); i-- > 2;) {
    strides[i] = step_size;
    step_size *= std::max<std::int64_t>(sizes[i], 1);
  }
  strides[0] = step_size;
  return strides;
}

// Dense strides for dimensions that lie in memory in this order, outermost first.
std::vector<std::int64_t> HostMachine::permuted_strides(const std::vector<std::int64_t>& sizes,
                                                        const std::vector<std::int64_t>& order, py::Place place) const {
  constexpr std::int64_t kOpen = -1;
  check_size({sizes, std::vector<std::int64_t>(sizes.size(), 0)}, place);
  std::vector<std::int64_t> strides(sizes.size(), kOpen);
  std::int64_t step_size = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const bool inside = order[i] >= 0 && order[i] < static_cast<std::int64_t>(sizes.size());
    const auto at = static_cast<std::size_t>(inside ? order[i] : 0);
    if (!inside || strides[at] != kOpen) raise("RuntimeError", "empty_permuted needs every dimension once", place);
    strides[at] = step_size;
    step_size *= std::max<std::int64_t>(sizes[at], 1);
  }
  return strides;
}

static Dtype dtype_of_number(const HostValue& v) {
  return v.is(Kind::real) ? Dtype::float32 : v.is(Kind::boolean) ? Dtype::boolean : Dtype::int64;
}

// torch.tensor copies, torch.as_tensor does not.
HostValue HostMachine::tensor_of(std::string_view name, const HostValue& data, const HostValue* dtype,
                                 DeviceType device, py::Place place) {
  if (data.is(Kind::tensor)) {
    const Dtype own = desc(data).dtype, wanted = dtype != nullptr ? dtype->dtype : own;
    return wanted != own || name == "tensor" ? copy(data.buffer, wanted, place) : data;
  }
  if (!data.is_number())
    refuse(Code::host, fmt::format("{} of a list", name), place, "torch.full of one number is supported");
  TensorDesc d;
  d.device = device;
  d.dtype = dtype != nullptr ? dtype->dtype : dtype_of_number(data);
  return fresh(std::move(d), Fill::value, fill_number(data, place), place);
}

HostValue HostMachine::allocate(std::string_view name, const HostArgs& args, const HostKwargs& kwargs,
                                py::Place place) {
  const auto named = [&](std::string_view key) {  // None: its default
    const HostValue* v = keyword(kwargs, key);
    return v == nullptr || v->is(Kind::none) ? nullptr : v;
  };
  if (named("out") != nullptr) refuse(Code::host, "'out=' of an allocation", place);
  const HostValue *dtype = named("dtype"), *device = named("device"), *format = named("memory_format");
  if (device != nullptr && !device->is(Kind::device)) device = nullptr;
  if (dtype != nullptr && !dtype->is(Kind::dtype)) raise("TypeError", "dtype must be a torch dtype", place);
  if (name == "as_tensor" || name == "tensor")
    return tensor_of(name, args[0], dtype, device != nullptr ? device->device : device_, place);

  TensorDesc d;
  d.device = device_;
  const bool full = name.starts_with("full"), strided = name == "empty_strided", permuted = name == "empty_permuted";
  if (name.ends_with("_like")) {
    if (!args[0].is(Kind::tensor)) raise("TypeError", fmt::format("{} needs a tensor", name), place);
    d = desc(args[0]);
    d.strides = preserved_strides(d);
  } else {
    // Some have one argument behind the sizes.
    d.sizes = sizes_of(full || strided || permuted ? HostArgs{args[0]} : args, 0, place);
    if (full) d.dtype = dtype_of_number(args[1]);
    if (strided || permuted) {  // strides, or the dimensions as they lie in memory
      const std::vector<std::int64_t> second = sizes_of({args[1]}, 0, place);
      if (second.size() != d.sizes.size())
        raise("RuntimeError", fmt::format("{}: {} sizes and {} numbers", name, d.sizes.size(), second.size()), place);
      d.strides = strided ? second : permuted_strides(d.sizes, second, place);
    }
  }
  if (device != nullptr) d.device = device->device;
  if (dtype != nullptr) d.dtype = dtype->dtype;
  if (format != nullptr && is_contiguous_format(*format)) d.strides.clear();
  if (format != nullptr && is_channels_last(*format)) d.strides = channels_last_strides(d.sizes, place);
  Scalar value = full ? fill_number(args[1], place) : Scalar{name.starts_with("ones") ? 1.0 : 0.0};
  return fresh(std::move(d), name.starts_with("empty") ? Fill::none : Fill::value, std::move(value), place);
}

namespace {

// What is the same of every tensor here.
enum class Fixed : std::uint8_t { no, yes, none };
struct FixedAttribute {
  std::string_view name;
  Fixed value;
};
constexpr FixedAttribute kFixedAttributes[] = {
    {"is_leaf", Fixed::yes},      {"is_meta", Fixed::no},   {"is_quantized", Fixed::no},  {"is_sparse", Fixed::no},
    {"is_sparse_csr", Fixed::no}, {"is_nested", Fixed::no}, {"is_mkldnn", Fixed::no},     {"is_mps", Fixed::no},
    {"is_xpu", Fixed::no},        {"is_xla", Fixed::no},    {"requires_grad", Fixed::no}, {"retains_grad", Fixed::no},
    {"grad", Fixed::none},        {"grad_fn", Fixed::none}};
// Methods that answer no for every tensor here.
constexpr std::string_view kNeverSo[] = {"is_complex", "is_conj", "is_neg", "is_inference", "is_pinned"};
constexpr std::string_view kOwnAttributes[] = {"layout", "data", "is_cuda", "is_cpu"};

template <class Row, std::size_t N, class F>
bool any_row(const Row (&rows)[N], const F& fits) {
  return std::any_of(std::begin(rows), std::end(rows), fits);
}

}  // namespace

bool HostMachine::tensor_has(std::string_view name) {
  return is_metadata(name) || is_view(name) || op_find("." + std::string(name)) ||
         any_row(kFixedAttributes, [&](const FixedAttribute& fixed) { return fixed.name == name; }) ||
         any_row(kOwnAttributes, [&](std::string_view known) { return known == name; });
}

HostValue HostMachine::tensor_attribute(const HostValue& tensor, std::string_view name, py::Place place) {
  const TensorDesc& d = desc(tensor);
  if (name == "shape") return size_tuple(d.sizes, "torch.Size");
  if (name == "ndim") return HostValue::of(static_cast<std::int64_t>(d.sizes.size()));
  if (name == "dtype") return HostValue::of_dtype(d.dtype);
  if (name == "device") {
    HostValue v;
    v.kind = Kind::device;
    v.device = d.device;
    return v;
  }
  // To a wrapper, which asks because Triton needs one, the run's device is a GPU whatever it is.
  if (name == "is_cuda" || name == "is_cpu")
    return HostValue::boolean((name == "is_cuda") == (d.device == device_ && !is_unplaced(tensor.buffer)));
  for (const FixedAttribute& fixed : kFixedAttributes)
    if (fixed.name == name)
      return fixed.value == Fixed::none ? HostValue{} : HostValue::boolean(fixed.value == Fixed::yes);
  if (name == "layout") return HostValue::path("torch.strided");
  if (name == "data") return tensor;
  if (name == "itemsize") return HostValue::of(std::int64_t{dtype_row(d.dtype).size});
  if (name == "nbytes") return HostValue::of(d.element_count() * dtype_row(d.dtype).size);
  if (name == "T" || name == "mT")
    return tensor_method(tensor, name == "T" && d.sizes.size() != 2 ? "permute_reversed" : "transpose_last", {}, {},
                         place);
  if (name == "data_ptr")
    refuse(Code::policy, "call of '.data_ptr'", place, "a wrapper hands tensors to kernels, never addresses");
  if (!tensor_has(name)) raise("AttributeError", fmt::format("'Tensor' object has no attribute '{}'", name), place);
  if (!is_metadata(name) && !is_view(name) && !is_fill(name))
    refuse(Code::policy, fmt::format("'.{}' of a tensor in a wrapper", name), place, allowed_calls_note());
  HostValue method;
  method.kind = Kind::method;
  method.text = name;
  method.items = std::make_shared<HostItems>(std::vector<HostValue>{tensor}, false);
  return method;
}

// As torch: contiguous and channels_last are what they are called, even where sizes of 1 leave it open.
HostValue HostMachine::dim_order(const TensorDesc& d) {
  const bool contiguous = d.is_contiguous(), channels_last = d.sizes.size() == 4 && lies_channels_last(d);
  std::vector<std::int64_t> out;
  for (const std::size_t i : memory_order(d)) out.insert(out.begin(), static_cast<std::int64_t>(i));
  if (contiguous && !channels_last) std::iota(out.begin(), out.end(), 0);
  if (channels_last && !contiguous) out = {0, 2, 3, 1};
  return size_tuple(out);
}

HostValue HostMachine::tensor_method(const HostValue& tensor, std::string_view name, HostArgs args, HostKwargs kwargs,
                                     py::Place place) {
  const std::string path = fmt::format("Tensor.{}", name);
  bind_arguments(path, args, kwargs, place);
  const Within<Calling> within(calling_, {path, &args, &kwargs});
  const TensorDesc d = desc(tensor);
  const std::size_t rank = d.sizes.size();
  const HostValue* format = keyword(kwargs, "memory_format");
  const bool channels_last = format != nullptr && is_channels_last(*format);

  if (name == "size" || name == "stride") {
    const auto& list = name == "size" ? d.sizes : d.strides;
    if (args.empty() || args[0].is(Kind::none)) return size_tuple(list, name == "size" ? "torch.Size" : "");
    const auto at = static_cast<std::size_t>(wrap_dim(integer(args[0], place), rank, place));
    if (at >= list.size()) raise("IndexError", "a tensor without dimensions", place);
    return HostValue::of(list[at]);
  }
  if (name == "numel" || name == "nelement") return HostValue::of(d.element_count());
  if (name == "dim" || name == "ndimension") return HostValue::of(static_cast<std::int64_t>(rank));
  if (name == "is_contiguous")
    return HostValue::boolean(channels_last ? (rank == 4 || rank == 5) && lies_channels_last(d) : d.is_contiguous());
  if (name == "element_size") return HostValue::of(std::int64_t{dtype_row(d.dtype).size});
  if (name == "is_floating_point") return HostValue::boolean(dtype_row(d.dtype).floating);
  if (any_row(kNeverSo, [&](std::string_view known) { return known == name; })) return HostValue::boolean(false);
  if (name == "is_signed") return HostValue::boolean(d.dtype != Dtype::uint8 && d.dtype != Dtype::boolean);
  if (name == "is_same_size") {
    if (!args[0].is(Kind::tensor)) raise("TypeError", "is_same_size() needs a tensor", place);
    return HostValue::boolean(d.sizes == desc(args[0]).sizes);
  }
  if (name == "dim_order") return dim_order(d);
  if (name == "storage_offset") return HostValue::of(plan_.buffers[static_cast<std::size_t>(tensor.buffer)].offset);
  if (name == "get_device") return HostValue::of(std::int64_t{0});
  if (name == "contiguous") return laid_out(tensor, channels_last, place);
  if (name == "detach" || name == "requires_grad_") return tensor;
  if (name == "cuda") return moved(tensor, device_, place);
  if (name.starts_with("new_")) {
    if (keyword(kwargs, "dtype") == nullptr) kwargs.emplace_back("dtype", HostValue::of_dtype(d.dtype));
    return allocate(name.substr(4), args, kwargs, place);
  }
  if (is_fill(name)) return fill(tensor, name, args, place);
  if (auto v = view_method(tensor, {name, args, kwargs, place})) return *v;
  if (auto v = cast_method(tensor, name, args, kwargs, place)) {
    const bool asks = channels_last || (format != nullptr && is_contiguous_format(*format));
    return asks ? laid_out(*v, channels_last, place) : *v;
  }
  refuse(Code::policy, fmt::format("call of '.{}' on a tensor in a wrapper", name), place, allowed_calls_note());
}

HostValue HostMachine::laid_out(const HostValue& tensor, bool channels_last, py::Place place) {
  const TensorDesc d = desc(tensor);
  if (!channels_last) return d.is_contiguous() ? tensor : copy(tensor.buffer, d.dtype, place);
  const auto strides = channels_last_strides(d.sizes, place);
  if (lies_channels_last(d)) return tensor;
  const HostValue out = copy(tensor.buffer, d.dtype, place);
  plan_.buffers[static_cast<std::size_t>(out.buffer)].desc.strides = strides;
  return out;
}

std::optional<HostValue> HostMachine::cast_method(const HostValue& tensor, std::string_view name, const HostArgs& args,
                                                  const HostKwargs& kwargs, py::Place place) {
  constexpr std::pair<std::string_view, Dtype> kCasts[] = {
      {"float", Dtype::float32}, {"half", Dtype::float16}, {"bfloat16", Dtype::bfloat16}, {"double", Dtype::float64},
      {"int", Dtype::int32},     {"long", Dtype::int64},   {"bool", Dtype::boolean}};
  std::optional<Dtype> wanted;
  for (const auto& [cast, dtype] : kCasts)
    if (name == cast) wanted = dtype;
  if (name == "to" || name == "type" || name == "type_as") {
    DeviceType device = device_;  // which a literal is
    const auto see = [&](const HostValue& v) {
      if (v.is(Kind::dtype)) wanted = v.dtype;
      if (v.is(Kind::tensor)) {
        wanted = desc(v).dtype;
        device = desc(v).device;
        if (!is_unplaced(v.buffer)) place_on_device(plan_, unplaced_, tensor.buffer);
      }
      if (v.is(Kind::device)) {
        device = v.device;
        place_on_device(plan_, unplaced_, tensor.buffer);
      }
    };
    for (const HostValue& v : args) see(v);
    for (const auto& [k, v] : kwargs)
      if (k == "dtype" || k == "device") see(v);
    if (!wanted) return moved(tensor, device, place);
  }
  if (!wanted) return std::nullopt;
  if (*wanted == desc(tensor).dtype) return tensor;
  // A copy in another dtype computes: allowed for what the wrapper itself made.
  if (owner_of(tensor).kind == BufferKind::input)
    refuse(Code::policy, fmt::format("'.{}' converts an input in a wrapper", name), place,
           "cast in the kernel: tl.load(...).to(tl.float32)");
  return copy(tensor.buffer, *wanted, place);
}

}  // namespace passnet
