// What a region computes, before there is a kernel: tensors as functions of an index, and the expressions that a kernel
// evaluates for one index.
//
// A Tensor knows its shape, its type and how to say its element at an index (`element`). Views are maps of indices, so
// they cost nothing; a chain of operators becomes one expression over loads when a kernel asks for its element. Where
// eager stores an intermediate in half precision, the tensor rounds there (`Kernel::round`).
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "author/index.h"
#include "graph/dtype.h"
#include "graph/graph.h"

namespace passnet::author {

// A tensor's dtype. `like`: the region's input whose dtype it is, for float32 and the halves, so that one pass serves
// the dtypes of a task; -1: this dtype whatever the inputs are.
struct Type {
  Dtype dtype = Dtype::float32;
  int like = -1;
  bool floating() const { return dtype_row(dtype).floating; }
};

// What a kernel computes in: float32 for float32 and the halves, else the dtype itself.
Dtype compute_dtype(Dtype dtype);
std::string tl_dtype(Dtype dtype);
// What a sum, a max or a min begins with.
std::string neutral_text(const std::string& combine, Dtype type);

class Kernel;
struct Tensor;

// One value that a kernel computes. Equal ones are one.
struct Expr {
  enum class Kind : std::uint8_t { literal, index, load, op, reduce, window, product } kind = Kind::literal;
  Dtype type = Dtype::float32;
  std::string text;   // a literal; an operator's template with {0}, {1}; a reduction's combine: sum, max, min
  Value value;        // of a literal that is a number
  std::string label;  // the variable's name
  std::string host;   // of a literal: the wrapper's text for it; `text` is then a parameter's name
  std::vector<const Expr*> args;
  std::vector<const Expr*> guards;  // of a load: where it may touch memory
  int buffer = -1;                  // of a load
  const Tensor* of = nullptr;       // of a load: whose elements the buffer holds
  std::vector<int> types_of;        // buffers whose dtype the text asks for: {t0}
  Lin at;                           // of a load, an index
  std::vector<const Atom*> loops;   // a reduction's columns, a window's taps, a product's depth for each factor
  int id = 0;
};

struct Tensor {
  std::vector<Dim> shape;
  Type type;
  std::function<const Expr*(Kernel&, const Index&)> element;
  std::vector<const Tensor*> uses;
  std::string label;
  double cost = 1;                 // of one element, in additions
  bool reduces = false;            // its element is a reduction
  bool once = false;               // stored rather than computed at a second index
  bool apart = false;              // stored unless a kernel has as few elements: it is put together of pieces
  const Tensor* result = nullptr;  // what eager would store: the tensor that ends its operator
  int buffer = -1;                 // the input or temporary that holds it
  NodeId node = 0;
  int id = 0;
};

// A map from a view's index to its base's, and back. Views of kernels' outputs and of inputs are made by the wrapper.
struct View {
  std::string text;  // in the wrapper: ".transpose(1, 2)", "[:, 1:]"
  std::vector<Dim> shape;
  std::function<Index(Indices&, const Index&)> to_base;
  // The index in the view and the conditions (0 <= form < limit) under which the base's element lies in it.
  struct Back {
    Index index;
    std::vector<std::pair<Lin, Dim>> inside;
  };
  std::function<Back(Indices&, const Index&)> to_view;  // may be empty: not invertible
};

// This tensor has to be stored first: it would be computed too often, or a reduction stands inside another.
struct Materialise {
  const Tensor* tensor;
};
// No kernel can be written; the reason.
struct Impossible {
  std::string why;
};

// The evaluation of one kernel: interned expressions, guards, columns.
class Kernel {
 public:
  explicit Kernel(Indices& indices) : ix(indices) {}

  // Every expression that its stores need, each once; an index's values and the guards among them.
  template <class F>
  void visit_expressions(const F& visit) const;

  Indices& ix;
  const Tensor* root = nullptr;  // what it computes
  std::vector<const Atom*> rows;
  std::vector<std::vector<const Atom*>> columns;  // groups; reductions and the output's own columns share them
  // A kernel of products: which of its coordinates their rows, their columns, and both factors move with.
  struct Axes {
    std::set<const Atom*> batch, rows, columns;
    bool operator==(const Axes&) const = default;
  };
  std::optional<Axes> axes;
  std::vector<const Atom*> batch;
  struct Store {
    const Tensor* tensor;
    const Expr* value;
    Lin at;
  };
  std::vector<Store> stores;
  std::set<const Tensor*> pending;         // stored by this kernel if it meets their elements one by one
  std::set<const Tensor*> first;           // of these, the ones that an earlier kernel has to store
  std::map<const Tensor*, int> stored_in;  // what earlier kernels stored, by buffer
  std::set<const Atom*> reduce_rows;
  bool reduces = false;
  bool probing = false;
  // Where a tensor is put together of parts along one coordinate: the parts' starts, and the end.
  struct Cut {
    const Atom* coordinate;
    std::vector<Dim> starts;
  };
  std::vector<Cut> cuts;

  const Expr* element(const Tensor* tensor, const Index& index);
  const Expr* computed(const Tensor* tensor, const Index& index);  // not from where it is stored
  const Expr* literal(double value, Dtype type);
  const Expr* literal(std::int64_t value, Dtype type);
  const Expr* neutral(const std::string& combine, Dtype type);
  const Expr* index(const Lin& at);
  const Expr* load(const Tensor* tensor, int buffer, const Index& index);
  // A number that the wrapper computes: `name` in the kernel, `host` in the wrapper.
  const Expr* host_number(std::string name, std::string host);
  // `text` with {0}, {1} for the operands.
  const Expr* op(std::string text, Dtype type, std::vector<const Expr*> args, std::string label);
  const Expr* to(const Expr* value, Dtype type);
  const Expr* round(const Expr* value, const Type& type);  // as eager stores it, still in the compute dtype
  // `self` is the tensor whose element it is; where it cannot be computed here, its operator's result is stored.
  const Expr* reduce(const std::string& combine, const Tensor* self, const Tensor* source, const std::vector<int>& dims,
                     const Index& kept);
  const Tensor* current() const { return evaluating_.empty() ? root : evaluating_.back(); }
  // Sum or maximum over taps; `body` gets their coordinates.
  const Expr* window(const std::string& combine, const std::vector<std::int64_t>& sizes,
                     const std::function<const Expr*(const std::vector<Lin>&)>& body);
  // The same for a sum of products.
  using Factors = std::pair<const Expr*, const Expr*>;
  const Expr* window_of_products(const std::vector<std::int64_t>& sizes,
                                 const std::function<Factors(const std::vector<Lin>&)>& body);
  // The sum over k of a[batch, row, k] * b[batch, k, column] at index (batch, row, column).
  const Expr* product(const Tensor* self, const Tensor* a, const Tensor* b, const Index& index);
  // 0 <= at < limit, where that is not known; null where it is.
  const Expr* inside(const Lin& at, const Dim& limit);
  const Expr* all_of(const std::vector<const Expr*>& conditions);  // null: always
  // `then` is evaluated where the condition holds only.
  const Expr* select(const Expr* condition, const std::function<const Expr*()>& then,
                     const std::function<const Expr*()>& otherwise, Dtype type);
  std::vector<const Atom*> column_group(const std::vector<Dim>& sizes);
  Lin linear(const std::vector<Dim>& shape, const Index& index);
  std::size_t size() const { return exprs_.size(); }
  // An integer that is an index expression, or a number.
  std::optional<Lin> as_index(const Expr* value) const;

 private:
  const Expr* intern(Expr e);
  Dtype index_type(const Lin& at) const;  // what it is computed in
  const Expr* window(const std::string& combine, const std::vector<std::int64_t>& sizes,
                     const std::function<std::vector<const Expr*>(const std::vector<Lin>&)>& body);
  std::int64_t count(const Tensor* tensor) const;  // its elements
  bool covers(const Tensor* tensor, const Index& index) const;
  bool repeated(const Tensor* tensor, const Index& index) const;
  std::vector<const Expr*> guards_;
  std::vector<std::unique_ptr<Expr>> exprs_;
  std::map<std::string, const Expr*> by_key_;
  std::map<std::string, const Expr*> elements_;
  std::map<const Tensor*, int> evaluations_;
  std::vector<const Tensor*> evaluating_;
  int depth_ = 0;
  const Tensor* multiplied_ = nullptr;  // the last product
  bool in_window_ = false, in_factor_ = false;
};

template <class F>
void Kernel::visit_expressions(const F& visit) const {
  std::set<const Expr*> seen;
  const std::function<void(const Expr*)> walk = [&](const Expr* e) {
    if (!seen.insert(e).second) return;
    visit(e);
    visit_atoms(e->at, [&](const Atom* a) {
      if (a->value != nullptr) walk(a->value);
    });
    for (const Expr* a : e->args) walk(a);
    for (const Expr* g : e->guards) walk(g);
  };
  for (const Store& s : stores) walk(s.value);
}

}  // namespace passnet::author
