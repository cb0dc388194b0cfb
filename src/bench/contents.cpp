#include "bench/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/file.h"
#include "base/hash.h"

namespace passnet {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 1000;
constexpr const char* kGraphFiles[] = {"model.py", "weight_meta.py", "input_meta.py"};

std::vector<std::string> pass_files(const std::string& passes) {
  std::error_code code;
  if (!fs::is_directory(passes, code)) return {passes};
  std::vector<std::string> out;
  for (fs::recursive_directory_iterator at(passes, code), end; !code && at != end; at.increment(code)) {
    const auto extension = at->path().extension();
    if (extension == ".py" || extension == ".json") out.push_back(at->path().string());
    if (out.size() == kMostFiles) break;
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::string contents_of(const std::string& graph, const std::string& passes) {
  std::uint64_t out = 0;
  const auto add = [&](std::string_view name, const std::string& path) {
    const auto text = file_read(path);
    out = hash64(name, out);
    out = text ? hash64(*text, out) : out + 1;
  };
  for (const char* name : kGraphFiles) add(name, graph + "/" + name);
  if (!passes.empty())
    for (const std::string& path : pass_files(passes)) add(std::string_view(path).substr(passes.size()), path);
  return fmt::format("{:016x}", out);
}

}  // namespace passnet
