#include "author/cost.h"

#include <algorithm>
#include <functional>
#include <set>

#include "pass/rewrite.h"

namespace passnet::author {

namespace {

constexpr double kBytesPerMicrosecond = 15e3;
constexpr double kViewCall = 0.7, kOperatorCall = 1.6;
constexpr double kWrapperCall = 0.8, kLaunch = 0.4, kOutput = 0.4;

double bytes_of(const NodeFacts& f) {
  double n = static_cast<double>(dtype_row(f.dtype).size);
  for (const std::int64_t s : f.sizes) n *= static_cast<double>(s);
  return n;
}

}  // namespace

void estimate(const Graph& graph, const GraphFacts& facts, const Region& region, const Schedule& plan, const Trace& trace, AuthoredPass& pass) {
  double eager_bytes = 0, pass_bytes = 0;
  for (const NodeId id : region.nodes) {
    const NodeFacts& f = facts.nodes[static_cast<std::size_t>(id)];
    std::set<NodeId> inputs;
    node_inputs(graph.nodes[id], [&](NodeId used) { inputs.insert(used); });
    bool alias = false;
    double read = 0;
    for (const NodeId used : inputs) {
      alias |= facts.nodes[static_cast<std::size_t>(used)].buffer == f.buffer && f.buffer >= 0;
      read += bytes_of(facts.nodes[static_cast<std::size_t>(used)]);
    }
    if (alias && !node_writes(graph.nodes[id])) {
      pass.eager_cost += kViewCall;
      continue;
    }
    read = std::min(read, 4 * bytes_of(f) + 1e5);
    eager_bytes += bytes_of(f) + read;
    pass.eager_cost += kOperatorCall + (bytes_of(f) + read) / kBytesPerMicrosecond;
  }
  pass.pass_cost = kWrapperCall + kLaunch * static_cast<double>(plan.kernels.size()) + kOutput * static_cast<double>(region.outputs.size());
  for (const auto& [tensor, buffer] : plan.buffer_of) {
    double n = static_cast<double>(dtype_row(tensor->type.dtype).size);
    for (const Dim& d : tensor->shape) n *= static_cast<double>(trace.ix.value(trace.ix.resolve(d)));
    pass_bytes += n;
  }
  if (!plan.kernels.empty())
    for (const NodeId id : region.inputs) pass_bytes += bytes_of(facts.nodes[static_cast<std::size_t>(id)]);
  pass.pass_cost += std::min(pass_bytes, eager_bytes) / kBytesPerMicrosecond;
  pass.bytes_saved = eager_bytes - pass_bytes;
  pass.calls_saved = static_cast<double>(region.nodes.size()) - static_cast<double>(plan.kernels.size());
}

}  // namespace passnet::author
