// value_text: a template over how a node is named.
#pragma once

#include "base/text.h"

namespace passnet {

template <class F>
std::string value_text(const Value& value, const F& name) {
  const auto list = [&](const std::vector<Value>& items) {
    std::string out;
    for (const Value& item : items) {
      if (!out.empty()) out += ", ";
      out += value_text(item, name);
    }
    return out;
  };
  switch (value.kind) {
    case ValueKind::none: return "None";
    case ValueKind::boolean: return value.integer != 0 ? "True" : "False";
    case ValueKind::integer: return std::to_string(value.integer);
    case ValueKind::real: return python_float(value.real);
    case ValueKind::string: return python_string(value.text);
    case ValueKind::node: return name(value.node);
    case ValueKind::constant: return value.text.starts_with("builtins.") ? value.text.substr(9) : value.text;
    case ValueKind::device:
      return "device(type=" + python_string(value.text) + (value.integer >= 0 ? ", index=" + std::to_string(value.integer) : "") + ")";
    case ValueKind::ellipsis: return "Ellipsis";
    case ValueKind::tuple: return "(" + list(value.items) + (value.items.size() == 1 ? ",)" : ")");
    case ValueKind::list: return "[" + list(value.items) + "]";
    case ValueKind::slice: return "slice(" + list(value.items) + ")";
  }
  return {};
}

}  // namespace passnet
