// How long a graph takes in eager and with passes. The seam to the bench's protocol: the author asks a Measure, and
// does not know who answers.
#pragma once

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
};

// Both sides in one process on the same inputs, round by round. Inputs that the graph changes are put back between
// runs, outside the clock.
class EngineMeasure final : public Measure {
 public:
  explicit EngineMeasure(Engine& engine, double budget_seconds = 0.3) : engine_(engine), budget_(budget_seconds) {}
  Result<Timing> time(const GraphFolder& graph, const PassFolder& passes) override;

 private:
  Engine& engine_;
  double budget_;
};

}  // namespace passnet::author
