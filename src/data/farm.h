// Many graphs, each in a worker of its own: what crashes torch, hangs or eats the memory costs one graph, not the rest.
#pragma once

#include <functional>
#include <string>

#include "exec/engine.h"

namespace passnet::data {

struct FarmOptions {
  int jobs = 0;  // at once; 0: one a core
  double timeout_s = 120;
};

// Either what the work gave, or why there is nothing: an error's line, or how the worker died.
struct FarmAnswer {
  bool ok = false;
  std::string text;
};

// In a worker: the answer to one request. A thrown Failure becomes the answer's text.
using FarmWork = std::function<std::string(const std::string& request, Engine& engine)>;

// Asks request(0), ..., request(count - 1); `done` gets the answers one at a time, in any order. Call it before this
// process has threads. Throws the environment's errors alone, and what `request` or `done` throw.
void farm_run(const FarmOptions& options, const FarmWork& work, std::size_t count,
              const std::function<std::string(std::size_t)>& request,
              const std::function<void(std::size_t, FarmAnswer)>& done);

}  // namespace passnet::data
