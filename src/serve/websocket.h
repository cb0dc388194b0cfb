// The server's side of a WebSocket (RFC 6455): frames in, messages out. Our own, since a step may take minutes and the
// peer's pings have to be answered meanwhile; libraries answer them only while someone reads.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "serve/timed_socket.h"

namespace passnet::serve {

// What the server answers to the key of an upgrade request; empty: it is no key.
std::string websocket_accept(std::string_view key);

class WebSocket {
 public:
  WebSocket(TimedSocket& socket, std::size_t limit) : socket_(socket), limit_(limit) {}

  // The next message; none: the connection is at its end. Waits as long as the socket's deadline allows.
  std::optional<std::string> read();
  // Answers what needs an answer at once, until `other` can be read. False: the peer is gone.
  bool attend(int other);
  bool write(std::string_view text);
  void close(int code);

 private:
  bool fill();  // takes what the line has
  bool take();  // frames that are whole; false: the end
  bool take_frame(bool fin, int opcode, std::string payload);
  bool frame(int opcode, std::string_view payload);
  bool refuse(int code) {
    close(code);
    return false;
  }

  TimedSocket& socket_;
  const std::size_t limit_;
  std::string buffer_;   // bytes of frames that are not whole
  std::string message_;  // of frames so far
  bool inside_ = false;  // a message that is not whole
  bool closed_ = false;
  std::deque<std::string> messages_;
};

}  // namespace passnet::serve
