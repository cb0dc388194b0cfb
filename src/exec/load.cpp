#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "exec/engine.h"

namespace passnet {

namespace {

Result<Engine*> load() {
  std::error_code code;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", code);
  const std::string path = (code ? std::filesystem::path(".") : self.parent_path()) / "libpassnet_exec.so";
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr)
    return Error{Code::environment, {}, fmt::format("cannot load the execution engine: {}", ::dlerror()), {"it needs libtorch from the project's virtual environment: run 'make setup build'"}};
  using Entry = Engine* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(library, "passnet_engine"));
  if (entry == nullptr) return Error{Code::environment, {}, fmt::format("{} is not an execution engine of this version", path), {"run 'make build'"}};
  return entry();
}

}  // namespace

Result<Engine*> engine_load() {
  static const Result<Engine*> kept = load();
  return kept;
}

Result<DeviceType> device_from_name(const std::string& name) {
  if (name == "cpu") return DeviceType::cpu;
  if (name == "cuda") return DeviceType::cuda;
  return Error{Code::usage, {}, fmt::format("unknown device '{}'", name), {"devices are cpu and cuda"}};
}

}  // namespace passnet
