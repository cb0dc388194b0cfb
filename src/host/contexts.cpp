// With statements of a host program: the candidate's own contexts, contextlib's, and torch's that change nothing here,
// because the run has one device and no gradients.
#include <fmt/format.h>

#include <algorithm>

#include "host/machine.h"
#include "host/policy.h"

namespace passnet {

using Kind = HostValue::Kind;

namespace {

// Whether a def is under @contextlib.contextmanager.
bool makes_context(const PassModule& module, const py::Stmt* def) {
  return def != nullptr && std::any_of(def->decorators.begin(), def->decorators.end(), [&](const py::Expr* d) {
           return resolve_path(module, *d) == "contextlib.contextmanager";
         });
}

// The function that a call of a context's name runs; null for any other callee.
const HostFunction* context_function(const HostValue& callee) {
  const HostFunction* f = nullptr;
  if (callee.is(Kind::function)) f = callee.function.get();
  if (callee.is(Kind::method) && callee.items->values[0].is(Kind::object))
    if (const HostClass::Method* m = callee.items->values[0].klass->method(callee.text)) f = &m->function;
  return f != nullptr && makes_context(*f->module, f->statement) ? f : nullptr;
}

}  // namespace

HostMachine::Flow HostMachine::run_with(const py::Stmt& s, Frame& frame, std::size_t item) {
  if (item + 1 >= s.targets.size()) return run(s.body, frame);
  const py::Expr& written = *s.targets[item];
  if (written.kind == py::ExprKind::call)
    if (const HostValue callee = eval(*written.items[0], frame); context_function(callee) != nullptr)
      return run_generator_context(written, callee, s, frame, item);
  const HostValue context = eval(written, frame);
  if (context.is(Kind::object)) return run_own_context(context, s, frame, item);
  HostValue entered;
  const HostValue* made = context.is(Kind::partial) ? context.items->values.data() : nullptr;  // of contextlib
  const std::string path = made != nullptr          ? made[0].text.get()
                           : context.is(Kind::path) ? context.text.get()
                                                    : std::string();
  if (path == "contextlib.nullcontext" && made != nullptr && !made[1].items->values.empty())
    entered = made[1].items->values[0];
  const bool suppresses = path == "contextlib.suppress" && made != nullptr;
  if (!suppresses && !context.is(Kind::device) && !is_context(path))
    refuse(Code::host, "this with statement in a wrapper", written.place,
           "known are the file's own contexts, contextlib.contextmanager, suppress and nullcontext, and those of torch "
           "that change nothing here");
  if (s.targets[item + 1] != nullptr) assign(*s.targets[item + 1], std::move(entered), frame);
  const Within<bool> placing(places_, places_ || context.is(Kind::device));
  if (!suppresses) return run_with(s, frame, item + 2);
  const Checkpoint before = checkpoint();
  try {
    return run_with(s, frame, item + 2);
  } catch (const HostRaise& raised) {
    if (!catches(made[1], raised)) throw;
    recover(before);
    return Flow::next;
  }
}

// An object with __enter__ and __exit__.
HostMachine::Flow HostMachine::run_own_context(const HostValue& context, const py::Stmt& s, Frame& frame,
                                               std::size_t item) {
  const py::Place place = s.targets[item]->place;
  if (context.klass->method("__enter__") == nullptr || context.klass->method("__exit__") == nullptr)
    raise("TypeError",
          fmt::format("'{}' object does not support the context manager protocol", host_type_name(context)), place);
  HostValue entered = *own(context, "__enter__", {}, place);
  if (s.targets[item + 1] != nullptr) assign(*s.targets[item + 1], std::move(entered), frame);
  const Checkpoint before = checkpoint();
  Flow flow = Flow::next;
  try {
    flow = run_with(s, frame, item + 2);
  } catch (const HostRaise& raised) {
    recover(before);
    const HostValue exception = exception_of(raised);
    const HostValue type = eval_attribute(exception, "__class__", place);
    if (!truth(*own(context, "__exit__", {type, exception, {}}, place), place)) throw;
    return Flow::next;
  }
  own(context, "__exit__", {{}, {}, {}}, place);
  return flow;
}

// A generator under @contextlib.contextmanager: the body of the with runs where it yields.
HostMachine::Flow HostMachine::run_generator_context(const py::Expr& call, const HostValue& callee, const py::Stmt& s,
                                                     Frame& frame, std::size_t item) {
  HostArgs args;
  HostKwargs kwargs;
  eval_arguments(call, frame, args, kwargs);
  if (callee.is(Kind::method)) args.insert(args.begin(), callee.items->values[0]);
  const HostFunction function = *context_function(callee);
  Flow flow = Flow::next;
  int yields = 0;
  call_function(function, std::move(args), std::move(kwargs), call.place, [&](HostValue entered) {
    if (++yields > 1) raise("RuntimeError", "generator didn't stop", call.place);
    const PassModule* inside = std::exchange(current_, frame.module);
    if (s.targets[item + 1] != nullptr) assign(*s.targets[item + 1], std::move(entered), frame);
    flow = run_with(s, frame, item + 2);
    current_ = inside;
  });
  if (yields == 0) raise("RuntimeError", "generator didn't yield", call.place);
  return flow;
}

}  // namespace passnet
