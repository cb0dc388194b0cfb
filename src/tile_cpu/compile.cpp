#include "tile_cpu/compile.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <condition_variable>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>

#include "base/cache.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/process.h"
#include "base/text.h"
#include "tile_cpu/abi.h"

namespace passnet::tile_cpu {

namespace {

constexpr ProcessLimits kCompilerLimits{.seconds = 60};

std::vector<std::string> compiler_environment(const std::string& folder) {
  const char* path = std::getenv("PATH");
  return {fmt::format("PATH={}", path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path), "LC_ALL=C",
          "TMPDIR=" + folder, "HOME=" + folder, "CCACHE_DISABLE=1"};
}

// The first line of --version; `folder` is for its temporary files.
Result<std::string> ask_version(const std::string& path, const std::string& folder) {
  auto run = process_run({path, "--version"}, compiler_environment(folder), {.seconds = 10});
  if (!run) return std::move(run.error());
  if (run->status != 0)
    return Error{Code::environment,
                 {},
                 fmt::format("{} --version ended with {}", path, run->status),
                 {std::string(text_trim(run->output)), "set PASSNET_CXX to a C++20 compiler"}};
  return std::string(text_lines(run->output).empty() ? "" : text_lines(run->output)[0]);
}

// It costs a process, so its answer is kept beside the kernels for the compiler's path, size and time.
Result<std::string> kept_version(const std::string& path) {
  struct stat info {};
  ::stat(path.c_str(), &info);
  const std::string name =
      fmt::format("compiler-{}",
                  sha256_hex(fmt::format("{} {} {} {}", path, info.st_size, info.st_mtime, info.st_ino)).substr(0, 32));
  if (auto known = cache_read(name)) return std::move(*known);
  auto place = CacheWorkplace::make();
  if (!place) return std::move(place.error());
  auto version = ask_version(path, place->path());
  if (!version) return version;
  if (auto added = cache_add_text(*version, name); !added) return std::move(added.error());
  return version;
}

template <class VersionOf>
Result<Compiler> find_compiler(const VersionOf& version_of) {
  const char* wanted = std::getenv("PASSNET_CXX");
  std::optional<std::string> path;
  if (wanted != nullptr && *wanted != '\0') {
    path = program_find(wanted);
    if (!path)
      return Error{Code::environment,
                   {},
                   fmt::format("PASSNET_CXX is '{}', which is no program here", wanted),
                   {"give a C++20 compiler: g++ or clang++"}};
  }
  for (const char* name : {"c++", "g++", "clang++"})
    if (!path) path = program_find(name);
  if (!path)
    return Error{Code::environment,
                 {},
                 "kernels need a C++ compiler, and none of c++, g++, clang++ is on PATH",
                 {"install one (Debian, Ubuntu: apt install g++), or set PASSNET_CXX"}};
  auto version = version_of(*path);
  if (!version) return std::move(version.error());
  return Compiler{std::move(*path), std::move(*version)};
}

// What -march=native depends on: the lines of the first processor that name its model and features.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string out, line;
  while (std::getline(file, line) && !line.empty())
    for (const std::string_view name :
         {"vendor_id", "cpu family", "model", "flags", "Features", "CPU implementer", "CPU part", "CPU variant"})
      if (line.starts_with(name)) out += line + "\n";
  if (out.empty()) {  // no /proc: kernels are this host's alone
    utsname name{};
    ::uname(&name);
    out = fmt::format("{} {}", name.nodename, name.machine);
  }
  return out;
}

const std::string& identity() {
  static const std::string text = [] {
    const auto found = compiler();
    return (found ? found->version : "") + "\n" + processor();
  }();
  return text;
}

struct Entry {
  std::string source, key;
  Build build = Build::fast;
  void* entry = nullptr;
  double compile_ms = 0;
  bool building = true;
};

// Entries by the hash of their source; compared whole, so that no collision can swap kernels. An address stays.
struct Store {
  std::mutex mutex;
  std::condition_variable built;
  std::multimap<std::uint64_t, std::unique_ptr<Entry>> entries;

  Entry* find(std::uint64_t hash, const std::string& source, Build build) {
    const auto [begin, end] = entries.equal_range(hash);
    for (auto it = begin; it != end; ++it)
      if (it->second->source == source && it->second->build == build) return it->second.get();
    return nullptr;
  }
};
Store& store() {
  static Store* const kept = new Store;  // never destroyed: kernels may run while the process ends
  return *kept;
}

std::vector<std::string> command_of(const Compiler& found, Build build, const std::string& in, const std::string& out,
                                    bool assembly) {
  std::vector<std::string> command = {found.path};
  for (std::string& flag : compile_flags(build)) command.push_back(std::move(flag));
  if (assembly)
    command.insert(command.end(), {"-S", in, "-o", out});
  else
    command.insert(command.end(), {"-shared", "-nostdlib", "-Wl,--build-id=none", in, "-o", out, "-lgcc"});
  return command;
}

// Runs the compiler in `place`; gives its milliseconds.
Result<double> run_compiler(const std::string& source, Build build, const std::string& place, const std::string& out,
                            bool assembly) {
  auto found = compiler();
  if (!found) return std::move(found.error());
  const std::string in = place + "/kernel.cpp";
  if (auto written = file_write(in, source); !written) return std::move(written.error());
  auto run = process_run(command_of(*found, build, in, out, assembly), compiler_environment(place), kCompilerLimits);
  if (!run) return std::move(run.error());
  if (run->timed_out)
    return Error{
        Code::limit,
        {},
        fmt::format("the compiler took more than {:.0f} s for a kernel and was ended", kCompilerLimits.seconds),
        {"its source is kept at " + cache_keep_failed(in, content_key(source) + ".cpp"),
         "smaller blocks make a smaller kernel, and so does range in the place of tl.static_range"}};
  if (run->status != 0) {
    const auto lines = text_lines(run->output);
    std::string first = lines.empty() ? "it said nothing" : std::string(lines[0]);
    for (const std::string_view line : lines)
      if (line.find("error") != std::string_view::npos) {
        first = line;
        break;
      }
    return Error{
        Code::internal,
        {},
        fmt::format("a kernel's C++ was not accepted by {} (status {}): {}", found->version, run->status, first),
        {"its source is kept at " + cache_keep_failed(in, content_key(source) + ".cpp")}};
  }
  return run->seconds * 1e3;
}

Result<void*> load(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return Error{Code::environment,
                 {},
                 fmt::format("cannot load a kernel: {}", ::dlerror()),
                 {"where the cache lies on a file system mounted noexec, set PASSNET_CACHE to another folder"}};
  void* entry = ::dlsym(library, kKernelSymbol);
  if (entry != nullptr) return entry;
  ::dlclose(library);
  return Error{Code::internal, {}, fmt::format("a compiled kernel has no function '{}'", kKernelSymbol), {}};
}

// From disk, or built and put there.
Result<Origin> obtain(Entry& e) {
  auto folder = cache_folder();
  if (!folder) return std::move(folder.error());
  std::string text = e.source;
  for (const std::string& flag : compile_flags(e.build)) text += "\n" + flag;
  e.key = content_key(text);
  const std::string name = e.key + ".so", path = *folder + "/" + name;
  if (cache_read(name))
    if (auto entry = load(path)) {
      e.entry = *entry;
      return Origin::disk;
    }
  auto place = CacheWorkplace::make();
  if (!place) return std::move(place.error());
  const std::string out = place->path() + "/kernel.so";
  auto ms = run_compiler(e.source, e.build, place->path(), out, false);
  if (!ms) return std::move(ms.error());
  e.compile_ms = *ms;
  if (auto added = cache_add(out, name); !added) return std::move(added.error());
  auto entry = load(path);
  if (!entry) return std::move(entry.error());
  e.entry = *entry;
  return Origin::compiled;
}

}  // namespace

Result<Compiler> compiler() {
  static const Result<Compiler> found = find_compiler(kept_version);
  return found;
}

Result<Compiler> compiler_seen() {
  return find_compiler([](const std::string& path) { return ask_version(path, "/"); });  // it writes nothing
}

Result<std::monostate> compiler_probe() {
  constexpr std::size_t kRoom = 1 << 20;  // bytes that a large kernel takes
  const auto lacking = [](Error error) {
    return Error{Code::environment, {}, "kernels cannot be compiled here: " + error.message, std::move(error.notes)};
  };
  auto place = CacheWorkplace::make();
  if (!place) return lacking(std::move(place.error()));
  const std::string out = place->path() + "/probe.so";
  const std::string source =
      fmt::format("extern \"C\" void {}() {{}}\n/*{}*/\n", kKernelSymbol, std::string(kRoom, ' '));
  if (auto ms = run_compiler(source, Build::fast, place->path(), out, false); !ms)
    return lacking(std::move(ms.error()));
  if (auto entry = load(out); !entry) return lacking(std::move(entry.error()));
  return std::monostate{};
}

std::vector<std::string> compile_flags(Build build) {
  // Of a kernel of 200 lines: 0.1 s, of which the linker takes 5 ms with -nostdlib and 15 ms without. g++ vectorises at
  // -O2 only where no loop has a tail, hence the cost model.
  std::vector<std::string> flags = {"-std=c++20",
                                    "-fPIC",
                                    "-fno-exceptions",
                                    "-fno-rtti",
                                    "-fno-asynchronous-unwind-tables",
                                    "-fno-stack-protector",
                                    "-fno-math-errno",
                                    "-fno-trapping-math",
                                    "-ffp-contract=off",
                                    "-fwrapv",
                                    "-fno-strict-aliasing",
                                    "-fno-finite-loops",
                                    "-w",
                                    "-Wno-psabi"};
#if defined(__aarch64__)
  flags.emplace_back("-mcpu=native");
#else
  flags.emplace_back("-march=native");
#endif
  flags.emplace_back(build == Build::fast ? "-O2" : "-O1");
  if (const auto found = compiler(); build == Build::fast && found && found->version.find("clang") == std::string::npos)
    flags.insert(flags.end(), {"-ftree-vectorize", "-fvect-cost-model=dynamic"});
  return flags;
}

std::string content_key(std::string_view text) { return sha256_hex(identity() + std::string(text)); }

Result<LoadedKernel> compile(const std::string& source, Build build) {
  Store& s = store();
  const std::uint64_t hash = hash64(source);
  std::unique_lock lock(s.mutex);
  Entry* e = s.find(hash, source, build);
  while (e != nullptr && e->building) {  // by another thread, which may fail and take it away
    s.built.wait(lock);
    e = s.find(hash, source, build);
  }
  if (e != nullptr) return LoadedKernel{e->entry, e->key, Origin::memory, 0};
  const auto it = s.entries.emplace(hash, std::make_unique<Entry>());
  e = it->second.get();
  e->source = source;
  e->build = build;
  lock.unlock();
  auto origin = obtain(*e);
  lock.lock();
  e->building = false;
  s.built.notify_all();
  if (!origin) {
    s.entries.erase(it);
    return std::move(origin.error());
  }
  return LoadedKernel{e->entry, e->key, *origin, e->compile_ms};
}

std::vector<Result<LoadedKernel>> compile_many(std::span<const std::string> sources, Build build) {
  std::vector<Result<LoadedKernel>> out(sources.size(), LoadedKernel{});
  parallel_run(0, sources.size(), [&](std::size_t i) { out[i] = compile(sources[i], build); });
  return out;
}

Result<std::string> compile_to_assembly(const std::string& source) {
  auto place = CacheWorkplace::make();
  if (!place) return std::move(place.error());
  const std::string out = place->path() + "/kernel.s";
  auto ms = run_compiler(source, Build::fast, place->path(), out, true);
  if (!ms) return std::move(ms.error());
  return file_read(out);
}

}  // namespace passnet::tile_cpu
