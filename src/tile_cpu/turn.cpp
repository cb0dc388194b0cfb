// Loads of matrices whose memory is contiguous along another dimension than the nest's vector loop: such a tile is
// turned into an array first, a block of L x L at a time, in registers. So every line of memory is read once and whole,
// and the nest reads the array along its own direction.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tile_cpu/ctypes.h"
#include "tile_cpu/emitter.h"

namespace passnet::tile_cpu {

namespace {

constexpr std::int32_t kBlock = 16;  // the largest L

constexpr Index kElements = {0, 1, kFixed, kFixed, kFixed, kFixed};  // of a matrix
constexpr Index kFirst = {kFixed, kFixed, kFixed, kFixed, kFixed, kFixed};
static_assert(kElements.size() == tile::kRankLimit);

}  // namespace

// The matrix in memory that a load reads; nullopt: it is none, or its mask is more than bounds.
std::optional<Emitter::Matrix> Emitter::matrix_of(const Op& load) {
  const ValueId v = load.result();
  if (build_ == Build::checked || type(v).shape.rank != 2 || home(v).kind != Home::Kind::nowhere) return std::nullopt;
  const Address a = address(load.operands[0], kElements, Mode::zero);
  if (a.base.empty()) return std::nullopt;
  Matrix out;
  for (const int d : {0, 1}) {
    auto step = along(d, [&] { return step_of(a); });
    if (const Op* wrap = step ? nullptr : wrap_of(load, a, d)) {
      unwrapped_ = wrap;
      step = along(d, [&] { return step_of(a); });
      unwrapped_ = nullptr;
      out.bounds[d].push_back({{wrap->result(), kElements}, wrap->operands[0], wrap->operands[1]});
    }
    if (!step) return std::nullopt;
    out.steps[d] = *step;
  }
  std::vector<At> mask;
  if (load.operands.size() > 1) conjuncts(load.operands[1], kElements, mask);
  for (const At& c : mask) {
    bool bound = false;
    for (const int d : {0, 1})
      if (along(1 - d, [&] { return step_of(c.value, c.index); }) == 0)
        if (const auto b = along(d, [&] { return bound_of(c); }); b && !b->negated) {
          out.bounds[d].push_back(*b);
          bound = true;
        }
    if (!bound) return std::nullopt;
  }
  if (load.operands.size() > 2)
    for (const int d : {0, 1})
      if (along(d, [&] { return step_of(load.operands[2], kElements); }) != 0) return std::nullopt;
  return out;
}

// What is read of a matrix without a mask of its own is looked at before.
void Emitter::follow_matrix(const Op& load, const std::string& from, const std::int64_t* steps,
                            const std::string* counts) {
  if (!is_hooked(build_)) return;
  code(fmt::format("if (ck_matrix(hooks, {}, program, {}, {}L, {}, {}L, {}))", site(load), from, steps[0], counts[0],
                   steps[1], counts[1]));
}

// How many of `all` rows or columns the bounds leave.
std::string Emitter::count_of(const std::vector<Bound>& bounds, std::string all) {
  for (const Bound& b : bounds) all = fmt::format("clamp_i64({}, 0, {})", reach(b, kFirst, Mode::zero), all);
  return all;
}

// How to turn the load's tile; nullopt: memory is not the other way round.
std::optional<Emitter::Turn> Emitter::turn_of(const Op& load) {
  const Type& t = type(load.result());
  if (t.shape.rank != 2 || t.shape[0] < kBlock || t.shape[1] < kBlock || t.elem == Elem::i1) return std::nullopt;
  auto matrix = matrix_of(load);
  if (!matrix || (matrix->steps[0] != 1 && matrix->steps[1] != 1)) return std::nullopt;
  const std::size_t contiguous = matrix->steps[0] == 1 ? 0 : 1;
  if (matrix->steps[1 - contiguous] < kBlock) return std::nullopt;
  return Turn{std::move(*matrix), contiguous};
}

// Before each nest: what it would load across its vector loop.
void Emitter::turn_loads(std::vector<Group>& groups) {
  std::set<const Op*> turned;  // or kept in an array anyway
  for (const Group& g : groups)
    for (const Root& root : g.roots)
      if (root.publish) turned.insert(def(root.value));
  for (std::size_t g = 1; g < groups.size(); ++g) {
    Group turns;
    for (const Root& root : groups[g].roots) {
      if (root.kind == Root::Kind::call) continue;
      for (const At& at : root.evaluated) {
        const Op* op = def(at.value);
        if (op == nullptr || op->code != Code::load || !type(at.value).is_tile() || turned.contains(op)) continue;
        const auto turn = turn_of(*op);
        if (!turn || at.index[1 - turn->contiguous] != groups[g].vector) continue;
        turned.insert(op);
        Root r;
        r.kind = Root::Kind::call;
        r.op = op;
        turns.roots.push_back(std::move(r));
      }
    }
    if (turns.roots.empty()) continue;
    groups.insert(groups.begin() + static_cast<std::ptrdiff_t>(g), std::move(turns));
    ++g;
  }
}

void Emitter::emit_turn(const Op& load) {
  const auto found = turn_of(load);
  if (!found) return;  // its offsets are kept in an array by now; the nest loads it
  const Turn& turn = *found;
  const ValueId v = load.result();
  const Elem elem = type(v).elem;
  const Shape& shape = type(v).shape;
  const int array = new_array(v);
  arrays_[static_cast<std::size_t>(array)].turned = turn.contiguous == 1;
  open();
  const Address at = address(load.operands[0], kFirst, Mode::zero);
  std::string count[2];
  for (const std::size_t d : {0, 1}) count[d] = count_of(turn.matrix.bounds[d], std::to_string(shape[d]));
  const std::string other = load.operands.size() > 2 ? eval(load.operands[2], kFirst, Mode::zero).text : "0";
  const std::size_t column = turn.contiguous, row = 1 - turn.contiguous;
  const std::string from = fmt::format("{} + ({})", at.base, sum_terms(at, Mode::zero).text);
  follow_matrix(load, from, turn.matrix.steps, count);
  code(fmt::format("turn<{}, {}, {}>({}, {}, {}, {}, {}, {}, {});", access_name(elem), shape[row], shape[column], from,
                   turn.matrix.steps[row], count[row], count[column], other,
                   arrays_[static_cast<std::size_t>(array)].name,
                   program_step(load.operands[0]).value_or(ProgramStep{}).fixed));
  close("{");
  home(v) = {Home::Kind::array, {}, 0, array};
  turns_ = true;
}

}  // namespace passnet::tile_cpu
