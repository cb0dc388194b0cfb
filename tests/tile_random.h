// Random functions of tile IR for differential tests: valid, ended, and all accesses inside the buffers.
#pragma once

#include <random>

#include "tile/scalar.h"
#include "tile/stages.h"
#include "tile_memory.h"

namespace passnet::tile {

class RandomFunction {
 public:
  explicit RandomFunction(std::uint64_t seed) : random_(seed) {}

  static constexpr std::int64_t kIn = 2048, kOut = 16384, kMatrix = 16384;  // elements of a buffer

  Function make() {
    f_.name = "random";
    for (const Elem elem : kElemsUsed) {
      parameter("in_" + std::string(elem_row(elem).name), {elem, true, {}});
      parameter("out_" + std::string(elem_row(elem).name), {elem, true, {}});
    }
    parameter("matrix", {Elem::f32, true, {}});
    parameter("n", scalar_type(Elem::i32));
    parameter("m", scalar_type(Elem::i64));
    parameter("s", scalar_type(Elem::f32));
    ops_ = &f_.body.ops;
    for (std::size_t i = kMatrixAt + 1; i < f_.body.params.size(); ++i) pool_.push_back(f_.body.params[i]);
    pool_.push_back(leaf(Code::program_id, scalar_type(Elem::i32)));
    pool_.push_back(leaf(Code::num_programs, scalar_type(Elem::i32)));
    many(pick(10) + 5, 0);
    for (const ValueId v : std::vector<ValueId>(pool_))
      if (!f_.type(v).pointer) store(v);
    return std::move(f_);
  }

  // Arguments for it, the buffers filled from the seed.
  std::vector<Argument> arguments(TestMemory& memory) {
    std::vector<Argument> out;
    for (const Elem elem : kElemsUsed) {
      std::vector<Bits> in(kIn);
      for (Bits& bits : in) bits = interesting(elem);
      out.emplace_back().pointer = memory.add(elem, std::move(in));
      out.emplace_back().pointer = memory.add(elem, std::vector<Bits>(kOut));
    }
    std::vector<Bits> matrix(kMatrix);  // of numbers whose sums are exact in any order
    for (Bits& bits : matrix) bits = bits_of_real(Elem::f32, static_cast<double>(pick(17) - 8));
    out.emplace_back().pointer = memory.add(Elem::f32, std::move(matrix));
    out.emplace_back().integer = pick(7) - 1;
    out.emplace_back().integer = static_cast<std::int64_t>(random_());
    out.emplace_back().real = 0.75;
    return out;
  }

  LaunchFacts facts(std::span<const Argument> arguments, const ProgramId& grid) const {
    LaunchFacts out;
    out.grid = grid;
    out.parameters.resize(arguments.size());
    out.parameters[arguments.size() - 3].integer = arguments[arguments.size() - 3].integer;
    out.parameters[arguments.size() - 2].integer = arguments[arguments.size() - 2].integer;
    return out;
  }

 private:
  static constexpr Elem kElemsUsed[] = {Elem::i1,  Elem::i8,  Elem::i16, Elem::i32,  Elem::i64, Elem::u8,
                                        Elem::u32, Elem::u64, Elem::f16, Elem::bf16, Elem::f32, Elem::f64};
  static constexpr std::size_t kMatrixAt = std::size(kElemsUsed) * 2;  // of the parameters, then n, m and s

  std::int64_t pick(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  template <class T, std::size_t N>
  T pick(const T (&items)[N]) {
    return items[pick(static_cast<std::int64_t>(N))];
  }
  bool chance(int percent) { return pick(100) < percent; }

  void parameter(std::string name, const Type& type) {
    f_.body.params.push_back(f_.add_value(type, name));
    f_.parameters.push_back(std::move(name));
  }
  ValueId pointer(Elem elem, bool out) const {
    for (std::size_t i = 0; i < std::size(kElemsUsed); ++i)
      if (kElemsUsed[i] == elem) return f_.body.params[2 * i + (out ? 1 : 0)];
    return kNoValue;
  }

  Bits interesting(Elem elem) {
    if (chance(40))
      return is_float(elem) ? bits_of_real(elem, static_cast<double>(pick(9) - 4)) : bits_of_integer(elem, pick(9) - 4);
    if (is_float(elem) && chance(70)) return bits_of_real(elem, static_cast<double>(pick(2001) - 1000) / 64);
    return bits_of_integer(elem, static_cast<std::int64_t>(random_())) & (elem == Elem::i1 ? 1 : ~Bits{0}) &
           (elem_row(elem).bits == 64 ? ~Bits{0} : (Bits{1} << elem_row(elem).bits) - 1);
  }

  ValueId emit(Op op, const Type& type) {
    const ValueId v = f_.add_value(type);
    op.results = {v};
    ops_->push_back(std::move(op));
    return v;
  }
  ValueId emit(Code code, std::vector<ValueId> operands, const Type& type) {
    Op op;
    op.code = code;
    op.operands = std::move(operands);
    return emit(std::move(op), type);
  }
  ValueId leaf(Code code, const Type& type) {
    Op op;
    op.code = code;
    op.axis = static_cast<std::int8_t>(pick(2));
    return emit(std::move(op), type);
  }
  ValueId constant(const Type& type, Bits bits) {
    Op op;
    if (is_float(type.elem))
      op.real = real_of(type.elem, bits);
    else
      op.integer = integer_of(type.elem, bits);
    return emit(std::move(op), type);
  }
  ValueId number(const Type& type, std::int64_t value) { return constant(type, bits_of_integer(type.elem, value)); }

  Shape some_shape() {
    static const Shape kShapes[] = {{},        {},  {4},  {8},   {1, 4},  {4, 1},  {4, 4},
                                    {2, 1, 4}, {1}, {64}, {128}, {4, 32}, {32, 2}, {2, 2, 16}};
    return kShapes[pick(static_cast<std::int64_t>(std::size(kShapes)))];
  }

  // A value of the type: one that is there, mostly, or a new one.
  ValueId value(const Type& type) {
    std::vector<ValueId> fitting;
    for (const ValueId v : pool_)
      if (f_.type(v) == type) fitting.push_back(v);
    if (!fitting.empty() && chance(75))
      return fitting[static_cast<std::size_t>(pick(static_cast<std::int64_t>(fitting.size())))];
    if (type.is_tile() && chance(30)) return emit(Code::splat, {value({type.elem, false, {}})}, type);
    if (type.is_tile() && chance(30)) return repeated(type);
    if (chance(50)) return load(type);
    return constant(type, interesting(type.elem));
  }

  ValueId repeated(const Type& type) {
    Type small = type;
    for (std::size_t d = 0; d < small.shape.rank; ++d)
      if (chance(50)) small.shape[d] = 1;
    return emit(Code::broadcast, {small.shape == type.shape ? load(type) : value(small)}, type);
  }

  // Positions 0, 1, ... in a shape.
  ValueId positions(const Shape& shape) {
    const Type type{Elem::i32, false, shape};
    if (shape.rank == 0) return number(type, 0);
    const ValueId flat = emit(Code::arange, {}, {Elem::i32, false, {static_cast<std::int32_t>(shape.elements())}});
    return shape.rank == 1 ? flat : emit(Code::reshape, {flat}, type);
  }

  ValueId at(ValueId base, ValueId offset) {
    const Type type{f_.type(base).elem, true, f_.type(offset).shape};
    if (type.is_tile() && !f_.type(base).is_tile()) base = emit(Code::splat, {base}, type);
    return emit(Code::addptr, {base, offset}, type);
  }

  ValueId load(const Type& type) {
    const Type index{Elem::i32, false, type.shape};
    ValueId offset = positions(type.shape);
    if (chance(30)) offset = emit(Code::bit_and, {value(index), number(index, 63)}, index);
    ValueId p = at(pointer(type.elem, false), offset);
    if (chance(30)) p = at(p, number(index, pick(8)));
    if (chance(30)) p = at(p, number({Elem::i64, false, type.shape}, pick(8)));
    std::vector<ValueId> operands = {p};
    if (chance(40)) operands.push_back(value(with_elem(type, Elem::i1)));
    if (operands.size() > 1 && chance(50)) operands.push_back(value(type));
    return emit(Code::load, std::move(operands), type);
  }

  void store(ValueId v) {
    const Type type = f_.type(v);
    const ValueId base = at(pointer(type.elem, true), number(scalar_type(Elem::i32), slot_));
    slot_ = (slot_ + type.shape.elements()) % (kOut - 4096);
    Op op;
    op.code = Code::store;
    op.operands = {at(base, positions(type.shape)), v};
    if (chance(20)) op.operands.push_back(value(with_elem(type, Elem::i1)));
    ops_->push_back(std::move(op));
  }

  // Elements are read, changed and written back, or a little further on; what was read may be used again later.
  void in_place(const Type& type) {
    ValueId p = at(pointer(type.elem, false), positions(type.shape));
    if (chance(20)) {  // several to one place: each must store what the others do
      const Type index{Elem::i32, false, type.shape};
      p = at(pointer(type.elem, false), emit(Code::rem, {positions(type.shape), number(index, 3)}, index));
      Op op;
      op.code = Code::store;
      op.operands = {p, emit(Code::max, {emit(Code::load, {p}, type), number(type, 0)}, type)};
      ops_->push_back(std::move(op));
      return;
    }
    const ValueId x = emit(Code::load, {p}, type);
    ValueId y = emit(chance(50) ? Code::add : Code::max, {x, value(type)}, type);
    if (type.shape.rank == 2 && type.shape[0] == type.shape[1] && chance(50)) {
      Op turn;
      turn.code = Code::trans;
      turn.order = {1, 0};
      turn.operands = {y};
      y = emit(std::move(turn), type);
    }
    if (chance(30)) p = at(p, number({Elem::i32, false, type.shape}, pick(4)));
    Op op;
    op.code = Code::store;
    op.operands = {p, y};
    if (chance(20)) op.operands.push_back(value(with_elem(type, Elem::i1)));
    ops_->push_back(std::move(op));
    pool_.push_back(chance(50) ? x : y);
  }

  void many(std::int64_t count, int depth) {
    while (count-- > 0) one(depth);
  }

  void one(int depth) {
    const Type type{pick(kElemsUsed), false, some_shape()};
    const bool floating = is_float(type.elem), real = type.elem == Elem::f32 || type.elem == Elem::f64;
    switch (pick(depth < 2 ? 21 : 14)) {
      case 0:
      case 1:
      case 2:
      case 3: {
        static constexpr Code kBoth[] = {Code::add, Code::sub, Code::mul, Code::div,     Code::rem,
                                         Code::min, Code::max, Code::add, Code::min_nan, Code::max_nan};
        static constexpr Code kIntegers[] = {Code::bit_and, Code::bit_or, Code::bit_xor, Code::shl, Code::shr};
        const Code code = !floating && chance(40) ? pick(kIntegers) : pick(kBoth);
        const ValueId a = value(type);
        pool_.push_back(emit(code, {a, chance(15) ? a : value(type)}, type));
        break;
      }
      case 4: {
        static constexpr Code kBoth[] = {Code::neg, Code::abs};
        static constexpr Code kReal[] = {Code::exp, Code::sqrt, Code::floor, Code::round, Code::tanh};
        const Code code = !floating && chance(50) ? Code::bit_not : real && chance(50) ? pick(kReal) : pick(kBoth);
        pool_.push_back(emit(code, {value(type)}, type));
        break;
      }
      case 5:
      case 6: {
        static constexpr Code kCodes[] = {Code::lt, Code::le, Code::gt, Code::ge, Code::eq, Code::ne};
        const ValueId a = value(type);
        pool_.push_back(emit(pick(kCodes), {a, chance(15) ? a : value(type)}, with_elem(type, Elem::i1)));
        break;
      }
      case 7:
        pool_.push_back(emit(Code::select, {value(with_elem(type, Elem::i1)), value(type), value(type)}, type));
        break;
      case 8: pool_.push_back(emit(Code::cast, {value(type)}, with_elem(type, pick(kElemsUsed)))); break;
      case 9: pool_.push_back(load(type)); break;
      case 10: shape_op(type); break;
      case 11: reduction(type); break;
      case 12:
        if (type.is_tile()) pool_.push_back(repeated(type));
        break;
      case 13: chance(50) ? store(value(type)) : in_place(type); break;
      case 14: chance(70) ? branch(depth) : repeat(depth); break;
      case 15:
      case 16: pointers(depth); break;
      case 17: product(); break;
      default: loop(depth); break;
    }
  }

  void shape_op(const Type& type) {
    if (!type.is_tile()) return;
    const ValueId v = value(type);
    Op op;
    op.operands = {v};
    Type to = type;
    if (chance(40)) {
      op.code = Code::trans;
      for (std::size_t d = 0; d < type.shape.rank; ++d) {
        op.order[d] = static_cast<std::int8_t>(type.shape.rank - 1 - d);
        to.shape[d] = type.shape[type.shape.rank - 1 - d];
      }
    } else if (chance(50)) {
      op.code = Code::expand_dims;
      op.axis = static_cast<std::int8_t>(pick(type.shape.rank + 1));
      to.shape = {};
      for (int d = 0; d <= type.shape.rank; ++d) {
        if (d == op.axis) to.shape.push(1);
        if (d < type.shape.rank) to.shape.push(type.shape[static_cast<std::size_t>(d)]);
      }
    } else {
      op.code = Code::reshape;
      to.shape = Shape{static_cast<std::int32_t>(type.shape.elements())};
    }
    pool_.push_back(emit(std::move(op), to));
  }

  void reduction(const Type& type) {
    if (!type.is_tile()) return;
    Op op;
    op.code = chance(70) ? Code::reduce : Code::scan;
    op.operands = {value(type)};
    op.axis = static_cast<std::int8_t>(pick(type.shape.rank));
    const auto combines = is_float(type.elem) ? 6 : 9;
    op.combine = static_cast<Combine>(pick(combines));
    op.reverse = op.code == Code::scan && chance(50);
    if (op.code == Code::reduce && chance(20)) op.combine = chance(50) ? Combine::argmin : Combine::argmax;
    Type to = type;
    if (op.code == Code::reduce) {
      to.shape = {};
      for (int d = 0; d < type.shape.rank; ++d)
        if (d != op.axis) to.shape.push(type.shape[static_cast<std::size_t>(d)]);
      if (op.combine >= Combine::argmin) to.elem = Elem::i32;
    }
    pool_.push_back(emit(std::move(op), to));
  }

  // The ops that `fill` makes, as a block that yields what it gives.
  template <class F>
  void block(Block& out, F&& fill) {
    std::vector<Op> ops;
    std::vector<Op>* const outer = std::exchange(ops_, &ops);
    const std::size_t mark = pool_.size();
    for (const ValueId v : out.params) pool_.push_back(v);
    Op yield;
    yield.code = Code::yield;
    yield.operands = fill();
    pool_.resize(mark);
    ops.push_back(std::move(yield));
    ops_ = outer;
    out.ops = std::move(ops);
  }

  void branch(int depth) {
    Op op;
    op.code = Code::if_;
    op.operands = {value(scalar_type(Elem::i1))};
    std::vector<Type> types;
    for (std::int64_t i = pick(3); i > 0; --i) types.push_back({pick(kElemsUsed), false, some_shape()});
    for (int b = 0; b < 2; ++b)
      block(op.blocks.emplace_back(), [&] {
        many(pick(3), depth + 1);
        std::vector<ValueId> out;
        for (const Type& t : types) out.push_back(value(t));
        return out;
      });
    for (const Type& t : types) op.results.push_back(f_.add_value(t));
    for (const ValueId v : op.results) pool_.push_back(v);
    ops_->push_back(std::move(op));
  }

  // while (count < limit): count += 1; or downwards, by other steps, from where the type ends
  void repeat(int depth) {
    static constexpr Elem kCounters[] = {Elem::i32, Elem::i32, Elem::i64, Elem::i8};
    const Type counter = scalar_type(pick(kCounters)), other{pick(kElemsUsed), false, some_shape()};
    const bool up = chance(70);
    const std::int64_t begin = chance(80) ? 0 : up ? 121 : -122, turns = pick(4), by = (up ? 1 : -1) * (1 + pick(2));
    Op op;
    op.code = Code::while_;
    op.operands = {number(counter, begin), value(other)};
    for (int b = 0; b < 2; ++b) {
      Block& inner = op.blocks.emplace_back();
      inner.params = {f_.add_value(counter), f_.add_value(other)};
      const std::vector<ValueId> params = inner.params;
      block(inner, [&]() -> std::vector<ValueId> {
        many(pick(3), depth + 1);
        const ValueId end = b == 0 ? number(counter, begin + turns * by) : kNoValue;
        if (b == 0 && chance(20)) return {emit(up ? Code::gt : Code::lt, {end, params[0]}, scalar_type(Elem::i1))};
        if (b == 0) return {emit(up ? Code::lt : Code::gt, {params[0], end}, scalar_type(Elem::i1))};
        return {emit(Code::add, {params[0], number(counter, by)}, counter), chance(20) ? params[1] : value(other)};
      });
    }
    op.results = {f_.add_value(counter), f_.add_value(other)};
    for (const ValueId v : op.results) pool_.push_back(v);
    ops_->push_back(std::move(op));
  }

  ValueId small(const Type& type) {
    return chance(80) ? number(type, pick(6) - 1) : emit(Code::min, {value(type), number(type, 5)}, type);
  }

  void bounds(Op& op, const Type& type) {
    static constexpr std::int64_t kSteps[] = {1, 1, 2, 3, 4, -1, 0};
    const std::int64_t step = pick(kSteps);
    ValueId lo = number(type, pick(3)), hi = small(type);
    if (chance(20) && type.elem == Elem::i32) hi = f_.body.params[kMatrixAt + 1];
    if (step < 0) std::swap(lo, hi);
    op.operands = {lo, hi, number(type, step)};
  }

  void loop(int depth) {
    const Type type = scalar_type(chance(80) ? Elem::i32 : Elem::i64);
    Op op;
    op.code = Code::for_;
    bounds(op, type);
    Block& body = op.blocks.emplace_back();
    body.params.push_back(f_.add_value(type, "i"));
    std::vector<Type> types;
    for (std::int64_t i = pick(4); i > 0; --i) {
      types.push_back({pick(kElemsUsed), false, some_shape()});
      op.operands.push_back(value(types.back()));
      body.params.push_back(f_.add_value(types.back()));
    }
    const std::vector<ValueId> outer = pool_;
    block(body, [&] {
      many(pick(5), depth + 1);
      std::vector<ValueId> out;
      for (std::size_t k = 0; k < types.size(); ++k) {
        const Type& t = types[k];
        if (!is_float(t.elem) && chance(60)) {
          ValueId u = chance(50) ? number(t, pick(4) * 2) : value(t);
          if (t.is_tile() && chance(50)) u = emit(Code::splat, {value({t.elem, false, {}})}, t);
          out.push_back(emit(chance(80) ? Code::add : Code::sub, {body.params[k + 1], u}, t));
        } else {
          out.push_back(chance(15) ? body.params[k + 1] : value(t));
        }
      }
      return out;
    });
    for (const Type& t : types) op.results.push_back(f_.add_value(t));
    for (const ValueId v : op.results) pool_.push_back(v);
    ops_->push_back(std::move(op));
  }

  // A loop that carries a pointer and loads through it.
  void pointers(int depth) {
    const Elem elem = pick(kElemsUsed);
    const Type type{elem, true, some_shape()}, variable = scalar_type(Elem::i32);
    const Type offset{chance(70) ? Elem::i32 : Elem::i64, false, type.shape};
    Op op;
    op.code = Code::for_;
    bounds(op, variable);
    op.operands[0] = number(variable, pick(3));
    op.operands[1] = number(variable, pick(9));
    op.operands[2] = number(variable, pick(3) + 1);
    op.operands.push_back(at(pointer(elem, false), positions(type.shape)));
    op.operands.push_back(value(with_elem(type, elem)));
    Block& body = op.blocks.emplace_back();
    const Type sum = with_elem(type, elem);
    body.params = {f_.add_value(variable, "i"), f_.add_value(type, "p"), f_.add_value(sum)};
    const ValueId p = body.params[1], acc = body.params[2], i = body.params[0];
    block(body, [&]() -> std::vector<ValueId> {
      std::erase(pool_, p);
      const ValueId x = emit(Code::load, {p}, sum);
      const ValueId next = emit(Code::add, {acc, x}, sum);
      if (chance(50)) many(pick(2), depth + 1);
      ValueId u = number(offset, pick(4) * 2);
      if (chance(30) && type.is_tile() && offset.elem == Elem::i32)
        u = emit(Code::splat, {emit(Code::bit_and, {i, number(variable, 3)}, variable)}, offset);
      if (chance(30) && offset.elem == Elem::i32) u = positions(type.shape);
      return {emit(Code::addptr, {p, u}, type), next};
    });
    op.results = {f_.add_value(type), f_.add_value(sum)};
    const auto results = op.results;
    ops_->push_back(std::move(op));
    pool_.push_back(results[1]);
    if (chance(30)) pool_.push_back(emit(Code::load, {results[0]}, sum));
  }

  // A loop that adds up a product of matrices piece by piece, or nearly does.
  void product() {
    static constexpr std::int32_t kSizes[] = {4, 16, 32}, kDepths[] = {2, 4, 16};
    const std::int32_t sizes[2] = {pick(kSizes), pick(kSizes)}, depth = pick(kDepths);
    const Type variable = scalar_type(Elem::i32), sum{Elem::f32, false, {sizes[0], sizes[1]}};
    const bool counts = chance(50);  // pieces, or else terms
    const std::int32_t piece = chance(90) ? depth : depth + 1;
    const std::int64_t lo = pick(3), trips = pick(5), stride = chance(50) ? 128 : 5 * 17 + pick(40);
    const ValueId known = number(variable, (lo + trips) * (counts ? 1 : piece));
    Op op;
    op.code = Code::for_;
    op.operands = {number(variable, counts ? lo : lo * piece),
                   counts && chance(20) ? f_.body.params[kMatrixAt + 1] : known, number(variable, counts ? 1 : piece),
                   constant(sum, bits_of_real(Elem::f32, static_cast<double>(pick(3))))};
    const std::int64_t limit = pick(6 * depth);
    const bool bounded = chance(40);  // the terms, in both
    Block& body = op.blocks.emplace_back();
    body.params = {f_.add_value(variable, "i"), f_.add_value(sum)};
    const ValueId i = body.params[0], acc = body.params[1];
    block(body, [&]() -> std::vector<ValueId> {
      ValueId first = counts ? emit(Code::mul, {i, number(variable, piece)}, variable) : i, factors[2];
      for (const std::size_t which : {0, 1}) {
        Shape shape{depth, depth};
        shape[which] = sizes[which];
        const Type index{Elem::i32, false, shape};
        const auto along = [&](std::size_t d, ValueId from) {  // positions in a dimension, on from there
          const Type line{Elem::i32, false, {shape[d]}};
          ValueId v = emit(Code::arange, {}, line);
          v = emit(Code::add, {emit(Code::splat, {from}, line), v}, line);
          Op expand;
          expand.code = Code::expand_dims;
          expand.axis = static_cast<std::int8_t>(1 - d);
          expand.operands = {v};
          Type wide = line;
          wide.shape = {1, 1};
          wide.shape[d] = shape[d];
          return emit(Code::broadcast, {emit(std::move(expand), wide)}, index);
        };
        const std::size_t inner = 1 - which;
        const ValueId outer_at = along(which, number(variable, pick(3))), inner_at = along(inner, first);
        const bool down = chance(50);  // terms are `stride` apart
        const auto times = [&](ValueId v, std::int64_t n) { return emit(Code::mul, {v, number(index, n)}, index); };
        const ValueId offset =
            emit(Code::add, {times(outer_at, down ? 1 : stride), times(inner_at, down ? stride : 1)}, index);
        ValueId p = f_.body.params[kMatrixAt];
        if (chance(30)) p = at(p, number(variable, pick(64)));
        std::vector<ValueId> operands = {at(p, emit(Code::bit_and, {offset, number(index, kMatrix / 2 - 1)}, index))};
        if (chance(80)) operands[0] = at(p, offset);
        const Type truth = with_elem(index, Elem::i1);
        if (bounded) operands.push_back(emit(Code::lt, {inner_at, number(index, limit)}, truth));
        if (chance(30)) {
          const ValueId inside = emit(Code::lt, {outer_at, number(index, pick(sizes[which] + 2))}, truth);
          if (operands.size() == 1)
            operands.push_back(inside);
          else
            operands[1] = emit(Code::bit_and, {operands[1], inside}, truth);
        }
        if (operands.size() > 1) operands.push_back(number(with_elem(index, Elem::f32), 0));
        factors[which] = emit(Code::load, std::move(operands), with_elem(index, Elem::f32));
      }
      Op dot;
      dot.code = Code::dot;
      dot.operands = {factors[0], factors[1], acc};
      dot.precision = Precision::ieee;
      return {emit(std::move(dot), sum)};
    });
    op.results = {f_.add_value(sum)};
    pool_.push_back(op.results[0]);
    ops_->push_back(std::move(op));
  }

  std::mt19937_64 random_;
  Function f_;
  std::vector<Op>* ops_ = nullptr;
  std::vector<ValueId> pool_;
  std::int64_t slot_ = 0;
};

}  // namespace passnet::tile
