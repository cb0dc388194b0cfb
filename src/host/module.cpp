#include "host/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "host/host.h"
#include "host/policy.h"
#include "host/settings.h"
#include "py/names.h"
#include "py/parser.h"

namespace passnet {

namespace {

constexpr std::string_view kPackage = "pass_dir";

[[noreturn]] void refuse(const PassModule& module, py::Place place, std::string message, std::string note = {}) {
  Error e{Code::pass, module.syntax.where(place), std::move(message), {}};
  if (!note.empty()) e.notes.push_back(std::move(note));
  fail(std::move(e));
}

// The path of a dotted name below the folder, without an ending. An empty folder is the current one.
std::string module_path(const std::string& folder, std::string_view name) {
  std::string path(name);
  std::replace(path.begin(), path.end(), '.', '/');
  return fmt::format("{}{}{}", folder, folder.empty() ? "" : "/", path);
}

std::string_view parent_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}
std::string_view last_of(std::string_view name) { return name.substr(name.rfind('.') + 1); }

std::string dotted(std::string_view head, std::string_view tail) {
  return fmt::format("{}{}{}", head, head.empty() || tail.empty() ? "" : ".", tail);
}

// The first part of a dotted name: what `import a.b` binds.
std::string_view first_of(std::string_view path) { return path.substr(0, path.find('.')); }

std::string_view second_of(std::string_view path) {
  const std::size_t first = first_of(path).size();
  return first == path.size() ? std::string_view() : first_of(path.substr(first + 1));
}

// pass_dir, pass_dir.x, or relative; else it may mean a file of the folder only as in a script: "x".
bool is_own_path(const py::Stmt& s, std::string_view path) { return s.level > 0 || first_of(path) == kPackage; }

// The name below the folder that an import in a module means; one that leads out of the folder keeps its dots.
std::string local_name(const PassModule& module, const py::Stmt& s, std::string_view path) {
  if (s.level == 0) {
    if (!is_own_path(s, path)) return std::string(path);
    return std::string(path.substr(std::min(path.size(), kPackage.size() + 1)));
  }
  std::string_view base = module.package ? std::string_view(module.name) : parent_of(module.name);
  for (auto up = s.level; up > 1; --up) {
    if (base.empty()) return std::string(static_cast<std::size_t>(s.level), '.') + std::string(path);
    base = parent_of(base);
  }
  return dotted(base, path);
}

// The name at the root of x.y[z].
const py::Expr* root_name(const py::Expr& e) {
  const py::Expr* root = &e;
  while (root->kind == py::ExprKind::attribute || root->kind == py::ExprKind::subscript ||
         root->kind == py::ExprKind::call)
    root = root->items[0];
  return root->kind == py::ExprKind::name ? root : nullptr;
}

// Whether a function, or one that it mentions, may launch a kernel or make a tensor.
bool may_compute(const Binding& function) {
  std::vector<const Binding*> left = {&function};
  std::set<const py::Stmt*> seen = {function.statement};
  while (!left.empty()) {
    const Binding& f = *left.back();
    left.pop_back();
    std::set<std::string_view> names;
    py::add_names_in(*f.statement, names);
    for (const std::string_view name : names) {
      const Binding* b = f.owner->find(name);
      if (b == nullptr) continue;
      if (b->kind == Binding::Kind::kernel || b->path == "torch" || b->path.starts_with("torch.")) return true;
      if (b->kind == Binding::Kind::function && seen.insert(b->statement).second) left.push_back(b);
    }
  }
  return false;
}

// What a call at module level may do beside giving a value: make an object, whose class says what happens then,
bool makes_object(const py::Expr& call, const Binding& callee) {
  return call.items[0]->kind == py::ExprKind::name && callee.kind == Binding::Kind::klass &&
         std::any_of(callee.statement->body.begin(), callee.statement->body.end(),
                     [](const py::Stmt* s) { return s->name == "__init__" || s->name == "__post_init__"; });
}
// or run a function of the file. What that computes is a warm-up, and no call's work.
bool may_act(const py::Expr& call, const Binding& callee) {
  return makes_object(call, callee) ||
         (call.items[0]->kind == py::ExprKind::name && callee.kind == Binding::Kind::function && !may_compute(callee));
}

// A docstring; a call like torch.fx.wrap("name"), but not NAMES.append(...); an `if` around such.
bool does_nothing(const PassModule& module, const py::Stmt& s) {
  const auto all_nothing = [&](std::span<const py::Stmt* const> body) {
    return std::all_of(body.begin(), body.end(), [&](const py::Stmt* inner) { return does_nothing(module, *inner); });
  };
  if (s.kind == py::StmtKind::pass) return true;
  if (s.kind == py::StmtKind::if_) return all_nothing(s.body) && all_nothing(s.orelse);
  if (s.kind != py::StmtKind::expression) return false;
  const py::Expr* root = s.value->kind == py::ExprKind::call ? root_name(*s.value) : nullptr;
  const Binding* b = root == nullptr ? nullptr : module.find(root->text);
  return b == nullptr || (b->kind != Binding::Kind::expression && !may_act(*s.value, *b));
}

[[noreturn]] void refuse_patch(const PassModule& module, const py::Stmt& s) {
  fail({Code::integrity,
        module.syntax.where(s.place),
        "a pass file may not change anything outside itself",
        {"module-level assignments bind names and items of the file's own tables; attributes and items of others are "
         "not assigned"}});
}

// Whether a decorator is a function of the folder, which has to be called.
bool has_own_decorator(const PassModule& module, const py::Stmt& function) {
  return std::any_of(function.decorators.begin(), function.decorators.end(), [&](const py::Expr* d) {
    const py::Expr* root = root_name(*d);
    const Binding* b = root == nullptr ? nullptr : module.find(root->text);
    return b != nullptr && b->kind != Binding::Kind::path && resolve_path(module, *root).empty();
  });
}

// except ImportError, Exception, or anything that names it, and not to raise again.
bool catches(const py::Handler& h, ModuleLoader::Missing what) {
  using Missing = ModuleLoader::Missing;
  const auto names_it = [what](const py::Expr& e) {
    const bool import = e.text == "ImportError" || (e.text == "ModuleNotFoundError" && what == Missing::module);
    return (what == Missing::attribute ? e.text == "AttributeError" : import) || e.text == "Exception" ||
           e.text == "BaseException";
  };
  if (std::any_of(h.body.begin(), h.body.end(), [](const py::Stmt* s) { return s->kind == py::StmtKind::raise; }))
    return false;
  if (h.type == nullptr) return true;
  if (h.type->kind != py::ExprKind::tuple) return names_it(*h.type);
  return std::any_of(h.type->items.begin(), h.type->items.end(), [&](const py::Expr* e) { return names_it(*e); });
}

bool is_file_name(std::string_view name) {
  const bool parts = !name.starts_with('.') && !name.ends_with('.') && name.find("..") == std::string_view::npos;
  return !name.empty() && parts && name.size() < 200 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

}  // namespace

const Binding* PassModule::find(std::string_view wanted) const {
  const auto it = names.find(wanted);
  return it == names.end() ? nullptr : &it->second;
}

const PassModule* PassModule::find_file(const py::Stmt& import, std::string_view path) const {
  const auto it = files.find(local_name(*this, import, path));
  return it == files.end() ? nullptr : it->second;
}

namespace {

// `inside`: the binding whose expression this is part of; its own name means what it meant before.
std::string resolve_path(const PassModule& module, const py::Expr& expr, int depth, const Binding* inside) {
  constexpr int kDeepest = 20;  // names that stand for one another in a circle end here
  if (expr.kind == py::ExprKind::name) {
    const bool again = inside != nullptr && inside->owner == &module && inside->name == expr.text && inside->before;
    const Binding* b = again ? inside->before.get() : module.find(expr.text);
    if (b == nullptr) return {};
    if (b->kind == Binding::Kind::path) return b->path;
    if (b->kind == Binding::Kind::expression && b->unpack == Binding::kWhole && depth < kDeepest)
      return resolve_path(*b->owner, *b->value, depth + 1, b);  // NAME = torch.relu
    return {};
  }
  if (expr.kind != py::ExprKind::attribute) return {};
  std::string head = resolve_path(module, *expr.items[0], depth, inside);
  if (head.empty()) return {};
  return head.append(".").append(expr.text);
}

}  // namespace

std::string resolve_path(const PassModule& module, const py::Expr& expr) {
  return resolve_path(module, expr, 0, nullptr);
}

namespace {

// triton.jit, or triton.jit(...) with options.
bool is_jit(const PassModule& module, const py::Expr& e) {
  const std::string path = resolve_path(module, e.kind == py::ExprKind::call ? *e.items[0] : e);
  return path == "triton.jit" || path == "triton.runtime.jit.jit" || path == "triton.runtime.jit";
}

// The functions of the module that an expression makes kernels of.
void find_jitted(PassModule& module, const py::Expr& e) {
  if (e.kind == py::ExprKind::call && e.items.size() == 2 && e.items[1]->kind == py::ExprKind::name &&
      is_jit(module, *e.items[0])) {
    const Binding* b = module.find(e.items[1]->text);
    if (b != nullptr && b->kind == Binding::Kind::function && b->owner == &module)
      module.jitted[b->statement] = e.items[0]->kind == py::ExprKind::call ? e.items[0] : &e;
  }
  for (const py::Expr* item : e.items)
    if (item != nullptr) find_jitted(module, *item);
  for (const py::Keyword& k : e.keywords) find_jitted(module, *k.value);
}

}  // namespace

bool is_kernel(const PassModule& module, const py::Stmt& function) {
  return module.jitted.contains(&function) || std::any_of(function.decorators.begin(), function.decorators.end(),
                                                          [&](const py::Expr* d) { return is_jit(module, *d); });
}

bool jit_option_names(const PassModule& module, const py::Stmt& kernel, std::string_view option,
                      std::size_t parameter) {
  const auto called = module.jitted.find(&kernel);
  const py::Expr* jit = called == module.jitted.end() ? nullptr : called->second;
  for (const py::Expr* d : kernel.decorators)
    if (is_jit(module, *d)) jit = d;
  if (jit == nullptr || jit->kind != py::ExprKind::call) return false;
  for (const py::Keyword& k : jit->keywords) {
    if (k.name != option) continue;
    const Binding* b = k.value->kind == py::ExprKind::name ? module.find(k.value->text) : nullptr;
    const py::Expr& list = b != nullptr && b->value != nullptr && b->unpack == Binding::kWhole ? *b->value : *k.value;
    return std::any_of(list.items.begin(), list.items.end(), [&](const py::Expr* item) {
      return item->kind == py::ExprKind::string
                 ? item->text == kernel.parameters[parameter].name
                 : item->kind == py::ExprKind::integer && item->integer == static_cast<std::int64_t>(parameter);
    });
  }
  return false;
}

bool is_main_block(const py::Stmt& s) {
  return s.kind == py::StmtKind::if_ && s.value->kind == py::ExprKind::compare &&
         s.value->items[0]->kind == py::ExprKind::name && s.value->items[0]->text == "__name__";
}

// A module's own file, or a package's __init__.py, which comes first as in Python.
std::string ModuleLoader::file_of(const std::string& name) const {
  const std::string path = module_path(folder_, name), init = path + "/__init__.py";
  return !sources_ && file_exists(init) ? init : path + ".py";
}

bool ModuleLoader::has_file(const std::string& name) const {
  return sources_ ? sources_->contains(name) : file_exists(file_of(name));
}

// A sub-folder, with an __init__.py or without.
bool ModuleLoader::has_package(const std::string& name) const {
  return !sources_ && file_exists(module_path(folder_, name) + "/");
}

// The module of the folder that an import means.
std::optional<std::string> ModuleLoader::local_module(const PassModule& module, const py::Stmt& s,
                                                      std::string_view path) const {
  std::string name = local_name(module, s, path);
  if (is_own_path(s, path)) return name;
  // What torch imports is found before a file of the same name.
  return !is_installed(path) && is_file_name(name) && has_file(name) ? std::optional(std::move(name)) : std::nullopt;
}

// What a link leads to is not the candidate's to read.
void ModuleLoader::refuse_links(const std::string& name) const {
  const auto refuse_link = [](const std::string& path) {
    if (file_is_link(path))
      fail({Code::pass, {path, 0, 0, {}}, "a link to another file", {"put the file itself into the folder"}});
  };
  for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
    refuse_link(module_path(folder_, std::string_view(name).substr(0, dot)));
  refuse_link(module_path(folder_, name));
  refuse_link(file_of(name));
}

namespace {

// What is imported is a name of the package that it lies in.
void bind_module(PassModule& package, const PassModule& module) {
  Binding b;
  b.kind = Binding::Kind::module;
  b.target = &module;
  package.names.try_emplace(last_of(module.name), b);
}

}  // namespace

const PassModule& ModuleLoader::load(const std::string& name) { return load_module(name); }

// The packages above a module are read before it, and it becomes a name of the one that it lies in.
PassModule& ModuleLoader::load_module(const std::string& name) {
  const auto known = [&] {
    const auto it = modules_.find(name);
    return it == modules_.end() ? nullptr : it->second.get();
  };
  if (PassModule* module = known()) return *module;
  if (name.empty()) {
    auto root =
        std::make_unique<PassModule>(PassModule{{}, py::parse(folder_, "").take(), {}, {}, {}, false, {}, {}, true});
    return *(modules_[name] = std::move(root));
  }
  constexpr std::size_t kDepth = 32, kCount = 400;
  if (!is_file_name(name))
    fail({Code::pass,
          {folder_, 0, 0, {}},
          fmt::format("'{}' is no name of a pass file", name.substr(0, 80)),
          {"names are letters, digits, '_' and '-'"}});
  if (loading_.size() >= kDepth || modules_.size() >= kCount)
    fail({Code::limit, {folder_, 0, 0, {}}, "too many modules import one another", {}});
  const std::string_view parent = parent_of(name);
  if (parent.empty()) return load_file(name);
  PassModule& package = load_module(std::string(parent));
  if (PassModule* module = known()) return *module;  // the package's __init__.py imports it
  PassModule& module = load_file(name);
  bind_module(package, module);
  return module;
}

PassModule& ModuleLoader::load_file(const std::string& name) {
  refuse_links(name);
  const std::string file = file_of(name);
  const bool is_package = has_package(name) && (file.ends_with("/__init__.py") || !has_file(name));
  std::string source;
  if (sources_ && has_file(name))
    source = sources_->at(name);
  else if (has_file(name) || !has_package(name))
    source = file_read(file, kPassFileLimit).take();
  auto module = std::make_unique<PassModule>(
      PassModule{name, py::parse(file, std::move(source)).take(), {}, {}, {}, false, {}, {}, is_package});
  PassModule& kept = *(modules_[name] = std::move(module));
  loading_.push_back(name);
  for (const py::Stmt* s : kept.syntax.body()) bind(kept, *s);
  loading_.pop_back();
  for (const py::Stmt* s : kept.syntax.body())
    if (s->kind == py::StmtKind::function) load_inner_imports(kept, s->body);
  return kept;
}

namespace {

// Whether x.y.z, read outside of calls, names what a module outside has not.
bool lacks_attribute(const PassModule& module, const py::Expr& e) {
  if (e.kind != py::ExprKind::attribute) return false;
  const std::string head = resolve_path(module, *e.items[0]);
  return head.empty() ? lacks_attribute(module, *e.items[0]) : !path_has(head, e.text);
}

}  // namespace

// Of a statement in a try: what it needs and is not there.
ModuleLoader::Missing ModuleLoader::missing_in(const PassModule& module, const py::Stmt& s) const {
  const auto absent = [&](std::string_view path) { return !local_module(module, s, path) && !is_installed(path); };
  if (s.kind == py::StmtKind::assign || s.kind == py::StmtKind::expression)
    return s.value != nullptr && lacks_attribute(module, *s.value) ? Missing::attribute : Missing::nothing;
  if (s.level > 0) return Missing::nothing;
  if (s.kind == py::StmtKind::import)
    return std::any_of(s.aliases.begin(), s.aliases.end(), [&](const py::Alias& a) { return absent(a.name); })
               ? Missing::module
               : Missing::nothing;
  if (s.kind != py::StmtKind::import_from) return Missing::nothing;
  if (absent(s.name)) return Missing::module;
  return !local_module(module, s, s.name) &&
                 std::any_of(s.aliases.begin(), s.aliases.end(),
                             [&](const py::Alias& a) { return a.name != "*" && !path_has(s.name, a.name); })
             ? Missing::name
             : Missing::nothing;
}

void ModuleLoader::bind(PassModule& module, const py::Stmt& s) {
  using K = py::StmtKind;
  switch (s.kind) {
    case K::import: return bind_import(module, s);
    case K::import_from: return bind_import_from(module, s);
    case K::function:
    case K::class_: {
      Binding b;
      b.owner = &module;
      b.name = s.name;
      b.statement = &s;
      b.kind = s.kind == K::class_    ? Binding::Kind::klass
               : is_kernel(module, s) ? Binding::Kind::kernel
                                      : Binding::Kind::function;
      bind_name(module, s.name, b);
      module.top_level.push_back(&s);
      if (has_own_decorator(module, s)) module.top_level_runs = true;  // @register("name")
      return;
    }
    case K::assign:
    case K::annotated:
      if (s.value != nullptr) bind_targets(module, s);
      return;
    case K::augmented:
      if (s.targets[0]->kind == py::ExprKind::attribute) refuse_patch(module, s);
      [[fallthrough]];
    case K::for_:
    case K::while_:
      module.top_level.push_back(&s);
      module.top_level_runs = true;
      return;
    case K::expression:
      if (does_nothing(module, s)) return;
      module.top_level.push_back(&s);
      module.top_level_runs = true;
      return;
    case K::try_: return bind_try(module, s);
    case K::if_: {
      if (is_main_block(s) || does_nothing(module, s)) return;
      const auto holds = evaluate_condition(module, *s.value);
      if (!holds)
        refuse(module, s.place, "a condition at module level that cannot be decided here", holds.error().message);
      for (const py::Stmt* inner : *holds ? s.body : s.orelse) bind(module, *inner);
      return;
    }
    case K::pass:
    case K::delete_:
    case K::assert_: return;
    default:
      refuse(module, s.place, "this statement is not supported at module level of a pass file",
             "a pass file holds imports, constants, functions and kernels");
  }
}

// Optional imports: the first arm counts, unless something that it needs is missing. What else may raise shows when the
// statement runs, which then binds its names.
void ModuleLoader::bind_try(PassModule& module, const py::Stmt& s) {
  const std::size_t before = module.top_level.size();
  std::span<const py::Stmt* const> rest = s.orelse;
  try {
    for (const py::Stmt* inner : s.body) {
      const Missing what = missing_in(module, *inner);
      const auto handler =
          std::find_if(s.handlers.begin(), s.handlers.end(), [what](const py::Handler& h) { return catches(h, what); });
      if (what != Missing::nothing && handler != s.handlers.end()) {
        rest = handler->body;
        break;
      }
      bind(module, *inner);
    }
    for (const py::Stmt* inner : rest) bind(module, *inner);
    for (const py::Stmt* inner : s.final_body) bind(module, *inner);
  } catch (const Failure& failure) {
    if (failure.error.code != Code::pass || s.handlers.empty()) throw;
    for (const py::Stmt* inner : s.handlers[0].body)
      if (inner->kind == py::StmtKind::raise)
        throw;
      else
        bind(module, *inner);
  }
  const bool computes = std::any_of(s.body.begin(), s.body.end(), [](const py::Stmt* inner) {
    return inner->kind != py::StmtKind::import && inner->kind != py::StmtKind::import_from &&
           inner->kind != py::StmtKind::function && inner->kind != py::StmtKind::class_;
  });
  if (!computes || imports_files(module, s)) return;
  module.top_level.resize(before);
  module.top_level.push_back(&s);
  module.top_level_runs = true;
}

// Whether a statement imports files of the folder, which are bound and not run.
bool ModuleLoader::imports_files(const PassModule& module, const py::Stmt& s) const {
  const auto any = [&](std::span<const py::Stmt* const> body) {
    return std::any_of(body.begin(), body.end(), [&](const py::Stmt* inner) { return imports_files(module, *inner); });
  };
  if (s.kind == py::StmtKind::import_from) return local_module(module, s, s.name).has_value();
  if (s.kind == py::StmtKind::import)
    return std::any_of(s.aliases.begin(), s.aliases.end(),
                       [&](const py::Alias& a) { return local_module(module, s, a.name).has_value(); });
  return any(s.body) || any(s.orelse) || any(s.final_body) ||
         std::any_of(s.handlers.begin(), s.handlers.end(), [&](const py::Handler& h) { return any(h.body); });
}

// What is bound again means the earlier until then: the statements run in their order.
void ModuleLoader::bind_name(PassModule& module, std::string_view name, Binding b) {
  if (const Binding* known = module.find(name)) {
    module.top_level_runs = true;
    b.before = std::make_shared<const Binding>(*known);
  }
  module.names[name] = std::move(b);
}

void ModuleLoader::bind_targets(PassModule& module, const py::Stmt& s) {
  module.top_level.push_back(&s);
  if (const py::Expr* root = s.value->kind == py::ExprKind::call ? root_name(*s.value) : nullptr)
    if (const Binding* made = module.find(root->text); made != nullptr && makes_object(*s.value, *made))
      module.top_level_runs = true;
  find_jitted(module, *s.value);
  Binding b;
  b.kind = Binding::Kind::expression;
  b.owner = &module;
  b.value = s.value;
  b.statement = &s;
  for (const py::Expr* t : s.targets) {
    b.unpack = Binding::kWhole;
    if (t->kind == py::ExprKind::name) {
      b.name = t->text;
      bind_name(module, t->text, b);
    } else if (t->kind == py::ExprKind::tuple || t->kind == py::ExprKind::list) {
      for (std::size_t i = 0; i < t->items.size(); ++i) {
        if (t->items[i]->kind != py::ExprKind::name)
          refuse(module, s.place, "a module-level assignment binds names only");
        b.unpack = i;
        b.name = t->items[i]->text;
        bind_name(module, b.name, b);
      }
    } else if (find_setting_target(module, *t) == nullptr) {
      const bool part = t->kind == py::ExprKind::subscript || t->kind == py::ExprKind::attribute;
      const py::Expr* root = part ? root_name(*t->items[0]) : nullptr;
      const Binding* own = root == nullptr ? nullptr : module.find(root->text);
      const bool table =
          own != nullptr && (own->kind == Binding::Kind::expression || own->kind == Binding::Kind::klass);
      if (!table || !resolve_path(module, *t->items[0]).empty()) refuse_patch(module, s);
      module.top_level_runs = true;  // TABLE["key"] = value, CONFIG.block = 128
    }
  }
}

// Files of the folder that functions import when they run. These may import in a circle, as in Python.
void ModuleLoader::load_inner_imports(PassModule& module, std::span<const py::Stmt* const> body) {
  for (const py::Stmt* s : body) {
    const auto add = [&](std::string_view path) -> PassModule* {
      const auto name = local_module(module, *s, path);
      if (!name) return nullptr;
      if (!name->empty()) require_file(module, s->place, *name);
      PassModule& file = load_module(*name);
      module.files[*name] = &file;
      return &file;
    };
    if (s->kind == py::StmtKind::import) {
      for (const py::Alias& a : s->aliases)
        if (add(a.name) != nullptr && a.as.empty()) {  // `import pass_dir.x` binds pass_dir, of which x is a name
          const std::string name = local_name(module, *s, first_of(a.name));
          PassModule& first = load_module(name);
          member(first, second_of(a.name));
          module.files[name] = &first;
        }
    } else if (s->kind == py::StmtKind::import_from) {
      if (PassModule* from = add(s->name))
        for (const py::Alias& a : s->aliases)
          if (member(*from, a.name) == nullptr && from->name.empty())
            require_file(module, s->place, std::string(a.name));
    } else {
      for (const auto& part : {s->body, s->orelse, s->final_body}) load_inner_imports(module, part);
      for (const py::Handler& h : s->handlers) load_inner_imports(module, h.body);
    }
  }
}

void ModuleLoader::require_file(const PassModule& module, py::Place place, const std::string& name) const {
  if (name.starts_with('.'))
    refuse(module, place, fmt::format("'{}' leads out of the pass folder", name.substr(0, 80)),
           "one dot is the package that the file lies in, each further dot the one above");
  if (!is_file_name(name))
    refuse(module, place, fmt::format("'{}' is no file of the pass folder", name.substr(0, 80)),
           "names are letters, digits, '_' and '-'");
  if (!has_module(name))
    refuse(module, place, fmt::format("no file '{}.py' in the pass folder", module_path({}, name)));
}

bool ModuleLoader::is_loading(const std::string& name) const {
  return std::find(loading_.begin(), loading_.end(), name) != loading_.end();
}

// At module level: a module may still be read, a package whose __init__.py imports this one.
PassModule& ModuleLoader::import(const PassModule& module, py::Place place, const std::string& name) {
  if (!name.empty()) require_file(module, place, name);
  PassModule& other = load_module(name);
  if (is_loading(name) && !other.package) {
    std::vector<std::string> cycle(std::find(loading_.begin(), loading_.end(), name), loading_.end());
    cycle.push_back(name);
    refuse(module, place, fmt::format("modules import each other in a cycle: {}", text_join(cycle, " -> ")),
           "move what both need into a third file");
  }
  return other;
}

// A name of a module: what the file binds or, of a package, one of its modules.
const Binding* ModuleLoader::member(PassModule& module, std::string_view name) {
  if (const Binding* found = module.find(name)) return found;
  const std::string below = dotted(module.name, name);
  if (name.empty() || !module.package || !is_file_name(below)) return nullptr;
  if (has_module(below)) {
    bind_module(module, load_module(below));
    return module.find(name);
  }
  if (!module.name.empty() || !has_file("__init__")) return nullptr;
  const PassModule& init = load_module("__init__");  // of the folder itself: read only for a name that is no file's
  const auto given = init.names.find(name);
  return given == init.names.end() ? nullptr : &module.names.try_emplace(given->first, given->second).first->second;
}

void ModuleLoader::bind_import(PassModule& module, const py::Stmt& s) {
  for (const py::Alias& alias : s.aliases) {
    Binding b;
    const std::string_view as = alias.as.empty() ? first_of(alias.name) : alias.as;
    if (const auto local = local_module(module, s, alias.name)) {
      b.kind = Binding::Kind::module;
      b.target = &import(module, s.place, *local);
      if (alias.as.empty()) {  // `import pass_dir.x` binds pass_dir, of which x is a name
        PassModule& first = load_module(local_name(module, s, as));
        member(first, second_of(alias.name));
        b.target = &first;
      }
    } else {
      b.path = std::string(alias.as.empty() ? as : alias.name);
    }
    module.names[as] = b;
  }
}

void ModuleLoader::bind_import_from(PassModule& module, const py::Stmt& s) {
  const auto local = local_module(module, s, s.name);
  for (const py::Alias& alias : s.aliases) {
    const std::string_view as = alias.as.empty() ? alias.name : alias.as;
    if (!local) {
      if (alias.name == "*") {
        module.star_imports.emplace_back(s.name);
        continue;
      }
      Binding b;
      b.path = std::string(s.name) + "." + std::string(alias.name);
      module.names[as] = b;
      continue;
    }
    PassModule& other = import(module, s.place, *local);
    if (alias.name == "*") {
      for (const auto& [name, binding] : other.names)
        if (!name.starts_with('_')) module.names[name] = binding;
      continue;
    }
    const Binding* found = member(other, alias.name);
    if (found == nullptr && local->empty()) require_file(module, s.place, std::string(alias.name));
    if (found == nullptr) refuse(module, alias.place, fmt::format("'{}' has no '{}'", *local, alias.name));
    if (found->kind == Binding::Kind::module) import(module, s.place, found->target->name);  // no cycle
    module.names[as] = *found;
  }
}

}  // namespace passnet
