#include "kernels/stage_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"

namespace passnet {

namespace {

constexpr std::string_view kArguments = "args: ", kGrid = "grid: ";

bool is_code(std::string_view stage) { return stage.ends_with("cpp") || stage.ends_with("cu"); }

std::string tensor_text(const TensorDesc& d) {
  const std::string strides = d.is_contiguous() ? "" : fmt::format("({})", fmt::join(d.strides, ", "));
  return fmt::format("{}[{}]{}", dtype_row(d.dtype).name, fmt::join(d.sizes, ", "), strides);
}

// Without constants, which are decided in every stage.
LaunchHead launch_head(const LaunchPlan& plan, const Launch& launch, const LaunchVariant& variant) {
  std::vector<LaunchArgument> all = launch.arguments;
  all.insert(all.end(), variant.meta.begin(), variant.meta.end());
  const auto type_of = [&](BufferId id) { return tensor_text(plan.buffers[static_cast<std::size_t>(id)].desc); };
  return {text_join(arguments_text(all, type_of, false), ", "), fmt::format("{}", fmt::join(variant.grid, ","))};
}

}  // namespace

std::string with_head(const LaunchHead& head, std::string_view stage, const std::string& text) {
  const std::string_view mark = is_code(stage) ? "// " : "# ";
  std::string out;
  for (const auto& [name, value] : {std::pair{kArguments, head.arguments}, std::pair{kGrid, head.grid}}) {
    std::string line = value;
    std::replace(line.begin(), line.end(), '\n', ' ');
    if (!line.empty()) out += fmt::format("{}{}{}\n", mark, name, line);
  }
  return out + text;
}

LaunchHead read_head(std::string_view text) {
  LaunchHead out;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with("# ")) break;
    line.remove_prefix(2);
    if (line.starts_with(kArguments)) out.arguments = line.substr(kArguments.size());
    if (line.starts_with(kGrid)) out.grid = line.substr(kGrid.size());
  }
  return out;
}

tile::StageDump dump_into(const std::string& folder, std::size_t number, const LaunchPlan& plan, const Launch& launch,
                          std::size_t variant) {
  if (folder.empty()) return {};
  const LaunchHead head = launch_head(plan, launch, launch.variants[variant]);
  const std::string start = fmt::format("{}/{}.{}.{}", folder, number, launch.kernel.name(), variant);
  std::error_code ignored;  // writing says what is wrong
  std::filesystem::create_directories(folder, ignored);
  return [=](std::string_view stage, const std::string& text) {
    file_write(fmt::format("{}.{}{}", start, stage, is_code(stage) ? "" : ".tile"), with_head(head, stage, text))
        .take();
  };
}

}  // namespace passnet
