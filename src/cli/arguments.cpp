#include "cli/arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "py/printer.h"

namespace passnet::cli {

HostArgument read_argument(const py::Expr& e) {
  using K = py::ExprKind;
  HostArgument out;
  const auto integers = [](const py::Expr& list) {
    std::vector<std::int64_t> v;
    if (list.kind == K::integer) v.push_back(list.integer);
    for (const py::Expr* item : list.items) v.push_back(item->kind == K::integer ? item->integer : -1);
    return v;
  };
  const py::Expr& shape = e.kind == K::call ? *e.items[0] : e;
  if (shape.kind == K::subscript) {
    const auto dtype = dtype_from_name(py::print(*shape.items[0]));
    if (!dtype)
      fail({Code::usage, {}, fmt::format("unknown dtype '{}'", py::print(*shape.items[0])), {"write float32[2, 3]"}});
    TensorDesc d;
    d.dtype = *dtype;
    d.sizes = integers(*shape.items[1]);
    d.strides = contiguous_strides(d.sizes);
    if (e.kind == K::call) {
      d.strides.clear();
      for (const py::Expr* item : e.items.subspan(1)) d.strides.push_back(item->integer);
    }
    if (d.strides.size() != d.sizes.size()) fail({Code::usage, {}, "sizes and strides differ in length", {}});
    out.tensor = std::move(d);
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
  } else if (v.kind == K::integer)
    out.scalar = HostValue::of(minus ? -v.integer : v.integer);
  else if (v.kind == K::real)
    out.scalar = HostValue::of(minus ? -v.real : v.real);
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
