#include "bench/candidate.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "pass/load.h"

namespace passnet {

namespace {

struct Named {
  std::string_view name;
  Candidate::Kind kind;
};
constexpr Named kNamed[] = {{"eager", Candidate::Kind::eager},
                            {"none", Candidate::Kind::none},
                            {"eager-python", Candidate::Kind::eager_python},
                            {"inductor", Candidate::Kind::inductor},
                            {"author", Candidate::Kind::author}};
constexpr std::string_view kModes[] = {"default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"};

bool holds_passes(const std::string& folder) { return file_exists(folder + "/" + kOutputOrder); }

}  // namespace

Result<std::monostate> path_check(const std::string& path) {
  for (std::size_t i = 0, size = 0; i < path.size(); i += size) {
    size = text_character_size(path, i);
    if (size == 1 && static_cast<unsigned char>(path[i]) >= 0x80)
      return Error{Code::usage, {}, fmt::format("'{}' is no UTF-8", text_printable(path)), {"rename the folder"}};
  }
  return std::monostate{};
}

Result<Candidate> candidate_from_text(const std::string& text) {
  Candidate out;
  const std::size_t equals = text.find('=');
  const std::string what = equals == std::string::npos ? text : text.substr(equals + 1);
  out.name = text.substr(0, equals);
  if (out.name.empty())
    return Error{Code::usage, {}, fmt::format("candidate '{}' has no name", text), {"write NAME=FOLDER"}};
  const std::size_t colon = what.find(':');
  const std::string_view head = std::string_view(what).substr(0, colon);
  for (const Named& row : kNamed) {
    if (head != row.name) continue;
    out.kind = row.kind;
    out.mode = colon == std::string::npos ? "default" : what.substr(colon + 1);
    const bool known = std::find(std::begin(kModes), std::end(kModes), out.mode) != std::end(kModes);
    if (!known || (out.mode != "default" && row.kind != Candidate::Kind::inductor))
      return Error{Code::usage,
                   {},
                   fmt::format("candidate '{}': no such mode", text),
                   {fmt::format("modes of inductor: {}", fmt::join(kModes, ", "))}};
    return out;
  }
  if (what == kOwnPasses) return out;
  if (!file_exists(what))
    return Error{Code::usage,
                 {},
                 fmt::format("candidate '{}' is no folder", text),
                 {"candidates: eager, none, eager-python, inductor, inductor:MODE, author (of a bench), pass_dir, a "
                  "folder, NAME=FOLDER"}};
  auto passes = candidate_of_passes(what);
  if (passes && equals != std::string::npos) passes->name = std::move(out.name);
  return passes;
}

Result<Candidate> candidate_of_passes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  Candidate out;
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error).lexically_normal();
  out.name = text_printable((whole.has_filename() ? whole : whole.parent_path()).filename().string());
  if (error || out.name.empty() || !file_exists(path))
    return Error{Code::usage, {}, fmt::format("there are no passes at '{}'", path), {"give a pass folder, or a file"}};
  if (auto wrong = path_check(path); !wrong) return std::move(wrong.error());
  out.path = std::move(path);
  return out;
}

Result<std::string> Candidate::folder_for(const std::string& task, const std::string& sample) const {
  if (path.empty()) return (sample.empty() ? "" : sample + "/") + kOwnPasses;
  if (path.ends_with(".py") || holds_passes(path)) return path;
  for (const std::string& folder : {path + "/" + task, path + "/" + task + "/" + kOwnPasses})
    if (holds_passes(folder)) return folder;
  return Error{
      Code::pass,
      {path, 0, 0, {}},
      fmt::format("no passes for task '{}'", task),
      {fmt::format("looked for {} in {}, {}/{} and {}/{}/{}", kOutputOrder, path, path, task, path, task, kOwnPasses)}};
}

}  // namespace passnet
