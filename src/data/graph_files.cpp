#include "data/graph_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "fx/printer.h"

namespace passnet::data {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view kNames[] = {
    "model.py", "weight_meta.py", "input_meta.py", "input_tensor_constraints.py", "graph_net.json", "graph_hash.txt",
};

ordered_json parse_facts(const std::string& text) {
  ordered_json out = json_read(text);
  return out.is_object() ? out : ordered_json::object();
}

}  // namespace

GraphFiles print_graph_files(const Graph& graph, const std::vector<TensorMeta>& metas, const ordered_json& facts) {
  std::string model = print_model(graph, PrintStyle::plain), weights;
  for (const TensorMeta& meta : metas) weights += (weights.empty() ? "" : "\n\n") + print_meta(meta);
  std::string hash = sha256_hex(model);
  return {{"model.py", std::move(model)},
          {"weight_meta.py", std::move(weights)},
          {"graph_net.json", facts.dump(4, ' ', false, ordered_json::error_handler_t::replace) + "\n"},
          {"graph_hash.txt", std::move(hash)}};
}

Result<GraphFiles> read_graph_files(const std::string& folder) {
  GraphFiles out;
  for (const std::string_view name : kNames) {
    const std::string path = fmt::format("{}/{}", folder, name);
    auto text = file_read(path);
    if (text)
      out.push_back({std::string(name), std::move(*text)});
    else if (name == "model.py" || file_exists(path))
      return std::move(text.error());
  }
  return out;
}

Result<std::monostate> write_graph_files(const std::string& folder, const GraphFiles& files) {
  return guarded([&] {
    folder_begin(folder).take();
    for (const GraphFile& file : files)
      if (file.name != "graph_hash.txt") file_write(folder + "/" + file.name, file.text).take();
    if (const std::string* hash = find_file(files, "graph_hash.txt"))
      file_write(folder + "/graph_hash.txt", *hash).take();
    return std::monostate{};
  });
}

Result<std::monostate> folder_begin(const std::string& folder) {
  std::error_code code;
  for (std::filesystem::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
    std::error_code ignored;
    if (at->path().extension() == ".tmp") std::filesystem::remove(at->path(), ignored);
  }
  return folder_make(folder);
}

bool graph_files_whole(const std::string& folder) { return file_exists(folder + "/graph_hash.txt"); }

const std::string* find_file(const GraphFiles& files, std::string_view name) {
  for (const GraphFile& file : files)
    if (file.name == name) return &file.text;
  return nullptr;
}

Result<GraphFolder> parse_graph_files(const std::string& path, const GraphFiles& files, ReadOptions options) {
  const std::string* model = find_file(files, "model.py");
  if (model == nullptr) return Error{Code::io, {path, 0, 0, {}}, "no model.py", {}};
  const auto optional_text = [&](std::string_view name) -> std::optional<std::string> {
    const std::string* text = find_file(files, name);
    return text == nullptr ? std::nullopt : std::optional(*text);
  };
  return read_graph_sources({path, *model, optional_text("weight_meta.py"), optional_text("input_meta.py")}, options);
}

ordered_json graph_facts(const GraphFiles& files) {
  const std::string* text = find_file(files, "graph_net.json");
  return text == nullptr ? ordered_json::object() : parse_facts(*text);
}

ordered_json read_graph_facts(const std::string& folder) {
  const auto text = file_read(folder + "/graph_net.json");
  return text ? parse_facts(*text) : ordered_json::object();
}

}  // namespace passnet::data
