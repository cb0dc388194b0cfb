// The reference: runs a function of tile IR program after program, one element at a time. Slow, and the definition of
// what the ops mean together with scalar.h.
//
// Orders that the language leaves open are fixed here: elements are loaded and stored in row-major order; a reduction
// goes along its axis from the first element, in the value's own type; argmin and argmax keep the first of equals, and
// a NaN only where there is nothing else; dot sums its products from +0 in the order of k and adds the sum to acc. A
// for counts in unbounded integers: its variable never wraps. Of two stores to one address the later wins.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "tile/checked.h"
#include "tile/ir.h"
#include "tile/scalar.h"

namespace passnet::tile {

using ProgramId = std::array<std::int64_t, 3>;

struct Access {
  enum class Kind : std::uint8_t { load, store, atomic, check } kind = Kind::load;
  const Op* op = nullptr;
  Elem elem = Elem::f32;
  std::uint64_t address = 0;
  ProgramId program{};
  std::int64_t element = 0;  // of the tile
};

// What pointers point into. Whoever wants to check accesses derives from it; `fail` ends the run with an error.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual Bits load(const Access& at) = 0;
  virtual void store(const Access& at, Bits value) = 0;
  // A check that does not hold; an error unless overridden.
  virtual void failed(const Function& function, const Access& at);
  // Sees every value as it is made; for traces.
  virtual void made(ValueId value, std::span<const Bits> elements);
};

// Pointers are addresses of this process.
class DirectMemory : public Memory {
 public:
  Bits load(const Access& at) override;
  void store(const Access& at, Bits value) override;
};

// Pointers are addresses of this process, and reach what they were given for: an access outside is an error, and does
// not happen.
class BoundedMemory final : public DirectMemory {
 public:
  // By parameter: what its pointer may reach; nothing for scalars.
  BoundedMemory(const Function& function, std::vector<Extent> buffers);
  Bits load(const Access& at) override;
  void store(const Access& at, Bits value) override;

 private:
  void check(const Access& at) const;

  const Function& function_;
  std::vector<Extent> buffers_;
  std::vector<std::int32_t> origins_;  // by value: the parameter
};

struct Argument {  // the parameter's type says which member is read
  void* pointer = nullptr;
  std::int64_t integer = 0;  // integers and bools
  double real = 0;           // floats of any width
};

struct InterpretLimits {
  std::int64_t program_ops = std::int64_t{1} << 24;  // that one program may run: ends an endless while
  std::int64_t elements = std::int64_t{1} << 26;     // of all values together, 8 bytes each
};

// Verifies the function, then runs all programs of the grid, axis 0 fastest.
Result<std::monostate> interpret(const Function& function, std::span<const Argument> arguments, const ProgramId& grid,
                                 Memory& memory, const InterpretLimits& limits = {});

}  // namespace passnet::tile
