#include "cli/graph_list.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "base/text.h"

namespace passnet::cli {

void GraphSelection::add_options(CLI::App& command) {
  command
      .add_option("graphs", paths, "Graph folders (model.py, weight_meta.py), or task folders with a graph_list.txt")
      ->type_name("FOLDER");
  command.add_option("--list", lists, "File with a graph folder a line, or uid<TAB>folder")->type_name("FILE");
  command
      .add_option(
          "--root", root,
          "Where the folders of a list are; default: the list's own folder, or the nearest above it that has them")
      ->type_name("DIR");
}

namespace {

std::string join(const std::string& root, const std::string& path) {
  if (path.starts_with('/') || root.empty()) return path;
  return (std::filesystem::path(root) / path).lexically_normal().string();
}

std::string folder_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? std::string(".") : file.substr(0, slash);
}

// A task's list names its graphs from the corpus' root, so the root is the list's folder or one above.
std::string guess_root(const std::string& list, const std::string& first) {
  std::string folder = folder_of(list);
  for (int up = 0; up < 4; ++up) {
    if (file_exists(join(folder, first))) return folder;
    folder += "/..";
  }
  return folder_of(list);
}

void add_list(const std::string& list, const std::string& root, std::vector<std::string>& out) {
  std::vector<std::string> entries = file_read_list(list).take();
  for (std::string& entry : entries) entry = text_trim(text_split(entry, '\t').back());
  if (entries.empty()) return;
  const std::string base = root.empty() ? guess_root(list, entries[0]) : root;
  for (const std::string& entry : entries) out.push_back(join(base, entry));
}

}  // namespace

std::vector<std::string> GraphSelection::resolve() const {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    if (!file_exists(path + "/model.py") && file_exists(path + "/graph_list.txt"))
      add_list(path + "/graph_list.txt", root, out);
    else
      out.push_back(path);
  }
  for (const std::string& list : lists) add_list(list, root, out);
  if (out.empty()) fail({Code::usage, {}, "no graph given", {"name graph folders, or --list FILE"}});
  return out;
}

}  // namespace passnet::cli
