// The host side of the checked build (abi.h's Hooks): a shadow of the memory that kernels may touch. Programs run one
// after another, and every element remembers whether it was written and which programs of the launch touched it; so a
// race is found by what programs touch, not by luck.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "tile_cpu/abi.h"
#include "tile_cpu/emit.h"

namespace passnet::tile_cpu {

class CheckedMemory {
 public:
  using RegionId = std::int32_t;

  // One allocation. `granule`: the size of its elements, a power of two. `written`: its bytes have values already.
  RegionId add(void* address, std::int64_t bytes, std::int64_t granule, bool written);
  void mark_written(RegionId region);
  bool is_written(RegionId region, std::int64_t byte) const;
  // Whether a kernel has stored into it.
  bool is_stored(RegionId region) const { return regions_[static_cast<std::size_t>(region)].stored; }
  void clear() { regions_.clear(); }

  struct Parameter {
    void* pointer = nullptr;
    RegionId region = -1;  // of pointers
    bool written = false;  // may be written by this kernel
  };
  struct Launch {
    const tile::Function& function;
    const Emitted& emitted;
    std::array<std::int64_t, 3> grid;
    std::vector<Parameter> parameters;  // as Function::parameters
  };
  // Runs all programs of the grid, the last one first where `backwards`. Accesses that are wrong do not happen; what is
  // wrong is kept.
  void run(CheckedKernel kernel, const Launch& launch, const Argument* arguments, bool backwards = false);

  // What was found so far, at most kErrorLimit: one for each line and kind of fault, the first case of each.
  static constexpr std::size_t kErrorLimit = 10;
  const std::vector<Error>& errors() const { return errors_; }

 private:
  struct Free {
    void operator()(void* p) const;
  };
  template <class T>
  using Zeroed = std::unique_ptr<T[], Free>;  // pages that nobody touches cost nothing

  struct Region {
    char* begin = nullptr;
    std::uint64_t bytes = 0;
    int shift = 0;  // of an offset, to its granule
    bool all_written = false;
    bool stored = false;
    Zeroed<std::uint8_t> written;          // by granule, unless all_written
    Zeroed<std::uint32_t> writer, reader;  // by granule, in a launch that may write here
    std::uint64_t granules() const { return (bytes + (std::uint64_t{1} << shift) - 1) >> shift; }
  };
  enum Fault : std::uint8_t { out_of_bounds, uninitialised, write_race, read_race, assertion };
  static constexpr std::size_t kFaults = 5;
  struct Finding {
    std::int64_t count = 0, program = 0, index = 0;
    std::uint32_t other = 0;  // the other program of a race, as the shadow has it
  };
  struct SiteState {
    Region* region = nullptr;  // that its parameter points into, or the last that was hit
    bool fixed = false;
    std::uint64_t size = 0;
    Site::Kind kind = Site::Kind::load;
    std::array<Finding, kFaults> found;
  };

  template <class T>
  static Zeroed<T> zeroed(std::uint64_t count);
  static int access(void* self, std::int64_t site, void* address, std::int64_t program, const void* value);
  static void failed(void* self, std::int64_t site, std::int64_t program);
  int touch(SiteState& s, char* address, std::int64_t program, const void* value);
  bool load(SiteState& s, std::uint64_t granule, char* address, std::int64_t program);
  void store(SiteState& s, std::uint64_t granule, char* address, std::int64_t program, const void* value);
  bool atomic(SiteState& s, std::uint64_t granule, char* address, std::int64_t program);
  void note(SiteState& s, Fault fault, char* address, std::int64_t program, std::uint32_t other = 0);
  void report(const Launch& launch);
  Error describe(const Launch& launch, std::size_t site, Fault fault, const Finding& found) const;

  std::vector<Region> regions_;
  std::vector<SiteState> sites_;
  std::vector<Error> errors_;
  std::int64_t program_ = -1;  // that runs now
  bool after_atomic_ = false;  // it has done an atomic: what it sees of other programs may be ordered by that
};

}  // namespace passnet::tile_cpu
