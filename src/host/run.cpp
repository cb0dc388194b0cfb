// Statements of a host program.
#include <fmt/format.h>

#include <algorithm>

#include "host/machine.h"
#include "host/policy.h"
#include "host/settings.h"
#include "py/printer.h"

namespace passnet {

using Kind = HostValue::Kind;

void HostMachine::raise(std::string type, std::string message, py::Place place) const {
  throw HostRaise{std::move(type), std::move(message), place, current_ != nullptr ? current_ : &root_};
}

void HostMachine::refuse(Code code, std::string message, py::Place place, std::string note) const {
  Error e{code, (current_ != nullptr ? current_ : &root_)->syntax.where(place), std::move(message), {}};
  if (!note.empty()) e.notes.push_back(std::move(note));
  fail(std::move(e));
}

void HostMachine::step(py::Place place) {
  if (++steps_ > limits_.steps)
    refuse(Code::limit, fmt::format("the wrapper takes more than {} steps", limits_.steps), place,
           "is there an endless loop?");
}

void HostMachine::recover(const Checkpoint& to) {
  depth_ = to.depth;
  nesting_ = to.nesting;
  trying_ = to.trying;
  current_ = to.current;
  evaluating_.resize(to.evaluating);
}

HostMachine::Flow HostMachine::run(const py::Stmt& s, Frame& frame) {
  step(s.place);
  if (!abandoned_->frames.empty()) close_abandoned();
  using K = py::StmtKind;
  if (s.value != nullptr && s.value->kind == py::ExprKind::yield) return yield(s, frame);
  switch (s.kind) {
    case K::expression: eval(*s.value, frame); return Flow::next;
    case K::assign: {
      const HostValue v = eval(*s.value, frame);
      for (const py::Expr* t : s.targets) assign(*t, v, frame);
      return Flow::next;
    }
    case K::annotated:
      if (s.value != nullptr) assign(*s.targets[0], eval(*s.value, frame), frame);
      return Flow::next;
    case K::augmented: run_augmented(s, frame); return Flow::next;
    case K::return_:
      if (s.value != nullptr) frame.result = eval(*s.value, frame);
      return Flow::returned;
    case K::if_: {
      const auto& taken = truth(eval(*s.value, frame), s.value->place) ? s.body : s.orelse;
      if (!taken.empty()) frame.blocks.push_back({HostBlock::Kind::plain, taken});
      return Flow::next;
    }
    case K::for_: begin_for(s, frame); return Flow::next;
    case K::while_: frame.blocks.push_back({HostBlock::Kind::while_, s.body, s.body.size(), &s}); return Flow::next;
    case K::break_: return Flow::broke;
    case K::continue_: return Flow::continued;
    case K::pass: return Flow::next;
    case K::raise: run_raise(s, frame);
    case K::assert_:
      if (!truth(eval(*s.value, frame), s.value->place))
        raise("AssertionError",
              s.annotation != nullptr ? text(eval(*s.annotation, frame), false, s.place) : py::print(*s.value),
              s.place);
      return Flow::next;
    case K::function:
    case K::class_: define(s, frame); return Flow::next;
    case K::try_:
      frame.blocks.push_back({HostBlock::Kind::trial, s.body, 0, &s});
      trying_ += s.handlers.empty() ? 0 : 1;
      return Flow::next;
    case K::global:
      for (const py::Alias& a : s.aliases) frame.globals.push_back(a.name);
      return Flow::next;
    case K::nonlocal:
      for (const py::Alias& a : s.aliases) frame.nonlocals.push_back(a.name);
      return Flow::next;
    case K::import:
    case K::import_from: run_import(s, frame); return Flow::next;
    case K::delete_: run_delete(s, frame); return Flow::next;
    case K::with: begin_with(s, frame); return Flow::next;
    case K::match: begin_match(s, frame); return Flow::next;
    case K::case_: return Flow::next;  // of a match, which runs them
  }
  return Flow::next;
}

void HostMachine::define(const py::Stmt& s, Frame& frame) {
  if (s.kind == py::StmtKind::class_) return define_class(s, frame);
  if (frame.making != nullptr) return define_method(s, frame);
  HostValue made;
  if (is_kernel(*frame.module, s)) {
    made = kernel_value(*frame.module, s);
    if (!at_module_level(frame)) made.function = make_function(&s, nullptr, frame).function;
  } else {
    made = make_function(&s, nullptr, frame);
  }
  frame.scope->set(s.name, decorated(std::move(made), s, frame));
}

// Whether a value fits a pattern of `case`; names in it are bound on the way, as in Python also where it does not.
bool HostMachine::fits(const py::Expr& pattern, const HostValue& subject, Frame& frame) {
  using K = py::ExprKind;
  switch (pattern.kind) {
    case K::name:
      if (pattern.text != "_") assign(pattern, subject, frame);
      return true;
    case K::none:
    case K::boolean: return same(eval(pattern, frame), subject, pattern.place);
    case K::binary:  // a | b
      return std::any_of(pattern.items.begin(), pattern.items.end(),
                         [&](const py::Expr* either) { return fits(*either, subject, frame); });
    case K::tuple:
    case K::list: return fits_items(pattern, subject, frame);
    default: return compare(py::Op::eq, subject, eval(pattern, frame), pattern.place);
  }
}

bool HostMachine::fits_items(const py::Expr& pattern, const HostValue& subject, Frame& frame) {
  if (!subject.is(Kind::tuple) && !subject.is(Kind::list) && !subject.is(Kind::range) && !is_named_tuple(subject))
    return false;
  const std::vector<HostValue> items = iterate(subject, pattern.place);
  const auto is_star = [](const py::Expr* e) { return e->kind == py::ExprKind::starred; };
  const auto star = std::find_if(pattern.items.begin(), pattern.items.end(), is_star);
  const std::size_t wanted = pattern.items.size() - (star == pattern.items.end() ? 0 : 1);
  if (star == pattern.items.end() ? items.size() != wanted : items.size() < wanted) return false;
  const std::size_t extra = items.size() - wanted;
  std::size_t at = 0;
  for (const py::Expr* p : pattern.items) {
    if (is_star(p)) {
      const auto from = items.begin() + static_cast<std::ptrdiff_t>(at);
      fits(*p->items[0], HostValue::sequence(Kind::list, {from, from + static_cast<std::ptrdiff_t>(extra)}), frame);
      at += extra;
    } else if (!fits(*p, items[at++], frame)) {
      return false;
    }
  }
  return true;
}

void HostMachine::run_import(const py::Stmt& s, Frame& frame) {
  for (const py::Alias& a : s.aliases) {
    const std::string_view as = a.as.empty() ? a.name.substr(0, a.name.find('.')) : a.as;
    const std::string_view from = s.kind == py::StmtKind::import ? a.name : s.name;
    const bool own = s.level > 0 || frame.module->find_file(s, from) != nullptr;
    if (trying_ > 0 && !own && !is_installed(from))
      raise("ModuleNotFoundError", fmt::format("No module named '{}'", from), a.place);
    HostValue v;
    v.kind = Kind::module;
    if (s.kind == py::StmtKind::import) {
      v.module = frame.module->find_file(s, a.as.empty() ? as : a.name);
      frame.scope->set(as, v.module != nullptr ? v : HostValue::path(std::string(a.as.empty() ? as : a.name)));
    } else if (const PassModule* file = frame.module->find_file(s, s.name)) {
      if (a.name == "*") refuse(Code::host, "import * inside a function", s.place, "name what is imported");
      if (file->find(a.name) == nullptr)
        raise("ImportError", fmt::format("'{}' has no '{}'", file->name, a.name), a.place);
      frame.scope->set(as, module_value(*file, a.name, a.place));
    } else {
      if (!path_has(s.name, a.name))
        raise("ImportError", fmt::format("cannot import name '{}' from '{}'", a.name, s.name), a.place);
      frame.scope->set(as, eval_attribute(HostValue::path(std::string(s.name)), a.name, a.place));
    }
  }
}

void HostMachine::run_delete(const py::Stmt& s, Frame& frame) {
  for (const py::Expr* t : s.targets) {
    if (t->kind == py::ExprKind::name) {
      frame.scope->erase(t->text);
    } else if (t->kind == py::ExprKind::subscript) {
      const HostValue object = eval(*t->items[0], frame);
      delete_item(object, eval(*t->items[1], frame), t->place);
    } else if (t->kind == py::ExprKind::attribute) {
      const HostValue object = eval(*t->items[0], frame);
      if (object.is(Kind::object) || is_container_object(object)) delete_attribute(object, t->text, t->place);
    }
  }
}

void HostMachine::run_augmented(const py::Stmt& s, Frame& frame) {
  const py::Expr& t = *s.targets[0];
  HostValue object, index, old;
  if (t.kind == py::ExprKind::subscript) {
    object = eval(*t.items[0], frame);
    index = eval(*t.items[1], frame);
    old = get_item(object, index, s.place);
  } else {
    old = eval(t, frame);
  }
  const HostValue operand = eval(*s.value, frame);
  const bool in_place = (s.op == py::Op::add && old.is(Kind::list)) ||
                        (s.op == py::Op::bit_or && (old.is(Kind::dict) || old.is(Kind::set)));
  if (in_place) {  // as Python: the list itself grows
    call_method(old, s.op == py::Op::add ? "extend" : "update", {operand}, {}, s.place);
    return;
  }
  const bool repeats = s.op == py::Op::mul && old.is(Kind::list);
  const bool thins = old.is(Kind::set) && (s.op == py::Op::sub || s.op == py::Op::bit_and || s.op == py::Op::bit_xor);
  if (repeats || thins) {
    const HostValue made = binary(s.op, old, operand, s.place);
    call_method(old, "clear", {}, {}, s.place);
    call_method(old, repeats ? "extend" : "update", {made}, {}, s.place);
    return;
  }
  std::optional<HostValue> changed;
  if (s.op == py::Op::add || s.op == py::Op::mul || s.op == py::Op::sub)
    changed = own(old,
                  s.op == py::Op::add   ? "__iadd__"
                  : s.op == py::Op::mul ? "__imul__"
                                        : "__isub__",
                  {operand}, s.place);
  HostValue made = changed ? std::move(*changed) : binary(s.op, old, operand, s.place);
  if (t.kind == py::ExprKind::subscript)
    set_item(object, index, std::move(made), s.place);
  else
    assign(t, std::move(made), frame);
}

// Of a name that outlives the call.
void HostMachine::check_name(std::string_view kind, std::string_view name, const HostValue& value, py::Place place) {
  if (holds_state(value, place))
    refuse(Code::integrity, fmt::format("{} '{}' is written with a tensor", kind, name), place,
           "that is a cache between calls");
  mark_module_level(value, place);
}

void HostMachine::assign(const py::Expr& target, HostValue value, Frame& frame) {
  switch (target.kind) {
    case py::ExprKind::name: {
      const auto named = [&](const std::vector<std::string_view>& names) {
        return std::find(names.begin(), names.end(), target.text) != names.end();
      };
      if (named(frame.globals)) {
        HostScope* scope = module_scope(*frame.module);
        const Binding* b = frame.module->find(target.text);
        check_name("global", target.text, value, target.place);
        if (scope != nullptr)
          scope->set(target.text, std::move(value));
        else if (b != nullptr && b->value != nullptr && b->unpack == Binding::kWhole)
          constants_[b->value] = std::move(value);
        else
          frame.scope->set(target.text, std::move(value));
        return;
      }
      if (named(frame.nonlocals)) {
        for (HostScope* scope = frame.scope->parent.get(); scope != nullptr; scope = scope->parent.get())
          if (HostValue* found = scope->find(target.text)) {
            if (scope->module_level) check_name("nonlocal", target.text, value, target.place);
            *found = std::move(value);
            return;
          }
      }
      if (frame.scope->module_level && !at_module_level(frame)) check_name("name", target.text, value, target.place);
      frame.scope->set(target.text, std::move(value));
      return;
    }
    case py::ExprKind::subscript: {
      HostValue object = eval(*target.items[0], frame);
      set_item(object, eval(*target.items[1], frame), std::move(value), target.place);
      return;
    }
    case py::ExprKind::tuple:
    case py::ExprKind::list: return unpack(target, value, frame);
    case py::ExprKind::attribute:
      if (const HostValue object = eval(*target.items[0], frame); object.is(Kind::path)) {
        if (find_setting(fmt::format("{}.{}", object.text.get(), target.text)) != nullptr) return;
      } else if (object.is(Kind::object) || is_container_object(object)) {
        const bool itself = target.items[0]->kind == py::ExprKind::name &&
                            (target.items[0]->text == "self" || target.items[0]->text == "ctx");
        if (object.items->module_level && !itself)
          refuse(Code::integrity, fmt::format("assignment to '{}' of an object of the module", target.text),
                 target.place, "make the object in the wrapper");
        if (object.klass->frozen)
          raise("FrozenInstanceError", fmt::format("cannot assign to field '{}'", target.text), target.place);
        return set_attribute(object, target.text, std::move(value), target.place);
      }
      [[fallthrough]];
    default:
      refuse(Code::integrity, fmt::format("assignment to '{}'", py::print(target).substr(0, 80)), target.place,
             "a wrapper assigns to names and to items of its own lists and dicts");
  }
}

void HostMachine::unpack(const py::Expr& target, const HostValue& value, Frame& frame) {
  const auto star = std::find_if(target.items.begin(), target.items.end(),
                                 [](const py::Expr* e) { return e->kind == py::ExprKind::starred; });
  const std::size_t wanted = target.items.size();
  // Of an iterator without a star one value more is taken, as Python does, to know that there are too many.
  const std::vector<HostValue> items =
      star == target.items.end() ? iterate_some(value, wanted + 1, target.place) : iterate(value, target.place);
  if (star == target.items.end()) {
    if (items.size() != wanted)
      raise("ValueError",
            fmt::format("{}{} values to unpack into {} names",
                        is_iterator(value) && items.size() > wanted ? "at least " : "", items.size(), wanted),
            target.place);
    for (std::size_t i = 0; i < wanted; ++i) assign(*target.items[i], items[i], frame);
    return;
  }
  if (items.size() + 1 < wanted)
    raise("ValueError", fmt::format("{} values to unpack into at least {} names", items.size(), wanted - 1),
          target.place);
  const std::size_t before = static_cast<std::size_t>(star - target.items.begin()), extra = items.size() - (wanted - 1);
  for (std::size_t i = 0; i < before; ++i) assign(*target.items[i], items[i], frame);
  assign(*(*star)->items[0],
         HostValue::sequence(Kind::list, {items.begin() + static_cast<std::ptrdiff_t>(before),
                                          items.begin() + static_cast<std::ptrdiff_t>(before + extra)}),
         frame);
  for (std::size_t i = before + 1; i < wanted; ++i) assign(*target.items[i], items[i - 1 + extra], frame);
}

}  // namespace passnet
