// A wrapper as a step of a running program: recorded once per shapes, dtypes and scalars, then replayed. A replay
// compares the arguments with the recorded ones, allocates the outputs and calls the kernels; nothing else.
#pragma once

#include "host/host.h"
#include "kernels/backend.h"
#include "pass/load.h"

namespace passnet {

class WrapperStep final : public ExternalStep {
 public:
  WrapperStep(const Pass& pass, Engine& engine, KernelBackend& backend)
      : pass_(pass), engine_(engine), backend_(backend) {}
  Result<RunValue> run(std::span<const RunValue> arguments) override;
  // Memory that nobody has written holds NaN (or a strange integer), not what was there before: an old answer, say.
  void poison(bool on) { poison_ = on; }
  // The same, when nothing may be written while a call runs: all its memory is held from now on until `forget` spoils
  // it, so that no call finds what another left behind.
  void hold(bool on) { holds_ = on; }
  std::size_t forget();  // gives their bytes

  struct Recorded {
    std::string arguments;  // what the plan was recorded for, as text
    LaunchPlan plan;
    std::vector<RunValue> key;                // the same, without data
    bool nested = false;                      // tensors lie in tuples among the arguments
    std::unique_ptr<PreparedPlan> prepared;   // for where the inputs lie now
    std::vector<std::uint8_t> tensor_needed;  // by buffer: more than its address is used
    std::vector<std::uint8_t> kept;           // by buffer: memory that no output refers to is used again
    std::vector<void*> addresses;             // by buffer
    std::vector<TensorRef> tensors;           // by buffer, where needed or kept
    std::size_t next = 0;                     // which plan was run after this one the last time
  };
  // In the order of recording.
  const std::vector<std::unique_ptr<Recorded>>& plans() const { return plans_; }

 private:
  Recorded& find(std::span<const RunValue> arguments);
  std::unique_ptr<Recorded> record(std::span<const RunValue> arguments) const;
  RunValue replay(Recorded& r, std::span<const RunValue> arguments);
  void make_buffer(Recorded& r, std::size_t id, std::span<const RunValue> arguments);

  const Pass& pass_;
  Engine& engine_;
  KernelBackend& backend_;
  std::vector<std::unique_ptr<Recorded>> plans_;
  std::size_t last_ = 0;  // the plan that was run last
  bool poison_ = false, holds_ = false;
  std::vector<TensorRef> held_;
};

// NaN, or a strange integer, in all of it.
Result<std::monostate> spoil(Engine& engine, TensorRef& tensor);

}  // namespace passnet
