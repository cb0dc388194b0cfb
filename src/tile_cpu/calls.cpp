// Scalars, and ops that work on whole arrays: scan, argmin and argmax.
#include <fmt/format.h>

#include <algorithm>

#include "tile_cpu/ctypes.h"
#include "tile_cpu/emitter.h"
#include "tile_cpu/op_text.h"

namespace passnet::tile_cpu {

using tile::Combine;

namespace {

std::string lowest(Elem e) {
  switch (e) {
    case Elem::i1: return "false";
    case Elem::f64: return "(-__builtin_inf())";
    case Elem::i8: return "((i8)-128)";
    case Elem::i16: return "((i16)-32768)";
    case Elem::i32: return "(-2147483647 - 1)";
    case Elem::i64: return "(-9223372036854775807L - 1)";
    default: return tile::is_float(e) ? "(-__builtin_inff())" : fmt::format("(({})0)", scalar_name(e));
  }
}

std::string highest(Elem e) {
  switch (e) {
    case Elem::i1: return "true";
    case Elem::f64: return "__builtin_inf()";
    case Elem::i8: return "((i8)127)";
    case Elem::i16: return "((i16)32767)";
    case Elem::i32: return "2147483647";
    case Elem::i64: return "9223372036854775807L";
    default:
      return tile::is_float(e) ? "__builtin_inff()" : fmt::format("(({})~({})0)", scalar_name(e), scalar_name(e));
  }
}

// NaN are ignored in these.
bool is_extreme(Combine c) { return c == Combine::min || c == Combine::max; }

}  // namespace

// Adding it to a reduction changes nothing.
std::string Emitter::identity(const Op& op) const {
  const Elem e = type(op.operands[0]).elem;
  if (is_extreme(op.combine) && tile::is_float(e))
    return e == Elem::f64 ? "__builtin_nan(\"\")" : "__builtin_nanf(\"\")";
  Op one;
  one.integer = 1;
  one.real = 1;
  switch (op.combine) {
    case Combine::product: return constant_text(one, e);
    case Combine::min:
    case Combine::min_nan: return highest(e);
    case Combine::max:
    case Combine::max_nan: return lowest(e);
    case Combine::bit_and: return e == Elem::i1 ? "true" : fmt::format("(({})-1)", scalar_name(e));
    default: return constant_text(Op{}, e);
  }
}

std::string Emitter::combined(const Op& op, const std::string& a, const std::string& b, bool lanes) const {
  const Elem e = type(op.operands[0]).elem;
  const auto rounded = [&](std::string text) {
    if (!lanes && !tile::is_float(e)) text = fmt::format("({})({})", scalar_name(e), text);
    return tile::is_half(e) ? fmt::format("{}_round({})", tile::elem_row(e).name, text) : text;
  };
  if (e == Elem::i1 && op.combine == Combine::sum) return rounded(fmt::format("{} ^ {}", a, b));
  if (e == Elem::i1 && op.combine == Combine::product) return rounded(fmt::format("{} & {}", a, b));
  switch (op.combine) {
    case Combine::sum: return rounded(fmt::format("{} + {}", a, b));
    case Combine::product: return rounded(fmt::format("{} * {}", a, b));
    case Combine::bit_and: return rounded(fmt::format("{} & {}", a, b));
    case Combine::bit_or: return rounded(fmt::format("{} | {}", a, b));
    case Combine::bit_xor: return rounded(fmt::format("{} ^ {}", a, b));
    case Combine::min_nan:
    case Combine::max_nan:
      if (tile::is_float(e))
        return fmt::format("{}({}, {})", tile::kCombineNames[static_cast<std::size_t>(op.combine)], a, b);
      [[fallthrough]];
    default: break;
  }
  const bool most = op.combine == Combine::max || op.combine == Combine::max_nan;
  if (e == Elem::i1) return rounded(fmt::format("{} {} {}", a, most ? "|" : "&", b));
  return fmt::format("{}_({}, {})", most ? "max" : "min", a, b);
}

// What a reduction has so far, as lanes; of extremes of floats both (prelude/core.h).
std::string Emitter::accumulator_type(const Op& op) const {
  const Elem e = type(op.operands[0]).elem;
  return is_extreme(op.combine) && tile::is_float(e) ? fmt::format("Extremes<{}>", lanes_name(e)) : lanes_name(e);
}

std::string Emitter::accumulator_start(const Op& op) const {
  const Elem e = type(op.operands[0]).elem;
  if (is_extreme(op.combine) && tile::is_float(e)) return fmt::format("extremes<{}>()", lanes_name(e));
  return fmt::format("all(({}){})", scalar_name(e), identity(op));
}

std::string Emitter::accumulated(const Op& op, const std::string& accumulator, const std::string& x) const {
  if (is_extreme(op.combine) && tile::is_float(type(op.operands[0]).elem))
    return fmt::format("take({}, {})", accumulator, x);
  return combined(op, accumulator, x, true);
}

std::string Emitter::finished(const Op& op, const std::string& accumulator) const {
  if (!is_extreme(op.combine) || !tile::is_float(type(op.operands[0]).elem)) return accumulator;
  return fmt::format("{}({})", op.combine == Combine::max ? "highest" : "lowest", accumulator);
}

void Emitter::emit_call(const Op& op) {
  comment(op.source);
  const auto array = [&](ValueId v) -> const Array& { return arrays_[static_cast<std::size_t>(home(v).array)]; };
  const Shape& shape = type(op.operands[0]).shape;
  if (op.code == Code::dot) return emit_product(op);
  if (op.code == Code::load) return emit_turn(op);
  std::int64_t outer = 1, inner = 1;
  for (int d = 0; d < shape.rank; ++d)
    (d < op.axis ? outer : inner) *= d == op.axis ? 1 : shape[static_cast<std::size_t>(d)];
  const std::int64_t size = shape[static_cast<std::size_t>(op.axis)];
  const std::string from = array(op.operands[0]).name;
  if (op.code == Code::scan) {
    const std::string to = array(op.result()).name;
    line(fmt::format("for (i64 o = 0; o < {}; ++o)", outer));
    line(fmt::format("  for (i64 k = 0; k < {}; ++k)", inner));
    line(fmt::format(
        "    for (i64 j = 0; j < {0}; ++j) {{ const i64 at = (o * {0} + {1}) * {2} + k, before = at {3} {2};", size,
        op.reverse ? fmt::format("({} - j)", size - 1) : "j", inner, op.reverse ? "+" : "-"));
    const Elem e = type(op.operands[0]).elem;
    const std::string x = e == Elem::i1 ? from + "[at] != 0" : from + "[at]",
                      t = e == Elem::i1 ? to + "[before] != 0" : to + "[before]";
    line(fmt::format(
        "      {}[at] = {}(j == 0 ? ({}){} : {}); }}", to, e == Elem::i1 ? "-(i32)" : "", scalar_name(e), x,
        combined(op, fmt::format("({}){}", scalar_name(e), t), fmt::format("({}){}", scalar_name(e), x), false)));
    return;
  }
  // argmin, argmax: the first of equals
  const ValueId v = op.result();
  std::string target;
  if (type(v).is_tile()) {
    if (home(v).kind != Home::Kind::array) home(v) = {Home::Kind::array, {}, 0, new_array(v)};
    target = fmt::format("{}[o * {} + k]", array(v).name, inner);
  } else {
    const std::string name = fresh(v);
    line(fmt::format("i32 {};", name));
    home(v) = {Home::Kind::name, name, 0, -1};
    target = name;
  }
  line(fmt::format("for (i64 o = 0; o < {}; ++o)", outer));
  line(fmt::format("  for (i64 k = 0; k < {}; ++k) {{", inner));
  const bool turned = type(op.operands[0]).elem == Elem::i1;  // in an array, true is -1
  line("    i32 best = 0;");
  line(
      fmt::format("    for (i64 j = 1; j < {0}; ++j) {{ const auto x = {1}[(o * {0} + j) * {2} + k], y = {1}[(o * {0} "
                  "+ best) * {2} + k]; if (x {3} y || (y != y && x == x)) best = (i32)j; }}",
                  size, from, inner, (op.combine == Combine::argmax) != turned ? ">" : "<"));
  line(fmt::format("    {} = best;", target));
  line("  }");
}

void Emitter::emit_scalar(const Op& op) {
  const auto text = [&](ValueId v) { return home(v).text; };
  const auto define = [&](const std::string& value) {
    const ValueId v = op.result();
    const Type& t = type(v);
    const std::string name = fresh(v);
    line(fmt::format("{} {} = {};", t.pointer ? stored_name(t.elem) + "* const" : "const " + scalar_name(t.elem), name,
                     value));
    home(v) = {Home::Kind::name, name, 0, -1};
  };
  const Elem elem = op.operands.empty() ? Elem::i32 : type(op.operands[0]).elem;
  switch (op.code) {
    case Code::constant:
      home(op.result()) = {Home::Kind::name,
                           type(op.result()).pointer ? fmt::format("(({}*)0)", stored_name(type(op.result()).elem))
                                                     : constant_text(op, type(op.result()).elem),
                           0, -1};
      return;
    case Code::program_id: home(op.result()) = {Home::Kind::name, fmt::format("pid{}", op.axis), 0, -1}; return;
    case Code::num_programs:
      home(op.result()) = {Home::Kind::name, std::to_string(facts_.grid[static_cast<std::size_t>(op.axis)]), 0, -1};
      return;
    case Code::addptr: return define(fmt::format("{} + (i64){}", text(op.operands[0]), text(op.operands[1])));
    case Code::reshape: {
      if (!type(op.operands[0]).is_tile()) return define(text(op.operands[0]));
      const ValueId v = op.result();
      const std::string name = fresh(v);
      line(fmt::format("{} {};", scalar_name(type(v).elem), name));
      open();
      Index index;
      index.fill(kFixed);
      const Ref r = eval(op.operands[0], index, Mode::zero);
      code(fmt::format("{} = {};", name, r.text));
      close("{");
      home(v) = {Home::Kind::name, name, 0, -1};
      return;
    }
    case Code::load: {
      const Elem loaded = type(op.result()).elem;
      const std::string kind = access_name(loaded);
      std::string value = is_hooked(build_)
                              ? fmt::format("ck_ld1<{}>(hooks, {}, program, {})", kind, site(op), text(op.operands[0]))
                              : fmt::format("ld1<{}>({})", kind, text(op.operands[0]));
      if (op.operands.size() > 1)
        value = fmt::format("{} ? {} : ({}){}", text(op.operands[1]), value, scalar_name(loaded),
                            op.operands.size() > 2 ? text(op.operands[2]) : constant_text(Op{}, loaded));
      return define(value);
    }
    case Code::store: {
      const std::string kind = access_name(type(op.operands[1]).elem);
      const std::string mask = op.operands.size() > 2 ? fmt::format("if ({}) ", text(op.operands[2])) : "";
      if (is_hooked(build_))
        line(fmt::format("{}ck_st1<{}>(hooks, {}, program, {}, {});", mask, kind, site(op), text(op.operands[0]),
                         text(op.operands[1])));
      else
        line(fmt::format("{}st1<{}>({}, {});", mask, kind, text(op.operands[0]), text(op.operands[1])));
      return;
    }
    case Code::atomic:
    case Code::atomic_cas: {
      const bool cas = op.code == Code::atomic_cas;
      const std::string value = text(op.operands[1]);
      std::string call = fmt::format("atomic_one<{}>({}, {}, {}, {})", access_name(elem), atomic_text(op),
                                     text(op.operands[0]), value, cas ? text(op.operands[2]) : value);
      const std::size_t mask = cas ? 3 : 2;
      if (op.operands.size() > mask)
        call = fmt::format("{} ? {} : {}", text(op.operands[mask]), call, constant_text(Op{}, elem));
      return define(call);
    }
    case Code::check:
      line(fmt::format("if (!{}) hooks->failed(hooks->context, {}, program);", text(op.operands[0]), site(op)));
      return;
    case Code::cast:
    case Code::bitcast: {
      const Type &from = type(op.operands[0]), &to = type(op.result());
      if (from.pointer && to.pointer) return define(fmt::format("({}*){}", stored_name(to.elem), text(op.operands[0])));
      if (from.pointer) return define(fmt::format("({})(i64){}", scalar_name(to.elem), text(op.operands[0])));
      if (to.pointer) return define(fmt::format("({}*)(i64){}", stored_name(to.elem), text(op.operands[0])));
      break;
    }
    case Code::select: {
      if (type(op.result()).pointer)
        return define(fmt::format("{} ? {} : {}", text(op.operands[0]), text(op.operands[1]), text(op.operands[2])));
      break;
    }
    default: break;
  }
  std::vector<OperandText> operands;
  for (const ValueId o : op.operands) {
    OperandText x{text(o), type(o).elem};
    if (!tile::is_float(type(o).elem) && !type(o).pointer) {
      const tile::Range& r = ranges_[static_cast<std::size_t>(o)];
      x.non_negative = r.lo >= 0;
      x.safe_divisor = r.lo > 0 || r.hi < -1;
      if (const auto c = constant_of(o)) x.constant = *c;
    }
    operands.push_back(std::move(x));
  }
  define(op_text(op, operands, type(op.result()).elem, false));
}

}  // namespace passnet::tile_cpu
