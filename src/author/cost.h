// What a region costs in eager and as a pass, in microseconds: bytes, calls and operator costs. It orders candidates
// and decides alone where nothing is measured.
#pragma once

#include "author/author.h"

namespace passnet::author {

constexpr double kRequiredGain = 1.05;  // a pass is kept if eager is expected to take this many times as long

void estimate(const Graph& graph, const Program& program, const GraphFacts& facts, const Region& region,
              const Schedule& plan, const Trace& trace, AuthoredPass& pass);

}  // namespace passnet::author
