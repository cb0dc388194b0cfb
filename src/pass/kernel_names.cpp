#include "pass/kernel_names.h"

#include <fmt/format.h>

#include "pass/host.h"

namespace passnet {

using tile::ConstValue;
using tile::Named;

namespace {

std::optional<ConstValue> constant_of(const HostValue& v, int depth = 0) {
  using K = HostValue::Kind;
  switch (v.kind) {
    case K::none: return ConstValue{};
    case K::boolean: return ConstValue::boolean(v.integer != 0);
    case K::integer: return ConstValue::of(v.integer);
    case K::real: return ConstValue::of(v.real);
    case K::string: return ConstValue::string(v.text);
    case K::path: {
      constexpr std::string_view kHome = "triton.language.";
      if (!v.text.starts_with(kHome)) return std::nullopt;
      const auto elem = tile::elem_of_name(std::string_view(v.text).substr(kHome.size()));
      if (!elem) return std::nullopt;
      return ConstValue::of(tile::scalar_type(*elem));
    }
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

}  // namespace

KernelNames::KernelNames(const PassModule& module)
    : module_(module), own_(std::make_unique<Family>()), family_(own_.get()) {}

const KernelNames& KernelNames::of(const PassModule& module) const {
  if (&module == &module_) return *this;
  auto& member = family_->members[&module];
  if (!member) member.reset(new KernelNames(module, family_));
  return *member;
}

Named KernelNames::evaluate(std::string_view name, const Binding& b) const {
  Named out;
  out.kind = Named::Kind::variable;
  const auto value = evaluate_constant(module_, name);
  if (!value) return out;
  if (auto constant = constant_of(*value)) {
    out.value = std::move(*constant);
    out.known = true;
  }
  // NAME = tl.constexpr(...); element types and None need no such mark
  const bool marked = b.value != nullptr && b.unpack == Binding::kWhole && b.value->kind == py::ExprKind::call &&
                      resolve_path(*b.owner, *b.value->items[0]) == "triton.language.constexpr";
  const bool plain = out.value.is(ConstValue::Kind::none) || out.value.is(ConstValue::Kind::type);
  if (out.known && (marked || plain)) out.kind = Named::Kind::constant;
  return out;
}

Named KernelNames::find(std::string_view name) const {
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
      out.kind = b->kind == Binding::Kind::kernel ? Named::Kind::kernel : Named::Kind::function;
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
    case Binding::Kind::klass: out.kind = Named::Kind::variable; break;  // nothing that a kernel can use
  }
  known_.emplace(name, out);
  return out;
}

ConstValue kernel_constant(const Scalar& scalar) {
  if (const bool* v = std::get_if<bool>(&scalar.value)) return ConstValue::boolean(*v);
  if (const std::int64_t* v = std::get_if<std::int64_t>(&scalar.value)) return ConstValue::of(*v);
  if (const double* v = std::get_if<double>(&scalar.value)) return ConstValue::of(*v);
  if (const std::string* v = std::get_if<std::string>(&scalar.value)) {
    constexpr std::string_view kHome = "triton.language.";
    if (v->starts_with(kHome))
      if (const auto elem = tile::elem_of_name(std::string_view(*v).substr(kHome.size())))
        return ConstValue::of(tile::scalar_type(*elem));
    return ConstValue::string(*v);
  }
  return {};
}

Result<std::vector<tile::ArgumentSpec>> kernel_arguments(const Launch& launch, const LaunchVariant& variant,
                                                         const std::function<Dtype(BufferId)>& dtype_of) {
  return guarded([&] {
    std::vector<tile::ArgumentSpec> out;
    for (const py::Parameter& p : launch.kernel.function->parameters) {
      const LaunchArgument* found = nullptr;
      for (const auto* list : {&launch.arguments, &variant.meta})
        for (const LaunchArgument& a : *list)
          if (a.name == p.name) found = &a;
      const auto refuse = [&](std::string message) {
        fail({Code::kernel, launch.kernel.module->where(p.place), std::move(message), {}});
      };
      if (found == nullptr) refuse(fmt::format("parameter '{}' has no argument", p.name));
      const bool constant = found->constexpr_ || tile::is_constexpr_annotation(p.annotation);
      const auto& scalar = found->scalar.value;
      if (found->buffer >= 0) {
        const Dtype dtype = dtype_of(found->buffer);
        const auto elem = tile::elem_of(dtype);
        if (!elem) refuse(fmt::format("a kernel cannot take a tensor of {}", dtype_row(dtype).name));
        out.push_back(tile::ArgumentSpec::pointer(*elem));
        if (found->blocks) {
          const auto tuple = [](const std::vector<std::int64_t>& numbers) {
            std::vector<ConstValue> items;
            for (const std::int64_t n : numbers) items.push_back(ConstValue::of(n));
            return ConstValue::tuple(std::move(items));
          };
          const TensorBlocks& b = *found->blocks;
          out.back().constant = ConstValue::tuple({tuple(b.sizes), tuple(b.strides), tuple(b.block)});
        }
      } else if (constant || std::holds_alternative<std::monostate>(scalar) ||
                 std::holds_alternative<std::string>(scalar)) {
        out.push_back(tile::ArgumentSpec::of(kernel_constant(found->scalar)));
      } else if (std::holds_alternative<bool>(scalar)) {
        out.push_back(tile::ArgumentSpec::boolean());
      } else if (const std::int64_t* v = std::get_if<std::int64_t>(&scalar)) {
        out.push_back(tile::ArgumentSpec::integer(*v));
      } else {
        out.push_back(tile::ArgumentSpec::real());
      }
    }
    return out;
  });
}

Result<std::vector<tile::ArgumentSpec>> kernel_arguments(const LaunchPlan& plan, const Launch& launch,
                                                         const LaunchVariant& variant) {
  return kernel_arguments(launch, variant,
                          [&](BufferId id) { return plan.buffers.at(static_cast<std::size_t>(id)).desc.dtype; });
}

}  // namespace passnet
