#include "author/trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "fx/literals.h"

namespace passnet::author {

std::size_t Call::position(std::string_view name) const {
  for (std::size_t i = 0; i < step.schema->params.size(); ++i)
    if (step.schema->params[i].name == name) return i;
  throw Unfit{fmt::format("no parameter '{}'", name)};
}
const Abstract& Call::at(std::size_t i) const {
  if (i >= args.size()) throw Unfit{"too few arguments"};
  return args[i];
}
const Handle& Call::tensor(std::size_t i) const {
  if (!at(i).is_tensor()) throw Unfit{"an argument that is no known tensor"};
  return at(i).tensor;
}
std::vector<Handle> Call::tensors(std::size_t i) const {
  if (at(i).kind != Abstract::Kind::list) throw Unfit{"an argument that is no list of tensors"};
  std::vector<Handle> out;
  for (const Abstract& item : at(i).items) {
    if (!item.is_tensor()) throw Unfit{"a list with an unknown tensor"};
    out.push_back(item.tensor);
  }
  return out;
}
std::int64_t Call::integer(std::size_t i) const {
  const Abstract& a = at(i);
  if (a.kind != Abstract::Kind::literal ||
      (a.literal.kind != ValueKind::integer && a.literal.kind != ValueKind::boolean))
    throw Unfit{"an argument that is no known integer"};
  return a.literal.integer;
}
double Call::real(std::size_t i) const {
  const Abstract& a = at(i);
  if (a.kind != Abstract::Kind::literal || !a.literal.is_number()) throw Unfit{"an argument that is no known number"};
  return a.literal.kind == ValueKind::real ? a.literal.real : static_cast<double>(a.literal.integer);
}
std::string Call::text(std::size_t i) const {
  const Abstract& a = at(i);
  if (a.kind != Abstract::Kind::literal || a.literal.kind != ValueKind::string) throw Unfit{"no known text"};
  return a.literal.text;
}
std::vector<std::int64_t> Call::integers(std::size_t i) const {
  const Abstract& a = at(i);
  if (a.kind == Abstract::Kind::literal && a.literal.kind == ValueKind::integer) return {a.literal.integer};
  std::vector<std::int64_t> out;
  if (a.kind == Abstract::Kind::literal && a.literal.is_sequence()) {
    for (const Value& v : a.literal.items) {
      if (v.kind != ValueKind::integer) throw Unfit{"a list with an unknown number"};
      out.push_back(v.integer);
    }
    return out;
  }
  if (a.kind != Abstract::Kind::list) throw Unfit{"an argument that is no known list"};
  for (const Abstract& item : a.items) {
    if (item.kind != Abstract::Kind::literal || item.literal.kind != ValueKind::integer)
      throw Unfit{"a list with an unknown number"};
    out.push_back(item.literal.integer);
  }
  return out;
}
std::optional<Dtype> Call::dtype(std::size_t i) const {
  if (is_none(i)) return std::nullopt;
  const Abstract& a = at(i);
  if (a.kind == Abstract::Kind::literal && a.literal.kind == ValueKind::constant)
    if (const auto d = dtype_from_name(a.literal.text)) return d;
  throw Unfit{"an unknown dtype"};
}
std::int64_t Call::dim(std::size_t i, std::size_t rank) const {
  std::int64_t d = integer(i);
  if (d < 0) d += static_cast<std::int64_t>(rank);
  if (d < 0 || d >= static_cast<std::int64_t>(std::max<std::size_t>(rank, 1)))
    throw Unfit{"a dimension that is not there"};
  return d;
}

std::optional<Memory> Call::asked_memory() const {
  for (std::size_t i = 0; i < step.schema->params.size() && i < args.size(); ++i) {
    if (step.schema->params[i].name != "memory_format" || is_none(i)) continue;
    if (at(i).literal.text == "torch.contiguous_format") return Memory::contiguous;
    if (at(i).literal.text != "torch.preserve_format") throw Unfit{"another memory format"};
  }
  return std::nullopt;
}
std::vector<Layout> Call::layouts() const {
  std::vector<Layout> out;
  const auto add = [&](const auto& self, const Abstract& a) -> void {
    if (a.is_tensor()) out.push_back({trace.sizes(a.tensor), a.tensor.strides});
    for (const Abstract& item : a.items) self(self, item);
  };
  for (const Abstract& a : args) {
    add(add, a);
    if (memory != Memory::iterator) break;
  }
  return out;
}

Handle Trace::input(const std::string& name, const std::vector<std::int64_t>& sizes,
                    const std::vector<std::int64_t>& strides, Dtype dtype, bool symbolic) {
  Tensor t;
  const int buffer = static_cast<int>(buffers.size());
  for (std::size_t d = 0; d < sizes.size(); ++d)
    t.shape.push_back(symbolic
                          ? ix.symbol(fmt::format("{}_dim{}", name, d), fmt::format("{}.shape[{}]", name, d), sizes[d])
                          : Dim(sizes[d]));
  const bool flexible = dtype == Dtype::float32 || dtype == Dtype::float16 || dtype == Dtype::bfloat16;
  t.type = {dtype, flexible ? buffer : -1};
  t.buffer = buffer;
  t.label = name;
  t.cost = 0;
  Handle h;
  h.buffer = buffer;
  h.shape = t.shape;
  h.type = t.type;
  h.strides = strides;
  buffers.push_back({make(std::move(t)), buffer, false});
  return h;
}

const Tensor* Trace::make(Tensor t) {
  t.id = static_cast<int>(tensors_.size());
  t.node = node;
  tensors_.push_back(std::make_unique<Tensor>(std::move(t)));
  return tensors_.back().get();
}

std::vector<std::int64_t> Trace::sizes(const Handle& h) const {
  std::vector<std::int64_t> out;
  for (const Dim& d : h.shape) out.push_back(ix.value(ix.resolve(d)));
  return out;
}

Handle Trace::fresh(const Tensor* value) {
  Handle h;
  h.buffer = static_cast<int>(buffers.size());
  h.shape = value->shape;
  h.type = value->type;
  buffers.push_back({value, -1, false});
  h.strides = dense_strides(sizes(h));
  return h;
}

Handle Trace::view(const Handle& base, View v, std::vector<std::int64_t> strides) {
  Handle out = base;
  out.shape = v.shape;
  out.strides = std::move(strides);
  out.views.push_back(std::make_shared<const View>(std::move(v)));
  return out;
}

const Tensor* Trace::read(const Handle& h) {
  const Tensor* base = buffers[static_cast<std::size_t>(h.buffer)].value;
  if (h.views.empty()) return base;
  Tensor t;
  t.shape = h.shape;
  t.type = h.type;
  t.uses = {base};
  t.cost = 0;
  t.label = base->label;
  t.element = [views = h.views, base](Kernel& k, const Index& index) {
    Index i = index;
    for (std::size_t v = views.size(); v-- > 0;) i = views[v]->to_base(k.ix, i);
    return k.element(base, i);
  };
  return make(std::move(t));
}

// The buffer's new value: inside the views `value`, elsewhere what it was.
void Trace::write(const Handle& target, const Tensor* value) {
  Buffer& buffer = buffers[static_cast<std::size_t>(target.buffer)];
  buffer.written = true;
  if (target.views.empty()) {
    buffer.value = value;
    return;
  }
  for (const auto& v : target.views)
    if (!v->to_view) throw Unfit{"a write through a view that repeats elements"};
  const Tensor* before = buffer.value;
  Tensor t;
  t.shape = before->shape;
  t.type = before->type;
  t.uses = {before, value};
  t.label = value->label;
  t.element = [views = target.views, before, value](Kernel& k, const Index& index) {
    Index i = index;
    std::vector<const Expr*> conditions;
    for (const auto& v : views) {
      View::Back back = v->to_view(k.ix, i);
      for (const auto& [form, limit] : back.inside) conditions.push_back(k.inside(form, limit));
      i = std::move(back.index);
    }
    return k.select(
        k.all_of(conditions), [&] { return k.element(value, i); }, [&] { return k.element(before, index); },
        compute_dtype(before->type.dtype));
  };
  Tensor* made = const_cast<Tensor*>(make(std::move(t)));
  made->result = made;
  buffer.value = made;
}

std::vector<Dim> Trace::broadcast(std::span<const std::vector<Dim>> shapes) {
  std::size_t rank = 0;
  for (const auto& s : shapes) rank = std::max(rank, s.size());
  std::vector<Dim> out(rank, Dim(1));
  for (const auto& s : shapes)
    for (std::size_t i = 0; i < s.size(); ++i) {
      Dim& d = out[rank - s.size() + i];
      const Dim other = ix.resolve(s[i]);
      if (other.is(1)) continue;
      if (ix.resolve(d).is(1))
        d = other;
      else if (!ix.same(d, other) && !ix.unify(d, other)) {
        if (ix.value(ix.resolve(d)) != ix.value(other)) throw Unfit{"shapes that do not broadcast"};
        d = other.constant() ? other : d;
      }
    }
  return out;
}

// The operand's index for the result's: aligned at the end, 0 where the operand repeats.
Index Trace::aligned(const Indices& ix, const std::vector<Dim>& shape, const Index& index) {
  Index out;
  for (std::size_t i = 0; i < shape.size(); ++i)
    out.push_back(ix.resolve(shape[i]).is(1) ? Lin(0) : index[index.size() - shape.size() + i]);
  return out;
}

Abstract Trace::read_value(const Value& value, const std::vector<Abstract>& registers) const {
  if (value.is_node()) return registers[static_cast<std::size_t>(value.node)];
  bool dynamic = false;
  value_nodes(value, [&](NodeId) { dynamic = true; });
  if (!dynamic || !value.is_sequence()) return Abstract::of(value);
  Abstract out;
  out.kind = Abstract::Kind::list;
  for (const Value& item : value.items) out.items.push_back(read_value(item, registers));
  return out;
}

void Trace::run(const Step& step, std::vector<Abstract>& registers) {
  try {
    run_one(step, registers);
  } catch (const std::exception& e) {  // a graph that eager refuses, too: it need not mean anything
    throw Unfit{e.what()};
  }
}

void Trace::run_one(const Step& step, std::vector<Abstract>& registers) {
  for (const Register r : step.results) registers[static_cast<std::size_t>(r)] = {};
  if (step.kind == StepKind::builtin) return run_builtin(step, registers);
  if (step.kind == StepKind::branch) {
    const Abstract condition = read_value(step.args[0], registers);
    if (condition.kind != Abstract::Kind::literal) throw Unfit{"a branch on an unknown value"};
    const Block& arm = step.arms[condition.literal.integer != 0 ? 0 : 1];
    for (const Step& inner : arm.steps) run(inner, registers);
    for (std::size_t i = 0; i < step.results.size(); ++i)
      registers[static_cast<std::size_t>(step.results[i])] = read_value(arm.result.items[i], registers);
    return;
  }
  if (step.kind != StepKind::aten) throw Unfit{"a call of a wrapper"};
  std::vector<Abstract> args;
  for (const Value& v : step.args) args.push_back(read_value(v, registers));
  Call call(*this, step, std::move(args));
  const RuleRow* row = rule_find(*step.schema);
  if (row == nullptr) throw Unfit{fmt::format("aten::{} is left to ATen", step.schema->name)};
  call.memory = call.asked_memory().value_or(row->memory);
  Abstract result = row->rule(call);
  if (step.results.size() == 1) {
    registers[static_cast<std::size_t>(step.results[0])] = std::move(result);
    return;
  }
  for (std::size_t i = 0; i < step.results.size() && i < result.items.size(); ++i)
    registers[static_cast<std::size_t>(step.results[i])] = result.items[i];
}

namespace {

// Python's arithmetic on the numbers that a program computes its sizes with.
struct FoldRow {
  std::string_view name;
  py::Op op;
};
constexpr FoldRow kFolds[] = {{"add", py::Op::add},           {"sub", py::Op::sub}, {"mul", py::Op::mul},
                              {"truediv", py::Op::div},       {"mod", py::Op::mod}, {"pow", py::Op::pow},
                              {"floordiv", py::Op::floor_div}};
constexpr FoldRow kComparisons[] = {{"eq", py::Op::eq}, {"ne", py::Op::ne}, {"lt", py::Op::lt},
                                    {"le", py::Op::le}, {"gt", py::Op::gt}, {"ge", py::Op::ge}};

std::optional<Value> fold(std::string_view name, const std::vector<Value>& args) {
  if (!std::all_of(args.begin(), args.end(), [](const Value& v) { return v.is_number(); })) return std::nullopt;
  if (args.size() == 1) {
    if (name == "neg") return fold_unary(py::Op::neg, args[0]);
    if (name == "float") return fold_binary(py::Op::mul, args[0], Value::of(1.0));
    return fold_math(name, args);
  }
  if (args.size() != 2) return std::nullopt;
  for (const FoldRow& row : kFolds)
    if (row.name == name) return fold_binary(row.op, args[0], args[1]);
  for (const FoldRow& row : kComparisons)
    if (row.name == name)
      if (const auto truth = fold_compare(row.op, args[0], args[1])) return Value::boolean(*truth);
  return std::nullopt;
}

}  // namespace

void Trace::run_builtin(const Step& step, std::vector<Abstract>& registers) {
  const auto set = [&](Abstract value) { registers[static_cast<std::size_t>(step.results[0])] = std::move(value); };
  std::vector<Abstract> args;
  const bool items = step.builtin == "getitem" || step.builtin == "setitem";
  for (std::size_t i = 0; i < step.args.size(); ++i)
    args.push_back(items && i == 1 ? Abstract::of(Value::none()) : read_value(step.args[i], registers));
  if (step.builtin == "getitem") {
    Call call(*this, step, args);
    return set(get_item(call, args[0], step.args[1], registers));
  }
  if (step.builtin == "setitem") {
    if (!args[0].is_tensor()) throw Unfit{"an assignment to items of an unknown tensor"};
    set_item(*this, args[0].tensor, step.args[1], args[2], registers);
    return set(Abstract::of(Value::none()));
  }
  if (!args.empty() && args[0].is_tensor()) {
    const std::vector<std::int64_t> shape = sizes(args[0].tensor);
    const auto at = [&](std::size_t i) -> std::int64_t {
      if (args[i].kind != Abstract::Kind::literal || args[i].literal.kind != ValueKind::integer)
        throw Unfit{"an unknown number"};
      return args[i].literal.integer;
    };
    if (step.builtin == "dim") return set(Abstract::of(Value::of(static_cast<std::int64_t>(shape.size()))));
    if (step.builtin == "size_at") {
      const std::int64_t d = at(1) < 0 ? at(1) + static_cast<std::int64_t>(shape.size()) : at(1);
      return set(Abstract::of(Value::of(shape.at(static_cast<std::size_t>(d)))));
    }
    if (step.builtin == "size") {
      std::vector<Value> all;
      for (const std::int64_t s : shape) all.push_back(Value::of(s));
      return set(Abstract::of(Value::sequence(ValueKind::tuple, all)));
    }
    if (step.builtin == "fill_sizes") {  // output sizes of adaptive pooling: None keeps the input's
      const auto n = static_cast<std::size_t>(at(2));
      const std::size_t lead = leading(args[0].tensor, n);
      std::vector<Value> out;
      const Value& given = args[1].literal;
      for (std::size_t i = 0; i < n; ++i) {
        const Value& v = given.is_sequence() ? given.items.at(i) : given;
        out.push_back(v.kind == ValueKind::none ? Value::of(shape[lead + i]) : v);
      }
      return set(Abstract::of(Value::sequence(ValueKind::tuple, out)));
    }
    if (step.builtin == "is_same" && args[1].is_tensor())
      return set(Abstract::of(Value::boolean(args[0].tensor.buffer == args[1].tensor.buffer &&
                                             args[0].tensor.views == args[1].tensor.views)));
    if (step.builtin == "is_none") return set(Abstract::of(Value::boolean(false)));
    throw Unfit{fmt::format("py.{} of a tensor", step.builtin)};
  }
  std::vector<Value> literals;
  for (const Abstract& a : args) {
    if (a.kind != Abstract::Kind::literal) throw Unfit{"an unknown number"};
    literals.push_back(a.literal);
  }
  if (step.builtin == "tuple_of") {
    const Value& v = literals[0];
    std::vector<Value> out;
    if (v.is_sequence())
      out = v.items;
    else
      out.assign(list_length(literals[1].integer), v);
    return set(Abstract::of(Value::sequence(ValueKind::tuple, out)));
  }
  if (step.builtin == "tensor" || step.builtin == "as_tensor") {
    if (!literals[0].is_number()) throw Unfit{"a tensor made of a list"};
    Dtype dtype = literals[0].kind == ValueKind::real      ? Dtype::float32
                  : literals[0].kind == ValueKind::integer ? Dtype::int64
                                                           : Dtype::boolean;
    if (literals[1].kind == ValueKind::constant) dtype = dtype_from_name(literals[1].text).value_or(dtype);
    Tensor t;
    t.type = {dtype, -1};
    t.cost = 0;
    t.label = "constant";
    t.element = [v = literals[0], dtype](Kernel& k, const Index&) {
      return k.round(number_literal(k, v, compute_dtype(dtype)), {dtype, -1});
    };
    Tensor* made = const_cast<Tensor*>(make(std::move(t)));
    made->result = made;
    return set(Abstract::of(fresh(made)));
  }
  if (const auto v = fold(step.builtin, literals)) return set(Abstract::of(*v));
  throw Unfit{fmt::format("py.{}", step.builtin)};
}

const Expr* number_literal(Kernel& k, const Value& v, Dtype type) {
  return v.kind == ValueKind::real ? k.literal(v.real, type) : k.literal(v.integer, type);
}

const Tensor* number_tensor(Trace& trace, const Value& v, Dtype type) {
  Tensor t;
  t.type = {type, -1};
  t.cost = 0;
  t.label = "number";
  t.element = [v, type](Kernel& k, const Index&) { return number_literal(k, v, type); };
  return trace.make(std::move(t));
}

std::size_t list_length(std::int64_t n) {
  if (n < 0 || n > kMostRepeated) throw Unfit{"a list of too many items"};
  return static_cast<std::size_t>(n);
}

std::size_t leading(const Handle& h, std::size_t n) {
  if (n == 0 || h.shape.size() < n) throw Unfit{"an operand of another rank"};
  return h.shape.size() - n;
}

Abstract stored(Call& call, const Tensor* value, Type type, const std::string& label) {
  return stored(call, value, type, label, call.layouts());
}

Abstract stored(Call& call, const Tensor* value, Type type, const std::string& label, std::span<const Layout> layouts) {
  Trace& trace = call.trace;
  std::vector<std::int64_t> sizes;
  for (const Dim& d : value->shape) sizes.push_back(trace.ix.value(trace.ix.resolve(d)));
  const std::vector<int> order = memory_order(call.memory, sizes, layouts);
  if (std::is_sorted(order.begin(), order.end())) return Abstract::of(trace.fresh(finished(trace, value, type, label)));
  // computed in memory's order, returned as the view that eager's result is
  Tensor t;
  std::vector<int> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    t.shape.push_back(value->shape[static_cast<std::size_t>(order[i])]);
    back[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  }
  t.type = value->type;
  t.uses = {value};
  t.label = label;
  t.cost = value->cost;
  t.element = [value, order](Kernel& k, const Index& index) {
    Index at(index.size());
    for (std::size_t i = 0; i < order.size(); ++i) at[static_cast<std::size_t>(order[i])] = index[i];
    return k.element(value, at);
  };
  const Handle base = trace.fresh(finished(trace, trace.make(std::move(t)), type, label));
  return Abstract::of(permute(trace, base, back, fmt::format(".permute({})", fmt::join(back, ", "))));
}

const RuleRow* rule_find(const Schema& schema) {
  const std::string full =
      schema.overload.empty() ? std::string(schema.name) : fmt::format("{}.{}", schema.name, schema.overload);
  for (const auto rules :
       {rules_pointwise(), rules_view(), rules_copy(), rules_reduce(), rules_window(), rules_product()})
    for (const RuleRow& row : rules)
      if (row.op == full || row.op == schema.name) return &row;
  return nullptr;
}

}  // namespace passnet::author
