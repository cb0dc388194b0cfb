// collections, operator and copy in a host program.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "host/machine.h"

namespace passnet {

using Kind = HostValue::Kind;

namespace {

// A function whose first arguments are given.
HostValue with_arguments(std::string_view path, HostArgs args) {
  return HostValue::sequence(Kind::partial,
                             {HostValue::path(std::string(path)), HostValue::sequence(Kind::tuple, std::move(args)),
                              HostValue::sequence(Kind::dict, {})});
}

}  // namespace

// copy.copy and copy.deepcopy: containers and objects are made anew, all else is a value.
HostValue HostMachine::copied(const HostValue& v, bool deep, py::Place place, int depth) {
  step(place);
  if (v.is(Kind::iterator))
    refuse(Code::host, "a copy of an iterator", place, "make a list of it, or use itertools.tee");
  const bool made = v.is_sequence() || v.is(Kind::dict) || v.is(Kind::object);
  if (!made) return v;
  check_depth(depth, place);
  std::vector<HostValue> items;
  for (const HostValue& item : v.items->values)
    step(place), items.push_back(deep ? copied(item, deep, place, depth + 1) : item);
  HostValue out = v;
  out.items = std::make_shared<HostItems>(std::move(items), false);
  out.items->factory = v.items->factory;
  out.items->type = v.items->type;
  out.items->most = v.items->most;
  if (const auto& attributes = v.items->attributes) {
    out.items->attributes = std::make_shared<HostItems>(attributes->values, false);
    if (attributes == v.items) out.items->attributes = {std::shared_ptr<HostItems>(), out.items.get()};
  }
  return out;
}

// As collections has them: Counter({'a': 2}), the most common first.
std::string HostMachine::collection_text(const HostValue& v, py::Place place, int depth) {
  HostValue plain = HostValue::sequence(v.kind, v.items->values);
  if (v.items->type == kCounter && !plain.items->values.empty()) {
    HostArgs none;
    const HostValue sorted = *counter_method(v, "most_common", none, {}, place);
    plain = HostValue::sequence(Kind::dict, {});
    for (const HostValue& pair : sorted.items->values)
      plain.items->values.insert(plain.items->values.end(), {pair.items->values[0], pair.items->values[1]});
  }
  std::string inside = plain.items->values.empty() ? "" : text(plain, true, place, depth + 1);
  if (v.items->type == "defaultdict") {
    const std::string of = v.items->factory ? text(*v.items->factory, true, place, depth + 1) : "None";
    inside = fmt::format("{}, {}", of.starts_with("builtins.") ? fmt::format("<class '{}'>", of.substr(9)) : of,
                         text(plain, true, place, depth + 1));
  }
  if (v.is(Kind::list) && inside.empty()) inside = "[]";
  if (v.items->most) inside += fmt::format(", maxlen={}", *v.items->most);
  return fmt::format("{}({})", host_type_name(v), inside);
}

// What is not above zero is left out.
HostValue HostMachine::combined(py::Op op, const HostValue& a, const HostValue& b, py::Place place) {
  HostValue both = copied(a, false, place), out = HostValue::sequence(Kind::dict, {});
  out.items->type = kCounter;
  for (const HostValue& key : iterate(b, place)) set_item(both, key, get_item(both, key, place), place);
  for (const HostValue& key : iterate(both, place)) {
    const HostValue x = get_item(a, key, place), y = get_item(b, key, place);
    const HostValue count = op == py::Op::add || op == py::Op::sub                        ? binary(op, x, y, place)
                            : compare(py::Op::lt, x, y, place) == (op == py::Op::bit_and) ? x
                                                                                          : y;
    if (compare(py::Op::gt, count, HostValue::of(std::int64_t{0}), place)) set_item(out, key, count, place);
  }
  return out;
}

void HostMachine::count_items(HostValue& counter, const HostValue& of, std::int64_t by, py::Place place) {
  const bool counted = of.is(Kind::dict);
  for (const HostValue& item : iterate(of, place)) {
    const HostValue more = counted ? get_item(of, item, place) : HostValue::of(std::int64_t{1});
    const HostValue change = binary(py::Op::mul, more, HostValue::of(by), place);
    set_item(counter, item, binary(py::Op::add, get_item(counter, item, place), change, place), place);
  }
}

std::optional<HostValue> HostMachine::counter_method(const HostValue& object, std::string_view name,
                                                     const HostArgs& args, const HostKwargs& kwargs, py::Place place) {
  HostValue counter = object;
  if (name == "update" || name == "subtract") {
    const std::int64_t by = name == "update" ? 1 : -1;
    if (!args.empty()) count_items(counter, args[0], by, place);
    HostValue named = HostValue::sequence(Kind::dict, {});
    for (const auto& [k, v] : kwargs) set_item(named, HostValue::string(k), v, place);
    count_items(counter, named, by, place);
    return HostValue{};
  }
  if (name == "total") {
    HostValue sum = HostValue::of(std::int64_t{0});
    for (std::size_t i = 1; i < object.items->values.size(); i += 2)
      step(place), sum = binary(py::Op::add, sum, HostValue(object.items->values[i]), place);
    return sum;
  }
  if (name != "most_common" && name != "elements") return std::nullopt;
  std::vector<std::pair<HostValue, HostValue>> entries;
  for (std::size_t i = 0; i + 1 < object.items->values.size(); i += 2)
    step(place), entries.emplace_back(object.items->values[i], object.items->values[i + 1]);
  std::vector<HostValue> out;
  if (name == "elements") {
    for (const auto& [key, count] : entries)
      for (std::int64_t i = 0; i < integer(count, place); ++i) step(place), out.push_back(key);
    return HostValue::sequence(Kind::list, std::move(out));
  }
  merge_sort(entries, [&](const auto& a, const auto& b) { return compare(py::Op::gt, a.second, b.second, place); });
  const bool all = args.empty() || args[0].is(Kind::none);
  const auto most = all ? entries.size() : static_cast<std::size_t>(std::max<std::int64_t>(integer(args[0], place), 0));
  for (std::size_t i = 0; i < std::min(most, entries.size()); ++i)
    out.push_back(HostValue::sequence(Kind::tuple, {entries[i].first, entries[i].second}));
  return HostValue::sequence(Kind::list, std::move(out));
}

std::optional<HostValue> HostMachine::call_collections(std::string_view path, HostArgs& args, HostKwargs& kwargs,
                                                       py::Place place) {
  if (path == "collections.defaultdict") {
    const HostValue factory = args.empty() ? HostValue{} : args[0];
    HostArgs rest(args.begin() + (args.empty() ? 0 : 1), args.end());
    HostValue out = *call_python("dict", rest, kwargs, place);
    if (!factory.is(Kind::none)) out.items->factory = std::make_shared<HostValue>(factory);
    out.items->type = "defaultdict";
    return out;
  }
  if (path == "collections.Counter") {
    HostValue out = HostValue::sequence(Kind::dict, {});
    out.items->type = kCounter;
    if (!args.empty()) count_items(out, args[0], 1, place);
    for (const auto& [k, v] : kwargs) set_item(out, HostValue::string(k), v, place);
    return out;
  }
  if (path == "collections.deque") {
    HostValue out = HostValue::sequence(Kind::list, {});
    out.items->type = kDeque;
    if (args.size() > 1 && !args[1].is(Kind::none)) {
      const std::int64_t most = integer(args[1], place);
      if (most < 0) raise("ValueError", "maxlen must be non-negative", place);
      out.items->most = static_cast<std::size_t>(most);
    }
    const bool given = !args.empty() && !args[0].is(Kind::none);
    if (given) call_method(out, "extend", {args[0]}, {}, place);
    return out;
  }
  if (path.starts_with("itertools.")) return call_itertools(path.substr(10), args, kwargs, place);
  return path.starts_with("operator.") ? call_operator(path.substr(9), args, place) : std::nullopt;
}

std::optional<HostValue> HostMachine::call_operator(std::string_view name, const HostArgs& args, py::Place place) {
  constexpr std::string_view kItems = "itemgetter()", kAttributes = "attrgetter()";
  const auto attribute = [&](HostValue v, std::string_view dotted) {
    for (const std::string_view part : text_split(dotted, '.')) v = eval_attribute(v, part, place);
    return v;
  };
  if (name == "itemgetter" || name == "attrgetter") return with_arguments(fmt::format("operator.{}()", name), args);
  if (name == kItems || name == kAttributes) {  // what they gave, called with an object behind the keys
    if (args.size() < 2) raise("TypeError", fmt::format("{} needs a key and an object", name), place);
    std::vector<HostValue> out;
    for (std::size_t i = 0; i + 1 < args.size(); ++i)
      out.push_back(name == kItems ? get_item(args.back(), args[i], place)
                                   : attribute(args.back(), string_of(args[i], place)));
    return out.size() == 1 ? out[0] : HostValue::sequence(Kind::tuple, std::move(out));
  }
  const py::Op op = py::op_of_name(name);
  if (args.size() == 1) {
    if (py::is_unary(op)) return unary(op, args[0], place);
    if (name == "truth") return HostValue::boolean(truth(args[0], place));
    return std::nullopt;
  }
  if (args.size() != 2 || py::is_unary(op)) return std::nullopt;
  if (py::is_comparison(op)) return HostValue::boolean(compare(op, args[0], args[1], place));
  if (op != py::Op::none) return binary(op, args[0], args[1], place);
  if (name == "contains") return HostValue::boolean(contains(args[0], args[1], place));
  return name == "getitem" ? std::optional(get_item(args[0], args[1], place)) : std::nullopt;
}

}  // namespace passnet
