#include "fx/folder.h"

#include <fmt/format.h>

#include <unordered_map>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "fx/builder.h"
#include "py/parser.h"

namespace passnet {

namespace {

const py::Stmt& find_forward(const py::Module& module) {
  const py::Stmt* cls = nullptr;
  for (const py::Stmt* s : module.body()) {
    if (s->kind == py::StmtKind::class_ && s->name == "GraphModule") cls = s;
  }
  if (cls == nullptr)
    fail({Code::graph,
          {module.file(), 0, 0, {}},
          "no 'class GraphModule'",
          {"model.py holds one class GraphModule(torch.nn.Module) with a forward"}});
  const py::Stmt* forward = nullptr;
  for (const py::Stmt* s : cls->body) {
    if (s->kind == py::StmtKind::function && s->name == "forward")
      forward = s;
    else if (s->kind == py::StmtKind::function)
      fail({Code::unsupported,
            module.where(s->place),
            fmt::format("method '{}' of GraphModule", s->name),
            {"a graph has a forward and nothing else; weights are its parameters"}});
  }
  if (forward == nullptr) fail({Code::graph, module.where(cls->place), "GraphModule has no forward", {}});
  return *forward;
}

// The metas' order of precedence is the original's: a later file, and a later class, replaces an earlier one of that
// name.
void bind_inputs(GraphFolder& folder) {
  std::unordered_map<std::string_view, std::int32_t> by_name;
  for (std::size_t i = 0; i < folder.metas.size(); ++i) by_name[folder.metas[i].name] = static_cast<std::int32_t>(i);
  for (const Node& node : folder.graph.nodes) {
    if (node.kind != NodeKind::placeholder) break;
    const auto it = by_name.find(node.name);
    if (it == by_name.end()) {
      std::vector<std::string_view> known;
      for (const auto& [name, index] : by_name) known.push_back(name);
      const auto nearest = text_nearest(node.name, known, 1);
      fail({Code::meta,
            where_in_file(folder.graph.file, node.line, node.column),
            fmt::format("no meta for input '{}'", node.name),
            {nearest.empty() ? "weight_meta.py or input_meta.py needs a class with this name"
                             : fmt::format("there is one for '{}'", nearest[0])}});
    }
    folder.inputs.push_back(it->second);
  }
}

}  // namespace

Result<Graph> read_model(std::string file, std::string source) {
  auto module = py::parse(std::move(file), std::move(source));
  if (!module) return std::move(module.error());
  return guarded([&] {
    ImportScope scope;
    for (const py::Stmt* s : module->body()) scope.add(*s);
    return build_graph(*module, find_forward(*module), scope).take();
  });
}

Result<GraphFolder> read_graph_sources(GraphSources sources, ReadOptions options) {
  return guarded([&] {
    GraphFolder out;
    out.path = sources.path;
    const std::string prefix = out.path.ends_with('/') ? out.path : out.path + "/";
    if (options.source_hash) out.source_hash = sha256_hex(sources.model);
    out.graph = read_model(prefix + "model.py", std::move(sources.model)).take();
    graph_verify(out.graph).take();
    if (!options.metas) return out;
    const auto add = [&](const char* name, std::optional<std::string>& text) {
      if (!text) return;
      std::vector<TensorMeta> metas = read_metas(prefix + name, std::move(*text)).take();
      std::move(metas.begin(), metas.end(), std::back_inserter(out.metas));
    };
    add("weight_meta.py", sources.weight_meta);
    add("input_meta.py", sources.input_meta);
    bind_inputs(out);
    return out;
  });
}

Result<GraphFolder> read_graph_folder(const std::string& path, ReadOptions options) {
  return guarded([&] {
    const std::string prefix = path.ends_with('/') ? path : path + "/";
    const auto optional_file = [&](const char* name) -> std::optional<std::string> {
      auto text = file_read(prefix + name);
      if (text) return std::move(*text);
      // A link that leads nowhere is a file that cannot be read, not one that was left out.
      if (file_exists(prefix + name) || file_is_link(prefix + name)) fail(std::move(text.error()));
      return std::nullopt;
    };
    GraphSources sources{path, file_read(prefix + "model.py").take(), {}, {}};
    if (options.metas) {
      sources.weight_meta = optional_file("weight_meta.py");
      sources.input_meta = optional_file("input_meta.py");
    }
    return read_graph_sources(std::move(sources), options).take();
  });
}

}  // namespace passnet
