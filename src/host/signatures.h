// The functions and methods that a host program may call, and what they take.
#pragma once

#include <string>
#include <string_view>

#include "host/value.h"

namespace passnet {

// Whether there is one: "builtins.round", "math.log", "str.split". HostMachine::bind_arguments goes by it.
bool has_signature(std::string_view path);

// What a message calls its argument `i`: "'fill_value'", or "argument 2" where it has no name.
std::string parameter_name(std::string_view path, std::size_t i);

// Whether all methods of such a value have a signature, and what such a method is called there.
bool has_signatures(const HostValue& object);
std::string method_path(const HostValue& object, std::string_view name);

}  // namespace passnet
