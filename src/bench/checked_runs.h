// A candidate run with the checked build of its kernels, before anything of it runs fast: memory errors, races, and
// whether every variant that may be chosen is right.
#pragma once

#include <vector>

#include "bench/candidate_graph.h"
#include "bench/case_judge.h"

namespace passnet {

class CheckedBackend;

class CheckedRuns {
 public:
  CheckedRuns(const CandidateGraph& candidate, CaseSource& source, CaseJudge& judge, Engine& engine,
              const EvaluateOptions& options)
      : candidate_(candidate), source_(source), judge_(judge), engine_(engine), options_(options) {}

  // Every variant that autotuning may choose, one after another; each must give the right values, since any may be
  // chosen. Where programs can see their order, once more the other way round. On the recorded inputs, which are
  // compared, and on those of the other draws where they may decide what is accessed, or (`shapes_by_contents`) what
  // kernels there are. Facts go to `out`; what is found stops the evaluation.
  void run(Case& recorded, const std::vector<Draw>& draws, bool shapes_by_contents, Evaluation& out);

  // On other threads, operators that are left in the graph have other last bits, which may decide what is accessed.
  // What the fast build accesses is looked at by the threads that are timed, too. Its kernels are compiled already.
  void follow(const std::vector<Case>& cases);

  // What is accessed hangs on what tensors hold.
  bool by_contents() const { return by_contents_; }
  // Launches that have more than one variant.
  std::size_t tuned() const { return tuned_; }
  // How right each variant was.
  std::vector<Comparison> take_comparisons() { return std::move(comparisons_); }

 private:
  Comparison run_one(CheckedBackend& backend, Case& recorded, const std::vector<Draw>& draws, bool shapes_by_contents);
  static RunValue call(Subject& subject, CheckedBackend& backend, std::vector<TensorRef>& inputs);

  const CandidateGraph& candidate_;
  CaseSource& source_;
  CaseJudge& judge_;
  Engine& engine_;
  const EvaluateOptions& options_;
  bool by_contents_ = false;
  std::size_t variants_ = 1;  // the most of any launch
  std::size_t tuned_ = 0;
  int threads_ = 0;  // that ran them
  std::vector<Comparison> comparisons_;
};

}  // namespace passnet
