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
    file_write(fmt::format("{}/{}.{}{}", folder, name, stage, code ? "" : ".tile"), text).take();
  };
}

}  // namespace passnet
