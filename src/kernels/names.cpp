#include "kernels/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/host.h"

namespace passnet {

using tile::ConstValue;
using tile::Named;

namespace {

constexpr std::string_view kHome = "triton.language.";

std::optional<ConstValue> element_type(std::string_view path) {
  if (!path.starts_with(kHome)) return std::nullopt;
  return tile::type_of_name(path.substr(kHome.size()));
}

std::optional<ConstValue> constant_of(const HostValue& v, int depth = 0) {
  using K = HostValue::Kind;
  switch (v.kind) {
    case K::none: return ConstValue{};
    case K::boolean: return ConstValue::boolean(v.integer != 0);
    case K::integer: return ConstValue::of(v.integer);
    case K::real: return ConstValue::of(v.real);
    case K::string: return ConstValue::string(v.text);
    case K::path: return element_type(v.text);
    case K::tuple:
    case K::list: {
      if (depth > 8) return std::nullopt;
      std::vector<ConstValue> items;
      for (const HostValue& item : v.items->values) {
        auto one = constant_of(item, depth + 1);
        if (!one) return std::nullopt;
        items.push_back(std::move(*one));
      }
      return ConstValue::tuple(std::move(items));
    }
    default: return std::nullopt;
  }
}

HostValue host_value(const ConstValue& v) {
  using K = ConstValue::Kind;
  switch (v.kind) {
    case K::none: return {};
    case K::boolean: return HostValue::boolean(v.integer != 0);
    case K::integer: return HostValue::of(v.integer);
    case K::real: return HostValue::of(v.real);
    case K::string: return HostValue::string(v.text);
    case K::type: return HostValue::path(std::string(kHome) + tile::constant_text(v));
    case K::tuple: {
      std::vector<HostValue> items;
      for (const ConstValue& item : v.items) items.push_back(host_value(item));
      return HostValue::sequence(HostValue::Kind::tuple, std::move(items));
    }
  }
  return {};
}

constexpr std::string_view kOfConstants[] = {"triton.constexpr_function", "triton.runtime.jit.constexpr_function",
                                             "triton.language.constexpr_function",
                                             "triton.language.core.constexpr_function"};

bool is_of_constants(const PassModule& module, const py::Stmt& function) {
  return std::any_of(function.decorators.begin(), function.decorators.end(), [&](const py::Expr* d) {
    return std::find(std::begin(kOfConstants), std::end(kOfConstants), resolve_path(module, *d)) !=
           std::end(kOfConstants);
  });
}

// The class of a named tuple, which kernels may make objects of.
std::optional<Named> record_of(const HostValue& v) {
  if (!v.is(HostValue::Kind::klass) || v.klass->form != HostClass::Form::tuple) return std::nullopt;
  Named out;
  out.kind = Named::Kind::record;
  std::vector<ConstValue> defaults;
  for (const HostClass::Field& field : v.klass->fields) {
    out.path += (out.path.empty() ? "" : ",") + field.name;
    if (!field.has_default) continue;
    auto value = constant_of(field.default_value);
    if (!value) return std::nullopt;
    defaults.push_back(std::move(*value));
  }
  out.value = ConstValue::tuple(std::move(defaults));
  return out;
}

}  // namespace

KernelNames::KernelNames(const PassModule& module, std::shared_ptr<const KernelClosure> closure)
    : module_(module), closure_(std::move(closure)), own_(std::make_unique<Family>()), family_(own_.get()) {}

const KernelNames& KernelNames::of(const PassModule& module,
                                   const std::shared_ptr<const KernelClosure>& closure) const {
  if (&module == &module_ && closure == closure_) return *this;
  auto& member = family_->members[{&module, closure.get()}];
  if (!member) member.reset(new KernelNames(module, closure, family_));
  return *member;
}

Named KernelNames::device_function(const KernelRef& function) const {
  Named out;
  out.kind = Named::Kind::kernel;
  out.function = function.function;
  out.file = function.module;
  out.names = &of(*function.owner, function.closure);
  return out;
}

// What a variable's value is to a kernel. Numbers and strings may be read where tl.constexpr(...) made them; element
// types and None need no such mark.
Named KernelNames::of_value(const HostValue& value) const {
  if (value.is(HostValue::Kind::kernel)) return device_function(value.kernel);  // NAME = triton.jit(function)
  if (auto record = record_of(value)) return *record;
  Named out;
  out.kind = Named::Kind::variable;
  if (value.is(HostValue::Kind::path) && value.text.starts_with("triton.") && !element_type(value.text)) {
    out.kind = Named::Kind::path;  // NAME = getattr(tl, "exp"), tl.math if hasattr(tl, "math") else tl
    out.path = value.text;
    return out;
  }
  if (auto constant = constant_of(value)) {
    out.value = std::move(*constant);
    out.known = true;
  }
  const bool plain = out.value.is(ConstValue::Kind::none) || out.value.is(ConstValue::Kind::type);
  if (out.known && (value.is_constexpr || plain)) out.kind = Named::Kind::constant;
  return out;
}

Named KernelNames::evaluate(std::string_view name, const Binding& b) const {
  Named out;
  out.kind = Named::Kind::variable;
  if (const auto value = evaluate_constant(module_, name)) out = of_value(*value);
  out.annotated = b.statement != nullptr && b.statement->kind == py::StmtKind::annotated &&
                  tile::is_constexpr_annotation(b.statement->annotation);
  return out;
}

// A variable of the function that made the kernel.
Named KernelNames::captured(const HostValue& value) const {
  Named out;
  switch (value.kind) {
    case HostValue::Kind::module:
      out.kind = Named::Kind::module;
      out.names = &of(*value.module);
      return out;
    case HostValue::Kind::path:
      if (element_type(value.text)) return of_value(value);
      out.kind = Named::Kind::path;  // imported there
      out.path = value.text;
      return out;
    case HostValue::Kind::function:
      out.kind = Named::Kind::function;
      out.function = value.function->statement;
      if (out.function == nullptr || value.function->closure ||
          !is_of_constants(*value.function->module, *out.function))
        return out;
      out.kind = Named::Kind::of_constants;
      out.file = &value.function->module->syntax;
      out.names = &of(*value.function->module);
      return out;
    default:
      out = of_value(value);
      out.of_function = true;
      return out;
  }
}

Named KernelNames::find(std::string_view name) const {
  if (closure_)
    for (const auto& [own, value] : closure_->names)
      if (own == name) return captured(value);
  if (const auto it = known_.find(name); it != known_.end()) return it->second;
  Named out;
  const Binding* b = module_.find(name);
  if (b == nullptr) {
    for (const std::string& star : module_.star_imports)
      if (star == "triton.language" && out.kind == Named::Kind::missing) {
        out.kind = Named::Kind::path;
        out.path = star + "." + std::string(name);
      }
    return out;
  }
  switch (b->kind) {
    case Binding::Kind::path:
      out.kind = Named::Kind::path;
      out.path = b->path;
      break;
    case Binding::Kind::kernel:
    case Binding::Kind::function:
      out.kind = b->kind == Binding::Kind::kernel            ? Named::Kind::kernel
                 : is_of_constants(*b->owner, *b->statement) ? Named::Kind::of_constants
                                                             : Named::Kind::function;
      out.function = b->statement;
      out.file = &b->owner->syntax;
      out.names = &of(*b->owner);
      break;
    case Binding::Kind::module:
      out.kind = Named::Kind::module;
      out.names = &of(*b->target);
      break;
    case Binding::Kind::expression: {
      // NAME = tl.exp or libdevice.tanh
      const std::string path = b->unpack == Binding::kWhole ? resolve_path(*b->owner, *b->value) : std::string();
      if (!path.empty()) {
        out.kind = Named::Kind::path;
        out.path = path;
      } else {
        out = evaluate(name, *b);
      }
      break;
    }
    case Binding::Kind::klass: out = evaluate(name, *b); break;
  }
  known_.emplace(name, out);
  return out;
}

Result<Named> KernelNames::call(const py::Stmt& function, const std::vector<ConstValue>& arguments,
                                const NamedConstants& keywords) const {
  std::vector<HostValue> values;
  for (const ConstValue& v : arguments) values.push_back(host_value(v));
  std::vector<std::pair<std::string, HostValue>> named;
  for (const auto& [name, v] : keywords) named.emplace_back(name, host_value(v));
  auto result = call_with_values(module_, function, std::move(values), std::move(named));
  if (!result) return std::move(result.error());
  if (result->is(HostValue::Kind::kernel)) return device_function(result->kernel);
  if (auto constant = constant_of(*result)) {
    Named out;
    out.kind = Named::Kind::constant;
    out.value = std::move(*constant);
    return out;
  }
  return Error{Code::kernel,
               module_.syntax.where(function.place),
               fmt::format("{} gives a {}, which is no constant of a kernel", function.name, host_type_name(*result)),
               {}};
}

ConstValue kernel_constant(const Scalar& scalar) {
  if (const bool* v = std::get_if<bool>(&scalar.value)) return ConstValue::boolean(*v);
  if (const Integer* v = std::get_if<Integer>(&scalar.value)) return ConstValue::of(*v);
  if (const double* v = std::get_if<double>(&scalar.value)) return ConstValue::of(*v);
  if (const std::string* v = std::get_if<std::string>(&scalar.value)) {
    return element_type(*v).value_or(ConstValue::string(*v));
  }
  return {};
}

namespace {

// The arguments of a launch as the front-end takes them, by name.
class Specs {
 public:
  Specs(const KernelNames& names, const LaunchPlan& plan, const Launch& launch, const LaunchVariant& variant)
      : names_(names), plan_(plan), launch_(launch), variant_(variant) {}

  // `index`: of the parameter.
  tile::ArgumentSpec spec(const std::string& name, const py::Parameter& p, std::size_t index) const {
    const LaunchArgument* found = find_argument(launch_, variant_, name);
    if (found == nullptr) refuse(p, fmt::format("parameter '{}' has no argument", name));
    const LaunchArgument& a = *found;
    if (a.items) {
      std::vector<tile::ArgumentSpec> items;
      for (std::size_t i = 0; i < *a.items; ++i) items.push_back(spec(tile::item_name(name, i), p, index));
      auto out = tile::ArgumentSpec::tuple(std::move(items));
      if (const auto* fields = std::get_if<std::string>(&a.scalar.value)) out.constant = ConstValue::string(*fields);
      return out;
    }
    if (a.function.function != nullptr) return tile::ArgumentSpec::device_function(names_.device_function(a.function));
    if (a.buffer >= 0) return pointer(a, p);
    const auto& scalar = a.scalar.value;
    if (a.constexpr_ || tile::is_constexpr_annotation(p.annotation) || std::holds_alternative<std::monostate>(scalar) ||
        std::holds_alternative<std::string>(scalar))
      return tile::ArgumentSpec::of(kernel_constant(a.scalar));
    if (std::holds_alternative<bool>(scalar)) return tile::ArgumentSpec::boolean();
    if (const Integer* v = std::get_if<Integer>(&scalar)) {
      if (!v->fits_64_bits())
        refuse(p, fmt::format("argument '{}' is {}, which neither int64 nor uint64 holds", name, v->text()));
      return tile::ArgumentSpec::integer(*v, !is_listed("do_not_specialize", index));
    }
    return tile::ArgumentSpec::real();
  }

  void check_listed(const py::Parameter& p, std::size_t index) const {
    for (const char* option : {"do_not_specialize", "do_not_specialize_on_alignment"})
      if (tile::is_constexpr_annotation(p.annotation) && is_listed(option, index))
        refuse(p, fmt::format("'{}' is a tl.constexpr and listed in {}", p.name, option));
  }

 private:
  [[noreturn]] void refuse(const py::Parameter& p, std::string message) const {
    fail({Code::kernel, launch_.kernel.module->where(p.place), std::move(message), {}});
  }
  bool is_listed(std::string_view option, std::size_t parameter) const {
    return launch_.kernel.owner != nullptr &&
           jit_option_names(*launch_.kernel.owner, *launch_.kernel.function, option, parameter);
  }
  tile::ArgumentSpec pointer(const LaunchArgument& a, const py::Parameter& p) const {
    const Dtype dtype = plan_.buffers.at(static_cast<std::size_t>(a.buffer)).desc.dtype;
    const auto elem = tile::elem_of(dtype);
    if (!elem) refuse(p, fmt::format("a kernel cannot take a tensor of {}", dtype_row(dtype).name));
    auto out = tile::ArgumentSpec::pointer(*elem);
    if (!a.blocks) return out;
    const auto tuple = [](const std::vector<std::int64_t>& numbers) {
      std::vector<ConstValue> items;
      for (const std::int64_t n : numbers) items.push_back(ConstValue::of(n));
      return ConstValue::tuple(std::move(items));
    };
    out.constant = ConstValue::tuple({tuple(a.blocks->sizes), tuple(a.blocks->strides), tuple(a.blocks->block)});
    return out;
  }

  const KernelNames& names_;
  const LaunchPlan& plan_;
  const Launch& launch_;
  const LaunchVariant& variant_;
};

}  // namespace

Result<std::vector<tile::ArgumentSpec>> kernel_arguments(const KernelNames& names, const LaunchPlan& plan,
                                                         const Launch& launch, const LaunchVariant& variant) {
  return guarded([&] {
    const Specs specs(names, plan, launch, variant);
    std::vector<tile::ArgumentSpec> out;
    const auto& parameters = launch.kernel.function->parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      specs.check_listed(parameters[i], i);
      out.push_back(specs.spec(std::string(parameters[i].name), parameters[i], i));
    }
    return out;
  });
}

}  // namespace passnet
