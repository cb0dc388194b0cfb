// Any bytes as tile IR: parse, or an error with a place; what parses prints, parses again and prints the same. What is
// valid is simplified, stays valid, and does the same when interpreted.
#include "fuzz_one.h"
#include "tile_stages.h"

int fuzz_one(const std::uint8_t* data, std::size_t size) {
  using namespace passnet::tile;
  const auto parsed = parse("fuzz.tile", std::string_view(reinterpret_cast<const char*>(data), size));
  if (!parsed) {
    expect_useful(parsed.error());
    return 0;
  }
  expect_printable(*parsed);
  if (verify(*parsed)) StageFuzz(*parsed, 64, {.program_ops = 2000, .elements = 20000}).run();
  return 0;
}
