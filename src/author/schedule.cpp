#include "author/schedule.h"

#include <algorithm>
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

  bool depends(const Tensor* on, const Tensor* tensor) {
    if (tensor == on) return true;
    if (tensor->id < on->id) return false;
    for (const Tensor* u : tensor->uses)
      if (depends(on, u)) return true;
    return false;
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
    return out;
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
          if (s.tensor != root && !here && depends(s.tensor, p)) conflict = s.tensor;
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
    root->element(probe, index);
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
    const Expr* value = root->element(kernel, index);
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
