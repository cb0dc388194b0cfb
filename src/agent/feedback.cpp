#include "agent/feedback.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/workspace.h"
#include "fx/folder.h"
#include "pass/match_text.h"

namespace passnet::agent {

namespace {

constexpr std::size_t kBriefErrors = 2;
constexpr std::size_t kBriefMisses = 2;  // graphs whose misses are explained

// The first row whose question is answered with yes gives the one hint.
struct Hint {
  bool (*applies)(const Verdict&);
  std::string_view text;
};
bool any(const Verdict& v, Status status) {
  return std::any_of(v.records.begin(), v.records.end(), [&](const Record& r) { return r.status == status; });
}
constexpr double kLaunchBound_us = 30;
constexpr int kRoundingT = -1;  // what is right from here on is off by roundings
constexpr Hint kHints[] = {
    {[](const Verdict& v) { return any(v, Status::eager_fail); },
     "the graph itself does not run here; nothing a pass does can help"},
    {[](const Verdict& v) { return any(v, Status::compile_fail); },
     "correct the file and line named above; nothing is timed before every pass loads and every kernel compiles"},
    {[](const Verdict& v) { return any(v, Status::integrity); },
     "a wrapper may only allocate, view and launch; all computation belongs into @triton.jit kernels, and inputs stay "
     "as "
     "they are"},
    {[](const Verdict& v) { return any(v, Status::pass_miss); },
     "write the pattern's calls as model.py spells them (match_explain names the first difference), and list the pass "
     "in "
     "sorted_output_pass_rule_names.json"},
    {[](const Verdict& v) { return any(v, Status::shape_mismatch); }, "allocate the output with eager's shape"},
    {[](const Verdict& v) { return any(v, Status::type_mismatch); },
     "allocate the output with eager's dtype; torch.empty_like(x) takes x's"},
    {[](const Verdict& v) { return any(v, Status::runtime_fail) || any(v, Status::crash); },
     "mask every tl.load and tl.store (mask=offs < n) and write every element of the output"},
    {[](const Verdict& v) { return any(v, Status::timeout); },
     "a kernel or a search takes too long; try smaller grids or fewer autotune configurations"},
    {[](const Verdict& v) {
       return std::any_of(v.records.begin(), v.records.end(), [](const Record& r) {
         return r.status == Status::accuracy && record_tightest_t(r) > kRoundingT;
       });
     },
     "this is no rounding: the kernel computes another value than the graph; compare its formula and its indices"},
    {[](const Verdict& v) { return any(v, Status::accuracy); },
     "compute in float32 and round to the output's dtype where eager does: after every operator"},
    {[](const Verdict& v) { return any(v, Status::unstable); },
     "right, but the times vary too much here; evaluate once more"},
    {[](const Verdict& v) {
       return std::all_of(v.records.begin(), v.records.end(), [](const Record& r) { return !r.timed; });
     },
     "right so far; evaluate without verify_only for times and the score"},
    {[](const Verdict& v) {
       return std::any_of(v.records.begin(), v.records.end(),
                          [](const Record& r) { return r.timed && r.speedup.high < 1; });
     },
     "right, but slower than eager on a graph: fuse more operators into one kernel, or use larger blocks"},
    {[](const Verdict& v) {
       return std::all_of(v.records.begin(), v.records.end(),
                          [](const Record& r) { return r.timed && r.compiled.e2e.median * 1e3 < kLaunchBound_us; });
     },
     "the time is mostly calls, not bytes: match more of the graph with one pass and launch fewer kernels"},
    {[](const Verdict&) { return true; },
     "right; what is left is bytes moved: read every input once and write every output once"},
};

std::string bytes_text(double bytes) {
  for (const char* unit : {"B", "kB", "MB"}) {
    if (bytes < 1000) return fmt::format("{:.3g} {}", bytes, unit);
    bytes /= 1000;
  }
  return fmt::format("{:.3g} GB", bytes);
}

// Every input read once, every output written once: less cannot be moved.
double least_bytes(const std::string& graph, const Record& r) {
  double out = 0;
  if (const auto folder = read_graph_folder(graph))
    for (const std::int32_t i : folder->inputs) {
      const TensorMeta& meta = folder->metas[static_cast<std::size_t>(i)];
      out += static_cast<double>(meta.element_count()) * static_cast<double>(dtype_row(meta.dtype).size);
    }
  for (const OutputRecord& o : r.outputs)
    if (const auto dtype = dtype_from_name(o.dtype)) {
      double count = 1;
      for (const std::int64_t size : o.shape) count *= static_cast<double>(size);
      out += count * static_cast<double>(dtype_row(*dtype).size);
    }
  return out;
}

void outputs(std::string& out, const Record& r) {
  for (std::size_t i = 0; i < r.outputs.size(); ++i) {
    const OutputRecord& o = r.outputs[i];
    out += fmt::format("  output {}: {} [{}], largest difference {:.3g}, mean {:.3g}\n", i, o.dtype,
                       fmt::join(o.shape, ", "), o.max_diff, o.mean_diff);
  }
}

// Right at which tolerances.
void sweep(std::string& out, const Record& r) {
  if (!r.tightest_t && r.outputs.empty()) return;
  const int tightest = record_tightest_t(r);
  out += "  error per t:";
  for (int t = kTightest; t <= kLoosest; ++t) out += fmt::format(" {}:{}", t, t >= tightest ? "right" : "wrong");
  out += "\n";
}

void limits(std::string& out, const std::string& graph, const Record& r, double copy_rate) {
  const double bytes = least_bytes(graph, r), seconds = r.compiled.e2e.median / 1e3;
  out += fmt::format("  {} kernel{} launched; {} moved at least, {:.3g} GB/s", r.kernels.size(),
                     r.kernels.size() == 1 ? "" : "s", bytes_text(bytes), bytes / seconds / 1e9);
  if (copy_rate > 0) out += fmt::format(" = {:.0f} % of what a copy reaches here", 100 * bytes / seconds / copy_rate);
  out += "\n";
}

void miss(std::string& out, const std::string& graph, const FeedbackContext& context) {
  try {
    const Graph read = read_graph_folder(graph, {.metas = false}).take().graph;
    for (const std::string& file : pass_files(context.pass_dir)) out += explain_file(file, read, context.match);
  } catch (const Failure& failure) {
    out += "  " + error_line(failure.error) + "\n";
  }
}

}  // namespace

std::string feedback(const Verdict& verdict, const FeedbackContext& context, Detail detail) {
  const bool full = detail == Detail::full;
  const std::vector<std::string> names = graph_names(context.task);
  std::string out;
  if (verdict.score) {
    out += fmt::format("score {:.4f}", *verdict.score);
    if (context.best)
      out += *verdict.score > *context.best ? fmt::format(", the best so far (before: {:.4f})", *context.best)
                                            : fmt::format("; the best so far is {:.4f}", *context.best);
    out += "\n";
  }
  out += fmt::format("Has Any pass matched? [{}]\n", verdict.matched() ? "True" : "False");
  std::size_t misses = 0;
  for (std::size_t g = 0; g < verdict.records.size(); ++g) {
    const Record& r = verdict.records[g];
    out += fmt::format("{}: {}", names[g], status_name(r.status));
    if (r.timed)
      out += fmt::format(", {:.2f}x ({:.2f} to {:.2f}): {:.4g} ms against eager's {:.4g} ms", r.speedup.value,
                         r.speedup.low, r.speedup.high, r.compiled.e2e.median, r.eager.e2e.median);
    if (r.tightest_t && *r.tightest_t > -5) out += fmt::format(", right from t = {}", *r.tightest_t);
    out += "\n";
    const bool explained = r.status == Status::pass_miss && (full || misses++ < kBriefMisses);
    if (explained) miss(out, context.task.graphs[g], context);
    const std::size_t shown = explained ? 0 : full ? r.errors.size() : std::min(r.errors.size(), kBriefErrors);
    for (std::size_t i = 0; i < shown; ++i) out += error_text(r.errors[i]) + "\n";
    if (!explained && shown < r.errors.size())
      out += fmt::format("  and {} more errors (detail=full)\n", r.errors.size() - shown);
    if (full) outputs(out, r);
    if (r.timed) limits(out, context.task.graphs[g], r, context.copy_rate);
    if (!full) continue;
    sweep(out, r);
    for (const KernelRecord& k : r.kernels)
      out += fmt::format("  kernel {}({}) grid ({})\n", k.name, k.constexprs, fmt::join(k.grid, ", "));
    for (const std::string& note : r.notes) out += "  " + note + "\n";
    for (const StageTime& s : r.stages) out += fmt::format("  stage {}: {:.3f} s\n", s.name, s.seconds);
  }
  for (const Hint& hint : kHints)
    if (hint.applies(verdict)) {
      out += fmt::format("Hint: {}.\n", hint.text);
      break;
    }
  return out;
}

}  // namespace passnet::agent
