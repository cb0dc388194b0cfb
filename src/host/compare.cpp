// Truth, equality, order and text of host values. Every value visited is a step, and nesting is bounded, so that
// tangled lists end with an error instead of running on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "host/machine.h"

namespace passnet {

using Kind = HostValue::Kind;

namespace {

bool is_version(const HostValue& v) { return v.is(Kind::object) && v.klass->form == HostClass::Form::version; }
HostValue version_key(const HostValue& v) { return v.items->values[1]; }

// Of numbers: integers and floats are compared exactly.
std::partial_ordering compare_numbers(const HostValue& a, const HostValue& b) {
  if (a.is_integral()) return b.is_integral() ? a.integer <=> b.integer : compare(a.integer, b.real);
  if (b.is_integral()) return 0 <=> compare(b.integer, a.real);
  return a.real <=> b.real;
}

}  // namespace

bool HostMachine::truth(const HostValue& v, py::Place place) {
  if (is_container_object(v)) {
    if (auto answer = own(v, "__bool__", {}, place)) return truth(*answer, place);
    if (auto length = own(v, "__len__", {}, place)) return truth(*length, place);
  }
  switch (v.kind) {
    case Kind::none: return false;
    case Kind::boolean:
    case Kind::integer: return v.integer != 0;
    case Kind::real: return v.real != 0;
    case Kind::string: return !v.text.empty();
    case Kind::tuple:
    case Kind::list:
    case Kind::dict:
    case Kind::set: return !v.items->values.empty();
    case Kind::range: return range_size(v) != 0;
    case Kind::dict_view: return !v.items->values[0].items->values.empty();
    case Kind::tensor:
      refuse(Code::policy, "a condition on a tensor's values in a wrapper", place,
             "values are known to kernels only; ask for shapes, dtypes or 'is None'");
    case Kind::object:
      if (auto answer = own(v, "__bool__", {}, place)) {
        if (!answer->is(Kind::boolean))
          raise("TypeError", fmt::format("__bool__ should return bool, returned {}", host_type_name(*answer)), place);
        return answer->integer != 0;
      }
      if (auto length = own(v, "__len__", {}, place)) return integer(*length, place) != 0;
      return true;
    default: return true;
  }
}

bool HostMachine::equal_items(const HostValue& a, const HostValue& b, py::Place place, int depth) {
  const auto &x = a.items->values, &y = b.items->values;
  if (x.size() != y.size()) return false;
  for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
    const HostValue p = x[i], q = y[i];
    if (!equal(p, q, place, depth)) return false;
  }
  return x.size() == y.size();
}

std::size_t HostMachine::find_item(const HostItems& items, const HostValue& wanted, py::Place place, std::size_t stride,
                                   int depth) {
  for (std::size_t i = 0; i < items.values.size(); i += stride) {
    const HostValue item = items.values[i];
    if (equal(item, wanted, place, depth) && i < items.values.size()) return i;
  }
  return items.values.size();
}

bool HostMachine::equal(const HostValue& a, const HostValue& b, py::Place place, int depth) {
  step(place);
  check_depth(depth, place);
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
  const bool as_tuples = is_named_tuple(a) ? b.is(Kind::tuple) || (is_named_tuple(b) && a.klass != b.klass)
                                           : a.is(Kind::tuple) && is_named_tuple(b);
  if (as_tuples) return equal(plain_tuple(a), plain_tuple(b), place, depth + 1);
  if (a.is(Kind::dict_view) || b.is(Kind::dict_view)) {
    const HostValue x = as_set(a, place), y = as_set(b, place);
    return x.is(Kind::dict_view) || y.is(Kind::dict_view) ? a.items == b.items : equal(x, y, place, depth + 1);
  }
  if (is_container_object(a))
    if (auto answer = own(a, "__eq__", {b}, place)) return truth(*answer, place);
  if (a.kind != b.kind || (a.is(Kind::list) && (a.items->type == kDeque) != (b.items->type == kDeque))) return false;
  switch (a.kind) {
    case Kind::none:
    case Kind::ellipsis: return true;
    case Kind::string:
    case Kind::path: return a.text.get() == b.text.get();
    case Kind::dtype: return a.dtype == b.dtype;
    case Kind::device: return a.device == b.device;
    case Kind::tensor: return a.buffer == b.buffer;
    case Kind::opaque: return a.integer == b.integer;
    case Kind::function:
      return a.function == b.function ||
             (a.function->statement != nullptr && a.function->statement == b.function->statement &&
              !a.function->closure && !b.function->closure);
    case Kind::kernel: return a.kernel.function == b.kernel.function && a.function == b.function;
    case Kind::module: return a.module == b.module;
    case Kind::tuple:
    case Kind::list:
    case Kind::slice: return equal_items(a, b, place, depth + 1);
    case Kind::range: return equal_ranges(a, b);
    case Kind::set:
    case Kind::dict: {  // in any order
      const auto &x = a.items->values, &y = b.items->values;
      if (x.size() != y.size()) return false;
      const std::size_t stride = a.is(Kind::dict) ? 2 : 1;
      for (std::size_t i = 0; i + stride <= x.size(); i += stride) {
        const HostValue key = x[i], value = x[i + stride - 1];
        const std::size_t at = find_item(*b.items, key, place, stride, depth + 1);
        if (at == y.size()) return false;
        const HostValue other = y[at + stride - 1];
        if (stride == 2 && !equal(value, other, place, depth + 1)) return false;
      }
      return true;
    }
    case Kind::klass: return a.klass == b.klass;
    case Kind::object: {
      if (auto answer = own(a, "__eq__", {b}, place)) return truth(*answer, place);
      if (a.items == b.items) return true;
      if (is_version(a) && is_version(b)) return equal(version_key(a), version_key(b), place, depth + 1);
      return a.klass == b.klass && a.klass->form != HostClass::Form::plain && equal_items(a, b, place, depth + 1);
    }
    default: return a.items != nullptr && a.items == b.items;
  }
}

// Python's `is`. Small values have no identity of their own here.
bool HostMachine::same(const HostValue& a, const HostValue& b, py::Place place) {
  if (a.kind != b.kind) return false;
  constexpr Kind kShared[] = {Kind::list, Kind::dict, Kind::set, Kind::range, Kind::dict_view};
  if (std::find(std::begin(kShared), std::end(kShared), a.kind) != std::end(kShared)) return a.items == b.items;
  return equal(a, b, place);
}

bool HostMachine::contains(const HostValue& container, const HostValue& item, py::Place place) {
  if (container.is(Kind::string)) {
    spend(container.text.size() / 64, place);
    return text_find(container.text, string_of(item, place)) != std::string::npos;
  }
  if (auto answer = own(container, "__contains__", {item}, place)) return truth(*answer, place);
  if (container.is(Kind::dict)) {
    const std::size_t at = find_item(*container.items, item, place, 2);
    return at < container.items->values.size();
  }
  if (container.is(Kind::dict_view)) return in_view(container, item, place);
  if (container.is(Kind::range) && item.is_number()) return find_in_range(container, item).has_value();
  if (container.is(Kind::path) && container.text == "os.environ") return false;  // an empty one
  if (container.is(Kind::tensor))
    refuse(Code::policy, "a tensor's values are searched in a wrapper", place, "values are known to kernels only");
  if (is_flag(container) && is_flag(item)) return (container.integer & item.integer) == item.integer;
  for (const HostValue& v : each(container, place))
    if (equal(item, v, place)) return true;
  return false;
}

bool HostMachine::compare(py::Op op, const HostValue& a, const HostValue& b, py::Place place) {
  const bool identity = op == py::Op::is || op == py::Op::is_not || op == py::Op::in || op == py::Op::not_in;
  const auto has_values = [](const HostValue& v) { return v.is(Kind::tensor) || v.is_number(); };
  if (!identity && (a.is(Kind::tensor) || b.is(Kind::tensor)) && has_values(a) && has_values(b))
    refuse(Code::policy, "a comparison on a tensor's values in a wrapper", place,
           "values are known to kernels only; compare shapes, dtypes and numbers");
  switch (op) {
    case py::Op::eq: return equal(a, b, place);
    case py::Op::ne: return !equal(a, b, place);
    case py::Op::is: return same(a, b, place);
    case py::Op::is_not: return !same(a, b, place);
    case py::Op::in: return contains(b, a, place);
    case py::Op::not_in: return !contains(b, a, place);
    default: break;
  }
  if (const auto answer = own_operator(op, a, b, place)) return truth(*answer, place);
  if (a.is(Kind::object) && a.klass->ordered && a.klass == b.klass)
    return compare(op, field_values(a), field_values(b), place);
  if (is_named_tuple(a) || is_named_tuple(b)) return compare(op, plain_tuple(a), plain_tuple(b), place);
  if (is_version(a) && is_version(b)) return compare(op, version_key(a), version_key(b), place);
  if (a.is(Kind::dict_view) || b.is(Kind::dict_view)) {
    const HostValue x = as_set(a, place), y = as_set(b, place);
    if (x.is(Kind::set) && y.is(Kind::set)) return compare(op, x, y, place);
  }
  std::partial_ordering order = std::partial_ordering::equivalent;
  if (a.is_number() && b.is_number()) {
    order = compare_numbers(a, b);
  } else if (a.is(Kind::string) && b.is(Kind::string)) {
    order = a.text.get() <=> b.text.get();
  } else if (a.is(Kind::set) && b.is(Kind::set)) {  // subset, not order
    const auto inside = [&](const HostValue& x, const HostValue& y) {
      const std::vector<HostValue> all = iterate(x, place);
      return std::all_of(all.begin(), all.end(), [&](const HostValue& v) { return contains(y, v, place); });
    };
    const bool proper = a.items->values.size() != b.items->values.size();
    if (op == py::Op::lt || op == py::Op::le) return inside(a, b) && (proper || op == py::Op::le);
    return inside(b, a) && (proper || op == py::Op::ge);
  } else if (a.is_sequence() && a.kind == b.kind) {
    const auto &x = a.items->values, &y = b.items->values;
    std::size_t i = 0;
    for (; i < x.size() && i < y.size(); ++i) {
      const HostValue p = x[i], q = y[i];
      if (equal(p, q, place)) continue;
      if (++nesting_ > kDeepestLists * 4) refuse(Code::limit, "lists are nested too deeply", place);
      const bool out = compare(op, p, q, place);
      --nesting_;
      return out;
    }
    order = x.size() <=> y.size();
  } else {
    raise("TypeError",
          fmt::format("'{}' is not supported between {} and {}", py::op_text(op), host_type_name(a), host_type_name(b)),
          place);
  }
  switch (op) {
    case py::Op::lt: return order < 0;
    case py::Op::le: return order <= 0;
    case py::Op::gt: return order > 0;
    default: return order >= 0;
  }
}

void HostMachine::check_depth(int depth, py::Place place) const {
  if (depth > kDeepestLists) refuse(Code::limit, "lists are nested too deeply", place);
}

void HostMachine::check_length(const std::string& text, py::Place place) const {
  if (text.size() > (std::size_t{1} << 20)) refuse(Code::limit, "a string grows too long", place);
}

std::string HostMachine::text(const HostValue& v, bool repr, py::Place place, int depth) {
  step(place);
  check_depth(depth, place);
  // What items `from`, `from` + `stride`, ... are written as; `before`: what stands before an item.
  const auto list = [&](std::string_view open, std::string_view close, std::size_t from = 0, std::size_t stride = 1,
                        const std::function<std::string(std::size_t)>& before = nullptr) {
    const auto& values = v.items->values;
    std::string out(open);
    for (std::size_t i = from; i < values.size(); i += stride) {
      if (i > from) out += ", ";
      if (before) out += before(i);
      if (i >= values.size()) break;
      const HostValue item = values[i];
      out += text(item, true, place, depth + 1);
      check_length(out, place);
    }
    spend(out.size() / 64, place);
    if (open == "(" && values.size() == 1) out += ',';
    return out.append(close);
  };
  const bool member = is_enum_member(v);
  if (auto written = member ? own(v, repr ? "__repr__" : "__str__", {}, place) : std::nullopt)
    return string_of(*written, place);
  if (member && (repr || !v.klass->text_is_value)) {
    const HostValue own_name = eval_attribute(v, "name", place);  // none: of no flag
    const std::string name = v.klass->name + (own_name.is(Kind::none) ? "" : fmt::format(".{}", own_name.text.get()));
    return repr ? fmt::format("<{}: {}>", name, text(eval_attribute(v, "value", place), true, place, depth + 1)) : name;
  }
  if (is_container_object(v))
    for (const char* name : {"__str__", "__repr__"})
      if (auto written = (!repr || name[2] == 'r') ? own(v, name, {}, place) : std::nullopt)
        return string_of(*written, place);
  if (v.items && !v.items->type.empty()) return collection_text(v, place, depth);
  switch (v.kind) {
    case Kind::none: return "None";
    case Kind::boolean: return v.integer != 0 ? "True" : "False";
    case Kind::integer: return v.integer.text();
    case Kind::real: return python_float(v.real);
    case Kind::string: return repr ? python_string(v.text) : v.text.get();
    case Kind::tuple:
      return v.text.empty() ? list("(", ")") : fmt::format("{}({})", v.text, list("[", "]"));  // torch.Size([2, 3])
    case Kind::list: return list("[", "]");
    case Kind::range: return range_text(v);
    case Kind::dict_view:
      return fmt::format("{}({})", v.text.get(),
                         text(HostValue::sequence(Kind::list, iterate(v, place)), true, place, depth + 1));
    case Kind::set: return v.items->values.empty() ? "set()" : list("{", "}");
    case Kind::dict:
      return list("{", "}", 1, 2, [&](std::size_t i) {
        const HostValue key = v.items->values[i - 1];
        return text(key, true, place, depth + 1) + ": ";
      });
    case Kind::dtype: return fmt::format("torch.{}", dtype_row(v.dtype).name);
    case Kind::device: return repr ? "device(type='cuda', index=0)" : "cuda:0";
    case Kind::path: {
      const std::string type = language_type_name(v.text);
      return type.empty() ? v.text.get() : type;
    }
    case Kind::object: {
      for (const char* name : {"__str__", "__repr__"})
        if (auto written = (!repr || name[2] == 'r') ? own(v, name, {}, place) : std::nullopt)
          return string_of(*written, place);
      if (v.klass->form == HostClass::Form::exception) return exception_text(v, repr, place);
      if (is_version(v))
        return repr ? fmt::format("<Version('{}')>", v.items->values[3].text) : v.items->values[3].text.get();
      if (v.klass->form == HostClass::Form::record)
        if (const HostValue part = shown_fields(v); part.items->values.size() < v.items->values.size())
          return text(part, repr, place, depth + 1);
      return list(v.klass->name + "(", ")", 1, 2,
                  [&](std::size_t i) { return v.items->values[i - 1].text.get() + "="; });
    }
    default: return fmt::format("<{}>", host_type_name(v));
  }
}

bool HostMachine::holds_state(const HostValue& v, py::Place place, int depth) {
  step(place);
  check_depth(depth, place);
  if (v.is(Kind::kernel)) {  // its decorators nobody can ask for
    const KernelRef made = kernel_of(v.kernel, v.function);
    return made.closure && std::any_of(made.closure->names.begin(), made.closure->names.end(), [&](const auto& named) {
             return !named.second.is(Kind::function) && holds_state(named.second, place, depth + 1);
           });
  }
  const auto inside = [&](const std::vector<HostValue>& values) {
    return std::any_of(values.begin(), values.end(),
                       [&](const HostValue& item) { return holds_state(item, place, depth + 1); });
  };
  if (v.is(Kind::function)) {
    if (v.function->defaults && inside(v.function->defaults->values)) return true;
    for (HostScope* s = v.function->closure.get(); s != nullptr && !s->module_level; s = s->parent.get()) {
      if (std::find(looking_.begin(), looking_.end(), s) != looking_.end()) break;
      looking_.push_back(s);
      const bool found = std::any_of(s->names().begin(), s->names().end(), [&](const HostScope::Name& named) {
        return holds_state(named.second, place, depth + 1);
      });
      looking_.pop_back();
      if (found) return true;
    }
    return false;
  }
  if (v.is(Kind::tensor) || v.is(Kind::launcher) || v.is(Kind::opaque) || v.is(Kind::method)) return true;
  if (v.items && v.items->source && v.items->source->frame) return true;  // whatever a generator has in its variables
  if (v.items && v.items->factory && holds_state(*v.items->factory, place, depth + 1)) return true;
  if (v.items && v.items->attributes && v.items->attributes != v.items && inside(v.items->attributes->values))
    return true;
  return v.items && inside(v.items->values);
}

bool HostMachine::reaches(const HostValue& v, const HostItems& items, py::Place place, int depth) {
  step(place);
  check_depth(depth, place);
  if (v.is(Kind::method)) {  // self.run = self._fast: a circle that is cut when all this goes
    circles_.emplace_back(v.items->values[0].items);
    return false;
  }
  if (v.launcher && reaches(*v.launcher->grid, items, place, depth + 1)) return true;
  const auto inside = [&](const HostItems& in) {
    return std::any_of(in.values.begin(), in.values.end(),
                       [&](const HostValue& item) { return reaches(item, items, place, depth + 1); });
  };
  if (v.function && v.function->defaults && inside(*v.function->defaults)) return true;
  if (v.items && v.items->attributes && v.items->attributes != v.items && inside(*v.items->attributes)) return true;
  return v.items && (v.items.get() == &items || inside(*v.items));
}

void HostMachine::mark_module_level(const HostValue& v, py::Place place, int depth) {
  step(place);
  check_depth(depth, place);
  if (v.is(Kind::klass)) return mark_module_level(v.klass->attributes, place, depth + 1);
  if (v.function) {
    if (v.function->defaults)
      for (const HostValue& value : v.function->defaults->values) mark_module_level(value, place, depth + 1);
    mark_module_level(v.function->closure.get(), place, depth);
  }
  if (v.launcher) mark_module_level(*v.launcher->grid, place, depth + 1);
  if (!v.items || v.items->module_level) return;  // a class may hold itself
  v.items->module_level = true;
  if (const auto& attributes = v.items->attributes; attributes && attributes != v.items) {
    attributes->module_level = true;
    for (const HostValue& item : attributes->values) mark_module_level(item, place, depth + 1);
  }
  for (const HostValue& item : v.items->values) mark_module_level(item, place, depth + 1);
}

void HostMachine::mark_module_level(HostScope* scope, py::Place place, int depth) {
  for (; scope != nullptr && !scope->module_level; scope = scope->parent.get()) {
    scope->module_level = true;
    for (const auto& [name, value] : scope->names()) mark_module_level(value, place, depth + 1);
  }
}

void HostMachine::check_write(const HostItems& items, const HostValue& value, py::Place place) {
  constexpr std::size_t kLongest = std::size_t{1} << 20;
  if (items.values.size() >= kLongest) refuse(Code::limit, "a list or a dict grows too long", place);
  if (items.module_level && holds_state(value, place))
    refuse(Code::integrity, "a module-level container is written with a tensor", place,
           "that is a cache between calls; only shapes, strides, dtypes and numbers may be kept");
  if (items.module_level) mark_module_level(value, place);
  if (reaches(value, items, place)) refuse(Code::host, "a list or a dict is put into itself", place);
}

void HostMachine::add_unique(HostItems& items, HostValue value, py::Place place) {
  if (find_item(items, value, place) == items.values.size()) items.values.push_back(std::move(value));
}

}  // namespace passnet
