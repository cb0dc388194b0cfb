// passnet doctor: what this machine has, and which features follow.
#include <fmt/format.h>
#include <sys/utsname.h>

#include "base/cache.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "bench/peer.h"
#include "cli/command.h"
#include "cuda/driver.h"
#include "cuda/nvrtc.h"
#include "exec/engine.h"
#include "guard/seal.h"
#include "ops/table.h"
#include "tile_cpu/compile.h"

namespace passnet::cli {

namespace {

struct Finding {
  std::string what, state, follows;
  bool required;
  bool good;
};

std::string gpu_text(const cuda::Device& d) {
  return fmt::format("{}, compute capability {}.{}, {} GiB, driver for CUDA {}.{}", d.name, d.major, d.minor,
                     d.memory_bytes >> 30, d.driver_version / 1000, d.driver_version % 1000 / 10);
}

// The Python of the candidates that run in it.
std::string python_text(const PeerPython& python) {
  if (!python.trouble.empty()) return python.path + ": does not run";
  return python.torch.empty() ? python.path + ": has no torch"
                              : fmt::format("{}: {}, torch {}", python.path, python.version, python.torch);
}

int doctor(bool json) {
  std::vector<Finding> findings;
  utsname name{};
  ::uname(&name);
  findings.push_back(
      {"machine", fmt::format("{} {}, {} cores", name.sysname, name.machine, core_count()), "", false, true});
  const auto engine = engine_load();
  if (engine) {
    findings.push_back({"libtorch", (*engine)->torch_version(), "graphs run (graph run)", true, true});
    const auto cuda = (*engine)->require(DeviceType::cuda);
    findings.push_back({"CUDA", cuda ? "yes" : cuda.error().message, "graphs run on a GPU (--device cuda)", false,
                        static_cast<bool>(cuda)});
  } else {
    findings.push_back({"libtorch", engine.error().message, "graphs run (graph run)", true, false});
  }
  findings.push_back({"operator table",
                      fmt::format("{} explicit rows, {} ATen overloads", op_rows().size(), aten_rows().size()),
                      "graphs are checked (graph check)", true, !aten_rows().empty()});
  const auto compiler = tile_cpu::compiler_seen();
  findings.push_back({"kernel compiler",
                      compiler ? fmt::format("{}: {}", compiler->path, compiler->version) : compiler.error().message,
                      "passes run (run, tile run)", false, static_cast<bool>(compiler)});
  const auto gpu = cuda::device();
  findings.push_back({"GPU", gpu ? gpu_text(**gpu) : gpu.error().message, "kernels run on it (--device cuda)", false,
                      static_cast<bool>(gpu)});
  const auto nvrtc = cuda::nvrtc();
  findings.push_back({"NVRTC",
                      nvrtc ? fmt::format("{}.{}, {}", nvrtc->major, nvrtc->minor, nvrtc->path) : nvrtc.error().message,
                      "kernels are compiled for a GPU", false, static_cast<bool>(nvrtc)});
  const auto cache = cache_folder_seen();
  findings.push_back({"kernel cache",
                      !cache                ? cache.error().message
                      : file_exists(*cache) ? *cache
                                            : fmt::format("{} (not made yet)", *cache),
                      "kernels are compiled once", false, static_cast<bool>(cache)});
  const PeerPython python = peer_look();
  findings.push_back(
      {"Python", python_text(python), "eager-python and inductor are candidates", false, !python.torch.empty()});
  const auto missing = guard::missing_features();
  findings.push_back({"sandbox",
                      missing.empty() ? fmt::format("{} rules: Landlock, seccomp, limits", guard::seal_rules().size())
                                      : text_join(missing, "; "),
                      "a candidate reaches no files, processes, network", false, missing.empty()});
  for (const auto& [program, follows] : {std::pair{"clang++", "another compiler for CPU kernels; fuzzing"},
                                         std::pair{"nvcc", "CUDA kernels can be inspected"}}) {
    const bool found = program_find(program).has_value();
    findings.push_back({program, found ? "yes" : "no", follows, false, found});
  }
  bool good = true;
  for (const Finding& f : findings) {
    good &= f.good || !f.required;
    if (json)
      fmt::print("{{\"what\": {}, \"state\": {}, \"follows\": {}, \"ok\": {}}}\n", json_string(f.what),
                 json_string(f.state), json_string(f.follows), f.good);
    else
      fmt::print("{}  {:<15} {:<42} {}\n",
                 f.good       ? "ok     "
                 : f.required ? "MISSING"
                              : "-      ",
                 f.what, f.state, f.follows);
  }
  if (!good) fmt::print(stderr, "something required is missing: run 'make setup build' in the project\n");
  return good ? kOk : kEnvironment;
}

}  // namespace

void add_doctor(CLI::App& app, Outcome& outcome) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("doctor", "Say what is installed here and which features follow");
  command->add_flag("--json", *json, "One JSON object a line");
  command->callback([=, &outcome] { outcome.code = doctor(*json); });
}

}  // namespace passnet::cli
