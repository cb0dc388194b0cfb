#include "ops/aten_table.h"

#include <algorithm>
#include <atomic>
#include <memory>

namespace passnet {

namespace {

constexpr AtenRow kRows[] = {
#include "aten_table.inc"
};

// Parsed on first use. Two threads may parse the same row; one result is kept.
std::atomic<const Schema*> g_schemas[std::size(kRows)];

}  // namespace

std::span<const AtenRow> aten_rows() { return kRows; }

std::span<const AtenRow> aten_find(std::string_view name) {
  const auto by_name = [](const auto& a, const auto& b) {
    if constexpr (std::is_same_v<std::decay_t<decltype(a)>, AtenRow>)
      return a.name < b;
    else
      return a < b.name;
  };
  const auto [first, last] = std::equal_range(std::begin(kRows), std::end(kRows), name, by_name);
  return {first, last};
}

const Schema& aten_schema(const AtenRow& row) {
  std::atomic<const Schema*>& slot = g_schemas[&row - kRows];
  const Schema* found = slot.load(std::memory_order_acquire);
  if (found != nullptr) return *found;
  auto made = std::make_unique<Schema>(parse_schema(row.name, row.overload, row.schema));
  made->random = (row.flags & kRandom) != 0;
  if (slot.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel)) return *made.release();
  return *found;
}

}  // namespace passnet
