// Views and rearrangements: maps of indices. What eager returns as a view, the wrapper returns as a view of the same
// memory; what eager copies (cat, pad, repeat, contiguous of a permuted tensor) is a tensor of its own.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "author/trace.h"

namespace passnet::author {

namespace {

using Strides = std::vector<std::int64_t>;

std::string joined(const std::vector<std::int64_t>& v) { return fmt::format("{}", fmt::join(v, ", ")); }

bool is_dense(const Trace& trace, const Handle& h) {
  const auto sizes = trace.sizes(h);
  std::int64_t expected = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 1) continue;
    if (h.strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

// Strides of a view with the new sizes, as at::detail::computeStride; nothing where memory must move.
std::optional<Strides> view_strides(const Strides& sizes, const Strides& strides, const Strides& to) {
  Strides out(to.size(), 1);
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return std::nullopt;
  std::int64_t view_d = static_cast<std::int64_t>(to.size()) - 1;
  std::int64_t base = strides.empty() ? 1 : strides.back(), tensor_n = 1, view_n = 1;
  for (std::int64_t d = static_cast<std::int64_t>(sizes.size()) - 1; d >= 0; --d) {
    const auto at = static_cast<std::size_t>(d);
    tensor_n *= sizes[at];
    if (d == 0 || (sizes[at - 1] != 1 && strides[at - 1] != tensor_n * base)) {
      while (view_d >= 0 && (view_n < tensor_n || to[static_cast<std::size_t>(view_d)] == 1)) {
        out[static_cast<std::size_t>(view_d)] = view_n * base;
        view_n *= to[static_cast<std::size_t>(view_d)];
        --view_d;
      }
      if (view_n != tensor_n) return std::nullopt;
      if (d > 0) {
        base = strides[at - 1];
        tensor_n = view_n = 1;
      }
    }
  }
  return view_d == -1 ? std::optional(out) : std::nullopt;
}

// A tensor that eager would store: every element taken from `source` at a mapped index.
const Tensor* remapped(Trace& trace, const Tensor* source, std::vector<Dim> shape, std::string label,
                       std::function<Index(Indices&, const Index&)> map) {
  Tensor t;
  t.shape = std::move(shape);
  t.type = source->type;
  t.uses = {source};
  t.label = std::move(label);
  t.cost = 0;
  t.element = [source, map = std::move(map)](Kernel& k, const Index& index) {
    return k.element(source, map(k.ix, index));
  };
  return trace.make(std::move(t));
}

Abstract stored(Trace& trace, const Tensor* value, const std::string& label) {
  return Abstract::of(trace.fresh(finished(trace, value, value->type, label)));
}

std::vector<int> range(std::size_t n) {
  std::vector<int> out(n);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

std::size_t wrapped(std::int64_t d, std::size_t rank) {
  if (d < 0) d += static_cast<std::int64_t>(rank);
  if (d < 0 || d >= static_cast<std::int64_t>(rank)) throw Unfit{"a dimension that is not there"};
  return static_cast<std::size_t>(d);
}

// Dimensions taken out (size 1, or picked at an index) and put in.
Handle drop_dim(Trace& trace, const Handle& h, std::size_t d, const Lin& at, std::string text) {
  View v;
  v.text = std::move(text);
  v.shape = h.shape;
  v.shape.erase(v.shape.begin() + static_cast<std::ptrdiff_t>(d));
  const Dim size = h.shape[d];
  v.to_base = [d, at](Indices&, const Index& index) {
    Index out = index;
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(d), at);
    return out;
  };
  v.to_view = [d, at](Indices&, const Index& index) {
    View::Back back;
    back.index = index;
    back.index.erase(back.index.begin() + static_cast<std::ptrdiff_t>(d));
    back.inside.emplace_back(index[d] - at, Dim(1));
    return back;
  };
  Strides s = h.strides;
  s.erase(s.begin() + static_cast<std::ptrdiff_t>(d));
  return trace.view(h, std::move(v), std::move(s));
}

Handle insert_dim(Trace& trace, const Handle& h, std::size_t d, std::string text) {
  View v;
  v.text = std::move(text);
  v.shape = h.shape;
  v.shape.insert(v.shape.begin() + static_cast<std::ptrdiff_t>(d), Dim(1));
  v.to_base = [d](Indices&, const Index& index) {
    Index out = index;
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(d));
    return out;
  };
  v.to_view = [d](Indices&, const Index& index) {
    View::Back back;
    back.index = index;
    back.index.insert(back.index.begin() + static_cast<std::ptrdiff_t>(d), Lin(0));
    return back;
  };
  Strides s = h.strides;
  s.insert(s.begin() + static_cast<std::ptrdiff_t>(d), d < s.size() ? s[d] * trace.sizes(h)[d] : 1);
  return trace.view(h, std::move(v), std::move(s));
}

// x[start:stop:step] along one dimension; `count` is its new size.
Handle slice_dim(Trace& trace, const Handle& h, std::size_t d, const Dim& start, std::int64_t step, const Dim& count,
                 std::string text) {
  View v;
  v.text = std::move(text);
  v.shape = h.shape;
  v.shape[d] = count;
  v.to_base = [=](Indices&, const Index& index) {
    Index out = index;
    out[d] = index[d] * Dim(step) + Lin(start);
    return out;
  };
  v.to_view = [=](Indices& ix, const Index& index) {
    View::Back back;
    back.index = index;
    const Lin from = index[d] - Lin(start);
    back.index[d] = step == 1 ? from : ix.quotient(from, Dim(step));
    back.inside.emplace_back(from, step == 1 ? count : count * Dim(step));
    if (step != 1) back.inside.emplace_back(ix.remainder(from, Dim(step)), Dim(1));
    return back;
  };
  Strides s = h.strides;
  s[d] *= step;
  return trace.view(h, std::move(v), std::move(s));
}

std::string slice_text(std::size_t d, const std::string& item) {
  std::string out = "[";
  for (std::size_t i = 0; i < d; ++i) out += ":, ";
  return out + item + "]";
}

// The part [start, start + length) of a dimension by numbers.
Handle part(Trace& trace, const Handle& h, std::size_t d, std::int64_t start, std::int64_t length) {
  const std::int64_t size = trace.sizes(h)[d];
  if (start == 0 && length == size) return h;
  // counted from the end where it ends there, so that the pass serves other sizes too
  return slice_dim(trace, h, d, Dim(start), 1, Dim(length), slice_text(d, fmt::format("{}:{}", start, start + length)));
}

Abstract view_rule(Call& call) {
  const auto sizes = call.integers(1);
  const std::string name(call.step.schema->name);
  return Abstract::of(reshape(call.trace, call.tensor(0), sizes, name == "view",
                              fmt::format(".{}({})", name == "view" ? "view" : "reshape", joined(sizes))));
}

Abstract flatten(Call& call) {
  const Handle& h = call.tensor(0);
  if (h.shape.empty()) throw Unfit{"flatten of a number"};
  const std::size_t first = wrapped(call.integer(1), h.shape.size()), last = wrapped(call.integer(2), h.shape.size());
  if (first == last) return Abstract::of(h);
  const auto sizes = call.trace.sizes(h);
  std::vector<std::int64_t> to(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(first));
  to.push_back(-1);
  to.insert(to.end(), sizes.begin() + static_cast<std::ptrdiff_t>(last) + 1, sizes.end());
  return Abstract::of(
      reshape(call.trace, h, to, false, fmt::format(".flatten({}, {})", call.integer(1), call.integer(2))));
}

Abstract unflatten(Call& call) {
  const Handle& h = call.tensor(0);
  const std::size_t d = wrapped(call.integer(1), h.shape.size());
  auto to = call.trace.sizes(h);
  const auto parts = call.integers(2);
  to.erase(to.begin() + static_cast<std::ptrdiff_t>(d));
  to.insert(to.begin() + static_cast<std::ptrdiff_t>(d), parts.begin(), parts.end());
  return Abstract::of(
      reshape(call.trace, h, to, true, fmt::format(".unflatten({}, ({}))", call.integer(1), joined(parts))));
}

Abstract transpose(Call& call) {
  const Handle& h = call.tensor(0);
  const std::size_t rank = h.shape.size();
  std::vector<int> order = range(rank);
  if (call.step.schema->name == "t") {
    if (rank != 2) return Abstract::of(h);
    std::swap(order[0], order[1]);
    return Abstract::of(permute(call.trace, h, order, ".t()"));
  }
  std::swap(order[wrapped(call.integer(1), rank)], order[wrapped(call.integer(2), rank)]);
  return Abstract::of(
      permute(call.trace, h, order, fmt::format(".transpose({}, {})", call.integer(1), call.integer(2))));
}

Abstract permute_rule(Call& call) {
  const Handle& h = call.tensor(0);
  std::vector<int> order;
  for (const std::int64_t d : call.integers(1)) order.push_back(static_cast<int>(wrapped(d, h.shape.size())));
  return Abstract::of(permute(call.trace, h, order, fmt::format(".permute({})", joined(call.integers(1)))));
}

Abstract unsqueeze(Call& call) {
  const Handle& h = call.tensor(0);
  const std::size_t d = wrapped(call.integer(1), h.shape.size() + 1);
  return Abstract::of(insert_dim(call.trace, h, d, fmt::format(".unsqueeze({})", call.integer(1))));
}

Abstract squeeze(Call& call) {
  Handle h = call.tensor(0);
  if (call.args.size() < 2) throw Unfit{"squeeze of every dimension"};
  std::vector<std::size_t> dims;
  for (const std::int64_t d : call.integers(1)) dims.push_back(wrapped(d, h.shape.size()));
  std::sort(dims.rbegin(), dims.rend());
  for (const std::size_t d : dims)
    if (call.trace.ix.resolve(h.shape[d]).is(1)) h = drop_dim(call.trace, h, d, Lin(0), fmt::format(".squeeze({})", d));
  return Abstract::of(h);
}

Handle expand_to(Trace& trace, const Handle& h, const std::vector<std::int64_t>& sizes, std::vector<Dim> wanted,
                 std::string text) {
  const std::size_t lead = sizes.size() - h.shape.size();
  View v;
  v.text = std::move(text);
  Strides strides(sizes.size(), 0);
  bool same = lead == 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i < lead) {
      v.shape.push_back(wanted[i]);
      continue;
    }
    const Dim& own = h.shape[i - lead];
    const bool one = trace.ix.resolve(own).is(1);
    if (sizes[i] == -1 || !one) {
      if (sizes[i] != -1) trace.ix.unify(own, wanted[i]);
      v.shape.push_back(own);
      strides[i] = h.strides[i - lead];
    } else {
      v.shape.push_back(wanted[i]);
      same &= trace.ix.resolve(wanted[i]).is(1);
    }
  }
  if (same) return h;
  const std::vector<Dim> own = h.shape;
  v.to_base = [own](Indices& ix, const Index& index) { return Trace::aligned(ix, own, index); };
  return trace.view(h, std::move(v), std::move(strides));
}

Abstract expand(Call& call) {
  const Handle& h = call.tensor(0);
  const auto sizes = call.integers(1);
  if (sizes.size() < h.shape.size()) throw Unfit{"expand to fewer dimensions"};
  std::vector<Dim> wanted;
  for (const std::int64_t s : sizes) wanted.emplace_back(std::max<std::int64_t>(s, 0));
  return Abstract::of(expand_to(call.trace, h, sizes, wanted, fmt::format(".expand({})", joined(sizes))));
}

Abstract expand_as(Call& call) {
  const Handle& h = call.tensor(0);
  const Handle& like = call.tensor(1);
  const auto sizes = call.trace.sizes(like);
  if (sizes.size() < h.shape.size()) throw Unfit{"expand to fewer dimensions"};
  std::string text = ".expand(";
  for (std::size_t i = 0; i < sizes.size(); ++i) text += (i > 0 ? ", " : "") + call.trace.ix.text(like.shape[i], true);
  return Abstract::of(expand_to(call.trace, h, sizes, like.shape, text + ")"));
}

Abstract select(Call& call) {
  const Handle& h = call.tensor(0);
  const std::size_t d = wrapped(call.integer(1), h.shape.size());
  const std::int64_t i = call.integer(2);
  const Lin at = i < 0 ? Lin(h.shape[d] + Dim(i)) : Lin(i);
  return Abstract::of(drop_dim(call.trace, h, d, at, fmt::format(".select({}, {})", call.integer(1), i)));
}

Abstract list_of(std::vector<Handle> parts) {
  Abstract out;
  out.kind = Abstract::Kind::list;
  for (Handle& h : parts) out.items.push_back(Abstract::of(std::move(h)));
  return out;
}

Abstract split_sizes(Call& call, const Handle& h, std::size_t d, const std::vector<std::int64_t>& lengths) {
  std::vector<Handle> parts;
  std::int64_t start = 0;
  for (const std::int64_t n : lengths) {
    parts.push_back(part(call.trace, h, d, start, n));
    start += n;
  }
  return list_of(std::move(parts));
}

Abstract split(Call& call) {
  const Handle& h = call.tensor(0);
  const std::string name(call.step.schema->name);
  const std::size_t d = wrapped(call.integer(2), h.shape.size());
  const std::int64_t size = call.trace.sizes(h)[d];
  std::vector<std::int64_t> lengths;
  if (name == "split_with_sizes" || (name == "split" && call.step.schema->overload == "sizes")) {
    lengths = call.integers(1);
  } else if (name == "tensor_split") {
    const std::int64_t n = call.integer(1);
    if (n <= 0) throw Unfit{"no parts"};
    for (std::int64_t i = 0; i < n; ++i) lengths.push_back(size / n + (i < size % n ? 1 : 0));
  } else {
    std::int64_t each = call.integer(1);
    if (each <= 0) throw Unfit{"no parts"};
    if (name == "chunk") each = (size + each - 1) / each;
    for (std::int64_t at = 0; at < size; at += each) lengths.push_back(std::min(each, size - at));
  }
  return split_sizes(call, h, d, lengths);
}

Abstract unbind(Call& call) {
  const Handle& h = call.tensor(0);
  const std::size_t d = wrapped(call.integer(1), h.shape.size());
  std::vector<Handle> parts;
  for (std::int64_t i = 0; i < call.trace.sizes(h)[d]; ++i)
    parts.push_back(drop_dim(call.trace, h, d, Lin(i), fmt::format(".select({}, {})", d, i)));
  return list_of(std::move(parts));
}

Abstract contiguous(Call& call) {
  const Handle& h = call.tensor(0);
  if (call.args.size() > 1 && call.at(1).literal.text != "torch.contiguous_format")
    throw Unfit{"another memory format"};
  return is_dense(call.trace, h) ? Abstract::of(h) : Abstract::of(copy_of(call.trace, h, "contiguous"));
}

Abstract meshgrid(Call& call) {
  const auto parts = call.tensors(0);
  if (call.args.size() > 1 && call.text(1) != "ij") throw Unfit{"meshgrid indexing xy"};
  std::vector<std::int64_t> sizes;
  std::vector<Dim> shape;
  for (const Handle& h : parts) {
    if (h.shape.size() != 1) throw Unfit{"meshgrid of no vector"};
    sizes.push_back(call.trace.sizes(h)[0]);
    shape.push_back(h.shape[0]);
  }
  std::vector<Handle> out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Handle h = parts[i];
    for (std::size_t d = 0; d < parts.size(); ++d)
      if (d != i) h = insert_dim(call.trace, h, d, fmt::format(".unsqueeze({})", d));
    out.push_back(expand_to(call.trace, h, sizes, shape, fmt::format(".expand({})", joined(sizes))));
  }
  return list_of(std::move(out));
}

// ---- what eager copies

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
      if (i != d && !trace.ix.same(h.shape[i], parts[0].shape[i])) trace.ix.unify(parts[0].shape[i], h.shape[i]);
    sources.push_back(trace.read(h));
    starts.push_back(starts.back() + h.shape[d]);
  }
  if (sources.size() == 1) return stored(trace, sources[0], label);
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
  return stored(trace, trace.make(std::move(t)), label);
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
  for (Handle& h : parts) h = insert_dim(call.trace, h, d, "");
  return concatenate(call, std::move(parts), d, "stack");
}

Abstract pad(Call& call) {
  const Handle& h = call.tensor(0);
  const auto amounts = call.integers(1);
  if (call.text(2) != "constant") throw Unfit{"padding by reflection or repetition"};
  const Value value = call.is_none(3) ? Value::of(0.0) : call.at(3).literal;
  if (!value.is_number() || amounts.size() % 2 != 0 || amounts.size() / 2 > h.shape.size())
    throw Unfit{"unknown padding"};
  if (std::all_of(amounts.begin(), amounts.end(), [](std::int64_t a) { return a == 0; }))
    return Abstract::of(copy_of(call.trace, h, "pad"));
  Trace& trace = call.trace;
  const Tensor* source = trace.read(h);
  Tensor t;
  t.shape = h.shape;
  std::vector<std::int64_t> before(h.shape.size(), 0);
  for (std::size_t i = 0; i < amounts.size() / 2; ++i) {
    const std::size_t d = h.shape.size() - 1 - i;
    before[d] = amounts[2 * i];
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
        k.all_of(inside), [&] { return k.element(source, at); },
        [&] { return value.kind == ValueKind::real ? k.literal(value.real, c) : k.literal(value.integer, c); }, c);
  };
  return stored(trace, trace.make(std::move(t)), "pad");
}

Abstract repeat(Call& call) {
  const Handle& h = call.tensor(0);
  auto counts = call.integers(1);
  if (call.step.schema->name == "tile")
    while (counts.size() < h.shape.size()) counts.insert(counts.begin(), 1);
  if (counts.size() < h.shape.size()) throw Unfit{"too few counts"};
  std::vector<Dim> shape;
  const std::size_t lead = counts.size() - h.shape.size();
  for (std::size_t i = 0; i < counts.size(); ++i)
    shape.push_back((i < lead ? Dim(1) : h.shape[i - lead]) * Dim(counts[i]));
  const Tensor* source = call.trace.read(h);
  return stored(
      call.trace,
      remapped(call.trace, source, shape, "repeat",
               [own = h.shape, lead, counts](Indices& ix, const Index& index) {
                 Index out;
                 for (std::size_t i = 0; i < own.size(); ++i)
                   out.push_back(counts[i + lead] == 1 ? index[i + lead] : ix.remainder(index[i + lead], own[i]));
                 return out;
               }),
      "repeat");
}

Abstract repeat_interleave(Call& call) {
  const Handle& h = call.tensor(0);
  const std::int64_t n = call.integer(1);
  if (call.is_none(2)) throw Unfit{"repeat_interleave of a flattened tensor"};
  const std::size_t d = wrapped(call.integer(2), h.shape.size());
  std::vector<Dim> shape = h.shape;
  shape[d] = shape[d] * Dim(n);
  return stored(call.trace,
                remapped(call.trace, call.trace.read(h), shape, "repeat_interleave",
                         [d, n](Indices& ix, const Index& index) {
                           Index out = index;
                           out[d] = ix.quotient(index[d], Dim(n));
                           return out;
                         }),
                "repeat_interleave");
}

Abstract roll(Call& call) {
  const Handle& h = call.tensor(0);
  const auto shifts = call.integers(1), dims = call.integers(2);
  if (dims.size() != shifts.size()) throw Unfit{"roll of a flattened tensor"};
  const auto sizes = call.trace.sizes(h);
  std::vector<std::pair<std::size_t, Dim>> moves;  // index + (size - shift), modulo size
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::size_t d = wrapped(dims[i], h.shape.size());
    if (std::abs(shifts[i]) >= sizes[d]) throw Unfit{"roll by more than the size"};
    moves.emplace_back(d, shifts[i] > 0 ? h.shape[d] - Dim(shifts[i]) : Dim(-shifts[i]));
  }
  return stored(call.trace,
                remapped(call.trace, call.trace.read(h), h.shape, "roll",
                         [moves, shape = h.shape](Indices& ix, const Index& index) {
                           Index out = index;
                           for (const auto& [d, by] : moves) {
                             // kept whole: a law that drops multiples of the size would lose the shift
                             out[d] = ix.remainder(index[d] + Lin(by), shape[d]);
                           }
                           return out;
                         }),
                "roll");
}

Abstract flip(Call& call) {
  const Handle& h = call.tensor(0);
  std::vector<std::size_t> dims;
  for (const std::int64_t d : call.integers(1)) dims.push_back(wrapped(d, h.shape.size()));
  return stored(call.trace,
                remapped(call.trace, call.trace.read(h), h.shape, "flip",
                         [dims, shape = h.shape](Indices&, const Index& index) {
                           Index out = index;
                           for (const std::size_t d : dims) out[d] = Lin(shape[d] - Dim(1)) - index[d];
                           return out;
                         }),
                "flip");
}

// ---- elements picked by an index tensor

// The rows of `source` along `d` that `picks` names; its dimensions take the place of d.
Abstract gather_rows(Call& call, const Handle& source_handle, std::size_t d, const Handle& picks_handle,
                     bool may_be_negative, const std::string& label) {
  Trace& trace = call.trace;
  const Tensor* source = trace.read(source_handle);
  const Tensor* picks = trace.read(picks_handle);
  if (picks->type.floating() || picks->type.dtype == Dtype::boolean) throw Unfit{"an index that is no integer"};
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
  return stored(trace, trace.make(std::move(t)), label);
}

Abstract embedding(Call& call) { return gather_rows(call, call.tensor(0), 0, call.tensor(1), false, "embedding"); }
Abstract index_select(Call& call) {
  const Handle& h = call.tensor(0);
  return gather_rows(call, h, wrapped(call.integer(1), h.shape.size()), call.tensor(2), false, "index_select");
}

// out[i, j] = source[picks[i, j], j] along dimension 0, and so on
Abstract gather(Call& call) {
  const Handle& h = call.tensor(0);
  Trace& trace = call.trace;
  const std::size_t d = wrapped(call.integer(1), h.shape.size());
  const Tensor* source = trace.read(h);
  const Tensor* picks = trace.read(call.tensor(2));
  if (picks->shape.size() != source->shape.size() || picks->type.floating()) throw Unfit{"gather of another rank"};
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
  return stored(trace, trace.make(std::move(t)), "gather");
}

constexpr RuleRow kRules[] = {
    {"view", view_rule},
    {"reshape", view_rule},
    {"_unsafe_view", view_rule},
    {"flatten", flatten},
    {"unflatten", unflatten},
    {"transpose", transpose},
    {"t", transpose},
    {"permute", permute_rule},
    {"unsqueeze", unsqueeze},
    {"squeeze", squeeze},
    {"expand", expand},
    {"expand_as", expand_as},
    {"select", select},
    {"split", split},
    {"split_with_sizes", split},
    {"chunk", split},
    {"tensor_split.sections", split},
    {"unbind", unbind},
    {"contiguous", contiguous},
    {"meshgrid", meshgrid},
    {"cat", cat},
    {"concat", cat},
    {"stack", stack},
    {"pad", pad},
    {"constant_pad_nd", nullptr},
    {"repeat", repeat},
    {"tile", repeat},
    {"repeat_interleave.self_int", repeat_interleave},
    {"roll", roll},
    {"flip", flip},
    {"embedding", embedding},
    {"index_select", index_select},
    {"gather", gather},
};

}  // namespace

std::span<const RuleRow> rules_view() { return kRules; }

Handle copy_of(Trace& trace, const Handle& h, std::string label) {
  const Tensor* source = trace.read(h);
  return trace.fresh(finished(trace, source, h.type, std::move(label)));
}

Handle permute(Trace& trace, const Handle& h, const std::vector<int>& order, std::string text) {
  View v;
  v.text = std::move(text);
  Strides strides;
  bool same = true;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto from = static_cast<std::size_t>(order[i]);
    same &= from == i;
    v.shape.push_back(h.shape[from]);
    strides.push_back(h.strides[from]);
  }
  if (same) return h;
  v.to_base = [order](Indices&, const Index& index) {
    Index out(index.size());
    for (std::size_t i = 0; i < order.size(); ++i) out[static_cast<std::size_t>(order[i])] = index[i];
    return out;
  };
  v.to_view = [order](Indices&, const Index& index) {
    View::Back back;
    for (const int d : order) back.index.push_back(index[static_cast<std::size_t>(d)]);
    return back;
  };
  return trace.view(h, std::move(v), std::move(strides));
}

// Dimensions are matched in groups of equal products; inside a group the index is made linear and taken apart again.
Index reshape_index(Indices& ix, const std::vector<Dim>& from, const std::vector<Dim>& to, const Index& to_index) {
  Index out(from.size(), Lin(0));
  std::size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    std::vector<std::size_t> a, b;
    std::int64_t na = 1, nb = 1;
    const auto take_a = [&] {
      na *= ix.value(ix.resolve(from[i]));
      a.push_back(i++);
    };
    const auto take_b = [&] {
      nb *= ix.value(ix.resolve(to[j]));
      b.push_back(j++);
    };
    if (i < from.size()) take_a();
    if (j < to.size()) take_b();
    while (na != nb) {
      if (na < nb && i < from.size())
        take_a();
      else if (j < to.size())
        take_b();
      else
        throw Impossible{"a reshape to another number of elements"};
    }
    const auto significant = [&](std::vector<std::size_t>& group, const std::vector<Dim>& shape) {
      std::erase_if(group, [&](std::size_t d) { return ix.resolve(shape[d]).is(1); });
    };
    significant(a, from);
    significant(b, to);
    if (a.empty()) continue;
    if (a.size() == 1 && b.size() == 1) {
      out[a[0]] = to_index[b[0]];
      continue;
    }
    Lin linear;
    Dim stride(1);
    for (std::size_t n = b.size(); n-- > 0;) {
      linear = linear + to_index[b[n]] * stride;
      stride = stride * ix.resolve(to[b[n]]);
    }
    linear = ix.simplify(linear);
    Dim below(1);
    for (std::size_t n = a.size(); n-- > 0;) {
      const Dim size = ix.resolve(from[a[n]]);
      const Lin q = ix.quotient(linear, below);
      out[a[n]] = n == 0 ? q : ix.remainder(q, size);
      below = below * size;
    }
  }
  return out;
}

Handle reshape(Trace& trace, const Handle& h, std::vector<std::int64_t> sizes, bool must_view, std::string text) {
  const auto from = trace.sizes(h);
  Dim all(1);
  std::int64_t count = 1, known_count = 1;
  for (std::size_t d = 0; d < from.size(); ++d) {
    all = all * trace.ix.resolve(h.shape[d]);
    count *= from[d];
  }
  if (count == 0) throw Unfit{"an empty tensor"};
  std::vector<Dim> shape;
  Dim known(1);
  int open = -1;
  // A size that the source has at its place, after the same product, is the source's symbol.
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) {
      open = static_cast<int>(i);
      shape.emplace_back(0);
      continue;
    }
    known_count *= sizes[i];
    shape.emplace_back(sizes[i]);
  }
  if (open >= 0) {
    if (known_count == 0 || count % known_count != 0) throw Unfit{"a reshape to another number of elements"};
    sizes[static_cast<std::size_t>(open)] = count / known_count;
  }
  // Match dims one to one where prefix products agree: literal sizes make the source's symbols numbers.
  {
    std::size_t i = 0, j = 0;
    std::int64_t pi = 1, pj = 1;
    while (i < from.size() && j < sizes.size()) {
      if (pi == pj && from[i] == sizes[j]) {
        if (static_cast<int>(j) == open)
          shape[j] = h.shape[i];
        else
          trace.ix.unify(h.shape[i], shape[j]);
        pi *= from[i++];
        pj *= sizes[j++];
      } else if (pi * from[i] <= pj * sizes[j]) {
        pi *= from[i++];
      } else {
        pj *= sizes[j++];
      }
    }
  }
  if (open >= 0 && shape[static_cast<std::size_t>(open)].is(0)) {
    Dim rest(1), total(1);
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (static_cast<int>(i) != open) rest = rest * trace.ix.resolve(shape[i]);
    for (const Dim& d : h.shape) total = total * trace.ix.resolve(d);
    if (const auto q = divide_exactly(total, rest))
      shape[static_cast<std::size_t>(open)] = *q;
    else
      shape[static_cast<std::size_t>(open)] =
          trace.ix.derived("rest", fmt::format("({}) // ({})", trace.ix.text(total, true), trace.ix.text(rest, true)),
                           sizes[static_cast<std::size_t>(open)]);
  }
  if (from == sizes) return h;
  const std::vector<Dim> own = h.shape;
  const auto strides = view_strides(from, h.strides, sizes);
  if (!strides) {
    if (must_view) throw Unfit{"a view of memory in another order"};
    return trace.fresh(finished(trace, with_shape(trace, trace.read(h), shape), h.type, "reshape"));
  }
  View v;
  v.text = std::move(text);
  v.shape = shape;
  v.to_base = [own, shape](Indices& ix, const Index& index) { return reshape_index(ix, own, shape, index); };
  v.to_view = [own, shape](Indices& ix, const Index& index) {
    View::Back back;
    back.index = reshape_index(ix, shape, own, index);
    return back;
  };
  return trace.view(h, std::move(v), *strides);
}

const Tensor* with_shape(Trace& trace, const Tensor* value, std::vector<Dim> shape) {
  const std::vector<Dim> own = value->shape;
  return remapped(trace, value, shape, value->label,
                  [own, shape](Indices& ix, const Index& index) { return reshape_index(ix, own, shape, index); });
}

namespace {

struct Item {
  enum class Kind : std::uint8_t { slice, integer, none, tensor } kind = Kind::none;
  std::int64_t start = 0, stop = 0, step = 1;
  bool has_start = false, has_stop = false;
  Handle tensor;
  std::string text;
};

// x[...] taken apart: one item a dimension, Ellipsis filled in.
std::vector<Item> index_items(const Trace& trace, const Value& index, std::size_t rank,
                              const std::vector<Abstract>& registers) {
  std::vector<Value> values = index.kind == ValueKind::tuple ? index.items : std::vector<Value>{index};
  std::size_t used = 0;
  for (const Value& v : values)
    if (v.kind != ValueKind::none && v.kind != ValueKind::ellipsis) ++used;
  if (used > rank) throw Unfit{"too many indices"};
  std::vector<Item> out;
  bool filled = false;
  const auto fill = [&] {
    for (std::size_t i = used; i < rank; ++i) {
      Item item;
      item.kind = Item::Kind::slice;
      item.text = ":";
      out.push_back(item);
    }
    filled = true;
  };
  const auto number = [&](const Value& v) -> std::optional<std::int64_t> {
    const Abstract a = trace.read_value(v, registers);
    if (a.kind != Abstract::Kind::literal) throw Unfit{"an index that is not known"};
    if (a.literal.kind == ValueKind::none) return std::nullopt;
    if (a.literal.kind != ValueKind::integer) throw Unfit{"an index of another kind"};
    return a.literal.integer;
  };
  for (const Value& v : values) {
    if (v.kind == ValueKind::ellipsis) {
      fill();
      continue;
    }
    Item item;
    item.text = "None";
    if (v.kind == ValueKind::slice) {
      item.kind = Item::Kind::slice;
      const auto lo = number(v.items[0]), hi = number(v.items[1]), by = number(v.items[2]);
      item.has_start = lo.has_value();
      item.has_stop = hi.has_value();
      item.start = lo.value_or(0);
      item.stop = hi.value_or(0);
      item.step = by.value_or(1);
      if (item.step < 1) throw Unfit{"a slice backwards"};
      item.text = (lo ? std::to_string(*lo) : "") + ":" + (hi ? std::to_string(*hi) : "") +
                  (item.step != 1 ? ":" + std::to_string(item.step) : "");
    } else if (v.kind == ValueKind::integer) {
      item.kind = Item::Kind::integer;
      item.start = v.integer;
      item.text = std::to_string(v.integer);
    } else if (v.is_node()) {
      const Abstract& a = registers[static_cast<std::size_t>(v.node)];
      if (a.is_tensor()) {
        item.kind = Item::Kind::tensor;
        item.tensor = a.tensor;
      } else {
        item.kind = Item::Kind::integer;
        const auto n = number(v);
        if (!n) throw Unfit{"an index of another kind"};
        item.start = *n;
        item.text = std::to_string(*n);
      }
    } else if (v.kind != ValueKind::none) {
      throw Unfit{"an index of another kind"};
    }
    out.push_back(item);
  }
  if (!filled) fill();
  return out;
}

Handle apply_items(Trace& trace, Handle h, const std::vector<Item>& items) {
  std::string text;
  for (const Item& item : items) text += (text.empty() ? "" : ", ") + item.text;
  const std::size_t before = h.views.size();
  std::size_t d = 0;
  for (const Item& item : items) {
    if (item.kind == Item::Kind::none) {
      h = insert_dim(trace, h, d++, "");
    } else if (item.kind == Item::Kind::integer) {
      const std::int64_t size = trace.sizes(h)[d];
      if (item.start >= size || item.start < -size) throw Unfit{"an index out of range"};
      h = drop_dim(trace, h, d, item.start < 0 ? Lin(h.shape[d] + Dim(item.start)) : Lin(item.start), "");
    } else if (item.kind == Item::Kind::slice) {
      const std::int64_t size = trace.sizes(h)[d];
      const Dim whole = h.shape[d];
      const auto bound = [&](std::int64_t v) {
        return v < 0 ? std::max<std::int64_t>(v + size, 0) : std::min(v, size);
      };
      const std::int64_t lo = item.has_start ? bound(item.start) : 0, hi = item.has_stop ? bound(item.stop) : size;
      const std::int64_t count = hi > lo ? (hi - lo + item.step - 1) / item.step : 0;
      if (count == 0) throw Unfit{"an empty slice"};
      const Dim start = item.has_start && item.start < 0 && lo > 0 ? whole + Dim(item.start) : Dim(lo);
      const Dim stop = !item.has_stop || hi == size ? whole : item.stop < 0 ? whole + Dim(item.stop) : Dim(hi);
      if (lo != 0 || hi != size || item.step != 1) {
        Dim length = stop - start;
        if (item.step != 1) {
          if (const auto q = divide_exactly(trace.ix.resolve(length), Dim(item.step)); q && lo == 0)
            length = *q;
          else
            length = trace.ix.derived(
                "part", fmt::format("({} + {}) // {}", trace.ix.text(length, true), item.step - 1, item.step), count);
        }
        h = slice_dim(trace, h, d, start, item.step, trace.ix.value(trace.ix.resolve(length)) == 1 ? Dim(1) : length,
                      "");
      }
      ++d;
    } else {
      throw Unfit{"an index tensor"};
    }
  }
  // One text for the views of one index.
  if (h.views.size() > before) {
    auto first = std::make_shared<View>(*h.views[before]);
    first->text = "[" + text + "]";
    h.views[before] = first;
  }
  return h;
}

}  // namespace

Abstract get_item(Call& call, const Abstract& base, const Value& index, const std::vector<Abstract>& registers) {
  Trace& trace = call.trace;
  if (base.kind == Abstract::Kind::list) {
    const Abstract i = trace.read_value(index, registers);
    if (i.kind != Abstract::Kind::literal || i.literal.kind != ValueKind::integer) throw Unfit{"an unknown item"};
    const auto n = static_cast<std::int64_t>(base.items.size());
    const std::int64_t at = i.literal.integer < 0 ? i.literal.integer + n : i.literal.integer;
    if (at < 0 || at >= n) throw Unfit{"an item that is not there"};
    return base.items[static_cast<std::size_t>(at)];
  }
  if (base.kind == Abstract::Kind::literal && base.literal.is_sequence()) {
    if (index.kind != ValueKind::integer) throw Unfit{"a slice of a list"};
    const auto n = static_cast<std::int64_t>(base.literal.items.size());
    const std::int64_t at = index.integer < 0 ? index.integer + n : index.integer;
    if (at < 0 || at >= n) throw Unfit{"an item that is not there"};
    return Abstract::of(base.literal.items[static_cast<std::size_t>(at)]);
  }
  if (!base.is_tensor()) throw Unfit{"an item of an unknown value"};
  Handle h = base.tensor;
  std::vector<Item> items = index_items(trace, index, h.shape.size(), registers);
  std::size_t tensors = 0;
  for (const Item& item : items) tensors += item.kind == Item::Kind::tensor ? 1 : 0;
  if (tensors == 0) return Abstract::of(apply_items(trace, h, items));
  if (tensors > 1) throw Unfit{"several index tensors"};
  std::size_t d = 0;
  for (const Item& item : items) {
    if (item.kind == Item::Kind::tensor) return gather_rows(call, h, d, item.tensor, true, "gather");
    if (item.kind != Item::Kind::slice || item.has_start || item.has_stop || item.step != 1)
      throw Unfit{"an index tensor beside other indices"};
    ++d;
  }
  throw Unfit{"an index of another kind"};
}

void set_item(Trace& trace, const Handle& target, const Value& index, const Abstract& value,
              const std::vector<Abstract>& registers) {
  const std::vector<Item> items = index_items(trace, index, target.shape.size(), registers);
  const Handle place = apply_items(trace, target, items);
  const Dtype compute = compute_dtype(target.type.dtype);
  const Tensor* source = nullptr;
  if (value.is_tensor()) {
    if (value.tensor.buffer == place.buffer &&
        value.tensor.views.size() == target.views.size() + place.views.size() - target.views.size()) {
      // x[i] = y where y is x[i] itself, changed in place: nothing to do
      bool same = value.tensor.shape.size() == place.shape.size() && !place.views.empty() &&
                  !value.tensor.views.empty() && value.tensor.views.back()->text == place.views.back()->text &&
                  value.tensor.strides == place.strides;
      for (std::size_t i = 0; same && i < place.views.size(); ++i)
        same = value.tensor.views[i]->text == place.views[i]->text;
      if (same) return;
    }
    source = trace.read(value.tensor);
  } else {
    if (value.kind != Abstract::Kind::literal || !value.literal.is_number()) throw Unfit{"an unknown value"};
    Tensor t;
    t.type = {compute, -1};
    t.cost = 0;
    t.label = "number";
    t.element = [v = value.literal, compute](Kernel& k, const Index&) {
      return v.kind == ValueKind::real ? k.literal(v.real, compute) : k.literal(v.integer, compute);
    };
    source = trace.make(std::move(t));
  }
  if (source->shape.size() > place.shape.size()) {
    std::vector<Dim> shape(source->shape.end() - static_cast<std::ptrdiff_t>(place.shape.size()), source->shape.end());
    source = with_shape(trace, source, shape);
  }
  const std::vector<std::vector<Dim>> shapes{place.shape, source->shape};
  trace.broadcast(shapes);
  Tensor t;
  t.shape = place.shape;
  t.type = {compute, -1};
  t.uses = {source};
  t.label = "setitem";
  t.element = [source, compute](Kernel& k, const Index& i) {
    return k.to(k.element(source, Trace::aligned(k.ix, source->shape, i)), compute);
  };
  trace.write(place, finished(trace, trace.make(std::move(t)), target.type, "setitem"));
}

}  // namespace passnet::author
