// Index algebra: sizes as polynomials over symbols, index expressions as linear forms over coordinates.
//
// A pass serves every shape of its task, so sizes are symbols with the value that the author saw (`Symbol::value`). A
// size of 1 is the number 1: what broadcasts is part of a kernel's structure, how large the rest is, is not. Views
// become maps of index expressions; the laws here bring them back to the short form that a person would write.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace passnet::author {

// What sums and products stop at. No tensor is so large, and its opposite is a number, too.
inline constexpr std::int64_t kFarthest = std::numeric_limits<std::int64_t>::max();

// A size: a sum of integer * product of symbols. The key lists the symbols, sorted; the empty key is the constant.
struct Dim {
  std::map<std::vector<int>, std::int64_t> terms;
  Dim() = default;
  Dim(std::int64_t value) {  // NOLINT(google-explicit-constructor)
    if (value != 0) terms[{}] = std::max(value, -kFarthest);
  }
  std::optional<std::int64_t> constant() const;
  bool is(std::int64_t value) const { return constant() == value; }
  bool operator==(const Dim&) const = default;
};
Dim operator+(const Dim& a, const Dim& b);
Dim operator-(const Dim& a, const Dim& b);
Dim operator*(const Dim& a, const Dim& b);
// a / b where every term of a is divisible by the single term of b.
std::optional<Dim> divide_exactly(const Dim& a, const Dim& b);

struct Symbol {
  std::string name;        // in kernels: "x_1"
  std::string host;        // in the wrapper: "x.shape[1]"
  std::int64_t value = 0;  // in the graph that the author reads
  std::string definition;  // what the wrapper computes `host` by, where that is a variable of its own
  std::optional<Dim> same_as;
};

struct Expr;

// What a linear form is linear in.
struct Atom {
  enum class Kind : std::uint8_t {
    coordinate,  // a loop's variable, 0 <= it < size
    quotient,    // inner // by
    remainder,   // inner % by
    value,       // computed in the kernel: an index that was loaded, or found by arithmetic on floats
  } kind = Kind::coordinate;
  int id = 0;
  Dim size;  // an upper bound (exclusive); of values unknown
  std::shared_ptr<const struct Lin> inner;
  Dim by;
  const Expr* value = nullptr;
};

struct Lin {
  std::map<const Atom*, Dim, bool (*)(const Atom*, const Atom*)> terms{
      [](const Atom* a, const Atom* b) { return a->id < b->id; }};
  Dim constant;
  Lin() = default;
  Lin(Dim value) : constant(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  template <class I>
  requires std::is_integral_v<I> Lin(I value)
      : constant(static_cast<std::int64_t>(value)) {}     // NOLINT(google-explicit-constructor)
  Lin(const Atom* atom) { terms.emplace(atom, Dim(1)); }  // NOLINT(google-explicit-constructor)
  bool is_constant() const { return terms.empty(); }
};
Lin operator+(const Lin& a, const Lin& b);
Lin operator-(const Lin& a, const Lin& b);
Lin operator*(const Lin& a, const Dim& b);

using Index = std::vector<Lin>;

// The symbols and atoms of one region.
class Indices {
 public:
  Dim symbol(std::string name, std::string host, std::int64_t value);
  // A size that the wrapper computes by `definition`.
  Dim derived(const std::string& name, std::string definition, std::int64_t value);
  const std::vector<Symbol>& symbols() const { return symbols_; }
  // The two are one size in every graph that the pass is for; false where the values differ.
  bool unify(const Dim& a, const Dim& b);
  Dim resolve(const Dim& d) const;  // symbols replaced by what they are known to be
  std::int64_t value(const Dim& d) const;
  bool same(const Dim& a, const Dim& b) const { return resolve(a) == resolve(b); }

  const Atom* coordinate(Dim size);
  const Atom* of_value(const Expr* value);
  Lin quotient(const Lin& a, const Dim& by);
  Lin remainder(const Lin& a, const Dim& by);
  // The largest value, where it is known.
  std::optional<Dim> upper_bound(const Lin& a) const;
  bool surely_below(const Lin& a, const Dim& limit) const;
  bool surely_not_negative(const Lin& a) const;
  // The largest number that computing it meets in the graph that the author reads; loaded indices count as 0.
  double magnitude(const Lin& a) const;
  Lin substitute(const Lin& a, const std::map<const Atom*, Lin>& by);
  Lin simplify(Lin a);

  // Python text; `atom` names atoms, `host` asks for the wrapper's spelling of sizes.
  std::string text(const Dim& d, bool host) const;
  template <class F>
  std::string text(const Lin& a, const F& atom) const;
  std::string key(const Dim& d) const { return text(d, false); }
  std::string key(const Lin& a) const;

 private:
  const Atom* intern(Atom atom, const std::string& key);
  std::vector<Symbol> symbols_;
  std::vector<std::unique_ptr<Atom>> atoms_;
  std::map<std::string, const Atom*> by_key_;
};

// Every coordinate that an expression depends on, through quotients and remainders.
template <class F>
void visit_atoms(const Lin& a, const F& visit) {
  for (const auto& [atom, coefficient] : a.terms) {
    visit(atom);
    if (atom->inner) visit_atoms(*atom->inner, visit);
  }
}

std::string product_text(const std::string& a, const std::string& b);

template <class F>
std::string Indices::text(const Lin& a, const F& atom) const {
  std::string out;
  for (const auto& [at, coefficient] : a.terms) {
    const Dim c = resolve(coefficient);
    std::string part = atom(at);
    const bool negative = c.constant() && *c.constant() < 0;
    const Dim positive = negative ? Dim(-*c.constant()) : c;
    if (!positive.is(1)) part = product_text(part, text(positive, false));
    if (out.empty())
      out = negative ? "-" + part : part;
    else
      out += (negative ? " - " : " + ") + part;
  }
  const Dim c = resolve(a.constant);
  if (out.empty()) return text(c, false);
  if (const auto k = c.constant()) {
    if (*k < 0) return out + " - " + std::to_string(-*k);
    return *k == 0 ? out : out + " + " + std::to_string(*k);
  }
  return out + " + " + text(c, false);
}

}  // namespace passnet::author
