#include "cuda/monitor.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

namespace passnet::cuda {

namespace {

using Gpu = void*;
constexpr int kSuccess = 0, kTooSmall = 7;
constexpr int kSmClock = 1, kMemoryClock = 2, kOfGpu = 0;  // NVML's numbers

struct ProcessInfo {  // nvmlProcessInfo_t, second version
  unsigned pid;
  unsigned long long bytes;
  unsigned instance, compute_instance;
};

struct Nvml {
  int (*init)();
  int (*handle)(unsigned index, Gpu* gpu);
  int (*clock)(Gpu gpu, int which, unsigned* mhz);
  int (*temperature)(Gpu gpu, int sensor, unsigned* celsius);
  int (*processes)(Gpu gpu, unsigned* count, ProcessInfo* infos);
  Gpu gpu = nullptr;
};

std::optional<Nvml> open() {
  void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  Nvml out{};
  const std::pair<const char*, void**> symbols[] = {
      {"nvmlInit_v2", reinterpret_cast<void**>(&out.init)},
      {"nvmlDeviceGetHandleByIndex_v2", reinterpret_cast<void**>(&out.handle)},
      {"nvmlDeviceGetClockInfo", reinterpret_cast<void**>(&out.clock)},
      {"nvmlDeviceGetTemperature", reinterpret_cast<void**>(&out.temperature)},
      {"nvmlDeviceGetComputeRunningProcesses_v3", reinterpret_cast<void**>(&out.processes)},
  };
  for (const auto& [name, to] : symbols) *to = ::dlsym(library, name);
  if (out.init == nullptr || out.handle == nullptr || out.clock == nullptr || out.temperature == nullptr)
    return std::nullopt;
  if (out.init() != kSuccess || out.handle(0, &out.gpu) != kSuccess) return std::nullopt;
  return out;
}

const Nvml* nvml() {
  static const std::optional<Nvml> kept = open();
  return kept ? &*kept : nullptr;
}

// 0 where there is no such process.
pid_t parent_of(pid_t pid) {
  std::FILE* file = std::fopen(("/proc/" + std::to_string(pid) + "/stat").c_str(), "re");
  if (file == nullptr) return 0;
  char text[512];
  const std::size_t n = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[n] = 0;
  const char* after = std::strrchr(text, ')');  // the name before it may hold anything
  char state = 0;
  int parent = 0;
  // NOLINTNEXTLINE(cert-err34-c): the kernel's numbers
  return after != nullptr && std::sscanf(after, ") %c %d", &state, &parent) == 2 ? parent : 0;
}

bool comes_from(pid_t pid, pid_t root) {
  for (int depth = 0; pid > 1 && depth < 64; ++depth, pid = parent_of(pid))
    if (pid == root) return true;
  return false;
}

}  // namespace

std::optional<GpuState> gpu_state() {
  const Nvml* n = nvml();
  if (n == nullptr) return std::nullopt;
  GpuState out;
  const auto ask = [n](int (*question)(Gpu, int, unsigned*), int which) {
    unsigned value = 0;
    return question(n->gpu, which, &value) == kSuccess ? static_cast<int>(value) : -1;
  };
  out.sm_mhz = ask(n->clock, kSmClock);
  out.memory_mhz = ask(n->clock, kMemoryClock);
  out.celsius = ask(n->temperature, kOfGpu);
  return out;
}

std::optional<std::vector<pid_t>> gpu_processes() {
  const Nvml* n = nvml();
  if (n == nullptr || n->processes == nullptr) return std::nullopt;
  std::vector<ProcessInfo> infos(64);
  auto count = static_cast<unsigned>(infos.size());
  int result = n->processes(n->gpu, &count, infos.data());
  if (result == kTooSmall) {
    infos.resize(count + std::size_t{64});
    count = static_cast<unsigned>(infos.size());
    result = n->processes(n->gpu, &count, infos.data());
  }
  if (result != kSuccess) return std::nullopt;
  std::vector<pid_t> out;
  for (unsigned i = 0; i < std::min<unsigned>(count, static_cast<unsigned>(infos.size())); ++i)
    out.push_back(static_cast<pid_t>(infos[i].pid));
  return out;
}

std::optional<int> foreign_processes(const std::vector<pid_t>& all, pid_t known, pid_t root) {
  if (std::find(all.begin(), all.end(), known) == all.end()) return std::nullopt;
  return static_cast<int>(std::count_if(all.begin(), all.end(), [&](pid_t p) { return !comes_from(p, root); }));
}

}  // namespace passnet::cuda
