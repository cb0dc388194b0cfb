// Any bytes as a pass file, with a helper behind a `%%` line: loaded, checked, its wrapper recorded for a few arguments
// under small limits. A plan or an error; what is recorded twice is the same, and its views lie inside their bases.
#include <cstdlib>
#include <iostream>

#include "fuzz_one.h"
#include "pass/load.h"

namespace {

using namespace passnet;

[[noreturn]] void broken(std::string_view why, const std::string& text) {
  std::cerr << why << '\n' << text << '\n';
  std::abort();
}

// Arguments of every kind in turn: tensors of several shapes, numbers, a string, None.
std::vector<HostArgument> arguments(std::size_t count) {
  std::vector<HostArgument> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 4 == 3) {
      out[i].scalar = i % 8 == 3 ? HostValue::string("route") : HostValue::of(0.5);
      continue;
    }
    TensorDesc d;
    d.dtype = i % 2 == 0 ? Dtype::float32 : Dtype::float16;
    d.sizes = i % 4 == 0   ? std::vector<std::int64_t>{2, 3, 4, 5}
              : i % 4 == 1 ? std::vector<std::int64_t>{3, 8}
                           : std::vector<std::int64_t>{5};
    d.strides = i % 4 == 1 ? std::vector<std::int64_t>{1, 3} : contiguous_strides(d.sizes);
    out[i].tensor = std::move(d);
  }
  return out;
}

std::int64_t extent(const TensorDesc& d) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < d.sizes.size(); ++i) {
    if (d.sizes[i] == 0) return 0;
    last += (d.sizes[i] - 1) * d.strides[i];
  }
  return last + 1;
}

void check_plan(const LaunchPlan& plan) {
  for (const Buffer& b : plan.buffers) {
    if (b.kind != BufferKind::view) continue;
    const Buffer& base = plan.buffers.at(static_cast<std::size_t>(b.base));
    if (const std::int64_t n = extent(b.desc); n > 0 && (b.offset < 0 || b.offset + n > extent(base.desc)))
      broken("a view leaves its base", plan_text(plan));
  }
}

}  // namespace

int fuzz_one(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = text.find("\n%%\n");
  std::map<std::string, std::string> sources{{"Fuse", text.substr(0, cut)}};
  if (cut != std::string::npos) sources["helper"] = text.substr(cut + 4);
  LoadOptions options;
  options.open_policy = size % 4 == 0;  // the host program has to stand on its own
  options.limits = {20'000, 30, std::int64_t{1} << 40};
  const auto folder = load_pass_sources(std::move(sources), "Fuse", options);
  if (!folder) {
    if (folder.error().code == Code::internal) broken("an internal error", error_text(folder.error()));
    return 0;
  }
  const Pass& pass = folder->passes[0];
  std::string texts[2];
  for (std::string& recorded : texts) {
    const auto plan = record_plan(*pass.module, arguments(std::max<std::size_t>(pass.replacement_args.size(), 1)),
                                  DeviceType::cpu, options.limits);
    if (!plan && plan.error().code == Code::internal) broken("an internal error", error_text(plan.error()));
    if (plan) check_plan(*plan);
    recorded = plan ? plan_text(*plan) : error_text(plan.error());
  }
  if (texts[0] != texts[1]) broken("recorded twice differs", texts[0] + "\n---\n" + texts[1]);
  return 0;
}
