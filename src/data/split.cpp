#include "data/split.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "base/hash.h"

namespace passnet::data {

namespace {

class UnionFind {
 public:
  explicit UnionFind(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  // The lower index stays the root, so that results do not depend on the order of unions.
  void unite(std::size_t a, std::size_t b) {
    a = find(a), b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

// Graphs filed under 64-bit keys; those that share one are united.
class Files {
 public:
  void add(std::uint64_t key, std::size_t graph) { entries_.push_back({key, graph}); }
  void unite(UnionFind& sets) {
    std::sort(entries_.begin(), entries_.end());
    for (std::size_t i = 1; i < entries_.size(); ++i)
      if (entries_[i].first == entries_[i - 1].first) sets.unite(entries_[i].second, entries_[i - 1].second);
    entries_.clear();
  }

 private:
  std::vector<std::pair<std::uint64_t, std::size_t>> entries_;
};

// A sequence's polynomial hash modulo 2^61 - 1, from which one item is taken out in constant time.
constexpr std::uint64_t kModulus = (std::uint64_t{1} << 61) - 1;
constexpr std::uint64_t kBase = 0x1234567890abcdf % kModulus;
std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b % kModulus);
}

// The hash of all operators, then of all but the first, all but the second, ...
std::vector<std::uint64_t> sequence_keys(const std::vector<std::string>& ops) {
  const std::size_t n = ops.size();
  std::vector<std::uint64_t> op(n), front(n + 1), back(n + 1), power(n + 1, 1);
  for (std::size_t i = 0; i < n; ++i) {
    op[i] = hash64(ops[i]) % kModulus;
    front[i + 1] = (multiply(front[i], kBase) + op[i]) % kModulus;
    power[i + 1] = multiply(power[i], kBase);
  }
  for (std::size_t i = n; i-- > 0;) back[i] = (multiply(op[i], power[n - 1 - i]) + back[i + 1]) % kModulus;
  std::vector<std::uint64_t> out = {front[n]};
  if (n < kNearOps) return out;
  for (std::size_t i = 0; i < n; ++i) out.push_back((multiply(front[i], power[n - 1 - i]) + back[i + 1]) % kModulus);
  return out;
}

// Sets of graphs to parts: large ones first, each to the part that lacks most.
std::map<std::size_t, int> assign(const std::map<std::size_t, std::size_t>& sizes, const SplitOptions& options) {
  struct Set {
    std::size_t size, id;
    std::uint64_t order;
  };
  std::vector<Set> sets;
  double total = 0, shares = 0;
  for (const auto& [id, size] : sizes) {
    sets.push_back({size, id, hash64(std::to_string(id), options.seed)});
    total += static_cast<double>(size);
  }
  for (const SplitPart& part : options.parts) shares += part.share;
  std::sort(sets.begin(), sets.end(), [](const Set& a, const Set& b) {
    return std::tie(b.size, a.order, a.id) < std::tie(a.size, b.order, b.id);
  });
  std::vector<double> lacking;
  for (const SplitPart& part : options.parts) lacking.push_back(total * part.share / shares);
  std::map<std::size_t, int> out;
  for (const Set& set : sets) {
    const auto most = std::max_element(lacking.begin(), lacking.end());
    *most -= static_cast<double>(set.size);
    out[set.id] = static_cast<int>(most - lacking.begin());
  }
  return out;
}

}  // namespace

bool near_duplicates(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const auto& longer = a.size() < b.size() ? b : a;
  const auto& other = a.size() < b.size() ? a : b;
  if (longer == other) return true;
  if (longer.size() < kNearOps || longer.size() - other.size() > 1) return false;
  const auto [l, o] = std::mismatch(longer.begin(), longer.end(), other.begin(), other.end());
  const bool replaced = longer.size() == other.size();
  if (replaced && longer.size() < kNearOps) return false;
  return std::equal(l + 1, longer.end(), o + (replaced ? 1 : 0), other.end());
}

Split split_graphs(const std::vector<Facts>& facts, const SplitOptions& options) {
  const std::size_t n = facts.size();
  UnionFind clusters(n);
  Files files;
  const auto each = [&](const auto& body) {
    for (std::size_t i = 0; i < n; ++i)
      if (facts[i].error.empty()) body(i);
    files.unite(clusters);
  };
  each([&](std::size_t i) { files.add(facts[i].graph.high, i); });
  each([&](std::size_t i) { files.add(facts[i].computation.high, i); });
  each([&](std::size_t i) { files.add(facts[i].sample.high, i); });
  each([&](std::size_t i) {
    for (const std::uint64_t key : sequence_keys(facts[i].ops)) files.add(key, i);
  });
  UnionFind families(n);  // a graph of an unknown model is a family of its own
  if (options.conflicts == Conflicts::join)
    for (std::size_t i = 0; i < n; ++i) families.unite(i, clusters.find(i));
  std::map<std::string_view, std::size_t> first;
  for (std::size_t i = 0; i < n; ++i)
    if (facts[i].error.empty() && !facts[i].family.empty())
      families.unite(first.emplace(facts[i].family, i).first->second, i);

  std::map<std::size_t, std::size_t> sizes;
  for (std::size_t i = 0; i < n; ++i)
    if (facts[i].error.empty()) ++sizes[families.find(i)];
  const std::map<std::size_t, int> parts = assign(sizes, options);

  Split out;
  out.part.assign(n, kLeftOut);
  std::map<std::size_t, std::vector<std::size_t>> votes;  // of each cluster: its graphs in each part
  for (std::size_t i = 0; i < n; ++i) {
    if (!facts[i].error.empty()) continue;
    out.part[i] = parts.at(families.find(i));
    auto& count = votes[clusters.find(i)];
    count.resize(options.parts.size());
    ++count[static_cast<std::size_t>(out.part[i])];
  }
  out.clusters = votes.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (out.part[i] == kLeftOut) continue;
    const auto& count = votes.at(clusters.find(i));
    // of equal ones the last part: a small evaluation set is worth more than a little more training
    const auto most = std::max_element(count.rbegin(), count.rend());
    const int chosen = static_cast<int>(count.rend() - most) - 1;
    if (out.part[i] == chosen) continue;
    out.part[i] = kLeftOut;
    ++out.conflicts;
  }
  return out;
}

}  // namespace passnet::data
