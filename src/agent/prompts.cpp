#include "agent/prompts.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/embedded.h"
#include "base/file.h"
#include "base/text.h"

namespace passnet::agent {

namespace {

constexpr Embedded kSources[] = {
#include "agent_prompts.inc"
};

constexpr std::size_t kMetaLimit = 20000;  // bytes of a meta file in the statement; view shows all of it

std::string file_text(const std::string& path) {
  auto text = file_read(path);
  if (!text) return "";
  if (text->size() > kMetaLimit) {
    text->resize(text->rfind('\n', kMetaLimit) + 1);
    *text += "# ... and more: view the file for the rest\n";
  }
  return std::move(*text);
}

}  // namespace

Result<Prompts> Prompts::load(const std::string& folder) {
  Prompts out;
  for (const Embedded& source : kSources) out.texts_[std::string(source.name)] = source.text;
  if (folder.empty()) return out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".md")) continue;
    if (!out.texts_.contains(name)) {
      std::vector<std::string> names;
      for (const auto& [known, text] : out.texts_) names.push_back(known);
      return Error{
          Code::usage, {}, fmt::format("'{}' is no prompt's name", name), {"prompts are: " + text_join(names, ", ")}};
    }
    auto text = file_read(entry.path().string());
    if (!text) return std::move(text.error());
    out.texts_[name] = std::move(*text);
  }
  if (error) return Error{Code::usage, {}, fmt::format("cannot read '{}': {}", folder, error.message()), {}};
  return out;
}

std::string Prompts::text(const std::string& name, const Values& values) const {
  const std::string& from = texts_.at(name);
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t open = from.find("{{", at), close = open == std::string::npos ? open : from.find("}}", open);
    out += from.substr(at, close == std::string::npos ? std::string::npos : open - at);
    if (close == std::string::npos) return std::string(text_trim(out)) + "\n";
    const auto value = values.find(from.substr(open + 2, close - open - 2));
    out += value == values.end() ? from.substr(open, close + 2 - open) : value->second;
    at = close + 2;
  }
}

std::string problem_statement(const Task& task) {
  const std::vector<std::string> names = graph_names(task);
  std::vector<std::pair<std::string, std::string>> models;  // the names of the graphs with this text
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string text = file_text(task.graphs[i] + "/model.py");
    const auto same = std::find_if(models.begin(), models.end(), [&](const auto& m) { return m.second == text; });
    if (same == models.end())
      models.emplace_back("graphs/" + names[i] + "/model.py", std::move(text));
    else
      same->first += ", graphs/" + names[i] + "/model.py";
  }
  std::string out;
  for (const auto& [files, text] : models) out += fmt::format("{}:\n```python\n{}```\n\n", files, text);
  for (std::size_t i = 0; i < names.size(); ++i)
    for (const char* file : {"weight_meta.py", "input_meta.py"})
      if (const std::string text = file_text(task.graphs[i] + "/" + file); !text_trim(text).empty())
        out += fmt::format("graphs/{}/{}:\n```python\n{}```\n\n", names[i], file, text);
  return out;
}

}  // namespace passnet::agent
