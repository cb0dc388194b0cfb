// passnet graph show|check|hash|run|profile: everything that is done to a graph before passes come in.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"
#include "bench/device.h"
#include "bench/statistics.h"
#include "bench/subject.h"
#include "cli/command.h"
#include "cli/graph_list.h"
#include "cli/progress.h"
#include "cli/run_report.h"
#include "cli/validators.h"
#include "exec/walk.h"
#include "fx/printer.h"
#include "ops/effects.h"

namespace passnet::cli {

namespace {

struct Options {
  GraphSelection selection;
  std::string style = "plain";
  std::string stage = "graph";
  std::string device = "cpu";
  std::uint64_t seed = 1024;
  int threads = 0;
  int runs = 25;
  bool json = false;
  bool source = false;
  bool quiet = false;
  bool round_trip = false;
};

constexpr int kProfileWarmUps = 3;

// What `work` fails with on one graph; the machine's own trouble is thrown.
template <class Work>
std::optional<Error> error_of(const Work& work, const std::string& path) {
  try {
    work(path);
  } catch (const Failure& failure) {
    if (code_kind(failure.error.code) == ErrorKind::environment) throw;
    return failure.error;
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) throw;
    return Error{Code::internal, {path, 0, 0, {}}, error.what(), {}};
  }
  return std::nullopt;
}

// Runs `work` on every graph; an error is printed and counted, and never ends the run.
template <class Work>
int for_each_graph(const Options& options, std::string what, const Work& work) {
  const std::vector<std::string> graphs = options.selection.resolve();
  std::size_t failed = 0;
  {
    Progress progress(std::move(what), graphs.size(), options.quiet);
    for (const std::string& path : graphs) {
      if (const auto error = error_of(work, path)) {
        ++failed;
        if (options.json)
          fmt::print("{{\"graph\": {}, \"error\": {}}}\n", json_string(path), json_string(error_line(*error)));
        else
          fmt::print(stderr, "{}\n", error_text(*error));
      }
      progress.step(failed);
    }
  }
  if (failed > 0 && !options.quiet) fmt::print(stderr, "{} of {} graphs failed\n", failed, graphs.size());
  return failed > 0 ? kFailed : kOk;
}

std::string shape_text(const RunValue& v) {
  if (v.kind == RunValue::Kind::tensor) {
    const TensorDesc d = describe(v.tensor);
    const bool plain = d.strides == contiguous_strides(d.sizes);
    return fmt::format("{}[{}]{}", dtype_row(d.dtype).name, fmt::join(d.sizes, ", "),
                       plain ? "" : fmt::format(" strides ({})", fmt::join(d.strides, ", ")));
  }
  if (is_tensor_list(v)) {
    std::string out;
    for (const RunValue& item : v.items) out += (out.empty() ? "" : ", ") + shape_text(item);
    return "(" + out + ")";
  }
  if (v.kind == RunValue::Kind::none) return "?";
  return value_text(*literal_of(v), [](NodeId) { return std::string(); });
}

// Every node's shape and dtype, without data; `?` where only a run could tell.
void show_shapes(const GraphFolder& folder) {
  const std::vector<RunValue> values = propagate_known(folder, *engine_load().take()).take();
  std::size_t name = 0, target = 0;
  const auto shown = [](const Node& n) { return n.kind != NodeKind::output && !node_is_effect(n); };
  for (const Node& n : folder.graph.nodes) {
    if (!shown(n)) continue;
    name = std::max(name, n.name.size());
    target = std::max(target, n.target.size());
  }
  for (std::size_t i = 0; i < folder.graph.nodes.size(); ++i) {
    const Node& n = folder.graph.nodes[i];
    if (!shown(n)) continue;
    const std::string_view what = n.kind == NodeKind::placeholder ? "input" : std::string_view(n.target);
    fmt::print("{:{}}  {:{}}  {}\n", n.name, name, what, target, shape_text(values[i]));
  }
}

// What every node gives back and writes, by the first value that lies in that memory.
void show_effects(const Graph& graph) {
  const std::vector<NodeEffects> effects = graph_effects(graph);
  std::map<Memory, std::string> names{{kGenerator, "random numbers"}};
  std::map<std::string, int> used;
  const auto text = [&](const std::vector<Memory>& memories) {
    std::vector<std::string> out;
    for (const Memory m : memories) out.push_back(names[m]);
    return text_join(out, ", ");
  };
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const NodeEffects& e = effects[i];
    if (graph.nodes[i].kind == NodeKind::output) continue;
    for (const Memory m : e.gives) {
      const auto [name, first] = names.try_emplace(m, graph.nodes[i].name);
      if (const int number = first ? ++used[name->second] : 1; number > 1) name->second += fmt::format("#{}", number);
    }
    fmt::print("{}: {}{}{}{}\n", graph.nodes[i].name, text(e.gives), e.writes.empty() ? "" : " writes ", text(e.writes),
               e.known ? "" : " (not known)");
  }
}

int show(const Options& o) {
  return for_each_graph(o, "shown", [&](const std::string& path) {
    const GraphFolder folder = read_graph_folder(path, {.metas = o.stage == "shapes"}).take();
    if (o.stage == "shapes")
      show_shapes(folder);
    else if (o.stage == "program")
      fmt::print("{}", program_text(lower_graph(folder.graph).take()));
    else if (o.stage == "effects")
      show_effects(folder.graph);
    else if (o.stage == "canonical")
      fmt::print("{}", graph_canonical_text(folder.graph));
    else {
      const std::string text = print_model(folder.graph, o.style == "raw" ? PrintStyle::raw : PrintStyle::plain);
      fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
    }
  });
}

// Print, read, print: the same text and the same computation, in both styles.
void check_round_trip(const Graph& graph) {
  for (const PrintStyle style : {PrintStyle::plain, PrintStyle::raw}) {
    const std::string once = print_model(graph, style);
    const Graph again = read_model(graph.file + " (printed)", once).take();
    if (print_model(again, style) != once)
      fail({Code::internal, {graph.file, 0, 0, {}}, "printing, reading and printing again gives another text", {}});
    if (graph_canonical_text(again) != graph_canonical_text(graph))
      fail({Code::internal, {graph.file, 0, 0, {}}, "the printed graph is another computation", {}});
  }
}

int check(const Options& o) {
  std::size_t nodes = 0, graphs = 0;
  const auto begin = std::chrono::steady_clock::now();
  const int code = for_each_graph(o, "checked", [&](const std::string& path) {
    const GraphFolder folder = read_graph_folder(path).take();
    lower_graph(folder.graph).take();
    if (o.round_trip) check_round_trip(folder.graph);
    nodes += folder.graph.nodes.size();
    ++graphs;
    if (o.json)
      fmt::print("{{\"graph\": {}, \"nodes\": {}, \"inputs\": {}}}\n", json_string(path), folder.graph.nodes.size(),
                 folder.inputs.size());
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!o.json) fmt::print("{} graphs are right: {} nodes\n", graphs, nodes);
  if (!o.quiet && graphs > 100) fmt::print(stderr, "{:.0f} graphs/s\n", static_cast<double>(graphs) / seconds);
  return code;
}

int hash(const Options& o) {
  return for_each_graph(o, "hashed", [&](const std::string& path) {
    const GraphFolder folder = read_graph_folder(path, {.metas = false, .source_hash = true}).take();
    const std::string content = graph_content_hash(folder.graph);
    if (o.json)
      fmt::print("{{\"graph\": {}, \"source\": \"{}\", \"content\": \"{}\"}}\n", json_string(path), folder.source_hash,
                 content);
    else
      fmt::print("{}  {}\n", o.source ? folder.source_hash : content, path);
  });
}

Engine& engine_for(const Options& o, DeviceType device) {
  Engine& engine = *engine_load().take();
  device_ready(engine, device).take();
  engine.set_threads(o.threads > 0 ? o.threads : core_count());
  return engine;
}

int run(const Options& o) {
  const DeviceType device = device_from_name(o.device).take();
  Engine& engine = engine_for(o, device);
  RunTable table;
  const int code = for_each_graph(o, "ran", [&](const std::string& path) {
    const auto begin = std::chrono::steady_clock::now();
    const GraphFolder folder = read_graph_folder(path).take();
    const Program program = lower_graph(folder.graph).take();
    const std::unique_ptr<Executable> executable = engine.prepare(program, folder.graph, device).take();
    std::vector<TensorRef> inputs = engine.replay(folder, o.seed, device).take();
    engine.seed(kCallSeed);
    const RunValue result = executable->run(inputs).take();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (o.json)
      fmt::print("{}\n", run_json(path, result, engine));
    else
      table.add(path, folder.graph, result, seconds, engine);
    std::fflush(stdout);
  });
  if (!o.json) table.print();
  return code;
}

// Where an eager run's time goes, node by node: the median of several runs.
int profile(const Options& o) {
  Engine& engine = engine_for(o, DeviceType::cpu);
  return for_each_graph(o, "profiled", [&](const std::string& path) {
    const GraphFolder folder = read_graph_folder(path).take();
    const Program program = lower_graph(folder.graph).take();
    const std::unique_ptr<Executable> executable = engine.prepare(program, folder.graph, DeviceType::cpu).take();
    const std::vector<Node>& nodes = folder.graph.nodes;
    std::vector<std::vector<double>> times(nodes.size());
    for (int i = 0; i < o.runs + kProfileWarmUps; ++i) {
      // In-place operators change the inputs; every run has the same.
      const std::vector<TensorRef> inputs = engine.replay(folder, o.seed, DeviceType::cpu, Normals::quick).take();
      engine.seed(kCallSeed);
      std::vector<double> seconds;
      executable->watch(&seconds);
      executable->run(inputs).take();
      for (std::size_t n = 0; n < nodes.size() && i >= kProfileWarmUps; ++n) times[n].push_back(seconds[n] * 1e3);
    }
    double total = 0;
    std::vector<double> ms;
    for (std::vector<double>& t : times) {
      std::sort(t.begin(), t.end());
      ms.push_back(quantile(t, 0.5));
      total += ms.back();
    }
    const auto is_call = [&](std::size_t n) {
      return nodes[n].kind != NodeKind::placeholder && nodes[n].kind != NodeKind::output;
    };
    if (o.json) {
      std::string list;
      for (std::size_t n = 0; n < nodes.size(); ++n)
        if (is_call(n))
          list +=
              fmt::format("{}{{\"name\": {}, \"target\": {}, \"line\": {}, \"ms\": {:.6g}}}", list.empty() ? "" : ", ",
                          json_string(nodes[n].name), json_string(nodes[n].target), nodes[n].line, ms[n]);
      fmt::print("{{\"graph\": {}, \"ms\": {:.6g}, \"nodes\": [{}]}}\n", json_string(path), total, list);
    } else {
      fmt::print("{}: {:.4f} ms on {} threads, median of {} runs\n", path, total, engine.threads(), o.runs);
      for (std::size_t n = 0; n < nodes.size(); ++n)
        if (is_call(n))
          fmt::print("  {:>5.1f} %  {:>9.4f} ms  line {:<4} {} = {}\n", total > 0 ? 100 * ms[n] / total : 0.0, ms[n],
                     nodes[n].line, nodes[n].name, nodes[n].target);
    }
    std::fflush(stdout);
  });
}

}  // namespace

void add_graph(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<Options>();
  CLI::App* graph = app.add_subcommand("graph", "Read, check, hash and run graph folders");
  graph->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, int (*function)(const Options&)) {
    CLI::App* command = graph->add_subcommand(name, help);
    options->selection.add_options(*command);
    command->add_flag("-q,--quiet", options->quiet, "No progress, no summary on stderr");
    command->callback([=, &outcome] { outcome.code = function(*options); });
    return command;
  };
  CLI::App* s = add("show", "Print the graph from the IR", show);
  s->add_option("--style", options->style, "How to print: plain or raw (as torch.fx prints)")
      ->check(CLI::IsMember({"plain", "raw"}));
  s->add_option("--stage", options->stage,
                "What to print: graph, canonical (what is hashed), program (the ATen calls), effects (in which "
                "memory every node lies and which it writes) or shapes (every node's shape and dtype, without running)")
      ->check(CLI::IsMember({"graph", "canonical", "program", "effects", "shapes"}));
  CLI::App* c = add("check", "Parse, verify and bind every operator, without running", check);
  c->add_flag("--json", options->json, "One JSON object a line");
  c->add_flag("--round-trip", options->round_trip, "Also print each graph in both styles, read it back and compare");
  CLI::App* h = add("hash", "Content hash: equal for equal computations whatever the names", hash);
  h->add_flag("--source", options->source, "sha256 of model.py's text instead (the format's graph_hash.txt)");
  h->add_flag("--json", options->json, "Both hashes, one JSON object a line");
  CLI::App* r = add("run", "Replay the inputs and run the graph eagerly through ATen", run);
  r->add_flag("--json", options->json, "One JSON object a line: shape, dtype and sha256 of every output");
  r->add_option("--seed", options->seed, "Seed of the inputs")->check(kNatural)->capture_default_str();
  r->add_option("--device", options->device, "cpu or cuda; device literals in the graph mean this one")
      ->capture_default_str();
  add_threads(*r, options->threads, "Threads of ATen; default: all cores");
  CLI::App* p = add("profile", "Say where an eager run's time goes, node by node", profile);
  p->add_flag("--json", options->json, "One JSON object a line: the graph's ms, and each node's");
  p->add_option("--runs", options->runs, "Timed runs; the median counts")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  add_threads(*p, options->threads, "Threads of ATen; default: all cores");
}

}  // namespace passnet::cli
