#include "author/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>

namespace passnet::author {

namespace {

// Measured on one core; they only have to order candidates.
constexpr double kBytesPerMicrosecond = 12e3;
constexpr double kView = 0.7;
constexpr double kWrapperCall = 1.0, kLaunch = 0.4, kOutput = 0.4;

// An operator in eager: a call, and nanoseconds an element beyond moving its bytes.
struct OperatorCost {
  std::string_view op;
  double call, element;
};
constexpr OperatorCost kEager[] = {
    {"sigmoid", 1.5, 1.2},
    {"silu", 1.5, 1.2},
    {"exp", 1.5, 1.0},
    {"tanh", 1.5, 1.6},
    {"gelu", 1.5, 1.8},
    {"erf", 1.5, 1.5},
    {"sin", 1.5, 1.5},
    {"cos", 1.5, 1.5},
    {"log", 1.5, 1.2},
    {"pow", 2.0, 0.6},
    {"softmax", 2.0, 1.6},
    {"layer_norm", 4.0, 0.5},
    {"batch_norm", 6.0, 0.2},
    {"group_norm", 6.0, 0.5},
    {"mean", 4.0, 0.2},
    {"sum", 3.0, 0.2},
    {"linalg_vector_norm", 3.0, 0.3},
    {"cat", 2.5, 0.1},
    {"stack", 4.0, 0.2},
    {"pad", 4.0, 0.5},
    {"repeat", 6.0, 0.5},
    {"tile", 6.0, 0.5},
    {"roll", 3.0, 0.5},
    {"im2col", 4.0, 2.0},
    {"max_pool2d", 4.0, 4.0},
    {"avg_pool2d", 4.0, 3.0},
    {"avg_pool1d", 6.0, 3.0},
    {"adaptive_avg_pool2d", 4.0, 1.0},
    {"upsample_bilinear2d", 5.0, 3.0},
    {"upsample_nearest2d", 4.0, 1.5},
    {"upsample_nearest1d", 4.0, 1.5},
    {"embedding", 3.0, 0.1},
    {"index_select", 2.0, 0.3},
    {"contiguous", 1.5, 0.3},
    {"reshape", 1.5, 0.3},
    {"masked_fill", 3.0, 0.3},
    {"arange", 1.5, 0.3},
    {"hardswish", 1.5, 0.3},
    {"hardsigmoid", 1.5, 0.3},
    {"where", 2.0, 0.3},
    {"getitem", 4.0, 0.5},
};
constexpr OperatorCost kOther = {"", 1.4, 0.1};

// A product in eager: a call, and nanoseconds for each product of two numbers. ATen is poor at convolutions of few
// terms (depthwise, grouped) and good at dense ones.
enum class EagerProduct : std::uint8_t { few_terms, grouped, pointwise, dense, matrix };
struct ProductCost {
  double call, product;
};
constexpr ProductCost kEagerProducts[] = {{30.0, 0.3}, {15.0, 0.04}, {15.0, 0.03}, {15.0, 0.018}, {3.0, 0.02}};
constexpr std::int64_t kFewTerms = 128;
// And in a kernel, by ProductForm.
constexpr double kProductNs[] = {0.1, 0.1, 0.02, 0.035};
constexpr double kHopeless = 1.5;  // so much slower than eager it is not even tried

const ProductCost& product_cost(std::string_view op, const std::vector<std::int64_t>& x,
                                const std::vector<std::int64_t>& w, std::int64_t terms) {
  EagerProduct kind = EagerProduct::matrix;
  if (op.starts_with("conv"))
    kind = terms == w[1]                          ? EagerProduct::pointwise
           : terms <= kFewTerms                   ? EagerProduct::few_terms
           : x.size() == w.size() && x[1] != w[1] ? EagerProduct::grouped
                                                  : EagerProduct::dense;
  if (kind == EagerProduct::pointwise && x[1] != w[1]) kind = EagerProduct::few_terms;
  return kEagerProducts[static_cast<std::size_t>(kind)];
}

const OperatorCost& operator_cost(std::string_view name) {
  while (name.ends_with('_')) name.remove_suffix(1);
  for (const OperatorCost& row : kEager)
    if (row.op == name) return row;
  return kOther;
}

double count_of(const NodeFacts& f) {
  double n = 1;
  for (const std::int64_t s : f.sizes) n *= static_cast<double>(s);
  return n;
}
double bytes_of(const NodeFacts& f) { return count_of(f) * static_cast<double>(dtype_row(f.dtype).size); }

// Of a product's sums: how many terms they have. 0: it is no product.
std::int64_t terms_of(std::string_view op, const std::vector<const NodeFacts*>& factors) {
  if (factors.size() < 2 || !factors[0]->has_shape || !factors[1]->has_shape) return 0;
  const auto &a = factors[0]->sizes, &b = factors[1]->sizes;
  if (op == "linear" || op == "matmul" || op == "bmm" || op == "einsum") return a.empty() ? 0 : a.back();
  if (!op.starts_with("conv") || b.size() < 3) return 0;
  std::int64_t out = 1;
  for (std::size_t d = 1; d < b.size(); ++d) out *= b[d];
  return out;
}

// Whether a reduction's columns are not neighbours in memory.
bool strided(const Expr* reduce) {
  bool out = false;
  std::set<const Expr*> seen;
  const std::function<void(const Expr*)> visit = [&](const Expr* e) {
    if (!seen.insert(e).second) return;
    if (e->kind == Expr::Kind::load)
      for (const auto& [atom, c] : e->at.terms)
        if (!reduce->loops.empty() && atom == reduce->loops.back() && !c.is(1)) out = true;
    for (const Expr* a : e->args) visit(a);
  };
  visit(reduce->args[0]);
  return out;
}

// Nanoseconds of one evaluation of an expression in a vectorised kernel.
double expression_ns(const Expr* e) {
  switch (e->kind) {
    case Expr::Kind::load: {
      bool gathers = false;
      visit_atoms(e->at, [&](const Atom* a) { gathers |= a->value != nullptr; });
      return gathers ? 1.2 : 0.1;
    }
    case Expr::Kind::reduce: return strided(e) ? 1.5 : 0.4;
    case Expr::Kind::op: break;
    case Expr::Kind::window:
      return e->args.size() == 2 ? kProductNs[static_cast<std::size_t>(ProductForm::unrolled)] : 0;
    case Expr::Kind::product: return kProductNs[static_cast<std::size_t>(ProductForm::tiles)];
    default: return 0;
  }
  const bool wide = dtype_row(e->type).size == 8;
  double ns = wide ? 0.8 : e->type == Dtype::boolean ? 0.3 : 0.06;
  for (const std::string_view costly : {"exp(", "log(", "erf(", "tanh(", "sin(", "cos(", "pow("})
    if (e->text.find(costly) != std::string::npos) ns += 0.8;
  if (e->text.find('/') != std::string::npos || e->text.find("sqrt") != std::string::npos) ns += 0.3;
  return ns;
}

double kernel_ns(const Kernel& kernel, const Indices& ix) {
  double total = 0;
  std::map<const Expr*, std::set<const Atom*>> known;
  // How often an expression is evaluated: the coordinates that it depends on.
  const std::function<const std::set<const Atom*>&(const Expr*)> visit =
      [&](const Expr* e) -> const std::set<const Atom*>& {
    if (const auto it = known.find(e); it != known.end()) return it->second;
    std::set<const Atom*> coordinates;
    const auto add = [&](const Expr* from) {
      const std::set<const Atom*>& more = visit(from);
      coordinates.insert(more.begin(), more.end());
    };
    visit_atoms(e->at, [&](const Atom* a) {
      if (a->kind == Atom::Kind::coordinate) coordinates.insert(a);
      if (a->value != nullptr) add(a->value);
    });
    for (const Expr* a : e->args) add(a);
    for (const Expr* g : e->guards) add(g);
    if (e->kind == Expr::Kind::product) coordinates.erase(e->loops[1]);  // both factors' depth is one
    double n = 1;
    for (const Atom* a : coordinates) n *= static_cast<double>(ix.value(ix.resolve(a->size)));
    total += std::min(n, 1e12) * expression_ns(e);
    if (e->kind == Expr::Kind::reduce || e->kind == Expr::Kind::window || e->kind == Expr::Kind::product)
      for (const Atom* a : e->loops) coordinates.erase(a);
    return known[e] = std::move(coordinates);
  };
  for (const Kernel::Store& s : kernel.stores) visit(s.value);
  return total;
}

}  // namespace

void require_own(const Call& call, ProductForm form, std::int64_t sums, std::int64_t terms) {
  const double products = static_cast<double>(sums) * static_cast<double>(terms);
  const std::string_view op = call.step.schema->name;
  const bool conv = op.starts_with("conv");
  const Trace& trace = call.trace;
  const ProductCost cost = product_cost(op, conv ? trace.sizes(call.tensor(0)) : std::vector<std::int64_t>{},
                                        conv ? trace.sizes(call.tensor(1)) : std::vector<std::int64_t>{}, terms);
  const double own = kWrapperCall + products * kProductNs[static_cast<std::size_t>(form)] * 1e-3;
  if (own > kHopeless * (cost.call + products * cost.product * 1e-3))
    throw Unfit{fmt::format("aten::{} is left to ATen, which is faster", call.step.schema->name)};
}

void estimate(const Graph& graph, const Program& program, const GraphFacts& facts, const Region& region,
              const Schedule& plan, const Trace& trace, AuthoredPass& pass) {
  double eager_bytes = 0, pass_bytes = 0;
  const auto of = [&](NodeId id) -> const NodeFacts& { return facts.nodes[static_cast<std::size_t>(id)]; };
  for (const NodeId id : region.nodes) {
    const NodeFacts& f = of(id);
    std::string_view op;
    bool writes = false;
    for (const Step& step : program.steps)
      if (step.node == id && step.kind == StepKind::aten) {
        op = step.schema->name;
        writes = step.schema->writes;
      }
    std::set<NodeId> inputs;
    std::vector<const NodeFacts*> factors;
    node_inputs(graph.nodes[id], [&](NodeId used) {
      inputs.insert(used);
      factors.push_back(&of(used));
    });
    bool alias = !f.has_shape;
    double read = 0;
    for (const NodeId used : inputs) {
      alias |= of(used).buffer == f.buffer && f.buffer >= 0;
      read += std::min(bytes_of(of(used)), 4 * bytes_of(f) + 4096);
      if (op == "mean" || op == "sum" || op.starts_with("adaptive") || op.ends_with("norm"))
        read = std::max(read, bytes_of(of(used)));
    }
    for (NodeId earlier = 0; earlier < id && f.buffer >= 0; ++earlier) alias |= of(earlier).buffer == f.buffer;
    if (alias && !writes) {
      pass.eager_cost += kView;
      continue;
    }
    eager_bytes += bytes_of(f) + read;
    if (const std::int64_t terms = terms_of(op, factors); terms > 0) {
      const ProductCost& cost = product_cost(op, factors[0]->sizes, factors[1]->sizes, terms);
      pass.eager_cost += cost.call + cost.product * count_of(f) * static_cast<double>(terms) * 1e-3 +
                         (bytes_of(f) + bytes_of(*factors[0])) / kBytesPerMicrosecond;
      continue;
    }
    const OperatorCost& cost = operator_cost(op.empty() ? "getitem" : op);
    const double elements = std::max(
        count_of(f), inputs.empty() ? 0.0 : count_of(of(*inputs.begin())) * (op == "mean" || op == "sum" ? 1 : 0));
    pass.eager_cost += cost.call + cost.element * elements * 1e-3 + (bytes_of(f) + read) / kBytesPerMicrosecond;
  }
  pass.pass_cost = kWrapperCall + kLaunch * static_cast<double>(plan.kernels.size()) +
                   kOutput * static_cast<double>(region.outputs.size());
  double rows = 0;
  for (const auto& kernel : plan.kernels) pass.pass_cost += kernel_ns(*kernel, trace.ix) * 1e-3;
  for (const auto& [tensor, buffer] : plan.buffer_of) {
    double n = static_cast<double>(dtype_row(tensor->type.dtype).size);
    for (const Dim& d : tensor->shape) n *= static_cast<double>(trace.ix.value(trace.ix.resolve(d)));
    pass_bytes += n;
    rows += n;
  }
  if (!plan.kernels.empty())
    for (const NodeId id : region.inputs) pass_bytes += std::min(bytes_of(of(id)), 4 * rows + 4096);
  pass.pass_cost += pass_bytes / kBytesPerMicrosecond;
  pass.bytes_saved = eager_bytes - pass_bytes;
  pass.calls_saved = static_cast<double>(region.nodes.size()) - static_cast<double>(plan.kernels.size());
}

}  // namespace passnet::author
