// The files of one graph folder, as texts: what stages hand on, folders and packs hold.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "fx/folder.h"

namespace passnet::data {

struct GraphFile {
  std::string name;  // model.py, weight_meta.py, graph_net.json, ...
  std::string text;
};
using GraphFiles = std::vector<GraphFile>;

// model.py, weight_meta.py, graph_hash.txt, and graph_net.json with `facts`.
GraphFiles print_graph_files(const Graph& graph, const std::vector<TensorMeta>& metas,
                             const nlohmann::ordered_json& facts);

// Every file of the format that the folder has. Without model.py it is no graph folder.
Result<GraphFiles> read_graph_files(const std::string& folder);
// Makes the folder; graph_hash.txt is written last, so that a folder that has it is whole.
Result<std::monostate> write_graph_files(const std::string& folder, const GraphFiles& files);
// Makes the folder for a run that may have been killed before: temporaries that a kill left in it go.
Result<std::monostate> folder_begin(const std::string& folder);
bool graph_files_whole(const std::string& folder);

const std::string* find_file(const GraphFiles& files, std::string_view name);
// The graph of the texts; `path` is for messages.
Result<GraphFolder> parse_graph_files(const std::string& path, const GraphFiles& files, ReadOptions options = {});

// graph_net.json as an object; empty where it is absent or no object.
nlohmann::ordered_json graph_facts(const GraphFiles& files);
nlohmann::ordered_json read_graph_facts(const std::string& folder);

}  // namespace passnet::data
