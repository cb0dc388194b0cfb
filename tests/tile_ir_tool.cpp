// Runs stages of tile IR on its text form, for the text cases of tests/tile_ir:
//   tile_ir_tool STAGE... FILE     reads FILE, applies the stages in order, prints the function
// Stages: verify, parse (nothing more than reading and printing).
#include <fmt/format.h>

#include "base/file.h"
#include "tile/stages.h"

namespace {

using namespace passnet;

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
