#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
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
  const std::size_t at_once = std::min(count, static_cast<std::size_t>(jobs > 0 ? jobs : core_count()));
  std::vector<std::thread> threads;
  threads.reserve(at_once);
  for (std::size_t i = 1; i < at_once; ++i) try {
      threads.emplace_back(loop);
    } catch (const std::system_error&) {  // no more to be had: those that there are do all of it
      break;
    }
  loop();
  for (std::thread& t : threads) t.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace passnet
