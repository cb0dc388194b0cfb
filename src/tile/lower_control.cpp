// Control flow: if, for, while, return. A constant condition compiles one arm only; static_range unrolls; the rest
// become the IR's structured ops, whose results are the names that change.
//
// A function that returns early is run twice. Triton compiles what follows a `return` inside an `if` too, whether it
// can be reached or not, joins the names of both arms, and gives all returns one type. The rehearsal does that, and
// what it emits is thrown away; the second run leaves out what is not reached.
#include <algorithm>
#include <array>

#include "tile/lowering.h"

namespace passnet::tile {

using K = py::StmtKind;
using OK = Operand::Kind;

namespace {

void target_names(const py::Expr& target, std::set<std::string_view>& out) {
  if (target.kind == py::ExprKind::name) out.insert(target.text);
  if (target.kind == py::ExprKind::tuple || target.kind == py::ExprKind::list)
    for (const py::Expr* item : target.items) target_names(*item, out);
}

bool carries(const Operand& v) { return !Lowering::flatten(v).empty(); }

}  // namespace

void assigned_names(std::span<const py::Stmt* const> statements, std::set<std::string_view>& out) {
  for (const py::Stmt* s : statements) {
    if (s->kind == K::assign || s->kind == K::augmented || s->kind == K::annotated || s->kind == K::for_)
      for (const py::Expr* target : s->targets) target_names(*target, out);
    if (s->kind == K::function) continue;
    assigned_names(s->body, out);
    assigned_names(s->orelse, out);
  }
}

const py::Stmt* first_return(std::span<const py::Stmt* const> statements) {
  for (const py::Stmt* s : statements) {
    if (s->kind == K::return_) return s;
    if (s->kind == K::function) continue;
    for (const auto& inner : {s->body, s->orelse})
      if (const py::Stmt* found = first_return(inner)) return found;
  }
  return nullptr;
}

// ---- lists of statements

void Lowering::refuse_return(const py::Stmt& s) {
  const At at(*this, s.place);
  refuse("'return' inside a loop", "put the rest of the body under an if; a loop runs to its end");
}

namespace {

// Whether a return stands anywhere but at the end.
bool returns_early(std::span<const py::Stmt* const> statements) {
  const py::Stmt* first = first_return(statements);
  return first != nullptr && first != statements.back();
}

}  // namespace

// The type that two returns have together: a constant that both give stays one, else both are values of the run.
Operand Lowering::common_result(Operand a, Operand b) {
  if (a.is(OK::tuple) && b.is(OK::tuple) && a.items.size() == b.items.size() && a.text == b.text) {
    for (std::size_t i = 0; i < a.items.size(); ++i)
      a.items[i] = common_result(std::move(a.items[i]), std::move(b.items[i]));
    return a;
  }
  if (equal(a, b)) return a;
  if (a.is_none() != b.is_none())
    refuse("a function that returns a value on one path only", "end every path with a return of the same type");
  a = run_time(std::move(a), "what is returned");
  b = run_time(std::move(b), "what is returned");
  if (!same_type(a, b, !lanes_))
    refuse(fmt::format("the paths of a function return different types: {} and {}", operand_text(a), operand_text(b)),
           "cast with .to(...) so that every return has one type");
  return a;
}

// A returned value as all returns of the function give it.
Operand Lowering::as_result(Operand v, const Operand& like) {
  if (like.is_tensor()) return run_time(std::move(v), "what is returned");
  if (like.is_constant()) return like;
  for (std::size_t i = 0; i < v.items.size() && i < like.items.size(); ++i)
    v.items[i] = as_result(std::move(v.items[i]), like.items[i]);
  return v;
}

// Runs a function's body. Gives what it returns, or nothing.
std::optional<Operand> Lowering::run_body(Stmts body) {
  if (rehearsal_) {
    run(body, nullptr);
    return frame_->result;
  }
  if (returns_early(body)) {
    Block* const outer = block_;
    const Scope before = frame_->scope;
    const std::size_t values = out_.types.size(), files = out_.files.size(), ops = ops_;
    Block thrown_away;
    block_ = &thrown_away;
    rehearsal_ = true;
    run(body, nullptr);
    rehearsal_ = false;
    block_ = outer;
    frame_->scope = before;
    out_.types.resize(values);
    out_.names.resize(values);
    out_.files.resize(files);
    ops_ = ops;
  }
  return run(body, nullptr);
}

std::optional<Operand> Lowering::resume(const Rest* rest) {
  if (rest == nullptr) return std::nullopt;
  if (rest->loop == nullptr) return run(rest->statements, rest->next);
  if (rest->loop->done()) return resume(rest->next);
  Unroll next = *rest->loop;
  const py::Stmt& s = *next.loop;
  const At at(*this, s.place);
  frame_->scope[s.targets[0]->text] = Operand::of(ConstValue::of(next.next));
  next.next += next.step;
  const Rest again{{}, &next, rest->next};
  return run(s.body, &again);
}

std::optional<Operand> Lowering::run(Stmts statements, const Rest* rest) {
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const py::Stmt& s = *statements[i];
    step();
    const At at(*this, s.place);
    const Rest tail{statements.subspan(i + 1), nullptr, rest};
    switch (s.kind) {
      case K::expression:
        if (s.value->kind != py::ExprKind::ellipsis) eval(*s.value);
        break;
      case K::assign: run_assign(s); break;
      case K::annotated: run_annotated(s); break;
      case K::augmented: run_augmented(s); break;
      case K::pass: break;
      case K::assert_: {
        std::vector<Operand> args{eval(*s.value)};
        if (s.annotation != nullptr) args.push_back(eval(*s.annotation));
        call_builtin(*find_builtin("device_assert", kTl), "assert", std::move(args), {});
        break;
      }
      case K::return_: {
        if (loops_ > 0) refuse_return(s);
        Operand value = s.value == nullptr ? Operand{} : eval(*s.value);
        if (frame_->kernel && !value.is_none())
          refuse(fmt::format("kernel {} returns a value", kernel_.name), "a kernel gives its results with tl.store");
        if (!rehearsal_) return frame_->result ? as_result(std::move(value), *frame_->result) : std::move(value);
        frame_->result = frame_->result ? common_result(*frame_->result, std::move(value)) : std::move(value);
        return std::nullopt;
      }
      case K::if_: {
        const Operand test = eval(*s.value);
        if (!test.is_tensor()) {
          const Stmts arm = decided(test, "if") ? s.body : s.orelse;
          if (!rehearsal_ && contains_return(arm)) return run(arm, &tail);
          run(arm, nullptr);
          break;
        }
        const ValueId c = condition(test, "if");
        const py::Stmt* inner = first_return(std::array{&s});
        if (inner != nullptr && loops_ > 0) refuse_return(*inner);
        if (inner != nullptr && !rehearsal_) return run_returning_if(c, s, tail);
        run_if(c, s);
        break;
      }
      case K::for_: {
        const Range range = loop_range(s);
        if (rehearsal_ || !range.is_static || !contains_return(s.body)) {
          run_for(s, range);
          break;
        }
        const Unroll u = unroll(s, range);
        const Rest loop{{}, &u, &tail};
        return resume(&loop);
      }
      case K::while_: run_while(s); break;
      default: refuse_statement(s);
    }
  }
  return resume(rest);
}

// ---- if

namespace {

const Op* first_access(const Block& block) {
  for (const Op& op : block.ops) {
    if (op_row(op.code).kind == OpClass::memory) return &op;
    for (const Block& inner : op.blocks)
      if (const Op* found = first_access(inner)) return found;
  }
  return nullptr;
}

}  // namespace

// Ends the arms of an if and emits it. Where a function of scalars runs on tiles, each element has a condition of its
// own: both arms are computed, and of each pair one is chosen.
std::vector<ValueId> Lowering::join_arms(Op op, const std::vector<ValueId> (&yielded)[2]) {
  Block* const outer = block_;
  if (!lanes_) {
    for (std::size_t arm = 0; arm < 2; ++arm) {
      Op yield;
      yield.code = Code::yield;
      yield.operands = yielded[arm];
      block_ = &op.blocks[arm];
      emit_effect(std::move(yield));
    }
    block_ = outer;
    for (const ValueId v : yielded[0]) op.results.push_back(out_.add_value(type(v)));
    std::vector<ValueId> results = op.results;
    emit_effect(std::move(op));
    return results;
  }
  for (Block& arm : op.blocks) {
    if (const Op* access = first_access(arm)) {
      const At at(*this, access->source.place);
      refuse("memory or an assertion under a condition in a function of elements",
             "a function that combines elements computes with them alone");
    }
    std::move(arm.ops.begin(), arm.ops.end(), std::back_inserter(block_->ops));
  }
  std::vector<ValueId> results;
  for (std::size_t i = 0; i < yielded[0].size(); ++i) {
    ValueId c = op.operands[0], x = yielded[0][i], y = yielded[1][i];
    broadcast_pair(c, x);
    broadcast_pair(x, y);
    results.push_back(x == y ? x : select(broadcast_to(c, type(x).shape), x, y));
  }
  return results;
}

// Each arm goes on to the end of the function: `if n == 0: return` leaves the rest to the other arm.
std::optional<Operand> Lowering::run_returning_if(ValueId condition, const py::Stmt& s, const Rest& rest) {
  Block* const outer = block_;
  const Scope before = frame_->scope;
  step(before.size());
  Op op;
  op.code = Code::if_;
  op.operands = {condition};
  op.blocks.resize(2);
  std::optional<Operand> returned[2];
  for (int arm = 0; arm < 2; ++arm) {
    block_ = &op.blocks[static_cast<std::size_t>(arm)];
    frame_->scope = before;
    returned[arm] = run(arm == 0 ? s.body : s.orelse, &rest);
  }
  block_ = outer;
  Operand values[2];
  for (int arm = 0; arm < 2; ++arm)
    if (returned[arm]) values[arm] = *returned[arm];
  if (values[0].is_none() != values[1].is_none())
    refuse("a function that returns a value on one path only", "end every path with a return of the same type");
  const std::vector<ValueId> yielded[2] = {flatten(values[0]), flatten(values[1])};
  const std::vector<ValueId> results = join_arms(std::move(op), yielded);
  std::span<const ValueId> ids = results;
  return rebuild(values[0], ids);
}

void Lowering::run_if(ValueId condition, const py::Stmt& s) {
  Block* const outer = block_;
  const Scope before = frame_->scope;
  step(2 * before.size());
  Op op;
  op.code = Code::if_;
  op.operands = {condition};
  op.blocks.resize(2);
  Scope after[2];
  for (int arm = 0; arm < 2; ++arm) {
    block_ = &op.blocks[static_cast<std::size_t>(arm)];
    frame_->scope = before;
    run(arm == 0 ? s.body : s.orelse, nullptr);
    after[arm] = std::move(frame_->scope);
  }
  block_ = outer;
  frame_->scope = before;

  // Names that differ between the arms, in alphabetical order.
  std::set<std::string_view> names;
  for (const Scope& scope : after)
    for (const auto& [name, value] : scope) names.insert(name);
  std::vector<std::pair<std::string_view, Operand>> merged;
  std::vector<ValueId> yielded[2];
  for (const std::string_view name : names) {
    const auto a = after[0].find(name), b = after[1].find(name);
    const auto known = before.find(name);
    if (a == after[0].end() || b == after[1].end()) {
      frame_->scope[name] = Operand::lost(
          fmt::format("'{}' has a value in one arm of the if in line {} only; give it one before", name, s.place.line));
      continue;
    }
    if (same(a->second, b->second)) {
      frame_->scope[name] = a->second;
      continue;
    }
    const bool was_tensor = known != before.end() && carries(known->second);
    for (int arm = 0; was_tensor && arm < 2; ++arm) {
      const Operand& now = (arm == 0 ? a : b)->second;
      if (!same_type(known->second, now, !lanes_))
        refuse(fmt::format("'{}' is {} before the if and {} at the end of its {} arm", name,
                           operand_text(known->second), operand_text(now), arm == 0 ? "first" : "else"),
               "a name keeps its type and shape: cast with .to(...), or use another name");
    }
    if (!carries(a->second) || !carries(b->second)) {
      frame_->scope[name] = Operand::lost(
          fmt::format("'{}' depends on the condition of line {}, but is no value of the run in one of its arms", name,
                      s.place.line));
      continue;
    }
    if (!same_type(a->second, b->second, !lanes_))
      refuse(fmt::format("'{}' is {} in the first arm and {} in the else arm", name, operand_text(a->second),
                         operand_text(b->second)),
             "both arms must give it one type and shape: cast with .to(...)");
    merged.emplace_back(name, a->second);
    flatten(a->second, yielded[0]);
    flatten(b->second, yielded[1]);
  }
  const std::vector<ValueId> results = join_arms(std::move(op), yielded);
  std::span<const ValueId> ids = results;
  for (auto& [name, value] : merged) set_name(name, rebuild(value, ids));
}

Operand Lowering::conditional(const py::Expr& e) {
  const Operand test = eval(*e.items[0]);
  if (!test.is_tensor()) return eval(*e.items[decided(test, "a ternary") ? 1 : 2]);
  Op op;
  op.code = Code::if_;
  op.operands = {condition(test, "a ternary")};
  op.blocks.resize(2);
  Block* const outer = block_;
  std::vector<ValueId> values[2];
  for (std::size_t arm = 0; arm < 2; ++arm) {
    block_ = &op.blocks[arm];
    values[arm] = {to_tensor(eval(*e.items[arm + 1]))};
  }
  block_ = outer;
  const Operand a = Operand::tensor(values[0][0]), b = Operand::tensor(values[1][0]);
  if (!same_type(a, b, !lanes_))
    refuse(fmt::format("the ternary gives {} or {}", operand_text(a), operand_text(b)),
           "both sides must have one type; of tiles choose with tl.where");
  return Operand::tensor(join_arms(std::move(op), values)[0]);
}

// ---- loops

Lowering::Range Lowering::loop_range(const py::Stmt& s) {
  if (!s.orelse.empty()) refuse("'else' of a loop", "leave it out");
  if (s.targets[0]->kind != py::ExprKind::name) refuse("a loop has one variable");
  constexpr const char* kAdvice = "write for i in range(...), tl.range(...) or tl.static_range(...)";
  if (s.value->kind != py::ExprKind::call) refuse("a loop goes over a range", kAdvice);
  const Operand callee = eval(*s.value->items[0]);
  const bool is_static = callee.is(OK::path) && callee.text == "triton.language.static_range";
  const bool tuned = callee.is(OK::path) && callee.text == "triton.language.range";
  if (callee.is(OK::path) && callee.text == "triton.language.arange")
    refuse("a loop over tl.arange", "tl.arange makes a tile; count with range(0, N)");
  if (!is_static && !tuned && !(callee.is(OK::path) && callee.text == "builtins.range"))
    refuse("a loop goes over a range", kAdvice);
  std::vector<Operand> args;
  for (const py::Expr* a : s.value->items.subspan(1)) args.push_back(eval(*a));
  Operand* named[3] = {};
  std::vector<Operand> values(3);
  for (const py::Keyword& k : s.value->keywords) {
    constexpr std::string_view kHints[] = {"num_stages", "loop_unroll_factor", "disallow_acc_multi_buffer",
                                           "flatten",    "warp_specialize",    "disable_licm"};
    if (!is_static && std::find(std::begin(kHints), std::end(kHints), k.name) != std::end(kHints)) continue;
    constexpr std::string_view kNames[] = {"arg1", "arg2", "step"};
    const auto at = std::find(std::begin(kNames), std::end(kNames), k.name);
    if (callee.text == "builtins.range" || at == std::end(kNames))
      refuse(fmt::format("a range has no argument '{}'", k.name), "its arguments are start, stop, step in this order");
    const auto i = static_cast<std::size_t>(at - std::begin(kNames));
    values[i] = eval(*k.value);
    named[i] = &values[i];
  }
  constexpr std::size_t kWithHints = 9;
  if (args.size() > (tuned ? kWithHints : 3)) refuse("a range takes at most three arguments");
  args.resize(std::min<std::size_t>(args.size(), 3));
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (named[i] != nullptr) refuse(fmt::format("a range got two values for its argument {}", i + 1));
    values[i] = args[i];
    named[i] = &values[i];
  }
  if (named[0] == nullptr) refuse("a range needs its end", kAdvice);
  Range out;
  out.is_static = is_static;
  const bool both = named[1] != nullptr && !values[1].is_none();
  out.lo = both ? values[0] : Operand::of(ConstValue::of(std::int64_t{0}));
  out.hi = both ? values[1] : values[0];
  const bool stepped = named[2] != nullptr && !values[2].is_none();
  out.step = stepped ? values[2] : Operand::of(ConstValue::of(std::int64_t{1}));
  if (out.step.is_integer() && out.step.constant.integer == 0) refuse("a range with step 0");
  return out;
}

Lowering::Unroll Lowering::unroll(const py::Stmt& s, const Range& range) {
  for (const Operand* v : {&range.lo, &range.hi, &range.step})
    if (!v->is_integer())
      refuse(fmt::format("tl.static_range needs constants, not {}", operand_text(*v)),
             "its bounds are tl.constexpr values; for others write range");
  for (const Operand* v : {&range.lo, &range.hi, &range.step})
    if (!holds(Elem::i32, v->constant.integer)) refuse("a range to unroll ends beyond int32");
  return {&s, range.lo.constant.integer.clamped(), range.hi.constant.integer.clamped(),
          range.step.constant.integer.clamped()};
}

std::vector<Lowering::Carried> Lowering::carried(const py::Stmt& s, std::string_view except) {
  std::set<std::string_view> assigned;
  assigned_names(s.body, assigned);
  std::vector<Carried> out;
  for (const std::string_view name : assigned) {
    if (name == except) continue;
    const auto it = frame_->scope.find(name);
    if (it != frame_->scope.end() && carries(it->second)) out.push_back({name, it->second});
  }
  return out;
}

// What the body leaves in the carried names, checked against what they were before.
std::vector<ValueId> Lowering::yields(const std::vector<Carried>& names, const py::Stmt& s) {
  std::vector<ValueId> out;
  for (const Carried& c : names) {
    const Operand& now = frame_->scope.at(c.name);
    if (!same_type(c.before, now))
      refuse(fmt::format("'{}' is {} before the loop in line {} and {} after its body", c.name, operand_text(c.before),
                         s.place.line, operand_text(now)),
             "a name that a loop changes keeps its type and shape: start with tl.zeros([...], dtype=...), cast with "
             ".to(...), or use another name inside");
    flatten(now, out);
  }
  return out;
}

// Constants that a body changes cannot be carried.
void Lowering::check_constants(const py::Stmt& s, const Scope& before) {
  for (const auto& [name, value] : before) {
    if (carries(value) || value.is(OK::lost)) continue;
    const auto now = frame_->scope.find(name);
    if (now != frame_->scope.end() && carries(now->second))
      refuse(fmt::format("'{}' is {} before the loop in line {}, which changes it", name, operand_text(value),
                         s.place.line),
             "a constant stays as it is in a loop: use another name, or start from a value, such as tl.zeros");
  }
}

void Lowering::leave_loop(const std::vector<Carried>& names, Scope before, std::span<const ValueId> results,
                          std::string_view variable) {
  for (const auto& [name, value] : frame_->scope)
    if (!before.contains(name))
      before[name] = Operand::lost(fmt::format("'{}' has a value inside the loop only; give it one before", name));
  frame_->scope = std::move(before);
  if (!variable.empty())
    frame_->scope[variable] = Operand::lost(fmt::format("'{}' counts the loop and has no value after it", variable));
  for (const Carried& c : names) set_name(c.name, rebuild(c.before, results));
}

void Lowering::run_for(const py::Stmt& s, const Range& range) {
  const std::string_view variable = s.targets[0]->text;
  if (range.is_static) {
    for (Unroll u = unroll(s, range); !u.done(); u.next += u.step) {
      frame_->scope[variable] = Operand::of(ConstValue::of(u.next));
      step();
      run(s.body, nullptr);
    }
    return;
  }
  ValueId bounds[3];
  const Operand* parts[3] = {&range.lo, &range.hi, &range.step};
  for (std::size_t i = 0; i < 3; ++i) {
    bounds[i] = to_tensor(*parts[i]);
    const Type t = type(bounds[i]);
    if (t.pointer || is_float(t.elem) || t.shape.elements() != 1)
      refuse(fmt::format("{} as a bound of a range", triton_type(t)),
             "bounds are integer scalars; divide with // or tl.cdiv");
    bounds[i] = reshape(bounds[i], {});
  }
  const Elem counter =
      integer_promote(integer_promote(type(bounds[0]).elem, type(bounds[1]).elem), type(bounds[2]).elem);
  for (ValueId& b : bounds) b = cast(b, counter);

  const Scope before = frame_->scope;
  step(before.size());
  const std::vector<Carried> names = carried(s, variable);
  Op op;
  op.code = Code::for_;
  op.operands = {bounds[0], bounds[1], bounds[2]};
  op.blocks.resize(1);
  const ValueId i = out_.add_value(scalar_type(counter), std::string(variable));
  op.blocks[0].params.push_back(i);
  for (const Carried& c : names) {
    std::vector<ValueId> params;
    for (const ValueId v : flatten(c.before)) {
      op.operands.push_back(v);
      params.push_back(out_.add_value(type(v), std::string(c.name)));
      op.blocks[0].params.push_back(params.back());
    }
    std::span<const ValueId> ids = params;
    frame_->scope[c.name] = rebuild(c.before, ids);
  }
  frame_->scope[variable] = Operand::tensor(i);
  Block* const outer = block_;
  block_ = &op.blocks[0];
  ++loops_;
  run(s.body, nullptr);
  --loops_;
  Op yield;
  yield.code = Code::yield;
  yield.operands = yields(names, s);
  emit_effect(std::move(yield));
  block_ = outer;
  Scope outside = before;
  outside.erase(variable);
  check_constants(s, outside);
  for (std::size_t k = 3; k < op.operands.size(); ++k) op.results.push_back(out_.add_value(type(op.operands[k])));
  const std::vector<ValueId> results = op.results;
  emit_effect(std::move(op));
  leave_loop(names, before, results, variable);
}

void Lowering::run_while(const py::Stmt& s) {
  if (!s.orelse.empty()) refuse("'else' of a loop", "leave it out");
  const Scope before = frame_->scope;
  step(before.size());
  const std::vector<Carried> names = carried(s, {});
  Op op;
  op.code = Code::while_;
  op.blocks.resize(2);
  Block* const outer = block_;
  for (const Carried& c : names) flatten(c.before, op.operands);
  ++loops_;
  for (std::size_t part = 0; part < 2; ++part) {
    frame_->scope = before;
    for (const Carried& c : names) {
      std::vector<ValueId> params;
      for (const ValueId v : flatten(c.before)) params.push_back(out_.add_value(type(v), std::string(c.name)));
      op.blocks[part].params.insert(op.blocks[part].params.end(), params.begin(), params.end());
      std::span<const ValueId> ids = params;
      frame_->scope[c.name] = rebuild(c.before, ids);
    }
    block_ = &op.blocks[part];
    Op yield;
    yield.code = Code::yield;
    if (part == 0) {
      const Operand test = eval(*s.value);
      if (!test.is_tensor()) {
        block_ = outer;
        refuse("a while loop whose condition is a constant",
               "the condition must change with the loop; use if or range");
      }
      yield.operands = {condition(test, "while")};
    } else {
      run(s.body, nullptr);
      yield.operands = yields(names, s);
    }
    emit_effect(std::move(yield));
  }
  --loops_;
  block_ = outer;
  check_constants(s, before);
  for (const ValueId v : op.operands) op.results.push_back(out_.add_value(type(v)));
  const std::vector<ValueId> results = op.results;
  emit_effect(std::move(op));
  leave_loop(names, before, results, {});
}

}  // namespace passnet::tile
