// Methods of lists, tuples, sets and dicts in a host program.
#include <fmt/format.h>

#include <algorithm>

#include "host/machine.h"

namespace passnet {

using Kind = HostValue::Kind;

namespace {

// What another call could see is changed only while no one else runs: the container itself is Python's, shared by
// reference.
bool is_one_of(std::string_view name, std::initializer_list<std::string_view> known) {
  return std::find(known.begin(), known.end(), name) != known.end();
}

}  // namespace

std::optional<HostValue> HostMachine::sequence_method(const HostValue& object, std::string_view name, HostArgs& args,
                                                      HostKwargs& kwargs, py::Place place) {
  auto& items = object.items->values;
  if (name == "index") {
    const auto [begin, end] = bounds(args, items.size(), place);
    const std::vector<HostValue> all = iterate(object, place);
    std::size_t at = begin;
    while (at < end && !equal(all[at], args[0], place)) ++at;
    if (at >= end)
      raise("ValueError", fmt::format("{} is not in the {}", text(args[0], true, place), host_type_name(object)),
            place);
    return HostValue::of(static_cast<std::int64_t>(at));
  }
  if (name == "count") {
    const std::vector<HostValue> all = iterate(object, place);
    return HostValue::of(static_cast<std::int64_t>(
        std::count_if(all.begin(), all.end(), [&](const HostValue& v) { return equal(v, args[0], place); })));
  }
  if (name == "numel" && object.is(Kind::tuple)) {  // torch.Size
    HostArgs sizes{object};
    HostKwargs none;
    return call_math("prod", sizes, none, place);
  }
  if (!object.is(Kind::list)) return std::nullopt;

  // A deque that has a maxlen drops what is too many at its other end.
  const auto trim = [&](bool front) {
    if (!object.items->most || items.size() <= *object.items->most) return;
    const auto over = static_cast<std::ptrdiff_t>(items.size() - *object.items->most);
    items.erase(front ? items.begin() : items.end() - over, front ? items.begin() + over : items.end());
  };
  if (name == "append") {
    check_write(*object.items, args[0], place);
    items.push_back(args[0]);
    trim(true);
    return HostValue{};
  }
  if (name == "extend") {
    const auto add = [&](HostValue& v) {
      check_write(*object.items, v, place);
      items.push_back(std::move(v));
      trim(true);
    };
    if (args[0].is(Kind::list)) {  // perhaps itself
      for (HostValue& v : iterate(args[0], place)) add(v);
    } else {
      for (HostValue& v : each(args[0], place)) add(v);
    }
    return HostValue{};
  }
  if (name == "appendleft") {
    check_write(*object.items, args[0], place);
    spend(items.size() / 8, place);
    items.insert(items.begin(), args[0]);
    trim(false);
    return HostValue{};
  }
  if (name == "extendleft") {
    for (const HostValue& v : iterate(args[0], place)) {
      HostArgs one{v};
      sequence_method(object, "appendleft", one, kwargs, place);
    }
    return HostValue{};
  }
  if (name == "rotate") {
    const auto size = static_cast<std::int64_t>(items.size());
    const std::int64_t by = size == 0 ? 0 : (args.empty() ? 1 : integer(args[0], place)) % size;
    spend(items.size() / 8, place);
    std::rotate(items.begin(), items.begin() + (by > 0 ? size - by : -by), items.end());
    return HostValue{};
  }
  if (name == "popleft") {
    if (items.empty()) raise("IndexError", "pop from an empty deque", place);
    spend(items.size() / 8, place);
    HostValue out = items.front();
    items.erase(items.begin());
    return out;
  }
  if (name == "insert") {
    check_write(*object.items, args[1], place);
    const auto n = static_cast<std::int64_t>(items.size());
    const std::int64_t at = integer(args[0], place);
    spend(items.size() / 8, place);
    items.insert(items.begin() + std::clamp<std::int64_t>(at < 0 ? at + n : at, 0, n), args[1]);
    return HostValue{};
  }
  if (name == "pop") {
    if (items.empty()) raise("IndexError", "pop from an empty list", place);
    std::int64_t at = args.empty() ? -1 : integer(args[0], place);
    if (at < 0) at += static_cast<std::int64_t>(items.size());
    if (at < 0 || at >= static_cast<std::int64_t>(items.size())) raise("IndexError", "pop index out of range", place);
    HostValue out = items[static_cast<std::size_t>(at)];
    spend((items.size() - static_cast<std::size_t>(at)) / 8, place);
    items.erase(items.begin() + at);
    return out;
  }
  if (name == "remove") {
    const std::size_t at = find_item(*object.items, args[0], place);
    if (at == items.size()) raise("ValueError", "list.remove(x): x not in list", place);
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
    return HostValue{};
  }
  if (name == "reverse") return std::reverse(items.begin(), items.end()), HostValue{};
  if (name == "sort") {
    std::vector<HostValue> sorted = items;  // a key function may look at the list
    sort(sorted, kwargs, place);
    items = std::move(sorted);
    return HostValue{};
  }
  if (name == "copy" && object.items->type == kDeque) return copied(object, false, place);
  if (name == "copy") return HostValue::sequence(object.kind, iterate(object, place));
  if (name == "clear") return items.clear(), HostValue{};
  return std::nullopt;
}

std::optional<HostValue> HostMachine::set_method(const HostValue& object, std::string_view name, HostArgs& args,
                                                 py::Place place) {
  auto& items = object.items->values;
  if (name == "copy") return HostValue::sequence(Kind::set, iterate(object, place));
  if (name == "pop") {
    if (items.empty()) raise("KeyError", "pop from an empty set", place);
    HostValue out = items.front();
    items.erase(items.begin());
    return out;
  }
  if (name == "clear") return items.clear(), HostValue{};
  if (!is_one_of(name, {"add", "discard", "remove", "update", "union", "intersection", "difference",
                        "symmetric_difference", "issubset", "issuperset", "isdisjoint"}))
    return std::nullopt;
  if (name == "add") {
    check_write(*object.items, args[0], place);
    add_unique(*object.items, args[0], place);
    return HostValue{};
  }
  if (name == "discard" || name == "remove") {
    const std::size_t at = find_item(*object.items, args[0], place);
    if (at == items.size() && name == "remove") raise("KeyError", text(args[0], true, place), place);
    if (at < items.size()) items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
    return HostValue{};
  }
  if (name == "update") {
    for (const HostValue& more : args)
      for (HostValue& v : each(more, place)) {
        check_write(*object.items, v, place);
        add_unique(*object.items, std::move(v), place);
      }
    return HostValue{};
  }
  if (args.empty()) return set_method(object, "copy", args, place);
  if (args.size() > 1) {  // one after the other
    HostValue all = object;
    for (const HostValue& more : args) {
      HostArgs one{more};
      all = *set_method(all, name, one, place);
    }
    return all;
  }
  const HostValue other = HostValue::sequence(Kind::set, iterate(args[0], place));
  const auto all_in = [&](const HostValue& a, const HostValue& b) {
    const std::vector<HostValue> all = iterate(a, place);
    return std::all_of(all.begin(), all.end(), [&](const HostValue& v) { return contains(b, v, place); });
  };
  if (name == "issubset") return HostValue::boolean(all_in(object, other));
  if (name == "issuperset") return HostValue::boolean(all_in(other, object));
  HostValue out = HostValue::sequence(Kind::set, {});
  for (const HostValue& v : iterate(object, place)) {
    const bool shared = contains(other, v, place);
    if (name == "isdisjoint" && shared) return HostValue::boolean(false);
    if (name == "union" || shared == (name == "intersection")) add_unique(*out.items, v, place);
  }
  if (name == "isdisjoint") return HostValue::boolean(true);
  if (name == "union" || name == "symmetric_difference")
    for (const HostValue& v : other.items->values)
      if (name == "union" || !contains(object, v, place)) add_unique(*out.items, v, place);
  return out;
}

std::optional<HostValue> HostMachine::dict_method(const HostValue& object, std::string_view name, HostArgs& args,
                                                  HostKwargs& kwargs, py::Place place) {
  if (object.items->type == kCounter)
    if (auto v = counter_method(object, name, args, kwargs, place)) return v;
  auto& items = object.items->values;
  HostValue target = object;
  const auto find = [&](const HostValue& key) { return find_item(*object.items, key, place, 2); };
  const auto erase = [&](std::size_t at) {
    HostValue out = items[at + 1];
    spend((items.size() - at) / 8, place);
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(at), items.begin() + static_cast<std::ptrdiff_t>(at) + 2);
    return out;
  };
  if (name == "keys" || name == "values" || name == "items") return make_view(object, name);
  if (name == "move_to_end") {
    const bool last = args.size() < 2 || truth(args[1], place);  // which may change the dict
    const std::size_t at = find(args[0]);
    if (at == items.size()) raise("KeyError", text(args[0], true, place), place);
    HostValue key = items[at], value = erase(at);
    spend(last ? 1 : items.size() / 8, place);
    items.insert(last ? items.end() : items.begin(), {std::move(key), std::move(value)});
    return HostValue{};
  }
  if (name == "copy") {
    spend(items.size() / 2, place);
    return object.items->type.empty() ? HostValue::sequence(Kind::dict, items) : copied(object, false, place);
  }
  if (name == "clear") return items.clear(), HostValue{};
  if (name == "popitem") {
    const bool last = args.empty() || truth(args[0], place);  // which may change the dict
    if (items.empty()) raise("KeyError", "popitem(): dictionary is empty", place);
    const std::size_t at = last ? items.size() - 2 : 0;
    HostValue key = items[at];
    HostValue value = erase(at);
    return HostValue::sequence(Kind::tuple, {std::move(key), std::move(value)});
  }
  if (name == "update") {
    if (!args.empty() && args[0].is(Kind::dict)) {
      const std::vector<HostValue> other = args[0].items->values;
      for (std::size_t i = 0; i + 1 < other.size(); i += 2) set_item(target, other[i], other[i + 1], place);
    } else if (!args.empty()) {
      for (const HostValue& pair : each(args[0], place))
        set_item(target, get_item(pair, HostValue::of(std::int64_t{0}), place),
                 get_item(pair, HostValue::of(std::int64_t{1}), place), place);
    }
    for (auto& [k, v] : kwargs) set_item(target, HostValue::string(k), v, place);
    return HostValue{};
  }
  if (!is_one_of(name, {"get", "setdefault", "pop"})) return std::nullopt;
  const std::size_t at = find(args[0]);
  if (at < items.size()) return name == "pop" ? erase(at) : items[at + 1];
  if (name == "pop" && args.size() < 2) raise("KeyError", text(args[0], true, place), place);
  HostValue out = args.size() > 1 ? args[1] : HostValue{};
  if (name == "setdefault") set_item(target, args[0], out, place);
  return out;
}

// What operators and functions of Python do, by the names of the methods that they stand for.
std::optional<HostValue> HostMachine::container_operator(const HostValue& object, std::string_view name,
                                                         const HostArgs& args, py::Place place) {
  HostValue target = object;
  if (!object.is_sequence() && !object.is(Kind::dict)) return std::nullopt;
  if (name == "__contains__") return HostValue::boolean(contains(object, args[0], place));
  if (name == "__eq__") return HostValue::boolean(equal(object, args[0], place));
  if (name == "__getitem__") return get_item(object, args[0], place);
  if (name == "__iter__") return iterator_of(object, place);
  if (name == "__len__") {
    const std::size_t size = object.items->values.size();
    return HostValue::of(static_cast<std::int64_t>(object.is(Kind::dict) ? size / 2 : size));
  }
  if (name == "__setitem__") return set_item(target, args[0], args[1], place), HostValue{};
  if (name == "__delitem__") return delete_item(object, args[0], place), HostValue{};
  return std::nullopt;
}

}  // namespace passnet
