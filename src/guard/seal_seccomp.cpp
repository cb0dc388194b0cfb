// System calls: those that computing needs are allowed, anything else does not exist (ENOSYS, for which libraries have
// a way around, also for calls that kernels and C libraries to come may add). Two kinds of rows stand out: calls that
// an innocent library may try get the error it expects there; calls that only an attack makes end the process, so that
// the attack is seen.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "guard/seal_layers.h"

namespace passnet::guard {

namespace {

constexpr std::uint32_t kSelf = 0x7e110000;  // stands for the sealed process's number; no process has it

constexpr const char* kAllowed[] = {
    // bytes
    "read", "readv", "pread64", "preadv", "write", "writev", "close", "close_range", "lseek", "dup", "dup2", "dup3",
    "poll", "ppoll", "select", "pselect6", "pipe", "pipe2", "eventfd2", "recvfrom", "shutdown", "fadvise64",
    // looking at files
    "stat", "fstat", "lstat", "newfstatat", "fstatat64", "statx", "access", "faccessat", "faccessat2", "readlink",
    "readlinkat", "getcwd", "getdents64", "statfs", "fstatfs",
    // memory
    "munmap", "mremap", "mprotect", "madvise", "brk", "mincore", "msync", "mbind", "get_mempolicy", "set_mempolicy",
    "pkey_alloc", "pkey_free", "pkey_mprotect", "membarrier",
    // threads
    "futex", "futex_waitv", "set_robust_list", "get_robust_list", "rseq", "set_tid_address", "sched_yield",
    "sched_getaffinity", "sched_getparam", "sched_getscheduler", "sched_get_priority_max", "sched_get_priority_min",
    "getcpu", "gettid", "exit", "exit_group", "arch_prctl",
    // signals of its own
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigtimedwait", "rt_sigsuspend",
    "sigaltstack", "restart_syscall", "pause", "wait4", "waitid",
    // time and facts
    "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time", "times", "getrusage",
    "timer_create", "timer_settime", "timer_delete", "getpid", "getppid", "getuid", "geteuid", "getgid", "getegid",
    "getgroups", "getpgrp", "getpgid", "getsid", "getpriority", "getrlimit", "sysinfo", "uname", "getrandom"};

using Compare = scmp_arg_cmp;
constexpr scmp_datum_t kAnyBits = ~scmp_datum_t{0};

Compare equals(unsigned argument, scmp_datum_t value) { return {argument, SCMP_CMP_MASKED_EQ, kAnyBits, value}; }
Compare differs(unsigned argument, scmp_datum_t value) { return {argument, SCMP_CMP_NE, value, 0}; }
Compare masked(unsigned argument, scmp_datum_t mask, scmp_datum_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

class Filter {
 public:
  Filter(const RuleOn& on, bool cuda)
      : cuda_(cuda), on_(on), context_(::seccomp_init(on("other-calls") ? SCMP_ACT_ERRNO(ENOSYS) : kAllow)) {
    if (!on("other-calls")) default_allows_ = true;
  }
  ~Filter() { ::seccomp_release(context_); }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  // `name` may not exist on this architecture, or in this libseccomp; then it is refused as an unknown call is.
  void row(std::uint32_t action, const char* name, std::initializer_list<Compare> compares = {}) {
    if (default_allows_ && action == kAllow) return;
    const int number = ::seccomp_syscall_resolve_name(name);
    if (number < 0 || context_ == nullptr) return;
    const int code =
        ::seccomp_rule_add_array(context_, action, number, static_cast<unsigned>(compares.size()), std::data(compares));
    if (code < 0 && failed_.empty()) failed_ = fmt::format("{}: {}", name, std::strerror(-code));
  }
  // All of `names` under one rule; allowed where it is off.
  void rule(std::string_view name, std::uint32_t action, std::initializer_list<const char*> names) {
    for (const char* call : names) row(on_(name) ? action : kAllow, call);
  }
  bool on(std::string_view rule) const { return on_(rule); }
  bool cuda() const { return cuda_; }

  // What the kernel takes; nothing with `why`.
  std::vector<sock_filter> program(std::string& why) const {
    const auto failed = [&](int code) { why = fmt::format("cannot be built: {}", std::strerror(code)); };
    if (context_ == nullptr) return why = "out of memory", std::vector<sock_filter>();
    if (!failed_.empty()) return why = failed_, std::vector<sock_filter>();
    int ends[2];  // a pipe, since files may not grow any more; a filter is far smaller than what one holds
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return failed(errno), std::vector<sock_filter>();
    const int code = ::seccomp_export_bpf(context_, ends[1]);
    std::vector<sock_filter> out(BPF_MAXINSNS);
    const ssize_t bytes = ::read(ends[0], out.data(), out.size() * sizeof(sock_filter));
    ::close(ends[0]);
    ::close(ends[1]);
    out.resize(bytes > 0 ? static_cast<std::size_t>(bytes) / sizeof(sock_filter) : 0);
    if (code >= 0 && !out.empty()) return out;
    return failed(code < 0 ? -code : EIO), std::vector<sock_filter>();
  }

  static constexpr std::uint32_t kAllow = SCMP_ACT_ALLOW, kRefuse = SCMP_ACT_ERRNO(EPERM),
                                 kKill = SCMP_ACT_KILL_PROCESS;

 private:
  const bool cuda_;
  const RuleOn& on_;
  scmp_filter_ctx context_;
  bool default_allows_ = false;
  std::string failed_;
};

constexpr std::uint32_t kAllow = Filter::kAllow, kRefuse = Filter::kRefuse, kKill = Filter::kKill;

// Opening is for reading only; which files is Landlock's to say. CUDA's driver opens its devices to write to them,
// again and again.
void open_rule(Filter& f) {
  constexpr scmp_datum_t kMaking[] = {O_CREAT, O_TRUNC, O_TMPFILE & ~O_DIRECTORY};
  constexpr scmp_datum_t kWriting[] = {O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_TMPFILE & ~O_DIRECTORY};
  const std::span<const scmp_datum_t> refused = f.cuda() ? std::span(kMaking) : std::span<const scmp_datum_t>(kWriting);
  for (const auto& [name, argument] : {std::pair{"open", 1U}, std::pair{"openat", 2U}}) {
    if (!f.on("open-write")) {
      f.row(kAllow, name);
      continue;
    }
    scmp_datum_t all = 0;
    for (const scmp_datum_t flag : refused) {
      all |= flag;
      f.row(SCMP_ACT_ERRNO(EACCES), name, {masked(argument, flag, flag)});
    }
    f.row(kAllow, name, {masked(argument, all, 0)});
  }
}

// Threads, no processes. clone3 has its flags in memory, where a filter cannot look: "not there", and libc takes clone.
void process_rule(Filter& f) {
  constexpr scmp_datum_t kNamespaces =
      CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;
  f.rule("process", kRefuse, {"fork", "vfork"});
  if (f.on("process")) {
    f.row(kAllow, "clone", {masked(0, CLONE_THREAD | kNamespaces, CLONE_THREAD)});
    f.row(kRefuse, "clone", {masked(0, CLONE_THREAD, 0)});
  } else {
    f.row(kAllow, "clone");
  }
  f.rule("exec", kRefuse, {"execve", "execveat"});
}

// Signals to itself only: abort and raise need them.
void signal_rule(Filter& f) {
  const scmp_datum_t self = kSelf;
  for (const char* name : {"kill", "tgkill"}) {
    if (!f.on("signal")) {
      f.row(kAllow, name);
      continue;
    }
    f.row(kAllow, name, {masked(0, 0xffffffff, self)});
    f.row(kRefuse, name, {differs(0, self)});
  }
  f.rule("signal", kRefuse, {"tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal"});
}

// Memory that RLIMIT_DATA does not count. On a GPU it is how the driver reaches devices and pinned memory.
void memory_rule(Filter& f) {
  if (f.on("shared-memory") && !f.cuda()) {
    // What is shared is a file that was opened to be read; what is made readable only can be made writable later.
    constexpr scmp_datum_t kKinds = MAP_TYPE | MAP_ANONYMOUS | MAP_GROWSDOWN;
    f.row(kAllow, "mmap", {masked(3, MAP_TYPE | MAP_GROWSDOWN, MAP_PRIVATE)});
    f.row(kAllow, "mmap", {masked(3, kKinds, MAP_SHARED), masked(2, PROT_WRITE, 0)});
    f.row(kRefuse, "mmap", {masked(3, kKinds, MAP_SHARED), masked(2, PROT_WRITE, PROT_WRITE)});
    f.row(kRefuse, "mmap", {masked(3, kKinds, MAP_SHARED | MAP_ANONYMOUS)});
    f.row(kRefuse, "mmap", {masked(3, MAP_GROWSDOWN, MAP_GROWSDOWN)});
  } else {
    f.row(kAllow, "mmap");
  }
  f.rule("shared-memory", kRefuse, {"memfd_create", "memfd_secret", "shmget", "shmat", "shmctl", "shmdt"});
}

// What a process may ask of itself, and no more.
void self_rule(Filter& f) {
  if (f.on("prctl")) {
    for (const int option : {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_GET_PDEATHSIG, PR_SET_VMA, PR_CAPBSET_READ})
      f.row(kAllow, "prctl", {equals(0, static_cast<scmp_datum_t>(option))});
  } else {
    f.row(kAllow, "prctl");
  }
  if (f.on("limits")) {
    f.row(kAllow, "prlimit64", {equals(2, 0)});
    f.row(kRefuse, "prlimit64", {differs(2, 0)});
  } else {
    f.row(kAllow, "prlimit64");
  }
  f.rule("limits", kRefuse, {"setrlimit"});
  f.rule("session", kRefuse, {"setsid", "setpgid"});
  f.rule("identity", kRefuse,
         {"setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setfsuid", "setfsgid", "setgroups",
          "capset", "unshare", "setns"});
  if (f.on("priority")) {  // of its own threads, each for itself
    f.row(kAllow, "sched_setaffinity", {masked(0, 0xffffffff, 0)});
    f.row(kRefuse, "sched_setaffinity", {differs(0, 0)});
  } else {
    f.row(kAllow, "sched_setaffinity");
  }
  f.rule("priority", kRefuse, {"sched_setscheduler", "sched_setattr", "sched_setparam", "setpriority", "ioprio_set"});
}

// The channel is a socket: receiving, and sending to where it is connected already, is all there is.
void network_rule(Filter& f) {
  f.rule("network", kRefuse,
         {"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "setsockopt", "getsockopt",
          "sendmsg", "sendmmsg", "recvmsg", "recvmmsg", "getsockname", "getpeername"});
  if (f.on("network")) {
    f.row(kAllow, "sendto", {equals(4, 0)});
    f.row(kRefuse, "sendto", {differs(4, 0)});
  } else {
    f.row(kAllow, "sendto");
  }
}

void device_rule(Filter& f) {
  for (const char* name : {"ioctl", "fcntl"})
    if (!f.on("ioctl")) f.row(kAllow, name);
  if (!f.on("ioctl")) return;
  for (const scmp_datum_t request : {scmp_datum_t{TCGETS}, scmp_datum_t{TIOCGWINSZ}, scmp_datum_t{FIONREAD}})
    f.row(kAllow, "ioctl", {masked(1, 0xffffffff, request)});  // is it a terminal?
  if (f.cuda()) {
    f.row(kAllow, "ioctl", {masked(1, 0xff00, 'F' << 8)});        // nvidiactl, nvidia0, ...
    f.row(kAllow, "ioctl", {masked(1, 0xffffff00, 0)});           // nvidia-uvm counts its requests from 1,
    f.row(kAllow, "ioctl", {masked(1, 0xffffff00, 0x30000000)});  // but for the first two
  }
  for (const int command : {F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD, F_DUPFD_CLOEXEC})
    f.row(kAllow, "fcntl", {equals(1, static_cast<scmp_datum_t>(command))});
}

void file_rule(Filter& f) {
  f.rule("file-change", kRefuse,
         {"unlink",    "unlinkat",    "rename",       "renameat",     "renameat2", "mkdir",     "mkdirat",  "rmdir",
          "link",      "linkat",      "symlink",      "symlinkat",    "mknod",     "mknodat",   "creat",    "truncate",
          "ftruncate", "fallocate",   "chmod",        "fchmod",       "fchmodat",  "fchmodat2", "chown",    "fchown",
          "lchown",    "fchownat",    "utime",        "utimes",       "utimensat", "futimesat", "setxattr", "lsetxattr",
          "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "chdir",     "fchdir",    "chroot"});
}

// Nothing that computes does this by chance: the process ends with SIGSYS.
void attack_rules(Filter& f) {
  f.rule("spy", kKill,
         {"ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "perf_event_open", "userfaultfd"});
  f.rule("kernel", kKill,
         {"bpf", "io_uring_setup", "io_uring_enter", "io_uring_register", "init_module", "finit_module",
          "delete_module", "kexec_load", "kexec_file_load", "reboot", "add_key", "request_key", "keyctl", "iopl",
          "ioperm", "quotactl", "acct", "swapon", "swapoff"});
  f.rule("mount", kKill,
         {"mount", "umount2", "pivot_root", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "mount_setattr",
          "open_by_handle_at", "name_to_handle_at"});
  f.rule("clock", kKill, {"clock_settime", "clock_adjtime", "settimeofday", "adjtimex", "stime"});
}

}  // namespace

namespace {

struct Prepared {
  std::string key;  // of the options
  std::vector<sock_filter> program;
};
Prepared& prepared() {
  static Prepared kept;
  return kept;
}

std::string key_of(const SealOptions& options) {
  std::string out = options.cuda ? "cuda" : "cpu";
  for (const std::string& rule : options.without) out += " " + rule;
  return out;
}

std::vector<sock_filter> build(const SealOptions& options, const RuleOn& on, std::string& why) {
  Filter f(on, options.cuda);
  for (const char* name : kAllowed) f.row(kAllow, name);
  open_rule(f);
  file_rule(f);
  process_rule(f);
  signal_rule(f);
  memory_rule(f);
  self_rule(f);
  network_rule(f);
  device_rule(f);
  attack_rules(f);
  return f.program(why);
}

}  // namespace

void seccomp_prepare(const SealOptions& options, const RuleOn& on) {
  std::string why;  // found again when it is needed
  prepared() = {key_of(options), build(options, on, why)};
}

std::optional<std::string> seccomp_seal(const SealOptions& options, const RuleOn& on) {
  std::string why;
  std::vector<sock_filter> program =
      prepared().key == key_of(options) ? prepared().program : std::vector<sock_filter>();
  if (program.empty()) program = build(options, on, why);
  if (program.empty()) return "seccomp: " + why;
  for (sock_filter& step : program)
    if (BPF_CLASS(step.code) == BPF_JMP && step.k == kSelf) step.k = static_cast<std::uint32_t>(::getpid());
  const sock_fprog whole{static_cast<unsigned short>(program.size()), program.data()};
  const bool loaded = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &whole) == 0;
  if (!loaded) return fmt::format("seccomp: cannot be loaded: {}", std::strerror(errno));
  return std::nullopt;
}

std::vector<std::string> seccomp_missing() {
  const std::uint32_t action = SECCOMP_RET_KILL_PROCESS;
  if (::prctl(PR_GET_SECCOMP) < 0) return {"seccomp: system calls are not filtered (the kernel lacks it)"};
  if (::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0)
    return {"seccomp: attacks end a thread only (Linux 4.14 has it)"};
  return {};
}

}  // namespace passnet::guard
