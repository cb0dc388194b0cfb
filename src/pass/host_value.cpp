#include "pass/host_value.h"

#include <fmt/format.h>

#include "base/text.h"

namespace passnet {

using Kind = HostValue::Kind;

HostValue HostValue::of(std::int64_t v) {
  HostValue out;
  out.kind = Kind::integer;
  out.integer = v;
  return out;
}
HostValue HostValue::of(double v) {
  HostValue out;
  out.kind = Kind::real;
  out.real = v;
  return out;
}
HostValue HostValue::boolean(bool v) {
  HostValue out;
  out.kind = Kind::boolean;
  out.integer = v ? 1 : 0;
  return out;
}
HostValue HostValue::string(std::string v) {
  HostValue out;
  out.kind = Kind::string;
  out.text = std::move(v);
  return out;
}
HostValue HostValue::sequence(Kind kind, std::vector<HostValue> values) {
  HostValue out;
  out.kind = kind;
  out.items = std::make_shared<HostItems>(HostItems{std::move(values), false});
  return out;
}
HostValue HostValue::path(std::string v) {
  HostValue out;
  out.kind = Kind::path;
  out.text = std::move(v);
  return out;
}
HostValue HostValue::tensor(BufferId id) {
  HostValue out;
  out.kind = Kind::tensor;
  out.buffer = id;
  return out;
}
HostValue HostValue::of_dtype(Dtype d) {
  HostValue out;
  out.kind = Kind::dtype;
  out.dtype = d;
  return out;
}

HostValue* HostScope::find(std::string_view name) {
  for (auto& [known, value] : names)
    if (known == name) return &value;
  return nullptr;
}

void HostScope::set(std::string_view name, HostValue value) {
  if (HostValue* found = find(name)) *found = std::move(value);
  else names.emplace_back(name, std::move(value));
}

bool host_equal(const HostValue& a, const HostValue& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_integral() && b.is_integral()) return a.integer == b.integer;
    return a.as_real() == b.as_real();
  }
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::none:
    case Kind::ellipsis: return true;
    case Kind::string:
    case Kind::path: return a.text == b.text;
    case Kind::dtype: return a.dtype == b.dtype;
    case Kind::device: return a.device == b.device;
    case Kind::tensor: return a.buffer == b.buffer;
    case Kind::opaque: return a.integer == b.integer;
    case Kind::function: return a.function == b.function || (a.function->statement != nullptr && a.function->statement == b.function->statement && !a.function->closure && !b.function->closure);
    case Kind::kernel: return a.kernel.function == b.kernel.function;
    case Kind::tuple:
    case Kind::list:
    case Kind::slice: {
      const auto &x = a.items->values, &y = b.items->values;
      if (x.size() != y.size()) return false;
      for (std::size_t i = 0; i < x.size(); ++i)
        if (!host_equal(x[i], y[i])) return false;
      return true;
    }
    default: return a.items != nullptr && a.items == b.items;
  }
}

bool host_truth(const HostValue& v) {
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
    default: return true;
  }
}

std::string_view host_type_name(const HostValue& v) {
  switch (v.kind) {
    case Kind::none: return "NoneType";
    case Kind::boolean: return "bool";
    case Kind::integer: return "int";
    case Kind::real: return "float";
    case Kind::string: return "str";
    case Kind::tuple: return "tuple";
    case Kind::list: return "list";
    case Kind::dict: return "dict";
    case Kind::set: return "set";
    case Kind::tensor: return "Tensor";
    case Kind::function: return "function";
    case Kind::kernel: return "kernel";
    case Kind::launcher: return "kernel with a grid";
    case Kind::path: return "module";
    case Kind::method: return "method";
    case Kind::dtype: return "dtype";
    case Kind::device: return "device";
    case Kind::config: return "triton.Config";
    case Kind::module: return "module";
    case Kind::opaque: return "argument";
    case Kind::slice: return "slice";
    case Kind::ellipsis: return "ellipsis";
  }
  return "";
}

std::string host_text(const HostValue& v, bool repr) {
  const auto list = [&](char open, char close) {
    std::string out(1, open);
    for (std::size_t i = 0; i < v.items->values.size(); ++i) out += (i > 0 ? ", " : "") + host_text(v.items->values[i], true);
    if (open == '(' && v.items->values.size() == 1) out += ',';
    return out + close;
  };
  switch (v.kind) {
    case Kind::none: return "None";
    case Kind::boolean: return v.integer != 0 ? "True" : "False";
    case Kind::integer: return std::to_string(v.integer);
    case Kind::real: return python_float(v.real);
    case Kind::string: return repr ? python_string(v.text) : v.text;
    case Kind::tuple: return list('(', ')');
    case Kind::list: return list('[', ']');
    case Kind::dict: {
      std::string out = "{";
      for (std::size_t i = 0; i < v.items->values.size(); i += 2) out += (i > 0 ? ", " : "") + host_text(v.items->values[i], true) + ": " + host_text(v.items->values[i + 1], true);
      return out + "}";
    }
    case Kind::dtype: return fmt::format("torch.{}", dtype_row(v.dtype).name);
    case Kind::device: return "cuda:0";
    case Kind::path: return v.text;
    default: return fmt::format("<{}>", host_type_name(v));
  }
}

bool host_holds_state(const HostValue& v) {
  switch (v.kind) {
    case Kind::tensor:
    case Kind::function:
    case Kind::launcher:
    case Kind::opaque:
    case Kind::method: return true;
    case Kind::tuple:
    case Kind::list:
    case Kind::dict:
    case Kind::set:
      for (const HostValue& item : v.items->values)
        if (host_holds_state(item)) return true;
      return false;
    default: return false;
  }
}

}  // namespace passnet
