// The host side of the checked build (abi.h's Hooks).
#pragma once

#include <memory>

#include "tile/checked.h"
#include "tile_cpu/abi.h"
#include "tile_cpu/emit.h"

namespace passnet::tile_cpu {

class CheckedMemory final : public tile::Shadow {
 public:
  RegionId add(void* address, std::int64_t bytes, std::int64_t granule, bool written) override;
  bool is_written(RegionId region, std::int64_t byte) override;
  bool is_all_written(RegionId region) override;
  bool is_stored(RegionId region) const override { return regions_[static_cast<std::size_t>(region)].stored != 0; }

  // Runs all programs of the grid. Accesses that are wrong do not happen; what is wrong is kept: as if programs ran one
  // after another, though several threads run them where that cannot be told.
  void run(CheckedKernel kernel, const Emitted& emitted, const Launch& launch, const Argument* arguments);

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(void* p) const;
  };
  template <class T>
  using Zeroed = std::unique_ptr<T[], Unmap>;  // pages that nobody touches cost nothing

  struct Region {
    char* begin = nullptr;
    std::uint64_t bytes = 0;
    int shift = 0;  // of an offset, to its granule
    bool all_written = false, stored = false;
    Zeroed<std::uint8_t> written;  // by granule, a bit a byte, unless all_written
    std::uint64_t granules() const { return (bytes + (std::uint64_t{1} << shift) - 1) >> shift; }
  };
  class Walk;

  tile::Extent extent(RegionId region) const override {
    const Region& r = regions_[static_cast<std::size_t>(region)];
    return {r.begin, r.bytes};
  }
  template <class T>
  static Zeroed<T> zeroed(std::uint64_t count);
  bool is_in_any_order(const Launch& launch) const;
  bool run_by_threads(std::size_t threads, CheckedKernel kernel, const Emitted& emitted, const Launch& launch,
                      const Argument* arguments);

  std::vector<Region> regions_;
};

}  // namespace passnet::tile_cpu
