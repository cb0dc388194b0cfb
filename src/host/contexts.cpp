// With statements of a host program: the candidate's own contexts, contextlib's, and torch's that change nothing here,
// because the run has one device and no gradients.
#include <fmt/format.h>

#include <algorithm>

#include "host/machine.h"
#include "host/policy.h"

namespace passnet {

using Kind = HostValue::Kind;

namespace {

// Whether a value is what a function under @contextlib.contextmanager gave.
bool is_generator_context(const HostValue& v) {
  const HostFrame* frame = v.is(Kind::iterator) ? v.items->source->frame.get() : nullptr;
  const py::Stmt* def = frame != nullptr ? frame->generator : nullptr;
  return def != nullptr && std::any_of(def->decorators.begin(), def->decorators.end(), [&](const py::Expr* d) {
           return resolve_path(*frame->module, *d) == "contextlib.contextmanager";
         });
}

// What Python's own contexts and torch's are called: by a path, or by a call of one with its arguments.
std::string path_of(const HostValue& context) {
  if (context.is(Kind::partial)) return context.items->values[0].text;
  return context.is(Kind::path) ? context.text.get() : std::string();
}

bool closes(const HostValue& context) {
  return context.is(Kind::partial) && path_of(context) == "contextlib.closing" &&
         context.items->values[1].items->values.size() == 1;
}

bool suppresses(const HostValue& context) {
  return context.is(Kind::partial) && path_of(context) == "contextlib.suppress";
}

}  // namespace

// Each context is a block around the next one, so what raises there is its to see.
void HostMachine::begin_with(const py::Stmt& s, Frame& frame) {
  for (std::size_t item = 0; item + 1 < s.targets.size(); item += 2) {
    HostValue context = eval(*s.targets[item], frame);
    HostValue entered = enter_context(context, s.targets[item]->place);
    auto kept = std::make_unique<HostKept>();
    kept->value = std::move(context);
    frame.blocks.push_back({HostBlock::Kind::context, {}, item, &s, std::move(kept)});
    if (s.targets[item + 1] != nullptr) assign(*s.targets[item + 1], std::move(entered), frame);
  }
  frame.blocks.push_back({HostBlock::Kind::plain, s.body});
}

HostValue HostMachine::enter_context(const HostValue& context, py::Place place) {
  if (is_generator_context(context)) {
    if (auto entered = advance(context, place)) return std::move(*entered);
    raise("RuntimeError", "generator didn't yield", place);
  }
  if (is_exit_stack(context)) return context;
  if (closes(context)) return context.items->values[1].items->values[0];
  if (context.is(Kind::object)) {
    if (context.klass->method("__enter__") == nullptr || context.klass->method("__exit__") == nullptr)
      raise("TypeError",
            fmt::format("'{}' object does not support the context manager protocol", host_type_name(context)), place);
    return *own(context, "__enter__", {}, place);
  }
  if (context.is(Kind::device)) {
    ++places_;
    return {};
  }
  const std::string path = path_of(context);
  if (path == "contextlib.nullcontext" && context.is(Kind::partial) && !context.items->values[1].items->values.empty())
    return context.items->values[1].items->values[0];
  if (!suppresses(context) && !is_context(path))
    refuse(Code::host, "this with statement in a wrapper", place,
           "known are the file's own contexts, contextlib.contextmanager, suppress and nullcontext, and those of torch "
           "that change nothing here");
  return {};
}

bool HostMachine::leave_context(const HostValue& context, const HostRaise* raised, py::Place place) {
  if (context.is(Kind::device)) --places_;
  if (context.is(Kind::iterator)) return leave_generator(context, raised, place);
  if (is_exit_stack(context)) return unwind(*find_attribute(context, "left")->items, raised, place);
  if (closes(context)) {
    call(eval_attribute(context.items->values[1].items->values[0], "close", place), {}, {}, place);
    return false;
  }
  if (suppresses(context)) return raised != nullptr && catches(context.items->values[1], *raised);
  if (!context.is(Kind::object)) return false;
  if (raised == nullptr) {
    own(context, "__exit__", {{}, {}, {}}, place);
    return false;
  }
  const HostValue exception = exception_of(*raised);
  const HostValue type = eval_attribute(exception, "__class__", place);
  return truth(*own(context, "__exit__", {type, exception, {}}, place), place);
}

bool is_exit_stack(const HostValue& v) { return v.is(Kind::object) && v.klass->name == "contextlib.ExitStack"; }

// The last first. An entry is a context, or a function with what it is called with; what one raises, the next sees.
bool HostMachine::unwind(HostItems& left, const HostRaise* raised, py::Place place) {
  std::unique_ptr<HostRaise> other;  // in place of that
  bool taken = false;
  while (!left.values.empty()) {
    const HostValue entry = std::move(left.values.back());
    left.values.pop_back();
    const HostRaise* now = other ? other.get() : raised;
    const Checkpoint before = checkpoint();
    try {
      const HostValue& of = entry.items->values[0];
      if (entry.items->values.size() == 2) {
        call(of, {}, {}, place);
      } else if (leave_context(of, now, place)) {
        raised = nullptr;
        other = nullptr;
        taken = true;
      }
    } catch (const HostRaise& next) {
      recover(before);
      other = std::make_unique<HostRaise>(next);
    }
  }
  if (other) throw HostRaise(*other);
  return taken;
}

// It goes on behind its yield, or the exception is raised there; then it has to end.
bool HostMachine::leave_generator(const HostValue& context, const HostRaise* raised, py::Place place) {
  if (raised == nullptr) {
    if (advance(context, place)) raise("RuntimeError", "generator didn't stop", place);
    return false;
  }
  const bool stop = raised->type == "StopIteration";  // which comes out of a generator as another exception
  const Checkpoint before = checkpoint();
  try {
    if (throw_into(context, *raised, place)) raise("RuntimeError", "generator didn't stop after throw()", place);
  } catch (const HostRaise& other) {
    if (!stop || other.type != "RuntimeError") throw;
    recover(before);
    return false;
  }
  return true;
}

}  // namespace passnet
