#include "base/error.h"

#include <fmt/format.h>

#include "base/text.h"

namespace passnet {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::io: return "io";
    case Code::limit: return "limit";
    case Code::syntax: return "syntax";
    case Code::unsupported: return "unsupported";
    case Code::name: return "name";
    case Code::graph: return "graph";
    case Code::meta: return "meta";
    case Code::op: return "op";
    case Code::argument: return "argument";
    case Code::run: return "run";
    case Code::pass: return "pass";
    case Code::policy: return "policy";
    case Code::integrity: return "integrity";
    case Code::host: return "host";
    case Code::kernel: return "kernel";
    case Code::memory: return "memory";
    case Code::match: return "match";
    case Code::answer: return "answer";
    case Code::usage: return "usage";
    case Code::environment: return "environment";
    case Code::internal: return "internal";
  }
  return "internal";
}

ErrorKind code_kind(Code code) {
  switch (code) {
    case Code::environment: return ErrorKind::environment;
    case Code::internal: return ErrorKind::bug;
    case Code::pass:
    case Code::policy:
    case Code::integrity:
    case Code::host:
    case Code::kernel:
    case Code::memory:
    case Code::match:
    case Code::answer: return ErrorKind::candidate;
    default: return ErrorKind::input;
  }
}

namespace {

// Names and texts of others, for a terminal: what it would act on or cannot show is spelled with escapes. Messages may
// have several lines; those after the first are indented, so that none passes for one of ours.
std::string escaped(std::string_view text, bool lines) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = text_character_size(text, i);
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool kept = lines && (byte == '\n' || byte == '\t');
    const bool acts = text_acts(text, i);
    for (std::size_t k = i; k < i + size; ++k)
      out += acts && !kept ? fmt::format("\\x{:02x}", static_cast<unsigned char>(text[k])) : std::string(1, text[k]);
    if (kept && byte == '\n') out += "    ";
    i += size;
  }
  return out;
}

}  // namespace

std::string error_line(const Error& error) {
  const Where& w = error.where;
  std::string place = escaped(w.file, false);
  if (w.line != 0) place += fmt::format("{}{}", place.empty() ? "line " : ":", w.line);
  if (w.line != 0 && w.column != 0) place += fmt::format(":{}", w.column);
  if (!place.empty()) place += ": ";
  return fmt::format("{}error[{}]: {}", place, code_name(error.code), escaped(error.message, true));
}

namespace {

// The part of a long line around the column, and the caret's offset in it. Bytes that a terminal would act on are dots.
std::pair<std::string, std::size_t> excerpt(const std::string& line, std::size_t column) {
  constexpr std::size_t kBefore = 80, kAfter = 40;
  const std::size_t at = column == 0 ? 0 : std::min(column - 1, line.size());
  const std::size_t begin = at > kBefore ? at - kBefore : 0;
  // Characters, not bytes: whole ones are copied, and what a terminal would act on or cannot show is a dot.
  std::string out;
  std::size_t caret = 0;
  for (std::size_t i = begin; i < std::min(line.size(), begin + kBefore + kAfter);) {
    const std::size_t size = text_character_size(line, i);
    out += line[i] == '\t' ? " " : text_acts(line, i) ? "." : line.substr(i, size);
    i += size;
    if (i <= at) ++caret;
  }
  return {std::move(out), caret};
}

}  // namespace

std::string error_text(const Error& error) {
  std::string out = error_line(error);
  if (error.where.line != 0 && !error.where.text.empty()) {
    const auto [line, caret] = excerpt(error.where.text, error.where.column);
    out += fmt::format("\n{:5} | {}", error.where.line, line);
    if (error.where.column != 0) out += fmt::format("\n      | {}^", std::string(caret, ' '));
  }
  for (const std::string& note : error.notes) out += "\n  note: " + escaped(note, true);
  return out;
}

}  // namespace passnet
