// The emitter's state and its parts, one file each:
//   assign.cpp  which layout each tile has (`home`)
//   emit.cpp    the kernel, blocks and control flow; elementwise ops
//   memory.cpp  loads, stores, atomics
//   reduce.cpp  reductions and scans
//   pairs.cpp   arithmetic of halves, two at once
//   convert.cpp from one layout to another through shared memory
//   dot.cpp     products, on tensor cores where the types allow
//   pipeline.cpp  loops that fetch the operands of later rounds' products while this round's are computed
//
// A value is asked for in a layout (`get`). Shape ops are other names for their operand. What is cheap to compute from
// indices (`free`) is computed again in every layout that asks; anything else has one home, and is moved from there.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tile/ranges.h"
#include "tile/stages.h"
#include "tile_cuda/axis.h"
#include "tile_cuda/emit.h"
#include "tile_cuda/layout.h"

namespace passnet::tile_cuda {

using tile::Block;
using tile::Code;
using tile::Elem;
using tile::Op;
using tile::Shape;
using tile::Type;
using tile::ValueId;

// A value's spelling. A tile is an array of registers; `map` takes a register's number to the array's.
struct Ref {
  std::string name;
  bool array = false;
  std::vector<BitMove> map;
  int registers = 1;  // of the array

  static Ref array_of(std::string name, const Layout& layout);  // all of its registers in order
  std::string at(const std::string& e) const;
};

// Parts of shared memory that tensor cores read begin at such multiples.
inline std::int64_t shared_size(std::int64_t bytes) { return (bytes + 1023) / 1024 * 1024; }
// Of a value in a register, and in shared memory.
inline std::int64_t register_bytes(Elem e) { return tile::is_half(e) ? 4 : tile::elem_bytes(e); }

// What a block knows: a value in a layout.
using Scope = std::map<std::pair<ValueId, Layout>, Ref>;

// Computed element by element from operands of the same shape, or from nothing.
bool elementwise(Code code);

class Emitter {
 public:
  Emitter(const tile::Function& function, const tile::LaunchFacts& facts, const Target& target, bool checked);
  Emitted run();

 private:
  // ---- assign.cpp
  void index_ops(const Block& block);
  void find_operands(const Block& block);
  void find_free(const Block& block);
  int choose_threads() const;
  void choose_shapes(const Block& block);
  struct Access {
    int dim = 0, bits = 0;
  };
  Layout blocked_for(const Shape& shape, Access access) const;
  const Layout& shape_layout(const Shape& shape);
  Layout own_layout(ValueId pointer) const;
  bool held(ValueId v, const Layout& layout) const;
  void find_natural(const Block& block);
  void find_homes(const Block& block);
  void want(ValueId v, const Layout& layout);
  std::optional<Layout> natural(ValueId v) const;
  void set_natural(ValueId v, const std::optional<Layout>& layout);
  Layout access_layout(const Op& op, ValueId pointer);
  int run_bytes(ValueId pointer, const Layout& layout) const;
  int fast_dim(ValueId pointer) const;
  int vector_bits(ValueId pointer, const Layout& layout) const;
  bool transparent(const Op& op) const;

  // ---- emit.cpp
  void emit_block(std::span<const Op> ops);
  void emit_op(const Op& op);
  void emit_element(const Op& op, const Layout* layout);
  void emit_quotients(ValueId r, const Layout& layout, const Ref& x, const Ref& d);
  void emit_inverses(ValueId r, const Layout& layout, const Ref& d);
  bool written_out(const Op& loop) const;
  void emit_for(const Op& op);
  std::string more_text(const Op& loop, const std::string& index) const;
  void emit_while(const Op& op);
  void emit_if(const Op& op);
  void declare(ValueId v);
  void assign(std::span<const ValueId> targets, std::span<const ValueId> values);
  Ref get(ValueId v, const Layout& layout);
  Ref scalar(ValueId v) const;
  std::string_view shortcut(const Op& op) const;
  std::string element_text(const Op& op, const std::vector<Ref>& operands, const std::string& e) const;
  Ref keep(ValueId v, const Layout* layout, const std::string& text_of_e);
  Ref make_array(ValueId v, const Layout& layout);
  std::string replica_guard(const Layout& layout) const;  // a condition that one of the threads with equal data meets
  std::string coordinate(const Layout& layout, BitRange bits, const std::string& e);
  std::string type_name(const Type& type) const;
  void line(const std::string& text);
  std::string fresh(ValueId v);
  std::string fresh(std::string_view stem);
  void remember(ValueId v, const Layout& layout, const Ref& ref);
  const Type& type(ValueId v) const { return f_.type(v); }
  const Op* def(ValueId v) const { return def_[static_cast<std::size_t>(v)]; }
  const Layout& home(ValueId v) const { return *home_[static_cast<std::size_t>(v)]; }

  // ---- memory.cpp
  struct Vector {
    int bits = 0;                  // elements of one access, log2
    std::vector<BitMove> inside;   // the access's element -> register
    std::vector<BitMove> outside;  // the access's number -> register
  };
  Vector vector_of(ValueId pointer, const Layout& layout) const;
  static Vector vector_along(const Layout& layout, BitRange range, int bits);
  static std::string each_part(const Vector& v, int count, const std::string& text);
  void emit_load(const Op& op);
  void emit_store(const Op& op);
  ValueId unrounded(ValueId v) const;
  void emit_atomic(const Op& op);
  void emit_check(const Op& op);
  // One element, asked for first in the checked build. `guard`: replica_guard of who does it.
  std::string load_text(const Op& op, const std::string& pointer, const std::string& guard);
  std::string store_text(const Op& op, const std::string& pointer, const std::string& value);
  std::string site(const Op& op);
  std::int32_t memory_of(ValueId pointer) const;
  bool never_written(std::int32_t memory) const;
  // Memory that a program touched since its last barrier, through this pointer in this layout.
  struct Touch {
    std::int32_t memory = -1;  // -1: any
    ValueId pointer = tile::kNoValue;
    Layout layout;
    bool write = false;
  };
  void touch(ValueId pointer, const Layout& layout, bool write);
  void touch_block(const Block& block);

  // ---- reduce.cpp
  void emit_reduce(const Op& op);
  void emit_scan(const Op& op);
  std::string combined(const Op& op, const std::string& a, const std::string& b) const;

  // ---- pairs.cpp: a tile of halves lives as f32, like any other; beside it may be its pairs, two halves to a word as
  // in memory. Of the two the compiler keeps what is used.
  const Op* pair_op(const Op& op) const;
  bool renames(const Op& op) const;
  void find_pairs(const Block& block);
  bool has_pairs(const Ref& x, Elem half) const;
  std::string pair_text(const Ref& x, Elem half, const std::string& i) const;
  std::string make_pairs(const Ref& array, Elem half);
  bool emit_pairs(const Op& op, const Layout& layout);  // false: not such an op

  // ---- convert.cpp
  Ref convert(ValueId v, const Ref& from, const Layout& from_layout, const Layout& to);
  void barrier();
  void shared_written();  // by all threads: now it can be read
  std::string shared_array(const std::string& type, std::int64_t bytes_each, std::int64_t count);
  // Shared memory that no other use has until `shared_base_` is set back; where it begins.
  std::int64_t hold_shared(std::int64_t bytes);

  // ---- dot.cpp
  struct Product {
    // groups: halves, four warps at once from shared memory (wgmma); half: a warp at a time (mma); lanes: no tensor
    // core
    enum class Unit : std::uint8_t { groups, half, tf32, lanes } unit = Unit::lanes;
    int warps_m = 0, warps_n = 0;  // bits; of groups of four warps where it is their unit
    bool of_halves() const { return unit == Unit::groups || unit == Unit::half; }
    Layout layout(const Shape& shape) const;
  };
  // A matrix of halves in shared memory, as tensor cores read it.
  struct Placed {
    int dim = 1;         // the dimension whose elements lie next to each other
    std::string offset;  // in shared memory, bytes
  };
  struct Operand {  // of a product of halves
    ValueId value = tile::kNoValue;
    bool swapped = false;  // the operand is the value transposed
  };
  Product product_of(const Op& op) const;
  Layout dot_layout(const Op& op);
  void emit_dot(const Op& op);
  void emit_dot_halves(const Op& op, const Product& product);
  void emit_dot_words(const Op& op, const Product& product);
  void emit_dot_lanes(const Op& op, const Layout& layout, const Ref& acc, const std::string& a, const std::string& b);
  void emit_groups(const Op& op, const Product& product, const std::string& c, const std::string& a,
                   const std::string& b, bool packed, bool a_k_rows, bool b_k_rows);
  Operand operand_of(ValueId v) const;
  Layout source_layout(ValueId v);
  std::optional<std::string> packed(const Op& op, const Product& product);
  Placed place(ValueId v, std::int64_t offset);
  std::string staged_type(ValueId v, int dim) const;
  std::int64_t staged_bytes(ValueId v) const { return shared_size(type(v).shape.elements() * 2); }

  // ---- pipeline.cpp
  struct Pipeline {
    std::vector<const Op*> loads;      // fetched ahead, straight into shared memory
    std::set<const Op*> slice;         // ops of the body that give their addresses and masks
    std::vector<std::size_t> carried;  // the loop's values that those need
    int stages = 0;
    std::int64_t bytes = 0;  // of a stage
    // While it is written: what the ahead rounds know, and where the next one is.
    Scope scope;
    std::size_t outer = 0;  // scopes around the loop
    std::vector<std::string> scalars;
    std::int64_t base = 0;
    std::string index, write, read;
  };
  std::optional<Pipeline> pipeline_of(const Op& loop) const;
  bool add_slice(const Op& loop, ValueId v, Pipeline& out) const;
  bool fetchable(const Op& load) const;
  void place_outer(const Op& loop);
  void begin_pipeline(const Op& loop, Pipeline& p);
  void emit_fetch(const Op& loop, Pipeline& p);
  void emit_copy(const Op& load, const std::string& to);
  void await_fetched(const Pipeline& p);
  void fetch_next();  // a later round's operands, once in a round

  const tile::Function& f_;
  const tile::LaunchFacts& facts_;
  const Target target_;
  const bool checked_;
  std::vector<tile::Range> ranges_;
  std::vector<Axes> axes_;
  std::vector<std::int32_t> origin_;  // by value: the parameter that a pointer comes from
  std::vector<const Op*> def_;
  std::vector<int> uses_;
  std::vector<bool> free_, operand_, paired_;
  std::vector<bool> written_;     // by parameter
  bool stores_halves_ = true;     // whatever it stores is a half
  std::int64_t most_stored_ = 1;  // elements of the largest tile that is stored
  int thread_bits_ = 7;

  std::map<Shape, Access, bool (*)(const Shape&, const Shape&)> access_;  // the widest of each shape
  std::map<Shape, Layout, bool (*)(const Shape&, const Shape&)> shapes_;
  std::vector<std::optional<Layout>> natural_, want_, home_;
  std::map<const Op*, Layout> operand_layout_;  // of reductions, scans and stores

  std::vector<Scope> scopes_;
  std::vector<std::string> scalars_;  // by value: spelling
  struct Pairs {
    std::string words;
    Elem half;
  };
  std::map<std::string, Pairs> pairs_;  // by array
  std::vector<Touch> touched_;
  std::string body_;
  int indent_ = 1;
  int names_ = 0;
  std::vector<tile::Site> sites_;
  std::int64_t shared_bytes_ = 0, shared_base_ = 0;
  bool shared_used_ = false;
  std::map<ValueId, Placed> placed_;  // operands that stay in shared memory
  const Op* loop_ = nullptr;          // whose next round is to be fetched
  Pipeline* pipeline_ = nullptr;
};

}  // namespace passnet::tile_cuda
