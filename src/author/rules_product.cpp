// Products: convolutions, linear layers and matrix products as sums of products of two tensors' elements.
//
// The sum over k of a[batch, m, k] * b[batch, k, n] has one of three forms. Few terms are unrolled like a window, since
// then everything stays in registers. Where a row or a column is all there is, memory is read once, along k: a
// reduction. Anything else is a product of tiles. Inside, all is float32 as in ATen's kernels, and rounded once with
// the bias.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "author/cost.h"
#include "author/trace.h"

namespace passnet::author {

namespace {

constexpr std::int64_t kFewTerms = 32, kFewAlong = 8;  // of a sum that is unrolled; where memory runs along the terms
constexpr std::int64_t kTapLimit = 100;                // taps of a convolution that is unrolled
constexpr std::int64_t kThin = 4;                      // so few rows or columns make a reduction
constexpr std::int64_t kTile = 16;                     // least size of a tile

Dtype product_dtype(const Call& call, const Type& a, const Type& b) {
  if (call.trace.products == Products::none)
    throw Unfit{fmt::format("aten::{} is left to ATen", call.step.schema->name)};
  if (!a.floating() || a.dtype != b.dtype) throw Unfit{"a product of other types"};
  if (call.trace.products == Products::alike && a.dtype == Dtype::float32 &&
      std::string_view(call.step.schema->name).starts_with("conv"))
    throw Unfit{"a convolution that ATen computes in tf32"};
  return compute_dtype(a.dtype);
}

void require_dense(const Call& call, const Handle& h) {
  if (!is_dense({call.trace.sizes(h), h.strides})) throw Unfit{"a convolution in another order of memory"};
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
const Tensor* product(Call& call, const Tensor* a, const Tensor* b, bool along, Dtype compute,
                      ProductForm tiles = ProductForm::tiles) {
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
  require_own(call, tiles, batch * m * n, terms);
  t.once = true;
  t.element = [=](Kernel& k, const Index& index) { return k.product(k.current(), a, b, index); };
  return trace.make(std::move(t));
}

// With the bias, the third argument, along dimension d.
Abstract biased(Call& call, const Tensor* value, std::size_t d, Dtype compute) {
  Trace& trace = call.trace;
  const Type type = call.tensor(0).type;
  const std::string label(call.step.schema->name);
  if (!call.is_none(2)) {
    const Handle& bias = call.tensor(2);
    if (bias.shape.size() != 1 || bias.type.dtype != type.dtype) throw Unfit{"a bias of another kind"};
    const Tensor* along =
        mapped(trace, trace.read(bias), value->shape, [d](Indices&, const Index& index) { return Index{index[d]}; });
    value = elementwise(trace, {value, along}, {compute, -1}, label, value->cost,
                        [=](Kernel& k, const std::vector<const Expr*>& args) {
                          return k.op("{0} + {1}", compute, {k.to(args[0], compute), k.to(args[1], compute)}, label);
                        });
  }
  return stored(call, value, type, label);
}

Dim total(const std::vector<Dim>& shape, std::size_t from, std::size_t to) {
  Dim out(1);
  for (std::size_t d = from; d < to; ++d) out = out * shape[d];
  return out;
}

Abstract linear(Call& call) {
  Trace& trace = call.trace;
  const Handle &x = call.tensor(0), &w = call.tensor(1);
  const Dtype compute = product_dtype(call, x.type, w.type);
  const std::size_t rank = x.shape.size();
  if (rank == 0 || w.shape.size() != 2) throw Unfit{"linear of another kind"};
  const Tensor* a = with_shape(trace, trace.read(x), {Dim(1), total(x.shape, 0, rank - 1), x.shape[rank - 1]});
  const Tensor* b = mapped(trace, trace.read(w), {Dim(1), w.shape[1], w.shape[0]}, [](Indices&, const Index& index) {
    return Index{index[2], index[1]};
  });
  std::vector<Dim> shape = x.shape;
  shape[rank - 1] = w.shape[0];
  return biased(call, with_shape(trace, product(call, a, b, true, compute), shape), rank - 1, compute);
}

// matmul and bmm. A batch that only one factor has is broadcast; a matrix for all is one product with more rows.
Abstract matmul(Call& call) {
  Trace& trace = call.trace;
  const Handle &x = call.tensor(0), &y = call.tensor(1);
  const Dtype compute = product_dtype(call, x.type, y.type);
  const std::size_t rx = x.shape.size(), ry = y.shape.size();
  if (rx < 2 || ry < 2) throw Unfit{"a product with a vector"};
  const bool shared = ry == 2;
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
  return stored(call, with_shape(trace, product(call, a, b, along, compute), shape), x.type,
                std::string(call.step.schema->name));
}

// A permutation of one factor is a view of it.
Abstract permuted_factor(Call& call, const Handle& h) {
  std::string equation = call.text(0);
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  if (arrow == std::string::npos || arrow != h.shape.size() || equation.size() != 2 * arrow + 2)
    throw Unfit{"an einsum of another kind"};
  std::vector<int> order;
  for (const char c : equation.substr(arrow + 2)) {
    const std::size_t d = equation.find(c);
    if (d >= arrow || equation.find(c, d + 1) < arrow ||
        equation.find(c, arrow + 2 + order.size() + 1) != std::string::npos)
      throw Unfit{"an einsum of another kind"};
    order.push_back(static_cast<int>(d));
  }
  return Abstract::of(permute(call.trace, h, order, fmt::format(".permute({})", fmt::join(order, ", "))));
}

Abstract einsum(Call& call) {
  Trace& trace = call.trace;
  const auto factors = call.tensors(1);
  if (factors.size() == 1) return permuted_factor(call, factors[0]);
  const Einsum e = parse_einsum(call);
  const Dtype compute = product_dtype(call, factors[0].type, factors[1].type);
  std::map<char, Dim> sizes;
  for (const std::size_t i : {0, 1})
    for (std::size_t d = 0; d < e.factors[i].size(); ++d) {
      const auto [it, is_new] = sizes.emplace(e.factors[i][d], factors[i].shape[d]);
      if (!is_new && !trace.ix.same(it->second, factors[i].shape[d]) &&
          !trace.ix.unify(it->second, factors[i].shape[d]))
        throw Unfit{"an einsum that broadcasts"};
    }
  const auto dims = [&](const std::string& letters) {
    std::vector<Dim> out;
    for (const char c : letters) out.push_back(sizes.at(c));
    return out;
  };
  // The tensor of dimensions `from` with the dimensions `to`.
  const auto arranged = [&](const Tensor* source, const std::string& from, const std::string& to) {
    return mapped(trace, source, dims(to), [from, to](Indices&, const Index& index) {
      Index out;
      for (const char c : from) out.push_back(index[to.find(c)]);
      return out;
    });
  };
  const auto product_of = [&](const std::string& letters) {
    const auto all = dims(letters);
    return total(all, 0, all.size());
  };
  const Tensor* a = with_shape(trace, arranged(trace.read(factors[0]), e.factors[0], e.batch + e.own[0] + e.terms),
                               {product_of(e.batch), product_of(e.own[0]), product_of(e.terms)});
  const Tensor* b = with_shape(trace, arranged(trace.read(factors[1]), e.factors[1], e.batch + e.terms + e.own[1]),
                               {product_of(e.batch), product_of(e.terms), product_of(e.own[1])});
  const bool along = !e.terms.empty() && factors[1].strides[e.factors[1].find(e.terms.back())] == 1;
  const std::string computed = e.computed();
  const std::string multiplied = e.batch + e.own[0] + e.own[1];
  const Tensor* value = with_shape(trace, product(call, a, b, along, compute), dims(multiplied));
  if (computed != multiplied) value = arranged(value, multiplied, computed);
  const Handle h = stored(call, value, factors[0].type, "einsum").tensor;
  std::vector<int> order;
  for (const char c : e.result) order.push_back(static_cast<int>(computed.find(c)));
  return Abstract::of(permute(trace, h, order, fmt::format(".permute({})", fmt::join(order, ", "))));
}

Abstract convolution(Call& call) {
  Trace& trace = call.trace;
  const Handle &x = call.tensor(0), &w = call.tensor(1);
  const Dtype compute = product_dtype(call, x.type, w.type);
  const std::size_t n = leading(w, 2);
  if (n == 0 || x.shape.size() != n + 2 || call.at(4).kind != Abstract::Kind::literal ||
      call.at(4).literal.kind == ValueKind::string)
    throw Unfit{"a convolution of another kind"};
  require_dense(call, x);
  const auto in = trace.sizes(x), weight = trace.sizes(w);
  const Window window{{weight.begin() + 2, weight.end()},
                      spread(call.integers(3), n),
                      spread(call.integers(4), n),
                      spread(call.integers(5), n)};
  const std::int64_t groups = call.integer(6);
  if (groups < 1 || weight[0] % groups != 0 || in[1] / groups != weight[1] || in[1] % groups != 0)
    throw Unfit{"a convolution of other channels"};
  const std::int64_t per_group = weight[0] / groups;
  const bool whole = std::equal(window.kernel.begin(), window.kernel.end(), in.begin() + 2) &&
                     std::all_of(window.pad.begin(), window.pad.end(), [](std::int64_t p) { return p == 0; });
  const Tensor* weights = trace.read(w);
  const Dim terms = total(w.shape, 1, n + 2);
  if (groups == 1 && whole) {  // a linear layer
    const Tensor* a = with_shape(trace, trace.read(x), {Dim(1), x.shape[0], terms});
    const Tensor* flat = with_shape(trace, weights, {w.shape[0], terms});
    const Tensor* b = mapped(trace, flat, {Dim(1), terms, w.shape[0]}, [](Indices&, const Index& index) {
      return Index{index[2], index[1]};
    });
    std::vector<Dim> shape(n + 2, Dim(1));
    shape[0] = x.shape[0];
    shape[1] = w.shape[0];
    return biased(call, with_shape(trace, product(call, a, b, true, compute), shape), 1, compute);
  }
  for (std::size_t d = 2; d < w.shape.size(); ++d) trace.ix.unify(w.shape[d], Dim(weight[d]));
  if (groups == 1) {
    trace.ix.unify(x.shape[1], w.shape[1]);
  } else {
    trace.ix.unify(x.shape[1], Dim(in[1]));
    for (const std::size_t d : {0, 1}) trace.ix.unify(w.shape[d], Dim(weight[d]));
  }
  const Tensor* windows = patches(trace, x, window);
  std::vector<Dim> shape{x.shape[0], w.shape[0]};
  shape.insert(shape.end(), windows->shape.end() - static_cast<std::ptrdiff_t>(n), windows->shape.end());
  std::int64_t positions = 1;
  for (std::size_t i = 2; i < shape.size(); ++i) positions *= trace.ix.value(trace.ix.resolve(shape[i]));
  const std::int64_t count = trace.ix.value(trace.ix.resolve(terms));
  if (count > (per_group < kTile ? kTapLimit : kTile)) {  // each group of each image is a product
    const Dim batch = x.shape[0] * Dim(groups), rows = groups == 1 ? w.shape[0] : Dim(per_group);
    const Tensor* flat = with_shape(trace, weights, {w.shape[0], terms});
    const Tensor* a = mapped(trace, flat, {batch, rows, terms}, [=](Indices& ix, const Index& index) {
      const Lin group = groups == 1 ? Lin(0) : ix.remainder(index[0], Dim(groups));
      return Index{group * Dim(per_group) + index[1], index[2]};
    });
    const Tensor* b = with_shape(trace, windows, {batch, terms, total(shape, 2, n + 2)});
    const ProductForm form = count == weight[1] ? ProductForm::tiles : ProductForm::patches;
    return biased(call, with_shape(trace, product(call, a, b, false, compute, form), shape), 1, compute);
  }
  require_own(call, ProductForm::unrolled, in[0] * weight[0] * positions, count);
  trace.ix.unify(w.shape[1], Dim(weight[1]));
  Tensor t;
  t.shape = shape;
  t.type = {compute, -1};
  t.uses = {windows, weights};
  t.label = "conv";
  t.cost = static_cast<double>(count);
  t.element = [=, sizes = std::vector<std::int64_t>(weight.begin() + 1, weight.end())](Kernel& k, const Index& index) {
    return k.window_of_products(sizes, [&](const std::vector<Lin>& tap) -> Kernel::Factors {
      const Lin group = groups == 1 ? Lin(0) : k.ix.quotient(index[1], Dim(per_group));
      Index at{index[0], group * Dim(weight[1]) + tap[0]}, of_weight{index[1]};
      at.insert(at.end(), tap.begin() + 1, tap.end());
      at.insert(at.end(), index.begin() + 2, index.end());
      of_weight.insert(of_weight.end(), tap.begin(), tap.end());
      return {k.to(k.element(windows, at), compute), k.to(k.element(weights, of_weight), compute)};
    });
  };
  return biased(call, trace.make(std::move(t)), 1, compute);
}

constexpr RuleRow kRules[] = {
    {"linear", linear},      {"matmul", matmul},      {"bmm", matmul},         {"einsum", einsum},
    {"conv1d", convolution}, {"conv2d", convolution}, {"conv3d", convolution},
};

}  // namespace

std::span<const RuleRow> rules_product() { return kRules; }

std::string Einsum::computed() const {
  const bool turned = !own[0].empty() && !own[1].empty() && result.find(own[1].back()) < result.find(own[0].front());
  return batch + own[turned ? 1 : 0] + own[turned ? 0 : 1];
}

Einsum parse_einsum(const Call& call) {
  const auto factors = call.tensors(1);
  std::string equation = call.text(0);
  std::erase(equation, ' ');
  const std::size_t comma = equation.find(','), arrow = equation.find("->");
  if (factors.size() != 2 || arrow == std::string::npos || comma > arrow || equation.find('.') != std::string::npos)
    throw Unfit{"an einsum of another kind"};
  Einsum out;
  out.factors[0] = equation.substr(0, comma);
  out.factors[1] = equation.substr(comma + 1, arrow - comma - 1);
  out.result = equation.substr(arrow + 2);
  for (const std::size_t i : {0, 1}) {
    if (out.factors[i].size() != factors[i].shape.size()) throw Unfit{"an einsum of another rank"};
    for (std::size_t d = 0; d < out.factors[i].size(); ++d) {
      const char c = out.factors[i][d];
      if (out.factors[i].find(c) != d) throw Unfit{"a diagonal"};
      const bool both = out.factors[1 - i].find(c) != std::string::npos, kept = out.result.find(c) != std::string::npos;
      if (!both && !kept) throw Unfit{"a sum over one factor"};
      if (both && !kept && i == 0) out.terms += c;
    }
  }
  for (const char c : out.result) {
    const bool in[] = {out.factors[0].find(c) != std::string::npos, out.factors[1].find(c) != std::string::npos};
    if ((!in[0] && !in[1]) || std::count(out.result.begin(), out.result.end(), c) > 1)
      throw Unfit{"an einsum of another kind"};
    (in[0] && in[1] ? out.batch : out.own[in[0] ? 0 : 1]) += c;
  }
  return out;
}

}  // namespace passnet::author
