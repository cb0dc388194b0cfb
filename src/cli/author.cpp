// passnet author: a pass folder for a graph or a task.
#include <fmt/format.h>

#include "author/author.h"
#include "cli/command.h"
#include "cli/graph_list.h"
#include "fx/folder.h"

namespace passnet::cli {

namespace {

struct Options {
  GraphSelection selection;
  std::string out;
  bool explain = false, no_measure = false, single_wrapper = false, all = false;
};

void explain(const GraphFolder& folder, const author::Authored& authored) {
  const auto& nodes = folder.graph.nodes;
  for (const author::AuthoredPass& p : authored.passes) {
    fmt::print("{}: {} nodes, {} kernel{}; expected {:.1f} us instead of {:.1f}, {:.0f} bytes and {:.0f} calls saved\n", p.name,
               p.region.nodes.size(), p.kernels, p.kernels == 1 ? "" : "s", p.pass_cost, p.eager_cost, p.bytes_saved, p.calls_saved);
    for (const NodeId id : p.region.nodes) fmt::print("  {} = {}\n", nodes[id].name, nodes[id].target);
  }
  for (const author::LeftOut& l : authored.left_out)
    fmt::print("left out: {} = {}: {}\n", nodes[l.node].name, nodes[l.node].target, l.why);
}

int run(const Options& o) {
  author::AuthorOptions options;
  options.keep_all = o.all;
  std::vector<author::AuthoredPass> passes;
  for (const std::string& graph : o.selection.resolve()) {
    const GraphFolder folder = read_graph_folder(graph).take();
    author::Authored authored = author::author_graph(folder, options).take();
    if (o.explain) explain(folder, authored);
    for (author::AuthoredPass& p : authored.passes) passes.push_back(std::move(p));
  }
  author::write_pass_folder(o.out, passes, o.single_wrapper).take();
  fmt::print(stderr, "{} pass{} in {}\n", passes.size(), passes.size() == 1 ? "" : "es", o.out);
  return kOk;
}

}  // namespace

void add_author(CLI::App& app, Outcome& outcome) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("author", "Write a pass folder for a graph or a task: fused kernels, measured against eager");
  o->selection.add_options(*command);
  command->add_option("-o,--out", o->out, "Where the pass folder goes")->required()->type_name("DIR");
  command->add_flag("--explain", o->explain, "Say which regions were found, what they save and why a node was left out");
  command->add_flag("--no-measure", o->no_measure, "Decide by the cost model alone");
  command->add_flag("--single-wrapper", o->single_wrapper, "One wrapper for all passes, which looks at a route");
  command->add_flag("--all", o->all, "Keep regions that are not expected to gain");
  command->callback([o, &outcome] { outcome.code = run(*o); });
}

}  // namespace passnet::cli
