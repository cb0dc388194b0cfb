// Main's side: starts the template, asks it for workers, hears of their ends.
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "base/process.h"
#include "guard/channel.h"
#include "guard/template_process.h"

namespace passnet::guard {

namespace {

constexpr double kLoadSeconds = 120, kReplySeconds = 30, kEndSeconds = 2;
constexpr int kStopMilliseconds = 10000;
constexpr int kTries = 3;  // to begin a worker

Error broken(std::string message) {
  return {Code::environment, {}, std::move(message), {"memory or processes may have run out on this machine"}};
}

Error no_socket() { return broken(fmt::format("cannot make a socket: {}", std::strerror(errno))); }

Death death_from(const Control& c) {
  Death out;
  if (WIFSIGNALED(c.status)) out.signal = WTERMSIG(c.status);
  if (WIFEXITED(c.status)) out.exit_code = WEXITSTATUS(c.status);
  out.by_us = out.signal == SIGKILL && (c.by_deadline != 0 || c.by_request != 0);  // else it was ending already
  if (out.by_us)
    out.text = c.by_deadline != 0 ? "killed, its time was over" : "killed by us";
  else if (out.signal == SIGKILL)
    out.text = fmt::format("killed by {}: its CPU time was over, or memory ran out", signal_text(out.signal));
  else if (out.signal != 0)
    out.text = fmt::format("killed by {}", signal_text(out.signal));
  else
    out.text = fmt::format("ended with exit code {}", out.exit_code);
  return out;
}

class ForkingTemplate : public Template {
 public:
  ForkingTemplate(std::function<void()> load, Job job) : load_(std::move(load)), job_(std::move(job)) {}
  ~ForkingTemplate() override { stop(); }

  std::optional<Error> start() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return no_socket();
    const pid_t self = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) template_main(ends[1], self, load_, job_);
    const int why = errno;
    ::close(ends[1]);
    control_ = ends[0];
    if (pid_ < 0) {
      stop();
      return broken(fmt::format("cannot fork: {}", std::strerror(why)));
    }
    const auto reply = receive(kLoadSeconds);
    if (reply && reply->kind == ControlKind::loaded) return std::nullopt;
    stop();
    if (!reply) return broken("the template of workers died while loading");
    return Error{reply->environment != 0 ? Code::environment : Code::internal, {}, reply->text, {}};
  }

  Result<std::unique_ptr<Worker>> fork(const Limits& limits) override {
    const std::lock_guard lock(mutex_);
    for (int tries = 1;; ++tries) {  // somebody may kill the template, or a worker before it has begun
      auto worker = try_fork(limits);
      if (worker || tries == kTries) return worker;
      if (alive()) continue;
      ++restarts_;
      if (auto error = start()) return std::move(*error);
    }
  }
  int pid() const override { return pid_; }
  int restarts() const override { return restarts_; }

  // `gone`: its channel is closed, so that it is ending by itself.
  Death end(std::uint64_t id, bool gone) {
    const std::lock_guard lock(mutex_);
    return end_locked(id, gone);
  }

 private:
  bool alive() const { return pid_ > 0; }

  Result<std::unique_ptr<Worker>> try_fork(const Limits& limits);

  Death end_locked(std::uint64_t id, bool gone) {
    Control c;
    c.kind = ControlKind::kill;
    c.id = id;
    c.seconds = gone ? kEndSeconds : 0;
    if (living_.contains(id) && !control_send(control_, c)) stop();
    while (living_.contains(id))
      if (!receive(kReplySeconds)) stop();
    if (const auto at = deaths_.find(id); at != deaths_.end()) return death_from(deaths_.extract(at).mapped());
    return {SIGKILL, 0, false, true, "killed: the template of workers was gone"};
  }

  // The next packet, none where the template is gone or silent. Reports of deaths are noted.
  std::optional<Control> receive(double seconds) {
    pollfd p{control_, POLLIN, 0};
    int ready = 0;
    do ready = ::poll(&p, 1, static_cast<int>(seconds * 1e3));
    while (ready < 0 && errno == EINTR);
    Control c;
    if (ready <= 0 || !control_receive(control_, c)) return std::nullopt;
    if (c.kind == ControlKind::died && living_.erase(c.id) != 0) deaths_[c.id] = c;
    return c;
  }
  std::optional<Control> reply(double seconds) {
    auto c = receive(seconds);
    while (c && c->kind == ControlKind::died) c = receive(seconds);
    return c;
  }

  // Ends the template where it lives, and every worker with all they started. Safe to call twice.
  void stop() {
    if (control_ >= 0) ::close(control_);  // it sees this and ends, workers first
    control_ = -1;
    if (pid_ > 0) {
      for (int i = 0; i < kStopMilliseconds && ::waitpid(pid_, nullptr, WNOHANG) == 0; ++i) {
        ::usleep(1000);
        if (i + 1 == kStopMilliseconds) {
          ::kill(pid_, SIGKILL);
          ::waitpid(pid_, nullptr, 0);
        }
      }
    }
    pid_ = -1;
    for (const auto& [id, worker] : living_) session_kill(worker);  // of a template that was killed
    living_.clear();
  }

  std::function<void()> load_;
  Job job_;
  std::mutex mutex_;
  pid_t pid_ = -1;
  int control_ = -1;
  int restarts_ = 0;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, pid_t> living_;    // as far as we have heard
  std::map<std::uint64_t, Control> deaths_;  // nobody has asked for yet
};

class ForkedWorker : public Worker {
 public:
  ForkedWorker(ForkingTemplate& home, std::uint64_t id, int pid, std::unique_ptr<Channel> channel)
      : home_(home), id_(id), pid_(pid), channel_(std::move(channel)) {}
  ~ForkedWorker() override { ForkedWorker::kill(); }
  Channel& channel() override { return *channel_; }
  int pid() const override { return pid_; }
  Death kill() override {
    if (!death_) death_ = home_.end(id_, channel_->gone());
    return *death_;
  }

 private:
  ForkingTemplate& home_;
  std::uint64_t id_;
  int pid_;
  std::unique_ptr<Channel> channel_;
  std::optional<Death> death_;
};

Result<std::unique_ptr<Worker>> ForkingTemplate::try_fork(const Limits& limits) {
  if (!alive()) return broken("the template of workers is gone");
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return no_socket();
  auto channel = std::make_unique<Channel>(ends[0]);
  Control c;
  c.kind = ControlKind::fork;
  c.id = ++last_id_;
  c.memory_bytes = limits.memory_bytes;
  c.seconds = limits.seconds;
  const bool sent = control_send(control_, c, ends[1]);
  ::close(ends[1]);
  const auto answer = sent ? reply(kReplySeconds) : std::nullopt;
  if (!answer) {
    stop();
    return broken("the template of workers died");
  }
  if (answer->kind != ControlKind::forked)
    return broken(fmt::format("cannot fork a worker: {}", std::strerror(answer->status)));
  living_[c.id] = answer->pid;
  const Result<Frame> first = ChannelFrames::receive(*channel, kReplySeconds);
  if (first && first->kind == FrameKind::ready)
    return std::unique_ptr<Worker>(std::make_unique<ForkedWorker>(*this, c.id, answer->pid, std::move(channel)));
  const Death death = end_locked(c.id, channel->gone());
  return broken(
      fmt::format("a worker could not begin: {}; {}", first ? first->body : first.error().message, death.text));
}

}  // namespace

Result<std::unique_ptr<Template>> template_start(std::function<void()> load, Job job) {
  auto out = std::make_unique<ForkingTemplate>(std::move(load), std::move(job));
  if (auto error = out->start()) return std::move(*error);
  return std::unique_ptr<Template>(std::move(out));
}

}  // namespace passnet::guard
