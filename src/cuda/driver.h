// The CUDA driver, opened at run time: one binary serves machines with a GPU and without. No CUDA header is needed.
// torch uses the device's primary context and, unless it is told otherwise, the null stream; so does everything here.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace passnet::cuda {

using Address = std::uint64_t;  // of device memory
using ModuleHandle = void*;
using FunctionHandle = void*;
using EventHandle = void*;
using StreamHandle = void*;  // null: the stream that torch uses
using ContextHandle = void*;

// The functions that are used; a null result means success. By the driver's own names, less `cu`.
struct Functions {
  int (*Init)(unsigned flags);
  int (*DriverGetVersion)(int* version);
  int (*DeviceGetCount)(int* count);
  int (*DeviceGet)(int* device, int ordinal);
  int (*DeviceGetName)(char* name, int length, int device);
  int (*DeviceGetAttribute)(int* value, int attribute, int device);
  int (*DeviceTotalMem)(std::size_t* bytes, int device);
  int (*DevicePrimaryCtxRetain)(ContextHandle* context, int device);
  int (*CtxGetCurrent)(ContextHandle* context);
  int (*CtxSetCurrent)(ContextHandle context);
  int (*CtxSynchronize)();
  int (*CtxResetPersistingL2Cache)();
  int (*StreamSynchronize)(StreamHandle stream);
  int (*EventCreate)(EventHandle* event, unsigned flags);
  int (*EventRecord)(EventHandle event, StreamHandle stream);
  int (*EventSynchronize)(EventHandle event);
  int (*EventElapsedTime)(float* milliseconds, EventHandle from, EventHandle to);
  int (*EventDestroy)(EventHandle event);
  int (*MemAlloc)(Address* address, std::size_t bytes);
  int (*MemFree)(Address address);
  int (*MemGetInfo)(std::size_t* free, std::size_t* total);
  int (*MemsetD32Async)(Address address, unsigned value, std::size_t count, StreamHandle stream);
  int (*MemcpyDtoDAsync)(Address to, Address from, std::size_t bytes, StreamHandle stream);
  int (*MemcpyDtoH)(void* to, Address from, std::size_t bytes);
  int (*MemcpyHtoD)(Address to, const void* from, std::size_t bytes);
  int (*ModuleLoadData)(ModuleHandle* module, const void* image);
  int (*ModuleUnload)(ModuleHandle module);
  int (*ModuleGetFunction)(FunctionHandle* function, ModuleHandle module, const char* name);
  int (*FuncSetAttribute)(FunctionHandle function, int attribute, int value);
  int (*FuncGetAttribute)(int* value, int attribute, FunctionHandle function);
  int (*LaunchKernel)(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned shared_bytes, StreamHandle stream, void** arguments,
                      void** extra);
  int (*GetErrorString)(int error, const char** text);
};

struct Device {
  Functions call;
  std::string name;          // NVIDIA H200
  int driver_version = 0;    // 13000
  int major = 0, minor = 0;  // of the compute capability
  int multiprocessors = 0;
  int shared_limit = 0;  // bytes that one program's block may have
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  ContextHandle context = nullptr;  // the primary one

  // Fails with the driver's words for `result`.
  void check(int result, const char* what) const;
  // Makes the primary context this thread's.
  void enter() const;
};

// The first GPU, opened once. The error says what is missing: no driver, no device. Starts CUDA in this process, which
// must not be forked after it.
Result<const Device*> device();

}  // namespace passnet::cuda
