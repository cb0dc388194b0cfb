// Any bytes as tile IR: parse, or an error with a place; what parses prints, parses again and prints the same. What is
// valid is simplified, stays valid, and does the same when interpreted.
#include <cstdlib>
#include <iostream>

#include "fuzz_one.h"
#include "tile/interpret.h"
#include "tile/ranges.h"
#include "tile/stages.h"
#include "tile_memory.h"

namespace {

using namespace passnet;
using namespace passnet::tile;

constexpr ProgramId kGrid = {2, 1, 1};
constexpr std::size_t kBuffer = 64;
constexpr InterpretLimits kLimits = {.program_ops = 2000, .elements = 20000};

[[noreturn]] void broken(std::string_view why, const std::string& text) {
  std::cerr << why << '\n' << text << '\n';
  std::abort();
}

std::vector<Argument> arguments(const Function& f, TestMemory& memory) {
  std::vector<Argument> out;
  for (const ValueId v : f.body.params) {
    const Type& type = f.type(v);
    Argument& argument = out.emplace_back();
    argument.integer = 5;
    argument.real = 1.5;
    if (!type.pointer) continue;
    std::vector<Bits> elements(kBuffer);
    for (std::size_t i = 0; i < kBuffer; ++i)
      elements[i] = is_float(type.elem) ? bits_of_real(type.elem, static_cast<double>(i) / 4 - 2)
                                        : bits_of_integer(type.elem, static_cast<std::int64_t>(i) - 3);
    argument.pointer = memory.add(type.elem, std::move(elements));
  }
  return out;
}

void expect_same(const TestMemory& a, const TestMemory& b, const Function& f, const Function& g) {
  for (std::size_t i = 0; i < a.buffers.size(); ++i)
    for (std::size_t j = 0; j < kBuffer; ++j) {
      const Elem elem = a.buffers[i].elem;
      if (bits_text(elem, a.buffers[i].elements[j]) != bits_text(elem, b.buffers[i].elements[j]))
        broken(fmt::format("buffer {} differs at {}", i, j), print(f) + "---\n" + print(g));
    }
}

void expect_valid(const Function& f, std::string_view after) {
  if (const auto valid = verify(f); !valid)
    broken(fmt::format("after {}: {}", after, error_text(valid.error())), print(f));
}

}  // namespace

int fuzz_one(const std::uint8_t* data, std::size_t size) {
  const auto parsed = parse("fuzz.tile", std::string_view(reinterpret_cast<const char*>(data), size));
  if (!parsed) {
    const Error& error = parsed.error();
    if (error.code == passnet::Code::internal || error.message.empty() || error.where.line == 0)
      broken("an error that says nothing", error_text(error));
    return 0;
  }
  const Function& f = *parsed;
  const std::string text = print(f);
  const auto again = parse("printed.tile", text);
  if (!again) broken("the printed text does not parse: " + error_text(again.error()), text);
  if (print(*again) != text) broken("printed twice differs", text + "---\n" + print(*again));
  if (!verify(f)) return 0;

  TestMemory before;
  const auto values = arguments(f, before);
  TestMemory after = before, decided = before;
  const auto ran = interpret(f, values, kGrid, before, kLimits);
  Function g = f;
  simplify(g, [](std::string_view pass, const Function& now) { expect_valid(now, pass); });
  if (ran && interpret(g, values, kGrid, after)) expect_same(before, after, f, g);
  LaunchFacts facts;
  facts.grid = kGrid;
  facts.parameters.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const Type& t = f.type(f.body.params[i]); !t.pointer && !is_float(t.elem))
      facts.parameters[i].integer = integer_of(t.elem, bits_of_integer(t.elem, values[i].integer));
  specialise(g, facts);
  expect_valid(g, "specialise");
  simplify(g);
  simplify_ranges(g, facts);
  expect_valid(g, "simplify_ranges");
  if (ran && interpret(g, values, kGrid, decided)) expect_same(before, decided, f, g);
  return 0;
}
