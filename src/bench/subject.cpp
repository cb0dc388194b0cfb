#include "bench/subject.h"

#include <algorithm>
#include <chrono>

#include "cuda/clock.h"
#include "pass/wrapper_step.h"

namespace passnet {

namespace {

using Clock = std::chrono::steady_clock;

class LocalSide : public Side {
 public:
  LocalSide(Engine& engine, Executable& executable, Subject::Timed timed)
      : engine_(engine),
        executable_(executable),
        timed_(std::move(timed)),
        inputs_(timed_.place.empty() ? copies(timed_.inputs, engine) : timed_.place) {}

  void before(int trial) override {
    for (const std::size_t i : timed_.changing) engine_.copy(inputs_[i], timed_.inputs[i]).take();
    if (timed_.refresh) timed_.refresh(trial, inputs_);
    engine_.seed(kCallSeed);
    wake();
  }
  double call_ms() override {
    const auto begin = Clock::now();
    auto result = run();
    const auto end = Clock::now();
    keep(result.take());
    return std::chrono::duration<double, std::milli>(end - begin).count();
  }
  void look(int trial) override {
    if (timed_.look) timed_.look(trial, result_, inputs_);
  }
  void drop() override {
    std::size_t used = spoil(result_);
    result_ = {};
    const std::size_t spoilt = used + (timed_.forget ? timed_.forget() : 0);
    for (const TensorRef& input : inputs_) used += bytes_of(input);
    disturbs_ = spoilt > kFair * used + kAnyway;
  }
  bool disturbs() const override { return disturbs_; }

 protected:
  Result<RunValue> run() { return executable_.run(inputs_); }
  void keep(RunValue result) { result_ = std::move(result); }

 private:
  // Threads that have waited for long sleep, and waking them takes longer than many calls: only the side that uses them
  // would pay.
  void wake() {
    engine_.parallel(
        engine_.threads(), 1, [](void*, std::int64_t, std::int64_t) {}, nullptr);
  }

  // More is given back than results and as much again, twice: memory that a candidate only takes.
  static constexpr std::size_t kFair = 2, kAnyway = std::size_t{1} << 20;
  static std::size_t bytes_of(const TensorRef& t) {
    return static_cast<std::size_t>(describe(t).hull()) * dtype_row(t.dtype).size;
  }
  // What cannot be written (it is expanded, say) is left alone. Gives the bytes of all.
  std::size_t spoil(RunValue& value) {
    const auto is_input = [&](const TensorRef& input) {
      const auto at = [](const TensorRef& t) { return static_cast<const char*>(t.data); };
      return at(value.tensor) < at(input) + bytes_of(input) && at(input) < at(value.tensor) + bytes_of(value.tensor);
    };
    std::size_t out = 0;
    if (value.kind == RunValue::Kind::tensor && std::none_of(inputs_.begin(), inputs_.end(), is_input)) {
      (void)passnet::spoil(engine_, value.tensor);
      out += bytes_of(value.tensor);
    }
    for (RunValue& item : value.items) out += spoil(item);
    return out;
  }

  Engine& engine_;
  Executable& executable_;
  Subject::Timed timed_;
  std::vector<TensorRef> inputs_;
  RunValue result_;
  bool disturbs_ = false;
};

// The same on a GPU: its cache is emptied and all its work is done before the clocks start.
class CudaSide final : public LocalSide {
 public:
  CudaSide(Engine& engine, Executable& executable, Subject::Timed timed)
      : LocalSide(engine, executable, std::move(timed)), clock_(*cuda::device().take()) {}

  void before(int trial) override {
    LocalSide::before(trial);
    if (cold_)
      clock_.flush();
    else
      clock_.settle();
  }
  double call_ms() override {
    clock_.start(events_);
    auto result = run();
    elapsed_ = clock_.stop();
    keep(result.take());
    return elapsed_.e2e_ms;
  }
  bool disturbs() const override { return false; }  // the cache is emptied before each call
  std::optional<double> gpu_ms() const override { return events_ ? std::optional(elapsed_.gpu_ms) : std::nullopt; }
  bool set_series(Series series) override {
    cold_ = !series.warm;
    events_ = series.events;
    return true;
  }

 private:
  cuda::DeviceClock clock_;
  cuda::Elapsed elapsed_;
  bool cold_ = true, events_ = false;
};

class LocalSubject final : public Subject {
 public:
  LocalSubject(Engine& engine, DeviceType device, std::unique_ptr<Executable> executable, std::shared_ptr<void> keep)
      : engine_(engine), device_(device), keep_(std::move(keep)), executable_(std::move(executable)) {}
  Result<RunValue> run(std::vector<TensorRef>& inputs) override {
    engine_.seed(kCallSeed);
    auto result = executable_->run(inputs);
    auto done = engine_.synchronise(device_);  // what fails there is found here, not by whoever comes next
    if (result && !done) return std::move(done.error());
    return result;
  }
  void use_graphs() override {
    if (device_ == DeviceType::cuda) executable_ = engine_.with_graphs(std::move(executable_));
  }
  std::unique_ptr<Side> side(Timed timed) override {
    if (device_ == DeviceType::cuda) return std::make_unique<CudaSide>(engine_, *executable_, std::move(timed));
    return std::make_unique<LocalSide>(engine_, *executable_, std::move(timed));
  }

 private:
  Engine& engine_;
  DeviceType device_;
  std::shared_ptr<void> keep_;
  std::unique_ptr<Executable> executable_;
};

}  // namespace

std::unique_ptr<Subject> local_subject(Engine& engine, DeviceType device, std::unique_ptr<Executable> executable,
                                       std::shared_ptr<void> keep) {
  return std::make_unique<LocalSubject>(engine, device, std::move(executable), std::move(keep));
}

std::vector<TensorRef> copies(const std::vector<TensorRef>& tensors, Engine& engine) {
  std::vector<TensorRef> out;
  for (const TensorRef& t : tensors) {
    out.push_back(engine.allocate_kept(describe(t)).take());
    engine.copy(out.back(), t).take();
  }
  return out;
}

RunValue on_cpu(const RunValue& value, Engine& engine) {
  RunValue out = value;
  if (value.kind == RunValue::Kind::tensor && value.tensor.device != DeviceType::cpu)
    out.tensor = engine.contiguous_on_cpu(value.tensor).take();
  for (RunValue& item : out.items) item = on_cpu(item, engine);
  return out;
}

}  // namespace passnet
