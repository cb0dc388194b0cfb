#include "ops/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "base/text.h"

namespace passnet {

namespace {

struct Namespace {
  std::string_view prefix;  // of the spelling
  std::string_view aten;    // put before the rest to get ATen's name
  std::uint8_t flag;        // which overloads Python binds there
};
// The first that fits and has operators wins.
constexpr Namespace kNamespaces[] = {
    {"torch._C._nn.", "", kNn},
    {"torch.nn.functional.", "", kNn},
    {"torch.nn.functional.", "", kFunction},
    {"torch._C._linalg.", "", kLinalg},
    {"torch.linalg.", "linalg_", kLinalg},
    {"torch._C._fft.", "", kFft},
    {"torch.fft.", "fft_", kFft},
    {"torch._C._special.", "", kSpecial},
    {"torch.special.", "special_", kSpecial},
    {"torch._C._VariableFunctions.", "", kFunction},
    {"torch._VF.", "", kFunction},
    {"torch.functional.", "", kFunction},
    {"torch.", "", kFunction},
    {".", "", kMethod},
};

OpTarget find_aten_ops(std::string_view rest) {  // NAME or NAME.OVERLOAD behind torch.ops.aten.
  OpTarget out;
  out.spelled = Spelled::aten;
  const std::size_t dot = rest.find('.');
  for (const AtenRow& row : aten_find(rest.substr(0, dot))) {
    const std::string_view overload = dot == std::string_view::npos ? std::string_view{} : rest.substr(dot + 1);
    if (dot == std::string_view::npos || row.overload == overload || (overload == "default" && row.overload.empty()))
      out.overloads.push_back(&row);
  }
  return out;
}

OpTarget find(std::string_view spelling) {
  OpTarget out;
  out.row = op_row_find(spelling);
  if (out.row != nullptr) return out;
  constexpr std::string_view kOps = "torch.ops.aten.";
  if (spelling.starts_with(kOps)) return find_aten_ops(spelling.substr(kOps.size()));
  constexpr std::string_view kUnbound = "torch.Tensor.";  // torch.Tensor.f(x, ...) is x.f(...)
  if (spelling.starts_with(kUnbound)) return find("." + std::string(spelling.substr(kUnbound.size())));
  for (const Namespace& space : kNamespaces) {
    if (!spelling.starts_with(space.prefix)) continue;
    const std::string name = std::string(space.aten) + std::string(spelling.substr(space.prefix.size()));
    for (const AtenRow& row : aten_find(name))
      if ((row.flags & space.flag) != 0) out.overloads.push_back(&row);
    if (out.overloads.empty()) continue;
    out.spelled = space.flag == kMethod ? Spelled::method : Spelled::function;
    return out;
  }
  return out;
}

}  // namespace

const OpTarget& op_find(std::string_view spelling) {
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
  };
  static std::shared_mutex mutex;
  static std::unordered_map<std::string, OpTarget, Hash, std::equal_to<>> kept;
  static const OpTarget kUnknown;
  {
    const std::shared_lock lock(mutex);
    const auto it = kept.find(spelling);
    if (it != kept.end()) return it->second;
  }
  OpTarget found = find(spelling);
  if (!found) return kUnknown;  // unknown spellings are not kept: a hostile input must not grow the table
  const std::unique_lock lock(mutex);
  return kept.emplace(spelling, std::move(found)).first->second;
}

std::string node_spelling(const Node& node) {
  if (node.kind == NodeKind::call_method) return "." + node.target;
  if (node.target == "getattr" && node.args.size() == 2 && node.args[1].kind == ValueKind::string)
    return "getattr." + node.args[1].text;
  return node.target;
}

std::vector<OpListing> op_list() {
  std::vector<OpListing> out;
  for (const OpRow& row : op_rows())
    for (const std::string& spelling : row.spellings) out.push_back({spelling, row.signature(), "", true});
  for (const AtenRow& row : aten_rows()) {
    const Schema& schema = aten_schema(row);
    std::vector<std::string> effects;
    if (schema.writes) effects.emplace_back("in-place");
    if (schema.random) effects.emplace_back("random");
    if (schema.view) effects.emplace_back("view");
    for (const Namespace& space : kNamespaces) {
      if ((row.flags & space.flag) == 0 || !row.name.starts_with(space.aten) ||
          space.prefix.starts_with("torch._C._VariableFunctions") || space.prefix == "torch._VF." ||
          space.prefix == "torch.functional." || (space.prefix == "torch.nn.functional." && space.flag == kFunction))
        continue;
      std::string spelling = std::string(space.prefix) + std::string(row.name.substr(space.aten.size()));
      if (op_row_find(spelling) != nullptr) continue;
      out.push_back(
          {std::move(spelling), std::string(row.schema.substr(row.schema.find('('))), text_join(effects, ", "), false});
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const OpListing& a, const OpListing& b) { return a.spelling < b.spelling; });
  return out;
}

std::vector<std::string> op_nearest(std::string_view spelling) {
  static const std::vector<OpListing> all = op_list();
  std::vector<std::string_view> known;
  // Compare the last part alone among the spellings of the same kind, so that a wrong module does not hide a right
  // name.
  const auto last = [](std::string_view s) { return s.substr(s.rfind('.') + 1); };
  std::vector<std::string> out;
  for (const OpListing& row : all)
    if (last(row.spelling) == last(spelling)) out.push_back(row.spelling);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  if (!out.empty()) {
    if (out.size() > 3) out.resize(3);
    return out;
  }
  for (const OpListing& row : all) known.push_back(row.spelling);
  return text_nearest(spelling, known);
}

}  // namespace passnet
