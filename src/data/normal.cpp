#include "data/normal.h"

#include <fmt/format.h>

#include "ops/same_function.h"

namespace passnet::data {

namespace {

struct Spelling {
  std::string_view captured, written;  // prefixes
};
constexpr Spelling kSpellings[] = {
    {"torch._C._nn.", "torch.nn.functional."},
};

void normalise_devices(Value& value) {
  if (value.kind == ValueKind::device) value = Value::device("cuda", -1);
  for (Value& item : value.items) normalise_devices(item);
}

}  // namespace

void normalise_spelling(Graph& graph) {
  for (Node& node : graph.nodes) {
    for (const Spelling& row : kSpellings) {
      if (node.kind != NodeKind::call_function || !node.target.starts_with(row.captured)) continue;
      std::string written = std::string(row.written) + node.target.substr(row.captured.size());
      if (same_function(written) == same_function(node.target)) node.target = std::move(written);
    }
    for (Value& arg : node.args) normalise_devices(arg);
    for (Kwarg& kwarg : node.kwargs) normalise_devices(kwarg.value);
  }
}

void normalise_names(Graph& graph) {
  std::size_t inputs = 0, results = 0;
  for (Node& node : graph.nodes) {
    if (node.kind == NodeKind::output) continue;
    node.name = node.kind == NodeKind::placeholder ? fmt::format("in_{}", inputs++) : fmt::format("tmp_{}", results++);
  }
}

}  // namespace passnet::data
