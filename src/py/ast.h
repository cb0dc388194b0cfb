// The syntax tree of the Python subset: one grammar for graphs, metas, passes and kernels.
//
// Nodes live in the Module's arena and never move; `Expr` and `Stmt` are plain data with a kind. Texts are views into
// the source or the arena. Every node knows the line and column (from 1) of its first character.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace passnet::py {

struct Place {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

enum class ExprKind : std::uint8_t {
  name,         // text
  none,         //
  boolean,      // integer is 0 or 1
  integer,      // integer; negative only for -2**63, which Python spells with a sign
  big_integer,  // one beyond 64 bits; text: its digits, with the base's prefix and without underscores
                // (py/arithmetic.h)
  real,         // real
  imaginary,    // real
  string,       // text, decoded; bytes literals are refused
  fstring,      // items: string | field
  field,        // f-string field: items = value [format: fstring]; text = conversion ("", "r", "s" or "a")
  ellipsis,     //
  tuple,        // items
  list,         // items
  set,          // items
  dict,         // items = key, value, key, value, ...; a null key is `**value`
  unary,        // op, items = operand
  binary,       // op, items = left, right
  logic,        // op (and_, or_), items = operands
  compare,      // ops; items = left, right, right, ...
  call,         // items = callee, positional...; keywords
  attribute,    // items = object; text
  subscript,    // items = object, index
  slice,        // items = lower, upper, step; each may be null
  lambda,       // parameters(), items = body
  conditional,  // items = test, then, else
  list_comp,    // items = element; clauses()
  set_comp,     // items = element; clauses()
  dict_comp,    // items = key, value; clauses()
  generator,    // items = element; clauses()
  starred,      // items = value
  named,        // items = target name, value (x := y)
  yield,        // [items = value]; text = "from" for `yield from`; a statement of its own, or all that is assigned
};

enum class Op : std::uint8_t {
  none,
  add,
  sub,
  mul,
  div,
  floor_div,
  mod,
  pow,
  mat_mul,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  neg,
  pos,
  invert,
  not_,
  and_,
  or_,
  lt,
  le,
  gt,
  ge,
  eq,
  ne,
  is,
  is_not,
  in,
  not_in,
};
std::string_view op_text(Op op);
// Its function in Python's module `operator`, empty where that has none; and back.
std::string_view op_name(Op op);
Op op_of_name(std::string_view name);
bool is_unary(Op op);
bool is_comparison(Op op);

struct Expr;
struct Stmt;

// A constant array in the Module's arena, its length in front of it: one pointer, where a span takes two (an Expr has
// several, most of them empty).
template <class T>
class Slice {
 public:
  Slice() = default;

  std::size_t size() const { return first_ == nullptr ? 0 : reinterpret_cast<const std::size_t*>(first_)[-1]; }
  bool empty() const { return first_ == nullptr; }
  const T* begin() const { return first_; }
  const T* end() const { return first_ + size(); }
  const T& operator[](std::size_t i) const { return first_[i]; }
  const T& front() const { return first_[0]; }
  const T& back() const { return first_[size() - 1]; }
  std::span<const T> span() const { return {first_, size()}; }
  std::span<const T> subspan(std::size_t begin) const { return span().subspan(begin); }
  operator std::span<const T>() const { return span(); }  // NOLINT(google-explicit-constructor)

  // Room for `size` > 0 items; `fill` gives the first.
  static Slice allocate(std::pmr::memory_resource& arena, std::size_t size, T*& fill) {
    static_assert(alignof(T) <= alignof(std::size_t));
    auto* block =
        static_cast<std::size_t*>(arena.allocate(sizeof(std::size_t) + size * sizeof(T), alignof(std::size_t)));
    *block = size;
    fill = reinterpret_cast<T*>(block + 1);
    Slice out;
    out.first_ = fill;
    return out;
  }

 private:
  const T* first_ = nullptr;
};

struct Keyword {  // name=value in a call; an empty name is **value
  std::string_view name;
  const Expr* value;
  Place place;
};

enum class ParameterKind : std::uint8_t { normal, var_positional, var_keyword };

struct Parameter {
  std::string_view name;
  const Expr* annotation;  // may be null
  const Expr* default_value;
  ParameterKind kind;
  bool keyword_only;
  bool positional_only;  // before a '/'
  Place place;
};

struct Clause {  // for target in iterable if condition...
  const Expr* target;
  const Expr* iterable;
  std::span<const Expr* const> conditions;
};

struct Expr {
  Expr() : integer(0) {}

  ExprKind kind = ExprKind::none;
  Op op = Op::none;
  bool parenthesised = false;  // a tuple written with its own brackets
  std::uint16_t height = 1;    // of the tree below, so that whoever recurses knows a bound (kHeightLimit)
  Place place;
  std::string_view text;
  Slice<const Expr*> items;
  Slice<Keyword> keywords;
  Slice<Op> ops;
  union {
    std::int64_t integer;
    double real;
    Slice<Parameter> own_parameters;  // read through parameters()
    Slice<Clause> own_clauses;        // read through clauses()
  };

  Slice<Parameter> parameters() const { return kind == ExprKind::lambda ? own_parameters : Slice<Parameter>(); }
  Slice<Clause> clauses() const {
    const bool has = kind >= ExprKind::list_comp && kind <= ExprKind::generator;
    return has ? own_clauses : Slice<Clause>();
  }
};
static_assert(sizeof(Expr) == 64);  // a file of weights is one Expr per number

enum class StmtKind : std::uint8_t {
  expression,   // value
  assign,       // targets = value
  annotated,    // targets[0] : annotation [= value]
  augmented,    // targets[0] op= value
  return_,      // [value]
  if_,          // value, body, orelse
  for_,         // targets[0] in value, body, orelse
  while_,       // value, body, orelse
  function,     // name, parameters, decorators, [annotation], body
  class_,       // name, bases in targets, keywords, decorators, body
  import,       // aliases
  import_from,  // name = module, level, aliases ("*" for all)
  pass,         //
  break_,       //
  continue_,    //
  raise,        // [value] [cause in annotation]
  assert_,      // value, [message in annotation]
  delete_,      // targets
  global,       // aliases (names only)
  nonlocal,     // aliases (names only)
  with,         // aliases unused; targets = contexts and `as` targets in pairs (second may be null), body
  try_,         // body, handlers, orelse, final_body
  match,        // value, body of case_
  case_,        // value = the pattern as an expression, [name after `as`], [guard in annotation], body
};

struct Alias {  // import a.b as c
  std::string_view name;
  std::string_view as;  // empty where not renamed
  Place place;
};

struct Handler {  // except type as name: body
  const Expr* type;
  std::string_view name;
  std::span<const Stmt* const> body;
  Place place;
};

struct Stmt {
  StmtKind kind = StmtKind::pass;
  Op op = Op::none;
  bool yields = false;  // a function with a yield in its own body
  std::uint32_t level = 0;
  Place place;
  std::string_view name;
  const Expr* value = nullptr;
  const Expr* annotation = nullptr;
  std::span<const Expr* const> targets;
  std::span<const Keyword> keywords;
  std::span<const Parameter> parameters;
  std::span<const Expr* const> decorators;
  std::span<const Alias> aliases;
  std::span<const Handler> handlers;
  std::span<const Stmt* const> body;
  std::span<const Stmt* const> orelse;
  std::span<const Stmt* const> final_body;
};

// A parsed file. Owns its text and its tree; moving it keeps both in place.
class Module {
 public:
  Module(std::string file, std::string source);

  const std::string& file() const { return state_->file; }
  std::string_view source() const { return state_->source; }
  std::span<const Stmt* const> body() const { return state_->body; }
  // The place as an error's `where`, with the line's text. Reads the source from its start: for errors only.
  Where where(Place place) const;

 private:
  friend class ParserBase;
  struct State {
    std::string file;
    std::string source;
    std::pmr::monotonic_buffer_resource arena;
    std::span<const Stmt* const> body;
  };
  std::unique_ptr<State> state_;
};

// The dotted text of a name or of attributes of a name ("torch.nn.functional"), or "" for any other expression.
std::string dotted_name(const Expr& expr);

}  // namespace passnet::py
