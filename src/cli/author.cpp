// passnet author: a pass folder for a graph or a task.
#include <fmt/format.h>

#include <set>

#include "author/author.h"
#include "author/choose.h"
#include "base/process.h"
#include "cli/command.h"
#include "cli/graph_list.h"
#include "exec/engine.h"
#include "fx/folder.h"

namespace passnet::cli {

namespace {

struct Options {
  GraphSelection selection;
  std::string out;
  int threads = 0;
  bool explain = false, no_measure = false, single_wrapper = false, all = false;
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

void explain(const author::Decision& d) {
  if (!d.why.empty())
    fmt::print("{}: dropped: {}\n", d.pass, d.why);
  else
    fmt::print("{}: {} at {:.2f} times eager's speed, spread {:.2f}{}\n", d.pass, d.kept ? "kept" : "dropped", d.ratio,
               d.spread, d.remembered ? ", as measured before" : "");
}

int run(const Options& o) {
  author::AuthorOptions options;
  options.keep_all = o.all || !o.no_measure;  // what is measured needs no estimate
  Engine* engine = nullptr;
  if (!o.no_measure) {
    engine = engine_load().take();
    engine->set_threads(o.threads > 0 ? o.threads : core_count());
  }
  std::vector<author::AuthoredPass> passes;
  std::set<std::string> dropped;  // patterns that lose on some graph of the task
  std::vector<GraphFolder> folders;
  for (const std::string& graph : o.selection.resolve()) {
    folders.push_back(read_graph_folder(graph).take());
    options.halves |= author::has_halves(folders.back());
  }
  for (const GraphFolder& folder : folders) {
    author::Authored authored = author::author_graph(folder, options).take();
    if (o.explain) explain(folder, authored);
    if (engine != nullptr) {
      author::EngineMeasure measure(*engine);
      std::vector<std::string> patterns;
      for (const author::AuthoredPass& p : authored.passes) patterns.push_back(p.pattern);
      const auto decisions = author::choose(folder, authored.passes, measure, engine->threads()).take();
      for (std::size_t i = 0; i < decisions.size(); ++i) {
        if (!decisions[i].kept) dropped.insert(patterns[i]);
        if (o.explain) explain(decisions[i]);
      }
    }
    for (author::AuthoredPass& p : authored.passes) passes.push_back(std::move(p));
  }
  std::erase_if(passes, [&](const author::AuthoredPass& p) { return dropped.contains(p.pattern); });
  author::merge_passes(passes);
  if (o.out == "-") {
    for (const author::AuthoredPass& p : passes) fmt::print("# {}.py\n{}", p.name, author::pass_file(p));
    return kOk;
  }
  author::write_pass_folder(o.out, passes, o.single_wrapper).take();
  fmt::print(stderr, "{} pass{} in {}\n", passes.size(), passes.size() == 1 ? "" : "es", o.out);
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
  command->add_option("--threads", o->threads, "Threads while measuring; all cores unless given");
  command->add_flag("--single-wrapper", o->single_wrapper, "One wrapper for all passes, which looks at a route");
  command->add_flag("--all", o->all, "Keep regions that are not expected to gain");
  command->callback([o, &outcome] { outcome.code = run(*o); });
}

}  // namespace passnet::cli
