// Tensors in a host program: allocations, metadata, views that move no data, and copies.
#include <fmt/format.h>

#include <algorithm>

#include "pass/host_machine.h"
#include "pass/policy.h"

namespace passnet {

using Kind = HostValue::Kind;

namespace {

HostValue size_tuple(const std::vector<std::int64_t>& sizes) {
  std::vector<HostValue> out;
  for (const std::int64_t s : sizes) out.push_back(HostValue::of(s));
  return HostValue::sequence(Kind::tuple, std::move(out));
}

}  // namespace

BufferId HostMachine::add_buffer(Buffer buffer) {
  constexpr std::size_t kMost = 10'000;
  if (plan_.buffers.size() >= kMost) refuse(Code::limit, fmt::format("the wrapper makes more than {} tensors and views", kMost), buffer.place);
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

HostValue HostMachine::fresh(TensorDesc d, Fill fill, double value, py::Place place) {
  std::int64_t elements = 1;
  for (const std::int64_t s : d.sizes) {
    if (s < 0) raise("RuntimeError", fmt::format("a size of {}", s), place);
    if (s > 0 && elements > limits_.elements / s) refuse(Code::limit, "the wrapper allocates too much", place);
    elements *= s;
  }
  Buffer b;
  b.desc = std::move(d);
  if (b.desc.strides.empty()) b.desc.strides = contiguous_strides(b.desc.sizes);
  b.fill = fill;
  b.fill_value = value;
  b.place = place;
  return HostValue::tensor(add_buffer(std::move(b)));
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

HostValue HostMachine::view(BufferId base, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides, std::int64_t offset, py::Place place) {
  const Buffer& parent = plan_.buffers[static_cast<std::size_t>(base)];
  Buffer b;
  b.kind = BufferKind::view;
  // Views of views lie in the first that owns memory.
  b.base = parent.kind == BufferKind::view ? parent.base : base;
  b.offset = offset + (parent.kind == BufferKind::view ? parent.offset : 0);
  b.desc = parent.desc;
  b.desc.sizes = std::move(sizes);
  b.desc.strides = std::move(strides);
  b.place = place;
  return HostValue::tensor(add_buffer(std::move(b)));
}

std::int64_t HostMachine::wrap_dim(std::int64_t dim, std::size_t rank, py::Place place) const {
  const auto n = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  if (dim < -n || dim >= n) raise("IndexError", fmt::format("dimension {} of a tensor with {} dimensions", dim, rank), place);
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

HostValue HostMachine::allocate(std::string_view name, HostArgs args, HostKwargs kwargs, py::Place place) {
  const auto take = [&](std::string_view key) -> std::optional<HostValue> {
    for (auto it = kwargs.begin(); it != kwargs.end(); ++it)
      if (it->first == key) {
        HostValue v = it->second;
        kwargs.erase(it);
        return v;
      }
    return std::nullopt;
  };
  TensorDesc d;
  if (!plan_.buffers.empty()) d.device = plan_.buffers[0].desc.device;
  const auto dtype = take("dtype");
  const auto device = take("device");
  for (const char* ignored : {"requires_grad", "pin_memory", "layout", "memory_format"}) take(ignored);
  if (device && device->is(Kind::device)) d.device = device->device;
  const bool like = name.ends_with("_like");
  double fill_value = name.starts_with("ones") ? 1.0 : 0.0;
  const Fill fill = name.starts_with("empty") ? Fill::none : Fill::value;
  if (name == "as_tensor") {
    if (args.empty()) raise("TypeError", "as_tensor needs data", place);
    if (args[0].is(Kind::tensor)) return dtype && dtype->is(Kind::dtype) && dtype->dtype != desc(args[0]).dtype ? copy(args[0].buffer, dtype->dtype, place) : args[0];
    if (!args[0].is_number()) refuse(Code::host, "as_tensor of a list", place, "torch.full of one number is supported");
    d.dtype = args[0].is(Kind::real) ? Dtype::float32 : args[0].is(Kind::boolean) ? Dtype::boolean : Dtype::int64;
    if (dtype && dtype->is(Kind::dtype)) d.dtype = dtype->dtype;
    return fresh(std::move(d), Fill::value, args[0].as_real(), place);
  }
  if (like) {
    if (args.empty())
      if (auto v = take("input")) args.push_back(*v);
    if (args.empty() || !args[0].is(Kind::tensor)) raise("TypeError", fmt::format("{} needs a tensor", name), place);
    const TensorDesc& other = desc(args[0]);
    d = other;
    if (!other.is_contiguous()) {
      // preserve_format: a dense permutation keeps its order of strides, anything else becomes contiguous
      std::vector<std::size_t> by_stride(other.sizes.size());
      for (std::size_t i = 0; i < by_stride.size(); ++i) by_stride[i] = i;
      std::stable_sort(by_stride.begin(), by_stride.end(), [&](std::size_t a, std::size_t b) { return other.strides[a] > other.strides[b]; });
      std::vector<std::int64_t> dense(other.sizes.size());
      std::int64_t step_size = 1;
      for (std::size_t i = by_stride.size(); i-- > 0;) {
        dense[by_stride[i]] = step_size;
        step_size *= std::max<std::int64_t>(other.sizes[by_stride[i]], 1);
      }
      d.strides = dense == other.strides ? dense : contiguous_strides(other.sizes);
      if (std::find(other.strides.begin(), other.strides.end(), 0) == other.strides.end()) d.strides = dense;
    }
    if (device && device->is(Kind::device)) d.device = device->device;
  } else {
    if (auto v = take("size")) args.insert(args.begin(), *v);
    const bool is_full = name == "full";
    if (is_full) {
      if (auto v = take("fill_value")) args.push_back(*v);
      if (args.size() != 2) raise("TypeError", "full needs a size and a value", place);
      fill_value = real(args[1], place);
      d.dtype = args[1].is(Kind::real) ? Dtype::float32 : args[1].is(Kind::boolean) ? Dtype::boolean : Dtype::int64;
      args.pop_back();
    }
    if (name == "empty_strided") {
      if (args.size() != 2) raise("TypeError", "empty_strided needs sizes and strides", place);
      d.strides = sizes_of({args[1]}, 0, place);
      args.pop_back();
    }
    d.sizes = sizes_of(args, 0, place);
    if (name == "empty_strided" && d.strides.size() != d.sizes.size()) raise("RuntimeError", "sizes and strides differ in length", place);
    for (const std::int64_t s : d.strides)
      if (s < 0) raise("RuntimeError", "a negative stride", place);
  }
  if (name == "full_like") {
    if (auto v = take("fill_value")) args.push_back(*v);
    if (args.size() != 2) raise("TypeError", "full_like needs a tensor and a value", place);
    fill_value = real(args[1], place);
  }
  if (dtype) {
    if (dtype->is(Kind::dtype)) d.dtype = dtype->dtype;
    else if (!dtype->is(Kind::none)) raise("TypeError", "dtype must be a torch dtype", place);
  }
  if (!kwargs.empty()) raise("TypeError", fmt::format("torch.{} has no argument '{}'", name, kwargs[0].first), place);
  return fresh(std::move(d), fill, fill_value, place);
}

HostValue HostMachine::tensor_attribute(const HostValue& tensor, std::string_view name, py::Place place) {
  const TensorDesc& d = desc(tensor);
  if (name == "shape") return size_tuple(d.sizes);
  if (name == "ndim") return HostValue::of(static_cast<std::int64_t>(d.sizes.size()));
  if (name == "dtype") return HostValue::of_dtype(d.dtype);
  if (name == "device") {
    HostValue v;
    v.kind = Kind::device;
    v.device = d.device;
    return v;
  }
  // Kernels run on the run's device whatever it is; to a wrapper, which asks because Triton needs one, it is a GPU.
  if (name == "is_cuda") return HostValue::boolean(true);
  if (name == "requires_grad" || name == "is_sparse") return HostValue::boolean(false);
  if (name == "itemsize") return HostValue::of(std::int64_t{dtype_row(d.dtype).size});
  if (name == "nbytes") return HostValue::of(d.element_count() * dtype_row(d.dtype).size);
  if (name == "T" || name == "mT") return tensor_method(tensor, name == "T" && d.sizes.size() != 2 ? "permute_reversed" : "transpose_last", {}, {}, place);
  HostValue method;
  method.kind = Kind::method;
  method.text = name;
  method.items = std::make_shared<HostItems>(HostItems{{tensor}, false});
  return method;
}

HostValue HostMachine::reshape(BufferId base, std::vector<std::int64_t> sizes, bool may_copy, py::Place place) {
  const TensorDesc d = plan_.buffers[static_cast<std::size_t>(base)].desc;
  const std::int64_t elements = d.element_count();
  std::int64_t known = 1;
  std::ptrdiff_t open = -1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && open < 0) open = static_cast<std::ptrdiff_t>(i);
    else if (sizes[i] < 0) raise("RuntimeError", "a negative size", place);
    else known *= sizes[i];
  }
  if (open >= 0) {
    if (known == 0 || elements % known != 0) raise("RuntimeError", fmt::format("shape [{}] does not hold {} elements", fmt::join(sizes, ", "), elements), place);
    sizes[static_cast<std::size_t>(open)] = elements / known;
  } else if (known != elements) {
    raise("RuntimeError", fmt::format("shape [{}] does not hold {} elements", fmt::join(sizes, ", "), elements), place);
  }
  if (d.is_contiguous()) return view(base, sizes, contiguous_strides(sizes), 0, place);
  // Groups of old dimensions that lie densely behind one another can be cut anew; each new size must fit into one group.
  std::vector<std::int64_t> strides(sizes.size());
  std::size_t next = sizes.size();
  std::int64_t chunk_stride = d.strides.empty() ? 1 : d.strides.back();
  std::int64_t old_elements = 1, new_elements = 1;
  bool fits = true;
  for (std::size_t i = d.sizes.size(); i-- > 0 && fits;) {
    old_elements *= d.sizes[i];
    const bool end = i == 0 || (d.sizes[i - 1] != 1 && d.strides[i - 1] != old_elements * chunk_stride);
    if (!end) continue;
    while (next > 0 && (new_elements < old_elements || sizes[next - 1] == 1)) {
      strides[next - 1] = new_elements * chunk_stride;
      new_elements *= sizes[--next];
    }
    fits = new_elements == old_elements;
    if (i > 0) {
      chunk_stride = d.strides[i - 1];
      old_elements = new_elements = 1;
    }
  }
  if (fits && next == 0) return view(base, sizes, strides, 0, place);
  if (!may_copy) raise("RuntimeError", "view size is not compatible with the tensor's strides; use contiguous() first", place);
  const HostValue dense = copy(base, d.dtype, place);
  return view(dense.buffer, sizes, contiguous_strides(sizes), 0, place);
}

HostValue HostMachine::tensor_method(const HostValue& tensor, std::string_view name, HostArgs args, HostKwargs kwargs, py::Place place) {
  const TensorDesc d = desc(tensor);
  const std::size_t rank = d.sizes.size();
  // Keywords in the order of the signature join the positional arguments.
  const auto keyword = [&](std::string_view key) -> std::optional<HostValue> {
    for (const auto& [k, v] : kwargs)
      if (k == key) return v;
    return std::nullopt;
  };
  for (const char* key : {"dim", "dim0", "dim1", "start_dim", "end_dim", "dims", "shape", "size", "start", "length", "index", "chunks"})
    if (const auto v = keyword(key)) args.push_back(*v);
  const auto arg = [&](std::size_t i, std::int64_t otherwise) { return i < args.size() ? integer(args[i], place) : otherwise; };
  const auto need = [&](std::size_t n) {
    if (args.size() < n) raise("TypeError", fmt::format("{}() needs {} argument{}", name, n, n == 1 ? "" : "s"), place);
  };

  if (name == "size" || name == "stride") {
    const auto& list = name == "size" ? d.sizes : d.strides;
    if (args.empty()) return size_tuple(list);
    return HostValue::of(list.at(static_cast<std::size_t>(wrap_dim(integer(args[0], place), rank, place))));
  }
  if (name == "numel" || name == "nelement") return HostValue::of(d.element_count());
  if (name == "dim" || name == "ndimension") return HostValue::of(static_cast<std::int64_t>(rank));
  if (name == "is_contiguous") return HostValue::boolean(d.is_contiguous());
  if (name == "element_size") return HostValue::of(std::int64_t{dtype_row(d.dtype).size});
  if (name == "is_floating_point") return HostValue::boolean(dtype_row(d.dtype).floating);
  if (name == "storage_offset") return HostValue::of(plan_.buffers[static_cast<std::size_t>(tensor.buffer)].offset);
  if (name == "get_device") return HostValue::of(std::int64_t{0});
  if (name == "contiguous") return d.is_contiguous() ? tensor : copy(tensor.buffer, d.dtype, place);
  if (name == "detach" || name == "requires_grad_") return tensor;
  if (name == "view" || name == "reshape") {
    if (args.size() == 1 && args[0].is(Kind::dtype)) refuse(Code::host, "view as another dtype", place, "cast in the kernel");
    return reshape(tensor.buffer, sizes_of(args, 0, place), name == "reshape", place);
  }
  if (name == "ravel") return reshape(tensor.buffer, {-1}, true, place);
  if (name == "view_as") return need(1), reshape(tensor.buffer, desc(args[0]).sizes, false, place);
  if (name == "flatten") {
    if (rank == 0) return reshape(tensor.buffer, {1}, true, place);
    const std::int64_t begin = wrap_dim(arg(0, 0), rank, place), end = wrap_dim(arg(1, -1), rank, place);
    std::vector<std::int64_t> sizes(d.sizes.begin(), d.sizes.begin() + begin);
    std::int64_t joined = 1;
    for (std::int64_t i = begin; i <= end; ++i) joined *= d.sizes[static_cast<std::size_t>(i)];
    sizes.push_back(joined);
    sizes.insert(sizes.end(), d.sizes.begin() + end + 1, d.sizes.end());
    return reshape(tensor.buffer, sizes, true, place);
  }
  if (name == "unflatten") {
    need(2);
    const std::int64_t at = wrap_dim(integer(args[0], place), rank, place);
    std::vector<std::int64_t> sizes(d.sizes.begin(), d.sizes.begin() + at);
    for (const HostValue& v : iterate(args[1], place)) sizes.push_back(integer(v, place));
    sizes.insert(sizes.end(), d.sizes.begin() + at + 1, d.sizes.end());
    return reshape(tensor.buffer, sizes, false, place);
  }
  if (name == "permute" || name == "permute_reversed") {
    std::vector<std::int64_t> order = name == "permute" ? sizes_of(args, 0, place) : std::vector<std::int64_t>{};
    if (name == "permute_reversed")
      for (std::size_t i = rank; i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
    if (order.size() != rank) raise("RuntimeError", "permute needs every dimension once", place);
    std::vector<std::int64_t> sizes, strides;
    std::vector<bool> seen(rank, false);
    for (const std::int64_t o : order) {
      const auto at = static_cast<std::size_t>(wrap_dim(o, rank, place));
      if (seen[at]) raise("RuntimeError", "permute needs every dimension once", place);
      seen[at] = true;
      sizes.push_back(d.sizes[at]);
      strides.push_back(d.strides[at]);
    }
    return view(tensor.buffer, sizes, strides, 0, place);
  }
  if (name == "transpose" || name == "swapaxes" || name == "t" || name == "transpose_last") {
    if (rank < 2) {
      if (name == "t") return tensor;
      raise("IndexError", "transpose needs two dimensions", place);
    }
    if (name == "transpose" || name == "swapaxes") need(2);
    const bool last = name == "t" || name == "transpose_last";
    const auto a = static_cast<std::size_t>(last ? rank - 2 : wrap_dim(arg(0, 0), rank, place)), b = static_cast<std::size_t>(last ? rank - 1 : wrap_dim(arg(1, 0), rank, place));
    std::vector<std::int64_t> sizes = d.sizes, strides = d.strides;
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
    return view(tensor.buffer, sizes, strides, 0, place);
  }
  if (name == "expand" || name == "expand_as") {
    std::vector<std::int64_t> sizes = name == "expand" ? sizes_of(args, 0, place) : (need(1), desc(args[0]).sizes);
    if (sizes.size() < rank) raise("RuntimeError", "expand to fewer dimensions", place);
    std::vector<std::int64_t> strides(sizes.size(), 0);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (i < sizes.size() - rank) continue;
      const std::size_t old = i - (sizes.size() - rank);
      if (sizes[i] == -1 || sizes[i] == d.sizes[old]) sizes[i] = d.sizes[old], strides[i] = d.strides[old];
      else if (d.sizes[old] != 1) raise("RuntimeError", fmt::format("size {} cannot be expanded to {}", d.sizes[old], sizes[i]), place);
    }
    return view(tensor.buffer, sizes, strides, 0, place);
  }
  if (name == "unsqueeze") {
    need(1);
    const auto at = static_cast<std::size_t>(wrap_dim(integer(args[0], place), rank + 1, place));
    std::vector<std::int64_t> sizes = d.sizes, strides = d.strides;
    strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(at), at < rank ? d.sizes[at] * d.strides[at] : 1);
    sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(at), 1);
    return view(tensor.buffer, sizes, strides, 0, place);
  }
  if (name == "squeeze") {
    std::vector<bool> drop(rank, args.empty());
    if (!args.empty())
      for (const std::int64_t o : sizes_of(args, 0, place)) drop[static_cast<std::size_t>(wrap_dim(o, rank, place))] = true;
    std::vector<std::int64_t> sizes, strides;
    for (std::size_t i = 0; i < rank; ++i)
      if (!drop[i] || d.sizes[i] != 1) sizes.push_back(d.sizes[i]), strides.push_back(d.strides[i]);
    return view(tensor.buffer, sizes, strides, 0, place);
  }
  if (name == "select" || name == "narrow") {
    need(name == "select" ? 2 : 3);
    const std::int64_t at = wrap_dim(integer(args[0], place), rank, place), begin = integer(args[1], place);
    std::vector<HostValue> index(static_cast<std::size_t>(at), HostValue::sequence(Kind::slice, {{}, {}, {}}));
    index.push_back(name == "select" ? args[1] : HostValue::sequence(Kind::slice, {HostValue::of(begin), HostValue::of(begin + integer(args[2], place)), {}}));
    return tensor_item(tensor, HostValue::sequence(Kind::tuple, std::move(index)), place);
  }
  if (name == "chunk" || name == "split" || name == "unbind") {
    const bool unbind = name == "unbind";
    if (!unbind) need(1);
    const std::int64_t at = wrap_dim(arg(unbind ? 0 : 1, 0), rank, place);
    const std::int64_t n = d.sizes.at(static_cast<std::size_t>(at));
    std::vector<std::int64_t> parts;
    if (unbind) parts.assign(static_cast<std::size_t>(n), 1);
    else if (name == "split" && !args[0].is_number()) parts = sizes_of({args[0]}, 0, place);
    else {
      const std::int64_t k = integer(args[0], place);
      if (k <= 0) raise("RuntimeError", "a part of no size", place);
      const std::int64_t size = name == "split" ? k : std::max<std::int64_t>((n + k - 1) / k, 1);
      for (std::int64_t done = 0; done < n; done += size) parts.push_back(std::min(size, n - done));
    }
    std::vector<HostValue> out;
    std::int64_t begin = 0;
    for (const std::int64_t part : parts) {
      std::vector<HostValue> index(static_cast<std::size_t>(at), HostValue::sequence(Kind::slice, {{}, {}, {}}));
      index.push_back(unbind ? HostValue::of(begin) : HostValue::sequence(Kind::slice, {HostValue::of(begin), HostValue::of(begin + part), {}}));
      out.push_back(tensor_item(tensor, HostValue::sequence(Kind::tuple, std::move(index)), place));
      begin += part;
    }
    return HostValue::sequence(Kind::tuple, std::move(out));
  }
  if (name == "new_empty" || name == "new_zeros" || name == "new_ones" || name == "new_full") {
    if (!keyword("dtype")) kwargs.emplace_back("dtype", HostValue::of_dtype(d.dtype));
    std::erase_if(kwargs, [](const auto& k) { return k.first == "size"; });
    return allocate(name.substr(4), std::move(args), std::move(kwargs), place);
  }
  constexpr std::pair<std::string_view, Dtype> kCasts[] = {{"float", Dtype::float32}, {"half", Dtype::float16}, {"bfloat16", Dtype::bfloat16}, {"double", Dtype::float64}, {"int", Dtype::int32}, {"long", Dtype::int64}, {"bool", Dtype::boolean}};
  std::optional<Dtype> wanted;
  for (const auto& [cast, dtype] : kCasts)
    if (name == cast) wanted = dtype;
  if (name == "to" || name == "type") {
    if (const auto v = keyword("dtype"); v && v->is(Kind::dtype)) wanted = v->dtype;
    for (const HostValue& v : args) {
      if (v.is(Kind::dtype)) wanted = v.dtype;
      if (v.is(Kind::tensor)) wanted = desc(v).dtype;
    }
    if (!wanted) return tensor;  // to a device: the run has one
  }
  if (wanted) {
    if (*wanted == d.dtype) return tensor;
    // A copy in another dtype computes: allowed for what the wrapper itself made.
    const Buffer& b = plan_.buffers[static_cast<std::size_t>(tensor.buffer)];
    const Buffer& owner = b.kind == BufferKind::view ? plan_.buffers[static_cast<std::size_t>(b.base)] : b;
    if (owner.kind == BufferKind::input) refuse(Code::policy, fmt::format("'.{}' converts an input in a wrapper", name), place, "cast in the kernel: tl.load(...).to(tl.float32)");
    return copy(tensor.buffer, *wanted, place);
  }
  if (name == "as_strided") {
    need(2);
    const auto sizes = sizes_of({args[0]}, 0, place), strides = sizes_of({args[1]}, 0, place);
    std::int64_t last = arg(2, 0);
    for (std::size_t i = 0; i < sizes.size() && i < strides.size(); ++i) last += std::max<std::int64_t>(sizes[i] - 1, 0) * strides[i];
    if (sizes.size() != strides.size() || !d.is_contiguous() || last >= d.element_count() || std::any_of(strides.begin(), strides.end(), [](std::int64_t s) { return s < 0; })) raise("RuntimeError", "as_strided leaves the tensor", place);
    return view(tensor.buffer, sizes, strides, arg(2, 0), place);
  }
  refuse(Code::policy, fmt::format("call of '.{}' on a tensor in a wrapper", name), place, allowed_calls_note());
}

HostValue HostMachine::tensor_item(const HostValue& tensor, const HostValue& index, py::Place place) {
  const TensorDesc d = desc(tensor);
  std::vector<HostValue> items = index.is(Kind::tuple) ? index.items->values : std::vector<HostValue>{index};
  std::size_t consumed = 0;
  for (const HostValue& i : items) consumed += i.is(Kind::none) || i.is(Kind::ellipsis) ? 0 : 1;
  std::vector<std::int64_t> sizes, strides;
  std::int64_t offset = 0;
  std::size_t at = 0;
  const auto keep = [&] {
    sizes.push_back(d.sizes[at]);
    strides.push_back(d.strides[at]);
    ++at;
  };
  for (const HostValue& i : items) {
    if (i.is(Kind::none)) {
      sizes.push_back(1);
      strides.push_back(0);
      continue;
    }
    if (i.is(Kind::ellipsis)) {
      for (std::size_t n = d.sizes.size() - std::min(consumed, d.sizes.size()); n > 0; --n) keep();
      continue;
    }
    if (at >= d.sizes.size()) raise("IndexError", "too many indices for the tensor", place);
    const std::int64_t n = d.sizes[at];
    if (i.is(Kind::slice)) {
      const auto bound = [&](const HostValue& v, std::int64_t otherwise) {
        if (v.is(Kind::none)) return otherwise;
        const std::int64_t b = integer(v, place);
        return std::clamp<std::int64_t>(b < 0 ? b + n : b, 0, n);
      };
      const auto& part = i.items->values;
      const std::int64_t begin = bound(part[0], 0), end = bound(part[1], n), by = part[2].is(Kind::none) ? 1 : integer(part[2], place);
      if (by <= 0) raise("ValueError", "slice step must be positive", place);
      offset += begin * d.strides[at];
      sizes.push_back(end > begin ? (end - begin + by - 1) / by : 0);
      strides.push_back(d.strides[at] * by);
      ++at;
      continue;
    }
    if (!i.is_integral() || i.is(Kind::boolean)) refuse(Code::policy, "a tensor is indexed by values in a wrapper", place, "gather in a kernel");
    if (i.integer < -n || i.integer >= n) raise("IndexError", fmt::format("index {} of a dimension of size {}", i.integer, n), place);
    offset += (i.integer < 0 ? i.integer + n : i.integer) * d.strides[at];
    ++at;
  }
  while (at < d.sizes.size()) keep();
  return view(tensor.buffer, std::move(sizes), std::move(strides), offset, place);
}

}  // namespace passnet
