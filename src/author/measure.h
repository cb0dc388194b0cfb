// How long a graph takes in eager and with passes that are right. The seam to the bench's protocol: the author asks a
// Measure, and does not know who answers.
#pragma once

#include "bench/cases.h"
#include "exec/tensor_ref.h"
#include "fx/folder.h"
#include "pass/load.h"

namespace passnet {
class Engine;
}  // namespace passnet

namespace passnet::author {

class Measure {
 public:
  virtual ~Measure() = default;
  // The graph with `passes` (`compiled`) against eager, or against the graph with `others` (`eager`). An error says why
  // there is no time; one with code `answer`: the passes give something else than eager.
  virtual Result<Timing> time(const GraphFolder& graph, const PassFolder& passes,
                              const PassFolder* others = nullptr) = 0;
  virtual std::string place() const { return {}; }  // what times depend on beside this machine's processor
};

// By the bench's protocol, in this process: the answers compared, then both sides in turn on copies of the same inputs.
class EngineMeasure final : public Measure {
 public:
  explicit EngineMeasure(Engine& engine, DeviceType device = DeviceType::cpu);
  Result<Timing> time(const GraphFolder& graph, const PassFolder& passes, const PassFolder* others) override;
  std::string place() const override;

 private:
  std::unique_ptr<Subject> subject(const GraphFolder& graph, const PassFolder* passes);
  // Throws where the candidate is wrong. Gives the recorded inputs, and what eager does with them.
  Case compare(const GraphFolder& graph, Subject& eager, Subject& candidate);
  Engine& engine_;
  DeviceType device_;
};

}  // namespace passnet::author
