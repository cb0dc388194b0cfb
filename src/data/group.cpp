#include "data/group.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "base/embedded.h"
#include "base/file.h"

namespace passnet::data {

namespace {

constexpr Embedded kScripts[] = {
#include "entry_script.inc"
};

std::string seen_from(const std::string& path, const std::string& folder) {
  namespace fs = std::filesystem;
  const fs::path out =
      fs::absolute(path).lexically_normal().lexically_relative(fs::absolute(folder).lexically_normal());
  return out.empty() ? path : out.string();
}

}  // namespace

std::vector<Sample> group_graphs(const std::vector<Facts>& facts) {
  std::vector<Sample> out;
  std::map<Key, std::size_t> index;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (!facts[i].error.empty()) continue;
    const auto [found, added] = index.emplace(facts[i].sample, out.size());
    if (added) out.push_back({facts[i].sample.text().substr(0, 12), {}});
    out[found->second].graphs.push_back(i);
  }
  return out;
}

std::string graph_uid(const Facts& facts) { return facts.graph.text().substr(0, 16); }

std::string list_line(const Facts& facts, const std::string& folder) {
  return fmt::format("{}\t{}\n", graph_uid(facts), seen_from(facts.path, folder));
}

Result<std::monostate> write_sample(const std::string& root, const Sample& sample, const std::vector<Facts>& facts) {
  return guarded([&] {
    const std::string folder = root + "/" + sample.name;
    folder_begin(folder).take();
    folder_make(folder + "/pass_dir").take();
    std::string graphs, uids;
    for (const std::size_t i : sample.graphs) {
      graphs += seen_from(facts[i].path, root) + "\n";
      uids += graph_uid(facts[i]) + "\n";
    }
    file_write(folder + "/graph_list.txt", graphs).take();
    file_write(folder + "/sample_uids.txt", uids).take();
    file_write(folder + "/entry.sh", kScripts[0].text).take();
    std::error_code ignored;
    std::filesystem::permissions(folder + "/entry.sh", std::filesystem::perms(0755), ignored);
    return std::monostate{};
  });
}

}  // namespace passnet::data
