#include "bench/candidate.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "pass/load.h"

namespace passnet {

namespace {

constexpr const char* kOwn = "pass_dir";  // a sample's own passes

struct Named {
  std::string_view name;
  Candidate::Kind kind;
};
constexpr Named kNamed[] = {{"eager", Candidate::Kind::eager},
                            {"none", Candidate::Kind::none},
                            {"eager-python", Candidate::Kind::eager_python},
                            {"inductor", Candidate::Kind::inductor}};
constexpr std::string_view kModes[] = {"default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"};

bool holds_passes(const std::string& folder) { return file_exists(folder + "/" + kOutputOrder); }

}  // namespace

Result<Candidate> candidate_from_text(const std::string& text) {
  Candidate out;
  const std::size_t equals = text.find('=');
  const std::string what = equals == std::string::npos ? text : text.substr(equals + 1);
  out.name = text.substr(0, equals);
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
  out.path = what;
  while (out.path.size() > 1 && out.path.ends_with('/')) out.path.pop_back();
  if (equals == std::string::npos) out.name = std::filesystem::path(out.path).filename().string();
  if (out.name.empty() || (out.path != kOwn && !file_exists(out.path)))
    return Error{Code::usage,
                 {},
                 fmt::format("candidate '{}' is no folder", text),
                 {"candidates: eager, none, eager-python, inductor, inductor:MODE, pass_dir, a folder, NAME=FOLDER"}};
  return out;
}

Result<std::string> Candidate::folder_for(const std::string& task, const std::string& sample) const {
  if (path == kOwn && !sample.empty()) return sample + "/" + kOwn;
  if (path.ends_with(".py") || holds_passes(path)) return path;
  for (const std::string& folder : {path + "/" + task, path + "/" + task + "/" + kOwn})
    if (holds_passes(folder)) return folder;
  return Error{
      Code::pass,
      {path, 0, 0, {}},
      fmt::format("no passes for task '{}'", task),
      {fmt::format("looked for {} in {}, {}/{} and {}/{}/{}", kOutputOrder, path, path, task, path, task, kOwn)}};
}

}  // namespace passnet
