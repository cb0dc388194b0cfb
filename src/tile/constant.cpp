#include "tile/constant.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "py/arithmetic.h"

namespace passnet::tile {

using Kind = ConstValue::Kind;

ConstValue ConstValue::of(const Integer& v) {
  ConstValue c;
  c.kind = Kind::integer;
  c.integer = v;
  return c;
}
ConstValue ConstValue::of(double v) {
  ConstValue c;
  c.kind = Kind::real;
  c.real = v;
  return c;
}
ConstValue ConstValue::boolean(bool v) {
  ConstValue c;
  c.kind = Kind::boolean;
  c.integer = v ? 1 : 0;
  return c;
}
ConstValue ConstValue::string(std::string v) {
  ConstValue c;
  c.kind = Kind::string;
  c.text = std::move(v);
  return c;
}
ConstValue ConstValue::of(Type v) {
  ConstValue c;
  c.kind = Kind::type;
  c.type = v;
  return c;
}
ConstValue ConstValue::tuple(std::vector<ConstValue> v) {
  ConstValue c;
  c.kind = Kind::tuple;
  c.items = std::move(v);
  return c;
}

namespace {

// As Python compares numbers: integers with floats exactly, too.
std::partial_ordering order(const ConstValue& a, const ConstValue& b) {
  if (a.is_integral()) return b.is_integral() ? a.integer <=> b.integer : compare(a.integer, b.real);
  if (b.is_integral()) return 0 <=> compare(b.integer, a.real);
  return a.real <=> b.real;
}

}  // namespace

bool ConstValue::truth() const {
  switch (kind) {
    case Kind::none: return false;
    case Kind::boolean:
    case Kind::integer: return integer != 0;
    case Kind::real: return real != 0;
    case Kind::string: return !text.empty();
    case Kind::type: return true;
    case Kind::tuple: return !items.empty();
  }
  return false;
}

bool ConstValue::operator==(const ConstValue& o) const {
  if (is_integral() && o.is_integral()) return integer == o.integer;
  if (is_number() && o.is_number()) return order(*this, o) == 0;
  if (kind != o.kind) return false;
  switch (kind) {
    case Kind::string: return text == o.text;
    case Kind::type: return type == o.type && text == o.text;
    case Kind::tuple: return items == o.items;
    default: return true;
  }
}

std::string triton_type(const Type& t) {
  std::string out{elem_row(t.elem).triton_name};
  if (t.pointer) out = "pointer to " + out;
  if (!t.is_tile()) return out;
  out += "[";
  for (std::size_t i = 0; i < t.shape.rank; ++i) out += fmt::format("{}{}", i == 0 ? "" : ", ", t.shape[i]);
  return out + "]";
}

std::string constant_text(const ConstValue& v) {
  switch (v.kind) {
    case Kind::none: return "None";
    case Kind::boolean: return v.integer != 0 ? "True" : "False";
    case Kind::integer: return v.integer.text();
    case Kind::real: return python_float(v.real);
    case Kind::string: return python_string(v.text.size() > 200 ? v.text.substr(0, 200) + "..." : v.text);
    case Kind::type: return v.text.empty() ? triton_type(v.type) : v.text;
    case Kind::tuple: break;
  }
  std::string out = "(";
  for (const ConstValue& item : v.items) {
    if (out.size() > 200) return out + "...)";
    out += (out.size() == 1 ? "" : ", ") + constant_text(item);
  }
  return out + (v.items.size() == 1 ? ",)" : ")");
}

namespace {

Folded wrong(std::string error) { return {{}, std::move(error)}; }

Folded real(double v) { return {ConstValue::of(v), {}}; }

Folded power(double x, double y) {
  if (x == 0 && y < 0) return wrong("0 cannot be raised to a negative power");
  if (x < 0 && std::isfinite(y) && y != std::floor(y)) return wrong("a negative number to a fractional power");
  return real(std::pow(x, y));
}

Folded compare(py::Op op, const ConstValue& a, const ConstValue& b) {
  using O = py::Op;
  if (op == O::eq || op == O::is) return {ConstValue::boolean(a == b), {}};
  if (op == O::ne || op == O::is_not) return {ConstValue::boolean(!(a == b)), {}};
  std::partial_ordering found = std::partial_ordering::unordered;
  if (a.is_number() && b.is_number())
    found = order(a, b);
  else if (a.is(Kind::string) && b.is(Kind::string))
    found = a.text <=> b.text;
  else
    return wrong(fmt::format("{} {} {}", constant_text(a), op_text(op), constant_text(b)));
  const bool out = op == O::lt ? found < 0 : op == O::le ? found <= 0 : op == O::gt ? found > 0 : found >= 0;
  return {ConstValue::boolean(out), {}};
}

Folded of_result(const py::WholeResult& result) {
  using Fault = py::WholeResult::Fault;
  switch (result.fault) {
    case Fault::none: return {ConstValue::of(result.value), {}};
    case Fault::zero_division: return wrong("division by zero");
    case Fault::negative_shift: return wrong("negative shift count");
    case Fault::too_large: return {{}, std::string(kIntegerTooLarge), passnet::Code::limit};
    case Fault::no_integer: break;
  }
  return wrong("");
}

Folded integers(py::Op op, const ConstValue& a, const ConstValue& b) {
  Folded out = of_result(py::integer_binary(op, a.integer, b.integer));
  const bool bits = op == py::Op::bit_and || op == py::Op::bit_or || op == py::Op::bit_xor;
  if (bits && a.is(Kind::boolean) && b.is(Kind::boolean)) out.value = ConstValue::boolean(out.value.integer != 0);
  return out;
}

Folded reals(py::Op op, double x, double y) {
  using O = py::Op;
  switch (op) {
    case O::add: return real(x + y);
    case O::sub: return real(x - y);
    case O::mul: return real(x * y);
    case O::div: return y == 0 ? wrong("division by zero") : real(x / y);
    case O::floor_div: return y == 0 ? wrong("division by zero") : real(py::real_floor_div(x, y));
    case O::mod: return y == 0 ? wrong("division by zero") : real(py::real_mod(x, y));
    case O::pow: return power(x, y);
    default: return wrong("");
  }
}

}  // namespace

Folded fold_binary(py::Op op, const ConstValue& a, const ConstValue& b) {
  using O = py::Op;
  Folded out = wrong("");
  if (op >= O::lt && op <= O::is_not)
    out = compare(op, a, b);
  else if (a.is_integral() && b.is_integral() && op != O::div && !(op == O::pow && b.integer < 0))
    out = integers(op, a, b);
  else if (a.is_integral() && b.is_integral() && op == O::div)
    out = b.integer == 0 ? wrong("division by zero") : real(ratio(a.integer, b.integer));
  else if (a.is_number() && b.is_number())
    out = reals(op, a.as_real(), b.as_real());
  else if (a.is(Kind::string) && b.is(Kind::string) && op == O::add && a.text.size() + b.text.size() < 65536)
    out = {ConstValue::string(a.text + b.text), {}};
  if (!out.error.empty() || out.value.kind != Kind::none) return out;
  return wrong(fmt::format("'{}' of the constants {} and {}", op_text(op), constant_text(a), constant_text(b)));
}

Folded fold_unary(py::Op op, const ConstValue& a) {
  using O = py::Op;
  if (op == O::not_) return {ConstValue::boolean(!a.truth()), {}};
  if (a.is_integral() && (op == O::neg || op == O::pos || op == O::invert)) {
    return of_result(py::integer_unary(op, a.integer));
  } else if (a.is(Kind::real)) {
    if (op == O::neg) return real(-a.real);
    if (op == O::pos) return real(a.real);
  }
  return wrong(fmt::format("'{}' of the constant {}", op_text(op), constant_text(a)));
}

std::string_view python_type(const ConstValue& v) {
  switch (v.kind) {
    case Kind::none: return "NoneType";
    case Kind::boolean: return "bool";
    case Kind::integer: return "int";
    case Kind::real: return "float";
    case Kind::string: return "str";
    case Kind::type: return "dtype";
    case Kind::tuple: return "tuple";
  }
  return "";
}

namespace {

using Strings = std::vector<std::string_view>;

Folded whole(std::integral auto v) { return {ConstValue::of(Integer(v)), {}}; }
Folded answer(bool v) { return {ConstValue::boolean(v), {}}; }
Folded mapped(std::string text, char first, char last, int by) {
  for (char& c : text)
    if (c >= first && c <= last) c = static_cast<char>(c + by);
  return {ConstValue::string(std::move(text)), {}};
}
std::size_t count(std::string_view text, std::string_view part) {
  if (part.empty()) return text.size() + 1;
  std::size_t out = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++out;
  return out;
}
Folded replaced(std::string_view text, std::string_view from, std::string_view to) {
  if (from.empty() || text.size() + count(text, from) * to.size() > 65536) return wrong("this replace of a constant");
  std::string out;
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from)) {
    out.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return {ConstValue::string(out.append(text)), {}};
}

// Methods of integers and bools ('i'), floats ('f') and strings ('s'), which take strings alone.
struct Method {
  char of;
  std::string_view name;
  std::size_t arguments;
  Folded (*fold)(const ConstValue& v, const Strings& args);
};
constexpr Method kMethods[] = {
    {'i', "bit_length", 0, [](const auto& v, const auto&) { return whole(v.integer.bit_length()); }},
    {'i', "bit_count", 0, [](const auto& v, const auto&) { return whole(v.integer.bit_count()); }},
    {'f', "is_integer", 0,
     [](const auto& v, const auto&) { return answer(std::isfinite(v.real) && v.real == std::floor(v.real)); }},
    {'s', "startswith", 1, [](const auto& v, const auto& a) { return answer(v.text.starts_with(a[0])); }},
    {'s', "endswith", 1, [](const auto& v, const auto& a) { return answer(v.text.ends_with(a[0])); }},
    {'s', "find", 1, [](const auto& v, const auto& a) { return whole(static_cast<std::int64_t>(v.text.find(a[0]))); }},
    {'s', "count", 1, [](const auto& v, const auto& a) { return whole(count(v.text, a[0])); }},
    {'s', "lower", 0, [](const auto& v, const auto&) { return mapped(v.text, 'A', 'Z', 'a' - 'A'); }},
    {'s', "upper", 0, [](const auto& v, const auto&) { return mapped(v.text, 'a', 'z', 'A' - 'a'); }},
    {'s', "strip", 0,
     [](const auto& v, const auto&) {
       return Folded{ConstValue::string(std::string(text_trim(v.text))), {}};
     }},
    {'s', "replace", 2, [](const auto& v, const auto& a) { return replaced(v.text, a[0], a[1]); }},
};

}  // namespace

std::optional<Folded> fold_method(const ConstValue& of, std::string_view name,
                                  const std::vector<ConstValue>* arguments) {
  const char kind = of.is_integral() ? 'i' : of.is(Kind::real) ? 'f' : of.is(Kind::string) ? 's' : '-';
  for (const Method& m : kMethods) {
    if (m.of != kind || m.name != name) continue;
    if (arguments == nullptr) return Folded{};
    Strings strings;
    for (const ConstValue& a : *arguments)
      if (a.is(Kind::string)) strings.push_back(a.text);
    if (strings.size() != m.arguments || arguments->size() != m.arguments)
      return wrong(m.arguments == 0
                       ? fmt::format(".{} takes no arguments here", name)
                       : fmt::format(".{} takes {} string{} here", name, m.arguments, m.arguments == 1 ? "" : "s"));
    return m.fold(of, strings);
  }
  return std::nullopt;
}

double round_real(double v, Elem elem) {
  if (elem == Elem::f64) return v;
  const double f = static_cast<double>(static_cast<float>(v));
  if (elem == Elem::f32 || f == 0 || !std::isfinite(f)) return f;
  const bool half = elem == Elem::f16;
  const int least = half ? -14 : -126, digits = half ? 10 : 7;  // exponent of the least normal number, mantissa
  const double quantum = std::ldexp(1.0, std::max(std::ilogb(f), least) - digits);
  const double out = std::nearbyint(f / quantum) * quantum;
  const double most = half ? 65504.0 : static_cast<double>(std::bit_cast<float>(0x7f7f0000U));
  return std::abs(out) > most ? std::copysign(std::numeric_limits<double>::infinity(), out) : out;
}

Integer integer_min(Elem elem) {
  const ElemRow& row = elem_row(elem);
  return row.is_signed ? -(std::int64_t{1} << (row.bits - 2)) * 2 : 0;
}

Integer integer_max(Elem elem) {
  const ElemRow& row = elem_row(elem);
  return ~std::uint64_t{0} >> (64 - row.bits + (row.is_signed ? 1 : 0));
}

bool holds(Elem elem, const Integer& v) { return v >= integer_min(elem) && v <= integer_max(elem); }

std::optional<Elem> elem_of(Dtype dtype) {
  for (const ElemRow& row : kElems)
    if (row.dtype == dtype) return row.elem;
  return std::nullopt;
}

std::optional<Elem> elem_of_name(std::string_view name) {
  for (const ElemRow& row : kElems)
    if (row.triton_name == name) return row.elem;
  return std::nullopt;
}

std::optional<ConstValue> type_of_name(std::string_view name) {
  if (const auto elem = elem_of_name(name)) return ConstValue::of(scalar_type(*elem));
  for (const std::string_view small : {"float8e5", "float8e4nv", "float8e4b8", "float8e4b15", "float8e5b16"}) {
    if (name != small) continue;
    ConstValue out = ConstValue::of(Type());
    out.text = name;
    return out;
  }
  return std::nullopt;
}

}  // namespace passnet::tile
