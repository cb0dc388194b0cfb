#include "host/launch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"

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
    std::string operator()(const Integer& i) const { return i.text(); }
    std::string operator()(double d) const { return python_float(d); }
    std::string operator()(const std::string& t) const { return t; }
  };
  return std::visit(Visitor{}, s.value);
}

namespace {

// A string as a word, where it is one: gelu, triton.language.float32.
std::string word_or_quoted(const std::string& text) {
  const bool word = !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
                    std::all_of(text.begin(), text.end(),
                                [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
  return word ? text : python_string(text);
}

std::string value_text(const LaunchArgument& a, const BufferText& buffer) {
  const auto* text = std::get_if<std::string>(&a.scalar.value);
  if (a.buffer < 0) return text != nullptr ? word_or_quoted(*text) : scalar_text(a.scalar);
  return buffer(a.buffer) + (a.blocks ? fmt::format(" in blocks ({})", fmt::join(a.blocks->block, ", ")) : "");
}

// The argument at `at`, and where the next one is: behind a tuple stand its items.
struct TupleText {
  std::string text;
  bool constant = true;
};
TupleText items_text(const std::vector<LaunchArgument>& all, std::size_t& at, const BufferText& buffer) {
  const LaunchArgument& a = all[at++];
  if (!a.items) return {value_text(a, buffer), a.constexpr_};
  TupleText out;
  std::vector<std::string> items;
  for (std::size_t i = 0; i < *a.items && at < all.size(); ++i) {
    TupleText item = items_text(all, at, buffer);
    out.constant = out.constant && item.constant;
    items.push_back(std::move(item.text));
  }
  if (const auto* names = std::get_if<std::string>(&a.scalar.value)) {
    const auto fields = text_split(*names, ',');
    for (std::size_t i = 0; i < items.size() && i < fields.size(); ++i)
      items[i] = fmt::format("{}={}", fields[i], items[i]);
    out.text = fmt::format("namedtuple({})", text_join(items, ", "));
  } else {
    out.text = fmt::format("({}{})", text_join(items, ", "), items.size() == 1 ? "," : "");
  }
  return out;
}

std::string buffer_text(const LaunchPlan& plan, std::size_t id) {
  const Buffer& b = plan.buffers[id];
  const std::string type = fmt::format("{}[{}]", dtype_row(b.desc.dtype).name, fmt::join(b.desc.sizes, ", "));
  const std::string strides =
      b.desc.is_contiguous() ? "" : fmt::format(" strides ({})", fmt::join(b.desc.strides, ", "));
  const std::string fill = b.fill == Fill::value ? fmt::format(" filled with {}", scalar_text(b.fill_value)) : "";
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
  const auto name_of = [](BufferId id) { return fmt::format("b{}", id); };
  std::string out =
      fmt::format("launch {}({})", l.kernel.name(), text_join(arguments_text(l.arguments, name_of), ", "));
  for (const LaunchVariant& v : l.variants) {
    const std::vector<std::string> meta = arguments_text(v.meta, name_of);
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

std::vector<std::string> arguments_text(const std::vector<LaunchArgument>& all, const BufferText& buffer,
                                        bool constants) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < all.size();) {
    const std::string& name = all[at].name;
    const TupleText value = items_text(all, at, buffer);
    if (constants || !value.constant)
      out.push_back(fmt::format("{}{}={}", name, value.constant ? "!" : "", value.text));
  }
  return out;
}

std::string plan_text(const LaunchPlan& plan) {
  std::string out;
  for (const auto& [is_buffer, id] : plan.order)
    out += (is_buffer ? buffer_text(plan, id) : launch_text(plan.launches[id])) + "\n";
  return out + "return " + output_text(plan.output) + "\n";
}

}  // namespace passnet
