// Ranges and the views of dicts in a host program: what is looked at without being made.
#include <fmt/format.h>

#include <algorithm>

#include "host/machine.h"

namespace passnet {

using Kind = HostValue::Kind;

namespace {

const Integer& part(const HostValue& range, std::size_t i) { return range.items->values[i].integer; }

HostValue range_of(const Integer& start, const Integer& stop, const Integer& step) {
  return HostValue::sequence(Kind::range, {HostValue::of(start), HostValue::of(stop), HostValue::of(step)});
}

bool is_set_like(const HostValue& v) { return v.is(Kind::dict_view) && v.text != "dict_values"; }

}  // namespace

// Its parts have 64 bits, or those of a slice few more: nothing here leaves Integer's range.
Integer range_size(const HostValue& range) {
  const bool up = part(range, 2) > 0;
  const Integer reach = *(up ? part(range, 1).minus(part(range, 0)) : part(range, 0).minus(part(range, 1)));
  if (reach <= 0) return 0;
  return *reach.minus(1)->divided(up ? part(range, 2) : *part(range, 2).negated())->first.plus(1);
}

HostValue range_item(const HostValue& range, const Integer& at) {
  return HostValue::of(*part(range, 0).plus(*at.times(part(range, 2))));
}

HostValue HostMachine::make_range(const HostArgs& args, py::Place place) {
  const bool both = args.size() > 1;
  const std::int64_t step = args.size() > 2 ? integer(args[2], place) : 1;
  if (step == 0) raise("ValueError", "range() arg 3 must not be zero", place);
  return range_of(both ? integer(args[0], place) : 0, integer(args[both ? 1 : 0], place), step);
}

std::optional<Integer> HostMachine::find_in_range(const HostValue& range, const HostValue& v) {
  const auto wanted = v.is_integral()    ? std::optional(v.integer)
                      : v.is(Kind::real) ? Integer::truncated(v.real)
                                         : std::nullopt;
  if (!wanted || (v.is(Kind::real) && wanted->real() != v.real)) return std::nullopt;
  const auto distance = wanted->minus(part(range, 0));
  const auto found = distance ? distance->divided(part(range, 2)) : std::nullopt;
  if (!found || found->second != 0 || found->first < 0 || found->first >= range_size(range)) return std::nullopt;
  return found->first;
}

HostValue HostMachine::range_slice(const HostValue& range, const HostValue& slice, py::Place place) {
  const SliceBounds taken = slice_bounds(slice, integer(HostValue::of(range_size(range)), place), place);
  return range_of(range_item(range, taken.begin).integer, range_item(range, taken.end).integer,
                  *part(range, 2).times(taken.by));
}

bool HostMachine::equal_ranges(const HostValue& a, const HostValue& b) {
  const Integer size = range_size(a);
  if (size != range_size(b)) return false;
  return size == 0 || (part(a, 0) == part(b, 0) && (size == 1 || part(a, 2) == part(b, 2)));
}

std::string HostMachine::range_text(const HostValue& range) {
  const bool plain = part(range, 2) == 1;
  return fmt::format("range({}, {}{})", part(range, 0).text(), part(range, 1).text(),
                     plain ? "" : fmt::format(", {}", part(range, 2).text()));
}

std::optional<HostValue> HostMachine::range_method(const HostValue& range, std::string_view name, const HostArgs& args,
                                                   py::Place place) {
  if (name != "index" && name != "count") return std::nullopt;
  const auto at = find_in_range(range, args[0]);
  if (name == "count") return HostValue::of(std::int64_t{at ? 1 : 0});
  if (!at) raise("ValueError", fmt::format("{} is not in range", text(args[0], true, place)), place);
  return HostValue::of(*at);
}

// ---- views of dicts

HostValue HostMachine::make_view(const HostValue& dict, std::string_view name) {
  HostValue out = HostValue::sequence(Kind::dict_view, {dict});
  out.text = fmt::format("dict_{}", name);
  return out;
}

HostValue HostMachine::viewed(const HostValue& view, std::size_t at) {
  const auto& items = view.items->values[0].items->values;
  if (view.text == "dict_keys") return items[at];
  return view.text == "dict_values" ? items[at + 1] : HostValue::sequence(Kind::tuple, {items[at], items[at + 1]});
}

bool HostMachine::in_view(const HostValue& view, const HostValue& item, py::Place place) {
  const HostItems& items = *view.items->values[0].items;
  if (view.text == "dict_keys") return find_item(items, item, place, 2) < items.values.size();
  const bool pair = item.is(Kind::tuple) && item.items->values.size() == 2;
  if (view.text == "dict_items" && !pair) return false;
  const std::size_t at = pair && view.text == "dict_items" ? find_item(items, item.items->values[0], place, 2) : 0;
  if (view.text == "dict_items")
    return at < items.values.size() && equal(HostValue(items.values[at + 1]), item.items->values[1], place);
  const std::vector<HostValue> all = iterate(view, place);
  return std::any_of(all.begin(), all.end(), [&](const HostValue& v) { return equal(v, item, place); });
}

// The set that a view of keys or items is as an operand of `&` and `<=`; any other value as it is.
HostValue HostMachine::as_set(const HostValue& v, py::Place place) {
  if (!is_set_like(v)) return v;
  return HostValue::sequence(Kind::set, iterate(v, place));
}

std::optional<HostValue> HostMachine::view_of_dict_method(const HostValue& view, std::string_view name, HostArgs& args,
                                                          py::Place place) {
  return is_set_like(view) && name == "isdisjoint" ? set_method(as_set(view, place), name, args, place) : std::nullopt;
}

}  // namespace passnet
