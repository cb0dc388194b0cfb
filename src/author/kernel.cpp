#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "author/tensor.h"
#include "base/text.h"

namespace passnet::author {

namespace {

constexpr std::size_t kExpressionLimit = 4000;  // expressions of one kernel
constexpr double kCheap = 4;                    // a tensor up to this cost may be computed at several indices
constexpr int kRepeats = 40;                    // so often
constexpr int kDepthLimit = 600;
constexpr std::int64_t kSpace = 4096, kRepetition = 8;  // a kernel of so many elements computes something so often

// As a machine keeps it: an integer's low bits, with their sign.
std::int64_t wrapped(std::int64_t value, Dtype type) {
  switch (type) {
    case Dtype::boolean: return value != 0 ? 1 : 0;
    case Dtype::uint8: return static_cast<std::uint8_t>(value);
    case Dtype::int8: return static_cast<std::int8_t>(value);
    case Dtype::int16: return static_cast<std::int16_t>(value);
    case Dtype::int32: return static_cast<std::int32_t>(value);
    default: return value;
  }
}

}  // namespace

Dtype compute_dtype(Dtype dtype) {
  return dtype == Dtype::float16 || dtype == Dtype::bfloat16 ? Dtype::float32 : dtype;
}

std::string tl_dtype(Dtype dtype) {
  return dtype == Dtype::boolean ? "tl.int1" : fmt::format("tl.{}", dtype_row(dtype).name);
}

std::string neutral_text(const std::string& combine, Dtype type) {
  if (combine == "sum") return dtype_row(type).floating ? "0.0" : "0";
  if (dtype_row(type).floating) return combine == "max" ? "-float(\"inf\")" : "float(\"inf\")";
  const std::string largest = dtype_row(type).size == 8 ? "9223372036854775807" : "2147483647";
  return combine == "max" ? "-" + largest : largest;
}

const Expr* Kernel::intern(Expr e) {
  std::string key =
      fmt::format("{} {} {} {} {}", static_cast<int>(e.kind), static_cast<int>(e.type), e.text, e.buffer, ix.key(e.at));
  for (const Expr* a : e.args) key += fmt::format(" {}", a->id);
  for (const Expr* g : e.guards) key += fmt::format(" ?{}", g->id);
  for (const Atom* l : e.loops) key += fmt::format(" @{}", l->id);
  for (const int t : e.types_of) key += fmt::format(" t{}", t);
  if (e.of != nullptr) key += fmt::format(" of {}", e.of->id);
  if (const auto it = by_key_.find(key); it != by_key_.end()) return it->second;
  if (exprs_.size() > kExpressionLimit) throw Impossible{"the kernel would be too long"};
  e.id = static_cast<int>(exprs_.size());
  exprs_.push_back(std::make_unique<Expr>(std::move(e)));
  return by_key_[key] = exprs_.back().get();
}

const Expr* Kernel::literal(double value, Dtype type) {
  Expr e;
  e.type = type;
  if (!dtype_row(type).floating) return literal(static_cast<std::int64_t>(value), type);
  e.value = Value::of(value);
  if (std::isnan(value))
    e.text = "float(\"nan\")";
  else if (std::isinf(value))
    e.text = value < 0 ? "-float(\"inf\")" : "float(\"inf\")";
  else
    e.text = python_float(value);
  return intern(std::move(e));
}
const Expr* Kernel::literal(std::int64_t value, Dtype type) {
  if (dtype_row(type).floating) return literal(static_cast<double>(value), type);
  Expr e;
  e.type = type;
  e.value = Value::of(wrapped(value, type));
  e.text = type != Dtype::boolean ? std::to_string(e.value.integer) : e.value.integer != 0 ? "True" : "False";
  return intern(std::move(e));
}
const Expr* Kernel::neutral(const std::string& combine, Dtype type) {
  Expr e;
  e.type = type;
  e.text = neutral_text(combine, type);
  return intern(std::move(e));
}
Dtype Kernel::index_type(const Lin& at) const {
  return ix.magnitude(at) > std::numeric_limits<std::int32_t>::max() ? Dtype::int64 : Dtype::int32;
}
const Expr* Kernel::index(const Lin& at) {
  Expr e;
  e.kind = Expr::Kind::index;
  e.type = index_type(at);
  e.at = at;
  return intern(std::move(e));
}
const Expr* Kernel::host_number(std::string name, std::string host) {
  Expr e;
  e.text = std::move(name);
  e.host = std::move(host);
  return intern(std::move(e));
}
const Expr* Kernel::load(const Tensor* tensor, int buffer, const Index& index) {
  const Type& type = tensor->type;
  Expr e;
  e.kind = Expr::Kind::load;
  e.buffer = buffer;
  e.of = tensor;
  e.at = linear(tensor->shape, index);
  e.type = compute_dtype(type.dtype);
  if (type.like >= 0 || e.type != type.dtype) e.text = ".to(" + tl_dtype(e.type) + ")";
  e.guards = guards_;
  e.label = tensor->label;
  return intern(std::move(e));
}
const Expr* Kernel::op(std::string text, Dtype type, std::vector<const Expr*> args, std::string label) {
  Expr e;
  e.kind = Expr::Kind::op;
  e.text = std::move(text);
  e.type = type;
  e.args = std::move(args);
  e.label = std::move(label);
  return intern(std::move(e));
}

const Expr* Kernel::to(const Expr* value, Dtype type) {
  if (value->type == type) return value;
  if (value->value.kind == ValueKind::integer) return literal(value->value.integer, type);
  if (value->value.kind == ValueKind::real && dtype_row(type).floating) {
    const double real = value->value.real;
    return literal(value->type == Dtype::float32 ? double{static_cast<float>(real)} : real, type);
  }
  return op("{0}.to(" + tl_dtype(type) + ")", type, {value}, value->label);
}

const Expr* Kernel::round(const Expr* value, const Type& type) {
  value = to(value, compute_dtype(type.dtype));
  if (value->kind == Expr::Kind::load && value->of->type.dtype == type.dtype) return value;
  if (type.like >= 0) {
    if (value->kind == Expr::Kind::literal)  // a number of Python's has no dtype to round
      value = op("tl.full([], {0}, tl.float32)", Dtype::float32, {value}, value->label);
    if (value->text == "stored({0}, {t0})" && value->types_of[0] == type.like) return value;
    Expr e;
    e.kind = Expr::Kind::op;
    e.text = "stored({0}, {t0})";
    e.type = value->type;
    e.args = {value};
    e.types_of = {type.like};
    e.label = value->label;
    return intern(std::move(e));
  }
  if (type.dtype == Dtype::float16 || type.dtype == Dtype::bfloat16)
    return op("{0}.to(" + tl_dtype(type.dtype) + ").to(tl.float32)", Dtype::float32, {value}, value->label);
  return value;
}

const Expr* Kernel::inside(const Lin& at, const Dim& limit) {
  std::vector<const Expr*> both;
  if (at.is_constant()) {
    const auto value = ix.resolve(at.constant).constant(), end = ix.resolve(limit).constant();
    if (value && end) return *value >= 0 && *value < *end ? nullptr : literal(std::int64_t{0}, Dtype::boolean);
  }
  if (!ix.surely_not_negative(at)) both.push_back(op("({0} >= 0)", Dtype::boolean, {index(at)}, "inside"));
  if (!ix.surely_below(at, limit))
    both.push_back(op("({0} < {1})", Dtype::boolean, {index(at), index(Lin(limit))}, "inside"));
  return all_of(both);
}

const Expr* Kernel::all_of(const std::vector<const Expr*>& conditions) {
  const Expr* out = nullptr;
  for (const Expr* c : conditions)
    if (c != nullptr && c->kind == Expr::Kind::literal) return c;  // never
  for (const Expr* c : conditions)
    if (c != nullptr) out = out == nullptr ? c : op("({0} & {1})", Dtype::boolean, {out, c}, "inside");
  return out;
}

const Expr* Kernel::select(const Expr* condition, const std::function<const Expr*()>& then,
                           const std::function<const Expr*()>& otherwise, Dtype type) {
  if (condition == nullptr) return to(then(), type);
  if (condition->kind == Expr::Kind::literal) return to(otherwise(), type);
  guards_.push_back(condition);
  const Expr* a = to(then(), type);
  guards_.back() = op("(~{0})", Dtype::boolean, {condition}, "outside");
  const Expr* b = to(otherwise(), type);
  guards_.pop_back();
  return op("tl.where({0}, {1}, {2})", type, {condition, a, b}, a->label);
}

Lin Kernel::linear(const std::vector<Dim>& shape, const Index& index) {
  Lin out;
  Dim stride(1);
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (!ix.resolve(shape[d]).is(1)) out = out + index[d] * stride;
    stride = stride * ix.resolve(shape[d]);
  }
  return ix.simplify(out);
}

std::optional<Lin> Kernel::as_index(const Expr* value) const {
  if (dtype_row(value->type).floating || value->type == Dtype::boolean) return std::nullopt;
  if (value->kind == Expr::Kind::index) return value->at;
  if (value->value.kind == ValueKind::integer) return Lin(value->value.integer);
  if (value->text != "{0}.to(tl.int64)" && value->text != "{0}.to(tl.int32)") return std::nullopt;
  const auto at = as_index(value->args[0]);
  return at && (value->type == Dtype::int64 || index_type(*at) == Dtype::int32) ? at : std::nullopt;
}

std::vector<const Atom*> Kernel::column_group(const std::vector<Dim>& sizes) {
  for (const auto& group : columns) {
    bool equal = group.size() == sizes.size();
    for (std::size_t i = 0; equal && i < sizes.size(); ++i) equal = ix.same(group[i]->size, sizes[i]);
    if (equal) return group;
  }
  std::vector<const Atom*> out;
  for (const Dim& s : sizes) out.push_back(ix.coordinate(s));
  columns.push_back(out);
  return out;
}

std::int64_t Kernel::count(const Tensor* tensor) const {
  std::int64_t n = 1;
  for (const Dim& d : tensor->shape) n *= ix.value(ix.resolve(d));
  return n;
}

bool Kernel::covers(const Tensor* tensor, const Index& index) const {
  if (!guards_.empty()) return false;
  std::set<const Atom*> seen;
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (ix.resolve(tensor->shape[d]).is(1)) continue;
    const Lin& l = index[d];
    if (l.terms.size() != 1 || !l.constant.terms.empty()) return false;
    const auto& [atom, c] = *l.terms.begin();
    if (atom->kind != Atom::Kind::coordinate || !c.is(1) || !ix.same(atom->size, tensor->shape[d])) return false;
    if (!seen.insert(atom).second) return false;
  }
  for (const Atom* r : rows)
    if (!seen.contains(r)) return false;
  return true;
}

// Something costly that is much smaller than what the kernel walks over, and not the same along a row: computed again
// and again, it is better stored.
bool Kernel::repeated(const Tensor* tensor, const Index& index) const {
  if (probing || !columns.empty() || rows.empty() || tensor->result == nullptr || tensor->cost <= kCheap) return false;
  std::int64_t space = 1;
  for (const Atom* a : rows) space *= ix.value(ix.resolve(a->size));
  if (space < kSpace || count(tensor->result) * kRepetition > space) return false;
  bool along_row = false;
  for (const Lin& l : index) visit_atoms(l, [&](const Atom* a) { along_row |= a == rows.back(); });
  return along_row;
}

const Expr* Kernel::element(const Tensor* tensor, const Index& index) {
  if (const auto stored = stored_in.find(tensor); stored != stored_in.end()) return load(tensor, stored->second, index);
  if (tensor->buffer >= 0) return load(tensor, tensor->buffer, index);
  std::string key = fmt::format("{}", tensor->id);
  for (const Lin& l : index) key += ", " + ix.key(l);
  for (const Expr* g : guards_) key += fmt::format(" ?{}", g->id);
  if (const auto it = elements_.find(key); it != elements_.end()) return it->second;
  const bool is_pending = pending.contains(tensor);
  if (is_pending && !covers(tensor, index)) {
    first.insert(tensor);
    throw Materialise{tensor};
  }
  if (tensor->apart && tensor != root && count(root) > count(tensor)) throw Materialise{tensor};
  const int times = ++evaluations_[tensor];
  if (tensor->result != nullptr && times > 1 &&
      (tensor->once || (tensor->cost > kCheap ? times > 2 : times > kRepeats)))
    throw Materialise{tensor->result};
  if (repeated(tensor, index)) throw Materialise{tensor->result};
  if (in_factor_ && tensor->result != nullptr && tensor->cost > kCheap) throw Materialise{tensor->result};
  if (++depth_ > kDepthLimit) throw Impossible{"too deep"};
  evaluating_.push_back(tensor);
  const Expr* out = tensor->element(*this, index);
  evaluating_.pop_back();
  --depth_;
  if (is_pending) {
    const bool known = std::any_of(stores.begin(), stores.end(), [&](const Store& s) { return s.tensor == tensor; });
    if (!known) stores.push_back({tensor, out, linear(tensor->shape, index)});
  }
  return elements_[key] = out;
}

const Expr* Kernel::computed(const Tensor* tensor, const Index& index) {
  return tensor->buffer >= 0 ? load(tensor, tensor->buffer, index) : tensor->element(*this, index);
}

const Expr* Kernel::reduce(const std::string& combine, const Tensor* self, const Tensor* source,
                           const std::vector<int>& dims, const Index& kept) {
  if (in_factor_) throw Materialise{self->result != nullptr ? self->result : self};
  if (multiplied_ != nullptr) throw Materialise{multiplied_};  // a kernel reduces or multiplies
  reduces = true;
  std::vector<Dim> sizes;
  for (const int d : dims) sizes.push_back(ix.resolve(source->shape[static_cast<std::size_t>(d)]));
  for (const Lin& l : kept)
    visit_atoms(l, [&](const Atom* a) {
      if (a->kind == Atom::Kind::value) throw Materialise{self->result != nullptr ? self->result : self};
      for (const auto& group : columns)
        if (!probing && std::find(group.begin(), group.end(), a) != group.end())
          throw Materialise{self->result != nullptr ? self->result : self};
      if (a->kind == Atom::Kind::coordinate) reduce_rows.insert(a);
    });
  if (!guards_.empty()) throw Materialise{self->result != nullptr ? self->result : self};
  const std::vector<const Atom*> q = column_group(sizes);
  Index full = kept;
  for (std::size_t i = 0; i < dims.size(); ++i) full[static_cast<std::size_t>(dims[i])] = Lin(q[i]);
  Expr e;
  e.kind = Expr::Kind::reduce;
  e.text = combine;
  e.args = {element(source, full)};
  e.type = e.args[0]->type;
  e.loops = q;
  e.label = combine;
  return intern(std::move(e));
}

const Expr* Kernel::window(const std::string& combine, const std::vector<std::int64_t>& sizes,
                           const std::function<const Expr*(const std::vector<Lin>&)>& body) {
  return window(combine, sizes, [&](const std::vector<Lin>& at) { return std::vector{body(at)}; });
}

const Expr* Kernel::window_of_products(const std::vector<std::int64_t>& sizes,
                                       const std::function<Factors(const std::vector<Lin>&)>& body) {
  // it is costly: not in every branch of a choice, nor for every tap of another window
  if ((!guards_.empty() || in_window_ || in_factor_) && current()->result != nullptr)
    throw Materialise{current()->result};
  return window("sum", sizes, [&](const std::vector<Lin>& at) {
    const auto [a, b] = body(at);
    return std::vector{a, b};
  });
}

const Expr* Kernel::window(const std::string& combine, const std::vector<std::int64_t>& sizes,
                           const std::function<std::vector<const Expr*>(const std::vector<Lin>&)>& body) {
  std::vector<const Atom*> taps;
  std::vector<Lin> at;
  for (const std::int64_t s : sizes) {
    if (s == 1) {
      at.emplace_back(0);
      continue;
    }
    taps.push_back(ix.coordinate(Dim(s)));
    at.emplace_back(taps.back());
  }
  const bool outer = in_window_;
  in_window_ = true;
  std::vector<const Expr*> values = body(at);
  in_window_ = outer;
  if (taps.empty()) return values.size() == 1 ? values[0] : op("{0} * {1}", values[0]->type, values, "product");
  Expr e;
  e.kind = Expr::Kind::window;
  e.text = combine;
  e.args = std::move(values);
  e.type = e.args[0]->type;
  e.loops = taps;
  e.label = combine;
  return intern(std::move(e));
}

const Expr* Kernel::product(const Tensor* self, const Tensor* a, const Tensor* b, const Index& index) {
  // Its operator's result, or, where that is what cannot be computed with it, the sums alone.
  const Materialise stored_first{self->result != nullptr && self->result != root ? self->result : self};
  if (!guards_.empty() || reduces || in_factor_) throw stored_first;
  Axes found;
  std::set<const Atom*>* sets[] = {&found.batch, &found.rows, &found.columns};
  std::size_t coordinates = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    visit_atoms(index[i], [&](const Atom* atom) {
      if (atom->kind == Atom::Kind::value) throw stored_first;
      if (atom->kind == Atom::Kind::coordinate) sets[i]->insert(atom);
    });
    coordinates += sets[i]->size();
  }
  // every coordinate of the kernel moves exactly one of the three
  std::set<const Atom*> own(rows.begin(), rows.end());
  own.insert(batch.begin(), batch.end());
  for (const auto& group : columns) own.insert(group.begin(), group.end());
  std::set<const Atom*> moved;
  for (const auto* set : sets) moved.insert(set->begin(), set->end());
  if (coordinates != moved.size() || moved != own || (axes && *axes != found)) throw stored_first;
  axes = std::move(found);
  multiplied_ = stored_first.tensor;
  in_factor_ = true;
  const Dim depth = ix.resolve(a->shape[2]);
  Expr e;
  e.kind = Expr::Kind::product;
  e.loops = {ix.coordinate(depth), ix.coordinate(depth)};
  e.args = {to(element(a, {index[0], index[1], Lin(e.loops[0])}), Dtype::float32),
            to(element(b, {index[0], Lin(e.loops[1]), index[2]}), Dtype::float32)};
  e.type = Dtype::float32;
  e.label = "product";
  in_factor_ = false;
  return intern(std::move(e));
}

}  // namespace passnet::author
