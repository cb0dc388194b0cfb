// Whether a GPU works: after a fault of one process it should for the next, and sometimes does not.
#pragma once

#include "cuda/driver.h"

namespace passnet::cuda {

// Allocates a little, writes it there, reads it back. The error, of the environment, says which step failed.
Result<std::monostate> health(const Device& device);

}  // namespace passnet::cuda
