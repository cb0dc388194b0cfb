// How pass folders are loaded: the options of all commands that load them.
#pragma once

#include "cli/command.h"
#include "match/match.h"
#include "pass/load.h"

namespace passnet::cli {

// `load` is filled while the command line is read.
void add_load_options(CLI::App& command, LoadOptions& load);
void add_match_mode(CLI::App& command, MatchMode& mode);

}  // namespace passnet::cli
