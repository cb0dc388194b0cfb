// Which parameters a kernel may write, and where its pointers come from, through views, loops and branches.
#include "tile/effects.h"

#include <gtest/gtest.h>

#include "tile/stages.h"

using namespace passnet;

namespace {

// By letters: w for a parameter that may be written, - for one that may not.
std::string written(const std::string& body, const std::string& parameters = "%0 a: *f32, %1 b: *f32, %2 n: i32") {
  const tile::Function f = tile::parse("test", "kernel k(" + parameters + ") {\n" + body + "}\n").take();
  tile::verify(f).take();
  std::string out;
  for (const bool w : tile::written_parameters(f)) out += w ? 'w' : '-';
  return out;
}

// The parameter that a value comes from; -1: several, anywhere, or no pointer.
std::int32_t origin(const std::string& body, tile::ValueId value) {
  const tile::Function f = tile::parse("test", "kernel k(%0 a: *f32, %1 b: *f32, %2 n: i32) {\n" + body + "}\n").take();
  tile::verify(f).take();
  return tile::pointer_origins(f)[static_cast<std::size_t>(value)];
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

TEST(effects, origin) {
  const std::string views = "  %3: *f32 = addptr %1, %2\n  %4: *f32[4] = splat %3\n  %5: f32[4] = load %4\n";
  EXPECT_EQ(origin(views, 0), 0);
  EXPECT_EQ(origin(views, 4), 1);
  EXPECT_EQ(origin(views, 2), -1);  // no pointers
  EXPECT_EQ(origin(views, 5), -1);
  const std::string test = "  %3: i32 = constant 0\n  %4: i1 = lt %2, %3\n";
  EXPECT_EQ(origin(test + "  %5: *f32 = select %4, %0, %0\n", 5), 0);
  EXPECT_EQ(origin(test + "  %5: *f32 = select %4, %0, %1\n", 5), -1);
  EXPECT_EQ(origin(test + "  %5: *f32 = if %4 then {\n    yield %1\n  } else {\n    yield %1\n  }\n", 5), 1);
  EXPECT_EQ(origin("  %3: i64 = cast %0\n  %4: *f32 = cast %3\n", 4), -1);
}

TEST(effects, origin_of_a_carried_pointer) {
  const auto carried = [](const std::string& yields, tile::ValueId value) {
    return origin(
        "  %3: i32 = constant 0\n  %4: i32 = constant 1\n"
        "  %5: *f32, %6: *f32 = for %3, %2, %4, %0, %1 do (%7: i32, %8: *f32, %9: *f32) {\n"
        "    %10: *f32 = addptr %8, %4\n    yield " +
            yields + "\n  }\n",
        value);
  };
  for (const tile::ValueId v : {5, 8, 10}) {
    EXPECT_EQ(carried("%10, %9", v), 0);
    EXPECT_EQ(carried("%9, %10", v), -1);  // goes round
    EXPECT_EQ(carried("%1, %9", v), -1);   // starts as one, goes on as the other
  }
  EXPECT_EQ(carried("%10, %9", 9), 1);
}

namespace {

bool by_contents(const std::string& body) {
  const tile::Function f = tile::parse("test", "kernel k(%0 a: *i32, %1 b: *i32, %2 n: i32) {\n" + body + "}\n").take();
  tile::verify(f).take();
  return tile::accesses_by_contents(f);
}

}  // namespace

TEST(effects, accesses_by_contents) {
  const std::string loaded = "  %3: i32 = load %0\n  %4: i32 = constant 0\n  %5: i1 = lt %3, %4\n";
  EXPECT_FALSE(by_contents(loaded + "  store %1, %3\n"));
  EXPECT_FALSE(by_contents(loaded + "  %6: i1 = lt %2, %4\n  store %1, %3, %6\n"));
  EXPECT_TRUE(by_contents(loaded + "  store %1, %4, %5\n"));                          // a mask
  EXPECT_TRUE(by_contents(loaded + "  %6: *i32 = addptr %1, %3\n  store %6, %4\n"));  // an address
  EXPECT_TRUE(
      by_contents(loaded + "  if %5 then {\n    store %1, %4\n    yield\n  } else {\n    yield\n  }\n"));  // a branch
}

TEST(effects, accesses_by_floats) {
  const std::string computed = "  %3: i32 = constant 0\n  %4: f32 = cast %2\n";
  EXPECT_FALSE(by_contents(computed + "  %5: *f32 = bitcast %0\n  store %5, %4\n"));
  EXPECT_TRUE(by_contents(computed + "  %5: i32 = cast %4\n  %6: *i32 = addptr %1, %5\n  store %6, %3\n"));
  EXPECT_TRUE(by_contents(computed + "  %5: i1 = lt %4, %4\n  store %1, %3, %5\n"));
}

TEST(effects, accesses_by_contents_round_a_loop) {
  const auto loop = [](const std::string& next) {
    return "  %3: i32 = constant 0\n  %4: i32 = constant 1\n"
           "  %5: i32, %6: i32 = for %3, %2, %4, %3, %3 do (%7: i32, %8: i32, %9: i32) {\n"
           "    %10: *i32 = addptr %0, %8\n    %11: i32 = load %10\n    " +
           next + "  }\n";
  };
  EXPECT_FALSE(by_contents(loop("yield %7, %11\n")));
  EXPECT_TRUE(by_contents(loop("yield %9, %11\n")));  // what is loaded is the address of the turn after the next
}
