// Any bytes as a graph folder, its files parted by `%%` lines (model.py, weight_meta.py, input_meta.py): a graph or an
// error; what reads prints, reads again and prints the same, verifies, and lowers to a program or an error.
#include <cstdlib>
#include <iostream>
#include <string>

#include "fuzz_one.h"
#include "fx/folder.h"
#include "fx/meta.h"
#include "fx/printer.h"
#include "ops/lower.h"

namespace {

using namespace passnet;

[[noreturn]] void broken(std::string_view why, const std::string& text) {
  std::cerr << why << '\n' << text << '\n';
  std::abort();
}

void check_model(const std::string& source) {
  const Result<Graph> graph = read_model("model.py", source);
  if (!graph) {
    if (graph.error().code == Code::internal) broken("an internal error", error_text(graph.error()));
    return;
  }
  for (const PrintStyle style : {PrintStyle::plain, PrintStyle::raw}) {
    const std::string printed = print_model(*graph, style);
    const Result<Graph> again = read_model("printed.py", printed);
    if (!again) broken("the printed graph does not read: " + error_text(again.error()), printed);
    if (const std::string twice = print_model(*again, style); twice != printed)
      broken("printed twice differs", printed + "\n---\n" + twice);
  }
}

std::string print_metas(const std::vector<TensorMeta>& metas) {
  std::string out;
  for (const TensorMeta& meta : metas) out += print_meta(meta) + "\n";
  return out;
}

void check_metas(const std::string& source) {
  const Result<std::vector<TensorMeta>> metas = read_metas("weight_meta.py", source);
  if (!metas) return;
  const std::string printed = print_metas(*metas);
  const Result<std::vector<TensorMeta>> again = read_metas("printed.py", printed);
  if (!again) broken("the printed metas do not read: " + error_text(again.error()), printed);
  if (const std::string twice = print_metas(*again); twice != printed)
    broken("printed twice differs", printed + "\n---\n" + twice);
}

void check_folder(GraphSources sources) {
  const Result<GraphFolder> folder = read_graph_sources(std::move(sources), {.metas = true, .source_hash = true});
  if (!folder) return;
  if (folder->inputs.size() != folder->graph.placeholder_count()) broken("an input without its meta", "");
  const Result<Program> program = lower_graph(folder->graph);
  if (!program && program.error().code == Code::internal) broken("an internal error", error_text(program.error()));
}

}  // namespace

int fuzz_one(const std::uint8_t* data, std::size_t size) {
  std::string rest(reinterpret_cast<const char*>(data), size);
  GraphSources sources{"folder", {}, {}, {}};
  const auto part = [&] {
    const std::size_t at = rest.find("\n%%\n");
    std::string out = rest.substr(0, at);
    rest = at == std::string::npos ? std::string() : rest.substr(at + 4);
    return out;
  };
  sources.model = part();
  if (!rest.empty()) sources.weight_meta = part();
  if (!rest.empty()) sources.input_meta = part();
  check_model(sources.model);
  check_metas(sources.weight_meta.value_or(sources.model));
  check_folder(std::move(sources));
  return 0;
}
