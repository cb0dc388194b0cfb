// C++ source -> a loaded kernel, through the system's compiler and two caches: in the process, and on disk by content,
// compiler and machine. Safe for many threads and processes at once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/cache.h"
#include "base/error.h"
#include "tile_cpu/abi.h"

namespace passnet::tile_cpu {

struct LoadedKernel {
  void* entry = nullptr;  // abi.h's kKernelSymbol; valid as long as the process
  std::string_view key;   // hash of all that decides its bytes
  Origin origin = Origin::memory;
  double compile_ms = 0;  // where compiled
};

struct Compiler {
  std::string path;     // $PASSNET_CXX, else the first of c++, g++ and clang++ on PATH
  std::string version;  // the first line of --version
};
// Looked for once; the error says what to install.
Result<Compiler> compiler();
// The same, asked without the cache, which stays as it is.
Result<Compiler> compiler_seen();

// Whether a kernel can be compiled and loaded here now, past the cache: where not, the error is what this machine
// lacks.
Result<std::monostate> compiler_probe();

std::vector<std::string> compile_flags(Build build);

// `source` needs no header and defines abi.h's kKernelSymbol. A source that does not compile is our bug: the error has
// the compiler's words and says where the source is kept.
Result<LoadedKernel> compile(const std::string& source, Build build = Build::fast);
// As many at a time as there are cores; results in the order of the sources.
std::vector<Result<LoadedKernel>> compile_many(std::span<const std::string> sources, Build build = Build::fast);

// The compiler's assembly text for a source, for people.
Result<std::string> compile_to_assembly(const std::string& source);

// sha256 over the parts, the compiler and the machine: the name of anything measured or built from them here.
std::string content_key(std::string_view text);

}  // namespace passnet::tile_cpu
