// Kernel launches of a host program: arguments bound to the kernel's parameters, autotune and heuristics worked out.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/text.h"
#include "host/machine.h"
#include "host/policy.h"
#include "py/names.h"
#include "py/printer.h"
#include "tile/lower.h"

namespace passnet {

using Kind = HostValue::Kind;

namespace {

bool is_constexpr(const PassModule& module, const py::Parameter& p) {
  return tile::is_constexpr_annotation(p.annotation) ||
         (p.annotation != nullptr && resolve_path(module, *p.annotation) == "triton.language.constexpr");
}

std::optional<std::size_t> find_parameter(const py::Stmt& kernel, std::string_view name) {
  const auto found = std::find_if(kernel.parameters.begin(), kernel.parameters.end(),
                                  [name](const py::Parameter& p) { return p.name == name; });
  if (found == kernel.parameters.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kernel.parameters.begin());
}

// The dict that grids, heuristics and hooks see.
HostValue named_values(const py::Stmt& kernel, const std::vector<std::optional<HostValue>>& values) {
  HostValue out = HostValue::sequence(Kind::dict, {});
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) continue;
    out.items->values.push_back(HostValue::string(std::string(kernel.parameters[i].name)));
    out.items->values.push_back(*values[i]);
  }
  return out;
}

HostValue config_value(HostValue meta, std::int64_t warps, std::int64_t stages, HostValue hook) {
  return HostValue::sequence(Kind::config,
                             {std::move(meta), HostValue::of(warps), HostValue::of(stages), std::move(hook)});
}

constexpr std::size_t kMostArguments = 1000;
constexpr std::string_view kTensorDescriptor = "triton.tools.tensor_descriptor.TensorDescriptor";

bool is_descriptor(const HostValue& v) { return v.is(Kind::object) && v.klass->name == kTensorDescriptor; }

// Decorators whose arguments are given, to be called with a kernel.
constexpr std::string_view kAutotune = "triton.autotune()", kHeuristics = "triton.heuristics()";

// What triton's launcher and its back-ends take beside the kernel's own parameters. Those that do not change what a
// kernel computes are ignored; `ir_override`, which does, is not among them.
constexpr std::string_view kLaunchOptions[] = {"num_warps",
                                               "num_stages",
                                               "num_ctas",
                                               "maxnreg",
                                               "warp_size",
                                               "cluster_dims",
                                               "minRegAutoWS",
                                               "maxRegAutoWS",
                                               "enable_fp_fusion",
                                               "enable_reflect_ftz",
                                               "launch_cooperative_grid",
                                               "launch_cluster",
                                               "launch_pdl",
                                               "supported_fp8_dtypes",
                                               "deprecated_fp8_dot_operand_dtypes",
                                               "default_dot_input_precision",
                                               "allowed_dot_input_precisions",
                                               "max_num_imprecise_acc_default",
                                               "extern_libs",
                                               "debug",
                                               "sanitize_overflow",
                                               "backend_name",
                                               "arch",
                                               "ptx_version",
                                               "ptx_options",
                                               "instrumentation_mode",
                                               "waves_per_eu",
                                               "matrix_instr_nonkdim",
                                               "kpack",
                                               "allow_flush_denorm",
                                               "schedule_hint",
                                               "instruction_sched_variant",
                                               "stream",
                                               "warmup"};

// CUDA's 1024 threads of a block, in warps of 32.
constexpr int kMostWarps = 32;

bool is_launch_option(std::string_view name) {
  return std::find(std::begin(kLaunchOptions), std::end(kLaunchOptions), name) != std::end(kLaunchOptions);
}

}  // namespace

// As Triton's own class asserts.
void HostMachine::check_descriptor(const TensorDesc& base, const std::vector<std::pair<std::string, HostValue>>& fields,
                                   py::Place place) const {
  constexpr std::size_t kMostDims = 5;
  constexpr std::int64_t kAligned = 16;
  const auto& shape = fields[1].second.items->values;
  const auto& strides = fields[2].second.items->values;
  const auto& block = fields[3].second.items->values;
  const auto check = [&](bool good, std::string_view what) {
    if (!good) raise("AssertionError", fmt::format("a tensor descriptor: {}", what), place);
  };
  check(!shape.empty() && shape.size() <= kMostDims, "it has 1 to 5 dimensions");
  check(strides.size() == shape.size(), "one stride for each dimension");
  check(block.size() == shape.size(), "one block size for each dimension");
  for (std::size_t i = 0; i + 1 < strides.size(); ++i)
    check(integer(strides[i], place) % (kAligned / std::gcd(kAligned, std::int64_t{dtype_row(base.dtype).size})) == 0,
          "strides must be 16-byte aligned");
  check(integer(strides.back(), place) == 1, "the last stride must be 1");
}

// TensorDescriptor(base, shape, strides, block_shape, padding) and TensorDescriptor.from_tensor(tensor, block_shape).
std::optional<HostValue> HostMachine::make_descriptor(std::string_view path, HostArgs& args, const HostKwargs& kwargs,
                                                      py::Place place) {
  if (!path.starts_with(kTensorDescriptor)) return std::nullopt;
  const bool whole = path.substr(kTensorDescriptor.size()) == ".from_tensor";
  std::vector<std::string_view> names{"base", "shape", "strides", "block_shape"};
  if (whole) names = {"tensor", "block_shape"};
  for (std::size_t i = args.size(); i < names.size(); ++i)
    for (const auto& [k, v] : kwargs)
      if (k == names[i]) args.push_back(v);
  if (args.size() < names.size() || !args[0].is(Kind::tensor))
    raise("TypeError", fmt::format("a tensor descriptor needs {}", fmt::join(names, ", ")), place);
  HostArgs parts = args;
  if (whole)
    parts = {args[0], tensor_attribute(args[0], "shape", place), tensor_method(args[0], "stride", {}, {}, place),
             args[1]};
  std::vector<std::pair<std::string, HostValue>> fields{{"base", parts[0]}};
  for (std::size_t i = 1; i < 4; ++i)
    fields.emplace_back(std::vector<std::string>{"shape", "strides", "block_shape"}[i - 1],
                        HostValue::sequence(Kind::list, iterate(parts[i], place)));
  check_descriptor(desc(parts[0]), fields, place);
  return make_object(std::string(kTensorDescriptor), std::move(fields));
}

HostValue HostMachine::make_config(HostArgs args, HostKwargs kwargs, py::Place place) {
  HostValue meta = HostValue::sequence(Kind::dict, {});
  if (!args.empty()) meta = args[0];
  std::int64_t warps = args.size() > 1 ? integer(args[1], place) : 4,
               stages = args.size() > 2 ? integer(args[2], place) : 3;
  constexpr std::size_t kHook = 5;  // behind num_ctas and maxnreg
  HostValue hook = args.size() > kHook ? args[kHook] : HostValue{};
  for (const auto& [k, v] : kwargs) {
    if (k == "kwargs") meta = v;
    if (k == "num_warps") warps = integer(v, place);
    if (k == "num_stages") stages = integer(v, place);
    if (k == "pre_hook") hook = v;
  }
  if (!meta.is(Kind::dict)) raise("TypeError", "triton.Config needs a dict of constexpr values", place);
  return config_value(std::move(meta), warps, stages, std::move(hook));
}

// One of triton's decorators with its arguments, as call_triton gives it.
void HostMachine::decorate(const HostValue& decorator, Decorations& out, py::Place place) {
  const auto& parts = decorator.items->values;  // path, arguments, keywords
  const auto argument_named = [&](std::string_view name, std::size_t index) -> const HostValue* {
    if (parts[1].items->values.size() > index) return &parts[1].items->values[index];
    const auto& named = parts[2].items->values;
    for (std::size_t i = 0; i + 1 < named.size(); i += 2)
      if (named[i].text == name) return &named[i + 1];
    return nullptr;
  };
  constexpr std::size_t kNamedOnly = 100;
  if (parts[0].text == kAutotune) {
    out.autotuned = true;
    out.above = std::exchange(out.heuristics, {});  // decorators come from the outermost one on
    if (const HostValue* configs = argument_named("configs", 0))
      for (HostValue& c : iterate(*configs, place)) {
        if (!c.is(Kind::config)) refuse(Code::host, "autotune's configs are triton.Config values", place);
        out.configs.push_back(std::move(c));
      }
    if (const HostValue* key = argument_named("key", 1))
      for (const HostValue& k : iterate(*key, place)) out.key.push_back(string_of(k, place));
    for (const char* list : {"reset_to_zero", "restore_value"})
      if (const HostValue* names = argument_named(list, kNamedOnly); names != nullptr && !names->is(Kind::none))
        for (const HostValue& name : iterate(*names, place)) out.restored.push_back(string_of(name, place));
    if (const HostValue* by = argument_named("prune_configs_by", kNamedOnly); by != nullptr && by->is(Kind::dict))
      for (std::size_t i = 0; i + 1 < by->items->values.size(); i += 2)
        if (by->items->values[i].text == "early_config_prune") out.prune = by->items->values[i + 1];
  } else if (const HostValue* values = argument_named("values", 0)) {  // heuristics
    if (!values->is(Kind::dict)) refuse(Code::host, "heuristics needs a dict of functions", place);
    for (std::size_t i = 0; i + 1 < values->items->values.size(); i += 2)
      out.heuristics.emplace_back(string_of(values->items->values[i], place), values->items->values[i + 1]);
  }
}

const HostMachine::Decorations& HostMachine::decorations(const HostLauncher& launcher, py::Place place) {
  const py::Stmt& kernel = *launcher.kernel.function;
  const auto key = std::make_tuple(&kernel, static_cast<const HostItems*>(launcher.decorators.get()),
                                   static_cast<const HostFunction*>(launcher.made.get()));
  if (const auto it = decorations_.find(key); it != decorations_.end()) return it->second;
  Decorations out;
  if (launcher.decorators) {  // the last one was put around all others
    const std::vector<HostValue>& around = launcher.decorators->values;
    for (auto d = around.rbegin(); d != around.rend(); ++d) decorate(*d, out, place);
  }
  Frame frame;
  frame.module = launcher.module;
  frame.scope = std::make_shared<HostScope>();
  if (launcher.made) frame.scope->parent = launcher.made->closure;
  for (const py::Expr* d : kernel.decorators) {
    if (d->kind != py::ExprKind::call) continue;
    const std::string path = resolve_path(*launcher.module, *d->items[0]);
    if (path == "triton.autotune" || path == "triton.heuristics")
      decorate(eval(*d, frame), out, d->place);
    else if (!path.empty() && path != "triton.jit" && path != "triton.runtime.jit.jit")  // none: the file's own
      refuse(Code::host, fmt::format("decorator '{}' of a kernel", py::print(*d)), place,
             "kernels are decorated with triton.jit, triton.autotune and triton.heuristics");
  }
  return decorations_.emplace(key, std::move(out)).first->second;
}

// triton.jit(function), and triton.autotune(...) and triton.heuristics(...), whose result is called with a kernel.
std::optional<HostValue> HostMachine::call_triton(std::string_view path, HostArgs& args, HostKwargs& kwargs,
                                                  py::Place place) {
  const auto decorator = [&](std::string_view name) {
    HostValue named = HostValue::sequence(Kind::dict, {});
    for (const auto& [k, v] : kwargs) set_item(named, HostValue::string(k), v, place);
    return HostValue::sequence(Kind::partial, {HostValue::path(std::string(name)),
                                               HostValue::sequence(Kind::tuple, std::move(args)), std::move(named)});
  };
  if (path == "triton.jit" || path == "triton.runtime.jit.jit")
    return args.empty() ? decorator(path) : make_kernel(args[0], place);
  if (path == "triton.autotune") return decorator(kAutotune);
  if (path == "triton.heuristics") return decorator(kHeuristics);
  if (path != kAutotune && path != kHeuristics) return std::nullopt;
  if (args.empty() || !args.back().is(Kind::kernel))
    raise("TypeError", fmt::format("{} decorates a kernel of triton.jit", path), place);
  HostValue kernel = args.back();
  args.pop_back();
  std::vector<HostValue> all = kernel.items ? kernel.items->values : std::vector<HostValue>{};
  all.push_back(decorator(path));
  kernel.items = std::make_shared<HostItems>(std::move(all), false);
  return kernel;
}

HostValue HostMachine::make_kernel(const HostValue& function, py::Place place) {
  if (function.is(Kind::kernel)) return function;
  if (!function.is(Kind::function) || function.function->statement == nullptr)
    raise("TypeError", "triton.jit needs a function", place);
  HostValue kernel = kernel_value(*function.function->module, *function.function->statement);
  if (function.function->closure) kernel.function = function.function;
  return kernel;
}

// A kernel that a function made sees that function's variables, as they are when it is launched: Triton reads them when
// it compiles. Kernels among them are taken in the same way; one around which this goes on is referred to.
KernelRef HostMachine::kernel_of(KernelRef kernel, const std::shared_ptr<HostFunction>& made) {
  if (!made || !made->closure) return kernel;
  for (const auto& [function, closure] : capturing_) {
    if (function != made.get()) continue;
    kernel.closure = std::shared_ptr<const KernelClosure>(std::shared_ptr<const KernelClosure>(), closure);
    return kernel;
  }
  auto closure = std::make_shared<KernelClosure>();
  closure->defaults = made->defaults->values;
  capturing_.emplace_back(made.get(), closure.get());
  std::unordered_set<std::string_view> used;
  std::set<std::string_view> own;
  for (const py::Stmt* s : kernel.function->body) {
    used.merge(used_names(*s));
    py::add_names_bound(*s, own);
  }
  for (const py::Parameter& p : kernel.function->parameters) own.insert(p.name);
  for (const std::string_view name : own) used.erase(name);
  for (HostScope* around = made->closure.get(); around != nullptr; around = around->parent.get()) {
    spend(around->names().size() / 16 + 1, kernel.function->place);
    for (const auto& [name, value] : around->names())
      if (used.erase(name) > 0) closure->names.emplace_back(name, settled(value));
  }
  capturing_.pop_back();
  kernel.closure = std::move(closure);
  return kernel;
}

HostValue HostMachine::settled(HostValue v) {
  if (v.is(Kind::range) || v.is(Kind::dict_view)) return HostValue::sequence(Kind::list, iterate(v, {}));
  if (!v.is(Kind::kernel)) return v;
  v.kernel = kernel_of(std::move(v.kernel), v.function);
  v.function = nullptr;
  return v;
}

// The configurations to try: what the kernel's own function leaves of them, which sees the arguments by name.
std::vector<HostValue> HostMachine::chosen_configs(const Decorations& decoration, const py::Stmt& kernel,
                                                   const HostArgs& args, const HostKwargs& kwargs, py::Place place) {
  if (decoration.prune.is(Kind::none)) return decoration.configs;
  HostValue named = HostValue::sequence(Kind::dict, {});
  for (std::size_t i = 0; i < args.size(); ++i)
    set_item(named, HostValue::string(std::string(kernel.parameters[i].name)), args[i], place);
  const HostValue left =
      call(decoration.prune, {HostValue::sequence(Kind::list, decoration.configs), named}, kwargs, place);
  std::vector<HostValue> out = iterate(left, place);
  if (out.empty())
    raise("AutotunerError", "No valid autotuner configs after pruning. early_config_prune should return at least one.",
          place);
  for (const HostValue& c : out)
    if (!c.is(Kind::config)) refuse(Code::host, "early_config_prune returns triton.Config values", place);
  return out;
}

void HostMachine::add_argument(std::string_view name, const HostValue& value, bool constant, py::Place place,
                               std::vector<LaunchArgument>& arguments) {
  LaunchArgument out;
  out.name = name;
  out.constexpr_ = constant || value.is(Kind::none);
  switch (value.kind) {
    case Kind::tensor:
      if (desc(value).device != device_)
        raise("ValueError",
              fmt::format("argument '{}' cannot be accessed from Triton: the tensor is on the CPU, the kernel on a GPU",
                          name),
              place);
      if (is_unplaced(value.buffer))
        raise("ValueError",
              fmt::format("argument '{}' cannot be accessed from Triton: the tensor is on the CPU, since it was made "
                          "without device=x.device",
                          name),
              place);
      out.buffer = value.buffer;
      break;
    case Kind::none: break;
    case Kind::boolean: out.scalar.value = value.integer != 0; break;
    case Kind::integer:
      if (!constant && !value.integer.fits_64_bits())
        raise("OverflowError", fmt::format("argument '{}': integer to be specialized too large to represent", name),
              place);
      out.scalar.value = value.integer;
      break;
    case Kind::real: out.scalar.value = value.real; break;
    case Kind::string:
    case Kind::dtype:
    case Kind::path:
      if (!constant)
        raise("TypeError",
              fmt::format("failed to specialize argument '{0}', {1}; declare it as {0}: tl.constexpr", name,
                          value.is(Kind::path) ? value.text.get() : fmt::format("a {}", host_type_name(value))),
              place);
      out.scalar.value =
          value.is(Kind::dtype) ? fmt::format("torch.{}", dtype_row(value.dtype).name) : value.text.get();
      break;
    case Kind::kernel:
      out.scalar.value = std::string(value.kernel.function->name);
      out.function = kernel_of(value.kernel, value.function);
      out.constexpr_ = true;
      break;
    case Kind::tuple: {
      const auto& items = value.items->values;
      if (arguments.size() + items.size() > kMostArguments)
        refuse(Code::limit, fmt::format("a kernel has more than {} arguments", kMostArguments), place);
      out.items = items.size();
      out.constexpr_ = false;
      arguments.push_back(std::move(out));
      for (std::size_t i = 0; i < items.size(); ++i)
        add_argument(tile::item_name(name, i), items[i], constant, place, arguments);
      return;
    }
    case Kind::object:
      if (is_named_tuple(value)) {
        std::vector<std::string_view> fields;
        for (const HostClass::Field& field : value.klass->fields) fields.push_back(field.name);
        const std::size_t at = arguments.size();
        add_argument(name, plain_tuple(value), constant, place, arguments);
        arguments[at].scalar.value = fmt::format("{}", fmt::join(fields, ","));  // a tuple has no value of its own
        return;
      }
      if (is_descriptor(value)) {
        const auto& fields = value.items->values;  // base, shape, strides, block_shape
        if (!fields[1].is(Kind::tensor)) raise("TypeError", "a tensor descriptor's base is no tensor", place);
        out.buffer = fields[1].buffer;
        const auto numbers = [&](const HostValue& list) {
          if (!list.is_sequence()) raise("TypeError", "a tensor descriptor needs lists of numbers", place);
          std::vector<std::int64_t> all;
          for (const HostValue& v : list.items->values) all.push_back(integer(v, place));
          return all;
        };
        out.blocks = TensorBlocks{numbers(fields[3]), numbers(fields[5]), numbers(fields[7])};
        if (out.blocks->sizes.size() != out.blocks->block.size())
          raise("AssertionError", "a tensor descriptor has one block size for each dimension", place);
        break;
      }
      [[fallthrough]];
    default:
      refuse(Code::host,
             fmt::format("argument '{}' of {} is a {}", name, launching_.empty() ? "a kernel" : launching_,
                         host_type_name(value)),
             place, "kernels take tensors, numbers, bools, None, dtypes, strings, device functions and tuples of them");
  }
  arguments.push_back(std::move(out));
}

// A key that the meta does not have is named beside those that it has.
HostValue HostMachine::call_grid(const HostValue& grid, const HostValue& meta, py::Place place) {
  try {
    return call(grid, {meta}, {}, place);
  } catch (HostRaise& raised) {
    if (raised.type != "KeyError" || !raised.value.is(Kind::none)) throw;
    std::vector<std::string> keys;
    bool known = false;
    for (std::size_t i = 0; i < meta.items->values.size(); i += 2) {
      keys.push_back(python_string(meta.items->values[i].text.get()));
      known = known || keys.back() == raised.message;
    }
    if (known) throw;  // another dict's
    std::vector<std::string_view> names(keys.begin(), keys.end());
    const auto near = text_nearest(raised.message, names, 1);
    raised.message += fmt::format("; the grid of {} sees its arguments {}{}", launching_, text_join(keys, ", "),
                                  near.empty() ? "" : fmt::format(": did you mean {}?", near[0]));
    throw;
  }
}

void HostMachine::set_grid(const HostValue& grid, const HostValue& meta, LaunchVariant& variant, py::Place place) {
  const HostValue made = can_call(grid) ? call_grid(grid, meta, place) : grid;
  if (made.is_integral())
    raise("TypeError", fmt::format("the grid of {} is an int, which has no len(); write a tuple, (n,)", launching_),
          place);
  const std::vector<HostValue> sizes = iterate(made, place);
  if (sizes.empty() || sizes.size() > 3)
    raise("ValueError", fmt::format("a grid has one to three sizes, not {}", sizes.size()), place);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (!sizes[i].is_integral())
      raise("TypeError", fmt::format("a grid size is a {}; write triton.cdiv or //", host_type_name(sizes[i])), place);
    const std::int64_t n = sizes[i].integer.clamped();
    if (n < 0 || n > kMostPrograms[i])
      raise("ValueError",
            fmt::format("grid size {} of dimension {}; at most {}", sizes[i].integer.text(), i, kMostPrograms[i]),
            place);
    variant.grid[i] = n;
  }
}

// A configuration's pre_hook sees the arguments by name before the launch; it fills tensors and sets the blocks of
// descriptors. Gives what it filled.
std::vector<BufferId> HostMachine::run_hook(const HostValue& config, const HostValue& seen, py::Place place) {
  const HostValue& hook = config_item(config, ConfigItem::pre_hook);
  std::vector<BufferId> fills;
  if (hook.is(Kind::none)) return fills;
  HostValue arguments = HostValue::sequence(Kind::dict, seen.items->values);
  set_item(arguments, HostValue::string("num_warps"), config_item(config, ConfigItem::num_warps), place);
  set_item(arguments, HostValue::string("num_stages"), config_item(config, ConfigItem::num_stages), place);
  const std::size_t buffers = plan_.buffers.size(), launches = plan_.launches.size();
  call(hook, {arguments}, {}, place);
  if (plan_.launches.size() != launches)
    refuse(Code::host, "a pre_hook launches a kernel", place, "launch it in the wrapper, before the other");
  for (std::size_t i = buffers; i < plan_.buffers.size(); ++i)
    if (plan_.buffers[i].kind == BufferKind::view && plan_.buffers[i].fill == Fill::value)
      fills.push_back(static_cast<BufferId>(i));
  return fills;
}

// The fills of all configurations are the same, and done once: which of them runs is not known yet.
void HostMachine::join_fills(std::span<const BufferId> first, std::span<const BufferId> again, py::Place place) {
  const auto at = [&](BufferId id) -> Buffer& { return plan_.buffers[static_cast<std::size_t>(id)]; };
  const bool same = std::equal(first.begin(), first.end(), again.begin(), again.end(), [&](BufferId x, BufferId y) {
    const Buffer &a = at(x), &b = at(y);
    return std::tie(a.base, a.offset, a.desc.sizes, a.desc.strides, a.desc.dtype, a.fill_value) ==
           std::tie(b.base, b.offset, b.desc.sizes, b.desc.strides, b.desc.dtype, b.fill_value);
  });
  if (!same)
    refuse(Code::host, "pre_hooks of several configurations fill different tensors", place,
           "give every configuration the same pre_hook, or fill in the wrapper before the launch");
  for (const BufferId id : again) {
    at(id).fill = Fill::none;
    std::erase(plan_.order, std::pair(true, static_cast<std::size_t>(id)));
  }
}

std::int64_t HostMachine::launch_number(const py::Stmt& kernel, std::string_view name, const HostValue& v,
                                        py::Place place) const {
  if (!v.is_integral())
    raise("TypeError", fmt::format("an int is needed for '{}' of {}, not {}", name, kernel.name, host_type_name(v)),
          place);
  return v.integer.clamped();
}

// What a call says of the kernel's parameters, and how it is to be launched.
HostMachine::BoundCall HostMachine::bind_call(const py::Stmt& kernel, const HostArgs& args, const HostKwargs& kwargs,
                                              py::Place place) {
  if (args.size() > kernel.parameters.size())
    raise("TypeError",
          fmt::format("{} takes {} arguments but {} were given", kernel.name, kernel.parameters.size(), args.size()),
          place);
  BoundCall out;
  out.values.assign(args.begin(), args.end());
  out.values.resize(kernel.parameters.size());
  for (const auto& [name, value] : kwargs) {
    if (const auto p = find_parameter(kernel, name)) {
      if (out.values[*p]) raise("TypeError", fmt::format("{} got several values for '{}'", kernel.name, name), place);
      out.values[*p] = value;
    } else if (name == "num_warps") {
      out.warps = launch_number(kernel, name, value, place);
    } else if (name == "num_stages") {
      out.stages = launch_number(kernel, name, value, place);
    } else if (name == "enable_fp_fusion") {
      out.fusion = truth(value, place);
    } else if (name == "default_dot_input_precision" && !(value.is(Kind::string) && value.text == "tf32")) {
      refuse(Code::host, fmt::format("launch option '{}' other than 'tf32', the default", name), place,
             "write tl.dot(a, b, input_precision=...) in the kernel");
    } else if (!is_launch_option(name)) {
      std::vector<std::string> known;
      for (const py::Parameter& own : kernel.parameters) known.emplace_back(own.name);
      raise("TypeError", fmt::format("{} has no parameter '{}'; it has {}", kernel.name, name, text_join(known, ", ")),
            place);
    }
  }
  return out;
}

void HostMachine::apply_config(const py::Stmt& kernel, const HostValue& config, ParameterValues& values,
                               LaunchVariant& variant, py::Place place) {
  const auto item = [&](ConfigItem which) {  // one beyond an int is wrong as any large one is
    return static_cast<int>(std::clamp<std::int64_t>(integer(config_item(config, which), place), -(1 << 20), 1 << 20));
  };
  variant.num_warps = item(ConfigItem::num_warps);
  variant.num_stages = item(ConfigItem::num_stages);
  const auto& meta = config_item(config, ConfigItem::meta).items->values;
  for (std::size_t i = 0; i + 1 < meta.size(); i += 2) {
    if (is_launch_option(string_of(meta[i], place))) continue;  // as triton: the configuration's own num_warps counts
    const auto p = find_parameter(kernel, meta[i].text);
    if (!p)
      refuse(Code::host, fmt::format("autotune sets '{}', which kernel {} does not have", meta[i].text, kernel.name),
             place);
    if (values[*p]) raise("ValueError", fmt::format("'{}' is set by autotune and by the call", meta[i].text), place);
    values[*p] = meta[i + 1];
    add_argument(meta[i].text, meta[i + 1], true, place, variant.meta);
  }
}

void HostMachine::apply_heuristics(const std::vector<std::pair<std::string, HostValue>>& heuristics,
                                   const py::Stmt& kernel, ParameterValues& values, LaunchVariant& variant,
                                   py::Place place) {
  for (const auto& [name, function] : heuristics) {
    const auto p = find_parameter(kernel, name);
    if (!p && name != "num_warps" && name != "num_stages")
      refuse(Code::host, fmt::format("heuristics set '{}', which kernel {} does not have", name, kernel.name), place);
    const HostValue v = call(function, {named_values(kernel, values)}, {}, place);
    if (p) {
      values[*p] = v;
      add_argument(name, v, true, place, variant.meta);
    } else {
      (name == "num_warps" ? variant.num_warps : variant.num_stages) =
          static_cast<int>(std::clamp<std::int64_t>(integer(v, place), 0, 1 << 20));
    }
  }
}

void HostMachine::fill_defaults(const HostLauncher& launcher, ParameterValues& values, py::Place place) {
  const py::Stmt& kernel = *launcher.kernel.function;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const py::Parameter& p = kernel.parameters[i];
    if (values[i]) continue;
    if (p.default_value == nullptr)
      raise("TypeError", fmt::format("{} is missing its argument '{}'", kernel.name, p.name), place);
    values[i] = launcher.made ? default_value(*launcher.made, i, p)
                              : module_constant(*launcher.module, *p.default_value, p.name, place);
  }
}

void HostMachine::check_warps(const py::Stmt& kernel, int warps, py::Place place) const {
  if (warps < 1 || warps > kMostWarps || (warps & (warps - 1)) != 0)
    raise("ValueError",
          fmt::format("num_warps of {} is {}; it must be 1, 2, 4, 8, 16 or 32 (a block has at most 1024 threads)",
                      kernel.name, warps),
          place);
}

HostValue HostMachine::launch(const HostLauncher& launcher, HostArgs args, HostKwargs kwargs, py::Place place) {
  constexpr std::size_t kMost = 1000;
  if (plan_.launches.size() >= kMost)
    refuse(Code::limit, fmt::format("the wrapper launches more than {} kernels", kMost), place);
  const Decorations& decoration = decorations(launcher, place);
  const py::Stmt& kernel = *launcher.kernel.function;
  const Within<std::string_view> within(launching_, kernel.name);
  Launch out;
  out.kernel = kernel_of(launcher.kernel, launcher.made);
  out.autotune_key = decoration.key;
  out.restored = decoration.restored;
  out.place = place;
  const BoundCall bound = bind_call(kernel, args, kwargs, place);
  for (const auto& [name, value] : kwargs)
    if (decoration.autotuned && (name == "num_warps" || name == "num_stages" || name == "num_ctas"))
      raise(
          "TypeError",
          fmt::format("{} is autotuned and got multiple values for '{}'; leave it out of the call", kernel.name, name),
          place);
  std::vector<HostValue> configs = chosen_configs(decoration, kernel, args, kwargs, place);
  if (configs.empty())
    configs.push_back(config_value(HostValue::sequence(Kind::dict, {}), bound.warps, bound.stages, {}));
  if (decoration.autotuned) best_configs_[{&kernel, launcher.made.get()}] = configs[0];
  const bool hooked = std::any_of(configs.begin(), configs.end(), [](const HostValue& c) {
    return !config_item(c, ConfigItem::pre_hook).is(Kind::none);
  });
  for (const py::Parameter& p : kernel.parameters)  // what a pre_hook fills has no name here: any of them may be
    if (hooked) out.restored.emplace_back(p.name);
  std::optional<std::vector<BufferId>> fills;  // of the first configuration's pre_hook
  std::vector<ParameterValues> values;         // by variant
  for (const HostValue& config : configs) {
    LaunchVariant& variant = out.variants.emplace_back();
    ParameterValues& all = values.emplace_back(bound.values);
    variant.fp_fusion = bound.fusion;
    apply_heuristics(decoration.above, kernel, all, variant, place);
    apply_config(kernel, config, all, variant, place);
    apply_heuristics(decoration.heuristics, kernel, all, variant, place);
    const bool is_only = &config == &configs.back() && values.size() == 1;
    if (variant.num_warps > kMostWarps && !is_only) {  // the autotuner skips what does not run
      out.variants.pop_back();
      values.pop_back();
      continue;
    }
    check_warps(kernel, variant.num_warps, place);
    fill_defaults(launcher, all, place);
    const HostValue seen = named_values(kernel, all);
    const std::vector<BufferId> filled = run_hook(config, seen, place);
    if (fills)
      join_fills(*fills, filled, place);
    else
      fills = filled;
    for (std::size_t i = 0; hooked && i < all.size(); ++i)  // as the pre_hook left them
      if (is_descriptor(*all[i])) add_argument(kernel.parameters[i].name, *all[i], false, place, variant.meta);
    set_grid(*launcher.grid, seen, variant, place);
  }
  // What one of the variants sets is each one's own, by default too; the rest is the launch's.
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const py::Parameter& p = kernel.parameters[i];
    const auto sets = [&](const LaunchVariant& variant) {
      return std::any_of(variant.meta.begin(), variant.meta.end(),
                         [&](const LaunchArgument& a) { return a.name == p.name; });
    };
    const bool constant = is_constexpr(*launcher.module, p);
    if (std::none_of(out.variants.begin(), out.variants.end(), sets)) {
      add_argument(p.name, *values[0][i], constant, place, out.arguments);
      continue;
    }
    for (std::size_t v = 0; v < values.size(); ++v)
      if (!sets(out.variants[v])) add_argument(p.name, *values[v][i], constant, place, out.variants[v].meta);
  }
  plan_.launches.push_back(std::move(out));
  plan_.order.emplace_back(false, plan_.launches.size() - 1);
  return {};
}

}  // namespace passnet
