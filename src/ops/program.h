// What a graph lowers to: steps over registers. A step calls one ATen operator, one builtin of ours, or branches.
//
// A Value of kind `node` inside a Program refers to a register. Registers 0..inputs-1 hold the placeholders.
#pragma once

#include <string>
#include <vector>

#include "ops/schema.h"

namespace passnet {

using Register = NodeId;

enum class Ty : std::uint8_t {
  any,
  tensor,
  integer,
  real,
  boolean,
  number,
  string,
  none,
  dtype,
  device,
  tensors,
  integers,
  other
};
std::string_view ty_name(Ty type);

struct Step;

struct Block {
  std::vector<Step> steps;
  Value result;
};

enum class StepKind : std::uint8_t {
  aten,
  builtin,
  branch,
  external,
  unknown,  // not lowered (lower_known): never runs
};

struct Step {
  StepKind kind = StepKind::aten;
  const Schema* schema = nullptr;  // aten
  std::string_view builtin;        // builtin: "dim", "getitem", ...
  std::vector<Value> args;         // aten: one per parameter, defaults filled in; branch: the condition
  std::vector<Register> results;   // aten: one per result; branch: the leaves of the arms' results
  std::vector<Block> arms;         // branch: then, else
  std::size_t external = 0;        // external: which of the functions that the program was lowered with
  NodeId node = 0;                 // the graph's node that it belongs to
};

struct Program {
  std::vector<Step> steps;
  std::vector<Ty> types;  // of every register
  std::size_t inputs = 0;
  Value result;
  std::vector<Value> values;  // what each node of the graph became
};

}  // namespace passnet
