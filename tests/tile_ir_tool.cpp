// Runs stages of tile IR on its text form, for the text cases of tests/tile_ir:
//   tile_ir_tool STAGE... FILE     reads FILE, applies the stages in order, prints the function
// Stages:
//   parse                  nothing more than reading and printing
//   verify
//   specialise:GRID:ARGS   the launch: sizes of the grid and integer arguments by comma, `-` where one is not known
//   simplify               verified after every pass
#include <fmt/format.h>

#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "tile/stages.h"

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
      else if (stage != "parse")
        fail(Code::usage, fmt::format("no stage is called {}", stage));
    }
    return f;
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto out = run({argv + 1, static_cast<std::size_t>(argc) - 2}, argv[argc - 1]);
  if (!out) {
    fmt::print(stderr, "{}\n", error_text(out.error()));
    return 1;
  }
  fmt::print("{}", tile::print(*out));
}
