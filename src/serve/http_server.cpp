#include "serve/http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/text.h"
#include "serve/timed_socket.h"
#include "serve/websocket.h"

namespace passnet::serve {

namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using Clock = std::chrono::steady_clock;

// The socket as Beast's synchronous functions want it.
class Stream {
 public:
  explicit Stream(TimedSocket& socket) : socket_(socket) {}

  template <class Buffers>
  std::size_t read_some(const Buffers& buffers, beast::error_code& error) {
    error = {};
    for (auto at = boost::asio::buffer_sequence_begin(buffers); at != boost::asio::buffer_sequence_end(buffers); ++at) {
      const boost::asio::mutable_buffer buffer(*at);
      if (buffer.size() == 0) continue;
      const std::size_t n = socket_.read(static_cast<char*>(buffer.data()), buffer.size());
      if (n == 0) error = failure();
      return n;
    }
    return 0;
  }
  template <class Buffers>
  std::size_t write_some(const Buffers& buffers, beast::error_code& error) {
    error = {};
    for (auto at = boost::asio::buffer_sequence_begin(buffers); at != boost::asio::buffer_sequence_end(buffers); ++at) {
      const boost::asio::const_buffer buffer(*at);
      if (buffer.size() == 0) continue;
      const std::size_t n = socket_.write(static_cast<const char*>(buffer.data()), buffer.size());
      if (n == 0) error = failure();
      return n;
    }
    return 0;
  }
  // Those that throw are part of what Beast asks of a stream.
  template <class Buffers>
  std::size_t read_some(const Buffers& buffers) {
    beast::error_code error;
    const std::size_t n = read_some(buffers, error);
    if (error) throw beast::system_error(error);
    return n;
  }
  template <class Buffers>
  std::size_t write_some(const Buffers& buffers) {
    beast::error_code error;
    const std::size_t n = write_some(buffers, error);
    if (error) throw beast::system_error(error);
    return n;
  }

 private:
  static beast::error_code failure() {
    if (errno == 0) return boost::asio::error::eof;
    if (errno == ETIMEDOUT) return beast::error::timeout;
    return {errno, boost::system::system_category()};
  }

  TimedSocket& socket_;
};

Request request_from(const http::request<http::string_body>& message, Gone gone) {
  Request out;
  out.method = std::string(message.method_string().data(), message.method_string().size());
  const std::string target(message.target().data(), message.target().size());
  const std::size_t mark = target.find('?');
  out.path = target.substr(0, mark);
  if (mark != std::string::npos) out.query = target.substr(mark + 1);
  out.body = message.body();
  for (const auto& field : message)
    out.headers.emplace_back(text_lower({field.name_string().data(), field.name_string().size()}),
                             std::string(field.value().data(), field.value().size()));
  out.gone = std::move(gone);
  return out;
}

class BeastServer final : public Server {
 public:
  BeastServer(int fd, int port, const ServerOptions& options, Handle handle, Accept accept)
      : listener_(fd), port_(port), options_(options), handle_(std::move(handle)), accept_(std::move(accept)) {}
  ~BeastServer() override { ::close(listener_); }
  int port() const override { return port_; }

  void run(const std::function<bool()>& stop, const std::function<void()>& tick) override {
    const std::function<bool()> stopping = [&] { return stop() || stop_; };
    auto ticked = Clock::now();
    while (!stop()) {
      pollfd p{listener_, POLLIN, 0};
      const int ready = ::poll(&p, 1, kSliceMs);
      if (Clock::now() - ticked > std::chrono::seconds(1)) {
        join_ended();
        tick();
        ticked = Clock::now();
      }
      if (ready <= 0) continue;
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) {  // it stays in the queue where descriptors are short, and poll would not wait
        join_ended();
        std::this_thread::sleep_for(std::chrono::milliseconds(kSliceMs));
        continue;
      }
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      join_ended();
      const std::lock_guard hold(mutex_);
      Connection& c = connections_.emplace_back();
      const auto work = [this, fd, &c, &stopping](bool full) {
        TimedSocket socket(fd, stopping);
        try {
          if (full)
            send(socket, {503, R"({"error": "too many connections"})", "application/json", {}}, 11, false);
          else
            serve(socket);
        } catch (const std::exception& error) {  // one connection's trouble
          fmt::print(stderr, "a connection was closed: {}\n", error.what());
        } catch (const Failure& failure) {
          fmt::print(stderr, "a connection was closed: {}\n", error_line(failure.error));
        }
        c.ended = true;
      };
      try {
        c.thread = std::thread(work, connections_.size() > options_.connections);
      } catch (const std::system_error&) {  // no thread to be had: refused by this one
        work(true);
        connections_.pop_back();
      }
    }
    stop_ = true;
    for (Connection& c : connections_) c.thread.join();
    connections_.clear();
  }

 private:
  struct Connection {
    std::thread thread;
    std::atomic<bool> ended = false;
  };

  void join_ended() {
    const std::lock_guard hold(mutex_);
    for (auto c = connections_.begin(); c != connections_.end();)
      if (c->ended) {
        c->thread.join();
        c = connections_.erase(c);
      } else {
        ++c;
      }
  }

  bool send(TimedSocket& socket, const Reply& reply, unsigned version, bool keep) {
    http::response<http::string_body> out(static_cast<http::status>(reply.status), version);
    out.set(http::field::server, "passnet");
    if (!reply.body.empty()) out.set(http::field::content_type, reply.type);
    for (const auto& [name, value] : reply.headers) out.set(name, value);
    out.keep_alive(keep);
    out.body() = reply.body;
    out.prepare_payload();
    socket.within(options_.request_seconds);
    beast::error_code error;
    Stream stream(socket);
    http::write(stream, out, error);
    return !error;
  }

  void serve(TimedSocket& socket) {
    Stream stream(socket);
    beast::flat_buffer buffer;
    for (bool keep = true; keep;) {
      http::request_parser<http::string_body> parser;
      parser.body_limit(options_.body_limit);
      parser.header_limit(64 << 10);
      beast::error_code error;
      // Idle until the first byte; then all of it has to come soon.
      socket.within(options_.idle_seconds);
      if (buffer.size() == 0) {
        const std::size_t n = stream.read_some(buffer.prepare(4096), error);
        if (error) return;
        buffer.commit(n);
      }
      socket.within(options_.request_seconds);
      http::read(stream, buffer, parser, error);
      if (error) {
        if (error == http::error::end_of_stream || error == boost::asio::error::eof || error == beast::error::timeout)
          return;
        const int status = error == http::error::body_limit ? 413 : 400;
        send(socket, {status, fmt::format(R"({{"error": "{}"}})", error.message()), "application/json", {}}, 11, false);
        return;
      }
      const auto& message = parser.get();
      const Request request = request_from(message, [&socket] { return socket.gone(); });
      if (const std::string* upgrade = request.header("upgrade");
          upgrade != nullptr && text_lower(*upgrade) == "websocket")
        return upgraded(socket, request, message.version());
      keep = message.keep_alive();
      Reply reply;
      try {
        reply = handle_(request);
      } catch (const Failure& failure) {
        reply = {500, R"({"error": "the server cannot go on"})", "application/json", {}};
        fmt::print(stderr, "{}\n", error_line(failure.error));
      }
      if (!send(socket, reply, message.version(), keep)) return;
    }
  }

  void upgraded(TimedSocket& socket, const Request& request, unsigned version) {
    const std::string* key = request.header("sec-websocket-key");
    const std::string* revision = request.header("sec-websocket-version");
    const std::string accepted = key == nullptr || request.method != "GET" ? "" : websocket_accept(*key);
    if (accepted.empty() || revision == nullptr || *revision != "13") {
      send(socket, {426, "", "", {{"Sec-WebSocket-Version", "13"}}}, version, false);
      return;
    }
    const auto handler = accept_(request);
    if (!handler) {
      send(socket, {404, R"({"error": "no WebSocket here"})", "application/json", {}}, version, false);
      return;
    }
    socket.within(options_.request_seconds);
    if (socket.write_all(fmt::format("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                     "Sec-WebSocket-Accept: {}\r\n\r\n",
                                     accepted)))
      converse(socket, *handler);
  }

  // Each message is answered by a thread of its own, while this one answers pings and notices that the peer has gone.
  void converse(TimedSocket& socket, Socket& handler) {
    WebSocket ws(socket, options_.body_limit);
    const int done = ::eventfd(0, EFD_CLOEXEC);
    if (done < 0) return;
    socket.within(options_.idle_seconds);
    while (const auto message = ws.read()) {
      std::optional<std::string> answer;
      std::exception_ptr error;
      std::atomic<bool> gone = false;
      const auto work = [&] {
        try {
          answer = handler.message(*message, [&] { return gone || socket.stopping(); });
        } catch (...) {
          error = std::current_exception();
        }
        ::eventfd_write(done, 1);
      };
      std::thread thread;
      try {
        thread = std::thread(work);
      } catch (const std::system_error&) {  // no thread to be had: pings wait
        work();
      }
      gone = !ws.attend(done);
      if (thread.joinable()) thread.join();
      eventfd_t ignored = 0;
      ::eventfd_read(done, &ignored);
      if (error) fmt::print(stderr, "a message could not be answered\n");
      if (gone || error) break;
      socket.within(options_.request_seconds);
      if (!answer) ws.close(1000);
      if (!answer || !ws.write(*answer)) break;
      socket.within(options_.idle_seconds);
    }
    ::close(done);
  }

  const int listener_, port_;
  const ServerOptions options_;
  const Handle handle_;
  const Accept accept_;
  std::mutex mutex_;
  std::list<Connection> connections_;
  std::atomic<bool> stop_ = false;
};

}  // namespace

const std::string* Request::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return &value;
  return nullptr;
}

std::string Request::parameter(std::string_view name) const {
  std::string_view rest = query;
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    if (item.size() > name.size() && item.starts_with(name) && item[name.size()] == '=')
      return std::string(item.substr(name.size() + 1));
  }
  return "";
}

bool loopback_origin(const Request& request) {
  const auto loopback = [](std::string_view text) {
    if (const std::size_t scheme = text.find("://"); scheme != std::string_view::npos) text.remove_prefix(scheme + 3);
    if (text.starts_with("[::1]")) return true;
    const std::string_view host = text.substr(0, text.find(':'));
    return host == "localhost" || host == "127.0.0.1";
  };
  const std::string* origin = request.header("origin");
  const std::string* host = request.header("host");
  return (origin == nullptr || loopback(*origin)) && (host == nullptr || loopback(*host));
}

Result<std::unique_ptr<Server>> Server::open(const ServerOptions& options, Handle handle, Accept accept) {
  const auto refuse = [&](const char* what) {
    return Error{Code::environment,
                 {},
                 fmt::format("cannot {} {}:{}: {}", what, options.address, options.port, std::strerror(errno)),
                 {}};
  };
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(options.port));
  if (::inet_pton(AF_INET, options.address.c_str(), &address.sin_addr) != 1)
    return Error{Code::usage, {}, fmt::format("'{}' is no IPv4 address", options.address), {}};
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return refuse("make a socket for");
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  socklen_t size = sizeof address;
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(fd, 256) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    const Error error = refuse("listen on");
    ::close(fd);
    return error;
  }
  return std::unique_ptr<Server>(
      std::make_unique<BeastServer>(fd, ntohs(address.sin_port), options, std::move(handle), std::move(accept)));
}

}  // namespace passnet::serve
