// Exceptions of a host program: objects of Python's classes and of the candidate's, raised and caught by class.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "host/machine.h"

namespace passnet {

using Kind = HostValue::Kind;

namespace {

constexpr std::pair<std::string_view, std::string_view> kParents[] = {{"Exception", "BaseException"},
                                                                      {"GeneratorExit", "BaseException"},
                                                                      {"KeyboardInterrupt", "BaseException"},
                                                                      {"SystemExit", "BaseException"},
                                                                      {"ArithmeticError", "Exception"},
                                                                      {"AssertionError", "Exception"},
                                                                      {"AttributeError", "Exception"},
                                                                      {"BufferError", "Exception"},
                                                                      {"EOFError", "Exception"},
                                                                      {"ImportError", "Exception"},
                                                                      {"LookupError", "Exception"},
                                                                      {"MemoryError", "Exception"},
                                                                      {"NameError", "Exception"},
                                                                      {"OSError", "Exception"},
                                                                      {"RuntimeError", "Exception"},
                                                                      {"StopIteration", "Exception"},
                                                                      {"SyntaxError", "Exception"},
                                                                      {"TypeError", "Exception"},
                                                                      {"ValueError", "Exception"},
                                                                      {"Warning", "Exception"},
                                                                      {"UserWarning", "Warning"},
                                                                      {"DeprecationWarning", "Warning"},
                                                                      {"RuntimeWarning", "Warning"},
                                                                      {"KeyError", "LookupError"},
                                                                      {"IndexError", "LookupError"},
                                                                      {"ZeroDivisionError", "ArithmeticError"},
                                                                      {"OverflowError", "ArithmeticError"},
                                                                      {"FloatingPointError", "ArithmeticError"},
                                                                      {"NotImplementedError", "RuntimeError"},
                                                                      {"RecursionError", "RuntimeError"},
                                                                      {"ModuleNotFoundError", "ImportError"},
                                                                      {"PackageNotFoundError", "ModuleNotFoundError"},
                                                                      {"InvalidVersion", "ValueError"},
                                                                      {"UnboundLocalError", "NameError"},
                                                                      {"FileNotFoundError", "OSError"},
                                                                      {"PermissionError", "OSError"},
                                                                      {"TimeoutError", "OSError"},
                                                                      {"UnicodeError", "ValueError"},
                                                                      {"FrozenInstanceError", "AttributeError"},
                                                                      {"OutOfMemoryError", "RuntimeError"}};

const std::pair<std::string_view, std::string_view>* known_exception(std::string_view name) {
  const auto* at =
      std::find_if(std::begin(kParents), std::end(kParents), [&](const auto& p) { return p.first == name; });
  return at == std::end(kParents) ? nullptr : at;
}

}  // namespace

// By the last part of its path; what is not known is an Exception.
std::shared_ptr<HostClass> HostMachine::exception_class(std::string_view name) {
  if (const auto it = exceptions_.find(name); it != exceptions_.end()) return it->second;
  auto made = std::make_shared<HostClass>();
  made->form = HostClass::Form::exception;
  made->name = name;
  made->attributes = HostValue::sequence(Kind::dict, {});
  const auto* known = known_exception(name);
  if (name != "BaseException") made->parent = exception_class(known != nullptr ? known->second : "Exception");
  return exceptions_.emplace(name, std::move(made)).first->second;
}

std::shared_ptr<HostClass> HostMachine::exception_type(const HostValue& v) {
  if (v.is(Kind::klass)) return v.klass->form == HostClass::Form::exception ? v.klass : nullptr;
  if (!v.is(Kind::path)) return nullptr;
  const std::string_view name = std::string_view(v.text).substr(v.text.get().rfind('.') + 1);
  if (name == "BaseException" || known_exception(name) != nullptr) return exception_class(name);
  const bool library =
      v.text.starts_with("triton.") || v.text.starts_with("torch.") || v.text.starts_with("subprocess.");
  const bool named = name.ends_with("Error") || name.ends_with("Exception") || name == "OutOfResources";
  return library && named ? exception_class(name) : nullptr;
}

HostValue HostMachine::make_exception(std::shared_ptr<HostClass> klass, HostArgs args) const {
  HostValue out =
      HostValue::sequence(Kind::object, {HostValue::string("args"), HostValue::sequence(Kind::tuple, std::move(args))});
  out.klass = std::move(klass);
  return out;
}

HostValue HostMachine::exception_of(const HostRaise& raised) {
  if (raised.value.is(Kind::object)) return raised.value;
  std::string message = raised.message;
  const bool quoted =
      raised.type == "KeyError" && message.size() > 1 && message.front() == '\'' && message.back() == '\'';
  if (quoted) message = message.substr(1, message.size() - 2);  // a key is written as Python's repr
  return make_exception(exception_class(raised.type), {HostValue::string(std::move(message))});
}

void HostMachine::raise_value(const HostValue& exception, py::Place place) {
  throw HostRaise{exception.klass->name, text(exception, false, place), place, current_ != nullptr ? current_ : &root_,
                  exception};
}

void HostMachine::run_raise(const py::Stmt& s, Frame& frame) {
  if (s.value == nullptr) {
    if (handling_.empty()) raise("RuntimeError", "No active exception to reraise", s.place);
    throw HostRaise(handling_.back());
  }
  HostValue v = eval(*s.value, frame);
  if (exception_type(v) != nullptr) v = call(v, {}, {}, s.place);
  if (v.is(Kind::path) && v.text.starts_with("builtins."))
    raise("NameError", fmt::format("name '{}' is not defined", v.text.substr(9)), s.place);
  if (!v.is(Kind::object) || v.klass->form != HostClass::Form::exception)
    raise("TypeError", "exceptions must derive from BaseException", s.place);
  raise_value(v, s.place);
}

bool HostMachine::catches(const HostValue& types, const HostRaise& raised) {
  if (types.is(Kind::tuple))
    return std::any_of(types.items->values.begin(), types.items->values.end(),
                       [&](const HostValue& type) { return catches(type, raised); });
  const std::shared_ptr<HostClass> wanted = exception_type(types);
  const HostValue value = exception_of(raised);
  for (const HostClass* c = value.klass.get(); c != nullptr && wanted != nullptr; c = c->parent.get())
    if (c == wanted.get()) return true;
  return false;
}

std::string HostMachine::exception_text(const HostValue& exception, bool repr, py::Place place) {
  const auto args = object_attribute(exception, "args", place);
  const std::vector<HostValue> values = args && args->items ? args->items->values : std::vector<HostValue>{};
  if (!repr && values.empty()) return {};
  if (!repr && values.size() == 1) return text(values[0], exception.klass->name == "KeyError", place);
  if (!repr) return text(*args, true, place);
  std::string out = exception.klass->name + "(";
  for (std::size_t i = 0; i < values.size(); ++i) out += (i > 0 ? ", " : "") + text(values[i], true, place);
  return out + ")";
}

}  // namespace passnet
