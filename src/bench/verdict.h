// How any part of an evaluation ends it.
#pragma once

#include <utility>
#include <vector>

#include "base/error.h"
#include "bench/status.h"

namespace passnet {

// Thrown; the evaluator writes it down. The first error decides.
struct Verdict {
  Status status = Status::correct;
  std::vector<Error> errors;
};

[[noreturn]] inline void stop(Status status, std::vector<Error> errors) {
  const Code code = errors[0].code;
  if (code_kind(code) == ErrorKind::environment) fail(std::move(errors[0]));  // nobody's graph is at fault
  throw Verdict{code == Code::policy || code == Code::integrity ? Status::integrity : status, std::move(errors)};
}
[[noreturn]] inline void stop(Status status, Error error) { stop(status, std::vector<Error>{std::move(error)}); }

template <class T>
T need(Result<T> result, Status otherwise) {
  if (!result) stop(otherwise, std::move(result.error()));
  return std::move(*result);
}

}  // namespace passnet
