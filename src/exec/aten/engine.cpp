// The engine: libtorch behind exec/engine.h.
#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Logging.h>
#ifdef PASSNET_TORCH_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#endif
#include <fmt/format.h>
#include <torch/headeronly/version.h>
#include <cstdlib>
#include <mutex>

#include "exec/aten/convert.h"
#include "exec/aten/cuda_graph.h"
#include "exec/aten/draw.h"
#include "exec/aten/frame.h"
#include "exec/aten/interpreter.h"
#include "exec/aten/large_pages.h"

namespace passnet {

namespace {

class AtenEngine final : public Engine {
 public:
  std::string torch_version() const override {
    return fmt::format("{}.{}.{}", TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR, TORCH_VERSION_PATCH);
  }
  Result<std::monostate> require(DeviceType device) override {
    if (device != DeviceType::cuda || at::globalContext().hasCUDA()) return std::monostate{};
    const bool built = at::globalContext().hasCUDART();
    return Error{Code::environment,
                 {},
                 fmt::format("no CUDA here: {}", built ? "torch finds no GPU" : "this torch is built without it"),
                 {"run with --device cpu; 'passnet doctor' says what is missing"}};
  }
  Result<std::monostate> synchronise(DeviceType device) override {
    if (device != DeviceType::cuda) return std::monostate{};
    return guarded_aten([] { return at::detail::getCUDAHooks().deviceSynchronize(0), std::monostate{}; });
  }
  void limit_memory(DeviceType device, double share) override {
#ifdef PASSNET_TORCH_CUDA
    if (device != DeviceType::cuda) return;
    at::globalContext().lazyInitDevice(at::kCUDA);  // there is no allocator before it
    c10::cuda::CUDACachingAllocator::setMemoryFraction(std::min(share, 1.0), 0);
#else
    (void)device, (void)share;
#endif
  }
  int threads() const override { return at::get_num_threads(); }
  void set_threads(int count) override { at::set_num_threads(count); }
  // at::manual_seed would start CUDA on a machine that has it, for 0.2 s, and no process could be forked after it.
  void seed(std::uint64_t value) override {
    if (cuda_used_) return at::manual_seed(value);
    at::Generator generator = at::globalContext().defaultGenerator(at::kCPU);
    const std::lock_guard<std::mutex> hold(generator.mutex());
    generator.unsafeGetGeneratorImpl()->set_current_seed(value);
  }
  void parallel(std::int64_t count, std::int64_t grain, Range work, void* context) override {
    at::parallel_for(0, count, grain, [=](std::int64_t begin, std::int64_t end) { work(context, begin, end); });
  }

  Result<std::unique_ptr<Executable>> prepare(const Program& program, const Graph& graph, DeviceType device,
                                              std::span<ExternalStep* const> externals) override {
    cuda_used_ |= device == DeviceType::cuda;
    return make_executable(program, graph, device, externals);
  }

  std::unique_ptr<Executable> with_graphs(std::unique_ptr<Executable> executable) override {
    return make_graph_executable(std::move(executable));
  }
  void* stream() const override { return recording_stream(); }

  Result<std::vector<TensorRef>> replay(const GraphFolder& folder, std::uint64_t seed_value, DeviceType device,
                                        Normals normals) override {
    const TensorMeta* current = nullptr;
    cuda_used_ |= device == DeviceType::cuda;
    try {
      const c10::InferenceMode inference(true);  // as everything is run: else every operator asks about gradients
      seed(seed_value);
      std::size_t large = 0;  // what sums go over; weights are among the others
      for (const std::int32_t index : folder.inputs)
        large = std::max(large, folder.metas[static_cast<std::size_t>(index)].element_count() / 16);
      std::vector<TensorRef> out;
      for (const std::int32_t index : folder.inputs) {
        current = &folder.metas[static_cast<std::size_t>(index)];
        const bool plain = normals == Normals::lone && current->element_count() < large;
        const Stream stream = stream_of(seed_value, out.size());
        out.push_back(to_ref(draw(*current, plain ? Normals::quick : normals, stream).to(to_device(device))));
      }
      return out;
    } catch (const c10::Error& error) {
      return meta_error(folder, current, brief_message(error.what_without_backtrace()));
    } catch (const std::exception& error) {
      return meta_error(folder, current, error.what());
    }
  }

  Result<TensorRef> contiguous_on_cpu(const TensorRef& tensor) override {
    return guarded_aten([&] { return to_ref(from_ref(tensor).detach().to(at::kCPU).contiguous()); });
  }

  Result<TensorRef> allocate(const TensorDesc& desc) override {
    return guarded_aten([&] {
      const at::ScalarType type = to_scalar_type(desc.dtype);
      // Past the dispatcher: a wrapper's outputs are most of what a small graph's call costs.
      if (desc.device == DeviceType::cpu) return to_ref(at::detail::empty_strided_cpu(desc.sizes, desc.strides, type));
      if (desc.device == DeviceType::cuda) {
        at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);  // before it there is no allocator
        return to_ref(at::detail::empty_strided_generic(desc.sizes, desc.strides,
                                                        c10::GetAllocator(c10::DeviceType::CUDA),
                                                        c10::DispatchKeySet(c10::DispatchKey::CUDA), type));
      }
      return to_ref(
          at::empty_strided(desc.sizes, desc.strides, at::TensorOptions().dtype(type).device(to_device(desc.device))));
    });
  }
  Result<TensorRef> allocate_kept(const TensorDesc& desc) override {
    if (desc.device != DeviceType::cpu) return allocate(desc);
    return guarded_aten(
        [&] { return to_ref(empty_on_large_pages(desc.sizes, desc.strides, to_scalar_type(desc.dtype))); });
  }
  Result<std::monostate> fill(const TensorRef& tensor, const FillNumber& value) override {
    return guarded_aten([&] {
      std::visit([&](const auto number) { from_ref(tensor).fill_(at::Scalar(number)); }, value);
      return std::monostate{};
    });
  }
  Result<std::monostate> copy(const TensorRef& target, const TensorRef& source) override {
    return guarded_aten([&] { return from_ref(target).copy_(from_ref(source)), std::monostate{}; });
  }
  Result<TensorRef> view(const TensorRef& base, const TensorDesc& desc, std::int64_t offset) override {
    return guarded_aten([&] {
      at::Tensor tensor = from_ref(base);
      if (const at::ScalarType type = to_scalar_type(desc.dtype); type != tensor.scalar_type())
        tensor = tensor.view(type);
      return to_ref(at::as_strided(tensor, desc.sizes, desc.strides, tensor.storage_offset() + offset));
    });
  }

 private:
  template <class F>
  static auto guarded_aten(const F& body) -> Result<decltype(body())> {
    try {
      std::optional<c10::InferenceMode> inference;  // 50 ns, so not where a run has it already
      if (!c10::InferenceMode::is_enabled()) inference.emplace(true);
      return body();
    } catch (const c10::Error& error) {
      return Error{Code::run, {}, brief_message(error.what_without_backtrace()), {}};
    } catch (const std::exception& error) {
      return Error{Code::run, {}, error.what(), {}};
    }
  }

  bool cuda_used_ = false;

  static Error meta_error(const GraphFolder& folder, const TensorMeta* meta, const std::string& what) {
    return {Code::meta,
            {folder.path, 0, 0, {}},
            fmt::format("input '{}' cannot be made: {}", meta == nullptr ? "" : meta->name, what),
            {}};
  }
};

}  // namespace

}  // namespace passnet

extern "C" __attribute__((visibility("default"))) passnet::Engine* passnet_engine() {
  static passnet::AtenEngine engine;
  // Torch's warnings (of a slow way that it takes on this machine, say) are nobody's result, and a pipe that nobody
  // reads would stop a worker that writes one.
  if (std::getenv("TORCH_CPP_LOG_LEVEL") == nullptr) FLAGS_caffe2_log_level = c10::GLOG_ERROR;
  return &engine;
}
