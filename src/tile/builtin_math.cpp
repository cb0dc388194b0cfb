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
  return Operand::tensor(emit2(Code::mul_high, x, y));
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
    const std::int64_t sign = type(a).elem == Elem::i32 ? integer_min(Elem::i32) : integer_min(Elem::i64);
    const ValueId s = emit2(Code::bit_and, b, integer_like(sign, b));
    const ValueId m = emit2(Code::bit_and, a, integer_like(~sign, a));
    return Operand::tensor(bitcast(emit2(Code::bit_or, m, s), type(x).elem));
  }
  if (c.row.name == "hypot")
    return Operand::tensor(emit1(Code::sqrt, emit2(Code::add, emit2(Code::mul, x, x), emit2(Code::mul, y, y))));
  if (c.row.name == "remainder") {
    const ValueId n = emit1(Code::round, emit2(Code::div, x, y));
    const ValueId minus = emit2(Code::sub, real_like(0, n), n);
    return Operand::tensor(emit(Code::fma, {minus, y, x}, type(x)));
  }
  if (c.row.name == "fdim") return Operand::tensor(emit2(Code::max, emit2(Code::sub, x, y), real_like(0, x)));
  return Operand::tensor(emit2(c.row.code, x, y));
}

Operand Lowering::b_to_int(Call& c) { return Operand::tensor(cast(emit1(c.row.code, float_arg(c, 0)), Elem::i32)); }

Operand Lowering::b_lib(Call& c) {
  const std::string_view name = c.row.name;
  if (name == "int_as_float" || name == "uint_as_float") return Operand::tensor(bitcast(tensor_arg(c, 0), Elem::f32));
  if (name == "int2float_rn") return Operand::tensor(cast(tensor_arg(c, 0), Elem::f32));
  const ValueId x = float_arg(c, 0);
  const auto real = [&](double v) { return real_like(v, x); };
  const auto add = [&](ValueId a, ValueId b) { return emit2(Code::add, a, b); };
  const auto sub = [&](ValueId a, ValueId b) { return emit2(Code::sub, a, b); };
  const auto mul = [&](ValueId a, ValueId b) { return emit2(Code::mul, a, b); };
  const auto div = [&](ValueId a, ValueId b) { return emit2(Code::div, a, b); };
  const auto out = [](ValueId v) { return Operand::tensor(v); };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (name == "exp10" || name == "fast_exp10f") return out(emit2(Code::pow, real(10), x));
  if (name == "round") {  // halves away from zero
    const ValueId t = emit1(Code::trunc, x);
    const ValueId away = emit_compare(Code::ge, emit1(Code::abs, sub(x, t)), real(0.5));
    const ValueId sign = select(emit_compare(Code::lt, x, real(0)), real(-1), real(1));
    return out(select(away, add(t, sign), t));
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

// ---- random numbers: Philox 4x32, counter = offset, key = seed

void Lowering::philox(ValueId seed, ValueId offset, std::int64_t rounds, ValueId (&out)[4]) {
  constexpr std::int64_t kKeyA = 0x9E3779B9, kKeyB = 0xBB67AE85, kRoundA = 0xD2511F53, kRoundB = 0xCD9E8D57;
  const Shape shape = type(offset).shape;
  const auto lower = [&](ValueId v) { return cast(v, Elem::u32); };
  const auto upper = [&](ValueId v) { return lower(emit2(Code::shr, v, integer_like(32, v))); };
  ValueId c[4];
  c[0] = lower(offset);
  c[2] = c[3] = integer_like(0, c[0]);
  c[1] = elem_row(type(offset).elem).bits > 32 ? upper(offset) : c[2];
  const ValueId wide = cast(seed, Elem::u64);
  ValueId key[2] = {broadcast_to(lower(wide), shape), broadcast_to(upper(wide), shape)};
  for (std::int64_t i = 0; i < rounds; ++i) {
    step();
    const ValueId a = integer_like(kRoundA, c[0]), b = integer_like(kRoundB, c[0]);
    const auto mix = [&](ValueId m, ValueId x, ValueId y, ValueId k) {
      return emit2(Code::bit_xor, emit2(Code::bit_xor, emit2(Code::mul_high, m, x), y), k);
    };
    const ValueId c0 = c[0], c2 = c[2];
    c[0] = mix(b, c2, c[1], key[0]);
    c[2] = mix(a, c0, c[3], key[1]);
    c[1] = emit2(Code::mul, b, c2);
    c[3] = emit2(Code::mul, a, c0);
    key[0] = emit2(Code::add, key[0], integer_like(kKeyA, key[0]));
    key[1] = emit2(Code::add, key[1], integer_like(kKeyB, key[1]));
  }
  std::copy(std::begin(c), std::end(c), std::begin(out));
}

// 32 random bits as a float32 in [0, 1).
ValueId Lowering::uniform(ValueId bits) {
  const ValueId x = bitcast(bits, Elem::i32);
  const ValueId folded = select(emit_compare(Code::lt, x, integer_like(0, x)), emit1(Code::bit_not, x), x);
  const ValueId real = cast(folded, Elem::f32);
  return emit2(Code::mul, real, real_like(4.6566127342e-10, real));
}

Operand Lowering::b_random(Call& c) {
  const ValueId seed = tensor_arg(c, 0), offset = tensor_arg(c, 1);
  for (const ValueId v : {seed, offset})
    if (is_float(type(v).elem) || type(v).pointer)
      refuse(fmt::format("{} of {}", c.name, triton_type(type(v))), "seed and offset are integers");
  if (type(seed).is_tile()) refuse(fmt::format("the seed of {} is a scalar", c.name));
  const std::int64_t rounds = integer_arg(c, 2, "n_rounds");
  if (rounds < 0 || rounds > 100) refuse(fmt::format("{} rounds in {}", rounds, c.name));
  ValueId v[4];
  philox(seed, offset, rounds, v);
  const std::string_view name = c.row.name;
  if (name == "randint") return Operand::tensor(v[0]);
  if (name == "rand") return Operand::tensor(uniform(v[0]));
  std::vector<Operand> out;
  if (name == "randint4x" || name == "rand4x") {
    for (const ValueId x : v) out.push_back(Operand::tensor(name == "rand4x" ? uniform(x) : x));
    return Operand::tuple(std::move(out));
  }
  // Box-Muller, two normal numbers from two uniform ones
  const std::size_t pairs = name == "randn" ? 1 : 2;
  for (std::size_t i = 0; i < pairs; ++i) {
    const ValueId u1 = uniform(v[2 * i]), u2 = uniform(v[2 * i + 1]);
    const ValueId log = emit1(Code::log, emit2(Code::max, real_like(1.0e-7, u1), u1));
    const ValueId r = emit1(Code::sqrt, emit2(Code::mul, real_like(-2.0, log), log));
    const ValueId angle = emit2(Code::mul, real_like(6.283185307179586, u2), u2);
    out.push_back(Operand::tensor(emit2(Code::mul, r, emit1(Code::cos, angle))));
    if (pairs == 2) out.push_back(Operand::tensor(emit2(Code::mul, r, emit1(Code::sin, angle))));
  }
  return name == "randn" ? out[0] : Operand::tuple(std::move(out));
}

}  // namespace passnet::tile
