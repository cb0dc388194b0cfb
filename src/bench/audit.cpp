#include "bench/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/steps.h"

namespace passnet {

namespace {

std::vector<TensorRef> tensors_of(const RunValue& value) {
  std::vector<TensorRef> out;
  for (const RunValue* leaf : leaves(value))
    if (leaf->kind == RunValue::Kind::tensor) out.push_back(leaf->tensor);
  return out;
}

struct Range {
  const char* begin;
  const char* end;
};
// From the first byte that a tensor reaches to the last.
Range memory_of(const TensorRef& t) {
  const auto* begin = static_cast<const char*>(t.data);
  const std::int64_t elements = describe(t).hull();
  return {begin, begin + elements * static_cast<std::int64_t>(dtype_row(t.dtype).size)};
}
// The memory of a tensor's elements as runs without a gap, by where they begin.
std::vector<Range> runs_of(const TensorRef& t) {
  struct Dim {
    std::int64_t step, size;  // in bytes
  };
  const auto bytes = static_cast<std::int64_t>(dtype_row(t.dtype).size);
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < t.sizes.size(); ++i) {
    if (t.sizes[i] == 0) return {};
    if (t.sizes[i] > 1 && t.strides[i] != 0) dims.push_back({t.strides[i] * bytes, t.sizes[i]});
  }
  std::sort(dims.begin(), dims.end(), [](const Dim& x, const Dim& y) { return x.step < y.step; });
  std::int64_t run = bytes;
  std::size_t inside = 0;
  for (; inside < dims.size() && dims[inside].step == run; ++inside) run *= dims[inside].size;
  const auto* begin = static_cast<const char*>(t.data);
  std::vector<Range> out = {{begin, begin + run}};
  for (std::size_t d = inside; d < dims.size(); ++d) {
    const std::size_t before = out.size();
    for (std::int64_t i = 1; i < dims[d].size; ++i)
      for (std::size_t k = 0; k < before; ++k)
        out.push_back({out[k].begin + i * dims[d].step, out[k].end + i * dims[d].step});
  }
  const auto earlier = [](const Range& x, const Range& y) { return x.begin < y.begin; };
  if (!std::is_sorted(out.begin(), out.end(), earlier)) std::sort(out.begin(), out.end(), earlier);
  return out;
}
// Whether an element of one lies where an element of the other does. Two halves of every row do not. Only addresses are
// looked at, so the memory may be a GPU's.
bool overlap(const TensorRef& a, const TensorRef& b) {
  const Range x = memory_of(a), y = memory_of(b);
  if (a.device != b.device) return false;
  if (x.begin >= y.end || y.begin >= x.end) return false;
  const std::vector<Range> own = runs_of(a), others = runs_of(b);
  for (std::size_t i = 0, k = 0; i < own.size() && k < others.size();) {
    if (own[i].end <= others[k].begin)
      ++i;
    else if (others[k].end <= own[i].begin)
      ++k;
    else
      return true;
  }
  return false;
}
// Several elements in one place, as after expand.
bool overlaps_itself(const TensorRef& t) {
  std::vector<std::pair<std::int64_t, std::int64_t>> dimensions;
  for (std::size_t i = 0; i < t.sizes.size(); ++i) dimensions.emplace_back(t.strides[i], t.sizes[i]);
  return describe(t).element_count() > 0 && !steps_apart(std::move(dimensions));
}

Error integrity(std::string message, std::string note) {
  return {Code::integrity, {}, std::move(message), {std::move(note)}};
}

// Outputs are compared with eager's by number; where the numbers differ, shapes are the trouble, not memory.
struct Outputs {
  std::vector<TensorRef> eager, got;
  explicit Outputs(const AuditCase& c) : eager(tensors_of(c.expected)), got(tensors_of(c.got)) {}
  std::size_t size() const { return eager.size() == got.size() ? got.size() : 0; }
};

std::optional<Error> input_aliases(const AuditCase& c) {
  const Outputs o(c);
  for (std::size_t i = 0; i < o.size(); ++i)
    for (std::size_t k = 0; k < c.got_inputs.size(); ++k)
      if (overlap(o.got[i], c.got_inputs[k]) && !overlap(o.eager[i], c.eager_inputs[k]))
        return integrity(
            fmt::format("output {} lies in the memory of input '{}', and eager's does not", i, c.input_names[k]),
            "write to a new tensor: torch.empty_like(x)");
  return std::nullopt;
}

std::optional<Error> output_aliases(const AuditCase& c) {
  const Outputs o(c);
  for (std::size_t i = 0; i < o.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (overlap(o.got[i], o.got[k]) && !overlap(o.eager[i], o.eager[k]))
        return integrity(fmt::format("outputs {} and {} share memory, and eager's do not", k, i),
                         "give each its own tensor");
  return std::nullopt;
}

std::optional<Error> expanded_outputs(const AuditCase& c) {
  const Outputs o(c);
  for (std::size_t i = 0; i < o.size(); ++i)
    if (overlaps_itself(o.got[i]) && !overlaps_itself(o.eager[i]))
      return integrity(fmt::format("elements of output {} share memory, and eager's do not", i),
                       "write every element: no expand");
  return std::nullopt;
}

constexpr Audit kAudits[] = {
    {"input-alias", "is an output an input, or a view of one?", input_aliases},
    {"output-alias", "are two outputs one?", output_aliases},
    {"expanded-output", "are several elements one?", expanded_outputs},
};

}  // namespace

std::span<const Audit> audits() { return kAudits; }

std::optional<Error> audit_case(const AuditCase& c) {
  for (const Audit& audit : kAudits)
    if (auto error = audit.look(c)) return error;
  return std::nullopt;
}

std::optional<Error> audit_speed(const RunValue& expected, double milliseconds, double peak_bytes) {
  double bytes = 0;
  for (const TensorRef& t : tensors_of(expected))
    if (!overlaps_itself(t))
      bytes += static_cast<double>(describe(t).element_count()) * static_cast<double>(dtype_row(t.dtype).size);
  const double least_ms = bytes / peak_bytes * 1e3;
  if (milliseconds >= least_ms) return std::nullopt;
  return integrity(fmt::format("took {:.3g} ms, and writing its outputs alone takes {:.3g} ms", milliseconds, least_ms),
                   "what was timed did not do the work");
}

double Precision::ratio() const { return candidate / std::max(eager, std::numeric_limits<double>::min()); }

namespace {

// Elements as doubles.
Result<std::vector<double>> numbers(const TensorRef& t, Engine& engine) {
  return guarded([&] {
    TensorDesc desc = describe(t);
    desc.dtype = Dtype::float64;
    desc.device = DeviceType::cpu;
    desc.strides = contiguous_strides(desc.sizes);
    const TensorRef copy = engine.allocate(desc).take();
    engine.copy(copy, t).take();
    const auto* from = static_cast<const double*>(copy.data);
    return std::vector<double>(from, from + desc.element_count());
  });
}

// Half the distance between neighbours at 1.
double rounding(Dtype dtype) {
  switch (dtype) {
    case Dtype::float16: return 0x1p-11;
    case Dtype::bfloat16: return 0x1p-8;
    case Dtype::float32: return 0x1p-24;
    default: return 0x1p-53;
  }
}

}  // namespace

std::optional<std::string> note_layout(const RunValue& expected, const RunValue& got) {
  const auto theirs = leaves(expected), ours = leaves(got);
  for (std::size_t i = 0; i < std::min(theirs.size(), ours.size()); ++i) {
    if (theirs[i]->kind != RunValue::Kind::tensor || ours[i]->kind != RunValue::Kind::tensor) continue;
    const TensorDesc a = describe(theirs[i]->tensor), b = describe(ours[i]->tensor);
    if (a.sizes == b.sizes && a.is_contiguous() && !b.is_contiguous())
      return fmt::format("output {} is not contiguous, eager's is: strides [{}] for [{}]", i,
                         fmt::join(b.strides, ", "), fmt::join(a.strides, ", "));
  }
  return std::nullopt;
}

// The errors of two results differ by at most what these do, and the largest value is no smaller than any.
bool may_be_less_exact(const OutputComparison& output) {
  if (output.equal || !dtype_row(output.dtype).floating) return false;
  const double margin = 0.9 * (Precision::kLower - 1) * rounding(output.dtype);
  return !(output.max_diff <= margin * std::fabs(output.worst_expected));
}

Result<std::optional<Precision>> audit_precision(const RunValue& exact, const RunValue& expected, const RunValue& got,
                                                 Engine& engine) {
  return guarded([&]() -> std::optional<Precision> {
    const auto x = tensors_of(exact), e = tensors_of(expected), g = tensors_of(got);
    if (x.size() != e.size() || g.size() != e.size()) return std::nullopt;
    Precision out;
    for (std::size_t i = 0; i < e.size(); ++i) {
      const bool same = x[i].sizes == e[i].sizes && g[i].sizes == e[i].sizes && x[i].dtype == Dtype::float64;
      if (!same || !dtype_row(e[i].dtype).floating) return std::nullopt;
      const auto right = numbers(x[i], engine).take(), eager = numbers(e[i], engine).take(),
                 candidate = numbers(g[i], engine).take();
      double scale = 0, worst_eager = 0, worst_candidate = 0;
      for (std::size_t k = 0; k < right.size(); ++k) {
        if (!std::isfinite(right[k]) || !std::isfinite(eager[k])) return std::nullopt;
        scale = std::max(scale, std::fabs(right[k]));
        worst_eager = std::max(worst_eager, std::fabs(eager[k] - right[k]));
        const double error = std::fabs(candidate[k] - right[k]);
        worst_candidate =
            std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst_candidate, error);
      }
      if (scale == 0) continue;
      const double least = rounding(e[i].dtype);  // nobody can be nearer
      const Precision p{std::max(worst_eager / scale, least), worst_candidate / scale};
      if (i == 0 || p.ratio() > out.ratio()) out = p;
    }
    return out.eager > 0 ? std::optional(out) : std::nullopt;
  });
}

}  // namespace passnet
