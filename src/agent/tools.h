// The tools of whoever writes passes, a row each: name, what it does, the schema of its arguments, the function. The
// one place from which chat requests, MCP, the environment and the records take them.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "agent/session.h"

namespace passnet::agent {

struct Tool {
  std::string_view name;
  std::string_view description;
  std::string_view schema;  // JSON Schema of the arguments
  bool whole;               // its answer is used word for word: not shortened
  void (*run)(Session& session, const nlohmann::json& arguments, ToolResult& result);  // throws Failure
};
std::span<const Tool> tools();
const Tool* tool_find(std::string_view name);
const nlohmann::ordered_json& tool_schema(const Tool& tool);

// As chat completions and fine-tuning files list them.
const nlohmann::ordered_json& tools_for_chat();

// What is wrong with the arguments: a missing or unknown one, another type, a value that is not of its list.
std::optional<std::string> tool_misfit(const Tool& tool, const nlohmann::json& arguments);

}  // namespace passnet::agent
