#include "host/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace passnet {

namespace {

using Form = Setting::Form;

constexpr std::string_view kOperators =
    "a candidate runs none of torch's operators, and the graph's own run with the settings that Python starts with";
constexpr std::string_view kCompilers = "neither torch.compile nor Triton compiles anything here";
constexpr std::string_view kRandom = "a pass draws no random numbers of torch's, Python's or NumPy's";
constexpr std::string_view kGradients = "there are no gradients here";
constexpr std::string_view kThreads = "how many threads run is the run's choice";
constexpr std::string_view kVariables = "nothing reads it: the environment of a pass is empty";
constexpr std::string_view kPrinting = "nothing is printed";
constexpr std::string_view kOneDevice = "a run has one device";
constexpr std::string_view kProfiles = "no profiler listens";

// Not here: torch.set_default_dtype and set_default_device, by which torch.empty gives another tensor.
constexpr Setting kSettings[] = {
    {Form::attribute, "torch.backends.cuda.matmul.allow_tf32", kOperators},
    {Form::attribute, "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction", kOperators},
    {Form::attribute, "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction", kOperators},
    {Form::attribute, "torch.backends.cuda.matmul.allow_fp16_accumulation", kOperators},
    {Form::attribute, "torch.backends.cuda.matmul.fp32_precision", kOperators},
    {Form::attribute, "torch.backends.cudnn.allow_tf32", kOperators},
    {Form::attribute, "torch.backends.cudnn.benchmark", kOperators},
    {Form::attribute, "torch.backends.cudnn.benchmark_limit", kOperators},
    {Form::attribute, "torch.backends.cudnn.deterministic", kOperators},
    {Form::attribute, "torch.backends.cudnn.enabled", kOperators},
    {Form::attribute, "torch.backends.cudnn.fp32_precision", kOperators},
    {Form::attribute, "torch.backends.cudnn.conv.fp32_precision", kOperators},
    {Form::attribute, "torch.backends.fp32_precision", kOperators},
    {Form::attribute, "torch.backends.opt_einsum.enabled", kOperators},
    {Form::call, "torch.backends.cuda.enable_cudnn_sdp", kOperators},
    {Form::call, "torch.backends.cuda.enable_flash_sdp", kOperators},
    {Form::call, "torch.backends.cuda.enable_math_sdp", kOperators},
    {Form::call, "torch.backends.cuda.enable_mem_efficient_sdp", kOperators},
    {Form::call, "torch.backends.cuda.preferred_linalg_library", kOperators},
    {Form::call, "torch.set_float32_matmul_precision", kOperators},
    {Form::call, "torch.use_deterministic_algorithms", kOperators},

    {Form::below, "torch._dynamo.config", kCompilers},
    {Form::below, "torch._functorch.config", kCompilers},
    {Form::below, "torch._inductor.config", kCompilers},
    {Form::below, "torch.compiler.config", kCompilers},
    {Form::below, "triton.knobs", kCompilers},
    {Form::call, "torch._dynamo.reset", kCompilers},
    {Form::call, "torch._logging.set_logs", kCompilers},

    {Form::call, "torch.autograd.set_detect_anomaly", kGradients},
    {Form::call, "torch.set_num_interop_threads", kThreads},
    {Form::call, "torch.set_num_threads", kThreads},
    {Form::call, "torch.set_printoptions", kPrinting},
    {Form::call, "torch.set_warn_always", kPrinting},

    {Form::call, "torch.cuda.set_device", kOneDevice},
    {Form::call, "torch.cuda.nvtx.mark", kProfiles},
    {Form::call, "torch.cuda.nvtx.range_pop", kProfiles},
    {Form::call, "torch.cuda.nvtx.range_push", kProfiles},

    {Form::call_once, "numpy.random.seed", kRandom},
    {Form::call_once, "random.seed", kRandom},
    {Form::call_once, "torch.cuda.manual_seed", kRandom},
    {Form::call_once, "torch.cuda.manual_seed_all", kRandom},
    {Form::call_once, "torch.manual_seed", kRandom},
    {Form::call_once, "torch.random.manual_seed", kRandom},

    {Form::environment, "CUBLAS_", kVariables},
    {Form::environment, "CUDA_", kVariables},
    {Form::environment, "CUDNN_", kVariables},
    {Form::environment, "MKL_", kVariables},
    {Form::environment, "NVIDIA_TF32_OVERRIDE", kVariables},
    {Form::environment, "OMP_", kVariables},
    {Form::environment, "PYTORCH_", kVariables},
    {Form::environment, "TOKENIZERS_PARALLELISM", kVariables},
    {Form::environment, "TORCH", kVariables},  // TORCHINDUCTOR_, TORCHDYNAMO_, TORCH_LOGS, ...
    {Form::environment, "TRITON_", kVariables},
};

template <class Is>
const Setting* first(const Is& is) {
  const auto* found = std::find_if(std::begin(kSettings), std::end(kSettings), is);
  return found == std::end(kSettings) ? nullptr : found;
}

bool is_below(std::string_view path, std::string_view head) {
  return path.starts_with(head) && path.size() > head.size() + 1 && path[head.size()] == '.';
}

}  // namespace

const Setting* find_setting(std::string_view path) {
  return first([&](const Setting& s) {
    return s.form == Form::attribute ? s.path == path : s.form == Form::below && is_below(path, s.path);
  });
}

const Setting* find_setting_call(std::string_view path, bool at_top) {
  return first([&](const Setting& s) {
    return s.path == path && (s.form == Form::call || (at_top && s.form == Form::call_once));
  });
}

const Setting* find_setting_variable(std::string_view name) {
  return first([&](const Setting& s) { return s.form == Form::environment && name.starts_with(s.path); });
}

const Setting* find_setting_target(const PassModule& module, const py::Expr& target) {
  if (target.kind == py::ExprKind::attribute) return find_setting(resolve_path(module, target));
  const bool variable = target.kind == py::ExprKind::subscript && target.items[1]->kind == py::ExprKind::string &&
                        resolve_path(module, *target.items[0]) == "os.environ";
  return variable ? find_setting_variable(target.items[1]->text) : nullptr;
}

std::vector<std::string> setting_notes(const std::vector<SettingUse>& uses) {
  constexpr std::size_t kShown = 5, kMost = 1000;  // what there is more of need not be counted
  std::vector<std::pair<std::string_view, std::vector<std::string>>> by_reason;
  for (const SettingUse& use : std::span(uses).first(std::min(uses.size(), kMost))) {
    auto at = std::find_if(by_reason.begin(), by_reason.end(), [&](const auto& r) { return r.first == use.why; });
    if (at == by_reason.end()) at = by_reason.insert(at, {use.why, {}});
    std::vector<std::string>& names = at->second;
    if (std::find(names.begin(), names.end(), use.written) == names.end()) names.push_back(use.written);
  }
  std::vector<std::string> out;
  for (auto& [why, names] : by_reason) {
    const std::size_t more = names.size() - std::min(names.size(), kShown);
    names.resize(names.size() - more);
    out.push_back(fmt::format("{}{} {} no effect here: {}", fmt::join(names, ", "),
                              more == 0 ? std::string() : fmt::format(" and {} more", more),
                              names.size() == 1 ? "has" : "have", why));
  }
  return out;
}

}  // namespace passnet
