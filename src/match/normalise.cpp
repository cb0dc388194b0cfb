#include "match/normalise.h"

#include <algorithm>

#include "base/hash.h"
#include "ops/same_function.h"
#include "ops/table.h"
#include "py/printer.h"

namespace passnet {

namespace {

bool is_function_spelling(std::string_view spelling) {
  return spelling.starts_with("torch.") && !spelling.starts_with("torch.ops.") &&
         !spelling.starts_with("torch.Tensor.");
}

// The operator behind a node, looked up by the shared name of a function, so that equal objects give equal operators.
const OpTarget& find_operator(const Node& node) {
  if (node.kind != NodeKind::call_function || !is_function_spelling(node.target)) return op_find(node_spelling(node));
  const std::string_view shared = same_function(node.target);
  return shared.find('.') == std::string_view::npos ? op_find("torch." + std::string(shared)) : op_find(shared);
}

// A row's default: a literal, or a constant of torch.
Value default_literal(const py::Expr& e) {
  switch (e.kind) {
    case py::ExprKind::none: return Value::none();
    case py::ExprKind::boolean: return Value::boolean(e.integer != 0);
    case py::ExprKind::integer: return Value::of(e.integer);
    case py::ExprKind::real: return Value::of(e.real);
    case py::ExprKind::string: return Value::string(std::string(e.text));
    case py::ExprKind::unary: {
      const Value v = default_literal(*e.items[0]);
      return v.kind == ValueKind::real ? Value::of(-v.real)
                                       : Value::of(-v.integer);  // the rows write no other sign than minus
    }
    case py::ExprKind::tuple:
    case py::ExprKind::list: {
      std::vector<Value> items;
      for (const py::Expr* item : e.items) items.push_back(default_literal(*item));
      return Value::sequence(e.kind == py::ExprKind::tuple ? ValueKind::tuple : ValueKind::list, std::move(items));
    }
    default: return Value::constant(py::print(e));
  }
}

// A call's arguments in the order of a row's parameters; nullopt where they do not fit.
std::optional<std::vector<Value>> bind_row(const OpRow& row, const Node& node) {
  std::vector<Value> out;
  std::size_t next = node.target == "getattr" ? node.args.size() : 0,
              used = 0;  // an attribute's name is part of its spelling
  for (const py::Parameter& p : row.function->parameters) {
    if (p.kind == py::ParameterKind::var_keyword) return std::nullopt;
    if (p.kind == py::ParameterKind::var_positional) {
      std::vector<Value> rest(node.args.begin() + static_cast<std::ptrdiff_t>(next), node.args.end());
      next = node.args.size();
      if (rest.size() == 1 && rest[0].is_sequence()) rest = std::move(rest[0].items);  // f([x, y]) for f(x, y)
      out.push_back(Value::sequence(ValueKind::tuple, std::move(rest)));
      continue;
    }
    const auto keyword =
        std::find_if(node.kwargs.begin(), node.kwargs.end(), [&](const Kwarg& k) { return k.name == p.name; });
    if (!p.keyword_only && next < node.args.size()) {
      if (keyword != node.kwargs.end()) return std::nullopt;
      out.push_back(node.args[next++]);
    } else if (keyword != node.kwargs.end()) {
      out.push_back(keyword->value);
      ++used;
    } else if (p.default_value != nullptr) {
      out.push_back(default_literal(*p.default_value));
    } else {
      return std::nullopt;
    }
  }
  if (next < node.args.size() || used != node.kwargs.size()) return std::nullopt;
  return out;
}

// Matching knows no types of nodes: each fits any parameter.
std::span<const Ty> any_types(const Node& node) {
  thread_local std::vector<Ty> types;
  NodeId most = -1;
  node_inputs(node, [&](NodeId id) { most = std::max(most, id); });
  if (types.size() <= static_cast<std::size_t>(most + 1)) types.resize(static_cast<std::size_t>(most) + 2, Ty::any);
  return types;
}

std::optional<std::vector<Value>> bind_aten(const AtenRow& row, const Node& node, Spelled spelled) {
  return bind_schema(aten_schema(row), {node.args, node.kwargs}, spelled, any_types(node), nullptr);
}

// The rows' parameters that take one number for all dimensions; ATen's are T[n].
constexpr std::string_view kOnePerDimension[] = {"kernel_size", "stride", "padding", "dilation", "output_size"};

// One number for a list of equal ones: `stride=1` beside `stride=(1, 1)`. A placeholder is left to bind what is
// written.
void spread_number(Value& a, Value& b) {
  const auto spread = [](Value& number, const Value& list) {
    number = Value::sequence(list.kind, std::vector<Value>(list.items.size(), number));
  };
  if (a.is_number() && b.is_sequence())
    spread(a, b);
  else if (b.is_number() && a.is_sequence())
    spread(b, a);
}

bool takes_one_for_all(const Param& param, const Value& a, const Value& b) {
  const auto fits = [&](const Value& v) {
    return v.is_sequence() && v.items.size() == static_cast<std::size_t>(param.type.list_size);
  };
  return param.type.list && (fits(a) || fits(b));
}

void keep(std::vector<Value> pattern, std::vector<Value> graph, ValueStore& store, ArgumentPairs& out) {
  store.push_back(std::move(pattern));
  for (const Value& v : store.back()) out.pattern.push_back(&v);
  store.push_back(std::move(graph));
  for (const Value& v : store.back()) out.graph.push_back(&v);
}

// One overload to which both calls bind.
bool align_overloads(std::span<const AtenRow* const> overloads, Spelled spelled, const Node& pattern, const Node& graph,
                     ValueStore& store, ArgumentPairs& out) {
  for (const AtenRow* row : overloads) {
    auto p = bind_aten(*row, pattern, spelled);
    if (!p) continue;
    auto g = bind_aten(*row, graph, spelled);
    if (!g) continue;
    for (std::size_t i = 0; i < p->size(); ++i)
      if (takes_one_for_all(aten_schema(*row).params[i], (*p)[i], (*g)[i])) spread_number((*p)[i], (*g)[i]);
    keep(std::move(*p), std::move(*g), store, out);
    return true;
  }
  return false;
}

// x.to(device, dtype, ...) and x.to(dtype, ...) by their keywords, as Python's parser tells them apart.
Node named_to(Node node) {
  constexpr const char* kNames[] = {"device", "dtype", "non_blocking", "copy"};
  if (node.target != "to" || node.args.size() < 2 || node.args[1].is_node()) return node;
  std::size_t next = node.args[1].kind == ValueKind::constant ? 1 : 0;
  for (std::size_t i = 1; i < node.args.size() && next < std::size(kNames); ++i)
    node.kwargs.push_back({kNames[next++], std::move(node.args[i])});
  node.args.resize(1);
  return node;
}

bool align_operator(const Node& pattern, const Node& graph, ValueStore& store, ArgumentPairs& out) {
  const OpTarget& op = find_operator(pattern);
  if (!op) return false;
  if (op.row == nullptr) return align_overloads(op.overloads, op.spelled, pattern, graph, store, out);
  const auto& parameters = op.row->function->parameters;
  const bool open = std::any_of(parameters.begin(), parameters.end(),
                                [](const py::Parameter& p) { return p.kind != py::ParameterKind::normal; });
  if (open && pattern.kind == NodeKind::call_method) {  // x.to(*args): ATen's overloads name what the row leaves open
    std::vector<const AtenRow*> overloads;
    for (const AtenRow& row : aten_find(pattern.target)) overloads.push_back(&row);
    if (align_overloads(overloads, Spelled::method, named_to(pattern), named_to(graph), store, out)) return true;
  }
  auto p = bind_row(*op.row, pattern);
  auto g = p ? bind_row(*op.row, graph) : std::nullopt;
  if (!g) return false;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (std::find(std::begin(kOnePerDimension), std::end(kOnePerDimension), parameters[i].name) !=
        std::end(kOnePerDimension))
      spread_number((*p)[i], (*g)[i]);
  keep(std::move(*p), std::move(*g), store, out);
  return true;
}

// All arguments of the schema: the keyword, else the position, else the default (None where there is none).
std::vector<Value> fill_schema(const Schema& schema, const Node& node) {
  std::vector<Value> out;
  for (std::size_t i = 0; i < schema.params.size(); ++i) {
    const Param& p = schema.params[i];
    const auto keyword =
        std::find_if(node.kwargs.begin(), node.kwargs.end(), [&](const Kwarg& k) { return k.name == p.name; });
    if (keyword != node.kwargs.end())
      out.push_back(keyword->value);
    else if (!p.keyword_only && i < node.args.size())
      out.push_back(node.args[i]);
    else if (!p.default_value)
      out.push_back(Value::none());
    else if (p.type.list && p.type.list_size > 0 && p.default_value->is_number())
      out.push_back(Value::sequence(ValueKind::list,
                                    std::vector<Value>(static_cast<std::size_t>(p.type.list_size), *p.default_value)));
    else if (p.default_value->kind == ValueKind::constant && p.default_value->text == "torch.Mean")
      out.push_back(Value::of(std::int64_t{1}));
    else
      out.push_back(*p.default_value);
  }
  return out;
}

bool number_beside_list(const ArgumentPairs& pairs) {
  for (std::size_t i = 0; i < pairs.pattern.size(); ++i) {
    const Value &a = *pairs.pattern[i], &b = *pairs.graph[i];
    if ((a.is_number() && b.is_sequence()) || (a.is_sequence() && b.is_number())) return true;
  }
  return false;
}

}  // namespace

Target target_normal(const Node& node) {
  Target out = target_strict(node);
  if (node.kind != NodeKind::call_function || !is_function_spelling(node.target)) return out;
  const OpTarget& op = find_operator(node);
  if (op.row != nullptr) {
    const auto& spellings = op.row->spellings;
    const auto first =
        std::find_if(spellings.begin(), spellings.end(), [](const std::string& s) { return is_function_spelling(s); });
    if (first == spellings.end()) return out;
    out.name = same_function(*first);
  } else if (op && op.spelled == Spelled::function) {
    out.name = op.overloads[0]->name;
    out.hash = hash64(out.name, 0x61);  // ATen's names are a space of their own
    return out;
  }
  out.hash = hash64(out.name, static_cast<std::uint64_t>(out.kind));
  return out;
}

const AtenRow* aten_overload(std::string_view target, bool packet) {
  constexpr std::string_view kOps = "torch.ops.aten.";
  if (!target.starts_with(kOps)) return nullptr;
  target.remove_prefix(kOps.size());
  const std::size_t dot = target.find('.');
  if (dot == std::string_view::npos && !packet) return nullptr;
  const std::string_view overload = dot == std::string_view::npos ? "default" : target.substr(dot + 1);
  for (const AtenRow& row : aten_find(target.substr(0, dot)))
    if (row.overload == overload || (overload == "default" && row.overload.empty())) return &row;
  return nullptr;
}

bool same_shape(const Node& a, const Node& b) {
  if (a.args.size() != b.args.size() || a.kwargs.size() != b.kwargs.size()) return false;
  for (std::size_t i = 0; i < a.kwargs.size(); ++i)
    if (a.kwargs[i].name != b.kwargs[i].name) return false;
  return true;
}

bool align_arguments(const Node& pattern, const Node& graph, MatchMode mode, ValueStore& store, ArgumentPairs& out) {
  out.pattern.clear();
  out.graph.clear();
  if (same_shape(pattern, graph)) {
    for (const Value& v : pattern.args) out.pattern.push_back(&v);
    for (const Kwarg& k : pattern.kwargs) out.pattern.push_back(&k.value);
    for (const Value& v : graph.args) out.graph.push_back(&v);
    for (const Kwarg& k : graph.kwargs) out.graph.push_back(&k.value);
    ArgumentPairs bound;
    if (mode == MatchMode::normal && number_beside_list(out) && align_operator(pattern, graph, store, bound))
      out = std::move(bound);
    return true;
  }
  if (const AtenRow* overload = pattern.kind == NodeKind::call_function ? aten_overload(pattern.target) : nullptr) {
    keep(fill_schema(aten_schema(*overload), pattern), fill_schema(aten_schema(*overload), graph), store, out);
    return true;
  }
  return mode == MatchMode::normal && align_operator(pattern, graph, store, out);
}

}  // namespace passnet
