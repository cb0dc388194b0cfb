// A candidate's answer beside eager's: values, what became of the inputs, and what no candidate may give.
#pragma once

#include <vector>

#include "bench/case_judge.h"
#include "bench/evaluate.h"
#include "fx/folder.h"

namespace passnet {

class AnswerCheck {
 public:
  // `audited`: the candidate may be anyone's. Facts for people go to `out`.
  AnswerCheck(const GraphFolder& graph, CaseJudge& judge, Engine& engine, bool audited, Evaluation& out)
      : graph_(graph), judge_(judge), engine_(engine), audited_(audited), out_(out) {}

  // `got_inputs`: as the candidate left them. What may not be stops the evaluation.
  Comparison compare(Case& c, const RunValue& got, const std::vector<TensorRef>& got_inputs);

  // Whether that is held against the candidate: as CaseJudge says it.
  bool counts(Case& c, Comparison& comparison, const RunValue& got, const std::vector<TensorRef>& got_inputs) {
    return judge_.counts(c, comparison, got, got_inputs);
  }

  const std::vector<std::size_t>& changing() const { return changing_; }  // inputs that eager changes

 private:
  void compare_inputs(const Case& c, const std::vector<TensorRef>& got, Comparison& comparison);

  const GraphFolder& graph_;
  CaseJudge& judge_;
  Engine& engine_;
  const bool audited_;
  Evaluation& out_;
  std::vector<std::size_t> changing_;
  std::vector<std::size_t> must_change_;  // of these, those that the candidate changed first
};

}  // namespace passnet
