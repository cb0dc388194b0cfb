// Enumerations in a host program. Their members are made with their class: objects with a name and a value or, of an
// IntEnum and the like, numbers and strings that know their class.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "host/machine.h"

namespace passnet {

using Kind = HostValue::Kind;
using MethodForm = HostClass::Method::Form;

namespace {

bool is_auto(const HostValue& v) { return v.is(Kind::path) && v.text == kAutoValue; }

// Functions and names that Python keeps to itself (__doc__, _ignore_) are no members.
bool is_member(std::string_view name, const HostValue& v) {
  const bool python = name.size() > 2 && name.starts_with('_') && name.ends_with('_');
  return !python && !v.is(Kind::function) && !v.is(Kind::kernel);
}

// What follows the highest number so far: the next one or, of flags, the next bit.
std::optional<Integer> following(const std::vector<HostValue>& before, bool bit) {
  Integer highest = 0;
  for (const HostValue& v : before)
    if (v.is_integral()) highest = std::max(highest, v.integer);
  return bit ? Integer(1).shifted_left(highest.bit_length()) : highest.plus(1);
}

}  // namespace

HostValue HostMachine::next_value(std::string_view name, const std::vector<HostValue>& before, Frame& frame,
                                  py::Place place) {
  constexpr std::string_view kOwn = "_generate_next_value_";
  const HostClass& made = *frame.making;
  HostValue own;
  if (const HostValue* found = frame.scope->find(kOwn)) {
    own = *found;
  } else if (const HostClass::Method* inherited = made.method(kOwn)) {
    own.kind = Kind::function;
    own.function = std::make_shared<HostFunction>(inherited->function);
  }
  if (own.is(Kind::function))
    return call(own,
                {HostValue::string(std::string(name)), HostValue::of(std::int64_t{1}),
                 HostValue::of(static_cast<std::int64_t>(before.size())), HostValue::sequence(Kind::list, before)},
                {}, place);
  if (made.auto_value == HostClass::Auto::lower) return HostValue::string(text_lower(name));
  const auto next = following(before, made.auto_value == HostClass::Auto::bit);
  if (!next) too_large(place);
  return HostValue::of(*next);
}

// What was written auto() gets its value.
void HostMachine::number_members(Frame& frame, py::Place place) {
  auto& names = frame.scope->names();
  spend(names.size(), place);
  std::vector<HostValue> before;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = names[i].first;
    if (is_auto(names[i].second)) names[i].second = next_value(name, before, frame, place);
    if (is_member(name, names[i].second)) before.push_back(names[i].second);
  }
}

// A second name of one value is a second name of one member.
void HostMachine::make_members(const std::shared_ptr<HostClass>& made, py::Place place) {
  std::vector<std::pair<std::string, HostValue>> values;
  for (std::size_t i = 0; i + 1 < made->attributes.items->values.size(); i += 2)
    values.emplace_back(made->attributes.items->values[i].text, made->attributes.items->values[i + 1]);
  for (const auto& [name, value] : values) {
    if (!is_member(name, value) || is_enum_member(value)) continue;  // that of a base
    spend(made->fields.size(), place);
    const auto same = std::find_if(made->fields.begin(), made->fields.end(),
                                   [&](const auto& f) { return equal(f.default_value, value, place); });
    HostValue member = value;
    if (same != made->fields.end()) {
      member = *find_attribute(made->attributes, same->name);
    } else if (made->is_value && (value.is_number() || value.is(Kind::string))) {
      member.klass = made;
    } else {
      member = empty_object(made);
      add_attribute(member, "name", HostValue::string(name));
      add_attribute(member, "value", value);
      HostArgs args = value.is(Kind::tuple) ? value.items->values : HostArgs{value};
      args.insert(args.begin(), member);
      if (const HostClass::Method* init = made->method("__init__"))
        call_function(HostFunction(init->function), std::move(args), {}, place);
    }
    if (same == made->fields.end()) made->fields.push_back({name, value, true});
    *find_attribute(made->attributes, name) = std::move(member);
  }
}

HostValue HostMachine::enum_member(const HostValue& klass, const HostValue& value, py::Place place) {
  const HostClass& c = *klass.klass;
  if (is_enum_member(value) && value.klass == klass.klass) return value;
  for (const HostClass::Field& f : c.fields)
    if (equal(f.default_value, value, place)) return *find_attribute(c.attributes, f.name);
  if (c.auto_value == HostClass::Auto::bit && value.is_integral()) {
    HostValue flags = HostValue::of(value.integer);
    flags.klass = klass.klass;
    return flags;
  }
  HostArgs args{value};
  HostKwargs none;
  if (c.method("_missing_") != nullptr)
    if (auto other = object_method(klass, "_missing_", args, none, place); other && is_enum_member(*other))
      return *other;
  raise("ValueError", fmt::format("{} is not a valid {}", text(value, true, place), c.name), place);
}

// Enum("Mode", "FAST SLOW"), with a list of names, of pairs, or a dict.
HostValue HostMachine::make_enum(std::string_view base, const HostArgs& args, py::Place place) {
  if (args.size() < 2) raise("TypeError", fmt::format("{}() needs a name and its members", base), place);
  spend(1000, place);  // classes made in a loop may hold one another
  const std::shared_ptr<HostClass> made = new_class(string_of(args[0], place));
  const ForeignBase known = known_base(base);
  made->form = known.form;
  made->is_value = made->text_is_value = known.is_value;
  made->auto_value = known.auto_value;
  Frame frame;
  frame.module = current_ != nullptr ? current_ : &root_;
  frame.scope = std::make_shared<HostScope>();
  frame.making = made.get();
  std::vector<HostValue> before;
  for (const HostValue& name : listed_names(args[1], place)) {
    const bool pair = name.is(Kind::tuple) || name.is(Kind::list);
    const HostValue key = pair ? get_item(name, HostValue::of(std::int64_t{0}), place) : name;
    before.push_back(pair ? get_item(name, HostValue::of(std::int64_t{1}), place)
                          : next_value(string_of(key, place), before, frame, place));
    set_item(made->attributes, HostValue::string(string_of(key, place)), before.back(), place);
  }
  make_members(made, place);
  mark_module_level(made->attributes, place);
  return class_value(made);
}

// A|B, or none of no bit.
HostValue HostMachine::flag_name(const HostValue& flag) {
  std::string out;
  for (const HostClass::Field& f : flag.klass->fields) {
    const Integer& bits = f.default_value.integer;
    if (bits == flag.integer) return HostValue::string(f.name);
    if (bits > 0 && bits.bit_count() == 1 && (bits & flag.integer) == bits) out += (out.empty() ? "" : "|") + f.name;
  }
  return out.empty() ? HostValue{} : HostValue::string(std::move(out));
}

std::optional<HostValue> HostMachine::join_flags(py::Op op, const HostValue& a, const HostValue& b, py::Place place) {
  const bool bits = op == py::Op::bit_or || op == py::Op::bit_and || op == py::Op::bit_xor;
  if (!bits || a.klass != b.klass) return std::nullopt;
  HostValue out = binary(op, HostValue::of(a.integer), HostValue::of(b.integer), place);
  out.klass = a.klass;
  return out;
}

// Of a member that is a number or a string itself.
std::optional<HostValue> HostMachine::enum_attribute(const HostValue& member, std::string_view name, py::Place place) {
  HostValue plain = member;
  plain.klass = nullptr;
  if (name == "value" || name == "_value_") return plain;
  if (const HostClass::Method* m = member.klass->method(name)) {
    if (m->form == MethodForm::property) return call_function(HostFunction(m->function), {member}, {}, place);
    if (m->form == MethodForm::of_none) return class_attribute(class_value(member.klass), name);
    HostValue bound;
    bound.kind = Kind::method;
    bound.text = name;
    bound.items = std::make_shared<HostItems>(std::vector<HostValue>{member}, false);
    return bound;
  }
  if (name != "name" && name != "_name_") return std::nullopt;
  if (is_flag(member)) return flag_name(member);
  for (const HostClass::Field& f : member.klass->fields)
    if (equal(f.default_value, plain, place)) return HostValue::string(f.name);
  return std::nullopt;
}

}  // namespace passnet
