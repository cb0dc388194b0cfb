// What a kernel's pointers point to, and what decides it.
#pragma once

#include <string>
#include <vector>

#include "tile/ir.h"

namespace passnet::tile {

// By number in Function::parameters: whether the kernel may write there. A pointer that is made from an integer may
// point anywhere.
std::vector<bool> written_parameters(const Function& function);

// By value: the number of the one parameter that a pointer comes from, by whatever way through loops and branches.
// -1: several, anywhere, or no pointer.
std::vector<std::int32_t> pointer_origins(const Function& function);

bool has_atomics(const Block& block);
// The names of the parameters to whose memory atomics add, each once.
std::vector<std::string> added_parameters(const Function& function);

bool is_used(const Function& function, ValueId value);

// Whether more than the launch may decide which memory is accessed: an address, a mask or a branch is made of something
// loaded, or of a float, which rounds as a build has it. Otherwise a launch accesses the same places whatever the
// tensors hold, in every build.
bool accesses_by_contents(const Function& function);

}  // namespace passnet::tile
