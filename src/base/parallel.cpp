#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/process.h"

namespace passnet {

void parallel_run(int jobs, std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr error;
  const auto loop = [&] {
    for (std::size_t at = 0; (at = next++) < count;) {
      try {
        work(at);
      } catch (...) {
        const std::lock_guard hold(mutex);
        if (!error) error = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < std::min(count, static_cast<std::size_t>(jobs > 0 ? jobs : core_count())); ++i)
    threads.emplace_back(loop);
  loop();
  for (std::thread& t : threads) t.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace passnet
