// Which parameters a kernel may write, through views, loops and branches.
#include <gtest/gtest.h>

#include "tile/stages.h"
#include "tile_cpu/effects.h"

using namespace passnet;

namespace {

// By letters: w for a parameter that may be written, - for one that may not.
std::string written(const std::string& body, const std::string& parameters = "%0 a: *f32, %1 b: *f32, %2 n: i32") {
  const tile::Function f = tile::parse("test", "kernel k(" + parameters + ") {\n" + body + "}\n").take();
  tile::verify(f).take();
  std::string out;
  for (const bool w : tile_cpu::written_parameters(f)) out += w ? 'w' : '-';
  return out;
}

}  // namespace

TEST(effects, straight) {
  EXPECT_EQ(written("  %3: f32 = load %0\n  store %1, %3\n"), "-w-");
  EXPECT_EQ(written("  %3: f32 = load %0\n"), "---");
  EXPECT_EQ(written("  %3: f32 = constant 1.0\n  %4: f32 = atomic add %0, %3\n"), "w--");
  EXPECT_EQ(
      written("  %3: *f32 = addptr %1, %2\n  %4: *f32[4] = splat %3\n  %5: f32[4] = constant 1.0\n  store %4, %5\n"),
      "-w-");
}

TEST(effects, either) {
  EXPECT_EQ(written("  %3: i32 = constant 0\n  %4: i1 = lt %2, %3\n  %5: *f32 = select %4, %0, %1\n"
                    "  %6: f32 = constant 1.0\n  store %5, %6\n"),
            "ww-");
  EXPECT_EQ(written("  %3: i64 = cast %0\n  %4: *f32 = cast %3\n  %5: f32 = constant 1.0\n  store %4, %5\n"), "www");
}

TEST(effects, carried_round_a_loop) {
  EXPECT_EQ(written("  %3: i32 = constant 0\n  %4: i32 = constant 1\n"
                    "  %5: *f32, %6: *f32 = for %3, %2, %4, %0, %1 do (%7: i32, %8: *f32, %9: *f32) {\n"
                    "    yield %9, %8\n  }\n  %10: f32 = constant 1.0\n  store %5, %10\n"),
            "ww-");
}
