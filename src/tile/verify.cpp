// The IR's rules. Counts and element classes of every op are a row of kRules; what a row cannot say is its function.
#include <fmt/format.h>

#include <cmath>

#include "tile/scalar.h"
#include "tile/stages.h"
#include "tile/text.h"

namespace passnet::tile {

namespace {

// Which elements an op takes.
enum : unsigned {
  kBool = 1,      // i1
  kInt = 2,       // integers of 8 bits and more
  kHalf = 4,      // f16, bf16
  kFloat = 8,     // f32, f64
  kPointer = 16,  // to anything
  kInts = kBool | kInt,
  kFloats = kHalf | kFloat,
  kNumbers = kInts | kFloats,
  kAll = kNumbers | kPointer,
};

unsigned class_of(const Type& t) {
  if (t.pointer) return kPointer;
  if (t.elem == Elem::i1) return kBool;
  return is_half(t.elem) ? kHalf : is_float(t.elem) ? kFloat : kInt;
}

constexpr int kMany = 1 << 20;

class Verifier;
using Check = void (*)(const Verifier&, const Op&);

struct Rule {
  Code code;
  int least, most;   // operands
  int results;       // kMany: as the check says
  unsigned classes;  // of the first operand, or of the result where there is none
  Check check;
};

class Verifier {
 public:
  explicit Verifier(const Function& f) : f_(f) {}

  void run() {
    if (f_.types.size() != f_.names.size()) fail("values without names or types");
    if (f_.types.size() > static_cast<std::size_t>(kValueLimit)) fail("too many values", passnet::Code::limit);
    if (f_.parameters.size() != f_.body.params.size()) fail("parameters without values");
    defined_.resize(f_.types.size());
    visible_.resize(f_.types.size());
    for (const ValueId v : f_.body.params) {
      define(v);
      if (f_.type(v).is_tile()) fail(fmt::format("parameter %{} is a tile", v));
    }
    block(f_.body, 1, false);
  }

  const Type& type(ValueId v) const { return f_.type(v); }
  const Type& in(const Op& op, std::size_t i) const { return f_.type(op.operands[i]); }
  const Type& out(const Op& op, std::size_t i = 0) const { return f_.type(op.results[i]); }

  [[noreturn]] void fail(std::string message, passnet::Code code = passnet::Code::kernel) const {
    Where where;
    if (op_ != nullptr) {
      const Source& s = op_->source;
      if (s.file < f_.files.size()) where.file = f_.files[s.file];
      where.line = s.place.line;
      where.column = s.place.column;
      message = fmt::format("`{}`: {}", ir_text(f_, *op_), message);
    } else {
      message = fmt::format("kernel {}: {}", f_.name, message);
    }
    passnet::fail({code, std::move(where), std::move(message), {}});
  }

  void want(bool holds, std::string_view message) const {
    if (!holds) fail(std::string(message));
  }
  void want_type(const Type& got, const Type& wanted, std::string_view what) const {
    if (got != wanted) fail(fmt::format("{} is {}, not {}", what, ir_text(got), ir_text(wanted)));
  }
  void want_types(std::span<const ValueId> got, std::span<const ValueId> wanted, std::string_view what) const {
    if (got.size() != wanted.size()) fail(fmt::format("{}s: {} wanted, {} given", what, wanted.size(), got.size()));
    for (std::size_t i = 0; i < got.size(); ++i)
      if (type(got[i]) != type(wanted[i]))
        want_type(type(got[i]), type(wanted[i]), fmt::format("{} {} (%{})", what, i, got[i]));
  }
  void want_operand(const Op& op, std::size_t i, const Type& wanted) const {
    if (in(op, i) != wanted) want_type(in(op, i), wanted, fmt::format("operand {} (%{})", i, op.operands[i]));
  }
  void want_yield(const Block& block, std::span<const ValueId> wanted) const {
    want_types(block.ops.back().operands, wanted, "yielded value");
  }

 private:
  void define(ValueId v) {
    if (v < 0 || static_cast<std::size_t>(v) >= f_.types.size()) fail(fmt::format("%{} has no type", v));
    const auto i = static_cast<std::size_t>(v);
    if (defined_[i]) fail(fmt::format("%{} is defined twice", v));
    defined_[i] = visible_[i] = true;
    scope_.push_back(v);
    if (const Type& t = f_.type(v); t.is_tile()) tile(v, t);
  }

  void tile(ValueId v, const Type& t) const {
    std::int64_t elements = 1;
    if (t.shape.rank > kRankLimit) fail(fmt::format("%{} has more than {} dimensions", v, kRankLimit));
    for (const std::int32_t size : t.shape.span()) {
      if (size < 1 || (size & (size - 1)) != 0) fail(fmt::format("%{} is {}: a size is a power of two", v, ir_text(t)));
      elements *= size;
      if (elements > kElementLimit) fail(fmt::format("%{} is {}: more than {} elements", v, ir_text(t), kElementLimit));
    }
  }

  void use(ValueId v) const {
    if (v < 0 || static_cast<std::size_t>(v) >= f_.types.size()) fail(fmt::format("%{} does not exist", v));
    if (!visible_[static_cast<std::size_t>(v)]) fail(fmt::format("%{} is not defined here", v));
  }

  void block(const Block& block, int depth, bool inner) {
    if (depth > kDepthLimit) fail(fmt::format("blocks nested deeper than {}", kDepthLimit), passnet::Code::limit);
    if (inner && (block.ops.empty() || block.ops.back().code != Code::yield))
      fail("a block without a yield at its end");
    for (const Op& op : block.ops) {
      if (op.code == Code::yield && (!inner || &op != &block.ops.back())) {
        op_ = &op;
        fail("a yield that does not end an inner block");
      }
      this->op(op, depth);
    }
  }

  void op(const Op& op, int depth);

  const Function& f_;
  const Op* op_ = nullptr;
  std::vector<bool> defined_, visible_;
  std::vector<ValueId> scope_;  // what is visible, in order
};

// Result and operands have one type.
void same(const Verifier& v, const Op& op) {
  for (std::size_t i = 1; i < op.operands.size(); ++i) v.want_operand(op, i, v.in(op, 0));
  v.want_type(v.out(op), v.in(op, 0), "the result");
}

void compare(const Verifier& v, const Op& op) {
  v.want_operand(op, 1, v.in(op, 0));
  v.want_type(v.out(op), with_elem(v.in(op, 0), Elem::i1), "the result");
}

void constant(const Verifier& v, const Op& op) {
  const Elem elem = v.out(op).elem;
  if (is_float(elem)) {
    const double back = real_of(elem, bits_of_real(elem, op.real));
    v.want(back == op.real || std::isnan(op.real), "its type has no such number");
  } else {
    v.want(integer_of(elem, bits_of_integer(elem, op.integer)) == op.integer, "its type has no such integer");
  }
}

void program_axis(const Verifier& v, const Op& op) {
  v.want(op.axis >= 0 && op.axis <= 2, "an axis of the grid is 0, 1 or 2");
  v.want_type(v.out(op), scalar_type(Elem::i32), "the result");
}

void arange(const Verifier& v, const Op& op) {
  const Type& t = v.out(op);
  v.want(t.elem == Elem::i32 && t.shape.rank == 1, "the result must be an i32 tile of one dimension");
  v.want(op.integer >= INT32_MIN && op.integer <= INT32_MAX - (t.shape[0] - 1), "the range leaves i32");
}

Type shaped(const Type& t, const Shape& shape) { return {t.elem, t.pointer, shape}; }

void splat(const Verifier& v, const Op& op) {
  v.want(!v.in(op, 0).is_tile(), "the operand must be a scalar");
  v.want(v.out(op).is_tile(), "the result must be a tile");
  v.want_type(v.out(op), shaped(v.in(op, 0), v.out(op).shape), "the result");
}

void broadcast(const Verifier& v, const Op& op) {
  const Type &from = v.in(op, 0), &to = v.out(op);
  v.want(from.is_tile() && from.shape.rank == to.shape.rank, "operand and result must be tiles of one rank");
  v.want_type(to, shaped(from, to.shape), "the result");
  for (std::size_t d = 0; d < from.shape.rank; ++d)
    v.want(from.shape[d] == to.shape[d] || from.shape[d] == 1, "only a size of 1 is repeated");
}

void expand_dims(const Verifier& v, const Op& op) {
  const Type& from = v.in(op, 0);
  v.want(from.is_tile() && from.shape.rank < kRankLimit, "the operand must be a tile with room for a dimension");
  v.want(op.axis >= 0 && op.axis <= from.shape.rank, "the axis lies outside the tile");
  Shape shape;
  for (int d = 0; d < from.shape.rank; ++d) {
    if (d == op.axis) shape.push(1);
    shape.push(from.shape[static_cast<std::size_t>(d)]);
  }
  if (op.axis == from.shape.rank) shape.push(1);
  v.want_type(v.out(op), shaped(from, shape), "the result");
}

void reshape(const Verifier& v, const Op& op) {
  v.want_type(v.out(op), shaped(v.in(op, 0), v.out(op).shape), "the result");
  v.want(v.in(op, 0).shape.elements() == v.out(op).shape.elements(),
         "operand and result must have equally many elements");
}

void trans(const Verifier& v, const Op& op) {
  const Type& from = v.in(op, 0);
  Shape shape;
  unsigned seen = 0;
  v.want(from.is_tile(), "the operand must be a tile");
  for (std::size_t d = 0; d < from.shape.rank; ++d) {
    v.want(op.order[d] >= 0 && op.order[d] < from.shape.rank, "the order names a dimension that is not there");
    seen |= 1U << op.order[d];
    shape.push(from.shape[static_cast<std::size_t>(op.order[d])]);
  }
  v.want(seen == (1U << from.shape.rank) - 1, "the order must be a permutation");
  v.want_type(v.out(op), shaped(from, shape), "the result");
}

void cast(const Verifier& v, const Op& op) {
  const Type &from = v.in(op, 0), &to = v.out(op);
  v.want(from.shape == to.shape, "operand and result must have one shape");
  v.want(!from.pointer || to.pointer || to.elem == Elem::i64, "a pointer casts to i64 only");
  v.want(!to.pointer || from.pointer || from.elem == Elem::i64, "only an i64 casts to a pointer");
  v.want(!from.pointer || !to.pointer || from.elem == to.elem, "pointers to different elements: bitcast");
}

void bitcast(const Verifier& v, const Op& op) {
  const Type &from = v.in(op, 0), &to = v.out(op);
  v.want(from.shape == to.shape && from.pointer == to.pointer, "operand and result must have one shape");
  v.want(from.pointer || elem_row(from.elem).bits == elem_row(to.elem).bits,
         "operand and result must have equally many bits");
}

void mul_high(const Verifier& v, const Op& op) {
  v.want(elem_row(v.in(op, 0).elem).bits >= 32, "32- and 64-bit integers only");
  same(v, op);
}

void select(const Verifier& v, const Op& op) {
  v.want_type(v.in(op, 0), with_elem(v.in(op, 1), Elem::i1), "the condition");
  v.want_operand(op, 2, v.in(op, 1));
  v.want_type(v.out(op), v.in(op, 1), "the result");
}

void addptr(const Verifier& v, const Op& op) {
  v.want((class_of(v.in(op, 1)) & kInts) != 0, "the offset must be an integer");
  v.want(v.in(op, 1).shape == v.in(op, 0).shape, "pointer and offset must have one shape");
  v.want_type(v.out(op), v.in(op, 0), "the result");
}

Type pointed(const Type& pointer) { return {pointer.elem, false, pointer.shape}; }

void want_mask(const Verifier& v, const Op& op, std::size_t i) {
  if (op.operands.size() > i) v.want_type(v.in(op, i), with_elem(v.in(op, 0), Elem::i1), "the mask");
}

void load(const Verifier& v, const Op& op) {
  want_mask(v, op, 1);
  if (op.operands.size() > 2) v.want_type(v.in(op, 2), pointed(v.in(op, 0)), "what stands for masked-off elements");
  v.want_type(v.out(op), pointed(v.in(op, 0)), "the result");
}

void store(const Verifier& v, const Op& op) {
  v.want_type(v.in(op, 1), pointed(v.in(op, 0)), "the value");
  want_mask(v, op, 2);
}

void atomic(const Verifier& v, const Op& op) {
  store(v, op);
  const bool logic = op.atomic == Atomic::bit_and || op.atomic == Atomic::bit_or || op.atomic == Atomic::bit_xor;
  v.want(!logic || !is_float(v.in(op, 0).elem), "integers only");
  v.want_type(v.out(op), pointed(v.in(op, 0)), "the result");
}

void atomic_cas(const Verifier& v, const Op& op) {
  v.want_type(v.in(op, 1), pointed(v.in(op, 0)), "what is compared");
  v.want_type(v.in(op, 2), pointed(v.in(op, 0)), "the value");
  v.want_type(v.out(op), pointed(v.in(op, 0)), "the result");
}

void want_combine(const Verifier& v, const Op& op) {
  const Type& from = v.in(op, 0);
  v.want(from.is_tile() && op.axis >= 0 && op.axis < from.shape.rank, "the axis lies outside the tile");
  const bool logic = op.combine == Combine::bit_and || op.combine == Combine::bit_or || op.combine == Combine::bit_xor;
  v.want(!logic || !is_float(from.elem), "integers only");
}

void reduce(const Verifier& v, const Op& op) {
  want_combine(v, op);
  const Type& from = v.in(op, 0);
  Type to = from;
  to.shape = {};
  for (int d = 0; d < from.shape.rank; ++d)
    if (d != op.axis) to.shape.push(from.shape[static_cast<std::size_t>(d)]);
  if (op.combine == Combine::argmin || op.combine == Combine::argmax) to.elem = Elem::i32;
  v.want_type(v.out(op), to, "the result");
}

void scan(const Verifier& v, const Op& op) {
  want_combine(v, op);
  v.want(op.combine != Combine::argmin && op.combine != Combine::argmax, "a scan does not give positions");
  v.want_type(v.out(op), v.in(op, 0), "the result");
}

void dot(const Verifier& v, const Op& op) {
  const Type &a = v.in(op, 0), &b = v.in(op, 1), &acc = v.in(op, 2);
  const std::size_t r = a.shape.rank;
  v.want(b.elem == a.elem, "both factors must have one element type");
  const bool fits = acc.elem == Elem::f32   ? a.elem == Elem::f32 || is_half(a.elem)
                    : acc.elem == Elem::f64 ? is_float(a.elem)
                                            : acc.elem == Elem::i32 && !is_float(a.elem) && elem_row(a.elem).bits <= 32;
  v.want(fits && !acc.pointer && !b.pointer, "floats are summed in f32 or f64, integers in i32");
  v.want((r == 2 || r == 3) && b.shape.rank == r && acc.shape.rank == r,
         "factors and sum must all have rank 2, or all rank 3");
  v.want(r == 2 || (a.shape[0] == b.shape[0] && a.shape[0] == acc.shape[0]), "the batch sizes must be equal");
  v.want(a.shape[r - 1] == b.shape[r - 2], "the factors' inner sizes must be equal");
  v.want(acc.shape[r - 2] == a.shape[r - 2] && acc.shape[r - 1] == b.shape[r - 1],
         "the sum must have the factors' outer sizes");
  v.want_type(v.out(op), acc, "the result");
}

void check(const Verifier&, const Op&) {}

void for_loop(const Verifier& v, const Op& op) {
  const Type& t = v.in(op, 0);
  v.want(!t.is_tile(), "the bounds must be scalars");
  v.want_type(v.in(op, 1), t, "the upper bound");
  v.want_type(v.in(op, 2), t, "the step");
  const auto carried = std::span(op.operands).subspan(3);
  const std::span params = op.blocks[0].params;
  v.want(!params.empty(), "the block has no loop variable");
  v.want_type(v.type(params[0]), t, "the loop variable");
  v.want_types(params.subspan(1), carried, "block parameter");
  v.want_types(op.results, carried, "result");
  v.want_yield(op.blocks[0], carried);
}

void while_loop(const Verifier& v, const Op& op) {
  v.want_types(op.blocks[0].params, op.operands, "block parameter");
  v.want_types(op.blocks[1].params, op.operands, "block parameter");
  v.want_types(op.results, op.operands, "result");
  const Op& test = op.blocks[0].ops.back();
  v.want(test.operands.size() == 1, "the test must yield one i1");
  v.want_type(v.type(test.operands[0]), scalar_type(Elem::i1), "what the test yields");
  v.want_yield(op.blocks[1], op.operands);
}

void branch(const Verifier& v, const Op& op) {
  v.want_type(v.in(op, 0), scalar_type(Elem::i1), "the condition");
  for (const Block& block : op.blocks) {
    v.want(block.params.empty(), "the blocks must have no parameters");
    v.want_yield(block, op.results);
  }
}

// clang-format off
constexpr Rule kRules[] = {
    {Code::constant, 0, 0, 1, kNumbers, constant},
    {Code::program_id, 0, 0, 1, kInt, program_axis},
    {Code::num_programs, 0, 0, 1, kInt, program_axis},
    {Code::arange, 0, 0, 1, kInt, arange},
    {Code::splat, 1, 1, 1, kAll, splat},
    {Code::broadcast, 1, 1, 1, kAll, broadcast},
    {Code::expand_dims, 1, 1, 1, kAll, expand_dims},
    {Code::reshape, 1, 1, 1, kAll, reshape},
    {Code::trans, 1, 1, 1, kAll, trans},
    {Code::cast, 1, 1, 1, kAll, cast},
    {Code::bitcast, 1, 1, 1, kAll, bitcast},
    {Code::neg, 1, 1, 1, kNumbers, same},
    {Code::bit_not, 1, 1, 1, kInts, same},
    {Code::abs, 1, 1, 1, kNumbers, same},
    {Code::sqrt, 1, 1, 1, kFloat, same},
    {Code::rsqrt, 1, 1, 1, kFloat, same},
    {Code::exp, 1, 1, 1, kFloat, same},
    {Code::exp2, 1, 1, 1, kFloat, same},
    {Code::expm1, 1, 1, 1, kFloat, same},
    {Code::log, 1, 1, 1, kFloat, same},
    {Code::log2, 1, 1, 1, kFloat, same},
    {Code::log10, 1, 1, 1, kFloat, same},
    {Code::log1p, 1, 1, 1, kFloat, same},
    {Code::sin, 1, 1, 1, kFloat, same},
    {Code::cos, 1, 1, 1, kFloat, same},
    {Code::tan, 1, 1, 1, kFloat, same},
    {Code::asin, 1, 1, 1, kFloat, same},
    {Code::acos, 1, 1, 1, kFloat, same},
    {Code::atan, 1, 1, 1, kFloat, same},
    {Code::sinh, 1, 1, 1, kFloat, same},
    {Code::cosh, 1, 1, 1, kFloat, same},
    {Code::tanh, 1, 1, 1, kFloat, same},
    {Code::asinh, 1, 1, 1, kFloat, same},
    {Code::acosh, 1, 1, 1, kFloat, same},
    {Code::atanh, 1, 1, 1, kFloat, same},
    {Code::erf, 1, 1, 1, kFloat, same},
    {Code::erfc, 1, 1, 1, kFloat, same},
    {Code::cbrt, 1, 1, 1, kFloat, same},
    {Code::floor, 1, 1, 1, kFloats, same},
    {Code::ceil, 1, 1, 1, kFloats, same},
    {Code::round, 1, 1, 1, kFloats, same},
    {Code::trunc, 1, 1, 1, kFloats, same},
    {Code::add, 2, 2, 1, kNumbers, same},
    {Code::sub, 2, 2, 1, kNumbers, same},
    {Code::mul, 2, 2, 1, kNumbers, same},
    {Code::div, 2, 2, 1, kNumbers, same},
    {Code::rem, 2, 2, 1, kNumbers, same},
    {Code::min, 2, 2, 1, kNumbers, same},
    {Code::max, 2, 2, 1, kNumbers, same},
    {Code::min_nan, 2, 2, 1, kNumbers, same},
    {Code::max_nan, 2, 2, 1, kNumbers, same},
    {Code::pow, 2, 2, 1, kFloat, same},
    {Code::atan2, 2, 2, 1, kFloat, same},
    {Code::mul_high, 2, 2, 1, kInt, mul_high},
    {Code::bit_and, 2, 2, 1, kInts, same},
    {Code::bit_or, 2, 2, 1, kInts, same},
    {Code::bit_xor, 2, 2, 1, kInts, same},
    {Code::shl, 2, 2, 1, kInts, same},
    {Code::shr, 2, 2, 1, kInts, same},
    {Code::lt, 2, 2, 1, kAll, compare},
    {Code::le, 2, 2, 1, kAll, compare},
    {Code::gt, 2, 2, 1, kAll, compare},
    {Code::ge, 2, 2, 1, kAll, compare},
    {Code::eq, 2, 2, 1, kAll, compare},
    {Code::ne, 2, 2, 1, kAll, compare},
    {Code::select, 3, 3, 1, kBool, select},
    {Code::fma, 3, 3, 1, kFloats, same},
    {Code::addptr, 2, 2, 1, kPointer, addptr},
    {Code::load, 1, 3, 1, kPointer, load},
    {Code::store, 2, 3, 0, kPointer, store},
    {Code::atomic, 2, 3, 1, kPointer, atomic},
    {Code::atomic_cas, 3, 3, 1, kPointer, atomic_cas},
    {Code::reduce, 1, 1, 1, kNumbers, reduce},
    {Code::scan, 1, 1, 1, kNumbers, scan},
    {Code::dot, 3, 3, 1, kInt | kFloats, dot},
    {Code::for_, 3, kMany, kMany, kInt, for_loop},
    {Code::while_, 0, kMany, kMany, kAll, while_loop},
    {Code::if_, 1, 1, kMany, kBool, branch},
    {Code::yield, 0, kMany, 0, kAll, check},
    {Code::check, 1, 1, 0, kBool, check},
};
// clang-format on
static_assert([] {
  for (std::size_t i = 0; i < std::size(kOps); ++i)
    if (i >= std::size(kRules) || static_cast<std::size_t>(kRules[i].code) != i) return false;
  return std::size(kRules) == std::size(kOps);
}());

void Verifier::op(const Op& op, int depth) {
  op_ = &op;
  const Rule& rule = kRules[static_cast<std::size_t>(op.code)];
  const int operands = static_cast<int>(op.operands.size());
  if (operands < rule.least || operands > rule.most) fail(fmt::format("it does not take {} operands", operands));
  if (rule.results != kMany && op.results.size() != static_cast<std::size_t>(rule.results))
    fail(fmt::format("it does not give {} results", op.results.size()));
  if (op.blocks.size() != block_count(op.code)) fail(fmt::format("it does not have {} blocks", op.blocks.size()));
  if (op.source.file > 0 && op.source.file >= f_.files.size()) fail("a source in a file that is not listed");
  for (const ValueId v : op.operands) use(v);
  for (const Block& inner : op.blocks) {
    const std::size_t mark = scope_.size();
    for (const ValueId v : inner.params) define(v);
    block(inner, depth + 1, true);
    op_ = &op;
    for (std::size_t i = mark; i < scope_.size(); ++i) visible_[static_cast<std::size_t>(scope_[i])] = false;
    scope_.resize(mark);
  }
  for (const ValueId v : op.results) define(v);
  if (!op.operands.empty() || !op.results.empty()) {
    const Type& first = op.operands.empty() ? out(op) : in(op, 0);
    if ((class_of(first) & rule.classes) == 0) fail(fmt::format("it does not take {}", ir_text(first)));
  }
  rule.check(*this, op);
}

}  // namespace

Result<std::monostate> verify(const Function& function) {
  return guarded([&] {
    Verifier(function).run();
    return std::monostate();
  });
}

}  // namespace passnet::tile
