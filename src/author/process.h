// The author in a process of its own: whoever forks workers never loads torch itself, and a graph that breaks the
// author breaks nobody else.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "exec/tensor_ref.h"

namespace passnet::author {

// Writes the pass folder for a task's graphs, one wrapper for all. `measure`: times on `device` decide, with so many
// threads; else the cost model. Gives whether there is a pass. What was written there for the same graphs, in the same
// way, stays as it is: FOLDER.made_of says what that was.
Result<bool> author_in_process(const std::vector<std::string>& graphs, const std::string& folder, bool measure,
                               int threads, DeviceType device);

}  // namespace passnet::author
