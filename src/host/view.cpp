// Views in a host program: shapes, strides and offsets as torch has them; no data moves.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "host/machine.h"

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

struct HostMachine::Views {
  using Call = HostCall;
  using Numbers = std::vector<std::int64_t>;
  struct Tensor {
    const HostValue& value;
    TensorDesc d;  // a copy: a view is one buffer more
    std::size_t rank;
  };
  using Run = HostValue (*)(HostMachine& m, const Tensor& t, const Call& c);

  static std::int64_t arg(HostMachine& m, const Call& c, std::size_t i, std::int64_t otherwise) {
    return c.has(i) ? m.integer(c.args[i], c.place) : otherwise;
  }
  static std::int64_t dim(HostMachine& m, const Tensor& t, const Call& c, std::size_t i, std::int64_t otherwise = 0) {
    return m.wrap_dim(arg(m, c, i, otherwise), t.rank, c.place);
  }
  static Numbers shape_of(HostMachine& m, const Call& c, std::size_t i) {
    if (!c.args[i].is(Kind::tensor)) m.raise("TypeError", fmt::format("{}() needs a tensor", c.name), c.place);
    return m.desc(c.args[i]).sizes;
  }
  static HostValue view(HostMachine& m, const Tensor& t, const Call& c, Numbers sizes, Numbers strides) {
    return m.view(t.value.buffer, std::move(sizes), std::move(strides), 0, c.place);
  }

  // ---- other shapes

  static HostValue reshape(HostMachine& m, const Tensor& t, const Call& c) {  // view, reshape
    if (c.args.size() == 1 && c.args[0].is(Kind::dtype)) return same_bits(m, t, c);
    return m.reshape(t.value.buffer, m.sizes_of(c.args, 0, c.place), c.name == "reshape", c.place);
  }

  static HostValue same_bits(HostMachine& m, const Tensor& t, const Call& c) {  // view(dtype)
    const DtypeRow &from = dtype_row(t.d.dtype), &to = dtype_row(c.args[0].dtype);
    if (from.size != to.size)
      m.refuse(Code::host, fmt::format("view of {} as {}, whose elements have another size", from.name, to.name),
               c.place, "views are of types of one size; cast in the kernel");
    const HostValue out = view(m, t, c, t.d.sizes, t.d.strides);
    m.plan_.buffers[static_cast<std::size_t>(out.buffer)].desc.dtype = c.args[0].dtype;
    return out;
  }

  static HostValue reshape_as(HostMachine& m, const Tensor& t, const Call& c) {  // view_as, reshape_as
    return m.reshape(t.value.buffer, shape_of(m, c, 0), c.name == "reshape_as", c.place);
  }

  static HostValue ravel(HostMachine& m, const Tensor& t, const Call& c) {
    return m.reshape(t.value.buffer, {-1}, true, c.place);
  }

  static HostValue flatten(HostMachine& m, const Tensor& t, const Call& c) {
    if (t.rank == 0) return m.reshape(t.value.buffer, {1}, true, c.place);
    const std::int64_t begin = dim(m, t, c, 0), end = dim(m, t, c, 1, -1);
    Numbers sizes(t.d.sizes.begin(), t.d.sizes.begin() + begin);
    std::int64_t joined = 1;
    for (std::int64_t i = begin; i <= end; ++i) joined *= t.d.sizes[static_cast<std::size_t>(i)];
    if (end < begin) m.raise("RuntimeError", "flatten() with start_dim behind end_dim", c.place);
    sizes.push_back(joined);
    sizes.insert(sizes.end(), t.d.sizes.begin() + end + 1, t.d.sizes.end());
    return m.reshape(t.value.buffer, sizes, true, c.place);
  }

  static HostValue unflatten(HostMachine& m, const Tensor& t, const Call& c) {
    if (t.rank == 0) m.raise("RuntimeError", "unflatten() of a tensor without dimensions", c.place);
    const std::int64_t at = m.wrap_dim(m.integer(c.args[0], c.place), t.rank, c.place);
    Numbers sizes(t.d.sizes.begin(), t.d.sizes.begin() + at);
    for (const HostValue& v : m.iterate(c.args[1], c.place)) sizes.push_back(m.integer(v, c.place));
    sizes.insert(sizes.end(), t.d.sizes.begin() + at + 1, t.d.sizes.end());
    return m.reshape(t.value.buffer, sizes, false, c.place);
  }

  // ---- dimensions in another order

  static HostValue permuted(HostMachine& m, const Tensor& t, const Call& c, const Numbers& order) {
    if (order.size() != t.rank) m.raise("RuntimeError", "permute needs every dimension once", c.place);
    Numbers sizes, strides;
    std::vector<bool> seen(t.rank, false);
    for (const std::int64_t o : order) {
      const auto at = static_cast<std::size_t>(m.wrap_dim(o, t.rank, c.place));
      if (seen[at]) m.raise("RuntimeError", "permute needs every dimension once", c.place);
      seen[at] = true;
      sizes.push_back(t.d.sizes[at]);
      strides.push_back(t.d.strides[at]);
    }
    return view(m, t, c, sizes, strides);
  }

  static HostValue permute(HostMachine& m, const Tensor& t, const Call& c) {
    return permuted(m, t, c, m.sizes_of(c.args, 0, c.place));
  }
  static HostValue permute_reversed(HostMachine& m, const Tensor& t, const Call& c) {
    Numbers order;
    for (std::size_t i = t.rank; i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
    return permuted(m, t, c, order);
  }

  static HostValue transpose(HostMachine& m, const Tensor& t, const Call& c) {  // swapaxes, swapdims, t, transpose_last
    if (t.rank < 2) {
      const bool valid = c.name == "t" || (c.args.size() == 2 && dim(m, t, c, 0) == dim(m, t, c, 1));
      if (valid) return view(m, t, c, t.d.sizes, t.d.strides);
      m.raise("IndexError", "transpose needs two dimensions", c.place);
    }
    const bool last = c.name == "t" || c.name == "transpose_last";
    if (c.name == "t" && t.rank > 2) m.raise("RuntimeError", "t() of a tensor with more than two dimensions", c.place);
    const auto a = static_cast<std::size_t>(last ? t.rank - 2 : dim(m, t, c, 0)),
               b = static_cast<std::size_t>(last ? t.rank - 1 : dim(m, t, c, 1));
    Numbers sizes = t.d.sizes, strides = t.d.strides;
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
    return view(m, t, c, sizes, strides);
  }

  static HostValue movedim(HostMachine& m, const Tensor& t, const Call& c) {
    const auto all = [&](const HostValue& v) { return v.is_number() ? HostArgs{v} : m.iterate(v, c.place); };
    const HostArgs from = all(c.args[0]), to = all(c.args[1]);
    if (from.size() != to.size()) m.raise("RuntimeError", "movedim: as many sources as destinations", c.place);
    if (t.rank == 0) return view(m, t, c, t.d.sizes, t.d.strides);
    std::vector<std::size_t> order(t.rank, t.rank);  // the dimension that comes where
    std::vector<bool> moved(t.rank, false);
    const auto place = [&](const HostValue& v) {
      return static_cast<std::size_t>(m.wrap_dim(m.integer(v, c.place), t.rank, c.place));
    };
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::size_t source = place(from[i]), target = place(to[i]);
      if (moved[source] || order[target] != t.rank) m.raise("RuntimeError", "movedim: repeated dim", c.place);
      moved[source] = true;
      order[target] = source;
    }
    Numbers sizes, strides;
    std::size_t next = 0;
    for (std::size_t source : order) {
      if (source == t.rank) {
        while (moved[next]) ++next;
        source = next++;
      }
      sizes.push_back(t.d.sizes[source]);
      strides.push_back(t.d.strides[source]);
    }
    return view(m, t, c, sizes, strides);
  }

  // ---- more dimensions, or fewer

  static HostValue expand(HostMachine& m, const Tensor& t, const Call& c) {  // expand, broadcast_to, expand_as
    Numbers sizes = c.name == "expand_as" ? shape_of(m, c, 0) : m.sizes_of(c.args, 0, c.place);
    if (sizes.size() < t.rank) m.raise("RuntimeError", "expand to fewer dimensions", c.place);
    Numbers strides(sizes.size(), 0);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (i < sizes.size() - t.rank) {
        if (sizes[i] < 0) m.raise("RuntimeError", "expand to a size of -1 where there is no dimension", c.place);
        continue;
      }
      const std::size_t old = i - (sizes.size() - t.rank);
      if (sizes[i] == -1 || sizes[i] == t.d.sizes[old])
        sizes[i] = t.d.sizes[old], strides[i] = t.d.strides[old];
      else if (t.d.sizes[old] != 1)
        m.raise("RuntimeError", fmt::format("size {} cannot be expanded to {}", t.d.sizes[old], sizes[i]), c.place);
    }
    return view(m, t, c, sizes, strides);
  }

  static HostValue unsqueeze(HostMachine& m, const Tensor& t, const Call& c) {
    const auto at = static_cast<std::size_t>(m.wrap_dim(m.integer(c.args[0], c.place), t.rank + 1, c.place));
    Numbers sizes = t.d.sizes, strides = t.d.strides;
    strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(at),
                   at < t.rank ? t.d.sizes[at] * t.d.strides[at] : 1);
    sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(at), 1);
    return view(m, t, c, sizes, strides);
  }

  static HostValue squeeze(HostMachine& m, const Tensor& t, const Call& c) {
    std::vector<bool> drop(t.rank, c.args.empty());
    if (!c.args.empty())
      for (const std::int64_t o : m.sizes_of(c.args, 0, c.place))
        if (const auto at = static_cast<std::size_t>(m.wrap_dim(o, t.rank, c.place)); at < t.rank) drop[at] = true;
    Numbers sizes, strides;
    for (std::size_t i = 0; i < t.rank; ++i)
      if (!drop[i] || t.d.sizes[i] != 1) sizes.push_back(t.d.sizes[i]), strides.push_back(t.d.strides[i]);
    return view(m, t, c, sizes, strides);
  }

  // ---- parts: rows, ranges and windows

  // What a dimension has at an index.
  static HostValue part(HostMachine& m, const Tensor& t, const Call& c, std::int64_t at, HostValue item) {
    std::vector<HostValue> index(static_cast<std::size_t>(at), HostValue::sequence(Kind::slice, {{}, {}, {}}));
    index.push_back(std::move(item));
    return m.tensor_item(t.value, HostValue::sequence(Kind::tuple, std::move(index)), c.place);
  }
  static HostValue slice(std::int64_t begin, std::int64_t length) {
    return HostValue::sequence(Kind::slice, {HostValue::of(begin), HostValue::of(begin + length), {}});
  }

  static HostValue select(HostMachine& m, const Tensor& t, const Call& c) {
    const std::int64_t at = m.wrap_dim(m.integer(c.args[0], c.place), t.rank, c.place);
    m.integer(c.args[1], c.place);  // or it says why not
    return part(m, t, c, at, c.args[1]);
  }

  static HostValue narrow(HostMachine& m, const Tensor& t, const Call& c) {
    const std::int64_t at = m.wrap_dim(m.integer(c.args[0], c.place), t.rank, c.place),
                       n = t.rank == 0 ? 1 : t.d.sizes[static_cast<std::size_t>(at)];
    std::int64_t begin = m.integer(c.args[1], c.place);
    const std::int64_t length = m.integer(c.args[2], c.place);
    if (begin < 0 && begin >= -n) begin += n;
    if (begin < 0 || length < 0 || begin > n || length > n - begin)
      m.raise("RuntimeError", fmt::format("narrow from {} by {} of a size of {}", begin, length, n), c.place);
    return part(m, t, c, at, slice(begin, length));
  }

  // Windows along a dimension, each a row of a new last one.
  static HostValue unfold(HostMachine& m, const Tensor& t, const Call& c) {
    if (t.rank == 0) m.raise("RuntimeError", "unfold of a tensor without dimensions", c.place);
    const auto at = static_cast<std::size_t>(dim(m, t, c, 0));
    const std::int64_t size = m.integer(c.args[1], c.place), step = m.integer(c.args[2], c.place), n = t.d.sizes[at];
    if (size < 0 || size > n)
      m.raise("RuntimeError", fmt::format("maximum size for tensor at dimension {} is {} but size is {}", at, n, size),
              c.place);
    if (step <= 0) m.raise("RuntimeError", fmt::format("step is {} but must be > 0", step), c.place);
    Numbers sizes = t.d.sizes, strides = t.d.strides;
    sizes.push_back(size);
    strides.push_back(strides[at]);
    sizes[at] = (n - size) / step + 1;
    strides[at] *= sizes[at] > 1 ? step : 1;  // nobody takes the step, which may be huge
    return view(m, t, c, std::move(sizes), std::move(strides));
  }

  static HostValue diagonal(HostMachine& m, const Tensor& t, const Call& c) {
    const auto row = static_cast<std::size_t>(dim(m, t, c, 1)), column = static_cast<std::size_t>(dim(m, t, c, 2, 1));
    if (row == column) m.raise("RuntimeError", "diagonal dimensions cannot be identical", c.place);
    const std::int64_t off = std::clamp(arg(m, c, 0, 0), -t.d.sizes[row], t.d.sizes[column]);
    const std::int64_t length = std::max<std::int64_t>(
        std::min(t.d.sizes[row] + std::min<std::int64_t>(off, 0), t.d.sizes[column] - std::max<std::int64_t>(off, 0)),
        0);
    Numbers sizes, strides;
    for (std::size_t i = 0; i < t.rank; ++i) {
      if (i == row || i == column) continue;
      sizes.push_back(t.d.sizes[i]);
      strides.push_back(t.d.strides[i]);
    }
    sizes.push_back(length);
    strides.push_back(t.d.strides[row] + t.d.strides[column]);
    const std::int64_t start = length == 0 ? 0 : off * (off < 0 ? -t.d.strides[row] : t.d.strides[column]);
    return m.view(t.value.buffer, std::move(sizes), std::move(strides), start, c.place);
  }

  // The dimension that is cut, by the argument that names it.
  struct Cut {
    std::int64_t at, size;
  };
  static Cut cut(HostMachine& m, const Tensor& t, const Call& c, std::size_t i) {
    const std::int64_t at = dim(m, t, c, i);
    if (t.rank == 0) m.raise("RuntimeError", fmt::format("{}() of a tensor without dimensions", c.name), c.place);
    const std::int64_t n = t.d.sizes[static_cast<std::size_t>(at)];
    return {at, n};
  }
  static void check_parts(HostMachine& m, const Call& c, std::int64_t count) {
    constexpr std::int64_t kMost = 10'000;
    if (count > kMost)
      m.refuse(Code::limit, fmt::format("{}() into {} parts, and no more than {} are made", c.name, count, kMost),
               c.place);
  }

  static HostValue unbind(HostMachine& m, const Tensor& t, const Call& c) {
    const Cut by = cut(m, t, c, 0);
    check_parts(m, c, by.size);
    std::vector<HostValue> out;
    for (std::int64_t i = 0; i < by.size; ++i) out.push_back(part(m, t, c, by.at, HostValue::of(i)));
    return HostValue::sequence(Kind::tuple, std::move(out));
  }

  static HostValue split(HostMachine& m, const Tensor& t, const Call& c) {  // chunk, split, tensor_split
    const Cut by = cut(m, t, c, 1);
    const Numbers parts = c.name == "tensor_split"                      ? parts_or_begins(m, c, by.size)
                          : c.name == "split" && !c.args[0].is_number() ? listed_parts(m, c, by.size)
                                                                        : equal_parts(m, c, by.size);
    std::vector<HostValue> out;
    std::int64_t begin = 0;
    for (const std::int64_t length : parts) {
      out.push_back(part(m, t, c, by.at, slice(begin, length)));
      begin += length;
    }
    return HostValue::sequence(Kind::tuple, std::move(out));
  }

  // chunk: so many parts; split: parts so long; the last is what is left.
  static Numbers equal_parts(HostMachine& m, const Call& c, std::int64_t n) {
    const bool split = c.name == "split";
    const std::int64_t k = m.integer(c.args[0], c.place);
    if (k <= 0) m.raise("RuntimeError", "a part of no size", c.place);
    const std::int64_t size = split ? k : std::max<std::int64_t>(n / k + (n % k != 0 ? 1 : 0), 1);
    check_parts(m, c, n == 0 && !split ? k : n / size + (n % size != 0 ? 1 : 0));
    Numbers parts;
    if (n == 0) parts.assign(split ? 1 : static_cast<std::size_t>(k), 0);
    for (std::int64_t done = 0; done < n; done += size) parts.push_back(std::min(size, n - done));
    return parts;
  }

  static Numbers listed_parts(HostMachine& m, const Call& c, std::int64_t n) {
    Numbers parts = m.sizes_of({c.args[0]}, 0, c.place);
    std::int64_t total = 0;
    for (const std::int64_t part : parts) total = part < 0 || part > n ? n + 1 : std::min(total + part, n + 1);
    if (total != n)
      m.raise("RuntimeError", fmt::format("split sizes ({}) of a size of {}", fmt::join(parts, ", "), n), c.place);
    return parts;
  }

  // tensor_split: so many parts, the first a little longer, or where they begin.
  static Numbers parts_or_begins(HostMachine& m, const Call& c, std::int64_t n) {
    Numbers parts;
    if (c.args[0].is_number()) {
      const std::int64_t k = m.integer(c.args[0], c.place);
      if (k <= 0) m.raise("RuntimeError", "number of sections must be larger than 0", c.place);
      check_parts(m, c, k);
      for (std::int64_t i = 0; i < k; ++i) parts.push_back(n / k + (i < n % k ? 1 : 0));
      return parts;
    }
    std::int64_t begin = 0;
    for (std::int64_t end : m.sizes_of({c.args[0]}, 0, c.place)) {
      end = std::clamp<std::int64_t>(end < 0 ? end + n : end, 0, n);
      if (end < begin) m.refuse(Code::host, "tensor_split() at indices that go back", c.place, "write slices");
      parts.push_back(end - begin);
      begin = end;
    }
    parts.push_back(n - begin);
    return parts;
  }

  static HostValue as_strided(HostMachine& m, const Tensor& t, const Call& c) {
    const auto sizes = m.sizes_of({c.args[0]}, 0, c.place), strides = m.sizes_of({c.args[1]}, 0, c.place);
    // The offset counts from the begin of the memory, not of the view.
    const Buffer& own = m.plan_.buffers[static_cast<std::size_t>(t.value.buffer)];
    const BufferId memory = own.kind == BufferKind::view ? own.base : t.value.buffer;
    const TensorDesc whole = m.plan_.buffers[static_cast<std::size_t>(memory)].desc;
    const std::int64_t offset = arg(m, c, 2, own.offset);
    TensorDesc wanted = t.d;
    wanted.sizes = sizes;
    wanted.strides = strides;
    if (sizes.size() != strides.size() || offset < 0) m.raise("RuntimeError", "as_strided leaves the tensor", c.place);
    m.check_size(wanted, c.place);
    std::int64_t last = offset;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      last = std::min(m.limits_.elements, last) + std::max<std::int64_t>(sizes[i] - 1, 0) * strides[i];
    const bool inside = wanted.element_count() == 0 || last < whole.element_count();
    if (!whole.is_contiguous() || whole.dtype != t.d.dtype || !inside)
      m.raise("RuntimeError", "as_strided leaves the tensor", c.place);
    return m.view(memory, sizes, strides, offset, c.place);
  }

  static Run find(std::string_view name);
};

HostMachine::Views::Run HostMachine::Views::find(std::string_view name) {
  static const std::unordered_map<std::string_view, Run> kAll = {
      {"as_strided", as_strided}, {"broadcast_to", expand}, {"chunk", split},
      {"diagonal", diagonal},     {"expand", expand},       {"expand_as", expand},
      {"flatten", flatten},       {"moveaxis", movedim},    {"movedim", movedim},
      {"narrow", narrow},         {"permute", permute},     {"permute_reversed", permute_reversed},
      {"ravel", ravel},           {"reshape", reshape},     {"reshape_as", reshape_as},
      {"select", select},         {"split", split},         {"squeeze", squeeze},
      {"swapaxes", transpose},    {"swapdims", transpose},  {"t", transpose},
      {"tensor_split", split},    {"transpose", transpose}, {"transpose_last", transpose},
      {"unbind", unbind},         {"unflatten", unflatten}, {"unfold", unfold},
      {"unsqueeze", unsqueeze},   {"view", reshape},        {"view_as", reshape_as},
  };
  return find_row(kAll, name);
}

std::optional<HostValue> HostMachine::view_method(const HostValue& tensor, const HostCall& call) {
  const Views::Run found = Views::find(call.name);
  if (found == nullptr) return std::nullopt;
  const TensorDesc& d = desc(tensor);
  return found(*this, {tensor, d, d.sizes.size()}, call);
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
        const std::int64_t b = exact_integer(v, place).clamped();
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
    const std::int64_t given = i.integer.clamped();
    if (given < -n || given >= n)
      raise("IndexError", fmt::format("index {} of a dimension of size {}", i.integer.text(), n), place);
    offset += (given < 0 ? given + n : given) * d.strides[at];
    ++at;
  }
  while (at < d.sizes.size()) keep();
  return view(tensor.buffer, std::move(sizes), std::move(strides), offset, place);
}

}  // namespace passnet
