// Any bytes as a graph folder (as fuzz_graph has it): the author writes passes or leaves nodes out with a reason,
// whatever the graph asks for. Nothing is run; torch is not asked, so that rules meet sizes that it would refuse.
#include <cstdlib>
#include <iostream>
#include <string>

#include "author/author.h"
#include "fuzz_one.h"

int fuzz_one(const std::uint8_t* data, std::size_t size) {
  using namespace passnet;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t at = text.find("\n%%\n");
  GraphSources sources{"folder", text.substr(0, at), {}, {}};
  if (at != std::string::npos) sources.weight_meta = text.substr(at + 4);
  const Result<GraphFolder> folder = read_graph_sources(std::move(sources), {.metas = true, .source_hash = false});
  if (!folder || folder->inputs.size() != folder->graph.placeholder_count()) return 0;
  author::AuthorOptions options;
  options.machine = author::machine_of(DeviceType::cpu, 2);
  options.keep_all = true;
  const Result<author::Authored> authored = author::author_graph(*folder, options);
  if (!authored) {
    if (authored.error().code != Code::internal) return 0;
    std::cerr << error_text(authored.error()) << '\n';
    std::abort();
  }
  for (const author::AuthoredPass& pass : authored->passes) author::pass_file(pass);
  return 0;
}
