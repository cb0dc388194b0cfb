// The checked build of a kernel asks before every element that it touches. Here is what the back-ends' checked builds
// share: the places that ask, what can be wrong there, and how that is said.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "tile/ir.h"

namespace passnet::tile {

// Of an access, an assertion, or a loop that must end.
struct Site {
  enum class Kind : std::uint8_t { load, store, atomic, assertion, loop } kind = Kind::load;
  Source source;
  std::int32_t parameter = -1;  // whose pointer it derives from; -1: not known statically
  Elem elem = Elem::f32;
  std::string text;  // of an assertion
  // An atomic whose old value is looked at: what its program sees of others after it may be ordered by that.
  bool orders = false;
  bool replaces = false;  // an exchange whose old value nobody looks at: it reads nothing
};
Site site_of(const Function& function, const Op& op, std::int32_t parameter);

// The bytes of one allocation.
struct Extent {
  const char* begin = nullptr;
  std::uint64_t bytes = 0;

  bool holds(std::uint64_t address, std::uint64_t size) const {
    const std::uint64_t offset = address - reinterpret_cast<std::uintptr_t>(begin);  // huge where it lies before
    return size <= bytes && offset <= bytes - size;
  }
};

// How a message names the element at an address, by the parameter that it is reached by, and the elements that there
// are. `pointer` is the parameter's, `extent` what it points into, where known.
struct ElementNames {
  std::string element, allowed;
};
ElementNames element_names(const Function& function, const Site& site, std::int64_t address, const void* pointer,
                           const std::optional<Extent>& extent);
// `program`: (x, y, z)
Error out_of_bounds(const Function& function, const Site& site, const std::string& program, const ElementNames& names);

enum class Fault : std::uint8_t { out_of_bounds, uninitialised, write_race, read_race, assertion };
inline constexpr std::size_t kFaults = 5;

// Of one while loop of one program, where the checked build counts them.
inline constexpr std::int64_t kMostTurns = std::int64_t{1} << 24;

// How often one fault was met at one site, and the first case.
struct Finding {
  std::int64_t count = 0, program = 0, address = 0;
  std::uint32_t other = 0;  // the other program of a race, as a mark
};
using Findings = std::array<Finding, kFaults>;  // of one site

// A program in the shadow: its number + 1, 0 for none. Touched atomically: with the upper bit.
inline constexpr std::uint32_t kAtomicMark = 0x8000'0000U;
inline constexpr std::uint32_t kManyMark = 0x7fff'ffffU;  // several programs
inline std::uint32_t mark_of(std::int64_t program) { return static_cast<std::uint32_t>(program + 1); }

// Which bytes of a granule of 1 << shift bytes, eight at most, an access of `size` bytes at `offset` touches: a bit
// each.
constexpr std::uint8_t bytes_of_granule(std::uint64_t granule, int shift, std::uint64_t offset, std::uint64_t size) {
  const std::uint64_t begin = granule << shift, end = begin + (std::uint64_t{1} << shift);
  const std::uint64_t from = offset > begin ? offset : begin, to = offset + size < end ? offset + size : end;
  return static_cast<std::uint8_t>(((1U << (to - from)) - 1) << (from - begin));
}
constexpr bool is_whole(std::uint8_t bytes, int shift) {
  return bytes_of_granule(0, shift, 0, 8) == (bytes & bytes_of_granule(0, shift, 0, 8));
}
inline constexpr std::int64_t kLargestGranule = 8;

// The memory that kernels may touch, where every element remembers whether it was written and which programs of a
// launch touched it; so a race is found by what programs touch, not by luck. A back-end says how its kernels ask.
class Shadow {
 public:
  using RegionId = std::int32_t;

  virtual ~Shadow() = default;
  // One allocation. `granule`: the size of its elements, a power of two. `written`: its bytes have values already.
  virtual RegionId add(void* address, std::int64_t bytes, std::int64_t granule, bool written) = 0;
  virtual bool is_written(RegionId region, std::int64_t byte) = 0;
  virtual bool is_all_written(RegionId region) = 0;
  // Whether a kernel has stored into it.
  virtual bool is_stored(RegionId region) const = 0;

  struct Parameter {
    void* pointer = nullptr;
    RegionId region = -1;  // of pointers
    bool written = false;  // may be written by this kernel
  };
  struct Launch {
    const Function& function;
    const std::vector<Site>& sites;
    std::array<std::int64_t, 3> grid;
    std::vector<Parameter> parameters;  // as Function::parameters
    bool backwards = false;             // the last program first

    std::int64_t programs() const { return grid[0] * grid[1] * grid[2]; }
    RegionId region_of(const Site& site) const {
      return site.parameter < 0 ? -1 : parameters[static_cast<std::size_t>(site.parameter)].region;
    }
  };

  // What was found so far, at most kErrorLimit: one for each line and kind of fault, the first case of each.
  static constexpr std::size_t kErrorLimit = 10;
  const std::vector<Error>& errors() const { return errors_; }

 protected:
  virtual Extent extent(RegionId region) const = 0;
  static void check_size(const Launch& launch);  // fails where marks have no room
  void report(const Launch& launch, std::span<const Findings> by_site);

 private:
  Error describe(const Launch& launch, const Site& site, Fault fault, const Finding& found) const;

  std::vector<Error> errors_;
};

}  // namespace passnet::tile
