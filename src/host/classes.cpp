// Classes in a host program: what configurations are written as (NamedTuple, dataclass, Enum, plain constants and small
// objects). A class is read when it is first used; objects are values with named attributes.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "host/machine.h"
#include "py/printer.h"

namespace passnet {

using Kind = HostValue::Kind;
using Form = HostClass::Form;
using MethodForm = HostClass::Method::Form;

const std::shared_ptr<HostItems>& attributes_of(const HostValue& object) {
  return is_container_object(object) ? object.items->attributes : object.items;
}

HostValue* find_attribute(const HostValue& object, std::string_view name) {
  auto& items = attributes_of(object)->values;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2)
    if (items[i].text == name) return &items[i + 1];
  return nullptr;
}

void add_attribute(HostValue& object, std::string_view name, HostValue value) {
  auto& items = attributes_of(object)->values;
  items.push_back(HostValue::string(std::string(name)));
  items.push_back(std::move(value));
}

HostValue empty_object(std::shared_ptr<HostClass> klass) {
  HostValue v = HostValue::sequence(Kind::object, {});
  v.klass = std::move(klass);
  return v;
}

namespace {

// x: int = dataclasses.field(...)
bool is_field(const py::Stmt& s, const PassModule& module) {
  return s.kind == py::StmtKind::annotated && s.value != nullptr && s.value->kind == py::ExprKind::call &&
         resolve_path(module, *s.value->items[0]) == "dataclasses.field";
}

constexpr ForeignBase kBases[] = {{"typing.NamedTuple", Form::tuple},
                                  {"enum.Enum", Form::enumeration},
                                  {"enum.IntEnum", Form::enumeration, true},
                                  {"enum.StrEnum", Form::enumeration, true, HostClass::Auto::lower},
                                  {"enum.IntFlag", Form::enumeration, true, HostClass::Auto::bit},
                                  {"enum.Flag", Form::enumeration, true, HostClass::Auto::bit},
                                  {"torch.nn.Module", Form::module},
                                  {"torch.nn.modules.module.Module", Form::module},
                                  {"torch.autograd.Function", Form::autograd},
                                  {"torch.autograd.function.Function", Form::autograd},
                                  {"builtins.object", Form::plain},
                                  {"typing.Generic", Form::plain},
                                  {"typing.Protocol", Form::plain},
                                  {"abc.ABC", Form::plain}};

constexpr std::pair<std::string_view, std::string_view> kContainers[] = {
    {"builtins.dict", "builtins.dict"},
    {"builtins.frozenset", "builtins.frozenset"},
    {"builtins.list", "builtins.list"},
    {"builtins.set", "builtins.set"},
    {"builtins.tuple", "builtins.tuple"},
    {"collections.Counter", "collections.Counter"},
    {"collections.OrderedDict", "collections.OrderedDict"},
    {"collections.defaultdict", "collections.defaultdict"},
    {"collections.deque", "collections.deque"},
    {"typing.DefaultDict", "collections.defaultdict"},
    {"typing.Dict", "builtins.dict"},
    {"typing.List", "builtins.list"},
    {"typing.OrderedDict", "collections.OrderedDict"},
    {"typing.Set", "builtins.set"},
    {"typing.Tuple", "builtins.tuple"},
    {"typing.TypedDict", "builtins.dict"}};

// What can be said to such objects, to no effect here.
constexpr std::string_view kNotes[] = {"save_for_backward", "mark_non_differentiable", "mark_dirty",
                                       "set_materialize_grads", "_init_handles"};
constexpr std::string_view kOfModules[] = {"eval", "train", "cuda", "to", "requires_grad_"};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::string_view (&known)[N]) {
  return std::find(std::begin(known), std::end(known), name) != std::end(known);
}

// What a class may be decorated with beside dataclass, to no effect here.
constexpr std::string_view kDecorators[] = {"enum.unique", "enum.verify", "typing.final", "typing.runtime_checkable"};

}  // namespace

ForeignBase known_base(std::string_view path) {
  const auto found =
      std::find_if(std::begin(kBases), std::end(kBases), [&](const ForeignBase& b) { return b.path == path; });
  return found != std::end(kBases) ? *found : ForeignBase{path, Form::foreign};
}

HostValue class_value(std::shared_ptr<HostClass> klass) {
  HostValue v;
  v.kind = Kind::klass;
  v.klass = std::move(klass);
  return v;
}

// What a class has from its bases: those of the folder whole, of others what kind of class it is.
void HostMachine::read_bases(const py::Stmt& s, HostClass& made, Frame& frame) {
  made.parent = std::make_shared<HostClass>();  // object
  made.parent->attributes = HostValue::sequence(Kind::dict, {});
  bool own = false;
  for (const py::Expr* base : s.targets) {
    const py::Expr& named = base->kind == py::ExprKind::subscript ? *base->items[0] : *base;  // Generic[T]
    const HostValue v = eval(named, frame);
    if (v.is(Kind::klass)) {
      if (own) refuse(Code::host, fmt::format("class '{}' has several bases", s.name), base->place, "write one class");
      own = true;
      made.form = v.klass->form;
      made.container = v.klass->container;
      made.is_value = v.klass->is_value;
      made.text_is_value = v.klass->text_is_value;
      made.auto_value = v.klass->auto_value;
      made.fields = v.klass->fields;
      made.methods = v.klass->methods;
      made.setters = v.klass->setters;
      made.attributes.items->values = v.klass->attributes.items->values;
      made.parent = v.klass;
      continue;
    }
    const auto* container = std::find_if(std::begin(kContainers), std::end(kContainers),
                                         [&](const auto& row) { return v.is(Kind::path) && v.text == row.first; });
    if (container != std::end(kContainers)) {
      made.container = made.parent->container = container->second;
      continue;
    }
    if (v.is(Kind::path) && (v.text == "builtins.int" || v.text == "builtins.str")) {
      made.is_value = true;  // class Mode(str, Enum)
      made.form = Form::foreign;
      continue;
    }
    if (std::shared_ptr<HostClass> above = exception_type(v)) {
      made.form = Form::exception;
      made.parent = std::move(above);
      own = true;
      continue;
    }
    const ForeignBase known = known_base(v.is(Kind::path) ? v.text.get() : py::print(*base));
    if (own && known.form == Form::plain) continue;
    made.form = known.form;
    made.is_value = made.is_value || known.is_value;
    made.text_is_value = known.is_value && known.path != "enum.Flag";
    made.auto_value = known.auto_value;
  }
}

// Methods by which a class says how its objects or subclasses come to be, or what an attribute is. Python calls them by
// itself, and here nobody would.
static bool changes_classes(std::string_view method) {
  constexpr std::string_view kMethods[] = {"__new__", "__init_subclass__", "__set_name__",    "__get__",
                                           "__set__", "__delattr__",       "__getattribute__"};
  return std::find(std::begin(kMethods), std::end(kMethods), method) != std::end(kMethods);
}

// A field of a dataclass or a named tuple, a member of an enumeration.
HostClass::Field HostMachine::read_field(const py::Stmt& s, Frame& frame) {
  HostClass::Field out;
  out.name = s.targets[0]->text;
  if (s.value == nullptr || !is_field(s, *frame.module)) {
    out.has_default = s.value != nullptr;
    if (const HostValue* value = frame.scope->find(out.name); value != nullptr && out.has_default)
      out.default_value = *value;
    return out;
  }
  const std::pair<std::string_view, bool*> options[] = {
      {"init", &out.given}, {"repr", &out.shown}, {"kw_only", &out.keyword_only}};
  for (const py::Keyword& k : s.value->keywords) {
    const HostValue value = eval(*k.value, frame);
    for (const auto& [option, bit] : options)
      if (k.name == option) *bit = truth(value, s.place);
    if (k.name == "default") out.default_value = value;
    if (k.name == "default_factory") out.factory = value;
    if (k.name == "default" || k.name == "default_factory") out.has_default = true;
  }
  if (out.has_default && out.factory.is(Kind::none)) frame.scope->set(s.targets[0]->text, out.default_value);
  return out;
}

void HostMachine::read_decorators(const py::Stmt& s, HostClass& made, Frame& frame) {
  for (const py::Expr* d : s.decorators) {
    const bool called = d->kind == py::ExprKind::call;
    const std::string path = resolve_path(*frame.module, called ? *d->items[0] : *d);
    if (is_one_of(path, kDecorators)) continue;
    if (path.empty() && !eval(called ? *d->items[0] : *d, frame).is(Kind::path)) continue;  // the file's own
    if (path != "dataclasses.dataclass")
      refuse(Code::host, fmt::format("decorator '{}' of a class", py::print(*d).substr(0, 80)), d->place,
             "known are dataclasses.dataclass, enum.unique and functions of the file");
    made.form = Form::record;
    const std::pair<std::string_view, bool*> options[] = {
        {"frozen", &made.frozen}, {"order", &made.ordered}, {"kw_only", &made.keyword_only}};
    for (const py::Keyword& k : d->keywords)
      for (const auto& [option, bit] : options)
        if (k.name == option) *bit = truth(eval(*k.value, frame), d->place);
  }
}

std::shared_ptr<HostClass> HostMachine::new_class(std::string name) {
  auto made = std::make_shared<HostClass>();
  made->name = std::move(name);
  made->attributes = HostValue::sequence(Kind::dict, {});
  made_classes_.push_back(made);
  return made;
}

HostValue HostMachine::make_class(const PassModule& module, const py::Stmt& s, py::Place place) {
  if (const auto it = classes_.find(&s); it != classes_.end()) {
    if (!it->second) raise("NameError", fmt::format("class '{}' is used while it is made", s.name), place);
    return class_value(it->second);
  }
  classes_[&s] = nullptr;
  try {
    return class_value(classes_[&s] = build_class(module, s, place));
  } catch (const HostRaise&) {
    classes_.erase(&s);  // and says so again
    throw;
  }
}

std::shared_ptr<HostClass> HostMachine::build_class(const PassModule& module, const py::Stmt& s, py::Place place) {
  const std::shared_ptr<HostClass> made = new_class(std::string(s.name));
  Frame frame;
  frame.module = &module;
  frame.scope = std::make_shared<HostScope>();
  frame.making = made.get();
  const PassModule* caller = std::exchange(current_, &module);
  read_bases(s, *made, frame);
  read_decorators(s, *made, frame);
  for (const py::Stmt* inner : s.body) run_in_class(*inner, frame);
  keep_names(frame, place);
  if (made->form == Form::enumeration) make_members(made, place);
  mark_module_level(made->attributes, place);
  current_ = caller;
  return made;
}

// A class in a class, or one of the module level that functions of the file decorate.
void HostMachine::define_class(const py::Stmt& s, Frame& frame) {
  const Binding* b = at_module_level(frame) ? frame.module->find(s.name) : nullptr;
  if (frame.making == nullptr && (b == nullptr || b->statement != &s))
    refuse(Code::host, "a class in a wrapper", s.place, "write it at the top of the file");
  HostValue made = frame.making == nullptr ? make_class(*frame.module, s, s.place)
                                           : class_value(build_class(*frame.module, s, s.place));
  frame.scope->set(s.name, decorated(std::move(made), s, frame));
}

// A def in the body of a class, which cannot see the names around it.
void HostMachine::define_method(const py::Stmt& s, Frame& frame) {
  if (is_kernel(*frame.module, s)) return frame.scope->set(s.name, kernel_value(*frame.module, s));
  if (changes_classes(s.name))
    refuse(Code::host, fmt::format("'{}' in class '{}'", s.name, frame.making->name), s.place,
           "objects are made by __init__, and have the attributes that are set");
  HostValue made = make_function(&s, nullptr, frame);
  made.function->closure = nullptr;
  made.function->parent = frame.making->parent;
  for (const HostValue& v : made.function->defaults->values) mark_module_level(v, s.place);
  MethodForm form = MethodForm::plain;
  for (const py::Expr* d : s.decorators) {
    const std::string text = py::print(*d);
    if (text.ends_with(".setter")) return frame.making->setters.push_back({MethodForm::plain, s.name, *made.function});
    if (text == "property" || text.ends_with("cached_property")) form = MethodForm::property;
    if (text == "staticmethod") form = MethodForm::of_none;
    if (text == "classmethod") form = MethodForm::of_class;
  }
  made = decorated(std::move(made), s, frame);
  if (made.is(Kind::function)) made.function->form = form;
  frame.scope->set(s.name, std::move(made));
}

void HostMachine::run_in_class(const py::Stmt& s, Frame& frame) {
  HostClass& made = *frame.making;
  const py::Stmt* const alone = &s;
  if (!is_field(s, *frame.module)) run({&alone, 1}, frame);
  if (made.form == Form::enumeration) return number_members(frame, s.place);
  const bool field = s.kind == py::StmtKind::annotated && s.targets[0]->kind == py::ExprKind::name &&
                     py::print(*s.annotation).find("ClassVar") == std::string::npos;
  if (!field) return;
  HostClass::Field read = read_field(s, frame);
  std::erase_if(made.fields, [&](const HostClass::Field& f) { return f.name == read.name; });
  read.keyword_only = read.keyword_only || made.keyword_only;
  made.fields.push_back(std::move(read));
}

// What the body of a class has bound: functions are its methods.
void HostMachine::keep_names(Frame& frame, py::Place place) {
  HostClass& made = *frame.making;
  for (auto& [name, value] : frame.scope->names()) {
    mark_module_level(value, place);
    std::erase_if(made.methods, [&, of = name](const HostClass::Method& m) { return m.name == of; });
    HostValue* known = find_attribute(made.attributes, name);
    if (value.is(Kind::function))
      made.methods.push_back({value.function->form, name, *value.function});
    else if (known != nullptr)
      *known = std::move(value);
    else
      add_attribute(made.attributes, name, std::move(value));
  }
  frame.scope->clear();  // which functions inside do not see
}

// "a b", a list of names, one of pairs that begin with them, or a dict.
std::vector<HostValue> HostMachine::listed_names(const HostValue& v, py::Place place) {
  HostArgs by;
  HostKwargs none;
  if (v.is(Kind::dict)) return iterate(make_view(v, "items"), place);
  if (!v.is(Kind::string)) return iterate(v, place);
  std::string spaced = v.text;
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  return string_method(HostValue::string(std::move(spaced)), "split", by, none, place)->items->values;
}

// collections.namedtuple("Name", "a b"), typing.NamedTuple("Name", [("a", int)]).
HostValue HostMachine::make_named_tuple(const HostArgs& args, const HostKwargs& kwargs, py::Place place) {
  if (args.size() < 2) raise("TypeError", "namedtuple() needs a name and its fields", place);
  spend(1000, place);  // classes made in a loop may hold one another
  const std::shared_ptr<HostClass> made = new_class(string_of(args[0], place));
  made->form = Form::tuple;
  for (const HostValue& name : listed_names(args[1], place)) {
    const bool typed = name.is(Kind::tuple) || name.is(Kind::list);  // ("rows", int)
    const HostValue field = typed ? get_item(name, HostValue::of(std::int64_t{0}), place) : name;
    made->fields.push_back({string_of(field, place), {}, false});
  }
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

// An object of class Config(dict). A tuple is what it is made of before __init__ sees it.
HostValue HostMachine::make_container(const HostValue& klass, HostArgs args, HostKwargs kwargs, py::Place place) {
  const HostClass& c = *klass.klass;
  const HostClass::Method* init = c.method("__init__");
  HostValue out = call_path(c.container, {}, {}, place);
  out.klass = klass.klass;
  out.items->attributes = std::make_shared<HostItems>();
  const bool fixed = c.container == "builtins.tuple" || c.container == "builtins.frozenset";
  if (fixed || init == nullptr) init_container(out, c, args, kwargs, place);
  if (init == nullptr) return out;
  args.insert(args.begin(), out);
  call_function(HostFunction(init->function), std::move(args), std::move(kwargs), place);
  return out;
}

void HostMachine::init_container(const HostValue& object, const HostClass& c, HostArgs args, HostKwargs kwargs,
                                 py::Place place) {
  const HostValue made = call_path(c.container, std::move(args), std::move(kwargs), place);
  check_write(*object.items, made, place);
  object.items->values = std::move(made.items->values);
  object.items->factory = made.items->factory;
  object.items->most = made.items->most;
}

HostValue HostMachine::instantiate(const HostValue& klass, HostArgs args, HostKwargs kwargs, py::Place place) {
  const HostClass& c = *klass.klass;
  if (!c.container.empty()) return make_container(klass, std::move(args), std::move(kwargs), place);
  HostValue out = empty_object(klass.klass);
  switch (c.form) {
    case Form::foreign:
      refuse(Code::host, fmt::format("an object of class '{}' in a wrapper", c.name), place,
             "known are plain classes, NamedTuple, dataclass and Enum; compute in a kernel");
    case Form::enumeration:
      if (args.size() != 1) raise("TypeError", fmt::format("{}() takes a value", c.name), place);
      return enum_member(klass, args[0], place);
    case Form::record:
    case Form::tuple: {
      if (c.method("__init__") != nullptr) break;
      const auto default_of = [&](const HostClass::Field& f) {
        return f.factory.is(Kind::none) ? f.default_value : call(f.factory, {}, {}, place);
      };
      std::size_t next = 0, used = 0;
      for (const HostClass::Field& f : c.fields) {
        if (!f.given) {
          if (f.has_default) add_attribute(out, f.name, default_of(f));
          continue;
        }
        const auto kw = std::find_if(kwargs.begin(), kwargs.end(), [&](const auto& k) { return k.first == f.name; });
        if (next < args.size() && !f.keyword_only) {
          add_attribute(out, f.name, args[next++]);
        } else if (kw != kwargs.end()) {
          add_attribute(out, f.name, kw->second);
          ++used;
        } else if (f.has_default) {
          add_attribute(out, f.name, default_of(f));
        } else {
          raise("TypeError", fmt::format("{}() is missing its argument '{}'", c.name, f.name), place);
        }
      }
      if (next < args.size() || used < kwargs.size())
        raise("TypeError", fmt::format("{}() takes {} arguments", c.name, c.fields.size()), place);
      if (const HostClass::Method* after = c.method("__post_init__")) call_function(after->function, {out}, {}, place);
      return out;
    }
    case Form::exception: {
      out = make_exception(klass.klass, args);
      if (c.method("__init__") == nullptr) return out;
      break;
    }
    case Form::autograd:
    case Form::version:
    case Form::silent:
      refuse(Code::host, fmt::format("an object of class '{}' in a wrapper", c.name), place, "call its apply");
    case Form::module:
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
  if (name == "__name__" || name == "__qualname__") return HostValue::string(c.name);
  if (name == "__members__" && c.form == Form::enumeration) {
    HostValue members = HostValue::sequence(Kind::dict, {});
    for (std::size_t i = 0; i + 1 < c.attributes.items->values.size(); i += 2)
      if (is_enum_member(c.attributes.items->values[i + 1]))
        add_attribute(members, c.attributes.items->values[i].text, c.attributes.items->values[i + 1]);
    return members;
  }
  if (name == "_fields" && c.form == Form::tuple) {
    std::vector<HostValue> names;
    for (const HostClass::Field& f : c.fields) names.push_back(HostValue::string(f.name));
    return HostValue::sequence(Kind::tuple, std::move(names));
  }
  if (const HostValue* found = c.attributes.items ? find_attribute(c.attributes, name) : nullptr) return *found;
  const HostClass::Method* m = c.method(name);
  if (m == nullptr || m->form == MethodForm::of_class) return std::nullopt;
  HostValue function;
  function.kind = Kind::function;
  function.function = std::make_shared<HostFunction>(m->function);
  function.function->form = MethodForm::plain;
  return function;
}

std::optional<HostValue> HostMachine::object_attribute(const HostValue& object, std::string_view name,
                                                       py::Place place) {
  if (const HostValue* found = find_attribute(object, name)) return *found;
  if (is_enum_member(object) && (name == "_name_" || name == "_value_"))
    return object_attribute(object, name == "_name_" ? "name" : "value", place);
  if (name == "__class__") return class_value(object.klass);
  if (name == "__dict__") {  // the attributes themselves, not a copy
    HostValue out = HostValue::sequence(Kind::dict, {});
    out.items = attributes_of(object).get() == object.items.get() ? object.items : attributes_of(object);
    return out;
  }
  if (object.klass->form == Form::exception && (name == "__cause__" || name == "__context__")) return HostValue{};
  if (object.klass->name == "StopIteration" && name == "value") {
    const HostValue* args = find_attribute(object, "args");
    return args != nullptr && !args->items->values.empty() ? args->items->values[0] : HostValue{};
  }
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
    if (of_class || !object.is(Kind::klass)) args.insert(args.begin(), of_class ? class_value(object.klass) : object);
    const HostFunction function = m->function;
    return call_function(function, std::move(args), std::move(kwargs), place);
  }
  if (object.is(Kind::klass) && object.klass->form == Form::autograd && name == "apply")
    return apply_forward(object, std::move(args), std::move(kwargs), place);
  if (name == "_make" && object.klass->form == Form::tuple && args.size() == 1)
    return instantiate(class_value(object.klass), iterate(args[0], place), {}, place);
  if (!object.is(Kind::object)) return std::nullopt;
  if (takes_note(*object.klass, name)) return object.klass->form == Form::module ? object : HostValue{};
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

bool HostMachine::takes_note(const HostClass& c, std::string_view method) {
  return (c.form == Form::silent && is_one_of(method, kNotes)) ||
         (c.form == Form::module && is_one_of(method, kOfModules));
}

// An object or a class as `super()` gives it to its methods: args are the class above, the object and, where they were
// written, the two once more.
HostValue HostMachine::make_super(const HostArgs& args, py::Place place) {
  if (args.size() < 2 || !args[0].is(Kind::klass)) raise("RuntimeError", "super(): no arguments", place);
  HostValue out = HostValue::sequence(Kind::parent, {args[1]});
  out.klass = args[0].klass;
  return out;
}

std::optional<HostValue> HostMachine::parent_method(const HostValue& object, std::string_view name, HostArgs& args,
                                                    HostKwargs& kwargs, py::Place place) {
  const HostClass& c = *object.klass;
  if (const HostClass::Method* m = c.method(name)) {
    if (m->form != MethodForm::of_none) args.insert(args.begin(), object.items->values[0]);
    const HostFunction function = m->function;
    return call_function(function, std::move(args), std::move(kwargs), place);
  }
  if (name == "__init__" && c.form == Form::exception && kwargs.empty()) {
    HostValue* held = find_attribute(object.items->values[0], "args");
    for (const HostValue& v : args) check_write(*object.items->values[0].items, v, place);
    if (held != nullptr) *held = HostValue::sequence(Kind::tuple, std::move(args));
    return HostValue{};
  }
  const HostValue& self = object.items->values[0];
  if (name == "__setattr__" && args.size() == 2) {
    store_attribute(self, string_of(args[0], place), args[1], place);
    return HostValue{};
  }
  if (!c.container.empty() && name == "__init__") {
    init_container(self, c, std::move(args), std::move(kwargs), place);
    return HostValue{};
  }
  if (!c.container.empty()) {
    HostValue plain = self;
    plain.klass = nullptr;
    return call_method(plain, std::string(name), std::move(args), std::move(kwargs), place);
  }
  const bool makes_nothing = c.form == Form::plain || c.form == Form::module || c.form == Form::foreign;
  return name == "__init__" && makes_nothing ? std::optional(HostValue{}) : std::nullopt;
}

// Function.apply: there are no gradients here, so what forward leaves for backward is forgotten.
HostValue HostMachine::apply_forward(const HostValue& klass, HostArgs args, HostKwargs kwargs, py::Place place) {
  const HostClass::Method* forward = klass.klass->method("forward");
  if (forward == nullptr) raise("NotImplementedError", "a Function needs forward", place);
  if (klass.klass->method("setup_context") == nullptr) {
    HostValue context = make_object("context", {});
    context.klass->form = Form::silent;
    add_attribute(context, "needs_input_grad",
                  HostValue::sequence(Kind::tuple, std::vector<HostValue>(args.size(), HostValue::boolean(false))));
    args.insert(args.begin(), context);
  }
  const HostFunction function = forward->function;
  return call_function(function, std::move(args), std::move(kwargs), place);
}

std::optional<HostValue> HostMachine::own_operator(py::Op op, const HostValue& a, const HostValue& b, py::Place place) {
  struct Row {
    py::Op op;
    std::string_view left, right;
  };
  constexpr Row kRows[] = {{py::Op::add, "__add__", "__radd__"},
                           {py::Op::sub, "__sub__", "__rsub__"},
                           {py::Op::mul, "__mul__", "__rmul__"},
                           {py::Op::div, "__truediv__", "__rtruediv__"},
                           {py::Op::mod, "__mod__", "__rmod__"},
                           {py::Op::pow, "__pow__", "__rpow__"},
                           {py::Op::mat_mul, "__matmul__", "__rmatmul__"},
                           {py::Op::bit_and, "__and__", "__rand__"},
                           {py::Op::bit_or, "__or__", "__ror__"},
                           {py::Op::bit_xor, "__xor__", "__rxor__"},
                           {py::Op::floor_div, "__floordiv__", "__rfloordiv__"},
                           {py::Op::shift_left, "__lshift__", "__rlshift__"},
                           {py::Op::shift_right, "__rshift__", "__rrshift__"},
                           {py::Op::lt, "__lt__", "__gt__"},
                           {py::Op::le, "__le__", "__ge__"},
                           {py::Op::gt, "__gt__", "__lt__"},
                           {py::Op::ge, "__ge__", "__le__"}};
  if (is_flag(a) && is_flag(b)) return join_flags(op, a, b, place);
  const auto may_say = [](const HostValue& v) { return v.is(Kind::object) || is_container_object(v); };
  if (!may_say(a) && !may_say(b)) return std::nullopt;
  for (const Row& row : kRows) {
    if (row.op != op) continue;
    const auto said = [](const std::optional<HostValue>& v) {
      return v && !(v->is(Kind::path) && v->text == "builtins.NotImplemented");
    };
    if (auto v = own(a, row.left, {b}, place); said(v)) return v;
    if (auto v = own(b, row.right, {a}, place); said(v)) return v;
  }
  return std::nullopt;
}

std::optional<HostValue> HostMachine::own(const HostValue& object, std::string_view name, HostArgs args,
                                          py::Place place) {
  const bool container = is_container_object(object);
  if (!object.klass || (!object.is(Kind::object) && !is_enum_member(object) && !container)) return std::nullopt;
  HostKwargs none;
  if (object.klass->method(name) != nullptr) return object_method(object, name, args, none, place);
  // __getattr__ = dict.__getitem__
  const HostValue* bound = container ? find_attribute(object.klass->attributes, name) : nullptr;
  if (bound == nullptr || !bound->is(Kind::path) || !bound->text.starts_with("builtins.")) return std::nullopt;
  args.insert(args.begin(), object);
  return call(HostValue(*bound), std::move(args), {}, place);
}

void HostMachine::set_attribute(const HostValue& object, std::string_view name, HostValue value, py::Place place) {
  if (own(object, "__setattr__", {HostValue::string(std::string(name)), value}, place)) return;
  store_attribute(object, name, std::move(value), place);
}

void HostMachine::delete_attribute(const HostValue& object, std::string_view name, py::Place place) {
  if (own(object, "__delattr__", {HostValue::string(std::string(name))}, place)) return;
  const HostValue* found = find_attribute(object, name);
  if (found == nullptr) raise("AttributeError", fmt::format("{} has no '{}'", host_type_name(object), name), place);
  auto& items = attributes_of(object)->values;
  const auto at = items.begin() + (found - items.data()) - 1;
  items.erase(at, at + 2);
}

void HostMachine::store_attribute(const HostValue& object, std::string_view name, HostValue value, py::Place place) {
  constexpr Form kOpen[] = {Form::plain, Form::record, Form::module, Form::silent, Form::exception, Form::enumeration};
  if (std::find(std::begin(kOpen), std::end(kOpen), object.klass->form) == std::end(kOpen))
    raise("AttributeError", fmt::format("attributes of {} cannot be assigned", object.klass->name), place);
  const auto& setters = object.klass->setters;
  const auto setter =
      std::find_if(setters.rbegin(), setters.rend(), [&](const HostClass::Method& m) { return m.name == name; });
  if (setter != setters.rend()) {
    call_function(HostFunction(setter->function), {object, std::move(value)}, {}, place);
    return;
  }
  if (const HostClass::Method* m = object.klass->method(name); m != nullptr && m->form == MethodForm::property)
    raise("AttributeError", fmt::format("property '{}' of '{}' object has no setter", name, object.klass->name), place);
  if (is_container_object(object) && name == "__dict__" && value.items == object.items) {  // self.__dict__ = self
    object.items->attributes = {std::shared_ptr<HostItems>(), object.items.get()};
    return;
  }
  check_write(*attributes_of(object), value, place);
  HostValue target = object;
  if (HostValue* found = find_attribute(object, name))
    *found = std::move(value);
  else
    add_attribute(target, name, std::move(value));
}

}  // namespace passnet
