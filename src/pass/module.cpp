#include "pass/module.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "py/parser.h"

namespace passnet {

namespace {

constexpr std::string_view kPackage = "pass_dir";

[[noreturn]] void refuse(const PassModule& module, py::Place place, std::string message, std::string note = {}) {
  Error e{Code::pass, module.syntax.where(place), std::move(message), {}};
  if (!note.empty()) e.notes.push_back(std::move(note));
  fail(std::move(e));
}

// An empty folder is the current one.
std::string module_file(const std::string& folder, std::string_view name) { return fmt::format("{}{}{}.py", folder, folder.empty() ? "" : "/", name); }

// The name of a folder's file that an import means: "pass_dir.x", ".x" or, as scripts do, a bare "x" beside it.
std::string local_module(const std::string& folder, const py::Stmt& s, std::string_view path) {
  if (s.level > 0) return std::string(path);
  if (path == kPackage) return {};
  if (path.starts_with(std::string(kPackage) + ".")) return std::string(path.substr(kPackage.size() + 1));
  if (path.find('.') == std::string_view::npos && !path.empty() && path != "torch" && path != "triton" && path != "math" && file_exists(module_file(folder, path))) return std::string(path);
  return {};
}

bool is_file_name(std::string_view name) {
  return !name.empty() && name.size() < 200 && std::all_of(name.begin(), name.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
}

}  // namespace

const Binding* PassModule::find(std::string_view wanted) const {
  const auto it = names.find(wanted);
  return it == names.end() ? nullptr : &it->second;
}

std::string resolve_path(const PassModule& module, const py::Expr& expr) {
  if (expr.kind == py::ExprKind::name) {
    const Binding* b = module.find(expr.text);
    if (b == nullptr) return {};
    if (b->kind == Binding::Kind::path) return b->path;
    if (b->kind == Binding::Kind::expression && b->unpack == Binding::kWhole && b->owner != nullptr && b->value != &expr) {
      const py::Expr* v = b->value;  // NAME = torch.relu
      if (v->kind == py::ExprKind::attribute) return resolve_path(*b->owner, *v);
      if (v->kind == py::ExprKind::name && v->text != expr.text) return resolve_path(*b->owner, *v);
    }
    return {};
  }
  if (expr.kind != py::ExprKind::attribute) return {};
  std::string head = resolve_path(module, *expr.items[0]);
  if (head.empty()) return {};
  return head.append(".").append(expr.text);
}

bool is_kernel(const PassModule& module, const py::Stmt& function) {
  for (const py::Expr* d : function.decorators) {
    const py::Expr& callee = d->kind == py::ExprKind::call ? *d->items[0] : *d;
    const std::string path = resolve_path(module, callee);
    if (path == "triton.jit" || path == "triton.runtime.jit.jit" || path == "triton.runtime.jit") return true;
  }
  return false;
}

const PassModule& ModuleLoader::load(const std::string& name) {
  if (const auto it = modules_.find(name); it != modules_.end()) {
    if (std::find(loading_.begin(), loading_.end(), name) == loading_.end()) return *it->second;
    std::vector<std::string> cycle = loading_;
    cycle.push_back(name);
    fail({Code::pass, {folder_, 0, 0, {}}, fmt::format("modules import each other in a cycle: {}", text_join(cycle, " -> ")), {"move what both need into a third file"}});
  }
  constexpr std::size_t kDepth = 32, kCount = 400;
  if (!is_file_name(name)) fail({Code::pass, {folder_, 0, 0, {}}, fmt::format("'{}' is no name of a pass file", name.substr(0, 80)), {"names are letters, digits, '_' and '-'"}});
  if (loading_.size() >= kDepth || modules_.size() >= kCount) fail({Code::limit, {folder_, 0, 0, {}}, "too many modules import one another", {}});
  const std::string file = module_file(folder_, name);
  auto module = std::make_unique<PassModule>(PassModule{name, py::parse(file, file_read(file, std::size_t{4} << 20).take()).take(), {}, {}});
  PassModule& kept = *(modules_[name] = std::move(module));
  loading_.push_back(name);
  for (const py::Stmt* s : kept.syntax.body()) bind(kept, *s);
  loading_.pop_back();
  return kept;
}

void ModuleLoader::bind(PassModule& module, const py::Stmt& s) {
  using K = py::StmtKind;
  switch (s.kind) {
    case K::import: return bind_import(module, s);
    case K::import_from: return bind_import_from(module, s);
    case K::function: {
      Binding b;
      b.owner = &module;
      b.statement = &s;
      b.kind = is_kernel(module, s) ? Binding::Kind::kernel : Binding::Kind::function;
      module.names[s.name] = b;
      return;
    }
    case K::assign:
    case K::annotated: {
      if (s.value == nullptr) return;
      for (const py::Expr* t : s.targets) {
        Binding b;
        b.kind = Binding::Kind::expression;
        b.owner = &module;
        b.value = s.value;
        b.statement = &s;
        if (t->kind == py::ExprKind::name) module.names[t->text] = b;
        else if (t->kind == py::ExprKind::tuple || t->kind == py::ExprKind::list) {
          for (std::size_t i = 0; i < t->items.size(); ++i) {
            if (t->items[i]->kind != py::ExprKind::name) refuse(module, s.place, "a module-level assignment binds names only");
            b.unpack = i;
            module.names[t->items[i]->text] = b;
          }
        } else {
          fail({Code::integrity, module.syntax.where(s.place), "a pass file may not change anything outside itself", {"module-level assignments bind names; attributes and items of others are not assigned"}});
        }
      }
      return;
    }
    case K::expression:
      // A docstring, or torch.fx.wrap("name"); the policy looks at other calls.
      return;
    case K::try_:  // optional imports: the first arm counts
      for (const py::Stmt* inner : s.body) bind(module, *inner);
      return;
    case K::if_: {
      // `if __name__ == "__main__":` never runs here; other conditions are not decided at module level.
      const bool main = s.value->kind == py::ExprKind::compare && s.value->items[0]->kind == py::ExprKind::name && s.value->items[0]->text == "__name__";
      if (main) return;
      for (const py::Stmt* inner : s.body) bind(module, *inner);
      return;
    }
    case K::pass:
    case K::assert_: return;
    case K::class_: refuse(module, s.place, fmt::format("class '{}' in a pass file", s.name), "write functions: a pass file holds pattern, replacement_args, replacement_func, kernels and helpers");
    case K::delete_:
    case K::augmented:
    default: refuse(module, s.place, "this statement is not supported at module level of a pass file", "a pass file holds imports, constants, functions and kernels");
  }
}

void ModuleLoader::bind_import(PassModule& module, const py::Stmt& s) {
  for (const py::Alias& alias : s.aliases) {
    Binding b;
    if (const std::string local = local_module(folder_, s, alias.name); !local.empty()) {
      b.kind = Binding::Kind::module;
      b.target = &load(local);
      // `import pass_dir.x` binds pass_dir; its attribute x is looked up by the evaluator
      module.names[alias.as.empty() ? (alias.name.starts_with(kPackage) ? kPackage : alias.name) : alias.as] = b;
      continue;
    }
    b.path = alias.as.empty() ? std::string(alias.name.substr(0, alias.name.find('.'))) : std::string(alias.name);
    module.names[alias.as.empty() ? alias.name.substr(0, alias.name.find('.')) : alias.as] = b;
  }
}

void ModuleLoader::bind_import_from(PassModule& module, const py::Stmt& s) {
  const std::string local = local_module(folder_, s, s.name);
  const bool package = local.empty() && (s.level > 0 || s.name == kPackage);
  for (const py::Alias& alias : s.aliases) {
    const std::string_view as = alias.as.empty() ? alias.name : alias.as;
    if (package) {  // from pass_dir import x
      Binding b;
      b.kind = Binding::Kind::module;
      b.target = &load(std::string(alias.name));
      module.names[as] = b;
      continue;
    }
    if (local.empty()) {
      if (alias.name == "*") {
        module.star_imports.emplace_back(s.name);
        continue;
      }
      Binding b;
      b.path = std::string(s.name) + "." + std::string(alias.name);
      module.names[as] = b;
      continue;
    }
    const PassModule& other = load(local);
    if (alias.name == "*") {
      for (const auto& [name, binding] : other.names)
        if (!name.starts_with('_')) module.names[name] = binding;
      continue;
    }
    const Binding* found = other.find(alias.name);
    if (found == nullptr) refuse(module, alias.place, fmt::format("'{}' has no '{}'", local, alias.name));
    module.names[as] = *found;
  }
}

}  // namespace passnet
