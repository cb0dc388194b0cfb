// Functions on numbers that a host program may call: math, triton, functools, itertools, operator, and torch's that
// compute nothing.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "pass/host_machine.h"
#include "pass/host_signatures.h"
#include "pass/policy.h"

namespace passnet {

using Kind = HostValue::Kind;

std::optional<HostValue> dtype_limit(Dtype dtype, std::string_view name) {
  const DtypeRow& row = dtype_row(dtype);
  if (name == "bits") return HostValue::of(std::int64_t{row.size} * 8);
  if (row.floating) {
    struct Row {
      Dtype dtype;
      double max, eps, tiny;
    };
    constexpr Row kFloats[] = {{Dtype::float16, 65504.0, 0x1p-10, 0x1p-14},
                               {Dtype::bfloat16, 0x1.fep+127, 0x1p-7, 0x1p-126},
                               {Dtype::float32, std::numeric_limits<float>::max(), 0x1p-23, 0x1p-126},
                               {Dtype::float64, std::numeric_limits<double>::max(), 0x1p-52, 0x1p-1022}};
    for (const Row& r : kFloats) {
      if (r.dtype != dtype) continue;
      if (name == "max" || name == "min") return HostValue::of(name == "max" ? r.max : -r.max);
      if (name == "eps") return HostValue::of(r.eps);
      if (name == "tiny" || name == "smallest_normal") return HostValue::of(r.tiny);
    }
    return std::nullopt;
  }
  if (name != "min" && name != "max") return std::nullopt;
  if (dtype == Dtype::uint8) return HostValue::of(std::int64_t{name == "max" ? 255 : 0});
  const int bits = row.size * 8;
  const std::int64_t most = bits >= 64 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << (bits - 1)) - 1;
  return HostValue::of(name == "max" ? most : -most - 1);
}

std::optional<HostValue> HostMachine::number_method(const HostValue& v, std::string_view name, py::Place) {
  if (v.is_integral()) {
    const std::uint64_t magnitude =
        v.integer < 0 ? ~static_cast<std::uint64_t>(v.integer) + 1 : static_cast<std::uint64_t>(v.integer);
    if (name == "bit_length")
      return HostValue::of(std::int64_t{64 - (magnitude == 0 ? 64 : __builtin_clzll(magnitude))});
    if (name == "bit_count") return HostValue::of(std::int64_t{__builtin_popcountll(magnitude)});
    if (name == "is_integer") return HostValue::boolean(true);
    if (name == "conjugate") return HostValue::of(v.integer);
    return std::nullopt;
  }
  if (name == "is_integer") return HostValue::boolean(std::isfinite(v.real) && v.real == std::trunc(v.real));
  return std::nullopt;
}

std::optional<HostValue> HostMachine::call_math(std::string_view name, const HostArgs& args, const HostKwargs& kwargs,
                                                py::Place place) {
  if (!has_signature(fmt::format("math.{}", name))) return std::nullopt;
  const auto domain = [&](bool inside) {
    if (!inside) raise("ValueError", "math domain error", place);
  };
  const auto finite = [&](double v) {
    for (const HostValue& a : args)
      if (!std::isfinite(a.as_real())) return HostValue::of(v);
    if (std::isnan(v)) raise("ValueError", "math domain error", place);
    if (std::isinf(v)) raise("OverflowError", "math range error", place);
    return HostValue::of(v);
  };
  if (name == "prod") {
    HostValue total = HostValue::of(std::int64_t{1});
    for (const auto& [k, v] : kwargs)
      if (k == "start") total = v;
    for (const HostValue& v : iterate(args[0], place)) step(place), total = binary(py::Op::mul, total, v, place);
    return total;
  }
  if (name == "fsum") {
    long double total = 0;
    for (const HostValue& v : iterate(args[0], place)) total += static_cast<long double>(real(v, place));
    return HostValue::of(static_cast<double>(total));
  }
  if (name == "hypot") {
    double total = 0;
    for (const HostValue& v : args) total = std::hypot(total, real(v, place));
    return finite(total);
  }
  if (name == "gcd" || name == "lcm") {
    std::int64_t total = name == "gcd" ? 0 : 1;
    for (const HostValue& v : args) {
      const std::int64_t other = integer(v, place);
      if (other == std::numeric_limits<std::int64_t>::min())
        raise("OverflowError", "an integer does not fit into 64 bits", place);
      const std::int64_t divisor = std::gcd(total, other);
      if (name == "gcd")
        total = divisor;
      else
        total =
            divisor == 0
                ? 0
                : integer(binary(py::Op::mul, HostValue::of(total / divisor), HostValue::of(std::abs(other)), place),
                          place);
    }
    return HostValue::of(total);
  }
  if (args[0].is_integral() && (name == "ceil" || name == "floor" || name == "trunc"))
    return HostValue::of(args[0].integer);
  if (name == "comb" || name == "perm") {
    const std::int64_t n = integer(args[0], place), k = args.size() > 1 ? integer(args[1], place) : n;
    if (n < 0 || k < 0) raise("ValueError", fmt::format("{}() of a negative number", name), place);
    HostValue total = HostValue::of(std::int64_t{k <= n ? 1 : 0});
    for (std::int64_t i = 0; i < k && k <= n; ++i) {
      step(place);
      total = binary(py::Op::mul, total, HostValue::of(n - i), place);
      if (name == "comb") total = binary(py::Op::floor_div, total, HostValue::of(i + 1), place);
    }
    return total;
  }
  if (name == "isqrt" || name == "factorial") {
    const std::int64_t n = integer(args[0], place);
    if (n < 0) raise("ValueError", fmt::format("{}() of a negative number", name), place);
    if (name == "factorial") {
      HostValue total = HostValue::of(std::int64_t{1});
      for (std::int64_t i = 2; i <= n; ++i) total = binary(py::Op::mul, total, HostValue::of(i), place);
      return total;
    }
    auto r = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
    while (r > 0 && r > n / r) --r;
    while ((r + 1) <= n / (r + 1)) ++r;
    return HostValue::of(r);
  }
  const double x = real(args[0], place);
  if (name == "ceil") return call_int({HostValue::of(std::ceil(x))}, place);
  if (name == "floor") return call_int({HostValue::of(std::floor(x))}, place);
  if (name == "trunc") return call_int({HostValue::of(x)}, place);
  if (name == "log2" || name == "log10" || name == "log") {
    domain(std::isnan(x) || x > 0);
    if (name == "log2") return HostValue::of(std::log2(x));
    if (name == "log10") return HostValue::of(std::log10(x));
    if (args.size() == 1) return HostValue::of(std::log(x));
    const double base = real(args[1], place);
    domain(base > 0);
    return binary(py::Op::div, HostValue::of(std::log(x)), HostValue::of(std::log(base)), place);
  }
  using Function = double (*)(double);
  constexpr std::pair<std::string_view, Function> kFunctions[] = {
      {"sqrt", std::sqrt}, {"exp", std::exp},   {"expm1", std::expm1}, {"exp2", std::exp2}, {"log1p", std::log1p},
      {"sin", std::sin},   {"cos", std::cos},   {"tan", std::tan},     {"asin", std::asin}, {"acos", std::acos},
      {"atan", std::atan}, {"sinh", std::sinh}, {"cosh", std::cosh},   {"tanh", std::tanh}, {"fabs", std::fabs},
      {"erf", std::erf},   {"erfc", std::erfc}, {"cbrt", std::cbrt}};
  for (const auto& [known, function] : kFunctions)
    if (name == known) return finite(function(x));
  if (name == "degrees") return HostValue::of(x * (180.0 / 3.141592653589793));
  if (name == "radians") return HostValue::of(x * (3.141592653589793 / 180.0));
  if (name == "isinf") return HostValue::boolean(std::isinf(x));
  if (name == "isnan") return HostValue::boolean(std::isnan(x));
  if (name == "isfinite") return HostValue::boolean(std::isfinite(x));
  if (args.size() < 2) return std::nullopt;
  const double y = real(args[1], place);
  if (name == "pow") return finite(std::pow(x, y));
  if (name == "fmod") return finite(std::fmod(x, y));
  if (name == "atan2") return HostValue::of(std::atan2(x, y));
  if (name == "copysign") return HostValue::of(std::copysign(x, y));
  if (name == "isclose") {
    double relative = 1e-9, absolute = 0;
    for (const auto& [k, v] : kwargs) (k == "rel_tol" ? relative : absolute) = real(v, place);
    return HostValue::boolean(x == y ||
                              std::fabs(x - y) <= std::max(relative * std::max(std::fabs(x), std::fabs(y)), absolute));
  }
  return std::nullopt;
}

namespace {

// One large GPU, whatever the run's device is: a plan depends on shapes, dtypes and numbers only.
constexpr std::pair<const char*, std::int64_t> kDeviceProperties[] = {
    {"multiprocessor_count", 132}, {"max_shared_mem", 232448}, {"max_num_regs", 65536}, {"warpSize", 32}};

}  // namespace

// Where an item goes into a sorted list, and putting it there.
std::optional<HostValue> HostMachine::call_bisect(std::string_view name, HostArgs& args, const HostKwargs& kwargs,
                                                  py::Place place) {
  const bool left = name.ends_with("_left"), insert = name.starts_with("insort");
  if (!has_signature(fmt::format("bisect.{}", name))) return std::nullopt;
  const std::vector<HostValue> items = iterate(args[0], place);
  const HostValue* key = nullptr;
  std::int64_t low = args.size() > 2 && !args[2].is(Kind::none) ? integer(args[2], place) : 0,
               high = args.size() > 3 && !args[3].is(Kind::none) ? integer(args[3], place)
                                                                 : static_cast<std::int64_t>(items.size());
  for (const auto& [k, v] : kwargs)
    if (k == "key" && !v.is(Kind::none)) key = &v;
  if (low < 0) raise("ValueError", "lo must be non-negative", place);
  if (high > static_cast<std::int64_t>(items.size())) raise("IndexError", "hi is behind the list's end", place);
  const HostValue wanted = insert && key != nullptr ? call(*key, {args[1]}, {}, place) : args[1];
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    const HostValue& item = items[static_cast<std::size_t>(middle)];
    const HostValue rank = key == nullptr ? item : call(*key, {item}, {}, place);
    const bool behind = left ? compare(py::Op::lt, rank, wanted, place) : !compare(py::Op::lt, wanted, rank, place);
    (behind ? low : high) = behind ? middle + 1 : middle;
  }
  if (!insert) return HostValue::of(low);
  return call_method(args[0], "insert", {HostValue::of(low), args[1]}, {}, place);
}

// What warmup gives: a plausible kernel, for those who work out how many of its programs fit on a GPU.
HostValue HostMachine::compiled_kernel() const {
  const HostValue metadata = make_object("metadata", {{"shared", HostValue::of(std::int64_t{0})},
                                                      {"num_warps", HostValue::of(std::int64_t{4})},
                                                      {"num_stages", HostValue::of(std::int64_t{3})}});
  HostValue out = make_object("CompiledKernel", {{"n_regs", HostValue::of(std::int64_t{32})},
                                                 {"n_spills", HostValue::of(std::int64_t{0})},
                                                 {"metadata", metadata}});
  out.klass->form = HostClass::Form::silent;
  return out;
}

std::optional<HostValue> HostMachine::call_library(const std::string& path, HostArgs& args, HostKwargs& kwargs,
                                                   py::Place place) {
  const auto need = [&](std::size_t least) {
    if (args.size() < least)
      raise("TypeError", fmt::format("{}() needs {} argument{}", path, least, least == 1 ? "" : "s"), place);
  };
  if (path == "triton.cdiv" || path == "triton.language.cdiv") {
    const HostValue sum =
        binary(py::Op::sub, binary(py::Op::add, args[0], args[1], place), HostValue::of(std::int64_t{1}), place);
    return binary(py::Op::floor_div, sum, args[1], place);
  }
  if (path == "triton.next_power_of_2" || path == "triton.language.next_power_of_2") {
    const std::int64_t n = integer(args[0], place);
    std::int64_t p = 1;
    while (p < n && p < (std::int64_t{1} << 62)) p *= 2;
    return HostValue::of(n <= 0 ? std::int64_t{0} : p);
  }
  if (auto made = call_collections(path, args, kwargs, place)) return made;
  if (auto made = make_descriptor(path, args, kwargs, place)) return made;
  if (auto made = call_triton(path, args, kwargs, place)) return made;
  if (path.starts_with("bisect.")) return call_bisect(path.substr(7), args, kwargs, place);
  if (path == "triton.Config") return make_config(std::move(args), std::move(kwargs), place);
  if (path == "triton.language.constexpr") return need(1), args[0];
  if (path == "functools.partial") {
    need(1);
    HostValue named = HostValue::sequence(Kind::dict, {});
    for (const auto& [k, v] : kwargs) set_item(named, HostValue::string(k), v, place);
    HostArgs rest(args.begin() + 1, args.end());
    return HostValue::sequence(Kind::partial,
                               {args[0], HostValue::sequence(Kind::tuple, std::move(rest)), std::move(named)});
  }
  if (path == "functools.lru_cache" || path == "functools.cache")  // nothing here is worth keeping
    return !args.empty() && args[0].is(Kind::function) ? args[0] : HostValue::path(path);
  if (path == "collections.namedtuple") return make_named_tuple(args, kwargs, place);
  if (path == "collections.OrderedDict") return call_python("dict", args, kwargs, place);
  if (path == "contextlib.nullcontext" || path == "contextlib.suppress")
    return HostValue::sequence(Kind::partial, {HostValue::path(path), HostValue::sequence(Kind::tuple, std::move(args)),
                                               HostValue::sequence(Kind::dict, {})});
  if (path == "contextlib.contextmanager" && args.size() == 1) return args[0];
  if (path == "typing.cast" && args.size() == 2) return args[1];
  if (path == "dataclasses.field") {
    for (const auto& [k, v] : kwargs) {
      if (k == "default") return v;
      if (k == "default_factory") return call(v, {}, {}, place);
    }
    return HostValue{};
  }
  if (path == "dataclasses.asdict" || path == "dataclasses.replace") {
    need(1);
    if (!args[0].is(Kind::object)) raise("TypeError", fmt::format("{}() needs a dataclass", path), place);
    HostArgs none;
    return object_method(args[0], path.ends_with("asdict") ? "_asdict" : "_replace", none, kwargs, place);
  }
  if (path == "dataclasses.astuple") {
    need(1);
    std::vector<HostValue> values;
    for (std::size_t i = 1; args[0].is(Kind::object) && i < args[0].items->values.size(); i += 2)
      values.push_back(args[0].items->values[i]);
    return HostValue::sequence(Kind::tuple, std::move(values));
  }
  if (path == "copy.copy" || path == "copy.deepcopy") return copied(args[0], path == "copy.deepcopy", place);
  // triton.language.float32.is_floating() and the like
  if (const std::size_t dot = path.rfind('.'); path.find(".is_", dot) == dot) {
    if (const std::string type = language_type_name(path.substr(0, dot)); !type.empty()) {
      const std::string asked = path.substr(dot + 4);
      const bool floating = type.starts_with("fp") || type.starts_with("bf");
      return HostValue::boolean(asked == "floating" ? floating : asked == "int" ? !floating : asked == type);
    }
  }
  // What only tells a reader something.
  if (path.starts_with("logging.") || path.starts_with("warnings."))
    return path == "logging.getLogger" ? HostValue::path("logging") : HostValue{};
  if (path == "types.SimpleNamespace") return make_object("SimpleNamespace", std::move(kwargs));
  if (path == "triton.set_allocator") return HostValue{};  // scratch memory is the back-end's own
  if (path == "triton.runtime.driver.active.get_current_device") return HostValue::of(std::int64_t{0});
  if (path == "triton.runtime.driver.active.get_active_torch_device") return call_torch("device", args, kwargs, place);
  if (path == "triton.runtime.driver.active.get_current_target")
    return make_object("GPUTarget", {{"backend", HostValue::string("cuda")},
                                     {"arch", HostValue::of(std::int64_t{90})},
                                     {"warp_size", HostValue::of(std::int64_t{32})}});
  if (path == "triton.runtime.driver.active.utils.get_device_properties") {
    HostValue out = HostValue::sequence(Kind::dict, {});
    for (const auto& [name, value] : kDeviceProperties)
      set_item(out, HostValue::string(name), HostValue::of(value), place);
    return out;
  }
  if (path == "functools.reduce") {
    std::vector<HostValue> items = iterate(args[1], place);
    if (args.size() > 2) items.insert(items.begin(), args[2]);
    if (items.empty()) raise("TypeError", "reduce() of an empty sequence", place);
    HostValue total = items[0];
    for (std::size_t i = 1; i < items.size(); ++i) total = call(args[0], {total, items[i]}, {}, place);
    return total;
  }
  if (path == "numpy.prod") return need(1), call_math("prod", args, {}, place);
  if (path == "numpy.ceil" || path == "numpy.floor")
    return need(1),
           HostValue::of(path == "numpy.ceil" ? std::ceil(real(args[0], place)) : std::floor(real(args[0], place)));
  for (const std::string_view name : {"sqrt", "log2", "log", "log10", "exp"})
    if (path.starts_with("numpy.") && path.substr(6) == name) return need(1), call_math(name, args, {}, place);
  return std::nullopt;
}

namespace {

// As torch.promote_types for real numbers.
Dtype promoted(Dtype a, Dtype b) {
  const auto& x = dtype_row(a);
  const auto& y = dtype_row(b);
  if (a == b) return a;
  if (x.floating != y.floating) return x.floating ? a : b;
  if (x.floating) return x.size == y.size ? Dtype::float32 : x.size > y.size ? a : b;
  if (a == Dtype::boolean || b == Dtype::boolean) return a == Dtype::boolean ? b : a;
  if (x.size != y.size)
    return a == Dtype::uint8 || b == Dtype::uint8 || x.size > y.size ? (x.size > y.size ? a : b) : b;
  return Dtype::int16;  // int8 and uint8
}

}  // namespace

// What a wrapper may ask about the machine, so that it can choose a grid.
std::optional<HostValue> HostMachine::call_cuda(std::string_view name) {
  if (name == "is_available") return HostValue::boolean(true);
  if (name == "current_device") return HostValue::of(std::int64_t{0});
  if (name == "device_count") return HostValue::of(std::int64_t{1});
  if (name == "get_device_name") return HostValue::string("NVIDIA H200");
  if (name == "get_device_capability")
    return HostValue::sequence(Kind::tuple, {HostValue::of(std::int64_t{9}), HostValue::of(std::int64_t{0})});
  if (name != "get_device_properties") return std::nullopt;
  return make_object("DeviceProperties", {{"name", HostValue::string("NVIDIA H200")},
                                          {"multi_processor_count", HostValue::of(kDeviceProperties[0].second)},
                                          {"total_memory", HostValue::of(std::int64_t{150'110'011'392})},
                                          {"shared_memory_per_block", HostValue::of(std::int64_t{49152})},
                                          {"shared_memory_per_multiprocessor", HostValue::of(std::int64_t{233472})},
                                          {"regs_per_multiprocessor", HostValue::of(std::int64_t{65536})},
                                          {"L2_cache_size", HostValue::of(std::int64_t{62'914'560})},
                                          {"major", HostValue::of(std::int64_t{9})},
                                          {"minor", HostValue::of(std::int64_t{0})},
                                          {"warp_size", HostValue::of(std::int64_t{32})},
                                          {"max_threads_per_multi_processor", HostValue::of(std::int64_t{2048})}});
}

std::vector<std::int64_t> HostMachine::broadcast_sizes(const std::vector<std::vector<std::int64_t>>& shapes,
                                                       py::Place place) const {
  std::vector<std::int64_t> out;
  for (const std::vector<std::int64_t>& sizes : shapes) {
    if (sizes.size() > out.size()) out.insert(out.begin(), sizes.size() - out.size(), 1);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::int64_t& size = out[out.size() - sizes.size() + i];
      if (size != sizes[i] && size != 1 && sizes[i] != 1)
        raise("RuntimeError", "shapes cannot be broadcast to one", place);
      if (size == 1) size = sizes[i];
    }
  }
  return out;
}

// torch.NAME: allocations, and what only looks at shapes and dtypes. Functions that are views are their methods.
std::optional<HostValue> HostMachine::call_torch(std::string_view name, HostArgs& args, HostKwargs& kwargs,
                                                 py::Place place) {
  if (is_allocation(name)) return allocate(name, args, kwargs, place);
  if (name == "Size") {
    HostValue out = HostValue::sequence(Kind::tuple, args.empty() ? std::vector<HostValue>{} : iterate(args[0], place));
    out.text = "torch.Size";
    return out;
  }
  if (name == "fx.wrap" || name == "fx._symbolic_trace.wrap")
    return args.empty() || !args[0].is(Kind::function) ? HostValue{} : args[0];
  if (name.ends_with("autocast")) {
    const HostValue* enabled = keyword(kwargs, "enabled");
    if (enabled == nullptr || truth(*enabled, place)) return std::nullopt;
  }
  if (name != "device" && is_context("torch." + std::string(name)))  // HostMachine::run_with
    return !args.empty() && args[0].is(Kind::function) ? args[0] : HostValue::path("torch." + std::string(name));
  if (name.starts_with("cuda.")) return call_cuda(name.substr(5));
  if (name == "broadcast_shapes" || name == "broadcast_tensors") {
    const bool tensors = name == "broadcast_tensors";
    if (tensors && args.size() == 1 && args[0].is_sequence()) args = iterate(args[0], place);
    std::vector<std::vector<std::int64_t>> shapes;
    for (const HostValue& v : args) {
      if (tensors && !v.is(Kind::tensor)) raise("TypeError", "torch.broadcast_tensors needs tensors", place);
      shapes.push_back(tensors ? desc(v).sizes : sizes_of({v}, 0, place));
    }
    HostValue shape = HostValue::sequence(Kind::tuple, {});
    for (const std::int64_t size : broadcast_sizes(shapes, place)) shape.items->values.push_back(HostValue::of(size));
    if (!tensors) return shape;
    std::vector<HostValue> out;
    for (const HostValue& v : args) out.push_back(tensor_method(v, "expand", {shape}, {}, place));
    return HostValue::sequence(Kind::tuple, std::move(out));
  }
  if (is_library(name)) {  // the function or the kernel itself; a decorator where it is still to come
    const auto given = std::find_if(args.begin(), args.end(), [](const HostValue& v) {
      return v.is(Kind::function) || v.is(Kind::kernel) || v.is(Kind::partial);
    });
    return given != args.end() ? *given : HostValue::path("torch." + std::string(name));
  }
  if (name == "promote_types") {
    if (args.size() != 2 || !args[0].is(Kind::dtype) || !args[1].is(Kind::dtype))
      raise("TypeError", "torch.promote_types needs two dtypes", place);
    return HostValue::of_dtype(promoted(args[0].dtype, args[1].dtype));
  }
  if (name == "result_type") {
    if (args.size() != 2 || !args[0].is(Kind::tensor) || !args[1].is(Kind::tensor))
      refuse(Code::host, "torch.result_type of other things than two tensors", place, "write x.dtype");
    const TensorDesc &a = desc(args[0]), &b = desc(args[1]);
    // a tensor without dimensions counts only where its kind is higher
    const auto kind = [](Dtype t) { return t == Dtype::boolean ? 0 : dtype_row(t).floating ? 2 : 1; };
    if (a.sizes.empty() != b.sizes.empty()) {
      const TensorDesc &full = a.sizes.empty() ? b : a, &single = a.sizes.empty() ? a : b;
      if (kind(single.dtype) <= kind(full.dtype)) return HostValue::of_dtype(full.dtype);
    }
    return HostValue::of_dtype(promoted(a.dtype, b.dtype));
  }
  if (name == "is_grad_enabled" || name == "compiler.is_compiling" || name == "jit.is_scripting")
    return HostValue::boolean(false);
  if (name == "get_default_dtype") return HostValue::of_dtype(Dtype::float32);
  if (name == "_assert" || name == "_check") {
    if (args.empty()) raise("TypeError", fmt::format("torch.{} needs a condition", name), place);
    if (truth(args[0], place)) return HostValue{};
    HostValue message = args.size() > 1 ? args[1] : HostValue::string("Expected cond to be True, but got False");
    if (message.is(Kind::function)) message = call(message, {}, {}, place);
    raise(name == "_assert" ? "AssertionError" : "RuntimeError", text(message, false, place), place);
  }
  if (name == "is_tensor") return HostValue::boolean(!args.empty() && args[0].is(Kind::tensor));
  if (name == "device") {
    HostValue v;
    v.kind = Kind::device;
    v.device = device_;  // a device literal is the run's
    return v;
  }
  if (name == "finfo" || name == "iinfo") {
    if (args.empty() || !args[0].is(Kind::dtype))
      raise("TypeError", fmt::format("torch.{} needs a dtype", name), place);
    return args[0];  // its limits are attributes
  }
  if (is_view_function(name) || is_fill(name) || is_unbound_method(name) || name == "numel" ||
      name == "is_floating_point" || name == "is_complex" || name == "is_same_size") {
    for (auto it = kwargs.begin(); it != kwargs.end(); ++it)
      if (it->first == "input") {
        args.insert(args.begin(), it->second);
        kwargs.erase(it);
        break;
      }
    if (args.empty() || !args[0].is(Kind::tensor))
      raise("TypeError", fmt::format("torch.{} needs a tensor", name), place);
    const HostValue tensor = args[0];
    args.erase(args.begin());
    return tensor_method(tensor, name.substr(name.rfind('.') + 1), std::move(args), std::move(kwargs), place);
  }
  return std::nullopt;
}

}  // namespace passnet
