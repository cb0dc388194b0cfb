// Any bytes as a client's frames: messages no longer than what came, or the end; never a wait beyond the last byte.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <iostream>

#include "fuzz_one.h"
#include "serve/websocket.h"

int fuzz_one(const std::uint8_t* data, std::size_t size) {
  using namespace passnet::serve;
  constexpr std::size_t kMost = 16384;  // what fits into the socket's buffer
  int ends[2];
  if (size > kMost || ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 0;
  if (::send(ends[1], data, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) std::abort();
  ::shutdown(ends[1], SHUT_WR);
  const std::function<bool()> never = [] { return false; };
  {
    TimedSocket socket(ends[0], never);
    socket.within(5);
    WebSocket ws(socket, 1 << 12);
    std::size_t taken = 0;
    while (const auto message = ws.read()) taken += message->size();
    if (taken > size) {
      std::cerr << "messages of " << taken << " bytes out of " << size << '\n';
      std::abort();
    }
  }
  ::close(ends[1]);
  return 0;
}
