// Iterators of a host program: of Python's containers, and of its own functions that give one (zip, map, ...). A row is
// a function that makes the next value. As in Python nothing is taken before it is asked for, and nothing twice.
#include <fmt/format.h>

#include <algorithm>

#include "host/machine.h"

namespace passnet {

using Kind = HostValue::Kind;

struct HostMachine::Iterators {
  using Item = std::optional<HostValue>;

  // The next character of a text in UTF-8, and behind it.
  static HostValue letter(std::string_view text, std::int64_t& at) {
    auto end = static_cast<std::size_t>(at) + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    const auto begin = static_cast<std::size_t>(std::exchange(at, static_cast<std::int64_t>(end)));
    return HostValue::string(std::string(text.substr(begin, end - begin)));
  }

  // values: the container; at: the next place in it; end: how much a dict or a set held to begin with.
  static Item container(HostMachine& m, HostItems& it, py::Place place) {
    if (it.values.empty()) return std::nullopt;
    HostSource& s = *it.source;
    const HostValue& of = it.values[0];
    const auto size = static_cast<std::int64_t>(of.is(Kind::string) ? of.text.size() : of.items->values.size());
    if ((of.is(Kind::dict) || of.is(Kind::set)) && size != s.end)
      m.raise("RuntimeError", fmt::format("{} changed size during iteration", of.is(Kind::dict) ? "dictionary" : "Set"),
              place);
    if (s.at >= size) {
      it.values.clear();
      return std::nullopt;
    }
    if (of.is(Kind::string)) return letter(of.text, s.at);
    const auto at = static_cast<std::size_t>(std::exchange(s.at, s.at + (of.is(Kind::dict) ? 2 : 1)));
    return of.items->values[at];
  }

  // values: the view; at: the next place in its dict; end: how much that held to begin with.
  static Item dict_view(HostMachine& m, HostItems& it, py::Place place) {
    if (it.values.empty()) return std::nullopt;
    HostSource& s = *it.source;
    const auto size = static_cast<std::int64_t>(it.values[0].items->values[0].items->values.size());
    if (size != s.end) m.raise("RuntimeError", "dictionary changed size during iteration", place);
    if (s.at < size) return viewed(it.values[0], static_cast<std::size_t>(std::exchange(s.at, s.at + 2)));
    it.values.clear();
    return std::nullopt;
  }

  // values: the range; at: the place of the next number.
  static Item range(HostMachine&, HostItems& it, py::Place) {
    if (it.source->at >= it.source->end) return std::nullopt;
    return range_item(it.values[0], it.source->at++);
  }

  // at: the place behind the next one.
  static Item backwards(HostMachine&, HostItems& it, py::Place) {
    if (it.values.empty()) return std::nullopt;
    const auto& of = it.values[0].items->values;
    const std::int64_t at = it.source->at -= it.values[0].is(Kind::dict) ? 2 : 1;
    if (at >= 0 && at < static_cast<std::int64_t>(of.size())) return of[static_cast<std::size_t>(at)];
    it.values.clear();
    return std::nullopt;
  }

  // Of an object with __getitem__ alone: values: the object; at: the next index; end: how it goes on.
  static Item by_index(HostMachine& m, HostItems& it, py::Place place) {
    if (it.values.empty()) return std::nullopt;
    HostSource& s = *it.source;
    const Checkpoint before = m.checkpoint();
    try {
      if (s.at >= 0)
        return m.own(it.values[0], "__getitem__", {HostValue::of(std::exchange(s.at, s.at + s.end))}, place);
    } catch (const HostRaise& raised) {
      if (raised.type != "IndexError" && raised.type != "StopIteration") throw;
      m.recover(before);
    }
    it.values.clear();
    return std::nullopt;
  }

  // iter(f, last)
  static Item called(HostMachine& m, HostItems& it, py::Place place) {
    if (it.values.empty()) return std::nullopt;
    HostValue made = m.call(it.values[0], {}, {}, place);
    if (!m.equal(made, it.values[1], place)) return made;
    it.values.clear();
    return std::nullopt;
  }

  // values: the iterator below; at: the next number.
  static Item enumerate(HostMachine& m, HostItems& it, py::Place place) {
    Item item = m.advance(it.values[0], place);
    if (!item) return std::nullopt;
    const HostValue number = HostValue::of(it.source->at);
    if (__builtin_add_overflow(it.source->at, 1, &it.source->at))
      m.refuse(Code::limit, "an integer does not fit into 64 bits", place);
    return HostValue::sequence(Kind::tuple, {number, std::move(*item)});
  }

  // One of each iterator from `first` on; nothing as soon as one has ended, whose number is then `ended`.
  static std::optional<HostArgs> row(HostMachine& m, const HostItems& it, std::size_t first, py::Place place,
                                     std::size_t& ended) {
    HostArgs out;
    for (ended = first; ended < it.values.size(); ++ended) {
      Item item = m.advance(it.values[ended], place);
      if (!item) return std::nullopt;
      out.push_back(std::move(*item));
    }
    return out;
  }

  // values: the iterators; end: whether they must have as many values each.
  static Item zip(HostMachine& m, HostItems& it, py::Place place) {
    if (it.values.empty()) return std::nullopt;
    std::size_t ended = 0;
    if (auto all = row(m, it, 0, place, ended)) return HostValue::sequence(Kind::tuple, std::move(*all));
    if (it.source->end == 0) return std::nullopt;
    const auto differs = [&](std::size_t i, std::string_view how) {
      m.raise("ValueError",
              fmt::format("zip() argument {} is {} than argument{}{}", i + 1, how, i == 1 ? " " : "s 1-", i), place);
    };
    if (ended > 0) differs(ended, "shorter");
    for (std::size_t i = 1; i < it.values.size(); ++i)
      if (m.advance(it.values[i], place)) differs(i, "longer");
    return std::nullopt;
  }

  // values: the function, the iterators.
  static Item map(HostMachine& m, HostItems& it, py::Place place) {
    std::size_t ended = 0;
    auto all = row(m, it, 1, place, ended);
    return all ? Item(m.call(it.values[0], std::move(*all), {}, place)) : std::nullopt;
  }
  static Item filter(HostMachine& m, HostItems& it, py::Place place) {
    while (Item item = m.advance(it.values[1], place)) {
      const bool itself = it.values[0].is(Kind::none);
      if (m.truth(itself ? *item : m.call(it.values[0], {*item}, {}, place), place)) return item;
    }
    return std::nullopt;
  }

  static std::string_view type_of(const HostValue& container) {
    switch (container.kind) {
      case Kind::list: return "list_iterator";
      case Kind::tuple: return "tuple_iterator";
      case Kind::set: return "set_iterator";
      case Kind::dict: return "dict_keyiterator";
      case Kind::dict_view:
        return container.text == "dict_keys"     ? "dict_keyiterator"
               : container.text == "dict_values" ? "dict_valueiterator"
                                                 : "dict_itemiterator";
      default: return "str_iterator";
    }
  }
};

HostValue HostMachine::make_iterator(std::string_view type, HostSource::Next next, std::vector<HostValue> values,
                                     std::int64_t at) const {
  HostValue out = HostValue::sequence(Kind::iterator, std::move(values));
  out.items->source = std::make_unique<HostSource>(HostSource{type, next, at});
  out.items->source->abandoned = abandoned_;
  return out;
}

bool HostMachine::is_iterator(const HostValue& v) const {
  return v.is(Kind::iterator) || (v.is(Kind::object) && v.klass->method("__next__") != nullptr);
}

HostValue HostMachine::iterator_of(const HostValue& v, py::Place place) {
  const auto over = [&](const HostValue& container) {
    HostValue out = make_iterator(Iterators::type_of(container), Iterators::container, {container});
    if (container.items) out.items->source->end = static_cast<std::int64_t>(container.items->values.size());
    return out;
  };
  if (is_container_object(v))
    if (auto made = own(v, "__iter__", {}, place)) return std::move(*made);
  switch (v.kind) {
    case Kind::iterator: return v;
    case Kind::tuple:
    case Kind::list:
    case Kind::set:
    case Kind::dict:
    case Kind::string: return over(v);
    case Kind::range: {
      HostValue out = make_iterator("range_iterator", Iterators::range, {v});
      out.items->source->end = range_size(v).clamped();
      return out;
    }
    case Kind::dict_view: {
      HostValue out = make_iterator(Iterators::type_of(v), Iterators::dict_view, {v});
      out.items->source->end = static_cast<std::int64_t>(v.items->values[0].items->values.size());
      return out;
    }
    case Kind::object:
      if (auto made = own(v, "__iter__", {}, place)) {
        if (!is_iterator(*made))
          raise("TypeError", fmt::format("iter() returned non-iterator of type '{}'", host_type_name(*made)), place);
        return std::move(*made);
      }
      if (v.klass->method("__getitem__") != nullptr) {
        HostValue out = make_iterator("iterator", Iterators::by_index, {v});
        out.items->source->end = 1;
        return out;
      }
      [[fallthrough]];
    default: return over(HostValue::sequence(Kind::tuple, iterate(v, place)));
  }
}

std::optional<HostValue> HostMachine::advance(const HostValue& iterator, py::Place place) {
  step(place);
  if (iterator.is(Kind::object)) return advance_object(iterator, place);
  const std::shared_ptr<HostItems> items = iterator.items;  // until it has run
  HostSource& source = *items->source;
  if (source.running) {
    if (source.frame) raise("ValueError", "generator already executing", place);
    refuse(Code::host, "an iterator is asked for a value by what makes its values", place);
  }
  if (nesting_ >= kDeepestStack) refuse(Code::limit, "iterators are nested too deeply", place);
  const Checkpoint before = checkpoint();
  ++nesting_;
  const Within<bool> running(source.running, true);
  try {
    std::optional<HostValue> out = source.next(*this, *items, place);
    --nesting_;
    return out;
  } catch (const HostRaise& raised) {
    if (raised.type != "StopIteration") throw;
    recover(before);  // as Python, to which a function's StopIteration is the iterator's end: map(next, iterators)
    return std::nullopt;
  }
}

std::optional<HostValue> HostMachine::advance_object(const HostValue& iterator, py::Place place) {
  const Checkpoint before = checkpoint();
  try {
    return own(iterator, "__next__", {}, place);
  } catch (const HostRaise& raised) {
    if (raised.type != "StopIteration") throw;
    recover(before);
    return std::nullopt;
  }
}

std::vector<HostValue> HostMachine::iterate(const HostValue& v, py::Place place) {
  if (is_container_object(v) && v.klass->method("__iter__") != nullptr) return iterate(iterator_of(v, place), place);
  switch (v.kind) {
    case Kind::tuple:
    case Kind::list:
    case Kind::set: spend(v.items->values.size() / 2, place); return v.items->values;
    case Kind::dict: {
      spend(v.items->values.size() / 4, place);
      std::vector<HostValue> keys;
      for (std::size_t i = 0; i < v.items->values.size(); i += 2) keys.push_back(v.items->values[i]);
      return keys;
    }
    case Kind::dict_view: {
      const auto& dict = v.items->values[0].items->values;
      spend(dict.size() / 4, place);
      std::vector<HostValue> out;
      for (std::size_t i = 0; i < dict.size(); i += 2) out.push_back(viewed(v, i));
      return out;
    }
    case Kind::object:
      if (is_named_tuple(v) && v.klass->method("__iter__") == nullptr) return plain_tuple(v).items->values;
      if (v.klass->method("__iter__") == nullptr && v.klass->method("__getitem__") == nullptr)
        raise("TypeError", fmt::format("{} is not iterable", host_type_name(v)), place);
      [[fallthrough]];
    case Kind::string:
    case Kind::range:
    case Kind::iterator: {
      std::vector<HostValue> out = iterate_some(v, kMostItems + 1, place);
      if (out.size() <= kMostItems) return out;
      if (v.is(Kind::range)) refuse(Code::limit, fmt::format("range() of more than {} numbers", kMostItems), place);
      refuse(Code::limit, fmt::format("an iterator gives more than {} values", kMostItems), place,
             "here all of them are taken at once, so it must end");
    }
    case Kind::integer: {  // the members in a flag
      if (!is_flag(v)) raise("TypeError", "int is not iterable", place);
      std::vector<HostValue> members = iterate(class_value(v.klass), place);
      std::erase_if(members,
                    [&](const HostValue& m) { return m.integer == 0 || (m.integer & v.integer) != m.integer; });
      return members;
    }
    case Kind::klass: {
      if (v.klass->form != HostClass::Form::enumeration)
        raise("TypeError", fmt::format("{} is not iterable", host_type_name(v)), place);
      std::vector<HostValue> members;
      for (const HostClass::Field& f : v.klass->fields) members.push_back(*class_attribute(v, f.name));
      return members;
    }
    case Kind::tensor: {  // its rows, as views
      if (desc(v).sizes.empty()) raise("TypeError", "iteration over a 0-d tensor", place);
      return tensor_method(v, "unbind", {}, {}, place).items->values;
    }
    case Kind::opaque:
      refuse(Code::pass, "replacement_args takes its arguments apart", place, "return them whole: (x, y, \"route\")");
    default: raise("TypeError", fmt::format("{} is not iterable", host_type_name(v)), place);
  }
}

std::vector<HostValue> HostMachine::iterate_some(const HostValue& v, std::size_t most, py::Place place) {
  if (!v.is(Kind::iterator) && !v.is(Kind::object) && !v.is(Kind::string) && !v.is(Kind::range))
    return iterate(v, place);
  std::vector<HostValue> out;
  const HostValue iterator = iterator_of(v, place);
  while (out.size() < most) {
    std::optional<HostValue> item = advance(iterator, place);
    if (!item) break;
    out.push_back(std::move(*item));
  }
  return out;
}

// An iterator of the module lives from call to call, so it may keep no more than its containers may.
void HostMachine::check_kept(const HostItems& iterator, const HostValue& v, py::Place place) {
  if (iterator.module_level && holds_state(v, place))
    refuse(Code::integrity, "an iterator of the module keeps a tensor", place,
           "that is a cache between calls; only shapes, strides, dtypes and numbers may be kept");
}

// ---- Python's functions that give one

HostValue HostMachine::make_python_iterator(const HostCall& c) {
  const auto& args = c.args;
  if (c.name == "iter") {
    if (args.size() == 1) return iterator_of(args[0], c.place);
    if (!can_call(args[0])) raise("TypeError", "iter(v, w): v must be callable", c.place);
    return make_iterator("callable_iterator", Iterators::called, args);
  }
  if (c.name == "reversed") return reversed(args[0], c.place);
  if (c.name == "enumerate")
    return make_iterator("enumerate", Iterators::enumerate, {iterator_of(args[0], c.place)},
                         args.size() > 1 ? integer(args[1], c.place) : 0);
  const bool has_function = c.name != "zip";
  std::vector<HostValue> values;
  for (const HostValue& v : args) values.push_back(has_function && values.empty() ? v : iterator_of(v, c.place));
  if (has_function)
    return make_iterator(c.name == "map" ? "map" : "filter", c.name == "map" ? Iterators::map : Iterators::filter,
                         std::move(values));
  const HostValue* strict = keyword(c.kwargs, "strict");
  HostValue out = make_iterator("zip", Iterators::zip, std::move(values));
  out.items->source->end = strict != nullptr && truth(*strict, c.place) ? 1 : 0;
  return out;
}

HostValue HostMachine::reversed(const HostValue& v, py::Place place) {
  if (auto made = own(v, "__reversed__", {}, place)) return std::move(*made);
  const auto behind = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  if (v.is(Kind::object) && v.klass->method("__len__") != nullptr && v.klass->method("__getitem__") != nullptr) {
    const std::int64_t size = integer(*own(v, "__len__", {}, place), place);
    HostValue out = make_iterator("reversed", Iterators::by_index, {v}, size - 1);
    out.items->source->end = -1;
    return out;
  }
  if (v.is(Kind::range)) {
    const HostValue backwards =
        HostValue::sequence(Kind::slice, {HostValue{}, HostValue{}, HostValue::of(std::int64_t{-1})});
    return iterator_of(range_slice(v, backwards, place), place);
  }
  const bool known = v.is(Kind::list) || v.is(Kind::dict_view) || v.is(Kind::dict) || v.is(Kind::tuple) ||
                     v.is(Kind::string) || is_named_tuple(v) || v.is(Kind::klass) || v.is(Kind::tensor);
  if (!known) raise("TypeError", fmt::format("'{}' object is not reversible", host_type_name(v)), place);
  const HostValue of = v.is(Kind::list) || v.is(Kind::dict) ? v : HostValue::sequence(Kind::tuple, iterate(v, place));
  return make_iterator(v.is(Kind::list)   ? "list_reverseiterator"
                       : v.is(Kind::dict) ? "dict_reversekeyiterator"
                                          : "reversed",
                       Iterators::backwards, {of}, behind(of.items->values.size()));
}

}  // namespace passnet
