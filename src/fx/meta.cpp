#include "fx/meta.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/text.h"
#include "py/parser.h"
#include "py/printer.h"

namespace passnet {

std::size_t TensorMeta::element_count() const {
  std::size_t n = 1;
  for (const std::int64_t d : shape) n *= static_cast<std::size_t>(d);
  return n;
}

namespace {

// Whether torch.tensor takes the number for a tensor of that type. In integer types reals are cut off, but may not lie
// outside; a negative integer wraps in an unsigned type, within its width. Other types take all.
bool fits(Dtype dtype, const MetaNumber& v) {
  const auto signed_range = [&](auto type) {
    using Limits = std::numeric_limits<decltype(type)>;
    if (v.integral) return v.integer >= Limits::min() && v.integer <= Limits::max();
    return v.real >= static_cast<double>(Limits::min()) && v.real <= static_cast<double>(Limits::max());
  };
  const auto unsigned_range = [&](std::int64_t most) {
    if (v.integral) return v.integer >= -most && v.integer <= most;
    return v.real >= 0 && v.real <= static_cast<double>(most);
  };
  switch (dtype) {
    case Dtype::int8: return signed_range(std::int8_t{});
    case Dtype::int16: return signed_range(std::int16_t{});
    case Dtype::int32: return signed_range(std::int32_t{});
    case Dtype::int64: return signed_range(std::int64_t{});
    case Dtype::uint8: return unsigned_range(0xff);
    case Dtype::uint16: return unsigned_range(0xffff);
    case Dtype::uint32: return unsigned_range(0xffff'ffff);
    case Dtype::uint64: return v.integral && v.integer >= 0;
    default: return true;
  }
}

class MetaReader {
 public:
  explicit MetaReader(const py::Module& module) : module_(module) {}

  TensorMeta read(const py::Stmt& cls) {
    TensorMeta meta;
    meta.line = cls.place.line;
    bool has_shape = false, has_dtype = false;
    const py::Expr* contents = nullptr;  // read last: they have to fit the dtype
    for (const py::Stmt* s : cls.body) {
      if (s->kind == py::StmtKind::pass || s->kind == py::StmtKind::expression) continue;
      if (s->kind != py::StmtKind::assign || s->targets.size() != 1 || s->targets[0]->kind != py::ExprKind::name)
        error(s->place, "a tensor meta holds only 'field = literal' lines");
      const std::string_view field = s->targets[0]->text;
      const py::Expr& v = *s->value;
      if (field == "name")
        meta.name = text(v, field);
      else if (field == "original_name")
        meta.original_name = v.kind == py::ExprKind::none ? std::string() : text(v, field);
      else if (field == "shape")
        shape(v, meta), has_shape = true;
      else if (field == "dtype")
        dtype(v, meta), has_dtype = true;
      else if (field == "device")
        meta.device = v.kind == py::ExprKind::none ? std::string() : text(v, field);
      else if (field == "mean")
        meta.mean = real_number(v, field);
      else if (field == "std")
        meta.std = real_number(v, field);
      else if (field == "min_val")
        meta.min_val = number(v, field);
      else if (field == "max_val")
        meta.max_val = number(v, field);
      else if (field == "data")
        contents = v.kind == py::ExprKind::none ? nullptr : &v;
    }
    if (meta.name.empty()) meta.name = cls.name;
    if (!has_shape) error(cls.place, fmt::format("'{}' has no shape", meta.name));
    if (!has_dtype) error(cls.place, fmt::format("'{}' has no dtype", meta.name));
    if (contents != nullptr) meta.data = data(*contents, meta.dtype);
    if (meta.data && meta.data->size() != meta.element_count())
      error(cls.place, fmt::format("'{}' has {} data values, but its shape {} holds {}", meta.name, meta.data->size(),
                                   shape_text(meta), meta.element_count()));
    return meta;
  }

 private:
  [[noreturn]] void error(py::Place place, std::string message) const {
    fail({Code::meta, module_.where(place), std::move(message), {}});
  }

  static std::string shape_text(const TensorMeta& meta) { return fmt::format("[{}]", fmt::join(meta.shape, ", ")); }

  std::string text(const py::Expr& e, std::string_view field) const {
    if (e.kind != py::ExprKind::string) error(e.place, fmt::format("'{}' must be a string", field));
    return std::string(e.text);
  }

  // A number with its sign, inf and nan included; nullopt for anything else.
  std::optional<double> literal(const py::Expr& e, bool* integral, std::int64_t* integer) const {
    const bool minus = e.kind == py::ExprKind::unary && e.op == py::Op::neg;
    const py::Expr& v = minus ? *e.items[0] : e;
    if (v.kind == py::ExprKind::integer || v.kind == py::ExprKind::boolean) {
      *integral = true;
      if (minus && v.integer == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
      *integer = minus ? -v.integer : v.integer;
      return static_cast<double>(*integer);
    }
    if (v.kind == py::ExprKind::big_integer) error(v.place, "an integer beyond 64 bits is not supported");
    *integral = false;
    if (v.kind == py::ExprKind::real) return minus ? -v.real : v.real;
    if (v.kind == py::ExprKind::name && (v.text == "inf" || v.text == "nan"))
      return v.text == "nan" ? std::nan("") : minus ? -HUGE_VAL : HUGE_VAL;
    if (v.kind == py::ExprKind::call && v.items.size() == 2 && v.items[0]->kind == py::ExprKind::name &&
        v.items[0]->text == "float" && v.items[1]->kind == py::ExprKind::string) {
      const std::string_view word = v.items[1]->text;
      if (word == "nan") return std::nan("");
      if (word == "inf" || word == "-inf") return (word == "-inf") != minus ? -HUGE_VAL : HUGE_VAL;
    }
    return std::nullopt;
  }

  std::optional<MetaNumber> number(const py::Expr& e, std::string_view field) const {
    if (e.kind == py::ExprKind::none) return std::nullopt;
    MetaNumber out;
    const auto v = literal(e, &out.integral, &out.integer);
    if (!v) error(e.place, fmt::format("'{}' must be a number or None", field));
    out.real = *v;
    return out;
  }
  std::optional<double> real_number(const py::Expr& e, std::string_view field) const {
    const auto v = number(e, field);
    return v ? std::optional(v->real) : std::nullopt;
  }

  void shape(const py::Expr& e, TensorMeta& meta) const {
    if (e.kind != py::ExprKind::list && e.kind != py::ExprKind::tuple)
      error(e.place, "'shape' must be a list of sizes");
    std::int64_t elements = 1;
    meta.shape.clear();  // a field that is set twice has its last value
    for (const py::Expr* item : e.items) {
      if (item->kind != py::ExprKind::integer) error(item->place, "a size must be an integer that is not negative");
      meta.shape.push_back(item->integer);
      if (item->integer != 0 && elements > kElementLimit / item->integer)
        error(e.place, fmt::format("a tensor of more than {} elements", kElementLimit));
      elements *= item->integer;
    }
  }

  void dtype(const py::Expr& e, TensorMeta& meta) const {
    const std::string name = e.kind == py::ExprKind::string ? std::string(e.text) : py::dotted_name(e);
    const auto found = dtype_from_name(name);
    if (!found) {
      std::vector<std::string_view> known;
      for (const DtypeRow& row : kDtypes) known.push_back(row.name);
      const auto nearest = text_nearest(
          name.starts_with("torch.") ? std::string_view(name).substr(6) : std::string_view(name), known, 1);
      error(e.place, fmt::format("unknown dtype '{}'{}", name,
                                 nearest.empty() ? "" : fmt::format("; did you mean 'torch.{}'?", nearest[0])));
    }
    meta.dtype = *found;
  }

  // Numbers of nested lists, all of one length at a depth.
  struct Gathered {
    TensorData data;
    bool all_integral = true;
    std::vector<std::size_t> lengths;    // of lists, by depth
    std::optional<std::size_t> numbers;  // their depth
  };

  TensorData data(const py::Expr& e, Dtype dtype) const {
    Gathered out;
    gather(e, dtype, 0, out);
    if (out.all_integral)
      out.data.reals.clear();
    else
      out.data.integers.clear();
    return std::move(out.data);
  }

  void gather(const py::Expr& e, Dtype dtype, std::size_t depth, Gathered& out) const {
    const bool list = e.kind == py::ExprKind::list || e.kind == py::ExprKind::tuple;
    if (list ? out.numbers && *out.numbers <= depth : depth < out.lengths.size())
      error(e.place, fmt::format("'data' has {} where its neighbours are {}", list ? "a list" : "a number",
                                 list ? "numbers" : "lists"));
    if (!list) return number_of_data(e, dtype, depth, out);
    if (depth == out.lengths.size()) out.lengths.push_back(e.items.size());
    if (e.items.size() != out.lengths[depth])
      error(e.place, fmt::format("'data' has a list of {} items where its neighbours have {}", e.items.size(),
                                 out.lengths[depth]));
    out.data.reals.reserve(out.data.reals.size() + e.items.size());
    for (const py::Expr* item : e.items) gather(*item, dtype, depth + 1, out);
  }

  void number_of_data(const py::Expr& e, Dtype dtype, std::size_t depth, Gathered& out) const {
    MetaNumber number;
    const auto v = literal(e, &number.integral, &number.integer);
    if (!v) error(e.place, "'data' must be numbers or nested lists of numbers");
    number.real = *v;
    if (!fits(dtype, number))
      error(e.place, fmt::format("'data' has {}, which does not fit {}",
                                 number.integral ? std::to_string(number.integer) : python_float(number.real),
                                 dtype_row(dtype).name));
    out.numbers = depth;
    out.all_integral &= number.integral;
    if (out.all_integral) out.data.integers.push_back(number.integer);
    out.data.reals.push_back(number.real);
  }

  const py::Module& module_;
};

}  // namespace

Result<std::vector<TensorMeta>> read_metas(std::string file, std::string source) {
  auto module = py::parse(std::move(file), std::move(source));
  if (!module) return std::move(module.error());
  return guarded([&] {
    MetaReader reader(*module);
    std::vector<TensorMeta> out;
    for (const py::Stmt* s : module->body()) {
      if (s->kind == py::StmtKind::class_)
        out.push_back(reader.read(*s));
      else if (s->kind != py::StmtKind::import && s->kind != py::StmtKind::import_from &&
               s->kind != py::StmtKind::expression && s->kind != py::StmtKind::pass)
        fail({Code::meta, module->where(s->place), "a meta file holds only classes", {}});
    }
    return out;
  });
}

namespace {

// A class name made of what a tensor was called: letters, digits and underscores.
std::string class_suffix(std::string_view name) {
  std::string out(name);
  for (char& c : out)
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) c = '_';
  return out;
}

std::string double_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (u < 0x20 || u == 0x7f)
      out += fmt::format("\\x{:02x}", u);
    else
      out += c;
  }
  return out + '"';
}

}  // namespace

std::string print_meta(const TensorMeta& meta) {
  const auto number = [](const MetaNumber& v) { return v.integral ? std::to_string(v.integer) : python_float(v.real); };
  const std::string& original = meta.original_name.empty() ? meta.name : meta.original_name;
  std::string out = fmt::format("class Program_weight_tensor_meta_{}:\n\tname = {}\n", class_suffix(original),
                                double_quoted(meta.name));
  if (!meta.original_name.empty()) out += fmt::format("\toriginal_name = {}\n", double_quoted(meta.original_name));
  out += fmt::format("\tshape = [{}]\n\tdtype = \"torch.{}\"\n\tdevice = {}\n", fmt::join(meta.shape, ", "),
                     dtype_row(meta.dtype).name, double_quoted(meta.device));
  out += fmt::format("\tmean = {}\n\tstd = {}\n", meta.mean ? python_float(*meta.mean) : "None",
                     meta.std ? python_float(*meta.std) : "None");
  if (meta.data) {
    std::vector<std::string> items;
    for (const std::int64_t i : meta.data->integers) items.push_back(std::to_string(i));
    for (const double r : meta.data->reals) items.push_back(python_float(r));
    out += fmt::format("\tdata = [{}]\n", text_join(items, ", "));
  }
  if (meta.max_val) out += fmt::format("\tmax_val = {}\n", number(*meta.max_val));
  if (meta.min_val) out += fmt::format("\tmin_val = {}\n", number(*meta.min_val));
  return out;
}

}  // namespace passnet
