// itertools in a host program: a row each, which makes an iterator, and the function by which that goes on.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "host/machine.h"

namespace passnet {

using Kind = HostValue::Kind;

struct HostMachine::Itertools {
  using Call = HostCall;
  using Run = HostValue (*)(HostMachine& m, const Call& c);
  using Item = std::optional<HostValue>;
  using Values = std::vector<HostValue>;

  static HostValue tuple(Values of) { return HostValue::sequence(Kind::tuple, std::move(of)); }
  static HostValue below(HostMachine& m, const Call& c, std::size_t i) { return m.iterator_of(c.args[i], c.place); }
  static Values all_below(HostMachine& m, const Call& c) {
    Values out;
    for (const HostValue& v : c.args) out.push_back(m.iterator_of(v, c.place));
    return out;
  }
  static HostValue keyword_or(const Call& c, std::string_view name, HostValue otherwise) {
    const HostValue* given = keyword(c.kwargs, name);
    return given != nullptr ? *given : std::move(otherwise);
  }

  // What an exception ends for good, as in Python: it keeps no iterator behind it.
  template <HostSource::Next next>
  static Item once(HostMachine& m, HostItems& it, py::Place place) {
    try {
      return next(m, it, place);
    } catch (const HostRaise&) {
      it.values.clear();
      throw;
    }
  }

  // ---- numbers and repetitions

  // values: the next number, the step.
  static HostValue count(HostMachine& m, const Call& c) {
    Values values{c.has(0) ? c.args[0] : HostValue::of(std::int64_t{0}),
                  c.has(1) ? c.args[1] : HostValue::of(std::int64_t{1})};
    for (const HostValue& v : values) m.real(v, c.place);
    return m.make_iterator("itertools.count", next_count, std::move(values));
  }
  static Item next_count(HostMachine& m, HostItems& it, py::Place place) {
    HostValue following = m.binary(py::Op::add, it.values[0], it.values[1], place);
    return std::exchange(it.values[0], std::move(following));
  }

  // values: the object; at: how often still, or -1.
  static HostValue repeat(HostMachine& m, const Call& c) {
    const std::int64_t times = c.args.size() > 1 ? std::max<std::int64_t>(m.integer(c.args[1], c.place), 0) : -1;
    return m.make_iterator("itertools.repeat", next_repeat, {c.args[0]}, times);
  }
  static Item next_repeat(HostMachine&, HostItems& it, py::Place) {
    if (it.source->at == 0) return std::nullopt;
    if (it.source->at > 0) --it.source->at;
    return it.values[0];
  }

  // values: the iterator below, and behind it what it gave; at: where in that, once it has ended.
  static HostValue cycle(HostMachine& m, const Call& c) {
    return m.make_iterator("itertools.cycle", next_cycle, {below(m, c, 0)});
  }
  static Item next_cycle(HostMachine& m, HostItems& it, py::Place place) {
    if (!it.values[0].is(Kind::none)) {
      if (Item item = m.advance(it.values[0], place)) {
        m.check_kept(it, *item, place);
        it.values.push_back(*item);
        return item;
      }
      it.values[0] = {};
    }
    if (it.values.size() == 1) return std::nullopt;
    const auto at = static_cast<std::size_t>(it.source->at);
    it.source->at = at + 2 < it.values.size() ? it.source->at + 1 : 0;
    return it.values[at + 1];
  }

  // ---- one behind the other

  // values: the iterator, the function or None, the total once there is one.
  static HostValue accumulate(HostMachine& m, const Call& c) {
    Values values{below(m, c, 0), c.has(1) ? c.args[1] : HostValue{}};
    HostValue initial = keyword_or(c, "initial", {});
    const bool begun = !initial.is(Kind::none);
    if (begun) values.push_back(std::move(initial));
    return m.make_iterator("itertools.accumulate", next_accumulate, std::move(values), begun ? 0 : 1);
  }
  static Item next_accumulate(HostMachine& m, HostItems& it, py::Place place) {
    if (std::exchange(it.source->at, 1) == 0) return it.values[2];  // the initial one
    Item item = m.advance(it.values[0], place);
    if (!item) return std::nullopt;
    if (it.values.size() < 3)
      it.values.push_back(std::move(*item));
    else if (it.values[1].is(Kind::none))
      it.values[2] = m.binary(py::Op::add, it.values[2], *item, place);
    else
      it.values[2] = m.call(it.values[1], {it.values[2], std::move(*item)}, {}, place);
    m.check_kept(it, it.values[2], place);
    return it.values[2];
  }

  // values: what is to be chained; at: which of them; end: of how many the iterator is made.
  static HostValue chain(HostMachine& m, const Call& c) {
    return m.make_iterator("itertools.chain", next_chain, c.args);
  }
  static Item next_chain(HostMachine& m, HostItems& it, py::Place place) {
    HostSource& s = *it.source;
    for (; s.at < static_cast<std::int64_t>(it.values.size()); ++s.at) {
      HostValue& current = it.values[static_cast<std::size_t>(s.at)];
      if (s.end <= s.at) {
        current = m.iterator_of(current, place);
        s.end = s.at + 1;
      }
      if (Item item = m.advance(current, place)) return item;
      current = {};
    }
    return std::nullopt;
  }

  // values: the iterator of iterables, that of the current one.
  static HostValue chain_from(HostMachine& m, const Call& c) {
    return m.make_iterator("itertools.chain", next_chain_from, {below(m, c, 0), {}});
  }
  static Item next_chain_from(HostMachine& m, HostItems& it, py::Place place) {
    while (!it.values.empty()) {
      if (!it.values[1].is(Kind::none))
        if (Item item = m.advance(it.values[1], place)) return item;
      it.values[1] = {};
      Item following = m.advance(it.values[0], place);
      if (following)
        it.values[1] = m.iterator_of(*following, place);
      else
        it.values.clear();
    }
    return std::nullopt;
  }

  // values: the iterator; at: how many were taken of it; end: where it stops, or -1; places: which is next, the step.
  static HostValue islice(HostMachine& m, const Call& c) {
    const auto bound = [&](std::size_t i, std::int64_t otherwise) {
      if (!c.has(i)) return otherwise;
      if (!c.args[i].is_integral() || c.args[i].integer < 0)
        m.raise("ValueError", "Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.", c.place);
      return c.args[i].integer.clamped();
    };
    const bool stop_only = c.args.size() == 2;
    const std::int64_t start = stop_only ? 0 : bound(1, 0), stop = bound(stop_only ? 1 : 2, -1), by = bound(3, 1);
    if (by < 1) m.raise("ValueError", "Step for islice() must be a positive integer or None.", c.place);
    HostValue out = m.make_iterator("itertools.islice", once<next_islice>, {below(m, c, 0)});
    out.items->source->end = stop;
    out.items->source->places = {static_cast<std::size_t>(start), static_cast<std::size_t>(by)};
    return out;
  }
  static Item next_islice(HostMachine& m, HostItems& it, py::Place place) {
    if (it.values.empty()) return std::nullopt;
    HostSource& s = *it.source;
    Item item;
    do {
      const bool stops = s.end >= 0 && s.at >= s.end && s.places[0] <= static_cast<std::size_t>(s.at);
      item = stops ? std::nullopt : m.advance(it.values[0], place);
      if (!item) {
        it.values.clear();
        return std::nullopt;
      }
    } while (static_cast<std::size_t>(s.at++) < s.places[0]);
    if (__builtin_add_overflow(s.places[0], s.places[1], s.places.data())) s.places[0] = kBehindAll;
    if (s.end >= 0) s.places[0] = std::min(s.places[0], static_cast<std::size_t>(s.end));
    return item;
  }
  static constexpr auto kBehindAll = static_cast<std::size_t>(-1);

  // values: the iterator, the value before once there is one.
  static HostValue pairwise(HostMachine& m, const Call& c) {
    return m.make_iterator("itertools.pairwise", once<next_pairwise>, {below(m, c, 0)});
  }
  static Item next_pairwise(HostMachine& m, HostItems& it, py::Place place) {
    if (it.values.empty()) return std::nullopt;
    if (it.values.size() == 1)
      if (Item first = m.advance(it.values[0], place)) it.values.push_back(std::move(*first));
    Item second = it.values.size() == 1 ? std::nullopt : m.advance(it.values[0], place);
    if (!second) {
      it.values.clear();
      return std::nullopt;
    }
    m.check_kept(it, *second, place);
    HostValue first = std::exchange(it.values[1], *second);
    return tuple({std::move(first), std::move(*second)});
  }

  static constexpr std::string_view kTee = "itertools._tee";
  // values: the iterator, a list of what it gave so far, which all of them share; at: where in that.
  static HostValue tee(HostMachine& m, const Call& c) {
    const std::int64_t n = c.has(1) ? m.integer(c.args[1], c.place) : 2;
    if (n < 0) m.raise("ValueError", "n must be >= 0", c.place);
    if (n == 0) return tuple({});
    HostValue first = below(m, c, 0);
    if (host_type_name(first) != kTee)  // one of those is its own first copy
      first = m.make_iterator(kTee, next_tee, {first, HostValue::sequence(Kind::list, {})});
    Values out{first};
    for (std::int64_t i = 1; i < n; ++i)
      m.step(c.place), out.push_back(m.make_iterator(kTee, next_tee, first.items->values, first.items->source->at));
    return tuple(std::move(out));
  }
  static Item next_tee(HostMachine& m, HostItems& it, py::Place place) {
    auto& seen = it.values[1].items->values;
    const auto at = static_cast<std::size_t>(it.source->at);
    if (at >= seen.size()) {
      Item item = m.advance(it.values[0], place);
      if (!item) return std::nullopt;
      m.check_kept(it, *item, place);
      seen.push_back(std::move(*item));
    }
    ++it.source->at;
    return seen[at];
  }

  // ---- by a function

  // values: the function, the iterator; at: 1 when a takewhile has ended, or a dropwhile drops no more.
  template <HostSource::Next next>
  static HostValue by_function(HostMachine& m, const Call& c) {
    static const std::unordered_map<std::string_view, std::string_view> kTypes = {
        {"dropwhile", "itertools.dropwhile"},
        {"filterfalse", "itertools.filterfalse"},
        {"starmap", "itertools.starmap"},
        {"takewhile", "itertools.takewhile"}};
    return m.make_iterator(kTypes.at(c.name), next, {c.args[0], below(m, c, 1)});
  }
  static bool fits(HostMachine& m, const HostItems& it, const HostValue& item, py::Place place) {
    return m.truth(it.values[0].is(Kind::none) ? item : m.call(it.values[0], {item}, {}, place), place);
  }
  static Item next_starmap(HostMachine& m, HostItems& it, py::Place place) {
    Item item = m.advance(it.values[1], place);
    return item ? Item(m.call(it.values[0], m.iterate(*item, place), {}, place)) : std::nullopt;
  }
  static Item next_takewhile(HostMachine& m, HostItems& it, py::Place place) {
    if (it.source->at == 1) return std::nullopt;
    Item item = m.advance(it.values[1], place);
    if (!item || fits(m, it, *item, place)) return item;
    it.source->at = 1;
    return std::nullopt;
  }
  static Item next_dropwhile(HostMachine& m, HostItems& it, py::Place place) {
    for (;;) {
      Item item = m.advance(it.values[1], place);
      if (!item || it.source->at == 1) return item;
      if (fits(m, it, *item, place)) continue;
      it.source->at = 1;
      return item;
    }
  }
  static Item next_filterfalse(HostMachine& m, HostItems& it, py::Place place) {
    while (Item item = m.advance(it.values[1], place))
      if (!fits(m, it, *item, place)) return item;
    return std::nullopt;
  }

  // groupby and its groups share a state: values: the iterator, the key's function, the key and the item that were read
  // last, the key of the group; places: whether there are these three, and the group's number.
  enum GroupValue : std::uint8_t { kBelow, kFunction, kKey, kItem, kGroup };
  enum GroupPlace : std::uint8_t { kHasKey, kHasItem, kHasGroup, kNumber };
  static HostValue groupby(HostMachine& m, const Call& c) {
    const HostValue state =
        m.make_iterator("itertools.groupby", nullptr, {below(m, c, 0), c.has(1) ? c.args[1] : HostValue{}, {}, {}, {}});
    state.items->source->places = {0, 0, 0, 0};
    return m.make_iterator("itertools.groupby", next_group, {state});
  }
  static bool read_on(HostMachine& m, HostItems& state, py::Place place) {
    Item item = m.advance(state.values[kBelow], place);
    if (!item) return false;
    const HostValue& function = state.values[kFunction];
    HostValue key = function.is(Kind::none) ? *item : m.call(function, {*item}, {}, place);
    m.check_kept(state, *item, place);
    m.check_kept(state, key, place);
    state.values[kKey] = std::move(key);
    state.values[kItem] = std::move(*item);
    state.source->places[kHasKey] = state.source->places[kHasItem] = 1;
    return true;
  }
  static Item next_group(HostMachine& m, HostItems& it, py::Place place) {
    const std::shared_ptr<HostItems> state = it.values[0].items;
    auto& has = state->source->places;
    ++has[kNumber];  // the group before ends
    while (has[kHasKey] == 0 || (has[kHasGroup] == 1 && m.equal(state->values[kGroup], state->values[kKey], place)))
      if (!read_on(m, *state, place)) return std::nullopt;
    state->values[kGroup] = state->values[kKey];
    has[kHasGroup] = 1;
    const HostValue key = state->values[kKey];
    HostValue group = m.make_iterator("itertools._grouper", next_in_group, {it.values[0], key},
                                      static_cast<std::int64_t>(has[kNumber]));
    return tuple({key, std::move(group)});
  }
  static Item next_in_group(HostMachine& m, HostItems& it, py::Place place) {
    const std::shared_ptr<HostItems> state = it.values[0].items;
    auto& has = state->source->places;
    if (static_cast<std::int64_t>(has[kNumber]) != it.source->at) return std::nullopt;
    if (has[kHasItem] == 0 && !read_on(m, *state, place)) return std::nullopt;
    if (!m.equal(it.values[1], HostValue(state->values[kKey]), place)) return std::nullopt;
    has[kHasItem] = 0;
    return std::exchange(state->values[kItem], {});
  }

  // ---- of several

  static HostValue compress(HostMachine& m, const Call& c) {
    return m.make_iterator("itertools.compress", next_compress, all_below(m, c));
  }
  static Item next_compress(HostMachine& m, HostItems& it, py::Place place) {
    for (;;) {
      Item item = m.advance(it.values[0], place);
      const Item chosen = item ? m.advance(it.values[1], place) : std::nullopt;
      if (!chosen) return std::nullopt;
      if (m.truth(*chosen, place)) return item;
    }
  }

  // values: the iterators, None for those that have ended, and what stands for their values; at: whether it has ended,
  // by an exception too.
  static HostValue zip_longest(HostMachine& m, const Call& c) {
    Values values = all_below(m, c);
    values.push_back(keyword_or(c, "fillvalue", {}));
    return m.make_iterator("itertools.zip_longest", next_zip_longest, std::move(values));
  }
  static Item next_zip_longest(HostMachine& m, HostItems& it, py::Place place) {
    if (std::exchange(it.source->at, 1) == 1) return std::nullopt;
    Values row;
    for (std::size_t i = 0; i + 1 < it.values.size(); ++i) {
      Item item = it.values[i].is(Kind::none) ? std::nullopt : m.advance(it.values[i], place);
      if (!item) it.values[i] = {};
      const auto more = [](const HostValue& v) { return !v.is(Kind::none); };
      if (!item && std::none_of(it.values.begin(), it.values.end() - 1, more)) return std::nullopt;
      row.push_back(item ? std::move(*item) : it.values.back());
    }
    if (row.empty()) return std::nullopt;
    it.source->at = 0;
    return tuple(std::move(row));
  }

  // product, combinations, permutations and the like: values: the pools, a tuple for each place of a row or one for
  // all; places: where in them the row before stood; at: whether there was one; end: what distinguishes the four.
  enum Choice : std::uint8_t { kProduct, kCombinations, kWithReplacement, kPermutations };

  static HostValue product(HostMachine& m, const Call& c) {
    const std::int64_t repeat = m.integer(keyword_or(c, "repeat", HostValue::of(std::int64_t{1})), c.place);
    if (repeat < 0) m.raise("ValueError", "repeat argument cannot be negative", c.place);
    Values pools, all;
    for (const HostValue& a : c.args) pools.push_back(tuple(m.iterate(a, c.place)));
    for (std::int64_t r = 0; r < (pools.empty() ? 0 : repeat); ++r)
      for (const HostValue& pool : pools) m.step(c.place), all.push_back(pool);
    const std::size_t length = all.size();
    return choices(m, "itertools.product", kProduct, std::move(all), length);
  }
  template <Choice choice>
  static HostValue chosen(HostMachine& m, const Call& c) {
    HostValue pool = tuple(m.iterate(c.args[0], c.place));
    const auto size = static_cast<std::int64_t>(pool.items->values.size());
    const std::int64_t length = choice != kPermutations || c.has(1) ? m.integer(c.args[1], c.place) : size;
    if (length < 0) m.raise("ValueError", "r must be non-negative", c.place);
    const bool too_long = choice == kWithReplacement ? size == 0 && length > 0 : length > size;
    if (too_long) pool = tuple({});  // there is no such row
    if (length > 1000 && !too_long) m.refuse(Code::limit, "rows of more than 1000 items", c.place);
    constexpr std::string_view kTypes[] = {"", "itertools.combinations", "itertools.combinations_with_replacement",
                                           "itertools.permutations"};
    return choices(m, kTypes[choice], choice, {pool}, too_long ? 1 : static_cast<std::size_t>(length));
  }
  static HostValue choices(HostMachine& m, std::string_view type, Choice choice, Values pools, std::size_t length) {
    HostValue out = m.make_iterator(type, next_choice, std::move(pools));
    out.items->source->end = choice;
    out.items->source->places.resize(length);
    return out;
  }
  static const HostValue& pool_of(const HostItems& it, std::size_t i) {
    return it.values[it.source->end == kProduct ? i : 0];
  }
  static bool may_stand(const HostSource& s, std::size_t i, std::size_t item, std::size_t size) {
    const auto begin = s.places.begin(), end = begin + static_cast<std::ptrdiff_t>(i);
    switch (s.end) {
      case kCombinations: return (i == 0 || item > s.places[i - 1]) && item + s.places.size() - i <= size;
      case kWithReplacement: return i == 0 || item >= s.places[i - 1];
      case kPermutations: return std::find(begin, end, item) == end;
      default: return true;
    }
  }
  // The next row in the order of the places: the last one goes on or, where it cannot, the one before it.
  static bool choose(HostMachine& m, HostItems& it, py::Place place) {
    HostSource& s = *it.source;
    const bool begun = std::exchange(s.at, 1) == 1;
    std::size_t i = begun ? s.places.size() : 0, item = 0;
    if (begun && i-- == 0) return false;
    if (begun) item = s.places[i] + 1;
    while (i < s.places.size()) {
      const std::size_t size = pool_of(it, i).items->values.size();
      while (item < size && !may_stand(s, i, item, size)) m.step(place), ++item;
      m.step(place);
      if (item < size) {
        s.places[i++] = item;
        item = 0;
      } else if (i-- > 0) {
        item = s.places[i] + 1;
      } else {
        return false;
      }
    }
    return true;
  }
  static Item next_choice(HostMachine& m, HostItems& it, py::Place place) {
    if (it.source->at == 2 || !choose(m, it, place)) {
      it.source->at = 2;
      return std::nullopt;
    }
    Values row;
    for (std::size_t i = 0; i < it.source->places.size(); ++i)
      m.step(place), row.push_back(pool_of(it, i).items->values[it.source->places[i]]);
    return tuple(std::move(row));
  }

  static Run find(std::string_view name);
};

HostMachine::Itertools::Run HostMachine::Itertools::find(std::string_view name) {
  static const std::unordered_map<std::string_view, Run> kAll = {
      {"accumulate", accumulate},
      {"chain", chain},
      {"chain.from_iterable", chain_from},
      {"combinations", chosen<kCombinations>},
      {"combinations_with_replacement", chosen<kWithReplacement>},
      {"compress", compress},
      {"count", count},
      {"cycle", cycle},
      {"dropwhile", by_function<next_dropwhile>},
      {"filterfalse", by_function<next_filterfalse>},
      {"groupby", groupby},
      {"islice", islice},
      {"pairwise", pairwise},
      {"permutations", chosen<kPermutations>},
      {"product", product},
      {"repeat", repeat},
      {"starmap", by_function<next_starmap>},
      {"takewhile", by_function<next_takewhile>},
      {"tee", tee},
      {"zip_longest", zip_longest},
  };
  return find_row(kAll, name);
}

std::optional<HostValue> HostMachine::call_itertools(std::string_view name, HostArgs& args, HostKwargs& kwargs,
                                                     py::Place place) {
  const Itertools::Run found = Itertools::find(name);
  return found == nullptr ? std::nullopt : std::optional(found(*this, {name, args, kwargs, place}));
}

}  // namespace passnet
