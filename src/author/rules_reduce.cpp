// Reductions and the normalisations built of them. Inside an operator everything stays in float32, as in ATen's
// kernels; its result is rounded once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "author/trace.h"

namespace passnet::author {

namespace {

constexpr std::int64_t kReduceLimit = 1 << 18;  // elements of a row that a program reduces at once
constexpr std::int64_t kUnrolled = 8;           // elements of a reduction that becomes a loop over taps

Dtype real_compute(const Handle& h) {
  if (!h.type.floating()) throw Unfit{"integers"};
  return compute_dtype(h.type.dtype);
}

std::vector<int> all_of(std::size_t rank) {
  std::vector<int> out(rank);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

std::vector<int> dims_of(Call& call, std::size_t i, std::size_t rank) {
  std::vector<int> out;
  if (!call.is_none(i))
    for (std::int64_t d : call.integers(i)) {
      if (d < 0) d += static_cast<std::int64_t>(rank);
      if (d < 0 || d >= static_cast<std::int64_t>(rank)) throw Unfit{"a dimension that is not there"};
      out.push_back(static_cast<int>(d));
    }
  if (out.empty()) return all_of(rank);
  std::sort(out.begin(), out.end());
  return out;
}

// Without the reduced dimensions, unless they are kept as 1.
const Tensor* shaped(Trace& trace, const Tensor* t, const std::vector<int>& dims, bool keep) {
  if (keep) return t;
  std::vector<Dim> shape;
  for (std::size_t d = 0; d < t->shape.size(); ++d)
    if (std::find(dims.begin(), dims.end(), static_cast<int>(d)) == dims.end()) shape.push_back(t->shape[d]);
  Tensor out;
  out.shape = shape;
  out.type = t->type;
  out.uses = {t};
  out.label = t->label;
  out.cost = t->cost;
  out.element = [t, dims](Kernel& k, const Index& index) {
    Index full = index;
    for (const int d : dims) full.insert(full.begin() + d, Lin(0));
    return k.element(t, full);
  };
  return trace.make(std::move(out));
}

const Tensor* apply(Trace& trace, std::vector<const Tensor*> operands, const std::string& text, Dtype type, double cost,
                    const std::string& label) {
  return elementwise(trace, std::move(operands), {type, -1}, label, cost,
                     [=](Kernel& k, const std::vector<const Expr*>& args) {
                       std::vector<const Expr*> same;
                       for (const Expr* a : args) same.push_back(k.to(a, type));
                       return k.op(text, type, same, label);
                     });
}

// How many elements are reduced, as a number of the compute dtype.
const Tensor* count_of(Trace& trace, const Tensor* source, const std::vector<int>& dims, Dtype type) {
  Dim n(1);
  for (const int d : dims) n = n * trace.ix.resolve(source->shape[static_cast<std::size_t>(d)]);
  Tensor t;
  t.type = {type, -1};
  t.cost = 0;
  t.label = "count";
  t.element = [n, type](Kernel& k, const Index&) { return k.to(k.index(Lin(n)), type); };
  return trace.make(std::move(t));
}

const Tensor* mean_of(Trace& trace, const Tensor* source, const std::vector<int>& dims, Dtype type) {
  return apply(trace, {reduced(trace, source, dims, "sum"), count_of(trace, source, dims, type)}, "{0} / {1}", type, 4,
               "mean");
}

Abstract sum(Call& call) {
  const Handle& h = call.tensor(0);
  Trace& trace = call.trace;
  const std::string name(call.step.schema->name);
  const bool whole = call.step.schema->overload.empty();
  const std::vector<int> dims = whole ? all_of(h.shape.size()) : dims_of(call, 1, h.shape.size());
  const bool keep = !whole && call.boolean(2);
  Type type = h.type;
  const auto given = call.dtype(whole ? 1 : 3);
  if (given && *given != type.dtype)
    type = {*given, -1};
  else if (!given && !type.floating())
    type = {Dtype::int64, -1};
  if (name == "mean" && !type.floating()) throw Unfit{"a mean of integers"};
  // what is added is of the type already: a smaller one would round or wrap first
  const std::uint8_t size = dtype_row(type.dtype).size, from = dtype_row(h.type.dtype).size;
  const bool widens = size >= 4 && (!h.type.floating() || (type.floating() && size > from));
  if (!widens && !(type.floating() && type.dtype == h.type.dtype)) throw Unfit{"a reduction in a smaller dtype"};
  const Tensor* source = trace.read(h);
  if (type.dtype != h.type.dtype) source = converted(trace, source, type);
  const Dtype compute = compute_dtype(type.dtype);
  const Tensor* value = name == "mean" ? mean_of(trace, source, dims, compute) : reduced(trace, source, dims, "sum");
  return stored(call, shaped(trace, value, dims, keep), type, name);
}

Abstract extreme(Call& call) {  // amax, amin
  const Handle& h = call.tensor(0);
  real_compute(h);
  const std::vector<int> dims = dims_of(call, 1, h.shape.size());
  const std::string name(call.step.schema->name);
  const Tensor* value = reduced(call.trace, call.trace.read(h), dims, name == "amax" ? "max" : "min");
  return stored(call, shaped(call.trace, value, dims, call.boolean(2)), h.type, name);
}

// max and min of all elements.
Abstract extreme_of_all(Call& call) {
  const Handle& h = call.tensor(0);
  if (!call.step.schema->overload.empty()) throw Unfit{"an extreme of two tensors"};
  real_compute(h);
  const std::string name(call.step.schema->name);
  const std::vector<int> dims = all_of(h.shape.size());
  const Tensor* value = reduced(call.trace, call.trace.read(h), dims, name);
  return stored(call, shaped(call.trace, value, dims, false), h.type, name);
}

// max and min along a dimension: their values. Who uses the indices too leaves it to ATen.
Abstract extreme_of_dim(Call& call) {
  const Handle& h = call.tensor(0);
  if (!h.type.floating() && dtype_row(h.type.dtype).size < 4) throw Unfit{"an extreme of small integers"};
  if (h.shape.empty()) throw Unfit{"a reduction of a number"};
  const std::vector<int> dims{static_cast<int>(call.dim(1, h.shape.size()))};
  const std::string name(call.step.schema->name);
  const Tensor* value = reduced(call.trace, call.trace.read(h), dims, name);
  Abstract out;
  out.kind = Abstract::Kind::list;
  out.items = {stored(call, shaped(call.trace, value, dims, call.boolean(2)), h.type, name), Abstract{}};
  return out;
}

Abstract all_any(Call& call) {
  const Handle& h = call.tensor(0);
  if (call.step.schema->overload != "dim" || h.type.dtype != Dtype::boolean) throw Unfit{"a reduction to a number"};
  Trace& trace = call.trace;
  if (h.shape.empty()) throw Unfit{"a reduction of a number"};
  const std::vector<int> dims{static_cast<int>(call.dim(1, h.shape.size()))};
  const Tensor* flags = converted(trace, trace.read(h), {Dtype::int32, -1});
  const Tensor* value = reduced(trace, flags, dims, call.step.schema->name == "all" ? "min" : "max");
  return stored(call, shaped(trace, converted(trace, value, {Dtype::boolean, -1}), dims, call.boolean(2)),
                {Dtype::boolean, -1}, std::string(call.step.schema->name));
}

Abstract vector_norm(Call& call) {
  const Handle& h = call.tensor(0);
  const Dtype compute = real_compute(h);
  if (call.real(1) != 2) throw Unfit{"another norm"};
  Trace& trace = call.trace;
  const std::vector<int> dims = dims_of(call, 2, h.shape.size());
  if (!call.is_none(4)) throw Unfit{"a reduction in another dtype"};
  const Tensor* x = trace.read(h);
  const Tensor* squares = apply(trace, {x}, "{0} * {0}", compute, 1, "square");
  const Tensor* value = apply(trace, {reduced(trace, squares, dims, "sum")}, "tl.sqrt({0})", compute, 6, "norm");
  return stored(call, shaped(trace, value, dims, call.boolean(3)), h.type, "norm");
}

Abstract softmax(Call& call) {
  const Handle& h = call.tensor(0);
  Trace& trace = call.trace;
  Type type = h.type;
  if (const auto d = call.dtype(2); d && *d != type.dtype) type = {*d, -1};
  if (!type.floating() || !h.type.floating() || h.shape.empty()) throw Unfit{"softmax of integers"};
  const Dtype compute = compute_dtype(type.dtype);
  const std::vector<int> dims{static_cast<int>(call.dim(1, h.shape.size()))};
  const Tensor* x = converted(trace, trace.read(h), type);
  const Tensor* shifted = apply(trace, {x, reduced(trace, x, dims, "max")}, "{0} - {1}", compute, 1, "shifted");
  const bool log = call.step.schema->name.starts_with("log");
  const Tensor* e = apply(trace, {shifted}, "tl.exp({0})", compute, 10, "e");
  const Tensor* total = reduced(trace, e, dims, "sum");
  const Tensor* value = log ? apply(trace, {shifted, apply(trace, {total}, "tl.log({0})", compute, 10, "log")},
                                    "{0} - {1}", compute, 1, "log_softmax")
                            : apply(trace, {e, total}, "{0} / {1}", compute, 4, "softmax");
  return stored(call, value, type, log ? "log_softmax" : "softmax");
}

// (x - mean) / sqrt(variance + eps), reduced over dims
const Tensor* normalised(Trace& trace, const Tensor* x, const std::vector<int>& dims, double eps, Dtype compute) {
  const Tensor* mean = mean_of(trace, x, dims, compute);
  const Tensor* centred = apply(trace, {x, mean}, "{0} - {1}", compute, 1, "centred");
  const Tensor* variance = mean_of(trace, apply(trace, {centred}, "{0} * {0}", compute, 1, "square"), dims, compute);
  const Tensor* scale = apply(trace, {variance, number_tensor(trace, Value::of(eps), compute)},
                              "1.0 / tl.sqrt({0} + {1})", compute, 8, "scale");
  return apply(trace, {centred, scale}, "{0} * {1}", compute, 1, "normalised");
}

const Tensor* scaled_and_shifted(Call& call, const Tensor* value, std::size_t weight, std::size_t bias, Dtype compute,
                                 const std::function<const Tensor*(const Tensor*)>& shape) {
  if (!call.is_none(weight))
    value = apply(call.trace, {value, shape(call.trace.read(call.tensor(weight)))}, "{0} * {1}", compute, 1, "scaled");
  if (!call.is_none(bias))
    value = apply(call.trace, {value, shape(call.trace.read(call.tensor(bias)))}, "{0} + {1}", compute, 1, "biased");
  return value;
}

Abstract layer_norm(Call& call) {
  const Handle& h = call.tensor(0);
  const Dtype compute = real_compute(h);
  Trace& trace = call.trace;
  const auto sizes = call.integers(1);
  std::vector<int> dims;
  const std::size_t lead = leading(h, sizes.size());
  for (std::size_t i = lead; i < h.shape.size(); ++i) {
    if (!trace.ix.unify(h.shape[i], Dim(sizes[i - lead]))) throw Unfit{"a norm over other sizes"};
    dims.push_back(static_cast<int>(i));
  }
  const Tensor* value = normalised(trace, trace.read(h), dims, call.real(4), compute);
  value = scaled_and_shifted(call, value, 2, 3, compute, [](const Tensor* t) { return t; });
  return stored(call, value, h.type, "layer_norm");
}

Abstract rms_norm(Call& call) {
  const Handle& h = call.tensor(0);
  const Dtype compute = real_compute(h);
  Trace& trace = call.trace;
  const auto sizes = call.integers(1);
  std::vector<int> dims;
  for (std::size_t i = leading(h, sizes.size()); i < h.shape.size(); ++i) dims.push_back(static_cast<int>(i));
  if (call.is_none(3)) throw Unfit{"rms_norm without eps"};
  const Tensor* x = trace.read(h);
  const Tensor* variance = mean_of(trace, apply(trace, {x}, "{0} * {0}", compute, 1, "square"), dims, compute);
  const Tensor* scale = apply(trace, {variance, number_tensor(trace, Value::of(call.real(3)), compute)},
                              "1.0 / tl.sqrt({0} + {1})", compute, 8, "scale");
  const Tensor* value = apply(trace, {x, scale}, "{0} * {1}", compute, 1, "normalised");
  if (!call.is_none(2)) {  // a composite in ATen: what it stores on the way is rounded
    value = apply(trace, {finished(trace, value, h.type, "rms_norm"), trace.read(call.tensor(2))}, "{0} * {1}", compute,
                  1, "scaled");
  }
  return stored(call, value, h.type, "rms_norm");
}

// A vector along dimension 1 of a tensor of `rank` dimensions.
const Tensor* per_channel(Trace& trace, const Tensor* v, std::size_t rank) {
  if (v->shape.size() != 1) throw Unfit{"channels that are no vector"};
  std::vector<Dim> shape(rank - 1, Dim(1));
  shape[0] = v->shape[0];
  Tensor t;
  t.shape = shape;
  t.type = v->type;
  t.uses = {v};
  t.label = v->label;
  t.cost = 0;
  t.element = [v](Kernel& k, const Index& index) { return k.element(v, {index[0]}); };
  return trace.make(std::move(t));
}

// In evaluation: x * a + b with a = weight / sqrt(variance + eps), b = bias - mean * a, as ATen's kernel has it.
Abstract batch_norm(Call& call) {
  const Handle& h = call.tensor(0);
  const Dtype compute = real_compute(h);
  if (call.boolean(5) || call.is_none(3) || call.is_none(4)) throw Unfit{"batch_norm while training"};
  if (h.shape.size() < 2) throw Unfit{"batch_norm of a vector"};
  Trace& trace = call.trace;
  const std::size_t rank = h.shape.size();
  const auto channel = [&](std::size_t i) { return per_channel(trace, trace.read(call.tensor(i)), rank); };
  const Tensor* a = apply(trace, {channel(4), number_tensor(trace, Value::of(call.real(7)), compute)},
                          "1.0 / tl.sqrt({0} + {1})", compute, 2, "scale");
  if (!call.is_none(1)) a = apply(trace, {a, channel(1)}, "{0} * {1}", compute, 1, "scale");
  const_cast<Tensor*>(a)->result = a;  // may be stored by itself: one root and one quotient a channel
  const_cast<Tensor*>(a)->cost = 8;
  const Tensor* b = apply(trace, {channel(3), a}, "-({0} * {1})", compute, 1, "shift");
  if (!call.is_none(2)) b = apply(trace, {channel(2), channel(3), a}, "{0} - {1} * {2}", compute, 1, "shift");
  const Tensor* value = apply(trace, {trace.read(h), a, b}, "{0} * {1} + {2}", compute, 2, "batch_norm");
  return stored(call, value, h.type, "batch_norm");
}

Abstract group_norm(Call& call) {
  const Handle& h = call.tensor(0);
  const Dtype compute = real_compute(h);
  Trace& trace = call.trace;
  const std::int64_t groups = call.integer(1);
  if (h.shape.size() < 2 || groups <= 0 || trace.sizes(h)[1] % groups != 0) throw Unfit{"group_norm of a vector"};
  const auto each = divide_exactly(trace.ix.resolve(h.shape[1]), Dim(groups));
  const Dim size = each ? *each
                        : trace.ix.derived("group", fmt::format("{} // {}", trace.ix.text(h.shape[1], true), groups),
                                           trace.sizes(h)[1] / groups);
  std::vector<Dim> grouped{h.shape[0], Dim(groups), size};
  grouped.insert(grouped.end(), h.shape.begin() + 2, h.shape.end());
  std::vector<int> dims;
  for (std::size_t d = 2; d < grouped.size(); ++d) dims.push_back(static_cast<int>(d));
  const Tensor* x = with_shape(trace, trace.read(h), grouped);
  const Tensor* value = with_shape(trace, normalised(trace, x, dims, call.real(4), compute), h.shape);
  const std::size_t rank = h.shape.size();
  value = scaled_and_shifted(call, value, 2, 3, compute, [&](const Tensor* t) { return per_channel(trace, t, rank); });
  return stored(call, value, h.type, "group_norm");
}

constexpr RuleRow kRules[] = {
    {"sum.dim_IntList", sum},
    {"mean.dim", sum},
    {"sum", sum},
    {"mean", sum},
    {"amax", extreme},
    {"amin", extreme},
    {"max.dim", extreme_of_dim},
    {"min.dim", extreme_of_dim},
    {"max", extreme_of_all},
    {"min", extreme_of_all},
    {"all.dim", all_any},
    {"any.dim", all_any},
    {"linalg_vector_norm", vector_norm},
    {"softmax.int", softmax},
    {"log_softmax.int", softmax},
    {"_softmax", softmax},
    {"layer_norm", layer_norm},
    {"rms_norm", rms_norm, Memory::channels_last},
    {"batch_norm", batch_norm, Memory::channels_last},
    {"group_norm", group_norm, Memory::channels_last},
};

// By one program a row.
const Tensor* row_reduced(Trace& trace, const Tensor* source, const std::vector<int>& dims,
                          const std::string& combine) {
  Tensor t;
  t.shape = source->shape;
  for (const int d : dims) {
    const Dim size = trace.ix.resolve(source->shape[static_cast<std::size_t>(d)]);
    t.cost *= static_cast<double>(trace.ix.value(size));
    t.shape[static_cast<std::size_t>(d)] = Dim(1);
  }
  t.type = {compute_dtype(source->type.dtype), -1};
  t.uses = {source};
  t.label = combine;
  t.reduces = !dims.empty();
  if (dims.empty()) t.cost = 0;
  t.element = [source, dims, combine](Kernel& k, const Index& index) -> const Expr* {
    if (dims.empty()) return k.element(source, index);
    return k.reduce(combine, k.current(), source, dims, index);
  };
  return trace.make(std::move(t));
}

const Tensor* summed(Trace& trace, const Tensor* source, const std::vector<int>& dims, const std::string& combine);

// By two kernels: the pieces, each of `split` elements, and what puts them together. Both are stored as they are
// computed, so nothing is rounded on the way, and the order of a sum is fixed.
const Tensor* in_pieces(Trace& trace, const Tensor* source, const std::vector<int>& dims, const std::string& combine) {
  Indices& ix = trace.ix;
  const Dim split(trace.plan.split);
  const Type type{compute_dtype(source->type.dtype), -1};
  Dim total(1);
  for (const int d : dims) total = total * ix.resolve(source->shape[static_cast<std::size_t>(d)]);
  const Dim pieces = ix.derived("pieces", fmt::format("triton.cdiv({}, {})", ix.text(total, true), trace.plan.split),
                                (ix.value(total) + trace.plan.split - 1) / trace.plan.split);
  // The piece is a dimension in front, the place in it stands for those reduced; beyond the end what changes nothing.
  const int place = dims.back() + 1;
  Tensor cut;
  cut.shape = source->shape;
  for (const int d : dims) cut.shape[static_cast<std::size_t>(d)] = Dim(1);
  const std::vector<Dim> kept = cut.shape;
  cut.shape[static_cast<std::size_t>(dims.back())] = split;
  cut.shape.insert(cut.shape.begin(), pieces);
  cut.type = type;
  cut.uses = {source};
  cut.label = source->label;
  cut.element = [source, dims, combine, type, split, total, place](Kernel& k, const Index& index) {
    const Lin at = index[0] * split + index[static_cast<std::size_t>(place)];
    Index full(index.begin() + 1, index.end());
    // neighbouring dimensions together: their places then cancel to one walk along memory
    Lin rest = at;
    for (std::size_t end = dims.size(), begin = end; end > 0; end = begin) {
      Dim size(1);
      for (begin = end; begin > 0 && (begin == end || dims[begin] == dims[begin - 1] + 1); --begin)
        size = size * k.ix.resolve(source->shape[static_cast<std::size_t>(dims[begin - 1])]);
      Lin place_of = begin == 0 ? rest : k.ix.remainder(rest, size);
      if (begin > 0) rest = k.ix.quotient(rest, size);
      for (std::size_t i = end; i-- > begin;) {
        const auto d = static_cast<std::size_t>(dims[i]);
        const Dim own = k.ix.resolve(source->shape[d]);
        full[d] = i == begin ? place_of : k.ix.remainder(place_of, own);
        if (i > begin) place_of = k.ix.quotient(place_of, own);
      }
    }
    return k.select(
        k.inside(at, total), [&] { return k.element(source, full); }, [&] { return k.neutral(combine, type.dtype); },
        type.dtype);
  };
  auto* partial = const_cast<Tensor*>(row_reduced(trace, trace.make(std::move(cut)), {place}, combine));
  partial->result = partial;
  const Tensor* whole = summed(trace, partial, {0}, combine);
  Tensor out;
  out.shape = kept;
  out.type = type;
  out.uses = {whole};
  out.label = combine;
  out.cost = static_cast<double>(ix.value(total));
  out.apart = true;
  out.element = [whole](Kernel& k, const Index& index) {
    Index full = index;
    full.insert(full.begin(), Lin(0));
    return k.element(whole, full);
  };
  auto* made = const_cast<Tensor*>(trace.make(std::move(out)));
  made->result = made;
  if (whole->result == nullptr) const_cast<Tensor*>(whole)->result = made;
  return made;
}

const Tensor* summed(Trace& trace, const Tensor* source, const std::vector<int>& dims, const std::string& combine) {
  std::int64_t n = 1, rows = 1;
  for (std::size_t d = 0; d < source->shape.size(); ++d) {
    const bool inside = std::find(dims.begin(), dims.end(), static_cast<int>(d)) != dims.end();
    (inside ? n : rows) *= trace.ix.value(trace.ix.resolve(source->shape[d]));
  }
  const Plan& plan = trace.plan;
  const bool split = n > kReduceLimit || (n >= plan.split_from && rows <= plan.split_rows);
  return split && n > plan.split ? in_pieces(trace, source, dims, combine) : row_reduced(trace, source, dims, combine);
}

}  // namespace

std::span<const RuleRow> rules_reduce() { return kRules; }

const Tensor* reduced(Trace& trace, const Tensor* source, const std::vector<int>& dims, const std::string& combine) {
  std::int64_t n = 1;
  std::vector<int> significant;
  for (const int d : dims) {
    const Dim size = trace.ix.resolve(source->shape[static_cast<std::size_t>(d)]);
    n *= trace.ix.value(size);
    if (!size.is(1)) significant.push_back(d);
  }
  if (n == 0) throw Unfit{"a reduction of nothing"};
  // A few elements that are not neighbours: unrolled, so that the kernel walks along memory.
  std::size_t innermost = source->shape.size();
  while (innermost > 0 && trace.ix.resolve(source->shape[innermost - 1]).is(1)) --innermost;
  const bool strided = !significant.empty() && significant.back() + 1 != static_cast<int>(innermost);
  if (strided && n <= kUnrolled && combine != "min") {
    std::vector<std::int64_t> sizes;
    for (const int d : significant) {
      const Dim size = trace.ix.resolve(source->shape[static_cast<std::size_t>(d)]);
      sizes.push_back(trace.ix.value(size));
      trace.ix.unify(size, Dim(sizes.back()));
    }
    Tensor t;
    t.shape = source->shape;
    for (const int d : dims) t.shape[static_cast<std::size_t>(d)] = Dim(1);
    t.type = {compute_dtype(source->type.dtype), -1};
    t.uses = {source};
    t.label = combine;
    t.cost = static_cast<double>(n);
    t.element = [source, significant, combine, sizes](Kernel& k, const Index& index) {
      return k.window(combine, sizes, [&](const std::vector<Lin>& tap) {
        Index full = index;
        for (std::size_t i = 0; i < significant.size(); ++i) full[static_cast<std::size_t>(significant[i])] = tap[i];
        return k.element(source, full);
      });
    };
    return trace.make(std::move(t));
  }
  return summed(trace, source, significant, combine);
}

}  // namespace passnet::author
