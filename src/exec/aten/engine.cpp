// The engine: libtorch behind exec/engine.h, and the replay of a graph's inputs.
#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/full.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/randint.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Logging.h>
#ifdef PASSNET_TORCH_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#endif
#include <fmt/format.h>
#include <torch/headeronly/version.h>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <mutex>

#include "base/hash.h"
#include "exec/aten/convert.h"
#include "exec/aten/cuda_graph.h"
#include "exec/aten/frame.h"
#include "exec/aten/interpreter.h"

namespace passnet {

namespace {

at::Tensor literal_tensor(const TensorMeta& meta, at::ScalarType type) {
  const TensorData& data = *meta.data;
  const c10::IValue list = data.integers.empty() ? c10::IValue(data.reals) : c10::IValue(data.integers);
  return tensor_literal(data.size() == 0 ? c10::IValue(std::vector<double>{}) : list, type, std::nullopt)
      .reshape(meta.shape);
}

std::int64_t integer_bound(const std::optional<MetaNumber>& bound) {
  if (!bound) return 0;
  if (bound->integral) return bound->integer;
  if (!(std::fabs(bound->real) < 9e18)) throw std::out_of_range("min_val or max_val is no integer");
  return static_cast<std::int64_t>(bound->real);
}

constexpr double kLargest = 100;          // of any input that is drawn
constexpr std::int64_t kGrain = 1 << 15;  // numbers that are worth a thread

// NaN stays.
float limited(float x, float low, float high) {
  const float raised = x < low ? low : x;
  return raised > high ? high : raised;
}

struct Bounds {
  float low, high;
};
Bounds bounds_of(const TensorMeta& meta) {
  return {static_cast<float>(std::max(meta.min_val ? meta.min_val->real : -kLargest, -kLargest)),
          static_cast<float>(std::min(meta.max_val ? meta.max_val->real : kLargest, kLargest))};
}

// The numbers of one tensor: 64 bits decide them, so that nobody finds a seed whose numbers he knows.
struct Stream {
  std::uint32_t one, other;
};
Stream stream_of(std::uint64_t seed, std::uint64_t tensor) {
  const std::uint64_t x = mix64(seed + (tensor + 1) * kGolden);
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32)};
}

std::uint32_t mix(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352dU;
  x = (x ^ x >> 15) * 0x846ca68bU;
  return x ^ x >> 16;
}

// Nearly normal numbers (four uniform ones added) with the meta's mean, deviation and bounds, each from its number
// alone and in one pass: a small part of the time of torch's, which takes seven.
at::Tensor quick_normals(const TensorMeta& meta, double mean, double std, const Stream& stream) {
  at::Tensor out = at::empty(meta.shape, at::kFloat);
  float* to = out.data_ptr<float>();
  constexpr double kScale = 0x1p-16 * 1.7320508075688772;  // the sum of four has the variance 1/3
  const auto scale = static_cast<float>(kScale * std), shift = static_cast<float>(mean);
  const auto [low, high] = bounds_of(meta);
  at::parallel_for(0, out.numel(), kGrain,
                   [=, low = low, high = high, stream = stream](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                       const std::uint32_t a = mix(static_cast<std::uint32_t>(i) + stream.one),
                                           b = mix(static_cast<std::uint32_t>(i) ^ stream.other);
                       const auto sum = static_cast<std::int32_t>((a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16));
                       to[i] = limited(static_cast<float>(sum - 2 * 0xffff) * scale + shift, low, high);
                     }
                   });
  return out;
}

// As `count` calls of the engine, a block of its numbers at a time.
void skip(at::mt19937& engine, std::int64_t count) {
  at::mt19937_data_pod data = engine.data();
  while (count >= data.left_) {  // all that are left of the block, and the first of the next
    count -= data.left_;
    data.left_ = 1;
    engine.set_data(data);
    engine();
    data = engine.data();
  }
  data.left_ -= static_cast<int>(count);
  data.next_ += static_cast<std::uint32_t>(count);
  engine.set_data(data);
}

// at::randn, by all threads where that pays: each part's generator begins where the one before it ends.
at::Tensor normals_of(at::IntArrayRef shape) {
  constexpr std::int64_t kBlock = 16;  // numbers that torch makes from one another
  at::Tensor out = at::empty(shape);
  const std::int64_t n = out.numel(), parts = std::min<std::int64_t>(at::get_num_threads(), n / kGrain);
  if (parts < 2) return out.normal_();
  auto* own = at::check_generator<at::CPUGeneratorImpl>(at::detail::getDefaultCPUGenerator());
  const std::lock_guard<std::mutex> hold(own->mutex_);
  const std::int64_t step = n / parts / kBlock * kBlock;
  std::vector<at::Generator> generators;
  at::mt19937 engine = own->engine();
  for (std::int64_t part = 0; part < parts; ++part) {
    generators.push_back(at::detail::createCPUGenerator());
    at::check_generator<at::CPUGeneratorImpl>(generators.back())->set_engine(engine);
    if (part + 1 < parts) skip(engine, step);
  }
  const at::Tensor flat = out.view(-1);
  at::parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
    const c10::InferenceMode inference(true);
    for (std::int64_t part = begin; part < end; ++part)
      flat.slice(0, part * step, part + 1 < parts ? (part + 1) * step : n)
          .normal_(0, 1, generators[static_cast<std::size_t>(part)]);
  });
  own->set_engine(at::check_generator<at::CPUGeneratorImpl>(generators.back())->engine());
  return out;
}

double reach_of(double std) {
  constexpr double kDeviations = 5, kAtLeast = 8;
  return std::max(kAtLeast, kDeviations * std);
}
constexpr double kNearest = 0.25;                            // of the reach, of every other one
constexpr std::uint32_t kEvery = 31;                         // the largest step from one to the next
constexpr double kFarShare = (1 + kNearest) / (kEvery + 1);  // of the reach, of all numbers' mean

// Doubled from one deviation on up to the reach: no interval in between is left out.
std::vector<float> octaves_of(double std) {
  constexpr std::size_t kMost = 64;
  std::vector<float> out;
  for (double from = std; from < reach_of(std) && out.size() < kMost; from *= 2)
    out.push_back(static_cast<float>(from));
  return out;
}

// One number in sixteen to where clamps and saturation are, or on the way there.
void put_far_out(at::Tensor& x, const TensorMeta& meta, double mean, double std, const Stream& stream) {
  const auto reach = static_cast<float>(reach_of(std)), shift = static_cast<float>(mean);
  const std::vector<float> octaves = octaves_of(std);
  const auto [low, high] = bounds_of(meta);
  float* to = x.data_ptr<float>();
  std::uint32_t state = mix(stream.one ^ mix(stream.other));
  const std::int64_t n = x.numel(), first = n > 0 ? state % n : 0;
  for (std::int64_t step = 0; step < n; step += 1 + state % kEvery) {
    const std::int64_t i = first + step < n ? first + step : first + step - n;
    state = mix(state + static_cast<std::uint32_t>(i) + 1);
    const float part = static_cast<float>(state >> 8) * 0x1p-24F;
    const float nearest = reach * static_cast<float>(kNearest);
    const float from = (state & 0x40) != 0 || octaves.empty() ? nearest : octaves[(state & 0x3f) % octaves.size()];
    const float span = from == nearest ? reach - nearest : std::min(from, reach - from);
    const float distance = from + span * part;
    to[i] = limited(shift + ((state & 0x80) != 0 ? distance : -distance), low, high);
  }
}

// Where a division, a logarithm or a comparison has its special case; a row, as padding is.
void put_zeros(at::Tensor& x, const TensorMeta& meta, const Stream& stream) {
  constexpr std::int64_t kFewest = 64;
  constexpr std::uint32_t kStep = 127;
  const std::int64_t n = x.numel(), row = x.dim() > 1 ? x.size(-1) : n;
  const auto [low, high] = bounds_of(meta);
  if (n < kFewest || low > 0 || high < 0) return;
  float* to = x.data_ptr<float>();
  std::uint32_t state = mix(stream.one + mix(stream.other + 1));
  for (std::int64_t i = state % kStep; i < n; i += 1 + state % kStep) {
    to[i] = 0;
    state = mix(state + static_cast<std::uint32_t>(i) + 1);
  }
  if (n / row > 1) std::fill_n(to + state % (n / row) * row, row, 0.0F);
}

// A mean or a variance of these is about some few numbers: who takes a part of the terms for all of them is off by more
// than any tolerance. No two weigh the same, so that no part of them stands for all.
void put_lone(at::Tensor& x, const TensorMeta& meta, double mean, double std, const Stream& stream) {
  constexpr int kCount = 24;
  constexpr double kTimes = 4, kLess = 0.8, kMostHalf = 0x1p12, kMost = 0x1p20;
  const std::int64_t n = x.numel();
  if (n == 0) return;
  const double all = static_cast<double>(n) * (std::fabs(mean) + std + kFarShare * reach_of(std));
  double weight = std::min(kTimes * all, meta.dtype == Dtype::float16 ? kMostHalf : kMost);
  if (bounds_of(meta).high <= 0) weight = -weight;
  std::uint32_t state = mix(stream.other ^ mix(stream.one));
  for (int i = 0; i < kCount; ++i, weight *= kLess, state = mix(state + 1))
    x.data_ptr<float>()[state % n] = static_cast<float>(mean + weight);
}

// What `draw` below does to normal numbers of float32, in one pass and to the same bits.
void finish_normals(at::Tensor& x, const TensorMeta& meta, double mean, double std, double factor) {
  float* to = x.data_ptr<float>();
  const auto a = static_cast<float>(std), b = static_cast<float>(factor), c = static_cast<float>(mean);
  constexpr float kNone = std::numeric_limits<float>::infinity();
  const float low = meta.min_val ? static_cast<float>(meta.min_val->real) : -kNone;
  const float high = meta.max_val ? static_cast<float>(meta.max_val->real) : kNone;
  at::parallel_for(0, x.numel(), kGrain, [=](std::int64_t begin, std::int64_t end) {
    constexpr auto kMost = static_cast<float>(kLargest);
    for (std::int64_t i = begin; i < end; ++i) to[i] = limited(limited(to[i] * a * b + c, low, high), -kMost, kMost);
  });
}

// The format's definition of an input (docs/graphs.md): drawn in float32, rounded to the dtype, then scaled in the
// dtype.
at::Tensor draw(const TensorMeta& meta, Normals normals, const Stream& stream) {
  const at::ScalarType type = to_scalar_type(meta.dtype);
  if (meta.data) return literal_tensor(meta, type);
  if (meta.dtype == Dtype::boolean)
    return (normals == Normals::torch ? normals_of(meta.shape) : quick_normals(meta, 0, 1, stream)).gt(0.5);
  if (!dtype_row(meta.dtype).floating) {
    const std::int64_t low = integer_bound(meta.min_val), high = integer_bound(meta.max_val);
    if (high == std::numeric_limits<std::int64_t>::max())
      throw std::out_of_range("max_val is the largest integer; there is none above it to draw below");
    return at::randint(low, high + 1, meta.shape, at::TensorOptions().dtype(type));
  }
  const double mean = meta.mean.value_or(0.0), std = meta.std.value_or(kReplayStd);
  const bool plain =
      std::isfinite(mean) && std::isfinite(std) && std != 0 && type != at::kDouble;  // which has more bits
  if (normals != Normals::torch && plain) {
    at::Tensor x = quick_normals(meta, mean, std * kReplayFactor, stream);
    if (normals != Normals::quick) put_far_out(x, meta, mean, std * kReplayFactor, stream);
    if (normals == Normals::zeros) put_zeros(x, meta, stream);
    if (normals == Normals::lone) put_lone(x, meta, mean, std * kReplayFactor, stream);
    return x.to(type);
  }
  at::Tensor x;
  const auto usual = [](double v) { return std::fabs(v) < 1e30; };
  const auto usual_bound = [&](const std::optional<MetaNumber>& v) { return !v || usual(v->real); };
  if (type == at::kFloat && std != 0 && usual(std) && usual(mean) && usual_bound(meta.min_val) &&
      usual_bound(meta.max_val)) {
    x = normals_of(meta.shape);
    finish_normals(x, meta, mean, std, kReplayFactor);
    return x;
  }
  if (std == 0)
    x = at::full(meta.shape, mean, at::TensorOptions().dtype(type));
  else  // mul_ of a number rounds that to the dtype first, unlike mul; of a tensor it does not
    x = normals_of(meta.shape).to(type).mul_(wrapped_number(std)).mul_(wrapped_number(kReplayFactor)).add_(mean);
  if (meta.min_val) x.clamp_(meta.min_val->real, std::nullopt);
  if (meta.max_val) x.clamp_(std::nullopt, meta.max_val->real);
  return at::nan_to_num_(x, 0.0).clamp_(-kLargest, kLargest);
}

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
  Result<std::monostate> fill(const TensorRef& tensor, double value) override {
    return guarded_aten([&] { return from_ref(tensor).fill_(value), std::monostate{}; });
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
