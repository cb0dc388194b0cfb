// Elementwise builtins.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tile/lowering.h"

namespace passnet::tile {

using OK = Operand::Kind;
using O = py::Op;

Operand Lowering::b_unary(Call& c) {
  exact_ |= c.row.name.ends_with("_rn");
  return Operand::tensor(emit1(c.row.code, float_arg(c, 0)));
}

Operand Lowering::b_abs(Call& c) {
  const ValueId v = tensor_arg(c, 0);
  const Type& t = type(v);
  if (t.pointer) refuse("tl.abs of a pointer");
  if (!is_float(t.elem) && !elem_row(t.elem).is_signed) return Operand::tensor(v);
  return Operand::tensor(emit1(Code::abs, v));
}

Operand Lowering::b_minmax(Call& c) {
  const ValueId a = promote_bfloat16(tensor_arg(c, 0)), b = promote_bfloat16(tensor_arg(c, 1));
  const auto [x, y] = pair(Operand::tensor(a), Operand::tensor(b));
  Code code = c.row.code;
  const bool nan = c.args.size() > 2 && string_arg(c, 2, "propagate_nan").value_or("NONE") == "ALL";
  if (nan && is_float(type(x).elem)) code = code == Code::max ? Code::max_nan : Code::min_nan;
  return Operand::tensor(emit2(code, x, y));
}

Operand Lowering::b_python_minmax(Call& c) {
  std::vector<Operand> args = c[0].items;
  if (args.size() == 1 && args[0].is(OK::tuple)) args = std::vector<Operand>(args[0].items);
  if (args.empty()) refuse(fmt::format("{}() of nothing", c.name));
  if (std::all_of(args.begin(), args.end(), [](const Operand& v) { return v.is_number(); })) {
    const Operand* best = &args[0];
    for (const Operand& v : args)
      if (c.row.code == Code::max ? v.constant.as_real() > best->constant.as_real()
                                  : v.constant.as_real() < best->constant.as_real())
        best = &v;
    return *best;
  }
  if (args.size() < 2)
    refuse(fmt::format("{}() needs two values", c.name), fmt::format("reduce a tile with tl.{}(x, axis=0)", c.name));
  Operand out = args[0];
  const Builtin& row = *find_builtin(c.row.code == Code::max ? "maximum" : "minimum", kTl);
  for (std::size_t i = 1; i < args.size(); ++i) out = call_builtin(row, c.name, {out, args[i]}, {});
  return out;
}

Operand Lowering::b_python_abs(Call& c) {
  if (c[0].is_number()) {
    if (c[0].constant.as_real() >= 0) return unary(O::pos, c[0]);
    return unary(O::neg, c[0]);
  }
  return b_abs(c);
}

Operand Lowering::b_clamp(Call& c) {
  Operand x = Operand::tensor(promote_bfloat16(tensor_arg(c, 0)));
  Operand low = Operand::tensor(promote_bfloat16(tensor_arg(c, 1)));
  Operand high = Operand::tensor(promote_bfloat16(tensor_arg(c, 2)));
  const auto unite = [&](Operand& a, Operand& b) {
    const auto [p, q] = pair(a, b);
    a = Operand::tensor(p);
    b = Operand::tensor(q);
  };
  unite(low, high);
  unite(x, low);
  unite(x, high);
  low = Operand::tensor(broadcast_to(cast(low.id, type(x.id).elem), type(x.id).shape));
  if (!is_float(type(x.id).elem))
    refuse(fmt::format("tl.clamp of {}", triton_type(type(x.id))),
           "it is for floats; write tl.minimum(tl.maximum(x, low), high)");
  const bool nan = string_arg(c, 3, "propagate_nan").value_or("NONE") == "ALL";
  const ValueId above = emit2(nan ? Code::max_nan : Code::max, x.id, low.id);
  return Operand::tensor(emit2(nan ? Code::min_nan : Code::min, above, high.id));
}

Operand Lowering::b_where(Call& c) {
  ValueId cond = tensor_arg(c, 0);
  if (type(cond).pointer) refuse("a pointer as the condition of tl.where");
  cond = cast(cond, Elem::i1);
  auto [x, y] = pair(c[1], c[2], {true, true});
  if (type(x).pointer != type(y).pointer) refuse("tl.where of a pointer and a number");
  broadcast_pair(cond, x);
  broadcast_pair(x, y);
  cond = broadcast_to(cond, type(x).shape);
  return Operand::tensor(select(cond, x, y));
}

Operand Lowering::b_fma(Call& c) {
  ValueId x = tensor_arg(c, 0), y = tensor_arg(c, 1), z = tensor_arg(c, 2);
  std::tie(x, y) = pair(Operand::tensor(x), Operand::tensor(y));
  std::tie(z, x) = pair(Operand::tensor(z), Operand::tensor(x));
  std::tie(z, y) = pair(Operand::tensor(z), Operand::tensor(y));
  if (!is_float(type(x).elem)) refuse(fmt::format("{} of integers", c.name), "write x * y + z");
  return Operand::tensor(emit(Code::fma, {x, y, z}, type(x)));
}

Operand Lowering::b_fdiv(Call& c) {
  const bool rounds = c.row.name == "div_rn";
  exact_ |= rounds || (c.args.size() > 2 && flag_arg(c, 2, "ieee_rounding"));
  ValueId x = rounds ? float_arg(c, 0) : tensor_arg(c, 0), y = rounds ? float_arg(c, 1) : tensor_arg(c, 1);
  if (!is_float(type(x).elem) || !is_float(type(y).elem) || type(x).pointer || type(y).pointer)
    refuse(fmt::format("{} of {} and {}", c.name, triton_type(type(x)), triton_type(type(y))), "both must be floats");
  std::tie(x, y) = pair(Operand::tensor(x), Operand::tensor(y));
  return Operand::tensor(emit2(Code::div, x, y));
}

Operand Lowering::b_arithmetic(Call& c) {
  constexpr std::pair<Code, O> kPairs[] = {{Code::add, O::add},
                                           {Code::sub, O::sub},
                                           {Code::mul, O::mul},
                                           {Code::bit_and, O::bit_and},
                                           {Code::bit_or, O::bit_or}};
  for (const auto& [code, op] : kPairs) {
    if (code != c.row.code) continue;
    Operand out = binary(op, c[0], c[1]);
    return out.is_number() ? Operand::tensor(to_tensor(out)) : out;
  }
  refuse(c.name, {}, ErrorCode::internal);
}

Operand Lowering::b_mul_high(Call& c) {
  const auto [x, y] = pair(Operand::tensor(tensor_arg(c, 0)), Operand::tensor(tensor_arg(c, 1)));
  if (is_float(type(x).elem) || elem_row(type(x).elem).bits < 32)
    refuse(fmt::format("{} of {}", c.name, triton_type(type(x))), "it is for 32- and 64-bit integers");
  const Elem elem = type(x).elem;
  if (c.row.name == "mulhi" || (elem != Elem::i32 && elem != Elem::i64))
    return Operand::tensor(emit2(Code::mul_high, x, y));
  const Elem bits = elem == Elem::i32 ? Elem::u32 : Elem::u64;  // umulhi has no sign, whatever its operands have
  return Operand::tensor(bitcast(emit2(Code::mul_high, bitcast(x, bits), bitcast(y, bits)), elem));
}

// ---- compositions

// x ** n of a constant whole number multiplies: integers always (they wrap), floats where ATen does. The rest is pow.
// Halves compute in float32 and round once.
Operand Lowering::power(const Operand& a, const Operand& b) {
  constexpr double kLeast = -2, kMost = 3;
  auto [x, y] = pair(a, b);
  const Elem elem = type(x).elem;
  const double n = b.is_number() ? b.constant.as_real() : std::nan("");
  const bool whole = n == std::trunc(n);
  if (!is_float(elem) && !(whole && n >= 0))
    refuse(fmt::format("'**' of {} and {}", operand_text(a), operand_text(b)),
           "integers take a constant exponent that is not negative: cast the base with .to(tl.float32)");
  const ValueId base = is_half(elem) ? cast(x, Elem::f32) : x;
  if (is_float(elem) && !(whole && n >= kLeast && n <= kMost))
    return Operand::tensor(cast(emit2(Code::pow, base, cast(y, type(base).elem)), elem));
  const ValueId one = is_float(elem) ? real_like(1, base) : integer_like(1, base);
  ValueId out = kNoValue, square = base;
  for (auto left = static_cast<std::int64_t>(std::abs(n)); left > 0; left /= 2) {
    if (left % 2 != 0) out = out == kNoValue ? square : emit2(Code::mul, out, square);
    if (left > 1) square = emit2(Code::mul, square, square);
  }
  if (out == kNoValue) out = one;
  return Operand::tensor(cast(n < 0 ? emit2(Code::div, one, out) : out, elem));
}

Operand Lowering::b_cdiv(Call& c) {
  const Operand one = Operand::of(ConstValue::of(std::int64_t{1}));
  return binary(O::floor_div, binary(O::add, c[0], binary(O::sub, c[1], one)), c[1]);
}

Operand Lowering::b_sigmoid(Call& c) {
  const ValueId x = float_arg(c, 0);
  const ValueId e = emit1(Code::exp, emit2(Code::sub, real_like(0, x), x));
  return Operand::tensor(emit2(Code::div, real_like(1, x), emit2(Code::add, real_like(1, x), e)));
}

Operand Lowering::b_softmax(Call& c) {
  const ValueId x = tensor_arg(c, 0);
  const int dim = c[1].is_none() ? 0 : axis_of(integer_arg(c, 1, "dim"), type(x).shape.rank, c.name);
  const bool keep = flag_arg(c, 2, "keep_dims");
  if (!type(x).is_tile()) refuse("tl.softmax of a scalar");
  const bool exact_division = flag_arg(c, 3, "ieee_rounding");
  ValueId wide = x;
  if (is_half(type(x).elem)) wide = cast(x, Elem::f32);
  const ValueId top = reduce(wide, dim, Combine::max, keep);
  const Shape all = type(x).shape, left = type(top).shape;
  if (!std::equal(left.span().rbegin(), left.span().rend(), all.span().rbegin(),
                  [](auto a, auto b) { return a == b || a == 1; }))
    refuse(fmt::format("{} over dim={} of {}: its maxima are {}, which do not line up with it", c.name, dim,
                       triton_type(type(x)), triton_type(type(top))),
           "write keep_dims=True");
  const Operand z = binary(O::sub, Operand::tensor(x), Operand::tensor(top));
  if (type(z.id).elem != Elem::f32 && type(z.id).elem != Elem::f64)
    refuse(fmt::format("tl.softmax of {}", triton_type(type(x))), "cast with .to(tl.float32)");
  const ValueId e = emit1(Code::exp, z.id);
  const ValueId total = reduce(e, dim, Combine::sum, keep);
  exact_ |= exact_division;
  return binary(O::div, Operand::tensor(e), Operand::tensor(total));
}

Operand Lowering::b_swizzle2d(Call& c) {
  const Operand ij = binary(O::add, binary(O::mul, c[0], c[3]), c[1]);
  const Operand group = binary(O::mul, c[4], c[3]);
  const Operand row = binary(O::mul, binary(O::floor_div, ij, group), c[4]);
  const Operand rows = call_builtin(*find_builtin("minimum", kTl), c.name, {binary(O::sub, c[2], row), c[4]}, {});
  const Operand inside = binary(O::mod, ij, group);
  const Operand new_i = binary(O::add, row, binary(O::mod, inside, rows));
  return Operand::tuple({new_i, binary(O::floor_div, inside, rows)});
}

// ---- libdevice

Operand Lowering::b_lib_binary(Call& c) {
  ValueId x = float_arg(c, 0);
  ValueId y = tensor_arg(c, 1);
  if (c.row.code == Code::pow && c[1].is_number()) return power(Operand::tensor(x), c[1]);
  if (c.row.code == Code::pow && type(y).elem == Elem::i32 && !type(y).pointer) y = cast(y, type(x).elem);
  if (type(y).elem != type(x).elem || type(y).pointer)
    refuse(fmt::format("{} of {} and {}", c.name, triton_type(type(x)), triton_type(type(y))),
           "both must be float32 or both float64: cast with .to(...)");
  broadcast_pair(x, y);
  const auto bits_of = [&](ValueId v) { return bitcast(v, type(v).elem == Elem::f32 ? Elem::i32 : Elem::i64); };
  if (c.row.name == "copysign") {
    const ValueId a = bits_of(x), b = bits_of(y);
    const Integer sign = integer_min(type(a).elem);
    const ValueId s = emit2(Code::bit_and, b, integer_like(sign, b));
    const ValueId m = emit2(Code::bit_and, a, integer_like(~sign, a));
    return Operand::tensor(bitcast(emit2(Code::bit_or, m, s), type(x).elem));
  }
  if (c.row.name == "nextafter") {  // bits count up away from zero
    const ValueId bits = bits_of(x), zero = real_like(0, x);
    const ValueId up = emit_compare(Code::lt, x, y), positive = emit_compare(Code::gt, x, zero);
    const ValueId away = emit_compare(Code::eq, up, positive);
    const ValueId step = select(away, integer_like(1, bits), integer_like(-1, bits));
    const ValueId least = bitcast(integer_like(1, bits), type(x).elem);
    const ValueId from_zero = select(up, least, emit1(Code::neg, least));
    ValueId out = bitcast(emit2(Code::add, bits, step), type(x).elem);
    out = select(emit_compare(Code::eq, x, zero), from_zero, out);
    out = select(emit_compare(Code::eq, x, y), y, out);
    const ValueId nan = emit2(Code::bit_or, emit_compare(Code::ne, x, x), emit_compare(Code::ne, y, y));
    return Operand::tensor(select(nan, emit2(Code::add, x, y), out));
  }
  if (c.row.name == "remainder") {  // of the nearest multiple, the even one of two: every step of it is exact
    const ValueId size = emit1(Code::abs, y);
    const ValueId r = emit2(Code::rem, emit1(Code::abs, x), emit2(Code::add, size, size));
    const ValueId less = emit2(Code::sub, r, size);
    const auto past_half = [&](Code than, ValueId v) { return emit_compare(than, v, emit2(Code::sub, size, v)); };
    const ValueId least = select(past_half(Code::ge, less), emit2(Code::sub, less, size), less);
    const ValueId out = select(past_half(Code::gt, r), least, r);
    const ValueId negative = emit_compare(Code::lt, bits_of(x), integer_like(0, bits_of(x)));
    return Operand::tensor(select(negative, emit1(Code::neg, out), out));
  }
  if (c.row.name == "fdim")
    return Operand::tensor(select(emit_compare(Code::le, x, y), real_like(0, x), emit2(Code::sub, x, y)));
  return Operand::tensor(emit2(c.row.code, x, y));
}

// Arguments of one float type, broadcast.
std::vector<ValueId> Lowering::float_args(Call& c) {
  std::vector<ValueId> out;
  for (std::size_t i = 0; i < c.args.size(); ++i) {
    out.push_back(float_arg(c, i));
    if (type(out[i]).elem != type(out[0]).elem)
      refuse(fmt::format("{} of {} and {}", c.name, triton_type(type(out[0])), triton_type(type(out[i]))),
             "all must be float32 or all float64: cast with .to(...)");
    for (ValueId& v : out) broadcast_pair(v, out.back());
  }
  for (ValueId& v : out) v = broadcast_to(v, type(out.back()).shape);
  return out;
}

// The length of a vector, or one over it; in float64, scaled where squares would leave its range.
Operand Lowering::b_lib_norm(Call& c) {
  const std::vector<ValueId> given = float_args(c);
  const auto mul = [&](ValueId a, ValueId b) { return emit2(Code::mul, a, b); };
  std::vector<ValueId> v;
  for (const ValueId x : given) v.push_back(emit1(Code::abs, cast(x, Elem::f64)));
  ValueId most = v[0];
  for (std::size_t i = 1; i < v.size(); ++i) most = emit2(Code::max, most, v[i]);
  const auto real = [&](double r) { return real_like(r, most); };
  const ValueId large = emit_compare(Code::gt, most, real(0x1p500));
  const ValueId small = emit_compare(Code::lt, most, real(0x1p-500));
  const auto scale = [&](double down, double up) {
    return select(large, real(down), select(small, real(up), real(1)));
  };
  const ValueId there = scale(0x1p-600, 0x1p600);
  ValueId sum = kNoValue;
  for (const ValueId x : v) {
    const ValueId square = mul(mul(x, there), mul(x, there));
    sum = sum == kNoValue ? square : emit2(Code::add, sum, square);
  }
  const bool inverse = c.row.name.starts_with('r');
  const ValueId root = emit1(Code::sqrt, sum);
  ValueId out = inverse ? mul(emit2(Code::div, real(1), root), there) : mul(root, scale(0x1p600, 0x1p-600));
  const double infinity = std::numeric_limits<double>::infinity();
  out = select(emit_compare(Code::eq, most, real(infinity)), real(inverse ? 0 : infinity), out);
  return Operand::tensor(cast(out, type(given[0]).elem));
}

// ---- libdevice: the parts of floats

// x * 2^n; the exponent of x.
Operand Lowering::b_lib_parts(Call& c) {
  const ValueId given = float_arg(c, 0);
  ValueId x = cast(given, Elem::f64);
  const auto result = [&](ValueId v) { return Operand::tensor(cast(v, type(given).elem)); };
  if (c.args.size() == 2) {
    ValueId n = tensor_arg(c, 1);
    if (type(n).elem != Elem::i32 || type(n).pointer)
      refuse(fmt::format("the exponent of {} is {}", c.name, triton_type(type(n))),
             "an int32: cast with .to(tl.int32)");
    broadcast_pair(x, n);
    // In steps, of which the last alone may round.
    const auto shift = [&](Code code, std::int64_t bound, std::int64_t by) {
      for (int i = 0; i < 2; ++i) {
        const ValueId beyond = emit_compare(code, n, integer_like(bound, n));
        x = select(beyond, emit2(Code::mul, x, real_like(std::ldexp(1.0, static_cast<int>(by)), x)), x);
        n = select(beyond, emit2(Code::sub, n, integer_like(by, n)), n);
      }
    };
    shift(Code::gt, 1023, 1023);
    shift(Code::lt, -1022, -969);
    n = emit2(Code::max, emit2(Code::min, n, integer_like(1023, n)), integer_like(-1022, n));
    const ValueId biased = cast(emit2(Code::add, n, integer_like(1023, n)), Elem::i64);
    return result(emit2(Code::mul, x, bitcast(emit2(Code::shl, biased, integer_like(52, biased)), Elem::f64)));
  }
  const ValueId size = emit1(Code::abs, x);
  const auto is = [&](Code code, double v) { return emit_compare(code, size, real_like(v, size)); };
  const ValueId tiny = is(Code::lt, 0x1p-1022);
  const ValueId normal = select(tiny, emit2(Code::mul, size, real_like(0x1p54, size)), size);
  const ValueId bits = bitcast(normal, Elem::i64);
  const ValueId exponent = emit2(Code::sub, emit2(Code::shr, bits, integer_like(52, bits)),
                                 select(tiny, integer_like(1023 + 54, bits), integer_like(1023, bits)));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const ValueId none = is(Code::eq, 0), all = is(Code::eq, kInfinity), nan = emit_compare(Code::ne, x, x);
  if (c.row.name == "logb") {
    ValueId out = select(none, real_like(-kInfinity, x), cast(exponent, Elem::f64));
    out = select(all, size, out);
    return result(select(nan, x, out));
  }
  ValueId out = cast(exponent, Elem::i32);
  out = select(emit2(Code::bit_or, none, nan), integer_like(integer_min(Elem::i32), out), out);
  return Operand::tensor(select(all, integer_like(integer_max(Elem::i32), out), out));
}

// FROM2TO_MODE, where the mode says how to round.
Operand Lowering::b_lib_convert(Call& c) {
  constexpr std::pair<std::string_view, Elem> kElemNames[] = {{"float", Elem::f32}, {"double", Elem::f64},
                                                              {"int", Elem::i32},   {"uint", Elem::u32},
                                                              {"ll", Elem::i64},    {"ull", Elem::u64}};
  const auto elem = [&](std::string_view name) {
    for (const auto& [known, e] : kElemNames)
      if (known == name) return e;
    refuse(c.name, {}, ErrorCode::internal);
  };
  const std::string_view name = c.row.name;
  const std::size_t middle = name.find('2'), end = name.rfind('_');
  const Elem from = elem(name.substr(0, middle)), to = elem(name.substr(middle + 1, end - middle - 1));
  const std::string_view mode = name.substr(end + 1);
  ValueId x = tensor_arg(c, 0);
  if (type(x).elem != from || type(x).pointer)
    refuse(fmt::format("{} needs {}, not {}", c.name, elem_row(from).triton_name,
                       triton_type({type(x).elem, type(x).pointer, {}})),
           "cast with .to(...)");
  if (is_float(to)) return Operand::tensor(mode == "rz" ? cast_toward_zero(x, to) : cast(x, to));
  constexpr std::pair<std::string_view, Code> kModes[] = {
      {"rn", Code::round}, {"rz", Code::trunc}, {"rd", Code::floor}, {"ru", Code::ceil}};
  for (const auto& [known, code] : kModes)
    if (known == mode) x = emit1(code, x);
  x = cast(x, to);  // signed all the same, as Triton has it
  return Operand::tensor(to == Elem::u32 ? bitcast(x, Elem::i32) : to == Elem::u64 ? bitcast(x, Elem::i64) : x);
}

// The two words of a float64.
Operand Lowering::b_lib_words(Call& c) {
  const std::string_view name = c.row.name;
  const Elem want = name == "longlong_as_double" ? Elem::i64 : name == "hiloint2double" ? Elem::i32 : Elem::f64;
  std::vector<ValueId> v;
  for (std::size_t i = 0; i < c.args.size(); ++i) {
    v.push_back(tensor_arg(c, i));
    if (type(v[i]).elem != want || type(v[i]).pointer)
      refuse(fmt::format("{} of {}", c.name, triton_type(type(v[i]))),
             fmt::format("it is for {}", elem_row(want).triton_name));
  }
  if (want == Elem::i64) return Operand::tensor(bitcast(v[0], Elem::f64));
  if (want == Elem::i32) {
    broadcast_pair(v[0], v[1]);
    const ValueId high = cast(v[0], Elem::i64), low = cast(cast(v[1], Elem::u32), Elem::i64);
    return Operand::tensor(
        bitcast(emit2(Code::bit_or, emit2(Code::shl, high, integer_like(32, high)), low), Elem::f64));
  }
  const ValueId bits = bitcast(v[0], Elem::i64);
  if (name == "double_as_longlong") return Operand::tensor(bits);
  if (name == "double2loint") return Operand::tensor(cast(bits, Elem::i32));
  return Operand::tensor(cast(emit2(Code::shr, bits, integer_like(32, bits)), Elem::i32));
}

// ---- libdevice: integers

ValueId Lowering::unsigned_bits(ValueId v) {
  return bitcast(v, elem_row(type(v).elem).bits == 32 ? Elem::u32 : Elem::u64);
}

// How many bits of an unsigned integer are set: sums of 2, 4, 8 bits, then of all bytes.
ValueId Lowering::count_bits(ValueId v) {
  const int width = elem_row(type(v).elem).bits;
  const auto every = [&](std::int64_t byte) {
    std::int64_t all = 0;
    for (int i = 0; i < width; i += 8) all |= byte << i;
    return integer_like(all, v);
  };
  const auto low = [&](ValueId x, int by, std::int64_t mask) {
    return emit2(Code::bit_and, by == 0 ? x : emit2(Code::shr, x, integer_like(by, x)), every(mask));
  };
  v = emit2(Code::sub, v, low(v, 1, 0x55));
  v = emit2(Code::add, low(v, 0, 0x33), low(v, 2, 0x33));
  v = low(emit2(Code::add, v, emit2(Code::shr, v, integer_like(4, v))), 0, 0x0f);
  v = emit2(Code::mul, v, every(1));
  return cast(emit2(Code::shr, v, integer_like(width - 8, v)), Elem::i32);
}

Operand Lowering::b_lib_bits(Call& c) {
  const std::string_view name = c.row.name;
  ValueId x = tensor_arg(c, 0), y = c.args.size() > 1 ? tensor_arg(c, 1) : kNoValue;
  if (y != kNoValue) std::tie(x, y) = pair(Operand::tensor(x), Operand::tensor(y));
  const Elem elem = type(x).elem;
  const bool fits = y == kNoValue ? elem == Elem::i32 || elem == Elem::i64 : elem == Elem::i32 || elem == Elem::u32;
  if (!fits || type(x).pointer)
    refuse(fmt::format("{} of {}", c.name, triton_type(type(x))),
           y == kNoValue ? "it is for int32 and int64" : "it is for int32 and uint32");
  const int width = elem_row(elem).bits;
  const auto shr = [&](ValueId v, int by) { return emit2(Code::shr, v, integer_like(by, v)); };
  const auto out = [](ValueId v) { return Operand::tensor(v); };
  if (name == "mul24") {  // the low 24 bits of each, with their sign
    const auto low = [&](ValueId v) { return shr(emit2(Code::shl, v, integer_like(8, v)), 8); };
    return out(emit2(Code::mul, low(x), low(y)));
  }
  if (name == "hadd") return out(emit2(Code::add, emit2(Code::bit_and, x, y), shr(emit2(Code::bit_xor, x, y), 1)));
  if (name == "rhadd") return out(emit2(Code::sub, emit2(Code::bit_or, x, y), shr(emit2(Code::bit_xor, x, y), 1)));
  if (name == "sad") {
    ValueId more = tensor_arg(c, 2);
    if (type(more).pointer || is_float(type(more).elem) || elem_row(type(more).elem).bits != 32)
      refuse(fmt::format("{} onto {}", c.name, triton_type(type(more))), "a uint32");
    const ValueId larger = emit_compare(Code::gt, x, y);
    ValueId apart = select(larger, emit2(Code::sub, x, y), emit2(Code::sub, y, x));
    more = bitcast(more, elem);
    broadcast_pair(apart, more);
    return out(emit2(Code::add, apart, more));
  }
  ValueId v = unsigned_bits(x);
  if (name == "popc") return out(count_bits(v));
  if (name == "clz") {
    for (int by = 1; by < width; by *= 2) v = emit2(Code::bit_or, v, shr(v, by));
    return out(count_bits(emit1(Code::bit_not, v)));
  }
  if (name == "ffs") {  // from 1; of 0 it is 0
    const ValueId below = emit2(Code::bit_and, emit1(Code::bit_not, v), emit2(Code::sub, v, integer_like(1, v)));
    const ValueId place = count_bits(below);
    return out(select(emit_compare(Code::eq, v, integer_like(0, v)), integer_like(0, place),
                      emit2(Code::add, place, integer_like(1, place))));
  }
  for (int by = width / 2; by > 0; by /= 2) {  // brev: halves change places, then their halves
    std::int64_t mask = 0;
    for (int bit = 0; bit < width; ++bit)
      if (bit / by % 2 == 0) mask |= std::int64_t{1} << bit;
    const ValueId low = integer_like(mask, v);
    v = emit2(Code::bit_or, emit2(Code::bit_and, shr(v, by), low),
              emit2(Code::shl, emit2(Code::bit_and, v, low), integer_like(by, v)));
  }
  return out(bitcast(v, elem));
}

// ---- libdevice: inverses of erf

// A guess, bettered three times by Halley's method, in float64: of erf near zero, of erfc in the tails.
Operand Lowering::b_lib_inverse(Call& c) {
  const ValueId given = float_arg(c, 0);
  const ValueId x = cast(given, Elem::f64);
  const auto real = [&](double v) { return real_like(v, x); };
  const auto add = [&](ValueId a, ValueId b) { return emit2(Code::add, a, b); };
  const auto sub = [&](ValueId a, ValueId b) { return emit2(Code::sub, a, b); };
  const auto mul = [&](ValueId a, ValueId b) { return emit2(Code::mul, a, b); };
  const auto div = [&](ValueId a, ValueId b) { return emit2(Code::div, a, b); };
  const auto polynomial = [&](ValueId t, std::initializer_list<double> factors) {
    ValueId out = real(*factors.begin());
    for (const double f : std::span(factors).subspan(1)) out = add(mul(out, t), real(f));
    return out;
  };
  // erf(result) is y, erfc(|result|) is p
  ValueId y = x, p = sub(real(1), emit1(Code::abs, x));
  if (c.row.name != "erfinv") {
    const ValueId two_sided = c.row.name == "normcdfinv" ? mul(x, real(2)) : x;
    y = c.row.name == "normcdfinv" ? sub(two_sided, real(1)) : sub(real(1), two_sided);
    p = emit2(Code::min_nan, two_sided, sub(real(2), two_sided));
  }
  const ValueId size = emit1(Code::abs, y);
  const ValueId central = emit_compare(Code::lt, size, real(0.5));
  const ValueId w = sub(real(-2.5), emit1(Code::log, mul(sub(real(1), size), add(real(1), size))));
  const ValueId near =
      mul(size, polynomial(w, {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                               -0.00125372503, -0.00417768164, 0.246640727, 1.50140941}));  // Giles, 2010
  const ValueId t = emit1(Code::sqrt, mul(real(-2), emit1(Code::log, mul(p, real(0.5)))));
  const ValueId far =
      mul(real(0.70711),
          sub(t, div(polynomial(t, {0.27061, 2.30753}), polynomial(t, {0.04481, 0.99229, 1}))));  // Hastings, 1955
  ValueId z = select(central, near, far);
  for (int i = 0; i < 3; ++i) {
    const ValueId error = select(central, sub(size, emit1(Code::erf, z)), sub(emit1(Code::erfc, z), p));
    const ValueId slope = mul(real(1.1283791670955126), emit1(Code::exp, mul(mul(z, z), real(-1))));
    z = add(z, div(error, sub(slope, mul(z, error))));
  }
  z = select(emit_compare(Code::eq, p, real(0)), real(std::numeric_limits<double>::infinity()), z);
  z = select(emit_compare(Code::lt, y, real(0)), emit1(Code::neg, z), z);
  z = select(emit_compare(Code::eq, y, real(0)), y, z);
  if (c.row.name == "normcdfinv") z = mul(z, real(1.4142135623730951));
  return Operand::tensor(cast(z, type(given).elem));
}

Operand Lowering::b_lib(Call& c) {
  const std::string_view name = c.row.name;
  if (name == "int_as_float" || name == "uint_as_float") return Operand::tensor(bitcast(tensor_arg(c, 0), Elem::f32));
  const ValueId x = float_arg(c, 0);
  const auto real = [&](double v) { return real_like(v, x); };
  const auto add = [&](ValueId a, ValueId b) { return emit2(Code::add, a, b); };
  const auto sub = [&](ValueId a, ValueId b) { return emit2(Code::sub, a, b); };
  const auto mul = [&](ValueId a, ValueId b) { return emit2(Code::mul, a, b); };
  const auto div = [&](ValueId a, ValueId b) { return emit2(Code::div, a, b); };
  const auto out = [](ValueId v) { return Operand::tensor(v); };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (name == "exp10" || name == "fast_exp10f") return out(emit2(Code::pow, real(10), x));
  if (name == "rcbrt") {
    const ValueId root = emit1(Code::cbrt, cast(x, Elem::f64));
    return out(cast(div(real_like(1, root), root), type(x).elem));
  }
  if (name == "sinpi" || name == "cospi") {  // quarters of a turn are counted exactly
    const ValueId wide = cast(x, Elem::f64);
    const auto number = [&](double v) { return real_like(v, wide); };
    const ValueId turn = emit2(Code::rem, wide, number(2));
    const ValueId quarters = emit1(Code::round, mul(turn, number(2)));
    const ValueId angle = mul(sub(turn, mul(quarters, number(0.5))), number(M_PI));
    const ValueId whole = cast(quarters, Elem::i32);
    const ValueId k = add(whole, integer_like(name == "cospi" ? 1 : 0, whole));
    const auto bit = [&](std::int64_t which) {
      return emit_compare(Code::ne, emit2(Code::bit_and, k, integer_like(which, k)), integer_like(0, k));
    };
    const ValueId v = select(bit(1), emit1(Code::cos, angle), emit1(Code::sin, angle));
    return out(cast(select(bit(2), sub(number(0), v), v), type(x).elem));
  }
  if (name == "round" || name == "llround") {  // halves away from zero
    const ValueId t = emit1(Code::trunc, x);
    const ValueId away = emit_compare(Code::ge, emit1(Code::abs, sub(x, t)), real(0.5));
    const ValueId sign = select(emit_compare(Code::lt, x, real(0)), real(-1), real(1));
    const ValueId whole = select(away, add(t, sign), t);
    return out(name == "llround" ? cast(whole, Elem::i64) : whole);
  }
  if (name == "normcdf") return out(mul(real(0.5), emit1(Code::erfc, mul(x, real(-0.70710678118654752440)))));
  if (name == "isnan") return out(emit_compare(Code::ne, x, x));
  if (name == "isinf") return out(emit_compare(Code::eq, emit1(Code::abs, x), real(kInfinity)));
  if (name == "finitef" || name == "isfinited")
    return out(emit_compare(Code::lt, emit1(Code::abs, x), real(kInfinity)));
  if (name == "signbit") {
    const ValueId b = bitcast(x, type(x).elem == Elem::f32 ? Elem::i32 : Elem::i64);
    return out(cast(emit_compare(Code::lt, b, integer_like(0, b)), Elem::i32));
  }
  if (name == "saturatef") return out(emit2(Code::min, emit2(Code::max, x, real(0)), real(1)));
  if (name == "rcp_rn") return out(div(real(1), x));
  if (name == "llrint") return out(cast(emit1(Code::round, x), Elem::i64));
  if (name == "float_as_int") return out(bitcast(x, Elem::i32));
  if (name == "float_as_uint") return out(bitcast(x, Elem::u32));
  refuse(fmt::format("{} in a kernel", c.name), {}, ErrorCode::unsupported);
}

// ---- random numbers: Philox 4x32 and 4x64, counter = offset, key = seed

void Lowering::philox(ValueId (&c)[4], ValueId (&key)[2], std::int64_t rounds) {
  const bool wide = type(c[0]).elem == Elem::u64;
  const auto number = [&](std::uint64_t narrow, std::uint64_t large) {
    if (!wide) return integer_like(static_cast<std::int64_t>(narrow), c[0]);
    return bitcast(constant(ConstValue::of(static_cast<std::int64_t>(large)), Elem::i64, type(c[0]).shape), Elem::u64);
  };
  for (std::int64_t i = 0; i < rounds; ++i) {
    step();
    const ValueId a = number(0xD2511F53, 0xD2E7470EE14C6C93), b = number(0xCD9E8D57, 0xCA5A826395121157);
    const auto mix = [&](ValueId m, ValueId x, ValueId y, ValueId k) {
      return emit2(Code::bit_xor, emit2(Code::bit_xor, emit2(Code::mul_high, m, x), y), k);
    };
    const ValueId c0 = c[0], c2 = c[2];
    c[0] = mix(b, c2, c[1], key[0]);
    c[2] = mix(a, c0, c[3], key[1]);
    c[1] = emit2(Code::mul, b, c2);
    c[3] = emit2(Code::mul, a, c0);
    key[0] = emit2(Code::add, key[0], number(0x9E3779B9, 0x9E3779B97F4A7C15));
    key[1] = emit2(Code::add, key[1], number(0xBB67AE85, 0xBB67AE8584CAA73B));
  }
}

// A counter of 32 or 64 bits; the key is given, or is the seed.
Operand Lowering::b_philox(Call& c) {
  const bool seeded = c.row.name == "philox";
  std::vector<ValueId> all;
  for (std::size_t i = 0; i < 6 - (seeded ? 1U : 0U); ++i) {
    all.push_back(tensor_arg(c, i));
    if (is_float(type(all[i]).elem) || type(all[i]).pointer)
      refuse(fmt::format("{} of {}", c.name, triton_type(type(all[i]))), "seed and counters are integers");
  }
  const int width = elem_row(type(all[seeded ? 1 : 0]).elem).bits;
  if (width < 32) refuse(fmt::format("{} with counters of {} bits", c.name, width), "32 or 64");
  const Elem elem = width == 32 ? Elem::u32 : Elem::u64;
  if (seeded) {  // to the end: its low and its high word
    const ValueId seed = cast(all[0], Elem::u64);
    all.erase(all.begin());
    all.push_back(cast(seed, elem));
    all.push_back(width == 32 ? cast(emit2(Code::shr, seed, integer_like(32, seed)), elem) : integer_like(0, seed));
  }
  for (ValueId& v : all) v = cast(v, elem);
  for (int pass = 0; pass < 2; ++pass)
    for (ValueId& v : all) broadcast_pair(all[0], v);
  const std::size_t last = c.args.size() - 1;
  const std::int64_t rounds = integer_arg(c, last, "n_rounds");
  if (rounds < 0 || rounds > 100) refuse(fmt::format("{} rounds in {}", rounds, c.name));
  ValueId counter[4] = {all[0], all[1], all[2], all[3]}, key[2] = {all[4], all[5]};
  philox(counter, key, rounds);
  std::vector<Operand> out;
  for (const ValueId v : counter) out.push_back(Operand::tensor(v));
  return Operand::tuple(std::move(out));
}

// 32 random bits as a float32 in [0, 1).
ValueId Lowering::uniform(ValueId bits) {
  const ValueId x = bitcast(bits, Elem::i32);
  const ValueId folded = select(emit_compare(Code::lt, x, integer_like(0, x)), emit1(Code::bit_not, x), x);
  const ValueId real = cast(folded, Elem::f32);
  return emit2(Code::mul, real, real_like(4.6566127342e-10, real));
}

// Box-Muller: two normal numbers from two uniform ones.
std::pair<ValueId, ValueId> Lowering::normal(ValueId u1, ValueId u2) {
  const ValueId log = emit1(Code::log, emit2(Code::max, real_like(1.0e-7, u1), u1));
  const ValueId r = emit1(Code::sqrt, emit2(Code::mul, real_like(-2.0, log), log));
  const ValueId angle = emit2(Code::mul, real_like(6.283185307179586, u2), u2);
  return {emit2(Code::mul, r, emit1(Code::cos, angle)), emit2(Code::mul, r, emit1(Code::sin, angle))};
}

Operand Lowering::b_uniform(Call& c) {
  if (c.args.size() == 2) {
    const std::vector<ValueId> u = float_args(c);
    const auto [a, b] = normal(u[0], u[1]);
    return Operand::tuple({Operand::tensor(a), Operand::tensor(b)});
  }
  const ValueId bits = tensor_arg(c, 0);
  if (type(bits).pointer || (type(bits).elem != Elem::u32 && type(bits).elem != Elem::i32))
    refuse(fmt::format("{} of {}", c.name, triton_type(type(bits))), "integers of 32 bits");
  return Operand::tensor(uniform(bits));
}

Operand Lowering::b_random(Call& c) {
  ValueId seed = tensor_arg(c, 0), offset = tensor_arg(c, 1);
  for (const ValueId v : {seed, offset})
    if (is_float(type(v).elem) || type(v).pointer)
      refuse(fmt::format("{} of {}", c.name, triton_type(type(v))), "seed and offset are integers");
  if (type(seed).is_tile()) broadcast_pair(seed, offset);
  const std::int64_t rounds = integer_arg(c, 2, "n_rounds");
  if (rounds < 0 || rounds > 100) refuse(fmt::format("{} rounds in {}", rounds, c.name));
  const Shape shape = type(offset).shape;
  const auto lower = [&](ValueId x) { return cast(x, Elem::u32); };
  const auto upper = [&](ValueId x) { return lower(emit2(Code::shr, x, integer_like(32, x))); };
  ValueId v[4] = {lower(offset)};
  v[2] = v[3] = integer_like(0, v[0]);
  v[1] = elem_row(type(offset).elem).bits > 32 ? upper(offset) : v[2];
  const ValueId wide = cast(seed, Elem::u64);
  ValueId key[2] = {broadcast_to(lower(wide), shape), broadcast_to(upper(wide), shape)};
  philox(v, key, rounds);
  const std::string_view name = c.row.name;
  if (name == "randint") return Operand::tensor(v[0]);
  if (name == "rand") return Operand::tensor(uniform(v[0]));
  std::vector<Operand> out;
  if (name == "randint4x" || name == "rand4x") {
    for (const ValueId x : v) out.push_back(Operand::tensor(name == "rand4x" ? uniform(x) : x));
    return Operand::tuple(std::move(out));
  }
  const std::size_t pairs = name == "randn" ? 1 : 2;
  for (std::size_t i = 0; i < pairs; ++i) {
    const auto [a, b] = normal(uniform(v[2 * i]), uniform(v[2 * i + 1]));
    out.push_back(Operand::tensor(a));
    out.push_back(Operand::tensor(b));
  }
  return name == "randn" ? out[0] : Operand::tuple(std::move(out));
}

}  // namespace passnet::tile
