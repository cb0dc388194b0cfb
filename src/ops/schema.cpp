#include "ops/schema.h"

#include <charconv>

#include "base/text.h"

namespace passnet {

namespace {

struct BaseName {
  std::string_view text;
  Base base;
};
constexpr BaseName kBases[] = {
    {"Tensor", Base::tensor},
    {"Scalar", Base::scalar},
    {"int", Base::integer},
    {"SymInt", Base::integer},
    {"float", Base::real},
    {"bool", Base::boolean},
    {"str", Base::string},
    {"ScalarType", Base::dtype},
    {"Layout", Base::layout},
    {"Device", Base::device},
    {"MemoryFormat", Base::memory_format},
    {"Generator", Base::generator},
    {"SymBool", Base::boolean},
};

// Splits at top-level commas: brackets of alias marks and list sizes stay together.
std::vector<std::string_view> split_top(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      const std::string_view part = text_trim(text.substr(begin, i - begin));
      if (!part.empty()) out.push_back(part);
      begin = i + 1;
    } else if (text[i] == '(' || text[i] == '[') {
      ++depth;
    } else if (text[i] == ')' || text[i] == ']') {
      --depth;
    }
  }
  return out;
}

// Reads a type at the front of `text` and removes it: Tensor(a!), int[2]?, Tensor?[], ...
ParamType take_type(std::string_view& text, bool* written) {
  ParamType type;
  std::size_t end = 0;
  while (end < text.size() &&
         ((text[end] >= 'a' && text[end] <= 'z') || (text[end] >= 'A' && text[end] <= 'Z') || text[end] == '_'))
    ++end;
  const std::string_view word = text.substr(0, end);
  for (const BaseName& row : kBases)
    if (row.text == word) type.base = row.base;
  text.remove_prefix(end);
  while (!text.empty()) {
    if (text[0] == '(') {
      const std::size_t close = text.find(')');
      *written |= text.substr(0, close).find('!') != std::string_view::npos;
      type.alias = text[1];
      text.remove_prefix(close + 1);
    } else if (text[0] == '?') {
      type.optional = true;
      text.remove_prefix(1);
    } else if (text[0] == '[') {
      const std::size_t close = text.find(']');
      std::from_chars(text.data() + 1, text.data() + close, type.list_size);
      type.item_optional = type.optional;
      type.optional = false;
      type.list = true;
      text.remove_prefix(close + 1);
    } else {
      break;
    }
  }
  return type;
}

Value parse_default(std::string_view text, Base base) {
  if (text == "None") return Value::none();
  if (text == "True" || text == "False") return Value::boolean(text == "True");
  if (text.front() == '\'' || text.front() == '"') return Value::string(std::string(text.substr(1, text.size() - 2)));
  if (text.front() == '[') {
    std::vector<Value> items;
    for (const std::string_view item : split_top(text.substr(1, text.size() - 2)))
      items.push_back(parse_default(item, base));
    return Value::sequence(ValueKind::list, std::move(items));
  }
  const std::string_view digits = text.front() == '-' ? text.substr(1) : text;
  if (digits.empty() || digits.front() < '0' || digits.front() > '9')
    return Value::constant("torch." + std::string(text));
  std::int64_t integer = 0;
  const char* end = text.data() + text.size();
  if (base != Base::real && std::from_chars(text.data(), end, integer).ptr == end) return Value::of(integer);
  double real = 0;
  std::from_chars(text.data(), end, real);
  return Value::of(real);
}

}  // namespace

Schema parse_schema(std::string_view name, std::string_view overload, std::string_view text) {
  Schema out;
  out.name = name;
  out.overload = overload;
  out.text = text;
  const std::size_t open = text.find('(');
  const std::size_t arrow = text.rfind(") ->");
  bool keyword_only = false;
  for (std::string_view part : split_top(text.substr(open + 1, arrow - open - 1))) {
    if (part == "*") {
      keyword_only = true;
      continue;
    }
    Param p;
    p.type = take_type(part, &p.written);
    part = text_trim(part);
    const std::size_t equals = part.find('=');
    p.name = part.substr(0, equals);
    if (equals != std::string_view::npos) p.default_value = parse_default(part.substr(equals + 1), p.type.base);
    p.keyword_only = keyword_only;
    out.writes |= p.written;
    out.positional += keyword_only ? 0 : 1;
    out.params.push_back(std::move(p));
  }
  std::string_view result = text_trim(text.substr(arrow + 4));
  if (result.starts_with('(')) result = result.substr(1, result.size() - 2);
  for (std::string_view part : split_top(result)) {
    bool written = false;
    out.returns.push_back(take_type(part, &written));
    out.view |= out.returns.back().alias != 0 && !written;
  }
  return out;
}

}  // namespace passnet
