// How long a graph takes in eager and with passes. The seam to the bench's protocol: the author asks a Measure, and
// does not know who answers.
#pragma once

#include "exec/tensor_ref.h"
#include "fx/folder.h"
#include "pass/load.h"

namespace passnet {
class Engine;
}

namespace passnet::author {

struct Timing {
  double eager_us = 0, pass_us = 0;  // medians of interleaved rounds
  double spread = 0;                 // the larger interquartile range, over its median
  double ratio() const { return pass_us > 0 ? eager_us / pass_us : 0; }
};

class Measure {
 public:
  virtual ~Measure() = default;
  virtual Result<Timing> time(const GraphFolder& graph, const PassFolder& passes) = 0;
  virtual std::string place() const { return {}; }  // what times depend on beside this machine's processor
};

// Both sides in one process on the same inputs, round by round. Inputs that the graph changes are put back between
// runs, outside the clock.
class EngineMeasure final : public Measure {
 public:
  explicit EngineMeasure(Engine& engine, DeviceType device = DeviceType::cpu, double budget_seconds = 0.3)
      : engine_(engine), device_(device), budget_(budget_seconds) {}
  Result<Timing> time(const GraphFolder& graph, const PassFolder& passes) override;
  std::string place() const override;

 private:
  Engine& engine_;
  DeviceType device_;
  double budget_;
};

}  // namespace passnet::author
