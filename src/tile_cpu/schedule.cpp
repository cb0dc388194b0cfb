// Which values are roots, and which roots share a loop nest. Roots keep the order of the program where one needs
// another's result or they touch the same memory.
#include <algorithm>

#include "tile_cpu/emitter.h"

namespace passnet::tile_cpu {

namespace {

constexpr std::int32_t kRepeated = 4;  // times, to be worth an array
constexpr ValueId kOwnElement = -2;    // an array read or written at the root's own index

bool moves_elements(Code c) {
  return c == Code::broadcast || c == Code::expand_dims || c == Code::trans || c == Code::reshape;
}

bool only_ones_change(const Shape& a, const Shape& b) {
  std::vector<std::int32_t> x, y;
  for (const std::int32_t s : a.span())
    if (s != 1) x.push_back(s);
  for (const std::int32_t s : b.span())
    if (s != 1) y.push_back(s);
  return x == y;
}

bool is_arg(tile::Combine c) { return c == tile::Combine::argmin || c == tile::Combine::argmax; }

}  // namespace

// The rough cost of computing one element again, in units of an addition.
double Emitter::cost_of(ValueId v, int depth) const {
  constexpr double kMost = 100;
  const Op* op = def(v);
  if (op == nullptr || !type(v).is_tile() || home(v).kind != Home::Kind::nowhere) return 0;
  double own = 1;
  if (depth > kMost) return kMost;
  switch (op->code) {
    case Code::constant:
    case Code::splat:
    case Code::arange: return 0;
    case Code::load: own = 2; break;
    case Code::div:
    case Code::rem: own = tile::is_float(type(v).elem) ? 4 : 2; break;
    case Code::sqrt:
    case Code::rsqrt: own = 8; break;
    case Code::reduce:
    case Code::scan:
    case Code::dot: return 0;
    default: own = moves_elements(op->code) ? 0 : tile::is_function(op->code) ? 15 : 1;
  }
  for (const ValueId o : op->operands) {
    own += cost_of(o, depth + 1);
    if (own > kMost) break;
  }
  return own;
}

bool Emitter::costly(ValueId v) const { return cost_of(v) >= 9; }

// Whether a store after the load may change what it would read when evaluated later.
bool Emitter::overwritten(const Op& load) {
  const std::int32_t memory = memory_of(load.operands[0]);
  for (const Op* w : writes_) {
    const Access a{memory, kNoValue}, b{memory_of(w->operands[0]), kNoValue, true};
    if (!conflict(a, b)) continue;
    // read, compute, write back the same elements, each by itself: the load may stay where the store is, if nothing
    // else is made of it, and nothing later
    const bool own = w->operands[0] == load.operands[0] && block_of_.at(w) == block_of_.at(&load) &&
                     order_.at(w) > order_.at(&load) && is_apart(load.operands[0]);
    if (!own) return true;
    std::set<ValueId> made{load.result()};  // it, and what is made of it
    std::vector<ValueId> todo{load.result()};
    while (!todo.empty()) {
      const ValueId v = todo.back();
      todo.pop_back();
      for (const Op* user : users_[static_cast<std::size_t>(v)]) {
        if (order_.at(user) > order_.at(w) || block_of_.at(user) != block_of_.at(w)) return true;
        const tile::OpClass kind = tile::op_row(user->code).kind;
        if (user == w || kind == tile::OpClass::reduction) continue;  // a sum has a home of its own
        if (kind == tile::OpClass::shape || kind == tile::OpClass::memory || user->code == Code::dot) return true;
        for (const ValueId r : user->results)
          if (made.insert(r).second) todo.push_back(r);
      }
    }
  }
  return false;
}

// Whether a broadcast to rows is reduced over an outer dimension along which it differs. That loop is inside the one
// over the row: what is broadcast would be computed for each vector of it.
bool Emitter::is_reduced_inside(const Op& broadcast) const {
  const Shape &from = type(broadcast.operands[0]).shape, &to = type(broadcast.result()).shape;
  const auto last = static_cast<std::size_t>(to.rank) - 1;
  if (to.rank < 2 || from[last] != 1 || to[last] < 2 * kRepeated) return false;
  std::set<ValueId> seen{broadcast.result()};
  std::vector<ValueId> todo{broadcast.result()};
  while (!todo.empty() && seen.size() < kLooked) {
    const ValueId v = todo.back();
    todo.pop_back();
    for (const Op* user : users_[static_cast<std::size_t>(v)]) {
      if (user->code == Code::reduce && static_cast<std::size_t>(user->axis) < last &&
          from[static_cast<std::size_t>(user->axis)] > 1)
        return true;
      const tile::OpClass kind = tile::op_row(user->code).kind;
      if (kind != tile::OpClass::unary && kind != tile::OpClass::binary && kind != tile::OpClass::compare &&
          user->code != Code::cast && user->code != Code::select && user->code != Code::fma)
        continue;
      if (seen.insert(user->result()).second) todo.push_back(user->result());
    }
  }
  return false;
}

// One row of a tile whose rows are all the same, where computing it for each costs more than looking it up.
bool Emitter::is_repeated(ValueId v) const {
  constexpr double kWorth = 6;
  if (type(v).pointer || moves_elements(def(v)->code) || cost_of(v) < kWorth) return false;
  const auto repeats = [&](auto&& self, ValueId x) -> bool {
    const auto& users = users_[static_cast<std::size_t>(x)];
    return std::any_of(users.begin(), users.end(), [&](const Op* user) {
      if (user->code == Code::expand_dims) return self(self, user->result());
      if (user->code != Code::broadcast) return false;
      const Shape &from = type(x).shape, &to = type(user->result()).shape;
      bool row = false;  // an inner dimension has more than one element
      for (std::size_t d = from.rank; d-- > 0; row |= from[d] > 1)
        if (row && from[d] == 1 && to[d] >= kRepeated) return true;
      return is_reduced_inside(*user);
    });
  };
  return repeats(repeats, v);
}

// A value that later loops cannot, or should not, compute again.
bool Emitter::must_keep(const Op& op, std::span<const Op> run) {
  const ValueId v = op.result();
  // checked: every load is an access of its own, whatever of it is used
  if (op.code == Code::load && (build_ == Build::checked || overwritten(op))) return true;
  if (op.code == Code::constant || op.code == Code::splat || op.code == Code::arange) return false;
  if (is_repeated(v)) return true;
  bool leaves = false;
  for (const Op* user : users_[static_cast<std::size_t>(v)])
    leaves = leaves || user < run.data() || user >= run.data() + run.size();
  if (!leaves) return false;
  return costly(v) || is_loaded(v);
}

// Whether computing the value means loading.
bool Emitter::is_loaded(ValueId v) const {
  std::set<ValueId> seen{v};
  std::vector<ValueId> todo{v};
  while (!todo.empty()) {
    const ValueId x = todo.back();
    todo.pop_back();
    const Op* op = def(x);
    if (op == nullptr || !type(x).is_tile() || home(x).kind != Home::Kind::nowhere) continue;
    if (op->code == Code::load) return true;
    for (const ValueId o : op->operands)
      if (seen.insert(o).second) todo.push_back(o);
  }
  return false;
}

// Whether the value is to be kept because too much is computed on the way to it: what evaluates it does so by
// recursion, and the compiler's time grows faster than a loop's body.
bool Emitter::is_deep(const Op& op) {
  constexpr int kDeepest = 1000;
  const ValueId v = op.result();
  int& depth = depth_[static_cast<std::size_t>(v)];
  if (!type(v).is_tile()) return false;
  for (const ValueId o : op.operands) depth = std::max(depth, depth_[static_cast<std::size_t>(o)] + 1);
  return depth >= (type(v).pointer ? 2 * kDeepest : kDeepest);  // rather an offset than a pointer
}

Root Emitter::keep_root(ValueId v, int array) const {
  Root r;
  r.kind = Root::Kind::keep;
  r.value = v;
  r.domain = type(v).shape;
  r.array = array;
  return r;
}

// The value's elements are in an array from here on.
void Emitter::keep(ValueId v, Roots& out) {
  if (home(v).kind != Home::Kind::nowhere || !out.kept.insert(v).second) return;
  if (const Op* op = def(v); op != nullptr && op->code == Code::reduce) {  // it writes an array itself
    home(v) = {Home::Kind::array, {}, 0, new_array(v)};
    return;
  }
  out.list.push_back(keep_root(v, new_array(v)));
  out.list.back().publish = true;
}

// Sums go to the array of what they are added to, or to a copy of it where others see that.
void Emitter::dot_roots(const Op& op, Roots& out) {
  for (const std::size_t i : {0, 1})
    if (!(factors_[&op][i] = factor_of(op.operands[i]))) keep(op.operands[i], out);
  const ValueId acc = op.operands[2];
  int array = home(acc).array;
  const int defined = def(acc) != nullptr ? block_of_.at(def(acc)) : param_block_[static_cast<std::size_t>(acc)];
  const bool shared = array >= 0 && std::any_of(arrays_.begin(), arrays_.end(), [&](const Array& other) {
                        const Array& own = arrays_[static_cast<std::size_t>(array)];
                        return &other != &own && other.storage == own.storage;  // the same elements in another shape
                      });
  if (home(acc).kind != Home::Kind::array || uses_[static_cast<std::size_t>(acc)] > 1 || shared ||
      defined != block_of_.at(&op)) {
    array = new_array(op.result());
    if (is_zero(acc))
      fresh_.insert(&op);
    else
      out.list.push_back(keep_root(acc, array));
  }
  home(op.result()) = {Home::Kind::array, {}, 0, array};
  out.add(op, Root::Kind::call);
}

void Emitter::tile_roots(const Op& op, std::span<const Op> ops, Roots& out) {
  switch (op.code) {
    case Code::store:
    case Code::check:
    case Code::atomic:
    case Code::atomic_cas: {
      Root& r = out.add(op, Root::Kind::store);
      r.domain = type(op.operands[0]).shape;
      if (!op.results.empty() && !users_[static_cast<std::size_t>(op.result())].empty()) {
        r.array = new_array(op.result());
        home(op.result()) = {Home::Kind::array, {}, 0, r.array};
      }
      return;
    }
    case Code::reduce:
      if (!is_arg(op.combine)) {
        Root& r = out.add(op, Root::Kind::reduce);
        r.domain = type(op.operands[0]).shape;
        r.axis = op.axis;
        return;
      }
      [[fallthrough]];
    case Code::scan:
      keep(op.operands[0], out);
      if (op.code == Code::scan) home(op.result()) = {Home::Kind::array, {}, 0, new_array(op.result())};
      out.add(op, Root::Kind::call);
      return;
    case Code::dot: dot_roots(op, out); return;
    case Code::reshape:
      if (type(op.operands[0]).is_tile() && !only_ones_change(type(op.operands[0]).shape, type(op.result()).shape)) {
        keep(op.operands[0], out);
        int source = home(op.operands[0]).array;  // -1: the keep's
        for (const Root& k : out.list)
          if (k.publish && k.value == op.operands[0]) source = k.array;
        home(op.result()) = {Home::Kind::array, {}, 0, new_array(op.result(), source)};
        out.add(op, Root::Kind::view);
        return;
      }
      [[fallthrough]];
    default:
      if (!is_deep(op) && !must_keep(op, ops)) return;
      keep(op.result(), out);
      depth_[static_cast<std::size_t>(op.result())] = 0;
  }
}

// What a block yields goes to the arrays of its owner: at once, or where others still read those, by a copy at the end.
void Emitter::yield_roots(const Op& yield, std::span<const ValueId> targets, Roots& out) {
  const auto root_of = [&](std::size_t k) { return keep_root(yield.operands[k], home(targets[k]).array); };
  std::vector<Root> last;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    if (!type(targets[k]).is_tile()) continue;
    Root r = root_of(k);
    const int array = r.array;
    if (home(r.value).kind == Home::Kind::array && home(r.value).array == array) continue;
    // Does anything else here still need the old elements, or this one at other places?
    bool delayed = false;
    for (std::size_t j = 0; j < targets.size(); ++j) {
      if (!type(targets[j]).is_tile()) continue;
      Root probe = root_of(j);
      collect(probe);
      for (const Access& a : probe.accesses)
        delayed = delayed || (!a.write && a.memory == array_memory(array) && (j != k || a.pointer != kOwnElement));
    }
    if (delayed) {
      r.array = new_array(r.value);
      Root copy;
      copy.kind = Root::Kind::keep;
      copy.domain = r.domain;
      copy.array = array;
      copy.from = r.array;
      last.push_back(std::move(copy));
    }
    out.list.push_back(std::move(r));
  }
  for (Root& r : last) out.list.push_back(std::move(r));
}

std::vector<Root> Emitter::roots_of(std::span<const Op> ops, const Op* owner, std::span<const ValueId> targets) {
  const auto is_tile = [&](ValueId v) { return type(v).is_tile(); };
  Roots out;
  for (const Op& op : ops) {
    if (op.code == Code::yield || (op.code == Code::check && build_ != Build::checked)) continue;
    const bool tiles = std::any_of(op.operands.begin(), op.operands.end(), is_tile) ||
                       std::any_of(op.results.begin(), op.results.end(), is_tile);
    if (!tiles || (op.code == Code::reshape && !is_tile(op.result())))
      out.add(op, Root::Kind::scalar);
    else
      tile_roots(op, ops, out);
  }
  if (owner != nullptr && !ops.empty() && ops.back().code == Code::yield) yield_roots(ops.back(), targets, out);
  return std::move(out.list);
}

// What a root needs and touches.
void Emitter::collect(Root& root) {
  root.needs.clear();
  root.accesses.clear();
  root.evaluated.clear();
  const Index own = identity_index(root.domain.rank);
  if (root.kind == Root::Kind::keep) {
    root.accesses.push_back({array_memory(root.array), kOwnElement, true});
    if (root.value == kNoValue)
      root.accesses.push_back({array_memory(root.from), kOwnElement, false});
    else
      visit(root, root.value, own);
    return;
  }
  const Op& op = *root.op;
  for (const ValueId o : op.operands) visit(root, o, own);
  if (op.code == Code::store || op.code == Code::atomic || op.code == Code::atomic_cas)
    root.accesses.push_back({memory_of(op.operands[0]), op.code == Code::store ? op.operands[0] : kNoValue, true,
                             op.code == Code::store ? &op : nullptr});
  if (op.code == Code::load && !type(op.result()).is_tile())
    root.accesses.push_back({memory_of(op.operands[0]), kNoValue, false});
  if (root.kind == Root::Kind::call && !op.results.empty() && home(op.result()).kind == Home::Kind::array)
    root.accesses.push_back({array_memory(home(op.result()).array), kNoValue, true});
}

void Emitter::visit(Root& root, ValueId value, const Index& at) {
  std::vector<At> todo{{value, at}};
  while (!todo.empty()) {
    const At next = todo.back();
    todo.pop_back();
    visit_one(root, next.value, next.index, todo);
  }
}

// What it is computed from is added to `todo`.
void Emitter::visit_one(Root& root, ValueId v, const Index& index, std::vector<At>& todo) {
  const Type& t = type(v);
  const At at = normal(v, index);
  if (!root.evaluated.insert(at).second) return;
  if (!t.is_tile() || home(v).kind != Home::Kind::nowhere) root.needs.push_back(v);
  if (home(v).kind == Home::Kind::array) {
    Index own = identity_index(root.domain.rank);
    for (std::size_t d = 0; d < root.domain.rank; ++d)
      if (root.domain[d] == 1) own[d] = kFixed;
    const bool same = t.shape == root.domain && at.index == own;
    root.accesses.push_back({array_memory(home(v).array), same ? kOwnElement : kNoValue, false});
    return;
  }
  const Op* op = def(v);
  if (op == nullptr || !t.is_tile()) return;
  if (op->code == Code::reduce || op->code == Code::scan || op->code == Code::dot || op->code == Code::for_ ||
      op->code == Code::while_ || op->code == Code::if_ || op->code == Code::atomic || op->code == Code::atomic_cas ||
      (op->code == Code::reshape && type(op->operands[0]).is_tile() &&
       !only_ones_change(type(op->operands[0]).shape, t.shape))) {
    root.needs.push_back(v);
    return;
  }
  if (op->code == Code::load) root.accesses.push_back({memory_of(op->operands[0]), op->operands[0], false});
  const Index inner = moves_elements(op->code) ? map_index(*op, f_, index) : index;
  for (auto o = op->operands.rbegin(); o != op->operands.rend(); ++o) todo.push_back({*o, inner});
}

bool Emitter::fits(const Group& group, const Root& root) {
  constexpr std::size_t kMost = 64;  // the compiler's time grows faster than a loop's body
  if (group.roots.empty() || group.roots[0].kind == Root::Kind::call || root.kind == Root::Kind::call) return false;
  if (group.roots.size() >= kMost || !(group.domain == root.domain)) return false;
  if (root.kind == Root::Kind::reduce && group.axis >= 0 && group.axis != root.axis) return false;
  for (const Root& r : group.roots)
    for (const Access& a : r.accesses)
      for (const Access& b : root.accesses)
        if (conflict(a, b) && (a.write || a.pointer != b.pointer || a.pointer == kNoValue)) return false;
  return true;
}

std::vector<Group> Emitter::group(std::vector<Root> roots) {
  std::vector<Group> groups(1);          // the first has no nest, only scalars
  std::map<ValueId, std::size_t> ready;  // a value made here: after which group
  const auto conflicts = [&](const Root& a, const Root& b) {
    for (const Access& x : a.accesses)
      for (const Access& y : b.accesses)
        if (conflict(x, y)) return true;
    return false;
  };
  for (Root& root : roots) {
    collect(root);
    std::size_t after = 0;
    for (const ValueId v : root.needs)
      if (const auto it = ready.find(v); it != ready.end()) after = std::max(after, it->second);
    if (root.kind == Root::Kind::view) {
      ready[root.op->result()] = after;
      continue;
    }
    // behind everything it conflicts with; a nest may take it in itself
    std::size_t first = after;  // earliest group whose end it may follow
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const Root& r : groups[g].after)
        if (conflicts(r, root)) first = std::max(first, g);
    }
    if (root.kind == Root::Kind::scalar) {
      for (std::size_t g = 0; g < groups.size(); ++g)
        for (const Root& r : groups[g].roots)
          if (conflicts(r, root)) first = std::max(first, g);
      for (const ValueId v : root.op->results) ready[v] = first;
      groups[first].after.push_back(std::move(root));
      continue;
    }
    std::size_t place = groups.size();
    for (std::size_t g = groups.size(); g-- > first + 1;) {
      if (fits(groups[g], root)) place = g;
      bool blocked = false;
      for (const Root& r : groups[g].roots) blocked = blocked || conflicts(r, root);
      if (blocked || place == g) break;
    }
    if (place == groups.size()) {
      groups.emplace_back();
      groups.back().domain = root.domain;
    }
    Group& target = groups[place];
    if (root.kind == Root::Kind::reduce) target.axis = root.axis;
    if (root.op != nullptr)
      for (const ValueId v : root.op->results) ready[v] = place;
    if (root.publish) {  // later roots read the array
      ready[root.value] = place;
      home(root.value) = {Home::Kind::array, {}, 0, root.array};
    }
    target.roots.push_back(std::move(root));
  }
  return groups;
}

// Costly values that several nests need are written to an array by the first.
void Emitter::keep_shared(std::vector<Group>& groups) {
  std::map<ValueId, std::size_t> first;  // evaluated over its whole shape in that group
  std::map<std::size_t, std::set<ValueId>> keep;
  for (std::size_t g = 1; g < groups.size(); ++g) {
    for (const Root& root : groups[g].roots) {
      if (root.kind == Root::Kind::call) continue;
      const Index own = [&] {
        Index i = identity_index(root.domain.rank);
        for (std::size_t d = 0; d < root.domain.rank; ++d)
          if (root.domain[d] == 1) i[d] = kFixed;
        return i;
      }();
      std::set<ValueId> seen;
      const auto walk = [&](auto&& self, ValueId v) -> void {
        if (!type(v).is_tile() || !(type(v).shape == root.domain) || home(v).kind != Home::Kind::nowhere) return;
        if (!root.evaluated.contains({v, own}) || !seen.insert(v).second) return;
        const Op* op = def(v);
        if (op == nullptr || moves_elements(op->code) || type(v).pointer) return;
        if (const auto it = first.find(v); it != first.end()) {
          if (it->second < g && costly(v)) {
            keep[it->second].insert(v);
            return;
          }
        } else {
          first[v] = g;
        }
        for (const ValueId o : op->operands) self(self, o);
      };
      if (root.op != nullptr)
        for (const ValueId o : root.op->operands) walk(walk, o);
      else if (root.value != kNoValue)
        walk(walk, root.value);
    }
  }
  for (const auto& [g, values] : keep)
    for (const ValueId v : values) {
      Root r;
      r.kind = Root::Kind::keep;
      r.value = v;
      r.domain = type(v).shape;
      r.array = new_array(v);
      r.publish = true;
      collect(r);
      groups[g].roots.push_back(std::move(r));
    }
}

// The dimension along which most accesses are contiguous; else the last.
int Emitter::vector_dimension(const Group& group) {
  const int rank = group.domain.rank;
  int best = rank - 1;
  for (int d = rank - 1; d >= 0; --d)
    if (group.domain[static_cast<std::size_t>(best)] == 1 && group.domain[static_cast<std::size_t>(d)] > 1) best = d;
  double most = 0;
  for (int d = rank - 1; d >= 0; --d) {
    if (group.domain[static_cast<std::size_t>(d)] == 1) continue;
    vector_loop_ = d;
    steps_.clear();
    double score = group.domain[static_cast<std::size_t>(d)] >= 8 ? 0.5 : 0;
    const auto count = [&](ValueId pointer, const Index& index) {
      const auto step = step_of(address(pointer, index, Mode::zero));
      if (step == 1 || step == -1) score += 2;
      if (step == 0) score += 1;
      return step == 1;
    };
    for (const Root& root : group.roots) {
      const Index own = identity_index(rank);
      for (const At& at : root.evaluated) {
        const Op* op = def(at.value);
        if (op != nullptr && op->code == Code::load && type(at.value).is_tile() &&
            home(at.value).kind == Home::Kind::nowhere)
          if (!count(op->operands[0], at.index))
            if (const auto turn = turn_of(*op); turn && at.index[1 - turn->contiguous] == d) score += 1;
        if (home(at.value).kind == Home::Kind::array &&
            at.index[static_cast<std::size_t>(type(at.value).shape.rank) - 1] == d)
          score += 1;
      }
      if (root.kind == Root::Kind::store && root.op->code == Code::store && count(root.op->operands[0], own))
        score += 1;  // loads can be turned, stores cannot
      if (root.kind == Root::Kind::keep && d == rank - 1) score += 1;
    }
    if (score > most) {
      most = score;
      best = d;
    }
  }
  vector_loop_ = -1;
  steps_.clear();
  return best;
}

void Emitter::schedule(std::span<const Op> ops, const Op* owner, std::span<const ValueId> targets) {
  run_ = ops;
  std::vector<Group> groups = group(roots_of(ops, owner, targets));
  keep_shared(groups);
  emit_groups(groups);
}

}  // namespace passnet::tile_cpu
