#include "cuda/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/text.h"

namespace passnet::cuda {

namespace {

using Program = void*;

struct Library {
  Nvrtc about;
  int (*version)(int* major, int* minor);
  int (*create)(Program* program, const char* source, const char* name, int headers, const char* const* texts,
                const char* const* names);
  int (*destroy)(Program* program);
  int (*compile)(Program program, int count, const char* const* options);
  int (*log_size)(Program program, std::size_t* size);
  int (*log)(Program program, char* text);
  int (*cubin_size)(Program program, std::size_t* size);
  int (*cubin)(Program program, char* bytes);
  int (*ptx_size)(Program program, std::size_t* size);
  int (*ptx)(Program program, char* text);
  const char* (*error_text)(int result);
};

// Where the library may be, the first that opens is taken.
std::vector<std::string> candidates() {
  std::vector<std::string> out;
  if (const char* wanted = std::getenv("PASSNET_NVRTC"); wanted != nullptr && *wanted != '\0') return {wanted};
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) out.emplace_back(name);
  std::vector<std::string> beside;
  std::error_code code;
  for (std::filesystem::recursive_directory_iterator it(PASSNET_PACKAGES "/nvidia", code), end; it != end && !code;
       it.increment(code)) {
    if (it.depth() > 2) it.disable_recursion_pending();
    const std::string name = it->path().filename();
    if (name.starts_with("libnvrtc.so.")) beside.push_back(it->path());
  }
  std::sort(beside.begin(), beside.end(), [](const std::string& a, const std::string& b) {  // the newest first
    const auto name = [](const std::string& path) { return std::filesystem::path(path).filename(); };
    return std::pair(name(a), a) > std::pair(name(b), b);
  });
  out.insert(out.end(), beside.begin(), beside.end());
  return out;
}

// NVRTC opens its builtins by name when it compiles. The loader does not look beside the library, but knows what is
// open already.
void open_builtins(void* library, const Nvrtc& about) {
  char folder[PATH_MAX];
  if (::dlinfo(library, RTLD_DI_ORIGIN, folder) != 0) return;
  const std::string path = fmt::format("{}/libnvrtc-builtins.so.{}.{}", folder, about.major, about.minor);
  (void)::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // where it is not, the loader's path has to do
}

Result<Library> open() {
  void* library = nullptr;
  Library out;
  for (const std::string& path : candidates()) {
    library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) {
      out.about.path = path;
      break;
    }
  }
  if (library == nullptr)
    return Error{Code::environment,
                 {},
                 "CUDA kernels need NVRTC (libnvrtc), and it is not here",
                 {"install the CUDA toolkit or PyPI's nvidia-cuda-nvrtc, or set PASSNET_NVRTC to the library"}};
  const std::pair<const char*, void**> symbols[] = {
      {"nvrtcVersion", reinterpret_cast<void**>(&out.version)},
      {"nvrtcCreateProgram", reinterpret_cast<void**>(&out.create)},
      {"nvrtcDestroyProgram", reinterpret_cast<void**>(&out.destroy)},
      {"nvrtcCompileProgram", reinterpret_cast<void**>(&out.compile)},
      {"nvrtcGetProgramLogSize", reinterpret_cast<void**>(&out.log_size)},
      {"nvrtcGetProgramLog", reinterpret_cast<void**>(&out.log)},
      {"nvrtcGetCUBINSize", reinterpret_cast<void**>(&out.cubin_size)},
      {"nvrtcGetCUBIN", reinterpret_cast<void**>(&out.cubin)},
      {"nvrtcGetPTXSize", reinterpret_cast<void**>(&out.ptx_size)},
      {"nvrtcGetPTX", reinterpret_cast<void**>(&out.ptx)},
      {"nvrtcGetErrorString", reinterpret_cast<void**>(&out.error_text)},
  };
  for (const auto& [name, to] : symbols) {
    *to = ::dlsym(library, name);
    if (*to == nullptr)
      return Error{
          Code::environment, {}, fmt::format("{} has no {}", out.about.path, name), {"NVRTC 11.2 or newer is needed"}};
  }
  if (const int result = out.version(&out.about.major, &out.about.minor); result != 0)
    return Error{Code::environment, {}, fmt::format("{}: {}", out.about.path, out.error_text(result)), {}};
  open_builtins(library, out.about);
  return out;
}

const Result<Library>& library() {
  static const Result<Library> kept = open();
  return kept;
}

struct Holder {
  const Library& lib;
  Program program = nullptr;
  explicit Holder(const Library& l) : lib(l) {}
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    if (program != nullptr) lib.destroy(&program);
  }
};

// Size, then bytes.
std::string fetch(Program program, int (*size_of)(Program, std::size_t*), int (*get)(Program, char*)) {
  std::size_t size = 0;
  if (size_of(program, &size) != 0 || size == 0) return {};
  std::string out(size, '\0');
  if (get(program, out.data()) != 0) return {};
  return out;
}

}  // namespace

Result<Nvrtc> nvrtc() {
  if (!library()) return library().error();
  return library()->about;
}

Result<Compiled> compile(const std::string& source, const std::string& architecture, bool fuse) {
  if (!library()) return library().error();
  const Library& lib = *library();
  Holder holder(lib);
  if (const int result = lib.create(&holder.program, source.c_str(), "kernel.cu", 0, nullptr, nullptr); result != 0)
    return Error{Code::internal, {}, fmt::format("NVRTC: {}", lib.error_text(result)), {}};
  const std::string arch = "--gpu-architecture=" + architecture;
  const char* options[] = {arch.c_str(), "--std=c++17", fuse ? "--fmad=true" : "--fmad=false", "--ptxas-options=-v",
                           "-w"};
  const int result = lib.compile(holder.program, static_cast<int>(std::size(options)), options);
  Compiled out;
  out.log = fetch(holder.program, lib.log_size, lib.log);
  while (!out.log.empty() && (out.log.back() == '\0' || out.log.back() == '\n')) out.log.pop_back();
  if (result != 0) {
    std::string first = lib.error_text(result);
    for (const std::string_view line : text_lines(out.log))
      if (line.find("error") != std::string_view::npos) {
        first = line;
        break;
      }
    return Error{
        Code::internal,
        {},
        fmt::format("a kernel's CUDA C++ was not accepted by NVRTC {}.{}: {}", lib.about.major, lib.about.minor, first),
        {}};
  }
  const bool text = architecture.starts_with("compute_");
  out.image = text ? fetch(holder.program, lib.ptx_size, lib.ptx) : fetch(holder.program, lib.cubin_size, lib.cubin);
  if (text && !out.image.empty()) out.image.pop_back();  // a zero
  if (out.image.empty()) return Error{Code::internal, {}, "NVRTC gave no code", {}};
  return out;
}

}  // namespace passnet::cuda
