// The rewriter, and the rounds of simplify(): rewrite, loops, unused, until nothing changes.
#include "tile/simplify.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace passnet::tile {

namespace {

constexpr int kRounds = 12;  // a bound; kernels come to rest after two to four
constexpr int kRuleDepth = 64;

constexpr Code kNotDefined = Code::yield;  // in defs_

}  // namespace

bool is_elementwise(Code code) {
  const OpClass kind = op_row(code).kind;
  return kind == OpClass::unary || kind == OpClass::binary || kind == OpClass::compare || code == Code::select ||
         code == Code::fma || code == Code::addptr;
}

bool is_pure(Code code) {
  const OpClass kind = op_row(code).kind;
  return kind != OpClass::memory && kind != OpClass::control;
}

bool is_commutative(Code code) {
  switch (code) {
    case Code::add:
    case Code::mul:
    case Code::min:
    case Code::max:
    case Code::min_nan:
    case Code::max_nan:
    case Code::mul_high:
    case Code::bit_and:
    case Code::bit_or:
    case Code::bit_xor:
    case Code::eq:
    case Code::ne: return true;
    default: return false;
  }
}

bool writes_memory(const Op& op) {
  if (op.code == Code::store || op.code == Code::atomic || op.code == Code::atomic_cas) return true;
  return std::any_of(op.blocks.begin(), op.blocks.end(), [](const Block& b) { return writes_memory(b); });
}
bool writes_memory(const Block& block) {
  return std::any_of(block.ops.begin(), block.ops.end(), [](const Op& op) { return writes_memory(op); });
}

std::optional<std::int64_t> trip_count(Elem elem, Bits lo, Bits hi, Bits step) {
  __extension__ using Wide = __int128;
  const auto wide = [&](Bits x) {
    return elem == Elem::u64 ? static_cast<Wide>(x) : static_cast<Wide>(integer_of(elem, x));
  };
  const Wide s = wide(step);
  if (s == 0) return 0;
  const Wide distance = s > 0 ? wide(hi) - wide(lo) : wide(lo) - wide(hi);
  if (distance <= 0) return 0;
  const Wide size = s > 0 ? s : -s;
  const Wide trips = (distance + size - 1) / size;
  return trips > INT64_MAX ? std::nullopt : std::optional(static_cast<std::int64_t>(trips));
}

const Op* Rewriter::def(ValueId v) const {
  const Op& op = defs_[static_cast<std::size_t>(v)];
  return op.code == kNotDefined ? nullptr : &op;
}

const Op* Rewriter::def(ValueId v, Code code) const {
  const Op& op = defs_[static_cast<std::size_t>(v)];
  return op.code == code ? &op : nullptr;
}

std::optional<Bits> Rewriter::constant(ValueId v) const {
  const Op* op = def(v, Code::constant);
  if (op == nullptr) return std::nullopt;
  return constant_bits(type(v).elem, *op);
}

bool Rewriter::is_uniform(ValueId v) const {
  return !type(v).is_tile() || def(v, Code::splat) != nullptr || def(v, Code::constant) != nullptr;
}

ValueId Rewriter::uniform(ValueId v) {
  if (!type(v).is_tile()) return v;
  if (const Op* op = def(v, Code::splat)) return op->operands[0];
  return make_constant(scalar_type(type(v).elem), *constant(v));
}

bool Rewriter::used_once(ValueId v) const {
  return static_cast<std::size_t>(v) < uses_.size() && uses_[static_cast<std::size_t>(v)] == 1;
}

ValueId Rewriter::make_constant(const Type& type, Bits bits) {
  Op op;
  if (is_float(type.elem))
    op.real = real_of(type.elem, bits);
  else
    op.integer = integer_of(type.elem, bits);
  return make(std::move(op), type);
}

ValueId Rewriter::make(Code code, std::vector<ValueId> operands, const Type& type) {
  Op op;
  op.code = code;
  op.operands = std::move(operands);
  return make(std::move(op), type);
}

ValueId Rewriter::make(Op op, const Type& type) {
  const Type result = type;  // the caller's may lie in f_.types, which grows
  if (const ValueId v = apply_rules(op, result); v != kNoMatch) return v;
  return keep(std::move(op), result, kNoValue);
}

// The rules may make ops of their own, which go through the rules again; the depth only guards against a bad row.
ValueId Rewriter::apply_rules(Op& op, const Type& type) {
  if (depth_ >= kRuleDepth) return kNoMatch;
  ++depth_;
  ValueId v = kChanged;
  while (v == kChanged) {
    v = apply_shape_rules(*this, op, type);
    if (v == kNoMatch) v = apply_algebra(*this, op, type);
    changed_ = changed_ || v != kNoMatch;
  }
  --depth_;
  return v;
}

// What two ops must share to be equal.
std::string Rewriter::key_of(const Op& op, const Type& type) const {
  std::string key;
  const auto put = [&](const auto& x) { key.append(reinterpret_cast<const char*>(&x), sizeof x); };
  put(op.code);
  put(type.elem);
  put(type.pointer);
  for (const std::int32_t s : type.shape.span()) put(s);
  put(op.integer);
  put(op.real);
  put(op.axis);
  put(op.order);
  put(op.combine);
  put(op.reverse);
  put(op.precision);
  std::vector<ValueId> operands = op.operands;
  if (is_commutative(op.code)) std::sort(operands.begin(), operands.end());
  for (const ValueId v : operands) put(v);
  if (op.code == Code::load) put(epoch_);
  return key;
}

ValueId Rewriter::keep(Op op, const Type& type, ValueId id) {
  const bool shared = is_pure(op.code) || op.code == Code::load;
  std::string key;
  if (shared) {
    key = key_of(op, type);
    if (const auto found = known_.find(key); found != known_.end()) {
      changed_ = changed_ || id != kNoValue;
      return found->second;
    }
  }
  if (id == kNoValue) {
    id = f_.add_value(type);
    replaced_.push_back(id);
    defs_.emplace_back().code = kNotDefined;
    op.source = source_;
  }
  op.results = {id};
  if (shared) {
    known_.emplace(key, id);
    scope_.push_back(std::move(key));
  }
  if (writes_memory(op)) ++epoch_;
  defs_[static_cast<std::size_t>(id)] = op;
  out_->push_back(std::move(op));
  return id;
}

void Rewriter::replace(ValueId from, ValueId to) {
  if (from == to) return;
  changed_ = true;
  replaced_[static_cast<std::size_t>(from)] = to;
}

void Rewriter::plain_op(Op& op) {
  source_ = op.source;
  for (ValueId& v : op.operands) v = resolve(v);
  if (op.results.empty()) {
    const ValueId v = apply_rules(op, Type());
    if (v == kRemoved) return;
    if (writes_memory(op)) ++epoch_;
    out_->push_back(std::move(op));
    return;
  }
  const ValueId old = op.results[0];
  const Type type = f_.type(old);
  const std::size_t before = f_.types.size();
  ValueId v = apply_rules(op, type);
  if (v == kNoMatch) v = keep(std::move(op), type, old);
  if (static_cast<std::size_t>(v) >= before)
    f_.names[static_cast<std::size_t>(v)] = f_.names[static_cast<std::size_t>(old)];
  replace(old, v);
}

void Rewriter::block_ops(std::vector<Op>& ops, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    switch (ops[i].code) {
      case Code::for_: for_op(ops[i]); break;
      case Code::while_: while_op(ops[i]); break;
      case Code::if_: if_op(ops[i]); break;
      default: plain_op(ops[i]); break;
    }
  }
}

// The block's ops run here once; gives what it yields.
std::vector<ValueId> Rewriter::inline_block(Block& block, std::span<const ValueId> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) replace(block.params[i], arguments[i]);
  block_ops(block.ops, block.ops.size() - 1);
  std::vector<ValueId> out = std::move(block.ops.back().operands);
  for (ValueId& v : out) v = resolve(v);
  changed_ = true;
  return out;
}

Block Rewriter::inner_block(Block& block) {
  Block out;
  out.params = std::move(block.params);
  std::vector<Op>* const outer = std::exchange(out_, &out.ops);
  const std::size_t mark = scope_.size();
  block_ops(block.ops, block.ops.size() - 1);
  Op& yield = block.ops.back();
  for (ValueId& v : yield.operands) v = resolve(v);
  out.ops.push_back(std::move(yield));
  for (std::size_t i = mark; i < scope_.size(); ++i) known_.erase(scope_[i]);
  scope_.resize(mark);
  out_ = outer;
  return out;
}

void Rewriter::for_op(Op& op) {
  for (ValueId& v : op.operands) v = resolve(v);
  const auto lo = constant(op.operands[0]), hi = constant(op.operands[1]), step = constant(op.operands[2]);
  std::optional<std::int64_t> trips;
  if (lo && hi && step) trips = trip_count(type(op.operands[0]).elem, *lo, *hi, *step);
  const std::span carried = std::span(op.operands).subspan(3);
  if (trips == 0) {  // results = what was carried in
    for (std::size_t i = 0; i < op.results.size(); ++i) replace(op.results[i], carried[i]);
    changed_ = true;
    return;
  }
  if (trips == 1) {  // the block, once
    std::vector<ValueId> arguments(carried.begin(), carried.end());
    arguments.insert(arguments.begin(), op.operands[0]);
    const auto yielded = inline_block(op.blocks[0], arguments);
    for (std::size_t i = 0; i < op.results.size(); ++i) replace(op.results[i], yielded[i]);
    return;
  }
  // A carried value that is yielded as it came, or as it began, is what it began with.
  const Block& body = op.blocks[0];
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    const ValueId y = body.ops.back().operands[i], p = body.params[i + 1];
    if (y != p && resolve(y) != carried[i]) continue;
    replaced_[static_cast<std::size_t>(p)] = carried[i];
    replaced_[static_cast<std::size_t>(op.results[i])] = carried[i];
  }
  const bool writes = writes_memory(op);
  epoch_ += writes ? 1 : 0;
  op.blocks[0] = inner_block(op.blocks[0]);
  epoch_ += writes ? 1 : 0;
  out_->push_back(std::move(op));
}

// The constant that a block of the old function yields, where it is plain to see.
std::optional<Bits> Rewriter::old_constant(const Block& block, ValueId v) const {
  if (const auto bits = constant(resolve(v))) return bits;
  for (const Op& op : block.ops)
    if (op.code == Code::constant && op.result() == v) return constant_bits(type(v).elem, op);
  return std::nullopt;
}

void Rewriter::while_op(Op& op) {
  for (ValueId& v : op.operands) v = resolve(v);
  Block& test = op.blocks[0];
  if (old_constant(test, test.ops.back().operands[0]) == Bits{0}) {  // while false: only the test, once
    inline_block(test, op.operands);
    for (std::size_t i = 0; i < op.results.size(); ++i) replace(op.results[i], op.operands[i]);
    return;
  }
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    const ValueId y = op.blocks[1].ops.back().operands[i], p = op.blocks[1].params[i];
    if (y != p && resolve(y) != op.operands[i]) continue;
    for (const ValueId same : {test.params[i], p, op.results[i]})
      replaced_[static_cast<std::size_t>(same)] = op.operands[i];
  }
  const bool writes = writes_memory(op);
  epoch_ += writes ? 1 : 0;
  for (Block& block : op.blocks) block = inner_block(block);
  epoch_ += writes ? 1 : 0;
  out_->push_back(std::move(op));
}

void Rewriter::if_op(Op& op) {
  source_ = op.source;
  op.operands[0] = resolve(op.operands[0]);
  if (const auto condition = constant(op.operands[0])) {  // the block that is taken
    const auto yielded = inline_block(op.blocks[*condition != 0 ? 0 : 1], {});
    for (std::size_t i = 0; i < op.results.size(); ++i) replace(op.results[i], yielded[i]);
    return;
  }
  for (Block& block : op.blocks) block = inner_block(block);
  // A result that both blocks yield alike needs no branch.
  const auto &a = op.blocks[0].ops.back().operands, &b = op.blocks[1].ops.back().operands;
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    const auto x = constant(a[i]), y = constant(b[i]);
    if (a[i] == b[i])
      replaced_[static_cast<std::size_t>(op.results[i])] = a[i];
    else if (x && y && *x == *y) {
      const ValueId same = make_constant(type(a[i]), *x);
      replaced_[static_cast<std::size_t>(op.results[i])] = same;
    }
  }
  out_->push_back(std::move(op));
}

void Rewriter::count_uses(const Block& block) {
  for (const Op& op : block.ops) {
    for (const ValueId v : op.operands) ++uses_[static_cast<std::size_t>(v)];
    for (const Block& inner : op.blocks) count_uses(inner);
  }
}

bool Rewriter::run() {
  const std::size_t values = f_.types.size();
  uses_.assign(values, 0);
  count_uses(f_.body);
  replaced_.resize(values);
  for (std::size_t v = 0; v < values; ++v) replaced_[v] = static_cast<ValueId>(v);
  Op undefined;
  undefined.code = kNotDefined;
  defs_.assign(values, undefined);
  std::vector<Op> old = std::exchange(f_.body.ops, {});
  out_ = &f_.body.ops;
  block_ops(old, old.size());
  return changed_;
}

void simplify(Function& function, const AfterPass& after) {
  const auto done = [&](std::string_view pass, bool changed) {
    if (after) after(pass, function);
#ifndef NDEBUG
    if (const auto valid = verify(function); !valid)
      throw std::logic_error(std::string(pass) + ": " + error_text(valid.error()));
#endif
    return changed;
  };
  for (int round = 0; round < kRounds; ++round) {
    bool changed = done("rewrite", Rewriter(function).run());
    changed = done("loops", simplify_loops(function)) || changed;
    changed = done("unused", remove_unused(function)) || changed;
    if (!changed) break;
  }
  renumber(function);
}

}  // namespace passnet::tile
