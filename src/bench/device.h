// The device that an evaluation runs on: whether it is there and works, and what it is called.
#pragma once

#include <string>

#include "exec/engine.h"

namespace passnet {

// The error, of the environment, says what is missing or broken. Asked for CUDA it starts CUDA in this process, which
// must not be forked after that.
Result<std::monostate> device_ready(Engine& engine, DeviceType device);

// Of the processor or of the GPU, which then has to be ready.
std::string device_name(DeviceType device);

std::string_view device_text(DeviceType device);  // as --device has it

}  // namespace passnet
