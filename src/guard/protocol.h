// The wire format between the three processes of guard, all of it. Version it on every change.
//
//   main ── control socket (SEQPACKET: one struct a packet) ── template ── fork ──▶ worker
//     └─────────────── channel (STREAM: frames of header and body) ──────────────────┘
//
// All run the same binary, so bytes are as in memory. Nothing that comes from a worker is believed before it is
// checked: the header by `frame_valid`, a body's length against kMaxMessage, its memory by what has really arrived.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace passnet::guard {

inline constexpr std::uint32_t kMagic = 0x44474e50;  // "PNGD"
inline constexpr std::uint16_t kProtocolVersion = 1;
inline constexpr std::uint64_t kMaxMessage = std::uint64_t{256} << 20;
inline constexpr std::uint64_t kMaxText = 4096;  // of a stage or a failure

enum class FrameKind : std::uint16_t {
  message = 1,  // what the job and its user say to each other
  ready = 2,    // worker: limits are set, the job begins
  stage = 3,    // worker: what it does now, for the report on its death
  failed = 4,   // worker: the job threw; the text says what
  refused = 5,  // worker: its limits could not be set
};

struct FrameHeader {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kProtocolVersion;
  FrameKind kind = FrameKind::message;
  std::uint64_t length = 0;
};
static_assert(sizeof(FrameHeader) == 16 && std::is_trivially_copyable_v<FrameHeader>);

// Empty: the header is right. Else what is wrong with it.
constexpr std::string_view frame_valid(const FrameHeader& header) {
  if (header.magic != kMagic) return "not a frame";
  if (header.version != kProtocolVersion) return "a frame of another version";
  switch (header.kind) {
    case FrameKind::message: return header.length <= kMaxMessage ? "" : "a message over the limit";
    case FrameKind::ready: return header.length == 0 ? "" : "a ready frame with a body";
    case FrameKind::stage:
    case FrameKind::failed:
    case FrameKind::refused: return header.length <= kMaxText ? "" : "a text over the limit";
  }
  return "a frame of unknown kind";
}

enum class ControlKind : std::uint16_t {
  loaded = 1,    // template: ready to fork
  not_loaded,    // template: `text` is the reason; it ends
  fork,          // main: with the worker's end of the channel attached
  forked,        // template: pid of worker `id`
  fork_refused,  // template: status is errno
  kill,          // main: worker `id`
  died,          // template: `id` and how; after every worker's end, once
};

struct Control {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kProtocolVersion;
  ControlKind kind = ControlKind::loaded;
  std::uint64_t id = 0;          // of a worker, given by main; pids come again, ids do not
  std::int32_t pid = 0;          // forked
  std::int32_t status = 0;       // died: as waitpid gives it
  std::uint8_t by_deadline = 0;  // died: killed by the template, its time was over
  std::uint8_t by_request = 0;   // died: it lived when main asked for its end
  std::uint8_t environment = 0;  // not_loaded: the machine lacks something, else our bug
  std::uint8_t unused[5] = {};
  std::int64_t memory_bytes = 0;  // fork
  double seconds = 0;             // fork: its whole life; kill: how long it may take to end by itself
  char text[1024] = {};           // not_loaded; ends with a zero
};
static_assert(std::is_trivially_copyable_v<Control>);

}  // namespace passnet::guard
