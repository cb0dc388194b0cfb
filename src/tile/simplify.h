// Inside simplification: the rewriter that rules see, and the passes that simplify() runs in rounds.
//
// The rewriter rebuilds a function from its first op to its last. Every op goes through the rules with its operands
// already simplified; what is left after the rules is merged with an equal op that is visible, or kept.
#pragma once

#include <deque>
#include <optional>
#include <unordered_map>

#include "tile/scalar.h"
#include "tile/stages.h"

namespace passnet::tile {

// Ops that have no meaning beside their result; whose result element depends on the operands' elements there only.
bool is_pure(Code code);
bool is_elementwise(Code code);
bool is_commutative(Code code);
bool writes_memory(const Block& block);
bool writes_memory(const Op& op);

// How often a for with constant bounds runs; the variable never leaves its type, it ends before.
std::optional<std::int64_t> trip_count(Elem elem, Bits lo, Bits hi, Bits step);

// What a rule says instead of a value.
inline constexpr ValueId kNoMatch = kNoValue;
inline constexpr ValueId kRemoved = -2;  // an op without result is not needed
inline constexpr ValueId kChanged = -3;  // the op was changed in place and goes through the rules again

class Rewriter {
 public:
  explicit Rewriter(Function& f) : f_(f) {}

  // One pass over the function; true if anything was changed.
  bool run();

  // For rules
  const Type& type(ValueId v) const { return f_.type(v); }
  const Op* def(ValueId v) const;  // null: a parameter, or the result of a control op
  const Op* def(ValueId v, Code code) const;
  std::optional<Bits> constant(ValueId v) const;  // of every element
  bool is_uniform(ValueId v) const;               // whether one scalar is every element
  ValueId uniform(ValueId v);                     // that scalar
  bool used_once(ValueId v) const;
  ValueId make(Op op, const Type& type);
  ValueId make(Code code, std::vector<ValueId> operands, const Type& type);
  ValueId make_constant(const Type& type, Bits bits);

 private:
  ValueId resolve(ValueId v) const { return replaced_[static_cast<std::size_t>(v)]; }
  void replace(ValueId from, ValueId to);
  ValueId apply_rules(Op& op, const Type& type);
  ValueId keep(Op op, const Type& type, ValueId id);
  void block_ops(std::vector<Op>& ops, std::size_t count);
  std::vector<ValueId> inline_block(Block& block, std::span<const ValueId> arguments);
  Block inner_block(Block& block);
  void plain_op(Op& op);
  void for_op(Op& op);
  void while_op(Op& op);
  void if_op(Op& op);
  std::optional<Bits> old_constant(const Block& block, ValueId v) const;
  std::string key_of(const Op& op, const Type& type) const;
  void count_uses(const Block& block);

  Function& f_;
  std::vector<Op>* out_ = nullptr;
  std::deque<Op> defs_;             // by value; without blocks; references stay good
  std::vector<ValueId> replaced_;   // by old value
  std::vector<std::int32_t> uses_;  // by old value
  std::unordered_map<std::string, ValueId> known_;
  std::vector<std::string> scope_;  // keys of known_, oldest first
  std::uint32_t epoch_ = 0;         // counts the writes before: loads are equal only within one
  Source source_;
  int depth_ = 0;
  bool changed_ = false;
};

// The rows: simplify_algebra.cpp (laws over values) and simplify_rules.cpp (shapes, casts, memory).
ValueId apply_algebra(Rewriter& r, const Op& op, const Type& type);
ValueId apply_shape_rules(Rewriter& r, Op& op, const Type& type);

// Passes; each says whether it changed anything.
bool simplify_loops(Function& f);  // invariant code moved out, carried sums over the loop variable
bool remove_unused(Function& f);   // ops, carried values and results that nothing needs
void renumber(Function& f);        // values in the order of their definition, none unused

}  // namespace passnet::tile
