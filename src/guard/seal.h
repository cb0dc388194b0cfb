// The last door, closed by a worker itself: from here on neither files, nor processes, nor the network.
//
// Three layers, each a set of named rules (seal_rules): Landlock for files, seccomp for system calls, limits of the
// process. They cover one another where they can. All threads of the process are sealed, and those started later.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace passnet::guard {

struct SealOptions {
  std::vector<std::string> readable;  // files and folders that may still be read, beside system libraries
  bool cuda = false;                  // leaves NVIDIA's driver what it needs: SealRule::cuda
  std::vector<std::string> without;   // names of rules to leave out: for tests, which show that each is needed
};
// Call it once all that needs files and programs is done. What the kernel of this machine cannot forbid is named, one
// item each: "landlock: files can be read (...)".
std::vector<std::string> seal(const SealOptions& options);
// What of it can be done before a fork, once for many processes.
void prepare_seal(const SealOptions& options);
// The same names, without sealing anything.
std::vector<std::string> missing_features();

enum class SealLayer : std::uint8_t { landlock, seccomp, process };
struct SealRule {
  SealLayer layer;
  std::string_view name;
  std::string_view stops;    // what is not possible any more
  std::string_view outcome;  // what the one who tries sees, and why so
  std::string_view cuda;     // what a worker on a GPU may do all the same
};
std::span<const SealRule> seal_rules();

}  // namespace passnet::guard
