// Every stage of a kernel as text, with the launch it is for.
#pragma once

#include <string>

#include "host/launch_plan.h"
#include "tile/pipeline.h"

namespace passnet {

// A launch as `passnet tile` has it in --args and --grid.
struct LaunchHead {
  std::string arguments;  // x_ptr=float32[64, 32], n=5
  std::string grid;       // 4,2,1
};
// In front of a stage's text, as comments of its language.
std::string with_head(const LaunchHead& head, std::string_view stage, const std::string& text);
// What a text says of its launch in its first lines.
LaunchHead read_head(std::string_view text);

// FOLDER/NUMBER.KERNEL.VARIANT.STAGE (.tile for tile IR), with tensors of the launch's shapes in the head; an empty
// folder: nowhere.
tile::StageDump dump_into(const std::string& folder, std::size_t number, const LaunchPlan& plan, const Launch& launch,
                          std::size_t variant);

}  // namespace passnet
