// Executables that replay CUDA graphs; see Engine::with_graphs.
#pragma once

#include "exec/engine.h"

namespace passnet {

std::unique_ptr<Executable> make_graph_executable(std::unique_ptr<Executable> executable);
// Where kernels go while a graph is recorded in this thread; else null.
void* recording_stream();

}  // namespace passnet
