// A loop whose items are done by several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace passnet {

// work(0), ..., work(count - 1), up to `jobs` at once (0: one a core), this thread among them; fewer where the system
// has no more threads. The first exception ends the loop and is thrown.
void parallel_run(int jobs, std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace passnet
