// One fuzz case: the body that libFuzzer (entry.cpp) and the tests (replay.cpp) share. Each fuzz_*.cpp defines it.
#pragma once

#include <cstddef>
#include <cstdint>

// Aborts where a property does not hold; always gives 0, as libFuzzer wants.
int fuzz_one(const std::uint8_t* data, std::size_t size);
