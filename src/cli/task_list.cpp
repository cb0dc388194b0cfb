#include "cli/task_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "cli/graph_list.h"
#include "cli/validators.h"
#include "fx/folder.h"

namespace passnet::cli {

namespace {

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto full = std::filesystem::canonical(path, error);
  return error ? path : full.string();
}

std::string name_of(const std::string& folder) { return std::filesystem::path(absolute(folder)).filename().string(); }

std::size_t input_bytes(const std::string& graph) {
  const auto folder = read_graph_folder(graph);
  if (!folder) return 0;  // the evaluation will say what is wrong
  std::size_t out = 0;
  for (const std::int32_t i : folder->inputs) {
    const TensorMeta& meta = folder->metas[static_cast<std::size_t>(i)];
    out += meta.element_count() * dtype_row(meta.dtype).size;
  }
  return out;
}

// A list's sample whose own list cannot be read has one graph, itself, which will fail: one bad task never ends a run.
// Where all graphs are elsewhere, nothing was said about any of them yet: that is no result.
std::vector<std::string> graphs_of(const std::string& sample, const std::string& root, bool listed) {
  std::vector<std::string> out;
  try {
    out = GraphSelection{{sample}, {}, root}.resolve();
  } catch (const Failure& failure) {
    if (!listed) throw;
    fmt::print(stderr, "{}: {}\n", sample, error_line(failure.error));
    return {sample};
  }
  if (std::none_of(out.begin(), out.end(), [](const std::string& graph) { return file_exists(graph); }))
    fail({Code::usage,
          {},
          fmt::format("no graph of {}/graph_list.txt is there; the first is {}", sample, out[0]),
          {"the list names graphs from the folder above the sample: give the sample its name back, or --root DIR"}});
  return out;
}

// Of a list's folders some may be missing, and will fail; where all are, the list is not meant for this place.
void look_for(const std::vector<std::string>& folders, const std::string& list) {
  std::vector<std::string> missing;
  std::copy_if(folders.begin(), folders.end(), std::back_inserter(missing),
               [](const std::string& folder) { return !file_exists(folder); });
  if (missing.empty()) return;
  const std::string text = fmt::format("{} of {} folders of {} are not there; the first is {}", missing.size(),
                                       folders.size(), list, text_printable(missing[0]));
  if (missing.size() == folders.size()) fail({Code::usage, {}, text, {"say where they are: --root DIR"}});
  fmt::print(stderr, "{}\n", text);
}

}  // namespace

void TaskSelection::add_options(CLI::App& command) {
  command.add_option("tasks", paths, "Sample folders (with a graph_list.txt), or graph folders (with a model.py)")
      ->type_name("FOLDER");
  command.add_option("--list", lists, "File with a sample or graph folder a line, or uid<TAB>folder")
      ->type_name("FILE");
  command
      .add_option("--root", root,
                  "Where the folders of a list are; default: the list's own folder, or the nearest above it that has "
                  "them")
      ->type_name("DIR");
  command.add_option("--graphs-per-task", graphs_per_task, "Take the first N graphs of each task; 0: all")
      ->check(kNatural)
      ->capture_default_str();
  command.add_option("--max-input-mb", max_input_mb, "Leave out graphs whose inputs are larger; 0: no limit")
      ->check(between(0, 1e12))
      ->capture_default_str();
}

std::vector<Task> TaskSelection::resolve() const {
  for (const std::string& path : paths)
    if (!is_sample(path) && !is_graph(path))
      fail({Code::usage,
            {},
            file_exists(path) ? fmt::format("'{}' has no graph_list.txt and no model.py", path)
                              : fmt::format("there is no '{}'", path),
            {"name sample or graph folders, or --list FILE"}});
  std::vector<std::string> folders = paths;
  for (const std::string& list : lists) {
    std::vector<std::string> listed = list_folders(list, root);
    look_for(listed, list);
    for (std::string& path : listed) folders.push_back(std::move(path));
  }
  if (folders.empty()) fail({Code::usage, {}, "no task given", {"name sample or graph folders, or --list FILE"}});
  std::vector<Task> out;
  std::map<std::string, std::size_t> by_folder;  // of graphs that were given one by one
  std::map<std::string, std::string> by_name;    // a record knows its task by its name alone
  const auto named = [&](const std::string& folder) {
    const auto [known, fresh] = by_name.try_emplace(name_of(folder), absolute(folder));
    if (!fresh && known->second != absolute(folder))
      fail({Code::usage,
            {},
            fmt::format("two tasks are called '{}': {} and {}", known->first, known->second, absolute(folder)),
            {"rename one of the folders, or bench them apart"}});
    return known->first;
  };
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const std::string& path = folders[i];
    path_check(path).take();
    if (is_sample(path)) {
      out.push_back({named(path), path, graphs_of(path, root, i >= paths.size())});
      continue;
    }
    const std::string parent = std::filesystem::path(absolute(path)).parent_path().string();
    const auto [at, fresh] = by_folder.try_emplace(parent, out.size());
    if (fresh) out.push_back({named(parent), is_sample(parent) ? parent : "", {}});
    out[at->second].graphs.push_back(path);
  }
  std::set<RecordKey> known;  // a graph that is named twice is evaluated once
  std::size_t large = 0;
  for (Task& task : out) {
    std::erase_if(task.graphs,
                  [&](const std::string& g) { return !known.insert(record_key(task.name, g, "")).second; });
    if (max_input_mb > 0)
      large += std::erase_if(task.graphs, [&](const std::string& g) {
        return static_cast<double>(input_bytes(g)) > max_input_mb * 1024 * 1024;
      });
    if (graphs_per_task > 0 && task.graphs.size() > graphs_per_task) task.graphs.resize(graphs_per_task);
  }
  std::erase_if(out, [](const Task& t) { return t.graphs.empty(); });
  if (out.empty()) fail({Code::usage, {}, "every graph is left out", {"raise --max-input-mb"}});
  if (large > 0)
    fmt::print(stderr, "{} graphs are left out: their inputs are larger than {} MB\n", large, max_input_mb);
  return out;
}

}  // namespace passnet::cli
