#include "cli/tile_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "kernels/stage_dump.h"
#include "tile/constant.h"
#include "tile/lower.h"
#include "tile/scalar.h"
#include "tile/stages.h"

namespace passnet::cli {

namespace {

[[noreturn]] void usage(std::string message, std::string note = {}) {
  Error e{Code::usage, {}, std::move(message), {}};
  if (!note.empty()) e.notes.push_back(std::move(note));
  fail(std::move(e));
}

void read_grid(const std::string& text, LaunchVariant& variant) {
  std::size_t at = 0;
  std::string_view sizes = text_trim(text);  // (4, 2, 1), as a plan has it, or 4,2,1
  if (sizes.starts_with('(') && sizes.ends_with(')')) sizes = sizes.substr(1, sizes.size() - 2);
  for (const std::string_view part : text_split(sizes, ',')) {
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

// A kernel and what it is called on the command line: `scale`, or `Kernels.scale` in a class or a function.
struct NamedKernel {
  std::string name;
  KernelRef kernel;
};

void add_kernels(const PassModule& module, std::span<const py::Stmt* const> body, const std::string& prefix,
                 std::vector<NamedKernel>& out) {
  for (const py::Stmt* s : body) {
    const bool function = s->kind == py::StmtKind::function;
    if (function && is_kernel(module, *s))
      out.push_back({prefix + std::string(s->name), {&module.syntax, s, &module}});
    else if (function || s->kind == py::StmtKind::class_)
      add_kernels(module, s->body, prefix + std::string(s->name) + ".", out);
  }
}

// What the name stands for in the module: kernel = triton.jit(function), or one of another file.
std::optional<KernelRef> kernel_named(const PassModule& module, const std::string& name) {
  const Binding* b = module.find(name);
  if (b == nullptr) return std::nullopt;
  if (b->kind == Binding::Kind::kernel) return KernelRef{&b->owner->syntax, b->statement, b->owner};
  if (b->kind != Binding::Kind::expression) return std::nullopt;
  const auto value = evaluate_constant(module, name);
  if (!value || !value->is(HostValue::Kind::kernel)) return std::nullopt;
  return value->kernel;
}

KernelRef find_kernel(const PassModule& module, const std::string& name) {
  std::vector<NamedKernel> all;
  add_kernels(module, module.syntax.body(), "", all);
  std::vector<std::string> known, fit;
  const NamedKernel* found = nullptr;
  for (const NamedKernel& k : all) {
    known.push_back(k.name);
    if (k.name == name) return k.kernel;
    if (!name.empty() && k.kernel.name() != name) continue;
    fit.push_back(k.name);
    found = &k;
  }
  if (fit.empty() && !name.empty())
    if (const auto kernel = kernel_named(module, name)) return *kernel;
  if (known.empty())
    usage(fmt::format("{} has no kernel", module.syntax.file()), "a kernel is a def under @triton.jit");
  if (fit.size() > 1) usage(fmt::format("which of {}?", text_join(fit, ", ")), "choose with --kernel NAME");
  if (found == nullptr) usage(fmt::format("no kernel '{}'; there is {}", name, text_join(known, ", ")));
  return found->kernel;
}

// The kernel's arguments in its order: what is given, and the defaults of what is not.
void read_python(const TileRequest& r, TileArguments arguments, TileTask& task) {
  const std::size_t slash = r.file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : r.file.substr(0, slash);
  const std::string stem = slash == std::string::npos ? r.file : r.file.substr(slash + 1);
  task.loader = std::make_unique<ModuleLoader>(folder);
  const PassModule& module = task.loader->load(stem.substr(0, stem.size() - 3));
  Launch& launch = task.plan.launches[0];
  launch.kernel = find_kernel(module, r.kernel);
  const py::Stmt& kernel = *launch.kernel.function;
  std::vector<LaunchArgument>& given = arguments.arguments;
  for (LaunchArgument& a : given)
    if (arguments.bare.contains(a.name))
      if (const auto function = kernel_named(module, std::get<std::string>(a.scalar.value))) a.function = *function;
  for (const py::Parameter& p : kernel.parameters) {
    const auto begin =
        std::find_if(given.begin(), given.end(), [&](const LaunchArgument& a) { return a.name == p.name; });
    auto end = begin;
    if (begin != given.end()) {
      const std::string items = std::string(p.name) + ".";  // a tuple's stand behind it
      for (++end; end != given.end() && end->name.starts_with(items);) ++end;
    } else if (p.default_value != nullptr) {
      LaunchArgument a;
      a.name = p.name;
      a.scalar = scalar_of(launch.kernel.closure
                               ? launch.kernel.closure->defaults[static_cast<std::size_t>(&p - &kernel.parameters[0])]
                               : evaluate_expression(*launch.kernel.owner, *p.default_value).take());
      launch.arguments.push_back(std::move(a));
    } else {
      usage(fmt::format("no argument for parameter '{}' of {}", p.name, kernel.name),
            "give all: --args 'x_ptr=float32[64], n=64, BLOCK=64'");
    }
    const std::size_t first = launch.arguments.size() - (begin == given.end() ? 1 : 0);
    launch.arguments.insert(launch.arguments.end(), std::make_move_iterator(begin), std::make_move_iterator(end));
    given.erase(begin, end);
    for (std::size_t i = first; i < launch.arguments.size(); ++i)
      launch.arguments[i].constexpr_ |= tile::is_constexpr_annotation(p.annotation) && !launch.arguments[i].items;
  }
  if (!given.empty()) usage(fmt::format("{} has no parameter '{}'", kernel.name, given[0].name));
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
          std::holds_alternative<Integer>(a.scalar.value) || std::holds_alternative<bool>(a.scalar.value);
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
  const auto low = static_cast<std::int64_t>(value.integer.low_bits());
  return value.is_integral() && !tile::is_float(elem) ? tile::bits_of_integer(elem, low)
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
  else if (j.is_number_unsigned())
    out.push_back(HostValue::of(Integer(j.get<std::uint64_t>())));
  else if (j.is_number_integer())
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
  TileArguments arguments = read_tile_arguments(r.arguments);
  task.plan.buffers = std::move(arguments.buffers);
  task.names = std::move(arguments.names);
  task.fills = std::move(arguments.fills);
  Launch& launch = task.plan.launches.emplace_back();
  read_grid(r.grid, launch.variants.emplace_back());
  for (std::size_t i = 0; i < task.plan.buffers.size(); ++i) task.plan.order.emplace_back(true, i);
  if (r.file.ends_with(".py")) {
    read_python(r, std::move(arguments), task);
  } else {
    launch.arguments = std::move(arguments.arguments);
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
    const BufferFill& fill = task.fills[id];
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
  const auto value = static_cast<float>(tile::real_of(elem, bits));
  if (std::isnan(value)) return "nan";                // whatever its sign
  const std::string text = fmt::format("{}", value);  // the shortest that reads back
  return text.find_first_of(".einf") == std::string::npos ? text + ".0" : text;
}

}  // namespace passnet::cli
