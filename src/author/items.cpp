// x[...], read and assigned.
#include <fmt/format.h>

#include <algorithm>

#include "author/views.h"

namespace passnet::author {

namespace {

constexpr std::int64_t kLongestStep = 1 << 30;

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
      if (item.step < 1 || item.step > kLongestStep) throw Unfit{"a slice backwards, or by steps that leave it"};
      item.text = (lo ? std::to_string(*lo) : "") + ":" + (hi ? std::to_string(*hi) : "") +
                  (item.step != 1 ? ":" + std::to_string(item.step) : "");
    } else if (v.kind == ValueKind::integer) {
      item.kind = Item::Kind::integer;
      item.start = v.integer;
      item.text = std::to_string(v.integer);
    } else if (v.is_node()) {
      const Abstract& a = registers[static_cast<std::size_t>(v.node)];
      if (a.is_tensor()) {
        if (a.tensor.shape.empty())
          throw Unfit{"an index tensor without dimensions"};  // a view: its place is not known
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

namespace {

// x[:, i]: ATen iterates over the source with the index's dimensions in the place of d, along which it does not move.
Abstract gather_item(Call& call, const Handle& h, std::size_t d, const Handle& picks) {
  Layout source{call.trace.sizes(h), h.strides}, index{call.trace.sizes(picks), picks.strides};
  const std::size_t after = h.shape.size() - d - 1;
  const auto place = [d](std::vector<std::int64_t>& into, const std::vector<std::int64_t>& what) {
    into.insert(into.erase(into.begin() + static_cast<std::ptrdiff_t>(d)), what.begin(), what.end());
  };
  place(source.sizes, index.sizes);
  place(source.strides, std::vector<std::int64_t>(index.sizes.size(), 0));
  index.sizes.insert(index.sizes.end(), after, 1);
  index.strides.insert(index.strides.end(), after, 0);
  call.memory = Memory::iterator;
  const Layout layouts[] = {std::move(source), std::move(index)};
  return stored(call, gathered(call.trace, h, d, picks, true, "gather"), h.type, "gather", layouts);
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
    if (item.kind == Item::Kind::tensor) return gather_item(call, h, d, item.tensor);
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
    source = number_tensor(trace, value.literal, compute);
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
