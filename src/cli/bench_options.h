// The options that eval and bench share.
#pragma once

#include "bench/bench.h"
#include "cli/command.h"

namespace passnet::cli {

struct EvaluationFlags {
  BenchOptions bench;
  std::string device = "cpu", cuda_graphs = "author", cores;

  void add_options(CLI::App& command);
  BenchOptions resolve() const;  // throws for what contradicts itself
};

// Of this machine and binary. What the sandbox lacks here is said on stderr; a device that is missing or broken is
// thrown.
Conditions conditions_now(const BenchOptions& options, guard::Template& workers);

// Stops on the first Ctrl-C or SIGTERM; the second one kills.
std::atomic<bool>& interrupted();
void catch_interrupts();

// Says on stderr that another bench has the machine.
void say_waiting();

// Throws where a candidate, or the baseline, needs a Python that is not there.
void require_python(const BenchOptions& options);
// A run is one measurement: the same machine and protocol throughout.
void require_same(const Conditions& run, const Conditions& now);

}  // namespace passnet::cli
