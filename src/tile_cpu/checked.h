// The host side of the checked build (abi.h's Hooks): programs run one after another.
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

  // Runs all programs of the grid. Accesses that are wrong do not happen; what is wrong is kept.
  void run(CheckedKernel kernel, std::int64_t scratch_bytes, const Launch& launch, const Argument* arguments);

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
    bool all_written = false;
    std::uint8_t stored = 0;
    Zeroed<std::uint8_t> written;  // by granule, unless all_written
    // by granule, in a launch that may write here; reader only if it may read here, too
    Zeroed<std::uint32_t> writer, reader;
    std::uint64_t granules() const { return (bytes + (std::uint64_t{1} << shift) - 1) >> shift; }
  };
  struct SiteState {
    Region* region = nullptr;  // that its parameter points into, or the last that was hit
    bool fixed = false;
    std::uint64_t size = 0;
    tile::Site::Kind kind = tile::Site::Kind::load;
    tile::Findings* found = nullptr;
  };

  Extent extent(RegionId region) const override {
    const Region& r = regions_[static_cast<std::size_t>(region)];
    return {r.begin, r.bytes};
  }
  template <class T>
  static Zeroed<T> zeroed(std::uint64_t count);
  static int access(void* self, std::int64_t site, void* address, std::int64_t program, const void* value);
  static void failed(void* self, std::int64_t site, std::int64_t program);
  int touch(SiteState& s, char* address, std::int64_t program, const void* value);
  bool load(SiteState& s, std::uint64_t granule, char* address, std::int64_t program);
  void store(SiteState& s, std::uint64_t granule, char* address, std::int64_t program, const void* value);
  bool atomic(SiteState& s, std::uint64_t granule, char* address, std::int64_t program);
  static void note(SiteState& s, tile::Fault fault, char* address, std::int64_t program, std::uint32_t other = 0);

  std::vector<Region> regions_;
  Hooks::Window window(const SiteState& s) const;

  std::vector<SiteState> sites_;
  std::int64_t program_ = -1;  // that runs now
  bool after_atomic_ = false;  // it has done an atomic: what it sees of other programs may be ordered by that
};

}  // namespace passnet::tile_cpu
