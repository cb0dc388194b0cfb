// Views: maps of indices. What eager returns as a view, the wrapper returns as a view of the same memory.
#include "author/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace passnet::author {

std::size_t wrapped(std::int64_t d, std::size_t rank) {
  if (d < 0) d += static_cast<std::int64_t>(rank);
  if (d < 0 || d >= static_cast<std::int64_t>(rank)) throw Unfit{"a dimension that is not there"};
  return static_cast<std::size_t>(d);
}

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

namespace {

std::string joined(const std::vector<std::int64_t>& v) { return fmt::format("{}", fmt::join(v, ", ")); }

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

std::vector<int> range(std::size_t n) {
  std::vector<int> out(n);
  std::iota(out.begin(), out.end(), 0);
  return out;
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
  for (const std::int64_t d : call.integers(1)) {
    order.push_back(static_cast<int>(wrapped(d, h.shape.size())));
    if (std::count(order.begin(), order.end(), order.back()) > 1) throw Unfit{"a dimension twice"};
  }
  if (order.size() != h.shape.size()) throw Unfit{"too few dimensions"};
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
  const auto own_sizes = trace.sizes(h);
  const std::size_t lead = sizes.size() - h.shape.size();
  View v;
  v.text = std::move(text);
  Strides strides(sizes.size(), 0);
  bool same = lead == 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 && (sizes[i] != -1 || i < lead)) throw Unfit{"a negative size"};
    if (i < lead) {
      v.shape.push_back(wanted[i]);
      continue;
    }
    if (sizes[i] == -1 || sizes[i] == own_sizes[i - lead]) strides[i] = h.strides[i - lead];
    const Dim& own = h.shape[i - lead];
    const bool one = trace.ix.resolve(own).is(1);
    if (sizes[i] == -1 || !one) {
      if (sizes[i] != -1 && !trace.ix.unify(own, wanted[i])) throw Unfit{"an expansion to another size"};
      v.shape.push_back(own);
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
  const std::int64_t i = call.integer(2), size = call.trace.sizes(h)[d];
  if (i >= size || i < -size) throw Unfit{"an index out of range"};
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
  const std::int64_t size = call.trace.sizes(h)[d];
  for (const std::int64_t n : lengths) {
    if (n < 0 || n > size - start) throw Unfit{"parts of other sizes"};
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
    const auto n = static_cast<std::int64_t>(list_length(call.integer(1)));
    if (n == 0) throw Unfit{"no parts"};
    for (std::int64_t i = 0; i < n; ++i) lengths.push_back(size / n + (i < size % n ? 1 : 0));
  } else {
    std::int64_t each = call.integer(1);
    if (each <= 0) throw Unfit{"no parts"};
    if (name == "chunk") each = std::max<std::int64_t>(size - 1, 0) / each + 1;
    list_length(size / each);
    for (std::int64_t at = 0; at < size; at += each) lengths.push_back(std::min(each, size - at));
  }
  return split_sizes(call, h, d, lengths);
}

Abstract unbind(Call& call) {
  const Handle& h = call.tensor(0);
  const std::size_t d = wrapped(call.integer(1), h.shape.size());
  std::vector<Handle> parts;
  const auto n = static_cast<std::int64_t>(list_length(call.trace.sizes(h)[d]));
  for (std::int64_t i = 0; i < n; ++i)
    parts.push_back(drop_dim(call.trace, h, d, Lin(i), fmt::format(".select({}, {})", d, i)));
  return list_of(std::move(parts));
}

Abstract contiguous(Call& call) {
  const Handle& h = call.tensor(0);
  if (is_dense({call.trace.sizes(h), h.strides})) return Abstract::of(h);
  return stored(call, call.trace.read(h), h.type, "contiguous");
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
};

}  // namespace

std::span<const RuleRow> rules_view() { return kRules; }

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
  constexpr auto other = "a reshape to another number of elements";
  std::vector<Dim> shape;
  Dim known(1);
  int open = -1;
  // A size that the source has at its place, after the same product, is the source's symbol.
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && open < 0) {
      open = static_cast<int>(i);
      shape.emplace_back(0);
      continue;
    }
    if (sizes[i] < 0 || __builtin_mul_overflow(known_count, sizes[i], &known_count)) throw Unfit{other};
    shape.emplace_back(sizes[i]);
  }
  if (open >= 0) {
    if (known_count == 0 || count % known_count != 0) throw Unfit{other};
    sizes[static_cast<std::size_t>(open)] = count / known_count;
  } else if (known_count != count) {
    throw Unfit{other};
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

}  // namespace passnet::author
