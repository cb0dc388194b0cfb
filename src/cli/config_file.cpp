#include "cli/config_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "base/file.h"
#include "base/text.h"

namespace passnet::cli {

namespace {

constexpr const char *kOption = "--config", *kHelp = "--help";

bool is_flag(const CLI::Option& option) { return option.get_expected_max() == 0; }

// Those hold from any folder.
bool is_path(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type == "FOLDER" || type == "FILE" || type == "DIR";
}

bool is_kept(const CLI::Option* option) {
  return !option->check_name(kOption) && !option->check_name(kHelp) && option->get_configurable();
}

CLI::Option* option_of(CLI::App& command, const CLI::ConfigItem& item) {
  if (!item.parents.empty()) return nullptr;
  CLI::Option* option = command.get_option_no_throw("--" + item.name);
  if (option == nullptr) option = command.get_option_no_throw(item.name);
  return option != nullptr && is_kept(option) ? option : nullptr;
}

void read(CLI::App& command, const std::string& path) {
  const std::string text = file_read(path).take();
  std::istringstream in(text);
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(in);
  } catch (const CLI::Error& error) {
    fail({Code::usage, {path, 0, 0, {}}, fmt::format("not understood: {}", error.what()), {"lines are NAME = VALUE"}});
  }
  for (const CLI::ConfigItem& item : items) {
    if (item.name == "++" || item.name == "--") continue;  // how the parser says where a section begins and ends
    CLI::Option* option = option_of(command, item);
    if (option == nullptr || (is_flag(*option) && item.inputs.size() != 1))
      fail({Code::usage,
            {path, 0, 0, {}},
            fmt::format("'{}' is no option of {}", item.fullname(), command.get_name()),
            {fmt::format("options are named as in 'passnet {} --help', without dashes", command.get_name())}});
    if (option->count() > 0) continue;
    for (const std::string& input : item.inputs)
      option->add_result(is_flag(*option) ? option->get_flag_value(item.name, input) : input);
  }
}

}  // namespace

void add_config(CLI::App& command) {
  command
      .add_option_function<std::string>(
          kOption, [&command](const std::string& path) { read(command, path); },
          "A TOML file with options; those of the command line win")
      ->type_name("FILE");
}

std::string config_text(const CLI::App& command) {
  std::string out;
  for (const CLI::Option* option : command.get_options(is_kept)) {
    std::vector<std::string> values = option->results();
    if (values.empty() && !option->get_default_str().empty()) values = {option->get_default_str()};
    if (values.empty()) continue;
    const std::string name = option->get_single_name();
    if (is_flag(*option)) {
      const bool opposite = option->get_flag_value(name, "true") == "false";  // --no-something
      values = {(values.back() == "true") != opposite ? "true" : "false"};
    }
    if (is_path(*option))
      for (std::string& value : values) value = std::filesystem::absolute(value).lexically_normal().string();
    const bool is_list = option->get_expected_max() > 1;
    for (std::string& value : values) value = CLI::detail::convert_arg_for_ini(value);
    out +=
        is_list ? fmt::format("{}=[{}]\n", name, text_join(values, ", ")) : fmt::format("{}={}\n", name, values.back());
  }
  return out;
}

}  // namespace passnet::cli
