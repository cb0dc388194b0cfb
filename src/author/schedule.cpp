#include "author/schedule.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace passnet::author {

namespace {

constexpr int kRestarts = 64;
constexpr std::int64_t kPartElements = 1 << 15;  // from so many elements on, parts get kernels of their own
constexpr std::int64_t kColumnLimit = 1 << 18;   // columns of a row that a kernel holds

class Scheduler {
 public:
  Scheduler(Trace& trace, const std::map<const Tensor*, int>& written) : trace_(trace), written_(written) {}

  Schedule run(std::set<const Tensor*> stored) {
    for (int i = 0; i < kRestarts; ++i) {
      try {
        return attempt(stored);
      } catch (const Materialise& m) {
        if (!stored.insert(m.tensor).second) throw Impossible{"a value that is needed before it is there"};
      }
    }
    throw Impossible{"too many temporaries"};
  }

 private:
  static bool later(const Tensor* a, const Tensor* b) { return a->id > b->id; }

  static bool depends(const Tensor* on, const Tensor* tensor) {
    std::set<const Tensor*> seen;
    const std::function<bool(const Tensor*)> visit = [&](const Tensor* t) {
      if (t == on) return true;
      if (t->id < on->id || !seen.insert(t).second) return false;
      return std::any_of(t->uses.begin(), t->uses.end(), visit);
    };
    return visit(tensor);
  }

  Schedule attempt(const std::set<const Tensor*>& stored) {
    Schedule out;
    int next = static_cast<int>(trace_.buffers.size());
    std::vector<const Tensor*> pending(stored.begin(), stored.end());
    std::sort(pending.begin(), pending.end(), later);
    for (auto it = pending.rbegin(); it != pending.rend(); ++it) {
      const auto w = written_.find(*it);
      out.buffer_of[*it] = w != written_.end() ? w->second : next++;
    }
    while (!pending.empty()) {
      const Tensor* root = pending.front();
      pending.erase(pending.begin());
      cut_.reset();
      auto kernel = build(root, pending, out.buffer_of);
      if (offered_ && elements(root) >= kPartElements) {  // one kernel a part, without the other parts' conditions
        const Kernel::Cut cut = *offered_;
        for (std::size_t part = cut.starts.size() - 1; part-- > 0;) {
          cut_ = Part{dimension_, cut.starts[part], cut.starts[part + 1] - cut.starts[part]};
          out.kernels.insert(out.kernels.begin(), build(root, {}, out.buffer_of, pending));
        }
        continue;
      }
      std::erase_if(pending, [&](const Tensor* t) {
        return std::any_of(kernel->stores.begin(), kernel->stores.end(),
                           [&](const Kernel::Store& s) { return s.tensor == t; });
      });
      out.kernels.insert(out.kernels.begin(), std::move(kernel));
    }
    put_in_order(out.kernels, out.buffer_of);
    return out;
  }

  // What a kernel loads and stores. A load is of the input itself, of what was stored of it, or of a temporary.
  struct Accesses {
    std::vector<const Expr*> inputs;         // loads of inputs as the region got them
    std::set<const Tensor*> loaded, stored;  // stored tensors
    std::set<int> changed;                   // inputs
  };
  Accesses accesses(const Kernel& kernel, const std::map<const Tensor*, int>& buffer_of) const {
    Accesses out;
    kernel.visit_expressions([&](const Expr* e) {
      if (e->kind != Expr::Kind::load) return;
      if (e->buffer == e->of->buffer)
        out.inputs.push_back(e);
      else
        out.loaded.insert(e->of);
    });
    for (const Kernel::Store& s : kernel.stores) {
      out.stored.insert(s.tensor);
      if (!written_.contains(s.tensor)) continue;
      const int buffer = buffer_of.at(s.tensor);
      out.changed.insert(buffer);
      for (const Expr* e : out.inputs)  // another program's element may be changed already
        if (e->buffer == buffer && trace_.ix.key(e->at) != trace_.ix.key(s.at)) throw Materialise{e->of};
    }
    return out;
  }

  // What is stored comes before what loads it, what reads an input before what changes it; else kernels stay as they
  // are.
  void put_in_order(std::vector<std::unique_ptr<Kernel>>& kernels,
                    const std::map<const Tensor*, int>& buffer_of) const {
    std::vector<Accesses> all;
    for (const auto& kernel : kernels) all.push_back(accesses(*kernel, buffer_of));
    const auto common = [](const auto& a, const auto& b) {
      return std::any_of(a.begin(), a.end(), [&](const auto& item) { return b.contains(item); });
    };
    const auto overwritten = [&](std::size_t reader, std::size_t by) -> const Tensor* {
      for (const Expr* e : all[reader].inputs)
        if (reader != by && all[by].changed.contains(e->buffer)) return e->of;
      return nullptr;
    };
    std::vector<std::unique_ptr<Kernel>> out;
    std::vector<std::size_t> waiting(kernels.size());
    std::iota(waiting.begin(), waiting.end(), std::size_t{0});
    while (!waiting.empty()) {
      const auto may_run = [&](std::size_t k) {
        return std::none_of(waiting.begin(), waiting.end(), [&](std::size_t other) {
          return (other != k && common(all[k].loaded, all[other].stored)) || overwritten(other, k) != nullptr;
        });
      };
      const auto next = std::find_if(waiting.begin(), waiting.end(), may_run);
      if (next == waiting.end()) break;
      out.push_back(std::move(kernels[*next]));
      waiting.erase(next);
    }
    for (const std::size_t reader : waiting)
      for (const std::size_t by : waiting)
        if (const Tensor* input = overwritten(reader, by)) throw Materialise{input};
    kernels = std::move(out);
  }

  std::int64_t elements(const Tensor* t) const {
    std::int64_t n = 1;
    for (const Dim& d : t->shape) n *= trace_.ix.value(trace_.ix.resolve(d));
    return n;
  }

  // `stored`: what earlier kernels store in any case.
  std::unique_ptr<Kernel> build(const Tensor* root, const std::vector<const Tensor*>& pending,
                                const std::map<const Tensor*, int>& buffer_of,
                                const std::vector<const Tensor*>& stored = {}) {
    std::set<const Tensor*> first(stored.begin(), stored.end());  // stored by an earlier kernel
    for (const Tensor* p : pending)
      if (p->buffer >= 0) first.insert(p);  // what an input was
    for (;;) {
      auto kernel = std::make_unique<Kernel>(trace_.ix);
      try {
        evaluate(*kernel, root, pending, first, buffer_of);
      } catch (const Materialise& m) {
        if (std::find(pending.begin(), pending.end(), m.tensor) == pending.end() || !first.insert(m.tensor).second)
          throw;
        continue;
      }
      const Tensor* conflict = nullptr;
      for (const Kernel::Store& s : kernel->stores)
        for (const Tensor* p : pending) {
          const bool here = std::any_of(kernel->stores.begin(), kernel->stores.end(),
                                        [&](const Kernel::Store& o) { return o.tensor == p; });
          if (s.tensor != root && !here && p->buffer < 0 && depends(s.tensor, p)) conflict = s.tensor;
        }
      if (conflict == nullptr) return kernel;
      first.insert(conflict);
    }
  }

  void evaluate(Kernel& kernel, const Tensor* root, const std::vector<const Tensor*>& pending,
                const std::set<const Tensor*>& first, const std::map<const Tensor*, int>& buffer_of) {
    Indices& ix = trace_.ix;
    const std::size_t rank = root->shape.size();
    std::set<const Atom*> row_atoms;
    std::vector<const Atom*> atoms(rank, nullptr);
    const auto prepare = [&](Kernel& k) {
      for (const Tensor* t : first) k.stored_in[t] = buffer_of.at(t);
    };
    Kernel probe(ix);
    probe.probing = true;
    probe.root = kernel.root = root;
    prepare(probe);
    Index index(rank, Lin(0));
    for (std::size_t d = 0; d < rank; ++d)
      if (!ix.resolve(root->shape[d]).is(1)) index[d] = Lin(atoms[d] = ix.coordinate(ix.resolve(root->shape[d])));
    for (const Atom* a : atoms)
      if (a != nullptr) probe.rows.push_back(a);
    probe.computed(root, index);
    prepare(kernel);
    offered_.reset();
    if (!probe.reduces && !probe.axes && !cut_)
      for (const Kernel::Cut& c : probe.cuts)
        for (std::size_t d = 0; d < rank && !offered_; ++d)
          if (atoms[d] == c.coordinate && ix.same(c.starts.back(), root->shape[d])) {
            offered_ = c;
            dimension_ = d;
          }
    if (cut_) {
      const Dim size = ix.resolve(cut_->size);
      atoms[cut_->dimension] = size.is(1) ? nullptr : ix.coordinate(size);
      index[cut_->dimension] = Lin(cut_->start) + (size.is(1) ? Lin(0) : Lin(atoms[cut_->dimension]));
    }
    std::vector<std::size_t> columns;
    for (std::size_t d = 0; d < rank; ++d) {
      if (atoms[d] == nullptr) continue;
      if (probe.axes && !probe.axes->rows.contains(atoms[d])) {
        if (probe.axes->batch.contains(atoms[d]))
          kernel.batch.push_back(atoms[d]);
        else
          columns.push_back(d);
      } else if (probe.reduces && !probe.reduce_rows.contains(atoms[d]))
        columns.push_back(d);
      else
        kernel.rows.push_back(atoms[d]);
    }
    if (probe.axes) {
      auto& own = kernel.columns.emplace_back();
      for (const std::size_t d : columns) own.push_back(atoms[d]);
    } else if (!columns.empty()) {
      std::vector<Dim> sizes;
      std::int64_t n = 1;
      for (const std::size_t d : columns) {
        sizes.push_back(ix.resolve(root->shape[d]));
        n *= ix.value(sizes.back());
      }
      if (n > kColumnLimit) throw Impossible{"rows of very many elements"};
      const auto group = kernel.column_group(sizes);
      for (std::size_t i = 0; i < columns.size(); ++i) index[columns[i]] = Lin(group[i]);
    }
    for (const Tensor* t : pending)
      if (!first.contains(t)) kernel.pending.insert(t);
    const Expr* value = kernel.computed(root, index);
    kernel.stores.push_back({root, value, kernel.linear(root->shape, index)});
  }

  struct Part {
    std::size_t dimension;
    Dim start, size;
  };
  Trace& trace_;
  const std::map<const Tensor*, int>& written_;
  std::optional<Part> cut_;             // the part of the root that is built
  std::optional<Kernel::Cut> offered_;  // parts that the last root is put together of
  std::size_t dimension_ = 0;
};

}  // namespace

Schedule schedule(Trace& trace, const std::vector<const Tensor*>& roots, const std::map<const Tensor*, int>& written) {
  return Scheduler(trace, written).run({roots.begin(), roots.end()});
}

}  // namespace passnet::author
