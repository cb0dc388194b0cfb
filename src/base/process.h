// Running another program: no shell, bounded in time, memory and output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace passnet {

// Built with the address sanitizer, which reserves terabytes of addresses and ends a process that is out of memory.
#ifdef __has_feature
inline constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);  // clang
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

struct ProcessLimits {
  double seconds = 60;
  std::int64_t memory_bytes = std::int64_t{4} << 30;  // of one process's address space
  std::int64_t file_bytes = std::int64_t{256} << 20;  // of one file that it writes
  std::size_t output_bytes = std::size_t{64} << 10;   // kept of what it prints; the rest is read and dropped
};

struct ProcessResult {
  int status = 0;  // as a shell gives it: the exit code, or 128 + the signal
  bool timed_out = false;
  std::string output;  // stdout and stderr together
  double seconds = 0;
};

std::string signal_text(int signal);

// Runs `command` (its first item is a path) and waits for it and its children; over the time they are all killed, and
// it is when we are. An error means that it could not be started. `environment` is all it gets: NAME=value.
Result<ProcessResult> process_run(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                                  const ProcessLimits& limits = {});

// The path of a program: `name` itself where it has a slash, else the first on PATH that may be executed.
std::optional<std::string> program_find(const std::string& name);

// Malloc as it ends up in a process that has run for a while: by default what it gives back to the system, and takes
// from it page by page in every call, depends on what happened to be freed before, and so do the times of what is
// measured.
void settle_malloc();

// The cores that this process may use; empty where the system does not tell.
std::vector<int> allowed_cores();
// How many they are.
int core_count();

}  // namespace passnet
