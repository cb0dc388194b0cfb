#include "host/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "host/settings.h"
#include "ops/table.h"
#include "py/printer.h"

namespace passnet {

namespace {

constexpr std::string_view kAllocations[] = {"empty", "empty_like", "empty_strided", "empty_permuted",
                                             "zeros", "zeros_like", "ones",          "ones_like",
                                             "full",  "full_like",  "as_tensor",     "tensor"};
constexpr std::string_view kMetadata[] = {
    "shape",      "size",         "stride",    "numel",         "nelement",       "dim",
    "ndim",       "ndimension",   "dtype",     "device",        "is_contiguous",  "element_size",
    "is_cuda",    "itemsize",     "nbytes",    "requires_grad", "storage_offset", "is_floating_point",
    "get_device", "is_complex",   "is_signed", "is_same_size",  "dim_order",      "is_conj",
    "is_neg",     "is_inference", "is_pinned"};
constexpr std::string_view kViews[] = {"view",
                                       "reshape",
                                       "permute",
                                       "transpose",
                                       "expand",
                                       "unsqueeze",
                                       "squeeze",
                                       "flatten",
                                       "contiguous",
                                       "t",
                                       "T",
                                       "mT",
                                       "view_as",
                                       "reshape_as",
                                       "expand_as",
                                       "unflatten",
                                       "narrow",
                                       "select",
                                       "movedim",
                                       "moveaxis",
                                       "swapaxes",
                                       "swapdims",
                                       "broadcast_to",
                                       "detach",
                                       "to",
                                       "type_as",
                                       "cuda",
                                       "new_empty",
                                       "new_zeros",
                                       "new_ones",
                                       "new_full",
                                       "unbind",
                                       "chunk",
                                       "tensor_split",
                                       "split",
                                       "as_strided",
                                       "ravel",
                                       "type",
                                       "float",
                                       "half",
                                       "bfloat16",
                                       "int",
                                       "long",
                                       "double",
                                       "bool",
                                       "requires_grad_",
                                       "new_empty_strided",
                                       "unfold",
                                       "diagonal"};
// As functions of torch.
constexpr std::string_view kViewFunctions[] = {
    "reshape", "permute",  "transpose", "unsqueeze",    "squeeze",      "flatten", "ravel",     "t",
    "movedim", "moveaxis", "swapaxes",  "swapdims",     "narrow",       "select",  "unflatten", "as_strided",
    "split",   "chunk",    "unbind",    "broadcast_to", "tensor_split", "diagonal"};
// Methods and functions of torch that set every element to one number: of what a wrapper allocated (HostMachine::fill).
constexpr std::string_view kFills[] = {"zero_", "fill_"};
// What makes an operator of a function, or says something of one: here it stays the function (kernel) that it is.
constexpr std::string_view kLibrary[] = {"library.custom_op",     "library.triton_op",         "library.wrap_triton",
                                         "library.register_fake", "library.register_autograd", "library.register_vmap",
                                         "library.impl_abstract"};
// Other things of torch that are no computation.
constexpr std::string_view kHarmless[] = {"Size",
                                          "is_tensor",
                                          "dtype",
                                          "Tensor",
                                          "finfo",
                                          "iinfo",
                                          "numel",
                                          "is_floating_point",
                                          "is_complex",
                                          "is_same_size",
                                          "fx.wrap",
                                          "fx._symbolic_trace.wrap",
                                          "broadcast_shapes",
                                          "broadcast_tensors",
                                          "promote_types",
                                          "result_type",
                                          "get_default_dtype",
                                          "is_grad_enabled",
                                          "compiler.is_compiling",
                                          "jit.is_scripting",
                                          "_assert",
                                          "_check",
                                          "cuda.is_available",
                                          "cuda.current_device",
                                          "cuda.device_count",
                                          "cuda.get_device_capability",
                                          "cuda.get_device_name",
                                          "cuda.get_device_properties"};
// Contexts that change nothing here: one device, no gradients.
constexpr std::string_view kContexts[] = {"no_grad",
                                          "enable_grad",
                                          "inference_mode",
                                          "set_grad_enabled",
                                          "autograd.no_grad",
                                          "autograd.set_grad_enabled",
                                          "cuda.device",
                                          "cuda.device_of",
                                          "device",
                                          "cuda.nvtx.range",
                                          "autocast",
                                          "amp.autocast",
                                          "cuda.amp.autocast",
                                          "profiler.record_function",
                                          "autograd.grad_mode.no_grad",
                                          "autograd.profiler.record_function"};
constexpr std::string_view kDecorators[] = {"torch.fx.wrap",          "torch.fx._symbolic_trace.wrap",
                                            "torch.no_grad",          "torch.inference_mode",
                                            "torch.jit.ignore",       "torch.jit.unused",
                                            "torch.compiler.disable", "torch.compiler.allow_in_graph",
                                            "torch._dynamo.disable",  "torch._dynamo.allow_in_graph",
                                            "functools.lru_cache",    "functools.cache",
                                            "functools.wraps",        "functools.cached_property",
                                            "abc.abstractmethod",     "typing.no_type_check",
                                            "typing.overload",        "typing.override",
                                            "typing.final",           "contextlib.contextmanager",
                                            "builtins.staticmethod"};
// Names of methods that strings, lists, dicts and sets share with tensors: judged when the wrapper runs.
constexpr std::string_view kShared[] = {"split",  "index",  "count", "copy",   "sort",   "replace", "get",
                                        "items",  "values", "keys",  "format", "update", "pop",     "add",
                                        "insert", "remove", "clear", "union",  "find"};
constexpr std::string_view kOutside[] = {
    "os",         "sys",      "subprocess", "time",     "random",   "secrets",   "datetime",
    "socket",     "ssl",      "http",       "urllib",   "requests", "threading", "multiprocessing",
    "concurrent", "asyncio",  "signal",     "ctypes",   "cffi",     "mmap",      "pathlib",
    "shutil",     "tempfile", "glob",       "io",       "pickle",   "marshal",   "shelve",
    "sqlite3",    "builtins", "importlib",  "inspect",  "gc",       "atexit",    "weakref",
    "types",      "code",     "pdb",        "resource", "platform", "site",      "pkgutil",
    "runpy"};
// What else can be imported where torch and triton are, and the folder itself.
constexpr std::string_view kInstalled[] = {
    "torch",      "triton",      "numpy",       "math",        "typing",    "typing_extensions",
    "functools",  "itertools",   "collections", "dataclasses", "enum",      "operator",
    "contextlib", "contextvars", "abc",         "warnings",    "logging",   "copy",
    "copyreg",    "bisect",      "heapq",       "array",       "struct",    "string",
    "re",         "json",        "statistics",  "fractions",   "decimal",   "numbers",
    "cmath",      "textwrap",    "pprint",      "traceback",   "hashlib",   "uuid",
    "queue",      "argparse",    "fnmatch",     "unittest",    "dis",       "ast",
    "linecache",  "keyword",     "zlib",        "base64",      "binascii",  "csv",
    "errno",      "stat",        "sysconfig",   "timeit",      "cProfile",  "tracemalloc",
    "reprlib",    "graphlib",    "__future__",  "sympy",       "mpmath",    "networkx",
    "jinja2",     "markupsafe",  "fsspec",      "filelock",    "packaging", "setuptools",
    "pass_dir"};
constexpr std::string_view kOutsideHarmless[] = {"sys.path", "os.path", "os.getenv", "os.environ.get",
                                                 "sys.setrecursionlimit"};  // at module level
constexpr std::string_view kPathMethods[] = {"Path", "resolve", "absolute", "joinpath", "as_posix"};
constexpr std::string_view kForbidden[] = {"exec",   "eval",       "open",    "compile", "__import__", "globals",
                                           "locals", "vars",       "setattr", "delattr", "input",      "breakpoint",
                                           "id",     "memoryview", "object",  "exit",    "quit",       "help"};

template <std::size_t N>
bool has(const std::string_view (&list)[N], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

// Tensor.view(x, 4), called as a function.
bool unbound(std::string_view name) {
  if (!name.starts_with("Tensor.")) return false;
  const std::string_view method = name.substr(7);
  return has(kMetadata, method) || has(kViews, method) || has(kFills, method);
}

// torch.NAME, of those that compute nothing.
bool is_allowed(std::string_view name) {
  if (unbound(name)) return true;
  return has(kAllocations, name) || has(kHarmless, name) || has(kContexts, name) || has(kViewFunctions, name) ||
         has(kFills, name) || has(kLibrary, name);
}

constexpr std::string_view kComputed = "<computed name>";

// A function of torch that computes. torch.ops and torch._C hold nothing else. A computed name of torch itself may be a
// dtype's: the machine knows, when it is called.
bool is_torch_function(std::string_view path) {
  if (!path.starts_with("torch.")) return false;
  const std::string_view name = path.substr(6);
  if (is_allowed(name) || name == kComputed) return false;
  return name.starts_with("ops.") || name.starts_with("_C.") || path.ends_with(kComputed) || op_find(path);
}

// A walk over a function's syntax that knows which local names stand for something outside.
class PolicyCheck {
 public:
  PolicyCheck(const PassModule& module, std::span<const void* const> apart, const OwnNames& own_names)
      : module_(module), apart_(apart), own_names_(own_names) {}
  std::vector<PolicyViolation> found;
  std::vector<SettingUse> settings;

  void function(const py::Stmt& f) {
    if (is_apart(&f)) return;
    for (const py::Expr* d : f.decorators) decorator(*d);
    if (inside_) locals_[f.name] = {};
    const auto saved = locals_;
    const auto saved_parameters = parameters_;
    const bool saved_inside = std::exchange(inside_, true);
    for (const py::Parameter& p : f.parameters) {
      if (p.default_value != nullptr) expr(*p.default_value);
      locals_[p.name] = {};  // hides an import of that name
      parameters_.insert(p.name);
    }
    body(f.body);
    locals_ = saved;
    parameters_ = saved_parameters;
    inside_ = saved_inside;
  }

  void body(std::span<const py::Stmt* const> statements) {
    for (const py::Stmt* s : statements) statement(*s);
  }

  void statement(const py::Stmt& s) {
    using K = py::StmtKind;
    switch (s.kind) {
      case K::function:
        if (!is_kernel(module_, s)) function(s);
        return;
      case K::import:
      case K::import_from: return import(s);
      case K::assign:
      case K::annotated: return assignment(s);
      case K::augmented:
      case K::for_: target(*s.targets[0]); break;
      case K::delete_:
        for (const py::Expr* t : s.targets) target(*t);
        return;
      case K::assert_:
      case K::raise:
        if (s.annotation != nullptr) expr(*s.annotation);
        break;
      case K::with:
        for (const py::Expr* e : s.targets)
          if (e != nullptr) expr(*e);
        break;
      default: break;
    }
    if (s.value != nullptr) expr(*s.value);
    body(s.body);
    body(s.orelse);
    body(s.final_body);
    for (const py::Handler& h : s.handlers) body(h.body);
  }

  void expr(const py::Expr& e) {
    if (is_apart(&e)) return;
    if (e.kind == py::ExprKind::call) {
      call(e);
      for (const py::Expr* item : e.items.subspan(1)) expr(*item);
      if (e.items[0]->kind == py::ExprKind::attribute)
        expr(*e.items[0]->items[0]);
      else if (e.items[0]->kind != py::ExprKind::name)
        expr(*e.items[0]);
    } else if (e.kind == py::ExprKind::name || e.kind == py::ExprKind::attribute) {
      mention(e);
      if (e.kind == py::ExprKind::attribute) expr(*e.items[0]);
    } else {
      for (const py::Expr* item : e.items)
        if (item != nullptr) expr(*item);
    }
    for (const py::Keyword& k : e.keywords) expr(*k.value);
    for (const py::Clause& c : e.clauses()) {
      expr(*c.iterable);
      for (const py::Expr* condition : c.conditions) expr(*condition);
    }
    for (const py::Parameter& p : e.parameters())
      if (p.default_value != nullptr) expr(*p.default_value);
  }

 private:
  bool is_apart(const void* function) const {
    return std::find(apart_.begin(), apart_.end(), function) != apart_.end();
  }

  void refuse(Code code, py::Place place, std::string message, std::string note) {
    if (note == allowed_calls_note()) note += ", or run with --policy open";  // which leaves this check out
    found.push_back({{code, module_.syntax.where(place), std::move(message), {std::move(note)}}});
  }

  void assignment(const py::Stmt& s) {
    if (s.value == nullptr) return;
    // NAME = torch.nn.functional.relu at module level serves patterns; whoever uses the name elsewhere is told.
    const bool alias = s.targets.size() == 1 && s.targets[0]->kind == py::ExprKind::name &&
                       (s.value->kind == py::ExprKind::name || s.value->kind == py::ExprKind::attribute);
    if (inside_ || !alias) expr(*s.value);
    for (const py::Expr* t : s.targets) {
      target(*t);
      if (inside_ && t->kind == py::ExprKind::name) locals_[t->text] = path_of(*s.value);  // relu = torch.relu
    }
  }

  bool take_setting(const Setting* setting, std::string_view written) {
    if (setting == nullptr) return false;
    settings.push_back({setting->why, std::string(written.substr(0, 80))});
    return true;
  }

  // os.environ["NAME"] and os.environ.setdefault("NAME", ...) at module level.
  bool take_variable(std::string_view path, const py::Expr& key) {
    if (inside_ || path != "os.environ" || key.kind != py::ExprKind::string) return false;
    return take_setting(find_setting_variable(key.text), fmt::format("os.environ[\"{}\"]", key.text));
  }

  // torch.x.y = ... would patch torch for everyone.
  void target(const py::Expr& t) {
    if (t.kind == py::ExprKind::attribute && take_setting(find_setting(path_of(t)), path_of(t))) return;
    if (t.kind == py::ExprKind::subscript && take_variable(path_of(*t.items[0]), *t.items[1])) return;
    if (t.kind == py::ExprKind::subscript && !path_of(*t.items[0]).empty())
      refuse(Code::integrity, t.place, fmt::format("assignment to an item of '{}'", path_of(*t.items[0])),
             "a pass may not change anything outside itself");
    const py::Expr* object = t.kind == py::ExprKind::attribute ? t.items[0] : nullptr;
    const py::Expr* root = object;
    while (root != nullptr && (root->kind == py::ExprKind::attribute || root->kind == py::ExprKind::subscript))
      root = root->items[0];
    // What is a variable here may hold an object that this call made, or the module's statements; the machine knows.
    const bool own = root != nullptr && root->kind == py::ExprKind::name && path_of(*root).empty() &&
                     (!inside_ || locals_.contains(root->text) || module_.find(root->text) == nullptr);
    if (t.kind == py::ExprKind::attribute && !own) {
      const std::string path = path_of(t);
      refuse(Code::integrity, t.place, fmt::format("assignment to '{}'", path.empty() ? py::print(t) : path),
             "a pass may not change anything outside itself");
    }
    if (t.kind == py::ExprKind::tuple || t.kind == py::ExprKind::list)
      for (const py::Expr* item : t.items) target(*item);
  }

  void import(const py::Stmt& s) {
    for (const py::Alias& a : s.aliases) {
      const std::string path =
          s.kind == py::StmtKind::import ? std::string(a.name) : std::string(s.name) + "." + std::string(a.name);
      const std::string_view as = a.as.empty() ? a.name.substr(0, a.name.find('.')) : a.as;
      locals_[as] = s.kind == py::StmtKind::import && a.as.empty() ? std::string(as) : path;
      for (const std::string_view forbidden :
           {"torch.nn", "torch.ops", "torch.autograd", "torch._C", "torch._inductor", "torch._dynamo"})
        if (path == forbidden || path.starts_with(std::string(forbidden) + "."))
          refuse(Code::policy, s.place, fmt::format("import of '{}' inside a function", path), allowed_calls_note());
    }
  }

  void decorator(const py::Expr& d) {
    const py::Expr& callee = d.kind == py::ExprKind::call ? *d.items[0] : d;
    const std::string path = path_of(callee);
    if (has(kDecorators, path) || path.starts_with("triton.")) return;
    if (path.starts_with("torch.") && has(kLibrary, std::string_view(path).substr(6))) return;
    const bool python = callee.kind == py::ExprKind::name && module_.find(callee.text) == nullptr &&
                        (callee.text == "property" || callee.text == "staticmethod" || callee.text == "classmethod");
    const bool of_property = callee.kind == py::ExprKind::attribute &&
                             (callee.text == "setter" || callee.text == "getter" || callee.text == "deleter");
    if (python || (of_property && path.empty()) || is_own(callee)) return;
    refuse(path.starts_with("torch.") ? Code::policy : Code::pass, d.place,
           fmt::format("a function is decorated with '{}', which is not known to leave it as it is",
                       path.empty() ? py::print(callee) : path),
           "known are torch.fx.wrap, torch.no_grad, torch.library.custom_op and triton_op, functools.lru_cache, "
           "functools.cache, functions of the folder, and triton's for kernels");
  }

  // A function of the folder: its own body is checked where it stands.
  bool is_own(const py::Expr& e) const {
    const py::Expr* root = &e;
    while (root->kind == py::ExprKind::attribute) root = root->items[0];
    if (root->kind != py::ExprKind::name || !path_of(e).empty()) return false;
    const Binding* b = module_.find(root->text);
    return locals_.contains(root->text) || (b != nullptr && b->kind != Binding::Kind::path);
  }

  // What an expression stands for outside: through local names, imports, module constants and getattr.
  std::string path_of(const py::Expr& e) const {
    if (e.kind == py::ExprKind::name) {
      if (const auto it = locals_.find(e.text); it != locals_.end()) return it->second;
      if (std::string path = resolve_path(module_, e); !path.empty() || module_.find(e.text) != nullptr) return path;
      for (const std::string& star : module_.star_imports)
        if (star.starts_with("torch") && op_find(fmt::format("{}.{}", star, e.text)))
          return fmt::format("{}.{}", star, e.text);
      return {};
    }
    if (e.kind == py::ExprKind::attribute) {
      std::string head = path_of(*e.items[0]);
      return head.empty() ? head : head + "." + std::string(e.text);
    }
    if (e.kind == py::ExprKind::call)
      if (std::string made = path_of(*e.items[0]); made.starts_with("pathlib.Path")) return made;  // its own kind again
    if (e.kind == py::ExprKind::call && e.items.size() >= 3 && e.items[0]->kind == py::ExprKind::name &&
        e.items[0]->text == "getattr") {
      const std::string head = path_of(*e.items[1]);
      if (head.empty()) return {};
      return head + "." +
             std::string(e.items[2]->kind == py::ExprKind::string ? std::string_view(e.items[2]->text) : kComputed);
    }
    return {};
  }

  std::string described(const py::Expr& e, const std::string& path) const {
    const std::string written = py::print(e).substr(0, 80);
    return written == path ? fmt::format("'{}'", path) : fmt::format("'{}', which is {}", written, path);
  }

  // A function of torch need not be called where it is named: it may wait in a list, a dict or a default.
  void mention(const py::Expr& e) {
    const std::string path = path_of(e);
    if (is_torch_function(path)) refuse(Code::policy, e.place, "use of " + described(e, path), allowed_calls_note());
  }

  void call(const py::Expr& e) {
    const py::Expr& callee = *e.items[0];
    const std::string path = path_of(callee);
    if (take_setting(find_setting_call(path, !inside_), path + "()")) return;
    if (path == "os.environ.setdefault" && e.items.size() > 1 && take_variable("os.environ", *e.items[1])) return;
    if (path.starts_with("torch.") && !path.starts_with("torch.__version__.")) {
      const std::string_view name = std::string_view(path).substr(6);
      if (is_allowed(name)) return;
      if (name.starts_with("set_default_"))
        return refuse(Code::policy, e.place, "call of " + described(callee, path),
                      "say dtype= and device= where a tensor is made");
      const bool needless = name == "cuda.synchronize" || name == "cuda.current_stream" || name == "cuda.empty_cache";
      return refuse(
          Code::policy, e.place, "call of " + described(callee, path),
          needless ? "leave it out: launches run in their order, and the caller waits for them" : allowed_calls_note());
    }
    if (is_outside(path)) {
      const bool environment = path == "os.getenv" || path == "os.environ.get";  // an empty one: gives the default
      if (!environment && !is_package_query(path) && (inside_ || !is_outside_harmless(path)))
        refuse(Code::integrity, e.place, "call of " + described(callee, path),
               "a wrapper allocates, launches kernels and returns");
      return;
    }
    if (callee.kind == py::ExprKind::name && path.empty() && is_forbidden_builtin(callee.text) &&
        !locals_.contains(callee.text) && module_.find(callee.text) == nullptr)
      return refuse(Code::integrity, e.place, fmt::format("call of '{}'", callee.text),
                    "a wrapper allocates, launches kernels and returns");
    if (callee.kind == py::ExprKind::name && callee.text == "getattr" && is_torch_function(path_of(e)))
      return refuse(Code::policy, e.place, "use of " + described(e, path_of(e)), allowed_calls_note());
    if (callee.kind == py::ExprKind::attribute && path.empty()) method(e, callee);
  }

  // A method that computes.
  void method(const py::Expr& e, const py::Expr& callee) {
    const std::string_view name = callee.text;
    if (name == "data_ptr")
      return refuse(Code::policy, e.place, "call of '.data_ptr'",
                    "a wrapper hands tensors to kernels, never addresses");
    if (has(kMetadata, name) || has(kViews, name) || has(kFills, name) || name.starts_with("__")) return;
    const py::Expr& object = *callee.items[0];
    if (object.kind == py::ExprKind::name && !locals_.contains(object.text)) {
      const Binding* b = module_.find(object.text);  // helpers.softmax(x): that function is checked itself
      if (b != nullptr && (b->kind == Binding::Kind::module || b->kind == Binding::Kind::klass)) return;
    }
    const bool argument = object.kind == py::ExprKind::name && parameters_.contains(object.text);
    if (has(kShared, name) && !(argument && (name == "add" || name == "sort"))) return;
    if (own_names_.contains(name)) return;  // maybe an object's of the folder: judged when the wrapper runs
    if (op_find("." + std::string(name)))
      refuse(Code::policy, e.place, fmt::format("call of '.{}', a method of Tensor that computes", name),
             allowed_calls_note());
  }

  const PassModule& module_;
  std::span<const void* const> apart_;
  const OwnNames& own_names_;
  std::unordered_map<std::string_view, std::string> locals_;
  std::unordered_set<std::string_view> parameters_;
  bool inside_ = false;  // a function
};

}  // namespace

bool is_allocation(std::string_view name) { return has(kAllocations, name); }
bool is_metadata(std::string_view name) { return has(kMetadata, name); }
bool is_view(std::string_view name) { return has(kViews, name); }
bool is_fill(std::string_view name) { return has(kFills, name); }
bool is_view_function(std::string_view name) { return has(kViewFunctions, name); }
bool is_context(std::string_view path) {
  return path == "contextlib.nullcontext" || (path.starts_with("torch.") && has(kContexts, path.substr(6)));
}
bool is_outside(std::string_view path) {
  return has(kOutside, path.substr(0, path.find('.'))) && path != "types.SimpleNamespace";
}
bool is_outside_harmless(std::string_view path) {
  if (path.starts_with("pathlib.Path")) return has(kPathMethods, path.substr(path.rfind('.') + 1));
  return std::any_of(std::begin(kOutsideHarmless), std::end(kOutsideHarmless),
                     [&](std::string_view known) { return path.starts_with(known); });
}
bool is_forbidden_builtin(std::string_view name) { return has(kForbidden, name); }

bool is_unbound_method(std::string_view name) { return unbound(name); }
bool is_library(std::string_view name) { return has(kLibrary, name); }
bool is_package_query(std::string_view path) {
  return path == "importlib.metadata.version" || path == "importlib.util.find_spec";
}
bool is_installed(std::string_view path) {
  const std::string_view module = path.substr(0, path.find('.'));
  return has(kOutside, module) || has(kInstalled, module);
}

std::string allowed_calls_note() {
  return "a wrapper may allocate (torch.empty, empty_like, zeros, zeros_like, ones, ones_like, full, full_like, "
         "as_tensor), read metadata, take views and launch kernels; compute in a kernel";
}

namespace {

enum class Mention : std::uint8_t { name, anyhow };  // also as an attribute or a string

void add_names(const py::Expr& e, Mention how, std::unordered_set<std::string_view>& out) {
  const bool other = e.kind == py::ExprKind::attribute || e.kind == py::ExprKind::string;
  if (e.kind == py::ExprKind::name || (how == Mention::anyhow && other)) out.insert(e.text);
  const auto add = [&](const py::Expr* item) {
    if (item != nullptr) add_names(*item, how, out);
  };
  for (const py::Expr* item : e.items) add(item);
  for (const py::Keyword& k : e.keywords) add(k.value);
  for (const py::Clause& c : e.clauses()) {
    add(c.iterable);
    for (const py::Expr* condition : c.conditions) add(condition);
  }
  for (const py::Parameter& p : e.parameters()) add(p.default_value);
}

void add_names(const py::Stmt& s, Mention how, std::unordered_set<std::string_view>& out) {
  const auto add = [&](const py::Expr* e) {
    if (e != nullptr) add_names(*e, how, out);
  };
  add(s.value);
  add(s.annotation);
  for (const auto& list : {s.targets, s.decorators})
    for (const py::Expr* e : list) add(e);
  for (const py::Parameter& p : s.parameters) add(p.default_value);
  for (const py::Alias& a : s.aliases) out.insert(a.name);
  for (const auto& part : {s.body, s.orelse, s.final_body})
    for (const py::Stmt* inner : part) add_names(*inner, how, out);
  for (const py::Handler& h : s.handlers)
    for (const py::Stmt* inner : h.body) add_names(*inner, how, out);
}

}  // namespace

std::unordered_set<std::string_view> mentioned_names(const py::Stmt& statement) {
  std::unordered_set<std::string_view> out;
  add_names(statement, Mention::anyhow, out);
  return out;
}

std::unordered_set<std::string_view> used_names(const py::Stmt& statement) {
  std::unordered_set<std::string_view> out;
  add_names(statement, Mention::name, out);
  return out;
}

namespace {

// What `def name` and `name = ...` bind.
std::string_view bound_name(const py::Stmt& s) {
  const bool assigns = s.kind == py::StmtKind::assign && s.targets.size() == 1;
  if (assigns && s.targets[0]->kind == py::ExprKind::name) return s.targets[0]->text;
  return s.kind == py::StmtKind::function ? s.name : std::string_view{};
}

}  // namespace

void add_own_names(const PassModule& module, std::span<const py::Stmt* const> body, OwnNames& out) {
  using K = py::StmtKind;
  for (const py::Stmt* s : body) {
    if (s->kind == K::assign || s->kind == K::annotated)
      for (const py::Expr* t : s->targets)  // self.relu = self._fast
        if (t != nullptr && t->kind == py::ExprKind::attribute) out.insert(t->text);
    if (s->kind == K::class_)
      for (const py::Stmt* part : s->body) {
        if (part->kind == K::function) out.insert(part->name);
        if (part->kind != K::assign && part->kind != K::annotated) continue;
        for (const py::Expr* t : part->targets)
          if (t != nullptr && t->kind == py::ExprKind::name) out.insert(t->text);
      }
    if (s->value != nullptr && s->value->kind == py::ExprKind::call &&
        resolve_path(module, *s->value->items[0]) == "types.SimpleNamespace")
      for (const py::Keyword& k : s->value->keywords) out.insert(k.name);
    for (const auto& part : {s->body, s->orelse, s->final_body}) add_own_names(module, part, out);
    for (const py::Handler& h : s->handlers) add_own_names(module, h.body, out);
  }
}

std::vector<PolicyViolation> check_policy(const PassModule& module, std::span<const void* const> apart,
                                          const OwnNames& own_names, std::vector<SettingUse>* settings) {
  PolicyCheck check(module, apart, own_names);
  const auto visit = [&](const auto& self, std::span<const py::Stmt* const> body) -> void {
    for (const py::Stmt* s : body) {
      using K = py::StmtKind;
      if (const std::string_view name = bound_name(*s); name == "pattern" || name == "replacement_args") continue;
      if (s->kind == K::function) {
        if (!is_kernel(module, *s)) check.function(*s);
      } else if (s->kind == K::if_ || s->kind == K::try_) {
        if (is_main_block(*s)) continue;
        for (const auto& part : {s->body, s->orelse, s->final_body}) self(self, part);
        for (const py::Handler& h : s->handlers) self(self, h.body);
      } else if (s->kind != K::import && s->kind != K::import_from) {
        check.statement(*s);
      }
    }
  };
  visit(visit, module.syntax.body());
  if (settings != nullptr) settings->insert(settings->end(), check.settings.begin(), check.settings.end());
  return std::move(check.found);
}

}  // namespace passnet
