#include "kernels/text.h"

#include <algorithm>

#include "py/names.h"
#include "py/printer.h"

namespace passnet {

namespace {

// Whether the statement is the function, or a class or a function around it.
bool holds(const py::Stmt& s, const py::Stmt* function) {
  return &s == function || std::any_of(s.body.begin(), s.body.end(),
                                       [function](const py::Stmt* inner) { return holds(*inner, function); });
}

}  // namespace

std::string kernel_text(const KernelRef& kernel) {
  using py::StmtKind;
  struct Part {
    const py::Stmt* statement;
    std::set<std::string_view> binds = {};
    bool needed = false;
  };
  std::vector<Part> parts;
  std::set<std::string_view> names;
  const auto take = [&](Part& part) {
    part.needed = true;
    py::add_names_in(*part.statement, names);
  };
  // Where the function that made the kernel is called, which says what it sees.
  const auto makes = [&](const py::Stmt& s) {
    std::set<std::string_view> used;
    py::add_names_in(s, used);
    return s.kind == StmtKind::assign && std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
             return holds(*part.statement, kernel.function) && used.contains(part.statement->name);
           });
  };
  for (const py::Stmt* s : kernel.module->body()) {
    const bool made = kernel.closure && makes(*s);
    Part& part = parts.emplace_back(Part{s});
    py::add_names_bound(*s, part.binds);
    if (holds(*s, kernel.function) || s->kind == StmtKind::import || s->kind == StmtKind::import_from || made)
      take(part);
  }
  const auto is_missing = [&](const Part& part) {
    return !part.needed && std::any_of(part.binds.begin(), part.binds.end(),
                                       [&](std::string_view name) { return names.contains(name); });
  };
  for (auto it = parts.begin(); (it = std::find_if(parts.begin(), parts.end(), is_missing)) != parts.end();) take(*it);
  std::string out;
  for (const Part& part : parts) {
    if (!part.needed) continue;
    const bool defines = part.statement->kind == StmtKind::function || part.statement->kind == StmtKind::class_;
    if (defines && !out.empty()) out += "\n\n";
    out += py::print(*part.statement);
  }
  return out;
}

}  // namespace passnet
