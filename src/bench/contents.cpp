#include "bench/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "host/module.h"

namespace passnet {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 1000;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of all of them
constexpr const char* kGraphFiles[] = {"model.py", "weight_meta.py", "input_meta.py"};

// No links: what is loaded follows none.
std::vector<std::string> pass_files(const std::string& passes) {
  std::error_code code;
  if (!fs::is_directory(passes, code)) return {passes};
  std::vector<std::string> out;
  for (fs::recursive_directory_iterator at(passes, code), end; !code && at != end; at.increment(code)) {
    const auto extension = at->path().extension();
    if (at->is_symlink() || (extension != ".py" && extension != ".json")) continue;
    out.push_back(at->path().string());
    if (out.size() == kMostFiles) break;
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::uint64_t hash_file(std::string_view name, const std::string& path, std::size_t limit, std::uint64_t out) {
  const auto text = file_read(path, limit);
  out = hash64(name, out);
  return text ? hash64(*text, out) : out + 1;
}

std::uint64_t hash_graph(const std::string& graph) {
  std::uint64_t out = 0;
  for (const char* name : kGraphFiles) out = hash_file(name, graph + "/" + name, kFileLimit, out);
  return out;
}

// Of what is too large to be loaded, its size.
std::uint64_t hash_passes(const std::string& passes) {
  std::uint64_t out = 0;
  std::size_t left = kMostBytes;
  for (const std::string& path : pass_files(passes)) {
    std::error_code code;
    const std::size_t bytes = fs::file_size(path, code);
    const bool whole = !code && bytes <= std::min(kPassFileLimit, left);
    out = hash_file(std::string_view(path).substr(passes.size()), path, whole ? bytes : 0, out + (code ? 0 : bytes));
    if (whole) left -= bytes;
  }
  return out;
}

}  // namespace

std::string Contents::of(const std::string& graph, const std::string& passes, const std::string& input) {
  const auto once = [](auto& known, const std::string& path, auto&& hash) {
    const auto [at, is_new] = known.try_emplace(path, 0);
    if (is_new) at->second = hash(path);
    return at->second;
  };
  const std::uint64_t of_graph = once(graphs_, graph, hash_graph);
  if (passes.empty()) return fmt::format("{:016x}", of_graph);
  std::string all = fmt::format("{:016x} {:016x}", of_graph, once(passes_, passes, hash_passes));
  if (!input.empty()) all += fmt::format(" {:016x}", once(passes_, input, hash_passes));
  return fmt::format("{:016x}", hash64(all, 0));
}

}  // namespace passnet
