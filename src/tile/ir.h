// Tile IR: what a kernel does for one program, as typed values in structured blocks. Plain data.
//
// A value is a scalar or a tile (a block of elements whose sizes are powers of two). Every op is one row of `kOps`.
// Memory is read and written in the order of the ops: a load sees what earlier stores of the same program wrote.
// Semantics are Triton's; the reference interpreter (interpret.h) is the definition.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dtype.h"
#include "py/ast.h"

namespace passnet::tile {

enum class Elem : std::uint8_t { i1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64 };

struct ElemRow {
  Elem elem;
  std::string_view name;         // in the IR's text
  std::string_view triton_name;  // tl.NAME
  std::uint8_t bits;             // of the value; an i1 takes a byte in memory
  bool floating;
  bool is_signed;
  Dtype dtype;  // of the tensors that hold it
};
inline constexpr ElemRow kElems[] = {
    {Elem::i1, "i1", "int1", 1, false, false, Dtype::boolean},
    {Elem::i8, "i8", "int8", 8, false, true, Dtype::int8},
    {Elem::i16, "i16", "int16", 16, false, true, Dtype::int16},
    {Elem::i32, "i32", "int32", 32, false, true, Dtype::int32},
    {Elem::i64, "i64", "int64", 64, false, true, Dtype::int64},
    {Elem::u8, "u8", "uint8", 8, false, false, Dtype::uint8},
    {Elem::u16, "u16", "uint16", 16, false, false, Dtype::uint16},
    {Elem::u32, "u32", "uint32", 32, false, false, Dtype::uint32},
    {Elem::u64, "u64", "uint64", 64, false, false, Dtype::uint64},
    {Elem::f16, "f16", "float16", 16, true, true, Dtype::float16},
    {Elem::bf16, "bf16", "bfloat16", 16, true, true, Dtype::bfloat16},
    {Elem::f32, "f32", "float32", 32, true, true, Dtype::float32},
    {Elem::f64, "f64", "float64", 64, true, true, Dtype::float64},
};
constexpr const ElemRow& elem_row(Elem e) { return kElems[static_cast<std::size_t>(e)]; }
constexpr bool is_float(Elem e) { return elem_row(e).floating; }
constexpr bool is_half(Elem e) { return e == Elem::f16 || e == Elem::bf16; }
constexpr std::int64_t elem_bytes(Elem e) { return e == Elem::i1 ? 1 : elem_row(e).bits / 8; }

inline constexpr int kRankLimit = 6;
inline constexpr std::int64_t kElementLimit = 1 << 20;  // of one tile, as in Triton
inline constexpr int kDepthLimit = 128;                 // of blocks in blocks
inline constexpr std::int32_t kValueLimit = 1 << 20;    // values of one function

// The sizes of a tile; rank 0 is a scalar.
struct Shape {
  std::uint8_t rank = 0;
  std::array<std::int32_t, kRankLimit> sizes{};

  Shape() = default;
  Shape(std::initializer_list<std::int32_t> list) {
    for (const std::int32_t s : list) push(s);
  }
  void push(std::int32_t size) { sizes[rank++] = size; }
  std::int32_t operator[](std::size_t i) const { return sizes[i]; }
  std::int32_t& operator[](std::size_t i) { return sizes[i]; }
  std::span<const std::int32_t> span() const& { return {sizes.data(), rank}; }
  void span() const&& = delete;  // it would outlive the sizes
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (const std::int32_t s : span()) n *= s;
    return n;
  }
  bool operator==(const Shape& o) const = default;  // unused sizes are 0
};

struct Type {
  Elem elem = Elem::i32;
  bool pointer = false;  // to elements of that type
  Shape shape;

  bool is_tile() const { return shape.rank > 0; }
  bool operator==(const Type&) const = default;
};
inline Type scalar_type(Elem e) { return {e, false, {}}; }
inline Type with_elem(Type t, Elem e) { return {e, false, t.shape}; }

using ValueId = std::int32_t;
inline constexpr ValueId kNoValue = -1;

enum class Code : std::uint8_t {
  constant,
  program_id,
  num_programs,
  arange,
  splat,
  broadcast,
  expand_dims,
  reshape,
  trans,
  cast,
  bitcast,
  neg,
  bit_not,
  abs,
  sqrt,
  rsqrt,
  exp,
  exp2,
  expm1,
  log,
  log2,
  log10,
  log1p,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  erf,
  erfc,
  cbrt,
  floor,
  ceil,
  round,
  trunc,
  add,
  sub,
  mul,
  div,
  rem,
  min,
  max,
  min_nan,
  max_nan,
  pow,
  atan2,
  mul_high,
  bit_and,
  bit_or,
  bit_xor,
  shl,
  shr,
  lt,
  le,
  gt,
  ge,
  eq,
  ne,
  select,
  fma,
  addptr,
  load,
  store,
  atomic,
  atomic_cas,
  reduce,
  scan,
  dot,
  for_,
  while_,
  if_,
  yield,
  check,
};

enum class OpClass : std::uint8_t { leaf, shape, unary, binary, compare, other, memory, reduction, control };

struct OpRow {
  Code code;
  std::string_view name;  // in the IR's text
  OpClass kind;
  std::string_view law;  // operands -> result; what it means
};

// Elementwise ops take operands of one type (shape included) unless said otherwise.
inline constexpr OpRow kOps[] = {
    {Code::constant, "constant", OpClass::leaf,
     "`integer` (integers, i1: 0 or 1) or `real` (floats, already rounded to the type); a tile has it in every "
     "element"},
    {Code::program_id, "program_id", OpClass::leaf, "`axis` 0..2 -> i32"},
    {Code::num_programs, "num_programs", OpClass::leaf, "`axis` -> i32"},
    {Code::arange, "arange", OpClass::leaf, "`start` -> i32[n]: start + i"},
    {Code::splat, "splat", OpClass::shape, "scalar -> tile"},
    {Code::broadcast, "broadcast", OpClass::shape, "tile -> tile of the same rank; sizes of 1 are repeated"},
    {Code::expand_dims, "expand_dims", OpClass::shape, "a size of 1 inserted at `axis`"},
    {Code::reshape, "reshape", OpClass::shape,
     "the same elements in row-major order; a one-element tile from or to a scalar too"},
    {Code::trans, "trans", OpClass::shape, "result size d is operand size `order[d]`"},
    {Code::cast, "cast", OpClass::unary,
     "to the result's type: float to float rounds to nearest even, float to int truncates (saturating, NaN is 0), to "
     "i1 is != 0, int to int wraps or extends by the operand's sign; pointer to i64 and back"},
    {Code::bitcast, "bitcast", OpClass::unary, "the same bits; pointer to pointer of another element too"},
    {Code::neg, "neg", OpClass::unary, "-x"},
    {Code::bit_not, "not", OpClass::unary, "~x; of i1 the other truth"},
    {Code::abs, "abs", OpClass::unary, "|x|"},
    {Code::sqrt, "sqrt", OpClass::unary,
     "correctly rounded. f32, f64 only, as all functions down to cbrt. Of sqrt, rsqrt, exp, exp2 and div a GPU may "
     "take its approximate instructions in f32, as Triton does, unless `precision ieee` is said"},
    {Code::rsqrt, "rsqrt", OpClass::unary, ""},
    {Code::exp, "exp", OpClass::unary, ""},
    {Code::exp2, "exp2", OpClass::unary, ""},
    {Code::expm1, "expm1", OpClass::unary, "exp(x) - 1, also where that is small"},
    {Code::log, "log", OpClass::unary, ""},
    {Code::log2, "log2", OpClass::unary, ""},
    {Code::log10, "log10", OpClass::unary, ""},
    {Code::log1p, "log1p", OpClass::unary, "log(1 + x), also where x is small"},
    {Code::sin, "sin", OpClass::unary, ""},
    {Code::cos, "cos", OpClass::unary, ""},
    {Code::tan, "tan", OpClass::unary, ""},
    {Code::asin, "asin", OpClass::unary, ""},
    {Code::acos, "acos", OpClass::unary, ""},
    {Code::atan, "atan", OpClass::unary, ""},
    {Code::sinh, "sinh", OpClass::unary, ""},
    {Code::cosh, "cosh", OpClass::unary, ""},
    {Code::tanh, "tanh", OpClass::unary, ""},
    {Code::asinh, "asinh", OpClass::unary, ""},
    {Code::acosh, "acosh", OpClass::unary, ""},
    {Code::atanh, "atanh", OpClass::unary, ""},
    {Code::erf, "erf", OpClass::unary, ""},
    {Code::erfc, "erfc", OpClass::unary, "1 - erf(x), also where that is small"},
    {Code::cbrt, "cbrt", OpClass::unary, ""},
    {Code::floor, "floor", OpClass::unary, "floats"},
    {Code::ceil, "ceil", OpClass::unary, "floats"},
    {Code::round, "round", OpClass::unary, "floats, to nearest even"},
    {Code::trunc, "trunc", OpClass::unary, "floats, towards zero"},
    {Code::add, "add", OpClass::binary, "integers wrap; halves compute in f32 and round, as all float arithmetic here"},
    {Code::sub, "sub", OpClass::binary, ""},
    {Code::mul, "mul", OpClass::binary, ""},
    {Code::div, "div", OpClass::binary, "integers truncate (by 0: 0; the least by -1: itself); floats IEEE"},
    {Code::rem, "rem", OpClass::binary, "of div (by 0: 0); floats fmod"},
    {Code::min, "min", OpClass::binary, "NaN is ignored: min(x, NaN) = x; of -0 and 0 either"},
    {Code::max, "max", OpClass::binary, ""},
    {Code::min_nan, "min_nan", OpClass::binary, "NaN wins"},
    {Code::max_nan, "max_nan", OpClass::binary, ""},
    {Code::pow, "pow", OpClass::binary, "f32, f64"},
    {Code::atan2, "atan2", OpClass::binary, "f32, f64"},
    {Code::mul_high, "mul_high", OpClass::binary, "32- and 64-bit integers: the upper half of the product"},
    {Code::bit_and, "and", OpClass::binary, "integers"},
    {Code::bit_or, "or", OpClass::binary, ""},
    {Code::bit_xor, "xor", OpClass::binary, ""},
    {Code::shl, "shl", OpClass::binary, "by the width or more: 0"},
    {Code::shr, "shr", OpClass::binary, "arithmetic where signed; by the width or more: 0, or -1 of a negative"},
    {Code::lt, "lt", OpClass::compare, "-> i1; pointers too; NaN compares false but for ne"},
    {Code::le, "le", OpClass::compare, ""},
    {Code::gt, "gt", OpClass::compare, ""},
    {Code::ge, "ge", OpClass::compare, ""},
    {Code::eq, "eq", OpClass::compare, ""},
    {Code::ne, "ne", OpClass::compare, ""},
    {Code::select, "select", OpClass::other, "i1 condition of the same shape, a, b -> a where true; pointers too"},
    {Code::fma, "fma", OpClass::other, "a * b + c rounded once; floats"},
    {Code::addptr, "addptr", OpClass::other, "pointer, integer of the same shape -> pointer, that many elements on"},
    {Code::load, "load", OpClass::memory,
     "pointer [, i1 mask [, other]] -> elements; a masked-off element touches no memory and is `other`, or 0"},
    {Code::store, "store", OpClass::memory, "pointer, value [, mask]"},
    {Code::atomic, "atomic", OpClass::memory,
     "`atomic` kind; pointer, value [, mask] -> the old elements (0 where masked off)"},
    {Code::atomic_cas, "atomic_cas", OpClass::memory, "pointer, compare, value -> the old elements"},
    {Code::reduce, "reduce", OpClass::reduction,
     "`combine` along `axis`, which disappears (rank 1 gives a scalar); argmin, argmax give i32, the first of equals"},
    {Code::scan, "scan", OpClass::reduction,
     "`combine` (sum, product, min, max, logical) along `axis`, inclusive; `reverse` from the end"},
    {Code::dot, "dot", OpClass::other,
     "a[m, k], b[k, n], acc[m, n] -> acc + a b; products exact in the type of acc (f32, f64, i32), summed there; rank "
     "3 has a batch in front; `precision` is what f32 operands may be rounded to on a GPU (tf32 where none is said)"},
    {Code::for_, "for", OpClass::control,
     "lo, hi, step (one integer type), carried... -> carried; block (i, carried...) yields carried; step > 0 goes "
     "while i < hi, step < 0 while i > hi, 0 does nothing"},
    {Code::while_, "while", OpClass::control,
     "carried... -> carried; block 0 (carried...) yields one i1 scalar, block 1 (carried...) yields carried"},
    {Code::if_, "if", OpClass::control, "i1 scalar -> values; blocks then, else yield them"},
    {Code::yield, "yield", OpClass::control, "the end of every inner block"},
    {Code::check, "check", OpClass::memory, "i1, `text`: device_assert, seen by the checked build only"},
};
static_assert([] {
  for (std::size_t i = 0; i < std::size(kOps); ++i)
    if (static_cast<std::size_t>(kOps[i].code) != i) return false;
  return true;
}());
// Whether Triton's instruction for it is approximate; `precision` says whether that may be.
constexpr bool approximated(Code code) {
  return code == Code::exp || code == Code::exp2 || code == Code::sqrt || code == Code::rsqrt || code == Code::div;
}
// A function of mathematics: many instructions.
constexpr bool is_function(Code code) {
  return (code >= Code::exp && code <= Code::cbrt) || code == Code::pow || code == Code::atan2;
}

constexpr const OpRow& op_row(Code code) { return kOps[static_cast<std::size_t>(code)]; }

enum class Combine : std::uint8_t {
  sum,
  product,
  min,
  max,
  min_nan,
  max_nan,
  bit_and,
  bit_or,
  bit_xor,
  argmin,
  argmax
};
inline constexpr std::string_view kCombineNames[] = {"sum", "product", "min", "max",    "min_nan", "max_nan",
                                                     "and", "or",      "xor", "argmin", "argmax"};

enum class Atomic : std::uint8_t { add, min, max, bit_and, bit_or, bit_xor, exchange };
inline constexpr std::string_view kAtomicNames[] = {"add", "min", "max", "and", "or", "xor", "exchange"};

enum class Precision : std::uint8_t { tf32, tf32x3, ieee, bf16x3, bf16x6 };
inline constexpr std::string_view kPrecisionNames[] = {"tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"};

// Where an op comes from: a line of one of the function's files.
struct Source {
  std::uint16_t file = 0;
  py::Place place;
};

struct Op;

struct Block {
  std::vector<ValueId> params;
  std::vector<Op> ops;
};

struct Op {
  Code code = Code::constant;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  std::vector<Block> blocks;  // of control ops
  // What the row above names; unused ones stay as they are here.
  std::int64_t integer = 0;  // constant, arange's start
  double real = 0;
  std::int8_t axis = 0;
  std::array<std::int8_t, kRankLimit> order{};
  Combine combine = Combine::sum;
  Atomic atomic = Atomic::add;
  bool reverse = false;
  Precision precision = Precision::tf32;
  std::string text;
  Source source;

  ValueId result() const { return results.empty() ? kNoValue : results[0]; }
};

struct Function {
  std::string name;
  std::vector<std::string> files;       // what Source::file counts in
  std::vector<Type> types;              // by value
  std::vector<std::string> names;       // by value: the kernel's own name for it, may be empty; for people
  std::vector<std::string> parameters;  // names, in order; body.params are their values: scalars and pointers
  Block body;                           // no yield at its end

  const Type& type(ValueId v) const { return types[static_cast<std::size_t>(v)]; }
  ValueId add_value(Type type, std::string value_name = {}) {
    types.push_back(type);
    names.push_back(std::move(value_name));
    return static_cast<ValueId>(types.size() - 1);
  }
};

}  // namespace passnet::tile
