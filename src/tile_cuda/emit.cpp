#include "tile_cuda/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "tile/c_text.h"
#include "tile/effects.h"
#include "tile/halves.h"
#include "tile_cuda/emitter.h"
#include "tile_cuda/prelude.h"

namespace passnet::tile_cuda {

namespace {

constexpr int kSharedDivisor = 4;                  // elements over one divisor that make its inverse worth while
constexpr std::int64_t kGridLimit = 65535;         // of y and z
constexpr std::int64_t kRoundsWrittenOut = 8;      // of a loop, at most
constexpr std::int64_t kRegistersWrittenOut = 64;  // of all its rounds, for one value
constexpr int kElementLimit = 4096;  // registers of one thread for one value: beyond it nothing good can come

std::string identifier(std::string_view text) {
  std::string out;
  for (const char c : text) out += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  if (out.empty() || (out[0] >= '0' && out[0] <= '9')) out = "v" + out;
  return out;
}

bool shape_less(const Shape& a, const Shape& b) { return std::pair(a.rank, a.sizes) < std::pair(b.rank, b.sizes); }

}  // namespace

Ref Ref::array_of(std::string name, const Layout& layout) {
  Ref out{std::move(name), true, {}, layout.registers()};
  for (int b = 0; b < layout.register_bits(); ++b) out.map.push_back({b, b});
  return out;
}

std::string Ref::at(const std::string& e) const {
  if (!array) return name;
  if (registers == 1) return name + "[0]";
  return fmt::format("{}[{}]", name, bits_text(e, map));
}

Emitter::Emitter(const tile::Function& function, const tile::LaunchFacts& facts, const Target& target, bool checked)
    : f_(function),
      facts_(facts),
      target_(target),
      checked_(checked),
      ranges_(tile::ranges(function, facts)),
      axes_(axes(function, facts, ranges_)),
      origin_(tile::pointer_origins(function)),
      written_(tile::written_parameters(function)),
      access_(shape_less),
      shapes_(shape_less) {
  for (std::size_t p = 0; p < written_.size(); ++p)
    if (written_[p] && !tile::is_half(type(f_.body.params[p]).elem)) stores_halves_ = false;
  const std::size_t n = f_.types.size();
  def_.resize(n);
  uses_.resize(n);
  free_.resize(n);
  operand_.resize(n);
  paired_.resize(n);
  natural_.resize(n);
  want_.resize(n);
  home_.resize(n);
  scalars_.resize(n);
  scopes_.emplace_back();
  index_ops(f_.body);
  find_operands(f_.body);
  find_free(f_.body);
  thread_bits_ = choose_threads();
  choose_shapes(f_.body);
  find_natural(f_.body);
  find_homes(f_.body);
  find_pairs(f_.body);
}

std::string Emitter::type_name(const Type& t) const {
  return t.pointer ? tile::stored_name(t.elem) + "*" : tile::scalar_name(t.elem);
}

void Emitter::line(const std::string& text) {
  body_ += std::string(static_cast<std::size_t>(indent_) * 2, ' ') + text + "\n";
}
std::string Emitter::fresh(std::string_view stem) { return fmt::format("{}_{}", identifier(stem), ++names_); }
std::string Emitter::fresh(ValueId v) {
  const std::string& name = f_.names[static_cast<std::size_t>(v)];
  return fresh(name.empty() ? "t" : std::string_view(name));
}

std::string Emitter::replica_guard(const Layout& layout) const {
  const unsigned rest = ~layout.thread_mask() & ((1U << thread_bits_) - 1);
  return rest == 0 ? std::string() : fmt::format("(tid & {}) == 0", rest);
}

std::string Emitter::coordinate(const Layout& layout, BitRange bits, const std::string& e) {
  const std::string thread = thread_part(layout, bits), reg = register_part(layout, bits, e);
  const std::string sum = thread == "0" ? reg : reg == "0" ? thread : thread + " + " + reg;
  return sum.find('+') == std::string::npos ? sum : "(" + sum + ")";
}

void Emitter::remember(ValueId v, const Layout& layout, const Ref& ref) { scopes_.back()[{v, layout}] = ref; }

Ref Emitter::scalar(ValueId v) const { return {scalars_[static_cast<std::size_t>(v)], false, {}, 1}; }

Ref Emitter::make_array(ValueId v, const Layout& layout) {
  if (layout.registers() > kElementLimit)
    passnet::fail({passnet::Code::limit,
                   {},
                   fmt::format("kernel {}: a tile of {} elements is too large for a block of threads", f_.name,
                               type(v).shape.elements()),
                   {"use smaller blocks"}});
  Ref ref = Ref::array_of(fresh(v), layout);
  line(fmt::format("{} {}[{}];", type_name(type(v)), ref.name, ref.registers));
  return ref;
}

// A new value: a scalar, or an array whose element e is the text.
Ref Emitter::keep(ValueId v, const Layout* layout, const std::string& text) {
  if (layout == nullptr) {
    const std::string name = fresh(v);
    line(fmt::format("{} const {} = {};", type_name(type(v)), name, text));
    scalars_[static_cast<std::size_t>(v)] = name;
    return scalar(v);
  }
  const Ref ref = make_array(v, *layout);
  line(fmt::format("EACH(e, {}) {}[e] = {};", ref.registers, ref.name, text));
  remember(v, *layout, ref);
  return ref;
}

Ref Emitter::get(ValueId v, const Layout& layout) {
  const Op* op = def(v);
  if (op != nullptr && op->code == Code::splat) return scalar(op->operands[0]);
  if (op != nullptr && transparent(*op)) {
    const ValueId x = op->operands[0];
    if (!type(x).is_tile()) return scalar(x);
    const auto bits = operand_bits(*op, type(x).shape, type(v).shape);
    const Layout inner = pick(layout, bits);
    Ref ref = get(x, inner);
    if (!ref.array) return ref;
    // register bit of the result -> of the operand -> of the array
    std::vector<BitMove> moves;
    for (int b = 0; b < inner.count; ++b) {
      if (!inner.in_register(b)) continue;
      const int mine = inner.register_bit(b), outer = layout.register_bit(bits[static_cast<std::size_t>(b)]);
      for (const BitMove& m : ref.map)
        if (m.from == mine) moves.push_back({outer, m.to});
    }
    ref.map = std::move(moves);
    return ref;
  }
  if (op != nullptr && op->code == Code::constant) return {tile::constant_text(*op, type(v).elem), false, {}, 1};
  for (std::size_t s = scopes_.size(); s-- > 0;)
    if (const auto it = scopes_[s].find({v, layout}); it != scopes_[s].end()) return it->second;
  if (free_[static_cast<std::size_t>(v)]) {
    emit_element(*op, &layout);
    return scopes_.back().at({v, layout});
  }
  const Layout& from = home(v);
  for (std::size_t s = scopes_.size(); s-- > 0;)
    if (const auto it = scopes_[s].find({v, from}); it != scopes_[s].end()) return convert(v, it->second, from, layout);
  passnet::fail(passnet::Code::internal, fmt::format("kernel {}: value %{} is not there", f_.name, v));
}

// Of a function that is not the exact one: Triton's approximate instruction (`fast_`), or one whose last bits no half
// that is stored can show (`half_`).
std::string_view Emitter::shortcut(const Op& op) const {
  const Elem e = type(op.result()).elem;
  if (e != Elem::f32 && !tile::is_half(e)) return {};
  if (target_.fp_fusion && tile::approximated(op.code) && op.precision != tile::Precision::ieee) return "fast";
  return stores_halves_ && (op.code == Code::erf || op.code == Code::exp) ? "half" : std::string_view();
}

std::string Emitter::element_text(const Op& op, const std::vector<Ref>& operands, const std::string& e) const {
  const Type& t = type(op.result());
  const auto x = [&](std::size_t i) { return operands[i].at(e); };
  switch (op.code) {
    case Code::addptr: return fmt::format("{} + {}", x(0), x(1));
    case Code::add:
    case Code::sub:
    case Code::mul:
      if (!tile::is_float(t.elem) && t.elem != Elem::i1) {
        const char sign = op.code == Code::add ? '+' : op.code == Code::sub ? '-' : '*';
        const std::string name = type_name(t);
        // signed overflow has no meaning in C++; where none happens the compiler may rely on that
        if (!ranges_[static_cast<std::size_t>(op.result())].may_wrap || !tile::elem_row(t.elem).is_signed)
          return fmt::format("({})({} {} {})", name, x(0), sign, x(1));
        const char* wide = tile::elem_row(t.elem).bits == 64 ? "u64" : "u32";
        return fmt::format("({})(({}){} {} ({}){})", name, wide, x(0), sign, wide, x(1));
      }
      break;
    case Code::cast:
      if (type(op.operands[0]).pointer) return fmt::format("(i64){}", x(0));
      if (t.pointer) return fmt::format("({}){}", type_name(t), x(0));
      break;
    case Code::bitcast:
      if (t.pointer) return fmt::format("({}){}", type_name(t), x(0));
      break;
    case Code::select: return fmt::format("{} ? {} : {}", x(0), x(1), x(2));
    case Code::fma:
      if (target_.fp_fusion && tile::is_half(t.elem))
        return fmt::format("{}_fma({}, {}, {})", tile::elem_row(t.elem).name, x(0), x(1), x(2));
      break;
    default: break;
  }
  if (const std::string_view way = shortcut(op); !way.empty()) {
    const std::string name = fmt::format("{}_{}", way, tile::op_row(op.code).name);
    const std::string text =
        op.code == Code::div ? fmt::format("{}({}, {})", name, x(0), x(1)) : fmt::format("{}({})", name, x(0));
    return tile::is_half(t.elem) ? fmt::format("{}_round({})", tile::elem_row(t.elem).name, text) : text;
  }
  if (type(op.operands[0]).pointer && tile::op_row(op.code).kind == tile::OpClass::compare) {
    constexpr std::pair<Code, const char*> signs[] = {{Code::lt, "<"},  {Code::le, "<="}, {Code::gt, ">"},
                                                      {Code::ge, ">="}, {Code::eq, "=="}, {Code::ne, "!="}};
    for (const auto& [code, sign] : signs)
      if (code == op.code) return fmt::format("({} {} {})", x(0), sign, x(1));
  }
  std::vector<tile::OperandText> texts;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    tile::OperandText o{x(i), type(op.operands[i]).elem};
    const tile::Range& r = ranges_[static_cast<std::size_t>(op.operands[i])];
    o.non_negative = r.lo >= 0;
    o.safe_divisor = r.lo > 0 || r.hi < -1;
    if (r.lo == r.hi && r.lo > 0) o.constant = r.lo;
    texts.push_back(std::move(o));
  }
  return tile::op_text(op, texts, t.elem);
}

void Emitter::emit_element(const Op& op, const Layout* layout) {
  const ValueId r = op.result();
  switch (op.code) {
    case Code::constant:
      if (layout == nullptr) scalars_[static_cast<std::size_t>(r)] = tile::constant_text(op, type(r).elem);
      return;
    case Code::program_id: scalars_[static_cast<std::size_t>(r)] = fmt::format("pid{}", op.axis); return;
    case Code::num_programs:
      scalars_[static_cast<std::size_t>(r)] = std::to_string(facts_.grid[static_cast<std::size_t>(op.axis)]);
      return;
    case Code::arange: {
      const std::string at = coordinate(*layout, {0, layout->count}, "e");
      keep(r, layout, op.integer == 0 ? at : fmt::format("{} + {}", at, op.integer));
      return;
    }
    default: break;
  }
  if (layout != nullptr && emit_pairs(op, *layout)) return;
  std::vector<Ref> operands;
  for (const ValueId o : op.operands) operands.push_back(type(o).is_tile() ? get(o, *layout) : scalar(o));
  if (layout != nullptr && renames(op)) return remember(r, *layout, operands[0]);
  if (op.code == Code::div && type(r).elem == Elem::f32 && layout != nullptr && shortcut(op).empty()) {
    if (operands[1].registers * kSharedDivisor <= layout->registers())
      return emit_quotients(r, *layout, operands[0], operands[1]);
    if (operands[0].name == "1.0f") return emit_inverses(r, *layout, operands[1]);
  }
  const Ref out = keep(r, layout, element_text(op, operands, "e"));
  if (op.code == Code::cast && paired_[static_cast<std::size_t>(r)] && out.array && out.registers > 1)
    line(fmt::format("EACH(i, {}) {}[i] = {};", out.registers / 2, make_pairs(out, type(r).elem),
                     pair_text(operands[0], type(r).elem, "i")));
}

// Many elements over few divisors: each divisor is inverted once, where that gives the rounded quotient (or one that is
// as good for halves). Masks make zeros, so they have a test of their own.
void Emitter::emit_quotients(ValueId r, const Layout& layout, const Ref& x, const Ref& d) {
  const Ref out = make_array(r, layout);
  Ref inverse = d;
  inverse.name = fresh("inverse");
  inverse.array = true;
  const std::string plain = fresh("plain"), divisors = fresh("divisors"), one = d.array ? d.name + "[i]" : d.name;
  line(fmt::format("f32 {}[{}];", inverse.name, d.registers));
  line(fmt::format("bool {} = true;", divisors));
  line(fmt::format("EACH(i, {}) {{ {}[i] = __frcp_rn({}); {} &= plain_divisor({}); }}", d.registers, inverse.name, one,
                   divisors, one));
  remember(r, layout, out);
  const std::string divide =
      fmt::format("else EACH(e, {}) {}[e] = {} / {};", out.registers, out.name, x.at("e"), d.at("e"));
  if (stores_halves_) {
    line(fmt::format("if ({}) EACH(e, {}) {}[e] = {} * {};", divisors, out.registers, out.name, x.at("e"),
                     inverse.at("e")));
    line(divide);
    return;
  }
  line(fmt::format("bool {} = {};", plain, divisors));
  line(fmt::format("EACH(e, {}) {} &= plain_dividend({});", out.registers, plain, x.at("e")));
  line(fmt::format("if ({} && !{}) {{ {} = true; EACH(e, {}) {} &= plain_dividend({}) || plain_zero({}); }}", divisors,
                   plain, plain, out.registers, plain, x.at("e"), x.at("e")));
  line(fmt::format("if ({}) EACH(e, {}) {}[e] = quotient({}, {}, {});", plain, out.registers, out.name, x.at("e"),
                   d.at("e"), inverse.at("e")));
  line(divide);
}

// Inverses of many: one branch for all of a thread's instead of one for each.
void Emitter::emit_inverses(ValueId r, const Layout& layout, const Ref& d) {
  const Ref out = make_array(r, layout);
  const std::string plain = fresh("plain");
  line(fmt::format("bool {} = true;", plain));
  line(fmt::format("EACH(e, {}) {} &= plain_to_invert({});", out.registers, plain, d.at("e")));
  line(fmt::format("if ({}) EACH(e, {}) {}[e] = plain_inverse({});", plain, out.registers, out.name, d.at("e")));
  line(fmt::format("else EACH(e, {}) {}[e] = 1.0f / {};", out.registers, out.name, d.at("e")));
  remember(r, layout, out);
}

void Emitter::emit_op(const Op& op) {
  switch (op.code) {
    case Code::for_: return emit_for(op);
    case Code::while_: return emit_while(op);
    case Code::if_: return emit_if(op);
    case Code::load: return emit_load(op);
    case Code::store: return emit_store(op);
    case Code::atomic:
    case Code::atomic_cas: return emit_atomic(op);
    case Code::reduce: return emit_reduce(op);
    case Code::scan: return emit_scan(op);
    case Code::dot: return emit_dot(op);
    case Code::check: return emit_check(op);
    case Code::yield: return;
    default: break;
  }
  const ValueId r = op.result();
  if (!type(r).is_tile()) {
    if (transparent(op)) {  // of a tile of one element
      const ValueId x = op.operands[0];
      if (!type(x).is_tile())
        scalars_[static_cast<std::size_t>(r)] = scalars_[static_cast<std::size_t>(x)];
      else
        keep(r, nullptr, get(x, Layout{}).at("0"));
      return;
    }
    return emit_element(op, nullptr);
  }
  if (free_[static_cast<std::size_t>(r)] || transparent(op)) return;  // when somebody asks
  emit_element(op, &home(r));
}

void Emitter::emit_block(std::span<const Op> ops) {
  for (const Op& op : ops) emit_op(op);
}

// ---- control flow. Conditions and bounds are scalars, which all threads have alike.

void Emitter::declare(ValueId v) {
  if (type(v).is_tile()) {
    remember(v, home(v), make_array(v, home(v)));
    return;
  }
  const std::string name = fresh(v);
  line(fmt::format("{} {};", type_name(type(v)), name));
  scalars_[static_cast<std::size_t>(v)] = name;
}

// All at once: a value may be one of the targets.
void Emitter::assign(std::span<const ValueId> targets, std::span<const ValueId> values) {
  std::vector<Ref> from;
  for (std::size_t k = 0; k < targets.size(); ++k)
    from.push_back(type(targets[k]).is_tile() ? get(values[k], home(targets[k])) : scalar(values[k]));
  std::vector<Ref> to;
  for (const ValueId t : targets) to.push_back(type(t).is_tile() ? get(t, home(t)) : scalar(t));
  const auto is_target = [&](const Ref& r) {
    return std::any_of(to.begin(), to.end(), [&](const Ref& t) { return t.name == r.name; });
  };
  for (std::size_t k = 0; k < targets.size(); ++k) {
    if (from[k].name == to[k].name || !is_target(from[k])) continue;
    const std::string name = fresh("next");
    const std::string t = type_name(type(targets[k]));
    if (to[k].array) {
      line(fmt::format("{} {}[{}];", t, name, to[k].registers));
      line(fmt::format("EACH(e, {}) {}[e] = {};", to[k].registers, name, from[k].at("e")));
      from[k] = to[k];
      from[k].name = name;
    } else {
      line(fmt::format("{} const {} = {};", t, name, from[k].name));
      from[k].name = name;
    }
  }
  for (std::size_t k = 0; k < targets.size(); ++k) {
    if (from[k].name == to[k].name) continue;
    if (to[k].array)
      line(fmt::format("EACH(e, {}) {}[e] = {};", to[k].registers, to[k].name, from[k].at("e")));
    else
      line(fmt::format("{} = {};", to[k].name, from[k].name));
  }
}

std::string Emitter::more_text(const Op& loop, const std::string& index) const {
  const std::string hi = scalar(loop.operands[1]).name, step = scalar(loop.operands[2]).name;
  const tile::Range& r = ranges_[static_cast<std::size_t>(loop.operands[2])];
  return r.lo > 0   ? fmt::format("{} < {}", index, hi)
         : r.hi < 0 ? fmt::format("{} > {}", index, hi)
                    : fmt::format("{} > 0 ? {} < {} : {} < 0 && {} > {}", step, index, hi, step, index, hi);
}

// Few and short rounds, whose number is known, are written out: their loads are under way together, and what a later
// loop reads again is still in registers.
bool Emitter::written_out(const Op& loop) const {
  std::int64_t bounds[3];
  for (std::size_t k = 0; k < 3; ++k) {
    const tile::Range& r = ranges_[static_cast<std::size_t>(loop.operands[k])];
    if (r.lo != r.hi || r.lo < INT32_MIN || r.hi > INT32_MAX) return false;
    bounds[k] = r.lo;
  }
  if (bounds[2] <= 0) return false;
  const std::int64_t rounds = (bounds[1] - bounds[0] + bounds[2] - 1) / bounds[2];
  if (rounds > kRoundsWrittenOut) return false;
  for (const Op& op : loop.blocks[0].ops) {
    if (!op.blocks.empty() || op.code == Code::dot) return false;
    for (const ValueId v : op.results)
      if (const auto& at = home_[static_cast<std::size_t>(v)]; at && at->registers() * rounds > kRegistersWrittenOut)
        return false;
  }
  return true;
}

void Emitter::emit_for(const Op& op) {
  const Block& body = op.blocks[0];
  const std::span<const ValueId> carried(body.params.begin() + 1, body.params.end());
  const std::span<const ValueId> initial(op.operands.begin() + 3, op.operands.end());
  for (const ValueId p : carried) declare(p);
  assign(carried, initial);
  const std::int64_t base = shared_base_;
  const std::map<ValueId, Placed> placed = placed_;
  const auto [outer_loop, outer_pipeline] = std::pair(loop_, pipeline_);
  place_outer(op);
  std::optional<Pipeline> pipeline = pipeline_of(op);
  if (pipeline) begin_pipeline(op, *pipeline);
  touch_block(body);
  shared_used_ = true;
  const std::string i = fresh(body.params[0]), t = type_name(type(body.params[0]));
  // counted in 64 bits: the last step may leave the variable's type
  line(!pipeline && !checked_ && written_out(op) ? "#pragma unroll" : "#pragma unroll 1");
  line(fmt::format("for (i64 {}_ = {}; {}; {}_ += {}) {{", i, scalar(op.operands[0]).name, more_text(op, i + "_"), i,
                   scalar(op.operands[2]).name));
  ++indent_;
  scopes_.emplace_back();
  line(fmt::format("const {} {} = ({}){}_;", t, i, t, i));
  scalars_[static_cast<std::size_t>(body.params[0])] = i;
  if (pipeline) await_fetched(*pipeline);
  loop_ = &op;
  pipeline_ = pipeline ? &*pipeline : nullptr;
  for (const Op& o : body.ops)
    if (!pipeline || std::find(pipeline->loads.begin(), pipeline->loads.end(), &o) == pipeline->loads.end()) emit_op(o);
  assign(carried, body.ops.back().operands);
  if (pipeline)
    line(fmt::format("{} = {} == {} ? 0 : {} + 1;", pipeline->read, pipeline->read, pipeline->stages - 1,
                     pipeline->read));
  scopes_.pop_back();
  --indent_;
  line("}");
  loop_ = outer_loop;
  pipeline_ = outer_pipeline;
  if (shared_base_ != base) shared_used_ = true;
  shared_base_ = base;
  placed_ = placed;
  for (std::size_t k = 0; k < op.results.size(); ++k) {
    if (type(op.results[k]).is_tile())
      remember(op.results[k], home(op.results[k]), get(carried[k], home(carried[k])));
    else
      scalars_[static_cast<std::size_t>(op.results[k])] = scalars_[static_cast<std::size_t>(carried[k])];
  }
}

void Emitter::emit_while(const Op& op) {
  fetch_next();
  const Block &test = op.blocks[0], &body = op.blocks[1];
  for (const ValueId p : test.params) declare(p);
  assign(test.params, op.operands);
  touch_block(test);
  touch_block(body);
  shared_used_ = true;
  line("while (true) {");
  ++indent_;
  scopes_.emplace_back();
  emit_block(test.ops);
  line(fmt::format("if (!{}) break;", scalar(test.ops.back().operands[0]).name));
  for (std::size_t k = 0; k < body.params.size(); ++k) {
    if (type(body.params[k]).is_tile())
      remember(body.params[k], home(body.params[k]), get(test.params[k], home(test.params[k])));
    else
      scalars_[static_cast<std::size_t>(body.params[k])] = scalars_[static_cast<std::size_t>(test.params[k])];
  }
  emit_block(body.ops);
  assign(test.params, body.ops.back().operands);
  scopes_.pop_back();
  --indent_;
  line("}");
  for (std::size_t k = 0; k < op.results.size(); ++k) {
    if (type(op.results[k]).is_tile())
      remember(op.results[k], home(op.results[k]), get(test.params[k], home(test.params[k])));
    else
      scalars_[static_cast<std::size_t>(op.results[k])] = scalars_[static_cast<std::size_t>(test.params[k])];
  }
}

void Emitter::emit_if(const Op& op) {
  fetch_next();  // by all, whatever is done inside
  for (const ValueId r : op.results) declare(r);
  const bool shared_before = shared_used_;
  for (std::size_t b = 0; b < op.blocks.size(); ++b) {
    const Block& block = op.blocks[b];
    if (b == 1 && block.ops.size() <= 1 && op.results.empty()) break;
    line(b == 0 ? fmt::format("if ({}) {{", scalar(op.operands[0]).name) : "} else {");
    ++indent_;
    scopes_.emplace_back();
    shared_used_ = true;
    emit_block(block.ops);
    assign(op.results, block.ops.back().operands);
    scopes_.pop_back();
    --indent_;
  }
  line("}");
  shared_used_ = shared_before || shared_bytes_ > 0;
  for (const Block& b : op.blocks) touch_block(b);
}

Emitted Emitter::run() {
  Emitted out;
  out.flat = checked_ || facts_.grid[1] > kGridLimit || facts_.grid[2] > kGridLimit;
  out.threads = 1 << thread_bits_;
  out.fp_fusion = target_.fp_fusion;
  if (out.flat) {
    line(checked_ ? "const i64 program = check_first + check_step * blockIdx.x;" : "const i64 program = blockIdx.x;");
    line(fmt::format(
        "const i32 pid0 = (i32)(program % {}), pid1 = (i32)(program / {} % {}), pid2 = (i32)(program / {});",
        facts_.grid[0], facts_.grid[0], facts_.grid[1], facts_.grid[0] * facts_.grid[1]));
  } else {
    line("const i32 pid0 = blockIdx.x, pid1 = blockIdx.y, pid2 = blockIdx.z;");
  }
  line("const i32 tid = threadIdx.x;");
  if (checked_) line("bool ordered = false;");
  std::string parameters;
  for (std::size_t i = 0; i < f_.body.params.size(); ++i) {
    const ValueId p = f_.body.params[i];
    const Type& t = type(p);
    const std::string name = fresh(p);
    parameters += fmt::format("{}{} {}", i == 0 ? "" : ", ",
                              t.pointer                ? type_name(t)
                              : tile::is_float(t.elem) ? "f64"
                                                       : "i64",
                              name);
    scalars_[static_cast<std::size_t>(p)] = name;
    if (t.pointer) continue;
    const std::string cast = fmt::format("({}){}", type_name(t), name);
    keep(p, nullptr,
         t.elem == Elem::f16    ? fmt::format("f16_round({})", cast)
         : t.elem == Elem::bf16 ? fmt::format("bf16_round({})", cast)
                                : cast);
  }
  if (checked_)
    parameters += fmt::format("{}const Check* check, i64 check_first, i64 check_step", parameters.empty() ? "" : ", ");
  emit_block(f_.body.ops);
  out.sites = std::move(sites_);
  out.shared_bytes = static_cast<int>(shared_bytes_);
  if (shared_bytes_ > target_.machine.shared_limit)
    passnet::fail({passnet::Code::limit,
                   {},
                   fmt::format("kernel {} needs {} KiB of shared memory; the device has {}", f_.name,
                               shared_bytes_ >> 10, target_.machine.shared_limit >> 10),
                   {"use smaller blocks"}});
  const std::string head = fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n", out.threads,
                                       kKernelSymbol, parameters);
  out.source = prelude(body_) + "// kernel " + f_.name + "\n" + head + body_ + "}\n";
  return out;
}

Result<Emitted> emit(const tile::Function& function, const tile::LaunchFacts& facts, const Target& target,
                     bool checked) {
  return guarded([&] {
    if (!target.fp_fusion) return Emitter(function, facts, target, checked).run();
    const tile::Function fused = tile::fuse_halves(function);
    return Emitter(fused, facts, target, checked).run();
  });
}

}  // namespace passnet::tile_cuda
