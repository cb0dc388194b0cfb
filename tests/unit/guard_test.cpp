// Workers: messages, deaths, limits, and that nothing is left running, whoever is killed.
#include "guard/worker.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <random>
#include <thread>

#include "base/process.h"
#include "guard/protocol.h"

namespace passnet::guard {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::unique_ptr<Template> start(Job job) { return template_start({}, std::move(job)).take(); }

std::unique_ptr<Worker> worker_of(Template& t, const Limits& limits = {}) { return t.fork(limits).take(); }

// Beyond the limit a job gets std::bad_alloc; the address sanitizer's allocator ends the process instead.
bool out_of_memory(const Result<std::string>& result) {
  if (kAddressSanitizer && !result && result.error().code == Code::io) return true;
  return !result && result.error().message == "out of memory";
}

// Runs and is no zombie.
bool runs(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  std::FILE* file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return false;
  char text[512] = {};
  const std::size_t n = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  const char* after = n > 0 ? std::strrchr(text, ')') : nullptr;
  return after != nullptr && after[2] != 'Z' && after[2] != 'X';
}

bool ends(pid_t pid, double seconds = 5) {
  const auto begin = Clock::now();
  while (runs(pid)) {
    if (seconds_since(begin) > seconds) return false;
    ::usleep(1000);
  }
  return true;
}

int open_files() {
  int n = 0;
  DIR* folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) ++n;
  ::closedir(folder);
  return n;
}

// Children that try to get away, in this order: one in the worker's group, one whose parent is gone, one in a session
// of its own.
std::string make_strays() {
  std::string pids(3 * sizeof(pid_t), 0);
  for (std::size_t i = 0; i < 3; ++i) {
    int p[2];
    if (::pipe(p) != 0) return "";
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(3);  // the channel, as exec would
      if (i == 1 && ::fork() != 0) ::_exit(0);
      if (i == 2) ::setsid();
      const pid_t self = ::getpid();
      if (::write(p[1], &self, sizeof self) != sizeof self) ::_exit(1);
      while (true) ::pause();
    }
    if (::read(p[0], &pids[i * sizeof(pid_t)], sizeof(pid_t)) != sizeof(pid_t)) return "";
    if (i == 1) ::waitpid(child, nullptr, 0);
  }
  return pids;
}

std::vector<pid_t> pids_from(const std::string& bytes) {
  std::vector<pid_t> out(bytes.size() / sizeof(pid_t));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(pid_t));
  return out;
}

TEST(Guard, FrameHeaders) {
  const auto text = [](auto change) {
    FrameHeader h;
    change(h);
    return std::string(frame_valid(h));
  };
  EXPECT_EQ(text([](FrameHeader& h) { h.length = kMaxMessage; }), "");
  EXPECT_EQ(text([](FrameHeader& h) { h.length = kMaxMessage + 1; }), "a message over the limit");
  EXPECT_EQ(text([](FrameHeader& h) { h.magic = 1; }), "not a frame");
  EXPECT_EQ(text([](FrameHeader& h) { h.version = kProtocolVersion + 1; }), "a frame of another version");
  EXPECT_EQ(text([](FrameHeader& h) { h.kind = FrameKind{99}; }), "a frame of unknown kind");
  EXPECT_EQ(text([](FrameHeader& h) { h.kind = FrameKind::ready, h.length = 1; }), "a ready frame with a body");
  EXPECT_EQ(text([](FrameHeader& h) { h.kind = FrameKind::stage, h.length = kMaxText + 1; }), "a text over the limit");
}

TEST(Guard, Echo) {
  const auto t = start([](Channel& c) {
    while (auto m = c.receive(10)) c.send(*m + "!");
  });
  for (int i = 0; i < 3; ++i) {  // a worker each
    auto w = worker_of(*t);
    for (const std::string& text : {std::string("a"), std::string(), std::string(5 << 20, 'x')}) {
      ASSERT_TRUE(w->channel().send(text));
      EXPECT_EQ(w->channel().receive(10).take(), text + "!");
    }
    EXPECT_FALSE(w->channel().send(std::string(kMaxMessage + 1, 'x')));
  }
}

TEST(Guard, LoadRunsOnceInTheTemplate) {
  static int loaded = 0;
  const auto t = template_start([] { ++loaded; },
                                [](Channel& c) { c.send(std::to_string(loaded) + " " + std::to_string(::getppid())); })
                     .take();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(worker_of(*t)->channel().receive(10).take(), "1 " + std::to_string(t->pid()));
  EXPECT_EQ(loaded, 0);  // here
}

TEST(Guard, LoadThatFails) {
  const auto environment = template_start([] { fail(Code::environment, "no libtorch here"); }, [](Channel&) {});
  ASSERT_FALSE(environment);
  EXPECT_EQ(environment.error().code, Code::environment);
  EXPECT_EQ(environment.error().message, "no libtorch here");
  EXPECT_EQ(template_start([] { throw std::runtime_error("odd"); }, [](Channel&) {}).error().message, "odd");
  EXPECT_EQ(template_start([] { std::abort(); }, [](Channel&) {}).error().code, Code::environment);
}

struct Ending {
  const char* name;
  void (*act)(Channel&);
  int signal, exit_code;
  const char* text;
};
const Ending kEndings[] = {
    {"return", [](Channel&) {}, 0, 0, "ended with exit code 0"},
    {"exit", [](Channel&) { ::_exit(7); }, 0, 7, "ended with exit code 7"},
    {"throw", [](Channel&) { throw std::runtime_error("no"); }, 0, 1, "ended with exit code 1"},
    {"segv", [](Channel&) { std::raise(SIGSEGV); }, SIGSEGV, 0, "killed by signal 11 (SIGSEGV)"},
    {"abort", [](Channel&) { std::signal(SIGABRT, SIG_DFL), std::abort(); }, SIGABRT, 0,
     "killed by signal 6 (SIGABRT)"},
    {"kill", [](Channel&) { ::kill(::getpid(), SIGKILL); }, SIGKILL, 0,
     "killed by signal 9 (SIGKILL): its CPU time was over, or memory ran out"},
};

TEST(Guard, Endings) {
  const auto t = start([](Channel& c) {
    const auto name = c.receive(10).take();
    c.stage("about to " + name);
    for (const Ending& e : kEndings)
      if (name == e.name) e.act(c);
  });
  for (const Ending& e : kEndings) {
    auto w = worker_of(*t);
    w->channel().send(e.name);
    const auto result = w->channel().receive(10);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, std::string(e.name) == "throw" ? Code::internal : Code::io) << e.name;
    EXPECT_EQ(w->channel().last_stage(), "about to " + std::string(e.name));
    EXPECT_TRUE(ends(w->pid()));  // what a job throws is sent while it still runs
    for (int again = 0; again < 2; ++again) {
      const Death d = w->kill();
      EXPECT_EQ(d.text, e.text);
      EXPECT_EQ(d.signal, e.signal);
      EXPECT_EQ(d.exit_code, e.exit_code);
      EXPECT_FALSE(d.by_us);
    }
  }
}

TEST(Guard, WhatAJobThrowsIsSaid) {
  const auto t = start([](Channel&) { fail(Code::kernel, "no such kernel"); });
  EXPECT_EQ(worker_of(*t)->channel().receive(10).error().message, "error[kernel]: no such kernel");
}

TEST(Guard, AHangIsKilled) {
  const auto t = start([](Channel&) {
    for (volatile unsigned spin = 0;;) spin = spin + 1;
  });
  auto w = worker_of(*t);
  const auto begin = Clock::now();
  EXPECT_EQ(w->channel().receive(0.1).error().code, Code::limit);
  const Death d = w->kill();
  EXPECT_TRUE(d.by_us);
  EXPECT_EQ(d.text, "killed by us");
  EXPECT_TRUE(ends(w->pid()));
  EXPECT_LT(seconds_since(begin), 2);
}

TEST(Guard, TimeOver) {  // though nobody asks
  const auto t = start([](Channel&) { ::pause(); });
  auto w = worker_of(*t, {.memory_bytes = 1 << 30, .seconds = 0.2});
  EXPECT_EQ(w->channel().receive(10).error().code, Code::io);
  const Death d = w->kill();
  EXPECT_TRUE(d.by_us);
  EXPECT_EQ(d.text, "killed, its time was over");
}

TEST(Guard, CpuTimeOver) {  // though the template is stopped
  const auto t = start([](Channel&) {
    for (volatile unsigned spin = 0;;) spin = spin + 1;
  });
  auto w = worker_of(*t, {.memory_bytes = 1 << 30, .seconds = 1});
  ::kill(t->pid(), SIGSTOP);
  EXPECT_TRUE(ends(w->pid(), 60));
  ::kill(t->pid(), SIGCONT);
}

TEST(Guard, MemoryIsLimited) {
  const auto t = start([](Channel& c) {
    std::vector<std::string> kept;
    c.receive(10).take();
    for (int i = 0; i < 64; ++i) kept.emplace_back(std::size_t{16} << 20, 'x');  // 1 GiB
    c.send("all there");
  });
  const auto run = [&](std::int64_t bytes) {
    auto w = worker_of(*t, {.memory_bytes = bytes, .seconds = 60});
    w->channel().send("go");
    return w->channel().receive(30);
  };
  EXPECT_EQ(run(std::int64_t{2} << 30).take(), "all there");
  EXPECT_TRUE(out_of_memory(run(std::int64_t{256} << 20)));
}

TEST(Guard, NoCoreFiles) {
  const auto t = start([](Channel& c) {
    rlimit r{};
    ::getrlimit(RLIMIT_CORE, &r);
    c.send(std::to_string(r.rlim_max));
  });
  EXPECT_EQ(worker_of(*t)->channel().receive(10).take(), "0");
}

TEST(Guard, StraysDieWithTheirWorker) {
  const auto t = start([](Channel& c) {
    c.send(make_strays());
    if (c.receive(10)) ::_exit(0);
  });
  for (const bool by_itself : {false, true}) {
    auto w = worker_of(*t), other = worker_of(*t);
    const auto strays = pids_from(w->channel().receive(10).take());
    const auto others = pids_from(other->channel().receive(10).take());
    ASSERT_EQ(strays.size(), 3U);
    for (const pid_t pid : strays) EXPECT_TRUE(runs(pid));
    if (by_itself)
      w->channel().send("end");
    else
      w->kill();
    for (const pid_t pid : strays) EXPECT_TRUE(ends(pid));
    EXPECT_TRUE(runs(other->pid()));  // others are left alone, and their children in a group of the same session
    EXPECT_TRUE(runs(others[0]));
  }
}

TEST(Guard, TheTemplateIsStartedAgain) {
  const auto t = start([](Channel& c) {
    c.send(make_strays());
    ::pause();
  });
  auto w = worker_of(*t);
  const auto strays = pids_from(w->channel().receive(10).take());
  const pid_t worker = w->pid();
  ::kill(t->pid(), SIGKILL);
  EXPECT_EQ(w->channel().receive(10).error().code, Code::io);
  const Death d = w->kill();
  EXPECT_TRUE(d.environment);
  EXPECT_TRUE(ends(worker));
  EXPECT_TRUE(ends(strays[0]));
  EXPECT_TRUE(ends(strays[1]));
  ::kill(strays[2], SIGKILL);  // nobody is left who would find it: docs/security.md
  auto again = worker_of(*t);
  EXPECT_EQ(t->restarts(), 1);
  EXPECT_EQ(again->channel().receive(10).take().size(), 3 * sizeof(pid_t));
}

TEST(Guard, NothingOutlivesMain) {
  int p[2];
  ASSERT_EQ(::pipe(p), 0);
  const pid_t main = ::fork();
  if (main == 0) {
    const auto t = start([](Channel& c) {
      c.send(make_strays());
      ::pause();
    });
    auto a = worker_of(*t), b = worker_of(*t);
    std::string pids = a->channel().receive(10).take() + b->channel().receive(10).take();
    for (const pid_t pid : {t->pid(), a->pid(), b->pid()}) pids.append(reinterpret_cast<const char*>(&pid), sizeof pid);
    if (::write(p[1], pids.data(), pids.size()) < 0) ::_exit(1);
    while (true) ::pause();
  }
  std::string bytes(9 * sizeof(pid_t), 0);
  ASSERT_EQ(::read(p[0], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ::kill(main, SIGKILL);
  ::waitpid(main, nullptr, 0);
  for (const pid_t pid : pids_from(bytes)) EXPECT_TRUE(ends(pid)) << pid;
  ::close(p[0]), ::close(p[1]);
}

TEST(Guard, ForgedFrames) {
  const auto t = start([](Channel& c) {
    const auto which = c.receive(10).take();
    FrameHeader h;
    if (which == "version") h.version = 7;
    if (which == "kind") h.kind = FrameKind{42};
    if (which == "ready") h.kind = FrameKind::ready;
    if (which == "huge") h.length = ~std::uint64_t{0};
    if (which == "short") h.length = kMaxMessage;  // promised, and never sent: no memory is taken for it
    if (::write(3, which == "text" ? "GARBAGE GARBAGE!" : reinterpret_cast<const char*>(&h), sizeof h) < 0) return;
  });
  for (const auto& [what, code] :
       {std::pair{"text", Code::integrity}, std::pair{"version", Code::integrity}, std::pair{"kind", Code::integrity},
        std::pair{"ready", Code::integrity}, std::pair{"huge", Code::integrity}, std::pair{"short", Code::io}}) {
    auto w = worker_of(*t);
    w->channel().send(what);
    const auto result = w->channel().receive(10);
    ASSERT_FALSE(result) << what;
    EXPECT_EQ(result.error().code, code) << what;
  }
}

TEST(Guard, StdoutIsMains) {  // what a worker prints does not mix with our results
  int p[2];
  ASSERT_EQ(::pipe(p), 0);
  std::fflush(stdout);
  const int kept = ::dup(1);
  ::dup2(p[1], 1);
  const auto t = start([](Channel& c) {
    if (::write(1, "", 0) < 0) return;
    char path[64] = {};
    if (::readlink("/proc/self/fd/1", path, sizeof path - 1) < 0) return;
    c.send(path);
  });
  const std::string seen = worker_of(*t)->channel().receive(10).take();
  ::dup2(kept, 1);
  char ours[64] = {};
  ASSERT_GT(::readlink("/proc/self/fd/2", ours, sizeof ours - 1), 0);
  EXPECT_EQ(seen, ours);
  ::close(kept), ::close(p[0]), ::close(p[1]);
}

// Workers killed at random moments by others, hangs and memory bombs in between: each has its own answer or death.
TEST(Guard, ManyDisturbedWorkers) {
  const auto t = start([](Channel& c) {
    const auto order = c.receive(10).take();
    if (order == "hang") ::pause();
    if (order == "bomb") {
      std::vector<std::string> kept;
      while (true) kept.emplace_back(std::size_t{8} << 20, 'x');
    }
    c.send(order);
  });
  const int files = open_files();
  std::mt19937 random(7);
  std::vector<pid_t> pids;
  int killed = 0, hung = 0, bombed = 0, right = 0;
  for (int i = 0; i < 300; ++i) {
    auto w = worker_of(*t, {.memory_bytes = 64 << 20, .seconds = 60});
    pids.push_back(w->pid());
    const int what = i % 6;
    const std::string order = what == 4 ? "hang" : what == 5 ? "bomb" : std::to_string(i);
    std::thread killer;
    if (what < 4)
      killer = std::thread([pid = w->pid(), wait = random() % 2000] {
        ::usleep(wait);
        ::kill(pid, SIGKILL);
      });
    w->channel().send(order);
    const auto result = w->channel().receive(order == "hang" ? 0.01 : 10);
    if (killer.joinable()) killer.join();
    const Death d = w->kill();
    if (result) {
      EXPECT_EQ(*result, order);
      ++right;
    } else if (order == "hang") {
      hung += result.error().code == Code::limit && d.by_us ? 1 : 0;
    } else if (order == "bomb") {
      bombed += out_of_memory(result) ? 1 : 0;
    } else {
      killed += d.signal == SIGKILL ? 1 : 0;
    }
  }
  EXPECT_EQ(hung, 50);
  EXPECT_EQ(bombed, 50);
  EXPECT_EQ(killed + right, 200);
  EXPECT_EQ(t->restarts(), 0);
  for (const pid_t pid : pids) EXPECT_FALSE(runs(pid));
  EXPECT_EQ(open_files(), files);
}

TEST(Guard, SeveralThreads) {
  const auto t = start([](Channel& c) { c.send(c.receive(10).take()); });
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 25; ++k) {
        auto w = worker_of(*t);
        const std::string text = std::to_string(i * 100 + k);
        w->channel().send(text);
        right += w->channel().receive(10).take() == text ? 1 : 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 100);
}

}  // namespace
}  // namespace passnet::guard
