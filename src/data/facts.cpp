#include "data/facts.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "base/file.h"
#include "base/hash.h"
#include "base/line_file.h"
#include "base/parallel.h"
#include "base/text.h"
#include "data/family.h"
#include "data/farm.h"
#include "data/normal.h"

namespace passnet::data {

namespace {

std::size_t at(NodeId id) { return static_cast<std::size_t>(id); }

// `.to(torch.float16)`: what dtype generalisation inserts, and no part of a computation's identity.
bool is_cast(const Node& node) {
  return node.kind == NodeKind::call_method && node.target == "to" && node.args.size() + node.kwargs.size() == 2 &&
         node.args[0].is_node() &&
         (node.args.size() == 2 ? node.args[1] : node.kwargs[0].value).kind == ValueKind::constant;
}

class SampleText {
 public:
  explicit SampleText(const Graph& graph) : graph_(graph) {}
  std::string run() {
    std::string out;
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      const Node& node = graph_.nodes[at(id)];
      if (node.kind == NodeKind::placeholder || node.kind == NodeKind::output) continue;
      if (is_cast(node)) {
        same_as_[id] = resolved(node.args[0].node);
        continue;
      }
      out += fmt::format("{} {}(", node_kind_name(node.kind), node.target);
      for (const Value& arg : node.args) out += value(arg) + ", ";
      for (const Kwarg& kwarg : node.kwargs) out += kwarg.name + "=" + value(kwarg.value) + ", ";
      out += fmt::format(") -> {}\n", number(id));
    }
    return out;
  }

 private:
  NodeId resolved(NodeId id) const {
    const auto found = same_as_.find(id);
    return found == same_as_.end() ? id : found->second;
  }
  std::size_t number(NodeId id) { return numbers_.emplace(resolved(id), numbers_.size()).first->second; }
  std::string value(const Value& v) {
    if (v.is_node()) return fmt::format("%{}", number(v.node));
    if (v.kind == ValueKind::integer || v.kind == ValueKind::real) return "N";
    if (v.kind == ValueKind::constant && dtype_from_name(v.text)) return "D";
    if (v.items.empty()) return value_text(v, [](NodeId) { return std::string(); });
    std::string out = v.kind == ValueKind::slice ? "slice(" : "(";
    for (const Value& item : v.items) out += value(item) + ",";
    return out + ")";
  }

  const Graph& graph_;
  std::map<NodeId, NodeId> same_as_;
  std::map<NodeId, std::size_t> numbers_;
};

// A field of a journal's line.
std::string field(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  return out;
}

std::string journal_line(const Facts& f) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", f.path, f.graph.text(), f.computation.text(),
                     f.sample.text(), f.dtype, field(f.model), f.family, f.input_bytes, field(text_join(f.ops, ",")),
                     field(f.error));
}

std::optional<Key> read_key(std::string_view text) {
  Key out;
  if (text.size() != 32) return std::nullopt;
  const auto read = [](std::string_view digits, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + 16, value, 16);
    return error == std::errc() && end == digits.data() + 16;
  };
  if (!read(text.substr(0, 16), out.high) || !read(text.substr(16), out.low)) return std::nullopt;
  return out;
}

std::optional<Facts> read_line(std::string_view line) {
  const auto c = text_split(line, '\t');
  if (c.size() != 10) return std::nullopt;
  Facts out;
  out.path = c[0];
  const auto graph = read_key(c[1]), computation = read_key(c[2]), sample = read_key(c[3]);
  if (!graph || !computation || !sample) return std::nullopt;
  out.graph = *graph, out.computation = *computation, out.sample = *sample;
  out.dtype = c[4], out.model = c[5], out.family = c[6], out.error = c[9];
  if (std::from_chars(c[7].data(), c[7].data() + c[7].size(), out.input_bytes).ec != std::errc()) return std::nullopt;
  if (!c[8].empty())
    for (const std::string_view op : text_split(c[8], ',')) out.ops.emplace_back(op);
  return out;
}

std::string dtype_of(const GraphFolder& folder) {
  for (const std::int32_t input : folder.inputs) {
    const DtypeRow& row = dtype_row(folder.metas[at(input)].dtype);
    if (row.floating) return std::string(row.name);
  }
  return "none";
}

// The name under which a model was captured: what cut wrote, what the captures say, or the
// folder; empty where none of them tells.
std::string model_of(const std::string& path, const nlohmann::ordered_json& facts) {
  const auto text = [](const nlohmann::ordered_json& j, const char* key) {
    const auto found = j.find(key);
    return found != j.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (const std::string name = text(facts, "model_name"); !name.empty()) return name;
  if (const auto own = facts.find("passnet"); own != facts.end() && own->is_object())
    if (const std::string name = text(*own, "architecture"); !name.empty()) return name;
  const auto parts = text_split(path, '/');
  const std::string_view last = parts.empty() ? std::string_view(path) : parts.back();
  // 12_20 or float16_3 is a range or a variant, not a model
  if (last.empty() || (last[0] >= '0' && last[0] <= '9') || dtype_from_name(last.substr(0, last.find('_')))) return {};
  return std::string(last);
}

}  // namespace

std::string Key::text() const { return fmt::format("{:016x}{:016x}", high, low); }

Key key_of(std::string_view text) { return {hash64(text, 0), hash64(text, 0x9e3779b97f4a7c15)}; }

std::string sample_text(const Graph& graph) { return SampleText(graph).run(); }

Facts graph_facts_of(const std::string& path, const GraphFiles& files) {
  Facts out;
  out.path = path;
  auto folder = parse_graph_files(path, files);
  if (!folder) {
    out.error = error_line(folder.error());
    return out;
  }
  Graph& graph = folder->graph;
  normalise_spelling(graph);
  std::string text = graph_canonical_text(graph);
  out.computation = key_of(text);
  for (const std::int32_t input : folder->inputs) {
    const TensorMeta& meta = folder->metas[at(input)];
    text += fmt::format("{}[{}]\n", dtype_row(meta.dtype).name, fmt::join(meta.shape, ","));
    out.input_bytes += meta.element_count() * dtype_row(meta.dtype).size;
  }
  out.graph = key_of(text);
  out.sample = key_of(sample_text(graph));
  out.dtype = dtype_of(*folder);
  out.model = model_of(path, graph_facts(files));
  out.family = model_family(out.model);
  for (const Node& node : graph.nodes)
    if (node.kind == NodeKind::call_function || node.kind == NodeKind::call_method)
      out.ops.push_back((node.kind == NodeKind::call_method ? "." : "") + node.target);
  return out;
}

std::vector<Facts> scan_facts(const std::vector<std::string>& graphs, const std::string& journal_path, int jobs,
                              const std::function<void(std::size_t failed)>& progress) {
  std::vector<Facts> out(graphs.size());
  std::unordered_multimap<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < graphs.size(); ++i) index.emplace(graphs[i], i);
  std::vector<bool> known(graphs.size());
  std::size_t failed = 0;
  const std::filesystem::path path = journal_path;
  const auto journal = LineFile::open(
                           path.parent_path().empty() ? "." : path.parent_path().string(), path.filename().string(),
                           [](std::string_view line) { return bool(read_line(line)); }, LineFile::Alone::in_file)
                           .take();
  const auto recall = [&](Line&& line) {
    auto facts = line.too_long ? std::nullopt : read_line(line.text);
    if (!facts) return;
    const auto [first, last] = index.equal_range(facts->path);
    for (auto found = first; found != last; ++found) {
      if (known[found->second]) continue;
      known[found->second] = true;
      failed += facts->error.empty() ? 0 : 1;
      out[found->second] = *facts;
      progress(failed);
    }
  };
  line_file_scan(journal_path, 0, recall).take();
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < graphs.size(); ++i)
    if (!known[i]) open.push_back(i);
  std::mutex mutex;
  parallel_run(jobs, open.size(), [&](std::size_t k) {
    const std::size_t i = open[k];
    auto files = read_graph_files(graphs[i]);
    Facts facts;
    if (files) {
      facts = graph_facts_of(graphs[i], *files);
    } else {
      facts.path = graphs[i];
      facts.error = error_line(files.error());
    }
    const std::string line = journal_line(facts);
    const std::lock_guard hold(mutex);
    journal->append(line).take();
    failed += facts.error.empty() ? 0 : 1;
    out[i] = std::move(facts);
    progress(failed);
  });
  return out;
}

}  // namespace passnet::data
