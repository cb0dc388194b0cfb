// Products: convolutions, linear layers and matrix products as sums of products of two tensors' elements.
//
// The sum over k of a[batch, m, k] * b[batch, k, n] has one of three forms. Few terms are unrolled like a window, since
// then everything stays in registers. Where a row or a column is all there is, memory is read once, along k: a
// reduction. Anything else is a product of tiles. Inside, all is float32 as in ATen's kernels, and rounded once with
// the bias.
#include <fmt/format.h>

#include <algorithm>

#include "author/cost.h"
#include "author/trace.h"

namespace passnet::author {

namespace {

constexpr std::int64_t kFewTerms = 32, kFewAlong = 8;  // of a sum that is unrolled; where memory runs along the terms
constexpr std::int64_t kTapLimit = 100;                // taps of a convolution that is unrolled
constexpr std::int64_t kThin = 4;                      // so few rows or columns make a reduction
constexpr std::int64_t kTile = 16;                     // least size of a tile

Dtype product_dtype(const Call& call) {
  if (!call.trace.products) throw Unfit{fmt::format("aten::{} is left to ATen", call.step.schema->name)};
  const Type &a = call.tensor(0).type, &b = call.tensor(1).type;
  if (!a.floating() || a.dtype != b.dtype) throw Unfit{"a product of other types"};
  return compute_dtype(a.dtype);
}

void require_dense(const Call& call, const Handle& h) {
  const auto sizes = call.trace.sizes(h);
  std::int64_t expected = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] != 1 && h.strides[d] != expected) throw Unfit{"a convolution in another order of memory"};
    expected *= sizes[d];
  }
}

// A tensor whose element is another's at a mapped index.
using IndexMap = std::function<Index(Indices&, const Index&)>;
const Tensor* mapped(Trace& trace, const Tensor* source, std::vector<Dim> shape, IndexMap to_source) {
  Tensor t;
  t.shape = std::move(shape);
  t.type = source->type;
  t.uses = {source};
  t.cost = 0;
  t.label = source->label;
  t.element = [source, to_source = std::move(to_source)](Kernel& k, const Index& index) {
    return k.element(source, to_source(k.ix, index));
  };
  return trace.make(std::move(t));
}

// a: [batch, m, k], b: [batch, k, n]. `along`: b's memory runs along k, as a's does.
const Tensor* product(Call& call, const Tensor* a, const Tensor* b, bool along, Dtype compute) {
  Trace& trace = call.trace;
  const auto size = [&](const Tensor* t, std::size_t d) { return trace.ix.value(trace.ix.resolve(t->shape[d])); };
  const std::int64_t batch = size(a, 0), m = size(a, 1), n = size(b, 2), terms = size(a, 2);
  if (size(b, 1) != terms) throw Unfit{"a product of other sizes"};
  trace.ix.unify(a->shape[2], b->shape[1]);
  Tensor t;
  t.shape = {a->shape[0], a->shape[1], b->shape[2]};
  t.type = {compute, -1};
  t.uses = {a, b};
  t.label = "product";
  t.cost = static_cast<double>(terms);
  const bool small = m < kTile / 2 || n < kTile;  // tiles would be mostly empty
  const bool few = terms <= (along ? kFewAlong : small ? kFewTerms : kTile), thin = along && (m <= kThin || n <= kThin);
  if (few) {
    require_own(call, ProductForm::unrolled, batch * m * n, terms);
    trace.ix.unify(a->shape[2], Dim(terms));
    t.element = [=](Kernel& k, const Index& index) {
      return k.window_of_products({terms}, [&](const std::vector<Lin>& tap) -> Kernel::Factors {
        return {k.to(k.element(a, {index[0], index[1], tap[0]}), compute),
                k.to(k.element(b, {index[0], tap[0], index[2]}), compute)};
      });
    };
    return trace.make(std::move(t));
  }
  if (thin) {
    require_own(call, ProductForm::reduced, batch * m * n, terms);
    Tensor all;
    all.shape = {a->shape[0], a->shape[1], b->shape[2], a->shape[2]};
    all.type = t.type;
    all.uses = t.uses;
    all.label = "product";
    all.element = [=](Kernel& k, const Index& index) {
      return k.op("{0} * {1}", compute,
                  {k.to(k.element(a, {index[0], index[1], index[3]}), compute),
                   k.to(k.element(b, {index[0], index[3], index[2]}), compute)},
                  "product");
    };
    const Tensor* sum = reduced(trace, trace.make(std::move(all)), {3}, "sum");
    return mapped(trace, sum, t.shape, [](Indices&, const Index& index) {
      return Index{index[0], index[1], index[2], Lin(0)};
    });
  }
  if (terms < kTile || compute != Dtype::float32) throw Unfit{"a product of another kind"};
  require_own(call, ProductForm::tiles, batch * m * n, terms);
  t.once = true;
  t.element = [=](Kernel& k, const Index& index) { return k.product(k.current(), a, b, index); };
  return trace.make(std::move(t));
}

// With the bias along dimension d, as eager stores it.
Abstract stored(Call& call, const Tensor* value, std::size_t bias_at, std::size_t d, Dtype compute) {
  Trace& trace = call.trace;
  const Type type = call.tensor(0).type;
  const std::string label(call.step.schema->name);
  if (bias_at < call.args.size() && !call.is_none(bias_at)) {
    const Handle& bias = call.tensor(bias_at);
    if (bias.shape.size() != 1 || bias.type.dtype != type.dtype) throw Unfit{"a bias of another kind"};
    const Tensor* along =
        mapped(trace, trace.read(bias), value->shape, [d](Indices&, const Index& index) { return Index{index[d]}; });
    value = elementwise(trace, {value, along}, {compute, -1}, label, value->cost,
                        [=](Kernel& k, const std::vector<const Expr*>& args) {
                          return k.op("{0} + {1}", compute, {k.to(args[0], compute), k.to(args[1], compute)}, label);
                        });
  }
  return Abstract::of(trace.fresh(finished(trace, value, type, label)));
}

Dim total(const std::vector<Dim>& shape, std::size_t from, std::size_t to) {
  Dim out(1);
  for (std::size_t d = from; d < to; ++d) out = out * shape[d];
  return out;
}

Abstract linear(Call& call) {
  const Dtype compute = product_dtype(call);
  Trace& trace = call.trace;
  const Handle &x = call.tensor(0), &w = call.tensor(1);
  const std::size_t rank = x.shape.size();
  if (rank == 0 || w.shape.size() != 2) throw Unfit{"linear of another kind"};
  const Tensor* a = with_shape(trace, trace.read(x), {Dim(1), total(x.shape, 0, rank - 1), x.shape[rank - 1]});
  const Tensor* b = mapped(trace, trace.read(w), {Dim(1), w.shape[1], w.shape[0]}, [](Indices&, const Index& index) {
    return Index{index[2], index[1]};
  });
  std::vector<Dim> shape = x.shape;
  shape[rank - 1] = w.shape[0];
  return stored(call, with_shape(trace, product(call, a, b, true, compute), shape), 2, rank - 1, compute);
}

// matmul and bmm. A batch that only one factor has is broadcast; a matrix for all is one product with more rows.
Abstract matmul(Call& call) {
  const Dtype compute = product_dtype(call);
  Trace& trace = call.trace;
  const Handle &x = call.tensor(0), &y = call.tensor(1);
  const std::size_t rx = x.shape.size(), ry = y.shape.size();
  if (rx < 2 || ry < 2) throw Unfit{"a product with a vector"};
  const bool shared = ry == 2;
  const std::size_t rank = std::max(rx, ry);
  std::vector<Dim> batch;
  if (!shared) {
    const std::vector<Dim> lead[] = {{x.shape.begin(), x.shape.end() - 2}, {y.shape.begin(), y.shape.end() - 2}};
    batch = trace.broadcast(lead);
  }
  const Dim count = total(batch, 0, batch.size());
  const auto factor = [&](const Handle& h) {
    const Tensor* source = trace.read(h);
    std::vector<Dim> shape = batch;
    shape.insert(shape.end(), h.shape.end() - 2, h.shape.end());
    const Tensor* wide = mapped(trace, source, shape, [own = h.shape](Indices& ix, const Index& index) {
      return Trace::aligned(ix, own, index);
    });
    return with_shape(trace, wide, {count, h.shape[h.shape.size() - 2], h.shape.back()});
  };
  const Tensor* a =
      shared ? with_shape(trace, trace.read(x), {Dim(1), total(x.shape, 0, rx - 1), x.shape[rx - 1]}) : factor(x);
  const Tensor* b = factor(y);
  std::vector<Dim> shape = batch;
  if (shared)
    shape.assign(x.shape.begin(), x.shape.end() - 1);
  else
    shape.push_back(x.shape[rx - 2]);
  shape.push_back(y.shape[ry - 1]);
  const bool along = y.strides[ry - 2] == 1 || trace.sizes(y).back() == 1;
  return stored(call, with_shape(trace, product(call, a, b, along, compute), shape), call.args.size(), rank, compute);
}

Abstract convolution(Call& call) {
  const Dtype compute = product_dtype(call);
  Trace& trace = call.trace;
  const Handle &x = call.tensor(0), &w = call.tensor(1);
  const std::size_t n = w.shape.size() - 2;
  if (w.shape.size() < 3 || x.shape.size() != n + 2 || call.at(4).kind != Abstract::Kind::literal ||
      call.at(4).literal.kind == ValueKind::string)
    throw Unfit{"a convolution of another kind"};
  require_dense(call, x);
  const auto in = trace.sizes(x), weight = trace.sizes(w);
  const Window window{{weight.begin() + 2, weight.end()},
                      spread(call.integers(3), n),
                      spread(call.integers(4), n),
                      spread(call.integers(5), n)};
  const std::int64_t groups = call.integer(6), depth = weight[1];
  const auto out = window_sizes({in.begin() + 2, in.end()}, window, false);
  std::int64_t taps = 1, positions = 1;
  bool whole = true, single = true;  // one window over everything; windows of one element
  for (std::size_t i = 0; i < n; ++i) {
    taps *= window.kernel[i];
    positions *= out[i];
    whole &= window.kernel[i] == in[2 + i] && window.pad[i] == 0 && window.dilation[i] == 1;
    single &= window.kernel[i] == 1 && window.stride[i] == 1 && window.pad[i] == 0;
  }
  const Tensor *image = trace.read(x), *weights = trace.read(w);
  std::vector<Dim> shape{x.shape[0], w.shape[0]};
  for (std::size_t i = 0; i < n; ++i) shape.push_back(window_dim(trace, x.shape[2 + i], window, i, out[i]));
  if (groups == 1 && whole) {  // a linear layer
    const Tensor* a = with_shape(trace, image, {Dim(1), x.shape[0], total(x.shape, 1, n + 2)});
    const Tensor* flat = with_shape(trace, weights, {w.shape[0], total(w.shape, 1, n + 2)});
    const Tensor* b = mapped(trace, flat, {Dim(1), flat->shape[1], flat->shape[0]}, [](Indices&, const Index& index) {
      return Index{index[2], index[1]};
    });
    return stored(call, with_shape(trace, product(call, a, b, true, compute), shape), 2, 1, compute);
  }
  if (groups == 1 && single && depth >= kTile) {
    const Tensor* a = mapped(trace, with_shape(trace, weights, {w.shape[0], w.shape[1]}),
                             {x.shape[0], w.shape[0], w.shape[1]}, [](Indices&, const Index& index) {
                               return Index{index[1], index[2]};
                             });
    const Tensor* b = with_shape(trace, image, {x.shape[0], x.shape[1], total(x.shape, 2, n + 2)});
    return stored(call, with_shape(trace, product(call, a, b, false, compute), shape), 2, 1, compute);
  }
  if (depth * taps > kTapLimit) throw Unfit{"a convolution with many terms is left to ATen"};
  require_own(call, ProductForm::window, in[0] * weight[0] * positions, depth * taps);
  for (std::size_t d = 1; d < w.shape.size(); ++d) trace.ix.unify(w.shape[d], Dim(weight[d]));
  const std::int64_t per_group = weight[0] / groups;
  if (groups > 1) trace.ix.unify(w.shape[0], Dim(weight[0]));
  Tensor t;
  t.shape = shape;
  t.type = {compute, -1};
  t.uses = {image, weights};
  t.label = "conv";
  t.cost = static_cast<double>(depth * taps);
  std::vector<std::int64_t> sizes{depth};
  sizes.insert(sizes.end(), window.kernel.begin(), window.kernel.end());
  t.element = [=, own = x.shape](Kernel& k, const Index& index) {
    return k.window_of_products(sizes, [&](const std::vector<Lin>& tap) -> Kernel::Factors {
      const Lin group = groups == 1 ? Lin(0) : k.ix.quotient(index[1], Dim(per_group));
      Index at{index[0], group * Dim(depth) + tap[0]}, of_weight{index[1], tap[0]};
      std::vector<const Expr*> inside;
      for (std::size_t i = 0; i < n; ++i) {
        at.push_back(index[2 + i] * Dim(window.stride[i]) + tap[1 + i] * Dim(window.dilation[i]) - Lin(window.pad[i]));
        of_weight.push_back(tap[1 + i]);
        if (window.pad[i] != 0) inside.push_back(k.inside(at.back(), own[2 + i]));
        if (k.ix.resolve(own[2 + i]).is(1)) at.back() = Lin(0);
      }
      return {
          k.select(
              k.all_of(inside), [&] { return k.element(image, at); }, [&] { return k.literal(0.0, compute); }, compute),
          k.to(k.element(weights, of_weight), compute)};
    });
  };
  return stored(call, trace.make(std::move(t)), 2, 1, compute);
}

constexpr RuleRow kRules[] = {
    {"linear", linear},      {"matmul", matmul},      {"bmm", matmul},
    {"conv1d", convolution}, {"conv2d", convolution}, {"conv3d", convolution},
};

}  // namespace

std::span<const RuleRow> rules_product() { return kRules; }

}  // namespace passnet::author
