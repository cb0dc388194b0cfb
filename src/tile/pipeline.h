// The stages that every back-end needs, in order: verified, specialised, simplified.
#pragma once

#include "tile/stages.h"

namespace passnet::tile {

// Called after each stage with its name (lowered, specialised, simplified; then the back-end's) and its text.
using StageDump = std::function<void(std::string_view stage, const std::string& text)>;

Result<std::monostate> prepare(Function& function, const LaunchFacts& facts, const StageDump& dump = {});

}  // namespace passnet::tile
