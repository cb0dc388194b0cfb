// What a pass may call outside `pattern` and `replacement_args`: the lists, and the check at load.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "host/module.h"
#include "host/settings.h"

namespace passnet {

bool is_allocation(std::string_view name);         // torch.NAME
bool is_metadata(std::string_view name);           // x.NAME, attribute or method
bool is_view(std::string_view name);               // x.NAME(...): moves no data
bool is_view_function(std::string_view name);      // torch.NAME(x, ...): the same as its method
bool is_fill(std::string_view name);               // x.NAME(...) and torch.NAME(x, ...): zero_, fill_
bool is_unbound_method(std::string_view name);     // torch.Tensor.view(x, ...)
bool is_library(std::string_view name);            // torch.library.custom_op, wrap_triton, ...
bool is_installed(std::string_view path);          // import PATH works where torch and triton are
bool is_context(std::string_view path);            // with torch.no_grad(): changes nothing here
bool is_outside(std::string_view path);            // os.system, time.time, ...: reaches outside a pass
bool is_package_query(std::string_view path);      // importlib.metadata.version: what is installed, from a table
bool is_outside_harmless(std::string_view path);   // of these: os.path.join, os.environ.get, at module level
bool is_forbidden_builtin(std::string_view name);  // exec, open, ...
std::string allowed_calls_note();

struct PolicyViolation {
  Error error;  // line, call and what it resolves to
};

// What the folder's own classes and namespaces call their methods and attributes: who calls .sum of an object may mean
// its own, and is judged when the wrapper runs.
using OwnNames = std::unordered_set<std::string_view>;
void add_own_names(const PassModule& module, std::span<const py::Stmt* const> body, OwnNames& out);

// Every call of every function of the module but pattern and replacement_args, and of the module level. `apart`: other
// defs and lambdas that no wrapper can reach. `settings`: gets those that have no effect here.
std::vector<PolicyViolation> check_policy(const PassModule& module, std::span<const void* const> apart = {},
                                          const OwnNames& own_names = {}, std::vector<SettingUse>* settings = nullptr);

// The names in a statement; `mentioned` also those of attributes and what strings say.
std::unordered_set<std::string_view> mentioned_names(const py::Stmt& statement);
std::unordered_set<std::string_view> used_names(const py::Stmt& statement);

}  // namespace passnet
