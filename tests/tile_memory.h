// Buffers for interpreting tile IR in tests: element lists at made-up addresses, every access checked against them.
#pragma once

#include <fmt/format.h>

#include "base/text.h"
#include "tile/interpret.h"

namespace passnet::tile {

class TestMemory : public Memory {
 public:
  struct Buffer {
    Elem elem;
    std::vector<Bits> elements;
  };

  // Its pointer, for an Argument.
  void* add(Elem elem, std::vector<Bits> elements) {
    buffers.push_back({elem, std::move(elements)});
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(buffers.size()) << 32);
  }

  Bits load(const Access& at) override { return element(at); }
  void store(const Access& at, Bits value) override { element(at) = value; }

  std::vector<Buffer> buffers;

 private:
  Bits& element(const Access& at) {
    const std::uint64_t buffer = (at.address >> 32) - 1, offset = at.address & 0xffffffff;
    const auto size = static_cast<std::uint64_t>(elem_bytes(at.elem));
    if (buffer >= buffers.size() || buffers[buffer].elem != at.elem || offset % size != 0 ||
        offset / size >= buffers[buffer].elements.size())
      fail(passnet::Code::kernel, fmt::format("element {} of program {} is outside every buffer: {:#x}", at.element,
                                              at.program[0], at.address));
    return buffers[buffer].elements[offset / size];
  }
};

inline std::string bits_text(Elem elem, Bits bits) {
  if (!is_float(elem)) return fmt::format("{}", integer_of(elem, bits));
  const double value = real_of(elem, bits);
  return value != value ? "nan" : python_float(value);
}

}  // namespace passnet::tile
