#include "tile/effects.h"

#include <algorithm>
#include <bit>

namespace passnet::tile {

namespace {

// Sets of parameters that a pointer may come from, grown until nothing changes: loops carry pointers round.
class Origins {
 public:
  explicit Origins(const Function& f) : f_(f), words_((f.parameters.size() + 63) / 64), sets_(f.types.size() * words_) {
    for (std::size_t p = 0; p < f.body.params.size(); ++p) at(f.body.params[p])[p / 64] |= std::uint64_t{1} << (p % 64);
    do {
      changed_ = false;
      walk(f.body);
    } while (changed_);
  }

  std::vector<bool> written() const {
    std::vector<bool> out(f_.parameters.size());
    mark(f_.body, out);
    return out;
  }

  std::int32_t only(ValueId v) const {
    int count = 0;
    std::int32_t out = -1;
    for (std::size_t w = 0; w < words_; ++w) {
      count += std::popcount(at(v)[w]);
      if (at(v)[w] != 0) out = static_cast<std::int32_t>(w * 64) + std::countr_zero(at(v)[w]);
    }
    return f_.type(v).pointer && count == 1 ? out : -1;
  }

 private:
  std::uint64_t* at(ValueId v) { return &sets_[static_cast<std::size_t>(v) * words_]; }
  const std::uint64_t* at(ValueId v) const { return &sets_[static_cast<std::size_t>(v) * words_]; }

  void flow(ValueId from, ValueId to) {
    if (!f_.type(to).pointer) return;
    for (std::size_t w = 0; w < words_; ++w) add(to, w, at(from)[w]);
  }
  void add(ValueId to, std::size_t word, std::uint64_t bits) {
    changed_ |= (bits & ~at(to)[word]) != 0;
    at(to)[word] |= bits;
  }

  void walk(const Block& block) {
    for (const Op& op : block.ops) {
      for (const Block& inner : op.blocks) walk(inner);
      if (!op.blocks.empty()) {
        control(op);
        continue;
      }
      for (const ValueId r : op.results) {
        if (!f_.type(r).pointer) continue;
        for (const ValueId o : op.operands) {
          if (f_.type(o).pointer) flow(o, r);
          if (op.code == Code::cast && !f_.type(o).pointer)
            for (std::size_t w = 0; w < words_; ++w) add(r, w, ~std::uint64_t{0});
        }
        if (op.code == Code::load)  // a pointer out of memory
          for (std::size_t w = 0; w < words_; ++w) add(r, w, ~std::uint64_t{0});
      }
    }
  }

  // What a block is given, yields and returns: carried values by their place from the end.
  void control(const Op& op) {
    const std::size_t carried = op.results.size();
    for (const Block& block : op.blocks) {
      if (op.code != Code::if_)
        for (std::size_t i = 0; i < carried; ++i) {
          const ValueId param = block.params[block.params.size() - carried + i];
          flow(op.operands[op.operands.size() - carried + i], param);
          flow(op.results[i], param);
          flow(param, op.results[i]);
        }
      if (block.ops.empty() || block.ops.back().code != Code::yield) continue;
      const std::vector<ValueId>& yields = block.ops.back().operands;
      if (yields.size() == carried && !(op.code == Code::while_ && &block == op.blocks.data()))
        for (std::size_t i = 0; i < carried; ++i) flow(yields[i], op.results[i]);
    }
  }

  void mark(const Block& block, std::vector<bool>& out) const {
    for (const Op& op : block.ops) {
      for (const Block& inner : op.blocks) mark(inner, out);
      if (op.code != Code::store && op.code != Code::atomic && op.code != Code::atomic_cas) continue;
      for (std::size_t p = 0; p < out.size(); ++p)
        if ((at(op.operands[0])[p / 64] >> (p % 64) & 1) != 0) out[p] = true;
    }
  }

  const Function& f_;
  std::size_t words_;
  std::vector<std::uint64_t> sets_;
  bool changed_ = false;
};

// Values that are made of something loaded, or of a float, grown until nothing changes.
class Loaded {
 public:
  explicit Loaded(const Function& f) : f_(f), made_(f.types.size()) {
    do {
      changed_ = false;
      walk(f.body, false);
    } while (changed_);
  }
  bool accessed_by() const { return accessed_by_; }

 private:
  bool is(ValueId v) const { return made_[static_cast<std::size_t>(v)]; }
  void add(ValueId v, bool loaded) {
    if (!loaded || is(v)) return;
    made_[static_cast<std::size_t>(v)] = true;
    changed_ = true;
  }

  // `branch`: whether it runs is decided by something loaded.
  void walk(const Block& block, bool branch) {
    for (const Op& op : block.ops) {
      if (!op.blocks.empty()) {
        control(op, branch);
        continue;
      }
      bool loaded = op.code == Code::load || op.code == Code::atomic || op.code == Code::atomic_cas;
      if (loaded || op.code == Code::store) {
        const std::size_t mask = op.code == Code::load ? 1 : 2;
        accessed_by_ |= branch || is(op.operands[0]);
        accessed_by_ |= op.code != Code::atomic_cas && op.operands.size() > mask && is(op.operands[mask]);
      }
      for (const ValueId o : op.operands) loaded |= is(o);
      for (const ValueId r : op.results)
        add(r, loaded || (op.code != Code::constant && !f_.type(r).pointer && is_float(f_.type(r).elem)));
    }
  }

  void control(const Op& op, bool branch) {
    const std::size_t carried = op.results.size();
    const std::size_t own = op.code == Code::if_ ? op.operands.size() : op.operands.size() - carried;
    for (std::size_t i = 0; i < own; ++i) branch |= is(op.operands[i]);
    for (const Block& block : op.blocks)
      if (op.code == Code::while_ && &block == op.blocks.data())  // its yield is the condition
        for (const ValueId o : block.ops.back().operands) branch |= is(o);
    for (const Block& block : op.blocks) {
      for (const ValueId p : block.params) add(p, branch);
      if (op.code != Code::if_)
        for (std::size_t i = 0; i < carried; ++i) {
          const ValueId param = block.params[block.params.size() - carried + i];
          add(param, is(op.operands[own + i]) || is(op.results[i]));
          add(op.results[i], is(param));
        }
      walk(block, branch);
      if (block.ops.empty() || block.ops.back().code != Code::yield) continue;
      const std::vector<ValueId>& yields = block.ops.back().operands;
      for (std::size_t i = 0; i < std::min(carried, yields.size()); ++i) add(op.results[i], is(yields[i]));
    }
    for (const ValueId r : op.results) add(r, branch);
  }

  const Function& f_;
  std::vector<bool> made_;
  bool changed_ = false, accessed_by_ = false;
};

bool is_used(const Block& block, ValueId value) {
  return std::any_of(block.ops.begin(), block.ops.end(), [&](const Op& op) {
    return std::find(op.operands.begin(), op.operands.end(), value) != op.operands.end() ||
           std::any_of(op.blocks.begin(), op.blocks.end(), [&](const Block& b) { return is_used(b, value); });
  });
}

}  // namespace

bool has_atomics(const Block& block) {
  return std::any_of(block.ops.begin(), block.ops.end(), [](const Op& op) {
    return op.code == Code::atomic || op.code == Code::atomic_cas ||
           std::any_of(op.blocks.begin(), op.blocks.end(), [](const Block& b) { return has_atomics(b); });
  });
}

static void find_added(const Block& block, std::vector<ValueId>& out) {
  for (const Op& op : block.ops) {
    if (op.code == Code::atomic && op.atomic == Atomic::add) out.push_back(op.operands[0]);
    for (const Block& b : op.blocks) find_added(b, out);
  }
}

std::vector<std::string> added_parameters(const Function& function) {
  std::vector<ValueId> pointers;
  find_added(function.body, pointers);
  const Origins origins(function);
  std::vector<std::string> out;
  for (const ValueId p : pointers)
    if (const std::int32_t at = origins.only(p); at >= 0)
      if (const std::string& name = function.parameters[static_cast<std::size_t>(at)];
          std::find(out.begin(), out.end(), name) == out.end())
        out.push_back(name);
  return out;
}

bool is_used(const Function& function, ValueId value) { return is_used(function.body, value); }

bool accesses_by_contents(const Function& function) { return Loaded(function).accessed_by(); }

std::vector<bool> written_parameters(const Function& function) { return Origins(function).written(); }

std::vector<std::int32_t> pointer_origins(const Function& function) {
  const Origins origins(function);
  std::vector<std::int32_t> out;
  for (std::size_t v = 0; v < function.types.size(); ++v) out.push_back(origins.only(static_cast<ValueId>(v)));
  return out;
}

}  // namespace passnet::tile
