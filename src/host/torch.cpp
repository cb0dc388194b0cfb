// torch's functions that a host program may call: those that compute nothing.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "host/machine.h"
#include "host/policy.h"

namespace passnet {

using Kind = HostValue::Kind;

namespace {

HostValue whole(std::int64_t n) { return HostValue::of(n); }

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

struct HostMachine::Torch {
  using Call = HostCall;
  using Run = std::optional<HostValue> (*)(HostMachine& m, const Call& c);

  static std::string path(const Call& c) { return "torch." + std::string(c.name); }
  static bool has_function(const Call& c) { return !c.args.empty() && c.args[0].is(Kind::function); }

  // ---- shapes

  static std::optional<HostValue> size_of(HostMachine& m, const Call& c) {
    HostValue out =
        HostValue::sequence(Kind::tuple, c.args.empty() ? std::vector<HostValue>{} : m.iterate(c.args[0], c.place));
    out.text = "torch.Size";
    return out;
  }

  // The shape that all of them can be expanded to.
  static HostValue broadcast(HostMachine& m, const Call& c, const std::vector<std::vector<std::int64_t>>& shapes) {
    std::vector<std::int64_t> out;
    for (const std::vector<std::int64_t>& sizes : shapes) {
      if (sizes.size() > out.size()) out.insert(out.begin(), sizes.size() - out.size(), 1);
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        std::int64_t& size = out[out.size() - sizes.size() + i];
        if (size != sizes[i] && size != 1 && sizes[i] != 1)
          m.raise("RuntimeError", "shapes cannot be broadcast to one", c.place);
        if (size == 1) size = sizes[i];
      }
    }
    HostValue shape = HostValue::sequence(Kind::tuple, {});
    shape.text = "torch.Size";
    for (const std::int64_t size : out) shape.items->values.push_back(whole(size));
    return shape;
  }
  static std::optional<HostValue> broadcast_shapes(HostMachine& m, const Call& c) {
    std::vector<std::vector<std::int64_t>> shapes;
    for (const HostValue& v : c.args) shapes.push_back(m.sizes_of({v}, 0, c.place));
    return broadcast(m, c, shapes);
  }
  static std::optional<HostValue> broadcast_tensors(HostMachine& m, const Call& c) {
    if (c.args.size() == 1 && c.args[0].is_sequence()) c.args = m.iterate(c.args[0], c.place);
    std::vector<std::vector<std::int64_t>> shapes;
    for (const HostValue& v : c.args) {
      if (!v.is(Kind::tensor)) m.raise("TypeError", "torch.broadcast_tensors needs tensors", c.place);
      shapes.push_back(m.desc(v).sizes);
    }
    const HostValue shape = broadcast(m, c, shapes);
    std::vector<HostValue> out;
    for (const HostValue& v : c.args) out.push_back(m.tensor_method(v, "expand", {shape}, {}, c.place));
    return HostValue::sequence(Kind::tuple, std::move(out));
  }

  // ---- dtypes

  static std::optional<HostValue> promote_types(HostMachine& m, const Call& c) {
    if (c.args.size() != 2 || !c.args[0].is(Kind::dtype) || !c.args[1].is(Kind::dtype))
      m.raise("TypeError", "torch.promote_types needs two dtypes", c.place);
    return HostValue::of_dtype(promoted(c.args[0].dtype, c.args[1].dtype));
  }

  static std::optional<HostValue> result_type(HostMachine& m, const Call& c) {
    if (c.args.size() != 2 || !c.args[0].is(Kind::tensor) || !c.args[1].is(Kind::tensor))
      m.refuse(Code::host, "torch.result_type of other things than two tensors", c.place, "write x.dtype");
    const TensorDesc &a = m.desc(c.args[0]), &b = m.desc(c.args[1]);
    // a tensor without dimensions counts only where its kind is higher
    const auto kind = [](Dtype t) { return t == Dtype::boolean ? 0 : dtype_row(t).floating ? 2 : 1; };
    if (a.sizes.empty() != b.sizes.empty()) {
      const TensorDesc &full = a.sizes.empty() ? b : a, &single = a.sizes.empty() ? a : b;
      if (kind(single.dtype) <= kind(full.dtype)) return HostValue::of_dtype(full.dtype);
    }
    return HostValue::of_dtype(promoted(a.dtype, b.dtype));
  }

  static std::optional<HostValue> default_dtype(HostMachine&, const Call&) {
    return HostValue::of_dtype(Dtype::float32);
  }

  static std::optional<HostValue> limits(HostMachine& m, const Call& c) {  // finfo, iinfo
    if (c.args.empty() || !c.args[0].is(Kind::dtype))
      m.raise("TypeError", fmt::format("torch.{} needs a dtype", c.name), c.place);
    return c.args[0];  // its limits are attributes
  }

  // ---- what a tensor, or the run, is

  static std::optional<HostValue> is_tensor(HostMachine&, const Call& c) {
    return HostValue::boolean(!c.args.empty() && c.args[0].is(Kind::tensor));
  }
  static std::optional<HostValue> yes(HostMachine&, const Call&) { return HostValue::boolean(true); }
  static std::optional<HostValue> no(HostMachine&, const Call&) { return HostValue::boolean(false); }

  static std::optional<HostValue> device(HostMachine& m, const Call&) {
    HostValue v;
    v.kind = Kind::device;
    v.device = m.device_;  // a device literal is the run's
    return v;
  }

  static std::optional<HostValue> check(HostMachine& m, const Call& c) {  // _assert, _check
    if (c.args.empty()) m.raise("TypeError", fmt::format("torch.{} needs a condition", c.name), c.place);
    if (m.truth(c.args[0], c.place)) return HostValue{};
    HostValue message = c.args.size() > 1 ? c.args[1] : HostValue::string("Expected cond to be True, but got False");
    if (message.is(Kind::function)) message = m.call(message, {}, {}, c.place);
    m.raise(c.name == "_assert" ? "AssertionError" : "RuntimeError", m.text(message, false, c.place), c.place);
  }

  // As the method of its tensor.
  static std::optional<HostValue> method(HostMachine& m, const Call& c) {
    for (auto it = c.kwargs.begin(); it != c.kwargs.end(); ++it)
      if (it->first == "input") {
        c.args.insert(c.args.begin(), it->second);
        c.kwargs.erase(it);
        break;
      }
    if (c.args.empty() || !c.args[0].is(Kind::tensor))
      m.raise("TypeError", fmt::format("torch.{} needs a tensor", c.name), c.place);
    const HostValue tensor = c.args[0];
    c.args.erase(c.args.begin());
    return m.tensor_method(tensor, c.name.substr(c.name.rfind('.') + 1), std::move(c.args), std::move(c.kwargs),
                           c.place);
  }

  // ---- what a wrapper may ask about the machine, so that it can choose a grid

  static std::optional<HostValue> current_device(HostMachine&, const Call&) { return whole(0); }
  static std::optional<HostValue> device_count(HostMachine&, const Call&) { return whole(1); }
  static std::optional<HostValue> device_name(HostMachine&, const Call&) { return HostValue::string("NVIDIA H200"); }
  static std::optional<HostValue> device_capability(HostMachine&, const Call&) {
    return HostValue::sequence(Kind::tuple, {whole(9), whole(0)});
  }
  static std::optional<HostValue> device_properties(HostMachine& m, const Call&) {
    return m.make_object("DeviceProperties", {{"name", HostValue::string("NVIDIA H200")},
                                              {"multi_processor_count", whole(kMultiprocessors)},
                                              {"total_memory", whole(150'110'011'392)},
                                              {"shared_memory_per_block", whole(49152)},
                                              {"shared_memory_per_multiprocessor", whole(233472)},
                                              {"regs_per_multiprocessor", whole(65536)},
                                              {"L2_cache_size", whole(62'914'560)},
                                              {"major", whole(9)},
                                              {"minor", whole(0)},
                                              {"warp_size", whole(32)},
                                              {"max_threads_per_multi_processor", whole(2048)}});
  }

  // ---- functions around functions

  static std::optional<HostValue> wrap(HostMachine&, const Call& c) {
    return has_function(c) ? c.args[0] : HostValue{};
  }

  static bool is_off(HostMachine& m, const Call& c) {  // autocast
    const HostValue* enabled = keyword(c.kwargs, "enabled");
    return enabled != nullptr && !m.truth(*enabled, c.place);
  }

  static HostValue context(const Call& c) {  // HostMachine::run_with
    return has_function(c) ? c.args[0] : HostValue::path(path(c));
  }

  static HostValue library(const Call& c) {  // the function or the kernel itself; a decorator where it is still to come
    const auto given = std::find_if(c.args.begin(), c.args.end(), [](const HostValue& v) {
      return v.is(Kind::function) || v.is(Kind::kernel) || v.is(Kind::partial);
    });
    return given != c.args.end() ? *given : HostValue::path(path(c));
  }

  static Run find(std::string_view name);
};

HostMachine::Torch::Run HostMachine::Torch::find(std::string_view name) {
  static const std::unordered_map<std::string_view, Run> kAll = {
      {"Size", size_of},
      {"_assert", check},
      {"_check", check},
      {"broadcast_shapes", broadcast_shapes},
      {"broadcast_tensors", broadcast_tensors},
      {"compiler.is_compiling", no},
      {"cuda.current_device", current_device},
      {"cuda.device_count", device_count},
      {"cuda.get_device_capability", device_capability},
      {"cuda.get_device_name", device_name},
      {"cuda.get_device_properties", device_properties},
      {"cuda.is_available", yes},
      {"device", device},
      {"finfo", limits},
      {"fx._symbolic_trace.wrap", wrap},
      {"fx.wrap", wrap},
      {"get_default_dtype", default_dtype},
      {"iinfo", limits},
      {"is_complex", method},
      {"is_floating_point", method},
      {"is_grad_enabled", no},
      {"is_same_size", method},
      {"is_tensor", is_tensor},
      {"jit.is_scripting", no},
      {"numel", method},
      {"promote_types", promote_types},
      {"result_type", result_type},
  };
  return find_row(kAll, name);
}

// torch.NAME: allocations, and what only looks at shapes and dtypes. Functions that are views are their methods.
std::optional<HostValue> HostMachine::call_torch(std::string_view name, HostArgs& args, HostKwargs& kwargs,
                                                 py::Place place) {
  const HostCall call{name, args, kwargs, place};
  if (const Torch::Run found = Torch::find(name)) return found(*this, call);
  if (is_allocation(name)) {
    HostValue made = allocate(name, args, kwargs, place);
    const HostValue* device = keyword(kwargs, "device");
    const bool placed =
        places_ > 0 || (device != nullptr && !device->is(Kind::none)) || (!args.empty() && args[0].is(Kind::tensor));
    if (!placed) unplaced_.insert(made.buffer);
    return made;
  }
  if (name.ends_with("autocast") && !Torch::is_off(*this, call)) return std::nullopt;
  if (is_context(Torch::path(call))) return Torch::context(call);
  if (is_library(name)) return Torch::library(call);
  if (is_view_function(name) || is_fill(name) || is_unbound_method(name)) return Torch::method(*this, call);
  return std::nullopt;
}

}  // namespace passnet
