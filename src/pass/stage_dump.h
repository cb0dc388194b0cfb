// Every stage of a kernel as text, with the launch it is for.
#pragma once

#include <string>

#include "pass/launch_plan.h"
#include "tile/pipeline.h"

namespace passnet {

// A launch as `passnet tile` has it in --args and --grid.
struct LaunchHead {
  std::string arguments;  // x_ptr=float32[64, 32], n=5
  std::string grid;       // 4,2,1
};
// Tensors of the launch's shapes; both are empty where an argument cannot be said so.
LaunchHead launch_head(const LaunchPlan& plan, const Launch& launch, const LaunchVariant& variant);
// In front of a stage's text, as comments of its language.
std::string with_head(const LaunchHead& head, std::string_view stage, const std::string& text);
// What a text says of its launch in its first lines.
LaunchHead read_head(std::string_view text);

// FOLDER/NAME.STAGE (.tile for tile IR); an empty folder: nowhere.
tile::StageDump dump_into(const std::string& folder, const std::string& name, const LaunchHead& head);

}  // namespace passnet
