// Statements that hold others. Those under way in a function are blocks of its frame, so what a `return`, an exception
// or the end of a body means is asked of the innermost block, and then of the one around it.
#include <fmt/format.h>

#include <algorithm>

#include "host/machine.h"

namespace passnet {

using Kind = HostValue::Kind;
using BlockKind = HostBlock::Kind;

namespace {

std::unique_ptr<HostKept> keep(HostValue value) {
  auto out = std::make_unique<HostKept>();
  out->value = std::move(value);
  return out;
}

// How many tries of a frame have handlers that what is raised now may reach.
int open_tries(const HostFrame& frame) {
  return static_cast<int>(std::count_if(frame.blocks.begin(), frame.blocks.end(), [](const HostBlock& b) {
    return b.kind == BlockKind::trial && !b.statement->handlers.empty();
  }));
}

}  // namespace

HostMachine::Flow HostMachine::run(std::span<const py::Stmt* const> body, Frame& frame) {
  frame.blocks.clear();
  frame.blocks.push_back({BlockKind::plain, body});
  return drive(frame);
}

// A frame that goes on brings back what it handles, and one that stops at a yield takes it along.
HostMachine::Flow HostMachine::drive(Frame& frame) {
  const Checkpoint before = checkpoint();
  const auto handled = static_cast<std::ptrdiff_t>(handling_.size());
  for (const HostBlock& b : frame.blocks)
    if (b.kind == BlockKind::handler && b.kept) handling_.push_back(*b.kept->raised);
  trying_ = before.trying + open_tries(frame);
  Flow flow = frame.raised ? Flow::raised : Flow::next;
  while (!frame.blocks.empty() && flow != Flow::yielded) {
    try {
      HostBlock& block = frame.blocks.back();
      const bool more = flow == Flow::next && block.at < block.body.size();
      flow = more ? run(*block.body[block.at++], frame) : leave(frame, flow);
    } catch (const HostRaise& raised) {
      recover(before);
      trying_ = before.trying + open_tries(frame);
      frame.raised = std::make_shared<const HostRaise>(raised);
      flow = Flow::raised;
    }
  }
  handling_.erase(handling_.begin() + handled, handling_.end());
  trying_ = before.trying;
  if (flow == Flow::raised) throw HostRaise(*std::exchange(frame.raised, nullptr));
  return flow;
}

// What raises in here is raised in the block around the one that is left, so that goes first.
HostMachine::Flow HostMachine::leave(Frame& frame, Flow flow) {
  HostBlock& block = frame.blocks.back();
  switch (block.kind) {
    case BlockKind::plain: frame.blocks.pop_back(); return flow;
    case BlockKind::for_:
    case BlockKind::while_: return leave_loop(frame, flow);
    case BlockKind::trial:
    case BlockKind::handler:
    case BlockKind::orelse:
    case BlockKind::finally: return leave_try(frame, flow);
    case BlockKind::delegate: return leave_delegate(frame, flow);
    case BlockKind::awaits: {
      const py::Stmt& s = *block.statement;
      frame.blocks.pop_back();
      if (flow == Flow::next) bind_value(s, std::exchange(frame.sent, {}), frame);
      return flow;
    }
    case BlockKind::context: {
      const HostValue context = std::move(block.kept->value);
      const py::Place place = block.statement->targets[block.at]->place;
      frame.blocks.pop_back();
      const bool raised = flow == Flow::raised;
      if (!leave_context(context, raised ? frame.raised.get() : nullptr, place) || !raised) return flow;
      frame.raised = nullptr;
      return Flow::next;
    }
  }
  return flow;
}

void HostMachine::begin_for(const py::Stmt& s, Frame& frame) {
  HostValue iterator = iterator_of(eval(*s.value, frame), s.place);
  frame.blocks.push_back({BlockKind::for_, s.body, s.body.size(), &s, keep(std::move(iterator))});
}

HostMachine::Flow HostMachine::leave_loop(Frame& frame, Flow flow) {
  HostBlock& block = frame.blocks.back();
  const py::Stmt& s = *block.statement;
  if (flow != Flow::next && flow != Flow::continued) {
    frame.blocks.pop_back();
    return flow == Flow::broke ? Flow::next : flow;
  }
  bool again = false;
  if (block.kind == BlockKind::for_) {
    std::optional<HostValue> item = advance(block.kept->value, s.place);
    again = item.has_value();
    if (again) assign(*s.targets[0], std::move(*item), frame);
  } else {
    step(s.place);
    again = truth(eval(*s.value, frame), s.value->place);
  }
  block.at = 0;
  if (!again) block = {BlockKind::plain, s.orelse};
  return Flow::next;
}

// From the try to its except or its else, and then to its finally.
HostMachine::Flow HostMachine::leave_try(Frame& frame, Flow flow) {
  HostBlock& block = frame.blocks.back();
  const py::Stmt& s = *block.statement;
  switch (block.kind) {
    case BlockKind::trial:
      trying_ -= s.handlers.empty() ? 0 : 1;
      if (flow == Flow::raised && !s.handlers.empty()) return handle(frame);
      if (flow != Flow::next) return finish(frame, flow);
      block.kind = BlockKind::orelse;
      block.body = s.orelse;
      block.at = 0;
      return flow;
    case BlockKind::handler:
      if (block.kept) {  // its own body ran
        handling_.pop_back();
        const auto own = std::find_if(s.handlers.begin(), s.handlers.end(),
                                      [&](const py::Handler& h) { return h.body.data() == block.body.data(); });
        if (own != s.handlers.end() && !own->name.empty()) frame.scope->erase(own->name);
      }
      return finish(frame, flow);
    case BlockKind::orelse: return finish(frame, flow);
    default: break;
  }
  if (flow == Flow::next) {  // else, as in Python: a return in a finally wins
    flow = block.kept->flow;
    frame.result = std::move(block.kept->value);
    frame.raised = std::move(block.kept->raised);
  } else if (flow != Flow::raised) {
    frame.raised = nullptr;
  }
  frame.blocks.pop_back();
  return flow;
}

HostMachine::Flow HostMachine::handle(Frame& frame) {
  HostBlock& block = frame.blocks.back();
  const py::Stmt& s = *block.statement;
  block.kind = BlockKind::handler;  // what raises while handlers are looked at, is not theirs
  block.body = {};
  block.at = 0;
  for (const py::Handler& h : s.handlers) {
    if (h.type != nullptr && !catches(eval(*h.type, frame), *frame.raised)) continue;
    block.kept = keep({});
    block.kept->raised = std::exchange(frame.raised, nullptr);
    block.body = h.body;
    handling_.push_back(*block.kept->raised);
    if (!h.name.empty()) frame.scope->set(h.name, exception_of(*block.kept->raised));
    return Flow::next;
  }
  return finish(frame, Flow::raised);
}

HostMachine::Flow HostMachine::finish(Frame& frame, Flow flow) {
  HostBlock& block = frame.blocks.back();
  const py::Stmt& s = *block.statement;
  if (s.final_body.empty()) {
    frame.blocks.pop_back();
    return flow;
  }
  block = {BlockKind::finally, s.final_body, 0, &s, keep(std::move(frame.result))};
  block.kept->flow = flow;
  block.kept->raised = std::exchange(frame.raised, nullptr);
  frame.result = {};
  return Flow::next;
}

void HostMachine::begin_match(const py::Stmt& s, Frame& frame) {
  const HostValue subject = eval(*s.value, frame);
  for (const py::Stmt* arm : s.body) {
    step(arm->place);
    if (!fits(*arm->value, subject, frame)) continue;
    if (!arm->name.empty()) frame.scope->set(arm->name, subject);
    if (arm->annotation != nullptr && !truth(eval(*arm->annotation, frame), arm->annotation->place)) continue;
    frame.blocks.push_back({BlockKind::plain, arm->body});
    return;
  }
}

// ---- yield

HostMachine::Flow HostMachine::yield(const py::Stmt& s, Frame& frame) {
  const py::Expr& e = *s.value;
  if (frame.generator == nullptr) raise("SyntaxError", "'yield' outside function", e.place);
  HostValue value = e.items.empty() ? HostValue{} : eval(*e.items[0], frame);
  if (!e.text.empty()) {  // from
    value = iterator_of(value, e.place);
    frame.blocks.push_back({BlockKind::delegate, {}, 0, &s, keep(std::move(value))});
    return Flow::next;
  }
  if (s.kind != py::StmtKind::expression) frame.blocks.push_back({BlockKind::awaits, {}, 0, &s});
  frame.result = std::move(value);
  return Flow::yielded;
}

HostMachine::Flow HostMachine::leave_delegate(Frame& frame, Flow flow) {
  const py::Stmt& s = *frame.blocks.back().statement;
  const HostValue inner = std::move(frame.blocks.back().kept->value);
  frame.blocks.pop_back();
  const bool generator = inner.is(Kind::iterator) && inner.items->source->frame != nullptr;
  std::optional<HostValue> item;
  if (flow == Flow::raised) {
    if (!generator || frame.raised->type == "GeneratorExit") {
      if (generator) close_generator(inner, s.place);
      return flow;
    }
    item = throw_into(inner, *std::exchange(frame.raised, nullptr), s.place);
  } else {
    HostValue sent = std::exchange(frame.sent, {});
    if (generator)
      inner.items->source->frame->sent = std::move(sent);
    else if (!sent.is(Kind::none))
      raise("AttributeError", fmt::format("'{}' object has no attribute 'send'", host_type_name(inner)), s.place);
    item = advance(inner, s.place);
  }
  if (item) {
    frame.blocks.push_back({BlockKind::delegate, {}, 0, &s, keep(inner)});
    frame.result = std::move(*item);
    return Flow::yielded;
  }
  bind_value(s, returned_value(inner), frame);
  return Flow::next;
}

void HostMachine::bind_value(const py::Stmt& s, const HostValue& value, Frame& frame) {
  if (s.kind != py::StmtKind::expression)
    for (const py::Expr* t : s.targets) assign(*t, value, frame);
}

}  // namespace passnet
