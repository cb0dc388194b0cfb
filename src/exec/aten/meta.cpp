// Shapes without data for operators whose rules torch keeps in Python: libtorch alone has no meta kernel for them.
// A row an operator; registered for the Meta device when the library is loaded.
#include <ATen/ExpandUtils.h>
#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/result_type.h>
#include <torch/library.h>

namespace passnet {

namespace {

using torch::jit::Stack;

at::Tensor empty_as(const at::Tensor& like, at::IntArrayRef sizes) { return at::empty(sizes, like.options()); }

// Takes the arguments off the stack.
std::vector<c10::IValue> arguments(const c10::OperatorHandle& op, Stack* stack) {
  const std::size_t count = op.schema().arguments().size();
  std::vector<c10::IValue> out(std::make_move_iterator(stack->end() - static_cast<std::ptrdiff_t>(count)),
                               std::make_move_iterator(stack->end()));
  stack->resize(stack->size() - count);
  return out;
}

std::vector<std::int64_t> integers(const c10::IValue& value, std::size_t count) {
  std::vector<std::int64_t> out;
  for (const c10::IValue& item : value.toListRef())
    out.push_back(item.isSymInt() ? item.toSymInt().expect_int() : item.toInt());
  if (out.size() == 1 && count > 1) out.resize(count, out[0]);
  return out;
}

void convolution(const c10::OperatorHandle& op, Stack* stack) {
  const auto a = arguments(op, stack);
  const at::Tensor input = a[0].toTensor(), weight = a[1].toTensor();
  TORCH_CHECK(input.dim() >= 3 && input.dim() == weight.dim(), "a convolution of ", input.dim(), " dimensions by ",
              weight.dim());
  TORCH_CHECK(input.scalar_type() == weight.scalar_type(), "Input type (", input.scalar_type(), ") and weight type (",
              weight.scalar_type(), ") should be the same");
  const auto dims = static_cast<std::size_t>(input.dim() - 2);
  const auto stride = integers(a[3], dims), padding = integers(a[4], dims), dilation = integers(a[5], dims),
             extra = integers(a[7], dims);
  const bool transposed = a[6].toBool();
  const std::int64_t groups = a[8].toInt();
  TORCH_CHECK(input.size(1) == (transposed ? weight.size(0) : weight.size(1) * groups), "expected input to have ",
              transposed ? weight.size(0) : weight.size(1) * groups, " channels, but got ", input.size(1));
  std::vector<std::int64_t> sizes = {input.size(0), transposed ? weight.size(1) * groups : weight.size(0)};
  for (std::size_t d = 0; d < dims; ++d) {
    const auto axis = static_cast<std::int64_t>(d) + 2;
    const std::int64_t kernel = dilation[d] * (weight.size(axis) - 1);
    const std::int64_t size = transposed ? (input.size(axis) - 1) * stride[d] - 2 * padding[d] + kernel + extra[d] + 1
                                         : (input.size(axis) + 2 * padding[d] - kernel - 1) / stride[d] + 1;
    TORCH_CHECK(size > 0, "the kernel is larger than the input");
    sizes.push_back(size);
  }
  stack->emplace_back(empty_as(input, sizes));
}

void batch_norm(const c10::OperatorHandle& op, Stack* stack) {
  const auto a = arguments(op, stack);
  const at::Tensor input = a[0].toTensor();
  const std::int64_t channels = a[5].toBool() ? input.size(1) : 0;
  stack->emplace_back(at::empty_like(input));
  stack->emplace_back(empty_as(input, {channels}));
  stack->emplace_back(empty_as(input, {channels}));
}

void index_select(const c10::OperatorHandle& op, Stack* stack) {
  const auto a = arguments(op, stack);
  const at::Tensor self = a[0].toTensor();
  std::vector<std::int64_t> sizes = self.sizes().vec();
  const std::int64_t dim = a[1].toInt() + (a[1].toInt() < 0 ? self.dim() : 0);
  TORCH_CHECK(dim >= 0 && dim < self.dim(), "index_select: no dimension ", a[1].toInt());
  sizes[static_cast<std::size_t>(dim)] = a[2].toTensor().numel();
  stack->emplace_back(empty_as(self, sizes));
}

void where(const c10::OperatorHandle& op, Stack* stack) {
  const auto a = arguments(op, stack);
  const at::Tensor condition = a[0].toTensor(), x = a[1].toTensor(), y = a[2].toTensor();
  const auto sizes = at::infer_size(condition.sizes(), at::infer_size(x.sizes(), y.sizes()));
  stack->emplace_back(at::empty(sizes, condition.options().dtype(at::result_type(x, y))));
}

void broadcast(const c10::OperatorHandle& op, Stack* stack) {
  const auto a = arguments(op, stack);
  const at::Tensor x = a[0].toTensor(), y = a[1].toTensor();
  stack->emplace_back(at::empty(at::infer_size(x.sizes(), y.sizes()), x.options().dtype(at::result_type(x, y))));
}

void where_out(const c10::OperatorHandle& op, Stack* stack) {
  const auto a = arguments(op, stack);
  at::Tensor out = a[3].toTensor();
  out.resize_(
      at::infer_size(a[0].toTensor().sizes(), at::infer_size(a[1].toTensor().sizes(), a[2].toTensor().sizes())));
  stack->emplace_back(std::move(out));
}

void weight_norm(const c10::OperatorHandle& op, Stack* stack) {
  const auto a = arguments(op, stack);
  stack->emplace_back(at::empty_like(a[0].toTensor()));
  stack->emplace_back(at::empty_like(a[1].toTensor()));
}

// The last dimensions become the second argument's.
void adaptive_pool(const c10::OperatorHandle& op, Stack* stack) {
  const auto a = arguments(op, stack);
  const at::Tensor self = a[0].toTensor();
  std::vector<std::int64_t> sizes = self.sizes().vec();
  const std::vector<std::int64_t> last = integers(a[1], 0);
  TORCH_CHECK(sizes.size() >= last.size(), "pooling a tensor of ", sizes.size(), " dimensions");
  std::copy(last.begin(), last.end(), sizes.end() - static_cast<std::ptrdiff_t>(last.size()));
  stack->emplace_back(empty_as(self, sizes));
}

void var_mean(const c10::OperatorHandle& op, Stack* stack) {
  const auto a = arguments(op, stack);
  const at::Tensor self = a[0].toTensor();
  std::vector<bool> reduced(static_cast<std::size_t>(self.dim()), a[1].isNone());
  if (!a[1].isNone())
    for (const std::int64_t dim : integers(a[1], 0))
      reduced.at(static_cast<std::size_t>(dim < 0 ? dim + self.dim() : dim)) = true;
  std::vector<std::int64_t> sizes;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    if (!reduced[static_cast<std::size_t>(d)]) sizes.push_back(self.size(d));
    if (reduced[static_cast<std::size_t>(d)] && a[3].toBool()) sizes.push_back(1);
  }
  stack->emplace_back(empty_as(self, sizes));
  stack->emplace_back(empty_as(self, sizes));
}

// The result has the shape and dtype of the first argument.
void same_as_first(const c10::OperatorHandle& op, Stack* stack) {
  const auto a = arguments(op, stack);
  stack->emplace_back(at::empty_like(a[0].toTensor()));
}

}  // namespace

}  // namespace passnet

TORCH_LIBRARY_IMPL(aten, Meta, m) {
  using torch::CppFunction;
  m.impl("convolution_overrideable", CppFunction::makeFromBoxedFunction<&passnet::convolution>());
  m.impl("native_batch_norm", CppFunction::makeFromBoxedFunction<&passnet::batch_norm>());
  m.impl("index_select", CppFunction::makeFromBoxedFunction<&passnet::index_select>());
  m.impl("where.self", CppFunction::makeFromBoxedFunction<&passnet::where>());
  m.impl("floor_divide", CppFunction::makeFromBoxedFunction<&passnet::broadcast>());
  m.impl("where.self_out", CppFunction::makeFromBoxedFunction<&passnet::where_out>());
  m.impl("_weight_norm_interface", CppFunction::makeFromBoxedFunction<&passnet::weight_norm>());
  m.impl("_adaptive_avg_pool2d", CppFunction::makeFromBoxedFunction<&passnet::adaptive_pool>());
  m.impl("_adaptive_avg_pool3d", CppFunction::makeFromBoxedFunction<&passnet::adaptive_pool>());
  m.impl("var_mean.correction", CppFunction::makeFromBoxedFunction<&passnet::var_mean>());
  m.impl("relu", CppFunction::makeFromBoxedFunction<&passnet::same_as_first>());
  m.impl("_prelu_kernel", CppFunction::makeFromBoxedFunction<&passnet::same_as_first>());
  m.impl("abs", CppFunction::makeFromBoxedFunction<&passnet::same_as_first>());
  m.impl("roll", CppFunction::makeFromBoxedFunction<&passnet::same_as_first>());
  m.impl("flip", CppFunction::makeFromBoxedFunction<&passnet::same_as_first>());
}
