// What an evaluation's answer depends on, as one hash: a run that is taken up again evaluates anew what has changed.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace passnet {

// Of the files of a graph folder and of pass folders, each read once.
class Contents {
 public:
  // `passes`: a folder or one file; empty: the candidate has none. `input`: the folder of --input-passes, or empty.
  std::string of(const std::string& graph, const std::string& passes, const std::string& input);

 private:
  std::map<std::string, std::uint64_t> graphs_, passes_;
};

}  // namespace passnet
