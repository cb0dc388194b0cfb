#include "cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace passnet::cuda {

namespace {

struct Symbol {
  const char* name;  // in the library: the version that has the signature of driver.h
  void** to;
};

// Attributes of a device, by the driver's numbers.
constexpr int kMultiprocessors = 16, kL2Bytes = 38, kMajor = 75, kMinor = 76, kSharedLimit = 97;

void resolve(void* library, Functions& f) {
  const auto slot = [](auto& function) { return reinterpret_cast<void**>(&function); };
  const Symbol symbols[] = {
      {"cuInit", slot(f.Init)},
      {"cuDriverGetVersion", slot(f.DriverGetVersion)},
      {"cuDeviceGetCount", slot(f.DeviceGetCount)},
      {"cuDeviceGet", slot(f.DeviceGet)},
      {"cuDeviceGetName", slot(f.DeviceGetName)},
      {"cuDeviceGetAttribute", slot(f.DeviceGetAttribute)},
      {"cuDeviceTotalMem_v2", slot(f.DeviceTotalMem)},
      {"cuDevicePrimaryCtxRetain", slot(f.DevicePrimaryCtxRetain)},
      {"cuCtxGetCurrent", slot(f.CtxGetCurrent)},
      {"cuCtxSetCurrent", slot(f.CtxSetCurrent)},
      {"cuCtxSynchronize", slot(f.CtxSynchronize)},
      {"cuCtxResetPersistingL2Cache", slot(f.CtxResetPersistingL2Cache)},
      {"cuStreamSynchronize", slot(f.StreamSynchronize)},
      {"cuEventCreate", slot(f.EventCreate)},
      {"cuEventRecord", slot(f.EventRecord)},
      {"cuEventSynchronize", slot(f.EventSynchronize)},
      {"cuEventElapsedTime", slot(f.EventElapsedTime)},
      {"cuEventDestroy_v2", slot(f.EventDestroy)},
      {"cuMemAlloc_v2", slot(f.MemAlloc)},
      {"cuMemFree_v2", slot(f.MemFree)},
      {"cuMemGetInfo_v2", slot(f.MemGetInfo)},
      {"cuMemsetD32Async", slot(f.MemsetD32Async)},
      {"cuMemcpyDtoDAsync_v2", slot(f.MemcpyDtoDAsync)},
      {"cuMemcpyDtoH_v2", slot(f.MemcpyDtoH)},
      {"cuMemcpyHtoD_v2", slot(f.MemcpyHtoD)},
      {"cuModuleLoadData", slot(f.ModuleLoadData)},
      {"cuModuleUnload", slot(f.ModuleUnload)},
      {"cuModuleGetFunction", slot(f.ModuleGetFunction)},
      {"cuFuncSetAttribute", slot(f.FuncSetAttribute)},
      {"cuFuncGetAttribute", slot(f.FuncGetAttribute)},
      {"cuLaunchKernel", slot(f.LaunchKernel)},
      {"cuGetErrorString", slot(f.GetErrorString)},
  };
  for (const Symbol& s : symbols) {
    *s.to = ::dlsym(library, s.name);
    if (*s.to == nullptr)
      fail(Code::environment, fmt::format("the CUDA driver has no {}; install a newer driver", s.name));
  }
}

Device open() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    fail({Code::environment,
          {},
          "no CUDA driver here (libcuda.so.1)",
          {"install NVIDIA's driver, or use --device cpu"}});
  Device d;
  resolve(library, d.call);
  d.check(d.call.Init(0), "cannot start CUDA");
  int count = 0;
  d.check(d.call.DeviceGetCount(&count), "cannot count the GPUs");
  if (count == 0) fail({Code::environment, {}, "no GPU here", {"use --device cpu"}});
  int ordinal = 0;
  d.check(d.call.DeviceGet(&ordinal, 0), "cannot open the GPU");
  char name[128] = "";
  d.check(d.call.DeviceGetName(name, sizeof name, ordinal), "cannot ask the GPU for its name");
  d.name = name;
  const auto attribute = [&](int which) {
    int value = 0;
    d.check(d.call.DeviceGetAttribute(&value, which, ordinal), "cannot ask the GPU for an attribute");
    return value;
  };
  d.check(d.call.DriverGetVersion(&d.driver_version), "cannot ask for the driver's version");
  d.major = attribute(kMajor);
  d.minor = attribute(kMinor);
  d.multiprocessors = attribute(kMultiprocessors);
  d.shared_limit = attribute(kSharedLimit);
  d.l2_bytes = attribute(kL2Bytes);
  std::size_t bytes = 0;
  d.check(d.call.DeviceTotalMem(&bytes, ordinal), "cannot ask the GPU for its memory");
  d.memory_bytes = static_cast<std::int64_t>(bytes);
  d.check(d.call.DevicePrimaryCtxRetain(&d.context, ordinal), "cannot use the GPU");
  d.enter();
  return d;
}

}  // namespace

void Device::check(int result, const char* what) const {
  if (result == 0) return;
  const char* text = nullptr;
  if (call.GetErrorString(result, &text) != 0 || text == nullptr) text = "unknown error";
  fail(Code::run, fmt::format("{}: CUDA error {}, {}", what, result, text));
}

void Device::enter() const {
  ContextHandle current = nullptr;
  check(call.CtxGetCurrent(&current), "cannot ask for the CUDA context");
  if (current != context) check(call.CtxSetCurrent(context), "cannot enter the CUDA context");
}

Result<const Device*> device() {
  static const Result<Device> kept = guarded([] { return open(); });
  if (!kept) return kept.error();
  return &*kept;
}

}  // namespace passnet::cuda
