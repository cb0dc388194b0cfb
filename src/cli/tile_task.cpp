#include "cli/tile_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "pass/stage_dump.h"
#include "py/parser.h"
#include "py/printer.h"
#include "tile/constant.h"
#include "tile/lower.h"
#include "tile/scalar.h"
#include "tile/stages.h"

namespace passnet::cli {

namespace {

using K = py::ExprKind;

[[noreturn]] void usage(std::string message, std::string note = {}) {
  Error e{Code::usage, {}, std::move(message), {}};
  if (!note.empty()) e.notes.push_back(std::move(note));
  fail(std::move(e));
}

Scalar scalar_of(const HostValue& v) {
  switch (v.kind) {
    case HostValue::Kind::boolean: return {v.integer != 0};
    case HostValue::Kind::integer: return {v.integer};
    case HostValue::Kind::real: return {v.real};
    case HostValue::Kind::string:
    case HostValue::Kind::path: return {v.text};
    case HostValue::Kind::dtype: return {fmt::format("torch.{}", dtype_row(v.dtype).name)};
    default: return {};
  }
}

// How a buffer is filled: a call around its type, zeros(float32[4]).
struct Filled {
  std::string how = "random";
  HostValue value = HostValue::of(std::int64_t{0});
  const py::Expr* type = nullptr;
};
Filled read_fill(const py::Expr& e) {
  Filled out;
  out.type = &e;
  if (e.kind != K::call || e.items[0]->kind != K::name) return out;
  out.how = py::print(*e.items[0]);
  constexpr std::string_view kKnown[] = {"arange", "zeros", "ones", "full", "empty", "random"};
  if (std::find(std::begin(kKnown), std::end(kKnown), out.how) == std::end(kKnown) || e.items.size() < 2)
    usage(fmt::format("'{}' is no way to fill a tensor", py::print(e)),
          "write random(t), arange(t), zeros(t), ones(t), full(t, 1.5) or empty(t) with t as float32[4, 8]");
  out.type = e.items[1];
  if (out.how == "ones") out.value = HostValue::of(std::int64_t{1});
  if (out.how == "full") {
    if (e.items.size() != 3) usage("full takes a type and a number", "write full(float32[4], 1.5)");
    out.value = read_argument(*e.items[2]).scalar;
    if (!out.value.is_number()) usage(fmt::format("'{}' is no number", py::print(*e.items[2])));
  }
  return out;
}

py::Module parse_keywords(const std::string& text) { return parse_arguments("f(", text, ")"); }

std::span<const py::Keyword> keywords_of(const py::Module& module) {
  const py::Expr& call = *module.body()[0]->value;
  if (call.kind != K::call || call.items[0]->kind != K::name || call.items.size() > 1)
    usage("arguments are given by name", "write --args 'x_ptr=float32[64], n=64, BLOCK=64'");
  return call.keywords;
}

LaunchArgument read_one(const py::Keyword& k, TileTask& task) {
  LaunchArgument out;
  out.name = k.name;
  const Filled fill = read_fill(*k.value);
  const std::string text = py::print(*k.value);
  if (text.starts_with("tl.")) {
    out.scalar = {"triton.language." + text.substr(3)};
    out.constexpr_ = true;
    return out;
  }
  const HostArgument argument = read_argument(*fill.type);
  if (!argument.items.empty()) usage(fmt::format("'{}': give a kernel's tensors one by one", text));
  if (argument.scalar.is_sequence())
    usage(fmt::format("'{}': tuples are for wrappers to give", text), "give numbers and tensors one by one");
  if (!argument.tensor) {
    out.scalar = scalar_of(argument.scalar);
    out.constexpr_ = std::holds_alternative<std::monostate>(out.scalar.value) ||
                     std::holds_alternative<std::string>(out.scalar.value);
    return out;
  }
  Buffer b;
  b.kind = BufferKind::input;
  b.desc = *argument.tensor;
  b.input = task.plan.buffers.size();
  if (b.desc.hull() > (std::int64_t{1} << 30)) usage(fmt::format("'{}' is too large", text));
  out.buffer = static_cast<BufferId>(task.plan.buffers.size());
  task.plan.buffers.push_back(std::move(b));
  task.names.emplace_back(k.name);
  task.uninitialised.push_back(fill.how == "empty");
  return out;
}

void read_grid(const std::string& text, LaunchVariant& variant) {
  std::size_t at = 0;
  for (const std::string_view part : text_split(text, ',')) {
    const std::string_view t = text_trim(part);
    std::int64_t n = -1;
    const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), n);
    if (at >= 3 || error != std::errc{} || end != t.data() + t.size() || n < 0 || n > kMostPrograms[at])
      usage(fmt::format("'{}' is no grid", text),
            fmt::format("write one to three sizes: 4 or 4,2,1; the first up to {}, the others up to {}",
                        kMostPrograms[0], kMostPrograms[1]));
    variant.grid[at++] = n;
  }
}

const Binding& find_kernel(const PassModule& module, const std::string& name) {
  std::vector<std::string> known;
  const Binding* found = nullptr;
  for (const py::Stmt* s : module.syntax.body()) {
    const Binding* b = s->kind == py::StmtKind::function ? module.find(s->name) : nullptr;
    if (b == nullptr || b->kind != Binding::Kind::kernel) continue;
    known.emplace_back(s->name);
    if (name.empty() || s->name == name) found = b;
  }
  if (known.empty())
    usage(fmt::format("{} has no kernel", module.syntax.file()), "a kernel is a def under @triton.jit");
  if (name.empty() && known.size() > 1)
    usage(fmt::format("which of {}?", text_join(known, ", ")), "choose with --kernel NAME");
  if (found == nullptr) usage(fmt::format("no kernel '{}'; there is {}", name, text_join(known, ", ")));
  return *found;
}

void read_python(const TileRequest& r, TileTask& task) {
  const std::size_t slash = r.file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : r.file.substr(0, slash);
  const std::string stem = slash == std::string::npos ? r.file : r.file.substr(slash + 1);
  task.loader = std::make_unique<ModuleLoader>(folder);
  const PassModule& module = task.loader->load(stem.substr(0, stem.size() - 3));
  const Binding& kernel = find_kernel(module, r.kernel);
  Launch& launch = task.plan.launches[0];
  launch.kernel = {&kernel.owner->syntax, kernel.statement, kernel.owner};
  std::vector<LaunchArgument> given = std::move(launch.arguments);
  for (const py::Parameter& p : kernel.statement->parameters) {
    const auto it = std::find_if(given.begin(), given.end(), [&](const LaunchArgument& a) { return a.name == p.name; });
    LaunchArgument a;
    if (it != given.end()) {
      a = std::move(*it);
      given.erase(it);
    } else if (p.default_value != nullptr) {
      a.name = p.name;
      a.scalar = scalar_of(evaluate_expression(module, *p.default_value).take());
    } else {
      usage(fmt::format("no argument for parameter '{}' of {}", p.name, kernel.statement->name),
            "give all: --args 'x_ptr=float32[64], n=64, BLOCK=64'");
    }
    a.constexpr_ |= tile::is_constexpr_annotation(p.annotation);
    launch.arguments.push_back(std::move(a));
  }
  if (!given.empty()) usage(fmt::format("{} has no parameter '{}'", kernel.statement->name, given[0].name));
  task.function = lower_launch(task.plan, launch, launch.variants[0]).take();
}

// A text's parameters have types already; what is given must be of them.
void check_types(const TileTask& task) {
  for (std::size_t i = 0; i < task.function.parameters.size(); ++i) {
    const std::string& name = task.function.parameters[i];
    const tile::Type& type = task.function.type(task.function.body.params[i]);
    for (const LaunchArgument& a : task.launch().arguments) {
      if (a.name != name) continue;
      const bool real = std::holds_alternative<double>(a.scalar.value);
      const bool integer =
          std::holds_alternative<std::int64_t>(a.scalar.value) || std::holds_alternative<bool>(a.scalar.value);
      const bool fits =
          type.pointer
              ? a.buffer >= 0 && elem_of_buffer(task.plan.buffers[static_cast<std::size_t>(a.buffer)]) == type.elem
              : a.buffer < 0 && (tile::is_float(type.elem) ? real : integer);
      if (!fits) usage(fmt::format("parameter '{}' is {}", name, tile::ir_text(type)), "give a value of that type");
    }
  }
}

// Floats in -2..2 with few digits, integers in 0..15, so that sums stay exact and indices small.
std::uint64_t random_bits(tile::Elem elem, std::uint64_t x) {
  const std::uint64_t r = mix64(x + kGolden);
  if (tile::is_float(elem)) return tile::bits_of_real(elem, static_cast<double>(r >> 56) / 64 - 2);
  return tile::bits_of_integer(elem, static_cast<std::int64_t>(r >> 60));
}

std::uint64_t number_bits(tile::Elem elem, double value) {
  constexpr double kMost = 0x1p63;  // beyond it there is no conversion
  if (tile::is_float(elem)) return tile::bits_of_real(elem, value);
  const bool fits = value > -kMost && value < kMost;
  return tile::bits_of_integer(elem,
                               fits ? static_cast<std::int64_t>(value) : std::numeric_limits<std::int64_t>::min());
}
std::uint64_t number_bits(tile::Elem elem, const HostValue& value) {
  return value.is_integral() && !tile::is_float(elem) ? tile::bits_of_integer(elem, value.integer)
                                                      : number_bits(elem, value.as_real());
}

void put(char* at, std::uint64_t bits, std::size_t size) { std::memcpy(at, &bits, size); }  // little endian

// The offset in elements of element `index` in row-major order.
std::int64_t offset_of(const TensorDesc& d, std::int64_t index) {
  std::int64_t out = 0;
  for (std::size_t k = d.sizes.size(); k-- > 0; index /= d.sizes[k]) out += index % d.sizes[k] * d.strides[k];
  return out;
}

void flatten(const nlohmann::json& j, std::vector<HostValue>& out) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::string text = j.is_string() ? j.get<std::string>() : "";
  if (j.is_array())
    for (const auto& item : j) flatten(item, out);
  else if (j.is_boolean())
    out.push_back(HostValue::boolean(j.get<bool>()));
  else if (j.is_number_integer())  // one beyond int64 is the same 64 bits
    out.push_back(HostValue::of(j.get<std::int64_t>()));
  else if (j.is_number())
    out.push_back(HostValue::of(j.get<double>()));
  else if (text == "nan" || text == "inf" || text == "-inf")
    out.push_back(HostValue::of(text == "nan" ? std::nan("") : text == "inf" ? kInf : -kInf));
  else
    usage(R"(--inputs holds numbers, true, false, "nan", "inf" and "-inf", in lists)");
}

}  // namespace

TileRequest completed(TileRequest request) {
  if (const auto text = file_read(request.file)) {  // what cannot be read is said later
    LaunchHead head = read_head(*text);
    if (request.arguments.empty()) request.arguments = std::move(head.arguments);
    if (request.grid.empty()) request.grid = std::move(head.grid);
  }
  if (request.grid.empty()) request.grid = "1";
  return request;
}

TileTask read_task(const TileRequest& r) {
  TileTask task;
  const py::Module text = parse_keywords(r.arguments);
  Launch launch;
  for (const py::Keyword& k : keywords_of(text)) launch.arguments.push_back(read_one(k, task));
  launch.variants.resize(1);
  read_grid(r.grid, launch.variants[0]);
  for (std::size_t i = 0; i < task.plan.buffers.size(); ++i) task.plan.order.emplace_back(true, i);
  task.plan.launches.push_back(std::move(launch));
  if (r.file.ends_with(".py")) {
    read_python(r, task);
  } else {
    task.function = tile::parse(r.file, file_read(r.file).take()).take();
    tile::verify(task.function).take();
    check_types(task);
  }
  return task;
}

tile::Elem elem_of_buffer(const Buffer& buffer) {
  const auto elem = tile::elem_of(buffer.desc.dtype);
  if (!elem) usage(fmt::format("kernels have no element type {}", dtype_row(buffer.desc.dtype).name));
  return *elem;
}

TileMemory::TileMemory(const TileTask& task, const TileRequest& r, bool filled) {
  const py::Module text = parse_keywords(r.arguments);
  const auto keywords = keywords_of(text);
  const nlohmann::json inputs =
      r.inputs.empty() ? nlohmann::json::object() : json_read<nlohmann::json>(file_read(r.inputs).take());
  if (!inputs.is_object()) usage(fmt::format("{} is no JSON object", r.inputs), R"(write {"x_ptr": [1.0, 2.0]})");
  for (const auto& [name, values] : inputs.items())
    if (std::find(task.names.begin(), task.names.end(), name) == task.names.end())
      usage(fmt::format("{} has values for '{}', which is no tensor of --args", r.inputs, name),
            fmt::format("tensors: {}", text_join(task.names, ", ")));
  for (std::size_t id = 0; id < task.plan.buffers.size(); ++id) {
    const Buffer& b = task.plan.buffers[id];
    const tile::Elem elem = elem_of_buffer(b);
    const auto size = static_cast<std::size_t>(tile::elem_bytes(elem));
    const std::int64_t hull = b.desc.hull();
    const std::size_t bytes = (static_cast<std::size_t>(hull) * size + 127) / 64 * 64;
    auto* block = static_cast<char*>(std::aligned_alloc(64, bytes));
    if (block == nullptr) usage("not enough memory for the arguments");
    blocks_.emplace_back(block);
    addresses_.push_back(block);
    if (!filled) continue;
    std::memset(block, 0, bytes);
    const auto k =
        std::find_if(keywords.begin(), keywords.end(), [&](const py::Keyword& w) { return w.name == task.names[id]; });
    const Filled fill = read_fill(*k->value);
    for (std::int64_t i = 0; i < hull; ++i)
      put(block + static_cast<std::size_t>(i) * size,
          fill.how == "random" ? random_bits(elem, mix64(r.seed * 1000 + id + kGolden) + static_cast<std::uint64_t>(i))
          : fill.how == "arange" ? number_bits(elem, static_cast<double>(i))
                                 : number_bits(elem, fill.value),
          size);
    if (!inputs.contains(task.names[id])) continue;
    std::vector<HostValue> values;
    flatten(inputs[task.names[id]], values);
    if (static_cast<std::int64_t>(values.size()) != b.desc.element_count())
      usage(fmt::format("{} has {} values for {} elements of {}", r.inputs, values.size(), b.desc.element_count(),
                        task.names[id]));
    for (std::size_t i = 0; i < values.size(); ++i)
      put(block + static_cast<std::size_t>(offset_of(b.desc, static_cast<std::int64_t>(i))) * size,
          number_bits(elem, values[i]), size);
  }
}

std::uint64_t element_bits(const Buffer& buffer, const void* address, std::int64_t index) {
  const auto size = static_cast<std::size_t>(tile::elem_bytes(elem_of_buffer(buffer)));
  std::uint64_t out = 0;
  std::memcpy(&out, static_cast<const char*>(address) + static_cast<std::size_t>(offset_of(buffer.desc, index)) * size,
              size);
  return out;
}

std::string element_text(tile::Elem elem, std::uint64_t bits) {
  if (elem == tile::Elem::f64) return python_float(tile::real_of(elem, bits));
  if (!tile::is_float(elem))
    return elem == tile::Elem::u64 ? fmt::format("{}", bits) : fmt::format("{}", tile::integer_of(elem, bits));
  const std::string text =
      fmt::format("{}", static_cast<float>(tile::real_of(elem, bits)));  // the shortest that reads back
  return text.find_first_of(".einf") == std::string::npos ? text + ".0" : text;
}

}  // namespace passnet::cli
