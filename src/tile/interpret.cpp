#include "tile/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tile/effects.h"
#include "tile/simplify.h"
#include "tile/stages.h"

namespace passnet::tile {

namespace {

Where where_of(const Function& f, const Op& op) {
  return {op.source.file < f.files.size() ? f.files[op.source.file] : std::string(),
          op.source.place.line,
          op.source.place.column,
          {}};
}

// Row-major positions of a shape, moved along dimension by dimension with the steps of another layout.
class Walk {
 public:
  explicit Walk(const Shape& shape) : shape_(shape) {}

  // f(position here, position there) for every element; `steps` is how far one step in each dimension goes there.
  template <class F>
  void each(const std::array<std::int64_t, kRankLimit>& steps, F&& f) const {
    const std::int64_t n = shape_.elements();
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t rest = i, there = 0;
      for (std::size_t d = shape_.rank; d-- > 0;) {
        there += rest % shape_[d] * steps[d];
        rest /= shape_[d];
      }
      f(static_cast<std::size_t>(i), static_cast<std::size_t>(there));
    }
  }

 private:
  Shape shape_;
};

std::array<std::int64_t, kRankLimit> strides_of(const Shape& shape) {
  std::array<std::int64_t, kRankLimit> out{};
  std::int64_t step = 1;
  for (std::size_t d = shape.rank; d-- > 0; step *= shape[d]) out[d] = step;
  return out;
}

class Interpreter {
 public:
  Interpreter(const Function& f, std::span<const Argument> arguments, const ProgramId& grid, Memory& memory,
              const InterpretLimits& limits)
      : f_(f), arguments_(arguments), grid_(grid), memory_(memory), limits_(limits), values_(f.types.size()) {}

  void run() {
    if (arguments_.size() != f_.body.params.size())
      fail(passnet::Code::kernel,
           fmt::format("kernel {}: {} arguments for {} parameters", f_.name, arguments_.size(), f_.body.params.size()));
    std::int64_t elements = 0;
    for (const Type& type : f_.types) elements += type.shape.elements();
    if (elements > limits_.elements)
      fail(passnet::Code::limit, fmt::format("kernel {}: its values have {} elements; the interpreter takes {}",
                                             f_.name, elements, limits_.elements));
    for (const std::int64_t size : grid_)
      if (size < 0 || size > INT32_MAX) fail(passnet::Code::kernel, fmt::format("a grid of size {}", size));
    for (std::size_t i = 0; i < arguments_.size(); ++i) set(f_.body.params[i], {argument(i)});
    for (id_[2] = 0; id_[2] < grid_[2]; ++id_[2])
      for (id_[1] = 0; id_[1] < grid_[1]; ++id_[1])
        for (id_[0] = 0; id_[0] < grid_[0]; ++id_[0]) {
          ops_ = 0;
          block(f_.body);
        }
  }

 private:
  using Lanes = std::vector<Bits>;

  Bits argument(std::size_t i) const {
    const Type& t = f_.type(f_.body.params[i]);
    if (t.pointer) return reinterpret_cast<std::uintptr_t>(arguments_[i].pointer);
    return is_float(t.elem) ? bits_of_real(t.elem, arguments_[i].real) : bits_of_integer(t.elem, arguments_[i].integer);
  }

  void set(ValueId v, Lanes lanes) {
    Lanes& to = values_[static_cast<std::size_t>(v)];
    to = std::move(lanes);
    memory_.made(v, to);
  }
  const Lanes& get(ValueId v) const { return values_[static_cast<std::size_t>(v)]; }
  const Lanes& in(const Op& op, std::size_t i) const { return get(op.operands[i]); }
  const Type& in_type(const Op& op, std::size_t i) const { return f_.type(op.operands[i]); }

  // What the block yields.
  std::vector<Lanes> block(const Block& block) {
    for (const Op& op : block.ops) {
      if (++ops_ > limits_.program_ops)
        passnet::fail({passnet::Code::kernel,
                       where_of(f_, loops_.empty() ? op : *loops_.back()),
                       fmt::format("program ({}, {}, {}) runs more than {} operations; an endless loop?", id_[0],
                                   id_[1], id_[2], limits_.program_ops),
                       {"what only takes long the compiled kernel may do: tile run --on cpu"}});
      if (op.code == Code::yield) {
        std::vector<Lanes> out;
        for (const ValueId v : op.operands) out.push_back(get(v));
        return out;
      }
      this->op(op);
    }
    return {};
  }

  void op(const Op& op) {
    switch (op_row(op.code).kind) {
      case OpClass::leaf: return set(op.result(), leaf(op));
      case OpClass::shape: return set(op.result(), shape(op));
      case OpClass::unary:
      case OpClass::binary:
      case OpClass::compare: return set(op.result(), elementwise(op));
      case OpClass::other: return set(op.result(), op.code == Code::dot ? dot(op) : elementwise(op));
      case OpClass::memory: return memory(op);
      case OpClass::reduction: return set(op.result(), op.code == Code::reduce ? reduce(op) : scan(op));
      case OpClass::control: return control(op);
    }
  }

  Lanes leaf(const Op& op) const {
    const Type& t = f_.type(op.result());
    const auto n = static_cast<std::size_t>(t.shape.elements());
    const auto axis = static_cast<std::size_t>(op.axis);
    switch (op.code) {
      case Code::program_id: return {static_cast<Bits>(id_[axis])};
      case Code::num_programs: return {static_cast<Bits>(grid_[axis])};
      case Code::arange: {
        Lanes out(n);
        for (std::size_t i = 0; i < n; ++i)
          out[i] = bits_of_integer(Elem::i32, op.integer + static_cast<std::int64_t>(i));
        return out;
      }
      default: return Lanes(n, constant_bits(t.elem, op));
    }
  }

  Lanes shape(const Op& op) const {
    const Shape &to = f_.type(op.result()).shape, &from = in_type(op, 0).shape;
    const Lanes& x = in(op, 0);
    if (op.code == Code::splat) return Lanes(static_cast<std::size_t>(to.elements()), x[0]);
    if (op.code == Code::expand_dims || op.code == Code::reshape) return x;
    std::array<std::int64_t, kRankLimit> steps{};
    const auto strides = strides_of(from);
    for (std::size_t d = 0; d < to.rank; ++d) {
      if (op.code == Code::trans)
        steps[d] = strides[static_cast<std::size_t>(op.order[d])];
      else
        steps[d] = from[d] == 1 ? 0 : strides[d];  // broadcast
    }
    Lanes out(static_cast<std::size_t>(to.elements()));
    Walk(to).each(steps, [&](std::size_t i, std::size_t there) { out[i] = x[there]; });
    return out;
  }

  Bits element(const Op& op, std::size_t i) const {
    const Type &t = in_type(op, 0), &to = f_.type(op.result());
    const Bits a = in(op, 0)[i];
    const Elem elem = t.pointer ? Elem::u64 : t.elem;
    switch (op.code) {
      case Code::cast: return t.pointer || to.pointer ? a : scalar_cast(t.elem, to.elem, a);
      case Code::bitcast: return a;
      case Code::select: return a != 0 ? in(op, 1)[i] : in(op, 2)[i];
      case Code::fma: return scalar_fma(elem, a, in(op, 1)[i], in(op, 2)[i]);
      case Code::addptr:
        return a +
               static_cast<Bits>(integer_of(in_type(op, 1).elem, in(op, 1)[i])) * static_cast<Bits>(elem_bytes(t.elem));
      default: break;
    }
    switch (op_row(op.code).kind) {
      case OpClass::unary: return scalar_unary(op.code, elem, a);
      case OpClass::binary: return scalar_binary(op.code, elem, a, in(op, 1)[i]);
      default: return Bits{scalar_compare(op.code, elem, a, in(op, 1)[i])};
    }
  }

  Lanes elementwise(const Op& op) const {
    Lanes out(static_cast<std::size_t>(f_.type(op.result()).shape.elements()));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = element(op, i);
    return out;
  }

  // Memory

  static Bits atomic_result(Atomic kind, Elem elem, Bits old, Bits value) {
    switch (kind) {
      case Atomic::add: return scalar_binary(Code::add, elem, old, value);
      case Atomic::min: return scalar_binary(Code::min, elem, old, value);
      case Atomic::max: return scalar_binary(Code::max, elem, old, value);
      case Atomic::bit_and: return old & value;
      case Atomic::bit_or: return old | value;
      case Atomic::bit_xor: return old ^ value;
      case Atomic::exchange: return value;
    }
    return value;
  }

  void memory(const Op& op) {
    const Lanes& pointers = in(op, 0);
    Access at;
    at.op = &op;
    at.elem = in_type(op, 0).elem;
    at.program = id_;
    at.kind = op.code == Code::load    ? Access::Kind::load
              : op.code == Code::store ? Access::Kind::store
                                       : Access::Kind::atomic;
    const std::size_t mask_at = op.code == Code::load ? 1 : op.code == Code::atomic_cas ? 3 : 2;
    const Lanes* mask = op.operands.size() > mask_at ? &in(op, mask_at) : nullptr;
    Lanes out(op.results.empty() ? 0 : pointers.size());
    for (std::size_t i = 0; i < pointers.size(); ++i) {
      at.element = static_cast<std::int64_t>(i);
      if (op.code == Code::check) {
        at.kind = Access::Kind::check;
        if (pointers[i] == 0) return memory_.failed(f_, at);
        continue;
      }
      at.address = pointers[i];
      if (mask != nullptr && (*mask)[i] == 0) {
        if (op.code == Code::load && op.operands.size() > 2) out[i] = in(op, 2)[i];
        continue;
      }
      if (op.code == Code::store) {
        memory_.store(at, in(op, 1)[i]);
        continue;
      }
      out[i] = memory_.load(at);
      if (op.code == Code::atomic) memory_.store(at, atomic_result(op.atomic, at.elem, out[i], in(op, 1)[i]));
      if (op.code == Code::atomic_cas && out[i] == in(op, 1)[i]) memory_.store(at, in(op, 2)[i]);
    }
    if (!op.results.empty()) set(op.result(), std::move(out));
  }

  // Reductions

  // f(first position, step, count) for every line of the operand along the op's axis
  template <class F>
  void lines(const Op& op, F&& f) const {
    const Shape& from = in_type(op, 0).shape;
    const auto axis = static_cast<std::size_t>(op.axis);
    const auto strides = strides_of(from);
    std::array<std::int64_t, kRankLimit> steps{};
    Shape rest;
    for (std::size_t d = 0; d < from.rank; ++d)
      if (d != axis) {
        steps[rest.rank] = strides[d];
        rest.push(from[d]);
      }
    Walk(rest).each(steps, [&](std::size_t line, std::size_t first) {
      f(line, first, static_cast<std::size_t>(strides[axis]), static_cast<std::size_t>(from[axis]));
    });
  }

  Lanes reduce(const Op& op) const {
    const Elem elem = in_type(op, 0).elem;
    const Code code = combine_code(op.combine);
    const bool position = op.combine == Combine::argmin || op.combine == Combine::argmax;
    const Lanes& x = in(op, 0);
    Lanes out(static_cast<std::size_t>(f_.type(op.result()).shape.elements()));
    lines(op, [&](std::size_t line, std::size_t first, std::size_t step, std::size_t count) {
      if (!position) {
        out[line] = combined(code, elem, x, first, step, count);
        return;
      }
      Bits best = x[first], where = 0;
      for (std::size_t j = 1; j < count; ++j) {
        const Bits next = x[first + j * step];
        if (scalar_compare(code, elem, next, best) ||
            (scalar_compare(Code::ne, elem, best, best) && scalar_compare(Code::eq, elem, next, next))) {
          best = next;
          where = j;
        }
      }
      out[line] = where;
    });
    return out;
  }

  // Half by half: long sums of halves do not stop growing.
  static Bits combined(Code code, Elem elem, const Lanes& x, std::size_t first, std::size_t step, std::size_t count) {
    if (count == 1) return x[first];
    const std::size_t half = count / 2;
    return scalar_binary(code, elem, combined(code, elem, x, first, step, half),
                         combined(code, elem, x, first + half * step, step, count - half));
  }

  Lanes scan(const Op& op) const {
    const Elem elem = in_type(op, 0).elem;
    const Code code = combine_code(op.combine);
    Lanes out = in(op, 0);
    lines(op, [&](std::size_t, std::size_t first, std::size_t step, std::size_t count) {
      const auto at = [&](std::size_t j) { return first + (op.reverse ? count - 1 - j : j) * step; };
      for (std::size_t j = 1; j < count; ++j) out[at(j)] = scalar_binary(code, elem, out[at(j - 1)], out[at(j)]);
    });
    return out;
  }

  Lanes dot(const Op& op) const {
    const Shape &a = in_type(op, 0).shape, &b = in_type(op, 1).shape;
    const std::size_t r = a.rank;
    const auto batch = static_cast<std::size_t>(r == 3 ? a[0] : 1), m = static_cast<std::size_t>(a[r - 2]),
               k = static_cast<std::size_t>(a[r - 1]), n = static_cast<std::size_t>(b[r - 1]);
    const Elem from = in_type(op, 0).elem, to = f_.type(op.result()).elem;
    Lanes out = in(op, 2);
    for (std::size_t z = 0; z < batch; ++z)
      for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j) {
          Bits sum = 0;  // +0
          for (std::size_t l = 0; l < k; ++l) {
            const Bits x = scalar_cast(from, to, in(op, 0)[(z * m + i) * k + l]);
            const Bits y = scalar_cast(from, to, in(op, 1)[(z * k + l) * n + j]);
            sum = scalar_binary(Code::add, to, sum, scalar_binary(Code::mul, to, x, y));
          }
          Bits& acc = out[(z * m + i) * n + j];
          acc = scalar_binary(Code::add, to, acc, sum);
        }
    return out;
  }

  // Control

  void control(const Op& op) {
    if (op.code == Code::if_) return results(op, block(op.blocks[in(op, 0)[0] != 0 ? 0 : 1]));
    loops_.push_back(&op);
    std::vector<Lanes> carried;
    for (std::size_t i = op.code == Code::for_ ? 3 : 0; i < op.operands.size(); ++i) carried.push_back(in(op, i));
    if (op.code == Code::for_) {
      const Elem elem = in_type(op, 0).elem;
      const Bits lo = in(op, 0)[0], step = in(op, 2)[0];
      const auto trips = trip_count(elem, lo, in(op, 1)[0], step);
      const Block& body = op.blocks[0];
      for (std::int64_t t = 0; t < trips.value_or(INT64_MAX); ++t) {
        set(body.params[0],
            {scalar_binary(Code::add, elem, lo, scalar_binary(Code::mul, elem, bits_of_integer(elem, t), step))});
        for (std::size_t i = 0; i < carried.size(); ++i) set(body.params[i + 1], std::move(carried[i]));
        carried = block(body);
      }
    } else {
      const Block &test = op.blocks[0], &body = op.blocks[1];
      while (true) {
        for (std::size_t i = 0; i < carried.size(); ++i) set(test.params[i], carried[i]);
        if (block(test)[0][0] == 0) break;
        for (std::size_t i = 0; i < carried.size(); ++i) set(body.params[i], std::move(carried[i]));
        carried = block(body);
      }
    }
    loops_.pop_back();
    results(op, std::move(carried));
  }

  void results(const Op& op, std::vector<Lanes> values) {
    for (std::size_t i = 0; i < op.results.size(); ++i) set(op.results[i], std::move(values[i]));
  }

  const Function& f_;
  std::span<const Argument> arguments_;
  ProgramId grid_;
  Memory& memory_;
  InterpretLimits limits_;
  ProgramId id_{};
  std::int64_t ops_ = 0;
  std::vector<const Op*> loops_;  // that are running
  std::vector<Lanes> values_;
};

}  // namespace

void Memory::failed(const Function& function, const Access& at) {
  passnet::fail({passnet::Code::kernel,
                 where_of(function, *at.op),
                 fmt::format("assertion failed in program ({}, {}, {}), element {}: {}", at.program[0], at.program[1],
                             at.program[2], at.element, at.op->text),
                 {}});
}

void Memory::made(ValueId, std::span<const Bits>) {}

Bits DirectMemory::load(const Access& at) {
  Bits bits = 0;
  std::memcpy(&bits, reinterpret_cast<const void*>(at.address), static_cast<std::size_t>(elem_bytes(at.elem)));
  return at.elem == Elem::i1 ? Bits{bits != 0} : bits;
}

void DirectMemory::store(const Access& at, Bits value) {
  std::memcpy(reinterpret_cast<void*>(at.address), &value, static_cast<std::size_t>(elem_bytes(at.elem)));
}

BoundedMemory::BoundedMemory(const Function& function, std::vector<Extent> buffers)
    : function_(function), buffers_(std::move(buffers)), origins_(pointer_origins(function)) {}

Bits BoundedMemory::load(const Access& at) {
  check(at);
  return DirectMemory::load(at);
}

void BoundedMemory::store(const Access& at, Bits value) {
  check(at);
  DirectMemory::store(at, value);
}

// A pointer that may come from several parameters may reach what any of them does, as in checked builds.
void BoundedMemory::check(const Access& at) const {
  const auto size = static_cast<std::uint64_t>(elem_bytes(at.elem));
  const auto holds = [&](const Extent& buffer) { return buffer.holds(at.address, size); };
  const std::int32_t origin = origins_[static_cast<std::size_t>(at.op->operands[0])];
  if (origin < 0 ? std::any_of(buffers_.begin(), buffers_.end(), holds)
                 : holds(buffers_[static_cast<std::size_t>(origin)]))
    return;
  const Extent buffer = origin < 0 ? Extent{} : buffers_[static_cast<std::size_t>(origin)];
  const Site site = site_of(function_, *at.op, origin);
  fail(out_of_bounds(function_, site, fmt::format("({}, {}, {})", at.program[0], at.program[1], at.program[2]),
                     element_names(function_, site, static_cast<std::int64_t>(at.address), buffer.begin, buffer)));
}

Result<std::monostate> interpret(const Function& function, std::span<const Argument> arguments, const ProgramId& grid,
                                 Memory& memory, const InterpretLimits& limits) {
  return guarded([&] {
    verify(function).take();
    Interpreter(function, arguments, grid, memory, limits).run();
    return std::monostate();
  });
}

}  // namespace passnet::tile
