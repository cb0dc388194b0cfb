// What an evaluation's answer depends on, as one hash: a run that is taken up again evaluates anew what has changed.
#pragma once

#include <string>

namespace passnet {

// Of the files of a graph folder and of a pass folder (or a single pass file; empty: none).
std::string contents_of(const std::string& graph, const std::string& passes);

}  // namespace passnet
