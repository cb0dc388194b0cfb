// Which cores threads may use.
#pragma once

#include <span>

#include "exec/engine.h"

namespace passnet {

// This thread; those that it starts later inherit it.
void pin(std::span<const int> cores);

// Each of torch's threads on a core of its own, the last ones: the system's own work is mostly on the first. Two on one
// core is what a system may leave them at for long: one then spins to the end of its patience, half a millisecond,
// whenever it waits for the other, or both in turn to the end of a time slice. Of more than two the calling thread may
// leave its core for the others': operators that want fewer threads end some, the next one starts new ones, and these
// inherit what it may use (one core for sixteen threads made 2 ms of a convolution 870).
void pin_threads(Engine& engine);

}  // namespace passnet
