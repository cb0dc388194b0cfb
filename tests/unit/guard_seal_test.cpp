// Every rule of the seal has an attack here: it fails in a sealed worker, and succeeds where only that rule is off.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/text.h"
#include "guard/worker.h"

namespace passnet::guard {
namespace {

std::string scratch() {  // one for all tests, made by the first
  static const std::string folder = [] {
    char name[] = "/tmp/passnet_seal_XXXXXX";
    if (::mkdtemp(name) == nullptr) std::abort();
    std::ofstream(std::string(name) + "/there") << "text";
    std::ofstream(std::string(name) + "/foreign") << "text";
    ::chmod((std::string(name) + "/foreign").c_str(), 0600);
    if (::chown((std::string(name) + "/foreign").c_str(), 65534, 65534) != 0) errno = 0;  // only root can
    return std::string(name);
  }();
  return folder;
}
class RemoveScratch : public ::testing::Environment {
 public:
  void SetUp() override { scratch(); }
  void TearDown() override { std::filesystem::remove_all(scratch()); }
};
const auto* const kRemoveScratch = ::testing::AddGlobalTestEnvironment(new RemoveScratch);

int file_open_before = -1;

bool opens(const std::string& path, int flags) { return ::open(path.c_str(), flags, 0600) >= 0; }
bool reached_the_kernel(long result) { return result >= 0 || errno != ENOSYS; }
bool in_a_child(bool (*act)()) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(act() ? 1 : 0);
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 1;
}
bool runs_a_program() {  // the worker becomes it
  char* arguments[] = {const_cast<char*>("sh"), const_cast<char*>("-c"), const_cast<char*>("exit 42"), nullptr};
  ::execve("/bin/sh", arguments, arguments + 3);
  return false;
}

struct Attack {
  const char* rule;
  const char* beside;  // rules that stop the same thing, off in both runs
  bool (*act)();
};
const Attack kAttacks[] = {
    {"landlock-write", "open-write", [] { return opens(scratch() + "/made", O_WRONLY | O_CREAT); }},
    {"landlock-read", "", [] { return opens("/etc/passwd", O_RDONLY); }},
    {"landlock-execute", "exec landlock-read", runs_a_program},
    {"landlock-network", "network",
     [] {
       const int s = ::socket(AF_INET, SOCK_STREAM, 0);
       sockaddr_in any{};
       any.sin_family = AF_INET;
       any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
       return s >= 0 && ::bind(s, reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0;
     }},
    {"landlock-signal", "signal", [] { return ::kill(::getppid(), 0) == 0; }},
    {"open-write", "landlock-write", [] { return opens(scratch() + "/made", O_WRONLY | O_CREAT); }},
    {"file-change", "", [] { return ::chmod((scratch() + "/there").c_str(), 0644) == 0; }},
    {"process", "", [] { return in_a_child([] { return true; }); }},
    {"exec", "landlock-execute landlock-read", runs_a_program},
    {"signal", "landlock-signal", [] { return ::kill(::getppid(), 0) == 0; }},
    {"shared-memory", "",
     [] {
       const auto maps = [](int protection, int flags) {
         return ::mmap(nullptr, 4096, protection, flags | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
       };
       return maps(PROT_READ | PROT_WRITE, MAP_SHARED) || maps(PROT_READ, MAP_SHARED) ||
              maps(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_GROWSDOWN);
     }},
    {"prctl", "", [] { return ::prctl(PR_SET_PDEATHSIG, 0) == 0; }},
    {"limits", "",
     [] {
       rlimit r{};
       ::getrlimit(RLIMIT_CORE, &r);
       return ::setrlimit(RLIMIT_CORE, &r) == 0;
     }},
    {"session", "process", [] { return in_a_child([] { return ::setsid() > 0; }); }},
    {"identity", "", [] { return ::setuid(::getuid()) == 0; }},
    {"priority", "",
     [] {
       cpu_set_t cores;
       ::sched_getaffinity(0, sizeof cores, &cores);
       return ::setpriority(PRIO_PROCESS, 0, 19) == 0 || ::sched_setaffinity(::getppid(), sizeof cores, &cores) == 0;
     }},
    {"network", "",
     [] {
       int ends[2];
       return ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0;
     }},
    {"ioctl", "", [] { return ::ioctl(3, FIOCLEX) == 0; }},
    {"spy", "",
     [] {
       char from = 'x', to = 0;
       iovec ours{&to, 1}, theirs{&from, 1};
       return ::process_vm_readv(::getpid(), &ours, 1, &theirs, 1, 0) == 1;
     }},
    {"kernel", "", [] { return reached_the_kernel(::syscall(SYS_reboot, 0, 0, 0, nullptr)); }},  // no magic: no effect
    {"mount", "", [] { return reached_the_kernel(::syscall(SYS_umount2, nullptr, 0)); }},
    {"clock", "",
     [] {
       const timespec never{0, -1};  // refused, whoever asks
       return reached_the_kernel(::syscall(SYS_clock_settime, CLOCK_REALTIME, &never));
     }},
    {"other-calls", "", [] { return ::syscall(SYS_inotify_init1, 0) >= 0; }},
    {"file-size", "", [] { return ::write(file_open_before, "x", 1) == 1; }},
    {"open-files", "",
     [] {
       for (int i = 0; i < 400; ++i)
         if (::dup(2) < 0) return false;
       return true;
     }},
    {"capabilities", "", [] { return opens(scratch() + "/foreign", O_RDONLY); }},
};

// A request is "rule off off ..."; `cuda` among the rules that are off is a worker's on a GPU.
void attack(Channel& c) {
  const std::string request = c.receive(10).take();
  SealOptions options;
  options.readable = {scratch()};
  const auto words = text_split(request, ' ');
  for (std::size_t i = 1; i < words.size(); ++i) options.without.emplace_back(words[i]);
  options.cuda = std::erase(options.without, "cuda") > 0;
  file_open_before = ::open((scratch() + "/there").c_str(), O_WRONLY | O_APPEND);
  seal(options);
  for (const Attack& a : kAttacks)
    if (a.rule == words[0]) c.send(a.act() ? "done" : "refused");
}

std::string outcome(Template& t, const std::string& request) {
  auto w = t.fork({}).take();
  w->channel().send(request);
  if (auto message = w->channel().receive(20)) return *message;
  const Death d = w->kill();
  if (d.signal == SIGSYS) return "killed";
  return d.exit_code == 42 ? "done" : d.text;
}

TEST(Seal, EveryRuleHasAnAttack) {
  for (const SealRule& r : seal_rules()) {
    int n = 0;
    for (const Attack& a : kAttacks) n += a.rule == r.name ? 1 : 0;
    EXPECT_EQ(n, 1) << r.name;
  }
  EXPECT_EQ(std::size(kAttacks), seal_rules().size());
}

bool missing(std::string_view rule) {
  for (const std::string& line : missing_features()) {
    if (rule.starts_with("landlock-read") && line.starts_with("landlock: files outside")) return true;
    if (rule.starts_with("landlock-write") && line.starts_with("landlock: files outside")) return true;
    if (rule.starts_with("landlock-execute") && line.starts_with("landlock: files outside")) return true;
    if (rule == "landlock-network" && line.starts_with("landlock: TCP")) return true;
    if (rule == "landlock-signal" && line.starts_with("landlock: signals")) return true;
    if (!rule.starts_with("landlock") && line.starts_with("seccomp: system calls")) return true;
  }
  return rule == "capabilities" && ::geteuid() != 0;
}

void PrintTo(const Attack& a, std::ostream* out) { *out << a.rule; }
class SealRuleTest : public ::testing::TestWithParam<Attack> {};

TEST_P(SealRuleTest, IsNeeded) {
  const Attack& a = GetParam();
  if (missing(a.rule)) GTEST_SKIP() << "this machine cannot show it";
  // With all rules on, the filter is the one that was built before the fork.
  const auto t = template_start([] { prepare_seal({}); }, attack).take();
  const SealRule* rule = nullptr;
  for (const SealRule& r : seal_rules())
    if (r.name == a.rule) rule = &r;
  ASSERT_NE(rule, nullptr);
  const char* refused = rule->outcome.starts_with("killed") ? "killed" : "refused";
  EXPECT_EQ(outcome(*t, a.rule), refused);
  EXPECT_EQ(outcome(*t, std::string(a.rule) + " " + a.beside), refused);  // it alone is enough
  EXPECT_EQ(outcome(*t, std::string(a.rule) + " " + a.beside + " " + a.rule), "done");
}
INSTANTIATE_TEST_SUITE_P(Seal, SealRuleTest, ::testing::ValuesIn(kAttacks), [](const auto& row) {
  std::string name = row.param.rule;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// What NVIDIA's driver needs is all that a worker on a GPU has more.
TEST(Seal, OnAGpu) {
  const auto t = template_start({}, attack).take();
  for (const Attack& a : kAttacks) {
    if (missing(a.rule)) continue;
    const std::string_view rule = a.rule;
    const bool open = rule == "shared-memory" || rule == "open-files";
    const std::string got = outcome(*t, std::string(a.rule) + " cuda");
    EXPECT_EQ(got == "done", open) << a.rule << ": " << got;
  }
}

// The driver's threads block all signals; they are counted, and nobody waits for them.
TEST(Seal, ThreadsThatTakeNoSignals) {
  const auto t = template_start({}, [](Channel& c) {
                   std::atomic<bool> deaf = false;
                   std::thread thread([&] {
                     sigset_t all;
                     sigfillset(&all);
                     ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
                     deaf = true;
                     ::pause();
                   });
                   thread.detach();
                   while (!deaf) ::usleep(100);
                   SealOptions options;
                   options.cuda = true;
                   c.send(text_join(seal(options), "; "));
                 }).take();
  auto w = t->fork({}).take();
  const std::string lines = w->channel().receive(3).take();
  EXPECT_NE(lines.find("1 of the driver's threads cannot be sealed"), std::string::npos) << lines;
}

// What a worker still has to be able to do.
TEST(Seal, ComputingGoesOn) {
  const auto t = template_start({}, [](Channel& c) {
                   const auto lines = seal({{PASSNET_TEST_FOLDER}, false, {}});
                   c.send(std::to_string(lines.size()));
                   std::vector<std::string> words;
                   const std::string text(std::size_t{64} << 20, 'x');
                   std::atomic<int> sum = 0;
                   std::vector<std::thread> threads;
                   for (int i = 0; i < 4; ++i) threads.emplace_back([&] { sum += text[100] == 'x' ? 1 : 0; });
                   for (std::thread& thread : threads) thread.join();
                   words.push_back(std::to_string(sum));
                   timespec now{};
                   words.push_back(std::to_string(::clock_gettime(CLOCK_MONOTONIC, &now)));
                   void* library = ::dlopen(PASSNET_TEST_FOLDER "/guard_plugin.so", RTLD_NOW | RTLD_LOCAL);
                   const auto answer =
                       library == nullptr ? nullptr : reinterpret_cast<int (*)()>(::dlsym(library, "answer"));
                   words.push_back(answer == nullptr ? ::dlerror() : std::to_string(answer()));
                   words.push_back(std::ifstream("/proc/self/status") ? "status" : "no status");
                   c.send(text_join(words, " "));
                   c.send(c.receive(10).take());
                 }).take();
  auto w = t->fork({}).take();
  EXPECT_EQ(w->channel().receive(10).take(), std::to_string(missing_features().size()));
  EXPECT_EQ(w->channel().receive(10).take(), "4 0 42 status");
  w->channel().send("again");
  EXPECT_EQ(w->channel().receive(10).take(), "again");
}

TEST(Seal, AnUnlistedLibraryIsNotLoaded) {
  if (missing("landlock-read")) GTEST_SKIP();
  const auto t = template_start({}, [](Channel& c) {
                   seal({});
                   c.send(::dlopen(PASSNET_TEST_FOLDER "/guard_plugin.so", RTLD_NOW) == nullptr ? "no" : "yes");
                 }).take();
  EXPECT_EQ(t->fork({}).take()->channel().receive(10).take(), "no");
}

// Threads that run already are sealed too, in whatever call they wait.
TEST(Seal, RunningThreads) {
  if (missing("landlock-read")) GTEST_SKIP();
  const auto t = template_start({}, [](Channel& c) {
                   const std::string off = c.receive(10).take();
                   std::atomic<bool> go = false;
                   std::atomic<int> opened = 0, wrote = 0;
                   std::vector<std::thread> threads;
                   for (int i = 0; i < 8; ++i)
                     threads.emplace_back([&, i] {
                       while (!go)
                         if (i % 2 == 0) ::usleep(1000);
                       opened += opens("/etc/passwd", O_RDONLY) ? 1 : 0;
                       wrote += opens(scratch() + "/made", O_WRONLY | O_CREAT) ? 1 : 0;
                     });
                   SealOptions options;
                   if (off == "off") options.without = {"landlock-read", "landlock-write", "open-write"};
                   const auto lines = seal(options);
                   go = true;
                   for (std::thread& thread : threads) thread.join();
                   c.send(std::to_string(opened) + " " + std::to_string(wrote) + " " + text_join(lines, "; "));
                 }).take();
  for (const auto& [off, expected] : {std::pair{"on", "0 0 "}, std::pair{"off", "8 8 "}}) {
    auto w = t->fork({}).take();
    w->channel().send(off);
    EXPECT_EQ(w->channel().receive(20).take(), expected + text_join(missing_features(), "; "));
  }
}

}  // namespace
}  // namespace passnet::guard
