// Lowers a call of an explicit row: binds the row's Python signature and walks its body, emitting what it calls.
#pragma once

#include <functional>
#include <span>

#include "ops/program.h"
#include "ops/rows.h"

namespace passnet {

// What a row's body may cause. The lowering implements it.
class Emitter {
 public:
  virtual ~Emitter() = default;
  virtual Ty type(const Value& value) const = 0;
  virtual Value call(std::string_view spelling, std::span<const Value> args, std::span<const Kwarg> kwargs) = 0;
  virtual Value aten(std::string_view name, std::string_view overload, std::span<const Value> args,
                     std::span<const Kwarg> kwargs) = 0;
  virtual Value builtin(std::string_view name, std::vector<Value> args) = 0;
  virtual Value branch(const Value& condition, const std::function<Value()>& then,
                       const std::function<Value()>& otherwise) = 0;
  virtual bool in_branch() const = 0;
  virtual Where where() const = 0;  // the graph's line that is being lowered
  [[noreturn]] void error(Code code, std::string message, std::vector<std::string> notes) const {
    fail({code, where(), std::move(message), std::move(notes)});
  }
};

Value evaluate_row(Emitter& emitter, const OpRow& row, std::string_view spelling, std::span<const Value> args,
                   std::span<const Kwarg> kwargs);

}  // namespace passnet
