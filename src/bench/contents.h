// What an evaluation's answer depends on, as one hash: a run that is taken up again evaluates anew what has changed.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace passnet {

// Of the files of a graph folder and of a pass folder, each read once.
class Contents {
 public:
  // `passes`: a folder or one file; empty: the candidate has none.
  std::string of(const std::string& graph, const std::string& passes);

 private:
  std::map<std::string, std::uint64_t> graphs_, passes_;
};

}  // namespace passnet
