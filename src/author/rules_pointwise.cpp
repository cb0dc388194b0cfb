// Elementwise operators: one row each. The text is the element's expression; an operator computes in float32 where
// eager does, and its result is rounded once, as eager stores it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "author/trace.h"

namespace passnet::author {

namespace {

enum class Result : std::uint8_t {
  same,        // the promoted type of the operands
  floating,    // the same, integers become float32
  whole,       // the same; integers are whole already, so the result is a copy
  comparison,  // bool; the operands are compared in their promoted type
};

struct Row {
  std::string_view op;  // without a trailing underscore: the in-place form is the same row
  int operands;
  std::string_view text;
  Result result;
  double cost;
};

// {0}, {1}: operands. Law: the scalar function of ATen's kernel.
constexpr Row kRows[] = {
    {"mul", 2, "{0} * {1}", Result::same, 1},
    {"div", 2, "{0} / {1}", Result::floating, 4},
    {"maximum", 2, "tl.maximum({0}, {1})", Result::same, 1},
    {"minimum", 2, "tl.minimum({0}, {1})", Result::same, 1},
    {"max.other", 2, "tl.maximum({0}, {1})", Result::same, 1},
    {"min.other", 2, "tl.minimum({0}, {1})", Result::same, 1},
    {"neg", 1, "-{0}", Result::same, 1},
    {"abs", 1, "tl.abs({0})", Result::same, 1},
    {"square", 1, "{0} * {0}", Result::same, 1},
    {"exp", 1, "tl.exp({0})", Result::floating, 10},
    {"log", 1, "tl.log({0})", Result::floating, 10},
    {"sqrt", 1, "tl.sqrt({0})", Result::floating, 6},
    {"rsqrt", 1, "1.0 / tl.sqrt({0})", Result::floating, 8},
    {"reciprocal", 1, "1.0 / {0}", Result::floating, 4},
    {"sin", 1, "tl.sin({0})", Result::floating, 15},
    {"cos", 1, "tl.cos({0})", Result::floating, 15},
    {"tanh", 1, "libdevice.tanh({0})", Result::floating, 15},
    {"erf", 1, "tl.erf({0})", Result::floating, 12},
    {"floor", 1, "tl.floor({0})", Result::whole, 2},
    {"ceil", 1, "tl.ceil({0})", Result::whole, 2},
    {"sigmoid", 1, "1.0 / (1.0 + tl.exp(-{0}))", Result::floating, 14},
    {"silu", 1, "{0} / (1.0 + tl.exp(-{0}))", Result::floating, 14},
    {"relu", 1, "tl.where({0} <= 0, 0, {0})", Result::same, 1},
    {"relu6", 1, "tl.where({0} <= 0, 0, tl.where({0} >= 6, 6, {0}))", Result::same, 2},
    {"hardswish", 1, "{0} * tl.minimum(tl.maximum({0} + 3.0, 0.0), 6.0) / 6.0", Result::floating, 6},
    {"hardsigmoid", 1, "tl.minimum(tl.maximum({0} + 3.0, 0.0), 6.0) / 6.0", Result::floating, 6},
    {"softplus", 1, "tl.where({0} > 20.0, {0}, tl.log(1.0 + tl.exp({0})))", Result::floating, 20},
    {"logical_not", 1, "{0} == 0", Result::comparison, 1},
    {"eq", 2, "{0} == {1}", Result::comparison, 1},
    {"ne", 2, "{0} != {1}", Result::comparison, 1},
    {"lt", 2, "{0} < {1}", Result::comparison, 1},
    {"le", 2, "{0} <= {1}", Result::comparison, 1},
    {"gt", 2, "{0} > {1}", Result::comparison, 1},
    {"ge", 2, "{0} >= {1}", Result::comparison, 1},
    {"bitwise_and", 2, "{0} & {1}", Result::same, 1},
    {"bitwise_or", 2, "{0} | {1}", Result::same, 1},
    {"bitwise_xor", 2, "{0} ^ {1}", Result::same, 1},
    {"bitwise_not", 1, "~{0}", Result::same, 1},
};

const Row& row_named(std::string_view op) {
  for (const Row& row : kRows)
    if (row.op == op) return row;
  throw Unfit{"no such row"};
}

const Row* row_find(const Schema& schema) {
  std::string name(schema.name);
  if (name.ends_with('_') && !name.ends_with("__")) name.pop_back();
  const std::string full = fmt::format("{}.{}", name, schema.overload);
  for (const Row& row : kRows)
    if (row.op == full || row.op == name) return &row;
  return nullptr;
}

bool in_place(const Schema& schema) { return !schema.params.empty() && schema.params[0].written; }

// bool, integers, floating: a lower category gives way to a higher one.
int category(Dtype d) { return d == Dtype::boolean ? 0 : dtype_row(d).floating ? 2 : 1; }

// torch.promote_types for real numbers.
Dtype promote_dtypes(Dtype a, Dtype b) {
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  const std::uint8_t size = dtype_row(a).size, other = dtype_row(b).size;
  if (a == b || size != other) return size >= other ? a : b;
  return category(a) == 2 ? Dtype::float32 : Dtype::int16;  // the two halves; int8 and uint8
}

bool known(Dtype d) {
  switch (d) {
    case Dtype::float32:
    case Dtype::float64:
    case Dtype::float16:
    case Dtype::bfloat16:
    case Dtype::int64:
    case Dtype::int32:
    case Dtype::int16:
    case Dtype::int8:
    case Dtype::uint8:
    case Dtype::boolean: return true;
    default: return false;
  }
}

Type literal_type(const Value& v) {
  return {v.kind == ValueKind::real      ? Dtype::float32
          : v.kind == ValueKind::integer ? Dtype::int64
                                         : Dtype::boolean,
          -1};
}

const Value& number_at(const Call& call, std::size_t i) {
  const Abstract& a = call.at(i);
  if (a.kind != Abstract::Kind::literal || !a.literal.is_number()) throw Unfit{"an unknown operand"};
  return a.literal;
}

const Tensor* operand(Call& call, std::size_t i, Dtype compute) {
  if (call.is_tensor(i)) return call.trace.read(call.tensor(i));
  return number_tensor(call.trace, number_at(call, i), compute);
}

// Whether float16 and bfloat16 have the number: then no rounding changes it.
bool is_exact(const Value& v) {
  const double x = v.kind == ValueKind::real ? v.real : static_cast<double>(v.integer);
  int exponent = 0;
  const double digits = std::ldexp(std::frexp(x, &exponent), 8);
  return x == 0 || std::isinf(x) || (digits == std::floor(digits) && exponent > -14 && exponent <= 15);
}

// A comparison's operand is one of the promoted type: a number next to halves is rounded to a half.
const Tensor* compared(Call& call, std::size_t i, const Type& type) {
  const Dtype compute = compute_dtype(type.dtype);
  const Tensor* value = operand(call, i, compute);
  if (call.is_tensor(i) || !type.floating() || is_exact(number_at(call, i))) return value;
  return elementwise(call.trace, {value}, {compute, -1}, "number", 0,
                     [type, compute](Kernel& k, const std::vector<const Expr*>& args) {
                       return k.round(k.op("tl.full([], {0}, " + tl_dtype(compute) + ")", compute, args, "number"),
                                      type);
                     });
}

// The operator's result: a new tensor, or the new value of its first operand.
Abstract deliver(Call& call, const Tensor* value, Type type, const std::string& label) {
  if (!in_place(*call.step.schema)) return stored(call, value, type, label);
  const Handle target = call.tensor(0);
  const Tensor* out = finished(call.trace, value, target.type, label);
  if (out->shape.size() != target.shape.size()) throw Unfit{"an in-place operator that changes the shape"};
  call.trace.write(target, out);
  return Abstract::of(target);
}

std::string label_of(const Schema& schema) {
  std::string name(schema.name);
  while (name.ends_with('_')) name.pop_back();
  return name;
}

const Tensor* table_row(Call& call, const Row& row, std::vector<std::size_t> places, Type& type) {
  Trace& trace = call.trace;
  const Type promoted_type = promoted(call, places, row.result == Result::floating);
  type = row.result == Result::comparison ? Type{Dtype::boolean, -1} : promoted_type;
  const Dtype compute = compute_dtype(promoted_type.dtype);
  std::vector<const Tensor*> operands;
  for (const std::size_t p : places)
    operands.push_back(row.result == Result::comparison ? compared(call, p, promoted_type) : operand(call, p, compute));
  const std::string label = label_of(*call.step.schema);
  return elementwise(trace, std::move(operands), {type.dtype == Dtype::boolean ? Dtype::boolean : compute, -1}, label,
                     row.cost,
                     [text = std::string(row.result == Result::whole && !type.floating() ? "{0}" : row.text), compute,
                      out = type.dtype == Dtype::boolean ? Dtype::boolean : compute,
                      label](Kernel& k, const std::vector<const Expr*>& args) {
                       std::vector<const Expr*> converted;
                       for (const Expr* a : args) converted.push_back(k.to(a, compute));
                       return k.op(text, out, converted, label);
                     });
}

Abstract by_row(Call& call) {
  const Row& row = *row_find(*call.step.schema);
  if (row.op == "div" && call.args.size() > 2 && !call.is_none(2)) throw Unfit{"a division that rounds"};
  if (row.op == "softplus" && (call.real(1) != 1 || call.real(2) != 20)) throw Unfit{"softplus with parameters"};
  Type type;
  const std::vector<std::size_t> places =
      row.operands == 1 ? std::vector<std::size_t>{0} : std::vector<std::size_t>{0, 1};
  const Tensor* value = table_row(call, row, places, type);
  if (type.dtype == Dtype::boolean && row.result == Result::same && !row.op.starts_with("bitwise")) {
    if (row.op != "mul") throw Unfit{"arithmetic on bools"};
    value = table_row(call, row_named("bitwise_and"), places, type);  // a product of truths
  }
  return deliver(call, value, type, label_of(*call.step.schema));
}

// Whether a number that is added to an index leaves it one of 32 bits.
bool is_small(const Lin& form) {
  const auto n = form.constant.constant();
  return !n || std::abs(*n) < 1 << 30;
}

// add, sub, rsub: a + alpha * b, a - alpha * b, b - alpha * a.
Abstract sum_like(Call& call) {
  const std::size_t places[] = {0, 1};
  const Type type = promoted(call, places, false);
  if (type.dtype == Dtype::boolean) throw Unfit{"a sum of bools"};
  const Dtype compute = compute_dtype(type.dtype);
  const std::string label = label_of(*call.step.schema);
  const Value alpha = call.args.size() > 2 ? call.at(2).literal : Value::of(std::int64_t{1});
  if (!alpha.is_number()) throw Unfit{"an unknown factor"};
  const bool reversed = label == "rsub";
  const std::string sign = label == "add" ? "+" : "-";
  const bool plain = alpha.kind == ValueKind::real ? alpha.real == 1 : alpha.integer == 1;
  // x + 0 of the same type is x
  if (label != "rsub" && call.at(1).kind == Abstract::Kind::literal && call.at(1).literal.kind == ValueKind::integer &&
      call.at(1).literal.integer == 0 && !in_place(*call.step.schema) && call.tensor(0).type.dtype == type.dtype)
    return stored(call, call.trace.read(call.tensor(0)), type, label);
  const Tensor* value = elementwise(
      call.trace, {operand(call, 0, compute), operand(call, 1, compute)}, {compute, -1}, label, 1,
      [=](Kernel& k, const std::vector<const Expr*>& args) {
        const Expr* a = k.to(args[reversed ? 1 : 0], compute);
        const Expr* b = k.to(args[reversed ? 0 : 1], compute);
        if (plain && (compute == Dtype::int64 || compute == Dtype::int32)) {  // sums of indices stay indices
          const auto x = k.as_index(a), y = k.as_index(b);
          if (x && y && is_small(*x) && is_small(*y)) return k.to(k.index(sign == "+" ? *x + *y : *x - *y), compute);
        }
        if (!plain) b = k.op("{0} * {1}", compute, {b, number_literal(k, alpha, compute)}, "scaled");
        return k.op("{0} " + sign + " {1}", compute, {a, b}, label);
      });
  if (reversed) {  // ATen subtracts with its operands turned round
    auto layouts = call.layouts();
    std::reverse(layouts.begin(), layouts.end());
    return stored(call, value, type, label, layouts);
  }
  return deliver(call, value, type, label);
}

// A function of one tensor given as a template.
Abstract unary(Call& call, const std::string& text, double cost, bool to_float = true) {
  const std::size_t places[] = {0};
  const Type type = promoted(call, places, to_float);
  const Dtype compute = compute_dtype(type.dtype);
  const std::string label = label_of(*call.step.schema);
  const Tensor* value = elementwise(call.trace, {call.trace.read(call.tensor(0))}, {compute, -1}, label, cost,
                                    [=](Kernel& k, const std::vector<const Expr*>& args) {
                                      return k.op(text, compute, {k.to(args[0], compute)}, label);
                                    });
  return deliver(call, value, type, label);
}

std::string literal_text(const Call& call, std::size_t i) {
  const Value& v = call.at(i).literal;
  if (!v.is_number()) throw Unfit{"an unknown number"};
  Indices ix;
  Kernel k(ix);
  return number_literal(k, v, v.kind == ValueKind::real ? Dtype::float32 : Dtype::int64)->text;
}

Abstract gelu(Call& call) {
  if (call.text(1) == "tanh")
    return unary(call, "0.5 * {0} * (1.0 + libdevice.tanh(0.7978845608028654 * ({0} + 0.044715 * {0} * {0} * {0})))",
                 25);
  return unary(call, "0.5 * {0} * (1.0 + tl.erf({0} * 0.7071067811865476))", 16);
}

Abstract clamp(Call& call) {
  if (call.is_tensor(1) || (call.args.size() > 2 && call.is_tensor(2))) throw Unfit{"clamp by tensors"};
  const std::string name = label_of(*call.step.schema);
  std::string text = "{0}";
  const bool has_low = name != "clamp_max" && !call.is_none(1);
  const std::size_t high = name == "clamp_max" ? 1 : 2;
  const bool has_high = name != "clamp_min" && call.args.size() > high && !call.is_none(high);
  const std::string above = has_high ? literal_text(call, high) : "";
  // the lower limit first, then the upper: that one holds where they cross
  const std::string below = !has_low ? "" : has_high && call.real(1) > call.real(high) ? above : literal_text(call, 1);
  // a NaN stays: comparisons with it are false
  if (has_low) text = fmt::format("tl.where({{0}} < {0}, {0}, {{0}})", below);
  if (has_high) text = fmt::format("tl.where({{0}} > {0}, {0}, {1})", above, text);
  if (!call.tensor(0).type.floating()) throw Unfit{"clamp of integers"};
  return unary(call, text, 2, false);
}

Abstract leaky_relu(Call& call) {
  return unary(call, fmt::format("tl.where({{0}} > 0, {{0}}, {{0}} * {})", literal_text(call, 1)), 2);
}

Abstract elu(Call& call) {
  if (call.real(1) != 1 || call.real(2) != 1 || call.real(3) != 1) throw Unfit{"elu with parameters"};
  return unary(call, "tl.where({0} > 0, {0}, tl.exp({0}) - 1.0)", 12);
}

Abstract power(Call& call) {
  if (call.is_tensor(1) || !call.is_tensor(0)) throw Unfit{"a power with a tensor as exponent"};
  const double e = call.real(1);
  const Type t = call.tensor(0).type;
  if (!t.floating() && (e != std::floor(e) || e < 0 || call.at(1).literal.kind == ValueKind::real))
    throw Unfit{"a power of integers"};
  if (e == 2) return unary(call, "{0} * {0}", 1, false);
  if (e == 1) return unary(call, "{0}", 0, false);
  if (!t.floating()) throw Unfit{"a power of integers"};
  if (e == 0.5) return unary(call, "tl.sqrt({0})", 6);
  if (e == -0.5) return unary(call, "1.0 / tl.sqrt({0})", 8);
  if (e == -1) return unary(call, "1.0 / {0}", 4);
  if (e == -2) return unary(call, "1.0 / ({0} * {0})", 4);
  if (e == 3) {  // ATen multiplies twice, and rounds a half after each
    const Type type = t;
    const Dtype compute = compute_dtype(t.dtype);
    const Tensor* value = elementwise(call.trace, {call.trace.read(call.tensor(0))}, {compute, -1}, "pow", 2,
                                      [=](Kernel& k, const std::vector<const Expr*>& args) {
                                        const Expr* x = k.to(args[0], compute);
                                        const Expr* xx = k.round(k.op("{0} * {1}", compute, {x, x}, "pow"), type);
                                        return k.op("{0} * {1}", compute, {xx, x}, "pow");
                                      });
    return deliver(call, value, type, "pow");
  }
  return unary(call, fmt::format("libdevice.pow({{0}}, {})", literal_text(call, 1)), 30);
}

const Tensor* as_bool(Trace& trace, const Tensor* t) {
  return t->type.dtype == Dtype::boolean ? t : converted(trace, t, {Dtype::boolean, -1});
}

Abstract where(Call& call) {
  const std::size_t places[] = {1, 2};
  const Type type = promoted(call, places, false);
  const Dtype compute = compute_dtype(type.dtype);
  Trace& trace = call.trace;
  const Tensor* value = elementwise(
      trace, {as_bool(trace, trace.read(call.tensor(0))), operand(call, 1, compute), operand(call, 2, compute)},
      {compute, -1}, "where", 1, [=](Kernel& k, const std::vector<const Expr*>& args) {
        return k.op("tl.where({0}, {1}, {2})", compute, {args[0], k.to(args[1], compute), k.to(args[2], compute)},
                    "where");
      });
  return deliver(call, value, type, "where");
}

Abstract masked_fill(Call& call) {
  const Type type = call.tensor(0).type;
  const Dtype compute = compute_dtype(type.dtype);
  Trace& trace = call.trace;
  const Tensor* value = elementwise(
      trace, {trace.read(call.tensor(0)), as_bool(trace, trace.read(call.tensor(1))), operand(call, 2, compute)},
      {compute, -1}, "masked_fill", 1, [=](Kernel& k, const std::vector<const Expr*>& args) {
        return k.op("tl.where({0}, {1}, {2})", compute, {args[1], k.to(args[2], compute), k.to(args[0], compute)},
                    "masked");
      });
  return deliver(call, value, type, "masked_fill");
}

Abstract logical(Call& call) {
  Trace& trace = call.trace;
  const std::string symbol = call.step.schema->name.starts_with("logical_and")  ? "{0} & {1}"
                             : call.step.schema->name.starts_with("logical_or") ? "{0} | {1}"
                                                                                : "{0} ^ {1}";
  const Tensor* value = elementwise(
      trace, {as_bool(trace, trace.read(call.tensor(0))), as_bool(trace, trace.read(call.tensor(1)))},
      {Dtype::boolean, -1}, "logical", 1,
      [=](Kernel& k, const std::vector<const Expr*>& args) { return k.op(symbol, Dtype::boolean, args, "logical"); });
  return deliver(call, value, {Dtype::boolean, -1}, "logical");
}

// .to, .float, .type_as: another dtype, or the same tensor.
Abstract to_type(Call& call, Type type, bool copy) {
  const Handle& h = call.tensor(0);
  if (!known(type.dtype) || !known(h.type.dtype)) throw Unfit{"an element type that kernels do not have"};
  if (h.type.dtype == type.dtype && !copy) {
    // The same dtype here; in another graph of the task it may not be. A task's float32 graphs say `.to(float32)` of
    // what is a half elsewhere: then the patterns are equal and the code is not, and the wrapper asks for the dtype.
    return Abstract::of(h);
  }
  return stored(call, converted(call.trace, call.trace.read(h), type), type, "to");
}
Abstract to_dtype(Call& call) {
  const std::size_t p = call.position("dtype");
  const auto d = call.dtype(p);
  const bool copy = call.boolean(call.position("copy"));
  return to_type(call, d ? Type{*d, -1} : call.tensor(0).type, copy);
}
Abstract type_as(Call& call) { return to_type(call, call.tensor(1).type, false); }

Abstract alias(Call& call) { return Abstract::of(call.tensor(0)); }
Abstract dropout(Call& call) {
  if (call.boolean(2) && call.real(1) != 0) throw Unfit{"dropout while training"};
  return Abstract::of(call.tensor(0));
}
Abstract clone(Call& call) { return stored(call, call.trace.read(call.tensor(0)), call.tensor(0).type, "clone"); }

// Constants: full, zeros, ones and their _like and new_ forms.
const Tensor* filled(Trace& trace, std::vector<Dim> shape, Type type, const Value& v, std::string label) {
  if (!known(type.dtype)) throw Unfit{"an element type that kernels do not have"};
  Tensor t;
  t.shape = std::move(shape);
  t.type = type;
  t.cost = 0;
  t.label = std::move(label);
  t.element = [v, type](Kernel& k, const Index&) {
    return k.round(number_literal(k, v, compute_dtype(type.dtype)), type);
  };
  return trace.make(std::move(t));
}

std::vector<Dim> constant_shape(const std::vector<std::int64_t>& sizes) {
  std::vector<Dim> out;
  for (const std::int64_t s : sizes) {
    if (s < 0) throw Unfit{"a negative size"};
    out.emplace_back(s);
  }
  return out;
}

Abstract full(Call& call) {
  const std::string name = label_of(*call.step.schema);
  Trace& trace = call.trace;
  const bool like = name.ends_with("_like"), fresh = name.starts_with("new_");
  const std::size_t shape_at = fresh ? 1 : 0;
  std::vector<Dim> shape = like ? call.tensor(0).shape : constant_shape(call.integers(shape_at));
  const bool has_value = name.find("full") != std::string::npos;
  Value v = Value::of(std::int64_t{name.find("ones") != std::string::npos});
  if (has_value) {
    v = call.at(shape_at + 1).literal;
    if (!v.is_number()) throw Unfit{"an unknown value"};
  }
  Type type{Dtype::float32, -1};
  if (like || fresh)
    type = call.tensor(0).type;
  else if (has_value)
    type = literal_type(v);
  if (const auto d = call.dtype(call.position("dtype"))) type = {*d, -1};
  return stored(call, filled(trace, std::move(shape), type, v, name), type, name);
}

Abstract fill(Call& call) {
  const Handle h = call.tensor(0);
  if (call.is_tensor(1)) throw Unfit{"fill_ with a tensor"};
  Trace& trace = call.trace;
  const Value v = call.step.schema->name == "zero_" ? Value::of(std::int64_t{0}) : call.at(1).literal;
  trace.write(h, finished(trace, filled(trace, h.shape, h.type, v, "fill"), h.type, "fill"));
  return Abstract::of(h);
}

// start + step * i along one dimension
Abstract iota(Call& call, std::int64_t count, Type type, std::int64_t start, std::int64_t step,
              const std::string& label) {
  // indices are of 32 bits; what leaves them is computed
  const auto fits = [](std::int64_t v) { return v == static_cast<std::int32_t>(v); };
  std::int64_t end = 0;
  const bool whole = !__builtin_mul_overflow(step, count, &end) && !__builtin_add_overflow(start, end, &end) &&
                     fits(start) && fits(step) && fits(end);
  if (!known(type.dtype)) throw Unfit{"an element type that kernels do not have"};
  Tensor t;
  t.shape = {Dim(count)};
  t.type = type;
  t.cost = 1;
  t.label = label;
  t.element = [=](Kernel& k, const Index& index) {
    const Dtype c = compute_dtype(type.dtype);
    if (whole) return k.round(k.to(k.index(index[0] * Dim(step) + Lin(start)), c), type);
    const Expr* scaled = k.op("{0} * {1}", c, {k.to(k.index(index[0]), c), k.literal(step, c)}, label);
    return k.round(k.op("{0} + {1}", c, {scaled, k.literal(start, c)}, label), type);
  };
  return stored(call, call.trace.make(std::move(t)), type, label);
}

Abstract arange(Call& call) {
  const Schema& schema = *call.step.schema;
  Value start = Value::of(std::int64_t{0}), step = Value::of(std::int64_t{1}), end;
  if (schema.overload.empty()) {
    end = call.at(0).literal;
  } else {
    start = call.at(0).literal;
    end = call.at(1).literal;
    if (schema.overload == "start_step") step = call.at(2).literal;
  }
  if (start.kind != ValueKind::integer || end.kind != ValueKind::integer || step.kind != ValueKind::integer ||
      step.integer <= 0)
    throw Unfit{"arange of floats"};
  Type type{Dtype::int64, -1};
  if (const auto d = call.dtype(call.position("dtype"))) type = {*d, -1};
  std::int64_t span = 0;
  if (__builtin_sub_overflow(end.integer, start.integer, &span)) throw Unfit{"a range that is too long"};
  const std::int64_t count = span <= 0 ? 0 : (span - 1) / step.integer + 1;
  return iota(call, count, type, start.integer, step.integer, "arange");
}

Abstract linspace(Call& call) {
  const double start = call.real(0), end = call.real(1);
  const std::int64_t steps = call.integer(2);
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  if (step != std::floor(step) || start != std::floor(start) || std::fabs(end) > 1e6 || std::fabs(start) > 1e6 ||
      steps < 0)
    throw Unfit{"linspace in steps that are no integers"};
  Type type{Dtype::float32, -1};
  if (const auto d = call.dtype(call.position("dtype"))) type = {*d, -1};
  return iota(call, steps, type, static_cast<std::int64_t>(start), static_cast<std::int64_t>(step), "linspace");
}

// triu, tril: zero on one side of a diagonal of the last two dimensions.
Abstract triangle(Call& call) {
  const Handle& h = call.tensor(0);
  if (h.shape.size() < 2) throw Unfit{"a triangle of a vector"};
  const std::int64_t diagonal = call.integer(1);
  const bool upper = call.step.schema->name.starts_with("triu");
  Trace& trace = call.trace;
  const Tensor* source = trace.read(h);
  Tensor t;
  t.shape = h.shape;
  t.type = h.type;
  t.uses = {source};
  t.label = upper ? "triu" : "tril";
  t.element = [=](Kernel& k, const Index& index) {
    const Lin distance = index[index.size() - 1] - index[index.size() - 2];
    const Expr* keep = k.op(upper ? "({0} >= {1})" : "({0} <= {1})", Dtype::boolean,
                            {k.index(distance), k.index(Lin(diagonal))}, "keep");
    const Dtype c = compute_dtype(h.type.dtype);
    return k.select(
        keep, [&] { return k.element(source, index); }, [&] { return k.literal(std::int64_t{0}, c); }, c);
  };
  return deliver(call, trace.make(std::move(t)), h.type, upper ? "triu" : "tril");
}

constexpr RuleRow kRules[] = {
    {"add", sum_like, Memory::iterator},
    {"add_", sum_like, Memory::iterator},
    {"sub", sum_like, Memory::iterator},
    {"sub_", sum_like, Memory::iterator},
    {"rsub", sum_like, Memory::iterator},
    {"gelu", gelu, Memory::iterator},
    {"gelu_", gelu, Memory::iterator},
    {"clamp", clamp, Memory::iterator},
    {"clamp_", clamp, Memory::iterator},
    {"clamp_min", clamp, Memory::iterator},
    {"clamp_max", clamp, Memory::iterator},
    {"clamp_min_", clamp, Memory::iterator},
    {"clamp_max_", clamp, Memory::iterator},
    {"hardtanh", clamp, Memory::iterator},
    {"hardtanh_", clamp, Memory::iterator},
    {"leaky_relu", leaky_relu, Memory::iterator},
    {"leaky_relu_", leaky_relu, Memory::iterator},
    {"elu", elu, Memory::iterator},
    {"elu_", elu, Memory::iterator},
    {"pow.Tensor_Scalar", power, Memory::iterator},
    {"pow_.Scalar", power, Memory::iterator},
    {"where.self", where, Memory::iterator},
    {"where.ScalarSelf", where, Memory::iterator},
    {"where.ScalarOther", where, Memory::iterator},
    {"masked_fill", masked_fill},
    {"masked_fill_", masked_fill},
    {"logical_and", logical, Memory::iterator},
    {"logical_or", logical, Memory::iterator},
    {"logical_xor", logical, Memory::iterator},
    {"to.dtype", to_dtype, Memory::preserve},
    {"to.dtype_layout", to_dtype, Memory::preserve},
    {"to.device", to_dtype, Memory::preserve},
    {"type_as", type_as, Memory::preserve},
    {"detach", alias},
    {"alias", alias},
    {"lift_fresh", alias},
    {"dropout", dropout},
    {"dropout_", dropout},
    {"feature_dropout", dropout},
    {"feature_dropout_", dropout},
    {"alpha_dropout", dropout},
    {"clone", clone, Memory::preserve},
    {"full", full},
    {"zeros", full},
    {"ones", full},
    {"full_like", full, Memory::preserve},
    {"zeros_like", full, Memory::preserve},
    {"ones_like", full, Memory::preserve},
    {"new_zeros", full},
    {"new_ones", full},
    {"new_full", full},
    {"fill_.Scalar", fill},
    {"zero_", fill},
    {"arange", arange},
    {"linspace", linspace},
    {"triu", triangle},
    {"tril", triangle},
    {"triu_", triangle},
    {"tril_", triangle},
};

std::vector<RuleRow> all_rules() {
  std::vector<RuleRow> out(std::begin(kRules), std::end(kRules));
  static std::vector<std::string> names;
  names.reserve(std::size(kRows) * 2);
  for (const Row& row : kRows) {
    out.push_back({row.op, by_row, Memory::iterator});
    if (row.op.find('.') == std::string_view::npos)
      out.push_back({names.emplace_back(std::string(row.op) + "_"), by_row, Memory::iterator});
  }
  return out;
}

}  // namespace

std::span<const RuleRow> rules_pointwise() {
  static const std::vector<RuleRow> rules = all_rules();
  return rules;
}

Type promoted(const Call& call, std::span<const std::size_t> places, bool to_float) {
  std::optional<Type> dimensioned, scalar, number;
  const auto join = [](std::optional<Type>& into, Type t) {
    if (!into) {
      into = t;
      return;
    }
    const Dtype d = promote_dtypes(into->dtype, t.dtype);
    if (d == into->dtype && into->like >= 0 && d == t.dtype && t.like >= 0) return;
    if (d == into->dtype && (d != t.dtype || into->like >= 0 || t.like < 0)) return;
    *into = d == t.dtype ? t : Type{d, -1};
  };
  for (const std::size_t p : places) {
    if (call.is_tensor(p)) {
      const Handle& h = call.tensor(p);
      if (!known(h.type.dtype)) throw Unfit{"an element type that kernels do not have"};
      join(h.shape.empty() ? scalar : dimensioned, h.type);
    } else {
      if (call.at(p).kind != Abstract::Kind::literal || !call.at(p).literal.is_number())
        throw Unfit{"an unknown operand"};
      join(number, literal_type(call.at(p).literal));
    }
  }
  std::optional<Type> out = dimensioned;
  for (const auto& lower : {scalar, number})
    if (lower && (!out || category(lower->dtype) > category(out->dtype))) out = lower;
  if (!out) throw Unfit{"no operand"};
  if (to_float && !out->floating()) return {Dtype::float32, -1};
  return *out;
}

const Tensor* elementwise(Trace& trace, std::vector<const Tensor*> operands, Type type, std::string label, double cost,
                          Combine combine) {
  std::vector<std::vector<Dim>> shapes;
  for (const Tensor* t : operands) shapes.push_back(t->shape);
  Tensor t;
  t.shape = trace.broadcast(shapes);
  t.type = type;
  t.label = std::move(label);
  t.cost = cost;
  t.uses = operands;
  t.element = [operands, combine = std::move(combine)](Kernel& k, const Index& index) {
    std::vector<const Expr*> args;
    for (const Tensor* o : operands) args.push_back(k.element(o, Trace::aligned(k.ix, o->shape, index)));
    return combine(k, args);
  };
  return trace.make(std::move(t));
}

const Tensor* finished(Trace& trace, const Tensor* value, Type type, std::string label) {
  Tensor t;
  t.shape = value->shape;
  t.type = type;
  t.uses = {value};
  t.label = std::move(label);
  t.cost = value->cost;
  t.element = [value, type](Kernel& k, const Index& index) { return k.round(k.element(value, index), type); };
  auto* made = const_cast<Tensor*>(trace.make(std::move(t)));
  made->result = made;
  // What an operator computes on the way stands for its result.
  const std::function<void(const Tensor*)> mark = [&](const Tensor* inner) {
    if (inner->result != nullptr || inner->buffer >= 0) return;
    const_cast<Tensor*>(inner)->result = made;
    for (const Tensor* u : inner->uses) mark(u);
  };
  mark(value);
  return made;
}

const Tensor* converted(Trace& trace, const Tensor* value, Type type) {
  if (!known(type.dtype) || !known(value->type.dtype)) throw Unfit{"an element type that kernels do not have"};
  return elementwise(trace, {value}, {compute_dtype(type.dtype), -1}, value->label, 1,
                     [type](Kernel& k, const std::vector<const Expr*>& args) {
                       if (type.dtype == Dtype::boolean && args[0]->type != Dtype::boolean)
                         return k.op("({0} != 0)", Dtype::boolean, {args[0]}, "to");
                       // what a small integer does not hold goes through a large one, as in torch
                       const bool wraps = dtype_row(args[0]->type).floating && category(type.dtype) == 1 &&
                                          dtype_row(type.dtype).size < 4;
                       return k.to(wraps ? k.to(args[0], Dtype::int64) : args[0], compute_dtype(type.dtype));
                     });
}

}  // namespace passnet::author
