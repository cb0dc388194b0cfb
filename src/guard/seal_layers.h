// The layers under seal(). Each function gives what could not be done; empty: all is done.
#pragma once

#include <functional>
#include <optional>

#include "guard/seal.h"

namespace passnet::guard {

using RuleOn = std::function<bool(std::string_view rule)>;

// 0: none. Version 1 came with Linux 5.13.
int landlock_version();
// A ruleset to be applied to each thread; -1 where there is none.
int landlock_ruleset(const SealOptions& options, const RuleOn& on);
// In the calling thread only; nothing but system calls, so that a signal handler may call it.
int landlock_restrict(int ruleset);
std::vector<std::string> landlock_missing();

// Builds the filter, which takes milliseconds, for the processes to be forked that ask for the same.
void seccomp_prepare(const SealOptions& options, const RuleOn& on);
std::optional<std::string> seccomp_seal(const SealOptions& options, const RuleOn& on);  // all threads
std::vector<std::string> seccomp_missing();

}  // namespace passnet::guard
