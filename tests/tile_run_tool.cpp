// Runs kernels of pass files on given memory, for the differential tests (differential/tile_triton.py,
// tile_compiled.py).
//   tile_run_tool [--ways WAY,...] JOBS [FOLDER]      FOLDER: every stage of every kernel is written there
// JOBS has one JSON object a line:
//   {"name", "file", "kernel", "grid": [x, y, z], "data": PATH,
//    "arguments": [{"name", "dtype", "elements"} | {"name", "value", "constexpr"}, ...]}
// `data` holds the buffers' bytes one after the other, in the order of the arguments. A value is a number, a bool, null
// or a string; "triton.language.float32" is the element type. Each case is run in several ways from the same bytes:
// interpreted (the lowered function, not simplified), compiled, and checked (the checked build, which may touch
// everything); on request cuda and cuda_checked (on the GPU; the checked one must find nothing) and nvrtc (both
// compiled for GPUs of two generations, not run). What the buffers then hold goes to PATH.WAY; the answer is one line,
// {"name", "WAY": null or an error}.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "cuda/nvrtc.h"
#include "host/module.h"
#include "kernels/build.h"
#include "kernels/cuda_run.h"
#include "tile/interpret.h"
#include "tile/stages.h"
#include "tile_cpu/compile.h"
#include "tile_cpu/launch.h"
#include "tile_cuda/compile.h"

namespace {

using namespace passnet;
using nlohmann::json;

struct Case {
  std::unique_ptr<ModuleLoader> loader;
  LaunchPlan plan;
  Launch launch;
  std::vector<std::int64_t> bytes;  // by buffer
  const LaunchVariant& variant() const { return launch.variants[0]; }
};

Scalar read_scalar(const json& v) {
  Scalar out;
  if (v.is_boolean()) out.value = v.get<bool>();
  if (v.is_number_integer()) out.value = Integer(v.get<std::int64_t>());
  if (v.is_number_float()) out.value = v.get<double>();
  if (v.is_string()) out.value = v.get<std::string>();
  return out;
}

Case read_case(const json& job) {
  Case out;
  const std::filesystem::path file = job.at("file").get<std::string>();
  out.loader = std::make_unique<ModuleLoader>(file.parent_path().string());
  const PassModule& module = out.loader->load(file.stem().string());
  const Binding* kernel = module.find(job.at("kernel").get<std::string>());
  if (kernel == nullptr || kernel->kind != Binding::Kind::kernel) fail(Code::usage, "no such kernel");
  out.launch.kernel = {&kernel->owner->syntax, kernel->statement, kernel->owner};
  LaunchVariant& variant = out.launch.variants.emplace_back();
  variant.fp_fusion = job.value("fp_fusion", false);  // not as Triton but as the interpreter
  variant.num_warps = job.value("num_warps", variant.num_warps);
  variant.num_stages = job.value("num_stages", variant.num_stages);
  for (std::size_t i = 0; i < 3; ++i) variant.grid[i] = job.at("grid").at(i).get<std::int64_t>();
  for (const json& a : job.at("arguments")) {
    LaunchArgument& argument = out.launch.arguments.emplace_back();
    argument.name = a.at("name").get<std::string>();
    if (!a.contains("dtype")) {
      argument.scalar = read_scalar(a.at("value"));
      argument.constexpr_ = a.value("constexpr", false);
      continue;
    }
    argument.buffer = static_cast<BufferId>(out.plan.buffers.size());
    Buffer& buffer = out.plan.buffers.emplace_back();
    buffer.kind = BufferKind::input;
    buffer.input = out.plan.buffers.size() - 1;
    const auto dtype = dtype_from_name(a.at("dtype").get<std::string>());
    if (!dtype) fail(Code::usage, "no such dtype");
    buffer.desc.dtype = *dtype;
    buffer.desc.sizes = {a.at("elements").get<std::int64_t>()};
    buffer.desc.strides = {1};
    out.bytes.push_back(buffer.desc.sizes[0] * dtype_row(*dtype).size);
  }
  return out;
}

// The buffers' memory, each with its own alignment and a gap behind it.
class Arena {
 public:
  Arena(const std::vector<std::int64_t>& bytes, const std::string& data) : sizes_(bytes) {
    std::size_t at = 0;
    for (const std::int64_t n : bytes) {
      const auto size = static_cast<std::size_t>(n);
      if (at + size > data.size()) fail(Code::usage, "the data is too short");
      void* p = std::aligned_alloc(64, (size + 127) / 64 * 64);
      std::memcpy(p, data.data() + at, size);
      addresses_.push_back(p);
      at += size;
    }
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    for (void* p : addresses_) std::free(p);
  }
  void* const* addresses() const { return addresses_.data(); }
  std::string bytes() const {
    std::string out;
    for (std::size_t i = 0; i < addresses_.size(); ++i)
      out.append(static_cast<const char*>(addresses_[i]), static_cast<std::size_t>(sizes_[i]));
    return out;
  }

 private:
  std::vector<std::int64_t> sizes_;
  std::vector<void*> addresses_;
};

void interpret(const Case& c, const Arena& arena) {
  const tile::Function f = lower_launch(c.plan, c.launch, c.variant()).take();
  std::vector<tile::Argument> arguments(f.parameters.size());
  for (std::size_t i = 0; i < arguments.size(); ++i)
    for (const LaunchArgument& a : c.launch.arguments) {
      if (a.name != f.parameters[i]) continue;
      if (a.buffer >= 0) arguments[i].pointer = arena.addresses()[a.buffer];
      if (const auto* v = std::get_if<double>(&a.scalar.value)) arguments[i].real = *v;
      if (const auto* v = std::get_if<Integer>(&a.scalar.value)) arguments[i].integer = v->clamped();
      if (const auto* v = std::get_if<bool>(&a.scalar.value)) arguments[i].integer = *v ? 1 : 0;
    }
  tile::DirectMemory memory;
  tile::interpret(f, arguments, {c.variant().grid[0], c.variant().grid[1], c.variant().grid[2]}, memory).take();
}

tile_cpu::Build build_of(std::string_view way) {
  return way == "checked"    ? tile_cpu::Build::checked
         : way == "followed" ? tile_cpu::Build::followed
                             : tile_cpu::Build::fast;
}

void run_compiled(const Case& c, const Arena& arena, tile_cpu::Build build, const std::string& dump) {
  tile_cpu::StageDump show;
  if (!dump.empty())
    show = [&](std::string_view stage, const std::string& text) {
      file_write(fmt::format("{}.{}", dump, stage), text).take();
    };
  KernelSource source = build_kernel(c.plan, c.launch, c.variant(), arena.addresses(), build, show).take();
  const tile_cpu::LoadedKernel kernel = tile_cpu::compile(source.emitted.source, build).take();
  for (const auto& [parameter, buffer] : source.pointers)
    source.arguments[parameter].pointer = arena.addresses()[buffer];
  char* scratch = tile_cpu::thread_scratch(source.emitted.scratch_bytes);
  if (!is_hooked(build)) {
    reinterpret_cast<tile_cpu::Kernel>(kernel.entry)(source.arguments.data(), 0, source.emitted.programs, scratch);
    return;
  }
  bool held = true;
  const std::vector<tile_cpu::Hooks::Window> windows(source.emitted.sites.size());  // empty: all is asked
  const tile_cpu::Hooks hooks{
      windows.data(), &held, [](void*, std::int64_t, void*, std::int64_t, const void*) { return 1; },
      [](void* context, std::int64_t, std::int64_t) { *static_cast<bool*>(context) = false; }, INT64_MAX};
  reinterpret_cast<tile_cpu::CheckedKernel>(kernel.entry)(source.arguments.data(), 0, source.emitted.programs, scratch,
                                                          &hooks);
  if (!held) fail(Code::run, "an assertion of the kernel does not hold");
}

void run_cuda(const Case& c, const Arena& arena, const std::string& way) {
  const tile::Function f = lower_launch(c.plan, c.launch, c.variant()).take();
  if (way == "cuda") {
    cuda_run(f, c.plan, c.launch, c.variant(), arena.addresses()).take();
    return;
  }
  if (way == "cuda_checked") {
    const std::vector<bool> written(c.plan.buffers.size(), true);
    const auto shadow = cuda_check(f, c.plan, c.launch, c.variant(), arena.addresses(), written).take();
    if (!shadow->errors().empty()) fail(Error(shadow->errors()[0]));
    return;
  }
  for (const char* architecture : {"compute_80", "sm_90a"}) {
    const tile_cuda::Machine machine = tile_cuda::machine_of(architecture);
    for (const bool checked : {false, true}) {
      const auto emitted = cuda_source(f, c.plan, c.launch, c.variant(), arena.addresses(), machine, checked).take();
      cuda::compile(emitted.source, architecture).take();
    }
  }
}

json run(const json& job, const std::string& folder, const std::vector<std::string>& ways) {
  json answer{{"name", job.at("name")}};
  for (const std::string& way : ways) {
    const auto done = guarded([&] {
      const Case c = read_case(job);
      const auto data = job.at("data").get<std::string>();
      const Arena arena(c.bytes, file_read(data).take());
      if (way == "interpreted")
        interpret(c, arena);
      else if (way.starts_with("cuda") || way == "nvrtc")
        run_cuda(c, arena, way);
      else
        run_compiled(c, arena, build_of(way),
                     folder.empty() ? folder : folder + "/" + job.at("name").get<std::string>());
      return file_write(data + "." + way, arena.bytes()).take();
    });
    answer[way] = done ? json() : json(error_text(done.error()));
  }
  return answer;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc), ways = {"interpreted", "compiled", "checked"};
  if (words.size() > 2 && words[0] == "--ways") {
    ways.clear();
    for (const std::string_view way : text_split(words[1], ',')) ways.emplace_back(way);
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.empty() || words.size() > 2) {
    fmt::print(stderr, "usage: tile_run_tool [--ways WAY,...] JOBS [FOLDER]\n");
    return 2;
  }
  std::ifstream jobs(words[0]);
  std::string line;
  while (std::getline(jobs, line)) {
    fmt::print("{}\n", run(json::parse(line), words.size() > 1 ? words[1] : "", ways).dump());
    std::fflush(stdout);
  }
  return 0;
}
