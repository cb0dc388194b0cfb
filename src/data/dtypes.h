// A graph in half precision: every float32 input in the new dtype, and a cast only where an operator refuses to run
// without one.
#pragma once

#include "exec/walk.h"

namespace passnet::data {

struct Retyped {
  GraphFolder folder;
  int casts = 0;  // inserted
};
// The graph is walked on `device`: the CPU, or meta, which knows fewer refusals. An error names the operator that runs
// neither as it is, nor with its operands in `dtype`, nor with them in float32.
Result<Retyped> change_dtype(const GraphFolder& folder, Dtype dtype, DeviceType device, Engine& engine);

}  // namespace passnet::data
