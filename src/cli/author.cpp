// passnet author: a pass folder for a graph or a task.
#include <fmt/format.h>

#include "author/author.h"
#include "author/choose.h"
#include "base/process.h"
#include "bench/device.h"
#include "cli/command.h"
#include "cli/graph_list.h"
#include "cli/validators.h"
#include "exec/walk.h"
#include "fx/folder.h"

namespace passnet::cli {

namespace {

struct Options {
  GraphSelection selection;
  std::string out, device = "cpu", plan;
  double seconds = author::AuthorOptions{}.seconds;
  int threads = 0;
  bool explain = false, no_measure = false, single_wrapper = false, all = false, own_products = false;
};

void explain(const GraphFolder& folder, const author::Authored& authored) {
  const auto& nodes = folder.graph.nodes;
  for (const author::AuthoredPass& p : authored.passes) {
    fmt::print("{}: {} nodes, {} kernel{}; expected {:.1f} us instead of {:.1f}, {:.0f} bytes and {:.0f} calls saved\n",
               p.name, p.region.nodes.size(), p.kernels, p.kernels == 1 ? "" : "s", p.pass_cost, p.eager_cost,
               p.bytes_saved, p.calls_saved);
    for (const NodeId id : p.region.nodes) fmt::print("  {} = {}\n", nodes[id].name, nodes[id].target);
  }
  for (const author::LeftOut& l : authored.left_out)
    fmt::print("left out: {} = {}: {}\n", nodes[l.node].name, nodes[l.node].target, l.why);
}

std::string plan_text(const author::PlanChoice& plan) {
  if (plan.tried == 0) return {};
  const std::string tried = fmt::format("{} other plan{}", plan.tried, plan.tried == 1 ? "" : "s");
  if (plan.plan.empty()) return fmt::format("; none of {} better", tried);
  return fmt::format("; {} is {:.2f} times as fast as the usual plan, {} tried", plan.plan, plan.gain, tried);
}

void explain(const author::Decision& d) {
  if (!d.why.empty())
    fmt::print("{}: {}: {}\n", d.pass, d.kept ? "kept" : "dropped", d.why);
  else
    fmt::print("{}: {}, {:.2f} times as fast as eager{}{}\n", d.pass, d.kept ? "kept" : "dropped", d.ratio,
               !d.measured    ? " expected"
               : d.remembered ? " as measured before"
                              : fmt::format(" measured, spread {:.2f}", d.spread),
               plan_text(d.plan));
}

int run(const Options& o) {
  author::AuthorOptions options;
  const DeviceType device = device_from_name(o.device).take();
  const int threads = o.threads > 0 ? o.threads : o.no_measure ? 1 : core_count();
  options.machine = author::machine_of(device, threads);
  if (!o.plan.empty()) {
    options.machine.plan = author::plan_from_text(options.machine.plan, o.plan).take();
    options.machine.alternatives = {};
  }
  if (o.own_products && device == DeviceType::cuda) options.machine.products = author::Products::alike;
  options.keep_all = o.all;
  options.seconds = o.seconds;
  options.shapes = [](const GraphFolder& folder) {
    return guarded([&] { return propagate_known(folder, *engine_load().take()).take(); });
  };
  std::vector<GraphFolder> graphs;
  for (const std::string& graph : o.selection.resolve()) graphs.push_back(read_graph_folder(graph).take());
  std::unique_ptr<author::EngineMeasure> measure;
  if (!o.no_measure) {
    Engine* engine = engine_load().take();
    device_ready(*engine, device).take();
    engine->set_threads(threads);
    measure = std::make_unique<author::EngineMeasure>(*engine, device);
  }
  const author::AuthoredTask task = author::author_task(graphs, options, measure.get(), threads).take();
  for (std::size_t g = 0; o.explain && g < graphs.size(); ++g) {
    if (graphs.size() > 1) fmt::print("{}\n", graphs[g].path);
    explain(graphs[g], task.graphs[g]);
    for (const author::Decision& d : task.decisions[g]) explain(d);
  }
  if (o.out == "-") {
    for (const author::AuthoredPass& p : task.passes) fmt::print("# {}.py\n{}", p.name, author::pass_file(p));
    return kOk;
  }
  author::write_pass_folder(o.out, task.passes, o.single_wrapper).take();
  fmt::print(stderr, "{} pass{} in {}\n", task.passes.size(), task.passes.size() == 1 ? "" : "es", o.out);
  return kOk;
}

}  // namespace

void add_author(CLI::App& app, Outcome& outcome) {
  auto o = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("author", "Write a pass folder for a graph or a task: fused kernels, measured against eager");
  o->selection.add_options(*command);
  command->add_option("-o,--out", o->out, "Where the pass folder goes; - prints the passes")
      ->required()
      ->type_name("DIR");
  command->add_flag("--explain", o->explain,
                    "Say which regions were found, what they save and why a node was left out");
  command->add_flag("--no-measure", o->no_measure, "Decide by the cost model alone");
  command->add_option("--device", o->device, "Where to measure: cpu or cuda")->capture_default_str();
  add_threads(*command, o->threads, "Threads to write for; while measuring all cores unless given, else 1");
  command->add_option("--seconds", o->seconds, "For measuring, after which fewer graphs and plans are tried")
      ->capture_default_str()
      ->check(kPositive);
  command->add_option("--plan", o->plan, "How kernels are laid over programs, fixed: FIELD=N,... (docs/author.md)")
      ->type_name("PLAN");
  command->add_flag("--single-wrapper", o->single_wrapper, "One wrapper for all passes, which looks at a route");
  command->add_flag("--own-products", o->own_products,
                    "On a GPU too, products with kernels of their own compete with ATen's");
  command->add_flag("--all", o->all, "Keep regions that are not expected to gain");
  command->callback([o, &outcome] { outcome.code = run(*o); });
}

}  // namespace passnet::cli
