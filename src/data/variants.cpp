#include "data/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace passnet::data {

namespace {

using Sizes = std::vector<std::int64_t>;

// The input that decides, as far as a row asks: its dimensions, and which of the symbols each is (or none).
struct Signature {
  std::vector<Dimension> dims;
  bool floating = true;
  std::vector<int> symbols;  // in the order of their first dimension

  bool is(std::initializer_list<int> pattern) const {  // symbols by that order; -1: a fixed dimension
    if (dims.size() != pattern.size()) return false;
    return std::equal(dims.begin(), dims.end(), pattern.begin(), [&](const Dimension& d, int want) {
      if (want < 0 || d.symbol < 0) return want < 0 && d.symbol < 0;
      return symbols[static_cast<std::size_t>(want)] == d.symbol;
    });
  }
  std::int64_t area() const { return dims.size() == 4 ? dims[2].size * dims[3].size : 0; }
};

struct Row {
  std::string_view kind;
  bool (*fits)(const Signature&);
  std::vector<Sizes> sizes;  // of the signature's symbols, a line a variant
};

// The published tables, as its graphs show them; the first row that fits.
const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      {"text",
       [](const Signature& s) {
         return !s.floating && s.is({0, 1});
       },
       {{1, 64}, {1, 512}, {16, 128}, {32, 64}, {8, 256}, {4, 512}, {2, 1024}, {64, 128}, {128, 64}}},
      {"image_square",
       [](const Signature& s) {
         return s.is({0, -1, 1, 1});
       },
       {{1, 224}, {1, 256}, {1, 384}, {32, 224}, {32, 256}, {32, 384}, {128, 224}, {128, 256}, {128, 384}}},
      {"image",
       [](const Signature& s) {
         return s.is({0, -1, 1, 2});
       },
       {{1, 256, 192},
        {4, 128, 128},
        {1, 384, 288},
        {8, 256, 256},
        {2, 512, 512},
        {64, 96, 96},
        {16, 256, 192},
        {32, 192, 256},
        {8, 480, 640}}},
      {"image_size",
       [](const Signature& s) {
         return s.is({-1, -1, 0, 0});
       },
       {{128}, {192}, {224}, {256}, {336}, {384}, {448}, {512}, {640}}},
      {"small_image_batch",
       [](const Signature& s) {
         return s.is({0, -1, -1, -1}) && s.area() <= 256 * 256;
       },
       {{1}, {4}, {8}, {16}, {32}, {64}, {128}, {256}, {512}}},
      {"image_batch",
       [](const Signature& s) {
         return s.is({0, -1, -1, -1}) && s.area() <= 640 * 640;
       },
       {{1}, {2}, {4}, {8}, {12}, {16}, {24}, {32}, {64}}},
      {"large_image_batch",
       [](const Signature& s) {
         return s.is({0, -1, -1, -1});
       },
       {{1}, {2}, {4}, {6}, {8}, {12}, {16}, {24}, {32}}},
      // not in the published set: sounds by their samples, states of a text, anything by its first dimension
      {"sound",
       [](const Signature& s) {
         return s.floating && s.is({0, 1}) && s.dims[1].size >= 8000;
       },
       {{1, 16000}, {1, 32000}, {1, 80000}, {2, 16000}, {2, 32000}, {4, 16000}, {4, 32000}, {8, 16000}, {16, 16000}}},
      {"sequence",
       [](const Signature& s) {
         return s.is({0, 1, -1}) || s.is({0, 1});
       },
       {{1, 64}, {1, 512}, {16, 128}, {32, 64}, {8, 256}, {4, 512}, {2, 1024}, {64, 128}, {128, 64}}},
      {"batch",
       [](const Signature& s) { return !s.dims.empty() && s.dims[0].symbol >= 0 && s.symbols.size() == 1; },
       {{1}, {4}, {8}, {16}, {32}, {64}, {128}, {256}, {512}}},
  };
  return kRows;
}

}  // namespace

// The annotation, or the name under which torch.compile captured it; a cut's inputs keep that as their original name.
bool is_weight(const GraphFolder& folder, std::size_t input) {
  const Node& node = folder.graph.nodes[input];
  if (node.target.find("Parameter") != std::string::npos) return true;
  const TensorMeta& meta = folder.metas[static_cast<std::size_t>(folder.inputs[input])];
  for (const std::string* name : {&node.name, &meta.original_name})
    for (const std::string_view part : {"_parameters_", "_buffers_", "_self_"})
      if (name->find(part) != std::string::npos) return true;
  return false;
}

Constraints guess_constraints(const GraphFolder& folder) {
  Constraints out;
  const auto symbol = [&](std::string name, std::int64_t size) {
    for (std::size_t i = 0; i < out.symbols.size(); ++i)
      if (out.symbols[i].name == name && out.symbols[i].example == size) return static_cast<int>(i);
    out.symbols.push_back({std::move(name), size});
    return static_cast<int>(out.symbols.size()) - 1;
  };
  for (std::size_t i = 0; i < folder.inputs.size(); ++i) {
    const TensorMeta& meta = folder.metas[static_cast<std::size_t>(folder.inputs[i])];
    std::vector<Dimension> dims;
    for (const std::int64_t size : meta.shape) dims.push_back({size, -1});
    if (!is_weight(folder, i) && !dims.empty()) {
      dims[0].symbol = symbol("batch", dims[0].size);
      if (dims.size() == 2 && !dtype_row(meta.dtype).floating) dims[1].symbol = symbol("length", dims[1].size);
      if (dims.size() == 4 && dims[1].size == 3) {
        dims[2].symbol = symbol("height", dims[2].size);
        dims[3].symbol = dims[3].size == dims[2].size ? dims[2].symbol : symbol("width", dims[3].size);
      }
    }
    out.shapes[folder.graph.nodes[i].name] = std::move(dims);
  }
  return out;
}

Result<Variants> find_variants(const GraphFolder& folder, const Constraints& constraints) {
  // The input with the most free dimensions decides; of equal ones the first that is an integer's.
  Signature best;
  for (std::size_t i = 0; i < folder.inputs.size(); ++i) {
    const auto found = constraints.shapes.find(folder.graph.nodes[i].name);
    if (found == constraints.shapes.end()) continue;
    Signature s;
    s.dims = found->second;
    s.floating = dtype_row(folder.metas[static_cast<std::size_t>(folder.inputs[i])].dtype).floating;
    for (const Dimension& d : s.dims)
      if (d.symbol >= 0 && std::find(s.symbols.begin(), s.symbols.end(), d.symbol) == s.symbols.end())
        s.symbols.push_back(d.symbol);
    const auto rank = [](const Signature& x) { return std::pair(x.symbols.size(), !x.floating); };
    if (!s.symbols.empty() && rank(s) > rank(best)) best = std::move(s);
  }
  if (best.symbols.empty())
    return Error{Code::graph,
                 {folder.path, 0, 0, {}},
                 "no input has a free dimension",
                 {"input_tensor_constraints.py names them; --guess takes batch, length and image sizes"}};
  for (const Row& row : rows()) {
    if (!row.fits(best)) continue;
    Variants out;
    out.kind = row.kind;
    for (std::size_t v = 0; v < row.sizes.size(); ++v) {
      Variant variant;
      variant.number = static_cast<int>(v);
      for (const Symbol& symbol : constraints.symbols) variant.sizes.push_back(symbol.example);
      for (std::size_t k = 0; k < best.symbols.size(); ++k)
        variant.sizes[static_cast<std::size_t>(best.symbols[k])] = row.sizes[v][k];
      out.all.push_back(std::move(variant));
    }
    return out;
  }
  return Error{Code::unsupported,
               {folder.path, 0, 0, {}},
               "no table of sizes for inputs of this form",
               {"docs/dataset.md lists the forms; a new one is a row in src/data/variants.cpp"}};
}

}  // namespace passnet::data
