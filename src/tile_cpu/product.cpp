// Products of matrices. A factor is read where it lies if it can be, and a loop over pieces of one product is that
// product.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tile_cpu/emitter.h"

namespace passnet::tile_cpu {

namespace {
constexpr std::int64_t kDepth = 256;       // so many terms are added at a time
constexpr std::int64_t kPanelsBytes = 32;  // sizeof(Panels)

bool is_elementwise(const Op& op) {
  const tile::OpClass kind = tile::op_row(op.code).kind;
  return (kind >= tile::OpClass::unary && kind <= tile::OpClass::other) && op.code != Code::dot;
}
}  // namespace

// Whether every element is +0, to which sums may be added without reading it.
bool Emitter::is_zero(ValueId v) const {
  const Op* op = def(v);
  while (op != nullptr && (op->code == Code::splat || op->code == Code::broadcast)) op = def(op->operands[0]);
  return op != nullptr && op->code == Code::constant && op->real == 0 && !std::signbit(op->real) && op->integer == 0;
}

// An operand of dot that can be read where it lies: an f32 load of a matrix, contiguous along one of its dimensions.
std::optional<Emitter::Matrix> Emitter::factor_of(ValueId v) {
  const Op* op = def(v);
  if (op == nullptr || op->code != Code::load || type(v).elem != Elem::f32 || overwritten(*op)) return std::nullopt;
  auto out = matrix_of(*op);
  if (op->operands.size() > 2 && !is_zero(op->operands[2])) return std::nullopt;  // what is not there has to be 0
  if (out && out->steps[0] != 1 && out->steps[1] != 1) return std::nullopt;
  return out;
}

// How many terms the sums of a loop have that does nothing but add to one product, each turn going on in both matrices
// where the one before ended; nullopt: it is another loop. Such a loop is one product: the terms are added in the same
// order, and the sums stay in registers.
std::optional<Emitter::Terms> Emitter::terms_of(const Op& loop) {
  const Block& body = loop.blocks[0];
  const auto lo = constant_of(loop.operands[0]), hi = constant_of(loop.operands[1]),
             step = constant_of(loop.operands[2]);
  if (!step || *step <= 0 || body.params.size() != 2) return std::nullopt;
  const Op* dot = def(body.ops.back().operands[0]);
  const auto inside = [&](const Op* op) { return op != nullptr && block_of_.at(op) == block_of_.at(&body.ops[0]); };
  if (!inside(dot) || dot->code != Code::dot || dot->operands[2] != body.params[1]) return std::nullopt;
  const auto is_part = [&](const Op& op) {
    if (op.code == Code::load) return op.result() == dot->operands[0] || op.result() == dot->operands[1];
    const tile::OpClass kind = tile::op_row(op.code).kind;
    return op.code == Code::yield ||
           (op.code == Code::dot
                ? &op == dot
                : kind != tile::OpClass::memory && kind != tile::OpClass::control && kind != tile::OpClass::reduction);
  };
  if (!std::all_of(body.ops.begin(), body.ops.end(), is_part)) return std::nullopt;
  std::int64_t depth = 0;  // of a turn
  for (const std::size_t i : {0, 1}) {
    const auto matrix = factor_of(dot->operands[i]);
    const Op* load = def(dot->operands[i]);
    if (!matrix || !inside(load)) return std::nullopt;
    const std::size_t inner = 1 - i;  // the dimension that is summed over
    depth = type(load->result()).shape[inner];
    if (turn_step(load->operands[0], loop) != depth * matrix->steps[inner]) return std::nullopt;
    for (const std::size_t d : {0, 1})
      for (const Bound& b : matrix->bounds[d]) {
        const auto below = turn_step(b.below, loop), limit = turn_step(b.limit, loop);
        if (!below || !limit || *below - *limit != (d == inner ? depth : 0)) return std::nullopt;
      }
  }
  if (lo && hi && *lo < *hi) {
    const std::int64_t terms = ((*hi - *lo - 1) / *step + 1) * depth;
    return Terms{std::to_string(terms), terms, is_zero(loop.operands[3])};
  }
  return Terms{fmt::format("(((i64){} - (i64){} - 1) / {} + 1) * {}", home(loop.operands[1]).text,
                           home(loop.operands[0]).text, *step, depth),
               std::numeric_limits<std::int64_t>::max(), false};
}

// Room for a copy of the second factor that the next program may find there; "": there is none. The kernel must not
// write to that factor, and its copy should stay in a cache.
std::string Emitter::keep_panels(const Op& product, std::int64_t terms, std::int64_t depth) {
  constexpr std::int64_t kKept = 256 << 10, kWidest = 32;  // a panel's columns are a divisor of it
  const auto& shape = type(product.result()).shape;
  const std::int64_t columns = (shape[shape.rank - 1] + kWidest - 1) / kWidest * kWidest;
  if (facts_.programs() == 1 || terms > kKept || may_access(writes_, def(product.operands[1])->operands[0])) return "";
  const std::int64_t bytes = (terms + depth - 1) / depth * depth * columns * tile::elem_bytes(Elem::f32);
  if (bytes > kKept || panels_ == kKeptBytes / kPanelsBytes) return "";
  const std::string name = fresh("panels");
  out_.scratch_bytes = std::max(out_.scratch_bytes, kKeptBytes);
  kept_ += fmt::format("  Panels& {0} = ((Panels*)scratch)[{1}];\n  {0}.to = (f32*)(scratch + {2});\n", name, panels_++,
                       out_.scratch_bytes);
  out_.scratch_bytes += bytes;
  return ", &" + name;
}

// Whether a pointer's value is known here: it is made of what was computed before.
bool Emitter::is_known(ValueId v, std::set<ValueId>& seen) const {
  if (home(v).kind != Home::Kind::nowhere || !seen.insert(v).second) return true;
  const Op* op = def(v);
  return op != nullptr && (type(v).is_tile() || op->code == Code::constant) &&
         (is_elementwise(*op) || tile::op_row(op->code).kind <= tile::OpClass::shape) &&
         std::all_of(op->operands.begin(), op->operands.end(), [&](ValueId o) { return is_known(o, seen); });
}

// Where a product, or what is made of its elements, is stored at last, if that is a matrix whose place is known here
// and whose rows lie in one piece: `Goal{...}`. "": it is not, or nobody else would have it.
std::string Emitter::goal_of(const Op& product) {
  if (is_hooked(build_) || facts_.programs() == 1) return "";
  ValueId v = terms_ ? block_owner_[static_cast<std::size_t>(block_of_.at(&product))]->result() : product.result();
  const Shape& shape = type(v).shape;
  const Op* op = nullptr;
  do {
    const auto& users = users_[static_cast<std::size_t>(v)];
    op = users.size() == 1 ? users[0] : nullptr;
    if (op == nullptr || (op->code != Code::store && !is_elementwise(*op))) return "";
    if (op->code != Code::store) v = op->result();
  } while (op->code != Code::store);
  std::set<ValueId> seen;
  const ValueId pointer = op->operands[0];
  if (shape.rank != 2 || op->operands[1] != v || !is_known(pointer, seen)) return "";
  const auto at = [&](const Index& index) { return address(pointer, index, Mode::zero); };
  const auto row = along(0, [&] { return step_of(at(identity_index(2))); }),
             column = along(1, [&] { return step_of(at(identity_index(2))); });
  if (!row || column != 1) return "";
  Index first;
  first.fill(kFixed);
  const Address a = at(first);
  const std::int64_t bytes = tile::elem_bytes(a.elem);
  return fmt::format(", Goal{{(const char*)({}), {}, {}}}", element_pointer(a, sum_terms(a, Mode::zero).text),
                     *row * bytes, bytes);
}

void Emitter::emit_product(const Op& op) {
  const Shape& shape = type(op.operands[0]).shape;
  const std::size_t r = shape.rank;
  const std::int64_t m = shape[r - 2], k = shape[r - 1], n = type(op.result()).shape[r - 1];
  const std::int64_t batch = r == 3 ? shape[0] : 1;
  const Terms terms = terms_.value_or(Terms{std::to_string(k), k, fresh_.contains(&op)});
  const auto array = [&](ValueId v) { return arrays_[static_cast<std::size_t>(home(v).array)].name; };
  open();
  Index first;
  first.fill(kFixed);
  std::string operands[2], counts[3] = {std::to_string(m), terms.count, std::to_string(n)};
  std::int64_t steps[2][2] = {{k, 1}, {n, 1}};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& matrix = factors_.at(&op)[i];
    if (!matrix) {
      if (terms_) fail(passnet::Code::internal, "a product's factors were taken for matrices");
      operands[i] = array(op.operands[i]);
      continue;
    }
    const Address at = address(def(op.operands[i])->operands[0], first, Mode::zero);
    operands[i] = element_pointer(at, sum_terms(at, Mode::zero).text);
    for (const std::size_t d : {0, 1}) {
      steps[i][d] = matrix->steps[d];
      counts[i + d] = count_of(matrix->bounds[d], counts[i + d]);
    }
  }
  for (const std::size_t i : {0, 1})
    if (factors_.at(&op)[i]) follow_matrix(*def(op.operands[i]), operands[i], steps[i], counts + i);
  const std::int64_t depth = std::min(terms.at_most, kDepth);
  const std::string panels = factors_.at(&op)[1] ? keep_panels(op, terms.at_most, depth) : "", goal = goal_of(op);
  for (std::int64_t p = 0; p < batch; ++p)
    code(fmt::format("dot<{}, {}, {}, {}>({} + {}, {}, {}, {} + {}, {}, {}, {} + {}, {}, {}, {}{}{});", m, n, depth,
                     terms.fresh, operands[0], p * m * k, steps[0][0], steps[0][1], operands[1], p * k * n, steps[1][0],
                     steps[1][1], array(op.result()), p * m * n, counts[0], counts[2], counts[1],
                     panels.empty() && !goal.empty() ? ", nullptr" : panels, goal));
  close("{");
}

}  // namespace passnet::tile_cpu
