#include "agent/editor.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace passnet::agent {

namespace {

constexpr std::size_t kSnippet = 4;         // lines around an edit that are shown
constexpr std::size_t kHistory = 100;       // edits of a file that can be undone
constexpr std::size_t kShownString = 1000;  // bytes of old_str in a message

[[noreturn]] void refuse(std::string message) { fail(Code::usage, std::move(message)); }

// `cat -n`
std::string numbered(const std::vector<std::string_view>& lines, std::size_t from, std::size_t to,
                     const std::string& what) {
  std::string out = fmt::format("Here's the result of running `cat -n` on {}:\n", what);
  for (std::size_t i = from; i < to && i < lines.size(); ++i) out += fmt::format("{:6}\t{}\n", i + 1, lines[i]);
  return out;
}

// As str.split("\n"): an end of line at the end makes an empty last line.
std::vector<std::string_view> lines_of(std::string_view text) { return text_split(text, '\n'); }

std::size_t line_at(std::string_view text, std::size_t offset) {
  return static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

std::string snippet(const std::string& text, const std::string& path, std::size_t first, std::size_t count) {
  const auto lines = lines_of(text);
  const std::size_t from = first < kSnippet ? 0 : first - kSnippet;
  return numbered(lines, from, first + count + kSnippet + 1, "a snippet of " + path);
}

}  // namespace

struct FileEditor::Call {
  const nlohmann::json& arguments;
  std::string shown;  // the path as it was written
  std::string path;   // in the folder
  Workspace::Kind kind;

  const std::string& text(const char* name, const char* command) const {
    const auto at = arguments.find(name);
    if (at == arguments.end() || !at->is_string())
      refuse(fmt::format("Parameter `{}` is required for command: {}", name, command));
    return at->get_ref<const std::string&>();
  }
};

Result<std::string> FileEditor::run(const nlohmann::json& arguments, Changes& changes) {
  using Command = std::string (*)(FileEditor&, const Call&, Changes&);
  static constexpr std::pair<std::string_view, Command> kCommands[] = {
      {"view", [](FileEditor& e, const Call& c, Changes&) { return e.view(c); }},
      {"create", [](FileEditor& e, const Call& c, Changes& w) { return e.create(c, w); }},
      {"str_replace", [](FileEditor& e, const Call& c, Changes& w) { return e.replace(c, w); }},
      {"insert", [](FileEditor& e, const Call& c, Changes& w) { return e.insert(c, w); }},
      {"undo_edit", [](FileEditor& e, const Call& c, Changes& w) { return e.undo(c, w); }},
  };
  return guarded([&] {
    const std::string command = arguments.value("command", ""), shown = arguments.value("path", "");
    const std::string path = workspace_.inside(shown).take();
    const Call call{arguments, text_printable(shown), path, workspace_.kind(path)};
    if (call.kind == Workspace::Kind::missing && command != "create" && command != "undo_edit")
      refuse(fmt::format("The path {} does not exist. Please provide a valid path.", call.shown));
    if (call.kind == Workspace::Kind::folder && command != "view")
      refuse(
          fmt::format("The path {} is a directory and only the `view` command can be used on directories", call.shown));
    if (call.kind == Workspace::Kind::other)
      refuse(fmt::format("The path {} is neither a file nor a directory.", call.shown));
    for (const auto& [name, function] : kCommands)
      if (name == command) return function(*this, call, changes);
    refuse(
        fmt::format("Unrecognized command {}. The allowed commands for the file_editor tool are: view, create, "
                    "str_replace, insert, undo_edit",
                    text_printable(command)));
  });
}

std::string FileEditor::text_of(const Call& call) const { return workspace_.read(call.path).take(); }

void FileEditor::set(const std::string& path, std::string text, Changes& changes) {
  auto old = workspace_.read(path);
  workspace_.write(path, text).take();
  auto& history = history_[path];
  history.push_back(old ? std::optional(std::move(*old)) : std::nullopt);
  if (history.size() > kHistory) history.erase(history.begin());
  changes[path] = std::move(text);
}

std::string FileEditor::view(const Call& call) const {
  const auto range = call.arguments.find("view_range");
  const bool ranged = range != call.arguments.end() && !range->is_null();
  if (call.kind == Workspace::Kind::folder) {
    if (ranged) refuse("The `view_range` parameter is not allowed when `path` points to a directory.");
    std::string out = fmt::format(
        "Here's the files and directories up to 2 levels deep in {}, excluding hidden items:\n", call.shown);
    for (const std::string& name : workspace_.list(call.path, 2).take()) out += name + "\n";
    return out;
  }
  const std::string text = text_of(call);
  const auto lines = lines_of(text);
  if (!ranged) return numbered(lines, 0, lines.size(), call.shown);
  const std::string shown = range->dump();
  if (!range->is_array() || range->size() != 2 || !(*range)[0].is_number_integer() || !(*range)[1].is_number_integer())
    refuse(fmt::format("Invalid `view_range`: {}. It should be a list of two integers.", shown));
  const auto first = (*range)[0].get<std::int64_t>(), last = (*range)[1].get<std::int64_t>();
  const auto count = static_cast<std::int64_t>(lines.size());
  if (first < 1 || first > count)
    refuse(
        fmt::format("Invalid `view_range`: {}. Its first element `{}` should be within the range of lines of the "
                    "file: [1, {}]",
                    shown, first, count));
  if (last != -1 && last > count)
    refuse(
        fmt::format("Invalid `view_range`: {}. Its second element `{}` should be smaller than the number of lines in "
                    "the file: `{}`",
                    shown, last, count));
  if (last != -1 && last < first)
    refuse(
        fmt::format("Invalid `view_range`: {}. Its second element `{}` should be larger or equal than its first `{}`",
                    shown, last, first));
  return numbered(lines, static_cast<std::size_t>(first - 1), static_cast<std::size_t>(last == -1 ? count : last),
                  call.shown);
}

std::string FileEditor::create(const Call& call, Changes& changes) {
  const std::string& text = call.text("file_text", "create");
  if (call.kind == Workspace::Kind::file)
    refuse(fmt::format("File already exists at: {}. Cannot overwrite files using command `create`.", call.shown));
  set(call.path, text, changes);
  return fmt::format("File created successfully at: {}", call.shown);
}

std::string FileEditor::replace(const Call& call, Changes& changes) {
  const std::string& old = call.text("old_str", "str_replace");
  const std::string fresh = call.arguments.contains("new_str") && !call.arguments["new_str"].is_null()
                                ? call.text("new_str", "str_replace")
                                : std::string();
  const std::string text = text_of(call);
  std::vector<std::size_t> found;
  for (std::size_t at = text.find(old); at != std::string::npos && !old.empty(); at = text.find(old, at + 1))
    found.push_back(at);
  const std::string shown = old.substr(0, kShownString);
  if (found.empty())
    refuse(fmt::format("No replacement was performed, old_str `{}` did not appear verbatim in {}.", shown, call.shown));
  if (found.size() > 1) {
    std::vector<std::size_t> lines;
    for (const std::size_t at : found) lines.push_back(line_at(text, at) + 1);
    refuse(
        fmt::format("No replacement was performed. Multiple occurrences of old_str `{}` in lines [{}]. Please ensure "
                    "it is unique",
                    shown, fmt::join(lines, ", ")));
  }
  const std::string now = text.substr(0, found[0]) + fresh + text.substr(found[0] + old.size());
  set(call.path, now, changes);
  return fmt::format(
      "The file {} has been edited. {}Review the changes and make sure they are as expected. Edit the file "
      "again if necessary.",
      call.shown, snippet(now, call.shown, line_at(text, found[0]), lines_of(fresh).size() - 1));
}

std::string FileEditor::insert(const Call& call, Changes& changes) {
  const auto at = call.arguments.find("insert_line");
  if (at == call.arguments.end() || !at->is_number_integer())
    refuse("Parameter `insert_line` is required for command: insert");
  const std::string& fresh = call.text("new_str", "insert");
  const std::string text = text_of(call);
  auto lines = lines_of(text);
  const auto line = at->get<std::int64_t>();
  if (line < 0 || line > static_cast<std::int64_t>(lines.size()))
    refuse(
        fmt::format("Invalid `insert_line` parameter: {}. It should be within the range of lines of the file: [0, {}]",
                    line, lines.size()));
  const auto fresh_lines = lines_of(fresh);
  lines.insert(lines.begin() + line, fresh_lines.begin(), fresh_lines.end());
  const std::string now = fmt::format("{}", fmt::join(lines, "\n"));
  set(call.path, now, changes);
  return fmt::format(
      "The file {} has been edited. {}Review the changes and make sure they are as expected (correct "
      "indentation, no duplicate lines, etc). Edit the file again if necessary.",
      call.shown, snippet(now, call.shown, static_cast<std::size_t>(line), fresh_lines.size() - 1));
}

std::string FileEditor::undo(const Call& call, Changes& changes) {
  auto& history = history_[call.path];
  if (history.empty()) refuse(fmt::format("No edit history found for {}.", call.shown));
  const std::optional<std::string> old = std::move(history.back());
  history.pop_back();
  if (old)
    workspace_.write(call.path, *old).take();
  else
    workspace_.remove(call.path).take();
  changes[call.path] = old;
  return fmt::format(
      "Last edit to {} undone successfully. {}", call.shown,
      old ? numbered(lines_of(*old), 0, lines_of(*old).size(), call.shown) : "The file does not exist now.");
}

Result<std::monostate> FileEditor::repeat(const Changes& changes, bool undone) {
  return guarded([&] {
    for (const auto& [path, text] : changes) {
      auto& history = history_[path];
      auto old = workspace_.read(path);
      if (undone && !history.empty())
        history.pop_back();
      else if (!undone)
        history.push_back(old ? std::optional(std::move(*old)) : std::nullopt);
      if (text)
        workspace_.write(path, *text).take();
      else if (workspace_.kind(path) == Workspace::Kind::file)
        workspace_.remove(path).take();
    }
    return std::monostate{};
  });
}

}  // namespace passnet::agent
