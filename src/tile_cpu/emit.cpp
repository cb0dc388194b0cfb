#include "tile_cpu/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tile/effects.h"
#include "tile/halves.h"
#include "tile_cpu/ctypes.h"
#include "tile_cpu/emitter.h"
#include "tile_cpu/prelude.h"

namespace passnet::tile_cpu {

namespace {

constexpr int kSquare = 8;
constexpr std::size_t kManySites = 8;  // accesses of a checked build: the calls cost less than compiling each

bool is_control(const Op& op) { return op.code == Code::for_ || op.code == Code::while_ || op.code == Code::if_; }

std::string identifier(std::string_view text) {
  std::string out;
  for (const char c : text) out += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  if (out.empty() || (out[0] >= '0' && out[0] <= '9')) out = "v" + out;
  return out;
}

}  // namespace

std::int64_t Array::bytes() const {
  std::int64_t n = array_elem_bytes(pointer ? Elem::i64 : elem);
  for (int d = first_dim; d < shape.rank; ++d) n *= shape[static_cast<std::size_t>(d)];
  return n;
}

Emitter::Emitter(const tile::Function& function, const tile::LaunchFacts& facts, Build build)
    : f_(function),
      facts_(facts),
      build_(build),
      ranges_(tile::ranges(function, facts)),
      origin_(tile::pointer_origins(function)) {
  const std::size_t n = f_.types.size();
  def_.resize(n);
  param_owner_.resize(n);
  param_block_.resize(n);
  initial_.assign(n, kNoValue);
  uses_.resize(n);
  depth_.resize(n);
  home_.resize(n);
  users_.resize(n);
  quiet_.resize(n);
  index_ops(f_.body, nullptr);
}

// Whether the result, a float, is no signalling NaN: arithmetic gives none, memory may.
bool Emitter::gives_quiet(const Op& op) const {
  switch (op.code) {
    case Code::add:
    case Code::sub:
    case Code::mul:
    case Code::div:
    case Code::fma: return true;
    case Code::constant: return !std::isnan(op.real);
    case Code::splat:
    case Code::broadcast:
    case Code::expand_dims:
    case Code::reshape:
    case Code::trans:
    case Code::min:
    case Code::max:
      return std::all_of(op.operands.begin(), op.operands.end(),
                         [&](ValueId o) { return quiet_[static_cast<std::size_t>(o)]; });
    default: return false;
  }
}

void Emitter::index_ops(const Block& block, const Op* owner) {
  const auto id = static_cast<int>(block_owner_.size());
  block_owner_.push_back(owner);
  for (const ValueId p : block.params) param_block_[static_cast<std::size_t>(p)] = id;
  for (const Op& op : block.ops) {
    order_.emplace(&op, static_cast<int>(order_.size()));
    block_of_.emplace(&op, id);
    for (const ValueId r : op.results) {
      def_[static_cast<std::size_t>(r)] = &op;
      quiet_[static_cast<std::size_t>(r)] = gives_quiet(op);
    }
    for (const ValueId o : op.operands) {
      ++uses_[static_cast<std::size_t>(o)];
      users_[static_cast<std::size_t>(o)].push_back(&op);
    }
    if (op.code == Code::store || op.code == Code::atomic || op.code == Code::atomic_cas) writes_.push_back(&op);
    if (op.code == Code::load || op.code == Code::atomic || op.code == Code::atomic_cas) reads_.push_back(&op);
    const std::size_t skip = op.code == Code::for_ ? 3 : 0;
    for (const Block& b : op.blocks) {
      for (std::size_t k = op.code == Code::for_ ? 1 : 0; k < b.params.size(); ++k)
        initial_[static_cast<std::size_t>(b.params[k])] = op.operands[skip + k - (op.code == Code::for_ ? 1 : 0)];
      for (const ValueId p : b.params) param_owner_[static_cast<std::size_t>(p)] = &op;
      index_ops(b, &op);
    }
    if (op.code == Code::for_ || op.code == Code::while_)
      for (std::size_t k = 0; k < op.results.size(); ++k)
        initial_[static_cast<std::size_t>(op.results[k])] = op.operands[skip + k];
  }
}

std::int32_t Emitter::memory_of(ValueId pointer) const {
  const std::int32_t p = parameter_of(pointer);
  return p < 0 ? -1 : facts_.parameters[static_cast<std::size_t>(p)].memory;
}

std::string Emitter::fresh(std::string_view stem) { return fmt::format("{}_{}", identifier(stem), ++names_); }

std::string Emitter::fresh(ValueId v) {
  if (v == kNoValue || f_.names[static_cast<std::size_t>(v)].empty()) return fresh("t");
  return fresh(f_.names[static_cast<std::size_t>(v)]);
}

int Emitter::new_array(ValueId v, int storage) {
  Array a;
  a.elem = type(v).elem;
  a.pointer = type(v).pointer;
  a.shape = type(v).shape;
  a.storage = storage >= 0 ? arrays_[static_cast<std::size_t>(storage)].storage : static_cast<int>(arrays_.size());
  a.name = storage >= 0 ? arrays_[static_cast<std::size_t>(storage)].name : fresh(v);
  arrays_.push_back(std::move(a));
  return static_cast<int>(arrays_.size()) - 1;
}

void Emitter::line(const std::string& text) { levels_[0].code += "    " + text + "\n"; }

void Emitter::comment(const tile::Source& source) {
  if (source.place.line != 0) line(fmt::format("// line {}", source.place.line));
}

void Emitter::emit_block(const Block& block, const Op* owner, std::span<const ValueId> targets) {
  const std::vector<Home> before = home_;
  const std::span<const Op> ops(block.ops);
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= ops.size(); ++i) {
    if (i < ops.size() && !is_control(ops[i])) continue;
    const auto run = ops.subspan(begin, i - begin);
    if (!run.empty()) schedule(run, owner, targets);
    if (i < ops.size()) emit_control(ops[i]);
    begin = i + 1;
  }
  if (owner != nullptr && !ops.empty() && ops.back().code == Code::yield && !targets.empty())
    assign(targets, ops.back().operands);
  if (owner != nullptr)
    home_ = before;  // what was kept here of values from outside may not be there when the block is skipped
}

// Variables and arrays for values that change, with their first contents; a fresh product clears its array itself.
void Emitter::carry(std::span<const ValueId> values, std::span<const ValueId> initial) {
  std::vector<Root> copies;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const ValueId v = values[k];
    const Type& t = type(v);
    if (t.is_tile()) {
      const int array = new_array(v);
      home(v) = {Home::Kind::array, {}, 0, array};
      if (initial.empty() || (terms_ && terms_->fresh)) continue;
      Root r;
      r.kind = Root::Kind::keep;
      r.value = initial[k];
      r.domain = t.shape;
      r.array = array;
      copies.push_back(std::move(r));
    } else {
      const std::string name = fresh(v);
      line(fmt::format("{}{} {}{};", t.pointer ? stored_name(t.elem) : scalar_name(t.elem), t.pointer ? "*" : "", name,
                       initial.empty() ? "" : " = " + home(initial[k]).text));
      home(v) = {Home::Kind::name, name, 0, -1};
    }
  }
  if (copies.empty()) return;
  run_ = {};
  std::vector<Group> groups = group(std::move(copies));
  emit_groups(groups);
}

// All at once: a new value may be another's old one.
void Emitter::assign(std::span<const ValueId> targets, std::span<const ValueId> values) {
  std::vector<std::pair<std::string, std::string>> moves;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    if (type(targets[k]).is_tile() || home(targets[k]).text == home(values[k]).text) continue;
    moves.emplace_back(home(targets[k]).text, home(values[k]).text);
  }
  if (moves.size() > 1)
    for (auto& [target, value] : moves) {
      const std::string name = fresh("next");
      line(fmt::format("const auto {} = {};", name, value));
      value = name;
    }
  for (const auto& [target, value] : moves) line(fmt::format("{} = {};", target, value));
}

void Emitter::emit_control(const Op& op) {
  comment(op.source);
  if (op.code == Code::for_) return emit_for(op);
  if (op.code == Code::while_) return emit_while(op);
  emit_if(op);
}

void Emitter::emit_for(const Op& op) {
  const Block& body = op.blocks[0];
  const std::span<const ValueId> params = std::span(body.params).subspan(1);
  terms_ = terms_of(op);
  carry(op.results, std::span(op.operands).subspan(3));
  for (std::size_t k = 0; k < params.size(); ++k) home(params[k]) = home(op.results[k]);
  const std::string counter = fresh("at"), iv = fresh(body.params[0]);
  const std::string lo = home(op.operands[0]).text, hi = home(op.operands[1]).text, step = home(op.operands[2]).text;
  const auto constant = constant_of(op.operands[2]);
  const std::string test =
      constant && *constant > 0 ? fmt::format("{} < (i64){}", counter, hi)
      : constant && *constant < 0
          ? fmt::format("{} > (i64){}", counter, hi)
          : fmt::format("(i64){2} > 0 ? {0} < (i64){1} : (i64){2} < 0 && {0} > (i64){1}", counter, hi, step);
  if (terms_)
    line(fmt::format("if (const i64 {} = (i64){}; {}) {{", counter, lo, test));
  else
    line(fmt::format("for (i64 {0} = (i64){1}; {2}; {0} += (i64){3}) {{", counter, lo, test, step));
  line(fmt::format("const {} {} = ({}){};", scalar_name(type(body.params[0]).elem), iv,
                   scalar_name(type(body.params[0]).elem), counter));
  home(body.params[0]) = {Home::Kind::name, iv, 0, -1};
  emit_block(body, &op, params);
  terms_.reset();
  line("}");
}

void Emitter::emit_while(const Op& op) {
  carry(op.results, op.operands);
  for (const Block& b : op.blocks)
    for (std::size_t k = 0; k < b.params.size(); ++k) home(b.params[k]) = home(op.results[k]);
  if (is_hooked(build_)) {
    const std::string turns = fresh("turns");
    line(fmt::format("for (i64 {} = 0;; ++{}) {{", turns, turns));
    line(fmt::format("if ({} >= hooks->turns) {{ hooks->failed(hooks->context, {}, program); break; }}", turns,
                     site(op)));
  } else {
    line("for (;;) {");
  }
  emit_block(op.blocks[0]);
  line(fmt::format("if (!{}) break;", home(op.blocks[0].ops.back().operands[0]).text));
  emit_block(op.blocks[1], &op, op.blocks[1].params);
  line("}");
}

void Emitter::emit_if(const Op& op) {
  carry(op.results, {});
  line(fmt::format("if ({}) {{", home(op.operands[0]).text));
  emit_block(op.blocks[0], &op, op.results);
  if (op.blocks.size() > 1 && (op.blocks[1].ops.size() > 1 || !op.results.empty())) {
    line("} else {");
    emit_block(op.blocks[1], &op, op.results);
  }
  line("}");
}

std::string Emitter::declare_arrays() {
  constexpr std::int64_t kOnStack = 32 << 10;
  std::string out;
  std::int64_t stack = 0;
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    Array& a = arrays_[i];
    if (a.storage != static_cast<int>(i)) continue;
    const std::int64_t bytes = (a.bytes() + 63) / 64 * 64 + 64;  // a whole vector may be read at the end
    const std::string elem = array_elem_name(a.pointer ? Elem::i64 : a.elem);
    if (stack + bytes <= kOnStack) {
      stack += bytes;
      out += fmt::format("  alignas(64) {} {}[{}];\n", elem, a.name,
                         bytes / array_elem_bytes(a.pointer ? Elem::i64 : a.elem));
    } else {
      out += fmt::format("  {0}* const {1} = ({0}*)(scratch + {2});\n", elem, a.name, out_.scratch_bytes);
      out_.scratch_bytes += bytes;
    }
  }
  return out;
}

// Nanoseconds, roughly: what is done per element, L elements at a time.
void Emitter::estimate(const Block& block, double times) {
  for (const Op& op : block.ops) {
    double elements = 1;
    for (const ValueId v : op.results) elements = std::max(elements, static_cast<double>(type(v).shape.elements()));
    for (const ValueId v : op.operands) elements = std::max(elements, static_cast<double>(type(v).shape.elements()));
    double weight = 0.05;
    switch (op.code) {
      case Code::load:
      case Code::store: weight = 0.2; break;
      case Code::atomic: weight = 5; break;
      case Code::dot:
        weight = 0.05 * type(op.operands[0]).shape[static_cast<std::size_t>(type(op.operands[0]).shape.rank) - 1];
        break;
      case Code::splat:
      case Code::constant:
      case Code::broadcast:
      case Code::expand_dims:
      case Code::arange: weight = 0; break;
      default:
        if (tile::is_function(op.code)) weight = 0.8;
    }
    out_.program_cost += times * elements * weight;
    double trips = 1;
    if (op.code == Code::for_) {
      const tile::Range &lo = ranges_[static_cast<std::size_t>(op.operands[0])],
                        &hi = ranges_[static_cast<std::size_t>(op.operands[1])];
      const auto step = constant_of(op.operands[2]);
      trips = step && *step != 0
                  ? std::clamp((static_cast<double>(hi.hi) - static_cast<double>(lo.lo)) / static_cast<double>(*step),
                               0.0, 1e6)
                  : 8;
    }
    for (const Block& b : op.blocks) estimate(b, times * trips);
  }
}

Emitted Emitter::run() {
  levels_.emplace_back();
  std::string head;
  for (std::size_t k = 0; k < f_.body.params.size(); ++k) {
    const ValueId v = f_.body.params[k];
    const Type& t = type(v);
    const std::string name = fresh(f_.parameters[k]);
    const std::string text =
        t.pointer ? fmt::format("{0}* const {1} = ({0}*)arguments[{2}].pointer;", stored_name(t.elem), name, k)
        : tile::is_float(t.elem)
            ? fmt::format("const {0} {1} = ({0})arguments[{2}].real;", scalar_name(t.elem), name, k)
            : fmt::format("const {0} {1} = ({0})arguments[{2}].integer;", scalar_name(t.elem), name, k);
    head += "  " + text + "\n";
    home(v) = {Home::Kind::name, name, 0, -1};
  }
  emit_block(f_.body);
  out_.programs = facts_.programs();
  estimate(f_.body, 1);
  const auto& g = facts_.grid;
  std::string out = fmt::format("// {}: grid {} x {} x {}\n", f_.name, g[0], g[1], g[2]);
  if (large_) out += "#define LARGE\n";
  constexpr std::int64_t kManyFunctions = 16;
  if (functions_ > kManyFunctions) out += "#define MANY_FUNCTIONS\n";
  if (out_.sites.size() > kManySites) out += "#define MANY_SITES\n";
  out += prelude(levels_[0].code, is_hooked(build_));
  out += fmt::format(
      "extern \"C\" void passnet_kernel(const Argument* arguments, i64 begin, i64 end, char* scratch{}) {{\n",
      is_hooked(build_) ? ", const Hooks* hooks" : "");
  out += head + kept_ + declare_arrays();
  out += "  for (i64 program = begin; program < end; ++program) {\n";
  if (g[1] == 1 && g[2] == 1)
    out += "    const i32 pid0 = (i32)program, pid1 = 0, pid2 = 0;\n";
  else if (turns_ && g[2] == 1)  // memory runs both ways: in squares, so that pages and lines are used again soon
    out += fmt::format(
        "    const i64 band = program / {2}, height = min_i64({3}, {1} - band * {3}), square = program % {2} / ({3} * "
        "height);\n"
        "    const i64 rest = program % {2} % ({3} * height), width = min_i64({3}, {0} - square * {3});\n"
        "    const i32 pid0 = (i32)(square * {3} + rest % width), pid1 = (i32)(band * {3} + rest / width), pid2 = "
        "0;\n",
        g[0], g[1], g[0] * kSquare, kSquare);
  else
    out += fmt::format(
        "    const i32 pid0 = (i32)(program % {0}), pid1 = (i32)(program / {0} % {1}), pid2 = (i32)(program / "
        "{2});\n",
        g[0], g[1], g[0] * g[1]);
  out += levels_[0].code + "  }\n";
  const auto stores = [&](const char* how) { return levels_[0].code.find(how) != std::string::npos; };
  if (stores("st_far<") || stores("st_burst<")) out += "  stored_far();\n";
  out += "}\n";
  out_.source = std::move(out);
  return std::move(out_);
}

Result<Emitted> emit(const tile::Function& function, const tile::LaunchFacts& facts, Build build) {
  return guarded([&] {
    const tile::Function moved = tile::move_as_bits(function);
    return Emitter(moved, facts, build).run();
  });
}

}  // namespace passnet::tile_cpu
