#include "bench/subject.h"

#include <chrono>

namespace passnet {

namespace {

using Clock = std::chrono::steady_clock;

class LocalSide final : public Side {
 public:
  LocalSide(Engine& engine, Executable& executable, Subject::Timed timed)
      : engine_(engine), executable_(executable), timed_(std::move(timed)), inputs_(copies(timed_.inputs, engine)) {}

  void before(int trial) override {
    for (const std::size_t i : timed_.changing) engine_.copy(inputs_[i], timed_.inputs[i]).take();
    if (timed_.refresh) timed_.refresh(trial, inputs_);
    engine_.seed(kCallSeed);
  }
  double call_ms() override {
    const auto begin = Clock::now();
    auto result = executable_.run(inputs_);
    const auto end = Clock::now();
    result_ = result.take();
    return std::chrono::duration<double, std::milli>(end - begin).count();
  }
  void look(int trial) override {
    if (timed_.look) timed_.look(trial, result_, inputs_);
  }
  void drop() override { result_ = {}; }

 private:
  Engine& engine_;
  Executable& executable_;
  Subject::Timed timed_;
  std::vector<TensorRef> inputs_;
  RunValue result_;
};

class LocalSubject final : public Subject {
 public:
  LocalSubject(Engine& engine, std::unique_ptr<Executable> executable, std::shared_ptr<void> keep)
      : engine_(engine), keep_(std::move(keep)), executable_(std::move(executable)) {}
  Result<RunValue> run(std::vector<TensorRef>& inputs) override {
    engine_.seed(kCallSeed);
    return executable_->run(inputs);
  }
  std::unique_ptr<Side> side(Timed timed) override {
    return std::make_unique<LocalSide>(engine_, *executable_, std::move(timed));
  }

 private:
  Engine& engine_;
  std::shared_ptr<void> keep_;
  std::unique_ptr<Executable> executable_;
};

}  // namespace

std::unique_ptr<Subject> local_subject(Engine& engine, std::unique_ptr<Executable> executable,
                                       std::shared_ptr<void> keep) {
  return std::make_unique<LocalSubject>(engine, std::move(executable), std::move(keep));
}

std::vector<TensorRef> copies(const std::vector<TensorRef>& tensors, Engine& engine) {
  std::vector<TensorRef> out;
  for (const TensorRef& t : tensors) {
    out.push_back(engine.allocate(describe(t)).take());
    engine.copy(out.back(), t).take();
  }
  return out;
}

}  // namespace passnet
