#include "data/ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "author/author.h"
#include "base/hash.h"
#include "data/facts.h"
#include "data/normal.h"

namespace passnet::data {

namespace {

// A node alone, with inputs for its operands.
std::string form_of(const Node& node) {
  Graph one;
  std::map<NodeId, NodeId> operands;
  node_inputs(node, [&](NodeId id) { operands.emplace(id, 0); });
  Node placeholder;
  placeholder.kind = NodeKind::placeholder;
  for (auto& [id, own] : operands) {
    own = static_cast<NodeId>(one.nodes.size());
    one.nodes.push_back(placeholder);
  }
  const auto renumber = [&](auto&& self, Value& v) -> void {
    if (v.is_node()) v.node = operands.at(v.node);
    for (Value& item : v.items) self(self, item);
  };
  Node call = node;
  for (Value& arg : call.args) renumber(renumber, arg);
  for (Kwarg& kwarg : call.kwargs) renumber(renumber, kwarg.value);
  one.nodes.push_back(std::move(call));
  return sample_text(one);
}

// Windows of one length, by their operators; the hash of the next one from that of the last.
class Windows {
 public:
  explicit Windows(const std::vector<OpSequence>& graphs) {
    for (const OpSequence& graph : graphs) {
      auto& numbers = ops_.emplace_back();
      for (const std::string& target : graph.targets) numbers.push_back(hash64(target) | 1);
      taken_.emplace_back(graph.targets.size(), false);
    }
  }

  struct Window {
    std::uint64_t hash;
    std::uint32_t graph, begin;
    auto operator<=>(const Window&) const = default;
  };

  // All that overlap nothing taken, sorted by their operators.
  std::vector<Window> of_length(std::size_t length) const {
    std::vector<Window> out;
    std::uint64_t power = 1;
    for (std::size_t i = 1; i < length; ++i) power *= kBase;
    for (std::size_t g = 0; g < ops_.size(); ++g) {
      const auto& ops = ops_[g];
      std::uint64_t hash = 0;
      std::size_t free = 0;  // operators since the last that is taken
      for (std::size_t i = 0; i < ops.size(); ++i) {
        if (taken_[g][i]) {
          hash = free = 0;
          continue;
        }
        if (free >= length) hash -= ops[i - length] * power;
        hash = hash * kBase + ops[i];
        if (++free >= length)
          out.push_back({hash, static_cast<std::uint32_t>(g), static_cast<std::uint32_t>(i + 1 - length)});
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  bool take(const Window& window, std::size_t length) {
    auto& taken = taken_[window.graph];
    const auto begin = taken.begin() + window.begin, end = begin + static_cast<std::ptrdiff_t>(length);
    if (std::find(begin, end, true) != end) return false;
    std::fill(begin, end, true);
    return true;
  }

 private:
  static constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15;
  std::vector<std::vector<std::uint64_t>> ops_;
  std::vector<std::vector<bool>> taken_;
};

}  // namespace

OpSequence op_sequence(const Graph& graph) {
  Graph normal = graph;
  normalise_spelling(normal);
  OpSequence out;
  for (const Node& node : normal.nodes) {
    if (node.kind != NodeKind::call_function && node.kind != NodeKind::call_method) continue;
    out.targets.push_back((node.kind == NodeKind::call_method ? "." : "") + node.target);
    out.forms.push_back(form_of(node));
  }
  return out;
}

std::vector<FoundRange> find_sole(const std::vector<OpSequence>& graphs) {
  std::vector<FoundRange> out;
  std::vector<std::size_t> counts;
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t g = 0; g < graphs.size(); ++g)
    for (std::size_t i = 0; i < graphs[g].forms.size(); ++i) {
      const auto [found, added] = index.emplace(graphs[g].forms[i], out.size());
      if (added) {
        const auto at = static_cast<std::int64_t>(i);
        out.push_back({g, {at, at + 1}, graphs[g].targets[i]});
        counts.push_back(0);
      }
      ++counts[found->second];
    }
  for (std::size_t i = 0; i < out.size(); ++i) out[i].why += fmt::format(", {}x", counts[i]);
  return out;
}

std::vector<FoundRange> find_typical(const std::vector<OpSequence>& graphs, const TypicalOptions& options) {
  std::vector<FoundRange> out;
  Windows windows(graphs);
  for (std::int64_t length = options.longest; length >= options.shortest; --length) {
    const auto size = static_cast<std::size_t>(length);
    const std::vector<Windows::Window> all = windows.of_length(size);
    struct Group {
      std::size_t begin, end, graphs;
    };
    std::vector<Group> groups;
    for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
      std::size_t in_graphs = 0;
      for (end = begin; end < all.size() && all[end].hash == all[begin].hash; ++end)
        in_graphs += end == begin || all[end].graph != all[end - 1].graph ? 1 : 0;
      if (in_graphs >= options.least) groups.push_back({begin, end, in_graphs});
    }
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.graphs > b.graphs; });
    for (const Group& group : groups) {
      std::vector<Windows::Window> free;
      std::set<std::uint32_t> in_graphs;
      for (std::size_t i = group.begin; i < group.end; ++i)
        if (windows.take(all[i], size)) {
          free.push_back(all[i]);
          in_graphs.insert(all[i].graph);
        }
      for (std::size_t i = 0; i < std::min(free.size(), options.copies) && in_graphs.size() >= options.least; ++i)
        out.push_back({free[i].graph,
                       {free[i].begin, free[i].begin + length},
                       fmt::format("{} operators, {}x in {} graphs", length, free.size(), in_graphs.size())});
    }
  }
  return out;
}

Result<std::vector<FoundRange>> find_fusible(const GraphFolder& folder, const FusibleOptions& options) {
  author::AuthorOptions all;
  all.keep_all = true;
  auto authored = author::author_graph(folder, all);
  if (!authored) return std::move(authored.error());
  const auto first = static_cast<std::int64_t>(folder.graph.placeholder_count());
  std::map<OpRange, std::string> found;
  for (const author::AuthoredPass& pass : authored->passes) {
    const auto [low, high] = std::minmax_element(pass.region.nodes.begin(), pass.region.nodes.end());
    if (low == pass.region.nodes.end() || pass.kernels == 0 || pass.calls_saved < 1) continue;
    const OpRange range{*low - first, *high - first + 1};
    if (range.end - range.begin <= options.longest)
      found.emplace(range, fmt::format("{} operators in {} kernel{}, {:.0f} launches saved", pass.region.nodes.size(),
                                       pass.kernels, pass.kernels == 1 ? "" : "s", pass.calls_saved));
  }
  std::vector<FoundRange> out;
  for (auto& [range, why] : found) out.push_back({0, range, std::move(why)});
  return out;
}

}  // namespace passnet::data
