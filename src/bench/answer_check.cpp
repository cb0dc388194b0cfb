#include "bench/answer_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/audit.h"
#include "bench/verdict.h"

namespace passnet {

Comparison AnswerCheck::compare(Case& c, const RunValue& got, const std::vector<TensorRef>& got_inputs) {
  Comparison comparison = passnet::compare(c.expected_on_cpu, got, engine_, c.draw.spread).take();
  if (comparison.outcome != Comparison::Outcome::compared) return comparison;
  judge_.loosen(c, comparison, got, got_inputs);
  compare_inputs(c, got_inputs, comparison);
  if (judge_.excuse(c, comparison, got, got_inputs)) out_.note("eager itself is further from the answer in float64");
  if (!c.draw.recorded())
    for (OutputComparison& o : comparison.outputs) o.inputs = draw_text(c.draw);
  if (!audited_) return comparison;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) names.push_back(graph_.graph.nodes[i].name);
  if (auto error = audit_case({names, c.eager_inputs, c.expected, got_inputs, got}))
    stop(Status::integrity, std::move(*error));
  return comparison;
}

// What eager changes of its inputs must be changed alike, or left alone in all draws: what torch.fx rewrites is
// judged by its outputs. Nothing else may be changed.
void AnswerCheck::compare_inputs(const Case& c, const std::vector<TensorRef>& got, Comparison& comparison) {
  const auto has = [](const std::vector<std::size_t>& all, std::size_t i) {
    return std::find(all.begin(), all.end(), i) != all.end();
  };
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::string& name = graph_.graph.nodes[i].name;
    const bool left = equal_bytes(c.inputs[i], got[i], engine_).take();
    if (!c.changed[i] && !left)
      stop(Status::integrity, {Code::integrity,
                               {},
                               fmt::format("input '{}' was changed, and eager leaves it alone", name),
                               {"write to a new tensor: torch.empty_like(x)"}});
    if (!c.changed[i]) continue;
    if (!has(changing_, i)) {
      changing_.push_back(i);
      if (left)
        out_.note(fmt::format("input '{}' is left as it was; eager changes it", name));
      else
        must_change_.push_back(i);
    }
    const bool excused = left && !has(must_change_, i);
    OutputComparison o =
        passnet::compare(c.eager_inputs[i], excused ? c.eager_inputs[i] : got[i], engine_, c.draw.spread).take();
    o.name = fmt::format("input '{}', which eager changes{}", name, excused ? " and the candidate leaves" : "");
    comparison.outputs.push_back(std::move(o));
  }
}

}  // namespace passnet
