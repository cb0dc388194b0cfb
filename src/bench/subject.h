// Something that computes a graph's outputs: eager, a rewritten graph, a peer in another process.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "bench/timing.h"
#include "exec/engine.h"

namespace passnet {

inline constexpr std::uint64_t kCallSeed = 1024;  // the generator's seed whenever a graph is called

class Subject {
 public:
  virtual ~Subject() = default;
  // Changes inputs where the graph does.
  virtual Result<RunValue> run(std::vector<TensorRef>& inputs) = 0;
  virtual void set_threads(int /*count*/) {}  // of subjects with threads of their own
  virtual void use_graphs() {}                // CUDA graphs from now on, where they can be (Engine::with_graphs)

  // To be timed on `inputs`, which lie at `place` already (none: copies of them do). Those of the numbers in `changing`
  // are changed by each call, and restored before it. `look` sees what a trial gave.
  struct Timed {
    std::vector<TensorRef> inputs, place;
    std::vector<std::size_t> changing;
    std::function<void(int trial, std::vector<TensorRef>& inputs)> refresh;  // before a trial; may write other inputs
    std::function<void(int trial, const RunValue& result, const std::vector<TensorRef>& inputs)> look;  // after it
    // When its result is given back. All of it that is no input is overwritten then, so that no call finds an answer.
    std::function<std::size_t()> forget;  // gives the bytes of what else was overwritten
  };
  virtual std::unique_ptr<Side> side(Timed timed) = 0;
};

// A program that was prepared for `device`, in this process. `keep` holds what the executable refers to.
std::unique_ptr<Subject> local_subject(Engine& engine, DeviceType device, std::unique_ptr<Executable> executable,
                                       std::shared_ptr<void> keep = {});

// Independent tensors of the same contents.
std::vector<TensorRef> copies(const std::vector<TensorRef>& tensors, Engine& engine);

// What lies elsewhere, copied to the CPU; what is there already, as it is. Nothing else looks into a tensor's memory.
RunValue on_cpu(const RunValue& value, Engine& engine);

}  // namespace passnet
