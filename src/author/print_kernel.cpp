#include "author/print_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <unordered_map>

#include "base/text.h"

namespace passnet::author {

namespace {

constexpr char kRounding[] = "enable_fp_fusion=False";  // eager rounds products and sums one by one

// Dependence on the rows; columns of group g: 2 << g; the depth of a product's factors.
constexpr unsigned kRows = 1, kDepth[] = {1U << 30U, 1U << 31U};

class Printer {
 public:
  Printer(const Kernel& kernel, Indices& ix, const std::string& name, const std::map<int, std::string>& names,
          const std::map<const Tensor*, int>& buffer_of, const Plan& plan)
      : k_(kernel), ix_(ix), names_(names), buffer_of_(buffer_of), plan_(plan) {
    out_.name = name;
  }

  PrintedKernel run() {
    rows_ = k_.rows;
    columns_ = k_.columns;
    batch_ = k_.batch;
    collect();
    if (k_.axes) {
      for (auto* group : {&batch_, &rows_, columns_.data()}) collapse(*group);
    } else if (!k_.reduces) {
      collapse(rows_);
      flat_ = rows_.size() <= 1;
      if (!flat_) {
        columns_ = {{rows_.back()}};
        rows_.pop_back();
        collapse(rows_);
      }
    } else {
      collapse(rows_);
      for (auto& group : columns_) collapse(group);
    }
    for (const char* reserved :
         {"tl",     "triton", "torch", "libdevice", "stored", "rows", "offs",  "mask",  "row_mask", "n",
          "n_rows", "BLOCK",  "ROWS",  "float",     "min",    "max",  "batch", "start", "DEPTH",    "program"})
      taken_.insert(reserved);
    for (const Symbol& s : ix_.symbols()) taken_.insert(s.name);
    for (const auto& [id, name] : names_) taken_.insert(name + "_ptr");
    axes();
    std::vector<std::pair<const Kernel::Store*, std::string>> last;  // of memory that is loaded, too
    for (const Kernel::Store& s : k_.stores) {
      const Expr* value = s.value;
      // the store itself rounds
      while (value->kind == Expr::Kind::op && (value->text == "stored({0}, {t0})") && buffer_type_is(s, value))
        value = value->args[0];
      std::string v = ref(value);
      if (loaded_.contains(buffer_of_.at(s.tensor)))
        last.emplace_back(&s, std::move(v));
      else
        store(s, v);
    }
    for (const auto& [s, v] : last) store(*s, v);
    finish();
    return std::move(out_);
  }

 private:
  void store(const Kernel::Store& s, const std::string& value) {
    std::string at = text(s.at);
    unsigned deps = depends(s.at);
    if (!flat_ && rows_.empty()) {  // one row: its number keeps the shape
      at = at == "0" ? "rows" : at + " + rows";
      deps |= kRows;
    }
    if (flat_ && rows_.empty()) {
      at = "offs";
      deps |= kRows;
    }
    line(fmt::format("tl.store({} + {}, {}{})", pointer(buffer_of_.at(s.tensor)), at, value,
                     mask_text(axis_masks(deps))));
  }

  static bool buffer_type_is(const Kernel::Store& s, const Expr* value) {
    return s.tensor->type.like >= 0 && value->types_of[0] == s.tensor->type.like;
  }

  // ---- coordinates

  void collect() {
    k_.visit_expressions([&](const Expr* e) {
      if (e->kind == Expr::Kind::load || e->kind == Expr::Kind::index) forms_.push_back(e->at);
      if (e->kind == Expr::Kind::load) loaded_.insert(e->buffer);
      if (e->kind == Expr::Kind::product)
        for (std::size_t i = 0; i < 2; ++i) depth_[e->loops[i]] = {kDepth[i], {}};
      for (const Expr* a : e->args) ++uses_[a];
    });
    for (const Kernel::Store& s : k_.stores) {
      forms_.push_back(s.at);
      ++uses_[s.value];
    }
  }

  Lin current(const Lin& a) { return ix_.substitute(a, moved_); }

  // Whether a and b occur as a * size(b) + b only.
  bool joins(const Lin& form, const Atom* a, const Atom* b) {
    Dim ca(0), cb(0);
    for (const auto& [atom, c] : form.terms) {
      if (atom == a) ca = ix_.resolve(c);
      if (atom == b) cb = ix_.resolve(c);
      if (atom->inner && !joins(*atom->inner, a, b)) return false;
    }
    return ca == ix_.resolve(cb * b->size);
  }

  // Neighbours that every access walks through as one become one.
  void collapse(std::vector<const Atom*>& group) {
    for (std::size_t i = 0; i + 1 < group.size();) {
      const Atom *a = group[i], *b = group[i + 1];
      bool all = true;
      for (const Lin& f : forms_) all = all && joins(current(f), a, b);
      if (!all) {
        ++i;
        continue;
      }
      const Atom* both = ix_.coordinate(ix_.resolve(a->size * b->size));
      for (auto& [atom, form] : moved_) form = ix_.substitute(form, {{a, Lin(0)}, {b, Lin(both)}});
      moved_.emplace(a, Lin(0));
      moved_.emplace(b, Lin(both));
      group[i] = both;
      group.erase(group.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      if (i > 0) --i;
    }
  }

  Dim extent(const std::vector<const Atom*>& group) const {
    Dim out(1);
    for (const Atom* a : group) out = out * ix_.resolve(a->size);
    return out;
  }

  std::string fresh(std::string base) {
    if (base.empty()) base = "v";
    std::string name = base;
    for (int i = 1; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
    return name;
  }

  void name_group(const std::vector<const Atom*>& group, const std::string& whole) {
    if (group.empty()) return;
    if (group.size() == 1) {
      atom_names_[group[0]] = whole;
      return;
    }
    Dim below(1);
    for (std::size_t i = group.size(); i-- > 0;) {
      std::string value = whole;
      if (!below.is(1)) value = fmt::format("{} // ({})", whole, ix_.text(below, false));
      if (i > 0)
        value = fmt::format("{} % ({})", below.is(1) ? value : "(" + value + ")", ix_.text(group[i]->size, false));
      const std::string name = fresh(fmt::format("{}_{}", whole == "rows" ? "row" : whole, i));
      line(fmt::format("{} = {}", name, value));
      atom_names_[group[i]] = name;
      below = below * ix_.resolve(group[i]->size);
    }
  }

  // Few programs, each of which walks over blocks. Products have work enough in one.
  bool persistent() const { return plan_.programs > 0 && !k_.axes; }

  void axes() {
    const std::string program = persistent() ? "program" : "tl.program_id(0)";
    if (persistent()) {
      line(fmt::format("for program in range(tl.program_id(0), tl.cdiv({}), tl.num_programs(0)):",
                       flat_ ? "n, BLOCK" : "n_rows, ROWS"));
      ++indent_;
    }
    if (flat_) {
      line(fmt::format("offs = {} * BLOCK + tl.arange(0, BLOCK)", program));
      line("mask = offs < n");
      name_group(rows_, "offs");
      return;
    }
    line(fmt::format("rows = {} * ROWS + tl.arange(0, ROWS)[:, None]", program));
    line("row_mask = rows < n_rows");
    name_group(rows_, "rows");
    if (!batch_.empty()) line("batch = tl.program_id(2)");
    name_group(batch_, "batch");
    for (std::size_t g = 0; g < columns_.size(); ++g) {
      const std::string name = columns_.size() == 1 ? "cols" : fmt::format("cols_{}", g);
      taken_.insert(name);
      column_names_.push_back(name);
      const std::string tile = columns_.size() == 1 ? "COLS" : fmt::format("COLS_{}", g);
      line(fmt::format("{} = {}tl.arange(0, {})[None, :]", name,
                       k_.reduces ? "" : fmt::format("tl.program_id(1) * {} + ", tile), tile));
      column_masks_.push_back(fmt::format("({} < {})", name, ix_.text(extent(columns_[g]), false)));
      name_group(columns_[g], name);
    }
  }

  // ---- dependence

  unsigned depends(const Lin& form) {
    unsigned out = 0;
    visit_atoms(current(form), [&](const Atom* a) {
      if (a->value != nullptr) out |= depends(a->value);
      if (std::find(rows_.begin(), rows_.end(), a) != rows_.end()) out |= kRows;
      if (const auto it = depth_.find(a); it != depth_.end()) out |= it->second.bit;
      for (std::size_t g = 0; g < columns_.size(); ++g)
        if (std::find(columns_[g].begin(), columns_[g].end(), a) != columns_[g].end()) out |= 2U << g;
    });
    return out;
  }
  unsigned depends(const Expr* e) {
    if (const auto it = depends_.find(e); it != depends_.end()) return it->second;
    unsigned out = 0;
    if (e->kind == Expr::Kind::load || e->kind == Expr::Kind::index) out |= depends(e->at);
    for (const Expr* a : e->args) out |= depends(a);
    for (const Expr* g : e->guards) out |= depends(g);
    if (e->kind == Expr::Kind::reduce) out &= ~group_bit(e->loops);
    if (e->kind == Expr::Kind::product) out = kRows | 2U;
    return depends_[e] = out;
  }
  unsigned group_bit(const std::vector<const Atom*>& loops) const { return 2U << group_of(loops); }
  std::size_t group_of(const std::vector<const Atom*>& loops) const {
    for (std::size_t g = 0; g < k_.columns.size(); ++g)
      if (k_.columns[g] == loops) return g;
    throw Impossible{"a reduction without columns"};
  }
  bool uses_tap(const Lin& form, const std::vector<const Atom*>& taps) {
    bool out = false;
    visit_atoms(form, [&](const Atom* a) {
      out |= std::find(taps.begin(), taps.end(), a) != taps.end() || (a->value != nullptr && uses_tap(a->value, taps));
    });
    return out;
  }
  bool uses_tap(const Expr* e, const std::vector<const Atom*>& taps) {
    const auto [it, is_new] = uses_tap_.try_emplace({e, taps[0]}, false);
    if (!is_new) return it->second;
    bool out = uses_tap(e->at, taps);
    for (const Expr* a : e->args) out = out || uses_tap(a, taps);
    for (const Expr* g : e->guards) out = out || uses_tap(g, taps);
    return uses_tap_[{e, taps[0]}] = out;
  }

  std::vector<std::string> axis_masks(unsigned deps) const {
    std::vector<std::string> out;
    if (flat_) {
      if (deps != 0) out.emplace_back("mask");
      return out;
    }
    if ((deps & kRows) != 0) out.emplace_back("row_mask");
    for (std::size_t g = 0; g < columns_.size(); ++g)
      if ((deps & (2U << g)) != 0) out.push_back(column_masks_[g]);
    for (const auto& [atom, depth] : depth_)
      if ((deps & depth.bit) != 0 && !depth.mask.empty()) out.push_back(depth.mask);
    return out;
  }
  static std::string mask_text(const std::vector<std::string>& masks) {
    return masks.empty() ? std::string() : ", mask=" + fmt::format("{}", fmt::join(masks, " & "));
  }
  // Zero in the shape of the axes: a mask may not be wider than its pointers.
  std::string widened(unsigned axes) const {
    std::string out;
    if (flat_) return axes != 0 ? " + 0 * offs" : "";
    if ((axes & kRows) != 0) out += " + 0 * rows";
    for (std::size_t g = 0; g < columns_.size(); ++g)
      if ((axes & (2U << g)) != 0) out += " + 0 * " + column_names_[g];
    return out;
  }

  // ---- text

  void line(const std::string& text) { body_ += std::string(static_cast<std::size_t>(4 * indent_), ' ') + text + "\n"; }

  std::string pointer(int buffer) {
    if (std::find(pointers_.begin(), pointers_.end(), buffer) == pointers_.end()) pointers_.push_back(buffer);
    return names_.at(buffer) + "_ptr";
  }

  // `type`: int64 where int32 does not hold what is computed.
  std::string atom_text(const Atom* a, Dtype type) {
    const std::string wide = type == Dtype::int64 ? ".to(tl.int64)" : "";
    if (const auto it = atom_names_.find(a); it != atom_names_.end()) return it->second + wide;
    switch (a->kind) {
      case Atom::Kind::coordinate: throw Impossible{"a coordinate without a loop"};
      case Atom::Kind::value: return ref(a->value) + wide;
      default: break;
    }
    const std::string by = ix_.text(a->by, false);
    const std::string inner = text(*a->inner, type);
    const bool simple = inner.find(' ') == std::string::npos;
    return fmt::format("({} {} {})", simple ? inner : "(" + inner + ")", a->kind == Atom::Kind::quotient ? "//" : "%",
                       by.find(' ') == std::string::npos ? by : "(" + by + ")");
  }
  std::string text(const Lin& form, Dtype type = Dtype::int32) {
    return ix_.text(current(form), [&](const Atom* a) { return atom_text(a, type); });
  }

  std::string filled(const Expr* e) {
    std::string out;
    const std::string& t = e->text;
    for (std::size_t i = 0; i < t.size(); ++i) {
      if (t[i] == '{' && i + 2 < t.size() && t[i + 2] == '}') {
        std::string arg = ref(e->args[static_cast<std::size_t>(t[i + 1] - '0')]);
        const bool method = i + 3 < t.size() && t[i + 3] == '.';
        const Expr* operand = e->args[static_cast<std::size_t>(t[i + 1] - '0')];
        const bool number = operand->kind == Expr::Kind::literal ||
                            (!arg.empty() && std::isdigit(static_cast<unsigned char>(arg[0])) != 0);
        if (method && number) arg = fmt::format("tl.full([], {}, {})", arg, tl_dtype(operand->type));
        out += arg;
        i += 2;
      } else if (t[i] == '{' && t[i + 1] == 't') {
        out += pointer(e->types_of[static_cast<std::size_t>(t[i + 2] - '0')]);
        i += 3;
      } else {
        out += t[i];
      }
    }
    return out;
  }

  std::string ref(const Expr* e) {
    if (e->kind == Expr::Kind::literal) {
      if (!e->host.empty()) host_[e->text] = e->host;
      return e->text.starts_with('-') ? "(" + e->text + ")" : e->text;
    }
    if (const auto it = named_.find(e); it != named_.end()) return it->second;
    if (e->kind == Expr::Kind::index) {
      const std::string t = text(e->at, e->type);
      return t.find(' ') == std::string::npos ? t : "(" + t + ")";
    }
    std::string value;
    switch (e->kind) {
      case Expr::Kind::load: value = load_text(e, depends(e)); break;
      case Expr::Kind::op:
        value = filled(e);
        if (uses_[e] <= 1 && e->type == Dtype::boolean && value.starts_with('(') && e->args.size() <= 2 &&
            value.size() < 60)
          return value;
        break;
      case Expr::Kind::reduce: value = reduce_text(e); break;
      case Expr::Kind::window: return window_text(e);
      case Expr::Kind::product: return product_text(e);
      default: break;
    }
    if (value.find("libdevice.") != std::string::npos) out_.libdevice = true;
    if (value.find("stored(") != std::string::npos) out_.rounds = true;
    const std::string name = fresh(e->label);
    line(fmt::format("{} = {}", name, value));
    return named_[e] = name;
  }

  // `axes`: what its shape moves with, at least what its address does.
  std::string load_text(const Expr* e, unsigned axes) {
    std::vector<std::string> masks = axis_masks(axes);
    for (const Expr* g : e->guards) masks.push_back(ref(g));
    const std::string at = text(e->at);
    std::string mask = mask_text(masks);
    if ((axes & (kDepth[0] | kDepth[1])) != 0) mask += ", other=0.0";  // what is beyond the depth adds nothing
    return fmt::format("tl.load({}{}{}{}){}", pointer(e->buffer), at == "0" ? "" : " + " + at,
                       widened(axes & ~depends(e->at)), mask, e->text);
  }

  std::string reduce_text(const Expr* e) {
    const std::string value = ref(e->args[0]);
    const std::size_t g = group_of(e->loops);
    return fmt::format("tl.{}(tl.where({}, {}, {}), axis=1, keep_dims=True)", e->text, column_masks_[g], value,
                       neutral_text(e->text, e->type));
  }

  // What does not move with the taps stands before their loop.
  void hoist(const Expr* e, const std::vector<const Atom*>& taps, std::set<const Expr*>& seen) {
    if (!seen.insert(e).second) return;
    if (!uses_tap(e, taps)) {
      if (e->kind != Expr::Kind::index && e->kind != Expr::Kind::literal) ref(e);
      return;
    }
    visit_atoms(e->at, [&](const Atom* a) {
      if (a->value != nullptr) hoist(a->value, taps, seen);
    });
    for (const Expr* g : e->guards) hoist(g, taps, seen);
    for (const Expr* a : e->args) hoist(a, taps, seen);
  }
  void hoist(const Expr* loop) {
    std::set<const Expr*> seen;
    for (const Expr* a : loop->args) hoist(a, loop->loops, seen);
  }

  std::string window_text(const Expr* e) {
    hoist(e);
    const unsigned deps = depends(e);
    const std::string name = fresh(e->text == "sum" ? "total" : "largest");
    std::string shape = "[BLOCK]";
    if (!flat_) {
      std::string width = "1";
      for (std::size_t g = 0; g < columns_.size(); ++g)
        if ((deps & (2U << g)) != 0) width = columns_.size() == 1 ? "COLS" : fmt::format("COLS_{}", g);
      shape = fmt::format("[{}, {}]", (deps & kRows) != 0 ? "ROWS" : "1", width);
    }
    line(fmt::format("{} = tl.full({}, {}, {})", name, shape, neutral_text(e->text, e->type), tl_dtype(e->type)));
    const auto outer = named_;
    for (const Atom* tap : e->loops) {
      const std::string t = fresh("k");
      atom_names_[tap] = t;
      line(fmt::format("for {} in tl.static_range({}):", t, ix_.text(tap->size, false)));
      ++indent_;
    }
    std::vector<std::string> values;
    for (const Expr* a : e->args) values.push_back(ref(a));
    line(values.size() == 2 ? fmt::format("{0} = tl.fma({1}, {2}, {0})", name, values[0], values[1])
         : e->text == "sum" ? fmt::format("{0} = {0} + {1}", name, values[0])
                            : fmt::format("{0} = tl.maximum({0}, {1})", name, values[0]));
    indent_ -= static_cast<int>(e->loops.size());
    named_ = outer;
    return named_[e] = name;
  }

  // A factor as a tile of rows and depth, or of depth and columns; beyond the depth 0.
  std::string factor_text(const Expr* e, std::size_t i) {
    const unsigned axes = kDepth[i] | (i == 0 ? kRows : 2U);
    if (e->kind == Expr::Kind::load) {
      const std::string name = fresh(e->label);
      line(fmt::format("{} = {}", name, load_text(e, axes)));
      return name;
    }
    std::string value = ref(e);
    return fmt::format("tl.where({}, {}, 0.0)", text_join(axis_masks(axes), " & "), value);
  }

  std::string product_text(const Expr* e) {
    hoist(e);
    const std::string name = fresh("total");
    const Dim depth = ix_.resolve(e->loops[0]->size);
    line(fmt::format("{} = tl.zeros([ROWS, COLS], tl.float32)", name));
    line(fmt::format("for start in range(0, {}, DEPTH):", ix_.text(depth, false)));
    ++indent_;
    const auto outer = named_;
    std::string factors[2];
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string k = fresh("k");
      atom_names_[e->loops[i]] = k;
      depth_.at(e->loops[i]).mask = fmt::format("({} < {})", k, ix_.text(depth, false));
      line(fmt::format("{} = start + tl.arange(0, DEPTH)[{}]", k, i == 0 ? "None, :" : ":, None"));
      factors[i] = factor_text(e->args[i], i);
    }
    line(fmt::format("{0} = tl.dot({1}, {2}, {0}, input_precision=\"ieee\")", name, factors[0], factors[1]));
    --indent_;
    named_ = outer;
    for (std::size_t i = 0; i < 2; ++i) depth_.at(e->loops[i]).mask.clear();
    if (ix_.value(depth) > ix_.value(depth_of_products_)) depth_of_products_ = depth;
    return named_[e] = name;
  }

  // ---- the function and its launch

  static bool mentions(const std::string& text, const std::string& name) {
    const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
      if ((at == 0 || !word(text[at - 1])) && (at + name.size() == text.size() || !word(text[at + name.size()])))
        return true;
    return false;
  }

  // What the launch's lines come to in the graph that the author reads.
  static std::int64_t size(std::int64_t limit, std::int64_t n) {
    return std::min(limit, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n))));
  }
  std::int64_t blocks_of(std::int64_t n, std::int64_t block) {
    seen(block);
    const std::int64_t blocks = (n + block - 1) / block;
    return persistent() ? std::min(blocks, plan_.programs) : blocks;
  }
  void seen(std::int64_t value) { out_.sizes.push_back(value); }
  std::string programs_text(const std::string& blocks) const {
    return persistent() ? fmt::format("min({}, {})", plan_.programs, blocks) : blocks;
  }

  void finish() {
    std::vector<std::string> parameters, values;
    std::sort(pointers_.begin(), pointers_.end());
    for (const int p : pointers_) {
      parameters.push_back(names_.at(p) + "_ptr");
      values.push_back(names_.at(p));
    }
    for (const Symbol& s : ix_.symbols())
      if (!s.same_as && mentions(body_, s.name)) {
        parameters.push_back(s.name);
        values.push_back(s.host);
      }
    for (const auto& [name, host] : host_) {
      parameters.push_back(name);
      values.push_back(host);
    }
    std::vector<std::string> tail;
    if (flat_) {
      out_.launch.push_back(fmt::format("n = {}", ix_.text(extent(rows_), true)));
      out_.launch.push_back(fmt::format("block = min({}, triton.next_power_of_2(n))", plan_.block));
      const std::int64_t n = ix_.value(extent(rows_));
      seen(blocks_of(n, size(plan_.block, n)));
      parameters.insert(parameters.end(), {"n", "BLOCK: tl.constexpr"});
      tail = {"n", "BLOCK=block", kRounding};
      out_.launch.push_back(fmt::format("{}[({},)]({}, {})", out_.name, programs_text("triton.cdiv(n, block)"),
                                        text_join(values, ", "), text_join(tail, ", ")));
    } else if (k_.axes) {
      const auto block = [&](const char* name, std::int64_t limit, const std::string& extent) {
        out_.launch.push_back(fmt::format("{} = min({}, max(16, triton.next_power_of_2({})))", name, limit, extent));
      };
      seen(size(plan_.product_rows, ix_.value(extent(rows_))));
      seen(size(plan_.product_columns, ix_.value(extent(columns_[0]))));
      seen(size(plan_.product_depth, ix_.value(depth_of_products_)));
      const std::string n_cols = ix_.text(extent(columns_[0]), true);
      out_.launch.push_back(fmt::format("n_rows = {}", ix_.text(extent(rows_), true)));
      block("rows", plan_.product_rows, "n_rows");
      block("cols", plan_.product_columns, n_cols);
      block("depth", plan_.product_depth, ix_.text(depth_of_products_, true));
      std::string grid = fmt::format("triton.cdiv(n_rows, rows), triton.cdiv({}, cols)", n_cols);
      if (!batch_.empty()) grid += ", " + ix_.text(extent(batch_), true);
      parameters.insert(parameters.end(),
                        {"n_rows", "ROWS: tl.constexpr", "COLS: tl.constexpr", "DEPTH: tl.constexpr"});
      out_.launch.push_back(fmt::format("{}[({})]({}, n_rows, ROWS=rows, COLS=cols, DEPTH=depth, {})", out_.name, grid,
                                        text_join(values, ", "), kRounding));
    } else {
      out_.launch.push_back(fmt::format("n_rows = {}", ix_.text(extent(rows_), true)));
      parameters.insert(parameters.end(), {"n_rows", "ROWS: tl.constexpr"});
      tail = {"n_rows", "ROWS=rows"};
      std::vector<std::string> widths;
      std::int64_t widest_seen = 1;
      for (std::size_t g = 0; g < columns_.size(); ++g) {
        const std::string suffix = columns_.size() == 1 ? "" : fmt::format("_{}", g);
        const std::string width = "cols" + suffix;
        const std::string whole = fmt::format("triton.next_power_of_2({})", ix_.text(extent(columns_[g]), true));
        out_.launch.push_back(
            fmt::format("{} = {}", width, k_.reduces ? whole : fmt::format("min({}, {})", plan_.columns, whole)));
        const std::int64_t n = ix_.value(extent(columns_[g]));
        seen(size(k_.reduces ? n : plan_.columns, n));
        widest_seen = std::max(widest_seen, out_.sizes.back());
        parameters.push_back(fmt::format("COLS{}: tl.constexpr", suffix));
        tail.push_back(fmt::format("COLS{}={}", suffix, width));
        widths.push_back(width);
      }
      const std::string widest = widths.empty()       ? "1"
                                 : widths.size() == 1 ? widths[0]
                                                      : fmt::format("max({})", text_join(widths, ", "));
      out_.launch.push_back(
          fmt::format("rows = min(max(1, {} // {}), triton.next_power_of_2(n_rows))", plan_.tile, widest));
      const std::int64_t n = ix_.value(extent(rows_));
      seen(blocks_of(n, size(std::max<std::int64_t>(1, plan_.tile / widest_seen), n)));
      const std::string programs = programs_text("triton.cdiv(n_rows, rows)");
      std::string grid = fmt::format("({},)", programs);
      if (!k_.reduces)
        grid = fmt::format("({}, triton.cdiv({}, {}))", programs, ix_.text(extent(columns_[0]), true), widths[0]);
      tail.emplace_back(kRounding);
      out_.launch.push_back(
          fmt::format("{}[{}]({}, {})", out_.name, grid, text_join(values, ", "), text_join(tail, ", ")));
    }
    out_.text = fmt::format("@triton.jit\ndef {}({}):\n{}", out_.name, text_join(parameters, ", "), body_);
  }

  const Kernel& k_;
  Indices& ix_;
  const std::map<int, std::string>& names_;
  const std::map<const Tensor*, int>& buffer_of_;
  const Plan& plan_;
  PrintedKernel out_;
  std::vector<const Atom*> rows_;
  std::vector<std::vector<const Atom*>> columns_;
  std::vector<const Atom*> batch_;
  struct Depth {
    unsigned bit = 0;
    std::string mask;  // inside its loop
  };
  std::map<const Atom*, Depth> depth_;
  Dim depth_of_products_;
  bool flat_ = false;
  std::set<int> loaded_;  // buffers
  std::vector<Lin> forms_;
  std::map<const Atom*, Lin> moved_;
  std::map<const Atom*, std::string> atom_names_;
  std::vector<std::string> column_names_, column_masks_;
  std::map<const Expr*, unsigned> depends_;
  std::map<std::pair<const Expr*, const Atom*>, bool> uses_tap_;  // by the first tap of a window
  std::unordered_map<const Expr*, int> uses_;
  std::map<const Expr*, std::string> named_;
  std::set<std::string> taken_;
  std::map<std::string, std::string> host_;
  std::vector<int> pointers_;
  std::string body_;
  int indent_ = 1;
};

}  // namespace

PrintedKernel print_kernel(const Kernel& kernel, Indices& ix, const std::string& name,
                           const std::map<int, std::string>& names, const std::map<const Tensor*, int>& buffer_of,
                           const Plan& plan) {
  return Printer(kernel, ix, name, names, buffer_of, plan).run();
}

}  // namespace passnet::author
