// What nothing needs goes: ops, carried values, results. And values are numbered anew.
//
// Needed are stores, atomics and checks, whiles (which may not end), and what these use. A carried value is needed
// where its block uses it for something needed or where its result is; using it for its own next value alone is not
// enough.
#include "tile/simplify.h"

namespace passnet::tile {

namespace {

bool has_effect(const Op& op) {
  if (op.code == Code::check || op.code == Code::while_ || writes_memory(op)) return true;
  for (const Block& block : op.blocks)
    for (const Op& inner : block.ops)
      if (has_effect(inner)) return true;
  return false;
}

class Unused {
 public:
  explicit Unused(Function& f) : f_(f), needed_(f.types.size()) {}

  bool run() {
    do {
      grew_ = false;
      mark(f_.body);
    } while (grew_);  // a loop may need at its start what it yields at its end
    sweep(f_.body);
    return changed_;
  }

 private:
  bool needed(ValueId v) const { return needed_[static_cast<std::size_t>(v)]; }
  void need(ValueId v) {
    if (needed(v)) return;
    needed_[static_cast<std::size_t>(v)] = true;
    grew_ = true;
  }
  bool kept(const Op& op) const {
    if (op.code == Code::yield || has_effect(op)) return true;
    for (const ValueId v : op.results)
      if (needed(v)) return true;
    return false;
  }

  bool carries(const Op& op, std::size_t k) const {
    if (needed(op.results[k])) return true;
    const std::size_t skip = op.code == Code::for_ ? 1 : 0;
    for (const Block& block : op.blocks)
      if (op.code != Code::if_ && needed(block.params[k + skip])) return true;
    return false;
  }

  void mark(const Block& block) {
    for (std::size_t i = block.ops.size(); i-- > 0;) {
      const Op& op = block.ops[i];
      if (!kept(op) || op.code == Code::yield) continue;
      if (op.blocks.empty()) {
        for (const ValueId v : op.operands) need(v);
        continue;
      }
      const std::size_t own = op.operands.size() - (op.code == Code::if_ ? 0 : op.results.size());
      for (std::size_t k = 0; k < own; ++k) need(op.operands[k]);  // bounds, the condition
      if (op.code == Code::while_) need(op.blocks[0].ops.back().operands[0]);
      for (std::size_t k = 0; k < op.results.size(); ++k) {
        if (!carries(op, k)) continue;
        if (op.code != Code::if_) need(op.operands[own + k]);
        for (std::size_t b = op.code == Code::while_ ? 1 : 0; b < op.blocks.size(); ++b)
          need(op.blocks[b].ops.back().operands[k]);
      }
      for (const Block& inner : op.blocks) mark(inner);
    }
  }

  template <class T>
  static void keep_where(std::vector<T>& items, std::size_t skip, const std::vector<bool>& keep) {
    std::size_t to = skip;
    for (std::size_t k = 0; k < keep.size(); ++k)
      if (keep[k]) items[to++] = items[skip + k];
    items.resize(to);
  }

  void sweep(Block& block) {
    const auto unused = [&](const Op& op) { return !kept(op); };
    changed_ = std::erase_if(block.ops, unused) > 0 || changed_;
    for (Op& op : block.ops) {
      if (op.blocks.empty()) continue;
      std::vector<bool> keep;
      bool all = true;
      for (std::size_t k = 0; k < op.results.size(); ++k) {
        keep.push_back(carries(op, k));
        all = all && keep.back();
      }
      if (!all) {
        changed_ = true;
        const std::size_t own = op.operands.size() - (op.code == Code::if_ ? 0 : op.results.size());
        if (op.code != Code::if_) keep_where(op.operands, own, keep);
        keep_where(op.results, 0, keep);
        for (std::size_t b = 0; b < op.blocks.size(); ++b) {
          if (op.code != Code::if_) keep_where(op.blocks[b].params, op.code == Code::for_ ? 1 : 0, keep);
          if (op.code != Code::while_ || b == 1) keep_where(op.blocks[b].ops.back().operands, 0, keep);
        }
      }
      for (Block& inner : op.blocks) sweep(inner);
    }
  }

  Function& f_;
  std::vector<bool> needed_;
  bool grew_ = false, changed_ = false;
};

class Renumber {
 public:
  explicit Renumber(Function& f) : f_(f), to_(f.types.size(), kNoValue) {}

  void run() {
    block(f_.body);
    f_.types = std::move(types_);
    f_.names = std::move(names_);
  }

 private:
  void define(ValueId& v) {
    const auto old = static_cast<std::size_t>(v);
    v = to_[old] = static_cast<ValueId>(types_.size());
    types_.push_back(f_.types[old]);
    names_.push_back(std::move(f_.names[old]));
  }
  void block(Block& block) {
    for (ValueId& v : block.params) define(v);
    for (Op& op : block.ops) {
      for (ValueId& v : op.operands) v = to_[static_cast<std::size_t>(v)];
      for (ValueId& v : op.results) define(v);
      for (Block& inner : op.blocks) this->block(inner);
    }
  }

  Function& f_;
  std::vector<ValueId> to_;
  std::vector<Type> types_;
  std::vector<std::string> names_;
};

}  // namespace

bool remove_unused(Function& f) { return Unused(f).run(); }

void renumber(Function& f) { Renumber(f).run(); }

}  // namespace passnet::tile
