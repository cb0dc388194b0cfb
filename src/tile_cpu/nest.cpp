// Loop nests: rows that several nests share, outer loops, the vector loop with its bounds, reductions.
#include <fmt/format.h>

#include <algorithm>

#include "tile_cpu/ctypes.h"
#include "tile_cpu/emitter.h"
#include "tile_cpu/op_text.h"

namespace passnet::tile_cpu {

int Emitter::open() {
  levels_.emplace_back();
  return static_cast<int>(levels_.size()) - 1;
}

void Emitter::close(const std::string& head, const std::string& tail) {
  const std::string body = std::move(levels_.back().code);
  levels_.pop_back();
  const std::string indent(levels_.size() * 2, ' ');
  levels_.back().code += fmt::format("{0}{1}\n{2}{0}{3}\n", indent, head, body, tail);
}

void Emitter::code(const std::string& text) {
  levels_.back().code += std::string(levels_.size() * 2, ' ') + text + "\n";
}

// Whether the nest can run inside a loop over the first dimension.
bool Emitter::rowwise(const Group& group) const {
  return !group.roots.empty() && group.roots[0].kind != Root::Kind::call && group.domain.rank >= 2 &&
         group.domain[0] > 1 && group.vector != 0 && group.axis != 0;
}

bool Emitter::joins_rows(std::span<const Group> groups, const Group& next) {
  if (!rowwise(next) || next.domain[0] != groups[0].domain[0]) return false;
  std::set<ValueId> made;
  std::set<int> storages;  // what is made there may be read by another shape
  const auto storage_of = [&](int array) { return arrays_[static_cast<std::size_t>(array)].storage; };
  const auto make = [&](ValueId v) {
    made.insert(v);
    if (home(v).kind == Home::Kind::array) storages.insert(storage_of(home(v).array));
  };
  for (const Group& g : groups) {
    for (const Root& r : g.roots) {
      if (r.op != nullptr)
        for (const ValueId v : r.op->results) make(v);
      if (r.publish) make(r.value);
      if (r.array >= 0) storages.insert(storage_of(r.array));
      for (const Root& n : next.roots)
        for (const Access& a : r.accesses)
          for (const Access& b : n.accesses)
            if (conflict(a, b) && !(a.memory >= kArrayMemory && r.publish && a.write)) return false;
    }
  }
  // Of what these rows make the next may read its own row, by another shape too, if that has the same rows.
  const auto is_made = [&](ValueId v) {
    return made.contains(v) || (home(v).kind == Home::Kind::array && storages.contains(storage_of(home(v).array)));
  };
  for (const Root& r : next.roots)
    for (const At& at : r.evaluated)
      if (is_made(at.value) && (at.index[0] != 0 || type(at.value).shape[0] != next.domain[0])) return false;
  return true;
}

bool Emitter::read_outside(ValueId v, std::span<const Group> inside) const {
  for (const Group& g : *groups_) {
    const bool in = &g >= inside.data() && &g < inside.data() + inside.size();
    for (const Root& r : g.after)
      for (const At& at : r.evaluated)
        if (at.value == v) return true;
    if (in) continue;
    for (const Root& r : g.roots)
      for (const At& at : r.evaluated)
        if (at.value == v) return true;
  }
  std::vector<ValueId> todo{v};
  std::set<ValueId> seen;
  while (!todo.empty()) {
    const ValueId x = todo.back();
    todo.pop_back();
    if (!seen.insert(x).second) continue;
    for (const Op* user : users_[static_cast<std::size_t>(x)]) {
      if (user < run_.data() || user >= run_.data() + run_.size()) return true;
      if (user->code == Code::reshape && home(user->result()).kind == Home::Kind::array) return true;  // a view
      for (const ValueId r : user->results)
        if (type(r).is_tile() && home(r).kind == Home::Kind::nowhere) todo.push_back(r);
    }
  }
  return false;
}

// Homes for what the nest makes. Inside shared rows a value that only they read needs no more than a row.
void Emitter::settle(Group& group, std::span<const Group> rows) {
  for (Root& r : group.roots) {
    if (r.kind == Root::Kind::reduce) {
      const ValueId v = r.op->result();
      const Elem elem = type(v).elem;
      if (home(v).kind == Home::Kind::array) continue;
      if (!type(v).is_tile()) {
        const std::string name = fresh(v);
        line(fmt::format("{} {};", scalar_name(elem), name));
        home(v) = {Home::Kind::name, name, 0, -1};
      } else if (!rows.empty() && type(v).shape.rank == 1 && !read_outside(v, rows)) {
        const std::string name = fresh(v);
        code(fmt::format("{} {};", scalar_name(elem), name));
        home(v) = {Home::Kind::name, name, static_cast<int>(levels_.size()) - 1, -1};
      } else {
        home(v) = {Home::Kind::array, {}, 0, new_array(v)};
      }
    }
    if (r.publish) {
      home(r.value) = {};
      if (!rows.empty() && !read_outside(r.value, rows)) arrays_[static_cast<std::size_t>(r.array)].first_dim = 1;
    }
  }
}

void Emitter::publish(const Group& group) {
  for (const Root& r : group.roots)
    if (r.publish) home(r.value) = {Home::Kind::array, {}, 0, r.array};
}

void Emitter::find_loads(const Group& group) {
  for (Root r : group.roots) {
    collect(r);
    for (const At& at : r.evaluated)
      if (const Op* op = def(at.value); op != nullptr && op->code == Code::load) loaded_[op].last = &group;
  }
}

void Emitter::emit_groups(std::vector<Group>& groups) {
  groups_ = &groups;
  const auto take_back = [&] {  // an array is read only after the nest that fills it
    for (const Group& g : groups)
      for (const Root& r : g.roots)
        if (r.publish) home(r.value) = {};
  };
  take_back();
  for (const Group& g : groups) {
    find_loads(g);
    publish(g);
  }
  take_back();
  const auto scalars = [&](const Group& g) {
    for (const Root& r : g.after) emit_scalar(*r.op);
  };
  scalars(groups[0]);
  for (std::size_t g = 1; g < groups.size(); ++g)
    if (groups[g].roots[0].kind != Root::Kind::call) groups[g].vector = vector_dimension(groups[g]);
  turn_loads(groups);
  for (std::size_t g = 1; g < groups.size();) {
    if (groups[g].roots[0].kind == Root::Kind::call) {
      for (const Root& r : groups[g].roots) emit_call(*r.op);
      scalars(groups[g++]);
      continue;
    }
    std::size_t h = g + 1;
    if (rowwise(groups[g]))
      while (h < groups.size() && groups[h - 1].after.empty() &&
             joins_rows(std::span(groups).subspan(g, h - g), groups[h]))
        ++h;
    if (h - g >= 2) {
      emit_rows(std::span(groups).subspan(g, h - g));
    } else {
      settle(groups[g], {});
      for (Root& r : groups[g].roots) collect(r);
      open();
      emit_nest(groups[g], 0);
      close("{");
      publish(groups[g]);
    }
    scalars(groups[h - 1]);
    g = h;
  }
}

void Emitter::emit_rows(std::span<Group> groups) {
  open();
  const std::string row = fresh("row");
  open();
  loops_.assign(1, {row, static_cast<int>(levels_.size()) - 1});
  Index index;
  index.fill(kFixed);
  index[0] = 0;
  skip_masked(groups, index);
  for (Group& g : groups) {
    settle(g, groups);
    for (Root& r : g.roots) collect(r);
    emit_nest(g, 1);
    publish(g);
  }
  close(fmt::format("for (i64 {0} = 0; {0} < {1}; ++{0}) {{", row, groups[0].domain[0]));
  close("{");
  loops_.clear();
  known_.clear();
}

// A condition on outer loops that every store has, where nothing else is needed of the iteration, ends it.
void Emitter::skip_masked(std::span<const Group> groups, const Index& index) {
  std::optional<std::set<At>> common;
  for (const Group& g : groups)
    for (const Root& r : g.roots) {
      if (r.kind == Root::Kind::store) {
        if (r.array >= 0) return;  // an atomic's old elements: 0 where it is masked off
        std::set<At> own;
        if (r.op->code != Code::check && r.op->code != Code::atomic_cas && r.op->operands.size() > 2) {
          std::vector<At> all;
          Index at = index;
          for (std::size_t d = 0; d < r.domain.rank; ++d)
            if (at[d] == kFixed && r.domain[d] > 1) at[d] = 100;  // a loop that is not open yet
          conjuncts(r.op->operands[2], at, all);
          for (const At& c : all) {
            bool open = true;
            for (std::size_t d = 0; d < type(c.value).shape.rank; ++d) open = open && c.index[d] != 100;
            if (open && !truth(c.value, c.index)) own.insert(c);
          }
        }
        if (!common)
          common = own;
        else
          std::erase_if(*common, [&](const At& c) { return !own.contains(c); });
        continue;
      }
      // reductions and kept values must not be seen outside these groups
      const ValueId v = r.kind == Root::Kind::reduce ? r.op->result() : r.value;
      if (v == kNoValue || (r.kind == Root::Kind::keep && !r.publish) || read_outside(v, groups)) return;
    }
  if (!common) return;
  for (const At& c : *common) {
    const Ref r = eval(c.value, c.index, Mode::zero);
    code(fmt::format("if (!{}) continue;", r.text));
    known_[c] = {true, static_cast<int>(levels_.size()) - 1};
  }
}

void Emitter::emit_nest(Group& group, int first_dim) {
  const std::map<At, Truth> before = known_;
  ++nest_;
  group_ = &group;
  loops_.resize(static_cast<std::size_t>(first_dim));
  Index index;
  index.fill(kFixed);
  for (int d = 0; d < first_dim; ++d) index[static_cast<std::size_t>(d)] = static_cast<std::int8_t>(d);
  std::vector<std::string> heads;
  vector_loop_ = -1;
  for (int d = first_dim; d < group.domain.rank; ++d) {
    const auto size = group.domain[static_cast<std::size_t>(d)];
    if (d == group.vector || (d == group.axis) || size == 1) continue;
    const std::string var = fresh("k");
    heads.push_back(fmt::format("for (i64 {0} = 0; {0} < {1}; ++{0}) {{", var, size));
    open();
    loops_.push_back({var, static_cast<int>(levels_.size()) - 1});
    index[static_cast<std::size_t>(d)] = static_cast<std::int8_t>(loops_.size() - 1);
    skip_masked({&group, 1}, index);
  }
  vector_loop_ = static_cast<int>(loops_.size());
  loops_.push_back({"i", 0});
  index[static_cast<std::size_t>(group.vector)] = static_cast<std::int8_t>(vector_loop_);
  steps_.clear();
  emit_vector_loop(group, index, group.domain[static_cast<std::size_t>(group.vector)]);
  while (!heads.empty()) {
    close(heads.back());
    heads.pop_back();
  }
  vector_loop_ = -1;
  steps_.clear();
  known_ = before;
  // the next nest of these rows numbers its loops anew
  for (Level& level : levels_)
    std::erase_if(level.done, [&](const auto& done) {
      const Index& at = done.first.first.index;
      return std::any_of(at.begin(), at.end(), [&](std::int8_t loop) { return loop >= first_dim; });
    });
}

void Emitter::emit_vector_loop(Group& group, const Index& index, std::int64_t size) {
  const bool across = group.axis == group.vector && group.axis >= 0;
  const bool unrolled = across && size >= 64;
  for (Root& r : group.roots) {
    if (r.kind != Root::Kind::reduce) continue;
    r.accumulator = fresh("acc");
    if (!across) continue;
    const Elem elem = type(r.op->operands[0]).elem;
    for (int u = 0; u < (unrolled ? 4 : 1); ++u)
      code(fmt::format("{} {}_{} = {};", accumulator_type(*r.op), r.accumulator, u, accumulator_start(*r.op)));
    code(fmt::format("{} {}_rest = {};", scalar_name(elem), r.accumulator, identity(*r.op)));
  }
  if (const auto bound = common_bound(group, index)) {
    const std::string far = reach(*bound, bound->condition.index, Mode::zero), hi = fresh("hi");
    code(fmt::format("const i64 {} = clamp_i64({}, 0, {});", hi, far, size));
    known_[bound->condition] = {true, static_cast<int>(levels_.size())};
    emit_region(group, index, "0", hi, false);
    known_[bound->condition].value = false;
    emit_outside(group, index, hi, size);
    known_.erase(bound->condition);
  } else {
    emit_region(group, index, "0", std::to_string(size), true);
  }
  if (!across) return;
  for (const Root& r : group.roots) {
    if (r.kind != Root::Kind::reduce) continue;
    const std::string& a = r.accumulator;
    if (unrolled) {
      code(fmt::format("{0}_0 = {1};", a, accumulated(*r.op, a + "_0", a + "_1")));
      code(fmt::format("{0}_2 = {1};", a, accumulated(*r.op, a + "_2", a + "_3")));
      code(fmt::format("{0}_0 = {1};", a, accumulated(*r.op, a + "_0", a + "_2")));
    }
    const std::string total =
        fmt::format("across({}, [](auto a, auto b) __attribute__((always_inline)) {{ return {}; }})",
                    finished(*r.op, a + "_0"), combined(*r.op, "a", "b", true));
    const Elem elem = type(r.op->operands[0]).elem;
    const std::string name = fresh("total");
    code(fmt::format("const {} {} = {};", scalar_name(elem), name,
                     combined(*r.op, fmt::format("({})({})", scalar_name(elem), total), a + "_rest", false)));
    write_result(r, index, {name, static_cast<int>(levels_.size()) - 1, false});
  }
}

std::string Emitter::reach(const Bound& bound, const Index& index, Mode mode) {
  const std::string below = eval(bound.below, index, mode).text, limit = eval(bound.limit, index, mode).text;
  return fmt::format("(i64){} - (i64){}{}", limit, below, bound.inclusive ? " + 1" : "");
}

// Ends the segment where one of the conditions changes. The loops are the body of a lambda in which the conditions
// stand still; what it is called with is given back.
std::vector<std::string> Emitter::open_cuts(const std::vector<Bound>& cuts) {
  std::map<std::string, std::string> names;  // of places, by how far they are
  std::string parameters, conditions;
  std::vector<std::string> arguments;
  for (const Bound& cut : cuts) {
    const std::string far = reach(cut, cut.condition.index, Mode::segment);
    std::string& before = names[far];
    if (before.empty()) {
      const std::string left = fresh("left");
      before = fresh("before");
      code(fmt::format("const i64 {} = {};", left, far));
      code(fmt::format("if ({0} > 0) {1}_end = min_i64({1}_end, {1} + {0});", left, segment_var_));
      parameters += fmt::format("{}const auto {}", parameters.empty() ? "" : ", ", before);
      arguments.push_back(left + " > 0");
    }
    const std::string name = fresh(cut.condition.value);
    conditions += fmt::format("const bool {} = {}{}; ", name, cut.negated ? "!" : "", before);
    cuts_[normal(cut.condition.value, cut.condition.index)] = name;
  }
  if (cuts.empty()) return {};
  code(fmt::format("const auto run = [&]({}) __attribute__((always_inline)) {{", parameters));
  code(conditions);
  return arguments;
}

// Whether the compiler should see the body of the vector loop, which is written, as few times as can be, and not so
// many times as would run best: its time grows faster than what it reads. So it is where there is enough in the body to
// do at once, or enough has been written before.
bool Emitter::is_heavy(const Group& group, std::int64_t times) {
  constexpr std::int64_t kHeavy = 60, kFunction = 12, kAll = 500, kFewest = 2;  // in lines; times
  std::int64_t functions = 0;
  for (const Root& r : group.roots)
    functions += std::count_if(r.evaluated.begin(), r.evaluated.end(), [&](const At& at) {
      const Op* op = def(at.value);
      return op != nullptr && home(at.value).kind == Home::Kind::nowhere && tile::is_function(op->code);
    });
  const std::int64_t lines = std::count(levels_.back().code.begin(), levels_.back().code.end(), '\n');
  functions_ += functions;
  if (is_hooked(build_)) return false;
  const bool heavy = lines + functions * kFunction > kHeavy;
  large_ = large_ || heavy;
  const bool few = heavy || seen_lines_ + lines * times > kAll;
  seen_lines_ += lines * (few ? kFewest : times);
  return few;
}

// The elements from..to, L at a time.
void Emitter::emit_region(const Group& group, const Index& index, const std::string& from, const std::string& to,
                          bool whole) {
  constexpr std::size_t kDecided = 2;
  const std::int64_t size = group.domain[static_cast<std::size_t>(group.vector)];
  segment_ = find_segment(group, index, size);
  steps_.clear();
  const std::vector<Bound> cuts = find_cuts(group, index, size);
  if (!segment_ && !cuts.empty()) segment_.emplace();
  segment_level_ = open();
  segment_var_ = fresh("s");
  if (segment_ && segment_->dividend.value != kNoValue) {
    const Ref at = eval(segment_->dividend.value, segment_->dividend.index, Mode::segment);
    code(fmt::format("{0}_end = min_i64({1}, {0} + ({2} - (i64){3} % {2}));", segment_var_, to, segment_->size,
                     at.text));
  } else if (segment_) {
    code(fmt::format("{}_end = {};", segment_var_, to));
  }
  const std::vector<std::string> conditions = open_cuts(cuts);
  vector_level_ = open();
  loops_[static_cast<std::size_t>(vector_loop_)].level = vector_level_;
  std::string parameters, arguments[4];
  const bool across = group.axis == group.vector && group.axis >= 0;
  bool reduces = false;
  for (const Root& r : group.roots) {
    if (!across || r.kind != Root::Kind::reduce) continue;
    reduces = true;
    parameters += fmt::format(", {}& {}", accumulator_type(*r.op), r.accumulator);
    for (int u = 0; u < 4; ++u) arguments[u] += fmt::format(", {}_{}", r.accumulator, size >= 64 ? u : 0);
  }
  // Where the nest reads nothing of what it stores, a body gives its stores back, so that a few can be computed
  // together.
  std::vector<const Op*> loads;
  for (const Root& r : group.roots)
    for (const At& at : r.evaluated)
      if (const Op* op = def(at.value);
          op != nullptr && op->code == Code::load && home(at.value).kind == Home::Kind::nowhere)
        loads.push_back(op);
  const bool apart =
      !is_hooked(build_) && group.axis < 0 && std::all_of(group.roots.begin(), group.roots.end(), [&](const Root& r) {
        return r.kind == Root::Kind::store && r.op->code == Code::store && !may_access(loads, r.op->operands[0]);
      });
  std::string stores;
  if (apart) last_ = &stores;
  emit_roots(group, index);
  last_ = nullptr;
  const bool decided = !conditions.empty() && conditions.size() <= kDecided;
  const bool heavy =
      is_heavy(group, (apart || (reduces && size >= 64) ? 6 : 2) * (decided ? 1 << conditions.size() : 1));
  if (apart)
    code(fmt::format("return [=]() __attribute__((always_inline)) {{\n{}{}}};", stores,
                     std::string(levels_.size() * 2, ' ')));
  close(fmt::format("const auto body = [&]<bool Full>(const i64 i, const i32 n{}) __attribute__((always_inline)) {{",
                    parameters),
        "};");
  const std::string begin = segment_ ? segment_var_ : from, end = segment_ ? segment_var_ + "_end" : to;
  code(fmt::format("i64 i = {};", apart && !heavy ? fmt::format("few(body, {}, {})", begin, end) : begin));
  if (reduces && size >= 64 && !heavy) {
    std::string four;
    for (int u = 0; u < 4; ++u)
      four += fmt::format(" body.template operator()<true>(i + {} * L, L{});", u, arguments[u]);
    code(fmt::format("for (; i + 4 * L <= {}; i += 4 * L) {{{} }}", end, four));
  }
  const char* done = apart ? "()" : "";
  code(fmt::format("for (; i + L <= {}; i += L) body.template operator()<true>(i, L{}){};", end, arguments[0], done));
  const bool constant = whole && !segment_;
  if (!constant || size % 16 != 0)
    code(fmt::format("if ({0}i < {1}) body.template operator()<false>(i, (i32)({1} - i){2}){3};",
                     constant ? end + " % L && " : "", end, arguments[0], done));
  if (!conditions.empty()) {  // where they are few, they are constants
    code("};");
    code(fmt::format("{}{});", decided && !heavy ? "decide(run, " : "run(", fmt::join(conditions, ", ")));
  }
  const std::string head =
      segment_ ? fmt::format("for (i64 {0} = {1}, {0}_end; {0} < {2}; {0} = {0}_end) {{", segment_var_, from, to)
      : whole  ? std::string("{")
               : fmt::format("if ({} < {}) {{", from, to);
  close(head);
  cuts_.clear();
  segment_.reset();
  segment_level_ = -1;
  vector_level_ = -1;
  steps_.clear();
}

// The elements that the bound leaves out: masked stores do nothing there, and reductions often see one value.
void Emitter::emit_outside(const Group& group, const Index& index, const std::string& from, std::int64_t size) {
  Group rest = group;
  rest.roots.clear();
  const bool across = group.axis == group.vector && group.axis >= 0;
  for (const Root& r : group.roots) {
    std::vector<At> left;
    int level = 0;
    if (r.kind == Root::Kind::store && r.op->code != Code::check) {
      const std::size_t mask = r.op->code == Code::atomic_cas ? 3 : 2;
      if (r.op->operands.size() > mask && !remaining_mask(*r.op, r.op->operands[mask], index, left, level) &&
          r.array < 0)
        continue;
    }
    if (r.kind == Root::Kind::reduce && across && type(r.op->operands[0]).elem != Elem::i1 &&
        r.op->combine != tile::Combine::product && r.op->combine != tile::Combine::bit_xor) {
      const std::vector<Level> saved = levels_;
      const auto sites = out_.sites;
      vector_level_ = open();
      loops_[static_cast<std::size_t>(vector_loop_)].level = vector_level_;
      const Ref x = eval(r.op->operands[0], index, Mode::lanes);
      if (!x.lanes) {
        const Elem elem = type(r.op->operands[0]).elem;
        const bool sum = r.op->combine == tile::Combine::sum;
        const bool zero = x.text == constant_text(Op{}, elem);
        if (!sum || !zero) {
          code(fmt::format(
              "{}_rest = {};", r.accumulator,
              sum ? fmt::format("({})({} * ({})({} - {}))", scalar_name(elem), x.text, scalar_name(elem), size, from)
                  : x.text));
          close(fmt::format("if ({} < {}) {{", from, size));
        } else {
          levels_.pop_back();
        }
        vector_level_ = -1;
        continue;
      }
      levels_ = saved;
      out_.sites = sites;
      vector_level_ = -1;
    }
    rest.roots.push_back(r);
  }
  if (!rest.roots.empty()) emit_region(rest, index, from, std::to_string(size), false);
}

// All roots of the nest at the elements i..i+n-1.
void Emitter::emit_roots(const Group& group, const Index& index) {
  const bool inner =
      group.axis >= 0 && group.axis != group.vector && group.domain[static_cast<std::size_t>(group.axis)] >= 1;
  if (!inner) {
    for (const Root& r : group.roots) emit_root(r, index);
    return;
  }
  for (const Root& r : group.roots)
    if (r.kind == Root::Kind::reduce) {
      code(fmt::format("{} {} = {};", accumulator_type(*r.op), r.accumulator, accumulator_start(*r.op)));
    }
  const std::string var = fresh("k");
  open();
  loops_.push_back({var, static_cast<int>(levels_.size()) - 1});
  Index at = index;
  if (group.domain[static_cast<std::size_t>(group.axis)] > 1)
    at[static_cast<std::size_t>(group.axis)] = static_cast<std::int8_t>(loops_.size() - 1);
  for (const Root& r : group.roots) emit_root(r, at);
  loops_.pop_back();
  close(fmt::format("for (i64 {0} = 0; {0} < {1}; ++{0}) {{", var, group.domain[static_cast<std::size_t>(group.axis)]));
  for (const Root& r : group.roots)
    if (r.kind == Root::Kind::reduce) write_result(r, index, {finished(*r.op, r.accumulator), vector_level_, true});
}

void Emitter::emit_root(const Root& r, const Index& index) {
  if (r.kind == Root::Kind::store) return store(*r.op, index);
  if (r.kind == Root::Kind::keep) {
    const Ref x = r.value == kNoValue ? eval_array(arrays_[static_cast<std::size_t>(r.from)], index, Mode::lanes)
                                      : eval(r.value, index, Mode::lanes);
    return write_result(r, index, x);
  }
  const Elem elem = type(r.op->operands[0]).elem;
  const Ref x = lanes_of(eval(r.op->operands[0], index, Mode::lanes), elem);
  const bool across = vector_loop_ == index[static_cast<std::size_t>(r.axis)];
  const std::string part = across ? fmt::format("(Full ? {0} : pick(below(n), {0}, all(({1}){2})))", x.text,
                                                scalar_name(elem), identity(*r.op))
                                  : x.text;
  code(fmt::format("{} = {};", r.accumulator, accumulated(*r.op, r.accumulator, part)));
}

// To the value's name or array; a reduction's axis is left out of the index.
void Emitter::write_result(const Root& r, const Index& index, const Ref& value) {
  const bool reduced = r.kind == Root::Kind::reduce;
  const ValueId v = reduced ? r.op->result() : r.value;
  if (reduced && home(v).kind == Home::Kind::name) {
    code(fmt::format("{} = {};", home(v).text, value.text));
    return;
  }
  const Array& array = arrays_[static_cast<std::size_t>(reduced ? home(v).array : r.array)];
  std::string at;
  std::int64_t stride = 1, step = 0;
  for (int d = array.shape.rank - 1; d >= array.first_dim; --d) {
    const int from = reduced && d >= r.axis ? d + 1 : d;
    const std::int8_t loop = index[static_cast<std::size_t>(from)];
    if (loop != kFixed) {
      if (loop == vector_loop_) step += stride;
      at += fmt::format("{}{}{}", at.empty() ? "" : " + ", loop_variable(loop, Mode::first).text,
                        stride == 1 ? "" : fmt::format(" * {}L", stride));
    }
    stride *= array.shape[static_cast<std::size_t>(d)];
  }
  if (at.empty()) at = "0";
  const Elem elem = array.pointer ? Elem::i64 : array.elem;
  if (vector_level_ < 0 || (reduced && !value.lanes)) {
    code(fmt::format("{}[{}] = {}{};", array.name, at, elem == Elem::i1 ? "-(i32)" : "", value.text));
    return;
  }
  const std::string x = lanes_of(value, elem).text;
  if (step == 1)
    code(fmt::format("st<{}, Full>({} + {}, {}, n);", array_access_name(elem), array.name, at, x));
  else
    code(fmt::format("st_step<{}, Full>({} + {}, {}L, {}, n);", array_access_name(elem), array.name, at, step, x));
}

}  // namespace passnet::tile_cpu
