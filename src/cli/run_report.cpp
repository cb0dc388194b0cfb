#include "cli/run_report.h"

#include <fmt/format.h>

#include <cmath>

#include "base/hash.h"
#include "base/text.h"

namespace passnet::cli {

namespace {

std::string digest(const TensorRef& tensor, Engine& engine) {
  const TensorRef flat = engine.contiguous_on_cpu(tensor).take();
  std::size_t bytes = dtype_row(flat.dtype).size;
  for (const std::int64_t d : flat.sizes) bytes *= static_cast<std::size_t>(d);
  return sha256_hex({static_cast<const char*>(flat.data), bytes});
}

std::string json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return python_float(value);
}

std::string describe(const RunValue& value, Engine& engine) {
  using Kind = RunValue::Kind;
  switch (value.kind) {
    case Kind::tensor:
      return fmt::format("{{\"shape\": [{}], \"dtype\": \"{}\", \"sha256\": \"{}\"}}",
                         fmt::join(value.tensor.sizes, ", "), dtype_row(value.tensor.dtype).name,
                         digest(value.tensor, engine));
    case Kind::list: {
      std::vector<std::string> items;
      for (const RunValue& item : value.items) items.push_back(describe(item, engine));
      return fmt::format("[{}]", fmt::join(items, ", "));
    }
    case Kind::none: return "{\"value\": null}";
    case Kind::boolean: return fmt::format("{{\"value\": {}}}", value.integer != 0);
    case Kind::integer: return fmt::format("{{\"value\": {}}}", value.integer);
    case Kind::real: return fmt::format("{{\"value\": {}}}", json_number(value.real));
    case Kind::text: return fmt::format("{{\"value\": {}}}", json_string(value.text));
  }
  return {};
}

std::string brief(const RunValue& value) {
  using Kind = RunValue::Kind;
  switch (value.kind) {
    case Kind::tensor:
      return fmt::format("{}[{}]", dtype_row(value.tensor.dtype).name, fmt::join(value.tensor.sizes, ", "));
    case Kind::list: {
      std::vector<std::string> items;
      for (const RunValue& item : value.items) items.push_back(brief(item));
      return fmt::format("{}", fmt::join(items, " "));
    }
    case Kind::none: return "None";
    case Kind::boolean: return value.integer != 0 ? "True" : "False";
    case Kind::integer: return std::to_string(value.integer);
    case Kind::real: return python_float(value.real);
    case Kind::text: return value.text;
  }
  return {};
}

}  // namespace

std::string run_json(const std::string& path, const RunValue& result, Engine& engine) {
  RunValue list;
  if (result.kind != RunValue::Kind::list) list.items.push_back(result);
  list.kind = RunValue::Kind::list;
  return fmt::format("{{\"graph\": {}, \"outputs\": {}}}", json_string(path),
                     describe(result.kind == RunValue::Kind::list ? result : list, engine));
}

void RunTable::add(const std::string& path, const Graph& graph, const RunValue& result, double seconds, Engine&) {
  rows_.push_back({path, std::to_string(graph.nodes.size() - graph.placeholder_count() - 1),
                   fmt::format("{:.2f}", seconds * 1e3), brief(result)});
}

void RunTable::print() const {
  if (rows_.empty()) return;
  std::vector<Row> rows = {{"graph", "ops", "ms", "outputs"}};
  rows.insert(rows.end(), rows_.begin(), rows_.end());
  std::size_t width[3] = {0, 0, 0};
  for (const Row& row : rows) {
    width[0] = std::max(width[0], row.graph.size());
    width[1] = std::max(width[1], row.nodes.size());
    width[2] = std::max(width[2], row.time.size());
  }
  for (const Row& row : rows)
    fmt::print("{:<{}}  {:>{}}  {:>{}}  {}\n", row.graph, width[0], row.nodes, width[1], row.time, width[2],
               row.outputs);
}

}  // namespace passnet::cli
