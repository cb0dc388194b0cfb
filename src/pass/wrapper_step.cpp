#include "pass/wrapper_step.h"

#include <fmt/format.h>

#include "base/text.h"

namespace passnet {

namespace {

constexpr std::size_t kPlanLimit = 256;  // plans kept per wrapper; a graph needs one per call of it

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

RunValue output_value(const PlanOutput& o, const std::vector<TensorRef>& buffers) {
  RunValue out;
  if (o.is_tuple) {
    out.kind = RunValue::Kind::list;
    for (const PlanOutput& item : o.items) out.items.push_back(output_value(item, buffers));
  } else if (o.buffer >= 0) {
    out.kind = RunValue::Kind::tensor;
    out.tensor = buffers[static_cast<std::size_t>(o.buffer)];
  } else if (const auto* i = std::get_if<std::int64_t>(&o.scalar.value)) {
    out.kind = RunValue::Kind::integer;
    out.integer = *i;
  } else if (const auto* r = std::get_if<double>(&o.scalar.value)) {
    out.kind = RunValue::Kind::real;
    out.real = *r;
  } else if (const auto* b = std::get_if<bool>(&o.scalar.value)) {
    out.kind = RunValue::Kind::boolean;
    out.integer = *b ? 1 : 0;
  }
  return out;
}

}  // namespace

Result<std::monostate> RecordingBackend::launch(const Launch&, std::span<const TensorRef>) {
  ++launches;
  return std::monostate{};
}

const WrapperStep::Recorded& WrapperStep::prepared(std::span<const RunValue> arguments) {
  std::string key;
  for (const RunValue& v : arguments) key += (key.empty() ? "" : ", ") + argument_text(v);
  if (const auto it = by_arguments_.find(key); it != by_arguments_.end()) return *plans_[it->second];
  if (plans_.size() >= kPlanLimit)
    fail(Code::limit,
         fmt::format("wrapper '{}' is called with more than {} different shapes", pass_.wrapper_name(), kPlanLimit));
  std::vector<HostArgument> host;
  for (const RunValue& v : arguments) {
    HostArgument a;
    if (v.kind == RunValue::Kind::tensor)
      a.tensor = describe(v.tensor);
    else
      a.scalar = to_host(v);
    host.push_back(std::move(a));
  }
  plans_.push_back(std::make_unique<Recorded>(
      Recorded{key, record_plan(*pass_.wrapper_module, *pass_.wrapper, std::move(host)).take()}));
  by_arguments_.emplace(std::move(key), plans_.size() - 1);
  return *plans_.back();
}

RunValue WrapperStep::replay(const LaunchPlan& plan, std::span<const RunValue> arguments) {
  std::vector<TensorRef> buffers(plan.buffers.size());
  for (const auto& [is_buffer, id] : plan.order) {
    if (!is_buffer) {
      backend_.launch(plan.launches[id], buffers).take();
      continue;
    }
    const Buffer& b = plan.buffers[id];
    switch (b.kind) {
      case BufferKind::input: buffers[id] = arguments[b.input].tensor; break;
      case BufferKind::fresh:
        buffers[id] = engine_.allocate(b.desc).take();
        if (b.fill == Fill::value) engine_.fill(buffers[id], b.fill_value).take();
        break;
      case BufferKind::view:
        buffers[id] = engine_.view(buffers[static_cast<std::size_t>(b.base)], b.desc, b.offset).take();
        break;
      case BufferKind::copy:
        buffers[id] = engine_.allocate(b.desc).take();
        engine_.copy(buffers[id], buffers[static_cast<std::size_t>(b.base)]).take();
        break;
    }
  }
  return output_value(plan.output, buffers);
}

Result<RunValue> WrapperStep::run(std::span<const RunValue> arguments) {
  return guarded([&] { return replay(prepared(arguments).plan, arguments); });
}

}  // namespace passnet
