// The built-in author over a list of graphs: authored (--measure: every pass timed and dropped unless it wins),
// checked, and timed against eager in one process.
//   bench_author LIST [--no-check] [--no-run] [--no-time] [--all] [--measure] [--threads N] [--folder DIR] [--plan
//   PLAN]
// A line a graph: status, the smallest t at which it is right, passes, microseconds by eager and with passes, their
// ratio, milliseconds of authoring, and what the cost model expects of the regions. Ends with the geometric mean, a
// graph without a pass counting 1.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "author/author.h"
#include "author/choose.h"
#include "author/measure.h"
#include "base/file.h"
#include "base/process.h"
#include "bench/evaluate.h"

using namespace passnet;
using Clock = std::chrono::steady_clock;

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  bool check = true, run = true, time = true, choose = false;
  author::AuthorOptions author_options;
  int threads = core_count();
  std::string folder = "/tmp/passnet_author", plan;
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "--no-check") == 0) check = false;
    if (std::strcmp(argv[i], "--no-run") == 0) run = false;
    if (std::strcmp(argv[i], "--no-time") == 0) time = false;
    if (std::strcmp(argv[i], "--measure") == 0) choose = true;
    if (std::strcmp(argv[i], "--all") == 0) author_options.keep_all = true;
    if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc) threads = std::atoi(argv[++i]);
    if (std::strcmp(argv[i], "--folder") == 0 && i + 1 < argc) folder = argv[++i];
    if (std::strcmp(argv[i], "--plan") == 0 && i + 1 < argc) plan = argv[++i];
  }
  author_options.machine = author::machine_of(DeviceType::cpu, threads);
  if (!plan.empty()) {
    author_options.machine.plan = author::plan_from_text(author_options.machine.plan, plan).take();
    author_options.machine.alternatives = {};
  }
  Engine& engine = *engine_load().take();
  engine.set_threads(threads);
  author::EngineMeasure measure(engine);
  double logs = 0, slowest = 0;
  int graphs = 0, with_pass = 0, right = 0, slower = 0;
  for (const std::string& path : file_read_list(argv[1]).take()) {
    ++graphs;
    const auto begin = Clock::now();
    const std::string out = folder + "/" + std::to_string(graphs);
    std::filesystem::remove_all(out);
    std::string status = "none";
    int t = 0;
    Timing timing;
    std::size_t count = 0;
    double ms = 0, expected_eager = 0, expected_pass = 0;
    try {
      const GraphFolder graph = read_graph_folder(path).take();
      const author::AuthoredTask authored =
          author::author_task({&graph, 1}, author_options, choose ? &measure : nullptr, threads).take();
      ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
      count = authored.passes.size();
      for (const author::AuthoredPass& p : authored.passes) {
        expected_eager += p.eager_cost;
        expected_pass += p.pass_cost;
      }
      if (count > 0) {
        author::write_pass_folder(out, authored.passes, false).take();
        LoadOptions load;
        load.replacement_func_limit = 0;
        const PassFolder passes = load_pass_folder(out, load).take();
        EvaluateOptions options;
        options.checked = check;
        options.draws = 0;
        options.load = load;
        Evaluation e;
        if (run) e = Evaluator(path, Candidate{}, out, engine, options).verify();
        status = status_name(e.status);
        t = e.comparison.tightest_t();
        if (!e.errors.empty()) std::printf("# %s\n", error_line(e.errors[0]).c_str());
        if (time && (e.status == Status::correct || e.status == Status::accuracy))
          timing = measure.time(graph, passes, nullptr).take();
      }
    } catch (const Failure& f) {
      status = "failed";
      std::printf("# %s\n", error_line(f.error).c_str());
    }
    with_pass += count > 0 ? 1 : 0;
    right += status == "correct" || status == "none" ? 1 : 0;
    const double ratio = status == "correct" && timing.speedup.value > 0 ? timing.speedup.value : 1;
    slower += ratio < 0.97 ? 1 : 0;
    logs += std::log(ratio > 0 ? ratio : 1);
    slowest = std::max(slowest, ms);
    std::printf("%s\t%s\t%d\t%zu\t%.1f\t%.1f\t%.3f\t%.1f\t%.1f\t%.1f\n", path.c_str(), status.c_str(), t, count,
                timing.eager.e2e.median * 1e3, timing.compiled.e2e.median * 1e3, ratio, ms, expected_eager,
                expected_pass);
    std::fflush(stdout);
  }
  std::printf("%d graphs, %d with passes, %d right, %d slower, geometric mean %.3f, slowest authoring %.1f ms\n",
              graphs, with_pass, right, slower, std::exp(logs / std::max(graphs, 1)), slowest);
  return 0;
}
