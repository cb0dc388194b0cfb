#include <fmt/format.h>

#include "bench/evaluate.h"

namespace passnet {

namespace {

// A candidate's own words are as long as it likes, and it launches as often.
constexpr std::size_t kLongestMessage = 4096, kMostNotes = 100, kMostKernels = 200;

}  // namespace

Record make_record(const Evaluation& e) {
  Record r;
  r.status = e.status;
  r.errors = e.errors;
  const auto cut = [](std::string& text) {
    if (text.size() > kLongestMessage) text = text.substr(0, kLongestMessage) + "...";
  };
  for (Error& error : r.errors) cut(error.message);
  r.notes = e.notes;
  if (r.notes.size() > kMostNotes) {
    const std::size_t more = r.notes.size() - kMostNotes;
    r.notes.resize(kMostNotes);
    r.notes.push_back(fmt::format("and {} notes more", more));
  }
  for (const KernelReport& k : e.kernels) {
    if (r.kernels.size() == kMostKernels) break;
    r.kernels.push_back({k.name, k.constexprs, {k.grid[0], k.grid[1], k.grid[2]}});
    cut(r.kernels.back().constexprs);
  }
  if (e.kernels.size() > kMostKernels)
    r.notes.push_back(fmt::format("and {} launches more", e.kernels.size() - kMostKernels));
  r.matches = e.matches;
  r.stages = e.stages;
  if (e.compared) {
    const Comparison& c = e.comparison;
    for (const OutputTypes& types : c.types)
      r.outputs.push_back(
          {types.expected_dtype, types.got_dtype, types.expected_shape, types.got_shape, false, {}, 0, 0, 0, 0, 0, 0});
    if (c.outcome == Comparison::Outcome::compared) {
      r.outputs.resize(c.outputs.size());  // inputs that eager changes count as outputs
      for (std::size_t i = 0; i < c.outputs.size(); ++i) {
        const OutputComparison& from = c.outputs[i];
        OutputRecord& to = r.outputs[i];
        if (to.dtype.empty()) {
          to.dtype = to.compiled_dtype = dtype_row(from.dtype).name;
          to.shape = to.compiled_shape = from.shape;
        }
        to.equal = from.equal;
        to.tightest_t = from.by_law;
        to.max_diff = from.max_diff;
        to.mean_diff = from.mean_diff;
        to.wrong = from.wrong;
        to.worst = from.worst;
        to.worst_expected = from.worst_expected;
        to.worst_got = from.worst_got;
      }
      if (c.tightest_t() < kNever) r.tightest_t = c.tightest_t();
    }
  }
  if (e.timed) {
    r.timed = true;
    r.timed_inputs = e.timed_inputs;
    r.eager = e.timing.eager;
    r.compiled = e.timing.compiled;
    r.speedup = e.timing.speedup;
    r.gpu_speedup = e.timing.gpu_speedup;
    r.warmups = e.timing.warmups;
    r.trials = static_cast<int>(e.timing.eager.e2e_ms.size());
  }
  return r;
}

}  // namespace passnet
