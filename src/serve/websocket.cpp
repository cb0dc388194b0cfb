#include "serve/websocket.h"

#include <openssl/evp.h>
#include <poll.h>

#include <cstdint>

namespace passnet::serve {

namespace {

constexpr int kContinuation = 0, kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10;
constexpr int kNormal = 1000, kProtocolError = 1002, kTooLarge = 1009;
constexpr std::size_t kControlMost = 125;
constexpr std::size_t kKeptMessages = 16;  // that wait while a step runs; then nothing is read

// The length of the frame at the beginning of the bytes.
struct Head {
  std::size_t size = 0;  // of the head, the mask included
  std::uint64_t length = 0;
};
std::optional<Head> head_of(std::string_view bytes) {
  if (bytes.size() < 2) return std::nullopt;
  const unsigned small = static_cast<unsigned char>(bytes[1]) & 0x7F;
  const std::size_t more = small == 126 ? 2 : small == 127 ? 8 : 0;
  if (bytes.size() < 2 + more) return std::nullopt;
  Head out{2 + more + 4, more == 0 ? small : 0};
  for (std::size_t i = 0; i < more; ++i) out.length = out.length << 8 | static_cast<unsigned char>(bytes[2 + i]);
  return out;
}

}  // namespace

std::string websocket_accept(std::string_view key) {
  if (key.size() != 24) return "";  // 16 bytes in base64
  const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha1(), nullptr) != 1) return "";
  unsigned char out[4 * EVP_MAX_MD_SIZE];
  const int length = EVP_EncodeBlock(out, digest, static_cast<int>(size));
  return {reinterpret_cast<const char*>(out), static_cast<std::size_t>(length)};
}

bool WebSocket::frame(int opcode, std::string_view payload) {
  std::string head(1, static_cast<char>(0x80 | opcode));
  const std::uint64_t n = payload.size();
  const int more = n <= kControlMost ? 0 : n <= 0xFFFF ? 2 : 8;
  head += static_cast<char>(more == 0 ? n : more == 2 ? 126 : 127);
  for (int i = more - 1; i >= 0; --i) head += static_cast<char>(n >> (8 * i) & 0xFF);
  return socket_.write_all(head + std::string(payload));
}

bool WebSocket::write(std::string_view text) { return !closed_ && frame(kText, text); }

void WebSocket::close(int code) {
  if (closed_) return;
  closed_ = true;
  const char payload[2] = {static_cast<char>(code >> 8), static_cast<char>(code & 0xFF)};
  frame(kClose, {payload, 2});
}

bool WebSocket::take_frame(bool fin, int opcode, std::string payload) {
  switch (opcode) {
    case kPing: return frame(kPong, payload);
    case kPong: return true;
    case kClose: return refuse(kNormal);
    case kText:
    case kBinary:
      if (inside_) return refuse(kProtocolError);
      break;
    case kContinuation:
      if (!inside_) return refuse(kProtocolError);
      break;
    default: return refuse(kProtocolError);
  }
  message_ += payload;
  inside_ = !fin;
  if (!fin) return true;
  messages_.push_back(std::move(message_));
  message_.clear();
  return true;
}

bool WebSocket::take() {
  while (!closed_) {
    const auto head = head_of(buffer_);
    if (!head) return true;
    const auto first = static_cast<unsigned char>(buffer_[0]), second = static_cast<unsigned char>(buffer_[1]);
    const bool control = (first & 0x08) != 0, fin = (first & 0x80) != 0;
    const bool masked = (second & 0x80) != 0;
    if ((first & 0x70) != 0 || !masked || (control && (!fin || head->length > kControlMost)))
      return refuse(kProtocolError);
    if (head->length > limit_ || message_.size() + head->length > limit_) return refuse(kTooLarge);
    const auto length = static_cast<std::size_t>(head->length);
    if (buffer_.size() < head->size + length) return true;
    std::string payload = buffer_.substr(head->size, length);
    for (std::size_t i = 0; i < length; ++i)
      payload[i] = static_cast<char>(payload[i] ^ buffer_[head->size - 4 + i % 4]);
    buffer_.erase(0, head->size + length);
    if (!take_frame(fin, first & 0x0F, std::move(payload))) return false;
  }
  return false;
}

bool WebSocket::fill() {
  char block[1 << 16];
  const std::size_t n = socket_.read(block, sizeof block);
  buffer_.append(block, n);
  return n > 0;
}

std::optional<std::string> WebSocket::read() {
  while (messages_.empty())
    if (!fill() || !take()) {
      if (messages_.empty()) return std::nullopt;
      break;
    }
  std::string out = std::move(messages_.front());
  messages_.pop_front();
  return out;
}

bool WebSocket::attend(int other) {
  bool there = true;
  while (true) {
    const bool reads = there && messages_.size() < kKeptMessages;
    pollfd polled[2] = {{other, POLLIN, 0}, {socket_.descriptor(), static_cast<short>(reads ? POLLIN : 0), 0}};
    ::poll(polled, there ? 2 : 1, kSliceMs);
    if (polled[0].revents != 0) return there;
    if (there && polled[1].revents != 0) {
      socket_.within(1);
      there = reads ? fill() && take() : !socket_.gone();
    }
    if (!there || socket_.stopping()) return false;
  }
}

}  // namespace passnet::serve
