#include "ops/bind.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/dtype.h"

namespace passnet {

std::string_view ty_name(Ty type) {
  switch (type) {
    case Ty::any: return "value";
    case Ty::tensor: return "Tensor";
    case Ty::integer: return "int";
    case Ty::real: return "float";
    case Ty::boolean: return "bool";
    case Ty::number: return "number";
    case Ty::string: return "str";
    case Ty::none: return "None";
    case Ty::dtype: return "dtype";
    case Ty::device: return "device";
    case Ty::tensors: return "list of Tensor";
    case Ty::integers: return "list of int";
    case Ty::other: return "object";
  }
  return "";
}

bool constant_known(std::string_view text) {
  constexpr std::string_view kOthers[] = {
      "torch.strided",          "torch.contiguous_format", "torch.preserve_format", "torch.channels_last",
      "torch.channels_last_3d", "builtins.float",          "builtins.int",          "builtins.bool"};
  return dtype_from_name(text).has_value() ||
         std::find(std::begin(kOthers), std::end(kOthers), text) != std::end(kOthers);
}

Ty type_of(const Value& value, std::span<const Ty> registers) {
  switch (value.kind) {
    case ValueKind::none: return Ty::none;
    case ValueKind::boolean: return Ty::boolean;
    case ValueKind::integer: return Ty::integer;
    case ValueKind::real: return Ty::real;
    case ValueKind::string: return Ty::string;
    case ValueKind::node: return registers[value.node];
    case ValueKind::constant:
      return dtype_from_name(value.text) || value.text.starts_with("builtins.") ? Ty::dtype : Ty::other;
    case ValueKind::device: return Ty::device;
    case ValueKind::tuple:
    case ValueKind::list: {
      if (value.items.empty()) return Ty::other;
      const Ty all = type_of(value.items[0], registers);
      for (const Value& item : std::span(value.items).subspan(1))
        if (type_of(item, registers) != all) return Ty::other;
      return all == Ty::tensor ? Ty::tensors : all == Ty::integer ? Ty::integers : Ty::other;
    }
    default: return Ty::other;
  }
}

namespace {

// Operators for which Python torch takes a number where the schema says Tensor.
bool takes_numbers_as_tensors(std::string_view name) {
  if (name.ends_with('_')) name.remove_suffix(1);
  constexpr std::string_view kNames[] = {"add",      "sub",      "mul",         "div",          "divide",
                                         "multiply", "subtract", "true_divide", "floor_divide", "copy"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

bool is_number(Ty t) { return t == Ty::integer || t == Ty::real || t == Ty::boolean || t == Ty::number; }

struct Fit {
  const Schema& schema;
  Spelled spelled;
  std::span<const Ty> registers;

  Ty type(const Value& v) const { return type_of(v, registers); }

  bool item(Base base, const Value& v, bool optional) const {
    const Ty t = type(v);
    if (t == Ty::any) return true;
    if (t == Ty::none) return optional || base == Base::generator;
    switch (base) {
      case Base::tensor:
        return t == Ty::tensor || (is_number(t) && (spelled == Spelled::aten || takes_numbers_as_tensors(schema.name)));
      case Base::scalar: return is_number(t) || t == Ty::tensor;  // a tensor of one element is read
      case Base::integer: return t == Ty::integer || t == Ty::number || t == Ty::tensor;
      case Base::real: return is_number(t) || t == Ty::tensor;
      case Base::boolean: return t == Ty::boolean || (v.is_node() && t == Ty::number);
      case Base::string: return t == Ty::string;
      case Base::dtype: return t == Ty::dtype;
      case Base::device: return t == Ty::device || t == Ty::string || t == Ty::integer;
      case Base::layout: return v.kind == ValueKind::constant && v.text.starts_with("torch.s");
      case Base::memory_format:
        return v.kind == ValueKind::constant &&
               (v.text.ends_with("_format") || v.text.starts_with("torch.channels_last"));
      case Base::generator:
      case Base::other: return false;
    }
    return false;
  }

  bool fits(const Param& param, const Value& v) const {
    const ParamType& p = param.type;
    if (!p.list) return item(p.base, v, p.optional);
    const Ty t = type(v);
    if (t == Ty::any) return true;
    if (t == Ty::none) return p.optional;
    if (v.is_sequence()) {
      return std::all_of(v.items.begin(), v.items.end(), [&](const Value& i) {
        const Ty it = type(i);
        if (p.base == Base::real) return is_number(it);
        return item(p.base, i, p.item_optional);
      });
    }
    if (t == Ty::tensors) return p.base == Base::tensor;
    if (t == Ty::integers) return p.base == Base::integer || p.base == Base::real;
    if (t == Ty::other && v.is_node()) return true;  // a list whose items are known only when it runs
    return p.list_size > 0 && p.base != Base::tensor && item(p.base, v, false);
  }
};

// The keyword's parameter. `self` is `input` in torch.f; torch also takes numpy's names.
const Param* find_keyword(const Schema& schema, std::string_view keyword, Spelled spelled) {
  constexpr std::pair<std::string_view, std::string_view> kNumpy[] = {
      {"axis", "dim"}, {"keepdims", "keepdim"}, {"x", "self"}, {"a", "self"}, {"x1", "self"}, {"x2", "other"}};
  const auto by_name = [&](std::string_view name) -> const Param* {
    for (const Param& p : schema.params)
      if (p.name == name) return &p;
    return nullptr;
  };
  if (spelled == Spelled::function && keyword == "input")
    if (const Param* p = by_name("self")) return p;
  if (spelled == Spelled::function && keyword == "self") return nullptr;
  if (const Param* p = by_name(keyword)) return p;
  if (spelled == Spelled::aten) return nullptr;
  for (const auto& [numpy, ours] : kNumpy)
    if (keyword == numpy) return by_name(ours);
  return nullptr;
}

// A reduction's default is Mean in ATen; Python's binding cannot read that word and takes 0, which is none.
Value default_of(const Param& param, Spelled spelled) {
  const Value& v = *param.default_value;
  if (v.kind == ValueKind::constant && v.text == "torch.Mean")
    return Value::of(std::int64_t{spelled == Spelled::aten ? 1 : 0});
  return v;
}

std::string python_name(const Param& param, Spelled spelled) {
  return spelled == Spelled::function && param.name == "self" ? "input" : param.name;
}

}  // namespace

std::optional<std::vector<Value>> bind_schema(const Schema& schema, Call call, Spelled spelled,
                                              std::span<const Ty> registers, std::string* why) {
  const Fit fit{schema, spelled, registers};
  const auto refuse = [&](std::string reason) {
    if (why != nullptr) *why = std::move(reason);
    return std::nullopt;
  };
  std::vector<const Value*> given(schema.params.size(), nullptr);
  Value varargs;

  // Where the positional arguments go: a method's object is `self`, the rest follow in order.
  std::size_t at = 0;
  std::span<const Value> args = call.args;
  std::size_t self_index = schema.params.size();
  if (spelled == Spelled::method) {
    for (std::size_t i = 0; i < schema.params.size(); ++i)
      if (schema.params[i].name == "self") self_index = i;
    if (self_index == schema.params.size() || args.empty()) return refuse("has no self");
    given[self_index] = &args[0];
    args = args.subspan(1);
  }
  const std::size_t open = schema.positional - (spelled == Spelled::method ? 1 : 0);
  // f(1, 2, 3) for f(int[] sizes): only where the list is the one positional parameter.
  std::size_t first_open = spelled == Spelled::method && self_index == 0 ? 1 : 0;
  const bool can_spread = spelled != Spelled::aten && open == 1 && first_open < schema.params.size() &&
                          schema.params[first_open].type.list && schema.params[first_open].type.base == Base::integer;
  if (can_spread && !args.empty() && !fit.fits(schema.params[first_open], args[0])) {
    varargs = Value::sequence(ValueKind::list, {args.begin(), args.end()});
    given[first_open] = &varargs;
    args = {};
  } else if (can_spread && args.size() > 1) {
    varargs = Value::sequence(ValueKind::list, {args.begin(), args.end()});
    given[first_open] = &varargs;
    args = {};
  }
  if (args.size() > open)
    return refuse(fmt::format("takes {} positional argument{}, {} given", open, open == 1 ? "" : "s", args.size()));
  for (const Value& arg : args) {
    while (given[at] != nullptr) ++at;
    given[at++] = &arg;
  }
  for (const Kwarg& kwarg : call.kwargs) {
    const Param* p = find_keyword(schema, kwarg.name, spelled);
    if (p == nullptr) {
      // Accepted everywhere by torch's factories, without meaning for a run.
      if (kwarg.name == "requires_grad" || (kwarg.name == "out" && kwarg.value.kind == ValueKind::none)) continue;
      return refuse(fmt::format("has no keyword '{}'", kwarg.name));
    }
    const Value*& slot = given[static_cast<std::size_t>(p - schema.params.data())];
    if (slot != nullptr) return refuse(fmt::format("argument '{}' is given twice", kwarg.name));
    slot = &kwarg.value;
  }

  std::vector<Value> out;
  out.reserve(schema.params.size());
  for (std::size_t i = 0; i < schema.params.size(); ++i) {
    const Param& p = schema.params[i];
    if (given[i] == nullptr) {
      if (!p.default_value) return refuse(fmt::format("argument '{}' is missing", python_name(p, spelled)));
      out.push_back(default_of(p, spelled));
    } else if (!fit.fits(p, *given[i])) {
      return refuse(fmt::format("argument '{}' is {}", python_name(p, spelled), ty_name(fit.type(*given[i]))));
    } else {
      out.push_back(*given[i]);
    }
  }
  return out;
}

}  // namespace passnet
