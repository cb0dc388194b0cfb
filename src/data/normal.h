// One spelling for every graph of a data set: what differs between captures and means the same is written one way.
#pragma once

#include "graph/graph.h"

namespace passnet::data {

// Function names are the public ones where both name one function (torch._C._nn.linear is
// torch.nn.functional.linear); a device literal, which means the device of the run, is device(type='cuda').
void normalise_spelling(Graph& graph);

// in_0, in_1, ... and tmp_0, tmp_1, ... in order.
void normalise_names(Graph& graph);

}  // namespace passnet::data
