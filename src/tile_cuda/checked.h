// The host side of the checked build on a GPU (prelude/checked.cuh).
#pragma once

#include <memory>

#include "cuda/memory.h"
#include "tile/checked.h"
#include "tile_cuda/compile.h"

namespace passnet::tile_cuda {

class CheckedMemory final : public tile::Shadow {
 public:
  explicit CheckedMemory(const cuda::Device& device) : device_(device) {}
  RegionId add(void* address, std::int64_t bytes, std::int64_t granule, bool written) override;
  bool is_written(RegionId region, std::int64_t byte) override;
  bool is_all_written(RegionId region) override;
  bool is_stored(RegionId region) const override { return regions_[static_cast<std::size_t>(region)].stored; }

  // Runs all programs of the grid and waits for them. Accesses that are wrong do not happen; what is wrong is kept.
  // `arguments`: of the function, pointers to 8 bytes each.
  void run(const LoadedKernel& kernel, const Launch& launch, std::vector<void*> arguments);

 private:
  using Memory = std::unique_ptr<cuda::Memory>;
  struct Region {
    char* begin = nullptr;
    std::uint64_t bytes = 0;
    int shift = 0;  // of an offset, to its granule
    bool all_written = false;
    bool stored = false;
    Memory written;                  // on the device, by granule, unless all_written
    std::vector<std::uint8_t> copy;  // of it, when asked for
    std::uint64_t granules() const { return (bytes + (std::uint64_t{1} << shift) - 1) >> shift; }
  };

  tile::Extent extent(RegionId region) const override {
    const Region& r = regions_[static_cast<std::size_t>(region)];
    return {r.begin, r.bytes};
  }
  const std::vector<std::uint8_t>& written_granules(Region& r) const;
  Memory zeroed(std::uint64_t bytes) const;
  template <class T>
  Memory uploaded(const std::vector<T>& items) const;
  template <class T>
  void download(std::vector<T>& items, const cuda::Memory& from) const;

  const cuda::Device& device_;
  std::vector<Region> regions_;
};

}  // namespace passnet::tile_cuda
