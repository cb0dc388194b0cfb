// The binary interface between the host and an emitted kernel. The emitted source has the same declarations.
#pragma once

#include <cstdint>

namespace passnet::tile_cpu {

union Argument {  // in the order of the kernel's parameters
  void* pointer;
  std::int64_t integer;  // integers and bools
  double real;           // floats of any width
};

// Runs programs begin..end-1 of the grid, numbered with axis 0 fastest. `scratch`: at least Emitted::scratch_bytes,
// aligned to 64, of this thread alone; kKeptBytes of it are 0 when its first range of a launch begins, and stay as they
// are until its last has ended. Reentrant.
using Kernel = void (*)(const Argument* arguments, std::int64_t begin, std::int64_t end, char* scratch);

inline constexpr std::int64_t kKeptBytes = 128;

// Of builds that are checked. Asked before every element that is touched; 0: do not touch it (a load then gives 0).
// What is plainly right a kernel sees for itself.
struct Hooks {
  // By site, an element in begin..end: without marks it may be loaded; with marks (by element) it may be loaded or
  // stored where no other program has touched it. Empty: always ask.
  struct Window {
    const char *begin, *end;
    std::int64_t shift;     // of an offset, to its element
    std::uint8_t* touched;  // by 1,024 elements: one of them was stored
    std::uint8_t* written;  // by element; null: all are
    std::uint32_t *writer, *reader;
  };
  const Window* windows;
  void* context;
  // `site`: index into Emitted::sites; `value`: the bytes about to be stored, null for a load.
  int (*access)(void* context, std::int64_t site, void* address, std::int64_t program, const void* value);
  // An assertion of the kernel that does not hold, or a while loop of more than `turns`.
  void (*failed)(void* context, std::int64_t site, std::int64_t program);
  std::int64_t turns;
};
using CheckedKernel = void (*)(const Argument* arguments, std::int64_t begin, std::int64_t end, char* scratch,
                               const Hooks* hooks);

enum class Build : std::uint8_t {
  fast,
  checked,   // every access that the kernel's text has, made once and in its order
  followed,  // the accesses that the fast build makes: its loops, and so its rounding, bit for bit
};
constexpr bool is_hooked(Build build) { return build != Build::fast; }  // a CheckedKernel

inline constexpr char kKernelSymbol[] = "passnet_kernel";  // of all

}  // namespace passnet::tile_cpu
