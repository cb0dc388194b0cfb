// The functions and methods that a host program may call, and what they take.
#pragma once

#include <string>
#include <string_view>

#include "pass/host_value.h"

namespace passnet {

// Whether there is one: "builtins.round", "math.log", "str.split". HostMachine::bind_arguments goes by it.
bool has_signature(std::string_view path);

// Whether all methods of such a value have a signature, and what such a method is called there.
bool has_signatures(const HostValue& object);
std::string method_path(const HostValue& object, std::string_view name);

}  // namespace passnet
