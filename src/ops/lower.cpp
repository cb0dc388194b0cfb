#include "ops/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/file.h"
#include "fx/literals.h"
#include "ops/builtins.h"
#include "ops/row_eval.h"
#include "ops/table.h"

namespace passnet {

namespace {

Ty return_type(const ParamType& type) {
  if (type.list) return type.base == Base::tensor ? Ty::tensors : type.base == Base::integer ? Ty::integers : Ty::other;
  switch (type.base) {
    case Base::tensor: return Ty::tensor;
    case Base::integer: return Ty::integer;
    case Base::real: return Ty::real;
    case Base::boolean: return Ty::boolean;
    case Base::scalar: return Ty::number;
    case Base::string: return Ty::string;
    case Base::dtype: return Ty::dtype;
    case Base::device: return Ty::device;
    default: return Ty::other;
  }
}

class Lowering : public Emitter {
 public:
  Lowering(const Graph& graph, std::span<const ExternalFunction> externals, Ty inputs, bool whole)
      : graph_(graph), externals_(externals), inputs_(inputs), whole_(whole) {}

  Program run() {
    values_.resize(graph_.nodes.size());
    program_.inputs = graph_.placeholder_count();
    program_.types.assign(program_.inputs, inputs_);
    program_.steps.reserve(graph_.nodes.size());
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      node_ = id;
      const Node& node = graph_.nodes[id];
      if (node.kind == NodeKind::placeholder)
        values_[id] = Value::ref(id);
      else if (node.kind == NodeKind::output)
        program_.result = whole_ ? operand(node.args[0]) : Value::none();
      else
        values_[id] = whole_ ? node_call(node) : try_node_call(node);
    }
    program_.values = std::move(values_);
    return std::move(program_);
  }

  // ---- Emitter
  Ty type(const Value& value) const override { return type_of(value, program_.types); }

  Value call(std::string_view spelling, std::span<const Value> args, std::span<const Kwarg> kwargs) override {
    const OpTarget& target = op_find(spelling);
    if (!target) unknown(spelling);
    if (target.row != nullptr) return evaluate_row(*this, *target.row, spelling, args, kwargs);
    return overload(spelling, target.overloads, target.spelled, args, kwargs);
  }

  Value aten(std::string_view name, std::string_view overload_name, std::span<const Value> args,
             std::span<const Kwarg> kwargs) override {
    std::vector<const AtenRow*> rows;
    for (const AtenRow& row : aten_find(name))
      if (overload_name.empty() || row.overload == overload_name) rows.push_back(&row);
    return overload(name, rows, overload_name.empty() ? Spelled::function : Spelled::aten, args, kwargs);
  }

  Value builtin(std::string_view name, std::vector<Value> args) override {
    const BuiltinRow* row = builtin_find(name);
    if (row == nullptr || args.size() < row->min_args || args.size() > row->max_args)
      fail(Code::internal, fmt::format("py.{} with {} arguments", name, args.size()));
    std::vector<Ty> types;
    for (const Value& arg : args) types.push_back(type(arg));
    Step step;
    step.kind = StepKind::builtin;
    step.builtin = row->name;
    step.args = std::move(args);
    step.node = node_;
    const Value result = fresh(builtin_result(*row, types));
    step.results.push_back(result.node);
    steps().push_back(std::move(step));
    return result;
  }

  Value branch(const Value& condition, const std::function<Value()>& then,
               const std::function<Value()>& otherwise) override {
    Step step;
    step.kind = StepKind::branch;
    step.node = node_;
    step.args.push_back(condition);
    step.arms.resize(2);
    Value results[2];
    for (int arm = 0; arm < 2; ++arm) {
      std::vector<Step>* outer = std::exchange(current_, &step.arms[arm].steps);
      ++depth_;
      results[arm] = arm == 0 ? then() : otherwise();
      --depth_;
      current_ = outer;
    }
    step.arms[0].result = step.arms[1].result = Value::sequence(ValueKind::tuple, {});
    Value merged = merge(results[0], results[1], step);
    steps().push_back(std::move(step));
    return merged;
  }

  bool in_branch() const override { return depth_ > 0; }

  Where where() const override {
    const Node& node = graph_.nodes[node_];
    return where_in_file(graph_.file, node.line, node.column);
  }

 private:
  std::vector<Step>& steps() { return current_ != nullptr ? *current_ : program_.steps; }

  Value fresh(Ty type) {
    program_.types.push_back(type);
    return Value::ref(static_cast<NodeId>(program_.types.size() - 1));
  }

  // A graph's operand with its node references turned into what those nodes became.
  Value operand(const Value& value) const {
    if (value.is_node()) return values_[value.node];
    if (value.kind == ValueKind::constant && !constant_known(value.text))
      error(Code::name, fmt::format("'{}' is no value that we know", value.text),
            {"dtypes, layouts and memory formats of torch are"});
    if (value.items.empty()) return value;
    Value out = value;
    for (Value& item : out.items) item = operand(item);
    return out;
  }

  Value node_call(const Node& node) {
    std::vector<Value> args;
    args.reserve(node.args.size());
    for (const Value& arg : node.args) args.push_back(operand(arg));
    std::vector<Kwarg> kwargs;
    for (const Kwarg& kwarg : node.kwargs) {
      if (kwarg.name == "out" && kwarg.value.kind != ValueKind::none)
        error(Code::unsupported, fmt::format("{}: out= is not supported", node_spelling(node)),
              {"write a value that exists by .copy_()"});
      kwargs.push_back({kwarg.name, operand(kwarg.value)});
    }
    if (node.kind == NodeKind::call_method) {
      // A method of a number or a list is Python's, not torch's.
      const Ty object = type(args[0]);
      if (object != Ty::tensor && object != Ty::any && op_row_find("." + node.target) == nullptr)
        error(Code::argument, fmt::format("'.{}' is no method of {}", node.target, ty_name(object)),
              {"methods are those of a Tensor"});
      return call("." + node.target, args, kwargs);
    }
    for (std::size_t i = 0; i < externals_.size(); ++i)
      if (node.target == externals_[i].name) return external_call(i, std::move(args));
    if (node.target == "getattr") {
      if (args.size() != 2 || args[1].kind != ValueKind::string)
        error(Code::argument, "getattr takes a value and a name", {});
      return call("getattr." + args[1].text, std::span(args).first(1), {});
    }
    return call(node.target, args, kwargs);
  }

  Value try_node_call(const Node& node) {
    const std::size_t mark = program_.steps.size();
    try {
      return node_call(node);
    } catch (const Failure&) {
      current_ = nullptr;
      depth_ = 0;
      program_.steps.resize(mark);
    }
    Step step;
    step.kind = StepKind::unknown;
    step.node = node_;
    node_inputs(node, [&](NodeId used) { step.args.push_back(values_[used]); });
    const Value result = fresh(Ty::any);
    step.results.push_back(result.node);
    program_.steps.push_back(std::move(step));
    return result;
  }

  Value external_call(std::size_t index, std::vector<Value> args) {
    Step step;
    step.kind = StepKind::external;
    step.external = index;
    step.args = std::move(args);
    step.node = node_;
    const Value result = fresh(externals_[index].outputs == 1 ? Ty::tensor : Ty::tensors);
    step.results.push_back(result.node);
    steps().push_back(std::move(step));
    return result;
  }

  Value overload(std::string_view spelling, const std::vector<const AtenRow*>& rows, Spelled spelled,
                 std::span<const Value> args, std::span<const Kwarg> kwargs) {
    for (const AtenRow* row : rows) {
      const Schema& schema = aten_schema(*row);
      if (auto bound = bind_schema(schema, {args, kwargs}, spelled, program_.types, nullptr))
        return emit(schema, std::move(*bound));
    }
    std::vector<std::string> notes;
    for (const AtenRow* row : rows) {
      std::string why;
      bind_schema(aten_schema(*row), {args, kwargs}, spelled, program_.types, &why);
      if (notes.size() < 6) notes.push_back(fmt::format("{}: {}", row->schema, why));
    }
    const std::string written = node_spelling(graph_.nodes[node_]);
    const std::string inner = written == spelling ? std::string() : written + ": ";
    error(Code::argument, fmt::format("{}{}({}): no signature fits", inner, spelling, argument_types(args, kwargs)),
          std::move(notes));
  }

  std::string argument_types(std::span<const Value> args, std::span<const Kwarg> kwargs) const {
    std::vector<std::string> out;
    for (const Value& arg : args) out.emplace_back(ty_name(type(arg)));
    for (const Kwarg& kwarg : kwargs) out.push_back(fmt::format("{}={}", kwarg.name, ty_name(type(kwarg.value))));
    return text_join(out, ", ");
  }

  Value emit(const Schema& schema, std::vector<Value> args) {
    Step step;
    step.schema = &schema;
    step.args = std::move(args);
    step.node = node_;
    std::vector<Value> results;
    for (const ParamType& type : schema.returns) {
      results.push_back(fresh(return_type(type)));
      step.results.push_back(results.back().node);
    }
    steps().push_back(std::move(step));
    if (results.size() == 1) return results[0];
    return results.empty() ? Value::none() : Value::sequence(ValueKind::tuple, std::move(results));
  }

  // One value for both arms: equal ones stay, tuples merge item by item, anything else gets a register.
  Value merge(const Value& a, const Value& b, Step& step) {
    if (a == b) return a;
    if (a.is_sequence() && a.kind == b.kind && a.items.size() == b.items.size()) {
      Value out = Value::sequence(a.kind, {});
      for (std::size_t i = 0; i < a.items.size(); ++i) out.items.push_back(merge(a.items[i], b.items[i], step));
      return out;
    }
    const Ty ta = type(a), tb = type(b);
    const Value result = fresh(ta == tb ? ta : Ty::any);
    step.results.push_back(result.node);
    step.arms[0].result.items.push_back(a);
    step.arms[1].result.items.push_back(b);
    return result;
  }

  [[noreturn]] void unknown(std::string_view spelling) const {
    std::vector<std::string> notes;
    const auto nearest = op_nearest(spelling);
    if (!nearest.empty()) notes.push_back(fmt::format("did you mean {}?", text_join(nearest, ", ")));
    for (std::string& note : notes)
      for (std::size_t at; (at = note.find("getattr.")) != std::string::npos;) note.erase(at, 7);
    const std::string_view shown = spelling.starts_with("getattr.") ? spelling.substr(7) : spelling;
    error(Code::op, fmt::format("unknown operator '{}'", shown), std::move(notes));
  }

  const Graph& graph_;
  std::span<const ExternalFunction> externals_;
  Ty inputs_;   // what the placeholders are
  bool whole_;  // a node that cannot be lowered is an error
  Program program_;
  std::vector<Value> values_;  // what each node became
  std::vector<Step>* current_ = nullptr;
  NodeId node_ = 0;
  int depth_ = 0;
};

void block_text(const std::vector<Step>& steps, int indent, std::string& out) {
  const auto name = [](NodeId id) { return "%" + std::to_string(id); };
  for (const Step& step : steps) {
    out.append(static_cast<std::size_t>(indent) * 2, ' ');
    for (std::size_t i = 0; i < step.results.size(); ++i) out += (i > 0 ? ", " : "") + name(step.results[i]);
    if (!step.results.empty()) out += " = ";
    std::vector<std::string> args;
    for (const Value& arg : step.args) args.push_back(value_text(arg, name));
    if (step.kind == StepKind::aten)
      out += fmt::format("aten.{}{}{}", step.schema->name, step.schema->overload.empty() ? "" : ".",
                         step.schema->overload);
    else if (step.kind == StepKind::builtin)
      out += fmt::format("py.{}", step.builtin);
    else if (step.kind == StepKind::external)
      out += fmt::format("external.{}", step.external);
    else
      out += "if ";
    out += fmt::format("({})\n", text_join(args, ", "));
    for (const Block& arm : step.arms) {
      block_text(arm.steps, indent + 1, out);
      out += fmt::format("{:{}}-> {}\n", "", (indent + 1) * 2, value_text(arm.result, name));
    }
  }
}

}  // namespace

Result<Program> lower_graph(const Graph& graph, std::span<const ExternalFunction> externals) {
  return guarded([&] { return Lowering(graph, externals, Ty::tensor, true).run(); });
}

Program lower_known(const Graph& graph, std::span<const ExternalFunction> externals, Ty inputs) {
  return Lowering(graph, externals, inputs, false).run();
}

std::string program_text(const Program& program) {
  std::string out;
  block_text(program.steps, 0, out);
  return out + "return " + value_text(program.result, [](NodeId id) { return "%" + std::to_string(id); }) + "\n";
}

}  // namespace passnet
