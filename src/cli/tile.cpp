// passnet tile show|run|time|check: one kernel out of a file, at any stage of its way, and its values.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/tile_task.h"
#include "cli/time_limit.h"
#include "cli/validators.h"
#include "cuda/nvrtc.h"
#include "kernels/cuda_run.h"
#include "kernels/stage_dump.h"
#include "kernels/text.h"
#include "tile/effects.h"
#include "tile/interpret.h"
#include "tile/scalar.h"
#include "tile/stages.h"
#include "tile_cpu/checked.h"
#include "tile_cpu/compile.h"
#include "tile_cpu/launch.h"
#include "tile_cuda/compile.h"

namespace passnet::cli {

namespace {

struct Options {
  TileRequest request;
  std::string stage = "simplified", on = "both", check_on = "cpu";
  std::string architecture = "compute_90a";
  std::string cpp;  // a file
  int num_warps = 4, runs = 50, seconds = 120;
  std::int64_t values = 32, ulps = 8;
  bool all = false, json = false, fusion = false;
};

KernelSource build(const TileTask& task, const TileMemory& memory, tile_cpu::Build as,
                   const tile_cpu::StageDump& dump = {}) {
  return build_function(task.function, task.plan, task.launch(), task.variant(), memory.addresses(), as, dump).take();
}

// The request's own number of warps.
LaunchVariant gpu_variant(const Options& o, const TileTask& task) {
  LaunchVariant out = task.variant();
  out.num_warps = o.num_warps;
  out.fp_fusion = o.fusion;
  return out;
}

// For what runs the kernel here: the interpreter counts operations and the checked build the turns of `while`, but a
// `for` may have any number of turns.
TimeLimit time_limit(const Options& o, const TileTask& task) {
  const KernelRef& kernel = task.launch().kernel;
  return {o.seconds,
          {Code::limit,
           kernel.function == nullptr ? Where{o.request.file, 0, 0, {}} : kernel.module->where(kernel.function->place),
           fmt::format("kernel {} has not ended after {} seconds", task.function.name, o.seconds),
           {"does a loop take as many turns as are meant? Smaller sizes and a smaller --grid end sooner; --time-limit "
            "allows more"}}};
}

void print_stage(const Options& o, const std::string& text) {
  fmt::print("{}", with_head({o.request.arguments, o.request.grid}, o.stage, text));
}

int show(const Options& o) {
  const TileTask task = read_task(o.request);
  if (o.stage == "syntax") {
    if (task.launch().kernel.function == nullptr)
      fail({Code::usage,
            {},
            "a text of tile IR has no syntax stage",
            {"stages: lowered, specialised, simplified, cpp"}});
    print_stage(o, kernel_text(task.launch().kernel));
    return kOk;
  }
  if (o.stage == "lowered") {
    print_stage(o, tile::print(task.function));
    return kOk;
  }
  const TileMemory memory(task, o.request, false);
  if (o.stage == "cu" || o.stage == "checked-cu" || o.stage == "ptx") {
    const std::string source =
        cuda_source(task.function, task.plan, task.launch(), gpu_variant(o, task), memory.addresses(),
                    tile_cuda::machine_of(o.architecture), o.stage == "checked-cu")
            .take()
            .source;
    if (o.stage == "ptx")
      fmt::print("{}", cuda::compile(source, o.architecture).take().image);
    else
      print_stage(o, source);
    return kOk;
  }
  const auto as = o.stage == "checked-cpp"    ? tile_cpu::Build::checked
                  : o.stage == "followed-cpp" ? tile_cpu::Build::followed
                                              : tile_cpu::Build::fast;
  std::string text, wanted = o.stage == "asm" ? "cpp" : o.stage;
  std::replace(wanted.begin(), wanted.end(), '-', '_');
  build(task, memory, as, [&](std::string_view stage, const std::string& t) {
    if (stage == wanted) text = t;
  });
  if (o.stage == "asm")
    fmt::print("{}", tile_cpu::compile_to_assembly(text).take());
  else
    print_stage(o, text);
  return kOk;
}

tile::Extent extent_of(const TileTask& task, const TileMemory& memory, std::size_t buffer) {
  return {static_cast<const char*>(memory.addresses()[buffer]),
          static_cast<std::uint64_t>(hull_bytes(task.plan.buffers[buffer].desc))};
}

void run_interpreter(const TileTask& task, const TileMemory& memory) {
  std::vector<tile::Argument> arguments;
  const KernelSource source = build(task, memory, tile_cpu::Build::fast);  // for its arguments
  for (const tile_cpu::Argument& a : source.arguments) arguments.push_back({nullptr, a.integer, a.real});
  for (const auto& [parameter, buffer] : source.pointers) arguments[parameter].pointer = memory.addresses()[buffer];
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!tile::is_float(task.function.type(task.function.body.params[i]).elem)) arguments[i].real = 0;
  std::vector<tile::Extent> buffers(arguments.size());
  for (const auto& [parameter, buffer] : source.pointers)
    buffers[parameter] = extent_of(task, memory, static_cast<std::size_t>(buffer));
  tile::BoundedMemory bounded(task.function, std::move(buffers));
  tile::interpret(task.function, arguments, source.facts.grid, bounded).take();
}

std::unique_ptr<tile::Shadow> check_on_cpu(const TileTask& task, const TileMemory& memory,
                                           const std::vector<bool>& written, tile_cpu::Build as) {
  KernelSource source = build(task, memory, as);
  auto shadow = std::make_unique<tile_cpu::CheckedMemory>();
  for (std::size_t id = 0; id < task.plan.buffers.size(); ++id)
    shadow->add(memory.addresses()[id], hull_bytes(task.plan.buffers[id].desc),
                tile::elem_bytes(elem_of_buffer(task.plan.buffers[id])), written[id]);
  const tile::Shadow::Launch launch =
      checked_launch(source, source.emitted.sites, memory.addresses(), [](BufferId buffer) { return buffer; });
  const auto kernel = tile_cpu::compile(source.emitted.source, as).take();
  shadow->run(reinterpret_cast<tile_cpu::CheckedKernel>(kernel.entry), source.emitted, launch, source.arguments.data());
  return shadow;
}

// Compiled code trusts its accesses, and a wrong one would write into this process: a copy of the buffers goes first,
// through the build that makes the same accesses and asks before each. Where the interpreter went before and accesses
// follow from the launch alone, it has asked already.
void check_before_compiled(const Options& o, const TileTask& task) {
  if (o.on == "both" && !tile::accesses_by_contents(task.function)) return;
  const TileMemory memory(task, o.request);
  const std::vector<bool> written(task.plan.buffers.size(), true);
  const auto shadow = check_on_cpu(task, memory, written, tile_cpu::Build::followed);
  if (!shadow->errors().empty()) fail(shadow->errors()[0]);
}

// A text that somebody edited: what does not compile is not our bug.
tile_cpu::LoadedKernel compile_edited(const std::string& file) {
  auto out = tile_cpu::compile(file_read(file).take());
  if (out) return *out;
  Error& e = out.error();
  if (e.code == Code::internal) e.code = Code::usage;
  e.where.file = file;
  fail(std::move(e));
}

void run_compiled(const Options& o, const TileTask& task, const TileMemory& memory) {
  KernelSource source = build(task, memory, tile_cpu::Build::fast);
  if (source.is_empty()) return;
  check_before_compiled(o, task);
  const auto kernel = o.cpp.empty() ? tile_cpu::compile(source.emitted.source).take() : compile_edited(o.cpp);
  for (const auto& [parameter, buffer] : source.pointers)
    source.arguments[parameter].pointer = memory.addresses()[buffer];
  reinterpret_cast<tile_cpu::Kernel>(kernel.entry)(source.arguments.data(), 0, source.emitted.programs,
                                                   tile_cpu::thread_scratch(source.emitted.scratch_bytes));
}

// How many floats lie between the two; integers: 0 or very many.
std::uint64_t distance(tile::Elem elem, std::uint64_t a, std::uint64_t b) {
  if (a == b) return 0;
  constexpr std::uint64_t kFar = ~std::uint64_t{0};
  if (!tile::is_float(elem)) return kFar;
  const double x = tile::real_of(elem, a), y = tile::real_of(elem, b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y) ? 0 : kFar;
  const std::uint64_t sign = std::uint64_t{1} << (tile::elem_row(elem).bits - 1);
  const auto order = [&](std::uint64_t v) { return (v & sign) != 0 ? sign - (v & (sign - 1)) : sign + v; };
  const std::uint64_t p = order(a), q = order(b);
  return p < q ? q - p : p - q;
}

std::vector<std::size_t> shown_buffers(const TileTask& task, bool all) {
  const std::vector<bool> written = tile::written_parameters(task.function);
  std::vector<std::size_t> out;
  for (std::size_t id = 0; id < task.names.size(); ++id)
    for (std::size_t p = 0; p < written.size(); ++p)
      if (task.function.parameters[p] == task.names[id] && (all || written[p])) out.push_back(id);
  return out;
}

void print_values(const Options& o, const TileTask& task, std::size_t id, const void* address) {
  const Buffer& b = task.plan.buffers[id];
  const tile::Elem elem = elem_of_buffer(b);
  const std::int64_t n = b.desc.element_count(), shown = o.json ? n : std::min(n, o.values);
  std::vector<std::string> values;
  for (std::int64_t i = 0; i < shown; ++i) values.push_back(element_text(elem, element_bits(b, address, i)));
  if (o.json) {
    for (std::string& v : values)
      if (v.find('n') != std::string::npos) v = json_string(v);  // nan, inf
    fmt::print(R"({{"name": {}, "dtype": "{}", "shape": [{}], "values": [{}]}})"
               "\n",
               json_string(task.names[id]), dtype_row(b.desc.dtype).name, fmt::join(b.desc.sizes, ", "),
               text_join(values, ", "));
  } else {
    fmt::print("{}: {}[{}] = {}{}\n", task.names[id], dtype_row(b.desc.dtype).name, fmt::join(b.desc.sizes, ", "),
               text_join(values, " "), n > shown ? fmt::format(" ... {} more", n - shown) : "");
  }
}

// Says how the two differ; true where they are as near as asked for.
bool compare(const Options& o, const TileTask& task, std::size_t id, const void* reference, const void* compiled) {
  const Buffer& b = task.plan.buffers[id];
  const tile::Elem elem = elem_of_buffer(b);
  std::uint64_t worst = 0;
  std::int64_t count = 0, at = 0;
  for (std::int64_t i = 0; i < b.desc.element_count(); ++i) {
    const std::uint64_t d = distance(elem, element_bits(b, reference, i), element_bits(b, compiled, i));
    count += d != 0 ? 1 : 0;
    if (d > worst) {
      worst = d;
      at = i;
    }
  }
  const bool near = worst <= static_cast<std::uint64_t>(o.ulps);
  if (count > 0)
    fmt::print(stderr, "{}: {} elements differ, most [{}]: interpreter {}, compiled {}{}\n", task.names[id], count, at,
               element_text(elem, element_bits(b, reference, at)), element_text(elem, element_bits(b, compiled, at)),
               worst == ~std::uint64_t{0} ? "" : fmt::format(" ({} ulp)", worst));
  if (!near && tile::is_float(elem))
    fmt::print(stderr, "  sums in another order differ, too: --ulps says how far floats may lie apart ({})\n", o.ulps);
  return near;
}

int run(const Options& o) {
  const TileTask task = read_task(o.request);
  const TileMemory reference(task, o.request), compiled(task, o.request);
  const TimeLimit limit = time_limit(o, task);
  const bool cuda = o.on.starts_with("cuda"), both = o.on == "both" || o.on == "cuda-both";
  if (!o.cpp.empty() && (cuda || o.on == "interpreter"))
    fail({Code::usage, {}, "--cpp is for the compiled kernel on the CPU", {"use it with --on cpu or both"}});
  if (both || o.on == "interpreter") run_interpreter(task, reference);
  if (cuda)
    cuda_run(task.function, task.plan, task.launch(), gpu_variant(o, task), compiled.addresses()).take();
  else if (o.on != "interpreter")
    run_compiled(o, task, compiled);
  bool right = true;
  for (const std::size_t id : shown_buffers(task, o.all)) {
    print_values(o, task, id, (o.on == "interpreter" ? reference : compiled).addresses()[id]);
    if (both) right &= compare(o, task, id, reference.addresses()[id], compiled.addresses()[id]);
  }
  return right ? kOk : kFailed;
}

int time(const Options& o) {
  const TileTask task = read_task(o.request);
  std::vector<double> ms = cuda_time(task.function, task.plan, task.launch(), gpu_variant(o, task), o.runs).take();
  std::sort(ms.begin(), ms.end());
  const auto at = [&](double share) {
    return ms[static_cast<std::size_t>(share * static_cast<double>(ms.size() - 1))] * 1e3;
  };
  fmt::print("{:.2f} us in the median of {} launches with a cold cache ({:.2f} to {:.2f})\n", at(0.5), ms.size(), at(0),
             at(1));
  return kOk;
}

int check(const Options& o) {
  const TileTask task = read_task(o.request);
  const TileMemory memory(task, o.request);
  const std::int64_t* grid = task.variant().grid;
  const std::int64_t programs = grid[0] * grid[1] * grid[2];
  if (programs == 0) {
    fmt::print("no programs\n");
    return kOk;
  }
  const TimeLimit limit = time_limit(o, task);
  std::vector<bool> written;
  for (const BufferFill& fill : task.fills) written.push_back(fill.how != "empty");
  const auto shadow = o.check_on == "cuda" ? cuda_check(task.function, task.plan, task.launch(), gpu_variant(o, task),
                                                        memory.addresses(), written)
                                                 .take()
                                           : check_on_cpu(task, memory, written, tile_cpu::Build::checked);
  for (const Error& e : shadow->errors()) fmt::print(stderr, "{}\n", error_text(e));
  for (std::size_t id = 0; id < task.plan.buffers.size(); ++id) {
    const TensorDesc& d = task.plan.buffers[id].desc;
    const std::int64_t size = tile::elem_bytes(elem_of_buffer(task.plan.buffers[id]));
    std::int64_t missing = 0;
    for (std::int64_t i = 0; i < d.hull(); ++i)
      missing += shadow->is_written(static_cast<std::int32_t>(id), i * size) ? 0 : 1;
    if (missing > 0) fmt::print("{}: {} of {} elements are not written\n", task.names[id], missing, d.hull());
  }
  if (shadow->errors().empty()) fmt::print("no memory errors in {} program{}\n", programs, programs == 1 ? "" : "s");
  return shadow->errors().empty() ? kOk : kFailed;
}

// compute_80, sm_90a
std::string is_architecture(const std::string& text) {
  const std::size_t bar = text.find('_');
  const std::string kind = text.substr(0, bar), number = bar == std::string::npos ? "" : text.substr(bar + 1);
  const std::size_t digits = std::min(number.find_first_not_of("0123456789"), number.size());
  const std::string suffix = number.substr(digits);
  const bool known = (kind == "compute" || kind == "sm") && digits >= 2 && digits <= 3 &&
                     (suffix.empty() || suffix == "a" || suffix == "f");
  return known ? "" : "'" + text + "' is no architecture; write compute_90a";
}

}  // namespace

void add_tile(CLI::App& app, Outcome& outcome) {
  auto o = std::make_shared<Options>();
  CLI::App* tile = app.add_subcommand("tile", "Show, run and check one kernel out of a file");
  tile->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, int (*function)(const Options&)) {
    CLI::App* c = tile->add_subcommand(name, help);
    c->add_option("file", o->request.file, "A Python file with kernels, or tile IR as `tile show` prints it (.tile)")
        ->required()
        ->type_name("FILE");
    c->add_option("--kernel", o->request.kernel,
                  "Which kernel of a Python file, by its name or as Class.name; default: the only one");
    c->add_option(
        "--args", o->request.arguments,
        "By name: x_ptr=float32[64, 32], n=5, BLOCK=1024. Tensors are random, or arange(t), zeros(t), ones(t), "
        "full(t, 1.5), empty(t) of a type t. As launch plans print them, too: BLOCK!=1024, T!=triton.language.float32");
    c->add_option("--grid", o->request.grid,
                  "One to three sizes: 4 or 4,2,1. Default: as the file's first lines say, like --args, or 1");
    c->add_option("--inputs", o->request.inputs, "A JSON file with values: {\"x_ptr\": [1.0, 2.0]}")->type_name("FILE");
    c->add_option("--seed", o->request.seed, "Of random values")->check(kNatural)->capture_default_str();
    c->add_flag("--fp-fusion", o->fusion, "On a GPU a product and a sum after it may be rounded once, as Triton does");
    c->add_option("--num-warps", o->num_warps, "Of a program on a GPU")
        ->check(CLI::IsMember({1, 2, 4, 8, 16, 32}))
        ->capture_default_str();
    if (std::string_view(name) == "run" || std::string_view(name) == "check")
      c->add_option("--time-limit", o->seconds, "Seconds after which a kernel that has not ended is given up")
          ->check(CLI::Range(1, 1'000'000))
          ->capture_default_str();
    c->callback([=, &outcome] {
      o->request = completed(std::move(o->request));
      outcome.code = function(*o);
    });
    return c;
  };
  CLI::App* s = add("show", "Print the kernel at a stage", show);
  s->add_option("--stage", o->stage,
                "syntax, lowered, specialised, simplified; cpp, checked-cpp, followed-cpp, asm for the CPU; cu, "
                "checked-cu, ptx for a GPU")
      ->check(CLI::IsMember({"syntax", "lowered", "specialised", "simplified", "cpp", "checked-cpp", "followed-cpp",
                             "asm", "cu", "checked-cu", "ptx"}))
      ->capture_default_str();
  s->add_option("--arch", o->architecture, "Of cu and ptx: compute_80, compute_90a, ...")
      ->check(is_architecture)
      ->capture_default_str();
  CLI::App* r = add("run", "Run the kernel and print what it wrote", run);
  r->add_option("--on", o->on,
                "interpreter (the reference), cpu or cuda (compiled); both, cuda-both: compared with the reference")
      ->check(CLI::IsMember({"interpreter", "cpu", "cuda", "both", "cuda-both"}))
      ->capture_default_str();
  r->add_option("--cpp", o->cpp, "Run this C++ for the compiled kernel: the stage cpp, edited")->type_name("FILE");
  r->add_option("--values", o->values, "How many values to print of a tensor")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
      ->capture_default_str();
  r->add_option("--ulps", o->ulps, "How far floats of the two may lie apart")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
      ->capture_default_str();
  r->add_flag("--all", o->all, "Print tensors that are only read too");
  r->add_flag("--json", o->json, "One JSON object a tensor, all values");
  CLI::App* t = add("time", "Time the kernel on the GPU, its tensors zeros", time);
  t->add_option("--runs", o->runs, "Launches")->check(CLI::Range(1, 100000))->capture_default_str();
  CLI::App* c = add("check", "Run the checked build: accesses out of bounds, reads of unwritten memory, races", check);
  c->add_option("--on", o->check_on, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}))->capture_default_str();
}

}  // namespace passnet::cli
