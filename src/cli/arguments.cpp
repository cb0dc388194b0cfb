#include "cli/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "fx/meta.h"
#include "py/arithmetic.h"
#include "py/parser.h"
#include "py/printer.h"

namespace passnet::cli {

namespace {

using K = py::ExprKind;

std::int64_t read_size(const py::Expr& e) {
  if (e.kind != K::integer || e.integer < 0)
    fail({Code::usage,
          {},
          fmt::format("'{}' is no size: sizes and strides are integers, not negative", py::print(e)),
          {"write float32[2, 3], or float32[2, 3](3, 1) with strides"}});
  return e.integer;
}

// Before anything is multiplied in 64 bits.
void check_extent(const py::Expr& e, const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides) {
  double elements = 1, hull = 1;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    elements *= static_cast<double>(std::max<std::int64_t>(sizes[k], 1));
    hull += static_cast<double>(sizes[k]) * static_cast<double>(k < strides.size() ? strides[k] : 0);
  }
  if (std::max(elements, hull) > static_cast<double>(kElementLimit))
    fail({Code::usage, {}, fmt::format("'{}' has more than {} elements", py::print(e), kElementLimit), {}});
}

// float32[2, 3], or that called with strides
TensorDesc read_tensor(const py::Expr& e, const py::Expr& shape) {
  TensorDesc out;
  const auto dtype = dtype_from_name(py::print(*shape.items[0]));
  if (!dtype)
    fail({Code::usage, {}, fmt::format("unknown dtype '{}'", py::print(*shape.items[0])), {"write float32[2, 3]"}});
  out.dtype = *dtype;
  const py::Expr& sizes = *shape.items[1];
  if (sizes.kind == K::tuple)
    for (const py::Expr* item : sizes.items) out.sizes.push_back(read_size(*item));
  else
    out.sizes.push_back(read_size(sizes));
  if (e.kind == K::call)
    for (const py::Expr* item : e.items.subspan(1)) out.strides.push_back(read_size(*item));
  check_extent(e, out.sizes, out.strides);
  if (e.kind != K::call) out.strides = contiguous_strides(out.sizes);
  if (out.strides.size() != out.sizes.size()) fail({Code::usage, {}, "sizes and strides differ in length", {}});
  return out;
}

// float32[] has no dimensions; Python wants something between brackets behind a name.
std::string with_tuples(const std::string& text) {
  std::string out;
  char quote = 0;
  for (const char c : text) {
    if (quote == 0 && c == ']' && out.size() > 1 && out.back() == '[' &&
        std::isalnum(static_cast<unsigned char>(out[out.size() - 2])) != 0)
      out += "()";
    if (quote != 0 ? c == quote : c == '\'' || c == '"') quote = quote != 0 ? 0 : c;
    out += c;
  }
  return out;
}

}  // namespace

bool is_float_name(std::string_view text) { return text == "inf" || text == "nan"; }

py::Module parse_arguments(const std::string& before, const std::string& text, const std::string& after) {
  auto out = py::parse("--args", before + with_tuples(text) + after + "\n");
  if (!out) {
    Error e = std::move(out.error());
    e.code = Code::usage;
    fail(std::move(e));
  }
  if (out->body().size() != 1 || out->body()[0]->kind != py::StmtKind::expression)
    fail({Code::usage, {}, fmt::format("'{}' is no list of arguments", text), {}});
  return out.take();
}

HostArgument read_argument(const py::Expr& e) {
  HostArgument out;
  if (const py::Expr& shape = e.kind == K::call ? *e.items[0] : e; shape.kind == K::subscript) {
    out.tensor = read_tensor(e, shape);
    return out;
  }
  const bool minus = e.kind == K::unary && e.op == py::Op::neg;
  const py::Expr& v = minus ? *e.items[0] : e;
  if (const auto dtype = e.kind == K::attribute ? dtype_from_name(py::print(e)) : std::nullopt)
    out.scalar = HostValue::of_dtype(*dtype);
  else if (v.kind == K::tuple || v.kind == K::list) {
    for (const py::Expr* item : v.items) out.items.push_back(read_argument(*item));
    if (std::none_of(out.items.begin(), out.items.end(),
                     [](const HostArgument& item) { return item.tensor || !item.items.empty(); })) {
      out.scalar = HostValue::sequence(HostValue::Kind::tuple, {});
      for (HostArgument& item : out.items) out.scalar.items->values.push_back(std::move(item.scalar));
      out.items.clear();
    }
  } else if (v.kind == K::integer || v.kind == K::big_integer) {
    const auto given = py::integer_of(v);
    if (!given) fail({Code::usage, {}, fmt::format("'{}' is {}", py::print(v), kIntegerTooLarge), {}});
    out.scalar = HostValue::of(minus ? *given->negated() : *given);
  } else if (v.kind == K::real)
    out.scalar = HostValue::of(minus ? -v.real : v.real);
  else if (v.kind == K::name && is_float_name(v.text))
    out.scalar = HostValue::of(std::copysign(
        v.text == "nan" ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity(),
        minus ? -1.0 : 1.0));
  else if (v.kind == K::boolean)
    out.scalar = HostValue::boolean(v.integer != 0);
  else if (v.kind == K::string)
    out.scalar = HostValue::string(std::string(v.text));
  else if (v.kind != K::none)
    fail({Code::usage,
          {},
          fmt::format("'{}' is no argument", py::print(e)),
          {"write float32[2, 3], a number, a string, True, False or None"}});
  return out;
}

}  // namespace passnet::cli
