// The emitter's state and its parts. A tile value has no loop of its own: it is an expression that is evaluated,
// element by element, inside the loops of the *roots* that need it (stores, reductions, values that must be kept).
// Roots over the same elements share a loop nest.
//   emit.cpp      the function's frame, blocks and control flow
//   schedule.cpp  which values are roots, and which roots share a nest
//   nest.cpp      the loops of a nest: outer loops, the vector loop with its bounds, reductions
//   element.cpp   one value at one index: as lanes, or as a scalar
//   affine.cpp    how an integer moves with the vector loop; masks as bounds
//   apart.cpp     whether accesses may touch the same memory
//   access.cpp    loads and stores
//   turn.cpp      tiles whose memory runs across the vector loop
//   wrapped.cpp   indices that wrap around where nobody looks
//   product.cpp   dot, and loops over one
//   calls.cpp     scalars, and what works on whole arrays: scan, argmax
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/steps.h"
#include "tile/ir.h"
#include "tile/launch_facts.h"
#include "tile/ranges.h"
#include "tile_cpu/emit.h"

namespace passnet::tile_cpu {

using tile::Block;
using tile::Code;
using tile::Elem;
using tile::kNoValue;
using tile::Op;
using tile::Shape;
using tile::Type;
using tile::ValueId;

inline constexpr std::int8_t kFixed = -1;
using Index =
    std::array<std::int8_t, tile::kRankLimit>;  // by dimension: the loop that runs over it, or kFixed: element 0

inline Index identity_index(int rank) {
  Index out;
  out.fill(kFixed);
  for (int d = 0; d < rank; ++d) out[static_cast<std::size_t>(d)] = static_cast<std::int8_t>(d);
  return out;
}

struct At {  // a value at an index
  ValueId value;
  Index index;
  auto operator<=>(const At&) const = default;
};

// What the vector loop's variable stands for: L elements, the first of them, the start of the segment, or 0.
enum class Mode : std::uint8_t { lanes, first, segment, zero };

struct Ref {  // an evaluated expression: a name or a literal
  std::string text;
  int level = 0;  // of the loop nest it is valid in
  bool lanes = false;
};

struct Array {
  std::string name;
  Elem elem = Elem::f32;
  Shape shape;
  int first_dim = 0;  // dimensions before it are fixed by the row loop
  int storage = -1;   // the array whose elements these are: itself, or another's in a new shape
  bool pointer = false;
  bool turned = false;  // of rank 2: column by column
  std::int64_t bytes() const;
};

struct Home {  // where a value lives once it is computed
  enum class Kind : std::uint8_t { nowhere, name, array } kind = Kind::nowhere;
  std::string text;  // of a name
  int level = 0;
  int array = -1;
};

// What a root reads or writes: an argument's memory, or one of our arrays.
struct Access {
  std::int32_t memory = -1;    // a memory number of the facts; -1: any; from kArrayMemory on our arrays
  ValueId pointer = kNoValue;  // accesses through one pointer value at the root's own index touch the same element
  bool write = false;
  const Op* store = nullptr;  // which does, with its mask
};
inline constexpr std::int32_t kArrayMemory = 1 << 20;

inline constexpr int kLooked = 1000;  // values that one question looks at before it is given up

struct Root {
  enum class Kind : std::uint8_t { scalar, store, reduce, keep, call, view } kind = Kind::scalar;
  const Op* op = nullptr;
  ValueId value = kNoValue;  // keep: what is written to `array`
  int array = -1;
  Shape domain;
  int axis = -1;         // reduce
  int from = -1;         // keep without a value: the array that is copied
  bool publish = false;  // keep: the array is the value's home from then on
  std::string accumulator;
  std::vector<ValueId> needs;  // values with a home that this reads
  std::vector<Access> accesses;
  std::set<At> evaluated;  // tile values on the way, at their index in the domain
};

struct Roots {  // of a block, in order
  std::vector<Root> list;
  std::set<ValueId> kept;
  Root& add(const Op& op, Root::Kind kind) {
    Root& r = list.emplace_back();
    r.op = &op;
    r.kind = kind;
    return r;
  }
};

struct Group {  // one loop nest, then scalars
  std::vector<Root> roots;
  std::vector<Root> after;
  Shape domain;
  int axis = -1;
  int vector = -1;  // dimension of the vector loop
};

struct Level {
  std::string code;
  std::map<std::pair<At, Mode>, Ref> done;
};

class Emitter {
 public:
  Emitter(const tile::Function& function, const tile::LaunchFacts& facts, Build build);
  Emitted run();

 private:
  // ---- emit.cpp
  void index_ops(const Block& block, const Op* owner);
  bool gives_quiet(const Op& op) const;
  void emit_block(const Block& block, const Op* owner = nullptr, std::span<const ValueId> targets = {});
  void emit_control(const Op& op);
  void emit_for(const Op& op);
  void emit_while(const Op& op);
  void emit_if(const Op& op);
  void carry(std::span<const ValueId> values, std::span<const ValueId> initial);
  void assign(std::span<const ValueId> targets, std::span<const ValueId> values);
  void line(const std::string& text);
  void comment(const tile::Source& source);
  std::string fresh(ValueId v);
  std::string fresh(std::string_view stem);
  int new_array(ValueId v, int storage = -1);
  std::int32_t array_memory(int array) const { return kArrayMemory + arrays_[static_cast<std::size_t>(array)].storage; }
  std::string declare_arrays();
  void estimate(const Block& block, double times);
  // The parameter whose pointer this derives from; -1: several, or none.
  std::int32_t parameter_of(ValueId pointer) const { return origin_[static_cast<std::size_t>(pointer)]; }
  std::int32_t memory_of(ValueId pointer) const;
  const Type& type(ValueId v) const { return f_.type(v); }
  const Op* def(ValueId v) const { return def_[static_cast<std::size_t>(v)]; }
  Home& home(ValueId v) { return home_[static_cast<std::size_t>(v)]; }
  const Home& home(ValueId v) const { return home_[static_cast<std::size_t>(v)]; }

  // ---- schedule.cpp
  void schedule(std::span<const Op> ops, const Op* owner, std::span<const ValueId> targets);
  std::vector<Root> roots_of(std::span<const Op> ops, const Op* owner, std::span<const ValueId> targets);
  void tile_roots(const Op& op, std::span<const Op> ops, Roots& out);
  void dot_roots(const Op& op, Roots& out);
  void yield_roots(const Op& yield, std::span<const ValueId> targets, Roots& out);
  void keep(ValueId v, Roots& out);
  Root keep_root(ValueId v, int array) const;
  void collect(Root& root);
  void visit(Root& root, ValueId value, const Index& at);
  void visit_one(Root& root, ValueId v, const Index& index, std::vector<At>& todo);
  bool is_repeated(ValueId v) const;
  bool is_reduced_inside(const Op& broadcast) const;
  bool must_keep(const Op& op, std::span<const Op> run);
  bool is_loaded(ValueId v) const;
  bool is_deep(const Op& op);
  bool overwritten(const Op& load);
  double cost_of(ValueId v, int depth = 0) const;
  bool costly(ValueId v) const;
  std::vector<Group> group(std::vector<Root> roots);
  bool fits(const Group& group, const Root& root);
  void keep_shared(std::vector<Group>& groups);
  int vector_dimension(const Group& group);

  // ---- nest.cpp
  void emit_groups(std::vector<Group>& groups);
  bool rowwise(const Group& group) const;
  bool joins_rows(std::span<const Group> groups, const Group& next);
  bool read_outside(ValueId v, std::span<const Group> inside) const;
  void settle(Group& group, std::span<const Group> rows);
  void publish(const Group& group);
  void find_loads(const Group& group);
  void emit_rows(std::span<Group> groups);
  void emit_nest(Group& group, int first_dim);
  void skip_masked(std::span<const Group> groups, const Index& index);
  void emit_vector_loop(Group& group, const Index& index, std::int64_t size);
  void emit_region(const Group& group, const Index& index, const std::string& from, const std::string& to, bool whole);
  bool is_heavy(const Group& group, std::int64_t times);
  void emit_outside(const Group& group, const Index& index, const std::string& from, std::int64_t size);
  void emit_root(const Root& root, const Index& index);
  void emit_roots(const Group& group, const Index& index);
  void write_result(const Root& root, const Index& index, const Ref& value);
  int open();
  void close(const std::string& head, const std::string& tail = "}");
  void code(const std::string& text);
  // ---- calls.cpp
  void emit_call(const Op& op);
  void emit_scalar(const Op& op);
  std::string identity(const Op& op) const;
  std::string combined(const Op& op, const std::string& a, const std::string& b, bool lanes) const;
  std::string accumulator_type(const Op& op) const;
  std::string accumulator_start(const Op& op) const;
  std::string accumulated(const Op& op, const std::string& accumulator, const std::string& x) const;
  std::string finished(const Op& op, const std::string& accumulator) const;

  // ---- element.cpp
  Ref eval(ValueId v, const Index& index, Mode mode);
  Ref eval_op(const Op& op, ValueId v, const Index& index, Mode mode);
  Ref eval_array(const Array& array, const Index& index, Mode mode);
  Ref eval_range(const Op& op, const Index& index, Mode mode);
  Ref moving(ValueId v, const Index& index, std::int64_t step);
  Ref lanes_of(const Ref& ref, Elem elem);
  Ref put(ValueId v, Elem elem, const std::string& text, int level, bool lanes);
  bool runs(const Index& index, int rank) const;
  Ref loop_variable(int loop, Mode mode);
  struct Truth {
    bool value = false;
    int level = 0;  // that decides it
  };
  std::optional<Truth> truth(ValueId v, const Index& index) const;
  std::optional<Truth> truth(ValueId v, const Index& index, int& left) const;
  At normal(ValueId v, const Index& index) const;
  static Index map_index(const Op& op, const tile::Function& f, const Index& index);
  std::optional<std::int64_t> constant_of(ValueId v) const;

  // ---- affine.cpp
  std::optional<std::int64_t> step_of(ValueId v, const Index& index) const;
  std::optional<std::int64_t> compute_step(ValueId v, const Index& index) const;
  void conjuncts(ValueId mask, const Index& index, std::vector<At>& out) const;
  struct Bound {
    At condition;
    ValueId below = kNoValue, limit = kNoValue;  // below < limit, or <= with `inclusive`
    bool inclusive = false;
    bool negated = false;  // the condition is the opposite
  };
  // How many steps of the vector loop lie before the bound; below zero where it has been passed.
  std::string reach(const Bound& bound, const Index& index, Mode mode);  // nest.cpp
  std::vector<std::string> open_cuts(const std::vector<Bound>& cuts);    // nest.cpp
  std::vector<Bound> find_cuts(const Group& group, const Index& index, std::int64_t size) const;
  std::optional<Bound> bound_of(const At& condition) const;
  std::optional<Bound> common_bound(const Group& group, const Index& index) const;
  struct Segment {  // between multiples of `size`; or, without a dividend, between cuts alone
    At dividend{kNoValue, {}};
    std::int64_t size = std::numeric_limits<std::int64_t>::max();
  };
  std::optional<Segment> find_segment(const Group& group, const Index& index, std::int64_t size) const;
  // From one program to the next: `fixed`, and `times` as far as the value that `load` gives.
  struct ProgramStep {
    std::int64_t fixed = 0, times = 0;
    const Op* load = nullptr;
  };
  std::optional<ProgramStep> program_step(ValueId v) const;
  std::optional<ProgramStep> program_step(ValueId v, int& left) const;
  std::optional<std::int64_t> turn_step(ValueId v, const Op& loop) const;
  std::optional<std::int64_t> turn_step(ValueId v, const Op& loop, int& left) const;
  std::optional<std::int64_t> result_step(const Op& op, std::int64_t a, std::int64_t b) const;
  bool read_by_all(const Op& load) const;
  void reindex(const Root& root, const Index& index, std::set<At>& out) const;
  template <class F>
  auto along(int dimension, F&& f) {  // with it as the vector loop
    const int outside = std::exchange(vector_loop_, dimension);
    steps_.clear();
    auto out = f();
    steps_.clear();
    vector_loop_ = outside;
    return out;
  }

  // ---- apart.cpp
  struct Linear {  // a sum of multiples
    std::map<At, std::int64_t> terms;
    std::int64_t constant = 0;
    bool operator==(const Linear&) const = default;
  };
  bool add_linear(Linear& sum, const At& at, std::int64_t times, int& left) const;
  std::optional<Linear> linear(const At& at) const;
  const std::optional<Linear>& linear_of(ValueId pointer);
  std::optional<Dimensions> dimensions_of(ValueId pointer, ValueId mask = kNoValue);
  const std::optional<Dimensions>& written_by(const Op& store);
  bool is_apart(ValueId pointer);
  bool are_apart(const Op& store, const Op& other);
  bool conflict(const Access& a, const Access& b);

  // ---- access.cpp
  struct Address {
    std::string base;  // a typed pointer; empty: `terms` hold one vector of addresses in bytes
    int level = 0;
    std::vector<At> terms;
    Elem elem = Elem::f32;
  };
  Address address(ValueId pointer, const Index& index, Mode mode);
  std::optional<std::int64_t> step_of(const Address& a) const;
  Ref load(const Op& op, const Index& index, Mode mode);
  Ref load_lanes(const Op& op, const Address& a, const Index& index, const std::vector<At>& mask, const Ref& other,
                 int level);
  Ref sum_terms(const Address& a, Mode mode);
  static std::string element_pointer(const Address& a, const std::string& offset);
  Ref eval_mask(const std::vector<At>& mask, Mode mode);
  bool remaining_mask(const Op& op, ValueId mask, const Index& index, std::vector<At>& left, int& level) const;
  void store(const Op& op, const Index& index);
  std::string site(const Op& op);
  std::string atomic_text(const Op& op);  // how it is done: with its hooks, or plainly where one thread runs all
  std::int64_t memory_bytes(ValueId pointer) const;
  void fetch_ahead(const Op& load, const Address& a, const std::string& pointer);
  bool streams(const Op& store) const;
  bool never_read(const Op& store) const;
  bool may_access(const std::vector<const Op*>& accesses, ValueId pointer) const;

  // ---- turn.cpp
  struct Matrix {
    std::int64_t steps[2] = {0, 0};  // elements from one to the next along a dimension
    std::vector<Bound> bounds[2];
  };
  std::optional<Matrix> matrix_of(const Op& load);
  void follow_matrix(const Op& load, const std::string& from, const std::int64_t* steps, const std::string* counts);
  std::string count_of(const std::vector<Bound>& bounds, std::string all);
  struct Turn {
    Matrix matrix;
    std::size_t contiguous = 0;  // the load's dimension along which memory is
  };
  std::optional<Turn> turn_of(const Op& load);
  void turn_loads(std::vector<Group>& groups);
  void emit_turn(const Op& load);

  // ---- wrapped.cpp
  std::optional<Linear> linear_along(At at, int dimension) const;
  bool stores_below(const Op& store, int dimension, const Linear& index, const Linear& limit);
  bool stands_still(const Linear& sum, const Op& loop) const;
  bool unseen_from(ValueId value, int dimension, const Linear& index, const Linear& limit);
  const Op* wrap_of(const Op& load, const Address& a, int dimension);

  // ---- product.cpp
  std::optional<Matrix> factor_of(ValueId v);
  struct Terms {  // of a sum
    std::string count;
    std::int64_t at_most = 0;
    bool fresh = false;  // there are some, and nothing else is in it
  };
  std::optional<Terms> terms_of(const Op& loop);
  bool is_zero(ValueId v) const;
  std::string keep_panels(const Op& product, std::int64_t terms, std::int64_t depth);
  bool is_known(ValueId v, std::set<ValueId>& seen) const;
  std::string goal_of(const Op& product);
  void emit_product(const Op& op);

  const tile::Function& f_;
  const tile::LaunchFacts& facts_;
  const Build build_;
  std::vector<tile::Range> ranges_;
  std::vector<bool> quiet_;  // by value: a float that is no signalling NaN
  std::vector<std::int32_t> origin_;
  std::vector<const Op*> def_;
  std::vector<const Op*> param_owner_;  // of a block's parameter: the control op
  std::vector<int> param_block_;        // of a block's parameter
  std::vector<ValueId> initial_;        // of a carried parameter: its initial value
  std::vector<int> uses_;
  std::vector<int> depth_;  // operations on the way from what is kept
  std::vector<Home> home_;
  std::map<const Op*, int> order_;
  std::map<const Op*, int> block_of_;
  std::vector<std::vector<const Op*>> users_;
  std::vector<const Op*> writes_;       // stores and atomics of the whole function
  std::vector<const Op*> reads_;        // loads and atomics
  std::vector<const Op*> block_owner_;  // by the blocks' numbers: the control op, or none
  std::vector<Array> arrays_;
  std::string kept_;  // what programs leave to the next
  std::int64_t panels_ = 0;
  int names_ = 0;

  std::span<const Op> run_;
  const std::vector<Group>* groups_ = nullptr;
  const Group* group_ = nullptr;  // whose nest it is
  std::vector<Level> levels_;
  struct Loop {
    std::string var;
    int level = 0;
  };
  std::vector<Loop> loops_;
  int vector_loop_ = -1;   // index into loops_
  int vector_level_ = -1;  // the body's level
  std::string segment_var_;
  int segment_level_ = -1;
  std::optional<Segment> segment_;
  std::map<At, std::string> cuts_;  // conditions that stand still in a segment, by their names
  bool gathers_ = false;            // lanes of 4 bytes were loaded one by one so far
  std::string* last_ = nullptr;     // where a body's stores go, if all are to come last
  std::map<At, Truth> known_;       // conditions decided in this region
  mutable std::map<At, std::optional<std::int64_t>> steps_;
  mutable int step_depth_ = 0;
  const Op* unwrapped_ = nullptr;                    // a remainder that is asked about as if it were its dividend
  std::map<ValueId, std::optional<Linear>> linear_;  // by pointer
  std::map<const Op*, std::optional<Dimensions>> written_;  // by store
  int nest_ = 0;
  bool reads_memory_ = false;  // more than a cache holds
  int in_turn_ = 0;            // the last nest that does, row after row, what no earlier one has brought to the caches
  struct Loaded {
    int first = 0;                // the nest that loads it
    const Group* last = nullptr;  // of its run that does
  };
  std::map<const Op*, Loaded> loaded_;
  bool turns_ = false;
  bool large_ = false;                                                 // a body is heavy
  std::int64_t seen_lines_ = 0;                                        // of bodies, as often as the compiler sees them
  std::int64_t functions_ = 0;                                         // in all bodies
  std::optional<Terms> terms_;                                         // of the product that the loop here is
  std::map<const Op*, std::array<std::optional<Matrix>, 2>> factors_;  // of products, as they were scheduled
  std::set<const Op*> fresh_;                                          // products whose sums begin at 0

  Emitted out_;
};

}  // namespace passnet::tile_cpu
