// Any bytes as model.py and as weight_meta.py: a graph or an error; what reads prints, reads again and prints the same.
#include <cstdlib>
#include <iostream>
#include <string>

#include "fuzz_one.h"
#include "fx/folder.h"
#include "fx/meta.h"
#include "fx/printer.h"

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

}  // namespace

int fuzz_one(const std::uint8_t* data, std::size_t size) {
  const std::string source(reinterpret_cast<const char*>(data), size);
  check_model(source);
  check_metas(source);
  return 0;
}
