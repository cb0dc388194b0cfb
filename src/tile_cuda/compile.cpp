#include "tile_cuda/compile.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "base/file.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "cuda/nvrtc.h"

namespace passnet::tile_cuda {

namespace {

constexpr int kMaxDynamicShared = 8;            // attribute of a function
constexpr int kSharedWithoutAsking = 48 << 10;  // bytes

struct Entry {
  std::mutex building;
  std::string source, key;
  bool fuse = false;
  cuda::FunctionHandle function = nullptr;
};

// By source, compared whole. Entries stay: kernels may run while the process ends.
Entry& entry_of(const std::string& source, bool fuse) {
  static std::mutex mutex;
  static auto* const entries = new std::map<std::pair<std::string, bool>, std::unique_ptr<Entry>>;
  const std::lock_guard<std::mutex> hold(mutex);
  auto& e = (*entries)[{source, fuse}];
  if (e == nullptr) {
    e = std::make_unique<Entry>();
    e->source = source;
    e->fuse = fuse;
  }
  return *e;
}

// The image, from disk or built and put there.
std::string obtain(const cuda::Device& device, Entry& e, Origin& origin, double& ms) {
  const cuda::Nvrtc compiler = cuda::nvrtc().take();
  const std::string arch = architecture(device);
  e.key = sha256_hex(fmt::format("{} NVRTC {}.{} driver {}{}\n{}", arch, compiler.major, compiler.minor,
                                 device.driver_version, e.fuse ? " fused" : "", e.source));
  const std::string name = e.key + ".cubin";
  if (auto known = cache_read(name)) {
    origin = Origin::disk;
    return std::move(*known);
  }
  const auto begin = std::chrono::steady_clock::now();
  auto compiled = cuda::compile(e.source, arch, e.fuse);
  if (!compiled) {
    Error error = std::move(compiled.error());
    auto place = CacheWorkplace::make();
    if (place) {
      const std::string path = place->path() + "/kernel.cu";
      if (file_write(path, e.source))
        error.notes.push_back("its source is kept at " + cache_keep_failed(path, e.key + ".cu"));
    }
    fail(std::move(error));
  }
  ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  origin = Origin::compiled;
  (void)cache_add_text(compiled->image, name);  // a cache that cannot be written only costs time
  return std::move(compiled->image);
}

LoadedKernel load(const cuda::Device& device, const Emitted& emitted) {
  Entry& e = entry_of(emitted.source, emitted.fp_fusion);
  const std::lock_guard<std::mutex> hold(e.building);
  LoadedKernel out{e.function, e.key, Origin::memory, 0, emitted.threads, emitted.shared_bytes};
  if (e.function != nullptr) return out;
  const std::string image = obtain(device, e, out.origin, out.compile_ms);
  device.enter();
  cuda::ModuleHandle module = nullptr;
  device.check(device.call.ModuleLoadData(&module, image.data()), "cannot load a kernel");
  cuda::FunctionHandle function = nullptr;
  device.check(device.call.ModuleGetFunction(&function, module, kKernelSymbol), "cannot find a kernel's entry");
  if (emitted.shared_bytes > kSharedWithoutAsking)
    device.check(device.call.FuncSetAttribute(function, kMaxDynamicShared, emitted.shared_bytes),
                 "cannot have that much shared memory");
  e.function = out.function = function;
  out.key = e.key;
  return out;
}

}  // namespace

Machine machine_of(const cuda::Device& device) { return {device.shared_limit, device.major == 9}; }

Machine machine_of(std::string_view architecture) {
  Machine out;
  out.groups = architecture.ends_with("_90a");
  return out;
}

std::string architecture(const cuda::Device& device) {
  return fmt::format("sm_{}{}{}", device.major, device.minor, machine_of(device).groups ? "a" : "");
}

Result<LoadedKernel> compile(const cuda::Device& device, const Emitted& emitted) {
  return guarded([&] { return load(device, emitted); });
}

std::vector<Result<LoadedKernel>> compile_many(const cuda::Device& device, std::span<const Emitted* const> sources) {
  std::vector<Result<LoadedKernel>> out(sources.size(), LoadedKernel{});
  parallel_run(0, sources.size(), [&](std::size_t i) { out[i] = compile(device, *sources[i]); });
  return out;
}

void launch(const cuda::Device& device, const LoadedKernel& kernel, const std::array<std::int64_t, 3>& grid, bool flat,
            void** arguments, cuda::StreamHandle stream) {
  const auto size = [](std::int64_t n) { return static_cast<unsigned>(n); };
  const int result =
      flat
          ? device.call.LaunchKernel(kernel.function, size(grid[0] * grid[1] * grid[2]), 1, 1, size(kernel.threads), 1,
                                     1, size(kernel.shared_bytes), stream, arguments, nullptr)
          : device.call.LaunchKernel(kernel.function, size(grid[0]), size(grid[1]), size(grid[2]), size(kernel.threads),
                                     1, 1, size(kernel.shared_bytes), stream, arguments, nullptr);
  if (result != 0) device.check(result, "cannot launch a kernel");
}

}  // namespace passnet::tile_cuda
