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

HostValue empty_object(std::shared_ptr<HostClass> klass) {
  HostValue v = HostValue::sequence(Kind::object, {});
  v.klass = std::move(klass);
  return v;
}

// x: int = dataclasses.field(...)
bool is_field(const py::Stmt& s, const PassModule& module) {
  return s.kind == py::StmtKind::annotated && s.value->kind == py::ExprKind::call &&
         resolve_path(module, *s.value->items[0]) == "dataclasses.field";
}

struct ForeignBase {
  std::string_view path;
  Form form;
  bool is_value = false;
};
constexpr ForeignBase kBases[] = {{"typing.NamedTuple", Form::tuple},
                                  {"enum.Enum", Form::enumeration},
                                  {"enum.IntEnum", Form::enumeration, true},
                                  {"enum.StrEnum", Form::enumeration, true},
                                  {"enum.IntFlag", Form::enumeration, true},
                                  {"torch.nn.Module", Form::module},
                                  {"torch.nn.modules.module.Module", Form::module},
                                  {"torch.autograd.Function", Form::autograd},
                                  {"torch.autograd.function.Function", Form::autograd},
                                  {"builtins.object", Form::plain},
                                  {"typing.Generic", Form::plain},
                                  {"typing.Protocol", Form::plain},
                                  {"abc.ABC", Form::plain}};

// What can be said to such objects, to no effect here.
constexpr std::string_view kNotes[] = {"save_for_backward", "mark_non_differentiable", "mark_dirty",
                                       "set_materialize_grads", "_init_handles"};
constexpr std::string_view kOfModules[] = {"eval", "train", "cuda", "to", "requires_grad_"};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::string_view (&known)[N]) {
  return std::find(std::begin(known), std::end(known), name) != std::end(known);
}

ForeignBase known_base(std::string_view path) {
  const auto found =
      std::find_if(std::begin(kBases), std::end(kBases), [&](const ForeignBase& b) { return b.path == path; });
  return found != std::end(kBases) ? *found : ForeignBase{path, Form::foreign};
}

}  // namespace

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
      made.is_value = v.klass->is_value;
      made.text_is_value = v.klass->text_is_value;
      made.fields = v.klass->fields;
      made.methods = v.klass->methods;
      made.setters = v.klass->setters;
      made.attributes.items->values = v.klass->attributes.items->values;
      made.parent = v.klass;
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
    made.text_is_value = known.is_value;
  }
}

// Methods by which a class says how its objects or subclasses come to be, or what an attribute is. Python calls them by
// itself, and here nobody would.
static bool changes_classes(std::string_view method) {
  constexpr std::string_view kMethods[] = {"__new__", "__init_subclass__", "__set_name__", "__get__",
                                           "__set__", "__setattr__",       "__delattr__",  "__getattribute__"};
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
  for (const py::Keyword& k : s.value->keywords) {
    const HostValue value = eval(*k.value, frame);
    if (k.name == "init") out.given = truth(value, s.place);
    if (k.name == "default") out.default_value = value;
    if (k.name == "default_factory") out.factory = value;
    if (k.name == "default" || k.name == "default_factory") out.has_default = true;
  }
  if (out.has_default && out.factory.is(Kind::none)) frame.scope->set(s.targets[0]->text, out.default_value);
  return out;
}

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
  read_bases(s, *made, frame);
  for (const py::Expr* d : s.decorators) {
    const std::string path = resolve_path(module, d->kind == py::ExprKind::call ? *d->items[0] : *d);
    if (path != "dataclasses.dataclass")
      refuse(Code::host, fmt::format("decorator '{}' of a class", py::print(*d).substr(0, 80)), d->place,
             "known is dataclasses.dataclass");
    made->form = Form::record;
    for (const py::Keyword& k : d->keywords)
      if (k.name == "frozen" || k.name == "order")
        (k.name == "frozen" ? made->frozen : made->ordered) = truth(eval(*k.value, frame), d->place);
  }
  std::int64_t next_auto = 1;
  for (const py::Stmt* inner : s.body) {
    using K = py::StmtKind;
    switch (inner->kind) {
      case K::expression:
      case K::pass: break;
      case K::annotated:
      case K::assign:
        if (inner->value != nullptr && inner->value->kind == py::ExprKind::name &&
            inner->targets[0]->kind == py::ExprKind::name && made->method(inner->value->text) != nullptr) {
          HostClass::Method alias = *made->method(inner->value->text);  // __radd__ = __add__
          alias.name = inner->targets[0]->text;
          made->methods.push_back(std::move(alias));
          break;
        }
        if (inner->value != nullptr && inner->value->kind == py::ExprKind::call &&
            resolve_path(module, *inner->value->items[0]) == "enum.auto")
          frame.scope->set(inner->targets[0]->text, HostValue::of(next_auto++));
        else if (inner->value != nullptr && !is_field(*inner, module))
          run(*inner, frame);
        if (inner->targets.size() == 1 && inner->targets[0]->kind == py::ExprKind::name &&
            (inner->kind == K::annotated || made->form == Form::enumeration)) {
          HostClass::Field field = read_field(*inner, frame);
          std::erase_if(made->fields, [&](const HostClass::Field& f) { return f.name == field.name; });
          made->fields.push_back(std::move(field));
        }
        break;
      case K::function: {
        if (is_kernel(module, *inner)) {  // @staticmethod @triton.jit
          frame.scope->set(inner->name, kernel_value(module, *inner));
          break;
        }
        if (changes_classes(inner->name))
          refuse(Code::host, fmt::format("'{}' in class '{}'", inner->name, s.name), inner->place,
                 "objects are made by __init__, and have the attributes that are set");
        HostClass::Method m{MethodForm::plain, inner->name, {&module, inner, nullptr, nullptr, {}, made->parent}};
        bool setter = false;
        for (const py::Expr* d : inner->decorators) {
          const std::string text = py::print(*d);
          if (text == "property" || text.ends_with("cached_property")) m.form = MethodForm::property;
          if (text == "staticmethod") m.form = MethodForm::of_none;
          if (text == "classmethod") m.form = MethodForm::of_class;
          setter = setter || text.ends_with(".setter");
        }
        if (setter) {
          made->setters.push_back(std::move(m));
          break;
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
  spend(1000, place);  // classes made in a loop may hold one another
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
        if (next < args.size()) {
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
  if (name == "_fields" && c.form == Form::tuple) {
    std::vector<HostValue> names;
    for (const HostClass::Field& f : c.fields) names.push_back(HostValue::string(f.name));
    return HostValue::sequence(Kind::tuple, std::move(names));
  }
  const HostValue* found = c.attributes.items ? find_attribute(c.attributes, name) : nullptr;
  const bool member = c.form == Form::enumeration &&
                      std::any_of(c.fields.begin(), c.fields.end(), [&](const auto& f) { return f.name == name; });
  if (found != nullptr && member && c.is_value) {
    HostValue out = *found;
    out.klass = klass.klass;
    return out;
  }
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
  if (name == "__dict__") return HostValue::sequence(Kind::dict, object.items->values);
  if (object.klass->form == Form::exception && (name == "__cause__" || name == "__context__")) return HostValue{};
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
    if (held != nullptr) *held = HostValue::sequence(Kind::tuple, std::move(args));
    return HostValue{};
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
  if (!a.is(Kind::object) && !b.is(Kind::object)) return std::nullopt;
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
  if (!object.is(Kind::object) || object.klass->method(name) == nullptr) return std::nullopt;
  HostKwargs none;
  return object_method(object, name, args, none, place);
}

// name and value of a member of an IntEnum or StrEnum, which is a number or a string itself.
std::optional<HostValue> HostMachine::enum_attribute(const HostValue& member, std::string_view name, py::Place place) {
  HostValue plain = member;
  plain.klass = nullptr;
  if (name == "value") return plain;
  if (name != "name") return std::nullopt;
  for (const HostClass::Field& f : member.klass->fields)
    if (equal(f.default_value, plain, place)) return HostValue::string(f.name);
  return std::nullopt;
}

void HostMachine::set_attribute(const HostValue& object, std::string_view name, HostValue value, py::Place place) {
  constexpr Form kOpen[] = {Form::plain, Form::record, Form::module, Form::silent, Form::exception};
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
  check_write(*object.items, value, place);
  HostValue target = object;
  if (HostValue* found = find_attribute(object, name))
    *found = std::move(value);
  else
    add_attribute(target, name, std::move(value));
}

}  // namespace passnet
