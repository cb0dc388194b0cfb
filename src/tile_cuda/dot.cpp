#include <fmt/format.h>

#include <algorithm>

#include "tile/c_text.h"
#include "tile_cuda/emitter.h"

namespace passnet::tile_cuda {

namespace {

// Rows of words in shared memory are longer than they are, so that a fragment's loads meet every bank once.
constexpr int kPadRows = 4, kPadColumns = 8;

constexpr int kGroupRows = 64;      // of a product of four warps
constexpr int kGroupColumns = 256;  // at most
constexpr int kChunk = 64;  // halves in a row of a matrix in shared memory: columns of a group begin at multiples

}  // namespace

Layout Emitter::Product::layout(const Shape& shape) const {
  return unit == Unit::groups ? group_products(shape, warps_m, warps_n) : products(shape, warps_m, warps_n);
}

Emitter::Product Emitter::product_of(const Op& op) const {
  const Type &a = type(op.operands[0]), &b = type(op.operands[1]), &c = type(op.result());
  Product out;
  if (c.shape.rank != 2 || c.shape[0] < 16 || c.shape[1] < 8) return out;
  const int k = a.shape[1];
  const bool halves = c.elem == Elem::f32 && tile::is_half(a.elem) && a.elem == b.elem && k >= 16;
  // Each group of four warps has 64 rows; groups share rows out first.
  const int groups = thread_bits_ - kLaneBits - 2;
  if (halves && target_.machine.groups && groups >= 0 && c.shape[0] >= kGroupRows && c.shape[1] >= 16) {
    const int m = std::min(groups, log2_of(c.shape[0] / kGroupRows)), n = groups - m;
    const int columns = c.shape[1] >> n;
    if (columns <= kGroupColumns && (n == 0 || columns >= kChunk)) return {Product::Unit::groups, m, n};
  }
  if (halves) out.unit = Product::Unit::half;
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
  return product_of(op).layout(s);
}

void Emitter::emit_dot(const Op& op) {
  const Product product = product_of(op);
  if (product.of_halves()) return emit_dot_halves(op, product);
  emit_dot_words(op, product);
}

// Where an operand lies already: its home, moved forward through what only renames its bits.
Layout Emitter::source_layout(ValueId v) {
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
  Layout out = home(x);
  for (std::size_t i = path.size(); i-- > 0;) {
    const auto bits = operand_bits(*path[i], type(path[i]->operands[0]).shape, type(path[i]->result()).shape);
    Layout next = out;
    for (std::size_t k = 0; k < bits.size(); ++k) next.thread[static_cast<std::size_t>(bits[k])] = out.thread[k];
    out = next;
  }
  return out;
}

// ---- halves: matrices in shared memory as prelude/product.cuh's `Staged` says

Emitter::Operand Emitter::operand_of(ValueId v) const {
  Operand out{v, false};
  for (const Op* d = def(v); d != nullptr && d->code == Code::trans; d = def(out.value)) {
    out.value = d->operands[0];
    out.swapped ^= d->order[0] == 1;
  }
  return out;
}

std::string Emitter::staged_type(ValueId v, int dim) const {
  const Shape& s = type(v).shape;
  return fmt::format("Staged<{}, {}>", s[static_cast<std::size_t>(1 - dim)], s[static_cast<std::size_t>(dim)]);
}

// Puts a tile of halves into shared memory; a barrier is still to come.
Emitter::Placed Emitter::place(ValueId v, std::int64_t offset) {
  const Layout l = source_layout(v);
  const Ref ref = get(v, l);
  const Shape& s = type(v).shape;
  const auto neighbours = [&](int d) {  // of neighbours along d that one thread holds, bits
    const BitRange range = dim_bits(s, static_cast<std::size_t>(d));
    int n = 0;
    while (n < 3 && n < range.count && l.in_register(range.first + n)) ++n;
    return n;
  };
  const int dim = neighbours(0) > neighbours(1) ? 0 : 1, bits = neighbours(dim);
  const BitRange range = dim_bits(s, static_cast<std::size_t>(dim));
  const Vector vector = vector_along(l, range, bits);
  const std::string guard = replica_guard(l), access = tile::access_name(type(v).elem);
  line(fmt::format(
      "{}EACH(g, {}) {{ const int r0 = {}; f32 w[{}]; EACH(j, {}) {{ const int e = r0 + {}; w[j] = {}; }} "
      "store_many<{}, {}>((u16*)(shared_memory + {} + {}::at({}, {})), w); }}",
      guard.empty() ? "" : fmt::format("if ({}) ", guard), l.registers() >> bits, bits_text("g", vector.outside),
      1 << bits, 1 << bits, bits_text("j", vector.inside), ref.at("e"), access, 1 << bits, offset, staged_type(v, dim),
      coordinate(l, dim_bits(s, static_cast<std::size_t>(1 - dim)), "r0"), coordinate(l, range, "r0")));
  return {dim, std::to_string(offset)};
}

// The first operand as fragments in registers, where the threads that need its elements have them.
std::optional<std::string> Emitter::packed(const Op& op, const Product& product) {
  const ValueId a = op.operands[0];
  const Op* d = def(a);
  const Shape& s = type(a).shape;
  if (product.warps_n != 0 || d == nullptr || transparent(*d) || free_[static_cast<std::size_t>(a)]) return {};
  const Layout layout = product.layout(s);
  if (!(home(a) == layout)) return {};
  const Ref from = get(unrounded(a), layout);
  const int tiles = layout.registers() / 8, columns = s[1] / 8;
  const std::string name = fresh("packed");
  line(fmt::format("u32 {}[{}];", name, tiles * 4));
  line(fmt::format(
      "EACH(t, {}) EACH(i, 4) {{ const int e = product_register<{}>(t / {}, t % {} * 2 + i / 2, i % 2 * 2), "
      "f = e + 1; {}[t * 4 + i] = pack_{}({}, {}); }}",
      tiles, columns, columns / 2, columns / 2, name, tile::elem_row(type(a).elem).name, from.at("e"), from.at("f")));
  return name;
}

void Emitter::emit_dot_halves(const Op& op, const Product& product) {
  const ValueId r = op.result();
  const Layout layout = home(r);
  const Shape &sa = type(op.operands[0]).shape, &sb = type(op.operands[1]).shape;
  const bool groups = product.unit == Product::Unit::groups;
  const Operand operands[] = {operand_of(op.operands[0]), operand_of(op.operands[1])};
  const Ref rc = get(op.operands[2], layout);
  std::optional<Placed> placed[2];
  std::int64_t bytes = 0;
  for (int i = 0; i < 2; ++i) {
    if (const auto it = placed_.find(operands[i].value); it != placed_.end())
      placed[i] = it->second;
    else
      bytes += staged_bytes(operands[i].value);
  }
  std::optional<std::string> fragments;
  if (!placed[0]) fragments = packed(op, product);
  if (fragments) bytes -= staged_bytes(operands[0].value);
  if (bytes > 0) {
    shared_array("u8", 1, bytes);
    std::int64_t offset = shared_base_;
    for (int i = 0; i < 2; ++i) {
      if (placed[i] || (i == 0 && fragments)) continue;
      placed[i] = place(operands[i].value, offset);
      offset += staged_bytes(operands[i].value);
    }
    if (groups) line("product_fence();");
    shared_written();
  }
  const Ref out = make_array(r, layout);
  line(fmt::format("EACH(e, {}) {}[e] = {};", out.registers, out.name, rc.at("e")));
  // the operand's k is its dimension 1 - i; rows along k are columns along m or n
  const auto k_rows = [&](int i) {
    const int k = operands[i].swapped ? i : 1 - i;
    return placed[i] && placed[i]->dim != k;
  };
  const auto spelled = [&](int i) {
    return fmt::format("Matrix<{}, {}>{{shared_address(shared_memory) + {}}}",
                       staged_type(operands[i].value, placed[i]->dim), k_rows(i) ? "true" : "false", placed[i]->offset);
  };
  const std::string a = fragments ? *fragments : spelled(0), b = spelled(1);
  if (groups) {
    emit_groups(op, product, out.name, a, b, fragments.has_value(), k_rows(0), k_rows(1));
  } else {
    fetch_next();
    line(fmt::format("product_half<{}, {}, {}, {}, {}, {}>({}, {}, {}, tid);", sa[0], sb[1], sa[1], product.warps_m,
                     product.warps_n, type(op.operands[0]).elem == Elem::bf16 ? "true" : "false", out.name,
                     fragments ? fmt::format("Fragments<{}>{{{}}}", sa[1], a) : a, b));
  }
  remember(r, layout, out);
}

// wgmma: 64 rows, 16 of k at a time. Between its begin and its end the next round is fetched.
void Emitter::emit_groups(const Op& op, const Product& product, const std::string& c, const std::string& a,
                          const std::string& b, bool packed, bool a_k_rows, bool b_k_rows) {
  const Shape& s = type(op.result()).shape;
  const int k = type(op.operands[0]).shape[1], rows = s[0] >> product.warps_m, columns = s[1] >> product.warps_n;
  const int tiles = columns / 8, registers = columns / 2;
  const std::string_view t = tile::elem_row(type(op.operands[0]).elem).name;
  std::string results, constraints;
  for (int i = 0; i < registers; ++i) {
    results += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    constraints +=
        fmt::format("{}\"+f\"({}[product_register<{}>(mt, {}, {})])", i == 0 ? "" : ", ", c, tiles, i / 4, i % 4);
  }
  const std::string first =
      packed ? fmt::format("{{%{}, %{}, %{}, %{}}}", registers, registers + 1, registers + 2, registers + 3)
             : fmt::format("%{}", registers);
  const int second = registers + (packed ? 4 : 1);
  line("{");
  ++indent_;
  line("const int group = product_group(tid);");
  line(fmt::format("const int m0 = (group >> {} & {}) * {}, n0 = (group & {}) * {};", product.warps_n,
                   (1 << product.warps_m) - 1, rows, (1 << product.warps_n) - 1, columns));
  if (!packed) line(fmt::format("const auto a = {};", a));
  line(fmt::format("const auto b = {};", b));
  const int count = (rows / kGroupRows) * registers;
  line(fmt::format("product_begin<{}>({});", count, c));
  line(fmt::format("EACH(k, {}) EACH(mt, {})", k / 16, rows / kGroupRows));
  std::string inputs;
  if (packed)
    for (int i = 0; i < 4; ++i) inputs += fmt::format("\"r\"({}[(mt * {} + k) * 4 + {}]), ", a, k / 16, i);
  else
    inputs = "\"l\"(a.descriptor(m0 + mt * 64, k * 16)), ";
  line(fmt::format(
      "  asm volatile(\"{{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n{}k16.f32.{}.{} "
      "{{{}}}, {}, %{}, p, 1, 1, {}{};}}\" : {} : {}\"l\"(b.descriptor(n0, k * 16)));",
      columns, t, t, results, first, second,
      packed     ? ""
      : a_k_rows ? "1, "
                 : "0, ",
      b_k_rows ? "1" : "0", constraints, inputs));
  line("product_commit();");
  fetch_next();
  line(fmt::format("product_end<{}>({});", count, c));
  --indent_;
  line("}");
}

// ---- words: rows in shared memory, padded

void Emitter::emit_dot_words(const Op& op, const Product& product) {
  const ValueId a = op.operands[0], b = op.operands[1], r = op.result();
  const Layout layout = home(r);
  const Shape &sa = type(a).shape, &sb = type(b).shape;
  const std::size_t rank = sa.rank;
  const bool tf32 = product.unit == Product::Unit::tf32;
  const int pitch_a = sa[rank - 1] + kPadRows, pitch_b = sb[rank - 1] + (tf32 ? kPadColumns : 1);
  const auto rows = [](const Shape& s) { return s.elements() / s[static_cast<std::size_t>(s.rank - 1)]; };
  const std::string t = tile::scalar_name(type(a).elem);
  const std::int64_t bytes = type(a).elem == Elem::f64 || type(a).elem == Elem::i64 ? 8 : 4;
  const Layout la = source_layout(a), lb = source_layout(b);
  const Ref ra = get(a, la), rb = get(b, lb), rc = get(op.operands[2], layout);
  const std::int64_t count_a = rows(sa) * pitch_a, count_b = rows(sb) * pitch_b;
  const std::string shared = shared_array(t, bytes, count_a + count_b);
  const std::string shared_b = fresh("shared");
  line(fmt::format("{}* const {} = {} + {};", t, shared_b, shared, count_a));
  const auto put = [&](const Ref& ref, const Layout& l, const Shape& s, const std::string& to, int pitch) {
    const int row = log2_of(s[static_cast<std::size_t>(s.rank - 1)]);
    const std::string guard = replica_guard(l);
    line(fmt::format("{}EACH(e, {}) {}[{} * {} + {}] = {};", guard.empty() ? "" : fmt::format("if ({}) ", guard),
                     l.registers(), to, coordinate(l, {row, l.count - row}, "e"), pitch, coordinate(l, {0, row}, "e"),
                     tf32 ? fmt::format("tf32_({})", ref.at("e")) : ref.at("e")));
  };
  put(ra, la, sa, shared, pitch_a);
  put(rb, lb, sb, shared_b, pitch_b);
  shared_written();
  const Ref out = make_array(r, layout);
  line(fmt::format("EACH(e, {}) {}[e] = {};", out.registers, out.name, rc.at("e")));
  if (product.unit == Product::Unit::lanes)
    emit_dot_lanes(op, layout, out, shared, shared_b);
  else
    line(fmt::format("product_tf32<{}, {}, {}, {}, {}>({}, {}, {}, tid);", sa[0], sb[1], sa[1], product.warps_m,
                     product.warps_n, out.name, shared, shared_b));
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
