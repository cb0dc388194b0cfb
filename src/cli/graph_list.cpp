#include "cli/graph_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/pack.h"
#include "base/text.h"

namespace passnet::cli {

void GraphSelection::add_options(CLI::App& command) {
  command
      .add_option("graphs", paths,
                  "Graph folders (model.py, weight_meta.py), task folders with a graph_list.txt, or folders and packs "
                  "of graphs")
      ->type_name("FOLDER");
  command.add_option("--list", lists, "File with a graph or sample folder a line, or uid<TAB>folder")
      ->type_name("FILE");
  command
      .add_option(
          "--root", root,
          "Where the folders of a list are; default: the list's own folder, or the nearest above it that has them")
      ->type_name("DIR");
}

bool is_graph(const std::string& folder) { return file_exists(folder + "/model.py"); }

bool is_sample(const std::string& folder) { return !is_graph(folder) && file_exists(folder + "/graph_list.txt"); }

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

void add_list(const std::string& list, const std::string& root, std::vector<std::string>& out, int depth = 0) {
  const std::vector<std::string> folders = list_folders(list, root);
  // A list of samples names folders with lists of their own; its first entry tells.
  const bool samples = depth < 2 && !folders.empty() && is_sample(folders[0]);
  for (const std::string& folder : folders) {
    if (samples)
      add_list(folder + "/graph_list.txt", root, out, depth + 1);
    else
      out.push_back(folder);
  }
}

// Every graph folder below, sorted. What cannot be entered is passed over.
std::vector<std::string> graphs_below(const std::string& folder) {
  std::vector<std::string> out = pack_folders(folder).take();
  std::error_code code;
  for (std::filesystem::recursive_directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
    if (at->path().filename() == "model.py") out.push_back(at->path().parent_path().string());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::vector<std::string> list_folders(const std::string& list, const std::string& root) {
  std::vector<std::string> entries = file_read_list(list).take();
  for (std::string& entry : entries) entry = text_trim(text_split(entry, '\t').back());
  if (entries.empty()) return {};
  const std::string base = root.empty() ? guess_root(list, entries[0]) : root;
  for (std::string& entry : entries) entry = join(base, entry);
  return entries;
}

std::vector<std::string> graph_names(const std::vector<std::string>& paths) {
  std::vector<std::filesystem::path> all;
  for (const std::string& path : paths) {
    auto normal = std::filesystem::path(path).lexically_normal();
    all.push_back(normal.has_filename() ? normal : normal.parent_path());
  }
  std::filesystem::path shared = all.empty() ? "" : all[0].parent_path();
  for (const auto& path : all)
    while (!shared.empty() && shared != shared.root_path()) {
      const auto [left, right] = std::mismatch(shared.begin(), shared.end(), path.begin(), path.end());
      if (left == shared.end() && right != path.end()) break;
      shared = shared.parent_path();
    }
  std::vector<std::string> out;
  for (const auto& path : all) {
    std::filesystem::path name;
    auto part = path.begin();
    for (auto skipped = shared.begin(); skipped != shared.end() && part != path.end(); ++skipped) ++part;
    for (; part != path.end(); ++part)
      if (*part != "/" && *part != ".." && *part != ".") name /= *part;
    out.push_back(name.empty() ? "graph" : name.string());
  }
  return out;
}

std::vector<std::string> GraphSelection::resolve() const {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    if (is_sample(path)) {
      add_list(path + "/graph_list.txt", root, out);
      continue;
    }
    std::vector<std::string> below;
    if (!is_graph(path)) below = graphs_below(path);
    if (below.empty()) below.push_back(path);
    out.insert(out.end(), below.begin(), below.end());
  }
  for (const std::string& list : lists) add_list(list, root, out);
  if (out.empty()) fail({Code::usage, {}, "no graph given", {"name graph folders, or --list FILE"}});
  return out;
}

}  // namespace passnet::cli
