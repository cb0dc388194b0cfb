// What a wrapper does for given shapes, dtypes and scalars, as plain data: buffers, fills, copies and launches in
// order. The host program is run once to record it; later calls replay it. One format for the CPU and for CUDA.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/integer.h"
#include "exec/engine.h"
#include "py/ast.h"

namespace passnet {

using BufferId = std::int32_t;

enum class BufferKind : std::uint8_t {
  input,  // argument number `input` of the wrapper
  fresh,  // allocated; `fill` says with what
  view,   // of `base`, `offset` elements in
  copy,   // fresh, filled from `base` element by element in logical order, converted to `desc.dtype`
};
enum class Fill : std::uint8_t { none, value };

struct Scalar {
  std::variant<std::monostate, bool, Integer, double, std::string> value;  // string: a dtype or a name for constexpr
  bool operator==(const Scalar&) const = default;
};

struct Buffer {
  BufferKind kind = BufferKind::fresh;
  TensorDesc desc;
  BufferId base = -1;
  std::int64_t offset = 0;  // of a view, in elements from the start of its base
  std::size_t input = 0;
  Fill fill = Fill::none;            // of a view: y.zero_(), in its place between the launches
  Scalar fill_value;                 // a float, or an integer that no float is; of 64 bits
  py::Place place;                   // the wrapper's line that made it
  const py::Module* file = nullptr;  // which file's
};

// A tensor as a kernel sees it through a tensor descriptor.
struct TensorBlocks {
  std::vector<std::int64_t> sizes, strides, block;
};

struct PassModule;

struct KernelClosure;

struct KernelRef {
  const py::Module* module = nullptr;
  const py::Stmt* function = nullptr;
  const PassModule* owner = nullptr;                       // whose names the kernel sees
  std::shared_ptr<const KernelClosure> closure = nullptr;  // and before these, of a kernel that a function made
  std::string name() const { return std::string(function->name); }
};

// A tuple is an argument without a value, followed by one for each item (tile::item_name).
struct LaunchArgument {
  std::string name;
  BufferId buffer = -1;  // a tensor, or
  Scalar scalar;         // a number, bool, None or a constexpr
  bool constexpr_ = false;
  std::optional<TensorBlocks> blocks;  // the tensor comes as a descriptor
  std::optional<std::size_t> items;    // of a tuple
  KernelRef function;                  // a device function, whose name is the scalar
};

inline constexpr std::int64_t kMostPrograms[3] = {2147483647, 65535, 65535};  // of a grid, as CUDA has it

// One way to launch: autotuned kernels have several, of which the back-end keeps the fastest.
struct LaunchVariant {
  std::vector<LaunchArgument> meta;  // the configuration's constexprs
  std::int64_t grid[3] = {1, 1, 1};
  int num_warps = 4;
  int num_stages = 3;
  bool fp_fusion = true;  // enable_fp_fusion: on a GPU a product and a sum after it may be rounded once
};

struct Launch {
  KernelRef kernel;
  std::vector<LaunchArgument> arguments;  // in the kernel's order, without what a variant gives
  std::vector<LaunchVariant> variants;    // at least one
  std::vector<std::string> autotune_key;  // names of arguments; empty where not autotuned
  std::vector<std::string> restored;      // what autotune resets or restores between its trials
  py::Place place;
};

// The result's structure: a buffer, a scalar, or a tuple of them.
struct PlanOutput {
  BufferId buffer = -1;
  Scalar scalar;
  std::vector<PlanOutput> items;
  bool is_tuple = false;
};

struct LaunchPlan {
  std::vector<Buffer> buffers;  // in the order they are made; an action refers to those before it
  std::vector<Launch> launches;
  std::vector<std::pair<bool, std::size_t>> order;  // (true, buffer) or (false, launch): what happens when
  PlanOutput output;
};

// What the launch or its variant gives by that name; null if neither does.
const LaunchArgument* find_argument(const Launch& launch, const LaunchVariant& variant, std::string_view name);

// Python's spelling.
std::string scalar_text(const Scalar& scalar);
// Arguments by name as `passnet tile --args` takes them (BLOCK!=64 is a constant), each buffer as `buffer` says it.
using BufferText = std::function<std::string(BufferId)>;
std::vector<std::string> arguments_text(const std::vector<LaunchArgument>& arguments, const BufferText& buffer,
                                        bool constants = true);
// One line a buffer and a launch, for people and tests.
std::string plan_text(const LaunchPlan& plan);

}  // namespace passnet
