#include "pass/launch_plan.h"

#include <fmt/format.h>

namespace passnet {

const LaunchArgument* find_argument(const Launch& launch, const LaunchVariant& variant, std::string_view name) {
  for (const auto* list : {&launch.arguments, &variant.meta})
    for (const LaunchArgument& a : *list)
      if (a.name == name) return &a;
  return nullptr;
}

std::string scalar_text(const Scalar& s) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool b) const { return b ? "True" : "False"; }
    std::string operator()(std::int64_t i) const { return std::to_string(i); }
    std::string operator()(double d) const { return python_float(d); }
    std::string operator()(const std::string& t) const { return t; }
  };
  return std::visit(Visitor{}, s.value);
}

namespace {

std::string argument_text(const LaunchArgument& a) {
  if (a.items) return fmt::format("{}: {} items", a.name, *a.items);
  return fmt::format("{}{}={}{}", a.name, a.constexpr_ ? "!" : "",
                     a.buffer >= 0 ? fmt::format("b{}", a.buffer) : scalar_text(a.scalar),
                     a.blocks ? fmt::format(" in blocks ({})", fmt::join(a.blocks->block, ", ")) : "");
}

std::string buffer_text(const LaunchPlan& plan, std::size_t id) {
  const Buffer& b = plan.buffers[id];
  const std::string type = fmt::format("{}[{}]", dtype_row(b.desc.dtype).name, fmt::join(b.desc.sizes, ", "));
  const std::string strides =
      b.desc.is_contiguous() ? "" : fmt::format(" strides ({})", fmt::join(b.desc.strides, ", "));
  const std::string fill = b.fill == Fill::value ? fmt::format(" filled with {}", python_float(b.fill_value)) : "";
  switch (b.kind) {
    case BufferKind::input: return fmt::format("b{} = input {} {}{}", id, b.input, type, strides);
    case BufferKind::fresh: return fmt::format("b{} = allocate {}{}{}", id, type, strides, fill);
    case BufferKind::view:
      return fmt::format("b{} = view of b{} {}{}{}{}", id, b.base, type, strides,
                         b.offset != 0 ? fmt::format(" from {}", b.offset) : "", fill);
    case BufferKind::copy: return fmt::format("b{} = copy of b{} {}{}", id, b.base, type, strides);
  }
  return {};
}

std::string launch_text(const Launch& l) {
  std::vector<std::string> args;
  for (const LaunchArgument& a : l.arguments) args.push_back(argument_text(a));
  std::string out = fmt::format("launch {}({})", l.kernel.name(), text_join(args, ", "));
  for (const LaunchVariant& v : l.variants) {
    std::vector<std::string> meta;
    for (const LaunchArgument& a : v.meta) meta.push_back(argument_text(a));
    out += fmt::format("{} grid ({}, {}, {}){}{} warps {} stages {}", l.variants.size() > 1 ? "\n  or" : "", v.grid[0],
                       v.grid[1], v.grid[2], meta.empty() ? "" : " ", text_join(meta, ", "), v.num_warps, v.num_stages);
  }
  return out;
}

std::string output_text(const PlanOutput& o) {
  if (o.is_tuple) {
    std::vector<std::string> items;
    for (const PlanOutput& item : o.items) items.push_back(output_text(item));
    return fmt::format("({})", text_join(items, ", "));
  }
  return o.buffer >= 0 ? fmt::format("b{}", o.buffer) : scalar_text(o.scalar);
}

}  // namespace

std::string plan_text(const LaunchPlan& plan) {
  std::string out;
  for (const auto& [is_buffer, id] : plan.order)
    out += (is_buffer ? buffer_text(plan, id) : launch_text(plan.launches[id])) + "\n";
  return out + "return " + output_text(plan.output) + "\n";
}

}  // namespace passnet
