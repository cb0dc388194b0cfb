// Views in a host program: shapes, strides and offsets as torch has them; no data moves.
#include <fmt/format.h>

#include <algorithm>

#include "pass/host_machine.h"

namespace passnet {

using Kind = HostValue::Kind;

HostValue HostMachine::view(BufferId base, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
                            std::int64_t offset, py::Place place) {
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

HostValue HostMachine::reshape(BufferId base, std::vector<std::int64_t> sizes, bool may_copy, py::Place place) {
  const TensorDesc d = plan_.buffers[static_cast<std::size_t>(base)].desc;
  const std::int64_t elements = d.element_count();
  std::int64_t known = 1;
  std::ptrdiff_t open = -1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && open < 0)
      open = static_cast<std::ptrdiff_t>(i);
    else if (sizes[i] < 0)
      raise("RuntimeError", "a negative size", place);
    else if (__builtin_mul_overflow(known, sizes[i], &known))
      refuse(Code::limit, "a shape of too many elements", place);
  }
  if (open >= 0) {
    if (known == 0 || elements % known != 0)
      raise("RuntimeError", fmt::format("shape [{}] does not hold {} elements", fmt::join(sizes, ", "), elements),
            place);
    sizes[static_cast<std::size_t>(open)] = elements / known;
  } else if (known != elements) {
    raise("RuntimeError", fmt::format("shape [{}] does not hold {} elements", fmt::join(sizes, ", "), elements), place);
  }
  if (d.is_contiguous() || elements == 0) return view(base, sizes, contiguous_strides(sizes), 0, place);
  // Groups of old dimensions that lie densely behind one another can be cut anew; each new size must fit into one
  // group.
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
  if (!may_copy)
    raise("RuntimeError", "view size is not compatible with the tensor's strides; use contiguous() first", place);
  const HostValue dense = copy(base, d.dtype, place);
  return view(dense.buffer, sizes, contiguous_strides(sizes), 0, place);
}

std::optional<HostValue> HostMachine::view_method(const HostValue& tensor, std::string_view name, HostArgs& args,
                                                  py::Place place) {
  const TensorDesc d = desc(tensor);
  const std::size_t rank = d.sizes.size();
  const auto arg = [&](std::size_t i, std::int64_t otherwise) {
    return i < args.size() && !args[i].is(Kind::none) ? integer(args[i], place) : otherwise;
  };
  if (name == "view" || name == "reshape") {
    if (args.size() == 1 && args[0].is(Kind::dtype)) {  // the same bits
      const DtypeRow &from = dtype_row(d.dtype), &to = dtype_row(args[0].dtype);
      if (from.size != to.size)
        refuse(Code::host, fmt::format("view of {} as {}, whose elements have another size", from.name, to.name), place,
               "views are of types of one size; cast in the kernel");
      const HostValue out = view(tensor.buffer, d.sizes, d.strides, 0, place);
      plan_.buffers[static_cast<std::size_t>(out.buffer)].desc.dtype = args[0].dtype;
      return out;
    }
    return reshape(tensor.buffer, sizes_of(args, 0, place), name == "reshape", place);
  }
  if (name == "ravel") return reshape(tensor.buffer, {-1}, true, place);
  const auto shape_of = [&](std::size_t i) {
    if (!args[i].is(Kind::tensor)) raise("TypeError", fmt::format("{}() needs a tensor", name), place);
    return desc(args[i]).sizes;
  };
  if (name == "view_as" || name == "reshape_as")
    return reshape(tensor.buffer, shape_of(0), name == "reshape_as", place);
  if (name == "flatten") {
    if (rank == 0) return reshape(tensor.buffer, {1}, true, place);
    const std::int64_t begin = wrap_dim(arg(0, 0), rank, place), end = wrap_dim(arg(1, -1), rank, place);
    std::vector<std::int64_t> sizes(d.sizes.begin(), d.sizes.begin() + begin);
    std::int64_t joined = 1;
    for (std::int64_t i = begin; i <= end; ++i) joined *= d.sizes[static_cast<std::size_t>(i)];
    if (end < begin) raise("RuntimeError", "flatten() with start_dim behind end_dim", place);
    sizes.push_back(joined);
    sizes.insert(sizes.end(), d.sizes.begin() + end + 1, d.sizes.end());
    return reshape(tensor.buffer, sizes, true, place);
  }
  if (name == "unflatten") {
    if (rank == 0) raise("RuntimeError", "unflatten() of a tensor without dimensions", place);
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
  if (name == "transpose" || name == "swapaxes" || name == "swapdims" || name == "t" || name == "transpose_last") {
    if (rank < 2) {
      const bool valid =
          name == "t" || (args.size() == 2 && wrap_dim(arg(0, 0), rank, place) == wrap_dim(arg(1, 0), rank, place));
      if (valid) return view(tensor.buffer, d.sizes, d.strides, 0, place);
      raise("IndexError", "transpose needs two dimensions", place);
    }
    const bool last = name == "t" || name == "transpose_last";
    if (name == "t" && rank > 2) raise("RuntimeError", "t() of a tensor with more than two dimensions", place);
    const auto a = static_cast<std::size_t>(last ? rank - 2 : wrap_dim(arg(0, 0), rank, place)),
               b = static_cast<std::size_t>(last ? rank - 1 : wrap_dim(arg(1, 0), rank, place));
    std::vector<std::int64_t> sizes = d.sizes, strides = d.strides;
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
    return view(tensor.buffer, sizes, strides, 0, place);
  }
  if (name == "expand" || name == "broadcast_to" || name == "expand_as") {
    std::vector<std::int64_t> sizes = name == "expand_as" ? shape_of(0) : sizes_of(args, 0, place);
    if (sizes.size() < rank) raise("RuntimeError", "expand to fewer dimensions", place);
    std::vector<std::int64_t> strides(sizes.size(), 0);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (i < sizes.size() - rank) {
        if (sizes[i] < 0) raise("RuntimeError", "expand to a size of -1 where there is no dimension", place);
        continue;
      }
      const std::size_t old = i - (sizes.size() - rank);
      if (sizes[i] == -1 || sizes[i] == d.sizes[old])
        sizes[i] = d.sizes[old], strides[i] = d.strides[old];
      else if (d.sizes[old] != 1)
        raise("RuntimeError", fmt::format("size {} cannot be expanded to {}", d.sizes[old], sizes[i]), place);
    }
    return view(tensor.buffer, sizes, strides, 0, place);
  }
  if (name == "unsqueeze") {
    const auto at = static_cast<std::size_t>(wrap_dim(integer(args[0], place), rank + 1, place));
    std::vector<std::int64_t> sizes = d.sizes, strides = d.strides;
    strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(at), at < rank ? d.sizes[at] * d.strides[at] : 1);
    sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(at), 1);
    return view(tensor.buffer, sizes, strides, 0, place);
  }
  if (name == "squeeze") {
    std::vector<bool> drop(rank, args.empty());
    if (!args.empty())
      for (const std::int64_t o : sizes_of(args, 0, place))
        if (const auto at = static_cast<std::size_t>(wrap_dim(o, rank, place)); at < rank) drop[at] = true;
    std::vector<std::int64_t> sizes, strides;
    for (std::size_t i = 0; i < rank; ++i)
      if (!drop[i] || d.sizes[i] != 1) sizes.push_back(d.sizes[i]), strides.push_back(d.strides[i]);
    return view(tensor.buffer, sizes, strides, 0, place);
  }
  if (name == "movedim" || name == "moveaxis") {
    if (!args[0].is_number()) refuse(Code::host, "movedim of several dimensions", place, "write permute");
    const auto from = static_cast<std::size_t>(wrap_dim(arg(0, 0), rank, place)),
               to = static_cast<std::size_t>(wrap_dim(arg(1, 0), rank, place));
    std::vector<std::int64_t> sizes = d.sizes, strides = d.strides;
    for (auto* list : {&sizes, &strides}) {
      if (list->empty()) continue;
      const std::int64_t moved = (*list)[from];
      list->erase(list->begin() + static_cast<std::ptrdiff_t>(from));
      list->insert(list->begin() + static_cast<std::ptrdiff_t>(to), moved);
    }
    return view(tensor.buffer, sizes, strides, 0, place);
  }
  return std::nullopt;
}

// tensor_split: so many parts, the first a little longer, or where they begin.
std::vector<std::int64_t> HostMachine::tensor_split_parts(const HostValue& by, std::int64_t n, py::Place place) {
  std::vector<std::int64_t> parts;
  if (by.is_number()) {
    const std::int64_t k = integer(by, place);
    if (k <= 0) raise("RuntimeError", "number of sections must be larger than 0", place);
    if (k > 10'000) refuse(Code::limit, fmt::format("tensor_split() into {} parts", k), place);
    for (std::int64_t i = 0; i < k; ++i) parts.push_back(n / k + (i < n % k ? 1 : 0));
    return parts;
  }
  std::int64_t begin = 0;
  for (std::int64_t end : sizes_of({by}, 0, place)) {
    end = std::clamp<std::int64_t>(end < 0 ? end + n : end, 0, n);
    if (end < begin) refuse(Code::host, "tensor_split() at indices that go back", place, "write slices");
    parts.push_back(end - begin);
    begin = end;
  }
  parts.push_back(n - begin);
  return parts;
}

// Parts of a tensor: rows, ranges and windows.
std::optional<HostValue> HostMachine::part_method(const HostValue& tensor, std::string_view name, HostArgs& args,
                                                  py::Place place) {
  const TensorDesc d = desc(tensor);
  const std::size_t rank = d.sizes.size();
  const auto arg = [&](std::size_t i, std::int64_t otherwise) {
    return i < args.size() && !args[i].is(Kind::none) ? integer(args[i], place) : otherwise;
  };
  if (name == "select" || name == "narrow") {
    const std::int64_t at = wrap_dim(integer(args[0], place), rank, place),
                       n = rank == 0 ? 1 : d.sizes[static_cast<std::size_t>(at)];
    std::int64_t begin = integer(args[1], place);
    if (name == "narrow") {
      const std::int64_t length = integer(args[2], place);
      if (begin < 0 && begin >= -n) begin += n;
      if (begin < 0 || length < 0 || begin > n || length > n - begin)
        raise("RuntimeError", fmt::format("narrow from {} by {} of a size of {}", begin, length, n), place);
    }
    std::vector<HostValue> index(static_cast<std::size_t>(at), HostValue::sequence(Kind::slice, {{}, {}, {}}));
    index.push_back(name == "select"
                        ? args[1]
                        : HostValue::sequence(
                              Kind::slice, {HostValue::of(begin), HostValue::of(begin + integer(args[2], place)), {}}));
    return tensor_item(tensor, HostValue::sequence(Kind::tuple, std::move(index)), place);
  }
  if (name == "chunk" || name == "split" || name == "unbind" || name == "tensor_split") {
    const bool unbind = name == "unbind";
    const std::int64_t at = wrap_dim(arg(unbind ? 0 : 1, 0), rank, place);
    if (rank == 0) raise("RuntimeError", fmt::format("{}() of a tensor without dimensions", name), place);
    const std::int64_t n = d.sizes[static_cast<std::size_t>(at)];
    if (n > 10'000) refuse(Code::limit, fmt::format("{}() of a size of {}", name, n), place);
    std::vector<std::int64_t> parts;
    if (unbind) {
      parts.assign(static_cast<std::size_t>(n), 1);
    } else if (name == "tensor_split") {
      parts = tensor_split_parts(args[0], n, place);
    } else if (name == "split" && !args[0].is_number()) {
      parts = sizes_of({args[0]}, 0, place);
      std::int64_t total = 0;
      for (const std::int64_t part : parts) total = part < 0 || part > n ? n + 1 : std::min(total + part, n + 1);
      if (total != n)
        raise("RuntimeError", fmt::format("split sizes ({}) of a size of {}", fmt::join(parts, ", "), n), place);
    } else {
      const std::int64_t k = integer(args[0], place);
      if (k <= 0) raise("RuntimeError", "a part of no size", place);
      const std::int64_t size = name == "split" ? k : std::max<std::int64_t>(n / k + (n % k != 0 ? 1 : 0), 1);
      if (n == 0) parts.assign(name == "split" ? 1 : static_cast<std::size_t>(std::min<std::int64_t>(k, 10'000)), 0);
      for (std::int64_t done = 0; done < n; done += size) parts.push_back(std::min(size, n - done));
    }
    std::vector<HostValue> out;
    std::int64_t begin = 0;
    for (const std::int64_t part : parts) {
      std::vector<HostValue> index(static_cast<std::size_t>(at), HostValue::sequence(Kind::slice, {{}, {}, {}}));
      index.push_back(unbind
                          ? HostValue::of(begin)
                          : HostValue::sequence(Kind::slice, {HostValue::of(begin), HostValue::of(begin + part), {}}));
      out.push_back(tensor_item(tensor, HostValue::sequence(Kind::tuple, std::move(index)), place));
      begin += part;
    }
    return HostValue::sequence(Kind::tuple, std::move(out));
  }
  if (name == "as_strided") {
    const auto sizes = sizes_of({args[0]}, 0, place), strides = sizes_of({args[1]}, 0, place);
    // The offset counts from the begin of the memory, not of the view.
    const Buffer& own = plan_.buffers[static_cast<std::size_t>(tensor.buffer)];
    const BufferId memory = own.kind == BufferKind::view ? own.base : tensor.buffer;
    const TensorDesc whole = plan_.buffers[static_cast<std::size_t>(memory)].desc;
    const std::int64_t offset = arg(2, own.offset);
    TensorDesc wanted = d;
    wanted.sizes = sizes;
    wanted.strides = strides;
    if (sizes.size() != strides.size() || offset < 0) raise("RuntimeError", "as_strided leaves the tensor", place);
    check_size(wanted, place);
    std::int64_t last = offset;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      last = std::min(limits_.elements, last) + std::max<std::int64_t>(sizes[i] - 1, 0) * strides[i];
    const bool inside = wanted.element_count() == 0 || last < whole.element_count();
    if (!whole.is_contiguous() || whole.dtype != d.dtype || !inside)
      raise("RuntimeError", "as_strided leaves the tensor", place);
    return view(memory, sizes, strides, offset, place);
  }
  return std::nullopt;
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
    if (at < d.sizes.size()) {  // as torch, a second `...` goes past the end
      sizes.push_back(d.sizes[at]);
      strides.push_back(d.strides[at]);
    }
    ++at;
  };
  for (const HostValue& i : items) {
    if (i.is(Kind::none)) {  // as unsqueeze
      sizes.push_back(1);
      strides.push_back(at < d.sizes.size() ? d.sizes[at] * d.strides[at] : 1);
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
      const std::int64_t begin = bound(part[0], 0), end = bound(part[1], n),
                         by = part[2].is(Kind::none) ? 1 : integer(part[2], place);
      if (by <= 0) raise("ValueError", "slice step must be positive", place);
      offset += begin * d.strides[at];
      sizes.push_back(end > begin ? (end - begin - 1) / by + 1 : 0);
      strides.push_back(0);
      if (__builtin_mul_overflow(d.strides[at], by, &strides.back()))
        refuse(Code::limit, "a slice with too large a step", place);
      ++at;
      continue;
    }
    if (!i.is_integral() || i.is(Kind::boolean))
      refuse(Code::policy, "a tensor is indexed by values in a wrapper", place, "gather in a kernel");
    if (i.integer < -n || i.integer >= n)
      raise("IndexError", fmt::format("index {} of a dimension of size {}", i.integer, n), place);
    offset += (i.integer < 0 ? i.integer + n : i.integer) * d.strides[at];
    ++at;
  }
  while (at < d.sizes.size()) keep();
  return view(tensor.buffer, std::move(sizes), std::move(strides), offset, place);
}

}  // namespace passnet
