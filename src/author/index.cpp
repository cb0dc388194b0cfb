#include "author/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace passnet::author {

std::optional<std::int64_t> Dim::constant() const {
  if (terms.empty()) return 0;
  if (terms.size() == 1 && terms.begin()->first.empty()) return terms.begin()->second;
  return std::nullopt;
}

namespace {

std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) return a < 0 ? -kFarthest : kFarthest;
  return std::max(out, -kFarthest);
}
std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return (a < 0) != (b < 0) ? -kFarthest : kFarthest;
  return std::max(out, -kFarthest);
}

void add_term(Dim& d, const std::vector<int>& key, std::int64_t count) {
  const auto it = d.terms.try_emplace(key, 0).first;
  it->second = sum(it->second, count);
  if (it->second == 0) d.terms.erase(it);
}

}  // namespace

Dim operator+(const Dim& a, const Dim& b) {
  Dim out = a;
  for (const auto& [key, count] : b.terms) add_term(out, key, count);
  return out;
}
Dim operator-(const Dim& a, const Dim& b) {
  Dim out = a;
  for (const auto& [key, count] : b.terms) add_term(out, key, -count);
  return out;
}
Dim operator*(const Dim& a, const Dim& b) {
  Dim out;
  for (const auto& [ka, ca] : a.terms)
    for (const auto& [kb, cb] : b.terms) {
      std::vector<int> key = ka;
      key.insert(key.end(), kb.begin(), kb.end());
      std::sort(key.begin(), key.end());
      add_term(out, key, product(ca, cb));
    }
  return out;
}

std::optional<Dim> divide_exactly(const Dim& a, const Dim& b) {
  if (b.terms.size() != 1) {
    if (a == b && !b.terms.empty()) return Dim(1);
    return std::nullopt;
  }
  const auto& [by, count] = *b.terms.begin();
  Dim out;
  for (const auto& [key, c] : a.terms) {
    if (c % count != 0 || !std::includes(key.begin(), key.end(), by.begin(), by.end())) return std::nullopt;
    std::vector<int> rest;
    std::set_difference(key.begin(), key.end(), by.begin(), by.end(), std::back_inserter(rest));
    add_term(out, rest, c / count);
  }
  return out;
}

Lin operator+(const Lin& a, const Lin& b) {
  Lin out = a;
  out.constant = out.constant + b.constant;
  for (const auto& [atom, c] : b.terms) {
    Dim& d = out.terms[atom];
    d = d + c;
    if (d.terms.empty()) out.terms.erase(atom);
  }
  return out;
}
Lin operator*(const Lin& a, const Dim& b) {
  Lin out(a.constant * b);
  if (b.terms.empty()) return out;
  for (const auto& [atom, c] : a.terms) out.terms.emplace(atom, c * b);
  return out;
}
Lin operator-(const Lin& a, const Lin& b) { return a + b * Dim(-1); }

Dim Indices::symbol(std::string name, std::string host, std::int64_t value) {
  if (value == 1) return 1;  // what broadcasts is structure
  Dim out;
  out.terms[{static_cast<int>(symbols_.size())}] = 1;
  symbols_.push_back({std::move(name), std::move(host), value, {}, std::nullopt});
  return out;
}

Dim Indices::derived(const std::string& name, std::string definition, std::int64_t value) {
  for (std::size_t i = 0; i < symbols_.size(); ++i)
    if (value != 1 && symbols_[i].definition == definition) {
      Dim known;
      known.terms[{static_cast<int>(i)}] = 1;
      return known;
    }
  const std::string full = fmt::format("{}_{}", name, symbols_.size());
  const Dim out = symbol(full, full, value);
  if (value != 1) symbols_.back().definition = std::move(definition);
  return out;
}

bool Indices::unify(const Dim& a, const Dim& b) {
  const Dim x = resolve(a), y = resolve(b);
  if (x == y) return true;
  if (value(x) != value(y)) return false;
  const auto single = [](const Dim& d) {
    return d.terms.size() == 1 && d.terms.begin()->first.size() == 1 && d.terms.begin()->second == 1
               ? d.terms.begin()->first[0]
               : -1;
  };
  // The later symbol becomes the earlier one, any symbol a number.
  int s = single(y), t = single(x);
  if (s >= 0 && (t < 0 || t < s))
    symbols_[static_cast<std::size_t>(s)].same_as = x;
  else if (t >= 0)
    symbols_[static_cast<std::size_t>(t)].same_as = y;
  else
    return false;
  return true;
}

Dim Indices::resolve(const Dim& d) const {
  bool plain = true;
  for (const auto& [key, count] : d.terms)
    for (const int s : key) plain &= !symbols_[static_cast<std::size_t>(s)].same_as.has_value();
  if (plain) return d;
  Dim out;
  for (const auto& [key, count] : d.terms) {
    Dim term(count);
    for (const int s : key) {
      Dim factor;
      factor.terms[{s}] = 1;
      if (const auto& same = symbols_[static_cast<std::size_t>(s)].same_as) factor = resolve(*same);
      term = term * factor;
    }
    out = out + term;
  }
  return out;
}

std::int64_t Indices::value(const Dim& d) const {
  std::int64_t out = 0;
  for (const auto& [key, count] : d.terms) {
    std::int64_t term = count;
    for (const int s : key) term = product(term, symbols_[static_cast<std::size_t>(s)].value);
    out = sum(out, term);
  }
  return out;
}

const Atom* Indices::intern(Atom atom, const std::string& key) {
  if (const auto it = by_key_.find(key); it != by_key_.end()) return it->second;
  atom.id = static_cast<int>(atoms_.size());
  atoms_.push_back(std::make_unique<Atom>(std::move(atom)));
  return by_key_[key] = atoms_.back().get();
}

const Atom* Indices::coordinate(Dim size) {
  Atom a;
  a.size = std::move(size);
  return intern(std::move(a), fmt::format("coordinate {}", atoms_.size()));
}

const Atom* Indices::of_value(const Expr* value) {
  Atom a;
  a.kind = Atom::Kind::value;
  a.value = value;
  return intern(std::move(a), fmt::format("value {}", static_cast<const void*>(value)));
}

std::optional<Dim> Indices::upper_bound(const Lin& a) const {
  Dim out = resolve(a.constant);
  for (const auto& [atom, c] : a.terms) {
    if (atom->kind == Atom::Kind::value) return std::nullopt;
    for (const auto& [key, count] : resolve(c).terms)
      if (count < 0) return std::nullopt;
    out = out + resolve(c) * (resolve(atom->size) - Dim(1));
  }
  return out;
}

bool Indices::surely_below(const Lin& a, const Dim& limit) const {
  const auto bound = upper_bound(a);
  if (!bound) return false;
  // A polynomial without positive terms is not positive: every size is at least 1.
  const Dim margin = *bound - resolve(limit) + Dim(1);
  std::int64_t negative = 0, constant = 0;
  for (const auto& [key, count] : margin.terms) {
    if (key.empty())
      constant = count;
    else if (count > 0)
      return false;
    else
      negative = sum(negative, count);
  }
  return sum(constant, negative) <= 0;
}

bool Indices::surely_not_negative(const Lin& a) const {
  for (const auto& [atom, c] : a.terms) {
    if (atom->kind == Atom::Kind::value) return false;
    for (const auto& [key, count] : resolve(c).terms)
      if (count < 0) return false;
  }
  for (const auto& [key, count] : resolve(a.constant).terms)
    if (count < 0) return false;
  return true;
}

// (q * by + r) // by = q + r // by, and r // by = 0 where 0 <= r < by.
Lin Indices::quotient(const Lin& a, const Dim& divisor) {
  const Dim by = resolve(divisor);
  if (by.is(1)) return a;
  Lin whole, rest;
  for (const auto& [atom, c] : a.terms) {
    if (const auto q = divide_exactly(resolve(c), by))
      whole.terms.emplace(atom, *q);
    else
      rest.terms.emplace(atom, resolve(c));
  }
  const Dim constant = resolve(a.constant);
  if (const auto q = divide_exactly(constant, by))
    whole.constant = *q;
  else
    rest.constant = constant;
  rest = simplify(rest);
  if (rest.is_constant() && by.constant() && rest.constant.constant())
    return whole + Lin(*rest.constant.constant() / *by.constant());
  if (surely_not_negative(rest) && surely_below(rest, by)) return whole;
  if (rest.terms.size() == 1 && rest.constant.terms.empty() &&
      rest.terms.begin()->first->kind == Atom::Kind::quotient && rest.terms.begin()->second.is(1)) {
    const Atom* q = rest.terms.begin()->first;  // (x // a) // b = x // (a * b)
    return whole + quotient(*q->inner, q->by * by);
  }
  Atom atom;
  atom.kind = Atom::Kind::quotient;
  atom.inner = std::make_shared<const Lin>(rest);
  atom.by = by;
  if (const auto bound = upper_bound(rest)) {
    if (const auto q = divide_exactly(*bound + Dim(1), by))
      atom.size = *q;
    else
      atom.size = *bound + Dim(1);
  } else {
    atom.size = Dim(std::int64_t{1} << 62);
  }
  return whole + Lin(intern(atom, fmt::format("({}) // ({})", key(rest), key(by))));
}

Lin Indices::remainder(const Lin& a, const Dim& divisor) {
  const Dim by = resolve(divisor);
  if (by.is(1)) return Lin(0);
  Lin rest;
  for (const auto& [atom, c] : a.terms)
    if (!divide_exactly(resolve(c), by)) rest.terms.emplace(atom, resolve(c));
  const Dim constant = resolve(a.constant);
  if (!divide_exactly(constant, by)) rest.constant = constant;
  rest = simplify(rest);
  if (rest.is_constant() && by.constant() && rest.constant.constant())
    return Lin(*rest.constant.constant() % *by.constant());
  if (surely_not_negative(rest) && surely_below(rest, by)) return rest;
  Atom atom;
  atom.kind = Atom::Kind::remainder;
  atom.inner = std::make_shared<const Lin>(rest);
  atom.by = by;
  atom.size = by;
  return Lin(intern(atom, fmt::format("({}) % ({})", key(rest), key(by))));
}

// c * by * (x // by) + c * (x % by) = c * x
Lin Indices::simplify(Lin a) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [atom, coefficient] : a.terms) {
      if (atom->kind != Atom::Kind::remainder) continue;
      const auto q = by_key_.find(fmt::format("({}) // ({})", key(*atom->inner), key(atom->by)));
      if (q == by_key_.end()) continue;
      const auto other = a.terms.find(q->second);
      if (other == a.terms.end() || !same(other->second, coefficient * atom->by)) continue;
      Lin joined = *atom->inner * coefficient;
      const Atom* drop[] = {atom, q->second};
      for (const Atom* d : drop) a.terms.erase(d);
      a = a + joined;
      changed = true;
      break;
    }
  }
  return a;
}

double Indices::magnitude(const Lin& a) const {
  const auto size = [&](const Dim& d) { return std::fabs(static_cast<double>(value(resolve(d)))); };
  double sum = size(a.constant), inside = 0;
  for (const auto& [atom, coefficient] : a.terms) {
    double largest = 0;
    if (atom->kind == Atom::Kind::coordinate) largest = size(atom->size - Dim(1));
    if (atom->inner) {
      const double inner = magnitude(*atom->inner);
      inside = std::max(inside, inner);
      largest = atom->kind == Atom::Kind::quotient ? inner / size(atom->by) : size(atom->by);
    }
    sum += size(coefficient) * largest;
  }
  return std::max(sum, inside);
}

Lin Indices::substitute(const Lin& a, const std::map<const Atom*, Lin>& by) {
  Lin out(a.constant);
  for (const auto& [atom, c] : a.terms) {
    Lin part(atom);
    if (const auto it = by.find(atom); it != by.end())
      part = it->second;
    else if (atom->kind == Atom::Kind::quotient)
      part = quotient(substitute(*atom->inner, by), atom->by);
    else if (atom->kind == Atom::Kind::remainder)
      part = remainder(substitute(*atom->inner, by), atom->by);
    out = out + part * c;
  }
  return simplify(out);
}

std::string product_text(const std::string& a, const std::string& b) {
  const auto wrap = [](const std::string& s) {
    int depth = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      if (s[i] == '(') ++depth;
      if (s[i] == ')') --depth;
      if (depth == 0 && (s[i] == '+' || (s[i] == '-' && i > 0) || s[i] == '%' || s[i] == '/')) return "(" + s + ")";
    }
    return s;
  };
  return wrap(a) + " * " + wrap(b);
}

std::string Indices::text(const Dim& dim, bool host) const {
  const Dim d = resolve(dim);
  std::string out;
  std::int64_t constant = 0;
  for (const auto& [key, count] : d.terms) {
    if (key.empty()) {
      constant = count;
      continue;
    }
    std::string part;
    for (const int s : key) {
      const Symbol& symbol = symbols_[static_cast<std::size_t>(s)];
      part += (part.empty() ? "" : " * ") + (host ? symbol.host : symbol.name);
    }
    const std::int64_t positive = count < 0 ? -count : count;
    if (positive != 1) part += fmt::format(" * {}", positive);
    if (out.empty())
      out = count < 0 ? "-" + part : part;
    else
      out += (count < 0 ? " - " : " + ") + part;
  }
  if (out.empty()) return std::to_string(constant);
  if (constant != 0) out += fmt::format(" {} {}", constant < 0 ? '-' : '+', constant < 0 ? -constant : constant);
  return out;
}

std::string Indices::key(const Lin& a) const {
  return text(a, [](const Atom* atom) { return fmt::format("a{}", atom->id); });
}

}  // namespace passnet::author
