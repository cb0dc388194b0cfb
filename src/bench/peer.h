// Python's eager and torch.compile as subjects: a Python process that is told over pipes what to do. It gets the graph
// as our printer writes it (so nothing that was not parsed is executed), and inputs and outputs as files.
#pragma once

#include "bench/candidate.h"
#include "bench/subject.h"
#include "fx/folder.h"

namespace passnet {

// Starts the process and has it compile; the error says what Python lacks.
Result<std::unique_ptr<Subject>> peer_subject(const Candidate& candidate, const GraphFolder& graph, Engine& engine,
                                              DeviceType device);
// The Python that has torch: $PASSNET_PYTHON, the project's virtual environment beside the binary, python3.
std::string peer_python();

// What that Python is, found out without loading torch.
struct PeerPython {
  std::string path, version, torch;  // versions; torch is empty where it has none
  std::string trouble;               // why it cannot be started
};
PeerPython peer_look();
// The environment's error where there is no such Python, or none that has torch.
Result<std::monostate> peer_ready();

}  // namespace passnet
