// Program -> Executable: operators resolved to handles and literals to torch's values once; a run is a loop of boxed
// calls.
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <chrono>

#include "base/file.h"
#include "exec/aten/frame.h"
#include "exec/aten/interpreter.h"

namespace passnet {

namespace {

// One argument of an operator: a literal made at load, a register handed on, or a value read and coerced at every call.
struct Operand {
  enum class Kind : std::uint8_t { literal, copied, moved, coerced } kind = Kind::literal;
  Register reg = 0;
  c10::IValue literal;
  const Value* value = nullptr;
  ParamType type;
};

// How many tensors a call gives back: one number that is expanded can be unbound to billions of views.
using Pieces = std::int64_t (*)(const std::vector<c10::IValue>& arguments);
constexpr std::int64_t kMostPieces = std::int64_t{1} << 20;

std::int64_t size_along(const c10::IValue& tensor, const c10::IValue& dim) {
  const at::Tensor& t = tensor.toTensor();
  const std::int64_t d = dim.toInt(), at = d < 0 ? d + t.dim() : d;
  return at >= 0 && at < t.dim() ? t.size(at) : 0;  // torch refuses the others
}
std::int64_t pieces_of_unbind(const std::vector<c10::IValue>& a) { return size_along(a[0], a[1]); }
std::int64_t pieces_of_split(const std::vector<c10::IValue>& a) {
  return size_along(a[0], a[2]) / std::max<std::int64_t>(1, a[1].toInt());
}
std::int64_t pieces_of_chunk(const std::vector<c10::IValue>& a) {
  const std::int64_t size = size_along(a[0], a[2]);
  return size == 0 ? a[1].toInt() : std::min(size, a[1].toInt());
}
std::int64_t pieces_of_sections(const std::vector<c10::IValue>& a) { return a[1].toInt(); }

struct PiecesRow {
  std::string_view name, overload;
  Pieces pieces;
};
constexpr PiecesRow kPieces[] = {
    {"unbind", "int", pieces_of_unbind},         {"unbind_copy", "int", pieces_of_unbind},
    {"split", "Tensor", pieces_of_split},        {"split_copy", "Tensor", pieces_of_split},
    {"unsafe_split", "Tensor", pieces_of_split}, {"chunk", "", pieces_of_chunk},
    {"unsafe_chunk", "", pieces_of_chunk},       {"tensor_split", "sections", pieces_of_sections},
    {"hsplit", "int", pieces_of_sections},       {"vsplit", "int", pieces_of_sections},
    {"dsplit", "int", pieces_of_sections},
};
Pieces pieces_of(const Schema& schema) {
  for (const PiecesRow& row : kPieces)
    if (row.name == schema.name && row.overload == schema.overload) return row.pieces;
  return nullptr;
}

struct Instruction;
struct Arm {
  std::vector<Instruction> code;
  std::vector<Value> results;
};

struct Instruction {
  StepKind kind = StepKind::aten;
  std::optional<c10::OperatorHandle> op;
  Pieces pieces = nullptr;
  std::vector<Operand> operands;
  BuiltinFunction builtin = nullptr;
  std::vector<Value> values;  // a builtin's arguments, a branch's condition
  std::vector<Register> results;
  std::vector<Register> dead;  // registers nobody reads later
  std::vector<Arm> arms;
  ExternalStep* external = nullptr;
  std::vector<RunValue> arguments;  // of an external function: literals stay, the rest is set at every call
  NodeId node = 0;
};

template <class F>
void step_reads(const Step& step, const F& visit) {
  for (const Value& arg : step.args) value_nodes(arg, visit);
  for (const Block& arm : step.arms) {
    for (const Step& inner : arm.steps) step_reads(inner, visit);
    value_nodes(arm.result, visit);
  }
}

// Whether it reads a register.
bool is_dynamic(const Value& value) {
  bool out = false;
  value_nodes(value, [&](NodeId) { out = true; });
  return out;
}

class AtenExecutable final : public Executable {
 public:
  AtenExecutable(const Program& program, const Graph& graph, DeviceType device,
                 std::span<ExternalStep* const> externals)
      : program_(program), file_(graph.file), externals_(externals.begin(), externals.end()) {
    frame_.device = to_device(device);
    for (const Node& node : graph.nodes) places_.push_back({node.line, node.column});
    code_ = compile(program_.steps, true);
  }

  Result<RunValue> run(std::span<const TensorRef> inputs) override {
    if (inputs.size() != program_.inputs)
      return Error{Code::internal,
                   {file_, 0, 0, {}},
                   fmt::format("{} inputs for {} placeholders", inputs.size(), program_.inputs),
                   {}};
    try {
      const c10::InferenceMode inference(true);
      frame_.registers.assign(program_.types.size(), {});
      for (std::size_t i = 0; i < inputs.size(); ++i) frame_.registers[i] = from_ref(inputs[i]);
      if (seconds_ != nullptr)
        execute_watched();
      else
        execute(code_);
      RunValue out = describe(program_.result);
      frame_.registers.clear();
      return out;
    } catch (Failure& failed) {  // an external function's own error
      frame_.registers.clear();
      return std::move(failed.error);
    } catch (const c10::Error& error) {
      return failure(brief_message(error.what_without_backtrace()));
    } catch (const std::bad_alloc&) {
      return failure("out of memory");
    } catch (const std::exception& error) {
      return failure(error.what());
    }
  }

  void watch(std::vector<double>* seconds) override {
    seconds_ = seconds;
    if (seconds_ != nullptr) seconds_->resize(places_.size(), 0);
  }

 private:
  Error failure(std::string message) {
    frame_.registers.clear();
    const auto [line, column] = places_[static_cast<std::size_t>(node_)];
    return Error{Code::run, where_in_file(file_, line, column), std::move(message), {}};
  }

  RunValue describe(const Value& value) {
    if (value.is_sequence()) {
      RunValue out;
      out.kind = RunValue::Kind::list;
      for (const Value& item : value.items) out.items.push_back(describe(item));
      return out;
    }
    // A dtype is a number to torch; Python shows its name.
    if (value.kind == ValueKind::constant ||
        (value.is_node() && program_.types[static_cast<std::size_t>(value.node)] == Ty::dtype)) {
      RunValue out;
      out.kind = RunValue::Kind::text;
      out.text =
          value.kind == ValueKind::constant
              ? value.text
              : fmt::format(
                    "torch.{}",
                    dtype_row(from_scalar_type(static_cast<at::ScalarType>(frame_.at(value.node).toInt()))).name);
      return out;
    }
    return to_run_value(frame_.read(value));
  }

  std::vector<Instruction> compile(const std::vector<Step>& steps, bool outermost) {
    std::vector<Instruction> out;
    out.reserve(steps.size());
    for (const Step& step : steps) {
      node_ = step.node;
      Instruction in;
      in.kind = step.kind;
      in.node = step.node;
      in.results = step.results;
      if (step.kind == StepKind::aten) compile_aten(step, in);
      if (step.kind == StepKind::builtin) {
        in.builtin = builtin_function(step.builtin);
        if (in.builtin == nullptr) fail(Code::internal, fmt::format("builtin '{}' is not implemented", step.builtin));
        in.values = step.args;
      }
      if (step.kind == StepKind::external) {
        if (step.external >= externals_.size()) fail(Code::internal, "a program's external function is not given");
        in.values = step.args;
        in.external = externals_[step.external];
        for (const Value& v : in.values) in.arguments.push_back(is_dynamic(v) ? RunValue{} : describe(v));
      }
      if (step.kind == StepKind::branch) {
        in.values = step.args;
        for (const Block& arm : step.arms) in.arms.push_back({compile(arm.steps, false), arm.result.items});
      }
      out.push_back(std::move(in));
    }
    if (outermost) mark_deaths(steps, out);
    return out;
  }

  void compile_aten(const Step& step, Instruction& in) {
    const Schema& schema = *step.schema;
    in.op =
        c10::Dispatcher::singleton().findSchema({fmt::format("aten::{}", schema.name), std::string(schema.overload)});
    if (!in.op) fail(Code::environment, fmt::format("this torch has no operator aten::{}", schema.text));
    in.pieces = pieces_of(schema);
    in.operands.resize(step.args.size());
    for (std::size_t i = 0; i < step.args.size(); ++i) {
      const Value& arg = step.args[i];
      Operand& operand = in.operands[i];
      operand.type = schema.params[i].type;
      if (arg.is_node() && needs_no_coercion(program_.types[static_cast<std::size_t>(arg.node)], operand.type)) {
        operand.kind = Operand::Kind::copied;
        operand.reg = arg.node;
      } else if (is_dynamic(arg)) {
        operand.kind = Operand::Kind::coerced;
        operand.value = &arg;
      } else {
        operand.literal = coerce(frame_.read(arg), operand.type);
      }
    }
  }

  // A register dies with its last reader; where that reader takes it whole and once, it is moved in.
  void mark_deaths(const std::vector<Step>& steps, std::vector<Instruction>& code) {
    std::vector<std::int32_t> last(program_.types.size(), -1);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      step_reads(steps[i], [&](NodeId r) { last[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(i); });
      for (const Register r : steps[i].results) last[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(i);
    }
    value_nodes(program_.result, [&](NodeId r) { last[static_cast<std::size_t>(r)] = -1; });
    for (std::size_t r = 0; r < last.size(); ++r)
      if (last[r] >= 0) code[static_cast<std::size_t>(last[r])].dead.push_back(static_cast<Register>(r));
    for (std::size_t i = 0; i < code.size(); ++i) {
      std::erase_if(code[i].dead, [&](Register r) {
        int uses = 0;
        step_reads(steps[i], [&](NodeId read) { uses += read == r ? 1 : 0; });
        if (uses != 1) return false;
        for (Operand& operand : code[i].operands)
          if (operand.kind == Operand::Kind::copied && operand.reg == r) {
            operand.kind = Operand::Kind::moved;
            return true;
          }
        return false;
      });
    }
  }

  void execute(std::vector<Instruction>& code) {
    for (Instruction& in : code) execute(in);
  }
  void execute_watched() {
    using Clock = std::chrono::steady_clock;
    auto begin = Clock::now();
    for (Instruction& in : code_) {
      execute(in);
      const auto end = Clock::now();
      (*seconds_)[static_cast<std::size_t>(in.node)] += std::chrono::duration<double>(end - begin).count();
      begin = end;
    }
  }
  void execute(Instruction& in) {
    node_ = in.node;
    switch (in.kind) {
      case StepKind::aten: call(in); break;
      case StepKind::builtin:
        frame_.registers[static_cast<std::size_t>(in.results[0])] = in.builtin(frame_, in.values);
        break;
      case StepKind::branch: branch(in); break;
      case StepKind::external: call_external(in); break;
      case StepKind::unknown: break;  // no program that runs has one
    }
    for (const Register r : in.dead) frame_.registers[static_cast<std::size_t>(r)] = {};
  }

  void call(const Instruction& in) {
    stack_.clear();
    for (const Operand& operand : in.operands) {
      switch (operand.kind) {
        case Operand::Kind::literal: stack_.push_back(operand.literal); break;
        case Operand::Kind::copied: stack_.push_back(frame_.at(operand.reg)); break;
        case Operand::Kind::moved:
          stack_.push_back(std::move(frame_.registers[static_cast<std::size_t>(operand.reg)]));
          break;
        case Operand::Kind::coerced: stack_.push_back(coerce(frame_.read(*operand.value), operand.type)); break;
      }
    }
    if (in.pieces != nullptr && in.pieces(stack_) > kMostPieces)
      throw std::length_error(fmt::format("gives back more than {} tensors", kMostPieces));
    in.op->callBoxed(stack_);
    for (std::size_t i = 0; i < in.results.size(); ++i)
      frame_.registers[static_cast<std::size_t>(in.results[i])] = std::move(stack_[i]);
    stack_.clear();
  }

  void call_external(Instruction& in) {
    for (std::size_t i = 0; i < in.values.size(); ++i) {
      const Value& v = in.values[i];
      if (v.is_node() && frame_.at(v.node).isTensor()) {
        in.arguments[i].kind = RunValue::Kind::tensor;
        set_ref(in.arguments[i].tensor, frame_.at(v.node).toTensor());
      } else if (is_dynamic(v)) {
        in.arguments[i] = describe(v);
      }
    }
    auto result = in.external->run(in.arguments);
    for (std::size_t i = 0; i < in.values.size(); ++i) {  // a register that dies here dies with the call
      in.arguments[i].tensor.owner = {};
      if (!in.arguments[i].items.empty() && is_dynamic(in.values[i])) in.arguments[i].items.clear();
    }
    if (!result) fail(std::move(result.error()));
    frame_.registers[static_cast<std::size_t>(in.results[0])] = from_run_value(*result);
  }

  void branch(Instruction& in) {
    const c10::IValue condition = frame_.read(in.values[0]);
    Arm& arm = in.arms[builtin_truth(condition) ? 0 : 1];
    execute(arm.code);
    for (std::size_t i = 0; i < in.results.size(); ++i)
      frame_.registers[static_cast<std::size_t>(in.results[i])] = frame_.read(arm.results[i]);
  }

  static bool builtin_truth(const c10::IValue& v) {
    if (v.isBool()) return v.toBool();
    if (v.isInt()) return v.toInt() != 0;
    if (v.isDouble()) return v.toDouble() != 0;
    if (v.isTensor()) return builtin_truth(item_of(v.toTensor()));
    return !v.isNone();
  }

  Program program_;
  std::string file_;
  std::vector<ExternalStep*> externals_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places_;
  std::vector<Instruction> code_;
  Frame frame_;
  std::vector<c10::IValue> stack_;
  NodeId node_ = 0;
  std::vector<double>* seconds_ = nullptr;
};

}  // namespace

c10::IValue Frame::read(const Value& value) const {
  switch (value.kind) {
    case ValueKind::none: return {};
    case ValueKind::boolean: return value.integer != 0;
    case ValueKind::integer: return value.integer;
    case ValueKind::real: return value.real;
    case ValueKind::string: return value.text;
    case ValueKind::node: return at(value.node);
    case ValueKind::device: return device;
    case ValueKind::constant: {
      if (const auto type = scalar_type_constant(value.text)) return static_cast<std::int64_t>(*type);
      if (value.text == "torch.contiguous_format") return static_cast<std::int64_t>(at::MemoryFormat::Contiguous);
      if (value.text == "torch.preserve_format") return static_cast<std::int64_t>(at::MemoryFormat::Preserve);
      if (value.text == "torch.channels_last") return static_cast<std::int64_t>(at::MemoryFormat::ChannelsLast);
      if (value.text == "torch.channels_last_3d") return static_cast<std::int64_t>(at::MemoryFormat::ChannelsLast3d);
      if (value.text == "torch.strided") return static_cast<std::int64_t>(at::kStrided);
      throw std::invalid_argument(fmt::format("'{}' is no value that we know", value.text));
    }
    case ValueKind::tuple:
    case ValueKind::list: {
      std::vector<c10::IValue> items;
      bool integers = !value.items.empty(), tensors = integers;
      for (const Value& item : value.items) {
        items.push_back(read(item));
        integers &= items.back().isInt();
        tensors &= items.back().isTensor();
      }
      if (integers) {
        std::vector<std::int64_t> list;
        for (const c10::IValue& item : items) list.push_back(item.toInt());
        return list;
      }
      if (tensors) {
        c10::List<at::Tensor> list;
        for (const c10::IValue& item : items) list.push_back(item.toTensor());
        return list;
      }
      return c10::ivalue::Tuple::create(std::move(items));
    }
    case ValueKind::ellipsis:
    case ValueKind::slice: break;
  }
  throw std::invalid_argument("a slice or an Ellipsis outside an index");
}

Result<std::unique_ptr<Executable>> make_executable(const Program& program, const Graph& graph, DeviceType device,
                                                    std::span<ExternalStep* const> externals) {
  try {
    return std::unique_ptr<Executable>(std::make_unique<AtenExecutable>(program, graph, device, externals));
  } catch (Failure& failure) {
    return std::move(failure.error);
  } catch (const c10::Error& error) {
    return Error{Code::argument, {graph.file, 0, 0, {}}, brief_message(error.what_without_backtrace()), {}};
  } catch (const std::exception& error) {
    return Error{Code::argument, {graph.file, 0, 0, {}}, error.what(), {}};
  }
}

}  // namespace passnet
