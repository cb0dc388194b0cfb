#include "bench/candidate_graph.h"

#include <algorithm>

#include "base/hash.h"
#include "bench/verdict.h"
#include "ops/lower.h"
#include "pass/match_text.h"

namespace passnet {

void CandidateGraph::match(const std::string& passes, Evaluation& out) {
  passes_ =
      need(passes.ends_with(".py") ? load_pass_file(passes, options_.load) : load_pass_folder(passes, options_.load),
           Status::compile_fail);
  for (const std::string& line : passes_.dropped) out.note("dropped: " + line);
  for (const std::string& line : passes_.settings) out.note(line);
  applied_ = need(apply_passes(graph_.graph, passes_, options_.match), Status::compile_fail);
  out.passes = applied_.passes;
  for (const AppliedPass& p : applied_.passes) out.matches += p.matches;
  if (!applied_.changed())
    stop(Status::pass_miss, {Code::match,
                             {},
                             "no pass changed the graph",
                             why_not_applied(graph_.graph, passes_, options_.match, applied_)});
}

void CandidateGraph::lower() { program_ = need(lower_graph(applied_.graph, applied_.externals), Status::compile_fail); }

std::unique_ptr<Subject> CandidateGraph::with_kernels(KernelBackend& backend, Steps& steps,
                                                      std::shared_ptr<void> keep) const {
  std::vector<ExternalStep*> externals;
  for (const Pass* pass : applied_.wrappers) {
    steps.push_back(std::make_unique<WrapperStep>(*pass, engine_, backend));
    steps.back()->poison(true);
    externals.push_back(steps.back().get());
  }
  auto executable = need(engine_.prepare(program_, applied_.graph, options_.device, externals), Status::compile_fail);
  return local_subject(engine_, options_.device, std::move(executable), std::move(keep));
}

std::uint64_t CandidateGraph::digest(std::uint64_t secret) const {
  std::string all = std::to_string(secret);
  for (const Pass& pass : passes_.passes) all += sha256_hex(pass.name);  // in the order that they are applied
  for (const auto& loader : passes_.loaders)
    for (const auto& [name, module] : loader->modules()) all += sha256_hex(name) + sha256_hex(module->syntax.source());
  return std::stoull(sha256_hex(all).substr(0, 16), nullptr, 16);
}

bool CandidateGraph::has_operators() const {
  const auto& nodes = applied_.graph.nodes;
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node& node) {
    return node.kind != NodeKind::placeholder && node.kind != NodeKind::output && node.target != "operator.getitem" &&
           std::none_of(applied_.externals.begin(), applied_.externals.end(),
                        [&](const ExternalFunction& e) { return e.name == node.target; });
  });
}

}  // namespace passnet
