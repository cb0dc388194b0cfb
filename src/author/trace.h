// A region's program traced without data: every register becomes a tensor (a function of an index), a number or a list.
//
// In-place operators and item assignment become new values of a buffer: a tensor refers to a buffer through views, and
// reads what the buffer holds at that time. So the rest of the author sees pure functions only.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "author/memory.h"
#include "author/plan.h"
#include "author/tensor.h"
#include "ops/program.h"

namespace passnet::author {

struct Handle {
  int buffer = -1;
  std::vector<std::shared_ptr<const View>> views;
  std::vector<Dim> shape;
  Type type;
  std::vector<std::int64_t> strides;  // eager's, in the graph that the author reads
};

struct Abstract {
  enum class Kind : std::uint8_t { unknown, literal, tensor, list } kind = Kind::unknown;
  Value literal;
  Handle tensor;
  std::vector<Abstract> items;
  std::vector<Dim> sizes;  // of a list of integers: their symbolic values, where known
  bool is_tensor() const { return kind == Kind::tensor; }
  static Abstract of(Value v) {
    Abstract out;
    out.kind = Kind::literal;
    out.literal = std::move(v);
    return out;
  }
  static Abstract of(Handle h) {
    Abstract out;
    out.kind = Kind::tensor;
    out.tensor = std::move(h);
    return out;
  }
};

// Why an operator cannot be part of a kernel.
struct Unfit {
  std::string why;
};

class Trace;

// One operator's arguments, with the questions that rules ask. Each throws Unfit where the answer is not known.
class Call {
 public:
  Call(Trace& of_trace, const Step& of_step, std::vector<Abstract> of_args)
      : trace(of_trace), step(of_step), args(std::move(of_args)) {}
  Trace& trace;
  const Step& step;
  std::vector<Abstract> args;
  Memory memory = Memory::contiguous;  // of the result: the rule's row says it

  std::size_t position(std::string_view name) const;  // of a parameter of the schema
  const Abstract& at(std::size_t i) const;
  bool is_none(std::size_t i) const {
    return at(i).kind == Abstract::Kind::literal && at(i).literal.kind == ValueKind::none;
  }
  bool is_tensor(std::size_t i) const { return at(i).is_tensor(); }
  const Handle& tensor(std::size_t i) const;
  std::vector<Handle> tensors(std::size_t i) const;
  std::int64_t integer(std::size_t i) const;
  double real(std::size_t i) const;
  bool boolean(std::size_t i) const { return integer(i) != 0; }
  std::string text(std::size_t i) const;
  std::vector<std::int64_t> integers(std::size_t i) const;  // a single number is a list of one
  std::optional<Dtype> dtype(std::size_t i) const;
  std::int64_t dim(std::size_t i, std::size_t rank) const;  // negative counts from the end
  // Where the tensors lie whose memory the result's follows: all of them, or those of the first argument.
  std::vector<Layout> layouts() const;
  std::optional<Memory> asked_memory() const;  // by a memory_format; none where it is left to the operator
};

class Trace {
 public:
  explicit Trace(Indices& indices) : ix(indices) {}
  Indices& ix;

  struct Buffer {
    const Tensor* value = nullptr;
    int input = -1;  // the region's input that it is
    bool written = false;
  };
  std::vector<Buffer> buffers;
  NodeId node = 0;  // the graph's node that is traced now
  Products products = Products::none;
  Plan plan;  // which reductions are made in pieces

  // `strides`: eager's; the kernel gets it row-major in any case.
  Handle input(const std::string& name, const std::vector<std::int64_t>& sizes,
               const std::vector<std::int64_t>& strides, Dtype dtype, bool symbolic);
  const Tensor* make(Tensor t);
  Handle fresh(const Tensor* value);
  Handle view(const Handle& base, View view, std::vector<std::int64_t> strides);
  const Tensor* read(const Handle& h);
  void write(const Handle& target, const Tensor* value);
  std::vector<std::int64_t> sizes(const Handle& h) const;  // their values
  // Dims that a region's results must agree in.
  std::vector<Dim> broadcast(std::span<const std::vector<Dim>> shapes);
  static Index aligned(const Indices& ix, const std::vector<Dim>& shape, const Index& index);

  // Runs one step; false with `why` where it is no operator that fits a kernel.
  void run(const Step& step, std::vector<Abstract>& registers);
  Abstract read_value(const Value& value, const std::vector<Abstract>& registers) const;

 private:
  void run_one(const Step& step, std::vector<Abstract>& registers);
  void run_builtin(const Step& step, std::vector<Abstract>& registers);
  std::vector<std::unique_ptr<Tensor>> tensors_;
};

// The rules: what each operator is as a function of an index, and in which order eager stores its result.
using Rule = Abstract (*)(Call&);
struct RuleRow {
  std::string_view op;  // "add.Tensor", or "softmax" for every overload
  Rule rule;
  Memory memory = Memory::contiguous;
};
std::span<const RuleRow> rules_pointwise();
std::span<const RuleRow> rules_view();
std::span<const RuleRow> rules_copy();
std::span<const RuleRow> rules_reduce();
std::span<const RuleRow> rules_window();
std::span<const RuleRow> rules_product();
const RuleRow* rule_find(const Schema& schema);  // null where there is none

// Operators left to ATen whose results are known without data, so that what follows them can be fused.
struct Opaque {
  std::vector<std::int64_t> sizes, strides;
  Dtype dtype = Dtype::float32;
};
std::vector<Opaque> opaque_results(const Call& call);

// Helpers shared by rules.
Abstract get_item(Call& call, const Abstract& base, const Value& index, const std::vector<Abstract>& registers);
void set_item(Trace& trace, const Handle& target, const Value& index, const Abstract& value,
              const std::vector<Abstract>& registers);
Handle reshape(Trace& trace, const Handle& h, std::vector<std::int64_t> sizes, bool must_view, std::string text);
// The letters of an einsum of two factors, each in the result's order: of both and of the result (a batch), of one and
// of the result (rows, columns), of both alone (terms).
struct Einsum {
  std::string factors[2], result, batch, own[2], terms;
  // As ATen stores it, before it is permuted: the factors change places where the second one's letters come first.
  std::string computed() const;
};
Einsum parse_einsum(const Call& call);
// Windows along the last dimensions.
struct Window {
  std::vector<std::int64_t> kernel, stride, pad, dilation;
};
// A single number stands for all n.
std::vector<std::int64_t> spread(std::vector<std::int64_t> v, std::size_t n);
// Sizes of the output; ceil_mode counts a last window that is cut off.
std::vector<std::int64_t> window_sizes(const std::vector<std::int64_t>& in, const Window& w, bool ceil);
// One of these sizes as a symbol.
Dim window_dim(Trace& trace, const Dim& in, const Window& w, std::size_t i, std::int64_t out);
// Every window's elements: [n, channel, place in the window ..., window ...], 0 outside the input.
const Tensor* patches(Trace& trace, const Handle& h, const Window& w);
Index reshape_index(Indices& ix, const std::vector<Dim>& from, const std::vector<Dim>& to, const Index& to_index);
Handle permute(Trace& trace, const Handle& h, const std::vector<int>& order, std::string text);
// A new tensor with the value, rounded to `type`, in the order of memory that the call's row names. `layouts`: of the
// operands as the operator iterates over them, where these are not its arguments.
Abstract stored(Call& call, const Tensor* value, Type type, const std::string& label);
Abstract stored(Call& call, const Tensor* value, Type type, const std::string& label, std::span<const Layout> layouts);
// A number as a tensor without dimensions; `type` is what the operator computes in.
const Tensor* number_tensor(Trace& trace, const Value& v, Dtype type);
const Expr* number_literal(Kernel& k, const Value& v, Dtype type);
// The length of a list that an operator gives, within what is worth tracing.
std::size_t list_length(std::int64_t n);
// Dimensions in front of the last n.
std::size_t leading(const Handle& h, std::size_t n);
// Reductions along dims of a tensor that keep them as size 1.
const Tensor* reduced(Trace& trace, const Tensor* source, const std::vector<int>& dims, const std::string& combine);
// An elementwise function of tensors of one compute dtype.
using Combine = std::function<const Expr*(Kernel&, const std::vector<const Expr*>&)>;
const Tensor* elementwise(Trace& trace, std::vector<const Tensor*> operands, Type type, std::string label, double cost,
                          Combine combine);
// The tensor as eager stores it after its operator: rounded, the end of the operator.
const Tensor* finished(Trace& trace, const Tensor* value, Type type, std::string label);
// In another dtype, as `.to` does.
const Tensor* converted(Trace& trace, const Tensor* value, Type type);
const Tensor* with_shape(Trace& trace, const Tensor* value, std::vector<Dim> shape);  // reshape of a value
Type promoted(const Call& call, std::span<const std::size_t> args, bool to_float);

}  // namespace passnet::author
