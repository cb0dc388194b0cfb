#include "data/constraints.h"

#include <fmt/format.h>

#include "base/file.h"
#include "py/parser.h"

namespace passnet::data {

namespace {

class ConstraintReader {
 public:
  explicit ConstraintReader(const py::Module& module) : module_(module) {}

  Constraints run() {
    for (const py::Stmt* s : module_.body()) {
      if (s->kind != py::StmtKind::assign || s->targets.size() != 1 || s->targets[0]->kind != py::ExprKind::name)
        continue;
      const std::string_view name = s->targets[0]->text;
      if (name == "dynamic_dim_constraint_symbol2example_value") examples(*s->value);
      if (name == "dynamic_dim_constraint_input_shapes") shapes(*s->value);
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void wrong(const py::Expr& e, std::string what) const {
    fail({Code::meta, module_.where(e.place), std::move(what), {}});
  }

  void examples(const py::Expr& e) {
    if (e.kind != py::ExprKind::dict) wrong(e, "the symbols' example values must be a dict");
    for (std::size_t i = 0; i + 1 < e.items.size(); i += 2) {
      const py::Expr *key = e.items[i], *value = e.items[i + 1];
      if (key == nullptr || key->kind != py::ExprKind::name || value->kind != py::ExprKind::integer)
        wrong(e, "an example value must be SYMBOL: integer");
      out_.symbols.push_back({std::string(key->text), value->integer});
    }
  }

  void shapes(const py::Expr& e) {
    if (e.kind != py::ExprKind::list) wrong(e, "the inputs' shapes must be a list");
    for (const py::Expr* row : e.items) {
      if (row->kind != py::ExprKind::tuple || row->items.size() != 2 || row->items[0]->kind != py::ExprKind::list ||
          row->items[1]->kind != py::ExprKind::string)
        wrong(*row, "an input's shape must be ([sizes], \"name\")");
      std::vector<Dimension> dims;
      for (const py::Expr* d : row->items[0]->items) dims.push_back(dimension(*d));
      out_.shapes[std::string(row->items[1]->text)] = std::move(dims);
    }
  }

  Dimension dimension(const py::Expr& e) const {
    if (e.kind == py::ExprKind::integer) return {e.integer, -1};
    if (e.kind == py::ExprKind::name)
      for (std::size_t i = 0; i < out_.symbols.size(); ++i)
        if (out_.symbols[i].name == e.text) return {out_.symbols[i].example, static_cast<int>(i)};
    wrong(e, "a size must be an integer or a symbol with an example value");
  }

  const py::Module& module_;
  Constraints out_;
};

// Buffers that are indices, by a part of their name.
constexpr std::string_view kIndices[] = {"_index", "_ids", "num_batches_tracked"};

TensorMeta stand_in(const std::string& name, const std::vector<Dimension>& dims) {
  TensorMeta out;
  out.name = name;
  out.device = "cpu";
  for (const Dimension& d : dims) out.shape.push_back(d.size);
  for (const std::string_view part : kIndices)
    if (name.find(part) != std::string::npos) {
      out.dtype = Dtype::int64;
      out.min_val = out.max_val = MetaNumber{0, 0, true};
    }
  return out;
}

}  // namespace

Result<Constraints> read_constraints(std::string file, std::string source) {
  auto module = py::parse(std::move(file), std::move(source));
  if (!module) return std::move(module.error());
  return guarded([&] { return ConstraintReader(*module).run(); });
}

Result<GraphFolder> read_whole_graph(const std::string& path) {
  auto folder = read_graph_folder(path, {.metas = true, .source_hash = true});
  if (folder || folder.error().code != Code::meta) return folder;
  const std::string file = path + "/input_tensor_constraints.py";
  auto source = file_read(file);
  if (!source) return folder;
  return guarded([&] {
    const Constraints constraints = read_constraints(file, std::move(*source)).take();
    GraphFolder out = read_graph_folder(path, {.metas = false, .source_hash = true}).take();
    for (std::size_t i = 0; i < out.graph.placeholder_count(); ++i) {
      const auto found = constraints.shapes.find(out.graph.nodes[i].name);
      if (found == constraints.shapes.end()) fail(std::move(folder.error()));
      out.inputs.push_back(static_cast<std::int32_t>(out.metas.size()));
      out.metas.push_back(stand_in(found->first, found->second));
    }
    return out;
  });
}

}  // namespace passnet::data
