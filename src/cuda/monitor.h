// A GPU's clocks, temperature and processes, by NVML, which is opened at run time and starts no CUDA: a process that
// watches may still be forked.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace passnet::cuda {

// What NVML does not know is -1.
struct GpuState {
  int sm_mhz = -1, memory_mhz = -1;
  int celsius = -1;
};

// Of the first GPU. None: no NVML, or no GPU.
std::optional<GpuState> gpu_state();

// The processes that compute on the first GPU, as NVML numbers them: in a container these may be others than ours.
std::optional<std::vector<pid_t>> gpu_processes();

// How many of `all` are neither `root` nor come from it. None where `known`, which does compute there, is not among
// them: the numbers are then of another namespace and say nothing.
std::optional<int> foreign_processes(const std::vector<pid_t>& all, pid_t known, pid_t root);

}  // namespace passnet::cuda
