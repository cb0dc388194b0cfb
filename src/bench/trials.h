// The timed calls of an evaluation: which inputs they get, what of their answers is looked at, and what they took.
#pragma once

#include <functional>
#include <random>
#include <vector>

#include "bench/answer_check.h"

namespace passnet {

class Trials {
 public:
  struct Sides {
    Subject& eager;
    Subject& candidate;
    std::function<std::size_t()> forget;  // as Subject::Timed has it, of the candidate
  };
  // `cases`: an ordinary one first, the hardest last. Timed answers count in `out.comparison`.
  Trials(Sides sides, std::vector<Case>& cases, CaseSource& source, AnswerCheck& answers, Engine& engine, int at,
         Evaluation& out)
      : sides_(std::move(sides)),
        cases_(cases),
        source_(source),
        answers_(answers),
        engine_(engine),
        at_(at),
        out_(out) {}

  // Both sides on the inputs of cases[usual].
  Timing time(std::size_t usual, const TimingOptions& options);
  // Whether the candidate gains less on that case than `timing` says, which becomes what it gains there.
  bool is_slower_on(std::size_t other, const TimingOptions& options, Timing& timing);

 private:
  void check(Case& c, const RunValue& result, const std::vector<TensorRef>& inputs);

  const Sides sides_;
  std::vector<Case>& cases_;
  CaseSource& source_;
  AnswerCheck& answers_;
  Engine& engine_;
  const int at_;
  Evaluation& out_;
  std::mt19937_64 random_{std::random_device()()};
};

}  // namespace passnet
