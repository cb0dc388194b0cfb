#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "exec/engine.h"

namespace passnet {

namespace {

Result<Engine*> load() {
  std::error_code code;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", code);
  const std::string path = (code ? std::filesystem::path(".") : self.parent_path()) / "libpassnet_exec.so";
  // Else oneDNN leaves a list of its generated code in /tmp, one a process, wherever it is built for perf.
  if (std::getenv("DNNL_JIT_PROFILE") == nullptr) ::setenv("ONEDNN_JIT_PROFILE", "0", 0);
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr)
    return Error{Code::environment,
                 {},
                 fmt::format("cannot load the execution engine: {}", ::dlerror()),
                 {"it needs libtorch from the project's virtual environment: run 'make setup build'"}};
  using Entry = Engine* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(library, "passnet_engine"));
  if (entry == nullptr)
    return Error{Code::environment,
                 {},
                 fmt::format("{} is not an execution engine of this version", path),
                 {"run 'make build'"}};
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

std::int64_t TensorDesc::element_count() const {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) n *= s;
  return n;
}

std::string place_text(std::int64_t number, std::span<const std::int64_t> sizes) {
  std::vector<std::int64_t> place(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0; number /= sizes[d]) place[d] = number % sizes[d];
  return fmt::format("[{}]", fmt::join(place, ", "));
}

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> out(sizes.size());
  std::int64_t step = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    out[i] = step;
    step *= std::max<std::int64_t>(sizes[i], 1);
  }
  return out;
}

bool TensorDesc::is_contiguous() const {
  if (element_count() == 0) return true;
  std::int64_t step = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (strides[i] != step) return false;
    step *= sizes[i];
  }
  return true;
}

std::int64_t TensorDesc::hull() const {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return last + 1;
}

TensorDesc describe(const TensorRef& tensor) {
  return {tensor.sizes.vec(), tensor.strides.vec(), tensor.dtype, tensor.device};
}

}  // namespace passnet
