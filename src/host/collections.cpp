// collections, itertools and operator in a host program. What Python would give one by one is a list here.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

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
  const bool made = v.is_sequence() || v.is(Kind::dict) || v.is(Kind::object);
  if (!made) return v;
  check_depth(depth, place);
  std::vector<HostValue> items;
  for (const HostValue& item : v.items->values)
    step(place), items.push_back(deep ? copied(item, deep, place, depth + 1) : item);
  HostValue out = v;
  out.items = std::make_shared<HostItems>(std::move(items), false);
  out.items->factory = v.items->factory;
  out.items->counts = v.items->counts;
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

struct HostMachine::Itertools {
  using Call = HostCall;
  using Run = HostValue (*)(HostMachine& m, const Call& c);
  using Rows = std::vector<std::vector<HostValue>>;

  static std::vector<HostValue> items(HostMachine& m, const Call& c, std::size_t i) {
    return m.iterate(c.args[i], c.place);
  }
  static HostValue tuple(std::vector<HostValue> of) { return HostValue::sequence(Kind::tuple, std::move(of)); }
  static HostValue list(std::vector<HostValue> of) { return HostValue::sequence(Kind::list, std::move(of)); }
  static bool fits(HostMachine& m, const Call& c, const HostValue& item) {  // by the function that is given first
    return m.truth(m.call(c.args[0], {item}, {}, c.place), c.place);
  }

  // ---- one behind the other

  static HostValue accumulate(HostMachine& m, const Call& c) {
    std::vector<HostValue> out = items(m, c, 0);
    if (const HostValue* initial = keyword(c.kwargs, "initial"); initial != nullptr && !initial->is(Kind::none))
      out.insert(out.begin(), *initial);
    const bool summed = !c.has(1);
    for (std::size_t i = 1; i < out.size(); ++i)
      out[i] = !summed ? m.call(c.args[1], {out[i - 1], out[i]}, {}, c.place)
                       : m.binary(py::Op::add, out[i - 1], out[i], c.place);
    return list(std::move(out));
  }

  static HostValue chain(HostMachine& m, const Call& c) {  // chain, chain.from_iterable
    std::vector<HostValue> out;
    for (const HostValue& a : c.name == "chain" ? c.args : items(m, c, 0))
      for (HostValue& v : m.iterate(a, c.place)) m.step(c.place), out.push_back(std::move(v));
    return list(std::move(out));
  }

  static HostValue repeat(HostMachine& m, const Call& c) {
    if (c.args.size() < 2) m.refuse(Code::host, "repeat() without an end", c.place, "say how often");
    return m.binary(py::Op::mul, list({c.args[0]}), HostValue::of(m.integer(c.args[1], c.place)), c.place);
  }

  static HostValue islice(HostMachine& m, const Call& c) {
    HostArgs bounds = c.args.size() == 2 ? HostArgs{{}, c.args[1]} : HostArgs(c.args.begin() + 1, c.args.end());
    bounds.resize(3);
    const HostValue slice = HostValue::sequence(Kind::slice, bounds);
    const HostValue all = list(items(m, c, 0));
    if (c.args[0].is(Kind::iterator) && !bounds[1].is(Kind::none)) {  // the rest is still to come
      const HostValue rest = HostValue::sequence(Kind::slice, {bounds[1], {}, {}});
      c.args[0].items->values = m.get_slice(all, rest, c.place).items->values;
    }
    return m.get_slice(all, slice, c.place);
  }

  static HostValue pairwise(HostMachine& m, const Call& c) {
    const std::vector<HostValue> of = items(m, c, 0);
    std::vector<HostValue> out;
    for (std::size_t i = 1; i < of.size(); ++i) out.push_back(tuple({of[i - 1], of[i]}));
    return list(std::move(out));
  }

  // ---- by a function

  static HostValue starmap(HostMachine& m, const Call& c) {
    std::vector<HostValue> out;
    for (const HostValue& item : items(m, c, 1))
      out.push_back(m.call(c.args[0], m.iterate(item, c.place), {}, c.place));
    return list(std::move(out));
  }

  static HostValue takewhile(HostMachine& m, const Call& c) {
    std::vector<HostValue> out;
    for (const HostValue& item : items(m, c, 1)) {
      if (!fits(m, c, item)) break;
      out.push_back(item);
    }
    return list(std::move(out));
  }

  static HostValue dropwhile(HostMachine& m, const Call& c) {
    std::vector<HostValue> out;
    bool dropping = true;
    for (const HostValue& item : items(m, c, 1)) {
      dropping = dropping && fits(m, c, item);
      if (!dropping) out.push_back(item);
    }
    return list(std::move(out));
  }

  static HostValue filterfalse(HostMachine& m, const Call& c) {
    std::vector<HostValue> out;
    for (const HostValue& item : items(m, c, 1))
      if (!fits(m, c, item)) out.push_back(item);
    return list(std::move(out));
  }

  // ---- of several

  // Each row with each value behind it.
  static Rows longer(HostMachine& m, const Call& c, const Rows& rows, const std::vector<HostValue>& values) {
    Rows out;
    for (const auto& row : rows)
      for (const HostValue& v : values) {
        m.spend(8, c.place);
        out.push_back(row);
        out.back().push_back(v);
      }
    return out;
  }

  static HostValue product(HostMachine& m, const Call& c) {
    Rows rows(1);
    std::int64_t repeat = 1;
    for (const auto& [k, v] : c.kwargs)
      if (k == "repeat") repeat = std::clamp<std::int64_t>(m.integer(v, c.place), 0, 20);
    Rows all;
    for (const HostValue& a : c.args) all.push_back(m.iterate(a, c.place));
    for (std::int64_t r = 0; r < repeat; ++r)
      for (const std::vector<HostValue>& values : all) rows = longer(m, c, rows, values);
    std::vector<HostValue> out;
    for (auto& row : rows) out.push_back(tuple(std::move(row)));
    return list(std::move(out));
  }

  static HostValue zip_longest(HostMachine& m, const Call& c) {
    const HostValue* fill = keyword(c.kwargs, "fillvalue");
    Rows all;
    std::size_t longest = 0;
    for (const HostValue& a : c.args) {
      all.push_back(m.iterate(a, c.place));
      longest = std::max(longest, all.back().size());
    }
    std::vector<HostValue> out;
    for (std::size_t i = 0; i < longest; ++i) {
      std::vector<HostValue> row;
      for (const auto& of : all)
        m.step(c.place), row.push_back(i < of.size() ? of[i] : fill != nullptr ? *fill : HostValue{});
      out.push_back(tuple(std::move(row)));
    }
    return list(std::move(out));
  }

  // combinations, combinations_with_replacement, permutations
  static HostValue choices(HostMachine& m, const Call& c) {
    const std::vector<HostValue> of = items(m, c, 0);
    const auto given = c.has(1) ? m.integer(c.args[1], c.place) : static_cast<std::int64_t>(of.size());
    if (given < 0) m.raise("ValueError", "r must be non-negative", c.place);
    const auto length = static_cast<std::size_t>(std::min<std::int64_t>(given, 1000));
    const bool ordered = c.name == "permutations", once = c.name == "combinations";
    std::vector<HostValue> out;
    std::vector<std::size_t> chosen;
    const auto choose = [&](const auto& self, std::size_t from) -> void {
      m.step(c.place);
      if (chosen.size() == length) {
        std::vector<HostValue> row;
        for (const std::size_t i : chosen) m.step(c.place), row.push_back(of[i]);
        out.push_back(tuple(std::move(row)));
        return;
      }
      for (std::size_t i = from; i < of.size(); ++i) {
        if (ordered && std::find(chosen.begin(), chosen.end(), i) != chosen.end()) continue;
        chosen.push_back(i);
        self(self, ordered ? 0 : once ? i + 1 : i);
        chosen.pop_back();
      }
    };
    choose(choose, 0);
    return list(std::move(out));
  }

  static Run find(std::string_view name);
};

HostMachine::Itertools::Run HostMachine::Itertools::find(std::string_view name) {
  static const std::unordered_map<std::string_view, Run> kAll = {
      {"accumulate", accumulate},
      {"chain", chain},
      {"chain.from_iterable", chain},
      {"combinations", choices},
      {"combinations_with_replacement", choices},
      {"dropwhile", dropwhile},
      {"filterfalse", filterfalse},
      {"islice", islice},
      {"pairwise", pairwise},
      {"permutations", choices},
      {"product", product},
      {"repeat", repeat},
      {"starmap", starmap},
      {"takewhile", takewhile},
      {"zip_longest", zip_longest},
  };
  return find_row(kAll, name);
}

std::optional<HostValue> HostMachine::call_collections(std::string_view path, HostArgs& args, HostKwargs& kwargs,
                                                       py::Place place) {
  if (path == "collections.defaultdict") {
    const HostValue factory = args.empty() ? HostValue{} : args[0];
    HostArgs rest(args.begin() + (args.empty() ? 0 : 1), args.end());
    HostValue out = *call_python("dict", rest, kwargs, place);
    if (!factory.is(Kind::none)) out.items->factory = std::make_shared<HostValue>(factory);
    return out;
  }
  if (path == "collections.Counter") {
    HostValue out = HostValue::sequence(Kind::dict, {});
    out.items->counts = true;
    if (!args.empty()) count_items(out, args[0], 1, place);
    for (const auto& [k, v] : kwargs) set_item(out, HostValue::string(k), v, place);
    return out;
  }
  if (path == "collections.deque") {
    if (args.size() > 1 && !args[1].is(Kind::none)) refuse(Code::host, "a deque with maxlen", place, "write a list");
    const bool empty = args.empty() || args[0].is(Kind::none);
    return HostValue::sequence(Kind::list, empty ? HostArgs{} : iterate(args[0], place));
  }
  if (path.starts_with("itertools.")) {
    const std::string_view name = path.substr(10);
    const Itertools::Run found = Itertools::find(name);
    return found == nullptr ? std::nullopt : std::optional(found(*this, {name, args, kwargs, place}));
  }
  return path.starts_with("operator.") ? call_operator(path.substr(9), args, place) : std::nullopt;
}

std::optional<HostValue> HostMachine::call_operator(std::string_view name, const HostArgs& args, py::Place place) {
  constexpr std::string_view kItems = "itemgetter()", kAttributes = "attrgetter()";
  if (name == "itemgetter" || name == "attrgetter") return with_arguments(fmt::format("operator.{}()", name), args);
  if (name == kItems || name == kAttributes) {  // what they gave, called with an object behind the keys
    if (args.size() < 2) raise("TypeError", fmt::format("{} needs a key and an object", name), place);
    std::vector<HostValue> out;
    for (std::size_t i = 0; i + 1 < args.size(); ++i)
      out.push_back(name == kItems ? get_item(args.back(), args[i], place)
                                   : eval_attribute(args.back(), string_of(args[i], place), place));
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
