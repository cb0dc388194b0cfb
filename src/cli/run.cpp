// passnet run: graphs with a pass folder, from match to comparison with eager.
#include <fmt/format.h>

#include <cmath>

#include "base/process.h"
#include "base/text.h"
#include "bench/device.h"
#include "bench/draws.h"
#include "bench/evaluate.h"
#include "cli/command.h"
#include "cli/graph_list.h"
#include "cli/load_options.h"
#include "cli/validators.h"

namespace passnet::cli {

namespace {

struct Options {
  GraphSelection selection;
  std::string passes, device = "cpu";
  int threads = 0;
  EvaluateOptions evaluate;
  bool json = false;
};

std::string number(double v) { return std::isfinite(v) ? python_float(v) : "null"; }

std::string error_json(const Error& e) {
  std::vector<std::string> notes;
  for (const std::string& n : e.notes) notes.push_back(json_string(n));
  return fmt::format(R"({{"code": "{}", "file": {}, "line": {}, "column": {}, "message": {}, "notes": [{}]}})",
                     code_name(e.code), json_string(e.where.file), e.where.line, e.where.column, json_string(e.message),
                     text_join(notes, ", "));
}

bool cached(const KernelReport& k) { return k.origin != Origin::compiled; }

std::string kernel_json(const KernelReport& k) {
  return fmt::format(
      R"({{"name": {}, "constexprs": {}, "grid": [{}, {}, {}], "cached": {}, "compile_ms": {:.1f}, "variants": {}}})",
      json_string(k.name), json_string(k.constexprs), k.grid[0], k.grid[1], k.grid[2], cached(k), k.compile_ms,
      k.variants);
}

void print_json(const std::string& graph, const Evaluation& e) {
  std::vector<std::string> kernels, notes, errors;
  for (const KernelReport& k : e.kernels) kernels.push_back(kernel_json(k));
  std::string line = fmt::format(R"({{"graph": {}, "status": "{}", "matches": {})", json_string(graph),
                                 status_name(e.status), e.matches);
  const bool values = e.compared && e.comparison.outcome == Comparison::Outcome::compared;
  const int t = e.comparison.tightest_t();
  line += fmt::format(R"(, "tightest_t": {}, "max_diff": {})", values && t < kNever ? std::to_string(t) : "null",
                      values ? number(e.comparison.max_diff()) : "null");
  line += fmt::format(R"(, "kernels": [{}])", text_join(kernels, ", "));
  if (!e.errors.empty()) line += fmt::format(R"(, "error": {})", error_json(e.errors[0]));
  if (e.errors.size() > 1) {
    for (std::size_t i = 1; i < e.errors.size(); ++i) errors.push_back(error_json(e.errors[i]));
    line += fmt::format(R"(, "more_errors": [{}])", text_join(errors, ", "));
  }
  for (const std::string& n : e.notes) notes.push_back(json_string(n));
  if (!notes.empty()) line += fmt::format(R"(, "notes": [{}])", text_join(notes, ", "));
  fmt::print("{}}}\n", line);
}

std::string t_text(int t) { return t < kNever ? fmt::format("t = {}", t) : "no t"; }

void print_text(const std::string& graph, const Evaluation& e) {
  fmt::print("{}: {}\n", text_printable(graph), status_name(e.status));
  for (const AppliedPass& p : e.passes)
    fmt::print("  {}: {} match{}{}\n", p.name, p.matches, p.matches == 1 ? "" : "es",
               p.left_out == 0 ? "" : fmt::format("; {} more cannot become one call", p.left_out));
  for (const KernelReport& k : e.kernels)
    fmt::print("  kernel {}({}) grid ({}, {}, {}){}, {}\n", k.name, text_printable(k.constexprs), k.grid[0], k.grid[1],
               k.grid[2], k.variants > 1 ? fmt::format(", the fastest of {}", k.variants) : "",
               cached(k) ? "cached" : fmt::format("compiled in {:.0f} ms", k.compile_ms));
  for (const OutputComparison& o : e.comparison.outputs) {
    fmt::print("  {}: {} of {} elements, right from {}, max diff {:.3g}, mean diff {:.3g}\n", o.name,
               dtype_row(o.dtype).name, o.elements, t_text(o.tightest_t), o.max_diff, o.mean_diff);
    if (o.wrong > 0 && e.errors.empty()) fmt::print("    {}\n", wrong_text(o));
  }
  for (const std::string& n : e.notes) fmt::print("  {}\n", text_printable(n));
  std::fflush(stdout);
  for (const Error& error : e.errors) fmt::print(stderr, "{}\n", error_text(error));
}

int run(const Options& o) {
  EvaluateOptions options = o.evaluate;
  options.secret = draw_secret();
  options.draws = 0;  // the recorded inputs say what happens; more draws are the bench's
  options.device = device_from_name(o.device).take();
  const auto graphs = o.selection.resolve();
  Engine& engine = *engine_load().take();
  device_ready(engine, options.device).take();
  engine.set_threads(o.threads > 0 ? o.threads : core_count());
  const Candidate candidate;
  std::size_t right = 0;
  for (const std::string& graph : graphs) {
    Evaluator evaluator(graph, candidate, o.passes, engine, options);
    const Evaluation& e = evaluator.verify();
    right += e.status == Status::correct ? 1 : 0;
    if (o.json)
      print_json(graph, e);
    else
      print_text(graph, e);
    std::fflush(stdout);
  }
  if (!o.json && graphs.size() > 1) fmt::print(stderr, "{} of {} graphs are correct\n", right, graphs.size());
  return right == graphs.size() ? kOk : kFailed;
}

}  // namespace

void add_run(CLI::App& app, Outcome& outcome) {
  auto o = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("run", "Apply a pass folder to graphs, compile and run the kernels, compare with eager");
  o->selection.add_options(*command);
  command->add_option("--passes", o->passes, "A pass folder, or a single pass file")
      ->required()
      ->check(CLI::ExistingPath)
      ->type_name("FOLDER");
  add_match_mode(*command, o->evaluate.match);
  command->add_option("--device", o->device, "cpu or cuda")->capture_default_str();
  add_threads(*command, o->threads, "Threads of torch and of kernels; default: all cores");
  command->add_option("--seed", o->evaluate.seed, "Seed of the inputs")->check(kNatural)->capture_default_str();
  command->add_option("--at", o->evaluate.at, "The tolerance t at which an answer counts as correct, -10..5")
      ->check(CLI::Range(kTightest, kLoosest))
      ->capture_default_str();
  command->add_flag("--checked,!--no-checked", o->evaluate.checked,
                    "Run the checked build first: memory errors and races are found (default)");
  command->add_option("--dump-kernels", o->evaluate.dump_folder, "Write every stage of every kernel into this folder")
      ->type_name("FOLDER");
  add_load_options(*command, o->evaluate.load);
  command->add_flag("--json", o->json, "One JSON object a line");
  command->callback([=, &outcome] { outcome.code = run(*o); });
}

}  // namespace passnet::cli
