#include "cli/load_options.h"

#include "cli/validators.h"

namespace passnet::cli {

void add_load_options(CLI::App& command, LoadOptions& load) {
  command
      .add_option_function<std::string>(
          "--policy", [&load](const std::string& policy) { load.open_policy = policy == "open"; },
          "closed: a wrapper may only allocate, view and launch; open: not checked at load")
      ->check(CLI::IsMember({"closed", "open"}))
      ->default_str("closed");
  command.add_option("--output-pass-pattern-limit", load.pattern_limit, "Patterns taken, in list order")
      ->check(kNatural)
      ->capture_default_str();
  command
      .add_option("--output-pass-replacement-func-limit", load.replacement_func_limit,
                  "Different wrappers taken, in list order; 0: all")
      ->check(kNatural)
      ->capture_default_str();
  command.add_option("--input-passes", load.input_folder, "A folder of given passes, overridden by name")
      ->check(CLI::ExistingDirectory)
      ->type_name("FOLDER");
}

void add_match_mode(CLI::App& command, MatchMode& mode) {
  command
      .add_option_function<std::string>(
          "--match",
          [&mode](const std::string& name) { mode = name == "strict" ? MatchMode::strict : MatchMode::normal; },
          "strict: as written; normal: keywords, defaults and spellings of one function are equal")
      ->check(CLI::IsMember({"strict", "normal"}))
      ->default_str("normal");
}

}  // namespace passnet::cli
