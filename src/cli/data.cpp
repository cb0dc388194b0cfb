// passnet data: from whole graphs to tasks and splits.
#include "cli/data.h"

#include "cli/validators.h"

namespace passnet::cli {

void add_farm_options(CLI::App& command, data::FarmOptions& options) {
  add_jobs(command, options.jobs, "Graphs");
  command.add_option("--timeout", options.timeout_s, "Seconds for one graph")->check(kPositive)->capture_default_str();
}

void add_data(CLI::App& app, Outcome& outcome) {
  CLI::App* data = app.add_subcommand("data", "Make tasks and splits from whole graphs, and judge them");
  data->require_subcommand(1);
  data->footer(
      "From models to a data set: cut (by sole, typical, fusible), generalise dims, generalise dtype, split, dedupe,\n"
      "group; pack at any point. docs/dataset.md follows a corpus through them.");
  add_data_ranges(*data, outcome);
  add_data_cut(*data, outcome);
  add_data_generalise(*data, outcome);
  add_data_dedupe(*data, outcome);
  add_data_split(*data, outcome);
  add_data_group(*data, outcome);
  add_data_exchange(*data, outcome);
  add_data_stats(*data, outcome);
  add_data_lint(*data, outcome);
}

}  // namespace passnet::cli
