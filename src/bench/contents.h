// What a record was made from: a hash of a graph's files and a candidate's.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace passnet {

// Reads each folder once.
class Contents {
 public:
  // `passes`: a folder or one file; empty: the candidate has none.
  std::string of(const std::string& graph, const std::string& passes);

 private:
  std::map<std::string, std::uint64_t> graphs_, passes_;
};

}  // namespace passnet
