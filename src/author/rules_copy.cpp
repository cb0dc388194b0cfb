// What eager copies is a tensor of its own: concatenated, padded, repeated, turned round, or picked by an index tensor.
#include <fmt/format.h>

#include <algorithm>

#include "author/views.h"
#include "fx/literals.h"

namespace passnet::author {

namespace {

Type joined_type(const std::vector<Handle>& parts) {
  Type type = parts[0].type;
  for (const Handle& h : parts)
    if (h.type.dtype != type.dtype) throw Unfit{"parts of several dtypes"};
  return type;
}

Abstract concatenate(Call& call, std::vector<Handle> parts, std::size_t d, const std::string& label) {
  Trace& trace = call.trace;
  const Type type = joined_type(parts);
  std::vector<const Tensor*> sources;
  std::vector<Dim> starts{Dim(0)};
  for (const Handle& h : parts) {
    if (h.shape.size() != parts[0].shape.size()) throw Unfit{"parts of several ranks"};
    for (std::size_t i = 0; i < h.shape.size(); ++i)
      if (i != d && !trace.ix.same(h.shape[i], parts[0].shape[i]) && !trace.ix.unify(parts[0].shape[i], h.shape[i]))
        throw Unfit{"parts of several sizes"};
    sources.push_back(trace.read(h));
    starts.push_back(starts.back() + h.shape[d]);
  }
  if (sources.size() == 1) return stored(call, sources[0], type, label);
  Tensor t;
  t.shape = parts[0].shape;
  t.shape[d] = starts.back();
  t.type = type;
  t.uses = sources;
  t.label = label;
  t.element = [=](Kernel& k, const Index& index) -> const Expr* {
    const Dtype c = compute_dtype(type.dtype);
    if (k.probing && index[d].terms.size() == 1 && index[d].constant.terms.empty() &&
        index[d].terms.begin()->second.is(1) && index[d].terms.begin()->first->kind == Atom::Kind::coordinate)
      k.cuts.push_back({index[d].terms.begin()->first, starts});
    const std::function<const Expr*(std::size_t)> from = [&](std::size_t i) -> const Expr* {
      // behind this part for sure: the conditions of a kernel that walks over one part
      if (i + 1 < sources.size() && !index[d].constant.terms.empty() &&
          k.ix.surely_not_negative(index[d] - Lin(starts[i + 1])))
        return from(i + 1);
      Index at = index;
      at[d] = index[d] - Lin(starts[i]);
      if (i + 1 == sources.size()) return k.element(sources[i], at);
      if (k.ix.surely_below(index[d], starts[i + 1])) return k.element(sources[i], at);
      const Expr* here = k.op("({0} < {1})", Dtype::boolean, {k.index(index[d]), k.index(Lin(starts[i + 1]))}, "here");
      return k.select(
          here, [&] { return k.element(sources[i], at); }, [&] { return from(i + 1); }, c);
    };
    return from(0);
  };
  return stored(call, trace.make(std::move(t)), type, label);
}

Abstract cat(Call& call) {
  std::vector<Handle> parts = call.tensors(0);
  if (parts.empty()) throw Unfit{"cat of nothing"};
  const std::size_t d = wrapped(call.integer(1), parts[0].shape.size());
  return concatenate(call, std::move(parts), d, "cat");
}

Abstract stack(Call& call) {
  std::vector<Handle> parts = call.tensors(0);
  if (parts.empty()) throw Unfit{"stack of nothing"};
  const std::size_t d = wrapped(call.integer(1), parts[0].shape.size() + 1);
  // ATen joins them along d before it takes that apart, in the order of memory of the parts
  const auto sizes = call.trace.sizes(parts[0]);
  const auto order = memory_order(call.memory, sizes, call.layouts());
  if (d < sizes.size() && !std::is_sorted(order.begin(), order.end()))
    throw Unfit{"a stack in another order of memory"};
  call.memory = Memory::contiguous;
  for (Handle& h : parts) {
    if (h.shape.size() != sizes.size()) throw Unfit{"parts of several ranks"};
    h = insert_dim(call.trace, h, d, "");
  }
  return concatenate(call, std::move(parts), d, "stack");
}

Abstract pad(Call& call) {
  const Handle& h = call.tensor(0);
  const auto amounts = call.integers(1);
  if (call.text(2) != "constant") throw Unfit{"padding by reflection or repetition"};
  const Value value = call.is_none(3) ? Value::of(0.0) : call.at(3).literal;
  if (!value.is_number() || amounts.size() % 2 != 0 || amounts.size() / 2 > h.shape.size())
    throw Unfit{"unknown padding"};
  Trace& trace = call.trace;
  const Tensor* source = trace.read(h);
  const bool part = std::none_of(amounts.begin(), amounts.end(), [](std::int64_t a) { return a > 0; });
  if (part) call.memory = Memory::preserve;  // a view that is copied
  if (std::all_of(amounts.begin(), amounts.end(), [](std::int64_t a) { return a == 0; }))
    return stored(call, source, h.type, "pad");
  const auto sizes = trace.sizes(h);
  auto padded = sizes;
  Tensor t;
  t.shape = h.shape;
  std::vector<std::int64_t> before(h.shape.size(), 0);
  for (std::size_t i = 0; i < amounts.size() / 2; ++i) {
    const std::size_t d = h.shape.size() - 1 - i;
    before[d] = amounts[2 * i];
    if (__builtin_add_overflow(amounts[2 * i], amounts[2 * i + 1], &padded[d]) ||
        __builtin_add_overflow(padded[d], sizes[d], &padded[d]) || padded[d] < 0)
      throw Unfit{"padding beyond the tensor"};
    t.shape[d] = h.shape[d] + Dim(amounts[2 * i] + amounts[2 * i + 1]);
  }
  t.type = h.type;
  t.uses = {source};
  t.label = "pad";
  t.element = [=, type = h.type, shape = h.shape](Kernel& k, const Index& index) {
    Index at = index;
    std::vector<const Expr*> inside;
    for (std::size_t d = 0; d < at.size(); ++d) {
      at[d] = index[d] - Lin(before[d]);
      inside.push_back(k.inside(at[d], shape[d]));
      if (k.ix.resolve(shape[d]).is(1)) at[d] = Lin(0);
    }
    const Dtype c = compute_dtype(type.dtype);
    return k.select(
        k.all_of(inside), [&] { return k.element(source, at); }, [&] { return number_literal(k, value, c); }, c);
  };
  const Layout layouts[] = {{part ? padded : sizes, h.strides}};
  return stored(call, trace.make(std::move(t)), h.type, "pad", layouts);
}

Abstract repeat(Call& call) {
  const Handle& h = call.tensor(0);
  auto counts = call.integers(1);
  if (call.step.schema->name == "tile")
    while (counts.size() < h.shape.size()) counts.insert(counts.begin(), 1);
  if (counts.size() < h.shape.size()) throw Unfit{"too few counts"};
  for (const std::int64_t n : counts)
    if (n < 1 || n > kMostRepeated) throw Unfit{"a repetition of another length"};
  std::vector<Dim> shape;
  const std::size_t lead = counts.size() - h.shape.size();
  for (std::size_t i = 0; i < counts.size(); ++i)
    shape.push_back((i < lead ? Dim(1) : h.shape[i - lead]) * Dim(counts[i]));
  const Tensor* source = call.trace.read(h);
  return stored(
      call,
      remapped(call.trace, source, shape, "repeat",
               [own = h.shape, lead, counts](Indices& ix, const Index& index) {
                 Index out;
                 for (std::size_t i = 0; i < own.size(); ++i)
                   out.push_back(counts[i + lead] == 1 ? index[i + lead] : ix.remainder(index[i + lead], own[i]));
                 return out;
               }),
      h.type, "repeat");
}

Abstract repeat_interleave(Call& call) {
  const Handle& h = call.tensor(0);
  const std::int64_t n = call.integer(1);
  if (call.is_none(2)) throw Unfit{"repeat_interleave of a flattened tensor"};
  if (n < 1 || n > kMostRepeated) throw Unfit{"a repetition of another length"};
  const std::size_t d = wrapped(call.integer(2), h.shape.size());
  std::vector<Dim> shape = h.shape;
  shape[d] = shape[d] * Dim(n);
  return stored(call,
                remapped(call.trace, call.trace.read(h), shape, "repeat_interleave",
                         [d, n](Indices& ix, const Index& index) {
                           Index out = index;
                           out[d] = ix.quotient(index[d], Dim(n));
                           return out;
                         }),
                h.type, "repeat_interleave");
}

Abstract roll(Call& call) {
  const Handle& h = call.tensor(0);
  const auto shifts = call.integers(1), dims = call.integers(2);
  if (dims.size() != shifts.size()) throw Unfit{"roll of a flattened tensor"};
  const auto sizes = call.trace.sizes(h);
  std::vector<std::pair<std::size_t, Dim>> moves;  // index + (size - shift), modulo size
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::size_t d = wrapped(dims[i], h.shape.size());
    if (shifts[i] >= sizes[d] || shifts[i] <= -sizes[d]) throw Unfit{"roll by more than the size"};
    moves.emplace_back(d, shifts[i] > 0 ? h.shape[d] - Dim(shifts[i]) : Dim(-shifts[i]));
  }
  return stored(call,
                remapped(call.trace, call.trace.read(h), h.shape, "roll",
                         [moves, shape = h.shape](Indices& ix, const Index& index) {
                           Index out = index;
                           for (const auto& [d, by] : moves) {
                             // kept whole: a law that drops multiples of the size would lose the shift
                             out[d] = ix.remainder(index[d] + Lin(by), shape[d]);
                           }
                           return out;
                         }),
                h.type, "roll");
}

Abstract flip(Call& call) {
  const Handle& h = call.tensor(0);
  std::vector<std::size_t> dims;
  for (const std::int64_t d : call.integers(1)) dims.push_back(wrapped(d, h.shape.size()));
  return stored(call,
                remapped(call.trace, call.trace.read(h), h.shape, "flip",
                         [dims, shape = h.shape](Indices&, const Index& index) {
                           Index out = index;
                           for (const std::size_t d : dims) out[d] = Lin(shape[d] - Dim(1)) - index[d];
                           return out;
                         }),
                h.type, "flip");
}

}  // namespace

const Tensor* gathered(Trace& trace, const Handle& source_handle, std::size_t d, const Handle& picks_handle,
                       bool may_be_negative, const std::string& label) {
  const Tensor* source = trace.read(source_handle);
  const Tensor* picks = trace.read(picks_handle);
  // a byte is a mask
  if (picks->type.dtype != Dtype::int64 && picks->type.dtype != Dtype::int32)
    throw Unfit{"an index that is no integer"};
  if (d >= source->shape.size()) throw Unfit{"an index into a number"};
  Tensor t;
  t.shape.assign(source->shape.begin(), source->shape.begin() + static_cast<std::ptrdiff_t>(d));
  t.shape.insert(t.shape.end(), picks->shape.begin(), picks->shape.end());
  t.shape.insert(t.shape.end(), source->shape.begin() + static_cast<std::ptrdiff_t>(d) + 1, source->shape.end());
  t.type = source->type;
  t.uses = {source, picks};
  t.label = label;
  t.cost = 2;
  t.element = [=](Kernel& k, const Index& index) {
    const auto first = index.begin() + static_cast<std::ptrdiff_t>(d);
    const auto last = first + static_cast<std::ptrdiff_t>(picks->shape.size());
    const Expr* row = k.element(picks, Index(first, last));
    if (const auto at = k.as_index(row); at && k.ix.surely_not_negative(*at)) {  // a range, not memory
      Index index_of(index.begin(), first);
      index_of.push_back(*at);
      index_of.insert(index_of.end(), last, index.end());
      return k.element(source, index_of);
    }
    if (may_be_negative)
      row = k.op("tl.where({0} < 0, {0} + {1}, {0})", row->type, {row, k.index(Lin(source->shape[d]))}, "row");
    Index at(index.begin(), first);
    at.emplace_back(k.ix.of_value(row));
    at.insert(at.end(), last, index.end());
    return k.element(source, at);
  };
  return trace.make(std::move(t));
}

namespace {

Abstract embedding(Call& call) {
  const Handle& h = call.tensor(0);
  return stored(call, gathered(call.trace, h, 0, call.tensor(1), false, "embedding"), h.type, "embedding");
}
Abstract index_select(Call& call) {
  const Handle& h = call.tensor(0);
  const std::size_t d = wrapped(call.integer(1), h.shape.size());
  return stored(call, gathered(call.trace, h, d, call.tensor(2), false, "index_select"), h.type, "index_select");
}

// out[i, j] = source[picks[i, j], j] along dimension 0, and so on
Abstract gather(Call& call) {
  const Handle& h = call.tensor(0);
  Trace& trace = call.trace;
  const std::size_t d = wrapped(call.integer(1), h.shape.size());
  const Tensor* source = trace.read(h);
  const Tensor* picks = trace.read(call.tensor(2));
  if (picks->shape.size() != source->shape.size() || picks->type.dtype != Dtype::int64)
    throw Unfit{"gather of another rank"};
  Tensor t;
  t.shape = picks->shape;
  t.type = source->type;
  t.uses = {source, picks};
  t.label = "gather";
  t.cost = 2;
  t.element = [=](Kernel& k, const Index& index) {
    Index at = Trace::aligned(k.ix, source->shape, index);
    at[d] = Lin(k.ix.of_value(k.element(picks, index)));
    return k.element(source, at);
  };
  return stored(call, trace.make(std::move(t)), h.type, "gather");
}

constexpr RuleRow kRules[] = {
    {"cat", cat, Memory::channels_last},
    {"concat", cat, Memory::channels_last},
    {"stack", stack, Memory::channels_last},
    {"pad", pad, Memory::channels_last},
    {"repeat", repeat},
    {"tile", repeat},
    {"repeat_interleave.self_int", repeat_interleave},
    {"roll", roll, Memory::channels_last},
    {"flip", flip, Memory::preserve},
    {"embedding", embedding},
    {"index_select", index_select},
    {"gather", gather},
};

}  // namespace

std::span<const RuleRow> rules_copy() { return kRules; }

}  // namespace passnet::author
