#include "pass/stage_dump.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"

namespace passnet {

tile::StageDump dump_into(const std::string& folder, const std::string& name) {
  if (folder.empty()) return {};
  std::error_code ignored;  // writing says what is wrong
  std::filesystem::create_directories(folder, ignored);
  return [=](std::string_view stage, const std::string& text) {
    const bool code = stage.ends_with("cpp") || stage == "cu";
    auto done = file_write(fmt::format("{}/{}.{}{}", folder, name, stage, code ? "" : ".tile"), text);
    if (done) return;
    done.error().code = Code::environment;  // it is not the kernel's fault
    fail(std::move(done.error()));
  };
}

}  // namespace passnet
