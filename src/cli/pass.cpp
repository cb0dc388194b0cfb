// passnet pass check|plan: load pass folders, and record what a wrapper does for given arguments.
#include <fmt/format.h>

#include <chrono>

#include "base/file.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/load_options.h"
#include "fx/printer.h"
#include "pass/load.h"
#include "pass/manage.h"
#include "pass/wrapper_step.h"
#include "py/parser.h"
#include "py/printer.h"

namespace passnet::cli {

namespace {

struct Options {
  std::vector<std::string> folders;
  std::string pass, arguments;
  MatchMode match = MatchMode::normal;
  bool no_plan = false;
  LoadOptions load;
  bool json = false;
};

Result<PassFolder> load(const std::string& path, const Options& o) {
  return path.ends_with(".py") ? load_pass_file(path, o.load) : load_pass_folder(path, o.load);
}

std::string args_text(const Pass& pass) {
  std::vector<std::string> out;
  for (const Value& v : pass.replacement_args)
    out.push_back(value_text(v, [&](NodeId id) { return pass.pattern.nodes[static_cast<std::size_t>(id)].name; }));
  return text_join(out, ", ");
}

int check(const Options& o) {
  int failed = 0;
  for (const std::string& path : o.folders) {
    const auto folder = load(path, o);
    if (!folder) {
      ++failed;
      if (o.json)
        fmt::print("{{\"folder\": {}, \"error\": {{\"code\": \"{}\", \"line\": {}, \"message\": {}}}}}\n",
                   json_string(path), code_name(folder.error().code), folder.error().where.line,
                   json_string(error_line(folder.error())));
      else
        fmt::print(stderr, "{}\n", error_text(folder.error()));
      continue;
    }
    for (const Pass& pass : folder->passes) {
      const std::size_t nodes = pass.pattern.nodes.size() - pass.pattern.placeholder_count() - 1;
      if (o.json)
        fmt::print("{{\"folder\": {}, \"pass\": {}, \"nodes\": {}, \"wrapper\": {}}}\n", json_string(path),
                   json_string(pass.name), nodes, json_string(pass.wrapper.name));
      else
        fmt::print("{}: {} nodes -> {}({})\n", pass.name, nodes, pass.wrapper.name, args_text(pass));
    }
    for (const std::string& line : folder->dropped) fmt::print(stderr, "dropped: {}\n", line);
    for (const std::string& line : folder->settings) fmt::print(stderr, "{}\n", text_printable(line));
    if (folder->passes.empty()) fmt::print(stderr, "{}: no passes are listed\n", path);
  }
  return failed > 0 ? kFailed : kOk;
}

std::vector<HostArgument> read_arguments(const std::string& text) {
  if (text_trim(text).empty()) return {};
  const py::Module module = parse_arguments("(", text, ",)");
  const py::Expr& tuple = *module.body()[0]->value;
  if (tuple.kind != py::ExprKind::tuple)
    fail({Code::usage, {}, fmt::format("'{}' is no list of arguments", text), {"write --args 'float32[2, 3], 5'"}});
  std::vector<HostArgument> out;
  for (const py::Expr* e : tuple.items) out.push_back(read_argument(*e));
  return out;
}

int plan(const Options& o) {
  const PassFolder folder = load(o.folders.at(0), o).take();
  const Pass* pass = folder.passes.empty() ? nullptr : &folder.passes[0];
  for (const Pass& p : folder.passes)
    if (p.name == o.pass) pass = &p;
  if (pass == nullptr || (!o.pass.empty() && pass->name != o.pass))
    fail({Code::usage, {}, fmt::format("no pass '{}'", o.pass), {}});
  fmt::print("{}", plan_text(record_plan(*pass->module, read_arguments(o.arguments)).take()));
  return kOk;
}

// Applies the folder to a graph, then runs it with kernels left out, so that every wrapper's plan is recorded for the
// shapes it really gets.
int apply(const Options& o) {
  const GraphFolder graph = read_graph_folder(o.folders.at(0)).take();
  const PassFolder folder = load(o.folders.at(1), o).take();
  const Applied applied = apply_passes(graph.graph, folder, o.match).take();
  for (const AppliedPass& p : applied.passes)
    fmt::print("{}: {} match{}{}\n", p.name, p.matches, p.matches == 1 ? "" : "es",
               p.left_out == 0 ? std::string()
                               : fmt::format("; {} more cannot become one call: an effect or a way back is in between",
                                             p.left_out));
  for (const std::string& line : folder.dropped) fmt::print(stderr, "dropped: {}\n", line);
  if (!applied.changed()) {
    fmt::print("no pass changed the graph (pass_miss); 'passnet match --explain' says why\n");
    return kFailed;
  }
  fmt::print("\n{}\n", print_model(applied.graph, PrintStyle::plain));
  if (o.no_plan) return kOk;
  Engine& engine = *engine_load().take();
  RecordingBackend backend;
  std::vector<std::unique_ptr<WrapperStep>> steps;
  std::vector<ExternalStep*> externals;
  for (const Pass* pass : applied.wrappers) {
    steps.push_back(std::make_unique<WrapperStep>(*pass, engine, backend));
    externals.push_back(steps.back().get());
  }
  const Program program = lower_graph(applied.graph, applied.externals).take();
  const auto executable = engine.prepare(program, applied.graph, DeviceType::cpu, externals).take();
  const auto inputs = engine.replay(graph, 1024, DeviceType::cpu).take();
  executable->run(inputs).take();
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (const auto& recorded : steps[i]->plans())
      fmt::print("\n{}({}):\n{}", applied.externals[i].name, recorded->arguments, plan_text(recorded->plan));
  return kOk;
}

}  // namespace

void add_pass(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<Options>();
  CLI::App* pass = app.add_subcommand("pass", "Load and check pass folders; record what a wrapper does");
  pass->require_subcommand(1);
  const auto common = [&](CLI::App* command) {
    command->add_option("folders", options->folders, "Pass folders, or single pass files")
        ->required()
        ->type_name("FOLDER");
    add_load_options(*command, options->load);
  };
  CLI::App* c = pass->add_subcommand("check", "Load: order file, modules, policy, patterns, wrappers");
  common(c);
  c->add_flag("--json", options->json, "One JSON object a line");
  c->callback([=, &outcome] { outcome.code = check(*options); });
  CLI::App* a = pass->add_subcommand(
      "apply", "Rewrite a graph with a pass folder and record the launch plans of its wrappers: GRAPH PASSES");
  common(a);
  add_match_mode(*a, options->match);
  a->add_flag("--no-plan", options->no_plan, "Only rewrite");
  a->callback([=, &outcome] {
    if (options->folders.size() != 2) fail({Code::usage, {}, "apply takes a graph folder and a pass folder", {}});
    outcome.code = apply(*options);
  });
  CLI::App* p = pass->add_subcommand(
      "plan", "Run a wrapper's host program for given arguments and print the recorded launch plan");
  common(p);
  p->add_option("--pass", options->pass, "Which pass of the folder; default: the first");
  p->add_option("--args", options->arguments,
                "The wrapper's arguments: float32[2, 3], float16[4](1), 'route', 1.5, None")
      ->required();
  p->callback([=, &outcome] { outcome.code = plan(*options); });
}

}  // namespace passnet::cli
