#include "data/dedupe.h"

#include <algorithm>

namespace passnet::data {

std::vector<std::size_t> find_duplicates(const std::vector<Facts>& facts, SameBy by, std::size_t shard_keys) {
  struct Entry {
    Key key;
    std::size_t index;
    auto operator<=>(const Entry&) const = default;
  };
  std::vector<std::size_t> out(facts.size());
  for (std::size_t i = 0; i < facts.size(); ++i) out[i] = i;
  const std::size_t shards = facts.size() / shard_keys + 1;
  std::vector<Entry> shard;
  for (std::size_t s = 0; s < shards; ++s) {
    shard.clear();
    for (std::size_t i = 0; i < facts.size(); ++i) {
      const Key& key = by == SameBy::graph ? facts[i].graph : facts[i].computation;
      if (facts[i].error.empty() && key.high % shards == s) shard.push_back({key, i});
    }
    std::sort(shard.begin(), shard.end());
    for (std::size_t i = 1; i < shard.size(); ++i)
      if (shard[i].key == shard[i - 1].key) out[shard[i].index] = out[shard[i - 1].index];
  }
  return out;
}

}  // namespace passnet::data
