// Runs stages of tile IR on its text form, for the text cases of tests/tile_ir:
//   tile_ir_tool STAGE... FILE     reads FILE, applies the stages in order, prints the function
//   tile_ir_tool laws FILE         simplifies the expressions of FILE (tile_laws.h)
// Stages:
//   parse                  nothing more than reading and printing
//   verify
//   specialise:GRID:ARGS   the launch: sizes of the grid and integer arguments by comma, `-` where one is not known
//   simplify               verified after every pass
//   ranges:GRID:ARGS       simplify_ranges for that launch
//   show:GRID:ARGS         prints the ranges of the values instead of the function
//   run:GRID:ARG;ARG;...   interprets: a number each, or [a,b,...] for a pointer (`[8x0]`: eight of them); prints the
//                          buffers instead of the function
#include <fmt/format.h>

#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "tile/interpret.h"
#include "tile/ranges.h"
#include "tile/stages.h"
#include "tile_laws.h"
#include "tile_memory.h"

namespace {

using namespace passnet;

tile::LaunchFacts read_facts(std::string_view stage) {
  tile::LaunchFacts facts;
  const auto parts = text_split(stage, ':');
  const auto number = [](std::string_view text) { return std::strtoll(std::string(text).c_str(), nullptr, 10); };
  if (parts.size() > 1 && !parts[1].empty()) {
    const auto sizes = text_split(parts[1], ',');
    for (std::size_t i = 0; i < std::min<std::size_t>(sizes.size(), 3); ++i) facts.grid[i] = number(sizes[i]);
  }
  if (parts.size() > 2)
    for (const std::string_view text : text_split(parts[2], ',')) {
      tile::ParameterFacts& fact = facts.parameters.emplace_back();
      if (text != "-") fact.integer = number(text);
    }
  return facts;
}

void simplify_checked(tile::Function& f) {
  tile::simplify(f, [](std::string_view pass, const tile::Function& now) {
    const auto valid = tile::verify(now);
    if (!valid)
      fail(Code::internal, fmt::format("after {}: {}\n{}", pass, error_text(valid.error()), tile::print(now)));
  });
  tile::verify(f).take();
  const std::string once = tile::print(f);
  tile::simplify(f);
  if (tile::print(f) != once) fail(Code::internal, fmt::format("not at rest:\n{}---\n{}", once, tile::print(f)));
}

std::vector<std::string_view> split(std::string_view text, char at) {
  return text.empty() ? std::vector<std::string_view>() : text_split(text, at);
}

tile::Bits read_bits(tile::Elem elem, const std::string& text) {
  if (tile::is_float(elem)) return tile::bits_of_real(elem, std::strtod(text.c_str(), nullptr));
  return tile::bits_of_integer(
      elem, static_cast<std::int64_t>(text.starts_with('-')
                                          ? std::strtoll(text.c_str(), nullptr, 10)
                                          : static_cast<long long>(std::strtoull(text.c_str(), nullptr, 10))));
}

void interpret(const tile::Function& f, std::string_view stage) {
  const auto parts = text_split(stage, ':');
  tile::TestMemory memory;
  std::vector<tile::Argument> arguments;
  std::vector<std::string> names;
  const auto texts = parts.size() > 2 ? split(parts[2], ';') : std::vector<std::string_view>();
  for (std::size_t i = 0; i < std::min(texts.size(), f.body.params.size()); ++i) {
    const tile::Type& type = f.type(f.body.params[i]);
    tile::Argument& argument = arguments.emplace_back();
    std::string_view text = texts[i];
    if (!type.pointer) {
      argument.real = std::strtod(std::string(text).c_str(), nullptr);
      argument.integer = static_cast<std::int64_t>(argument.real);
      continue;
    }
    std::vector<tile::Bits> elements;
    text = text.substr(1, text.size() - 2);
    for (const std::string_view item : split(text, ',')) {
      const std::size_t times = item.find('x');
      const bool repeated = times != std::string_view::npos;
      const tile::Bits bits = read_bits(type.elem, std::string(repeated ? item.substr(times + 1) : item));
      elements.insert(elements.end(), repeated ? std::strtoull(std::string(item).c_str(), nullptr, 10) : 1, bits);
    }
    names.push_back(f.parameters[i]);
    argument.pointer = memory.add(type.elem, std::move(elements));
  }
  tile::interpret(f, arguments, read_facts(stage.substr(0, stage.find(':', 4))).grid, memory).take();
  for (std::size_t i = 0; i < memory.buffers.size(); ++i) {
    fmt::print("{} =", names[i]);
    for (const tile::Bits bits : memory.buffers[i].elements)
      fmt::print(" {}", tile::bits_text(memory.buffers[i].elem, bits));
    fmt::print("\n");
  }
}

void show_ranges(const tile::Function& f, const tile::LaunchFacts& facts) {
  const auto ranges = tile::ranges(f, facts);
  for (std::size_t v = 0; v < ranges.size(); ++v) {
    const tile::Type& type = f.types[v];
    if (type.pointer || tile::is_float(type.elem)) continue;
    fmt::print("%{} {}: {} to {}{}\n", v, tile::ir_text(type), ranges[v].lo, ranges[v].hi,
               ranges[v].may_wrap ? ", may wrap" : "");
  }
}

Result<tile::Function> run(std::span<char*> stages, const char* file) {
  return guarded([&] {
    const std::string text = file_read(file).take();
    tile::Function f = tile::parse(file, text).take();
    const std::string printed = tile::print(f);
    if (tile::print(tile::parse("printed", printed).take()) != printed) fail(Code::internal, "printed twice differs");
    for (const char* name : stages) {
      const std::string_view stage = name;
      if (stage == "verify")
        tile::verify(f).take();
      else if (stage.starts_with("specialise:"))
        tile::specialise(f, read_facts(stage));
      else if (stage == "simplify")
        simplify_checked(f);
      else if (stage.starts_with("ranges:"))
        tile::simplify_ranges(f, read_facts(stage));
      else if (stage.starts_with("show:"))
        show_ranges(f, read_facts(stage));
      else if (stage.starts_with("run:"))
        interpret(f, stage);
      else if (stage != "parse")
        fail(Code::usage, fmt::format("no stage is called {}", stage));
    }
    return f;
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  if (std::string_view(argv[1]) == "laws") {
    const auto text = file_read(argv[2]);
    fmt::print("{}", text ? tile::simplify_expressions(*text) : error_text(text.error()));
    return text ? 0 : 1;
  }
  const auto out = run({argv + 1, static_cast<std::size_t>(argc) - 2}, argv[argc - 1]);
  if (!out) {
    fmt::print(stderr, "{}\n", error_text(out.error()));
    return 1;
  }
  const std::string_view last = argv[argc - 2];
  if (!last.starts_with("run:") && !last.starts_with("show:")) fmt::print("{}", tile::print(*out));
}
