// A kernel's text as a file of its own: itself and what it needs of the file it stands in.
#pragma once

#include <string>

#include "host/launch_plan.h"

namespace passnet {

// It reads back as the same kernel. What it imports from other files of its folder stays an import.
std::string kernel_text(const KernelRef& kernel);

}  // namespace passnet
