#include "guard/seal.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "guard/seal_layers.h"

namespace passnet::guard {

namespace {

constexpr SealRule kRules[] = {
    {SealLayer::landlock, "landlock-write", "writing, making, removing and moving files", "EACCES",
     "reading, writing and controlling /dev/nvidia*"},
    {SealLayer::landlock, "landlock-read", "reading files that are not listed", "EACCES",
     "reading /sys and /proc/driver/nvidia"},
    {SealLayer::landlock, "landlock-execute", "starting programs", "EACCES", ""},
    {SealLayer::landlock, "landlock-network", "TCP connections, both ways", "EACCES", ""},
    {SealLayer::landlock, "landlock-signal", "signals and abstract sockets to processes outside", "EPERM", ""},
    {SealLayer::seccomp, "open-write", "opening any file for writing",
     "EACCES: libraries try logs and caches, and go on",
     "opening what exists, which landlock-write leaves to devices of the GPU"},
    {SealLayer::seccomp, "file-change", "names, modes, owners, sizes and times of files; the current folder",
     "EPERM: as above", ""},
    {SealLayer::seccomp, "process", "processes; threads are started as before",
     "EPERM: libraries may try a helper program; clone3 is not there, libc then takes clone", ""},
    {SealLayer::seccomp, "exec", "other programs", "EPERM: as above", ""},
    {SealLayer::seccomp, "signal", "signals to others", "EPERM: a wrong pid is no proof of an attack", ""},
    {SealLayer::seccomp, "shared-memory", "memory that the limit does not count", "EPERM: allocators have a way around",
     "shared mappings: how the driver reaches devices and pinned memory"},
    {SealLayer::seccomp, "prctl", "outliving the template, other filters",
     "ENOSYS: libraries ask for what may not be there", ""},
    {SealLayer::seccomp, "limits", "raising a limit", "EPERM: libraries try a larger stack", ""},
    {SealLayer::seccomp, "session", "leaving the group that is killed", "EPERM", ""},
    {SealLayer::seccomp, "identity", "other users, groups, capabilities, namespaces", "EPERM", ""},
    {SealLayer::seccomp, "priority", "taking the machine from others", "EPERM: thread libraries try it", ""},
    {SealLayer::seccomp, "network", "sockets of any kind; the channel stays", "EPERM: libraries look for daemons", ""},
    {SealLayer::seccomp, "ioctl", "devices, typing at the terminal, signals by fcntl",
     "ENOSYS; asking whether it is a terminal works", "the requests of NVIDIA's drivers"},
    {SealLayer::seccomp, "spy", "other processes' memory and files, performance counters",
     "killed: only an attack does it", ""},
    {SealLayer::seccomp, "kernel", "bpf, io_uring, modules, keys, reboot",
     "killed: io_uring would pass by all other rules", ""},
    {SealLayer::seccomp, "mount", "mounts, files by handle", "killed", ""},
    {SealLayer::seccomp, "clock", "setting the clock", "killed: timings hang on it", ""},
    {SealLayer::seccomp, "other-calls", "every other system call, also of kernels to come",
     "ENOSYS: what libraries expect of an older kernel", ""},
    {SealLayer::process, "file-size", "writing to files that were open before", "EFBIG", ""},
    {SealLayer::process, "open-files", "more than 256 open files", "EMFILE", "4096 files"},
    {SealLayer::process, "capabilities", "what root may do and others may not", "as for anybody", ""},
};

constexpr rlim_t kOpenFiles = 256, kOpenFilesCuda = 4096;  // the driver keeps one a mapping

void limit(decltype(RLIMIT_AS) what, rlim_t value) {
  rlimit r{};
  ::getrlimit(what, &r);
  r.rlim_cur = r.rlim_max = std::min(r.rlim_max, value);
  ::setrlimit(what, &r);
}

// What a thread has to do for itself. System calls only: it runs in a signal handler of threads that do other things.
struct ThreadSeal {
  int ruleset = -1;
  bool drop_capabilities = false;
  std::atomic<int> done = 0, failed = 0;

  void apply() {
    bool good = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    if (ruleset >= 0) good &= landlock_restrict(ruleset) == 0;
    if (drop_capabilities) {
      __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
      __user_cap_data_struct none[2] = {};
      good &= ::syscall(SYS_capset, &header, none) == 0;
    }
    if (!good) ++failed;
    ++done;
  }
};
std::atomic<ThreadSeal*> thread_seal = nullptr;

void on_signal(int /*signal*/) {
  const int kept = errno;
  if (ThreadSeal* s = thread_seal) s->apply();
  errno = kept;
}

std::set<pid_t> other_threads() {
  std::set<pid_t> out;
  DIR* folder = ::opendir("/proc/self/task");
  if (folder == nullptr) return out;
  while (const dirent* entry = ::readdir(folder))
    if (const int tid = std::atoi(entry->d_name); tid > 0 && tid != ::gettid()) out.insert(tid);
  ::closedir(folder);
  return out;
}

// Whether a thread sleeps and blocks a signal for good: such a one would die of it later, when it no longer does. A
// thread that is just starting blocks all of them too, but has work to do.
bool is_deaf(pid_t tid, int signal) {
  constexpr int kAsleep = 20, kPatience = 2000;  // milliseconds
  const std::string path = fmt::format("/proc/self/task/{}/status", tid);
  for (int i = 0, asleep = 0; asleep < kAsleep && i < kPatience; ++i) {
    std::FILE* file = std::fopen(path.c_str(), "re");
    if (file == nullptr) return false;
    char line[256], state = 0;
    unsigned long long blocked = 0;
    while (std::fgets(line, sizeof line, file) != nullptr) {
      // NOLINTNEXTLINE(cert-err34-c): the kernel's
      if (std::sscanf(line, "State: %c", &state) == 1 || std::sscanf(line, "SigBlk: %llx", &blocked) != 1) continue;
      break;
    }
    std::fclose(file);
    if ((blocked >> (signal - 1) & 1) == 0) return false;
    asleep = state == 'S' ? asleep + 1 : 0;
    ::usleep(1000);
  }
  return true;
}

// Landlock and capabilities belong to threads, and torch's may run already: each is made to seal itself. False: one
// did not answer. Where `deaf` is given, threads that take no signals, as those of CUDA's driver, are counted there.
bool seal_threads(ThreadSeal& s, int* deaf) {
  s.apply();
  std::set<pid_t> asked;
  thread_seal = &s;
  struct sigaction action {
  }, before{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  const int signal = SIGRTMAX - 1;
  ::sigaction(signal, &action, &before);
  bool good = true;
  for (bool more = true; more && good;) {  // a thread may have started another before it was asked
    more = false;
    for (const pid_t tid : other_threads()) {
      if (!asked.insert(tid).second) continue;
      more = true;
      if (deaf != nullptr && is_deaf(tid, signal)) {
        ++*deaf;
        continue;
      }
      const int want = s.done + 1;
      if (::syscall(SYS_tgkill, ::getpid(), tid, signal) != 0) continue;  // it has ended
      for (int i = 0; s.done < want && i < 5000; ++i) ::usleep(i < 100 ? 20 : 1000);
      good &= s.done >= want || !other_threads().contains(tid);
    }
  }
  ::sigaction(signal, &before, nullptr);
  thread_seal = nullptr;
  return good && s.failed == 0;
}

}  // namespace

std::span<const SealRule> seal_rules() { return kRules; }

std::vector<std::string> missing_features() {
  std::vector<std::string> out = landlock_missing();
  for (std::string& line : seccomp_missing()) out.push_back(std::move(line));
  return out;
}

namespace {

RuleOn rules_of(const SealOptions& options) {
  return [&](std::string_view rule) {
    return std::find(options.without.begin(), options.without.end(), rule) == options.without.end();
  };
}

}  // namespace

void prepare_seal(const SealOptions& options) { seccomp_prepare(options, rules_of(options)); }

std::vector<std::string> seal(const SealOptions& options) {
  std::vector<std::string> missing = missing_features();
  const RuleOn on = rules_of(options);
  if (on("file-size")) {
    std::signal(SIGXFSZ, SIG_IGN);  // a warning of libtorch to stderr must not end us where that is a file
    limit(RLIMIT_FSIZE, 0);
  }
  if (on("open-files")) limit(RLIMIT_NOFILE, options.cuda ? kOpenFilesCuda : kOpenFiles);
  ThreadSeal threads;
  threads.ruleset = landlock_ruleset(options, on);
  threads.drop_capabilities = on("capabilities");
  int deaf = 0;
  if (!seal_threads(threads, options.cuda ? &deaf : nullptr))
    missing.emplace_back("landlock: a thread could not be sealed");
  if (deaf > 0) missing.push_back(fmt::format("landlock: {} of the driver's threads cannot be sealed", deaf));
  if (options.cuda && threads.ruleset < 0)
    missing.emplace_back(
        "seccomp: files can be opened for writing, which the GPU's driver needs and Landlock confines");
  if (threads.ruleset >= 0) ::close(threads.ruleset);
  if (auto error = seccomp_seal(options, on)) missing.push_back(std::move(*error));
  return missing;
}

}  // namespace passnet::guard
