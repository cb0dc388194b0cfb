// Generators of a host program: a function that yields keeps its frame, and runs on in it when it is asked for a value.
// A generator expression keeps the iterators of its clauses, as a comprehension has them while it is made.
#include <fmt/format.h>

#include <algorithm>

#include "host/machine.h"

namespace passnet {

using Kind = HostValue::Kind;

namespace {

// What comes out of a generator would end whoever asks it, if it were a StopIteration.
bool is_stop(const HostRaise& raised) { return raised.type == "StopIteration"; }

}  // namespace

HostValue HostMachine::make_generator(Frame frame, HostSource::Next next, std::vector<HostValue> values) {
  HostValue out = make_iterator("generator", next, std::move(values));
  out.items->source->frame = std::make_shared<HostFrame>(std::move(frame));
  circles_.emplace_back(out.items);  // its variables may hold it
  return out;
}

// ---- functions that yield

std::optional<HostValue> HostMachine::resume(HostItems& it, py::Place place, std::shared_ptr<const HostRaise> raised) {
  const std::shared_ptr<HostFrame> frame = it.source->frame;
  const bool fresh = frame->blocks.size() == 1 && frame->blocks[0].at == 0;
  if (fresh && raised) frame->blocks.clear();
  it.values.clear();  // what it returned is said once
  if (frame->blocks.empty()) {
    if (raised) throw HostRaise(*raised);
    return std::nullopt;
  }
  if (fresh && !frame->sent.is(Kind::none)) {
    frame->sent = {};
    raise("TypeError", "can't send non-None value to a just-started generator", place);
  }
  const HostBlock::Kind waits = frame->blocks.back().kind;
  if (waits != HostBlock::Kind::awaits && waits != HostBlock::Kind::delegate) frame->sent = {};  // nobody asks for it
  if (++depth_ > limits_.depth)
    refuse(Code::limit, "functions call one another too deeply", place, "a wrapper may not recurse without end");
  const Within<Calling> within(calling_, {});
  const PassModule* caller = std::exchange(current_, frame->module);
  frame->raised = std::move(raised);
  Flow flow = Flow::next;
  try {
    flow = drive(*frame);
  } catch (const HostRaise& out) {
    frame->scope = nullptr;
    if (is_stop(out)) raise("RuntimeError", "generator raised StopIteration", out.place);
    throw;
  }
  current_ = caller;
  --depth_;
  HostValue result = std::exchange(frame->result, {});
  if (flow == Flow::yielded) {
    for (const auto& [name, value] : frame->scope->names()) check_kept(it, value, place);
    return result;
  }
  frame->scope = nullptr;
  if (flow == Flow::returned) it.values.push_back(std::move(result));
  return std::nullopt;
}

HostValue HostMachine::returned_value(const HostValue& iterator) {
  const bool generator = iterator.is(Kind::iterator) && iterator.items->source->frame != nullptr;
  auto* values = generator ? &iterator.items->values : nullptr;
  if (values == nullptr || values->empty() || iterator.items->source->frame->comprehension != nullptr) return {};
  HostValue out = std::move(values->back());
  values->clear();
  return out;
}

void HostMachine::raise_stop(const HostValue& iterator, py::Place place) {
  HostValue value = returned_value(iterator);
  raise_value(
      make_exception(exception_class("StopIteration"), value.is(Kind::none) ? HostArgs{} : HostArgs{std::move(value)}),
      place);
}

// Raises an exception at the yield where a generator waits.
std::optional<HostValue> HostMachine::throw_into(const HostValue& generator, const HostRaise& raised, py::Place place) {
  const std::shared_ptr<HostItems> items = generator.items;
  HostSource& source = *items->source;
  if (source.running) raise("ValueError", "generator already executing", place);
  const Within<bool> running(source.running, true);
  if (source.frame->comprehension == nullptr) return resume(*items, place, std::make_shared<const HostRaise>(raised));
  items->values.clear();
  throw HostRaise(raised);
}

void HostMachine::close_generator(const HostValue& generator, py::Place place) {
  const HostFrame& frame = *generator.items->source->frame;
  if (frame.comprehension != nullptr) return generator.items->values.clear();
  if (frame.blocks.empty()) return;
  const Checkpoint before = checkpoint();
  try {
    const HostRaise exit{"GeneratorExit", "", place, current_ != nullptr ? current_ : &root_};
    if (throw_into(generator, exit, place)) raise("RuntimeError", "generator ignored GeneratorExit", place);
  } catch (const HostRaise& raised) {
    if (raised.type != "GeneratorExit") throw;
    recover(before);
  }
}

// As Python, which closes a generator when nobody holds it any more, and says nothing of what that raises.
void HostMachine::close_abandoned() {
  const Checkpoint before = checkpoint();
  while (!abandoned_->frames.empty()) {
    HostValue generator = make_generator({}, nullptr, {});
    generator.items->source->frame = std::move(abandoned_->frames.back());
    abandoned_->frames.pop_back();
    try {
      close_generator(generator, {});
    } catch (const HostRaise&) {
      recover(before);
    }
    generator.items->source->frame->blocks.clear();  // once is enough
  }
}

std::optional<HostValue> HostMachine::iterator_method(const HostValue& object, std::string_view name,
                                                      const HostArgs& args, py::Place place) {
  const auto next = [&](std::optional<HostValue> item) {
    if (!item) raise_stop(object, place);
    return std::move(*item);
  };
  if (name == "__iter__") return object;
  if (name == "__next__") return next(advance(object, place));
  if (object.items->source->frame == nullptr) return std::nullopt;
  if (name == "send") {
    object.items->source->frame->sent = args[0];
    return next(advance(object, place));
  }
  if (name == "close") {
    close_generator(object, place);
    return HostValue{};
  }
  if (name != "throw") return std::nullopt;
  HostValue exception = args[0];
  if (exception_type(exception) != nullptr)
    exception = call(exception, {args.begin() + 1, args.begin() + (args.size() > 1 ? 2 : 1)}, {}, place);
  if (!exception.is(Kind::object) || exception.klass->form != HostClass::Form::exception)
    raise("TypeError", "exceptions must be classes or instances deriving from BaseException", place);
  return next(throw_into(
      object,
      {exception.klass->name, text(exception, false, place), place, current_ != nullptr ? current_ : &root_, exception},
      place));
}

// ---- comprehensions

bool HostMachine::comprehend(const py::Expr& e, std::vector<HostValue>& iterators, Frame& frame) {
  const auto clauses = e.clauses();
  while (!iterators.empty()) {
    const py::Clause& c = clauses[iterators.size() - 1];
    std::optional<HostValue> item = advance(iterators.back(), e.place);
    if (!item) {
      iterators.pop_back();
      continue;
    }
    assign(*c.target, std::move(*item), frame);
    const bool keep = std::all_of(c.conditions.begin(), c.conditions.end(), [&](const py::Expr* condition) {
      return truth(eval(*condition, frame), condition->place);
    });
    if (!keep) continue;
    if (iterators.size() == clauses.size()) return true;
    const py::Expr& inner = *clauses[iterators.size()].iterable;
    iterators.push_back(iterator_of(eval(inner, frame), inner.place));
  }
  return false;
}

HostValue HostMachine::eval_comprehension(const py::Expr& e, Frame& frame) {
  const py::Expr& first = *e.clauses()[0].iterable;
  std::vector<HostValue> iterators{iterator_of(eval(first, frame), first.place)};
  Frame inner;  // its variables stay inside
  inner.module = frame.module;
  inner.scope = std::make_shared<HostScope>();
  inner.scope->parent = frame.scope;
  inner.outside = frame.outside ? frame.outside : frame.scope;
  inner.globals = frame.globals;
  inner.nonlocals = frame.nonlocals;
  inner.comprehension = &e;
  if (e.kind == py::ExprKind::generator) {
    const auto next = [](HostMachine& m, HostItems& it, py::Place) -> std::optional<HostValue> {
      const std::shared_ptr<HostFrame> own = it.source->frame;
      const PassModule* caller = std::exchange(m.current_, own->module);
      std::optional<HostValue> out;
      try {
        if (m.comprehend(*own->comprehension, it.values, *own)) out = m.eval(*own->comprehension->items[0], *own);
      } catch (const HostRaise& raised) {
        it.values.clear();
        if (is_stop(raised)) m.raise("RuntimeError", "generator raised StopIteration", raised.place);
        throw;
      }
      m.current_ = caller;
      return out;
    };
    return make_generator(std::move(inner), next, std::move(iterators));
  }
  HostValue out = HostValue::sequence(e.kind == py::ExprKind::list_comp  ? Kind::list
                                      : e.kind == py::ExprKind::set_comp ? Kind::set
                                                                         : Kind::dict,
                                      {});
  while (comprehend(e, iterators, inner)) {
    HostValue item = eval(*e.items[0], inner);
    if (e.kind == py::ExprKind::dict_comp)
      set_item(out, item, eval(*e.items[1], inner), e.place);
    else if (e.kind == py::ExprKind::set_comp)
      add_unique(*out.items, std::move(item), e.place);
    else
      out.items->values.push_back(std::move(item));
  }
  return out;
}

}  // namespace passnet
