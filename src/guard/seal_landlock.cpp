// Files, and what else Landlock knows, by its versions. The numbers are the kernel's, since distributions' headers are
// older than kernels.
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guard/seal_layers.h"

namespace passnet::guard {

namespace {

constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;  // the same on every architecture
constexpr unsigned kVersionFlag = 1;
constexpr int kPathBeneath = 1;

struct RulesetAttr {
  std::uint64_t files, net, scoped;
};
struct __attribute__((packed)) PathBeneathAttr {
  std::uint64_t allowed;
  std::int32_t fd;
};

constexpr std::uint64_t bit(int n) { return std::uint64_t{1} << n; }
constexpr std::uint64_t kExecute = bit(0), kWriteFile = bit(1), kReadFile = bit(2), kReadDir = bit(3);
constexpr std::uint64_t kRemoveAndMake = bit(13) - bit(4);  // remove_dir .. make_sym
constexpr std::uint64_t kRefer = bit(13), kTruncate = bit(14), kIoctlDev = bit(15);
constexpr std::uint64_t kTcp = bit(0) | bit(1), kScopes = bit(0) | bit(1);

// Files that libraries look at while computing: the machine, locales, themselves. Nothing of a user.
constexpr const char* kSystemReadable[] = {
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/sys/devices/system",
    "/proc/sys/vm/overcommit_memory",
    "/dev/null",
    "/dev/urandom",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/usr/share/zoneinfo",
    "/usr/lib",
    "/usr/local/lib",
    "/lib",
    "/lib64",
    "/sys/kernel/mm/transparent_hugepage",
};

// The same of NVIDIA's driver and its libraries.
constexpr const char* kCudaReadable[] = {"/sys", "/proc/driver/nvidia", "/proc/devices", "/proc/version"};

void allow(int ruleset, const char* path, std::uint64_t handled, std::uint64_t rights = kReadFile) {
  const int fd = ::open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) return;  // what is not there needs no leave
  struct stat info {};
  ::fstat(fd, &info);
  const std::uint64_t wanted = S_ISDIR(info.st_mode) ? rights | kReadDir : rights;
  const PathBeneathAttr attr{wanted & handled, fd};
  if (attr.allowed != 0) ::syscall(kAddRule, ruleset, kPathBeneath, &attr, 0U);
  ::close(fd);
}

// Every device of NVIDIA's, also those of other GPUs: the driver opens what it wants.
void allow_gpus(int ruleset, std::uint64_t handled) {
  for (const char* path : kCudaReadable) allow(ruleset, path, handled);
  glob_t found{};
  if (::glob("/dev/nvidia*", 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i)
      allow(ruleset, found.gl_pathv[i], handled, kReadFile | kWriteFile | kIoctlDev);
  ::globfree(&found);
}

struct Feature {
  int version;
  const char* missing;
};
constexpr Feature kFeatures[] = {
    {1, "landlock: files outside the readable ones can be read (Linux 5.13 has it)"},
    {3, "landlock: files can be truncated (Linux 6.2 has it)"},
    {4, "landlock: TCP is left to seccomp (Linux 6.7 has it)"},
    {6, "landlock: signals to others are left to seccomp (Linux 6.12 has it)"},
};

}  // namespace

int landlock_version() {
  const long version = ::syscall(kCreateRuleset, nullptr, std::size_t{0}, kVersionFlag);
  return version > 0 ? static_cast<int>(version) : 0;
}

int landlock_ruleset(const SealOptions& options, const RuleOn& on) {
  const int version = landlock_version();
  if (version == 0) return -1;
  RulesetAttr attr{};
  if (on("landlock-write")) {
    attr.files |= kWriteFile | kRemoveAndMake;
    if (version >= 2) attr.files |= kRefer;
    if (version >= 3) attr.files |= kTruncate;
    if (version >= 5) attr.files |= kIoctlDev;
  }
  if (on("landlock-read")) attr.files |= kReadFile | kReadDir;
  if (on("landlock-execute")) attr.files |= kExecute;
  if (on("landlock-network") && version >= 4) attr.net = kTcp;
  if (on("landlock-signal") && version >= 6) attr.scoped = kScopes;
  const std::size_t size = sizeof(std::uint64_t) * (version >= 6 ? 3 : version >= 4 ? 2 : 1);
  if (attr.files == 0 && attr.net == 0 && attr.scoped == 0) return -1;
  const int ruleset = static_cast<int>(::syscall(kCreateRuleset, &attr, size, 0U));
  if (ruleset < 0) return -1;
  for (const char* path : kSystemReadable) allow(ruleset, path, attr.files);
  for (const std::string& path : options.readable) allow(ruleset, path.c_str(), attr.files);
  if (options.cuda) allow_gpus(ruleset, attr.files);
  return ruleset;
}

int landlock_restrict(int ruleset) { return static_cast<int>(::syscall(kRestrictSelf, ruleset, 0U)); }

std::vector<std::string> landlock_missing() {
  std::vector<std::string> out;
  for (const Feature& f : kFeatures)
    if (landlock_version() < f.version) out.emplace_back(f.missing);
  return out;
}

}  // namespace passnet::guard
