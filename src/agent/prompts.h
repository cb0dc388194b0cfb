// What the model is told: files of src/agent/prompts, embedded, each of which a user's folder may replace.
#pragma once

#include <map>
#include <string>

#include "agent/session.h"

namespace passnet::agent {

class Prompts {
 public:
  // `folder`: where replacements are looked for, by name; empty: none. An error: it holds a file of no prompt's name.
  static Result<Prompts> load(const std::string& folder);

  using Values = std::map<std::string, std::string>;
  // The prompt with `{{name}}` replaced by its value.
  std::string text(const std::string& name, const Values& values = {}) const;

 private:
  std::map<std::string, std::string> texts_;
};

// For every graph of the task its model.py and weight_meta.py; equal models once.
std::string problem_statement(const Task& task);

}  // namespace passnet::agent
