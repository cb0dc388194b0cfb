// A corpus of any size for the data set's benchmarks, made by mutation from real graphs; and the time of one random
// access to a pack.
//   data_corpus make LIST ROOT COUNT PACK    COUNT graphs: a third exact copies (fine-tunes), the rest with other
//                                            sizes, numbers, operators inserted, removed or replaced
//   data_corpus access PACK [READS]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <random>

#include "base/file.h"
#include "base/pack.h"
#include "base/text.h"
#include "data/graph_files.h"
#include "data/normal.h"

using namespace passnet;
using Clock = std::chrono::steady_clock;

namespace {

constexpr const char* kUnary[] = {"torch.relu", "torch.tanh", "torch.sigmoid", "torch.abs", "torch.sin", "torch.exp"};
constexpr const char* kModels[] = {"bert",   "resnet", "vit",  "t5",   "swin",  "gpt2", "llama",  "whisper", "convnext",
                                   "mixnet", "repvit", "dpn",  "coat", "wavlm", "sew",  "hubert", "rexnet",  "gemma",
                                   "qwen",   "phi",    "beit", "deit", "yolo",  "pvt",  "twins",  "hrnet",   "vgg"};

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  void mutate(GraphFolder& folder) {
    if (below(3) == 0) return;
    for (std::size_t edits = 1 + below(3); edits > 0; --edits) (this->*kEdits[below(std::size(kEdits))])(folder);
    data::normalise_names(folder.graph);
    for (std::size_t i = 0; i < folder.inputs.size(); ++i)
      folder.metas[static_cast<std::size_t>(folder.inputs[i])].name = folder.graph.nodes[i].name;
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

 private:
  static bool is_call(const Node& n) { return n.kind == NodeKind::call_function || n.kind == NodeKind::call_method; }

  void resize(GraphFolder& folder) {
    if (folder.metas.empty()) return;
    TensorMeta& meta = folder.metas[below(folder.metas.size())];
    if (!meta.shape.empty() && !meta.data) meta.shape[below(meta.shape.size())] += static_cast<std::int64_t>(below(64));
  }
  void renumber(GraphFolder& folder) {
    Node& node = folder.graph.nodes[below(folder.graph.nodes.size())];
    for (Value& arg : node.args)
      if (arg.kind == ValueKind::integer) arg.integer += static_cast<std::int64_t>(below(1000));
  }
  void replace(GraphFolder& folder) {
    Node& node = folder.graph.nodes[below(folder.graph.nodes.size())];
    if (!is_call(node) || node.args.empty() || !node.args[0].is_node() || node_is_effect(node)) return;
    node.kind = NodeKind::call_function;
    node.target = kUnary[below(std::size(kUnary))];
    node.args.resize(1);
    node.kwargs.clear();
  }
  void insert(GraphFolder& folder) {
    std::vector<Node>& nodes = folder.graph.nodes;
    const auto inputs = static_cast<NodeId>(folder.graph.placeholder_count());
    if (inputs == 0) return;
    const auto at = inputs + static_cast<NodeId>(below(nodes.size() - static_cast<std::size_t>(inputs)));
    for (Node& node : nodes) {
      for (Value& v : node.args) shift(v, at);
      for (Kwarg& k : node.kwargs) shift(k.value, at);
    }
    Node node;
    node.name = "inserted";
    node.target = kUnary[below(std::size(kUnary))];
    node.args.push_back(Value::ref(static_cast<NodeId>(below(static_cast<std::size_t>(inputs)))));
    nodes.insert(nodes.begin() + at, std::move(node));
  }
  static void shift(Value& v, NodeId from) {
    if (v.is_node() && v.node >= from) ++v.node;
    for (Value& item : v.items) shift(item, from);
  }

  using Edit = void (Mutator::*)(GraphFolder&);
  static constexpr Edit kEdits[] = {&Mutator::resize, &Mutator::renumber, &Mutator::replace, &Mutator::insert};
  std::mt19937_64 random_;
};

int make(const std::string& list, const std::string& root, std::size_t count, const std::string& out) {
  std::vector<GraphFolder> seeds;
  for (const std::string& line : file_read_list(list).take())
    seeds.push_back(read_graph_folder(root + "/" + std::string(text_split(line, '\t').back())).take());
  const auto writer = pack_create(out).take();
  Mutator mutator(1);
  for (std::size_t i = 0; i < count; ++i) {
    GraphFolder graph = seeds[i % seeds.size()];
    mutator.mutate(graph);
    const std::string model =
        fmt::format("{}_{}", kModels[mutator.below(std::size(kModels))], mutator.below(count / 10 + 1));
    PackedFolder files;
    for (data::GraphFile& f : data::print_graph_files(graph.graph, graph.metas, {{"model_name", model}}))
      files.push_back({std::move(f.name), std::move(f.text)});
    writer->add(fmt::format("{:03}/{:06}", i / 1000, i), files).take();
  }
  writer->finish().take();
  return 0;
}

int measure_access(const std::string& path, std::size_t reads) {
  const auto opening = Clock::now();
  const std::size_t count = pack_open(path).take()->size();
  const double open_ms = std::chrono::duration<double, std::milli>(Clock::now() - opening).count();
  const std::vector<std::string> folders = pack_folders(path).take();
  std::mt19937_64 random(2);
  std::vector<double> us;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < reads; ++i) {
    const std::string file = folders[random() % folders.size()] + "/model.py";
    const auto begin = Clock::now();
    bytes += file_read(file).take().size();
    us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  std::sort(us.begin(), us.end());
  fmt::print(
      "{} graphs; opened in {:.1f} ms; {} random reads of model.py ({} bytes): median {:.0f} us, 99 % {:.0f} us, "
      "slowest {:.0f} us\n",
      count, open_ms, reads, bytes, us[us.size() / 2], us[us.size() * 99 / 100], us.back());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  try {
    if (what == "make" && argc == 6) return make(argv[2], argv[3], std::stoul(argv[4]), argv[5]);
    if (what == "access" && argc >= 3) return measure_access(argv[2], argc > 3 ? std::stoul(argv[3]) : 10000);
  } catch (const Failure& failure) {
    fmt::print(stderr, "{}\n", error_text(failure.error));
    return 1;
  }
  fmt::print(stderr, "usage: data_corpus make LIST ROOT COUNT PACK | access PACK [READS]\n");
  return 2;
}
