// What the fuzzers of tile IR and of kernels' texts share: a valid function goes through every stage, stays valid, and
// does the same when interpreted.
#pragma once

#include <cstdlib>
#include <iostream>

#include "tile/interpret.h"
#include "tile/ranges.h"
#include "tile/stages.h"
#include "tile_memory.h"

namespace passnet::tile {

[[noreturn]] inline void broken(std::string_view why, const std::string& text) {
  std::cerr << why << '\n' << text << '\n';
  std::abort();
}

// An error's reader has to learn what is wrong, and where.
inline void expect_useful(const Error& error) {
  if (error.code == passnet::Code::internal || error.message.empty() || error.where.line == 0)
    broken("an error that says nothing", error_text(error));
}

inline void expect_printable(const Function& f) {
  const std::string text = print(f);
  const auto again = parse("printed.tile", text);
  if (!again) broken("the printed text does not parse: " + error_text(again.error()), text);
  if (print(*again) != text) broken("printed twice differs", text + "---\n" + print(*again));
}

class StageFuzz {
 public:
  StageFuzz(const Function& f, std::size_t buffer, const InterpretLimits& limits) : f_(f), buffer_(buffer) {
    for (const ValueId v : f.body.params) arguments_.push_back(argument(f.type(v)));
    expected_ = start_;
    ran_ = static_cast<bool>(interpret(f, arguments_, kGrid, expected_, limits));
  }

  void run() {
    Function g = f_;
    simplify(g, [](std::string_view pass, const Function& now) { expect_valid(now, pass); });
    expect_same(g);
    LaunchFacts facts;
    facts.grid = kGrid;
    facts.parameters.resize(arguments_.size());
    for (std::size_t i = 0; i < arguments_.size(); ++i)
      if (const Type& t = f_.type(f_.body.params[i]); !t.pointer && !is_float(t.elem))
        facts.parameters[i].integer = integer_of(t.elem, bits_of_integer(t.elem, arguments_[i].integer));
    specialise(g, facts);
    expect_valid(g, "specialise");
    simplify(g);
    simplify_ranges(g, facts);
    expect_valid(g, "simplify_ranges");
    expect_same(g);
  }

 private:
  static constexpr ProgramId kGrid = {2, 1, 1};

  Argument argument(const Type& type) {
    Argument out;
    out.integer = 5;
    out.real = 1.5;
    if (!type.pointer) return out;
    std::vector<Bits> elements(buffer_);
    for (std::size_t i = 0; i < buffer_; ++i)
      elements[i] = is_float(type.elem) ? bits_of_real(type.elem, static_cast<double>(i) / 4 - 2)
                                        : bits_of_integer(type.elem, static_cast<std::int64_t>(i) - 3);
    out.pointer = start_.add(type.elem, std::move(elements));
    return out;
  }

  static void expect_valid(const Function& f, std::string_view after) {
    if (const auto valid = verify(f); !valid)
      broken(fmt::format("after {}: {}", after, error_text(valid.error())), print(f));
  }

  // What runs as it was written runs after any stage, and writes the same.
  void expect_same(const Function& g) const {
    if (!ran_) return;
    TestMemory memory = start_;
    if (const auto ran = interpret(g, arguments_, kGrid, memory); !ran)
      broken("does not run any more: " + error_text(ran.error()), print(f_) + "---\n" + print(g));
    for (std::size_t i = 0; i < memory.buffers.size(); ++i)
      for (std::size_t j = 0; j < buffer_; ++j) {
        const Elem elem = memory.buffers[i].elem;
        if (bits_text(elem, memory.buffers[i].elements[j]) != bits_text(elem, expected_.buffers[i].elements[j]))
          broken(fmt::format("buffer {} differs at {}", i, j), print(f_) + "---\n" + print(g));
      }
  }

  const Function& f_;
  const std::size_t buffer_;  // elements of each
  TestMemory start_, expected_;
  std::vector<Argument> arguments_;
  bool ran_ = false;
};

}  // namespace passnet::tile
