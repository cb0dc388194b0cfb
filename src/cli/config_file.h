// A command's options as a TOML file: written beside what was made with them, and read back.
#pragma once

#include <string>

#include "cli/command.h"

namespace passnet::cli {

inline constexpr const char* kConfigFile = "config.toml";  // in a run's folder

// --config FILE. Called before the command's other options are added: their values are taken in its order, and what the
// command line gives is left as it is.
void add_config(CLI::App& command);

// What was given and the defaults of the rest. Flags that were not given are left out.
std::string config_text(const CLI::App& command);

}  // namespace passnet::cli
