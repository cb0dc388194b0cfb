// A graph with a candidate's passes applied: what any backend of kernels can run.
#pragma once

#include <memory>
#include <vector>

#include "bench/evaluate.h"
#include "bench/subject.h"
#include "fx/folder.h"
#include "pass/manage.h"
#include "pass/wrapper_step.h"

namespace passnet {

class CandidateGraph {
 public:
  using Steps = std::vector<std::unique_ptr<WrapperStep>>;

  CandidateGraph(const GraphFolder& graph, Engine& engine, const EvaluateOptions& options)
      : graph_(graph), engine_(engine), options_(options) {}

  // Loads the passes and applies them; what they did goes to `out`. Stops the evaluation where they change nothing.
  void match(const std::string& passes, Evaluation& out);
  void lower();

  // With its kernels behind `backend`. A subject refers to the steps that it adds; `keep` holds what they need.
  std::unique_ptr<Subject> with_kernels(KernelBackend& backend, Steps& steps, std::shared_ptr<void> keep = {}) const;

  // Of all text of the candidate. No text can be made to have a digest that was chosen before, and without the secret
  // nobody knows which one it has.
  std::uint64_t digest(std::uint64_t secret) const;
  // Whether operators are left in the graph that no pass replaces.
  bool has_operators() const;

 private:
  const GraphFolder& graph_;
  Engine& engine_;
  const EvaluateOptions& options_;
  PassFolder passes_;
  Applied applied_;
  Program program_;
};

}  // namespace passnet
