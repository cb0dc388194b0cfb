// Windows and interpolation: pooling, im2col, nearest and bilinear upsampling. Also the shapes of what is left to ATen.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "author/trace.h"

namespace passnet::author {

namespace {

constexpr std::int64_t kTapLimit = 64;       // taps of a window that is unrolled
constexpr std::int64_t kLongest = 1 << 20;   // places of an interpolation along one dimension
constexpr std::int64_t kExtent = 1LL << 31;  // no size of a window is larger

// Of a window whose sizes are known to be right.
std::int64_t taps_of(const Window& w) {
  std::int64_t taps = 1;
  for (const std::int64_t k : w.kernel) {
    if (k > kTapLimit) throw Unfit{"a large window"};
    taps *= k;
  }
  if (taps > kTapLimit) throw Unfit{"a large window"};
  return taps;
}

// ATen makes pooling along one dimension one along two, whose order of memory is then asked.
void require_row_major(const Call& call, const Handle& h) {
  if (!is_dense({call.trace.sizes(h), h.strides})) throw Unfit{"pooling in another order of memory"};
}

Abstract pool(Call& call) {
  const Handle& h = call.tensor(0);
  Trace& trace = call.trace;
  const std::string name(call.step.schema->name);
  const bool max = name.starts_with("max");
  const std::size_t n = name.ends_with("1d") ? 1 : 2;
  if (h.shape.size() < n + 1 || h.shape.size() > n + 2 || !h.type.floating()) throw Unfit{"pooling of another rank"};
  if (n == 1) require_row_major(call, h);
  Window w;
  w.kernel = spread(call.integers(1), n);
  const auto stride = call.is_none(2) ? std::vector<std::int64_t>{} : call.integers(2);
  w.stride = stride.empty() ? w.kernel : spread(stride, n);
  w.pad = spread(call.integers(3), n);
  w.dilation = max ? spread(call.integers(4), n) : std::vector<std::int64_t>(n, 1);
  const bool ceil = call.boolean(max ? 5 : 4);
  const bool count_padding = max || call.boolean(5);
  if (!max && n == 2 && !call.is_none(6)) throw Unfit{"a divisor"};
  auto sizes = trace.sizes(h);
  const std::vector<std::int64_t> in(sizes.end() - static_cast<std::ptrdiff_t>(n), sizes.end());
  const auto out = window_sizes(in, w, ceil);
  const auto floor_out = window_sizes(in, w, false);
  const std::int64_t taps = taps_of(w);
  if (ceil && out != floor_out) throw Unfit{"windows that are cut off"};
  const bool padded = std::any_of(w.pad.begin(), w.pad.end(), [](std::int64_t p) { return p != 0; });
  if (!max && padded && !count_padding) throw Unfit{"an average without its padding"};
  const Tensor* source = trace.read(h);
  const Dtype compute = compute_dtype(h.type.dtype);
  Tensor t;
  t.shape = h.shape;
  const std::size_t lead = h.shape.size() - n;
  for (std::size_t i = 0; i < n; ++i) t.shape[lead + i] = window_dim(trace, h.shape[lead + i], w, i, out[i]);
  t.type = {compute, -1};
  t.uses = {source};
  t.label = name;
  t.cost = static_cast<double>(taps);
  t.element = [=, shape = h.shape](Kernel& k, const Index& index) {
    const Expr* all = k.window(max ? "max" : "sum", w.kernel, [&](const std::vector<Lin>& tap) {
      Index at = index;
      std::vector<const Expr*> inside;
      for (std::size_t i = 0; i < n; ++i) {
        at[lead + i] = index[lead + i] * Dim(w.stride[i]) + tap[i] * Dim(w.dilation[i]) - Lin(w.pad[i]);
        if (w.pad[i] != 0) inside.push_back(k.inside(at[lead + i], shape[lead + i]));
      }
      return k.select(
          k.all_of(inside), [&] { return k.element(source, at); },
          [&] { return max ? k.literal(-INFINITY, compute) : k.literal(0.0, compute); }, compute);
    });
    if (max) return all;
    return k.op("{0} / {1}", compute, {all, k.literal(static_cast<double>(taps), compute)}, "mean");
  };
  return stored(call, trace.make(std::move(t)), h.type, name);
}

Abstract adaptive_pool(Call& call) {
  const Handle& h = call.tensor(0);
  Trace& trace = call.trace;
  const auto out = call.integers(1);
  const std::size_t n = out.size(), lead = leading(h, n);
  if (!h.type.floating()) throw Unfit{"pooling of integers"};
  if (lead > 2 || lead < 1) throw Unfit{"pooling of another rank"};
  if (n == 1) require_row_major(call, h);
  const auto sizes = trace.sizes(h);
  const Dtype compute = compute_dtype(h.type.dtype);
  const std::string name(call.step.schema->name);
  const Tensor* source = trace.read(h);
  if (std::all_of(out.begin(), out.end(), [](std::int64_t o) { return o == 1; })) {
    std::vector<int> dims;
    Dim count(1);
    for (std::size_t i = 0; i < n; ++i) {
      dims.push_back(static_cast<int>(lead + i));
      count = count * trace.ix.resolve(h.shape[lead + i]);
    }
    const Tensor* value = elementwise(
        trace, {reduced(trace, source, dims, "sum")}, {compute, -1}, "mean", 4,
        [=](Kernel& k, const std::vector<const Expr*>& args) {
          return k.op("{0} / {1}", compute, {k.to(args[0], compute), k.to(k.index(Lin(count)), compute)}, "mean");
        });
    return stored(call, value, h.type, "pool");
  }
  Window w;
  Tensor t;
  t.shape = h.shape;
  for (std::size_t i = 0; i < n; ++i) {
    if (out[i] <= 0 || sizes[lead + i] % out[i] != 0) throw Unfit{"windows of several sizes"};
    w.kernel.push_back(sizes[lead + i] / out[i]);
    t.shape[lead + i] = Dim(out[i]);
    trace.ix.unify(h.shape[lead + i], Dim(sizes[lead + i]));
  }
  const std::int64_t taps = taps_of(w);
  t.type = {compute, -1};
  t.uses = {source};
  t.label = name;
  t.cost = static_cast<double>(taps);
  t.element = [=](Kernel& k, const Index& index) {
    const Expr* all = k.window("sum", w.kernel, [&](const std::vector<Lin>& tap) {
      Index at = index;
      for (std::size_t i = 0; i < n; ++i) at[lead + i] = index[lead + i] * Dim(w.kernel[i]) + tap[i];
      return k.element(source, at);
    });
    return k.op("{0} / {1}", compute, {all, k.literal(static_cast<double>(taps), compute)}, "mean");
  };
  return stored(call, trace.make(std::move(t)), h.type, "pool");
}

// Columns of windows: [n, c * kh * kw, windows]
Abstract im2col(Call& call) {
  const Handle& h = call.tensor(0);
  Trace& trace = call.trace;
  if (h.shape.size() != 4) throw Unfit{"im2col of another rank"};
  const Window w{spread(call.integers(1), 2), spread(call.integers(4), 2), spread(call.integers(3), 2),
                 spread(call.integers(2), 2)};
  const Tensor* six = patches(trace, h, w);
  const std::vector<Dim>& s = six->shape;
  return stored(call, with_shape(trace, six, {s[0], s[1] * s[2] * s[3], s[4] * s[5]}), h.type, "im2col");
}

// The sizes that an interpolation asks for: given, or scaled.
std::vector<std::int64_t> upsample_sizes(Call& call, std::size_t factors_at) {
  if (call.is_none(1)) throw Unfit{"interpolation by a factor"};
  if (call.args.size() > factors_at && !call.is_none(factors_at)) throw Unfit{"interpolation by a factor"};
  return call.integers(1);
}

Abstract nearest(Call& call) {
  const Handle& h = call.tensor(0);
  Trace& trace = call.trace;
  const auto out = upsample_sizes(call, 2);
  const std::size_t n = out.size(), lead = leading(h, n);
  const auto sizes = trace.sizes(h);
  Tensor t;
  t.shape = h.shape;
  std::vector<std::int64_t> in(n);
  for (std::size_t i = 0; i < n; ++i) {
    in[i] = sizes[lead + i];
    if (out[i] < 1 || out[i] > kLongest) throw Unfit{"an interpolation to another size"};
    // ATen multiplies by the quotient in float32; ours are integers, so both must agree everywhere
    const float scale = static_cast<float>(in[i]) / static_cast<float>(out[i]);
    for (std::int64_t o = 0; o < out[i]; ++o)
      if (std::min(static_cast<std::int64_t>(std::floor(static_cast<float>(o) * scale)), in[i] - 1) !=
          o * in[i] / out[i])
        throw Unfit{"an interpolation that depends on rounding"};
    trace.ix.unify(h.shape[lead + i], Dim(in[i]));
    t.shape[lead + i] = Dim(out[i]);
  }
  const Tensor* source = trace.read(h);
  t.type = h.type;
  t.uses = {source};
  t.cost = 2;
  t.label = "nearest";
  t.element = [=](Kernel& k, const Index& index) {
    Index at = index;
    for (std::size_t i = 0; i < n; ++i) {
      Lin& l = at[lead + i];
      if (in[i] == 1)
        l = Lin(0);
      else if (out[i] % in[i] == 0)
        l = k.ix.quotient(l, Dim(out[i] / in[i]));
      else if (out[i] != in[i])
        l = k.ix.quotient(l * Dim(in[i]), Dim(out[i]));
    }
    return k.element(source, at);
  };
  return stored(call, trace.make(std::move(t)), h.type, "interpolate");
}

// Linear interpolation along one dimension, in float32.
const Tensor* blended(Trace& trace, const Tensor* source, std::size_t d, std::int64_t in, std::int64_t to,
                      bool corners) {
  if (in == to) return source;
  Tensor t;
  t.shape = source->shape;
  t.shape[d] = Dim(to);
  t.type = {Dtype::float32, -1};
  t.uses = {source};
  t.cost = 12;
  t.once = d == 3;
  t.label = "blend";
  const Dim size = trace.ix.resolve(source->shape[d]);
  t.element = [=](Kernel& k, const Index& index) {
    Index at = index;
    if (in == 1) {
      at[d] = Lin(0);
      return k.to(k.element(source, at), Dtype::float32);
    }
    const std::string n = k.ix.text(size, true);
    const Expr* o = k.to(k.index(index[d]), Dtype::float32);
    const Expr* step = k.host_number(
        fmt::format("step_{}_{}", d, source->id),
        corners ? fmt::format("({} - 1) / {}", n, std::max<std::int64_t>(to - 1, 1)) : fmt::format("{} / {}", n, to));
    const Expr* real = corners ? k.op("{0} * {1}", Dtype::float32, {o, step}, "at")
                               : k.op("tl.maximum(({0} + 0.5) * {1} - 0.5, 0.0)", Dtype::float32, {o, step}, "at");
    const Expr* low =
        k.op("tl.minimum({0}.to(tl.int32), {1})", Dtype::int32, {real, k.index(Lin(size - Dim(1)))}, "low");
    const Expr* high = k.op("tl.minimum({0} + 1, {1})", Dtype::int32, {low, k.index(Lin(size - Dim(1)))}, "high");
    const Expr* weight = k.op("{0} - {1}.to(tl.float32)", Dtype::float32, {real, low}, "weight");
    at[d] = Lin(k.ix.of_value(low));
    const Expr* a = k.to(k.element(source, at), Dtype::float32);
    at[d] = Lin(k.ix.of_value(high));
    const Expr* b = k.to(k.element(source, at), Dtype::float32);
    return k.op("{0} * (1.0 - {2}) + {1} * {2}", Dtype::float32, {a, b, weight}, "blend");
  };
  auto* made = const_cast<Tensor*>(trace.make(std::move(t)));
  if (d == 3) made->result = made;
  return made;
}

Abstract bilinear(Call& call) {
  const Handle& h = call.tensor(0);
  Trace& trace = call.trace;
  const auto out = upsample_sizes(call, 3);
  const bool corners = call.boolean(2);
  if (h.shape.size() != 4 || !h.type.floating() || h.type.dtype == Dtype::float64)
    throw Unfit{"bilinear interpolation of another kind"};
  const auto sizes = trace.sizes(h);
  if (out.size() != 2 || out[0] < 1 || out[1] < 1) throw Unfit{"an interpolation to another size"};
  if (out[0] == sizes[2] && out[1] == sizes[3]) return stored(call, trace.read(h), h.type, "interpolate");
  // Along the rows first, stored where both rows of an output are needed, then between the rows.
  const Tensor* wide = blended(trace, trace.read(h), 3, sizes[3], out[1], corners);
  const Tensor* value = blended(trace, wide, 2, sizes[2], out[0], corners);
  return stored(call, value, h.type, "interpolate");
}

constexpr RuleRow kRules[] = {
    {"max_pool2d", pool, Memory::channels_last},
    {"max_pool1d", pool},
    {"avg_pool2d", pool, Memory::channels_last},
    {"avg_pool1d", pool},
    {"adaptive_avg_pool2d", adaptive_pool, Memory::channels_last},
    {"adaptive_avg_pool1d", adaptive_pool},
    {"im2col", im2col},
    {"upsample_nearest1d", nearest},
    {"upsample_nearest2d", nearest, Memory::channels_last},
    {"upsample_nearest3d", nearest, Memory::channels_last},
    {"upsample_bilinear2d", bilinear, Memory::channels_last},
};

// ---- shapes of what ATen computes

using Sizes = std::vector<std::int64_t>;

Sizes convolution(const Call& call) {
  const Sizes x = call.trace.sizes(call.tensor(0)), w = call.trace.sizes(call.tensor(1));
  const std::size_t n = leading(call.tensor(1), 2);
  if (n == 0 || x.size() != n + 2 || call.at(4).kind != Abstract::Kind::literal ||
      call.at(4).literal.kind == ValueKind::string)
    throw Unfit{"a convolution of another kind"};
  const Window window{Sizes(w.begin() + 2, w.end()), spread(call.integers(3), n), spread(call.integers(4), n),
                      spread(call.integers(5), n)};
  Sizes out{x[0], w[0]};
  for (const std::int64_t s : window_sizes(Sizes(x.begin() + 2, x.end()), window, false)) out.push_back(s);
  return out;
}
Sizes linear(const Call& call) {
  Sizes out = call.trace.sizes(call.tensor(0));
  const Sizes w = call.trace.sizes(call.tensor(1));
  if (out.empty() || w.size() != 2) throw Unfit{"linear of another kind"};
  out.back() = w[0];
  return out;
}
Sizes matmul(const Call& call) {
  const Sizes a = call.trace.sizes(call.tensor(0)), b = call.trace.sizes(call.tensor(1));
  if (a.size() < 2 || b.size() < 2) throw Unfit{"a product with a vector"};
  Sizes out;
  const std::size_t rank = std::max(a.size(), b.size());
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    const std::int64_t x = i + a.size() >= rank ? a[i + a.size() - rank] : 1,
                       y = i + b.size() >= rank ? b[i + b.size() - rank] : 1;
    out.push_back(x == 1 ? y : x);
  }
  out.push_back(a[a.size() - 2]);
  out.push_back(b.back());
  return out;
}
Sizes attention(const Call& call) {
  Sizes out = call.trace.sizes(call.tensor(0));
  leading(call.tensor(0), 2);
  leading(call.tensor(2), 2);
  out.back() = call.trace.sizes(call.tensor(2)).back();
  return out;
}
Sizes same_shape(const Call& call) { return call.trace.sizes(call.tensor(0)); }
Sizes bicubic(const Call& call) {
  if (call.is_none(1)) throw Unfit{"interpolation by a factor"};
  Sizes out = call.trace.sizes(call.tensor(0));
  const auto to = call.integers(1);
  if (out.size() != to.size() + 2) throw Unfit{"interpolation of another rank"};
  std::copy(to.begin(), to.end(), out.begin() + 2);
  return out;
}

struct OpaqueRow {
  std::string_view op;
  Sizes (*sizes)(const Call&);
  Memory memory = Memory::contiguous;
};
constexpr OpaqueRow kOpaque[] = {
    {"conv1d", convolution},
    {"conv2d", convolution, Memory::channels_last},
    {"conv3d", convolution, Memory::channels_last},
    {"linear", linear},
    {"matmul", matmul},
    {"bmm", matmul},
    {"scaled_dot_product_attention", attention},
    {"cumsum", same_shape},
    {"upsample_bicubic2d", bicubic, Memory::channels_last},
    {"upsample_bilinear2d", bicubic, Memory::channels_last},
    {"softmax", same_shape},
    {"layer_norm", same_shape},
    {"batch_norm", same_shape, Memory::channels_last},
    {"group_norm", same_shape, Memory::channels_last},
};

// Of two factors: stored as it is computed, and permuted.
Opaque einsum(const Call& call) {
  const Einsum e = parse_einsum(call);
  std::map<char, std::int64_t> size, stride;
  for (const std::size_t i : {0, 1})
    for (std::size_t d = 0; d < e.factors[i].size(); ++d)
      size[e.factors[i][d]] = call.trace.sizes(call.tensors(1)[i])[d];
  std::int64_t below = 1;
  const std::string computed = e.computed();
  for (std::size_t d = computed.size(); d-- > 0;) {
    stride[computed[d]] = below;
    below *= std::max<std::int64_t>(size[computed[d]], 1);
  }
  Opaque out{{}, {}, call.tensors(1)[0].type.dtype};
  for (const char c : e.result) {
    out.sizes.push_back(size[c]);
    out.strides.push_back(stride[c]);
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> spread(std::vector<std::int64_t> v, std::size_t n) {
  if (v.size() == 1) v.resize(n, v[0]);
  if (v.size() != n) throw Unfit{"a window of another rank"};
  return v;
}

std::vector<std::int64_t> window_sizes(const std::vector<std::int64_t>& in, const Window& w, bool ceil) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (w.kernel[i] < 1 || w.stride[i] < 1 || w.dilation[i] < 1 || w.pad[i] < 0)
      throw Unfit{"a window without extent, or that does not move"};
    for (const std::int64_t size : {in[i], w.kernel[i], w.stride[i], w.dilation[i], w.pad[i]})
      if (size > kExtent) throw Unfit{"a window that is too large"};
    const std::int64_t span = in[i] + 2 * w.pad[i] - w.dilation[i] * (w.kernel[i] - 1) - 1;
    if (span < 0) throw Unfit{"a window larger than its input"};
    std::int64_t n = span / w.stride[i] + 1;
    if (ceil && span % w.stride[i] != 0 && n * w.stride[i] < in[i] + w.pad[i]) ++n;
    out.push_back(n);
  }
  return out;
}

Dim window_dim(Trace& trace, const Dim& in, const Window& w, std::size_t i, std::int64_t out) {
  if (out == 1) return Dim(1);
  const std::int64_t reach = w.dilation[i] * (w.kernel[i] - 1) + 1;
  if (w.stride[i] == 1) return in + Dim(2 * w.pad[i] - reach + 1);
  return trace.ix.derived(
      "out", fmt::format("({} - {}) // {} + 1", trace.ix.text(in + Dim(2 * w.pad[i]), true), reach, w.stride[i]), out);
}

const Tensor* patches(Trace& trace, const Handle& h, const Window& w) {
  const std::size_t n = w.kernel.size();
  if (leading(h, n) != 2) throw Unfit{"windows of another rank"};
  const auto sizes = trace.sizes(h);
  const auto out = window_sizes({sizes.begin() + 2, sizes.end()}, w, false);
  const Tensor* source = trace.read(h);
  Tensor t;
  t.shape = {h.shape[0], h.shape[1]};
  t.shape.insert(t.shape.end(), w.kernel.begin(), w.kernel.end());
  for (std::size_t i = 0; i < n; ++i) t.shape.push_back(window_dim(trace, h.shape[2 + i], w, i, out[i]));
  t.type = h.type;
  t.uses = {source};
  t.label = source->label;
  t.element = [=, shape = h.shape](Kernel& k, const Index& index) {
    Index at{index[0], index[1]};
    std::vector<const Expr*> inside;
    for (std::size_t i = 0; i < n; ++i) {
      at.push_back(index[2 + n + i] * Dim(w.stride[i]) + index[2 + i] * Dim(w.dilation[i]) - Lin(w.pad[i]));
      if (w.pad[i] != 0) inside.push_back(k.inside(at.back(), shape[2 + i]));
      if (k.ix.resolve(shape[2 + i]).is(1)) at.back() = Lin(0);
    }
    const Dtype c = source->type.floating() ? compute_dtype(source->type.dtype) : source->type.dtype;
    return k.select(
        k.all_of(inside), [&] { return k.element(source, at); }, [&] { return k.literal(std::int64_t{0}, c); }, c);
  };
  return trace.make(std::move(t));
}

std::span<const RuleRow> rules_window() { return kRules; }

std::vector<Opaque> opaque_results(const Call& call) {
  const std::string_view name = call.step.schema->name;
  if (name == "einsum") return {einsum(call)};
  for (const OpaqueRow& row : kOpaque) {
    if (row.op != name) continue;
    Opaque out;
    out.sizes = row.sizes(call);
    out.dtype = call.tensor(0).type.dtype;
    if (name == "cumsum" && !dtype_row(out.dtype).floating) out.dtype = Dtype::int64;
    const Layout first[] = {{call.trace.sizes(call.tensor(0)), call.tensor(0).strides}};
    const std::vector<int> order = memory_order(row.memory, out.sizes, first);
    Sizes by_order;
    for (const int d : order) by_order.push_back(out.sizes[static_cast<std::size_t>(d)]);
    const Sizes strides = dense_strides(by_order);
    out.strides.resize(out.sizes.size());
    for (std::size_t i = 0; i < order.size(); ++i) out.strides[static_cast<std::size_t>(order[i])] = strides[i];
    return {std::move(out)};
  }
  throw Unfit{"a result of unknown shape"};
}

}  // namespace passnet::author
