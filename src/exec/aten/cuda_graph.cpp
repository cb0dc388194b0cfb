#include "exec/aten/cuda_graph.h"

#ifdef PASSNET_TORCH_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDAGuard.h>

#include <algorithm>

#include "exec/aten/convert.h"
#endif

namespace passnet {

#ifdef PASSNET_TORCH_CUDA

namespace {

thread_local void* recording = nullptr;

constexpr std::size_t kGraphLimit = 4;  // of one executable: sets of addresses

// A tensor that a graph writes at every replay, and how many hold it when nobody but us does.
struct Output {
  at::Tensor tensor;
  std::size_t alone = 0;
  bool input = false;  // memory of an input: the caller's own

  bool held() const { return !input && (tensor.use_count() > 1 || tensor.storage().use_count() > alone); }
};

struct Recorded {
  std::vector<void*> addresses;
  int seen = 0;         // calls with these addresses; recorded at the second
  bool broken = false;  // cannot be recorded
  std::unique_ptr<at::cuda::CUDAGraph> graph;
  RunValue value;  // its tensors are those of `outputs`, without a share of their own
  std::vector<Output> outputs;
};

class GraphExecutable final : public Executable {
 public:
  explicit GraphExecutable(std::unique_ptr<Executable> plain) : plain_(std::move(plain)) {}
  ~GraphExecutable() override = default;
  GraphExecutable(const GraphExecutable&) = delete;
  GraphExecutable& operator=(const GraphExecutable&) = delete;

  Result<RunValue> run(std::span<const TensorRef> inputs) override {
    Recorded* r = find(inputs);
    if (r == nullptr || r->broken) return plain_->run(inputs);
    if (r->graph == nullptr) {
      if (++r->seen < 2) return plain_->run(inputs);  // libraries make their choices at the first call
      if (!record(*r, inputs)) {
        r->broken = true;
        return plain_->run(inputs);
      }
    }
    if (std::any_of(r->outputs.begin(), r->outputs.end(), [](const Output& o) { return o.held(); }))
      return plain_->run(inputs);
    try {
      r->graph->replay();
    } catch (const std::exception& error) {
      return Error{Code::run, {}, brief_message(error.what()), {}};
    }
    std::size_t next = 0;
    return given(r->value, r->outputs, next);
  }

  void watch(std::vector<double>* seconds) override { plain_->watch(seconds); }

 private:
  Recorded* find(std::span<const TensorRef> inputs) {
    const auto same = [&](const std::unique_ptr<Recorded>& r) {
      return std::equal(r->addresses.begin(), r->addresses.end(), inputs.begin(), inputs.end(),
                        [](void* a, const TensorRef& t) { return a == t.data; });
    };
    const auto it = std::find_if(recorded_.begin(), recorded_.end(), same);
    if (it != recorded_.end()) return it->get();
    if (recorded_.size() >= kGraphLimit) return nullptr;
    auto& r = recorded_.emplace_back(std::make_unique<Recorded>());
    for (const TensorRef& t : inputs) r->addresses.push_back(t.data);
    return r.get();
  }

  // Runs the executable without doing its work; false where that is not possible.
  bool record(Recorded& r, std::span<const TensorRef> inputs) {
    try {
      c10::cuda::device_synchronize();
      auto graph = std::make_unique<at::cuda::CUDAGraph>();
      Result<RunValue> result = RunValue{};
      {
        const c10::cuda::CUDAStreamGuard side(c10::cuda::getStreamFromPool());
        recording = side.current_stream().stream();
        graph->capture_begin();
        result = plain_->run(inputs);
        recording = nullptr;
        graph->capture_end();  // throws where something was done that cannot be recorded
      }
      if (!result) return false;
      r.value = std::move(*result);
      keep(r.value, r, inputs);
      for (Output& o : r.outputs) o.alone = o.tensor.storage().use_count();
      r.graph = std::move(graph);
      return true;
    } catch (const std::exception&) {
      recording = nullptr;
      return false;
    }
  }

  // Tensors move from the value to the list of outputs.
  static void keep(RunValue& value, Recorded& r, std::span<const TensorRef> inputs) {
    if (value.kind == RunValue::Kind::tensor) {
      Output o{from_ref(value.tensor), 0, false};
      o.input = std::any_of(inputs.begin(), inputs.end(), [&](const TensorRef& t) {
        return t.owner.get() != nullptr && from_ref(t).storage().is_alias_of(o.tensor.storage());
      });
      r.outputs.push_back(std::move(o));
      value.tensor.owner = {};
    }
    for (RunValue& item : value.items) keep(item, r, inputs);
  }
  static RunValue given(const RunValue& value, const std::vector<Output>& outputs, std::size_t& next) {
    RunValue out = value;
    if (value.kind == RunValue::Kind::tensor) out.tensor = to_ref(outputs[next++].tensor);
    for (std::size_t i = 0; i < out.items.size(); ++i) out.items[i] = given(value.items[i], outputs, next);
    return out;
  }

  std::unique_ptr<Executable> plain_;
  std::vector<std::unique_ptr<Recorded>> recorded_;
};

}  // namespace

std::unique_ptr<Executable> make_graph_executable(std::unique_ptr<Executable> executable) {
  return std::make_unique<GraphExecutable>(std::move(executable));
}

void* recording_stream() { return recording; }

#else

std::unique_ptr<Executable> make_graph_executable(std::unique_ptr<Executable> executable) { return executable; }
void* recording_stream() { return nullptr; }

#endif

}  // namespace passnet
