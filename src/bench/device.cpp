#include "bench/device.h"

#include <fstream>

#include "base/text.h"
#include "cuda/health.h"

namespace passnet {

namespace {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name") || line.starts_with("CPU part"))
      return std::string(text_trim(std::string_view(line).substr(std::min(line.size(), line.find(':') + 1))));
  return "unknown";
}

}  // namespace

Result<std::monostate> device_ready(Engine& engine, DeviceType device) {
  if (device != DeviceType::cuda) return std::monostate{};
  if (auto there = engine.require(device); !there) return there;
  const auto gpu = cuda::device();
  if (!gpu) return Error{Code::environment, {}, gpu.error().message, gpu.error().notes};
  return cuda::health(**gpu);
}

std::string device_name(DeviceType device) {
  return device == DeviceType::cuda ? cuda::device().take()->name : cpu_name();
}

std::string_view device_text(DeviceType device) { return device == DeviceType::cuda ? "cuda" : "cpu"; }

}  // namespace passnet
