#include <fmt/format.h>

#include <algorithm>

#include "tile/c_text.h"
#include "tile/scalar.h"
#include "tile_cuda/emitter.h"

namespace passnet::tile_cuda {

using tile::Combine;

namespace {

bool is_position(const Op& op) { return op.combine == Combine::argmin || op.combine == Combine::argmax; }

}  // namespace

std::string Emitter::combined(const Op& op, const std::string& a, const std::string& b) const {
  const Elem elem = type(op.operands[0]).elem;
  if (is_position(op)) return fmt::format("{}({}, {})", op.combine == Combine::argmin ? "lower" : "higher", a, b);
  Op binary;
  binary.code = tile::combine_code(op.combine);
  const tile::OperandText operands[] = {{a, elem}, {b, elem}};
  return tile::op_text(binary, operands, elem);
}

// In a thread as a tree, then over lanes by shuffles, then over warps through shared memory; every thread gets the
// result.
void Emitter::emit_reduce(const Op& op) {
  const ValueId x = op.operands[0], r = op.result();
  const Layout layout = operand_layout_.at(&op);
  const Shape& shape = type(x).shape;
  const auto axis = static_cast<std::size_t>(op.axis);
  const BitRange range = dim_bits(shape, axis);
  const Layout result = without_dim(layout, shape, axis);
  const Ref in = get(x, layout);
  const Elem elem = type(x).elem;
  const std::string plain = tile::scalar_name(elem);
  const std::string t = is_position(op) ? fmt::format("Position<{}>", plain) : plain;
  std::vector<BitMove> kept, gone;  // result register, number along the axis -> operand register
  std::vector<int> lanes, warps;
  for (int b = 0; b < layout.count; ++b) {
    const bool along = b >= range.first && b < range.first + range.count;
    if (layout.in_register(b))
      (along ? gone : kept).push_back({static_cast<int>((along ? gone : kept).size()), layout.register_bit(b)});
    else if (along)
      (layout.at(b) < kLaneBits ? lanes : warps).push_back(layout.at(b));
  }
  const int count = 1 << gone.size();
  const std::string name = fresh("reduced");
  line(fmt::format("{} {}[{}];", t, name, result.registers()));
  line(fmt::format("EACH(i, {}) {{", result.registers()));
  ++indent_;
  line(fmt::format("{} part[{}];", t, count));
  const std::string reg = fmt::format("{} + {}", bits_text("i", kept), bits_text("j", gone));
  const std::string element =
      is_position(op) ? fmt::format("{}{{{}, {}}}", t, in.at("e"), coordinate(layout, range, "e")) : in.at("e");
  line(fmt::format("EACH(j, {}) {{ const int e = {}; part[j] = {}; }}", count, reg, element));
  for (int s = count / 2; s > 0; s /= 2)
    line(fmt::format("EACH(j, {}) part[j] = {};", s, combined(op, "part[j]", fmt::format("part[j + {}]", s))));
  for (const int lane : lanes)
    line(fmt::format("part[0] = {};", combined(op, "part[0]", fmt::format("from_lane(part[0], {})", 1 << lane))));
  line(fmt::format("{}[i] = part[0];", name));
  --indent_;
  line("}");
  if (!warps.empty()) {
    const int threads = 1 << thread_bits_;
    const std::int64_t bytes = register_bytes(elem);
    const std::int64_t each = is_position(op) ? std::max<std::int64_t>(8, 2 * bytes) : bytes;
    const std::string shared = shared_array(t, each, static_cast<std::int64_t>(threads) * result.registers());
    unsigned others = static_cast<unsigned>(threads) - 1;  // the thread's bits that are not along the axis
    for (const int w : warps) others &= ~(1U << w);
    line(fmt::format("EACH(i, {}) {}[i * {} + tid] = {}[i];", result.registers(), shared, threads, name));
    shared_written();
    line(fmt::format("EACH(i, {}) {{", result.registers()));
    ++indent_;
    if (lanes.size() >= warps.size()) {  // lanes that hold the same take a warp each
      std::vector<BitMove> of_lane;
      for (std::size_t w = 0; w < warps.size(); ++w) of_lane.push_back({lanes[w], warps[w]});
      line(fmt::format("{} part = {}[i * {} + (tid & {}) + {}];", t, shared, threads, others,
                       bits_text("tid", of_lane)));
      for (std::size_t w = 0; w < warps.size(); ++w)
        line(fmt::format("part = {};", combined(op, "part", fmt::format("from_lane(part, {})", 1 << lanes[w]))));
    } else {
      std::vector<BitMove> spread;
      for (std::size_t w = 0; w < warps.size(); ++w) spread.push_back({static_cast<int>(w), warps[w]});
      line(fmt::format("{} part = {}[i * {} + (tid & {})];", t, shared, threads, others));
      line(fmt::format("for (int w = 1; w < {}; ++w) {{", 1 << warps.size()));
      line(fmt::format("  const {} next = {}[i * {} + (tid & {}) + {}];", t, shared, threads, others,
                       bits_text("w", spread)));
      line(fmt::format("  part = {};", combined(op, "part", "next")));
      line("}");
    }
    line(fmt::format("{}[i] = part;", name));
    --indent_;
    line("}");
  }
  Ref out = Ref::array_of(name, result);
  if (is_position(op)) {
    const std::string where = fresh(r);
    line(fmt::format("i32 {}[{}];", where, out.registers));
    line(fmt::format("EACH(e, {}) {}[e] = {}[e].at;", out.registers, where, name));
    out.name = where;
  }
  if (type(r).is_tile())
    remember(r, result, out);
  else
    scalars_[static_cast<std::size_t>(r)] = out.at("0");
}

// The axis lies in registers, then lanes, then warps: each thread scans its own, then adds what is before it.
void Emitter::emit_scan(const Op& op) {
  const ValueId x = op.operands[0], r = op.result();
  const Layout layout = operand_layout_.at(&op);
  const BitRange range = dim_bits(type(x).shape, static_cast<std::size_t>(op.axis));
  const Ref in = get(x, layout);
  const Ref out = make_array(r, layout);
  const std::string t = tile::scalar_name(type(x).elem);
  std::vector<BitMove> kept, axis;
  int threads = 0;
  for (int b = 0; b < layout.count; ++b) {
    const bool along = b >= range.first && b < range.first + range.count;
    if (layout.in_register(b))
      (along ? axis : kept).push_back({static_cast<int>((along ? axis : kept).size()), layout.register_bit(b)});
    else if (along)
      ++threads;
  }
  const int count = 1 << axis.size();
  const int lanes = std::min(threads, kLaneBits), warps = threads - lanes;
  const std::string step = op.reverse ? fmt::format("{} - j", count - 1) : "j";
  const std::string reg = fmt::format("{} + {}", bits_text("i", kept), bits_text("(" + step + ")", axis));
  const std::string total = fresh("total");
  line(fmt::format("{} {}[{}];", t, total, 1 << kept.size()));
  line(fmt::format("EACH(i, {}) {{", 1 << kept.size()));
  ++indent_;
  line(fmt::format("{} sum;", t));
  line(fmt::format("EACH(j, {}) {{ const int e = {}; sum = j == 0 ? {} : {}; {}[e] = sum; }}", count, reg, in.at("e"),
                   combined(op, op.reverse ? in.at("e") : "sum", op.reverse ? "sum" : in.at("e")), out.name));
  line(fmt::format("{}[i] = sum;", total));
  --indent_;
  line("}");
  // What comes before this thread's part: `before`, where there is anything.
  const auto add_before = [&](const std::string& before) {
    line(fmt::format("if (any) EACH(j, {}) {{ const int e = {}; {}[e] = {}; }}", count, reg, out.name,
                     op.reverse ? combined(op, out.name + "[e]", before) : combined(op, before, out.name + "[e]")));
  };
  if (lanes > 0) {
    const char* place = op.reverse ? "last" : "first";
    line(fmt::format("EACH(i, {}) {{", 1 << kept.size()));
    ++indent_;
    line(
        fmt::format("const int lane = tid & {}, {} = {};", (1 << lanes) - 1, place, op.reverse ? (1 << lanes) - 1 : 0));
    line(fmt::format("{} sum = {}[i];", t, total));
    line(fmt::format("for (int d = 1; d < {}; d *= 2) {{", 1 << lanes));
    line(fmt::format("  const {} next = {}(sum, d, {});", t, op.reverse ? "from_above" : "from_below", 1 << lanes));
    line(fmt::format("  if ({}) sum = {};", op.reverse ? fmt::format("lane + d < {}", 1 << lanes) : "lane >= d",
                     op.reverse ? combined(op, "sum", "next") : combined(op, "next", "sum")));
    line("}");
    line(fmt::format("const {} before = {}(sum, 1, {});", t, op.reverse ? "from_above" : "from_below", 1 << lanes));
    line(fmt::format("const bool any = lane != {};", place));
    add_before("before");
    line(fmt::format("{}[i] = sum;", total));
    --indent_;
    line("}");
  }
  if (warps > 0) {
    const int all = 1 << thread_bits_;
    const std::string shared =
        shared_array(t, register_bytes(type(x).elem), static_cast<std::int64_t>(all) * (1 << kept.size()));
    line(fmt::format("EACH(i, {}) {}[i * {} + tid] = {}[i];", 1 << kept.size(), shared, all, total));
    shared_written();
    line(fmt::format("EACH(i, {}) {{", 1 << kept.size()));
    ++indent_;
    const int last = (1 << kLaneBits) - 1;
    line(fmt::format("const int warp = tid >> {} & {}, base = i * {} + (tid & {}) + {};", kLaneBits, (1 << warps) - 1,
                     all, (all - 1) & ~((1 << (kLaneBits + warps)) - 1), op.reverse ? 0 : last));
    line(fmt::format("const bool any = warp {} {};", op.reverse ? "!=" : ">", op.reverse ? (1 << warps) - 1 : 0));
    line(fmt::format("{} before;", t));
    if (op.reverse)
      line(fmt::format("for (int w = {}; w > warp; --w) before = w == {} ? {}[base + w * 32] : {};", (1 << warps) - 1,
                       (1 << warps) - 1, shared, combined(op, fmt::format("{}[base + w * 32]", shared), "before")));
    else
      line(fmt::format("for (int w = 0; w < warp; ++w) before = w == 0 ? {}[base] : {};", shared,
                       combined(op, "before", fmt::format("{}[base + w * 32]", shared))));
    add_before("before");
    --indent_;
    line("}");
  }
  remember(r, layout, out);
}

}  // namespace passnet::tile_cuda
