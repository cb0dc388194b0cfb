// passnet data's own subcommands, one a file.
#pragma once

#include "cli/command.h"
#include "data/farm.h"

namespace passnet::cli {

void add_data_cut(CLI::App& data, Outcome& outcome);
void add_data_dedupe(CLI::App& data, Outcome& outcome);
void add_data_exchange(CLI::App& data, Outcome& outcome);    // pack, unpack, import, export
void add_data_generalise(CLI::App& data, Outcome& outcome);  // dims, dtype
void add_data_group(CLI::App& data, Outcome& outcome);
void add_data_lint(CLI::App& data, Outcome& outcome);
void add_data_ranges(CLI::App& data, Outcome& outcome);  // sole, typical, fusible
void add_data_split(CLI::App& data, Outcome& outcome);
void add_data_stats(CLI::App& data, Outcome& outcome);

// --jobs and --timeout of what runs graphs.
void add_farm_options(CLI::App& command, data::FarmOptions& options);

}  // namespace passnet::cli
