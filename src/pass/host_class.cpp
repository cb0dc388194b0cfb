// Classes in a host program: what configurations are written as (NamedTuple, dataclass, Enum, plain constants and small
// objects). A class is read when it is first used; objects are values with named attributes.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "pass/host_machine.h"
#include "py/printer.h"

namespace passnet {

using Kind = HostValue::Kind;
using Form = HostClass::Form;
using MethodForm = HostClass::Method::Form;

namespace {

HostValue* find_attribute(const HostValue& object, std::string_view name) {
  auto& items = object.items->values;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2)
    if (items[i].text == name) return &items[i + 1];
  return nullptr;
}

void add_attribute(HostValue& object, std::string_view name, HostValue value) {
  object.items->values.push_back(HostValue::string(std::string(name)));
  object.items->values.push_back(std::move(value));
}

HostValue class_value(std::shared_ptr<HostClass> klass) {
  HostValue v;
  v.kind = Kind::klass;
  v.klass = std::move(klass);
  return v;
}

HostValue empty_object(std::shared_ptr<HostClass> klass) {
  HostValue v = HostValue::sequence(Kind::object, {});
  v.klass = std::move(klass);
  return v;
}

Form form_of_base(std::string_view path) {
  if (path == "typing.NamedTuple") return Form::tuple;
  if (path == "enum.Enum" || path == "enum.IntEnum" || path == "enum.StrEnum") return Form::enumeration;
  return path == "builtins.object" || path == "object" ? Form::plain : Form::foreign;
}

}  // namespace

HostValue HostMachine::make_class(const PassModule& module, const py::Stmt& s, py::Place place) {
  if (const auto it = classes_.find(&s); it != classes_.end()) {
    if (!it->second) raise("NameError", fmt::format("class '{}' is used while it is made", s.name), place);
    return class_value(it->second);
  }
  classes_[&s] = nullptr;
  auto made = std::make_shared<HostClass>();
  made->name = s.name;
  made->attributes = HostValue::sequence(Kind::dict, {});
  Frame frame;
  frame.module = &module;
  frame.scope = std::make_shared<HostScope>();
  const PassModule* caller = std::exchange(current_, &module);
  for (const py::Expr* base : s.targets) {
    const Binding* b = base->kind == py::ExprKind::name ? module.find(base->text) : nullptr;
    if (b != nullptr && b->kind == Binding::Kind::klass) {
      const HostValue parent = make_class(*b->owner, *b->statement, base->place);
      made->form = parent.klass->form;
      made->fields = parent.klass->fields;
      made->methods = parent.klass->methods;
      made->attributes.items->values = parent.klass->attributes.items->values;
      continue;
    }
    const std::string path = resolve_path(module, *base);
    made->form = form_of_base(path.empty() ? py::print(*base) : path);
  }
  for (const py::Expr* d : s.decorators) {
    const std::string path = resolve_path(module, d->kind == py::ExprKind::call ? *d->items[0] : *d);
    if (path != "dataclasses.dataclass")
      refuse(Code::host, fmt::format("decorator '{}' of a class", py::print(*d).substr(0, 80)), d->place,
             "known is dataclasses.dataclass");
    made->form = Form::record;
  }
  const auto add_field = [&](std::string_view name, bool has_default) {
    std::erase_if(made->fields, [&](const HostClass::Field& f) { return f.name == name; });
    const HostValue* value = has_default ? frame.scope->find(name) : nullptr;
    made->fields.push_back({std::string(name), value != nullptr ? *value : HostValue{}, has_default});
  };
  std::int64_t next_auto = 1;
  for (const py::Stmt* inner : s.body) {
    using K = py::StmtKind;
    switch (inner->kind) {
      case K::expression:
      case K::pass: break;
      case K::annotated:
      case K::assign:
        if (inner->value != nullptr && inner->value->kind == py::ExprKind::call &&
            resolve_path(module, *inner->value->items[0]) == "enum.auto")
          frame.scope->set(inner->targets[0]->text, HostValue::of(next_auto++));
        else if (inner->value != nullptr)
          run(*inner, frame);
        if (inner->targets.size() == 1 && inner->targets[0]->kind == py::ExprKind::name &&
            (inner->kind == K::annotated || made->form == Form::enumeration))
          add_field(inner->targets[0]->text, inner->value != nullptr);
        break;
      case K::function: {
        HostClass::Method m{MethodForm::plain, inner->name, {&module, inner, nullptr, nullptr, {}}};
        for (const py::Expr* d : inner->decorators) {
          const std::string text = py::print(*d);
          if (text == "property" || text.ends_with("cached_property")) m.form = MethodForm::property;
          if (text == "staticmethod") m.form = MethodForm::of_none;
          if (text == "classmethod") m.form = MethodForm::of_class;
        }
        std::erase_if(made->methods, [&](const HostClass::Method& known) { return known.name == m.name; });
        made->methods.push_back(std::move(m));
        break;
      }
      default:
        refuse(Code::host, fmt::format("a statement in class '{}' that is no field, constant or method", s.name),
               inner->place);
    }
  }
  current_ = caller;
  for (auto& [name, value] : frame.scope->names) {
    mark_module_level(value, place);
    if (HostValue* known = find_attribute(made->attributes, name))
      *known = std::move(value);
    else
      add_attribute(made->attributes, name, std::move(value));
  }
  mark_module_level(made->attributes, place);
  classes_[&s] = made;
  return class_value(std::move(made));
}

// collections.namedtuple("Name", "a b") or with a list of names.
HostValue HostMachine::make_named_tuple(const HostArgs& args, const HostKwargs& kwargs, py::Place place) {
  if (args.size() < 2) raise("TypeError", "namedtuple() needs a name and its fields", place);
  auto made = std::make_shared<HostClass>();
  made->form = Form::tuple;
  made->name = string_of(args[0], place);
  made->attributes = HostValue::sequence(Kind::dict, {});
  std::vector<HostValue> names;
  if (args[1].is(Kind::string)) {
    HostArgs by;
    HostKwargs none;
    std::string spaced = args[1].text;
    std::replace(spaced.begin(), spaced.end(), ',', ' ');
    names = string_method(HostValue::string(std::move(spaced)), "split", by, none, place)->items->values;
  } else {
    names = iterate(args[1], place);
  }
  for (const HostValue& name : names) made->fields.push_back({string_of(name, place), {}, false});
  for (const auto& [k, v] : kwargs) {
    if (k != "defaults") continue;
    const std::vector<HostValue> defaults = iterate(v, place);
    if (defaults.size() > made->fields.size()) raise("TypeError", "more defaults than fields", place);
    const std::size_t first = made->fields.size() - defaults.size();
    for (std::size_t i = 0; i < defaults.size(); ++i) {
      made->fields[first + i].default_value = defaults[i];
      made->fields[first + i].has_default = true;
    }
  }
  return class_value(std::move(made));
}

HostValue HostMachine::make_object(std::string name, std::vector<std::pair<std::string, HostValue>> attributes) const {
  auto klass = std::make_shared<HostClass>();
  klass->name = std::move(name);
  HostValue out = empty_object(std::move(klass));
  for (auto& [key, value] : attributes) add_attribute(out, key, std::move(value));
  return out;
}

HostValue HostMachine::instantiate(const HostValue& klass, HostArgs args, HostKwargs kwargs, py::Place place) {
  const HostClass& c = *klass.klass;
  HostValue out = empty_object(klass.klass);
  switch (c.form) {
    case Form::foreign:
      refuse(Code::host, fmt::format("an object of class '{}' in a wrapper", c.name), place,
             "known are plain classes, NamedTuple, dataclass and Enum; compute in a kernel");
    case Form::enumeration:  // Mode("name")
      for (const HostClass::Field& f : c.fields)
        if (args.size() == 1 && equal(f.default_value, args[0], place)) return *class_attribute(klass, f.name);
      raise("ValueError", fmt::format("no member of {} with this value", c.name), place);
    case Form::record:
    case Form::tuple: {
      if (c.method("__init__") != nullptr) break;
      std::size_t next = 0, used = 0;
      for (const HostClass::Field& f : c.fields) {
        const auto kw = std::find_if(kwargs.begin(), kwargs.end(), [&](const auto& k) { return k.first == f.name; });
        if (next < args.size()) {
          add_attribute(out, f.name, args[next++]);
        } else if (kw != kwargs.end()) {
          add_attribute(out, f.name, kw->second);
          ++used;
        } else if (f.has_default) {
          add_attribute(out, f.name, f.default_value);
        } else {
          raise("TypeError", fmt::format("{}() is missing its argument '{}'", c.name, f.name), place);
        }
      }
      if (next < args.size() || used < kwargs.size())
        raise("TypeError", fmt::format("{}() takes {} arguments", c.name, c.fields.size()), place);
      if (const HostClass::Method* after = c.method("__post_init__")) call_function(after->function, {out}, {}, place);
      return out;
    }
    case Form::plain: break;
  }
  const HostClass::Method* init = c.method("__init__");
  if (init == nullptr && !(args.empty() && kwargs.empty()))
    raise("TypeError", fmt::format("{}() takes no arguments", c.name), place);
  if (init != nullptr) {
    args.insert(args.begin(), out);
    call_function(init->function, std::move(args), std::move(kwargs), place);
  }
  return out;
}

std::optional<HostValue> HostMachine::class_attribute(const HostValue& klass, std::string_view name) {
  const HostClass& c = *klass.klass;
  if (name == "__name__") return HostValue::string(c.name);
  const HostValue* found = c.attributes.items ? find_attribute(c.attributes, name) : nullptr;
  const bool member = c.form == Form::enumeration &&
                      std::any_of(c.fields.begin(), c.fields.end(), [&](const auto& f) { return f.name == name; });
  if (found != nullptr && member) {
    HostValue out = empty_object(klass.klass);
    add_attribute(out, "name", HostValue::string(std::string(name)));
    add_attribute(out, "value", *found);
    return out;
  }
  if (found != nullptr) return *found;
  const HostClass::Method* m = c.method(name);
  if (m == nullptr || m->form == MethodForm::of_class) return std::nullopt;
  HostValue function;
  function.kind = Kind::function;
  function.function = std::make_shared<HostFunction>(m->function);
  return function;
}

std::optional<HostValue> HostMachine::object_attribute(const HostValue& object, std::string_view name,
                                                       py::Place place) {
  if (const HostValue* found = find_attribute(object, name)) return *found;
  if (name == "__class__") return class_value(object.klass);
  const HostClass& c = *object.klass;
  if (const HostClass::Method* m = c.method(name)) {
    if (m->form == MethodForm::property) return call_function(m->function, {object}, {}, place);
    if (m->form == MethodForm::of_none) return class_attribute(class_value(object.klass), name);
    return std::nullopt;  // bound when it is called
  }
  return c.form == Form::enumeration ? std::nullopt : class_attribute(class_value(object.klass), name);
}

std::optional<HostValue> HostMachine::object_method(const HostValue& object, std::string_view name, HostArgs& args,
                                                    HostKwargs& kwargs, py::Place place) {
  if (const HostClass::Method* m = object.klass->method(name)) {
    const bool of_class = m->form == MethodForm::of_class;
    if (of_class || object.is(Kind::object)) args.insert(args.begin(), of_class ? class_value(object.klass) : object);
    const HostFunction function = m->function;
    return call_function(function, std::move(args), std::move(kwargs), place);
  }
  if (!object.is(Kind::object)) return std::nullopt;
  if (name == "_asdict") return HostValue::sequence(Kind::dict, object.items->values);
  if (name == "_replace") {
    HostValue out = HostValue::sequence(Kind::object, object.items->values);
    out.klass = object.klass;
    for (auto& [k, v] : kwargs) {
      HostValue* field = find_attribute(out, k);
      if (field == nullptr) raise("ValueError", fmt::format("{} has no field '{}'", object.klass->name, k), place);
      *field = std::move(v);
    }
    return out;
  }
  return std::nullopt;
}

void HostMachine::set_attribute(const HostValue& object, std::string_view name, HostValue value, py::Place place) {
  if (object.klass->form != Form::plain && object.klass->form != Form::record)
    raise("AttributeError", fmt::format("attributes of {} cannot be assigned", object.klass->name), place);
  check_write(*object.items, value, place);
  HostValue target = object;
  if (HostValue* found = find_attribute(object, name))
    *found = std::move(value);
  else
    add_attribute(target, name, std::move(value));
}

}  // namespace passnet
