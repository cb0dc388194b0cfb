#include "fx/traced_objects.h"

#include <fmt/format.h>

#include <algorithm>

namespace passnet {

namespace {

constexpr std::string_view kDict = "dict ";

// Which of `size` items a number means.
std::optional<std::size_t> position(const Value& index, std::size_t size) {
  const auto n = static_cast<std::int64_t>(size);
  if (index.kind != ValueKind::integer || index.integer < -n || index.integer >= n) return std::nullopt;
  return static_cast<std::size_t>(index.integer < 0 ? index.integer + n : index.integer);
}

std::optional<std::vector<Value>> slice_of(const std::vector<Value>& items, const std::vector<Value>& part) {
  const auto n = static_cast<std::int64_t>(items.size());
  for (const Value& v : part)
    if (v.kind != ValueKind::none && v.kind != ValueKind::integer) return std::nullopt;
  const auto given = [&](std::size_t i) { return i < part.size() && part[i].kind == ValueKind::integer; };
  const std::int64_t by = given(2) ? std::clamp<std::int64_t>(part[2].integer, -n - 1, n + 1) : 1;
  if (by == 0) return std::nullopt;
  const auto bound = [&](std::size_t i, std::int64_t otherwise) {
    if (!given(i)) return otherwise;
    const std::int64_t b = part[i].integer;
    return std::clamp<std::int64_t>(b < 0 ? b + n : b, by < 0 ? -1 : 0, by < 0 ? n - 1 : n);
  };
  const std::int64_t begin = bound(0, by < 0 ? n - 1 : 0), end = bound(1, by < 0 ? -1 : n);
  std::vector<Value> out;
  for (std::int64_t i = begin; by > 0 ? i < end : i > end; i += by) out.push_back(items[static_cast<std::size_t>(i)]);
  return out;
}

}  // namespace

Value TracedObjects::make_list(std::vector<Value> items) {
  lists_.push_back(items);
  Value out = Value::sequence(ValueKind::list, std::move(items));
  out.text = std::to_string(lists_.size() - 1);
  return out;
}

Value TracedObjects::make_dict(Dict items) {
  dicts_.push_back(std::move(items));
  return Value::constant(fmt::format("{}{}", kDict, dicts_.size() - 1));
}

std::vector<Value>* TracedObjects::items(const Value& v) {
  return v.kind == ValueKind::list && !v.text.empty() ? &lists_[std::stoul(v.text)] : nullptr;
}

TracedObjects::Dict* TracedObjects::dict(const Value& v) {
  if (v.kind != ValueKind::constant || !v.text.starts_with(kDict)) return nullptr;
  return &dicts_[std::stoul(v.text.substr(kDict.size()))];
}

bool TracedObjects::has_dict(const Value& v) const {
  return (v.kind == ValueKind::constant && v.text.starts_with(kDict)) ||
         std::any_of(v.items.begin(), v.items.end(), [&](const Value& item) { return has_dict(item); });
}

Value TracedObjects::current(Value v) const {
  if (v.kind == ValueKind::list && !v.text.empty()) v.items = lists_[std::stoul(v.text)];
  for (Value& item : v.items) item = current(std::move(item));
  return v;
}

Value TracedObjects::plain(Value v) const {
  if (v.kind == ValueKind::list && !v.text.empty()) v.items = lists_[std::stoul(v.text)];
  if (v.kind == ValueKind::list) v.text.clear();
  for (Value& item : v.items) item = plain(std::move(item));
  return v;
}

// Whether an object is, or is in, a value.
bool TracedObjects::reaches(const Value& v, const Value& object) const {
  if (v.kind == object.kind && !v.text.empty() && v.text == object.text) return true;
  const auto inside = [&](const Value& item) { return reaches(item, object); };
  if (v.kind == ValueKind::constant && v.text.starts_with(kDict)) {
    const Dict& dict = dicts_[std::stoul(v.text.substr(kDict.size()))];
    return std::any_of(dict.begin(), dict.end(), [&](const auto& entry) { return inside(entry.second); });
  }
  const bool named = v.kind == ValueKind::list && !v.text.empty();
  const std::vector<Value>& items = named ? lists_[std::stoul(v.text)] : v.items;
  return std::any_of(items.begin(), items.end(), inside);
}

std::optional<Value> TracedObjects::item(const Value& object, const Value& index) const {
  if (object.is_sequence()) {
    if (const auto at = position(index, object.items.size())) return current(object.items[*at]);
    const auto part = index.kind == ValueKind::slice ? slice_of(object.items, index.items) : std::nullopt;
    return part ? std::optional(Value::sequence(object.kind, *part)) : std::nullopt;
  }
  if (object.kind != ValueKind::constant || !object.text.starts_with(kDict)) return std::nullopt;
  for (const auto& [key, held] : dicts_[std::stoul(object.text.substr(kDict.size()))])
    if (key == index) return current(held);
  return std::nullopt;
}

bool TracedObjects::set_item(const Value& object, const Value& index, const Value& v) {
  if (reaches(v, object)) return false;
  if (std::vector<Value>* list = items(object)) {
    const auto at = position(index, list->size());
    if (at) (*list)[*at] = v;
    return at.has_value();
  }
  Dict* known = dict(object);
  if (known == nullptr) return false;
  const auto at = std::find_if(known->begin(), known->end(), [&](const auto& entry) { return entry.first == index; });
  if (at == known->end())
    known->emplace_back(index, v);
  else
    at->second = v;
  return true;
}

std::optional<Value> TracedObjects::method(const Value& object, std::string_view name, const std::vector<Value>& args,
                                           const std::vector<Kwarg>& kwargs) {
  if (Dict* known = dict(object)) return dict_method(*known, object, name, args, kwargs);
  if (!object.is_sequence() || !kwargs.empty()) return std::nullopt;
  if (name == "copy" && args.empty() && object.kind == ValueKind::list) return make_list(object.items);
  const auto is_wanted = [&](const Value& v) { return v == args[0]; };
  if (name == "count" && args.size() == 1)
    return Value::of(static_cast<std::int64_t>(std::count_if(object.items.begin(), object.items.end(), is_wanted)));
  if (name == "index" && args.size() == 1) {
    const auto at = std::find_if(object.items.begin(), object.items.end(), is_wanted);
    return at == object.items.end() ? std::nullopt : std::optional(Value::of(at - object.items.begin()));
  }
  std::vector<Value>* known = items(object);
  return known == nullptr ? std::nullopt : list_method(*known, object, name, args);
}

std::optional<Value> TracedObjects::list_method(std::vector<Value>& items, const Value& object, std::string_view name,
                                                const std::vector<Value>& args) {
  if (std::any_of(args.begin(), args.end(), [&](const Value& v) { return name != "extend" && reaches(v, object); }))
    return std::nullopt;
  if (name == "append" && args.size() == 1) {
    items.push_back(args[0]);
  } else if (name == "extend" && args.size() == 1 && args[0].is_sequence()) {
    items.insert(items.end(), args[0].items.begin(), args[0].items.end());
  } else if (name == "insert" && args.size() == 2 && args[0].kind == ValueKind::integer) {
    const auto n = static_cast<std::int64_t>(items.size());
    const std::int64_t at = args[0].integer < 0 ? args[0].integer + n : args[0].integer;
    items.insert(items.begin() + std::clamp<std::int64_t>(at, 0, n), args[1]);
  } else if (name == "pop" && args.size() <= 1) {
    const auto at = position(args.empty() ? Value::of(std::int64_t{-1}) : args[0], items.size());
    if (!at) return std::nullopt;
    Value out = items[*at];
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(*at));
    return current(std::move(out));
  } else if (name == "reverse" && args.empty()) {
    std::reverse(items.begin(), items.end());
  } else if (name == "clear" && args.empty()) {
    items.clear();
  } else {
    return std::nullopt;
  }
  return Value::none();
}

std::optional<Value> TracedObjects::dict_method(Dict& known, const Value& object, std::string_view name,
                                                const std::vector<Value>& args, const std::vector<Kwarg>& kwargs) {
  if (args.empty() && (name == "keys" || name == "values" || name == "items")) {
    std::vector<Value> out;
    for (const auto& [key, held] : known)
      out.push_back(current(name == "keys"     ? key
                            : name == "values" ? held
                                               : Value::sequence(ValueKind::tuple, {key, held})));
    return Value::sequence(ValueKind::list, std::move(out));
  }
  if (name == "copy" && args.empty()) return make_dict(known);
  if (name == "update" && args.size() <= 1) {
    const Dict* other = args.empty() ? nullptr : dict(args[0]);
    if (!args.empty() && other == nullptr) return std::nullopt;
    if (other != nullptr)
      for (const auto& [key, held] : Dict(*other))
        if (!set_item(object, key, held)) return std::nullopt;
    for (const Kwarg& k : kwargs)
      if (!set_item(object, Value::string(k.name), k.value)) return std::nullopt;
    return Value::none();
  }
  if (args.empty() || args.size() > 2 || !kwargs.empty() || (name != "get" && name != "pop" && name != "setdefault"))
    return std::nullopt;
  const auto at = std::find_if(known.begin(), known.end(), [&](const auto& entry) { return entry.first == args[0]; });
  if (at == known.end()) {
    if (name == "pop" && args.size() < 2) return std::nullopt;
    Value out = args.size() > 1 ? args[1] : Value::none();
    if (name == "setdefault" && !set_item(object, args[0], out)) return std::nullopt;
    return out;
  }
  Value out = current(at->second);
  if (name == "pop") known.erase(at);
  return out;
}

}  // namespace passnet
