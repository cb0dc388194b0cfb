// One error type for the whole project, and the result that carries it.
//
// An expected failure is a return value: a stage gives back Result<T>. Inside one stage (a recursive parser, a binder)
// a failure may be thrown as Failure and becomes a Result again at the stage's door (`guarded`); it never crosses a
// door.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace passnet {

enum class Code : std::uint8_t {
  io,           // a file or folder cannot be read or written
  limit,        // the input is larger, deeper or longer than we take
  syntax,       // not Python; not the text of tile IR
  unsupported,  // Python, but outside the subset; the message names what to write instead
  name,         // an undefined name, or one used after `x = None`
  graph,        // a graph that breaks a rule of the IR
  meta,         // a tensor meta that is missing or contradicts itself
  op,           // an unknown operator
  argument,     // an operator's arguments do not fit any of its signatures
  run,          // ATen refused the call (shapes, dtypes, memory)
  pass,         // a pass folder or file that breaks the format
  policy,       // a pass calls what a wrapper may not
  integrity,    // a pass tries to carry state or to reach outside its kernels
  host,         // a wrapper raised, or does what cannot be prepared
  kernel,       // a kernel that breaks the language's rules
  memory,       // a kernel touches memory that it must not, or races with itself
  match,        // no pattern fits the graph
  answer,       // what is computed is not what eager computes
  usage,        // the command line is wrong
  environment,  // something on this machine is missing or broken
  internal,     // our bug
};

std::string_view code_name(Code code);

// Who has to act: shown apart in every report.
enum class ErrorKind : std::uint8_t { input, candidate, environment, bug };
ErrorKind code_kind(Code code);

// A place in a text. Lines and columns count from 1; 0 means unknown. `text` is the whole line, kept for the caret.
struct Where {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string text;
};

struct Error {
  Code code = Code::internal;
  Where where;
  std::string message;
  std::vector<std::string> notes;
};

// `file:line:column: error[code]: message`, then the line with a caret, then the notes; several lines.
std::string error_text(const Error& error);
// The first part of it.
std::string error_line(const Error& error);

struct Failure {
  Error error;
};

[[noreturn]] inline void fail(Error error) { throw Failure{std::move(error)}; }
[[noreturn]] inline void fail(Code code, std::string message) { throw Failure{{code, {}, std::move(message), {}}}; }

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  Error& error() { return std::get<1>(state_); }
  const Error& error() const { return std::get<1>(state_); }

  // The value, or the error thrown to the stage's door.
  T take() {
    if (!*this) fail(std::move(error()));
    return std::move(**this);
  }

 private:
  std::variant<T, Error> state_;
};

// A stage's door: runs `body`, turning a thrown Failure into the result.
template <class F>
auto guarded(F&& body) -> Result<std::invoke_result_t<F>> {
  try {
    return body();
  } catch (Failure& failure) {
    return std::move(failure.error);
  }
}

}  // namespace passnet
