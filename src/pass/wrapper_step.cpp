#include "pass/wrapper_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/text.h"

namespace passnet {

namespace {

constexpr double kPoison = 0x5a;         // in integers that nobody has written
constexpr std::size_t kPlanLimit = 256;  // plans kept per wrapper; a graph needs one per call of it
constexpr std::int64_t kKeptLimit = std::int64_t{256} << 20;  // bytes of temporaries kept between the calls of a plan

std::string argument_text(const RunValue& v) {
  using Kind = RunValue::Kind;
  switch (v.kind) {
    case Kind::none: return "None";
    case Kind::boolean: return v.integer != 0 ? "True" : "False";
    case Kind::integer: return std::to_string(v.integer);
    case Kind::real: return python_float(v.real);
    case Kind::text: return python_string(v.text);
    case Kind::tensor: {
      const TensorDesc d = describe(v.tensor);
      return fmt::format("{}[{}]({})", dtype_row(d.dtype).name, fmt::join(d.sizes, ", "), fmt::join(d.strides, ", "));
    }
    case Kind::list: {
      std::string out;
      for (const RunValue& item : v.items) out += (out.empty() ? "" : ", ") + argument_text(item);
      return "(" + out + ")";
    }
  }
  return {};
}

HostValue to_host(const RunValue& v) {
  using Kind = RunValue::Kind;
  switch (v.kind) {
    case Kind::boolean: return HostValue::boolean(v.integer != 0);
    case Kind::integer: return HostValue::of(v.integer);
    case Kind::real: return HostValue::of(v.real);
    case Kind::text: {
      if (const auto dtype = dtype_from_name(v.text); dtype && v.text.starts_with("torch."))
        return HostValue::of_dtype(*dtype);
      return HostValue::string(v.text);
    }
    case Kind::list: {
      std::vector<HostValue> items;
      for (const RunValue& item : v.items) items.push_back(to_host(item));
      return HostValue::sequence(HostValue::Kind::tuple, std::move(items));
    }
    default: return {};
  }
}

bool has_tensor(const RunValue& v) {
  return v.kind == RunValue::Kind::tensor || std::any_of(v.items.begin(), v.items.end(), has_tensor);
}

HostArgument to_argument(const RunValue& v) {
  HostArgument out;
  if (v.kind == RunValue::Kind::tensor)
    out.tensor = describe(v.tensor);
  else if (has_tensor(v))
    for (const RunValue& item : v.items) out.items.push_back(to_argument(item));
  else
    out.scalar = to_host(v);
  return out;
}

// As a plan numbers its inputs.
void add_inputs(const RunValue& v, std::vector<RunValue>& out) {
  if (v.kind != RunValue::Kind::list || !has_tensor(v))
    out.push_back(v);
  else
    for (const RunValue& item : v.items) add_inputs(item, out);
}

// Whether a plan recorded for `key` is what `value` needs: all that a wrapper can see of it.
bool same(const RunValue& key, const RunValue& value) {
  if (key.kind != value.kind) return false;
  switch (key.kind) {
    case RunValue::Kind::none: return true;
    case RunValue::Kind::boolean:
    case RunValue::Kind::integer: return key.integer == value.integer;
    case RunValue::Kind::real:
      return std::bit_cast<std::uint64_t>(key.real) == std::bit_cast<std::uint64_t>(value.real);
    case RunValue::Kind::text: return key.text == value.text;
    case RunValue::Kind::tensor:
      return key.tensor.dtype == value.tensor.dtype && key.tensor.device == value.tensor.device &&
             key.tensor.sizes == value.tensor.sizes && key.tensor.strides == value.tensor.strides;
    case RunValue::Kind::list:
      return std::equal(key.items.begin(), key.items.end(), value.items.begin(), value.items.end(), same);
  }
  return false;
}

bool same(std::span<const RunValue> key, std::span<const RunValue> arguments) {
  return std::equal(key.begin(), key.end(), arguments.begin(), arguments.end(),
                    [](const RunValue& a, const RunValue& b) { return same(a, b); });
}

RunValue without_data(RunValue v) {
  v.tensor.owner = {};
  v.tensor.data = nullptr;
  for (RunValue& item : v.items) item = without_data(std::move(item));
  return v;
}

template <class F>
void output_buffers(const PlanOutput& o, const F& visit) {
  if (o.buffer >= 0) visit(static_cast<std::size_t>(o.buffer));
  for (const PlanOutput& item : o.items) output_buffers(item, visit);
}

// Which buffers are wanted as tensors, and which memory can stay for the next call.
void plan_memory(WrapperStep::Recorded& r) {
  const std::vector<Buffer>& buffers = r.plan.buffers;
  r.addresses.assign(buffers.size(), nullptr);
  r.tensors.resize(buffers.size());
  r.tensor_needed.assign(buffers.size(), 0);
  std::vector<std::uint8_t> returned(buffers.size(), 0);
  output_buffers(r.plan.output, [&](std::size_t id) { r.tensor_needed[id] = returned[id] = 1; });
  for (std::size_t id = buffers.size(); id-- > 0;) {  // a base stands before its views
    const Buffer& b = buffers[id];
    if (b.base < 0) continue;
    if (b.fill == Fill::value) r.tensor_needed[id] = 1;
    const auto base = static_cast<std::size_t>(b.base);
    if (b.kind == BufferKind::copy || r.tensor_needed[id] != 0) r.tensor_needed[base] = 1;
    if (b.kind == BufferKind::view && returned[id] != 0) returned[base] = 1;
  }
  r.kept.assign(buffers.size(), 0);
  std::int64_t bytes = 0;
  for (std::size_t id = 0; id < buffers.size(); ++id) {
    const Buffer& b = buffers[id];
    if ((b.kind != BufferKind::fresh && b.kind != BufferKind::copy) || returned[id] != 0) continue;
    bytes += b.desc.hull() * static_cast<std::int64_t>(dtype_row(b.desc.dtype).size);
    r.kept[id] = bytes <= kKeptLimit ? 1 : 0;
  }
}

RunValue output_value(const PlanOutput& o, const std::vector<TensorRef>& tensors) {
  RunValue out;
  if (o.is_tuple) {
    out.kind = RunValue::Kind::list;
    out.items.reserve(o.items.size());
    for (const PlanOutput& item : o.items) out.items.push_back(output_value(item, tensors));
  } else if (o.buffer >= 0) {
    out.kind = RunValue::Kind::tensor;
    out.tensor = tensors[static_cast<std::size_t>(o.buffer)];
  } else if (const auto* i = std::get_if<Integer>(&o.scalar.value)) {
    out.kind = RunValue::Kind::integer;
    out.integer = i->clamped();
  } else if (const auto* r = std::get_if<double>(&o.scalar.value)) {
    out.kind = RunValue::Kind::real;
    out.real = *r;
  } else if (const auto* b = std::get_if<bool>(&o.scalar.value)) {
    out.kind = RunValue::Kind::boolean;
    out.integer = *b ? 1 : 0;
  }
  return out;
}

FillNumber fill_number(const Scalar& scalar) {
  const auto* integer = std::get_if<Integer>(&scalar.value);
  if (integer == nullptr) return std::get<double>(scalar.value);
  if (const auto fitted = integer->i64()) return *fitted;
  return integer->low_bits();
}

class NoKernels final : public PreparedPlan {
 public:
  void launch(std::size_t, void* const*) override {}
};

}  // namespace

const std::vector<std::shared_ptr<KernelReport>>& KernelBackend::reports() const {
  static const std::vector<std::shared_ptr<KernelReport>> none;
  return none;
}

Result<std::unique_ptr<PreparedPlan>> CompilingBackend::prepare(const LaunchPlan& plan, void* const* addresses) {
  auto out = guarded([&] { return build(plan, addresses); });
  failed_ |= !out;
  return out;
}

Result<std::unique_ptr<PreparedPlan>> RecordingBackend::prepare(const LaunchPlan&, void* const*) {
  return std::unique_ptr<PreparedPlan>(std::make_unique<NoKernels>());
}

std::unique_ptr<WrapperStep::Recorded> WrapperStep::record(std::span<const RunValue> arguments) const {
  auto out = std::make_unique<Recorded>();
  std::vector<HostArgument> host;
  for (const RunValue& v : arguments) {
    out->arguments += (out->arguments.empty() ? "" : ", ") + argument_text(v);
    out->key.push_back(without_data(v));
    host.push_back(to_argument(v));
    out->nested |= !host.back().items.empty();
  }
  out->plan = record_plan(*pass_.module, std::move(host), backend_.device()).take();
  plan_memory(*out);
  return out;
}

// A graph calls a wrapper in the same order every time, so the plan that followed the last one is tried first.
WrapperStep::Recorded& WrapperStep::find(std::span<const RunValue> arguments) {
  if (!plans_.empty())
    if (const std::size_t next = plans_[last_]->next; same(plans_[next]->key, arguments)) return *plans_[last_ = next];
  std::size_t found = 0;
  while (found < plans_.size() && !same(plans_[found]->key, arguments)) ++found;
  if (found == plans_.size()) {
    if (plans_.size() >= kPlanLimit)
      fail(Code::limit,
           fmt::format("wrapper '{}' is called with more than {} different shapes", pass_.wrapper.name, kPlanLimit));
    plans_.push_back(record(arguments));
  }
  plans_[last_]->next = found;
  return *plans_[last_ = found];
}

void WrapperStep::make_buffer(Recorded& r, std::size_t id, std::span<const RunValue> arguments) {
  const Buffer& b = r.plan.buffers[id];
  const bool needed = r.tensor_needed[id] != 0;
  switch (b.kind) {
    case BufferKind::input:
      if (needed) r.tensors[id] = arguments[b.input].tensor;
      break;
    case BufferKind::fresh:
    case BufferKind::copy:
      if (r.kept[id] == 0 || r.tensors[id].owner.get() == nullptr) {
        r.tensors[id] = engine_.allocate(b.desc).take();
        r.addresses[id] = r.tensors[id].data;
      }
      if (b.fill == Fill::value)
        engine_.fill(r.tensors[id], fill_number(b.fill_value)).take();
      else if (poison_)
        spoil(engine_, r.tensors[id]).take();
      if (b.kind == BufferKind::copy) engine_.copy(r.tensors[id], r.tensors[static_cast<std::size_t>(b.base)]).take();
      break;
    case BufferKind::view: {
      const auto base = static_cast<std::size_t>(b.base);
      auto* address = static_cast<char*>(r.addresses[base]);
      if (address != nullptr) address += b.offset * static_cast<std::int64_t>(dtype_row(b.desc.dtype).size);
      r.addresses[id] = address;
      if (needed) r.tensors[id] = engine_.view(r.tensors[base], b.desc, b.offset).take();
      if (b.fill == Fill::value) engine_.fill(r.tensors[id], fill_number(b.fill_value)).take();
      break;
    }
  }
}

RunValue WrapperStep::replay(Recorded& r, std::span<const RunValue> arguments) {
  std::vector<RunValue> inputs;
  if (r.nested) {
    for (const RunValue& v : arguments) add_inputs(v, inputs);
    arguments = inputs;
  }
  for (std::size_t id = 0; id < r.plan.buffers.size(); ++id)
    if (const Buffer& b = r.plan.buffers[id]; b.kind == BufferKind::input)
      r.addresses[id] = arguments[b.input].tensor.data;
  void* const* addresses = r.addresses.data();
  if (r.prepared == nullptr || !r.prepared->fits(addresses)) r.prepared = backend_.prepare(r.plan, addresses).take();
  const bool watched = r.prepared->watches();
  if (watched) r.prepared->begin();
  for (const auto& [is_buffer, id] : r.plan.order) {
    if (is_buffer) {
      make_buffer(r, id, arguments);
      if (watched) r.prepared->made(static_cast<BufferId>(id), addresses);
    } else {
      r.prepared->launch(id, addresses);
    }
  }
  if (watched) r.prepared->finished(addresses);
  RunValue out = output_value(r.plan.output, r.tensors);
  for (std::size_t id = 0; id < r.tensors.size(); ++id) {
    if (r.kept[id] != 0) continue;
    const BufferKind kind = r.plan.buffers[id].kind;
    if (holds_ && (kind == BufferKind::fresh || kind == BufferKind::copy)) held_.push_back(r.tensors[id]);
    r.tensors[id].owner = {};
  }
  return out;
}

std::size_t WrapperStep::forget() {
  std::size_t bytes = 0;
  const auto forget_one = [&](TensorRef& t) {
    spoil(engine_, t).take();
    bytes += static_cast<std::size_t>(describe(t).hull()) * dtype_row(t.dtype).size;
  };
  for (TensorRef& t : held_) forget_one(t);
  held_.clear();
  for (const auto& r : plans_)
    for (std::size_t id = 0; id < r->tensors.size(); ++id)
      if (r->kept[id] != 0 && r->tensors[id].owner.get() != nullptr) forget_one(r->tensors[id]);
  return bytes;
}

Result<std::monostate> spoil(Engine& engine, TensorRef& tensor) {
  const double value = dtype_row(tensor.dtype).floating ? std::nan("") : kPoison;
  const TensorDesc desc = describe(tensor);
  if (desc.hull() <= desc.element_count()) return engine.fill(tensor, value);
  auto whole = engine.view(tensor, {{desc.hull()}, {1}, desc.dtype, desc.device}, 0);  // with its gaps
  return whole ? engine.fill(*whole, value) : engine.fill(tensor, value);
}

Result<RunValue> WrapperStep::run(std::span<const RunValue> arguments) {
  return guarded([&] { return replay(find(arguments), arguments); });
}

}  // namespace passnet
