// The last door, closed by a worker itself: from here on neither files, nor processes, nor the network.
#pragma once

#include <string>
#include <vector>

namespace passnet::guard {

struct SealOptions {
  std::vector<std::string> readable;  // files and folders that may still be read
};
// Call it once all that needs files and programs is done. What the kernel of this machine cannot forbid is named, one
// item each.
std::vector<std::string> seal(const SealOptions& options);
// The same names, without sealing anything.
std::vector<std::string> missing_features();

}  // namespace passnet::guard
