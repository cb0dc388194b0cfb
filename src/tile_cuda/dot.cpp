#include <fmt/format.h>

#include <algorithm>

#include "tile/c_text.h"
#include "tile_cuda/emitter.h"

namespace passnet::tile_cuda {

namespace {

// Rows in shared memory are longer than they are, so that a fragment's loads meet every bank once.
constexpr int kPadHalf = 8, kPadRows = 4, kPadColumns = 8;

}  // namespace

Emitter::Product Emitter::product_of(const Op& op) const {
  const Type &a = type(op.operands[0]), &b = type(op.operands[1]), &c = type(op.result());
  Product out;
  if (c.shape.rank != 2 || c.shape[0] < 16 || c.shape[1] < 8) return out;
  const int k = a.shape[1];
  if (c.elem == Elem::f32 && tile::is_half(a.elem) && a.elem == b.elem && k >= 16) out.unit = Product::Unit::half;
  if (c.elem == Elem::f32 && a.elem == Elem::f32 && b.elem == Elem::f32 && op.precision == tile::Precision::tf32 &&
      k >= 8)
    out.unit = Product::Unit::tf32;
  const int m = log2_of(c.shape[0]) - 4, n = log2_of(c.shape[1]) - 3;
  for (int w = kLaneBits; w < thread_bits_; ++w) {
    const bool tall = (c.shape[0] >> out.warps_m) >= (c.shape[1] >> out.warps_n);
    if (out.warps_m < m && (tall || out.warps_n == n))
      ++out.warps_m;
    else if (out.warps_n < n)
      ++out.warps_n;
  }
  return out;
}

Layout Emitter::dot_layout(const Op& op) {
  const Shape& s = type(op.result()).shape;
  if (s.rank != 2 || s[0] < 16 || s[1] < 8) return shape_layout(s);
  const Product p = product_of(op);
  return products(s, p.warps_m, p.warps_n);
}

void Emitter::emit_dot(const Op& op) {
  const ValueId a = op.operands[0], b = op.operands[1], r = op.result();
  const Product product = product_of(op);
  const Layout layout = home(r);
  const Shape &sa = type(a).shape, &sb = type(b).shape;
  const std::size_t rank = sa.rank;
  const bool half = product.unit == Product::Unit::half, tf32 = product.unit == Product::Unit::tf32;
  const int pad_a = half ? kPadHalf : kPadRows, pad_b = half ? kPadHalf : tf32 ? kPadColumns : 1;
  const int pitch_a = sa[rank - 1] + pad_a, pitch_b = sb[rank - 1] + pad_b;
  const auto rows = [](const Shape& s) { return s.elements() / s[static_cast<std::size_t>(s.rank - 1)]; };
  const std::string t = half ? "u16" : tile::scalar_name(type(a).elem);
  const std::int64_t bytes = half ? 2 : type(a).elem == Elem::f64 || type(a).elem == Elem::i64 ? 8 : 4;
  const auto own = [&](ValueId v) -> Layout {
    const Op* d = def(v);
    ValueId x = v;
    if (free_[static_cast<std::size_t>(v)]) return shape_layout(type(v).shape);
    std::vector<const Op*> path;
    while (d != nullptr && transparent(*d) && d->code != Code::broadcast && type(d->operands[0]).is_tile()) {
      path.push_back(d);
      x = d->operands[0];
      d = def(x);
    }
    if (d != nullptr && transparent(*d)) return shape_layout(type(v).shape);
    if (free_[static_cast<std::size_t>(x)] || !home_[static_cast<std::size_t>(x)]) return shape_layout(type(v).shape);
    Layout out = home(x);  // moved forward through what only renames its bits
    for (std::size_t i = path.size(); i-- > 0;) {
      const auto bits = operand_bits(*path[i], type(path[i]->operands[0]).shape, type(path[i]->result()).shape);
      Layout next = out;
      for (std::size_t k = 0; k < bits.size(); ++k) next.thread[static_cast<std::size_t>(bits[k])] = out.thread[k];
      out = next;
    }
    return out;
  };
  const Layout la = own(a), lb = own(b);
  const Ref ra = get(a, la), rb = get(b, lb), rc = get(op.operands[2], layout);
  const std::int64_t count_a = rows(sa) * pitch_a, count_b = rows(sb) * pitch_b;
  const std::string shared = shared_array(t, bytes, count_a + count_b);
  const std::string shared_b = fresh("shared");
  line(fmt::format("{}* const {} = {} + {};", t, shared_b, shared, count_a));
  const auto put = [&](const Ref& ref, ValueId v, const Layout& l, const Shape& s, const std::string& to, int pitch) {
    const int row = log2_of(s[static_cast<std::size_t>(s.rank - 1)]);
    const std::string guard = replica_guard(l);
    const auto place = [&](const std::string& e) {
      return fmt::format("{} * {} + {}", coordinate(l, {row, l.count - row}, e), pitch, coordinate(l, {0, row}, e));
    };
    int bits = 0;  // of neighbours in a row that one thread holds
    while (half && bits < 3 && bits < row && l.in_register(bits)) ++bits;
    const std::string head = guard.empty() ? "" : fmt::format("if ({}) ", guard);
    if (half) {
      const std::string access = tile::access_name(type(v).elem);
      line(
          fmt::format("{}EACH(g, {}) {{ f32 w[{}]; EACH(j, {}) {{ const int e = g * {} + j; w[j] = {}; }} "
                      "store_many<{}, {}>({} + {}, w); }}",
                      head, l.registers() >> bits, 1 << bits, 1 << bits, 1 << bits, ref.at("e"), access, 1 << bits, to,
                      place(fmt::format("(g * {})", 1 << bits))));
      return;
    }
    line(fmt::format("{}EACH(e, {}) {}[{}] = {};", head, l.registers(), to, place("e"),
                     tf32 ? fmt::format("tf32_({})", ref.at("e")) : ref.at("e")));
  };
  put(ra, a, la, sa, shared, pitch_a);
  put(rb, b, lb, sb, shared_b, pitch_b);
  shared_written();
  const Ref out = make_array(r, layout);
  line(fmt::format("EACH(e, {}) {}[e] = {};", out.registers, out.name, rc.at("e")));
  if (product.unit == Product::Unit::lanes)
    emit_dot_lanes(op, layout, out, shared, shared_b);
  else
    line(fmt::format("product_{}<{}, {}, {}, {}, {}{}>({}, {}, {}, tid);", half ? "half" : "tf32", sa[0], sb[1], sa[1],
                     product.warps_m, product.warps_n, half ? (type(a).elem == Elem::bf16 ? ", true" : ", false") : "",
                     out.name, shared, shared_b));
  remember(r, layout, out);
}

void Emitter::emit_dot_lanes(const Op& op, const Layout& layout, const Ref& acc, const std::string& a,
                             const std::string& b) {
  const Shape &sa = type(op.operands[0]).shape, &sb = type(op.operands[1]).shape, &sc = type(op.result()).shape;
  const auto rank = static_cast<std::size_t>(sc.rank);
  const int k = sa[rank - 1], pitch_a = k + kPadRows, pitch_b = sb[rank - 1] + 1;
  const std::string m = coordinate(layout, dim_bits(sc, rank - 2), "e"),
                    n = coordinate(layout, dim_bits(sc, rank - 1), "e");
  std::string row_a = m, row_b = "k";
  if (rank == 3) {
    const std::string batch = coordinate(layout, dim_bits(sc, 0), "e");
    row_a = fmt::format("({} * {} + {})", batch, sa[1], m);
    row_b = fmt::format("({} * {} + k)", batch, k);
  }
  const std::string t = tile::scalar_name(type(op.result()).elem);
  line("#pragma unroll 4");
  line(
      fmt::format("for (int k = 0; k < {}; ++k) EACH(e, {}) {}[e] = multiply_add(({}){}[{} * {} + k], ({}){}[{} * {} + "
                  "{}], {}[e]);",
                  k, acc.registers, acc.name, t, a, row_a, pitch_a, t, b, row_b, pitch_b, n, acc.name));
}

}  // namespace passnet::tile_cuda
