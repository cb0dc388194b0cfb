// MCP over stdin and stdout: a message a line, nothing else on stdout.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <list>
#include <system_error>
#include <thread>

#include "serve/mcp.h"

namespace passnet::serve {

namespace {

constexpr std::size_t kLineMost = std::size_t{16} << 20;
constexpr std::size_t kCallsAtOnce = 16;
constexpr int kSliceMs = 200;

class Stdio {
 public:
  Stdio(McpServer& server, const std::function<bool()>& stop) : server_(server), stop_(stop) {}

  void run() {
    std::string line;
    bool too_long = false;
    char block[1 << 16];
    while (!stop_()) {
      pollfd p{STDIN_FILENO, POLLIN, 0};
      if (::poll(&p, 1, kSliceMs) <= 0) continue;
      const ssize_t n = ::read(STDIN_FILENO, block, sizeof block);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      for (ssize_t i = 0; i < n; ++i) {
        if (block[i] != '\n') {
          too_long = too_long || line.size() >= kLineMost;
          if (!too_long) line += block[i];
          continue;
        }
        if (too_long)
          write(McpServer::error(nullptr, kInvalidRequest, "a message over 16 MiB"));
        else
          take(line);
        line.clear();
        too_long = false;
      }
    }
    ended_ = true;  // calls in flight have nobody to hear them
    for (Call& c : calls_) c.thread.join();
  }

 private:
  struct Call {
    Json id;
    std::thread thread;
    std::atomic<bool> cancelled = false, done = false;
  };

  void write(const Json& message) {
    const std::string text = json_text(message) + "\n";
    const std::lock_guard hold(mutex_);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }

  void take(const std::string& line) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) return;
    const Json message = json_read(line);
    if (message.is_discarded()) return write(McpServer::error(nullptr, kParseError, "Parse error"));
    if (!message.is_array()) return one(message);
    if (message.empty()) return write(McpServer::error(nullptr, kInvalidRequest, "an empty batch"));
    Json answers = Json::array();  // a batch of revision 2025-03-26: answered together
    for (const Json& item : message)
      if (auto answer = server_.handle(item, &home_, nullptr, [this] { return ended_.load(); }))
        answers.push_back(std::move(*answer));
    if (!answers.empty()) write(answers);
  }

  void one(const Json& message) {
    for (auto c = calls_.begin(); c != calls_.end();)
      if (c->done) {
        c->thread.join();
        c = calls_.erase(c);
      } else {
        ++c;
      }
    const std::string method = message.is_object() && message.contains("method") && message["method"].is_string()
                                   ? message["method"].get<std::string>()
                                   : "";
    if (method == "notifications/cancelled" && message.contains("params") && message["params"].is_object())
      for (Call& c : calls_)
        if (message["params"].contains("requestId") && c.id == message["params"]["requestId"]) c.cancelled = true;
    if (method != "tools/call" || calls_.size() >= kCallsAtOnce) {
      if (auto answer = server_.handle(message, &home_, nullptr, [this] { return ended_.load(); })) write(*answer);
      return;
    }
    open_home(message);
    Call& call = calls_.emplace_back();  // a ping is answered while a tool works
    call.id = message.contains("id") ? message["id"] : Json(nullptr);
    const auto work = [this, &call, message, home = home_]() mutable {  // what is home now: it may change meanwhile
      auto answer = server_.handle(message, &home, nullptr, [this, &call] { return ended_ || call.cancelled; });
      if (answer && !call.cancelled && !ended_) write(*answer);
      call.done = true;
    };
    try {
      call.thread = std::thread(work);
    } catch (const std::system_error&) {  // no thread to be had: the next message waits
      calls_.pop_back();
      if (auto answer = server_.handle(message, &home_, nullptr, [this] { return ended_.load(); })) write(*answer);
    }
  }

  // Opened here, by one thread, so that calls at once do not each open their own.
  void open_home(const Json& message) {
    if (!McpServer::needs_home(message) || (!home_.empty() && server_.pool().find(home_) != nullptr)) return;
    if (auto work = server_.pool().open("")) home_ = (*work)->handle();
  }

  McpServer& server_;
  const std::function<bool()>& stop_;
  std::string home_;
  std::list<Call> calls_;
  std::atomic<bool> ended_ = false;
  std::mutex mutex_;
};

}  // namespace

void mcp_serve_stdio(McpServer& server, const std::function<bool()>& stop) { Stdio(server, stop).run(); }

}  // namespace passnet::serve
