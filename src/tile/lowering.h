// The inside of the front-end: one object per kernel walks the syntax and emits ops. Its parts, one file each:
//   lower.cpp          the door, statements          lower_control.cpp  if, for, while, return
//   lower_expr.cpp     expressions                   lower_names.cpp    names, attributes
//   lower_types.cpp    promotion, broadcasting       lower_call.cpp     calls, arguments, device functions
//   builtin_*.cpp      the functions of triton.language
// Failures are thrown (base/error.h) and become a Result at the door.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <set>
#include <unordered_map>

#include "tile/lower.h"

namespace passnet::tile {

using ErrorCode = passnet::Code;

// What an expression is while the kernel is compiled.
struct Operand {
  enum class Kind : std::uint8_t {
    constant,       // `constant`, never a tuple
    tensor,         // the IR's value `id`: scalar, tile or pointer
    tuple,          // items; text: their names, "m,n", or none
    block_pointer,  // items: base, sizes, strides, offsets (tuples); constant.type: element and block shape
    descriptor,     // the same with offsets of 0: those come with each access; text: what lies outside
    function,       // a device function
    of_constants,   // a function that is called with constants
    record,         // the class of a named tuple; text: its fields' names, items: the defaults of the last of them
    path,           // text: something outside, "triton.language.load", "builtins.range"
    module,         // another file: names
    method,         // text of items[0]
    slice,          // items: lower, upper, step
    lost,           // text: why the name has no value here
  } kind = Kind::constant;
  ValueId id = kNoValue;
  ConstValue constant;
  std::vector<Operand> items;
  std::string text;
  const py::Stmt* function = nullptr;
  const py::Module* file = nullptr;
  const Names* names = nullptr;

  static Operand of(ConstValue v);
  static Operand tensor(ValueId id);
  static Operand tuple(std::vector<Operand> items);
  static Operand path(std::string text);
  static Operand lost(std::string why);

  bool is(Kind k) const { return kind == k; }
  bool is_tensor() const { return kind == Kind::tensor; }
  bool is_constant() const { return kind == Kind::constant; }
  bool is_none() const { return kind == Kind::constant && constant.is(ConstValue::Kind::none); }
  bool is_number() const { return kind == Kind::constant && constant.is_number(); }
  bool is_integer() const { return kind == Kind::constant && constant.is_integral(); }
};

class Lowering;
struct Builtin;

// A call of a builtin: the arguments in the order of its row's signature, defaults filled in.
struct Call {
  const Builtin& row;
  std::string name;  // as the kernel's author knows it: "tl.sum"
  std::vector<Operand> args;
  Operand& operator[](std::size_t i) { return args[i]; }
};

enum Home : std::uint8_t {
  kTl = 1,
  kMath = 2,
  kLib = 4,
  kMethod = 8,
  kPython = 16,
  kTriton = 32,
  kDescriptor = 64,
  kCuda = 128
};

// A function of triton.language (kTl), tl.math (kMath), libdevice (kLib), a tile's method (kMethod), Python (kPython),
// triton (kTriton), tl.extra.cuda (kCuda) or a tensor descriptor's method (kDescriptor). `code`: the op it becomes,
// where the handler serves several rows.
struct Builtin {
  std::string_view name;
  std::uint8_t homes;
  std::string_view signature;
  Operand (Lowering::*handler)(Call&);
  Code code = Code::constant;
};
const Builtin* find_builtin(std::string_view name, std::uint8_t home);
// Whether Triton has a function of this name that has no row.
bool is_missing_builtin(std::string_view name, std::uint8_t home);
// What to write instead of something that does not exist; "" where nothing is known.
std::string_view builtin_hint(std::string_view name);
// The functions of triton.language.standard that kernels name themselves, as combine functions of reductions.
Named standard_function(std::string_view name);
// The rows' names of a home, for suggestions.
std::vector<std::string_view> builtin_names(std::uint8_t home);

using Scope = std::unordered_map<std::string_view, Operand>;

struct Frame {
  const Names* names = nullptr;
  const py::Module* file = nullptr;
  std::uint16_t file_number = 0;
  bool kernel = false;
  bool defaults = false;  // evaluating default values: plain globals may be read
  Scope scope;
  std::optional<Operand> result;  // what its returns give, where they were rehearsed: a constant only if all give it
};

class Lowering {
 public:
  Lowering(const Names& names, const py::Module& file, const py::Stmt& kernel, int num_warps);
  Function lower(std::span<const ArgumentSpec> arguments);

  // ---- lower_types.cpp
  struct Pairing {
    bool left_pointer = false, right_pointer = false, arithmetic = true, division = false;
  };
  Type type(ValueId v) const { return out_.type(v); }  // a copy: emitting moves the types
  ValueId to_tensor(const Operand& v);
  ValueId constant(const ConstValue& v, Elem elem, Shape shape = {});
  ValueId integer_like(const Integer& v, ValueId like);
  ValueId real_like(double v, ValueId like);
  ValueId cast(ValueId v, Elem elem);
  ValueId cast_toward_zero(ValueId v, Elem elem);
  ValueId bitcast(ValueId v, Elem elem);
  std::pair<ValueId, ValueId> pair(const Operand& a, const Operand& b, Pairing how);
  std::pair<ValueId, ValueId> pair(const Operand& a, const Operand& b) { return pair(a, b, Pairing()); }
  void broadcast_pair(ValueId& a, ValueId& b);
  ValueId broadcast_to(ValueId v, Shape shape);
  ValueId expand_dims(ValueId v, int axis);
  ValueId reshape(ValueId v, Shape shape);
  ValueId promote_bfloat16(ValueId v) { return type(v).elem == Elem::bf16 ? cast(v, Elem::f32) : v; }
  Elem computation_elem(Elem a, bool a_literal, Elem b, bool b_literal, bool division);
  static Elem integer_promote(Elem a, Elem b);
  Elem literal_elem(const ConstValue& v);

  // ---- lower_expr.cpp
  Operand eval(const py::Expr& e);
  Operand binary(py::Op op, const Operand& a, const Operand& b);
  Operand unary(py::Op op, const Operand& a);
  Operand compare(py::Op op, const Operand& a, const Operand& b);
  Operand power(const Operand& a, const Operand& b);
  bool truth(const Operand& v, std::string_view what);
  bool decided(const Operand& v, std::string_view what);
  ValueId condition(const Operand& v, std::string_view what);

 private:
  friend struct BuiltinTable;
  using Stmts = std::span<const py::Stmt* const>;

  // ---- lower.cpp
  void bind_parameters(const py::Stmt& kernel, std::span<const ArgumentSpec> arguments);
  Operand bind(const py::Parameter& parameter, const std::string& name, const ArgumentSpec& argument);
  void refuse_marked(const py::Parameter& p) const;
  void run_assign(const py::Stmt& s);
  void run_annotated(const py::Stmt& s);
  void run_augmented(const py::Stmt& s);
  void assign(const py::Expr& target, Operand value);
  void set_name(std::string_view name, Operand value);
  Operand run_time(Operand v, std::string_view what);
  [[noreturn]] void refuse_statement(const py::Stmt& s);

  // ---- lower_control.cpp
  struct Unroll {
    const py::Stmt* loop = nullptr;
    std::int64_t next = 0, end = 0, step = 1;
    bool done() const { return step > 0 ? next >= end : next <= end; }
  };
  // What follows a list of statements inside the function: needed where a `return` ends only some of the paths.
  struct Rest {
    Stmts statements;
    const Unroll* loop = nullptr;
    const Rest* next = nullptr;
  };
  std::optional<Operand> run_body(Stmts body);
  Operand common_result(Operand a, Operand b);
  Operand as_result(Operand v, const Operand& like);
  // The returned value, or nothing where the end was reached.
  std::optional<Operand> run(Stmts statements, const Rest* rest);
  std::optional<Operand> resume(const Rest* rest);
  std::optional<Operand> run_returning_if(ValueId condition, const py::Stmt& s, const Rest& rest);
  [[noreturn]] void refuse_return(const py::Stmt& s);
  void run_if(ValueId condition, const py::Stmt& s);
  std::vector<ValueId> join_arms(Op op, const std::vector<ValueId> (&yielded)[2]);
  void run_while(const py::Stmt& s);
  struct Range {
    Operand lo, hi, step;
    bool is_static = false;
  };
  Range loop_range(const py::Stmt& s);
  void run_for(const py::Stmt& s, const Range& range);
  Unroll unroll(const py::Stmt& s, const Range& range);
  struct Carried {
    std::string_view name;
    Operand before;
  };
  std::vector<Carried> carried(const py::Stmt& s, std::string_view except);
  std::vector<ValueId> yields(const std::vector<Carried>& names, const py::Stmt& s);
  void leave_loop(const std::vector<Carried>& names, Scope before, std::span<const ValueId> results,
                  std::string_view variable);
  void check_constants(const py::Stmt& s, const Scope& before);
  Operand conditional(const py::Expr& e);

  // ---- lower_expr.cpp
  Operand eval_one(const py::Expr& e);
  Operand eval_subscript(const py::Expr& e);
  Operand eval_logic(const py::Expr& e);
  Operand eval_compare(const py::Expr& e);
  Operand eval_comprehension(const py::Expr& e);
  std::string eval_fstring(const py::Expr& e);

  // ---- lower_names.cpp
  Operand eval_name(const py::Expr& e);
  Operand from_named(const Named& named, std::string_view name);
  Operand eval_attribute(const py::Expr& e);
  Operand attribute(const Operand& object, std::string_view name);
  Operand path_attribute(const std::string& path);
  Operand type_attribute(const ConstValue& v, std::string_view name);

  // ---- lower_call.cpp
  Operand eval_call(const py::Expr& e);
  Operand call_builtin(const Builtin& row, std::string name, std::vector<Operand> args,
                       std::vector<std::pair<std::string_view, Operand>> kwargs);
  Operand call_of_constants(const Operand& f, const std::vector<Operand>& args,
                            const std::vector<std::pair<std::string_view, Operand>>& kwargs);
  Operand call_function(const Operand& f, std::vector<Operand> args,
                        std::vector<std::pair<std::string_view, Operand>> kwargs);
  Operand make_record(const Operand& record, std::vector<Operand> args,
                      std::vector<std::pair<std::string_view, Operand>> kwargs);
  Operand call_type_method(const ConstValue& of, std::string_view name);
  Operand call_constant_method(const ConstValue& of, std::string_view name, const std::vector<Operand>& args);
  Operand call_math(std::string_view name, std::span<const Operand> args);
  Operand call_limits(const std::string& callee, const std::vector<Operand>& args);

  // ---- builtin_*.cpp: the handlers of the table
  Operand b_program_id(Call& c);
  Operand b_arange(Call& c);
  Operand b_full(Call& c);
  Operand b_zeros(Call& c);
  Operand b_zeros_like(Call& c);
  Operand b_cast(Call& c);
  Operand b_to_tensor(Call& c);
  Operand b_pointer_type(Call& c);
  Operand b_broadcast(Call& c);
  Operand b_broadcast_to(Call& c);
  Operand b_expand_dims(Call& c);
  Operand b_reshape(Call& c);
  Operand b_ravel(Call& c);
  Operand b_trans(Call& c);
  Operand b_join(Call& c);
  Operand b_split(Call& c);
  Operand b_interleave(Call& c);
  Operand b_cat(Call& c);
  Operand b_item(Call& c);
  Operand b_load(Call& c);
  Operand b_store(Call& c);
  Operand b_atomic(Call& c);
  Operand b_atomic_cas(Call& c);
  Operand b_make_block_ptr(Call& c);
  Operand b_advance(Call& c);
  Operand b_make_descriptor(Call& c);
  Operand b_descriptor(Call& c);
  Operand b_unary(Call& c);
  Operand b_abs(Call& c);
  Operand b_minmax(Call& c);
  Operand b_python_minmax(Call& c);
  Operand b_python_abs(Call& c);
  Operand b_clamp(Call& c);
  Operand b_where(Call& c);
  Operand b_fma(Call& c);
  Operand b_fdiv(Call& c);
  Operand b_arithmetic(Call& c);
  Operand b_mul_high(Call& c);
  Operand b_cdiv(Call& c);
  Operand b_sigmoid(Call& c);
  Operand b_softmax(Call& c);
  Operand b_swizzle2d(Call& c);
  Operand b_lib_binary(Call& c);
  Operand b_lib(Call& c);
  Operand b_lib_norm(Call& c);
  Operand b_lib_bits(Call& c);
  Operand b_lib_parts(Call& c);
  Operand b_lib_convert(Call& c);
  Operand b_lib_words(Call& c);
  Operand b_lib_inverse(Call& c);
  Operand b_random(Call& c);
  Operand b_philox(Call& c);
  Operand b_uniform(Call& c);
  Operand b_sum(Call& c);
  Operand b_max(Call& c);
  Operand b_argmax(Call& c);
  Operand b_bits(Call& c);
  Operand b_scan(Call& c);
  Operand b_reduce(Call& c);
  Operand b_map(Call& c);
  Operand b_flip(Call& c);
  Operand b_gather(Call& c);
  void check_pairs(const Call& c, const Shape& pairs) const;
  Operand b_histogram(Call& c);
  Operand b_sort(Call& c);
  Operand b_dot(Call& c);
  Operand b_static_assert(Call& c);
  Operand b_device_assert(Call& c);
  Operand b_ignore(Call& c);
  Operand b_pass_through(Call& c);
  Operand b_unsupported(Call& c);
  Operand b_constexpr(Call& c);
  Operand b_warps(Call& c);
  Operand b_float(Call& c);
  Operand b_len(Call& c);
  Operand b_isinstance(Call& c);
  Operand b_hasattr(Call& c);
  Operand b_triton(Call& c);
  Operand b_int_dtype(Call& c);

  // Helpers of the handlers.
  ValueId tensor_arg(Call& c, std::size_t i);
  ValueId float_arg(Call& c, std::size_t i);
  std::int64_t integer_arg(Call& c, std::size_t i, std::string_view what);
  bool flag_arg(Call& c, std::size_t i, std::string_view what);
  std::optional<std::string> string_arg(Call& c, std::size_t i, std::string_view what);
  Type type_arg(Call& c, std::size_t i);
  Shape shape_of(const Operand& v, std::string_view who);
  int axis_of(std::int64_t axis, int rank, std::string_view who);
  std::vector<Operand> list_arg(const Operand& v);
  ValueId reduce(ValueId v, std::optional<int> axis, Combine combine, bool keep_dims);
  ValueId pick(ValueId v, int axis, std::int64_t which);
  ValueId flip(ValueId v, int dim);
  ValueId positions(const Shape& shape, int axis, Elem elem);
  ValueId ordered_bits(ValueId v);
  ValueId join(ValueId a, ValueId b);
  ValueId dot(ValueId a, ValueId b, ValueId acc, Elem elem, Precision precision);
  std::optional<Combine> combine_of(const Operand& f);
  using Values = std::vector<ValueId>;
  Values combined(const Operand& f, const Values& a, const Values& b);
  Values reduce_with(const Operand& f, Values values, int axis);
  Values scan_with(const Operand& f, Values values, int axis, bool reverse);
  struct BlockAccess {
    ValueId pointer = kNoValue, mask = kNoValue;
  };
  BlockAccess block_access(const Operand& pointer, const Operand& boundary_check, std::string_view who);
  Operand block_pointer(const Operand& base, const Operand (&parts)[3], const Operand& block, std::string_view who);
  Operand load_block(Call& c);
  void store_block(Call& c);
  ValueId scalar_integer(const Operand& v, Elem elem, std::string_view who);
  std::vector<ValueId> float_args(Call& c);
  ValueId unsigned_bits(ValueId v);
  ValueId count_bits(ValueId v);
  std::vector<Operand> call_on_lanes(const Operand& f, std::vector<Operand> args);
  void philox(ValueId (&counter)[4], ValueId (&key)[2], std::int64_t rounds);
  ValueId uniform(ValueId bits);
  std::pair<ValueId, ValueId> normal(ValueId u1, ValueId u2);

 public:
  // ---- emitting
  ValueId emit(Code code, std::vector<ValueId> operands, Type result);
  ValueId emit(Op op, Type result);
  void emit_effect(Op op);
  ValueId emit1(Code code, ValueId a) { return emit(code, {a}, type(a)); }
  ValueId emit2(Code code, ValueId a, ValueId b) { return emit(code, {a, b}, type(a)); }
  ValueId emit_compare(Code code, ValueId a, ValueId b) { return emit(code, {a, b}, with_elem(type(a), Elem::i1)); }
  ValueId select(ValueId c, ValueId a, ValueId b) { return emit(Code::select, {c, a, b}, type(a)); }

  // ---- values that are made of several of the IR's
  static void flatten(const Operand& v, std::vector<ValueId>& out);
  static std::vector<ValueId> flatten(const Operand& v);
  static Operand rebuild(const Operand& like, std::span<const ValueId>& ids);
  static bool same(const Operand& a, const Operand& b);
  Operand slice_of(const std::vector<Operand>& items, const Operand& slice) const;
  static bool equal(const Operand& a, const Operand& b);  // as Python has it: 1 is True is 1.0
  bool same_type(const Operand& a, const Operand& b, bool shapes = true) const;
  std::string operand_text(const Operand& v) const;

  // ---- errors
  [[noreturn]] void refuse(std::string message, std::string note = {}, ErrorCode code = ErrorCode::kernel) const;
  void step(std::size_t work = 1);

 private:
  // Sets the line of what is emitted and refused while it lives; counts the depth of the recursion.
  class At {
   public:
    At(Lowering& l, py::Place place);
    ~At();
    At(const At&) = delete;
    At& operator=(const At&) = delete;

   private:
    Lowering& l_;
    py::Place before_;
  };

  const py::Stmt& kernel_;
  int num_warps_;
  const py::Expr* call_ = nullptr;  // of the builtin that is being called
  Function out_;
  Block* block_ = nullptr;
  Frame* frame_ = nullptr;
  Frame kernel_frame_;
  bool exact_ = false;      // in a call that says so: no approximate instructions
  bool rehearsal_ = false;  // what is emitted is thrown away (lower_control.cpp)
  bool lanes_ = false;      // in a function of scalars that runs on tiles: an element each
  py::Place place_;
  int depth_ = 0;
  int calls_ = 0;
  int loops_ = 0;
  std::size_t steps_ = 0;
  std::size_t ops_ = 0;
};

// Names that a list of statements assigns, inner ones included; a `return` anywhere inside, or null.
void assigned_names(std::span<const py::Stmt* const> statements, std::set<std::string_view>& out);
const py::Stmt* first_return(std::span<const py::Stmt* const> statements);
inline bool contains_return(std::span<const py::Stmt* const> statements) { return first_return(statements) != nullptr; }

}  // namespace passnet::tile
