#include "pass/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/file.h"
#include "base/json.h"
#include "fx/builder.h"
#include "py/printer.h"

namespace passnet {

namespace {

[[noreturn]] void refuse(const std::string& file, std::string message, std::string note = {}) {
  Error e{Code::pass, {file, 0, 0, {}}, std::move(message), {}};
  if (!note.empty()) e.notes.push_back(std::move(note));
  fail(std::move(e));
}

bool is_pass_name(std::string_view name) {
  return !name.empty() && name.size() < 200 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::vector<std::string> read_order(const std::string& folder, const char* file_name) {
  const std::string file = folder + "/" + file_name;
  if (!file_exists(file))
    refuse(
        file, "no order file",
        fmt::format("a pass folder holds {}: a JSON array of the pass files' stems, in the order to apply", file_name));
  if (file_is_link(file)) refuse(file, "a link to another file", "put the file itself into the folder");
  const std::string text = file_read(file, std::size_t{1} << 20).take();
  const auto json = json_read(text);
  if (json.is_discarded() || !json.is_array())
    refuse(file, "not a JSON array of pass names", "for example [\"FuseReluAdd\", \"FuseSoftmax\"]");
  std::vector<std::string> out;
  for (const auto& item : json) {
    if (!item.is_string())
      refuse(file, "a pass name that is no string", "names are file stems: \"FuseReluAdd\" for FuseReluAdd.py");
    std::string name = item.get<std::string>();
    if (name.ends_with(".py")) name.resize(name.size() - 3);
    if (!is_pass_name(name))
      refuse(file, fmt::format("'{}' is no name of a pass file", name.substr(0, 80)),
             "names are letters, digits, '_' and '-'");
    if (std::find(out.begin(), out.end(), name) != out.end()) refuse(file, fmt::format("'{}' is listed twice", name));
    if (!file_exists(fmt::format("{}/{}.py", folder, name)) && file_name == kOutputOrder)
      refuse(file, fmt::format("'{}' is listed, but there is no '{}.py'", name, name));
    out.push_back(std::move(name));
  }
  return out;
}

// One of the three functions of a pass: a def, or whatever its name stands for.
HostValue required_function(HostProgram& program, const PassModule& module, std::string_view name) {
  using Kind = HostValue::Kind;
  const auto missing = [&] {
    refuse(module.syntax.file(), fmt::format("no function '{}'", name),
           "a pass file has pattern, replacement_args and replacement_func");
  };
  if (module.find(name) == nullptr) missing();
  HostValue v = program.value(name).take();
  if (v.is(Kind::function) || v.is(Kind::partial)) return v;
  const Binding& b = *module.find(name);
  if (b.statement == nullptr || b.owner == nullptr) missing();
  fail({Code::pass,
        b.owner->syntax.where(b.statement->place),
        fmt::format("'{}' is of type {}, no function", name, host_type_name(v)),
        {fmt::format("write def {}(...): a pass file has pattern, replacement_args and replacement_func", name)}});
}

// A host value as a graph's literal; opaque arguments become references to placeholders.
Value to_value(const HostValue& v, const PassModule& module, py::Place place, std::size_t& leaves, int depth = 0) {
  using Kind = HostValue::Kind;
  constexpr std::size_t kMost = 20'000;
  if (++leaves > kMost || depth > kDeepestLists)
    fail({Code::limit, module.syntax.where(place), "a list has too many items, or is nested too deeply", {}});
  switch (v.kind) {
    case Kind::none: return Value::none();
    case Kind::boolean: return Value::boolean(v.integer != 0);
    case Kind::integer:
      if (const auto fitted = v.integer.i64()) return Value::of(*fitted);
      fail({Code::unsupported,
            module.syntax.where(place),
            fmt::format("{} in a graph, whose integers have 64 bits", v.integer.text()),
            {}});
    case Kind::real: return Value::of(v.real);
    case Kind::string: return Value::string(v.text);
    case Kind::opaque: return Value::ref(static_cast<NodeId>(v.integer.clamped()));
    case Kind::dtype: return Value::constant(fmt::format("torch.{}", dtype_row(v.dtype).name));
    case Kind::path: return Value::constant(v.text);
    case Kind::tuple:
    case Kind::list: {
      std::vector<Value> items;
      for (const HostValue& item : v.items->values) items.push_back(to_value(item, module, place, leaves, depth + 1));
      return Value::sequence(v.is(Kind::tuple) ? ValueKind::tuple : ValueKind::list, std::move(items));
    }
    default:
      fail({Code::pass,
            module.syntax.where(place),
            fmt::format("a {} where a tensor, a number or a string is needed", host_type_name(v)),
            {}});
  }
}

Value to_value(const HostValue& v, const PassModule& module, py::Place place) {
  std::size_t leaves = 0;
  return to_value(v, module, place, leaves);
}

// And back: numbers, strings and tuples of them.
HostValue to_host(const Value& v) {
  switch (v.kind) {
    case ValueKind::boolean: return HostValue::boolean(v.integer != 0);
    case ValueKind::integer: return HostValue::of(v.integer);
    case ValueKind::real: return HostValue::of(v.real);
    case ValueKind::string: return HostValue::string(v.text);
    case ValueKind::tuple: {
      std::vector<HostValue> items;
      for (const Value& item : v.items) items.push_back(to_host(item));
      return HostValue::sequence(HostValue::Kind::tuple, std::move(items));
    }
    default: return {};
  }
}

FunctionSyntax syntax_of(const HostFunction& f) {
  return f.lambda != nullptr ? FunctionSyntax(*f.lambda) : FunctionSyntax(*f.statement);
}

// What the names of a pattern, or of a function it calls, mean.
class PatternReader {
 public:
  explicit PatternReader(HostLimits limits) : limits_(limits) {}

  Graph read(const HostFunction& pattern) {
    const FunctionSyntax syntax = syntax_of(pattern);
    BuildOptions with = options(*pattern.module, syntax);
    ImportScope names = scope(*pattern.module, syntax);
    for (HostScope* s = pattern.closure.get(); s != nullptr; s = s->parent.get())
      for (const auto& [name, value] : s->names()) {
        names.set(name, {});  // hides an import of that name
        if (value.is(HostValue::Kind::function) && !value.function->closure) made_with_[name] = value.function;
        if (const auto literal = guarded([&] { return to_value(value, *pattern.module, syntax.place); }))
          with.given.insert(with.given.begin(), {name, *literal});
      }
    with.function = [this, next = with.function](const py::Expr& callee) -> const InlinedFunction* {
      const auto it = callee.kind == py::ExprKind::name ? made_with_.find(callee.text) : made_with_.end();
      return it == made_with_.end() ? next(callee) : inlined(*it->second->module, *it->second->statement);
    };
    return build_graph(pattern.module->syntax, syntax, names, std::move(with)).take();
  }
  // The functions that were read beside the pattern itself.
  std::vector<const py::Stmt*> functions() const {
    std::vector<const py::Stmt*> out;
    for (const auto& [statement, inlined] : inlined_) out.push_back(statement);
    return out;
  }

 private:
  static ImportScope scope(const PassModule& module, const FunctionSyntax& function) {
    ImportScope out;
    for (const auto& [name, b] : module.names) {
      if (b.kind == Binding::Kind::path) out.set(name, b.path);
      if (b.kind == Binding::Kind::expression && b.unpack == Binding::kWhole)
        if (std::string path = resolve_path(*b.owner, *b.value); !path.empty() && !dtype_from_name(path))
          out.set(name, std::move(path));  // F = torch.nn.functional
    }
    for (const py::Stmt* s : function.body) out.add(*s);
    return out;
  }

  BuildOptions options(const PassModule& module, const FunctionSyntax& function) {
    BuildOptions out;
    out.skip_self = false;
    out.inner_imports = true;
    out.evaluate = [this, &module](const py::Expr& e,
                                   const BuildOptions::Variables& variables) -> std::optional<Value> {
      using Kind = HostValue::Kind;
      if (!resolve_path(module, e).empty()) return std::nullopt;  // torch.float32 and the like: the builder's
      std::vector<std::pair<std::string_view, HostValue>> known;
      for (const auto& [name, value] : variables) known.emplace_back(name, to_host(value));
      const auto v = evaluate_expression(module, e, limits_, std::move(known));
      if (!v || !(v->is_number() || v->is(Kind::string) || v->is(Kind::tuple) || v->is(Kind::list)))
        return std::nullopt;
      const auto literal = guarded([&] { return to_value(*v, module, e.place); });  // not a tuple of tensors
      return literal ? std::optional(*literal) : std::nullopt;
    };
    out.constant = [this, &module, place = function.place](std::string_view name) -> std::optional<Value> {
      if (module.find(name) == nullptr || module.find(name)->kind != Binding::Kind::expression) return std::nullopt;
      return to_value(evaluate_constant(module, name, limits_).take(), module, place);
    };
    out.function = [this, &module](const py::Expr& callee) -> const InlinedFunction* {
      const Binding* b = find(module, callee);
      return b == nullptr ? nullptr : inlined(*b->owner, *b->statement);
    };
    return out;
  }

  const InlinedFunction* inlined(const PassModule& owner, const py::Stmt& function) {
    auto& known = inlined_[&function];
    if (!known) {
      known = std::make_unique<InlinedFunction>();
      known->module = &owner.syntax;
      known->syntax = function;
      known->scope = scope(owner, function);
      known->options = options(owner, function);
    }
    return known.get();
  }

  // A function of the folder that is not wrapped: tracing goes through it.
  static const Binding* find(const PassModule& module, const py::Expr& callee) {
    const Binding* b = nullptr;
    if (callee.kind == py::ExprKind::name) {
      b = module.find(callee.text);
    } else if (callee.kind == py::ExprKind::attribute && callee.items[0]->kind == py::ExprKind::name) {
      const Binding* owner = module.find(callee.items[0]->text);
      if (owner != nullptr && owner->kind == Binding::Kind::module) b = owner->target->find(callee.text);
    }
    return b != nullptr && b->kind == Binding::Kind::function && b->statement->decorators.empty() ? b : nullptr;
  }

  HostLimits limits_;
  std::unordered_map<const py::Stmt*, std::unique_ptr<InlinedFunction>> inlined_;
  std::unordered_map<std::string_view, std::shared_ptr<HostFunction>> made_with_;  // functions the pattern closes over
};

HostValue pattern_of(HostProgram& program, const PassModule& module) {
  HostValue v = required_function(program, module, "pattern");
  if (!v.is(HostValue::Kind::function))
    refuse(module.syntax.file(), fmt::format("pattern is a {}", host_type_name(v)), "write it as a function");
  return v;
}

Pass read_pass(ModuleLoader& loader, const std::string& name, HostLimits limits) {
  Pass pass;
  pass.name = name;
  const PassModule& module = loader.load(name);
  pass.module = &module;
  HostProgram program(module, limits);
  const HostValue pattern = pattern_of(program, module);
  const HostValue args = required_function(program, module, "replacement_args");
  required_function(program, module, "replacement_func");
  PatternReader reader(limits);
  pass.pattern = reader.read(*pattern.function);
  pass.pattern_functions = reader.functions();
  const HostFunction& f = *pattern.function;
  const Binding* b = f.lambda == nullptr ? f.module->find(f.statement->name) : nullptr;
  const bool shared = b != nullptr && b->statement == f.statement && b->name != "pattern";  // pattern = other
  if (shared)
    pass.pattern_functions.push_back(f.statement);
  else
    pass.pattern_syntax = f.lambda != nullptr ? static_cast<const void*>(f.lambda) : f.statement;
  const std::size_t placeholders = pass.pattern.placeholder_count();

  const HostValue given = program.call_opaque(args, placeholders).take();
  const bool many = given.is(HostValue::Kind::tuple) || given.is(HostValue::Kind::list);
  const Value values = to_value(given, module, module.find("replacement_args")->statement->place);
  if (many)
    pass.replacement_args = values.items;
  else
    pass.replacement_args.push_back(values);

  pass.wrapper = program.wrapper().take();
  return pass;
}

// By these a function may be called whose name stands nowhere.
constexpr std::string_view kByAnyName[] = {"getattr",    "globals",     "locals",        "vars",     "eval",
                                           "exec",       "__import__",  "import_module", "__dict__", "__getattribute__",
                                           "attrgetter", "methodcaller"};

// Of a torch.autograd.Function: what only gradients call, which there are none of.
bool is_for_gradients(const PassModule& module, const py::Stmt& klass, const py::Stmt& method) {
  constexpr std::string_view kNames[] = {"backward", "jvp", "vmap"};
  const auto derives = [&](const py::Expr* base) { return resolve_path(module, *base) == "torch.autograd.Function"; };
  return klass.kind == py::StmtKind::class_ && method.kind == py::StmtKind::function &&
         std::find(std::begin(kNames), std::end(kNames), method.name) != std::end(kNames) &&
         std::any_of(klass.targets.begin(), klass.targets.end(), derives);
}

// The functions that nothing of the folder that runs names, so that no wrapper can call them: what only patterns use,
// and what is there to be read or for a test. What is decorated runs.
std::vector<const py::Stmt*> never_called(const ModuleLoader& loader, const std::vector<Pass>& passes) {
  using K = py::StmtKind;
  std::unordered_set<const py::Stmt*> open;  // whom nothing reachable has named yet
  for (const Pass& pass : passes) open.insert(pass.pattern_functions.begin(), pass.pattern_functions.end());
  std::unordered_set<const py::Stmt*> plain;
  for (const auto& [file, module] : loader.modules())
    for (const py::Stmt* s : module->syntax.body())
      if (s->kind == K::function && s->decorators.empty() && !is_kernel(*module, *s) && s->name != "pattern" &&
          s->name != "replacement_args" && s->name != "replacement_func" && open.insert(s).second)
        plain.insert(s);
  for (const auto& [file, module] : loader.modules())
    for (const py::Stmt* s : module->syntax.body())
      for (const py::Stmt* method : s->body)
        if (is_for_gradients(*module, *s, *method) && open.insert(method).second) plain.insert(method);
  std::vector<const py::Stmt*> reached;
  std::unordered_multimap<std::string_view, std::string_view> other_names;  // from file import name as other
  for (const auto& [file, module] : loader.modules())
    for (const py::Stmt* s : module->syntax.body()) {
      for (const py::Alias& a : s->aliases)
        if (!a.as.empty()) other_names.emplace(a.as, a.name);
      const bool import = s->kind == K::import || s->kind == K::import_from;
      const bool alias = s->kind == K::assign && s->targets.size() == 1 && s->targets[0]->kind == py::ExprKind::name &&
                         s->targets[0]->text == "pattern";
      if (!import && !alias && s->name != "pattern" && !is_main_block(*s) && !open.contains(s)) reached.push_back(s);
    }
  std::unordered_multimap<std::string_view, const py::Stmt*> by_name;
  for (const py::Stmt* s : open) by_name.emplace(s->name, s);
  const auto reach = [&](std::string_view name) {
    const auto [begin, end] = by_name.equal_range(name);
    for (auto it = begin; it != end; ++it)
      if (open.erase(it->second) > 0) reached.push_back(it->second);
  };
  const auto reach_plain = [&] {
    for (const py::Stmt* s : plain)
      if (open.erase(s) > 0) reached.push_back(s);
  };
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const std::string_view name : mentioned_names(*reached[i])) {
      reach(name);
      if (std::find(std::begin(kByAnyName), std::end(kByAnyName), name) != std::end(kByAnyName)) reach_plain();
      const auto [begin, end] = other_names.equal_range(name);
      for (auto it = begin; it != end; ++it) reach(it->second);
    }
  return {open.begin(), open.end()};
}

void check_modules(const ModuleLoader& loader, bool open_policy, PassFolder& folder) {
  const std::vector<Pass>& passes = folder.passes;
  const std::vector<const py::Stmt*> only = never_called(loader, passes);
  std::vector<const void*> apart(only.begin(), only.end());
  for (const Pass& pass : passes) apart.push_back(pass.pattern_syntax);
  OwnNames own_names;
  for (const auto& [name, module] : loader.modules()) add_own_names(*module, module->syntax.body(), own_names);
  std::vector<SettingUse> settings;
  for (const auto& [name, module] : loader.modules()) {
    const auto violations = check_policy(*module, apart, own_names, &settings);
    if (open_policy) continue;
    const auto worst = std::find_if(violations.begin(), violations.end(),
                                    [](const PolicyViolation& v) { return v.error.code == Code::integrity; });
    if (!violations.empty()) fail((worst != violations.end() ? *worst : violations[0]).error);
  }
  for (std::string& note : setting_notes(settings)) folder.settings.push_back(std::move(note));
}

void limit_wrappers(PassFolder& folder, const LoadOptions& options) {
  if (options.replacement_func_limit == 0) return;
  std::vector<const void*> wrappers;
  std::erase_if(folder.passes, [&](const Pass& pass) {
    if (pass.given) return false;
    if (std::find(wrappers.begin(), wrappers.end(), pass.wrapper.held_by) != wrappers.end()) return false;
    if (wrappers.size() < options.replacement_func_limit) {
      wrappers.push_back(pass.wrapper.held_by);
      return false;
    }
    folder.dropped.push_back(fmt::format("pass '{}' is over the limit of {} replacement function{}", pass.name,
                                         options.replacement_func_limit,
                                         options.replacement_func_limit == 1 ? "" : "s"));
    return true;
  });
}

// The names to apply: the output folder's, or with input passes theirs in the (permuted) order, each overridden by
// name.
struct Planned {
  std::string name;
  bool from_output = true;
};
std::vector<Planned> planned_order(const std::string& path, const LoadOptions& options) {
  const std::vector<std::string> output = read_order(path, kOutputOrder);
  std::vector<Planned> out;
  if (!options.input_folder.empty()) {
    std::vector<std::string> input = read_order(options.input_folder, kOutputOrder);
    if (const std::string permuted_file = path + "/" + kInputOrder; file_exists(permuted_file)) {
      std::vector<std::string> permuted = read_order(path, kInputOrder), a = input, b = permuted;
      std::sort(a.begin(), a.end());
      std::sort(b.begin(), b.end());
      if (a != b)
        refuse(permuted_file, "not a permutation of the input passes' names",
               fmt::format("they are: {}", text_join(input, ", ")));
      input = std::move(permuted);
    }
    for (const std::string& name : input)
      out.push_back({name, std::find(output.begin(), output.end(), name) != output.end()});
  }
  for (const std::string& name : output)
    if (std::none_of(out.begin(), out.end(), [&](const Planned& p) { return p.name == name; }))
      out.push_back({name, true});
  return out;
}

}  // namespace

Result<PassFolder> load_pass_folder(const std::string& path, const LoadOptions& options) {
  return guarded([&] {
    PassFolder out;
    out.path = path;
    out.loaders.push_back(std::make_unique<ModuleLoader>(path));
    if (!options.input_folder.empty()) out.loaders.push_back(std::make_unique<ModuleLoader>(options.input_folder));
    std::size_t taken = 0;
    for (const Planned& p : planned_order(path, options)) {
      if (p.from_output && ++taken > options.pattern_limit) {  // not even read
        out.dropped.push_back(fmt::format("pass '{}' is over the limit of {} pattern{}", p.name, options.pattern_limit,
                                          options.pattern_limit == 1 ? "" : "s"));
        continue;
      }
      out.passes.push_back(read_pass(*out.loaders[p.from_output ? 0 : 1], p.name, options.limits));
      out.passes.back().given = !p.from_output;
    }
    for (const auto& loader : out.loaders) check_modules(*loader, options.open_policy, out);
    limit_wrappers(out, options);
    return out;
  });
}

namespace {

// The folder and the stem of a pass file's path.
std::pair<std::string, std::string> split_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  std::string name = path.substr(slash == std::string::npos ? 0 : slash + 1);
  if (name.ends_with(".py")) name.resize(name.size() - 3);
  return {slash == std::string::npos ? std::string() : path.substr(0, slash), std::move(name)};
}

}  // namespace

Result<Graph> load_pass_pattern(const std::string& path) {
  return guarded([&] {
    const auto [folder, name] = split_path(path);
    ModuleLoader loader(folder);
    const PassModule& module = loader.load(name);
    HostProgram program(module);
    return PatternReader({}).read(*pattern_of(program, module).function);
  });
}

namespace {

PassFolder load_one(std::unique_ptr<ModuleLoader> loader, const std::string& name, const LoadOptions& options) {
  PassFolder out;
  out.path = loader->folder();
  out.loaders.push_back(std::move(loader));
  out.passes.push_back(read_pass(*out.loaders[0], name, options.limits));
  check_modules(*out.loaders[0], options.open_policy, out);
  return out;
}

}  // namespace

Result<PassFolder> load_pass_sources(std::map<std::string, std::string> sources, const std::string& name,
                                     const LoadOptions& options) {
  return guarded([&] { return load_one(std::make_unique<ModuleLoader>(std::move(sources)), name, options); });
}

Result<PassFolder> load_pass_file(const std::string& path, const LoadOptions& options) {
  return guarded([&] {
    const auto [folder, name] = split_path(path);
    return load_one(std::make_unique<ModuleLoader>(folder), name, options);
  });
}

}  // namespace passnet
