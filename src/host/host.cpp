#include "host/host.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/machine.h"
#include "host/settings.h"

namespace passnet {

using Kind = HostValue::Kind;

HostValue HostMachine::get_item(const HostValue& object, const HostValue& index, py::Place place) {
  if (is_container_object(object))
    if (auto item = own(object, "__getitem__", {index}, place)) return *item;
  switch (object.kind) {
    case Kind::tensor: return tensor_item(object, index, place);
    case Kind::dict: {
      const std::size_t at = find_item(*object.items, index, place, 2);
      if (at < object.items->values.size()) return object.items->values[at + 1];
      if (auto made = own(object, "__missing__", {index}, place)) return *made;
      if (object.items->type == kCounter) return HostValue::of(std::int64_t{0});
      if (object.items->factory) {
        HostValue made = call(HostValue(*object.items->factory), {}, {}, place);
        HostValue target = object;
        set_item(target, index, made, place);
        return made;
      }
      raise("KeyError", text(index, true, place), place);
    }
    case Kind::tuple:
    case Kind::list:
    case Kind::range:
    case Kind::string: break;
    case Kind::klass:
      if (object.klass->method("__class_getitem__") != nullptr)
        return call_function(HostFunction(object.klass->method("__class_getitem__")->function), {object, index}, {},
                             place);
      if (object.klass->form == HostClass::Form::enumeration)
        if (auto member = class_attribute(object, string_of(index, place))) return *member;
      raise("KeyError", text(index, true, place), place);
    case Kind::object:
      if (auto item = own(object, "__getitem__", {index}, place)) return *item;
      return get_item(HostValue::sequence(Kind::tuple, iterate(object, place)), index, place);
    case Kind::opaque:
      refuse(Code::pass, "replacement_args takes an argument apart", place,
             "pass it whole, and take it apart in the wrapper");
    case Kind::function:
      if (object.function->statement != nullptr)
        raise("TypeError",
              fmt::format("function '{0}' has no items; where {0}[grid](...) is meant, put @triton.jit above {0}",
                          object.function->statement->name),
              place);
      [[fallthrough]];
    default: raise("TypeError", fmt::format("{} has no items", host_type_name(object)), place);
  }
  if (index.is(Kind::slice)) return get_slice(object, index, place);
  if (object.is(Kind::range)) {
    const Integer size = range_size(object), wanted = exact_integer(index, place);
    const auto from = wanted < 0 ? wanted.plus(size) : wanted;
    if (!from || *from < 0 || *from >= size) raise("IndexError", "range object index out of range", place);
    return range_item(object, *from);
  }
  const bool letters = object.is(Kind::string);
  const auto n = static_cast<std::int64_t>(letters ? text_length(object.text) : object.items->values.size());
  const std::int64_t i = exact_integer(index, place).clamped();
  if (i < -n || i >= n) raise("IndexError", fmt::format("index {} of {} items", i, n), place);
  const auto at = static_cast<std::size_t>(i < 0 ? i + n : i);
  if (!letters) return object.items->values[at];
  if (static_cast<std::size_t>(n) == object.text.size()) return HostValue::string(std::string(1, object.text[at]));
  spend(object.text.size(), place);
  return HostValue::string(text_letters(object.text)[at]);
}

HostMachine::SliceBounds HostMachine::slice_bounds(const HostValue& slice, std::int64_t n, py::Place place) {
  const auto& part = slice.items->values;
  const std::int64_t by =
      part[2].is(Kind::none) ? 1 : std::clamp<std::int64_t>(exact_integer(part[2], place).clamped(), -n - 1, n + 1);
  if (by == 0) raise("ValueError", "slice step cannot be zero", place);
  const auto bound = [&](const HostValue& v, std::int64_t otherwise) {
    if (v.is(Kind::none)) return otherwise;
    const std::int64_t b = exact_integer(v, place).clamped();
    return std::clamp<std::int64_t>(b < 0 ? b + n : b, by < 0 ? -1 : 0, by < 0 ? n - 1 : n);
  };
  return {bound(part[0], by < 0 ? n - 1 : 0), bound(part[1], by < 0 ? -1 : n), by};
}

std::vector<std::size_t> HostMachine::slice_places(const HostValue& slice, std::size_t size, py::Place place) {
  const auto [begin, end, by] = slice_bounds(slice, static_cast<std::int64_t>(size), place);
  std::vector<std::size_t> out;
  for (std::int64_t i = begin; by > 0 ? i < end : i > end; i += by) {
    step(place);
    out.push_back(static_cast<std::size_t>(i));
  }
  return out;
}

HostValue HostMachine::get_slice(const HostValue& object, const HostValue& slice, py::Place place) {
  if (object.is(Kind::string)) {
    const std::size_t n = text_length(object.text);
    const bool bytes = n == object.text.size();
    if (!bytes) spend(n, place);
    const std::vector<std::string> wide = bytes ? std::vector<std::string>{} : text_letters(object.text);
    std::string taken;
    for (const std::size_t i : slice_places(slice, n, place)) taken += bytes ? std::string(1, object.text[i]) : wide[i];
    return HostValue::string(std::move(taken));
  }
  if (object.is(Kind::range)) return range_slice(object, slice, place);
  std::vector<HostValue> out;
  for (const std::size_t i : slice_places(slice, object.items->values.size(), place))
    out.push_back(object.items->values[i]);
  HostValue made = HostValue::sequence(object.kind, std::move(out));
  made.text = object.text;  // a part of a torch.Size is one
  return made;
}

void HostMachine::set_item(HostValue& object, const HostValue& index, HostValue value, py::Place place) {
  if (object.is(Kind::tensor))
    refuse(Code::policy, "a tensor's items are assigned in a wrapper", place, "store in a kernel");
  if (object.is(Kind::path) && object.text == "os.environ" && index.is(Kind::string) &&
      find_setting_variable(index.text) != nullptr)
    return;
  if (object.items) {
    check_write(*object.items, value, place);
    check_write(*object.items, index, place);
  }
  if (own(object, "__setitem__", {index, value}, place)) return;
  if (object.is(Kind::dict)) {
    if (index.is(Kind::list) || index.is(Kind::dict) || index.is(Kind::set))
      raise("TypeError", fmt::format("unhashable type: '{}'", host_type_name(index)), place);
    auto& items = object.items->values;
    if (const std::size_t at = find_item(*object.items, index, place, 2); at < items.size()) {
      items[at + 1] = std::move(value);
      return;
    }
    items.push_back(index);
    items.push_back(std::move(value));
    return;
  }
  if (!object.is(Kind::list))
    raise("TypeError", fmt::format("items of a {} cannot be assigned", host_type_name(object)), place);
  const auto n = static_cast<std::int64_t>(object.items->values.size());
  if (index.is(Kind::slice)) return set_slice(object, index, value, place);
  const std::int64_t i = exact_integer(index, place).clamped();
  if (i < -n || i >= n) raise("IndexError", fmt::format("index {} of {} items", i, n), place);
  object.items->values[static_cast<std::size_t>(i < 0 ? i + n : i)] = std::move(value);
}

// With a step, item by item; else whatever number of them takes the place of those.
void HostMachine::set_slice(const HostValue& object, const HostValue& slice, const HostValue& value, py::Place place) {
  const std::vector<HostValue> items = iterate(value, place);
  auto& list = object.items->values;
  const auto& part = slice.items->values;
  if (!part[2].is(Kind::none) && integer(part[2], place) != 1) {
    const std::vector<std::size_t> places = slice_places(slice, list.size(), place);
    if (places.size() != items.size())
      raise("ValueError", fmt::format("{} items are assigned to a slice of {}", items.size(), places.size()), place);
    for (std::size_t i = 0; i < items.size(); ++i) list[places[i]] = items[i];
    return;
  }
  const auto n = static_cast<std::int64_t>(list.size());
  const auto bound = [&](const HostValue& v, std::int64_t otherwise) {
    const std::int64_t b = v.is(Kind::none) ? otherwise : integer(v, place);
    return std::clamp<std::int64_t>(b < 0 ? b + n : b, 0, n);
  };
  const std::int64_t begin = bound(part[0], 0), end = std::max(begin, bound(part[1], n));
  list.erase(list.begin() + begin, list.begin() + end);
  list.insert(list.begin() + begin, items.begin(), items.end());
}

void HostMachine::delete_item(const HostValue& object, const HostValue& index, py::Place place) {
  if (own(object, "__delitem__", {index}, place)) return;
  if (!object.is(Kind::list) && !object.is(Kind::dict))
    raise("TypeError", fmt::format("items of a {} cannot be deleted", host_type_name(object)), place);
  if (!object.is(Kind::list) || !index.is(Kind::slice)) {
    call_method(object, "pop", {index}, {}, place);
    return;
  }
  auto& list = object.items->values;
  std::vector<bool> gone(list.size(), false);
  for (const std::size_t i : slice_places(index, list.size(), place)) gone[i] = true;
  std::vector<HostValue> kept;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (!gone[i]) kept.push_back(std::move(list[i]));
  list = std::move(kept);
}

PlanOutput HostMachine::output_of(const HostValue& v, py::Place place, int depth, std::size_t& leaves) {
  constexpr std::size_t kMost = 10'000;
  if (++leaves > kMost || depth > kDeepestLists)
    refuse(Code::limit, "the wrapper returns too many values, or too deeply nested ones", place);
  PlanOutput out;
  switch (v.kind) {
    case Kind::tensor: out.buffer = v.buffer; return out;
    case Kind::none: return out;
    case Kind::boolean: out.scalar.value = v.integer != 0; return out;
    case Kind::integer: out.scalar.value = Integer(integer(v, place)); return out;  // a graph has it from here
    case Kind::real: out.scalar.value = v.real; return out;
    case Kind::object:
      if (is_named_tuple(v)) return output_of(plain_tuple(v), place, depth + 1, leaves);
      break;
    case Kind::tuple:
    case Kind::list:
      out.is_tuple = true;
      for (const HostValue& item : v.items->values) out.items.push_back(output_of(item, place, depth + 1, leaves));
      return out;
    default: break;
  }
  refuse(Code::host, fmt::format("the wrapper returns a {}", host_type_name(v)), place,
         "return a tensor, or a tuple of tensors");
}

Error HostMachine::error_of(const HostRaise& raised) {
  return {
      Code::host, raised.module->syntax.where(raised.place), fmt::format("{}: {}", raised.type, raised.message), {}};
}

namespace {

// A stage's door for candidates' exceptions as well.
template <class F>
auto guarded_host(F&& body) -> Result<std::invoke_result_t<F>> {
  try {
    return body();
  } catch (const HostRaise& raised) {
    return HostMachine::error_of(raised);
  } catch (Failure& failure) {
    return std::move(failure.error);
  }
}

HostValue argument_value(HostMachine& machine, HostArgument& argument, std::size_t& inputs) {
  if (argument.items.empty()) {
    const std::size_t input = inputs++;
    return argument.tensor ? HostValue::tensor(machine.add_input(std::move(*argument.tensor), input))
                           : std::move(argument.scalar);
  }
  std::vector<HostValue> items;
  for (HostArgument& item : argument.items) items.push_back(argument_value(machine, item, inputs));
  return HostValue::sequence(Kind::tuple, std::move(items));
}

// What replacement_func gives back, called anew.
HostValue wrapper_value(HostMachine& machine, const PassModule& pass) {
  const Binding* b = pass.find("replacement_func");
  const py::Place place = b != nullptr && b->statement != nullptr ? b->statement->place : py::Place{};
  const HostValue function = machine.module_value(pass, "replacement_func", place);
  try {
    return machine.call(function, {}, {}, place);
  } catch (HostRaise& raised) {  // most often the wrapper, called where it is to be returned
    if (raised.type == "TypeError" && raised.message.find("() is missing its argument") != std::string::npos)
      raised.message += "; replacement_func returns the wrapper itself, without calling it";
    throw;
  }
}

}  // namespace

Result<LaunchPlan> record_plan(const PassModule& pass, std::vector<HostArgument> arguments, DeviceType device,
                               HostLimits limits) {
  return guarded_host([&] {
    HostMachine machine(pass, limits);
    machine.set_device(device);
    HostArgs args;
    std::size_t inputs = 0;
    for (HostArgument& argument : arguments) args.push_back(argument_value(machine, argument, inputs));
    const HostValue wrapper = wrapper_value(machine, pass);
    const HostMachine::Definition made = machine.definition(wrapper, pass);
    const HostValue result = machine.call(wrapper, std::move(args), {}, made.place);
    if (result.is(Kind::none))
      fail({Code::host,
            made.module->syntax.where(made.place),
            fmt::format("wrapper '{}' returns None", made.name),
            {"return the tensor that takes the pattern's place, or a tuple of them"}});
    const PlanOutput output = machine.output_of(result, made.place);
    LaunchPlan plan = machine.take_plan();
    plan.output = output;
    return plan;
  });
}

HostProgram::HostProgram(const PassModule& pass, HostLimits limits)
    : pass_(pass), limits_(limits), machine_(std::make_unique<HostMachine>(pass, limits)) {}
HostProgram::~HostProgram() = default;

Result<HostValue> HostProgram::value(std::string_view name) {
  return guarded_host([&] { return machine_->settled(machine_->module_value(pass_, name, {})); });
}

Result<HostValue> HostProgram::call_opaque(const HostValue& function, std::size_t arguments) {
  return guarded_host([&] {
    HostArgs args;
    for (std::size_t i = 0; i < arguments; ++i) {
      HostValue v;
      v.kind = Kind::opaque;
      v.integer = static_cast<std::int64_t>(i);
      args.push_back(std::move(v));
    }
    return machine_->call(function, std::move(args), {}, machine_->definition(function, pass_).place);
  });
}

Result<Wrapper> HostProgram::wrapper() {
  return guarded_host([&] {
    HostMachine machine(pass_, limits_);  // as record_plan has it: nothing has run before
    const HostValue v = wrapper_value(machine, pass_);
    HostMachine::Definition made = machine.definition(v, pass_);
    if (made.held_by == nullptr) {
      const Binding& func = *pass_.find("replacement_func");
      const std::string what = v.is(Kind::function) || v.is(Kind::partial) ? "a function made anew at each call"
                               : v.is(Kind::none)                          ? "None"
                               : v.is(Kind::path)                          ? fmt::format("'{}'", v.text)
                                                                           : fmt::format("a {}", host_type_name(v));
      fail({Code::pass,
            func.owner->syntax.where(func.statement->place),
            fmt::format("replacement_func returns {}", what),
            {"return the same module-level function each time: def replacement_func(): return my_wrapper"}});
    }
    return Wrapper{made.module, std::move(made.name), made.held_by};
  });
}

Result<HostValue> call_with_values(const PassModule& module, const py::Stmt& function, std::vector<HostValue> arguments,
                                   std::vector<std::pair<std::string, HostValue>> keywords, HostLimits limits) {
  return guarded_host([&] {
    HostMachine machine(module, limits);
    HostValue callee;
    callee.kind = Kind::function;
    callee.function = std::make_shared<HostFunction>(HostFunction{&module, &function, nullptr, nullptr, {}});
    return machine.settled(machine.call(callee, std::move(arguments), std::move(keywords), function.place));
  });
}

Result<HostValue> evaluate_expression(const PassModule& module, const py::Expr& expr, HostLimits limits,
                                      std::vector<std::pair<std::string_view, HostValue>> variables) {
  return guarded_host([&] {
    HostMachine machine(module, limits);
    return machine.settled(machine.evaluate(module, expr, std::move(variables)));
  });
}

Result<HostValue> evaluate_constant(const PassModule& module, std::string_view name, HostLimits limits) {
  return guarded_host([&] {
    HostMachine machine(module, limits);
    return machine.settled(machine.module_value(module, name, {}));
  });
}

Result<bool> evaluate_condition(const PassModule& module, const py::Expr& condition, HostLimits limits) {
  return guarded_host([&] {
    HostMachine machine(module, limits);
    return machine.holds(module, condition);
  });
}

}  // namespace passnet
