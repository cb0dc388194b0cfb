// Settings outside a pass that its files may write, because here they do nothing: they say how torch, Triton's own
// compiler or Python's tools work, and none of these works for a candidate. Everything else outside stays as it is: to
// assign it is an integrity error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/module.h"

namespace passnet {

struct Setting {
  enum class Form : std::uint8_t {
    attribute,   // PATH = value
    below,       // PATH.x = value, PATH.x.y = value
    call,        // PATH(...)
    call_once,   // PATH(...) at module level: it would make what follows come out alike each time
    environment  // os.environ["KEY..."] = value and os.environ.setdefault("KEY...", value) at module level
  } form;
  std::string_view path;  // of an environment: how the variable's name begins
  std::string_view why;
};

// The row of what is assigned, or called; null: it is no such setting. `at_top`: at module level.
const Setting* find_setting(std::string_view path);
const Setting* find_setting_call(std::string_view path, bool at_top);
// Of a variable of the environment.
const Setting* find_setting_variable(std::string_view name);
// Of the target of an assignment at module level.
const Setting* find_setting_target(const PassModule& module, const py::Expr& target);
// One that a file writes, and how it is written there.
struct SettingUse {
  std::string_view why;
  std::string written;
};
// What a record says of them: a sentence for each reason.
std::vector<std::string> setting_notes(const std::vector<SettingUse>& uses);

}  // namespace passnet
