// Calls of a host program: what is called.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "host/machine.h"
#include "host/policy.h"
#include "host/settings.h"
#include "host/signatures.h"

namespace passnet {

using Kind = HostValue::Kind;

const HostValue* keyword(const HostKwargs& kwargs, std::string_view name) {
  for (const auto& [k, v] : kwargs)
    if (k == name) return &v;
  return nullptr;
}

// Says whose argument it is, where the value is one of the call's own.
void HostMachine::wrong_kind(std::string_view needed, const HostValue& v, py::Place place) const {
  const std::string_view function = calling_.path.substr(calling_.path.starts_with("builtins.") ? 9 : 0);
  std::string whose = function.empty() ? "" : fmt::format(" in {}()", function);
  if (calling_.args != nullptr)
    for (std::size_t i = 0; i < calling_.args->size(); ++i)
      if (&(*calling_.args)[i] == &v)
        whose = fmt::format(" for {} of {}()", parameter_name(calling_.path, i), function);
  if (calling_.kwargs != nullptr)
    for (const auto& [name, value] : *calling_.kwargs)
      if (&value == &v) whose = fmt::format(" for '{}' of {}()", name, function);
  raise("TypeError",
        fmt::format("{} is needed{}, not {}{}", needed, whose, host_type_name(v),
                    v.is(Kind::tensor) ? "; a wrapper knows shapes (x.shape[0], x.numel()), kernels know values" : ""),
        place);
}

const Integer& HostMachine::exact_integer(const HostValue& v, py::Place place) const {
  if (!v.is_integral()) wrong_kind("an int", v, place);
  return v.integer;
}

std::int64_t HostMachine::integer(const HostValue& v, py::Place place) const {
  const auto fitted = exact_integer(v, place).i64();
  if (!fitted) raise("OverflowError", "an integer does not fit into 64 bits", place);
  return *fitted;
}

double HostMachine::real(const HostValue& v, py::Place place) const {
  if (!v.is_number()) wrong_kind("a number", v, place);
  return v.as_real();
}

const std::string& HostMachine::string_of(const HostValue& v, py::Place place) const {
  if (!v.is(Kind::string)) wrong_kind("a str", v, place);
  return v.text;
}

HostValue HostMachine::call(const HostValue& callee, HostArgs args, HostKwargs kwargs, py::Place place) {
  step(place);
  switch (callee.kind) {
    case Kind::function: return call_function(*callee.function, std::move(args), std::move(kwargs), place);
    case Kind::launcher: return launch(*callee.launcher, std::move(args), std::move(kwargs), place);
    case Kind::path: return call_path(callee.text, std::move(args), std::move(kwargs), place);
    case Kind::method:
      return call_method(callee.items->values[0], callee.text, std::move(args), std::move(kwargs), place);
    case Kind::partial: {
      const auto& parts = callee.items->values;
      HostArgs all = parts[1].items->values;
      all.insert(all.end(), args.begin(), args.end());
      HostKwargs named;
      const auto& kept = parts[2].items->values;
      for (std::size_t i = 0; i + 1 < kept.size(); i += 2)
        if (std::none_of(kwargs.begin(), kwargs.end(), [&](const auto& k) { return k.first == kept[i].text; }))
          named.emplace_back(kept[i].text, kept[i + 1]);
      named.insert(named.end(), kwargs.begin(), kwargs.end());
      const HostValue function = parts[0];
      return call(function, std::move(all), std::move(named), place);
    }
    case Kind::klass: return instantiate(callee, std::move(args), std::move(kwargs), place);
    case Kind::object: {
      const bool forward = callee.klass->form == HostClass::Form::module && callee.klass->method("__call__") == nullptr;
      return call_method(callee, forward ? "forward" : "__call__", std::move(args), std::move(kwargs), place);
    }
    case Kind::dict:
    case Kind::list:
    case Kind::set:
    case Kind::tuple:
      if (is_container_object(callee) && callee.klass->method("__call__") != nullptr)
        return call_method(callee, "__call__", std::move(args), std::move(kwargs), place);
      raise("TypeError", fmt::format("{} is not callable", host_type_name(callee)), place);
    case Kind::kernel:
      refuse(Code::host, fmt::format("kernel '{}' is called without a grid", callee.kernel.name()), place,
             "write kernel[grid](...)");
    default: raise("TypeError", fmt::format("{} is not callable", host_type_name(callee)), place);
  }
}

HostValue HostMachine::call_path(const std::string& path, HostArgs args, HostKwargs kwargs, py::Place place) {
  bind_arguments(path, args, kwargs, place);
  const Within<Calling> within(calling_, {path, &args, &kwargs});
  const auto behind = [&](std::string_view prefix) { return std::string_view(path).substr(prefix.size()); };
  if (std::shared_ptr<HostClass> type = exception_type(HostValue::path(path))) {
    if (!kwargs.empty()) raise("TypeError", fmt::format("{}() takes no keyword arguments", type->name), place);
    return make_exception(std::move(type), std::move(args));
  }
  if (find_setting_call(path, true) != nullptr) return {};
  if (path.starts_with("builtins.")) {
    if (auto v = call_python(behind("builtins."), args, kwargs, place)) return *v;
    refuse(Code::host, fmt::format("'{}()' is nothing a wrapper can call", behind("builtins.")), place);
  }
  if (path.starts_with("torch.")) {
    if (auto v = call_torch(behind("torch."), args, kwargs, place)) return *v;
    refuse(Code::policy, fmt::format("call of '{}' in a wrapper", path), place, allowed_calls_note());
  }
  if (path.starts_with("math.")) {
    if (auto v = call_math(behind("math."), args, kwargs, place)) return *v;
  }
  if (auto v = call_library(path, args, kwargs, place)) return *v;
  if (path == "os.getenv" || path == "os.environ.get")  // of an empty environment
    return args.size() > 1 ? args[1] : HostValue{};
  if (path == "os.environ.setdefault" && args.size() == 2 && args[0].is(Kind::string) &&
      find_setting_variable(args[0].text) != nullptr)
    return args[1];
  if (is_outside(path))
    refuse(is_outside_harmless(path) ? Code::host : Code::integrity, fmt::format("call of '{}' in a wrapper", path),
           place, "a wrapper allocates, launches kernels and returns");
  refuse(Code::host, fmt::format("'{}' is nothing a wrapper can call", path), place,
         "known are Python's own functions, math, triton, functools.reduce, itertools.product and chain, operator");
}

bool HostMachine::is_python_name(std::string_view name) {
  constexpr std::string_view kOthers =  // beside the functions that can be called
      " ascii bytearray bytes classmethod complex dir property staticmethod object "
      "NotImplemented Ellipsis __debug__ __name__ __file__ __doc__ __builtins__ ";
  const std::string path = fmt::format("builtins.{}", name);
  return has_signature(path) || kOthers.find(fmt::format(" {} ", name)) != std::string_view::npos ||
         is_forbidden_builtin(name) || exception_type(HostValue::path(path));
}

HostValue HostMachine::call_method(const HostValue& object, const std::string& name, HostArgs args, HostKwargs kwargs,
                                   py::Place place) {
  std::optional<HostValue> out;
  if ((is_enum_member(object) || is_container_object(object)) && object.klass->method(name) != nullptr)
    return *object_method(object, name, args, kwargs, place);
  const std::string path = has_signatures(object) ? method_path(object, name) : std::string();
  if (!path.empty()) bind_arguments(path, args, kwargs, place);
  const Within<Calling> within(calling_, path.empty() ? Calling{} : Calling{path, &args, &kwargs});
  switch (object.kind) {
    case Kind::tensor: return tensor_method(object, name, std::move(args), std::move(kwargs), place);
    case Kind::string: out = string_method(object, name, args, kwargs, place); break;
    case Kind::tuple:
    case Kind::list: out = sequence_method(object, name, args, kwargs, place); break;
    case Kind::set: out = set_method(object, name, args, place); break;
    case Kind::range: out = range_method(object, name, args, place); break;
    case Kind::dict_view: out = view_of_dict_method(object, name, args, place); break;
    case Kind::dict: out = dict_method(object, name, args, kwargs, place); break;
    case Kind::klass:
    case Kind::object: out = object_method(object, name, args, kwargs, place); break;
    case Kind::parent: out = parent_method(object, name, args, kwargs, place); break;
    case Kind::boolean:
    case Kind::integer:
    case Kind::real: out = number_method(object, name, place); break;
    case Kind::iterator: out = iterator_method(object, name, args, place); break;
    case Kind::config:
      if (name == "all_kwargs") {
        out = HostValue::sequence(Kind::dict, config_item(object, ConfigItem::meta).items->values);
        for (const char* option : {"num_warps", "num_ctas", "num_stages"})
          set_item(*out, HostValue::string(option), eval_attribute(object, option, place), place);
      }
      break;
    case Kind::kernel:
      if (name == "run") {
        const auto grid = std::find_if(kwargs.begin(), kwargs.end(), [](const auto& k) { return k.first == "grid"; });
        if (grid == kwargs.end()) raise("TypeError", "a kernel's run() needs grid=", place);
        const HostLauncher launcher{object.kernel, object.module, std::make_shared<HostValue>(grid->second),
                                    object.items, object.function};
        kwargs.erase(grid);
        return launch(launcher, std::move(args), std::move(kwargs), place);
      }
      if (name == "warmup") return compiled_kernel();
      break;
    default: break;
  }
  if (!out) out = container_operator(object, name, args, place);
  if (!out) raise("AttributeError", fmt::format("{} has no '{}'", host_type_name(object), name), place);
  return std::move(*out);
}

}  // namespace passnet
