// passnet data generalise: graphs at other sizes and in half precision.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/line_file.h"
#include "base/text.h"
#include "cli/data.h"
#include "cli/graph_list.h"
#include "cli/json_line.h"
#include "cli/progress.h"
#include "data/dims.h"
#include "data/dtypes.h"
#include "data/graph_files.h"
#include "ops/lower.h"

namespace passnet::cli {

namespace {

using nlohmann::ordered_json;

struct GeneraliseOptions {
  GraphSelection selection;
  data::FarmOptions farm;
  std::string out, check;
  std::vector<int> variants;
  std::vector<std::string> dtypes = {"float16", "bfloat16"};
  bool guess = false, json = false;
};

// One graph that came out, or why it did not.
ordered_json made(const GraphFolder& folder, const ordered_json& facts) {
  ordered_json files = ordered_json::object();
  std::vector<TensorMeta> metas;
  for (const std::int32_t input : folder.inputs) metas.push_back(folder.metas[static_cast<std::size_t>(input)]);
  for (data::GraphFile& file : data::print_graph_files(folder.graph, metas, facts))
    files[file.name] = std::move(file.text);
  return {{"files", std::move(files)}};
}

void run_eagerly(const GraphFolder& folder, Engine& engine) {
  const Program program = lower_graph(folder.graph).take();
  const auto executable = engine.prepare(program, folder.graph, DeviceType::cpu).take();
  const std::vector<TensorRef> inputs = engine.replay(folder, 1024, DeviceType::cpu).take();
  engine.seed(1024);
  executable->run(inputs).take();
}

data::Constraints constraints_of(const std::string& path, const GraphFolder& folder, bool guess) {
  const std::string file = path + "/input_tensor_constraints.py";
  if (guess && !file_exists(file)) return data::guess_constraints(folder);
  data::Constraints out;
  if (file_exists(file)) out = data::read_constraints(file, file_read(file).take()).take();
  return guess && out.symbols.empty() ? data::guess_constraints(folder) : out;
}

// In a worker: {variant: {"files"} or {"error"}}.
std::string dims_one(const std::string& text, Engine& engine) {
  const ordered_json request = ordered_json::parse(text);
  const std::string path = request.at("graph");
  const GraphFolder folder = data::read_whole_graph(path).take();
  const data::Constraints constraints = constraints_of(path, folder, request.at("guess"));
  const data::Variants variants = data::find_variants(folder, constraints).take();
  const auto resizer = data::Resizer::make(folder, constraints, engine).take();
  const std::vector<int> wanted = request.at("variants");
  ordered_json out = ordered_json::object();
  for (const data::Variant& variant : variants.all) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), variant.number) == wanted.end()) continue;
    auto result = guarded([&] {
      const GraphFolder resized = resizer->resize(variant.sizes).take();
      if (request.at("run")) run_eagerly(resized, engine);
      ordered_json facts = data::read_graph_facts(path);
      if (!facts.contains("model_name")) facts["model_name"] = request.at("name");
      facts["passnet"]["version"] = 1;
      facts["passnet"]["variant"] = variant.number;
      facts["passnet"]["sizes_of"] = variants.kind;
      for (std::size_t i = 0; i < variant.sizes.size(); ++i)
        facts["passnet"]["sizes"][constraints.symbols[i].name] = variant.sizes[i];
      return made(resized, facts);
    });
    out[std::to_string(variant.number)] = result ? *result : ordered_json({{"error", error_line(result.error())}});
  }
  return json_line(out);
}

// In a worker: {dtype: {"files"} or {"error"}}.
std::string dtype_one(const std::string& text, Engine& engine) {
  const ordered_json request = ordered_json::parse(text);
  const std::string path = request.at("graph");
  const GraphFolder folder = data::read_whole_graph(path).take();
  ordered_json out = ordered_json::object();
  for (const std::string name : request.at("dtypes")) {
    auto result = guarded([&] {
      const DeviceType device = request.at("run") ? DeviceType::cpu : DeviceType::meta;
      const data::Retyped retyped = data::change_dtype(folder, *dtype_from_name(name), device, engine).take();
      if (request.at("run")) run_eagerly(retyped.folder, engine);
      ordered_json facts = data::read_graph_facts(path);
      if (!facts.contains("model_name")) facts["model_name"] = request.at("name");
      facts["passnet"]["version"] = 1;
      facts["passnet"]["dtype"] = name;
      facts["passnet"]["inserted_casts"] = retyped.casts;
      return made(retyped.folder, facts);
    });
    out[name] = result ? *result : ordered_json({{"error", error_line(result.error())}});
  }
  return json_line(out);
}

// Which graphs an earlier run has done: a line a graph, after its folders were written.
class Done {
 public:
  explicit Done(const std::string& folder)
      : file_(LineFile::open(
                  folder, kFile, [](std::string_view) { return false; }, LineFile::Alone::in_file)
                  .take()) {
    line_file_scan(folder + "/" + kFile, 0, [this](Line&& line) { names_.emplace(line.text); }).take();
  }
  bool contains(const std::string& name) const { return names_.contains(name); }
  void add(const std::string& name) { file_->append(name + "\n").take(); }

 private:
  static constexpr const char* kFile = "done.txt";
  std::unique_ptr<LineFile> file_;
  std::set<std::string> names_;
};

int generalise(const GeneraliseOptions& o, const data::FarmWork& work, const std::string& what) {
  std::vector<std::string> graphs = o.selection.resolve();
  std::vector<std::string> names = graph_names(graphs);
  std::map<std::string, std::string> dropped;
  std::size_t written = 0, kept = 0;
  Done finished(o.out);
  for (std::size_t i = graphs.size(); i-- > 0;)
    if (finished.contains(names[i])) {
      graphs.erase(graphs.begin() + static_cast<std::ptrdiff_t>(i));
      names.erase(names.begin() + static_cast<std::ptrdiff_t>(i));
      ++kept;
    }
  Progress progress("graphs", graphs.size(), o.json);
  const auto drop = [&](const std::string& folder, const std::string& why) {
    dropped.emplace(folder, why);
    if (o.json)
      fmt::print("{}\n", json_line(ordered_json({{"folder", folder}, {"dropped", why}})));
    else
      fmt::print(stderr, "{}: {}\n", folder, text_printable(why));
  };
  data::farm_run(
      o.farm, work, graphs.size(),
      [&](std::size_t i) {
        return json_line(ordered_json({{"graph", graphs[i]},
                                       {"name", names[i]},
                                       {"guess", o.guess},
                                       {"run", o.check == "run"},
                                       {"variants", o.variants},
                                       {"dtypes", o.dtypes}}));
      },
      [&](std::size_t i, data::FarmAnswer answer) {
        const std::string base = o.out + "/" + names[i];
        if (!answer.ok) drop(base, answer.text);
        const ordered_json all = answer.ok ? ordered_json::parse(answer.text) : ordered_json::object();
        for (const auto& [variant, result] : all.items()) {
          const std::string folder = base + "/" + variant;
          if (result.contains("error")) {
            drop(folder, result.at("error"));
            continue;
          }
          data::GraphFiles files;
          for (const auto& [name, text] : result.at("files").items()) files.push_back({name, text});
          data::write_graph_files(folder, files).take();
          ++written;
          if (o.json) fmt::print("{}\n", json_line(ordered_json({{"graph", graphs[i]}, {"folder", folder}})));
        }
        finished.add(names[i]);
        progress.step(dropped.size());
      });
  std::string lines;
  for (const auto& [folder, why] : dropped) lines += fmt::format("{}\t{}\n", folder, text_printable(why));
  if (!lines.empty()) file_write(o.out + "/dropped.tsv", lines).take();
  if (!o.json)
    fmt::print("{} {} of {} graphs in {}{}; {} dropped{}\n", written, what, graphs.size(), o.out,
               kept > 0 ? fmt::format(" ({} graphs were done)", kept) : "", dropped.size(),
               dropped.empty() ? "" : fmt::format(" (why: {}/dropped.tsv)", o.out));
  return written > 0 || dropped.empty() ? kOk : kFailed;
}

CLI::App* add_common(CLI::App& parent, const char* name, const char* help, GeneraliseOptions& o, const char* out_help) {
  CLI::App* command = parent.add_subcommand(name, help);
  o.selection.add_options(*command);
  command->add_option("--out", o.out, out_help)->required()->type_name("DIR");
  command
      ->add_option("--check", o.check,
                   "Keep what runs eagerly on the CPU within --timeout, or what its shapes and dtypes allow")
      ->check(CLI::IsMember({"run", "shapes"}))
      ->capture_default_str();
  add_farm_options(*command, o.farm);
  command->add_flag("--json", o.json, "One JSON object a graph: {\"graph\", \"folder\"} or {\"folder\", \"dropped\"}");
  return command;
}

}  // namespace

void add_data_generalise(CLI::App& data, Outcome& outcome) {
  CLI::App* generalise_app = data.add_subcommand("generalise", "Make graphs at other sizes, or in half precision");
  generalise_app->require_subcommand(1);

  auto dims = std::make_shared<GeneraliseOptions>();
  dims->check = "shapes";
  CLI::App* command = add_common(*generalise_app, "dims", "Graphs at up to nine other batches, lengths and image sizes",
                                 *dims, "Where the variants go: DIR/<graph>/<variant>, 0 to 8");
  command->add_option("--variants", dims->variants, "Only these")
      ->delimiter(',')
      ->type_name("N,...")
      ->check(CLI::Range(0, 8));
  command->add_flag("--guess", dims->guess,
                    "Where input_tensor_constraints.py names no free dimension: batch, length and image sizes are");
  command->footer(
      "Literals that repeat a changed dimension (in view, expand, arange, zeros, slices, ...) are rewritten.");
  command->callback([=, &outcome] { outcome.code = generalise(*dims, dims_one, "variants"); });

  auto dtype = std::make_shared<GeneraliseOptions>();
  dtype->check = "run";
  command = add_common(*generalise_app, "dtype", "Graphs with float32 inputs in float16 and bfloat16", *dtype,
                       "Where the graphs go: DIR/<graph>/<dtype>");
  command->add_option("--to", dtype->dtypes, "The dtypes")
      ->delimiter(',')
      ->type_name("DTYPE,...")
      ->check(CLI::IsMember({"float16", "bfloat16"}))
      ->capture_default_str();
  command->footer("A cast is inserted only where an operator refuses to run without one.");
  command->callback([=, &outcome] { outcome.code = generalise(*dtype, dtype_one, "graphs in half precision"); });
}

}  // namespace passnet::cli
