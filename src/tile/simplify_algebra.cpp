// Laws over values, a row each: pattern, result, the types it holds for.
//
// In a row a small letter is any value (equal letters, equal values), a capital letter a constant, a number a constant
// of that value (-1 in an integer: all bits). Operands of commutative ops match in either order (an inner op takes the
// first order that fits it, hence some rows in two spellings). No law changes a bit of a float's result; which NaN
// comes out is not fixed.
#include <array>
#include <charconv>

#include "tile/simplify.h"

namespace passnet::tile {

namespace {

enum : unsigned {
  kBool = 1,
  kSigned = 2,
  kUnsigned = 4,
  kFloats = 8,
  kPointers = 16,
  kInts = kBool | kSigned | kUnsigned,
  kNumbers = kInts | kFloats,
  kExact = kInts | kPointers,  // where x = x
  kAll = kNumbers | kPointers,
  kOnce = 32,  // inner ops have no other use: the law would compute them twice
};

struct Law {
  std::string_view pattern;
  std::string_view result;
  unsigned types;  // of the first operand; of select's second
};

// clang-format off
constexpr Law kLaws[] = {
    // sums
    {"add(x, 0)", "x", kInts},                               // not floats: -0 + 0 = 0
    {"add(x, -0)", "x", kFloats},                            // -0 is the neutral one
    {"sub(x, 0)", "x", kNumbers},                            // -0 - 0 = -0
    {"sub(x, x)", "0", kInts},                               // not floats: inf - inf
    {"sub(0, x)", "neg(x)", kInts},                          // not floats: 0 - 0 = 0, -(0) = -0
    {"add(x, neg(y))", "sub(x, y)", kNumbers},               // IEEE defines subtraction so
    {"sub(x, neg(y))", "add(x, y)", kNumbers},
    {"neg(neg(x))", "x", kNumbers},
    {"sub(x, C)", "add(x, neg(C))", kSigned},                // one form for both, so that constants meet
    {"add(add(x, C), D)", "add(x, add(C, D))", kInts},       // integers wrap: sums associate
    {"add(sub(x, y), y)", "x", kInts},
    {"sub(add(x, y), y)", "x", kInts},
    {"sub(add(y, x), y)", "x", kInts},

    // products
    {"mul(x, 1)", "x", kNumbers},
    {"mul(x, 0)", "0", kInts},                               // not floats: sign, inf, NaN
    {"mul(x, -1)", "neg(x)", kSigned | kFloats},
    {"mul(mul(x, C), D)", "mul(x, mul(C, D))", kInts},       // integers wrap: products associate
    {"mul(neg(x), neg(y))", "mul(x, y)", kNumbers},
    {"div(x, 1)", "x", kNumbers},
    {"div(0, x)", "0", kInts},                               // by 0 too
    {"div(neg(x), neg(y))", "div(x, y)", kFloats},
    {"rem(x, 1)", "0", kInts},
    {"rem(0, x)", "0", kInts},
    {"fma(x, 1, y)", "add(x, y)", kFloats},
    {"fma(1, x, y)", "add(x, y)", kFloats},

    // order
    {"min(x, x)", "x", kNumbers},
    {"max(x, x)", "x", kNumbers},
    {"min_nan(x, x)", "x", kNumbers},
    {"max_nan(x, x)", "x", kNumbers},
    {"min_nan(x, y)", "min(x, y)", kInts},                   // no NaN among integers
    {"max_nan(x, y)", "max(x, y)", kInts},
    {"min(min(x, C), D)", "min(x, min(C, D))", kInts},
    {"max(max(x, C), D)", "max(x, max(C, D))", kInts},
    {"abs(abs(x))", "abs(x)", kNumbers},
    {"abs(neg(x))", "abs(x)", kSigned | kFloats},
    {"eq(x, x)", "1", kExact},                               // not floats: NaN
    {"le(x, x)", "1", kExact},
    {"ge(x, x)", "1", kExact},
    {"ne(x, x)", "0", kExact},
    {"lt(x, x)", "0", kExact | kFloats},
    {"gt(x, x)", "0", kExact | kFloats},

    // bits
    {"and(x, x)", "x", kInts},
    {"and(x, 0)", "0", kInts},
    {"and(x, -1)", "x", kInts},
    {"and(x, not(x))", "0", kInts},
    {"and(and(x, y), y)", "and(x, y)", kInts},
    {"and(and(y, x), y)", "and(y, x)", kInts},
    {"or(x, x)", "x", kInts},
    {"or(x, 0)", "x", kInts},
    {"or(x, -1)", "-1", kInts},
    {"or(x, not(x))", "-1", kInts},
    {"or(or(x, y), y)", "or(x, y)", kInts},
    {"or(or(y, x), y)", "or(y, x)", kInts},
    {"xor(x, x)", "0", kInts},
    {"xor(x, 0)", "x", kInts},
    {"xor(x, -1)", "not(x)", kInts},
    {"not(not(x))", "x", kInts},
    {"shl(x, 0)", "x", kInts},
    {"shr(x, 0)", "x", kInts},
    {"shl(0, x)", "0", kInts},
    {"shr(0, x)", "0", kInts},

    // truth: an i1 is an integer of one bit, so its arithmetic is logic
    {"add(x, y)", "xor(x, y)", kBool},
    {"sub(x, y)", "xor(x, y)", kBool},
    {"mul(x, y)", "and(x, y)", kBool},
    {"div(x, y)", "and(x, y)", kBool},                       // by 0: 0
    {"rem(x, y)", "0", kBool},
    {"min(x, y)", "and(x, y)", kBool},
    {"max(x, y)", "or(x, y)", kBool},
    {"neg(x)", "x", kBool},
    {"abs(x)", "x", kBool},
    {"shl(x, y)", "and(x, not(y))", kBool},
    {"shr(x, y)", "and(x, not(y))", kBool},
    {"ne(x, y)", "xor(x, y)", kBool},
    {"eq(x, y)", "not(xor(x, y))", kBool},
    {"lt(x, y)", "and(not(x), y)", kBool},
    {"gt(x, y)", "and(x, not(y))", kBool},
    {"le(x, y)", "or(not(x), y)", kBool},
    {"ge(x, y)", "or(x, not(y))", kBool},
    {"not(lt(x, y))", "ge(x, y)", kExact},                   // not floats: NaN; the type is that of x
    {"not(le(x, y))", "gt(x, y)", kExact},
    {"not(gt(x, y))", "le(x, y)", kExact},
    {"not(ge(x, y))", "lt(x, y)", kExact},
    {"not(eq(x, y))", "ne(x, y)", kAll},
    {"not(ne(x, y))", "eq(x, y)", kAll},

    // choice
    {"select(1, x, y)", "x", kAll},
    {"select(0, x, y)", "y", kAll},
    {"select(c, x, x)", "x", kAll},
    {"select(not(c), x, y)", "select(c, y, x)", kAll},
    {"select(c, select(c, x, y), z)", "select(c, x, z)", kAll},
    {"select(c, x, select(c, y, z))", "select(c, x, z)", kAll},
    {"select(c, 1, 0)", "c", kBool},
    {"select(c, 0, 1)", "not(c)", kBool},
    {"select(c, x, 0)", "and(c, x)", kBool},
    {"select(c, 1, x)", "or(c, x)", kBool},

    // pointers
    {"addptr(x, 0)", "x", kPointers},
};
// clang-format on

struct Term {
  enum class Kind : std::uint8_t { value, constant, number, op } kind = Kind::value;
  Code code = Code::constant;
  char name = 0;
  double number = 0;
  std::vector<Term> terms;
};

struct CompiledLaw {
  Term pattern;
  Term result;
  unsigned types;
};

// A row's text, which is ours, so every word is known.
Term read_term(std::string_view& text) {
  const auto skip = [&] {
    while (!text.empty() && (text[0] == ' ' || text[0] == ',')) text.remove_prefix(1);
  };
  skip();
  Term out;
  const std::size_t end = std::min(text.find_first_of("(), "), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  if (!text.empty() && text[0] == '(') {
    out.kind = Term::Kind::op;
    for (const OpRow& row : kOps)
      if (row.name == word) out.code = row.code;
    text.remove_prefix(1);
    while (skip(), text[0] != ')') out.terms.push_back(read_term(text));
    text.remove_prefix(1);
  } else if (word[0] == '-' || (word[0] >= '0' && word[0] <= '9')) {
    out.kind = Term::Kind::number;
    std::from_chars(word.data(), word.data() + word.size(), out.number);
  } else {
    out.kind = word[0] >= 'A' && word[0] <= 'Z' ? Term::Kind::constant : Term::Kind::value;
    out.name = word[0];
  }
  return out;
}

using Index = std::array<std::vector<CompiledLaw>, std::size(kOps)>;

const Index& laws() {
  static const Index index = [] {
    Index out;
    for (const Law& law : kLaws) {
      std::string_view pattern = law.pattern, result = law.result;
      Term root = read_term(pattern);
      const auto code = static_cast<std::size_t>(root.code);
      out[code].push_back({std::move(root), read_term(result), law.types});
    }
    return out;
  }();
  return index;
}

unsigned class_of(const Type& t) {
  if (t.pointer) return kPointers;
  if (t.elem == Elem::i1) return kBool;
  return is_float(t.elem) ? kFloats : elem_row(t.elem).is_signed ? kSigned : kUnsigned;
}

Bits number_bits(const Type& type, double number) {
  return is_float(type.elem) ? bits_of_real(type.elem, number)
                             : bits_of_integer(type.elem, static_cast<std::int64_t>(number));
}

using Bindings = std::array<ValueId, 128>;

class Matcher {
 public:
  Matcher(Rewriter& r, unsigned types) : r_(r), once_((types & kOnce) != 0) { bound_.fill(kNoValue); }

  bool operands(const Term& term, std::span<const ValueId> values) {
    if (values.size() != term.terms.size()) return false;
    const Bindings before = bound_;
    if (in_order(term, values, false)) return true;
    bound_ = before;
    return is_commutative(term.code) && in_order(term, values, true);
  }

  ValueId build(const Term& term, const Type& type) {
    switch (term.kind) {
      case Term::Kind::value:
      case Term::Kind::constant: return bound_[static_cast<std::size_t>(term.name)];
      case Term::Kind::number: return r_.make_constant(type, number_bits(type, term.number));
      case Term::Kind::op: break;
    }
    std::vector<ValueId> values;
    for (const Term& inner : term.terms) values.push_back(build(inner, type));
    Type out = r_.type(values[term.code == Code::select ? 1 : term.code == Code::dot ? 2 : 0]);
    if (op_row(term.code).kind == OpClass::compare) out = with_elem(out, Elem::i1);
    return r_.make(term.code, std::move(values), out);
  }

 private:
  bool in_order(const Term& term, std::span<const ValueId> values, bool swapped) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!value(term.terms[i], values[swapped ? 1 - i : i])) return false;
    return true;
  }

  bool value(const Term& term, ValueId v) {
    switch (term.kind) {
      case Term::Kind::constant:
        if (!r_.constant(v)) return false;
        [[fallthrough]];
      case Term::Kind::value: {
        ValueId& bound = bound_[static_cast<std::size_t>(term.name)];
        if (bound == kNoValue) bound = v;
        return bound == v;
      }
      case Term::Kind::number: {
        const auto bits = r_.constant(v);
        return bits && *bits == number_bits(r_.type(v), term.number);
      }
      case Term::Kind::op: break;
    }
    const Op* op = r_.def(v, term.code);
    return op != nullptr && (!once_ || r_.used_once(v)) && operands(term, op->operands);
  }

  Rewriter& r_;
  bool once_;
  Bindings bound_;
};

}  // namespace

ValueId apply_algebra(Rewriter& r, const Op& op, const Type& type) {
  for (const CompiledLaw& law : laws()[static_cast<std::size_t>(op.code)]) {
    // `not` of a comparison is a law over what is compared.
    const Term& first = law.pattern.terms[0];
    ValueId decides = op.operands[op.code == Code::select ? 1 : 0];
    if (op.code == Code::bit_not && first.kind == Term::Kind::op && op_row(first.code).kind == OpClass::compare) {
      const Op* inner = r.def(decides, first.code);
      if (inner == nullptr) continue;
      decides = inner->operands[0];
    }
    if ((class_of(r.type(decides)) & law.types) == 0) continue;
    Matcher matcher(r, law.types);
    if (matcher.operands(law.pattern, op.operands)) return matcher.build(law.result, type);
  }
  return kNoMatch;
}

}  // namespace passnet::tile
