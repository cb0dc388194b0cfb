// Attributes in a host program: what follows a dot, whether there is such a thing, and the attributes of Python's own
// objects, of torch's and of triton's.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "host/machine.h"
#include "host/policy.h"
#include "host/settings.h"
#include "host/signatures.h"
#include "ops/table.h"
#include "tile/lowering.h"

namespace passnet {

using Kind = HostValue::Kind;

namespace {

constexpr std::string_view kLanguage = "triton.language";
constexpr std::string_view kSliceParts[] = {"start", "stop", "step"};

// What there is beside the functions that kernels can call.
constexpr std::string_view kLanguageNames[] = {"math",
                                               "extra",
                                               "core",
                                               "constexpr",
                                               "tensor",
                                               "dtype",
                                               "range",
                                               "static_range",
                                               "block_type",
                                               "standard",
                                               "semantic",
                                               "target_info",
                                               "tuple",
                                               "PropagateNan",
                                               "void",
                                               "const",
                                               "slice",
                                               "pointer_type",
                                               "tensor_descriptor",
                                               "random",
                                               "tensor_descriptor_type",
                                               "str_to_ty"};
constexpr std::string_view kTritonNames[] = {"cdiv",
                                             "next_power_of_2",
                                             "jit",
                                             "autotune",
                                             "heuristics",
                                             "Config",
                                             "language",
                                             "runtime",
                                             "testing",
                                             "tools",
                                             "compiler",
                                             "backends",
                                             "errors",
                                             "knobs",
                                             "__version__",
                                             "JITFunction",
                                             "KernelInterface",
                                             "OutOfResources",
                                             "InterpreterError",
                                             "TritonError",
                                             "CompilationError",
                                             "MockTensor",
                                             "TensorWrapper",
                                             "reinterpret",
                                             "must_use_result",
                                             "set_allocator",
                                             "compile",
                                             "constexpr_function",
                                             "experimental",
                                             "profiler",
                                             "aggregate",
                                             "AsyncCompileMode",
                                             "FutureKernel",
                                             "impl"};
constexpr std::string_view kTorchNames[] = {"nn",
                                            "cuda",
                                            "fx",
                                            "ops",
                                            "autograd",
                                            "jit",
                                            "compiler",
                                            "backends",
                                            "utils",
                                            "version",
                                            "library",
                                            "amp",
                                            "Tensor",
                                            "Size",
                                            "device",
                                            "dtype",
                                            "finfo",
                                            "iinfo",
                                            "no_grad",
                                            "pi",
                                            "inf",
                                            "nan",
                                            "strided",
                                            "channels_last",
                                            "contiguous_format",
                                            "__version__",
                                            "profiler",
                                            "inference_mode",
                                            "special",
                                            "linalg",
                                            "fft",
                                            "distributed"};

// What modules outside are known to hold.
constexpr std::pair<std::string_view, std::string_view> kTexts[] = {{"torch.__version__", "2.13.0"},
                                                                    {"torch.version.cuda", "13.0"},
                                                                    {"triton.__version__", "3.7.1"},
                                                                    {"sys.platform", "linux"}};
constexpr std::string_view kNothing[] = {"torch.version.hip", "torch.version.xpu"};
constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::pair<std::string_view, double> kNumbers[] = {{"math.tau", 6.283185307179586},
                                                            {"math.pi", 3.141592653589793},
                                                            {"torch.pi", 3.141592653589793},
                                                            {"numpy.pi", 3.141592653589793},
                                                            {"math.e", 2.718281828459045},
                                                            {"torch.e", 2.718281828459045},
                                                            {"numpy.e", 2.718281828459045},
                                                            {"math.inf", kInfinity},
                                                            {"torch.inf", kInfinity},
                                                            {"numpy.inf", kInfinity},
                                                            {"math.nan", kNan},
                                                            {"torch.nan", kNan},
                                                            {"numpy.nan", kNan}};

struct Methods {
  Kind kind;
  std::string_view names;  // between blanks
};
constexpr Methods kMethods[] = {
    {Kind::kernel, " run warmup "},
    {Kind::none, " "},
    {Kind::function, " "},
    {Kind::slice, " "},
    {Kind::dtype, " "},
    {Kind::device, " "},
    {Kind::config, " all_kwargs "},
    {Kind::partial, " "},
};

// Objects and classes have their own; what they do not have is said when it is called.
bool has_method(const HostValue& object, std::string_view name) {
  for (const Methods& m : kMethods)
    if (object.is(m.kind)) return m.names.find(fmt::format(" {} ", name)) != std::string_view::npos;
  return !has_signatures(object) || has_signature(method_path(object, name));
}

template <std::size_t N>
bool is_one_of(std::string_view name, const std::string_view (&known)[N]) {
  return std::find(std::begin(known), std::end(known), name) != std::end(known);
}

std::optional<HostValue> def_attribute(const py::Stmt& def, std::string_view name) {
  if (name == "__name__" || name == "__qualname__") return HostValue::string(std::string(def.name));
  if (name != "__doc__") return std::nullopt;
  const py::Expr* first =
      !def.body.empty() && def.body[0]->kind == py::StmtKind::expression ? def.body[0]->value : nullptr;
  return first != nullptr && first->kind == py::ExprKind::string ? HostValue::string(std::string(first->text))
                                                                 : HostValue{};
}

std::optional<HostValue> function_attribute(const HostFunction& f, std::string_view name) {
  if (name == "__module__") return HostValue::string(f.module->name);
  if (is_library(fmt::format("library.{}", name))) return HostValue::path(fmt::format("torch.library.{}", name));
  if (f.shown != nullptr || f.statement != nullptr) return def_attribute(*(f.shown ? f.shown : f.statement), name);
  return name == "__name__" ? std::optional(HostValue::string("<lambda>")) : std::nullopt;
}

// tl.float16.name, tl.float16.primitive_bitwidth
std::optional<HostValue> language_attribute(std::string_view path, std::string_view name) {
  const std::string short_name = language_type_name(path);
  if (short_name.empty()) return std::nullopt;
  if (name == "name") return HostValue::string(short_name);
  if (name == "scalar") return HostValue::path(std::string(path));
  std::int64_t bits = 0;
  for (const char c : short_name.substr(short_name.find_first_of("0123456789"))) {
    if (c < '0' || c > '9') break;
    bits = bits * 10 + (c - '0');
  }
  if (name == "primitive_bitwidth" || name == "int_bitwidth" || name == "fp_bitwidth") return HostValue::of(bits);
  return name == "itemsize" ? std::optional(HostValue::of((bits + 7) / 8)) : std::nullopt;
}

// Modules below triton.language whose functions are rows of the front-end's table, and what else they have.
struct LanguageModule {
  std::string_view path;
  std::uint8_t home;
  std::string_view names;  // between blanks
};
constexpr LanguageModule kLanguageModules[] = {
    {"triton.language.math", tile::kMath, " core "},
    {"triton.language.extra", 0, " cuda hip libdevice "},
    {"triton.language.extra.libdevice", tile::kLib, " "},
    {"triton.language.extra.cuda", tile::kCuda, " libdevice utils gdc "},
    {"triton.language.extra.cuda.libdevice", tile::kLib, " "},
};

}  // namespace

bool path_has(std::string_view module, std::string_view name) {
  if (module == "triton") return is_one_of(name, kTritonNames);
  if (module == kLanguage)
    return tile::find_builtin(name, tile::kTl) != nullptr || tile::is_missing_builtin(name, tile::kTl) ||
           tile::type_of_name(name) || is_one_of(name, kLanguageNames);
  for (const LanguageModule& m : kLanguageModules)
    if (module == m.path)
      return tile::find_builtin(name, m.home) != nullptr ||
             ((m.home & (tile::kLib | tile::kCuda)) != 0 && tile::is_missing_builtin(name, m.home)) ||
             m.names.find(fmt::format(" {} ", name)) != std::string_view::npos;
  return true;
}

std::string language_type_name(std::string_view path) {
  if (!path.starts_with("triton.language.")) return {};
  const std::string_view name = path.substr(kLanguage.size() + 1);
  if (!tile::type_of_name(name) || name.find_first_of("0123456789") == std::string_view::npos) return {};
  if (name.starts_with("float")) return fmt::format("fp{}", name.substr(5));
  return name == "bfloat16" ? "bf16" : std::string(name);
}

bool HostMachine::has_attribute(const HostValue& v, const std::string& name, py::Place place) {
  if (v.is(Kind::tensor)) return tensor_has(name);
  const bool computes = v.is(Kind::object) && v.klass->method("__getattr__") != nullptr;
  if (v.is(Kind::object) && !computes) return v.klass->method(name) != nullptr || object_attribute(v, name, place);
  if (v.is(Kind::klass)) return class_attribute(v, name).has_value();
  if (v.is(Kind::module)) return v.module->find(name) != nullptr;
  if (v.is(Kind::path) && v.text == "torch")
    return dtype_from_name("torch." + name) || is_allocation(name) || is_view_function(name) ||
           is_one_of(name, kTorchNames) || op_find("torch." + name);
  if (v.is(Kind::path)) return path_has(v.text, name);
  try {
    eval_attribute(v, name, place);
  } catch (const HostRaise& raised) {
    if (raised.type != "AttributeError") throw;
    return false;
  }
  return true;
}

HostValue HostMachine::eval_attribute(const HostValue& object, std::string_view name, py::Place place) {
  switch (object.kind) {
    case Kind::path: {
      const std::string path = object.text.get() + "." + std::string(name);
      if (path.starts_with("torch."))
        if (const auto dtype = dtype_from_name(path)) return HostValue::of_dtype(*dtype);
      for (const auto& [known, text] : kTexts)
        if (path == known) return HostValue::string(std::string(text));
      for (const auto& [known, number] : kNumbers)
        if (path == known) return HostValue::of(number);
      if (is_one_of(path, kNothing)) return {};
      if (const Setting* s = find_setting(path); s != nullptr && s->form == Setting::Form::attribute)
        refuse(Code::host, fmt::format("'{}' has no value here", path), place,
               "torch's settings have no effect on a pass; write the value itself");
      if (name == "__name__") return HostValue::string(object.text.substr(object.text.get().rfind('.') + 1));
      if (path == "sys.maxsize") return HostValue::of(std::numeric_limits<std::int64_t>::max());
      if (path == "sys.version_info")
        return instantiate(make_named_tuple({HostValue::string("version_info"),
                                             HostValue::string("major minor micro releaselevel serial")},
                                            {}, place),
                           {HostValue::of(std::int64_t{3}), HostValue::of(std::int64_t{12}),
                            HostValue::of(std::int64_t{3}), HostValue::string("final"), HostValue::of(std::int64_t{0})},
                           {}, place);
      if (auto found = language_attribute(object.text, name)) return *found;
      if (!path_has(object.text, name))
        raise("AttributeError", fmt::format("module '{}' has no attribute '{}'", object.text, name), place);
      return HostValue::path(path);
    }
    case Kind::tensor: return tensor_attribute(object, name, place);
    case Kind::device:
      if (name == "type") return HostValue::string("cuda");  // see tensor_attribute: is_cuda
      if (name == "index") return HostValue::of(std::int64_t{0});
      break;
    case Kind::dtype:
      if (name == "itemsize") return HostValue::of(std::int64_t{dtype_row(object.dtype).size});
      if (name == "is_floating_point") return HostValue::boolean(dtype_row(object.dtype).floating);
      if (name == "is_complex")
        return HostValue::boolean(object.dtype == Dtype::complex64 || object.dtype == Dtype::complex128);
      if (name == "is_signed") {
        const auto least = dtype_limit(object.dtype, "min");
        return HostValue::boolean(least && (least->integer < 0 || least->real < 0));
      }
      if (name == "dtype") return HostValue::string(std::string(dtype_row(object.dtype).name));  // of its limits
      if (const auto limit = dtype_limit(object.dtype, name))
        return limit->integral ? HostValue::of(limit->integer) : HostValue::of(limit->real);
      break;
    case Kind::list:
      if (name == "maxlen" && object.items->type == kDeque)
        return object.items->most ? HostValue::of(static_cast<std::int64_t>(*object.items->most)) : HostValue{};
      break;
    case Kind::range:
    case Kind::slice:
      for (std::size_t i = 0; i < 3; ++i)
        if (name == kSliceParts[i]) return object.items->values[i];
      break;
    case Kind::function:
      if (auto found = function_attribute(*object.function, name)) return *found;
      break;
    case Kind::partial:
      if (name == "func" || name == "args" || name == "keywords")
        return object.items->values[name == "func" ? 0 : name == "args" ? 1 : 2];
      break;
    case Kind::kernel: {
      if (name == "fn") return object;
      if (const auto best = best_configs_.find({object.kernel.function, object.function.get()});
          name == "best_config" && best != best_configs_.end())
        return best->second;  // the first: which is the fastest is found when kernels run
      if (auto found = def_attribute(*object.kernel.function, name)) return *found;
      if (name != "arg_names") break;
      std::vector<HostValue> names;
      for (const py::Parameter& p : object.kernel.function->parameters)
        names.push_back(HostValue::string(std::string(p.name)));
      return HostValue::sequence(Kind::list, std::move(names));
    }
    case Kind::module: {
      if (object.module->find(name) == nullptr)
        raise("AttributeError", fmt::format("'{}' has no '{}'", object.module->name, name), place);
      return module_value(*object.module, name, place);
    }
    case Kind::string:
      if (object.klass)
        if (auto found = enum_attribute(object, name, place)) return *found;
      break;
    case Kind::integer:
    case Kind::real:
      if (object.klass)
        if (auto found = enum_attribute(object, name, place)) return *found;
      if (name == "value") {  // of a tl.constexpr, which is the number itself here
        HostValue plain = object;
        plain.is_constexpr = false;
        return plain;
      }
      break;
    case Kind::config:
      if (name == "kwargs") return config_item(object, ConfigItem::meta);
      if (name == "num_warps") return config_item(object, ConfigItem::num_warps);
      if (name == "num_stages") return config_item(object, ConfigItem::num_stages);
      if (name == "num_ctas") return HostValue::of(std::int64_t{1});
      if (name == "pre_hook") return config_item(object, ConfigItem::pre_hook);
      break;
    case Kind::klass:
      if (auto found = class_attribute(object, name)) return *found;
      break;
    case Kind::object:
      if (auto found = object_attribute(object, name, place)) return *found;
      if (object.klass->method(name) != nullptr || takes_note(*object.klass, name)) break;
      if (auto made = own(object, "__getattr__", {HostValue::string(std::string(name))}, place)) return *made;
      if (!name.starts_with('_'))
        raise("AttributeError", fmt::format("{} has no '{}'", host_type_name(object), name), place);
      break;
    case Kind::parent: {
      const HostClass::Method* m = object.klass->method(name);
      if (m != nullptr && m->form == HostClass::Method::Form::property)
        return call_function(HostFunction(m->function), {object.items->values[0]}, {}, place);
      if (m == nullptr)
        if (auto found = class_attribute(class_value(object.klass), name)) return *found;
      break;
    }
    case Kind::opaque:
      refuse(Code::pass, fmt::format("'.{}' of an argument in replacement_args", name), place,
             "return the arguments themselves; the wrapper sees their shapes");
    default: break;
  }
  if (is_container_object(object))
    if (auto found = object_attribute(object, name, place)) return *found;
  const bool own_method = is_container_object(object) && object.klass->method(name) != nullptr;
  if (!own_method && !has_method(object, name))
    if (auto made = own(object, "__getattr__", {HostValue::string(std::string(name))}, place)) return *made;
  if (!own_method && !has_method(object, name))
    raise("AttributeError", fmt::format("'{}' object has no attribute '{}'", host_type_name(object), name), place);
  HostValue method;
  method.kind = Kind::method;
  method.text = name;
  method.items = std::make_shared<HostItems>(std::vector<HostValue>{object}, false);
  return method;
}

}  // namespace passnet
