// What the functions and methods that a host program may call take, as Python's own documentation writes it down.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pass/host_value.h"

namespace passnet {

// Parameters between blanks, of "builtins.round", "math.log", "str.split": a name, `_` where it has none, `?` behind
// what may be left out, `*` for any number more; behind `|` names that are keywords alone, which stay keywords; `**`:
// any keyword. Nothing: not known here.
std::optional<std::string_view> host_signature(std::string_view path);

// Whether all methods of such a value have a signature, and what such a method is called there.
bool has_signatures(const HostValue& object);
std::string method_path(const HostValue& object, std::string_view name);

}  // namespace passnet
