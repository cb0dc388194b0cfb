// A graph folder -> its Graph and metas.
#pragma once

#include <string>
#include <vector>

#include "fx/meta.h"
#include "graph/graph.h"

namespace passnet {

struct GraphFolder {
  std::string path;
  Graph graph;
  std::vector<TensorMeta> metas;
  std::vector<std::int32_t> inputs;  // for each placeholder its index in metas
  std::string source_hash;           // sha256 of model.py's text, the format's graph hash
};

struct ReadOptions {
  bool metas = true;         // read weight_meta.py and input_meta.py, and require one for every placeholder
  bool source_hash = false;  // fill source_hash
};

// model.py alone: `class GraphModule` and its forward.
Result<Graph> read_model(std::string file, std::string source);

// The texts of a graph folder's files; a meta file may be absent.
struct GraphSources {
  std::string path;  // for messages
  std::string model;
  std::optional<std::string> weight_meta, input_meta;
};
Result<GraphFolder> read_graph_sources(GraphSources sources, ReadOptions options = {});

Result<GraphFolder> read_graph_folder(const std::string& path, ReadOptions options = {});

}  // namespace passnet
