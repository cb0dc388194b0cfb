// The maker of executables; see interpreter.cpp.
#pragma once

#include <memory>

#include "exec/engine.h"

namespace passnet {

Result<std::unique_ptr<Executable>> make_executable(const Program& program, const Graph& graph, DeviceType device,
                                                    std::span<ExternalStep* const> externals);

}  // namespace passnet
