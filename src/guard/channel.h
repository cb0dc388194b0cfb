// The frames under Channel, for both ends of it.
#pragma once

#include "guard/protocol.h"
#include "guard/worker.h"

namespace passnet::guard {

struct Frame {
  FrameKind kind = FrameKind::message;
  std::string body;
};

struct ChannelFrames {
  static bool send(Channel& channel, FrameKind kind, std::string_view body);
  // The next frame, of any kind; errors as Channel::receive has them.
  static Result<Frame> receive(Channel& channel, double seconds);
};

}  // namespace passnet::guard
