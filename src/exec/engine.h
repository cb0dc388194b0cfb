// exec's door: run programs on real tensors. No torch header is seen outside src/exec/aten, which is a shared library
// of its own: commands that only read graphs never load libtorch (0.4 s).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "exec/tensor_ref.h"
#include "fx/folder.h"
#include "ops/program.h"

namespace passnet {

// What a program gives back.
struct RunValue {
  enum class Kind : std::uint8_t { none, boolean, integer, real, text, tensor, list } kind = Kind::none;
  std::int64_t integer = 0;  // boolean, integer
  double real = 0;
  std::string text;  // text: a str, or the repr of anything else
  TensorRef tensor;
  std::vector<RunValue> items;
};

// A function that a program calls and exec does not know: a pass's wrapper. Steps of a plan implement it.
class ExternalStep {
 public:
  virtual ~ExternalStep() = default;
  virtual Result<RunValue> run(std::span<const RunValue> arguments) = 0;
};

// A program bound to operator handles: prepared once, run often. Not for two threads at once.
class Executable {
 public:
  virtual ~Executable() = default;
  // Inputs in the order of the placeholders. In-place operators change them, as in Python.
  virtual Result<RunValue> run(std::span<const TensorRef> inputs) = 0;
  // From now on runs add the seconds of every node of the graph to its element here; nullptr: no longer.
  virtual void watch(std::vector<double>* seconds) = 0;
};

// The replay of an input (docs/graphs.md): a recorded standard deviation is scaled, and this where there is none.
inline constexpr double kReplayFactor = 0.2, kReplayStd = 0.1;

// Where normal numbers come from: torch's generator, as the format says, or a quicker one for inputs that nobody
// recorded; `far`: the quicker one, with one number in sixteen from one deviation on to far out; `zeros`: some of these
// are zero, and one row; `lone`: far, in each large tensor some numbers more, which outweigh all others; `uneven`: each
// row, column and plane lies at a level of its own.
enum class Normals : std::uint8_t { torch, quick, far, zeros, lone, uneven };

// What every element of a tensor becomes, converted to its type as torch does.
using FillNumber = std::variant<double, std::int64_t, std::uint64_t>;

class Engine {
 public:
  // Does the items begin..end-1 of some work. Must not throw.
  using Range = void (*)(void* context, std::int64_t begin, std::int64_t end);

  virtual ~Engine() = default;
  virtual std::string torch_version() const = 0;
  // Whether programs can run there; the error says what is missing. Asked for CUDA it starts CUDA, and the process must
  // not be forked after that.
  virtual Result<std::monostate> require(DeviceType device) = 0;
  // Waits for all that was given to a device, on every stream. An error is what went wrong there since the last time.
  virtual Result<std::monostate> synchronise(DeviceType device) = 0;
  // Of a device's memory, this share at most is allocated from now on. The CPU's has no such limit.
  virtual void limit_memory(DeviceType device, double share) = 0;
  virtual int threads() const = 0;
  virtual void set_threads(int count) = 0;
  virtual void seed(std::uint64_t value) = 0;
  // Calls `work` for all of 0..count-1, in at most one range a thread, none smaller than `grain` but the last: over
  // torch's own threads, so that one pool serves both. Returns when all is done.
  virtual void parallel(std::int64_t count, std::int64_t grain, Range work, void* context) = 0;
  // `graph` gives errors their lines; a device literal in the program means `device`.
  // `externals`: one for each function the program was lowered with; they outlive the executable.
  virtual Result<std::unique_ptr<Executable>> prepare(const Program& program, const Graph& graph, DeviceType device,
                                                      std::span<ExternalStep* const> externals = {}) = 0;
  // On a GPU: an executable that records what this one launches as a CUDA graph, when its inputs lie at the same
  // addresses a second time, and replays it from then on. What it gave is not overwritten while somebody holds it:
  // then, and where something cannot be recorded, the plain one runs.
  virtual std::unique_ptr<Executable> with_graphs(std::unique_ptr<Executable> executable) = 0;
  // Where kernels of ours go on a GPU: null, the stream that torch uses, or the one that is being recorded.
  virtual void* stream() const = 0;
  // The graph's inputs from its metas: one draw each from the CPU generator, which is seeded first.
  virtual Result<std::vector<TensorRef>> replay(const GraphFolder& folder, std::uint64_t seed, DeviceType device,
                                                Normals normals = Normals::torch) = 0;
  // A copy on the CPU with contiguous rows; the same tensor where it is one already.
  virtual Result<TensorRef> contiguous_on_cpu(const TensorRef& tensor) = 0;

  // What wrappers need of tensors.
  virtual Result<TensorRef> allocate(const TensorDesc& desc) = 0;
  // The same for what is kept: as the inputs that replay gives, on large pages where it is large.
  virtual Result<TensorRef> allocate_kept(const TensorDesc& desc) = 0;
  virtual Result<std::monostate> fill(const TensorRef& tensor, const FillNumber& value) = 0;
  // Element by element in logical order, converted to the target's dtype.
  virtual Result<std::monostate> copy(const TensorRef& target, const TensorRef& source) = 0;
  // The same memory with other sizes and strides, `offset` elements in.
  virtual Result<TensorRef> view(const TensorRef& base, const TensorDesc& desc, std::int64_t offset) = 0;
};

// Loads the shared library beside the binary on first use. The error says what to install.
Result<Engine*> engine_load();

Result<DeviceType> device_from_name(const std::string& name);

}  // namespace passnet
