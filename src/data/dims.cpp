#include "data/dims.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace passnet::data {

namespace {

using Sizes = std::vector<std::int64_t>;

std::size_t at(NodeId id) { return static_cast<std::size_t>(id); }

// How an operator's literals are sizes.
enum class Literals : std::uint8_t {
  reshaped,  // of all arguments after the first: the first's elements in another shape
  expanded,  // of all arguments after the first: the first's dimensions, where it has more than one
  counts,    // each number is a size or a count by itself
  index,     // bounds of slices
};

struct LiteralRow {
  std::string_view target;  // a function's last part, or a method's name
  Literals literals;
};
constexpr LiteralRow kLiterals[] = {
    {"view", Literals::reshaped},
    {"reshape", Literals::reshaped},
    {"expand", Literals::expanded},
    {"broadcast_to", Literals::expanded},
    {"arange", Literals::counts},
    {"zeros", Literals::counts},
    {"ones", Literals::counts},
    {"full", Literals::counts},
    {"empty", Literals::counts},
    {"rand", Literals::counts},
    {"randn", Literals::counts},
    {"new_zeros", Literals::counts},
    {"new_ones", Literals::counts},
    {"new_full", Literals::counts},
    {"new_empty", Literals::counts},
    {"linspace", Literals::counts},
    {"interpolate", Literals::counts},
    {"repeat", Literals::counts},
    {"repeat_interleave", Literals::counts},
    {"split", Literals::counts},
    {"unflatten", Literals::counts},
    {"tile", Literals::counts},
    {"getitem", Literals::index},
    {"setitem", Literals::index},
    {"fold", Literals::counts},
    {"sym_sum", Literals::counts},
};

const LiteralRow* find_row(const Node& node) {
  if (node.kind != NodeKind::call_function && node.kind != NodeKind::call_method) return nullptr;
  const std::string_view name = std::string_view(node.target).substr(node.target.rfind('.') + 1);
  for (const LiteralRow& row : kLiterals)
    if (name == row.target) return &row;
  return nullptr;
}

const Sizes* shape_of(const std::vector<Sizes>& shapes, const Value& v) {
  return v.is_node() ? &shapes[at(v.node)] : nullptr;
}

// What became of each size so far: old -> the new ones it has been seen as, with how often.
class SizeMap {
 public:
  void add(const Sizes& old_shape, const Sizes& new_shape) {
    if (old_shape.size() != new_shape.size()) return;
    for (std::size_t d = 0; d < old_shape.size(); ++d) ++seen_[old_shape[d]][new_shape[d]];
  }
  // Whether it has more often become another than stayed what it was.
  bool changes(std::int64_t size) const {
    const auto found = seen_.find(size);
    if (found == seen_.end()) return false;
    std::int64_t stayed = 0, changed_count = 0;
    for (const auto& [now, count] : found->second) (now == size ? stayed : changed_count) += count;
    return changed_count > stayed;
  }
  // What it changed into, most frequent first; itself is not among them.
  Sizes changed(std::int64_t size) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> found;
    if (const auto at_size = seen_.find(size); at_size != seen_.end())
      for (const auto& [now, count] : at_size->second)
        if (now != size) found.push_back({-count, now});
    std::sort(found.begin(), found.end());
    Sizes out;
    for (const auto& [count, now] : found) out.push_back(now);
    return out;
  }

 private:
  std::map<std::int64_t, std::map<std::int64_t, std::int64_t>> seen_;
};

std::int64_t product(const std::int64_t* begin, const std::int64_t* end) {
  std::int64_t out = 1;
  for (; begin != end; ++begin) out *= *begin;
  return out;
}

// Every integer literal of a value, in order, outside nested references.
void each_integer(Value& v, const std::function<void(Value&)>& visit) {
  if (v.kind == ValueKind::integer) visit(v);
  for (Value& item : v.items) each_integer(item, visit);
}

class Rewriter {
 public:
  Rewriter(const SizeMap& map, const std::vector<Sizes>& old_shapes, const std::vector<Sizes>& new_shapes,
           std::int64_t batch_was, std::int64_t batch_is)
      : map_(map), old_(old_shapes), new_(new_shapes), batch_was_(batch_was), batch_is_(batch_is) {}

  // The node's possible rewritings, the likeliest first; the node itself is the last.
  std::vector<Node> candidates(const Node& node, const Sizes& old_result) {
    std::vector<Node> out;
    const LiteralRow* row = find_row(node);
    if (row != nullptr) {
      Node changed = node;
      switch (row->literals) {
        case Literals::reshaped: reshape(changed, old_result); break;
        case Literals::expanded: expand(changed); break;
        case Literals::counts: counts(changed); break;
        case Literals::index: index(changed); break;
      }
      out.push_back(std::move(changed));
    }
    out.push_back(node);
    return out;
  }

 private:
  // The literals that say a new shape, in order: what follows the first argument, as a list or one by one.
  static std::vector<Value*> shape_literals(Node& node) {
    std::vector<Value*> out;
    for (std::size_t i = 1; i < node.args.size(); ++i) {
      if (node.args[i].is_sequence())
        for (Value& item : node.args[i].items) out.push_back(&item);
      else
        out.push_back(&node.args[i]);
    }
    for (Kwarg& kwarg : node.kwargs)
      for (Value& item : kwarg.value.items) out.push_back(&item);
    return out;
  }

  // Groups of dimensions with equal products before and after; a literal in a group that has changed changes with it.
  void reshape(Node& node, const Sizes& old_result) {
    const Sizes *was = shape_of(old_, node.args[0]), *is = shape_of(new_, node.args[0]);
    std::vector<Value*> literals = shape_literals(node);
    if (was == nullptr || was->size() != is->size() || literals.size() != old_result.size()) return;
    std::size_t i = 0, j = 0;
    while (i < was->size() || j < old_result.size()) {
      const std::size_t first_i = i, first_j = j;
      std::int64_t left = i < was->size() ? (*was)[i++] : 1, right = j < old_result.size() ? old_result[j++] : 1;
      while (left != right) {
        if (left < right && i < was->size())
          left *= (*was)[i++];
        else if (right < left && j < old_result.size())
          right *= old_result[j++];
        else
          return;
      }
      const std::int64_t now = product(is->data() + first_i, is->data() + i);
      if (now != left) regroup(literals, old_result, first_j, j, now);
    }
  }

  // Sizes [first, last) of the result, whose product has to be `now`.
  void regroup(std::vector<Value*>& literals, const Sizes& old_result, std::size_t first, std::size_t last,
               std::int64_t now) {
    std::vector<Sizes> options;
    std::size_t combinations = 1;
    for (std::size_t d = first; d < last; ++d) {
      Sizes option = {old_result[d]};
      for (const std::int64_t size : map_.changed(old_result[d])) option.push_back(size);
      if (d == 0 && old_result[d] == batch_was_) option.push_back(batch_is_);
      if (option.size() > 4) option.resize(4);
      combinations *= option.size();
      options.push_back(std::move(option));
    }
    Sizes chosen;
    for (std::size_t c = 0; c < combinations && combinations <= 4096 && chosen.empty(); ++c) {
      Sizes sizes;
      std::size_t rest = c;
      for (const Sizes& option : options) {
        sizes.push_back(option[rest % option.size()]);
        rest /= option.size();
      }
      if (product(sizes.data(), sizes.data() + sizes.size()) == now) chosen = std::move(sizes);
    }
    if (chosen.empty() && last > first) {  // the outermost takes what the others leave
      const std::int64_t others = product(old_result.data() + first + 1, old_result.data() + last);
      if (others == 0 || now % others != 0) return;
      chosen.assign(old_result.begin() + static_cast<std::ptrdiff_t>(first),
                    old_result.begin() + static_cast<std::ptrdiff_t>(last));
      chosen[0] = now / others;
    }
    for (std::size_t d = first; d < last; ++d)
      if (literals[d]->kind == ValueKind::integer && literals[d]->integer != -1)
        literals[d]->integer = chosen[d - first];
  }

  void expand(Node& node) {
    const Sizes *was = shape_of(old_, node.args[0]), *is = shape_of(new_, node.args[0]);
    std::vector<Value*> literals = shape_literals(node);
    if (was == nullptr || literals.size() < was->size()) return;
    const std::size_t more = literals.size() - was->size();
    for (std::size_t d = 0; d < literals.size(); ++d) {
      Value& literal = *literals[d];
      if (literal.kind != ValueKind::integer || literal.integer == -1) continue;
      if (d >= more && (*was)[d - more] == literal.integer && (*is)[d - more] != literal.integer)
        literal.integer = (*is)[d - more];
      else if (d == 0 && literal.integer == batch_was_)
        literal.integer = batch_is_;
      else
        change(literal);
    }
  }

  void counts(Node& node) {
    const bool method = node.kind == NodeKind::call_method;
    for (std::size_t i = method ? 1 : 0; i < node.args.size(); ++i)
      each_integer(node.args[i], [&](Value& v) { change(v); });
    for (Kwarg& kwarg : node.kwargs)
      if (kwarg.name != "dim" && kwarg.name != "fill_value" && kwarg.name != "step")
        each_integer(kwarg.value, [&](Value& v) { change(v); });
  }

  // 0 and 1 are too common to be recognised as sizes where they stand alone.
  void change(Value& literal) const {
    if (literal.integer < 2 || !map_.changes(literal.integer)) return;
    const Sizes now = map_.changed(literal.integer);
    if (!now.empty()) literal.integer = now[0];
  }

  void index(Node& node) {
    const Sizes *was = shape_of(old_, node.args[0]), *is = shape_of(new_, node.args[0]);
    if (was == nullptr || node.args.size() < 2) return;
    std::vector<Value*> items;
    if (node.args[1].kind == ValueKind::tuple)
      for (Value& item : node.args[1].items) items.push_back(&item);
    else
      items.push_back(&node.args[1]);
    std::size_t d = 0;
    for (Value* item : items) {
      if (item->kind == ValueKind::none) continue;
      if (item->kind == ValueKind::ellipsis) break;  // what follows counts from the end; bounds there are rare
      if (item->kind == ValueKind::slice)
        for (std::size_t k = 0; k < 2 && k < item->items.size(); ++k) {
          Value& bound = item->items[k];
          if (bound.kind != ValueKind::integer) continue;
          if (d < was->size() && bound.integer == (*was)[d] && (*is)[d] != (*was)[d])
            bound.integer = (*is)[d];
          else
            change(bound);
        }
      ++d;
    }
  }

  const SizeMap& map_;
  const std::vector<Sizes>&old_, &new_;
  std::int64_t batch_was_, batch_is_;
};

Sizes shape_of_value(const RunValue& value) {
  return value.kind == RunValue::Kind::tensor ? value.tensor.sizes.vec() : Sizes{};
}

void add_list(SizeMap& map, const RunValue& was, const RunValue& is) {
  for (std::size_t i = 0; i < std::min(was.items.size(), is.items.size()); ++i)
    map.add(shape_of_value(was.items[i]), shape_of_value(is.items[i]));
}

class WalkingResizer final : public Resizer {
 public:
  WalkingResizer(const GraphFolder& folder, const Constraints& constraints, Engine& engine)
      : folder_(folder), constraints_(constraints), engine_(engine), recorded_(propagate(folder, engine).take()) {
    for (const RunValue& value : recorded_) old_shapes_.push_back(shape_of_value(value));
  }

  Result<GraphFolder> resize(const std::vector<std::int64_t>& sizes) override {
    return guarded([&] { return resized(sizes); });
  }

 private:
  GraphFolder resized(const std::vector<std::int64_t>& sizes) {
    GraphFolder out = folder_;
    Graph& graph = out.graph;
    std::vector<Sizes> new_shapes(graph.nodes.size());
    SizeMap map;
    Walk walk(graph, engine_, DeviceType::meta);
    std::int64_t batch_was = -2, batch_is = -2;
    for (std::size_t i = 0; i < out.inputs.size(); ++i) {
      TensorMeta& meta = out.metas[static_cast<std::size_t>(out.inputs[i])];
      reshape_input(graph.nodes[i].name, meta, sizes, batch_was, batch_is);
      walk.describe_input(i, meta).take();
      new_shapes[i] = meta.shape;
      map.add(old_shapes_[i], new_shapes[i]);
    }
    for (auto id = static_cast<NodeId>(graph.placeholder_count()); id + 1 < static_cast<NodeId>(graph.nodes.size());
         ++id) {
      Rewriter rewriter(map, old_shapes_, new_shapes, batch_was, batch_is);
      std::optional<Error> error;
      for (Node& candidate : rewriter.candidates(graph.nodes[at(id)], old_shapes_[at(id)])) {
        Node kept = std::exchange(graph.nodes[at(id)], std::move(candidate));
        auto stepped = walk.step(id);
        if (stepped) {
          error.reset();
          break;
        }
        graph.nodes[at(id)] = std::move(kept);
        if (!error) error = std::move(stepped.error());
      }
      if (error) fail(std::move(*error));
      new_shapes[at(id)] = shape_of_value(walk.value(id));
      map.add(old_shapes_[at(id)], new_shapes[at(id)]);
      add_list(map, recorded_[at(id)], walk.value(id));
    }
    return out;
  }

  // Literal data of another size is gone; its bounds stay, so that indices stay valid.
  void reshape_input(const std::string& name, TensorMeta& meta, const Sizes& sizes, std::int64_t& batch_was,
                     std::int64_t& batch_is) const {
    const auto found = constraints_.shapes.find(name);
    if (found == constraints_.shapes.end() || found->second.size() != meta.shape.size()) return;
    bool changed = false;
    for (std::size_t d = 0; d < meta.shape.size(); ++d) {
      const int symbol = found->second[d].symbol;
      if (symbol < 0) continue;
      const std::int64_t size = sizes[static_cast<std::size_t>(symbol)];
      if (d == 0 && batch_was == -2) batch_was = meta.shape[0], batch_is = size;
      changed |= meta.shape[d] != size;
      meta.shape[d] = size;
    }
    if (!changed || !meta.data) return;
    if (!meta.data->integers.empty() && meta.dtype != Dtype::boolean) {
      const auto [low, high] = std::minmax_element(meta.data->integers.begin(), meta.data->integers.end());
      meta.min_val = MetaNumber{static_cast<double>(*low), *low, true};
      meta.max_val = MetaNumber{static_cast<double>(*high), *high, true};
    }
    meta.data.reset();
  }

  const GraphFolder& folder_;
  const Constraints& constraints_;
  Engine& engine_;
  std::vector<RunValue> recorded_;
  std::vector<Sizes> old_shapes_;
};

}  // namespace

Result<std::unique_ptr<Resizer>> Resizer::make(const GraphFolder& folder, const Constraints& constraints,
                                               Engine& engine) {
  return guarded(
      [&]() -> std::unique_ptr<Resizer> { return std::make_unique<WalkingResizer>(folder, constraints, engine); });
}

}  // namespace passnet::data
